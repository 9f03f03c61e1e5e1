"""Scopes of names: the symbols allowed in each part of a model, and the sentences on others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr
from kineta.errors import Location, did_you_mean
from kineta.model import units
from kineta.model.axis import directions
from kineta.model.body import Body, Point
from kineta.model.checks.diagnostics import CheckError
from kineta.model.contacts.joint_friction import Friction
from kineta.model.contacts.limit import Limit
from kineta.model.description import Description, kinded, of_control, word
from kineta.model.kind import Element, KindRecord
from kineta.model.motion_program import Program
from kineta.model.motion_variables import Quasi, State
from kineta.model.name_inference import (
    element_forces,
    known_forces,
    likely_response_symbols,
    point_components,
    point_velocities,
    response_symbols,
    speed_derivatives,
    vector_fault,
    vector_parts,
)
from kineta.model.reserved_symbols import ENERGIES, MULTIPLIER, NAME, TIME, forced
from kineta.model.switch import Switch
from kineta.model.vectors import KINDS, Part
from kineta.model.vectors import part as vector_part
from kineta.threads import once

if TYPE_CHECKING:
    from kineta.model.named_expressions import Let, Output

#: Where derivatives of velocities may stand, and why nowhere else.
ACCELERATIONS_STAND = (
    " Accelerations stand in programs, in transversal parts of the control, in outputs and in events; what acts on the motion "
    "would have to know those that it causes."
)
#: Alternatives to a force that names a speed.
DAMPER = " A force that depends on speeds is a damper, or a force on a coordinate."
#: Where states and their rates may stand, and why accelerations and forces stand in no rate.
STATES_STAND = (
    " A state stands in forces, laws of springs, dry friction, rates of states, switches and outputs; what places, measures or "
    "holds the motion is made of the motion alone."
)
#: Alternative to a limit of a state.
STOPS = (
    " A state stops at a bound where its rate ends there, as in state {0} : {0}' = if({0} < most or rate < 0, rate, 0), and at "
    "two bounds if(({0} < most or rate < 0) and ({0} > least or rate > 0), rate, 0); a run ends there by when ... : stop."
)
RATES_STAND = " The rate of a state stands in forces, switches and outputs; write the expression that it is equal to."
CAUSED = "has no place in the rate of a state, which comes before the accelerations and the forces of constraints and contacts."
#: Constituents of positions, and of states, in words.
RESTING = "coordinates, parameters, the time and positions of points"
MOVING = "coordinates, speeds, parameters, the time, positions and velocities of points"
#: Constituents of rates of states, in words.
RATES = f"{MOVING}, and states"
#: What switches may watch besides, in words.
SWITCHING = f"{MOVING}, accelerations and forces"
#: Names of the number pi in Python.
_PI = frozenset(
    ["Pi", "PI", "π", *(f"{module}.pi" for module in ("math", "numpy", "np", "jnp", "sympy", "sp", "torch"))]
)

#: Where a direction that moves is to come from.
STILL = " A direction is fixed in the axes of its body; a motion that turns, as R[0, 0, 1](q1), turns these."

Fault = Callable[..., CheckError]


def check_symbols(system: Description) -> None:
    """Raise :class:`CheckError` for the first symbol that does not exist, or has no place where it stands."""
    scope = SymbolTable(system)
    for rule in (_lets, _bodies, _acting, _programs, _quasi, _states, _outputs, _values, _appearance):
        rule(scope)


def check_named(system: Description, named: Sequence[Let]) -> None:
    """Raise :class:`CheckError` for the first symbol that does not exist in *named* expressions beside those of *system*."""
    if named:
        scope = SymbolTable(system, [x.value for x in named])
        _shown(scope, named)


def written_otherwise(name: str, known: Collection[str]) -> str:
    """How a *name* of other languages for pi, or for a rate among those *known*, is written here; ``''`` for others."""
    rate = f"{name.removesuffix('dot').removesuffix('_')}'"
    return " Write pi." if name in _PI else f" The rate is written {rate}." if rate in known else ""


class SymbolTable:
    """Symbol table of *system*, and of expressions *beside* it: names by kind."""

    def __init__(self, system: Description, beside: Sequence[Expr] = ()) -> None:
        self.system = system
        self.beside = beside
        self.parameters = {p.name for p in system.parameters}
        self.points = point_components(system)
        self.rates = {f"{n}'" for n in system.state_names}
        self.variables = self.parameters | {TIME, *system.q_names, *system.speeds} | self.rates
        self.everything = self.variables | self.points | {*ENERGIES}
        self.velocities = point_velocities(system)
        self.inside = _nested_symbols(system)
        self.forces = {*element_forces(system, self._named)}
        self.everything |= self.forces

    @once
    def state(self) -> frozenset[str]:
        """What a state gives: variables, and places and velocities of points and bodies."""
        return frozenset(self.variables | self.points | {n for n, x in self._parts.items() if x.order <= 1})

    @once
    def resting(self) -> frozenset[str]:
        """What coordinates give: the state without speeds and velocities."""
        moving = {*self.system.speeds, *self.velocities, *(n for n, x in self._parts.items() if x.order)}
        return self.state - moving - self.rates

    @once
    def held(self) -> frozenset[str]:
        """What a state gives of the motion alone: without first-order states and their rates."""
        return self.state - self.rates - {*self.system.state_names}

    @once
    def higher(self) -> frozenset[str]:
        """Derivatives of speeds in the description."""
        return frozenset(speed_derivatives(self.system, self._named))

    @once
    def parts(self) -> frozenset[str]:
        """Parts of vectors in the description."""
        return frozenset(self._parts)

    @once
    def _places(self) -> set[str]:
        return {b.name for b in self.system.bodies} | {p.name for p in self.system.points}

    @once
    def _parts(self) -> dict[str, Part]:
        return vector_parts(self.system, self._named)

    @once
    def _named(self) -> set[str]:
        system = self.system
        written = [x for own in kinded(system) for x in own.expressions] + list(system.control.expressions)
        written += [x.value for x in (*system.lets, *system.outputs, *system.quasi)] + [*self.beside]
        written += [x.rate for x in system.states]
        own = {n for x in written for n in x.symbols()}
        return own | {n for name in own for n in self.inside.get(name, ())}

    def only(
        self,
        allowed: Collection[str],
        words: str,
        values: Iterable[Expr | None],
        fault: Fault,
        *,
        advice: Callable[[str], str] = lambda _: "",
        hint: str = "",
        instead: str = "",
        near: Callable[[str], Iterable[str]] = lambda _: (),
    ) -> None:
        """Raise a *fault* where *values* hold symbols, or named expressions with symbols, that are not among those *allowed*, in
        *words*: for one that does not exist with *advice* and names *near* it, for one of another place with a *hint*, for a
        state with what there is *instead*.
        """
        for value in values:
            for name in value.symbols() if value is not None else ():
                for own in self.inside.get(name, (name,)):
                    if own in allowed:
                        continue
                    meant = written_otherwise(own, allowed) or did_you_mean(own, [*near(own), *allowed, *self.inside])
                    unknown = f"unknown symbol '{own}'.{self._beyond_rate(own) or meant}{units.advice_on_name(own)}"
                    raise fault(
                        self._out_of_place(own, name, words, hint, instead) or unknown + advice(own), symbol=name
                    )

    def _beyond_rate(self, own: str) -> str:
        """Advice on a derivative *own* of a state beyond its rate; ``''`` for others."""
        state = own.rstrip("'")
        if state not in self.system.state_names:
            return ""
        return (
            f" '{state}' is a state of first order; the rate of its rate is that of a further state {state}_rate, with "
            f"{state}' = {state}_rate."
        )

    def _out_of_place(self, own: str, name: str, words: str, hint: str, instead: str) -> str:
        """Sentence on the misplaced symbol *own*, written as *name* or nested in it; ``''`` for an unknown symbol."""
        system, vector = self.system, vector_part(own)
        if own in self._places:
            return (
                f"'{own}' is a place and no number; |r({own})| is its distance from the origin, |v({own})| its speed."
            )
        if vector is not None and (text := vector_fault(system, vector)):
            return text
        force = (own.startswith(MULTIPLIER) or bool(forced(own))) and bool(response_symbols(system, [own]))
        if not (own in self.everything or force or vector is not None or speed_derivatives(system, [own])):
            return ""
        found = f"{_meaning(system, own)} '{own}'"
        if own != name:
            found = f"'{name}' holds {found}, which"
        follows = "" if not force else " It is given to a run." if forced(own) else " It follows from the motion."
        if own in (*system.state_names, *self.rates):
            more = RATES_STAND if own in self.rates else instead.format(own) or STATES_STAND
            return f"{found} has no place here; expected {words} only.{more}"
        higher = vector is not None and vector.order > 1
        more = ACCELERATIONS_STAND if higher else hint if own in self.everything or vector is not None else follows
        if own in self.forces:
            element = own.removeprefix(MULTIPLIER)
            more = f" Forces of elements stand in outputs and switches; name the law of '{element}' by let, and use that in both."
        return f"{found} has no place here; expected {words or 'what a state gives'} only.{more}"


def _lets(scope: SymbolTable) -> None:
    for let in scope.system.lets:
        scope.only(scope.everything | scope.higher | scope.parts, "", [let.value], _of(let))


def _bodies(scope: SymbolTable) -> None:
    system = scope.system
    arguments = scope.variables - set(system.speeds) - {*system.state_names} - scope.rates
    for body in system.bodies:
        own = body.inertia
        motions = [x for m in body.motions for x in m.arguments]
        advice = partial(listing_advice, system.coordinates, location=body.location)
        scope.only(arguments, "coordinates, parameters and the time", motions, _of(body), advice=advice)
        _directions(scope, body)
        entries = (own.mass, *own.com, *own.moments, *own.products)
        scope.only(scope.parameters, "parameters", entries, partial(_of(body), part=f"inertia {body.name}"))
    for point in system.points:
        scope.only(scope.parameters, "parameters", point.position, _of(point))


def _acting(scope: SymbolTable) -> None:
    """Elements, then constraints, contacts and switches."""
    for record in kinded(scope.system):
        _directions(scope, record)
    for element in scope.system.elements:
        kind = element.kind
        if (along := getattr(element, "coordinate", None)) is not None and isinstance(along, Expr):
            scope.only(scope.held, MOVING, [along], _of(element))
        scope.only(scope.resting, RESTING, kind.positions(element), _of(element), hint=DAMPER)
        scope.only(scope.state, MOVING, element.expressions, _of(element))
        scope.only(scope.parameters, "parameters", kind.constants(element), _of(element))
    placed = scope.resting & scope.held
    for condition in kinded(scope.system):
        if not isinstance(condition, Element | Program):
            kind = condition.kind
            scope.only(scope.parameters, "parameters", kind.constants(condition), _of(condition))
            instead = STOPS if isinstance(condition, Limit) else ""
            scope.only(placed, RESTING, kind.positions(condition), _of(condition), instead=instead)
            if isinstance(condition, Switch):
                _switch(scope, condition)
            else:
                known = scope.state if isinstance(condition, Friction) else scope.held
                scope.only(known, MOVING, condition.expressions, _of(condition))


def _switch(scope: SymbolTable, switch: Switch) -> None:
    """What a run knows in every state: forces and accelerations, too."""
    system, used = scope.system, switch.expressions
    known = scope.state | scope.forces | response_symbols(system, (n for x in used for n in x.symbols()))
    advice, near = partial(known_forces, system), partial(likely_response_symbols, system)
    scope.only(known, SWITCHING, used, _of(switch), advice=advice, near=near)


def _appearance(scope: SymbolTable) -> None:
    for record in scope.system.appearance:
        scope.only(scope.parameters, "parameters and constants", record.kind.constants(record), _of(record))


def _directions(scope: SymbolTable, record: Body | KindRecord) -> None:
    for axis in directions(record):
        scope.only(scope.parameters, "parameters and constants", axis, _of(record), hint=STILL)


def _programs(scope: SymbolTable) -> None:
    system, moved = scope.system, scope.held | scope.higher | scope.parts
    held, likely = f"{MOVING}, derivatives and vectors", partial(_likely_derivatives, system)
    for motion in system.programs:
        scope.only(moved, held, motion.expressions, _of(motion), near=likely)
    control = partial(of_control, system)
    scope.only(scope.parameters, "parameters", [x for _, x in system.control.actuators], control)
    scope.only(moved, held, [x for _, x in system.control.transversal], control, near=likely)


def _quasi(scope: SymbolTable) -> None:
    system = scope.system
    allowed = scope.held - {w.name for w in system.quasi} | set(system.base_speeds)
    for form in system.quasi:
        scope.only(allowed, MOVING, [form.value], _of(form))


def _states(scope: SymbolTable) -> None:
    system = scope.system
    for own in system.states:
        names = [n for name in own.rate.symbols() for n in scope.inside.get(name, (name,))]
        caused = {*speed_derivatives(system, names), *response_symbols(system, names)}
        for name in (n for n in names if n in caused):
            raise _of(own)(f"{_meaning(system, name)} '{name}' {CAUSED}", symbol=name)
        scope.only(scope.state - scope.rates, RATES, [own.rate], _of(own))


def _outputs(scope: SymbolTable) -> None:
    _shown(scope, scope.system.outputs)


def _shown(scope: SymbolTable, records: Sequence[Output | Let]) -> None:
    """Raise for symbols in *records* that nothing shows."""
    system = scope.system
    shown = scope.everything | scope.parts | response_symbols(system, (n for o in records for n in o.value.symbols()))
    shown |= scope.higher if system.programs else frozenset()
    advice, near = partial(known_forces, system), partial(likely_response_symbols, system)
    for record in records:
        scope.only(shown, "", [record.value], _of(record), advice=advice, near=near)


def _values(scope: SymbolTable) -> None:
    """Initial values and gravity."""
    for name, value in scope.system.initial:
        fault = partial(CheckError, "Initial value", name, None, part=f"initial {name}")
        scope.only(scope.parameters, "parameters", [value], fault)
    fault = partial(CheckError, "Model", scope.system.name, None, part="gravity")
    scope.only(scope.parameters, "parameters", scope.system.gravity, fault)


def _of(item: Body | Point | KindRecord | Output | Let | Quasi | State) -> Fault:
    """Constructor of errors on a record."""
    return partial(CheckError, word(item), item.name, item.location)


def listing_advice(coordinates: tuple[str, ...], name: str, location: Location | None) -> str:
    """How to make a coordinate of *name*, in the language or, without a *location* in a text, in Python."""
    if not NAME.fullmatch(name):
        return ""
    every = coordinates if name in coordinates else (*coordinates, name)
    listed = f"coordinates={list(every)}" if location is None else f"coordinates {', '.join(every)};"
    return f" If it is a coordinate, list it: {listed}"


def _nested_symbols(system: Description) -> dict[str, dict[str, None]]:
    """Symbols within each named expression, nested named expressions included."""
    values = {let.name: let.value for let in system.lets}
    inside: dict[str, dict[str, None]] = {}
    for name in system.meanings:  # what others name comes first
        own = values[name].symbols()
        inside[name] = dict.fromkeys(symbol for s in own for symbol in inside.get(s, (s,)))
    return inside


def _likely_derivatives(system: Description, name: str) -> list[str]:
    """Derivatives of speeds of the order of *name*, as suggestions."""
    primes = len(name) - len(name.rstrip("'"))
    return [n.rstrip("'") + "'" * primes for n in system.v_names] if primes > 1 else []


def _meaning(system: Description, name: str) -> str:
    """Kind of the symbol *name*, in words."""
    if (vector := vector_part(name)) is not None:
        return "a rate" if vector.rates else KINDS[vector.vector.kind].words
    if name.startswith(MULTIPLIER) or forced(name):
        return "the force"
    if name in (found := speed_derivatives(system, [name])):
        return "the acceleration" if found[name] == 2 else "the derivative"
    kinds: dict[str, Collection[str]] = {"the state": system.state_names}
    kinds |= {"the rate": [f"{n}'" for n in system.state_names], "the coordinate": system.q_names}
    kinds |= {"the speed": system.speeds, "the time": (TIME,), "the energy": ENERGIES}
    velocity = "the velocity" if name in point_velocities(system) else "the position"
    return next((kind for kind, names in kinds.items() if name in names), velocity)
