"""Named expressions: ``let stretch = B.x - A.x;``, and what their names stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from kineta.errors import Location
from kineta.expr.node import DESCRIPTIONS, LOCK, Expr
from kineta.model.fault import CheckError
from kineta.model.given import Record
from kineta.passes.substitute import substitute


@dataclass(frozen=True, slots=True)
class Let(Record):
    """A named expression: wherever the symbol *name* stands in a system, its *value* is meant."""

    name: str
    value: Expr
    location: Location | None = field(default=None, compare=False, repr=False)


def ordered(uses: Mapping[str, Iterable[str]], places: Mapping[str, Location | None]) -> list[str]:
    """The names of *uses*, each behind those that it uses. Raises :class:`CheckError` where one uses itself."""
    try:
        return list(TopologicalSorter({n: [u for u in used if u in uses] for n, used in uses.items()}).static_order())
    except CycleError as error:
        cycle = error.args[1][::-1]
        text = f"the name stands for itself: {' = '.join(cycle)}. One must do without the others."
        raise CheckError("Let", cycle[0], places[cycle[0]], text) from None


def closed(lets: Sequence[Let]) -> dict[str, Expr]:
    """What the names of *lets* stand for, with no such name left in it. Raises as :func:`ordered`."""
    values = {let.name: let.value for let in lets}
    found: dict[str, Expr] = {}
    for name in ordered({n: v.symbols() for n, v in values.items()}, {let.name: let.location for let in lets}):
        found[name] = put_in(found, values[name])
    return found


def put_in(values: Mapping[str, Expr], expression: Expr) -> Expr:
    """*expression* with every symbol that *values* names replaced."""
    named = {n: values[n].ref for n in expression.symbols() if n in values}
    if not named:
        return expression
    with LOCK:
        (ref,) = substitute(DESCRIPTIONS, [expression.ref], named)
    return Expr(DESCRIPTIONS, ref)
