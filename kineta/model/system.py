"""``System``: a mechanical system as pure data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from kineta.algebra.expression import Expr, Scalar
from kineta.calls import public
from kineta.drawing import pictured, show
from kineta.errors import ArgumentError, ExpressionError, ModelError, did_you_mean, nearest_or_listed, shown, warn
from kineta.model.body import GROUND, Body, Point
from kineta.model.checks.check import check, check_inferred
from kineta.model.checks.diagnostics import CheckError
from kineta.model.coercion import entries, named_pairs, record, records, scalar, vector
from kineta.model.compound import Compound, primitive
from kineta.model.description import Description, kinded
from kineta.model.elements.compliant_contact import CompliantContact
from kineta.model.elements.inertia import InertiaElement
from kineta.model.elements.smooth_friction import SmoothFriction
from kineta.model.joints.joint import Joint
from kineta.model.joints.motion import Motion
from kineta.model.kind import Appearance, Condition, Element, Unilateral
from kineta.model.motion_program import Control, Program
from kineta.model.motion_variables import Quasi, State
from kineta.model.name_inference import (
    LISTED,
    ambiguities,
    infer_coordinates,
    infer_parameters,
    moving_names,
    speed_derivatives,
)
from kineta.model.named_expressions import Let, Lets, Output, Outputs
from kineta.model.parameters import DECLARED, Initial, Parameter, Parameters, valid_defaults
from kineta.model.switch import Switch
from kineta.model.transformations.mapping import map_expressions
from kineta.model.transformations.submodel import Submodel, submodel
from kineta.records import dataclass
from kineta.threads import once
from kineta.values import word


def _initial(given: Mapping[str, Scalar] | Iterable[tuple[str, Scalar]]) -> Initial:
    if isinstance(given, Initial):
        return given
    return Initial((name, scalar(value)) for name, value in named_pairs(given, "initial values", "{'q1': 0.5}"))


@public
@dataclass(frozen=True, init=False, repr=False)
class System(Description):
    """Bodies in a tree with forces, constraints and contacts. Immutable; systems of equal records are equal.

    Parameters
    ----------
    name : of the model
    bodies : :class:`Body` records in any order
    gravity : acceleration of free fall, in ground axes [m/s^2]
    coordinates : order of the coordinates; a ``Ball`` or ``Free`` motion is named once and stands for its block. Not given:
        found from the motions (:func:`kineta.model.name_inference.infer_coordinates`)
    parameters : the parameters (records, or a mapping of names to values). Not given: every other symbol is a parameter
        without a value
    elements : forces, couples, springs, dampers, smooth friction, potentials
    points : named points
    initial : values of coordinates and speeds at the start, by name; the rest are zero (identity for quaternions)
    outputs : expressions to record
    lets : named expressions, for use in all others by their symbols (records, or a mapping of names to expressions)
    constraints : ideal constraints: expressions of order 0 and 1, loops, rolling
    quasi : quasi-velocities, which are then the speeds of the equations
    states : first-order states, which follow the coordinates in q
    contacts : contacts, limits and dry friction, which act in runs; smooth friction and compliant
            contacts among them become elements
    switches : discrete transitions in runs
    programs : programs of motion, kept by controls in runs; control : the law of control
    appearance : shapes of bodies, paths and forces that pictures show, and the direction of sight; no equation knows them
    use : models within this one, as :meth:`placed` makes them: their records follow its own. Parameters are then to be listed

    Raises :class:`~kineta.errors.ModelError` for errors found by :func:`kineta.model.checks.check.check`.
    """

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
        states: Iterable[State] = (),
        contacts: Iterable[Unilateral] = (),
        switches: Iterable[Switch] = (),
        programs: Iterable[Program] = (),
        control: Control | None = None,
        appearance: Iterable[Appearance] = (),
        use: Iterable[Submodel] = (),
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
        put("states", records(states, State, "states", "kn.state(name, rate)"))
        acting = records(
            contacts, Unilateral | SmoothFriction | CompliantContact, "contacts", "kn.limit(name, q1, lower=0)"
        )
        put("contacts", tuple(c for c in acting if isinstance(c, Unilateral)))
        put("elements", (*self.elements, *(c for c in acting if isinstance(c, Element))))
        put("switches", records(switches, Switch, "switches", "kn.switch(name, expression, sets={})"))
        put("programs", records(programs, Program, "programs", "kn.program(name, expression)"))
        put("appearance", records(appearance, Appearance, "shapes and the like", "kn.shape(body, 'sphere', 0.1)"))
        if control is not None:
            record(control, Control, "kn.control('kineta')")
        put("outputs", Outputs(records(outputs, Output, "outputs", "kn.Output(name, value)")))
        if isinstance(lets, Mapping):
            lets = [Let(n, scalar(v)) for n, v in lets.items()]
        put("lets", Lets(records(lets, Let, "named expressions", "kn.Let(name, value)")))
        if isinstance(parameters, Mapping):
            parameters = [Parameter(n, v) for n, v in parameters.items()]
        example = "kn.Parameter(name, value)"
        declared = None if parameters is None else records(parameters, Parameter, "parameters", example)
        names = None
        if coordinates is not None:
            names = [str(c) for c in records(coordinates, str | Expr, "names of coordinates", "'q1'")]
        used = records(use, Submodel, "models", "leg.placed('left')")
        if used:
            declared = self._join(used, declared or ())
        controls = [c for c in (control, *(own.control() for own in used)) if c is not None]
        if len(controls) > 1 and control is None:
            raise ModelError(
                f"Model '{self.name}': several models in it have programs; give the law of their control here."
            )
        put("control", controls[0] if controls else Control())
        self._take_names(names, declared, tuple(c for own in used for c in own.coordinates))
        check(self)
        for doubt in ambiguities(self):
            warn(doubt)

    def __hash__(self) -> int:
        # Of names alone: a system is looked up at every call of a task, and equal ones have equal names.
        return hash((self.name, self.coordinates))

    def _join(self, used: Sequence[Submodel], declared: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
        """Take the records of the models *used* behind its own, and return all parameters."""
        bare = (*self.bodies, *self.points, *kinded(self), *declared, *self.lets, *self.states)
        taken = {r.name for r in bare} | {m.name for b in self.bodies for m in b.motions if isinstance(m, Joint)}
        for own in used:
            if own.prefix in taken:
                text = f"Model '{self.name}': the name '{own.prefix}' of a model in it is taken. Choose another."
                raise ModelError(text, own.location)
            taken.add(own.prefix)
            parts = own.parts(p.name for p in declared)
            object.__setattr__(self, "initial", self.initial.followed(parts.pop("initial")))
            parts["outputs"] = tuple(o for o in parts["outputs"] if o.name not in {own.name for own in self.outputs})
            declared = (*declared, *parts.pop("parameters"))
            for name, more in parts.items():
                first = getattr(self, name)
                object.__setattr__(self, name, type(first)((*first, *more)))
        heavy = next((own for own in used if any(g.value != 0 for g in own.system.gravity)), None)
        if heavy is not None and all(g.value == 0 for g in self.gravity):
            warn(
                f"Model '{self.name}': the gravity of '{heavy.system.name}' is left out, and there is none here. Give it, as in "
                "gravity 9.81 m/s^2;"
            )
        return declared

    def _take_names(
        self, listed: Sequence[str] | None, declared: tuple[Parameter, ...] | None, used: tuple[str, ...]
    ) -> None:
        """Set coordinates and parameters, given or inferred, and the rule of each name; coordinates *used* from models come
        last.
        """
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
            found = infer_coordinates(plain.bodies, taken.keys(), moving_names([*self.initial, *rates], named_in))
            own = [c for c in found if c not in used]
        else:
            found = dict.fromkeys(listed, LISTED)
            own = list(listed)
        found |= dict.fromkeys(used, LISTED)
        put("_inferred", listed is None)
        put("coordinates", (*own, *(c for c in used if c not in own)))
        put("_taken", taken | found)
        if declared is None:
            unknown = infer_parameters(plain, self.lets)
            declared = tuple(map(Parameter, unknown))
            put("_taken", found | unknown)
        elif listed is None:
            check_inferred(plain, declared)
        put("parameters", Parameters(valid_defaults(declared)))

    expand = Description.expand  # here, so that wrong arguments raise a sentence

    @once
    def expanded(self) -> System:
        """The same system without named expressions and compounds, which are replaced by the values and parts they stand for."""
        if not self.lets and not any(
            isinstance(x, Compound) for x in (*self.elements, *self.constraints, *self.contacts)
        ):
            return self
        plain = object.__new__(System)
        for name in self._parts:
            value = getattr(self, name, ())
            value = () if name == "lets" else self._without_names(name, value) if self.lets else value
            object.__setattr__(
                plain, name, primitive(value) if name in ("elements", "constraints", "contacts") else value
            )
        return plain

    def _without_names(self, part: str, value: Any) -> Any:
        """The *value* of a *part* of the system without named expressions."""
        if part == "initial":
            found = tuple((n, self._without_names(f"initial {n}", x)) for n, x in value)
            return value if found == value else found
        try:
            return map_expressions(value, self._put_in)
        except ExpressionError as error:
            place = getattr(value, "location", None)  # of the law of control
            raise CheckError("Model", self.name, place, f"{part}: {error}", part=part) from None

    @property
    def _parts(self) -> tuple[str, ...]:
        """Attributes that copies share: the fields, and the rules of name inference."""
        return (*(f.name for f in fields(self)), "_inferred", "_taken")

    def __repr__(self) -> str:
        return f"<System '{self.name}': {self.size}>"

    @property
    def size(self) -> str:
        """How many bodies, coordinates and speeds there are, in words."""
        counts = {"bodies": len(self.bodies), "coordinates": self.nq - self.nz, "speeds": self.nv}
        counts |= {"states": self.nz} if self.states else {}
        counts |= {"programs": len(self.programs)} if self.programs else {}
        one = {"bodies": "1 body", "coordinates": "1 coordinate", "speeds": "1 speed", "programs": "1 program"}
        one |= {"states": "1 state"}
        return ", ".join(one[name] if n == 1 else f"{n} {name}" for name, n in counts.items())

    def picture(self, q: Any = None, *, p: Any = None, t: float = 0.0, towards: Any = None, ax: Any = None) -> Any:
        """Draw the machine assembled near *q*, by default near its initial position, at the time *t* [s]; returns the Matplotlib
        axes.

        *q*, *p* as for :func:`~kineta.simulation.simulate.simulate`, of one case; *towards* is the direction, three numbers, from
        which it is looked at.
        """
        return show(self, q, p=p, t=t, towards=towards, ax=ax)

    def show(
        self, path: str | Path | None = None, q: Any = None, *, p: Any = None, t: float = 0.0, to: float | None = None
    ) -> Path:
        """Write a page of HTML in which the machine moves by its own equations from *q* for *to* seconds, ten or as long as its
        bodies do not fly apart unless given, by default one that is opened in the browser; or the moving machine to a file
        ``.glb``. Return the path. *q*, *p*, *t* are as for :meth:`picture`.
        """
        made: Path = import_module("kineta.tasks.posture").posture(self, q, p=p, t=t, to=to).show(path)
        return made

    def _repr_html_(self) -> str:
        """The system in the language ``.kin`` beside its machine, as notebooks show it."""
        from html import escape

        return pictured(f"<pre>{escape(import_module('kineta.model.io').dumps(self))}</pre>", self)

    @property
    def unconstrained(self) -> System:
        """The motions alone: the :attr:`passive` system without inertia elements, constraints, and quasi-velocities."""
        return self.passive.unchecked(elements=(), constraints=(), quasi=())

    @property
    def passive(self) -> System:
        """The constrained motions and all inertia, without forces, programs and initial speeds."""
        inertia = tuple(e for e in self.elements if isinstance(e, InertiaElement))
        start = tuple((name, value) for name, value in self.initial if name in self.q_names)
        nothing = dict.fromkeys(("outputs", "contacts", "switches", "programs"), ())
        return self.unchecked(elements=inertia, initial=start, control=Control(), **nothing)

    def unchecked(self, **changes: object) -> System:
        """Unchecked copy with fewer records, which may leave coordinates unused."""
        bare = object.__new__(System)
        for name in self._parts:
            object.__setattr__(bare, name, changes.get(name, getattr(self, name)))
        return bare

    def placed(
        self,
        prefix: str,
        *,
        on: str | Body = GROUND,
        at: Sequence[Motion] = (),
        p: Mapping[str, Scalar] | None = None,
    ) -> Submodel:
        """The system as a part of another, for its argument ``use``: every name behind the *prefix* and a dot, ``left.Foot``.

        on : the body of the other system on which it stands, or its name; at : motions from there to its own ground, the frame
            ``left.ground``. Without both its ground is the ground
        p : values of its parameters by name: numbers, or expressions of the other system

        Its gravity, direction of sight and outputs of energies are left out.
        """
        return submodel(self, prefix, on=on, at=at, p=p)

    def fixed(self, names: Iterable[str] | None = None) -> System:
        """A copy in which the parameters *names* are numbers of the equations; by default all parameters with a value that no
        switch sets.
        """
        chosen = {p.name for p in self.parameters if p.value is not None} - self.switched.keys()
        if names is not None:
            chosen = set(records(names, str, "names of parameters", "'m'"))
        for name in chosen - {p.name for p in self.parameters}:
            known = [p.name for p in self.parameters]
            raise ArgumentError(f"Model '{self.name}' has no parameter '{name}'.{nearest_or_listed(name, known)}")
        return self.replace(parameters=[replace(p, fixed=True) if p.name in chosen else p for p in self.parameters])

    def replace(self, **changes: object) -> System:
        """A copy with other values of some arguments of the constructor. Without programs the copy has no control and no initial
        derivatives of speeds.
        """
        arguments = {f.name: getattr(self, f.name) for f in fields(self)}
        for name in changes.keys() - arguments.keys():
            raise ArgumentError(f"A System has no '{name}' to replace.{did_you_mean(name, arguments)}")
        if (programs := entries(changes.get("programs"))) is not None:
            changes["programs"] = programs
        if programs == ():
            started = speed_derivatives(self, dict(self.initial))
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
