"""What must hold of a system, and the sentence said where it does not."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from kineta.errors import ExpressionError, Location, ModelError, did_you_mean
from kineta.expr.node import Expr
from kineta.model import constraints, contacts, elements, program, switch
from kineta.model.body import GROUND, Body, Point
from kineta.model.constraints import Condition
from kineta.model.contacts import Unilateral
from kineta.model.elements import Element
from kineta.model.elements.inertia import InertiaElement
from kineta.model.elements.kind import Kind
from kineta.model.infer import (
    ENERGIES,
    IN_ANGLE,
    MULTIPLIER,
    TIME,
    base_first,
    derivatives,
    known_forces,
    likely_results,
    misplaced,
    point_components,
    point_velocities,
    results,
    vectors,
)
from kineta.model.motion import Ball, Free, Motion, quaternion_names
from kineta.model.plausible import impossible, turning
from kineta.model.program import Program
from kineta.model.quasi import Quasi
from kineta.model.switch import Switch
from kineta.model.vectors import KINDS
from kineta.model.vectors import part as vector_part
from kineta.passes.evaluate import evaluate

if TYPE_CHECKING:
    from kineta.model.let import Let
    from kineta.model.system import Output, Parameter, System


#: First words of the statements of the text language: no names of bodies, so that every system can be written.
STATEMENTS = (
    *("model", "include", "gravity", "parameters", "constants", "let", "coordinates", "frame", "point"),
    *(*elements.WORDS, *constraints.WORDS, *contacts.WORDS, switch.KIND.word, program.KIND.word),
    *(program.CONTROL, "quasi", "initial", "output"),
)
#: Where vectors of bodies and points may stand.
VECTORS_STAND = " Vectors stand in programs, in transversal parts of the control, in outputs and in events."
_NAME = re.compile(r"[^\W\d]\w*")
_LABEL = re.compile(rf"{_NAME.pattern}(\.{_NAME.pattern})*'*")


class CheckError(ModelError):
    """What is wrong with a record: ``Body 'Shin' (model.kin:7:9): message``.

    ``symbol`` is the symbol at fault, and ``part`` the item of the model (``"initial q1"``): with them a reader of text finds
    the place where it was written.
    """

    def __init__(
        self, kind: str, name: str, location: Location | None, message: str, *, symbol: str = "", part: str = ""
    ) -> None:
        super().__init__(f"{kind} '{name}'{f' ({location})' if location else ''}: {message}")
        self.kind, self.name, self.message, self.symbol, self.part = kind, name, message, symbol, part
        self.location = location

    def at(self, location: Location) -> CheckError:
        """The same, said of another place."""
        return CheckError(self.kind, self.name, location, self.message, symbol=self.symbol, part=self.part)


def check(system: System) -> None:
    """Raise :class:`~kineta.errors.ModelError` for the first thing wrong with *system*."""
    for rule in (_names, _tree, _coordinates, _elements, _symbols, _control, _inertias, _initial):
        rule(system)


# -- names and tree -----------------------------------------------------------------------------------------------------


#: Records that have a kind.
Kinded = Element | Condition | Unilateral | Switch | Program


def word(record: Body | Point | Kinded | Output | Let | Quasi | Parameter) -> str:
    """What the language calls *record*."""
    return elements.kind_of(record).word.capitalize() if isinstance(record, Element) else type(record).__name__


def _names(system: System) -> None:
    if not system.bodies and not any(isinstance(e, InertiaElement) for e in system.elements):
        raise CheckError("Model", system.name, None, "expected at least one body, found none.")
    _spelled(system)
    for form in system.quasi:
        if form.value.name == form.name and form.name in system.q_names:
            text = f"'{form.name}' is a coordinate, no speed; its rate is {form.name}'."
            raise CheckError("Quasi", form.name, form.location, text)
    joints = [m.name for b in system.bodies for m in b.motions if isinstance(m, Ball | Free)]
    for name, times in Counter(joints).items():
        if times > 1:
            text = f"{times} motions have this name; each Ball or Free needs its own."
            raise CheckError("Motion", name, None, text, part=f"motion {name}")
    taken: dict[str, str] = {GROUND: "the fixed frame"}
    taken |= dict.fromkeys(joints, "a Ball or Free motion")
    taken |= dict.fromkeys(STATEMENTS, "a statement of the language")
    frames = [("Body", b.name, b.location) for b in system.bodies]
    frames += [("Point", p.name, p.location) for p in system.points]
    _distinct(frames, taken)
    _distinct([(word(e), e.name, e.location) for e in system.elements], {})
    reserved = {TIME: "the time", "pi": "a number", "unchecked": "a word of lists of inertia"}
    reserved |= dict.fromkeys(ENERGIES, "an energy")
    variables = reserved | dict.fromkeys((*system.q_names, *system.speeds), "a coordinate or speed")
    named = [("Parameter", p.name, p.location) for p in system.parameters]
    _distinct([*named, *(("Let", let.name, let.location) for let in system.lets)], variables)
    _distinct([("Output", o.name, o.location) for o in system.outputs], {})
    acting = (*system.constraints, *system.contacts, *system.switches, *system.programs)
    _distinct([(word(c), c.name, c.location) for c in acting], {})
    own = dict.fromkeys((*system.q_names, *(p.name for p in system.parameters)), "a coordinate or parameter")
    _distinct([("Quasi", w.name, w.location) for w in system.quasi if w.value.name != w.name], reserved | own)


def _spelled(system: System) -> None:
    """Names are what the text language can say, so that every system can be written."""
    records = [("Body", b.name, b.location) for b in system.bodies]
    records += [("Point", p.name, p.location) for p in system.points]
    records += [(word(r), r.name, r.location) for r, _ in _kinded(system)]
    records += [("Parameter", p.name, p.location) for p in system.parameters]
    records += [("Let", let.name, let.location) for let in system.lets]
    records += [("Quasi", w.name, w.location) for w in system.quasi if w.value.name != w.name]
    names = [("Model", system.name, None), *(("Coordinate", c, None) for c in system.coordinates), *records]
    for kind, name, location in names:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            text = "expected a name of letters, digits and '_', not starting with a digit."
            raise CheckError(kind, name, location, text, part=f"coordinate {name}")
    for output in system.outputs:
        if not isinstance(output.name, str) or not _LABEL.fullmatch(output.name):
            raise CheckError("Output", output.name, output.location, "expected a name such as x, P.x or q1'.")


def _distinct(records: Iterable[tuple[str, str, Location | None]], taken: dict[str, str]) -> None:
    for kind, name, location in records:
        if name in taken:
            raise CheckError(kind, name, location, f"the name is taken by {taken[name]}. Choose another.")
        article = "an" if kind[0] in "AEIOU" else "a"
        taken[name] = f"{article} {kind.lower()} described before" + (f" ({location})" if location else "")


def _tree(system: System) -> None:
    for body in system.bodies:
        if body.base not in system.frames:
            near = did_you_mean(body.base, system.frames)
            raise CheckError("Body", body.name, body.location, f"base '{body.base}' does not exist.{near}")
    reached = {b.name for b in base_first(system.bodies)}
    for body in system.bodies:
        if body.name not in reached:
            chain = _cycle(system, body)
            raise CheckError(
                "Body",
                body.name,
                body.location,
                f"the bases form a cycle: {' ~ '.join(chain)}. One must stand on the ground.",
            )


def _cycle(system: System, body: Body) -> list[str]:
    base = {b.name: b.base for b in system.bodies}
    chain = [body.name]
    while base[chain[-1]] not in chain:
        chain.append(base[chain[-1]])
    return [*chain, base[chain[-1]]]


# -- coordinates, symbols ----------------------------------------------------------------------------------------------


def _coordinates(system: System) -> None:
    declared = Counter(system.coordinates)
    used = {n for b in system.expanded.bodies for m in b.motions for n in _argument_symbols(m)}
    resisted = [e.coordinate for e in system.expanded.elements if isinstance(e, InertiaElement)]
    rates = [*resisted, *(w.value for w in system.expanded.quasi)] if resisted else []
    used |= {n.rstrip("'") for rate in rates for n in rate.symbols()}
    reserved = {TIME: "the time", "pi": "a number"} | dict.fromkeys(ENERGIES, "an energy")
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
            raise _of_model(system, f"coordinate {name}", f"coordinate '{name}' {message}")
    for name in system.joints:
        if name not in declared:
            message = (
                f"the motion '{name}' is missing from the list of coordinates; add '{name}' where its block stands."
            )
            raise _of_model(system, f"motion {name}", message)


def check_inferred(system: System, parameters: Iterable[Parameter]) -> None:
    """Raise :class:`CheckError` where a coordinate found in an angle is rather a misspelt one of the declared *parameters*.

    That is one letter left out, added or changed, or two exchanged. A coordinate with another reason to be one is meant.
    """
    near = {variant: p.name for p in parameters for variant in _variants(p.name)}
    for body in system.bodies:
        for name in (n for m in body.motions for n in _argument_symbols(m) if system.taken.get(n) == IN_ANGLE):
            other = next((near[v] for v in _variants(name) if v in near), None)
            if other is not None:
                text = f"'{name}' is no declared parameter. Did you mean '{other}'?"
                text += _advice(system.coordinates, name, body.location)
                raise CheckError("Body", body.name, body.location, text, symbol=name)


def _variants(name: str) -> Iterator[str]:
    """*name*, and it without one of its letters: names that are alike have one of these in common. Of a name that nobody types
    it alone.
    """
    name = name.casefold()
    yield name
    if 2 < len(name) <= 100:
        yield from (name[:i] + name[i + 1 :] for i in range(len(name)))


def _advice(coordinates: tuple[str, ...], name: str, location: Location | None) -> str:
    """How to make a coordinate of *name*, in the language or, without a *location* in a text, in Python."""
    if not _NAME.fullmatch(name):
        return ""
    every = coordinates if name in coordinates else (*coordinates, name)
    listed = f"coordinates={list(every)}" if location is None else f"coordinates {', '.join(every)};"
    return f" If it is a coordinate, list it: {listed}"


def _of_model(system: System, part: str, message: str) -> CheckError:
    return CheckError("Model", system.name, None, message, part=part)


def _of_control(system: System, message: str, *, symbol: str) -> CheckError:
    return CheckError("Model", system.name, system.control.location, f"control: {message}", symbol=symbol)


def _argument_symbols(motion: Motion) -> tuple[str, ...]:
    if isinstance(motion, Ball | Free):
        return ()
    return motion.argument.symbols()


def _symbols(system: System) -> None:
    parameters = {p.name for p in system.parameters}
    points = point_components(system)
    variables = parameters | {TIME, *system.q_names, *system.speeds}
    everything = variables | points | set(ENERGIES)
    inside = _inside(system)

    def only(
        allowed: set[str],
        words: str,
        values: Iterable[Expr | None],
        fault: Callable[..., CheckError],
        advice: Callable[[str], str] = lambda _: "",
        hint: str = "",
        near: Callable[[str], Iterable[str]] = lambda _: (),
    ) -> None:
        for value in values:
            for name in value.symbols() if value is not None else ():
                for own in inside.get(name, (name,)):
                    if own in allowed:
                        continue
                    message = (
                        f"unknown symbol '{own}'.{did_you_mean(own, [*near(own), *allowed, *inside])}{advice(own)}"
                    )
                    forced = own.startswith(MULTIPLIER) and bool(results(system, [own]))
                    if (vector := vector_part(own)) is not None and (text := misplaced(system, vector)):
                        message = text
                    elif own in everything or forced or vector is not None or derivatives(system, [own]):
                        found = f"{_meaning(system, own)} '{own}'"
                        if own != name:
                            found = f"'{name}' holds {found}, which"
                        message = f"{found} has no place here; expected {words or 'what a state gives'} only."
                        follows = " It follows from the motion." if forced else ""
                        message += VECTORS_STAND if vector is not None else hint if own in everything else follows
                    raise fault(message, symbol=name)

    def record(item: Body | Point | Kinded | Output | Let | Quasi) -> Callable[..., CheckError]:
        return partial(CheckError, word(item), item.name, item.location)

    controlled = [x for own in system.programs for x in own.expressions] + list(system.control.expressions)
    written = [*controlled, *(let.value for let in system.lets), *(o.value for o in system.outputs)]
    named = {n for x in written for n in (*x.symbols(), *(n for own in x.symbols() for n in inside.get(own, ())))}
    higher, parts = derivatives(system, named).keys(), vectors(system, named).keys()
    for let in system.lets:
        only(everything | higher | parts, "", [let.value], record(let))
    arguments = variables - set(system.speeds)
    for body in system.bodies:
        own = body.inertia
        motions = [_argument(m) for m in body.motions]
        advice = partial(_advice, system.coordinates, location=body.location)
        only(arguments, "coordinates, parameters and the time", motions, record(body), advice)
        entries = (own.mass, *own.com, *own.moments, *own.products)
        only(parameters, "parameters", entries, partial(record(body), part=f"inertia {body.name}"))
    for point in system.points:
        only(parameters, "parameters", point.position, record(point))
    words = "coordinates, speeds, parameters, the time, positions and velocities of points"
    seen = variables | points
    resting = seen - set(system.speeds) - point_velocities(system)
    without = "coordinates, parameters, the time and positions of points"
    hint = " A force that depends on speeds is a damper, or a force on a coordinate."
    for element in system.elements:
        kind = elements.kind_of(element)
        only(resting, without, kind.positions(element), record(element), hint=hint)
        only(seen, words, element.expressions, record(element))
        only(parameters, "parameters", kind.constants(element), record(element))
    for condition, kind in _kinded(system):
        if not isinstance(condition, Element | Program):
            only(parameters, "parameters", kind.constants(condition), record(condition))
            only(resting, without, kind.positions(condition), record(condition))
            only(seen, words, condition.expressions, record(condition))
    moved = seen | higher | parts
    held, likely = f"{words}, derivatives and vectors", partial(_likely_derivatives, system)
    for motion in system.programs:
        only(moved, held, motion.expressions, record(motion), near=likely)
    control = partial(_of_control, system)
    only(parameters, "parameters", [x for _, x in system.control.actuators], control)
    only(moved, held, [x for _, x in system.control.transversal], control, near=likely)
    for form in system.quasi:
        only(seen - {w.name for w in system.quasi} | set(system.base_speeds), words, [form.value], record(form))
    shown = everything | parts | results(system, (n for o in system.outputs for n in o.value.symbols()))
    shown |= higher if system.programs else set()
    for output in system.outputs:
        only(
            shown,
            "",
            [output.value],
            record(output),
            partial(known_forces, system),
            near=partial(likely_results, system),
        )
    for name, value in system.initial:
        only(
            parameters, "parameters", [value], partial(CheckError, "Initial value", name, None, part=f"initial {name}")
        )
    only(parameters, "parameters", system.gravity, partial(CheckError, "Model", system.name, None, part="gravity"))


def _inside(system: System) -> dict[str, dict[str, None]]:
    """Symbols that named expressions hold, those of others that they name included."""
    values = {let.name: let.value for let in system.lets}
    inside: dict[str, dict[str, None]] = {}
    for name in system.meanings:  # what others name comes first
        own = values[name].symbols()
        inside[name] = dict.fromkeys(symbol for s in own for symbol in inside.get(s, (s,)))
    return inside


def _likely_derivatives(system: System, name: str) -> list[str]:
    """The derivatives of the order of *name*, which it may have been meant for."""
    primes = len(name) - len(name.rstrip("'"))
    return [n.rstrip("'") + "'" * primes for n in system.v_names] if primes > 1 else []


def _control(system: System) -> None:
    for text, name in program.control_faults(system):
        raise _of_control(system, text, symbol=name)


def _meaning(system: System, name: str) -> str:
    """What kind of thing the symbol *name* stands for."""
    if (vector := vector_part(name)) is not None:
        return "a rate" if vector.rates else KINDS[vector.vector.kind].words
    if name.startswith(MULTIPLIER):
        return "the force"
    if name in (found := derivatives(system, [name])):
        return "the acceleration" if found[name] == 2 else "the derivative"
    kinds = {"the coordinate": system.q_names, "the speed": system.speeds, "the time": (TIME,), "the energy": ENERGIES}
    velocity = "the velocity" if name in point_velocities(system) else "the position"
    return next((kind for kind, names in kinds.items() if name in names), velocity)


def _argument(motion: Motion) -> Expr | None:
    if isinstance(motion, Ball | Free):
        return None
    return motion.argument


def _elements(system: System) -> None:
    for point in system.points:
        _on_a_body(system, point.body, partial(CheckError, "Point", point.name, point.location))
    for record, kind in _kinded(system):
        _sound(system, record, kind)


def _kinded(system: System) -> Iterator[tuple[Kinded, Kind[Any]]]:
    """The records that have a kind, with it."""
    yield from ((e, elements.kind_of(e)) for e in system.elements)
    yield from ((c, constraints.kind_of(c)) for c in system.constraints)
    yield from ((c, contacts.kind_of(c)) for c in system.contacts)
    yield from ((s, switch.KIND) for s in system.switches)
    yield from ((p, program.KIND) for p in system.programs)


def _sound(system: System, record: Kinded, kind: Kind[Any]) -> None:
    raised = partial(CheckError, word(record), record.name, record.location)
    for name in record.bodies:
        _on_a_body(system, name, raised)
    fault = kind.fault(system, record)
    if fault is not None:
        raise raised(fault[0], symbol=fault[1])


def _on_a_body(system: System, name: str, fault: Callable[..., CheckError]) -> None:
    if name not in system.frames:
        raise fault(f"body '{name}' does not exist.{did_you_mean(name, system.frames)}")


# -- inertia, initial state ------------------------------------------------------------------------------------------


def _inertias(system: System) -> None:
    values = {p.name: p.value for p in system.parameters if p.value is not None}
    check_inertias(system, system.expanded.bodies, values)


def check_inertias(system: System, bodies: Sequence[Body], values: Mapping[str, float]) -> None:
    """Raise :class:`~kineta.errors.ModelError` where the inertia of one of *bodies* is none for these *values* of parameters."""
    turns = turning(system.expanded, values)
    for body in bodies:
        try:
            message = impossible(body.inertia, turns[body.name], values)
        except ExpressionError:
            continue  # some parameter has no value yet
        if message:
            raise CheckError("Body", body.name, body.location, message, part=f"inertia {body.name}")


def _initial(system: System) -> None:
    known = {*system.q_names, *system.v_names}
    higher = derivatives(system, (n for n, _ in system.initial))
    known |= higher.keys() if system.programs else set()
    seen: set[str] = set()
    for name, _ in system.initial:
        part = f"initial {name}"
        if name not in known:
            near = did_you_mean(name, known)
            if name in system.base_speeds:
                near = f" The speeds of this model are its quasi-velocities {', '.join(system.v_names)}."
            if name in higher:
                near = " Derivatives of speeds have values of their own at the start of a model with programs only."
            raise _of_model(system, part, f"initial '{name}' is neither a coordinate nor a speed.{near}")
        if name in seen:
            raise _of_model(system, part, f"initial '{name}' is given twice.")
        seen.add(name)
    values = {p.name: p.value for p in system.parameters if p.value is not None}
    given = dict(system.expanded.initial)
    for motion in system.joints.values():
        _unit_quaternion(system, motion, given, values)


def _unit_quaternion(system: System, motion: Ball | Free, given: dict[str, Expr], values: dict[str, float]) -> None:
    names = quaternion_names(motion)
    parts = [given.get(n) for n in names]
    if all(p is None for p in parts):
        return
    try:
        numbers = [0.0 if p is None else evaluate(p.graph, [p.ref], values)[0] for p in parts]
    except ExpressionError:
        return  # some parameter has no value yet
    length = math.hypot(*numbers)
    if abs(length - 1) > 1e-6:
        first = next(n for n in given if n in names)
        message = f"the initial quaternion of '{motion.name}' has the length {length:g}; expected 1."
        advice = " Give all of qw, qx, qy, qz of a turn (cos(a/2), e sin(a/2))."
        raise _of_model(system, f"initial {first}", message + advice)
