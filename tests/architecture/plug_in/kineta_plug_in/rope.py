"""A taut rope over a pulley: ``rope R = L between A, P and B;`` keeps |A P| + |P B| = L."""

from __future__ import annotations

from dataclasses import dataclass, field

from kineta.algebra.expression import Expr, symbol
from kineta.algebra.functions import sqrt
from kineta.errors import Location
from kineta.model import units
from kineta.model.compound import CompoundConstraint, compound_kind
from kineta.model.constraints.equation import Constraint
from kineta.model.kind import Production


@dataclass(frozen=True, slots=True)
class Rope(CompoundConstraint):
    """A rope of *length* L [m] from the point *start* over the *pulley* to the point *end*."""

    name: str
    length: Expr
    start: str
    pulley: str
    end: str
    location: Location | None = field(default=None, compare=False, repr=False)

    def parts(self) -> tuple[Constraint, ...]:
        """The equation of the length."""
        taut = _distance(self.start, self.pulley) + _distance(self.pulley, self.end) - self.length
        return (Constraint(self.name, taut, self.location),)


def _distance(a: str, b: str) -> Expr:
    apart = [symbol(f"{a}.{axis}") - symbol(f"{b}.{axis}") for axis in "xyz"]
    return sqrt(sum((c * c for c in apart[1:]), apart[0] * apart[0]))


def _read(source, name, length, start, pulley, end):
    L = source.expression(length, units.LENGTH, f"the length of rope '{name}'")
    return Rope(str(name), L, *(source.noted(p) for p in (start, pulley, end)), source.location(name))


Rope.kind = compound_kind(
    Rope,
    "rope",
    {"rope": Production('"=" sum "between" NAME "," NAME "and" NAME', _read)},
    lambda r: f"= {r.length} between {r.start}, {r.pulley} and {r.end}",
)
