"""A constraint written out."""

from __future__ import annotations

from kineta.expr.graph import Ref
from kineta.formalism.elements import Elements
from kineta.model.constraints.plain import Constraint


def plain(on: Elements, constraint: Constraint) -> dict[str, Ref]:
    """The expression itself."""
    (value,) = on.expression(constraint.value)
    return {"": value}
