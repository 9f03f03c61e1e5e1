"""Records with their expressions changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import is_
from typing import Any

from kineta.algebra.expression import Expr
from kineta.errors import ExpressionError
from kineta.model.checks.diagnostics import CheckError
from kineta.model.description import word
from kineta.records import field_names, is_record


def map_expressions(value: Any, change: Callable[[Expr], Expr]) -> Any:
    """A record, or a tuple of them, with every expression in it changed; itself, where no expression is another one then.

    Raises :class:`CheckError` for a record of which an expression has no value then.
    """
    if isinstance(value, Expr):
        return change(value)
    if isinstance(value, tuple):
        found = tuple([map_expressions(v, change) for v in value])
        return value if all(map(is_, found, value)) else found
    if is_record(value):
        changed = {}
        for name in field_names(type(value), "init"):
            before = getattr(value, name)
            try:
                after = map_expressions(before, change)
            except ExpressionError as error:
                if not (hasattr(value, "location") and hasattr(value, "name")):  # a part of a record
                    raise
                raise CheckError(word(value), value.name, value.location, str(error)) from None
            if after is not before:
                changed[name] = after
        return replace(value, **changed) if changed else value
    return value
