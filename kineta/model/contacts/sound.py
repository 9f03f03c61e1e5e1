"""Whether what is said of contacts, limits and dry friction makes sense."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING

from kineta.expr.node import Expr
from kineta.model.body import GROUND
from kineta.model.constraints import hold

if TYPE_CHECKING:
    from kineta.model.system import System


def within(system: System, value: Expr, what: str, most: float = math.inf) -> str:
    """The sentence on a *value* that is known to be below zero or above *most*; ``''`` for others."""
    found = hold.known(system, value)
    if found is None or 0 <= found <= most:
        return ""
    bounds = "of zero or more" if most == math.inf else f"from 0 to {most:g}"
    return f"expected {what} {bounds}, found {found:g}."


def sticking(system: System, sliding: Expr, static: Expr | None, smooth: Expr | None, what: str) -> str:
    """What is wrong with friction: *sliding*, which is *what*, that of what sticks, and the rate over which it grows."""
    text = within(system, sliding, what)
    if text or (static is None and smooth is None):
        return text
    if sliding.value == 0:
        name = "static" if smooth is None else "smooth"
        return f"'{name}' says nothing without friction; give {what}, or leave '{name}' out."
    if smooth is not None:
        both = "smooth friction never sticks; leave out 'static' or 'smooth'."
        return both if static is not None else hold.positive(system, smooth, "'smooth'")
    assert static is not None
    least, found = hold.known(system, sliding), hold.known(system, static)
    if least is None or found is None or found >= least:
        return ""
    return f"expected static friction of at least the sliding one, {least:g}, found {found:g}."


def idle(system: System, value: Expr) -> str:
    """The sentence on a *value* that no motion changes; ``''`` for others, and for one with unknown names."""
    if not fixed(system, value, {"t", *(p.name for p in system.parameters)}):
        return ""
    return f"no motion changes '{value}'; expected an expression of coordinates, or of points that move."


def fixed(system: System, value: Expr, resting: Collection[str]) -> bool:
    """Whether *value* is made of the names *resting* and of points on the ground only."""
    (plain,) = system.expand(value)
    return all(n in resting or _grounded(system, n.rpartition(".")[0]) for n in plain.symbols())


def _grounded(system: System, owner: str) -> bool:
    """Whether *owner* is a body or a point that is fixed to the ground."""
    places = {p.name: p.body for p in system.points} if owner else {}
    body = places.get(owner, owner)
    return body in system.frames and hold.carrier(system, body) == GROUND
