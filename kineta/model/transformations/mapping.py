"""Records with their expressions changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kineta.algebra.expression import Expr


def map_expressions(value: Any, change: Callable[[Expr], Expr]) -> Any:
    """A record, or a tuple of them, with every expression in it changed."""
    if isinstance(value, Expr):
        return change(value)
    if isinstance(value, tuple):
        return tuple(map_expressions(v, change) for v in value)
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{f.name: map_expressions(getattr(value, f.name), change) for f in fields(value) if f.init}
        )
    return value
