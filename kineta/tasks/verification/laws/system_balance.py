"""Laws of the reactions of a whole system: momentum balance at the ground, work of ideal joints."""

from __future__ import annotations

import numpy as np

from kineta.arrays import FloatArray
from kineta.expr.graph import ONE
from kineta.mechanics.algorithms.energy import mass_centre
from kineta.mechanics.kinematics.kinematics import TreeKinematics
from kineta.model.body import GROUND
from kineta.model.name_inference import point_components
from kineta.model.reserved_symbols import TIME
from kineta.model.system import System
from kineta.passes.differentiate import forward
from kineta.tasks.verification.laws.law import MechanicalLaw
from kineta.tasks.verification.random_states import values
from kineta.tasks.verification.sampled_equations import SampledEquations, relative_error


def _ground_balance(case: SampledEquations) -> FloatArray:
    """Reactions of the ground and weight = rates of momentum and angular momentum about the origin of the ground."""
    d, s, g, n = case.d, case.d.symbols, case.d.graph, len(case.states[TIME])
    motion = {s.t: ONE, **dict(zip(s.q + s.v, s.qdot + d["forward"].refs, strict=True))}
    change = values(g, forward(g, [*d["linear_momentum"].refs, *d["angular_momentum"].refs], motion), case.states)
    (m, first), weight = mass_centre(d.described, TreeKinematics(d.described)), d.described.gravity
    weights = values(g, [*(weight * m).refs, *first.cross(weight).refs], case.states)
    passed, places = case.at("reactions"), case.at("positions")
    total = weights
    for i, body in enumerate(case.system.bodies):
        if body.base == GROUND:
            arm = np.cross(places[:, i], passed[:, i, :3])
            total = total + np.concatenate([passed[:, i, :3], passed[:, i, 3:] + arm], axis=1)
    scale = np.maximum(np.abs(weights).max(axis=1), np.abs(passed).reshape(n, -1).max(axis=1, initial=0))
    return relative_error(total, change, scale * case.condition)


def _joint_work(case: SampledEquations) -> FloatArray:
    """Power of the joint reactions = power of added forces and drives."""
    passed, velocities, places = (case.at(name) for name in ("reactions", "velocities", "positions"))
    number = {body.name: i for i, body in enumerate(case.system.bodies)}
    work = []
    for i, body in enumerate(case.system.bodies):
        relative = velocities[:, i].copy()
        if body.base != GROUND:
            base = velocities[:, number[body.base]]
            relative[:, :3] -= base[:, :3] + np.cross(base[:, 3:], places[:, i] - places[:, number[body.base]])
            relative[:, 3:] -= base[:, 3:]
        work.append(relative * passed[:, i])
    spent = np.array(work).transpose(1, 0, 2).reshape(len(passed), -1)
    scale = np.abs(spent).max(axis=1, initial=0) * case.condition
    return relative_error(spent.sum(axis=1, keepdims=True), case.at("power")[:, None], scale)


def _off_the_ground(system: System) -> bool:
    """Return whether bodies are loaded by joints, mutual constraints, weight and added forces alone. Constraints on positions
    of points react on the ground, in whose axes the positions are measured.
    """
    held = system.expanded.constraints
    apart = all(c.bodies and GROUND not in c.bodies for c in held)
    return (
        apart
        and not system.elements
        and not any(_is_measured(system, n) for c in held for e in c.expressions for n in e.symbols())
    )


def _is_measured(system: System, name: str) -> bool:
    """Return whether *name* is a component of a point or body, or part of a vector."""
    return name in point_components(system) or "(" in name


def _ideal(system: System) -> bool:
    """Return whether bodies are loaded by joints, ideal loops and rolling bodies, weight and added forces alone. Any other
    constraint may act on positions of bodies and on joints at the same time.
    """
    held, fixed = system.expanded.constraints, {p.name for p in system.parameters}
    still = all(fixed.issuperset(e.symbols()) for c in held for e in c.expressions)
    return not system.elements and still and all(c.bodies for c in held)


LAWS = (
    MechanicalLaw(
        "the ground bears what changes the momenta",
        "what the ground passes on, and the weight, with the rates of momentum and angular momentum",
        _ground_balance,
        _off_the_ground,
        "it speaks of systems without elements, of whose constraints none takes hold of the ground",
    ),
    MechanicalLaw(
        "reactions of joints do no work",
        "the work of what joints pass on with the power of added forces and drives",
        _joint_work,
        _ideal,
        "it speaks of systems without elements, of whose constraints all are rolling bodies and loops of fixed sizes",
    ),
)
