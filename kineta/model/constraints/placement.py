"""Placements of loops and rolling bodies: a point of a body, and an axis fixed in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr
from kineta.errors import ExpressionError
from kineta.model import phrases
from kineta.model.axis import Axis, direction
from kineta.model.body import GROUND, Station
from kineta.model.bounds import Bound
from kineta.model.coercion import COERCIONS, scalar, vector
from kineta.passes.evaluate import evaluate
from kineta.threads import memo

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source
    from kineta.model.kind import Scope

COERCIONS["Axis | None"] = lambda value, *_: None if value is None else direction(value)
COERCIONS["Expr | None"] = lambda value, *_: None if value is None else scalar(value)

#: Two places with their axes, in the words of the grammar.
BETWEEN = '"between" hold "and" hold'


def read(source: Source, node: Node) -> tuple[Station, Axis | None]:
    """Place and optional axis read from a text."""
    name, position, axis = node.children
    source.noted(name)
    return source.station(name, position), None if axis is None else source.axis(axis)


def names(system: Scope, contact: str, starts: Sequence[Station]) -> tuple[str, ...]:
    """Names of the places *starts* of a *contact*: of the point or body at the place, else its number."""
    known: dict[Station, str] = {}
    for name, at in stations(system).items():
        known.setdefault(at, name)
    return tuple(own_name(contact, known.get(s, str(i))) for i, s in enumerate(starts, 1))


def own_name(contact: str, place: str) -> str:
    """The name of a *place* in the model that gives the *contact*: without the prefix by which another model uses it."""
    return place.removeprefix(f"{contact.rpartition('.')[0]}.")


def owners(system: Scope, contact: str, starts: Sequence[Station]) -> list[str]:
    """What tells the places of a *contact* apart behind its name: a dot and a name; ``''`` for the only one."""
    return [f".{name}" for name in names(system, contact, starts)] if len(starts) > 1 else [""]


def stations(system: Scope) -> dict[str, Station]:
    """The places of the bodies (their origins) and of the points, by name."""
    return {n: Station(n) for n in system.frames} | {p.name: Station(p.body, p.position) for p in system.points}


def clause(start: Station, axis: Axis | None, end: Station, end_axis: Axis | None) -> str:
    """``between A at (x, y, z) axis (x, y, z) and B ...``."""
    return f"between {place(start, axis)} and {place(end, end_axis)}"


def place(station: Station, axis: Axis | None) -> str:
    """``A at (x, y, z) axis (x, y, z)``."""
    shown = phrases.place(station)
    return shown if axis is None else f"{shown} axis {phrases.vector(vector(axis))}"


def fault(system: Scope, start: str, end: str) -> tuple[str, str] | None:
    """Sentence on two bodies without relative motion, and the word at fault; None for bodies that move relative to each other."""
    if start == end:
        return f"expected two bodies that move against each other, found '{start}' twice.", start
    if carrier(system, start) == carrier(system, end):
        text = f"'{start}' and '{end}' are fixed to each other; expected two bodies that move against each other."
        return text, start
    return None


def carrier(system: Scope, name: str) -> str:
    """Body at the root of the rigid group of a body: the ground, or a body moved by its motions."""
    bodies, changing = memo(
        system, carrier, lambda: ({b.name: b for b in system.bodies}, frozenset(("t", *system.q_names)))
    )
    while name != GROUND:
        body = bodies[name]
        arguments = system.expand(*(x for m in body.motions for x in m.arguments))
        if any(m.moved_by(changing) for m in body.motions) or any(
            not changing.isdisjoint(x.symbols()) for x in arguments
        ):
            break
        name = body.base
    return name


def numeric_value(system: Scope, value: Expr) -> float | None:
    """Numeric *value* for the values of the parameters; None for an expression of the time, of coordinates, or of a parameter
    without a value.
    """
    given = system.parameters.numbers
    (plain,) = system.expand(value)
    try:
        found: float = evaluate(plain.graph, [plain.ref], given)[0]
    except ExpressionError:
        return None
    return found


def bound_fault(system: Scope, bound: Bound) -> str:
    """Sentence on a *bound* violated by the values of the parameters; ``''`` for a bound that holds or cannot be evaluated."""
    found = numeric_value(system, bound.value)
    return "" if found is None or bound.kept(found) else bound.broken(found)
