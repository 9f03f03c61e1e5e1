"""The same robots in Pinocchio: states mapped by name, quantities mapped back."""

from __future__ import annotations

import sysconfig
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio

from kineta.model.io import urdf
from kineta.model.system import System

ROBOTS = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")


class Peer:
    """A robot read by kineta (without dampers: the peer has none in its dynamics) and by Pinocchio.

    Pinocchio gets every joint as its own, ``v_peer = G v``; joints that mimic are rows of G with one entry.
    """

    def __init__(self, file: str, *, floating: bool) -> None:
        path = ROBOTS / file
        system, _ = urdf.read_with_report(path, floating=floating)
        self.system: System = system.replace(elements=())
        root = [pinocchio.JointModelFreeFlyer()] if floating else []
        self.model: Any = pinocchio.buildModelFromUrdf(str(path), *root)
        self.data: Any = self.model.createData()
        self._mimics = {
            j.get("name"): (m.get("joint"), float(m.get("multiplier", 1)), float(m.get("offset", 0)))
            for j in ET.parse(path).getroot().iter("joint")
            for m in j.iter("mimic")
        }
        self.G = np.zeros((self.model.nv, self.system.nv))
        self._joints: list[tuple[Any, int, float, float]] = []
        for name, joint in list(zip(self.model.names, self.model.joints, strict=True))[1:]:
            self._add(name, joint)

    def _add(self, name: str, joint: Any) -> None:
        s = self.system
        if name == "root_joint":
            k, v = s.q_names.index("root.x"), s.v_names.index("root.vx")
            self.G[joint.idx_v : joint.idx_v + 6, v : v + 6] = np.eye(6)
            self._joints.append((joint, k, 1.0, 0.0))
            return
        own, factor, offset = name, 1.0, 0.0
        while own in self._mimics:
            own, k, c = self._mimics[own]
            factor, offset = factor * k, offset + factor * c
        self.G[joint.idx_v, s.v_names.index(f"{own}'")] = factor
        self._joints.append((joint, s.q_names.index(own), factor, offset))

    def random_state(self, seed: int) -> tuple[Any, Any, Any]:
        """q, v and a vector for tau or vdot, in kineta's order."""
        rng = np.random.default_rng(seed)
        q, v, x = (rng.uniform(-1, 1, n) for n in (self.system.nq, self.system.nv, self.system.nv))
        for joint in self.system.joints:
            k = self.system.q_names.index(f"{joint}.qw")
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        return q, v, x

    def to_peer(self, q: Any) -> Any:
        """Coordinates in Pinocchio's order: quaternions (x, y, z, w), continuous joints as cosine and sine."""
        out = np.zeros(self.model.nq)
        for joint, k, factor, offset in self._joints:
            i = joint.idx_q
            angle = factor * q[k] + offset
            if joint.nq == 7:
                out[i : i + 3], out[i + 3 : i + 6], out[i + 6] = q[k : k + 3], q[k + 4 : k + 7], q[k + 3]
            elif joint.nq == 2:
                out[i : i + 2] = np.cos(angle), np.sin(angle)
            else:
                out[i] = angle
        return out

    def mass_matrix(self, q: Any) -> Any:
        """M, in kineta's order."""
        M = np.array(pinocchio.crba(self.model, self.data, self.to_peer(q)))
        return self.G.T @ (np.triu(M) + np.triu(M, 1).T) @ self.G

    def expected(self, quantity: str, q: Any, v: Any, x: Any) -> Any:
        """A quantity by Pinocchio, in kineta's order."""
        if quantity == "mass_matrix":
            return self.mass_matrix(q)
        model, data, peer_q, G = self.model, self.data, self.to_peer(q), self.G
        if quantity == "bias":
            return G.T @ pinocchio.nonLinearEffects(model, data, peer_q, G @ v)
        if quantity == "inverse":
            return G.T @ pinocchio.rnea(model, data, peer_q, G @ v, G @ x)
        if self._mimics:
            bias = self.expected("bias", q, v, x)
            return np.linalg.solve(self.mass_matrix(q), x - bias)
        return G.T @ pinocchio.aba(model, data, peer_q, G @ v, G @ x)
