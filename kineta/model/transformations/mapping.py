"""Records with their expressions changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import is_
from typing import Any

from kineta.algebra.expression import Expr
from kineta.records import field_names, is_record


def map_expressions(value: Any, change: Callable[[Expr], Expr]) -> Any:
    """A record, or a tuple of them, with every expression in it changed; itself, where no expression is another one then."""
    if isinstance(value, Expr):
        return change(value)
    if isinstance(value, tuple):
        found = tuple([map_expressions(v, change) for v in value])
        return value if all(map(is_, found, value)) else found
    if is_record(value):
        changed = {}
        for name in field_names(type(value), "init"):
            before = getattr(value, name)
            after = map_expressions(before, change)
            if after is not before:
                changed[name] = after
        return replace(value, **changed) if changed else value
    return value
