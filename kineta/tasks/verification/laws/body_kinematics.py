"""Law of the kinematics of bodies and points."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kineta.model.body import GROUND
from kineta.model.reserved_symbols import TIME
from kineta.tasks.verification.laws.comparison import Comparison, compare, rotated
from kineta.tasks.verification.laws.law import NO_BODIES, MechanicalLaw, by_reference, has_bodies
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics


def body_kinematics(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """Positions, rotations, velocities, accelerations and Jacobians of the bodies."""
    m, unit = kin.motion, kin.virtual
    frames = [m.frames[b.name] for b in kin.system.bodies]
    r, R = np.array([r for _, r in frames]), np.array([R for R, _ in frames])
    w = np.array([m.turning[b.name] for b in kin.system.bodies])
    places, speeds = kin.of(r), np.concatenate([kin.of(r, 1), kin.of(w)], axis=2)
    rates = np.concatenate([kin.of(r, 2), kin.of(w, 1)], axis=2)
    yield compare(kin, kin.at("positions"), places, 1.0 + 0 * kin.states[TIME])
    yield compare(kin, kin.at("rotations"), kin.of(R))
    yield compare(kin, kin.at("velocities"), speeds, places, speeds)
    yield compare(kin, kin.at("accelerations"), rates, rates, speeds**2, places)
    own = [
        np.concatenate([kin.unit(unit.frames[b.name][1]), kin.unit(unit.turning[b.name], 0)], 2)
        for b in kin.system.bodies
    ]
    jacobian = np.stack(own, axis=1).transpose(0, 1, 3, 2)
    yield compare(kin, kin.at("jacobian"), jacobian, places, 1.0 + 0 * kin.states[TIME])
    yield from _point_kinematics(kin)


def _point_kinematics(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """The kinematic quantities of one point in the frame of another body."""
    m, unit = kin.motion, kin.virtual
    of = kin.system.points[0].name if kin.system.points else kin.system.bodies[0].name
    frame = next((b.name for b in reversed(kin.system.bodies) if b.name != m.stations[of].body), GROUND)
    (S, o), x, w = m.frames[frame], m.place(m.stations[of]), m.turning[m.stations[of].body]
    asked = f"{of} in {frame}" if frame != GROUND else of
    turned = kin.of(S).swapaxes(1, 2)
    yield compare(kin, kin.at(f"position({asked})"), kin.of(S.T @ (x - o)), kin.of(x), kin.of(o))
    yield compare(kin, kin.at(f"rotation({asked})"), kin.of(S.T @ m.frames[m.stations[of].body][0]))
    for name, a, b in (("velocity", kin.of(x, 1), kin.of(w)), ("acceleration", kin.of(x, 2), kin.of(w, 1))):
        own = np.concatenate([rotated(turned, a), rotated(turned, b)], axis=1)
        yield compare(kin, kin.at(f"{name}({asked})"), own, own, kin.of(x, 1) ** 2, kin.of(w) ** 2)
    a, b = kin.unit(unit.place(m.stations[of])), kin.unit(unit.turning[m.stations[of].body], 0)
    both = np.concatenate([rotated(turned[:, None], a), rotated(turned[:, None], b)], axis=2).transpose(0, 2, 1)
    yield compare(kin, kin.at(f"jacobian({asked})"), both, kin.of(x), 1.0 + 0 * kin.states[TIME])


LAWS = (
    MechanicalLaw(
        "places, axes, velocities and accelerations are those of the frames",
        "positions, rotations, velocities, accelerations and Jacobians with those of the motions multiplied out in numbers",
        by_reference(body_kinematics),
        has_bodies,
        NO_BODIES,
    ),
)
