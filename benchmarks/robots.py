"""Robots twice: as kineta's system and as Pinocchio's model, and states of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

import kineta as kn

FloatArray = NDArray[np.float64]

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@dataclass(frozen=True)
class Robot:
    """One machine: kineta's *system*, Pinocchio's *model*."""

    name: str
    system: kn.System
    model: pin.Model

    def states(self, n: int) -> dict[str, FloatArray]:
        """*n* random states in Pinocchio's order: q (n, nq) with unit quaternions, v and a third block (n, nv)."""
        draw = np.random.default_rng(1).normal
        start = pin.neutral(self.model)
        q = np.array([pin.integrate(self.model, start, draw(size=self.model.nv)) for _ in range(n)])
        return {"q": q, "v": draw(size=(n, self.model.nv)), "extra": draw(size=(n, self.model.nv))}

    def q_order(self) -> list[int]:
        """For each of kineta's coordinates its place in Pinocchio's q."""
        return [self._place(name, position=True) for name in self.system.q_names]

    def v_order(self) -> list[int]:
        """For each of kineta's speeds its place in Pinocchio's v."""
        return [self._place(name.rstrip("'"), position=False) for name in self.system.v_names]

    def _place(self, name: str, *, position: bool) -> int:
        joint, _, part = name.rpartition(".")
        if joint in self.system.joints:  # the free base: Pinocchio's quaternion is (x, y, z, w)
            parts = ("x", "y", "z", "qx", "qy", "qz", "qw") if position else ("vx", "vy", "vz", "wx", "wy", "wz")
            return parts.index(part)
        joint = self.model.joints[self.model.getJointId(name)]
        return int(joint.idx_q if position else joint.idx_v)


def puma() -> Robot:
    """PUMA 560 by the numbers of Armstrong, Khatib and Burdick, typed in twice: here and in ``examples/puma560.kin``."""
    a2, a3, d2, d3, d4 = 0.4318, -0.0203, 0.2435, -0.0934, 0.4331
    links = (  # alpha, a, d; mass; moments; centre of mass
        ((0, 0, 0), 0, (0, 0, 0.35), (0, 0, 0)),
        ((-pi / 2, 0, d2), 17.40, (0.130, 0.524, 0.539), (0.068, 0.006, -0.016)),
        ((0, a2, d3), 4.80, (0.066, 0.0125, 0.066), (0, -0.070, 0.014)),
        ((-pi / 2, a3, d4), 0.82, (0.0018, 0.0018, 0.0013), (0, 0, -0.019)),
        ((pi / 2, 0, 0), 0.34, (0.0003, 0.0003, 0.0004), (0, 0, 0)),
        ((-pi / 2, 0, 0), 0.09, (0.00015, 0.00015, 0.00004), (0, 0, 0.032)),
    )
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -9.81])
    joint = 0
    for k, ((alpha, a, d), mass, moments, com) in enumerate(links, 1):
        turned = pin.SE3(pin.utils.rotate("x", alpha), np.zeros(3))
        shifted = pin.SE3(np.eye(3), np.array([a, 0, d]))
        joint = model.addJoint(joint, pin.JointModelRZ(), turned * shifted, f"q{k}")
        model.appendBodyToJoint(joint, pin.Inertia(mass, np.array(com, float), np.diag(moments)), pin.SE3.Identity())
    return Robot("PUMA 560", kn.load(EXAMPLES / "puma560.kin"), model)


def _from_data(name: str, path: str) -> Robot:
    """A robot of the package example-robot-data on a floating base, read by both from the same file."""
    file = Path(pin.__file__).resolve().parents[4] / "share" / "example-robot-data" / "robots" / path
    model = pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer())
    return Robot(name, from_pin(model), model)


def humanoid() -> Robot:
    """Talos: a floating base and 32 joints."""
    return _from_data("Talos", "talos_data/robots/talos_reduced.urdf")


def quadruped() -> Robot:
    """ANYmal: a floating base and 12 joints."""
    return _from_data("ANYmal", "anymal_b_simple_description/robots/anymal.urdf")


ROBOTS: dict[str, Callable[[], Robot]] = {"puma": puma, "quadruped": quadruped, "humanoid": humanoid}


def from_pin(model):
    bodies = []
    for i in range(1, model.njoints):
        P = model.jointPlacements[i]; I = model.inertias[i]; J = model.joints[i]
        aa = pin.log3(P.rotation); ang = float(np.linalg.norm(aa))
        motions = []
        if np.linalg.norm(P.translation) > 0: motions.append(kn.S(P.translation, float(np.linalg.norm(P.translation))))
        if ang > 0: motions.append(kn.R(aa, ang))
        k = J.shortname().removeprefix("JointModel"); n = model.names[i]
        ax = dict(X=(1,0,0),Y=(0,1,0),Z=(0,0,1))
        q = kn.symbol(n)
        if k == "FreeFlyer": motions.append(kn.Free(n))
        elif k[0] == "R": motions.append(kn.R(ax.get(k[1]) or J.extract().axis, q))
        else: motions.append(kn.S(ax.get(k[1]) or J.extract().axis, q))
        C = I.inertia
        bodies.append(kn.body(f"b{i}", motions, kn.inertia(float(I.mass), [float(C[k,k]) for k in range(3)], [float(C[0,1]),float(C[0,2]),float(C[1,2])], com=[float(x) for x in I.lever], lumped=True), base=f"b{model.parents[i]}" if model.parents[i] else "ground"))
    return kn.System("robot", bodies, gravity=[float(x) for x in model.gravity.linear])
