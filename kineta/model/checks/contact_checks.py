"""Checks that contacts, limits and dry friction share."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr
from kineta.errors import excerpt
from kineta.model.body import GROUND
from kineta.model.constraints import placement
from kineta.model.parameters import DECLARED

if TYPE_CHECKING:
    from kineta.model.kind import Scope


def friction_fault(system: Scope, sliding: Expr, static: Expr | None, smooth: Expr | None, what: str) -> str:
    """Sentence on wrong friction: *sliding* (*what* in words), *static* friction, and the rate of regularisation *smooth*."""
    if static is None and smooth is None:
        return ""
    if sliding.value == 0:
        name = "static" if smooth is None else "smooth"
        return f"'{name}' says nothing without friction; give {what}, or leave '{name}' out."
    if smooth is not None:
        return "" if static is None else "smooth friction never sticks; leave out 'static' or 'smooth'."
    assert static is not None
    least, found = placement.numeric_value(system, sliding), placement.numeric_value(system, static)
    if least is None or found is None or found >= least:
        return ""
    return f"expected static friction of at least the sliding one, {least:g}, found {found:g}."


def immobility_fault(system: Scope, value: Expr) -> str:
    """Sentence on a *value* that no motion changes; ``''`` for a variable value, or a value with unknown names."""
    if not is_stationary(system, value, {"t", *(p.name for p in system.parameters)}):
        return ""
    inferred = [n for n in sorted(value.symbols()) if system.taken.get(n, DECLARED) != DECLARED]
    are = "is taken for a parameter" if len(inferred) == 1 else "are taken for parameters"
    why = f", for {excerpt(map(repr, inferred))} {are} (list the coordinates to say what is meant)" if inferred else ""
    return f"no motion changes '{value}'{why}; expected an expression of coordinates, or of points that move."


def is_stationary(system: Scope, value: Expr, resting: Collection[str]) -> bool:
    """Whether *value* is made of the names *resting* and of points on the ground only."""
    (plain,) = system.expand(value)
    return all(n in resting or _grounded(system, n.rpartition(".")[0]) for n in plain.symbols())


def _grounded(system: Scope, owner: str) -> bool:
    """Whether *owner* is a body or a point that is fixed to the ground."""
    places = {p.name: p.body for p in system.points} if owner else {}
    body = places.get(owner, owner)
    return body in system.frames and placement.carrier(system, body) == GROUND
