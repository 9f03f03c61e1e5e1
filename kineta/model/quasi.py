"""The quasi-velocities that the user chooses."""

from __future__ import annotations

from dataclasses import dataclass, field

from kineta.algebra.expression import Expr, Scalar
from kineta.errors import Location
from kineta.model.coercion import ModelRecord, scalar


@dataclass(frozen=True, slots=True)
class Quasi(ModelRecord):
    """A quasi-velocity: *value*, linear in the speeds, is a speed of the equations (Gantmacher (5))."""

    name: str
    value: Expr
    location: Location | None = field(default=None, compare=False, repr=False)


def quasi(name: str, value: Scalar) -> Quasi:
    """The :class:`Quasi`-velocity *value*."""
    return Quasi(name, scalar(value))
