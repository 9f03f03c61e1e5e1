"""Name inference: coordinates and parameters among the symbols of a description."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr
from kineta.errors import ArgumentError, did_you_mean, excerpt, nearest_or_listed
from kineta.expr.op import Op
from kineta.model import joints
from kineta.model.axis import directions
from kineta.model.body import Body
from kineta.model.compound import primitive
from kineta.model.description import kinded
from kineta.model.elements.compliant_contact import CompliantContact
from kineta.model.elements.smooth_friction import SmoothFriction
from kineta.model.joints.joint import Joint
from kineta.model.joints.motion import ElementaryMotion
from kineta.model.kind import Element
from kineta.model.reserved_symbols import ENERGIES, MULTIPLIER, POINT_COMPONENTS, TIME, added_force, forced, owner
from kineta.model.units import TIME as SECOND
from kineta.model.units import symbol as unit_symbol
from kineta.model.units import times
from kineta.model.vectors import KINDS, Part, part

if TYPE_CHECKING:
    from kineta.model.description import Description
    from kineta.model.named_expressions import Let

#: Names of coordinates by convention.
COORDINATE = re.compile(r"q_?\d*(\[\d+\])*$")


#: Rules by which a name is a coordinate or a parameter: its declaration, or its place in the description.
LISTED = "listed"
BY_NAME = "by name"
OF_JOINT = f"of a {joints.words()} motion"
MOVES = "a speed or an initial value is named"
IN_ANGLE = "in an angle"
IN_SHIFT = "in shifts only"
CONSTANT = "where only parameters may stand"
ELSEWHERE = "in no motion"


def infer_coordinates(
    bodies: Iterable[Body], parameters: Collection[str] = (), moving: Collection[str] = ()
) -> dict[str, str]:
    """Coordinates of a description that does not list them, each with the rule by which it is one.

    They have the order of the motions; coordinates of the same motion are ordered by number (``q2`` before
    ``q10``). A symbol of a motion is a coordinate if it is called ``q``, ``q1``, ``q_1`` ..., if it is among the *moving* names
    (:func:`moving_names`), or if the angle of a rotation contains it (as in printed models), unless it is a declared
    parameter of *parameters*; the time ``t`` is neither. A ``Ball`` or ``Free`` motion counts by its name.
    """
    found: dict[str, str] = {}
    for body in bodies:
        for motion in body.motions:
            if isinstance(motion, Joint):
                found[motion.name] = OF_JOINT
            for name in _natural_order(n for x in motion.arguments for n in x.symbols()):
                if name == TIME or "." in name or "'" in name or name in parameters:
                    continue
                if COORDINATE.match(name):
                    found[name] = BY_NAME
                elif name in moving:
                    found[name] = MOVES
                elif motion.turn_axes:
                    found[name] = IN_ANGLE
    return found


def moving_names(initial: Iterable[tuple[str, Expr]], expressions: Iterable[Expr]) -> set[str]:
    """Names with an initial value, or with a speed in *expressions* or among the *initial* values: no parameters have these."""
    rates = (n for e in expressions for n in e.symbols() if n.endswith("'") and "(" not in n)
    named = {n for n, _ in initial} | set(rates)
    return {n.rstrip("'") for n in named}


def speed_derivatives(system: Description, names: Iterable[str]) -> dict[str, int]:
    """Derivatives of speeds among *names*, ``q1''``, ``b.wx'``, each with its order: 2 for accelerations."""
    speeds, found = set(system.v_names), {}
    for name in names:
        bare = name.rstrip("'")
        own = next((n for n in (bare, f"{bare}'") if n in speeds), None)
        if own is not None and len(name) > len(own):
            found[name] = 1 + len(name) - len(own)
    return found


def vector_parts(system: Description, names: Iterable[str]) -> dict[str, Part]:
    """Parts of vectors of bodies and points of *system* among *names*: ``a(Tip).x``, ``|w(Hull)|``."""
    found = {name: part(name) for name in names if "(" in name}
    return {name: x for name, x in found.items() if x is not None and not vector_fault(system, x)}


def highest_derivative(system: Description, e: Expr) -> int:
    """Highest derivative of the coordinates in *e*, over derivatives of speeds and parts of vectors."""
    names = e.symbols()
    orders = [*speed_derivatives(system, names).values(), *(x.order for x in vector_parts(system, names).values())]
    return max(orders, default=0)


def vector_fault(system: Description, part: Part) -> str:
    """Sentence on a *part* of a vector of an unknown body or point of *system*; ``''`` for a valid part."""
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


def derivative_order(system: Description, value: Expr) -> int:
    """The highest derivative of the coordinates of *system* in *value*: 0 for positions, 1 for speeds and velocities."""
    (plain,) = system.expand(value)
    names = plain.symbols()
    orders = [*speed_derivatives(system, names).values(), *(x.order for x in vector_parts(system, names).values())]
    moving = {*system.speeds, *point_velocities(system)}
    return max([*orders, *(1 for n in names if n in moving)], default=0)


def response_symbols(system: Description, names: Iterable[str]) -> set[str]:
    """Names among *names* of accelerations ``q1''`` and multipliers ``lambda.E.x``, which only a motion determines: rows of
    constraints, of contacts, limits and dry friction; and of added forces ``tau[q1']``, which only a run is given.
    """
    accelerations = {f"{n}'" for n in system.v_names}
    multipliers = {f"{MULTIPLIER}{c.name}" for c in system.constraints}
    touching = {f"{MULTIPLIER}{n}" for n in contact_rows(system)}
    known = accelerations | multipliers | touching | {added_force(n) for n in system.v_names}
    return {n for n in names if n in known or n.rpartition(".")[0] in multipliers}


def contact_rows(system: Description) -> Iterator[str]:
    """Names of the rows of contacts (``foot.n``, the normal one, ``foot.u`` and ``foot.w`` along the plane; ``box.A.n`` where
    there are several places), of limits (``stop.lower``) and of dry friction.
    """
    for record in primitive(system.contacts):
        yield from record.rows(system)


def element_forces(system: Description, names: Iterable[str]) -> dict[str, tuple[Element, str]]:
    """The forces of elements among *names*, ``lambda.rope``, ``lambda.push.x``, ``lambda.tyre.n``, each with its element and the
    name behind that of this one. An element that has the name of a constraint, contact or friction has none.
    """
    asked = {n.removeprefix(MULTIPLIER) for n in names if n.startswith(MULTIPLIER)}
    if not asked:
        return {}
    own = {e.name: e for e in primitive(system.elements)}
    for record in (*system.constraints, *system.contacts):
        own.pop(record.name, None)
    found: dict[str, tuple[Element, str]] = {}
    for label in asked:
        name, part_of = owner(label, own)
        if (element := own.get(name)) is not None and part_of in element.kind.forces(system, element):
            found[f"{MULTIPLIER}{label}"] = element, part_of
    return found


def force_names(system: Description, elements: Iterable[Element]) -> list[str]:
    """The names of all forces of *elements*."""
    each = ((e.name, part_of) for e in elements for part_of in e.kind.forces(system, e))
    return [f"{MULTIPLIER}{name}{'.' * bool(part_of)}{part_of}" for name, part_of in each]


def yielding(system: Description) -> list[SmoothFriction | CompliantContact]:
    """The elements that are described as friction and contacts are: smooth friction and compliant contacts."""
    return [e for e in system.elements if isinstance(e, SmoothFriction | CompliantContact)]


def likely_response_symbols(system: Description, name: str) -> list[str]:
    """Likely names of accelerations, multipliers and added forces for a misspelt *name*."""
    if forced(name.rstrip("'")):
        return [added_force(n) for n in system.v_names]
    component = owner(name.removeprefix(MULTIPLIER), {c.name for c in system.constraints})[1]
    rows = [f"{c.name}.{component}" if component else c.name for c in system.constraints]
    forces = [
        *(f"{MULTIPLIER}{row}" for row in (*rows, *contact_rows(system))),
        *force_names(system, primitive(system.elements)),
    ]
    return [*forces, *(f"{n}'" for n in system.v_names)]


def forced_speed(system: Description, name: str, others: Collection[str] = (), words: str = "speed") -> str:
    """The speed on which the force of this *name* acts, ``tau[q1']`` or, by the speed, ``q1'``; the *name* itself where it is
    one of *others*, in *words*. Raises :class:`ArgumentError` for another name.
    """
    speeds = {added_force(n): n for n in system.v_names}
    if name in speeds:
        return speeds[name]
    if name in system.v_names or name in others:
        return name
    force = isinstance(name, str) and forced(name)
    what, known = ("added force", [*speeds]) if force else (words, [*system.v_names, *others])
    raise ArgumentError(f"Model '{system.name}' has no {what} '{name}'.{nearest_or_listed(name, known)}")


def known_forces(system: Description, name: str) -> str:
    """Sentence on the names of forces of contacts and constraints, for a *name* with their prefix; else ``''``."""
    if not name.startswith(MULTIPLIER):
        return ""
    rows = [f"{MULTIPLIER}{row}" for row in (*contact_rows(system), *(c.name for c in system.constraints))]
    rows += force_names(system, primitive(system.elements))
    if not rows:
        return (
            " Such names are of the forces of contacts, limits, friction, constraints and elements; the model has none."
        )
    return f" Forces with names: {excerpt(rows)}."


def infer_parameters(system: Description, lets: Iterable[Let] = ()) -> dict[str, str]:
    """Symbols of *system* that are neither coordinates, speeds nor the time, in the order in which it uses them, each with
    the rule by which it is one; then those of *lets*, which it may leave unused.

    A dot or a prime marks the name of a point or a speed, never of a parameter; bodies and points are none.
    """
    lets = tuple(lets)
    known = {
        *(b.name for b in system.bodies),
        *(p.name for p in system.points),
        TIME,
        *system.q_names,
        *system.speeds,
        *ENERGIES,
        *(let.name for let in lets),
    }
    known |= {added_force(n) for n in system.speeds}
    constant = {n for e in _constants(system) for n in e.symbols()}
    shifts = {n for b in system.bodies for m in b.motions for x in m.arguments for n in x.symbols()}
    found: dict[str, str] = {}
    counted = {_without_indices(n) for n in known if "[" in n}  # an index out of range makes no parameter
    switched = [n for s in system.switches for n, _ in (*s.sets, *s.guards)]
    switched += [n for c in primitive(system.contacts) for n, _ in c.conditions]
    every = (expression.symbols() for expression in (*expressions(system), *(let.value for let in lets)))
    for own in (*every, *((name,) for name in switched)):
        for name in _natural_order(own):
            counts = "[" in name and _without_indices(name) in counted
            if name not in known and not {".", "'", "("} & set(name) and not counts:
                found[name] = CONSTANT if name in constant else IN_SHIFT if name in shifts else ELSEWHERE
    return found


def _without_indices(name: str) -> str:
    """A *name* with empty brackets."""
    return re.sub(r"\[\d+\]", "[]", name)


def ambiguities(system: Description) -> Iterator[str]:
    """Sentences on undeclared names of *system* whose inferred meaning is uncertain.

    A name in shifts only is inferred to be a parameter; a name in an angle a coordinate, even as a factor beside other names.
    """
    system = system.expanded
    if not system.inferred:
        return
    shifted = [n for n, rule in system.taken.items() if rule == IN_SHIFT]
    if shifted:
        yield _ambiguity(system, shifted, "in shifts only", "parameter")
    angles = [x for b in system.bodies for m in b.motions if m.turn_axes for x in m.arguments]
    factors = {n for a in angles if len(a.symbols()) > 1 for n in set(a.symbols()) - _terms(a)}
    turned = [n for n, rule in system.taken.items() if rule == IN_ANGLE and n in factors]
    if turned:
        yield _ambiguity(system, turned, "in an angle beside other names", "coordinate")


def _ambiguity(system: Description, names: list[str], where: str, kind: str) -> str:
    """Sentence on *names* in the place *where*, inferred to be of this *kind*."""
    others = [c for c in system.coordinates if c not in names]
    lists = [others, [*others, *names]] if kind == "parameter" else [[*others, *names], others]
    in_text = any(b.location is not None for b in system.bodies)
    shown = (f"coordinates {excerpt(n)};" if in_text else f"coordinates=[{excerpt(map(repr, n))}]" for n in lists if n)
    stand, are = ("stands", f"is taken for a {kind}") if len(names) == 1 else ("stand", f"are taken for {kind}s")
    return (
        f"Model '{system.name}': {excerpt(map(repr, names))} {stand} {where} and {are}. "
        f"List the coordinates to say what is meant: {' or '.join(shown)}"
    )


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


def _constants(system: Description) -> Iterator[Expr]:
    """Expressions of *system* that must be made of parameters only."""
    for body in system.bodies:
        inertia = body.inertia
        yield from (inertia.mass, *inertia.com, *inertia.moments, *inertia.products)
    yield from system.gravity
    for point in system.points:
        yield from point.position
    yield from _directions(system)
    for record in (*system.elements, *system.constraints, *system.contacts):
        yield from record.kind.constants(record)
    yield from (value for _, value in system.initial)


def _directions(system: Description) -> Iterator[Expr]:
    """The components of directions that depend on parameters."""
    for record in (*system.bodies, *system.elements, *system.constraints, *system.contacts):
        yield from (a for axis in directions(record) for a in axis)


def expressions(system: Description) -> Iterable[Expr]:
    """Every expression that *system* holds."""
    yield from motion_expressions(system)
    yield from (value for _, value in system.initial)
    yield from (output.value for output in system.outputs)


def motion_expressions(system: Description) -> Iterable[Expr]:
    """Every expression on which the motion of *system* depends, but for its start."""
    for body in system.bodies:
        for motion in body.motions:
            yield from motion.arguments
        inertia = body.inertia
        yield from (inertia.mass, *inertia.com, *inertia.moments, *inertia.products)
    yield from system.gravity
    for point in system.points:
        yield from point.position
    yield from (x for record in kinded(system) for x in record.expressions)
    yield from system.control.expressions
    yield from _directions(system)
    yield from (w.value for w in system.quasi)
    yield from (own.rate for own in system.states)


def point_components(system: Description) -> set[str]:
    """Names of all positions and velocities that an expression may use: ``P.x``, ``Body.vz``."""
    owners = [*(b.name for b in system.bodies), *(p.name for p in system.points)]
    return {f"{owner}.{component}" for owner in owners for component in POINT_COMPONENTS}


def point_velocities(system: Description) -> set[str]:
    """Velocities among :func:`point_components`."""
    return {n for n in point_components(system) if n.rpartition(".")[2].startswith("v")}


def _natural_order(names: Iterable[str]) -> list[str]:
    """*names* in natural order: digits compare by value, so that the order is unique."""

    def key(name: str) -> list[tuple[bool, int, str]]:
        parts = re.split(r"(\d+)", name)
        return [(not p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in parts]

    return sorted(names, key=key)


def units(system: Description) -> dict[str, str]:
    """Units of coordinates and speeds, where a motion shows them: ``rad`` for rotations, ``m`` for shifts; of states and their
    rates, where they are known.
    """
    found: dict[str, str] = {}
    coordinates = set(system.coordinates)
    for own in system.states:
        if own.dimension is not None:
            rate = times(own.dimension, SECOND, -1)
            found |= {own.name: own.unit, f"{own.name}'": "rad/s" if own.unit == "rad" else unit_symbol(rate)}
    for body in system.expanded.bodies:
        for motion in body.motions:
            if isinstance(motion, Joint):
                found |= motion.units
            elif isinstance(motion, ElementaryMotion):
                for name in motion.argument.symbols():
                    if name in coordinates and (motion.argument.name == name or name not in found):
                        found |= {name: motion.unit, f"{name}'": f"{motion.unit}/s"}
    return found
