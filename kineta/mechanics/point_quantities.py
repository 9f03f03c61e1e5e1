"""Position and motion of one body or point, in ground axes or relative to the frame of a body.

In a frame, a position is relative to the origin of the frame; velocities and accelerations remain relative to the ground and
have their components in the axes of the frame, as do the force and the couple of a joint, about the place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kineta.expr.graph import ONE, ZERO, Ref
from kineta.mechanics.constraints import joint_reactions
from kineta.mechanics.derivation import Derivation
from kineta.model.body import Station

#: Shape and entries of an array.
Entries = tuple[tuple[int, ...], Sequence[Ref]]


def _pose(d: Derivation, at: Station, frame: str) -> Entries:
    """The pose [R r; 0 1]: from coordinates in body axes, with the place as origin, to coordinates in the frame."""
    rows = zip(d.kinematics.axes(at.body, frame).rows, d.kinematics.position(at, frame).refs, strict=True)
    return (4, 4), (*(entry for R, r in rows for entry in (*R, r)), ZERO, ZERO, ZERO, ONE)


def _velocity(d: Derivation, at: Station, frame: str) -> Entries:
    return (6,), d.kinematics.velocity(at, frame).refs + d.kinematics.angular_velocity(
        d.mechanism.places[at.body], frame
    ).refs


def _jacobian(d: Derivation, at: Station, frame: str) -> Entries:
    rows = d.kinematics.jacobian(at, frame)
    return (6, len(d.mechanism.symbols.v)), tuple(entry for row in rows for entry in row)


def _acceleration(d: Derivation, at: Station, frame: str) -> Entries:
    i, x = d.kinematics.in_link(at)
    if i < 0:
        return (6,), (ZERO,) * 6
    motion = d.accelerated
    R = d.kinematics.seen(frame)[i][0]
    return (6,), (*(R @ (motion.X(2)[i] + motion.U(2)[i] @ x)).refs, *(R @ motion.W(1)[i]).refs)


#: Rules of the quantities of a body or point.
RULES: Mapping[str, Callable[[Derivation, Station, str], Entries]] = {
    "position": lambda d, at, frame: ((3,), d.kinematics.position(at, frame).refs),
    "rotation": lambda d, at, frame: ((3, 3), d.kinematics.axes(at.body, frame).refs),
    "pose": _pose,
    "velocity": _velocity,
    "jacobian": _jacobian,
    "acceleration": _acceleration,
    "reaction": lambda d, at, frame: ((6,), joint_reactions.of_place(d, at, frame)),
}
