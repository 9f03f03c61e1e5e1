"""Parameters and initial values of a description, and tables of records by name."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, TypeVar

from kineta.algebra.expression import Expr
from kineta.errors import ArgumentError, ExpressionError, Location, ModelError, nearest_or_listed, shown
from kineta.model.coercion import COERCIONS, ModelRecord
from kineta.model.units import Dimension
from kineta.passes.evaluate import evaluate
from kineta.records import dataclass
from kineta.threads import once
from kineta.values import number

T = TypeVar("T")

#: Rule by which the name of a declared parameter is one.
DECLARED = "declared"


@dataclass(frozen=True, slots=True)
class Parameter(ModelRecord):
    """A parameter in SI units.

    ``value`` is None where it must be given at run time. ``default`` is the expression of other parameters from which a text has
    computed it, None for a number. A ``fixed`` parameter is a number in the equations and in the
    code: it is folded and cannot be changed without a new derivation. ``dimension`` is that of the unit with which a text has
    declared it, None where there was none. ``counts`` marks a constant that
    repetitions of a text name: another value is another text.
    """

    name: str
    value: float | None = None
    fixed: bool = False
    location: Location | None = field(default=None, compare=False, repr=False)
    dimension: Dimension | None = field(default=None, compare=False, repr=False)
    default: Expr | None = field(default=None, compare=False, repr=False)
    counts: bool = field(default=False, compare=False, repr=False)


def _value(value: object, _: str, parameter: Parameter) -> float | None:
    if value is None:
        return None
    try:
        found = number("", value)
    except ArgumentError:
        found = math.nan
    if not math.isfinite(found):
        raise ModelError(
            f"Parameter '{parameter.name}': expected a finite number, found {shown(value)}.", parameter.location
        )
    return found


def constants(parameters: Iterable[Parameter]) -> dict[str, float]:
    """Values of the fixed *parameters* by name."""
    return {p.name: p.value for p in parameters if p.fixed and p.value is not None}


def named_values(parameters: Sequence[Parameter], p: Iterable[float]) -> dict[str, float]:
    """Values of all *parameters* by name: the constants, and those of the array *p* (np,)."""
    free = (own.name for own in parameters if not own.fixed)
    return {**constants(parameters), **dict(zip(free, p, strict=True))}


def valid_defaults(parameters: Iterable[Parameter]) -> Iterator[Parameter]:
    """*parameters* without the defaults that no longer give their values."""
    known: dict[str, float] = {}
    for own in parameters:
        if own.default is not None and own.value != default_value(own.default, known):
            own = replace(own, default=None)
        yield own
        known |= {} if own.value is None else {own.name: own.value}


def default_value(default: Expr, values: Mapping[str, float]) -> float | None:
    """The number that *default* is for these *values* of parameters; None where it is none."""
    try:
        found: float = evaluate(default.graph, [default.ref], values)[0]
    except ExpressionError:
        return None
    return found


COERCIONS["float | None"] = _value
COERCIONS["Dimension | None"] = COERCIONS["tuple[Dimension | None, ...]"] = lambda value, *_: value


class ByName(tuple[T, ...]):
    """Records, or pairs of names and values, in order, and their values by name: ``{**system.parameters, "m": 2.0}``.

    Iterating gives the records; ``keys``, ``values``, ``items``, ``get`` and ``in`` with a name are those of a mapping to values.
    """

    what = "value"

    def pairs(self) -> Iterator[tuple[str, Any]]:
        """Names and values."""
        return ((x[0], x[1]) if isinstance(x, tuple) else (x.name, x.value) for x in self)  # type: ignore[attr-defined]

    @once
    def _values(self) -> dict[str, Any]:
        return dict(self.pairs())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self),)

    def keys(self) -> list[str]:
        """The names."""
        return list(self._values)

    def values(self) -> list[Any]:
        """The values, in the order of the names."""
        return list(self._values.values())

    def items(self) -> list[tuple[str, Any]]:
        """Names and values."""
        return list(self._values.items())

    def get(self, name: str, default: Any = None) -> Any:
        """The value by name, or *default* where there is no such name."""
        return self._values.get(name, default)

    def __contains__(self, key: object) -> bool:
        """Whether there is a value of this name, or this record."""
        return key in self._values if isinstance(key, str) else super().__contains__(key)

    def __getitem__(self, key: Any) -> Any:
        """The value by name, None of a parameter that has none; a record by its place."""
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key in self._values:
            return self._values[key]
        raise ArgumentError(f"There is no {self.what} '{key}'.{nearest_or_listed(key, self.keys())}")


class Parameters(ByName[Parameter]):
    """The parameters of a system."""

    what = "parameter"

    @once
    def numbers(self) -> dict[str, float]:
        """Values by name of the parameters that have one."""
        return {own.name: own.value for own in self if own.value is not None}


class Initial(ByName[tuple[str, Expr]]):
    """The initial values of a system; ``measured`` are the names of those that a text gives with a unit."""

    what = "initial value"
    measured: Collection[str]

    def __new__(cls, pairs: Iterable[tuple[str, Expr]] = (), measured: Collection[str] = ()) -> Initial:
        """Values of *pairs* of names and expressions."""
        own = super().__new__(cls, pairs)
        own.measured = frozenset(measured)
        return own

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self), self.measured)

    def followed(self, more: Initial) -> Initial:
        """These values, then those of *more* for names that have none here."""
        own = self.keys()
        others = [pair for pair in more if pair[0] not in own]
        return Initial([*self, *others], {*self.measured, *(n for n in more.measured if n not in own)})
