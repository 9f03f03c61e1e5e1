"""Variables of the motion that the user chooses: quasi-velocities, and first-order states, as a current or a pressure."""

from __future__ import annotations

from dataclasses import field

from kineta.algebra.expression import Expr, Scalar
from kineta.errors import Location
from kineta.model import units
from kineta.model.coercion import ModelRecord, coerce_fields, scalar
from kineta.model.units import Dimension
from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class Quasi(ModelRecord):
    """A quasi-velocity: *value*, linear in the speeds, is a speed of the equations (Gantmacher (5))."""

    name: str
    value: Expr
    location: Location | None = field(default=None, compare=False, repr=False)


def quasi(name: str, value: Scalar) -> Quasi:
    """The :class:`Quasi`-velocity *value*."""
    return Quasi(name, scalar(value))


@dataclass(frozen=True, slots=True)
class State(ModelRecord):
    """A first-order state z: z' = *rate*, an expression of coordinates, speeds, the time, parameters, states and points.

    unit : of z, ``""`` where it is not known; it is kept as that in SI, ``rad`` for a number

    Raises :class:`~kineta.errors.ModelError` for an unknown unit.
    """

    name: str
    rate: Expr
    unit: str = ""
    location: Location | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        coerce_fields(self)
        if self.unit:
            object.__setattr__(self, "unit", units.symbol(units.unit(self.unit).dimension) or "rad")

    @property
    def dimension(self) -> Dimension | None:
        """The dimension of z; None where it is not known."""
        return units.unit(self.unit).dimension if self.unit else None


def state(name: str, rate: Scalar, unit: str = "") -> State:
    """The :class:`State` *name*, whose rate of change is *rate*; *unit* is that of the state, ``"A"`` or ``"Pa"``.

    Raises :class:`~kineta.errors.ModelError` for an unknown unit.
    """
    return State(name, scalar(rate), unit)
