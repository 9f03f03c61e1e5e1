"""Which symbols a part of a model may name, and the sentence where it names another."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import TYPE_CHECKING

from kineta.errors import Location, did_you_mean
from kineta.expr.node import Expr
from kineta.model import elements
from kineta.model.body import Body, Point
from kineta.model.elements import Element
from kineta.model.fault import CheckError, Kinded, kinded, of_control, word
from kineta.model.infer import (
    ENERGIES,
    MULTIPLIER,
    TIME,
    derivatives,
    known_forces,
    likely_results,
    misplaced,
    point_components,
    point_velocities,
    results,
    vectors,
)
from kineta.model.motion import Ball, Free
from kineta.model.program import Program
from kineta.model.quasi import Quasi
from kineta.model.vectors import KINDS
from kineta.model.vectors import part as vector_part
from kineta.threads import once

if TYPE_CHECKING:
    from kineta.model.let import Let
    from kineta.model.system import Output, System

#: A name of one word.
NAME = re.compile(r"[^\W\d]\w*")
#: Where vectors of bodies and points may stand.
VECTORS_STAND = " Vectors stand in programs, in transversal parts of the control, in outputs and in events."
#: What a force that names a speed may be instead.
DAMPER = " A force that depends on speeds is a damper, or a force on a coordinate."
#: What positions, and what states, are made of, in words.
RESTING = "coordinates, parameters, the time and positions of points"
MOVING = "coordinates, speeds, parameters, the time, positions and velocities of points"

Fault = Callable[..., CheckError]


def check_symbols(system: System) -> None:
    """Raise :class:`CheckError` for the first symbol that does not exist, or has no place where it stands."""
    scope = Scope(system)
    for rule in (_lets, _bodies, _acting, _programs, _quasi, _outputs, _values):
        rule(scope)


class Scope:
    """The symbols of *system* by what they are made of."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.parameters = {p.name for p in system.parameters}
        self.points = point_components(system)
        self.variables = self.parameters | {TIME, *system.q_names, *system.speeds}
        self.everything = self.variables | self.points | set(ENERGIES)
        self.state = self.variables | self.points
        self.inside = _inside(system)

    @once
    def higher(self) -> frozenset[str]:
        """The derivatives of speeds that programs, named expressions and outputs hold."""
        return frozenset(derivatives(self.system, self._named))

    @once
    def parts(self) -> frozenset[str]:
        """The parts of vectors that these hold."""
        return frozenset(vectors(self.system, self._named))

    @once
    def _named(self) -> set[str]:
        system = self.system
        written = [x for own in system.programs for x in own.expressions] + list(system.control.expressions)
        written += [*(let.value for let in system.lets), *(o.value for o in system.outputs)]
        return {
            n for x in written for n in (*x.symbols(), *(n for own in x.symbols() for n in self.inside.get(own, ())))
        }

    def only(
        self,
        allowed: Collection[str],
        words: str,
        values: Iterable[Expr | None],
        fault: Fault,
        *,
        advice: Callable[[str], str] = lambda _: "",
        hint: str = "",
        near: Callable[[str], Iterable[str]] = lambda _: (),
    ) -> None:
        """Raise a *fault* where *values* hold symbols, or named expressions with symbols, that are not among those *allowed*, in
        *words*: for one that does not exist with *advice* and names *near* it, for one of another place with a *hint*.
        """
        for value in values:
            for name in value.symbols() if value is not None else ():
                for own in self.inside.get(name, (name,)):
                    if own in allowed:
                        continue
                    unknown = f"unknown symbol '{own}'.{did_you_mean(own, [*near(own), *allowed, *self.inside])}"
                    raise fault(self._out_of_place(own, name, words, hint) or unknown + advice(own), symbol=name)

    def _out_of_place(self, own: str, name: str, words: str, hint: str) -> str:
        """The sentence on the symbol *own*, which stands as *name* or within it; ``''`` for one that does not exist."""
        system, vector = self.system, vector_part(own)
        if vector is not None and (text := misplaced(system, vector)):
            return text
        forced = own.startswith(MULTIPLIER) and bool(results(system, [own]))
        if not (own in self.everything or forced or vector is not None or derivatives(system, [own])):
            return ""
        found = f"{_meaning(system, own)} '{own}'"
        if own != name:
            found = f"'{name}' holds {found}, which"
        follows = " It follows from the motion." if forced else ""
        more = VECTORS_STAND if vector is not None else hint if own in self.everything else follows
        return f"{found} has no place here; expected {words or 'what a state gives'} only.{more}"


def _lets(scope: Scope) -> None:
    for let in scope.system.lets:
        scope.only(scope.everything | scope.higher | scope.parts, "", [let.value], _of(let))


def _bodies(scope: Scope) -> None:
    system = scope.system
    arguments = scope.variables - set(system.speeds)
    for body in system.bodies:
        own = body.inertia
        motions = [m.argument for m in body.motions if not isinstance(m, Ball | Free)]
        advice = partial(advice_on, system.coordinates, location=body.location)
        scope.only(arguments, "coordinates, parameters and the time", motions, _of(body), advice=advice)
        entries = (own.mass, *own.com, *own.moments, *own.products)
        scope.only(scope.parameters, "parameters", entries, partial(_of(body), part=f"inertia {body.name}"))
    for point in system.points:
        scope.only(scope.parameters, "parameters", point.position, _of(point))


def _acting(scope: Scope) -> None:
    """Elements, then what holds, touches or switches."""
    resting = scope.state - set(scope.system.speeds) - point_velocities(scope.system)
    for element in scope.system.elements:
        kind = elements.kind_of(element)
        scope.only(resting, RESTING, kind.positions(element), _of(element), hint=DAMPER)
        scope.only(scope.state, MOVING, element.expressions, _of(element))
        scope.only(scope.parameters, "parameters", kind.constants(element), _of(element))
    for condition, kind in kinded(scope.system):
        if not isinstance(condition, Element | Program):
            scope.only(scope.parameters, "parameters", kind.constants(condition), _of(condition))
            scope.only(resting, RESTING, kind.positions(condition), _of(condition))
            scope.only(scope.state, MOVING, condition.expressions, _of(condition))


def _programs(scope: Scope) -> None:
    system, moved = scope.system, scope.state | scope.higher | scope.parts
    held, likely = f"{MOVING}, derivatives and vectors", partial(_likely_derivatives, system)
    for motion in system.programs:
        scope.only(moved, held, motion.expressions, _of(motion), near=likely)
    control = partial(of_control, system)
    scope.only(scope.parameters, "parameters", [x for _, x in system.control.actuators], control)
    scope.only(moved, held, [x for _, x in system.control.transversal], control, near=likely)


def _quasi(scope: Scope) -> None:
    system = scope.system
    allowed = scope.state - {w.name for w in system.quasi} | set(system.base_speeds)
    for form in system.quasi:
        scope.only(allowed, MOVING, [form.value], _of(form))


def _outputs(scope: Scope) -> None:
    system = scope.system
    shown = scope.everything | scope.parts | results(system, (n for o in system.outputs for n in o.value.symbols()))
    shown |= scope.higher if system.programs else frozenset()
    advice, near = partial(known_forces, system), partial(likely_results, system)
    for output in system.outputs:
        scope.only(shown, "", [output.value], _of(output), advice=advice, near=near)


def _values(scope: Scope) -> None:
    """Initial values and gravity."""
    for name, value in scope.system.initial:
        fault = partial(CheckError, "Initial value", name, None, part=f"initial {name}")
        scope.only(scope.parameters, "parameters", [value], fault)
    fault = partial(CheckError, "Model", scope.system.name, None, part="gravity")
    scope.only(scope.parameters, "parameters", scope.system.gravity, fault)


def _of(item: Body | Point | Kinded | Output | Let | Quasi) -> Fault:
    """What is wrong with a record."""
    return partial(CheckError, word(item), item.name, item.location)


def advice_on(coordinates: tuple[str, ...], name: str, location: Location | None) -> str:
    """How to make a coordinate of *name*, in the language or, without a *location* in a text, in Python."""
    if not NAME.fullmatch(name):
        return ""
    every = coordinates if name in coordinates else (*coordinates, name)
    listed = f"coordinates={list(every)}" if location is None else f"coordinates {', '.join(every)};"
    return f" If it is a coordinate, list it: {listed}"


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
