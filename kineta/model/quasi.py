"""The quasi-velocities that the user chooses."""

from __future__ import annotations

from dataclasses import dataclass, field

from kineta.errors import Location
from kineta.expr.node import Expr, Scalar
from kineta.model.given import Record, scalar


@dataclass(frozen=True, slots=True)
class Quasi(Record):
    """A quasi-velocity: *value*, linear in the speeds, is a speed of the equations (Gantmacher (5))."""

    name: str
    value: Expr
    location: Location | None = field(default=None, compare=False, repr=False)


def quasi(name: str, value: Scalar) -> Quasi:
    """The :class:`Quasi`-velocity *value*."""
    return Quasi(name, scalar(value))
