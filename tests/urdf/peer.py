"""The same robots in Pinocchio: states mapped by name, quantities mapped back."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio

from kineta.model.io import urdf
from kineta.model.system import System

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")


class Peer:
    """A robot read by kineta (without dampers: the peer has none in its dynamics) and by Pinocchio."""

    def __init__(self, file: str, *, floating: bool) -> None:
        path = ROBOTS / file
        system, _ = urdf.read_with_report(path, floating=floating)
        self.system: System = system.replace(elements=())
        root = [pinocchio.JointModelFreeFlyer()] if floating else []
        self.model: Any = pinocchio.buildModelFromUrdf(str(path), *root, mimic=True)
        self.data: Any = self.model.createData()
        self._pairs: list[tuple[Any, int, int]] = []
        for name, joint in list(zip(self.model.names, self.model.joints, strict=True))[1:]:
            if joint.nv and "Mimic" not in joint.shortname():
                own = "root" if name == "root_joint" else name
                suffix = ".vx" if own == "root" else "'"
                v = self.system.v_names.index(f"{own}{suffix}")
                q = self.system.q_names.index(f"{own}.x" if own == "root" else own)
                self._pairs.append((joint, q, v))
        order = np.empty(self.model.nv, dtype=int)
        for joint, _, v in self._pairs:
            order[joint.idx_v : joint.idx_v + joint.nv] = range(v, v + joint.nv)
        self.order = order

    def random_state(self, seed: int) -> tuple[Any, Any, Any]:
        """q, v and a vector for tau or vdot, in kineta's order."""
        rng = np.random.default_rng(seed)
        q, v, x = rng.uniform(-1, 1, self.system.nq), rng.uniform(-1, 1, self.system.nv), rng.uniform(-1, 1, self.system.nv)
        for joint in self.system.joints:
            k = self.system.q_names.index(f"{joint}.qw")
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return q, v, x

    def to_peer(self, q: Any) -> Any:
        """Coordinates in Pinocchio's order: quaternions (x, y, z, w), continuous joints as cosine and sine."""
        out = np.zeros(self.model.nq)
        for joint, k, _ in self._pairs:
            i = joint.idx_q
            if joint.nq == 7:
                out[i : i + 3], out[i + 3 : i + 6], out[i + 6] = q[k : k + 3], q[k + 4 : k + 7], q[k + 3]
            elif joint.nq == 2:
                out[i : i + 2] = np.cos(q[k]), np.sin(q[k])
            else:
                out[i] = q[k]
        return out

    def expected(self, quantity: str, q: Any, v: Any, x: Any) -> Any:
        """A quantity by Pinocchio, in kineta's order."""
        model, data, peer_q = self.model, self.data, self.to_peer(q)
        v_peer, x_peer = v[self.order], x[self.order]
        if quantity == "mass_matrix":
            M = np.array(pinocchio.crba(model, data, peer_q))
            M = np.triu(M) + np.triu(M, 1).T
            out = np.empty_like(M)
            out[np.ix_(self.order, self.order)] = M
            return out
        values = {
            "bias": lambda: pinocchio.nonLinearEffects(model, data, peer_q, v_peer),
            "inverse": lambda: pinocchio.rnea(model, data, peer_q, v_peer, x_peer),
            "forward": lambda: pinocchio.aba(model, data, peer_q, v_peer, x_peer),
        }[quantity]()
        out = np.empty(self.model.nv)
        out[self.order] = values
        return out
