"""What is given from Python, as it should be, or the sentence that says what it should be."""

from __future__ import annotations

from collections.abc import Iterable
from types import UnionType
from typing import Any

from kineta.errors import ArgumentError, shown
from kineta.expr.node import Expr, expr

Vector3 = tuple[Expr, Expr, Expr]


def scalar(value: object) -> Expr:
    """*value* as an expression. Raises :class:`ArgumentError` for text, :class:`ExpressionError` for what else is no number."""
    if isinstance(value, str):
        advice = f"; write kn.symbol({value!r})" if value.isidentifier() else ""
        raise ArgumentError(f"Expected a number or an expression, found {value!r}{advice}.")
    return expr(value)  # type: ignore[arg-type]  # which says what else is no number


def vector(values: object) -> Vector3:
    """Three scalars as expressions. Raises :class:`ArgumentError` for another number of them."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(f"Expected three components, as in (0, 0, 1), found {shown(values)}.")
    components = tuple(values)
    if len(components) != 3:
        raise ArgumentError(f"Expected three components, found {len(components)}: {components}.")
    x, y, z = components
    return scalar(x), scalar(y), scalar(z)


def records(values: object, kind: type | UnionType, what: str, example: str) -> tuple[Any, ...]:
    """*values* as a tuple of records of a *kind*; errors call them *what* and show an *example* of one."""
    if isinstance(values, kind):
        raise ArgumentError(f"Expected a list of {what}, found {shown(values)}; put it in brackets: [...].")
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(f"Expected a list of {what}, as in [{example}], found {shown(values)}.")
    found = tuple(values)
    for value in found:
        if not isinstance(value, kind):
            raise ArgumentError(f"Expected a list of {what}, as in [{example}], found {shown(value)} in it.")
    return found


def word(value: object, what: str) -> str:
    """*value*, if it is text; errors call it *what*."""
    if not isinstance(value, str):
        raise ArgumentError(f"Expected {what}, found {shown(value)}.")
    return value
