"""``System``: a mechanical system as pure data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from html import escape

from kineta.errors import ArgumentError, Location, ModelError, did_you_mean, shown, warn
from kineta.expr.node import Expr, Scalar
from kineta.model.body import GROUND, Body, Point
from kineta.model.check import check, check_inferred
from kineta.model.constraints import Condition
from kineta.model.contacts import Unilateral
from kineta.model.elements import Element
from kineta.model.given import TAKES, Record, Vector3, entries, named, record, records, scalar, vector
from kineta.model.infer import (
    DECLARED,
    LISTED,
    base_first,
    derivatives,
    doubts,
    infer_coordinates,
    infer_parameters,
    moving,
)
from kineta.model.let import Let, closed, put_in
from kineta.model.mapped import mapped
from kineta.model.motion import Ball, Free, coordinate_names, speed_names
from kineta.model.program import Control, Program
from kineta.model.quasi import Quasi
from kineta.model.switch import Switch, changed
from kineta.model.units import Dimension
from kineta.threads import once
from kineta.values import number, word


@dataclass(frozen=True, slots=True)
class Parameter(Record):
    """A parameter in SI units.

    ``value`` is None where it must be given at run time. A ``fixed`` parameter is a number in the equations and in the
    code: it is folded and cannot be changed without a new derivation. ``dimension`` is that of the unit with which a text has
    declared it, None where there was none.
    """

    name: str
    value: float | None = None
    fixed: bool = False
    location: Location | None = field(default=None, compare=False, repr=False)
    dimension: Dimension | None = field(default=None, compare=False, repr=False)


def _value(value: object, _: str, parameter: Parameter) -> float | None:
    if value is None:
        return None
    try:
        found = number("", value)
    except ArgumentError:
        found = math.nan
    if not math.isfinite(found):
        raise ModelError(
            f"Parameter '{parameter.name}': expected a finite number, found {shown(value)}.", parameter.location
        )
    return found


TAKES["float | None"] = _value
TAKES["Dimension | None"] = lambda value, *_: value


@dataclass(frozen=True, slots=True)
class Output(Record):
    """A named expression to be recorded: of coordinates, speeds, parameters, ``t``, ``P.x`` ... ``P.vz`` of points and
    bodies, ``kinetic_energy``, ``potential_energy``, ``energy``.
    """

    name: str
    value: Expr
    location: Location | None = field(default=None, compare=False, repr=False)


def _initial(given: Mapping[str, Scalar] | Iterable[tuple[str, Scalar]]) -> tuple[tuple[str, Expr], ...]:
    return tuple((name, scalar(value)) for name, value in named(given, "initial values", "{'q1': 0.5}"))


@dataclass(frozen=True, init=False, repr=False)
class System:
    """Bodies in a tree with all that acts on them. Immutable; two systems are equal if they say the same.

    Parameters
    ----------
    name : of the model
    bodies : :class:`Body` records in any order
    gravity : acceleration of free fall, in ground axes [m/s^2]
    coordinates : order of the coordinates; a ``Ball`` or ``Free`` motion is named once and stands for its block. Not given:
        found from the motions (:func:`kineta.model.infer.infer_coordinates`)
    parameters : the parameters (records, or a mapping of names to values). Not given: every other symbol is a parameter
        without a value
    elements : forces, couples, springs, dampers, potentials
    points : named points
    initial : values of coordinates and speeds at the start, by name; the rest are zero (identity for quaternions)
    outputs : expressions to record
    lets : named expressions, for use in all others by their symbols (records, or a mapping of names to expressions)
    constraints : ideal constraints: expressions of order 0 and 1, loops, rolling
    quasi : quasi-velocities, which are then the speeds of the equations
    contacts : contacts, limits and dry friction, which act in runs
    switches : what changes at once in the course of a run
    programs : programs of motion, which controls hold in runs; control : the law by which they do

    Raises :class:`~kineta.errors.ModelError` for whatever :func:`kineta.model.check.check` finds wrong.
    """

    name: str
    bodies: tuple[Body, ...]
    gravity: Vector3
    coordinates: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    elements: tuple[Element, ...]
    points: tuple[Point, ...]
    initial: tuple[tuple[str, Expr], ...]
    outputs: tuple[Output, ...]
    lets: tuple[Let, ...]
    constraints: tuple[Condition, ...]
    quasi: tuple[Quasi, ...]
    contacts: tuple[Unilateral, ...]
    switches: tuple[Switch, ...]
    programs: tuple[Program, ...]
    control: Control

    def __init__(
        self,
        name: str,
        bodies: Iterable[Body],
        *,
        gravity: Sequence[Scalar] = (0, 0, 0),
        coordinates: Iterable[str | Expr] | None = None,
        parameters: Iterable[Parameter] | Mapping[str, float | None] | None = None,
        elements: Iterable[Element] = (),
        points: Iterable[Point] = (),
        initial: Mapping[str, Scalar] | Iterable[tuple[str, Scalar]] = (),
        outputs: Iterable[Output] | Mapping[str, Scalar] = (),
        lets: Iterable[Let] | Mapping[str, Scalar] = (),
        constraints: Iterable[Condition] = (),
        quasi: Iterable[Quasi] = (),
        contacts: Iterable[Unilateral] = (),
        switches: Iterable[Switch] = (),
        programs: Iterable[Program] = (),
        control: Control | None = None,
    ) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        put("name", word(name, "the name of a model"))
        put("bodies", records(bodies, Body, "bodies", "kn.body(name, motions, inertia)"))
        put("gravity", vector(gravity))
        put("elements", records(elements, Element, "elements", "kn.spring(name, k, q1)"))
        put("points", records(points, Point, "points", "kn.point(name, body, (0, 0, 1))"))
        put("initial", _initial(initial))
        if isinstance(outputs, Mapping):
            outputs = [Output(n, scalar(v)) for n, v in outputs.items()]
        put("constraints", records(constraints, Condition, "constraints", "kn.constraint(name, expression)"))
        put("quasi", records(quasi, Quasi, "quasi-velocities", "kn.quasi(name, expression)"))
        put("contacts", records(contacts, Unilateral, "contacts", "kn.limit(name, q1, lower=0)"))
        put("switches", records(switches, Switch, "switches", "kn.switch(name, expression, sets={})"))
        put("programs", records(programs, Program, "programs", "kn.program(name, expression)"))
        put("control", Control() if control is None else record(control, Control, "kn.control('kineta')"))
        put("outputs", records(outputs, Output, "outputs", "kn.Output(name, value)"))
        if isinstance(lets, Mapping):
            lets = [Let(n, scalar(v)) for n, v in lets.items()]
        put("lets", records(lets, Let, "named expressions", "kn.Let(name, value)"))
        if isinstance(parameters, Mapping):
            parameters = [Parameter(n, v) for n, v in parameters.items()]
        example = "kn.Parameter(name, value)"
        declared = None if parameters is None else records(parameters, Parameter, "parameters", example)
        names = None
        if coordinates is not None:
            names = [str(c) for c in records(coordinates, str | Expr, "names of coordinates", "'q1'")]
        self._take_names(names, declared)
        check(self)
        for doubt in doubts(self):
            warn(doubt)

    def _take_names(self, listed: Sequence[str] | None, declared: tuple[Parameter, ...] | None) -> None:
        """Coordinates and parameters as they are given, or as they are found; with the rule by which each name was taken."""
        plain = self.expanded  # as far as it is known by now

        def put(name: str, value: object) -> None:
            for system in (self, plain):
                object.__setattr__(system, name, value)

        taken: dict[str, str] = {} if declared is None else dict.fromkeys((p.name for p in declared), DECLARED)
        if listed is None:
            acting = (*plain.elements, *plain.constraints, *plain.contacts, *plain.switches, *plain.programs)
            named_in = [*(x for r in acting for x in r.expressions), *(o.value for o in plain.outputs)]
            given = [pair for s in plain.switches for pair in s.sets]
            given += [*plain.control.actuators, *plain.control.transversal]
            rates = [pair for pair in given if pair[0].endswith("'")]
            found = infer_coordinates(plain.bodies, taken.keys(), moving([*self.initial, *rates], named_in))
        else:
            found = dict.fromkeys(listed, LISTED)
        put("_inferred", listed is None)
        put("coordinates", tuple(found if listed is None else listed))
        put("_taken", taken | found)
        if declared is None:
            unknown = infer_parameters(plain, self.lets)
            declared = tuple(map(Parameter, unknown))
            put("_taken", found | unknown)
        elif listed is None:
            check_inferred(plain, declared)
        put("parameters", declared)

    @once
    def meanings(self) -> Mapping[str, Expr]:
        """What the names of named expressions stand for, with no such name left in it."""
        return closed(self.lets)

    @once
    def expanded(self) -> System:
        """The same system without named expressions: what they stand for is put in place of their names."""
        if not self.lets:
            return self
        plain = object.__new__(System)
        for f in fields(self):
            value = getattr(self, f.name, ())
            object.__setattr__(plain, f.name, () if f.name == "lets" else mapped(value, self._put_in))
        return plain

    def expand(self, *expressions: Expr) -> tuple[Expr, ...]:
        """*expressions* with what named expressions stand for in place of their names."""
        return tuple(self._put_in(x) for x in records(expressions, Expr, "expressions", "q1"))

    def _put_in(self, expression: Expr) -> Expr:
        return put_in(self.meanings, expression)

    def __repr__(self) -> str:
        return f"<System '{self.name}': {self.size}>"

    @property
    def size(self) -> str:
        """How many bodies, coordinates and speeds there are, in words."""
        counts = {"bodies": len(self.bodies), "coordinates": self.nq, "speeds": self.nv}
        counts |= {"programs": len(self.programs)} if self.programs else {}
        one = {"bodies": "1 body", "coordinates": "1 coordinate", "speeds": "1 speed", "programs": "1 program"}
        return ", ".join(one[name] if n == 1 else f"{n} {name}" for name, n in counts.items())

    def _repr_html_(self) -> str:
        """The system in the language ``.kin``, as notebooks show it."""
        from kineta.model.io.write import write

        return f"<pre>{escape(write(self))}</pre>"

    @property
    def taken(self) -> Mapping[str, str]:
        """The rule by which each coordinate and parameter was taken for one: as it was declared, or where it was found."""
        found: Mapping[str, str] = self.__dict__["_taken"]
        return found

    @property
    def inferred(self) -> bool:
        """Whether the coordinates were found in the motions: the description did not list them."""
        return bool(self.__dict__["_inferred"])

    @once
    def joints(self) -> dict[str, Ball | Free]:
        """The motions that bring coordinates of their own, by name."""
        return {m.name: m for b in self.bodies for m in b.motions if isinstance(m, Ball | Free)}

    @once
    def frames(self) -> dict[str, None]:
        """Names of the frames: the bodies, and the ground."""
        return dict.fromkeys([*(b.name for b in self.bodies), GROUND])

    @once
    def q_names(self) -> tuple[str, ...]:
        """Names of the coordinates q, in order."""
        return tuple(n for c in self.coordinates for n in self._block(c)[0])

    @once
    def v_names(self) -> tuple[str, ...]:
        """Names of the speeds v of the equations, in order: the quasi-velocities, or else the speeds of the motions."""
        return tuple(w.name for w in self.quasi) or self.base_speeds

    @once
    def base_speeds(self) -> tuple[str, ...]:
        """Names of the speeds of the motions, in order: ``q1'`` is the rate of the coordinate ``q1``."""
        return tuple(n for c in self.coordinates for n in self._block(c)[1])

    @once
    def speeds(self) -> tuple[str, ...]:
        """Names of all speeds that an expression may use: those of the motions, and the quasi-velocities."""
        return tuple(dict.fromkeys((*self.base_speeds, *self.v_names)))

    @property
    def unconstrained(self) -> System:
        """The motions alone: without constraints, quasi-velocities, programs, what acts, and speeds at the start."""
        start = [(name, value) for name, value in self.initial if name in self.q_names]
        nothing = ("constraints", "quasi", "elements", "outputs", "contacts", "switches", "programs")
        changes = {**dict.fromkeys(nothing, ()), "initial": tuple(start), "control": Control()}
        plain = object.__new__(System)  # not checked: coordinates may be those of inertia elements alone
        for name in (*(f.name for f in fields(self)), "_inferred", "_taken"):
            object.__setattr__(plain, name, changes.get(name, getattr(self, name)))
        return plain

    def _block(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        joint = self.joints.get(name)
        return ((name,), (f"{name}'",)) if joint is None else (coordinate_names(joint), speed_names(joint))

    @once
    def quaternions(self) -> dict[str, int]:
        """Where the quaternions begin in q, by the joints that bring them."""
        return {joint: self.q_names.index(f"{joint}.qw") for joint in self.joints}

    @once
    def tree(self) -> tuple[Body, ...]:
        """The bodies, every base before the bodies it carries."""
        return base_first(self.bodies)

    @once
    def weighed(self) -> dict[str, tuple[Body, ...]]:
        """The bodies whose inertia depends on a parameter, by its name."""
        found: dict[str, tuple[Body, ...]] = {}
        for body in self.expanded.bodies:
            own = body.inertia
            entries = (own.mass, *own.com, *own.moments, *own.products)
            for name in dict.fromkeys(n for e in entries for n in e.symbols()):
                found[name] = (*found.get(name, ()), body)
        return found

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.q_names)

    @property
    def nv(self) -> int:
        """Number of quasi-velocities."""
        return len(self.v_names)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters that may change from run to run, in order: the array ``p``."""
        return tuple(p.name for p in self.parameters if not p.fixed)

    def fixed(self, names: Iterable[str] | None = None) -> System:
        """A copy in which the parameters *names* are numbers of the equations; if not given, all that have a value, but for those
        that a switch sets.
        """
        chosen = {p.name for p in self.parameters if p.value is not None} - changed(self).keys()
        if names is not None:
            chosen = set(records(names, str, "names of parameters", "'m'"))
        for name in chosen - {p.name for p in self.parameters}:
            known = [p.name for p in self.parameters]
            raise ArgumentError(f"Model '{self.name}' has no parameter '{name}'.{did_you_mean(name, known)}")
        return self.replace(parameters=[replace(p, fixed=True) if p.name in chosen else p for p in self.parameters])

    def replace(self, **changes: object) -> System:
        """A copy with some of the constructor's arguments changed. Without programs it has no control either, and no derivatives
        of speeds at the start.
        """
        arguments = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in changes.keys() - arguments.keys():
            raise ArgumentError(f"A System has no '{name}' to replace.{did_you_mean(name, arguments)}")
        if (programs := entries(changes.get("programs"))) is not None:
            changes["programs"] = programs
        if programs == ():
            started = derivatives(self, dict(self.initial))
            arguments |= {"control": None, "initial": [(n, x) for n, x in self.initial if n not in started]}
        copy = System(**{**arguments, **changes})
        if "coordinates" not in changes:
            object.__setattr__(copy, "_inferred", self.inferred)
            object.__setattr__(copy, "_taken", {n: self.taken.get(n, rule) for n, rule in copy.taken.items()})
        return copy


def a_system(value: object) -> System:
    """*value*, if it is a system. Raises :class:`ArgumentError`."""
    if not isinstance(value, System):
        raise ArgumentError(f"Expected a System, found {shown(value)}; kineta.load reads a file.")
    return value
