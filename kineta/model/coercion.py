"""Coercion of arguments to the types of the description, and the sentences on wrong arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, fields
from types import UnionType
from typing import Any

from kineta.algebra.expression import Expr, expr
from kineta.errors import ArgumentError, Location, shown
from kineta.values import flag, word

Vector3 = tuple[Expr, Expr, Expr]

_EXPRESSIONS = [Expr, Expr, Expr]
_SINGLE = (str, bytes, bytearray, memoryview)


def scalar(value: object) -> Expr:
    """*value* as an expression. Raises :class:`ArgumentError` for text, :class:`ExpressionError` for other objects."""
    if isinstance(value, str):
        advice = f"; write kn.symbol({value!r})" if value.isidentifier() and len(value) < 40 else ""
        raise ArgumentError(f"Expected a number or an expression, found {shown(value)}{advice}.")
    return expr(value)  # type: ignore[arg-type]  # which says what else is no number


def vector(values: object) -> Vector3:
    """Three scalars as expressions. Raises :class:`ArgumentError` for another number of them."""
    if type(values) is tuple and [type(x) for x in values] == _EXPRESSIONS:
        return values
    components = entries(values)
    if components is None:
        raise ArgumentError(f"Expected three components, as in (0, 0, 1), found {shown(values)}.")
    if len(components) != 3:
        raise ArgumentError(f"Expected three components, found {len(components)}: {shown(components)}.")
    x, y, z = components
    return scalar(x), scalar(y), scalar(z)


def records(values: object, kind: type | UnionType, what: str, example: str) -> tuple[Any, ...]:
    """*values* as a tuple of records of a *kind*; *what* is their name in errors, *example* a valid record."""
    if isinstance(values, kind):
        raise ArgumentError(f"Expected a list of {what}, found {shown(values)}; put it in brackets: [...].")
    found = entries(values)
    if found is None:
        raise ArgumentError(f"Expected a list of {what}, as in [{example}], found {shown(values)}.")
    for value in found:
        if not isinstance(value, kind):
            raise ArgumentError(f"Expected a list of {what}, as in [{example}], found {shown(value)} in it.")
    return found


def entries(values: object) -> tuple[Any, ...] | None:
    """Entries of *values*; None for text and bytes, which are single values, and for objects that are not iterable."""
    if type(values) is tuple:
        return values
    if isinstance(values, _SINGLE) or not isinstance(values, Iterable):
        return None
    try:
        return tuple(values)
    except Exception:  # whatever the object raises
        return None


def named_pairs(values: object, what: str, example: str) -> tuple[tuple[str, Any], ...]:
    """Pairs of names and values, from a mapping or from pairs; *what* is their name in errors, beside an *example*."""
    pairs = entries(values.items() if isinstance(values, Mapping) else values)
    for pair in [values] if pairs is None else pairs:
        if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)):
            raise ArgumentError(f"Expected {what} by name, as in {example}, found {shown(pair)}.")
    return pairs or ()


def record(value: Any, kind: type, example: str) -> Any:
    """*value*, if it is a record of this *kind*."""
    if not isinstance(value, kind):
        name = kind.__name__
        raise ArgumentError(f"Expected {_a(name)}, as in {example}, found {shown(value)}.")
    return value


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'AEIOUaeiou' else 'a'} {noun}"


def _expressions(value: object, *_: object) -> tuple[tuple[str, Expr], ...]:
    return tuple((name, scalar(x)) for name, x in named_pairs(value, "values", "{'s': 1}"))


#: Coercions of the fields of records by their declared type: functions of the value, the name of the field and the record.
COERCIONS: dict[str, Callable[[Any, str, Any], Any]] = {
    "str": lambda value, field, owner: word(value, f"the {field} of {_a(type(owner).__name__)}"),
    "bool": lambda value, field, _: flag(field, value),
    "Expr": lambda value, *_: scalar(value),
    "Vector3": lambda value, *_: vector(value),
    "tuple[tuple[str, Expr], ...]": _expressions,
    "Location | None": lambda value, *_: value if value is None else record(value, Location, "Location('a.kin', 1, 1)"),
}


#: The fields of records by their class, with their coercions.
_COERCIONS: dict[Any, list[tuple[str, Callable[[Any, str, Any], Any]]]] = {}


def coerce_fields(self: Any) -> None:
    """Coerce every field of a record to its declared type."""
    own = _COERCIONS.get(type(self))
    if own is None:
        own = _COERCIONS[type(self)] = [(f.name, _coercion(f, type(self))) for f in fields(self)]
    for name, coercion in own:
        given = getattr(self, name)
        taken = coercion(given, name, self)
        if taken is not given:
            object.__setattr__(self, name, taken)


def _coercion(field: Field[Any], owner: type) -> Callable[[Any, str, Any], Any]:
    """The coercion of a *field*, whose type is text, or a class where the file of *owner* postpones no annotations."""
    declared = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
    found = COERCIONS.get(declared) or COERCIONS.get(re.sub(r"\b(?:\w+\.)+", "", str(field.type)))
    if found is None:
        raise ArgumentError(
            f"{owner.__module__}: expected '{field.name}' of {owner.__name__} to have one of the types {', '.join(COERCIONS)}, "
            f"found {declared}."
        )
    return found


class ModelRecord:
    """Base of the records that users construct: fields are coerced to their declared types, or an error names the field."""

    __slots__ = ()

    def __post_init__(self) -> None:
        coerce_fields(self)
