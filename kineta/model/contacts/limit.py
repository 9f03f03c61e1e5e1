"""Limits of a coordinate, or of any expression of the position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

from kineta.algebra.expression import Expr, Scalar, expr
from kineta.errors import Location, ModelError
from kineta.model import units
from kineta.model.bounds import Bound
from kineta.model.checks import contact_checks
from kineta.model.constraints import placement
from kineta.model.contacts import parameter_condition
from kineta.model.contacts import restitution as options
from kineta.model.contacts.parameter_condition import WHILE
from kineta.model.kind import Kind, Production, Scope, Unilateral
from kineta.model.units import Dimension
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_quantities import DimensionedExpr
    from kineta.model.io.kin_source import Node, Source, Token

_NONE = expr(0)


@dataclass(frozen=True, slots=True)
class Limit(Unilateral):
    """An expression ``value`` of coordinates, points and t that stays above ``lower`` and below ``upper``; a bound may be
    None; impacts have the ``restitution``, Newton's, or Poisson's where ``poisson`` is set. It acts while all parameters of
    ``conditions``, which switches set, have these values. ``dimensions`` are those of the units with which a text gives the
    lower and the upper bound, None without one.
    """

    plural: ClassVar[str] = "limits"
    always: ClassVar[bool] = False

    name: str
    value: Expr
    lower: Expr | None = None
    upper: Expr | None = None
    restitution: Expr = _NONE
    poisson: bool = False
    location: Location | None = field(default=None, compare=False, repr=False)
    conditions: tuple[tuple[str, Expr], ...] = ()
    dimensions: tuple[Dimension | None, ...] = field(default=(None, None), compare=False, repr=False)

    @property
    def ends(self) -> tuple[str, ...]:
        """The ends that it has: ``lower``, ``upper``."""
        return tuple(name for name in ("lower", "upper") if getattr(self, name) is not None)

    def rows(self, scope: Scope) -> tuple[str, ...]:
        """Names of its rows, one for each end."""
        return tuple(f"{self.name}.{end}" for end in self.ends)

    @property
    def along(self) -> Expr:
        """The expression with the limits."""
        return self.value

    @property
    def gaps(self) -> tuple[Expr, ...]:
        """The expression and its bounds."""
        return tuple(x for x in (self.value, self.lower, self.upper) if x is not None)


def limit(
    name: str,
    value: Expr,
    lower: Scalar | None = None,
    upper: Scalar | None = None,
    *,
    restitution: Scalar = 0.0,
    law: str = "newton",
    conditions: Mapping[str, Scalar] | None = None,
) -> Limit:
    """The :class:`Limit` that *value* stays above *lower* and below *upper*; None for no such end.

    law : of the *restitution*, ``newton`` or ``poisson``
    conditions : parameters, by name, with the values at which it acts; as they are set by switches
    """
    return Limit(name, value, lower, upper, restitution, options.poisson(law), conditions=conditions or {})  # type: ignore[arg-type]  # as it is given


def _read(
    source: Source,
    name: Token,
    left: Node,
    first: Token,
    right: Node,
    second: Token | None,
    last: Node | None,
    *given: Node,
) -> Limit:
    rises = [source.rises(relation) for relation in (first, second) if relation is not None]
    if second is not None and last is not None:
        if rises[0] != rises[1]:
            text = f"expected '{first}', so that both comparisons go one way, found '{second}'."
            raise ModelError(text, source.location(second))
        ends = [right, *((last, left) if rises[0] else (left, last))]
    elif source.resting(left) and not source.resting(right):
        ends = [right, None, left] if rises[0] else [right, left, None]
    else:
        ends = [left, right, None] if rises[0] else [left, None, right]
    node, *bounds = ends
    value = source.quantity(node)
    expected = None if value.plain else value.likely
    what = f"a bound of limit '{name}'"
    lower, upper = (None if b is None else source.expression(b, expected, what) for b in bounds)
    dimensions = tuple(None if b is None else _dimension(source.quantity(b)) for b in bounds)
    chosen, conditions = parameter_condition.split(given)
    found = options.option_nodes(source, chosen, ("restitution",))
    back = options.restitution(source, found, f"limit '{name}'")
    held = parameter_condition.read(source, conditions, "condition")
    return Limit(str(name), value.value, lower, upper, *back, source.location(name), held, dimensions)


def _dimension(bound: DimensionedExpr) -> Dimension | None:
    """Dimension of a *bound* with a unit in the text."""
    return bound.dimension if bound.shown and not bound.plain else None


def _written(limit: Limit) -> str:
    lower, upper = map(_written_bound, (limit.lower, limit.upper), limit.dimensions)
    if limit.lower is None:
        shown = f"{limit.value} <= {upper}"
    elif limit.upper is None:
        shown = f"{limit.value} >= {lower}"
    else:
        shown = f"{lower} <= {limit.value} <= {upper}"
    more = options.restitution_clause(limit.restitution, limit.poisson)
    return f": {shown}{more}{parameter_condition.clause(limit.conditions, 'while')}"


def _written_bound(bound: Expr | None, dimension: Dimension | None) -> str:
    """A *bound*, with a unit of its *dimension* behind a number."""
    value = None if bound is None else bound.value
    if not value or dimension is None:
        return str(bound)
    unit = "rad" if dimension == units.ANGLE else units.written(dimension)
    return units.shorter(value, dimension) or (f"{bound} {unit}" if unit else str(bound))


def _fault(system: Scope, limit: Limit) -> tuple[str, str] | None:
    if limit.lower is None and limit.upper is None:
        return "expected a lower bound, an upper one, or both, found none.", ""
    text = contact_checks.immobility_fault(system, limit.value)
    if limit.lower is not None and limit.upper is not None:
        low, high = placement.numeric_value(system, limit.lower), placement.numeric_value(system, limit.upper)
        if not text and low is not None and high is not None and not low < high:
            text = f"expected a lower bound below the upper one, found {low:g} and {high:g}."
    return (text, "") if text else parameter_condition.fault(system, limit.conditions)


KIND = Limit.kind = Kind(
    Limit,
    "limit",
    {"limit": Production(f'":" sum RELATION sum [RELATION sum] {options.OPTIONS} {WHILE}', _read)},
    _written,
    positions=lambda limit: (limit.value, *(b for b in (limit.lower, limit.upper) if b is not None)),
    constants=lambda limit: (limit.restitution, *(x for _, x in limit.conditions)),
    fault=_fault,
    bounds=lambda limit: (Bound(limit.restitution, "a restitution", 1),),
)
