"""Named expressions: ``let stretch = B.x - A.x;``, and their values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from graphlib import CycleError, TopologicalSorter

from kineta.algebra.expression import DESCRIPTIONS, LOCK, Expr
from kineta.errors import ExpressionError, Location
from kineta.model.checks.diagnostics import CheckError
from kineta.model.coercion import ModelRecord
from kineta.model.parameters import ByName
from kineta.passes.substitute import substitute
from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class Let(ModelRecord):
    """A named expression: the symbol *name* stands for *value* throughout a system."""

    name: str
    value: Expr
    location: Location | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Output(ModelRecord):
    """A named expression to be recorded: of coordinates, speeds, parameters, ``t``, ``P.x`` ... ``P.vz`` of points and
    bodies, ``kinetic_energy``, ``potential_energy``, ``energy``.
    """

    name: str
    value: Expr
    location: Location | None = field(default=None, compare=False, repr=False)


class Outputs(ByName[Output]):
    """The outputs of a system."""

    what = "output"


class Lets(ByName[Let]):
    """The named expressions of a system."""

    what = "named expression"


def let_advice(lets: Sequence[Let], name: str) -> str:
    """The sentence on *name*, which is one of *lets* and no parameter, "" where it is not: what to change instead."""
    value = next((let.value for let in lets if let.name == name), None)
    if value is None:
        return ""
    names = " or ".join(f"'{n}'" for n in value.symbols())
    return f" '{name}' stands for {value} by 'let' or 'with'; change {names or 'that'} instead."


def dependency_order(uses: Mapping[str, Iterable[str]], places: Mapping[str, Location | None]) -> list[str]:
    """Names of *uses* in topological order, dependencies first. Raises :class:`CheckError` for a cycle."""
    try:
        return list(TopologicalSorter({n: [u for u in used if u in uses] for n, used in uses.items()}).static_order())
    except CycleError as error:
        cycle = error.args[1][::-1]
        text = f"the name stands for itself: {' = '.join(cycle)}. One must do without the others."
        raise CheckError("Let", cycle[0], places[cycle[0]], text) from None


def expanded_values(lets: Sequence[Let]) -> dict[str, Expr]:
    """Values of *lets* by name, free of named expressions. Raises :class:`CheckError` for a cycle, and for no value."""
    values = {let.name: let.value for let in lets}
    places = {let.name: let.location for let in lets}
    found: dict[str, Expr] = {}
    for name in dependency_order({n: v.symbols() for n, v in values.items()}, places):
        try:
            found[name] = substitute_names(found, values[name])
        except ExpressionError as error:
            raise CheckError("Let", name, places[name], str(error)) from None
    return found


def substitute_names(values: Mapping[str, Expr], expression: Expr) -> Expr:
    """*expression* with every symbol that *values* names replaced."""
    named = {n: values[n].ref for n in expression.symbols() if n in values}
    if not named:
        return expression
    with LOCK:
        (ref,) = substitute(DESCRIPTIONS, [expression.ref], named)
    return Expr(DESCRIPTIONS, ref)
