"""The inertial law: the rate of the control in inertial axes is along the gradients of the programs, for one free body."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.programs.laws.law import Law, total
from kineta.model.joints.joint import Joint
from kineta.model.system import System
from kineta.spatial.vector import Vector


def _rate(d: Derivation, r: int) -> list[Ref]:
    u: Sequence[Ref] = total(d)
    w = Vector(d.graph, *d.symbols.v[-3:])
    for _ in range(r):
        rates = d.symbols.levels.of(u, 1)
        parts = (slice(k, k + 3) for k in range(0, len(u), 3))
        u = [x for own in parts for x in (Vector(d.graph, *rates[own]) + w.cross(Vector(d.graph, *u[own]))).refs]
    return list(u)


def _applies(system: System, r: int) -> str:
    moving = [m for b in system.bodies for m in b.motions if isinstance(m, Joint) and m.quaternion]
    if len(system.bodies) == 1 and len(moving) == 1 and len(system.bodies[0].motions) == 1 and not system.quasi:
        return ""
    return "it speaks of one body with a Ball or Free motion alone."


INERTIAL = Law("inertial", "theory of one free body", _rate, applies=_applies)
