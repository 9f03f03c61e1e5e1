"""Where a loop or a rolling body takes hold: a place of a body, and an axis that is fixed in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kineta.errors import ExpressionError
from kineta.expr.node import Expr
from kineta.expr.text import number
from kineta.model import phrase
from kineta.model.body import GROUND, Station
from kineta.model.given import TAKES, scalar
from kineta.model.motion import Axis, Ball, Free, unit
from kineta.passes.evaluate import evaluate

if TYPE_CHECKING:
    from kineta.model.io.expression import Node
    from kineta.model.io.source import Source
    from kineta.model.system import System

TAKES["Axis | None"] = lambda value, *_: None if value is None else unit(value)
TAKES["Expr | None"] = lambda value, *_: None if value is None else scalar(value)

#: Two places with their axes, in the words of the grammar.
BETWEEN = '"between" hold "and" hold'


def read(source: Source, node: Node) -> tuple[Station, Axis | None]:
    """The place of a text, and its axis where it gives one."""
    name, position, axis = node.children
    source.noted(name)
    return source.station(name, position), None if axis is None else source.axis(axis)


def written(start: Station, axis: Axis | None, end: Station, end_axis: Axis | None) -> str:
    """``between A at (x, y, z) axis (x, y, z) and B ...``."""
    return f"between {place(start, axis)} and {place(end, end_axis)}"


def place(station: Station, axis: Axis | None) -> str:
    """``A at (x, y, z) axis (x, y, z)``."""
    shown = phrase.place(station) if any(p.value != 0 for p in station.position) else station.body
    return shown if axis is None else f"{shown} axis ({', '.join(map(number, axis))})"


def fault(system: System, start: str, end: str) -> tuple[str, str] | None:
    """What is wrong with two bodies that do not move against each other, and the word at fault; None for others."""
    if start == end:
        return f"expected two bodies that move against each other, found '{start}' twice.", start
    if carrier(system, start) == carrier(system, end):
        text = f"'{start}' and '{end}' are fixed to each other; expected two bodies that move against each other."
        return text, start
    return None


def carrier(system: System, name: str) -> str:
    """The last body on the way to the ground to which a body is fixed: the ground, or one that a motion moves."""
    bodies, changing = {b.name: b for b in system.bodies}, {"t", *system.q_names}
    while name != GROUND:
        body = bodies[name]
        moves = (
            isinstance(m, Ball | Free) or not changing.isdisjoint(system.expand(m.argument)[0].symbols())
            for m in body.motions
        )
        if any(moves):
            break
        name = body.base
    return name


def known(system: System, value: Expr) -> float | None:
    """The number that *value* is for the values of the parameters; None for one of the time, of coordinates, or of a parameter
    that has no value yet.
    """
    given = {p.name: p.value for p in system.parameters if p.value is not None}
    (plain,) = system.expand(value)
    try:
        found: float = evaluate(plain.graph, [plain.ref], given)[0]
    except ExpressionError:
        return None
    return found


def positive(system: System, value: Expr, what: str) -> str:
    """The sentence on a *value* that is not above zero for the values of the parameters; ``''`` for one that is, or may be."""
    found = known(system, value)
    return "" if found is None or found > 0 else f"expected {what} above zero, found {found:g}."
