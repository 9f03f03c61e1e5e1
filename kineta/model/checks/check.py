"""Checks of a description, and their sentences."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.errors import ExpressionError, Location, did_you_mean, nearest_or_listed
from kineta.model import appearance, constraints, contacts, elements, joints, motion_program, switch
from kineta.model.appearance.shape import BodyShape
from kineta.model.appearance.viewpoint import Viewpoint
from kineta.model.axis import LONGEST
from kineta.model.body import GROUND, Body, topological_order
from kineta.model.checks.diagnostics import CheckError
from kineta.model.checks.inertia_check import inertia_fault, rotation_axes
from kineta.model.checks.name_scopes import check_symbols, listing_advice, written_otherwise
from kineta.model.constraints import placement
from kineta.model.description import Description, kinded, of_control, of_model, word
from kineta.model.elements.inertia import InertiaElement
from kineta.model.joints.joint import Joint
from kineta.model.joints.motion import Motion
from kineta.model.kind import Appearance, KindRecord
from kineta.model.name_inference import IN_ANGLE, point_components, speed_derivatives, yielding
from kineta.model.reserved_symbols import ENERGIES, NAME, TIME, WORK, forced
from kineta.passes.evaluate import evaluate

if TYPE_CHECKING:
    from kineta.model.parameters import Parameter


#: First words of the statements of the text language: no names of bodies, so that every system can be written.
STATEMENTS = (
    *("model", "include", "use", "for", "gravity", "parameters", "constants", "let", "coordinates", "frame", "point"),
    *dict.fromkeys(k.word for k in (*elements.KINDS, *constraints.KINDS, *contacts.KINDS)),
    *(switch.KIND.word, motion_program.KIND.word),
    *(motion_program.CONTROL, "quasi", "state", "initial", "output"),
    *(k.word for k in appearance.KINDS),
)
#: Kinds of which two of one name are one too many, not two that need names of their own.
_GIVEN = ("Parameter", "Let", "Output")
_LABEL = re.compile(rf"{NAME.pattern}'*")


def check(system: Description) -> None:
    """Raise :class:`~kineta.errors.ModelError` for the first error of *system*."""
    for rule in (_names, _tree, _coordinates, _elements, check_symbols, _control, _directions, _inertias, _initial):
        rule(system)
    _appearance(system)


# -- names and tree -----------------------------------------------------------------------------------------------------


def _names(system: Description) -> None:
    if not system.bodies and not any(isinstance(e, InertiaElement) for e in system.elements):
        raise CheckError("Model", system.name, None, "expected at least one body, found none.")
    _spelling(system)
    for form in system.quasi:
        if form.value.name == form.name and form.name in system.q_names:
            text = f"'{form.name}' is a coordinate, no speed; its rate is {form.name}'."
            raise CheckError("Quasi", form.name, form.location, text)
    own_names = [m.name for b in system.bodies for m in b.motions if isinstance(m, Joint)]
    for name, times in Counter(own_names).items():
        if times > 1:
            text = f"{times} motions have this name; each {joints.words()} needs its own."
            raise CheckError("Motion", name, None, text, part=f"motion {name}")
    taken: dict[str, str] = {GROUND: "the fixed frame"}
    taken |= dict.fromkeys(own_names, f"a {joints.words()} motion")
    taken |= dict.fromkeys(STATEMENTS, "a statement of the language")
    frames = [("Body", b.name, b.location) for b in system.bodies]
    frames += [("Point", p.name, p.location) for p in system.points]
    _distinct(frames, taken)
    _distinct([(word(e), e.name, e.location) for e in system.elements], {})
    reserved = {TIME: "the time", "pi": "a number", "unchecked": "a word of lists of inertia"}
    reserved |= dict.fromkeys(ENERGIES, "an energy")
    components = point_components(system)
    for name in (*system.q_names, *system.parameters.keys(), *(let.name for let in system.lets)):
        if name in components:
            text = f"the name '{name}' is that of a component of '{name.rpartition('.')[0]}'. Choose another."
            raise of_model(system, f"coordinate {name}", text)
    moving = [n for n in system.q_names if n not in system.state_names]
    variables = reserved | dict.fromkeys((*moving, *system.speeds), "a coordinate or speed")
    for state in system.states:
        body = next((b.name for b in system.bodies for m in b.motions if state.name in _symbols(m)), "")
        if state.name in system.coordinates or (body and system.inferred):
            stands = f", which stands in a motion of body '{body}'" * bool(body)
            text = f"the name is taken by a coordinate{stands}. Choose another; a state places no body."
            raise CheckError("State", state.name, state.location, text)
    for parameter in system.parameters:
        if parameter.name in own_names:
            text = f"the name stands for a number elsewhere, too; each {joints.words()} needs its own."
            raise CheckError("Motion", parameter.name, None, text, part=f"motion {parameter.name}")
    variables |= dict.fromkeys(own_names, f"a {joints.words()} motion")
    named = [("Parameter", p.name, p.location) for p in system.parameters]
    named += [("State", own.name, own.location) for own in system.states]
    _distinct([("State", own.name, own.location) for own in system.states], {WORK: "the work of a run"})
    _distinct([*named, *(("Let", let.name, let.location) for let in system.lets)], variables)
    _distinct([("Output", o.name, o.location) for o in system.outputs], {})
    acting = (
        *system.constraints,
        *system.contacts,
        *system.switches,
        *system.programs,
        *yielding(system),
    )
    _distinct([(word(c), c.name, c.location) for c in acting], {})
    own = dict.fromkeys((*moving, *(p.name for p in system.parameters)), "a coordinate or parameter")
    own |= dict.fromkeys(system.state_names, "a state")
    _distinct([("Quasi", w.name, w.location) for w in system.quasi if w.value.name != w.name], reserved | own)


def _spelling(system: Description) -> None:
    """Raise for names outside the grammar of the text language: every system can be written as text."""
    records = [("Body", b.name, b.location) for b in system.bodies]
    records += [("Point", p.name, p.location) for p in system.points]
    records += [(word(r), r.name, r.location) for r in kinded(system)]
    records += [("Parameter", p.name, p.location) for p in system.parameters]
    records += [("Let", let.name, let.location) for let in system.lets]
    records += [("Quasi", w.name, w.location) for w in system.quasi if w.value.name != w.name]
    records += [("State", own.name, own.location) for own in system.states]
    names = [("Model", system.name, None), *(("Coordinate", c, None) for c in system.coordinates), *records]
    for kind, name, location in names:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            text = "expected a name of letters, digits and '_', not starting with a digit."
            raise CheckError(kind, name, location, text, part=f"coordinate {name}")
    for output in system.outputs:
        if not isinstance(output.name, str) or not _LABEL.fullmatch(forced(output.name) or output.name):
            raise CheckError("Output", output.name, output.location, "expected a name such as x, P.x or q1'.")


def _symbols(motion: Motion) -> set[str]:
    """The symbols in the arguments of a *motion*."""
    return {n for x in motion.arguments for n in x.symbols()}


def _distinct(records: Iterable[tuple[str, str, Location | None]], taken: dict[str, str]) -> None:
    seen: dict[tuple[str, str], Location | None] = {}
    for kind, name, location in records:
        if kind in _GIVEN and (kind, name) in seen:
            first = seen[kind, name]
            text = f"it is given twice{f', first at {first}' if first else ''}. Give it once."
            raise CheckError(kind, name, location, text)
        if location is not None and seen.get((kind, name)) == location:
            text = f"each turn of for describes it anew. Give it an index, as in {name}[i]."
            raise CheckError(kind, name, location, text)
        if name in taken:
            raise CheckError(kind, name, location, f"the name is taken by {taken[name]}. Choose another.")
        article = "an" if kind[0] in "AEIOU" else "a"
        taken[name] = f"{article} {kind.lower()} described before" + (f" ({location})" if location else "")
        seen[kind, name] = location


def _tree(system: Description) -> None:
    for body in system.bodies:
        if body.base not in system.frames:
            text = f"base '{body.base}' does not exist.{did_you_mean(body.base, system.frames)}"
            if (point := next((p for p in system.points if p.name == body.base), None)) is not None:
                text = (
                    f"expected a body for its base, found the point '{point.name}' of '{point.body}'. Write {point.body}, "
                    "and motions to the point."
                )
            raise CheckError("Body", body.name, body.location, text)
    reached = {b.name for b in topological_order(system.bodies)}
    for body in system.bodies:
        if body.name not in reached:
            chain = _cycle(system, body)
            raise CheckError(
                "Body",
                body.name,
                body.location,
                f"the bases form a cycle: {' ~ '.join(chain)}. One must stand on the ground.",
            )


def _cycle(system: Description, body: Body) -> list[str]:
    base = {b.name: b.base for b in system.bodies}
    chain = [body.name]
    while base[chain[-1]] not in chain:
        chain.append(base[chain[-1]])
    return [*chain, base[chain[-1]]]


# -- coordinates, symbols ----------------------------------------------------------------------------------------------


def _coordinates(system: Description) -> None:
    declared = Counter(system.coordinates)
    used = {n for b in system.expanded.bodies for m in b.motions for x in m.arguments for n in x.symbols()}
    resisted = [e.coordinate for e in system.expanded.elements if isinstance(e, InertiaElement)]
    rates = [*resisted, *(w.value for w in system.expanded.quasi)] if resisted else []
    used |= {n.rstrip("'") for rate in rates for n in rate.symbols()}
    reserved = {TIME: "the time", "pi": "a number", WORK: "the work of a run"} | dict.fromkeys(ENERGIES, "an energy")
    for name, times in declared.items():
        message = ""
        if times > 1:
            message = f"is listed {times} times."
        elif name in reserved:
            message = f"has the name of {reserved[name]}. Choose another."
        elif name not in system.joints and name not in used:
            near = did_you_mean(name, (used | system.joints.keys()) - declared.keys())
            message = f"is used by no motion of a body.{near}"
        if message:
            raise of_model(system, f"coordinate {name}", f"coordinate '{name}' {message}")
    for name in system.joints:
        if name not in declared:
            message = (
                f"the motion '{name}' is missing from the list of coordinates; add '{name}' where its block stands."
            )
            raise of_model(system, f"motion {name}", message)


def check_inferred(system: Description, parameters: Iterable[Parameter]) -> None:
    """Raise :class:`CheckError` where a coordinate found in an angle is rather a misspelt one of the declared *parameters*.

    A misspelling is a letter left out, added or changed, or two letters exchanged. Coordinates by any other rule pass.
    """
    near = {variant: p.name for p in parameters for variant in _variants(p.name)}
    for body in system.bodies:
        arguments = (x for m in body.motions for x in m.arguments)
        for name in (n for x in arguments for n in x.symbols() if system.taken.get(n) == IN_ANGLE):
            other = next((near[v] for v in _variants(name) if v in near), None)
            if other is not None:
                text = f"'{name}' is no declared parameter. Did you mean '{other}'?"
                text += listing_advice(system.coordinates, name, body.location)
                raise CheckError("Body", body.name, body.location, text, symbol=name)


def _variants(name: str) -> Iterator[str]:
    """*name*, and it without one of its letters: names that are alike have one of these in common. Of a name that nobody types
    it alone.
    """
    name = name.casefold()
    yield name
    if 2 < len(name) <= 100:
        yield from (name[:i] + name[i + 1 :] for i in range(len(name)))


def _control(system: Description) -> None:
    for text, name in motion_program.control_faults(system, system.control, held=bool(system.programs)):
        raise of_control(system, text, symbol=name)


def _elements(system: Description) -> None:
    for point in system.points:
        _on_a_body(system, point.body, partial(CheckError, "Point", point.name, point.location))
    for record in kinded(system):
        _check_record(system, record)


def _appearance(system: Description) -> None:
    """Raise for shapes and the like that make no sense, and for more than one direction of sight."""
    first: dict[str, Appearance] = {}
    for record in system.appearance:
        _check_record(system, record)
        if isinstance(record, Viewpoint | BodyShape) and (isinstance(record, Viewpoint) or record.solid == "none"):
            other = first.setdefault(f"{record.kind.word} {record.name}", record)
            if other is not record:
                where = f" ({other.location})" if other.location else ""
                text = f"is given twice, first before{where}."
                raise CheckError(word(record), record.name, record.location, text)


def _check_record(system: Description, record: KindRecord) -> None:
    raised = partial(CheckError, word(record), record.name, record.location)
    for name in record.bodies:
        _on_a_body(system, name, raised)
    fault = record.kind.fault(system, record)
    if fault is not None:
        raise raised(fault[0], symbol=fault[1])
    for bound in record.kind.bounds(record):
        if text := placement.bound_fault(system, bound):
            raise raised(text, symbol=bound.symbol)


def _on_a_body(system: Description, name: str, fault: Callable[..., CheckError]) -> None:
    if name not in system.frames:
        raise fault(f"body '{name}' does not exist.{did_you_mean(name, system.frames)}")


# -- inertia, initial state ------------------------------------------------------------------------------------------


def _directions(system: Description) -> None:
    check_directions(system, system.parameters.numbers)


def check_directions(system: Description, values: Mapping[str, float]) -> None:
    """Raise :class:`CheckError` where these *values* of parameters make a direction zero or infinite."""
    for record, axis in system.directions:
        names = dict.fromkeys(n for a in axis for n in a.symbols())
        if not values.keys() >= names.keys():
            continue
        given = ", ".join(f"{n} = {values[n]:g}" for n in names)
        text = f"the direction ({', '.join(map(str, axis))})" + f" for {given}" * bool(given)
        try:
            found = evaluate(axis[0].graph, [a.ref for a in axis], values)
        except ExpressionError as error:
            raise CheckError(word(record), record.name, record.location, f"{text}: {error}") from None
        if not tolerances.ROUNDING_TOLERANCE**2 < sum(a * a for a in found) < LONGEST**2:
            shown = ", ".join(f"{a:g}" for a in found)
            text += f" is ({shown}); expected one of non-zero, finite length."
            raise CheckError(word(record), record.name, record.location, text)


def _inertias(system: Description) -> None:
    values = system.parameters.numbers
    check_inertias(system, system.expanded.bodies, values)


def check_inertias(system: Description, bodies: Sequence[Body], values: Mapping[str, float]) -> None:
    """Raise :class:`~kineta.errors.ModelError` for an impossible inertia of *bodies* at these *values* of parameters."""
    turns = rotation_axes(system.expanded, values)
    for body in bodies:
        try:
            message = inertia_fault(body.inertia, turns[body.name], values)
        except ExpressionError:
            continue  # some parameter has no value yet
        if message:
            raise CheckError("Body", body.name, body.location, message, part=f"inertia {body.name}")


def _initial(system: Description) -> None:
    higher = speed_derivatives(system, (n for n, _ in system.initial))
    known = dict.fromkeys((*system.q_names, *system.v_names, *(higher if system.programs else ())))
    seen: set[str] = set()
    for name, _ in system.initial:
        part = f"initial {name}"
        if name not in known:
            near = written_otherwise(name, known) or nearest_or_listed(name, known)
            if name in system.base_speeds:
                near = f" The speeds of this model are its quasi-velocities {', '.join(system.v_names)}."
            if name in higher:
                near = " Derivatives of speeds have values of their own at the start of a model with programs only."
            kinds = "a coordinate nor a speed" if not system.states else "a coordinate, a speed nor a state"
            raise of_model(system, part, f"initial '{name}' is neither {kinds}.{near}")
        if name in seen:
            raise of_model(system, part, f"initial '{name}' is given twice.")
        seen.add(name)
    values = system.parameters.numbers
    given = dict(system.expanded.initial)
    for motion in system.joints.values():
        _unit_quaternion(system, motion, given, values)


def _unit_quaternion(system: Description, motion: Joint, given: dict[str, Expr], values: dict[str, float]) -> None:
    names = motion.quaternion
    parts = [given.get(n) for n in names]
    if all(p is None for p in parts):
        return
    try:
        numbers = [0.0 if p is None else evaluate(p.graph, [p.ref], values)[0] for p in parts]
    except ExpressionError:
        return  # some parameter has no value yet
    length = math.hypot(*numbers)
    if abs(length - 1) > tolerances.WRITTEN_TOLERANCE:
        first = next(n for n in given if n in names)
        message = f"the initial quaternion of '{motion.name}' has the length {length:g}; expected 1."
        advice = " Give all of qw, qx, qy, qz of a turn (cos(a/2), e sin(a/2))."
        raise of_model(system, f"initial {first}", message + advice)
