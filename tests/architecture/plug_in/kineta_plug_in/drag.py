"""Air drag on a point: ``drag D = k on P;`` is the force -k |v| v [N] on the point P with the velocity v."""

from __future__ import annotations

from dataclasses import dataclass, field

from kineta.algebra.expression import Expr, expr, symbol
from kineta.algebra.functions import sqrt
from kineta.errors import Location
from kineta.model import units
from kineta.model.compound import CompoundElement, compound_kind
from kineta.model.elements.generalized import GeneralizedForce
from kineta.model.kind import Production

#: [N s^2/m^2] as exponents of length, mass and time.
FACTOR = units.times(units.FORCE, units.VELOCITY, -2)
#: A speed [m/s] too small to matter: a root has no slope at zero, and equilibria and sensitivities ask for one at rest.
SLOW = 1e-6


@dataclass(frozen=True, slots=True)
class Drag(CompoundElement):
    """Drag of *factor* k [N s^2/m^2] on a *point* or body."""

    name: str
    factor: Expr
    point: str
    location: Location | None = field(default=None, compare=False, repr=False)

    def parts(self) -> tuple[GeneralizedForce, ...]:
        """A force along each axis of the ground, which works on the rate of the coordinate of the point."""
        v = [symbol(f"{self.point}.v{axis}") for axis in "xyz"]
        speed = sqrt(sum((c * c for c in v), expr(SLOW * SLOW)))
        return tuple(
            GeneralizedForce(
                f"{self.name}_{axis}", -self.factor * speed * c, symbol(f"{self.point}.{axis}"), self.location
            )
            for axis, c in zip("xyz", v, strict=True)
        )


def _read(source, name, factor, point):
    k = source.expression(factor, FACTOR, f"the factor of drag '{name}'")
    return Drag(str(name), k, source.noted(point), source.location(name))


Drag.kind = compound_kind(
    Drag,
    "drag",
    {"drag": Production('"=" sum "on" NAME', _read)},
    lambda d: f"= {d.factor} on {d.point}",
)
