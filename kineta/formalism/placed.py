"""Where one body or point is and how it moves, in ground axes or seen in the frame of a body.

Seen in a frame, a point is where its coordinates are, from the origin of the frame; a velocity is the same, that relative to the
ground, and has its components in the axes of the frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kineta.expr.graph import ONE, ZERO, Ref
from kineta.formalism.kinematics import Kinematics
from kineta.model.body import Station

#: Shape and entries of an array.
Entries = tuple[tuple[int, ...], Sequence[Ref]]


def _position(k: Kinematics, at: Station, frame: str) -> Entries:
    return (3,), k.position(at, frame).refs


def _rotation(k: Kinematics, at: Station, frame: str) -> Entries:
    return (3, 3), k.axes(at.body, frame).refs


def _pose(k: Kinematics, at: Station, frame: str) -> Entries:
    """[R r; 0 1]: from coordinates in the body's axes, with the place for origin, to those in the frame."""
    rows = zip(k.axes(at.body, frame).rows, k.position(at, frame).refs, strict=True)
    return (4, 4), (*(entry for R, r in rows for entry in (*R, r)), ZERO, ZERO, ZERO, ONE)


def _velocity(k: Kinematics, at: Station, frame: str) -> Entries:
    return (6,), k.velocity(at, frame).refs + k.angular_velocity(k.mechanism.places[at.body], frame).refs


def _jacobian(k: Kinematics, at: Station, frame: str) -> Entries:
    rows = k.jacobian(at, frame)
    return (6, len(k.mechanism.symbols.v)), tuple(entry for row in rows for entry in row)


#: How each of the quantities of a body or point is derived.
RULES: Mapping[str, Callable[[Kinematics, Station, str], Entries]] = {
    "position": _position,
    "rotation": _rotation,
    "pose": _pose,
    "velocity": _velocity,
    "jacobian": _jacobian,
}
