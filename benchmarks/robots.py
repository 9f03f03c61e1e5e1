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
from benchmarks.chains import chain
from kineta.model.io import urdf

FloatArray = NDArray[np.float64]

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
#: Where the wheels of Pinocchio and example-robot-data put what is not Python.
PREFIX = Path(pin.__file__).resolve().parents[4]
FILES = PREFIX / "share" / "example-robot-data" / "robots"


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


def puma_model() -> pin.Model:
    """PUMA 560 by the numbers of Armstrong, Khatib and Burdick, typed in twice: here and in ``examples/puma560.kin``."""
    a2, a3, d2, d3, d4 = 0.4318, -0.0203, 0.2435, -0.0934, 0.4331
    links = (  # alpha, a, d; mass; moments; centre of mass
        ((0, 0, 0), 0, (0, 0, 0.35), (0, 0, 0)),
        ((-pi / 2, 0, d2), 17.40, (0.130, 0.524, 0.539), (0.068, 0.006, -0.016)),
        ((0, a2, d3), 4.80, (0.066, 0.0125, 0.086), (0, -0.070, 0.014)),
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
    return model


@dataclass(frozen=True)
class Source:
    """Where both read a robot from."""

    name: str
    system: Callable[[], kn.System]
    model: Callable[[], pin.Model]

    def robot(self) -> Robot:
        """Both of them. Joint damping, friction and limits are left out: Pinocchio's algorithms have none."""
        return Robot(self.name, self.system().replace(elements=(), contacts=()), self.model())


def chain_model(n: int) -> pin.Model:
    """The chain of ``chains.py``."""
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -9.81])
    J, com = (
        np.array([[0.02, 0.001, -0.002], [0.001, 0.03, 0.003], [-0.002, 0.003, 0.025]]),
        np.array([0.15, 0.02, 0.05]),
    )
    joint = 0
    for k in range(n):
        placement = pin.SE3(pin.utils.rotate("x", 0.7 if k % 2 else -1.1), np.array([0.3, 0, 0.1]))
        joint = model.addJoint(joint, pin.JointModelRZ(), placement, f"q{k}")
        model.appendBodyToJoint(joint, pin.Inertia(1 + 0.01 * k, com, J), pin.SE3.Identity())
    return model


def _arm(name: str, path: str) -> Source:
    """A robot of the package example-robot-data that stands on the ground."""
    file = FILES / path
    return Source(name, lambda: urdf.read_with_report(file)[0], lambda: pin.buildModelFromUrdf(str(file)))


def _on_a_floating_base(name: str, path: str) -> Source:
    """A robot of the package example-robot-data, read by both from the same file."""
    file = FILES / path
    return Source(
        name,
        lambda: urdf.read_with_report(file, floating=True)[0],
        lambda: pin.buildModelFromUrdf(str(file), pin.JointModelFreeFlyer()),
    )


SOURCES = {
    "puma": Source("PUMA 560", lambda: kn.load(EXAMPLES / "puma560.kin"), puma_model),
    "ur5": _arm("UR5", "ur_description/urdf/ur5_robot.urdf"),
    "chain": Source("chain of 16", lambda: chain(16), lambda: chain_model(16)),
    "quadruped": _on_a_floating_base("ANYmal (18 dof)", "anymal_b_simple_description/robots/anymal.urdf"),
    "humanoid": _on_a_floating_base("Talos (38 dof)", "talos_data/robots/talos_reduced.urdf"),
}
