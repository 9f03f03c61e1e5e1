"""What a description leaves unsaid: which symbols are coordinates, which parameters, and the order of the bodies."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from kineta.errors import did_you_mean
from kineta.expr.node import Expr
from kineta.expr.op import Op
from kineta.model import constraints, contacts
from kineta.model.body import GROUND, Body
from kineta.model.contacts.contact import Contact, names
from kineta.model.contacts.limit import Limit
from kineta.model.elements import kind_of
from kineta.model.motion import Ball, Free, Rotation, coordinate_names, speed_names
from kineta.model.vectors import KINDS, Part, part

if TYPE_CHECKING:
    from kineta.model.let import Let
    from kineta.model.system import System

#: The symbol of the time.
TIME = "t"
#: How the names of multipliers begin.
MULTIPLIER = "lambda."
#: Energies that outputs and events may name.
ENERGIES = ("kinetic_energy", "potential_energy", "energy")
#: Components of a point or body that an expression may name: position, then velocity.
POINT_COMPONENTS = ("x", "y", "z", "vx", "vy", "vz")
#: Names of coordinates by convention.
COORDINATE = re.compile(r"q_?\d*$")


#: The rules by which a name is taken for a coordinate or for a parameter: where it is declared, or what it is found to be.
LISTED = "listed"
DECLARED = "declared"
BY_NAME = "by name"
OF_JOINT = "of a Ball or Free motion"
MOVES = "a speed or an initial value is named"
IN_ANGLE = "in an angle"
IN_SHIFT = "in shifts only"
CONSTANT = "where only parameters may stand"
ELSEWHERE = "in no motion"


def infer_coordinates(
    bodies: Iterable[Body], parameters: Collection[str] = (), moving: Collection[str] = ()
) -> dict[str, str]:
    """Coordinates of a description that does not list them, each with the rule by which it is one.

    They have the order in which the motions name them; those that one motion names are taken by number (``q2`` before
    ``q10``). A symbol of a motion is a coordinate if it is called ``q``, ``q1``, ``q_1`` ..., if it is among those that are
    *moving* (:func:`moving`), or if the angle of a rotation contains it (as the printed models do it), unless it is among
    the declared *parameters*; the time ``t`` is neither. A ``Ball`` or ``Free`` motion counts by its name.
    """
    found: dict[str, str] = {}
    for body in bodies:
        for motion in body.motions:
            if isinstance(motion, Ball | Free):
                found[motion.name] = OF_JOINT
                continue
            turns = isinstance(motion, Rotation)
            for name in _by_number(motion.argument.symbols()):
                if name == TIME or "." in name or "'" in name or name in parameters:
                    continue
                if COORDINATE.match(name):
                    found[name] = BY_NAME
                elif name in moving:
                    found[name] = MOVES
                elif turns:
                    found[name] = IN_ANGLE
    return found


def moving(initial: Iterable[tuple[str, Expr]], expressions: Iterable[Expr]) -> set[str]:
    """Names with an initial value, or with a speed in *expressions* or among the *initial* values: no parameters have these."""
    rates = (n for e in expressions for n in e.symbols() if n.endswith("'") and "(" not in n)
    named = {n for n, _ in initial} | set(rates)
    return {n.rstrip("'") for n in named}


def derivatives(system: System, names: Iterable[str]) -> dict[str, int]:
    """Those of *names* that are derivatives of speeds, ``q1''``, ``b.wx'``, each with its order: 2 for accelerations."""
    speeds, found = set(system.v_names), {}
    for name in names:
        bare = name.rstrip("'")
        own = next((n for n in (bare, f"{bare}'") if n in speeds), None)
        if own is not None and len(name) > len(own):
            found[name] = 1 + len(name) - len(own)
    return found


def vectors(system: System, names: Iterable[str]) -> dict[str, Part]:
    """Those of *names* that are parts of vectors of bodies and points of *system*: ``a(Tip).x``, ``|w(Hull)|``."""
    found = {name: part(name) for name in names if "(" in name}
    return {name: x for name, x in found.items() if x is not None and not misplaced(system, x)}


def highest(system: System, e: Expr) -> int:
    """The highest derivative of the coordinates in *e*, of what only results from a motion."""
    names = e.symbols()
    orders = [*derivatives(system, names).values(), *(x.order for x in vectors(system, names).values())]
    return max(orders, default=0)


def misplaced(system: System, part: Part) -> str:
    """The sentence on a *part* of a vector that no body or point of *system* has; ``''`` for others."""
    vector, points = part.vector, [p.name for p in system.points]
    turns = KINDS[vector.kind].turns
    for name, known in (
        (vector.of, system.frames if turns else [*system.frames, *points]),
        (vector.frame, system.frames),
    ):
        if name not in known:
            what = "a body" if name == vector.frame or turns else "a point or a body"
            found = f"the point '{name}'" if name in points else f"'{name}'"
            return f"expected {what} in {vector}, found {found}.{did_you_mean(name, known)}"
    return ""


def order(system: System, value: Expr) -> int:
    """The highest derivative of the coordinates of *system* in *value*: 0 for positions, 1 for speeds and velocities."""
    (plain,) = system.expand(value)
    names = plain.symbols()
    orders = [*derivatives(system, names).values(), *(x.order for x in vectors(system, names).values())]
    moving = {*system.speeds, *point_velocities(system)}
    return max([*orders, *(1 for n in names if n in moving)], default=0)


def results(system: System, names: Iterable[str]) -> set[str]:
    """Those of *names* that mean what a motion results in: accelerations ``q1''``, and multipliers ``lambda.E.x`` of the rows of
    constraints, of contacts, limits and dry friction.
    """
    accelerations = {f"{n}'" for n in system.v_names}
    multipliers = {f"{MULTIPLIER}{c.name}" for c in system.constraints}
    touching = {f"{MULTIPLIER}{n}" for n in touches(system)}
    known = accelerations | multipliers | touching
    return {n for n in names if n in known or n.rpartition(".")[0] in multipliers}


def touches(system: System) -> Iterator[str]:
    """Names of the rows of contacts (``foot.n``, the normal one, ``foot.u`` and ``foot.w`` along the plane; ``box.A.n`` where
    there are several places), of limits (``stop.lower``) and of dry friction.
    """
    for record in system.contacts:
        if isinstance(record, Contact):
            places = [f".{p}" for p in names(system, record)] if len(record.starts) > 1 else [""]
            yield from (f"{record.name}{place}.{c}" for place in places for c in "nuw")
        elif isinstance(record, Limit):
            yield from (f"{record.name}.{end}" for end in record.ends)
        else:
            yield record.name


def likely_results(system: System, name: str) -> list[str]:
    """What a motion results in that *name* may have been meant for."""
    component = name.removeprefix(MULTIPLIER).partition(".")[2]
    rows = [f"{c.name}.{component}" if component else c.name for c in system.constraints]
    return [*(f"{MULTIPLIER}{row}" for row in (*rows, *touches(system))), *(f"{n}'" for n in system.v_names)]


def known_forces(system: System, name: str) -> str:
    """The sentence on what forces of contacts and constraints have names, where *name* was to be one; ``''`` for others."""
    if not name.startswith(MULTIPLIER):
        return ""
    rows = [f"{MULTIPLIER}{row}" for row in (*touches(system), *(c.name for c in system.constraints))]
    if not rows:
        return " Such names are of the forces of contacts, limits, friction and constraints; the model has none."
    return f" Forces with names: {few(rows)}."


def infer_parameters(system: System, lets: Iterable[Let] = ()) -> dict[str, str]:
    """Symbols of *system* that are neither coordinates, speeds nor the time, in the order in which it uses them, each with
    the rule by which it is one; then those of *lets*, which it may leave unused.

    A dot or a prime in a name says that it means a point or a speed, not a parameter.
    """
    lets = tuple(lets)
    known = {TIME, *system.q_names, *system.speeds, *ENERGIES, *(let.name for let in lets)}
    constant = {n for e in _constants(system) for n in e.symbols()}
    shifts = {
        n for b in system.bodies for m in b.motions if not isinstance(m, Ball | Free) for n in m.argument.symbols()
    }
    found: dict[str, str] = {}
    switched = (n for s in system.switches for n, _ in (*s.sets, *s.guards))
    every = (expression.symbols() for expression in (*expressions(system), *(let.value for let in lets)))
    for own in (*every, *((name,) for name in switched)):
        for name in _by_number(own):
            if name not in known and not {".", "'", "("} & set(name):
                found[name] = CONSTANT if name in constant else IN_SHIFT if name in shifts else ELSEWHERE
    return found


def doubts(system: System) -> Iterator[str]:
    """Sentences on names that *system* does not declare and that may have been taken for what they are not.

    A name in shifts only is taken for a parameter, and one in an angle for a coordinate, though with other names there and
    more than a term of a sum.
    """
    system = system.expanded
    if not system.inferred:
        return
    shifted = [n for n, rule in system.taken.items() if rule == IN_SHIFT]
    if shifted:
        yield _doubt(system, shifted, "in shifts only", "parameter")
    angles = [m.angle for b in system.bodies for m in b.motions if isinstance(m, Rotation)]
    factors = {n for a in angles if len(a.symbols()) > 1 for n in set(a.symbols()) - _terms(a)}
    turned = [n for n, rule in system.taken.items() if rule == IN_ANGLE and n in factors]
    if turned:
        yield _doubt(system, turned, "in an angle beside other names", "coordinate")


def _doubt(system: System, names: list[str], where: str, kind: str) -> str:
    """The sentence on *names* that stand *where* it is said and were taken for what it says."""
    others = [c for c in system.coordinates if c not in names]
    lists = [others, [*others, *names]] if kind == "parameter" else [[*others, *names], others]
    in_text = any(b.location is not None for b in system.bodies)
    shown = (f"coordinates {few(n)};" if in_text else f"coordinates=[{few(map(repr, n))}]" for n in lists if n)
    stand, are = ("stands", f"is taken for a {kind}") if len(names) == 1 else ("stand", f"are taken for {kind}s")
    return (
        f"Model '{system.name}': {few(map(repr, names))} {stand} {where} and {are}. "
        f"List the coordinates to say what is meant: {' or '.join(shown)}"
    )


def few(names: Iterable[str]) -> str:
    """The first of many *names*."""
    shown = list(names)
    return ", ".join(shown if len(shown) <= 8 else [*shown[:8], "..."])


def _terms(sum_: Expr) -> set[str]:
    """Names of the symbols that are terms of a sum, with factors that are numbers."""
    graph = sum_.graph
    found: set[str] = set()
    stack = [sum_.ref]
    while stack:
        i = stack.pop() >> 1
        op = graph.op[i]
        if op == Op.SYMBOL:
            found.add(graph.names[graph.lhs[i]])
        elif op == Op.ADD:
            stack += [graph.lhs[i], graph.rhs[i]]
        elif op in (Op.MUL, Op.DIV):
            values = graph.value(graph.lhs[i]), graph.value(graph.rhs[i])
            stack += [r for r, other in ((graph.lhs[i], values[1]), (graph.rhs[i], values[0])) if other is not None]
    return found


def _constants(system: System) -> Iterator[Expr]:
    """Expressions of *system* that must be made of parameters only."""
    for body in system.bodies:
        inertia = body.inertia
        yield from (inertia.mass, *inertia.com, *inertia.moments, *inertia.products)
    yield from system.gravity
    for point in system.points:
        yield from point.position
    for element in system.elements:
        yield from kind_of(element).constants(element)
    for condition in system.constraints:
        yield from constraints.kind_of(condition).constants(condition)
    for contact in system.contacts:
        yield from contacts.kind_of(contact).constants(contact)
    yield from (value for _, value in system.initial)


def expressions(system: System) -> Iterable[Expr]:
    """Every expression that *system* holds."""
    yield from described(system)
    yield from (value for _, value in system.initial)
    yield from (output.value for output in system.outputs)


def described(system: System) -> Iterable[Expr]:
    """Every expression on which the motion of *system* depends, but for its start."""
    for body in system.bodies:
        for motion in body.motions:
            if not isinstance(motion, Ball | Free):
                yield motion.argument
        inertia = body.inertia
        yield from (inertia.mass, *inertia.com, *inertia.moments, *inertia.products)
    yield from system.gravity
    for point in system.points:
        yield from point.position
    for element in system.elements:
        yield from element.expressions
    for record in (*system.constraints, *system.contacts, *system.switches, *system.programs, system.control):
        yield from record.expressions
    yield from (w.value for w in system.quasi)


def point_components(system: System) -> set[str]:
    """Names of all positions and velocities that an expression may use: ``P.x``, ``Body.vz``."""
    owners = [*(b.name for b in system.bodies), *(p.name for p in system.points)]
    return {f"{owner}.{component}" for owner in owners for component in POINT_COMPONENTS}


def point_velocities(system: System) -> set[str]:
    """Those of :func:`point_components` that are velocities."""
    return {n for n in point_components(system) if n.rpartition(".")[2].startswith("v")}


def _by_number(names: Iterable[str]) -> list[str]:
    """*names* in the order of the alphabet, numbers in them by their value, so that nothing else decides the order."""

    def key(name: str) -> list[tuple[bool, int, str]]:
        parts = re.split(r"(\d+)", name)
        return [(not p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in parts]

    return sorted(names, key=key)


def base_first(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """*bodies*, every base before the bodies it carries, otherwise in the given order; bodies of a cycle are left out."""
    carried: dict[str, list[Body]] = {}
    for body in bodies:
        carried.setdefault(body.base, []).append(body)
    order = list(reversed(carried.get(GROUND, [])))
    result: list[Body] = []
    while order:
        body = order.pop()
        result.append(body)
        order.extend(reversed(carried.get(body.name, [])))
    return tuple(result)


def units(system: System) -> dict[str, str]:
    """Units of coordinates and speeds, where a motion shows them: ``rad`` for what turns, ``m`` for what shifts."""
    found: dict[str, str] = {}
    coordinates = set(system.coordinates)
    for body in system.expanded.bodies:
        for motion in body.motions:
            if isinstance(motion, Ball | Free):
                found |= {n: "" if ".q" in n else "m" for n in coordinate_names(motion)}
                found |= {n: "rad/s" if ".w" in n else "m/s" for n in speed_names(motion)}
                continue
            unit = "rad" if isinstance(motion, Rotation) else "m"
            for name in motion.argument.symbols():
                if name in coordinates and (motion.argument.name == name or name not in found):
                    found |= {name: unit, f"{name}'": f"{unit}/s"}
    return found
