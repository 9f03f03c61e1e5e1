"""Residual of a constraint given by an expression."""

from __future__ import annotations

from kineta.expr.graph import Ref
from kineta.mechanics.elements.applied_forces import Elements
from kineta.model.constraints.equation import Constraint


def plain(on: Elements, constraint: Constraint) -> dict[str, Ref]:
    """The expression itself."""
    (value,) = on.expression(constraint.value)
    return {"": value}
