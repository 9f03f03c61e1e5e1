"""Laws of joint reactions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kineta.expr.graph import Ref
from kineta.mechanics.constraints import joint_reactions as joints
from kineta.mechanics.from_residual import moving, transmitted
from kineta.model.constraints import holding
from kineta.model.reserved_symbols import MULTIPLIER, TIME, added_force
from kineta.tasks.verification.closure_laws import crossed
from kineta.tasks.verification.laws.comparison import Comparison, compare, rotated
from kineta.tasks.verification.laws.law import (
    NO_BODIES,
    UNKNOWN_KINDS,
    MechanicalLaw,
    by_reference,
    has_bodies,
    understood,
)
from kineta.tasks.verification.random_states import values
from kineta.tasks.verification.reference_forces import body_forces, generalized_forces
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics


def joint_motion_work(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """Virtual work of the joint reactions = virtual work of added and generalised forces."""
    unit, passed, nv = kin.virtual, kin.at("reactions"), len(kin.system.v_names)
    total, terms = np.zeros((kin.n, nv)), list[Any]()
    turned = {name: kin.unit(w, 0) for name, w in unit.turning.items()}
    drifts = {name: kin.unit(r) for name, (_, r) in unit.frames.items()}
    allowed = {}
    for i, body in enumerate(kin.system.bodies):
        apart = kin.of(kin.motion.frames[body.name][1] - kin.motion.frames[body.base][1])
        v = drifts[body.name] - drifts[body.base] - np.cross(turned[body.base], apart[:, None])
        allowed[body.name] = np.concatenate([v, turned[body.name] - turned[body.base]], axis=2)
        own = allowed[body.name] * passed[:, None, i]
        total, terms = total + own.sum(axis=2), [*terms, own]
    # A load on a body passes through all joints that carry it and leaves its rounding error there, even where loads cancel.
    base = {body.name: body.base for body in kin.system.bodies}
    for name, place, force, couple in body_forces(kin):
        while name in base:
            moment = kin.of(couple) + kin.of(crossed(place - kin.motion.frames[name][1], force))
            act = np.concatenate([kin.of(force), moment], axis=1)
            name, terms = base[name], [*terms, allowed[name] * act[:, None]]
    expected = np.stack([kin.states[added_force(n)] for n in kin.system.v_names], axis=1)
    for act in generalized_forces(kin):
        expected, terms = expected + act, [*terms, act]
    yield compare(kin, total, expected, *terms)


def reaction_transfer(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """Reaction of a joint about another point and in other axes = transformed reaction about its origin."""
    m = kin.motion
    body = kin.system.bodies[-1]
    of = next((p.name for p in reversed(kin.system.points) if p.body == body.name), body.name)
    frame = kin.system.bodies[0].name
    own = kin.at("reactions")[:, -1]
    turned = kin.of(m.frames[frame][0]).swapaxes(1, 2)
    n = own[:, 3:] + np.cross(kin.of(m.frames[body.name][1] - m.place(m.stations[of])), own[:, :3])
    expected = np.concatenate([rotated(turned, own[:, :3]), rotated(turned, n)], axis=1)
    yield compare(kin, kin.at(f"reaction({of} in {frame})"), expected, own, n)


def reactions_along_motion(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """Reactions computed from recorded accelerations and multipliers = reactions of the states."""
    d = kin.d
    given = {row.constraint: d.graph.symbol(f"{MULTIPLIER}{row.constraint}") for row in d.constraint_rows}
    needed = joints.inertial_reactions(d, moving(d, d.symbols.vdot))
    refs: list[Ref] = [*transmitted(d, joints.without_loads_of(d, needed, given)).refs, *joints.of_loops(d, given)]
    states = {**kin.accelerated, **{f"{MULTIPLIER}{n}": kin.multipliers.get(n, 0 * kin.states[TIME]) for n in given}}
    own = [kin.at("reactions").reshape(kin.n, -1)]
    if holding(kin.system.constraints):
        own.append(kin.at("loop_reactions").reshape(kin.n, -1))
    found = values(d.graph, refs, states)
    yield compare(kin, found, np.hstack(own), *kin.multipliers.values())
    if d.rows:
        states |= {n: 0 * x for n, x in states.items() if n.startswith(MULTIPLIER)}
        alone, shares = (x.reshape(kin.n, -1) for x in (values(d.graph, refs, states), kin.at("constraint_reactions")))
        width = 6 * len(kin.system.bodies)
        push = np.stack([kin.multipliers[row.constraint] for row in d.constraint_rows], axis=1)
        by_rows = np.sum(shares.reshape(kin.n, len(d.constraint_rows), width) * push[:, :, None], axis=1)
        yield compare(kin, found[:, :width] - alone[:, :width], by_rows, found, alone)


LAWS = (
    MechanicalLaw(
        "joints pass on nothing along their motions but what acts there",
        "the work of reactions on every motion that joints allow with that of added forces and of what acts on coordinates",
        by_reference(joint_motion_work),
        understood,
        UNKNOWN_KINDS,
    ),
    MechanicalLaw(
        "reactions are the same about any place and in any axes",
        "the reaction of a joint about a place, in the axes of a body, with the one about its origin",
        by_reference(reaction_transfer),
        has_bodies,
        NO_BODIES,
    ),
    MechanicalLaw(
        "reactions along a motion are those of its states",
        "what kn.reactions finds from accelerations and multipliers with the reactions of the states",
        by_reference(reactions_along_motion),
    ),
)
