"""``Description``: the records of a system, and the names that follow from them."""

from __future__ import annotations

from collections.abc import Mapping

from kineta.algebra.expression import Expr, symbol
from kineta.model.axis import directions
from kineta.model.body import GROUND, Body, Point, topological_order
from kineta.model.bounds import Bound
from kineta.model.checks.diagnostics import CheckError
from kineta.model.coercion import Vector3, records
from kineta.model.compound import primitive
from kineta.model.elements.coordinate import Length
from kineta.model.elements.force import Force
from kineta.model.joints.joint import Joint
from kineta.model.kind import Appearance, Condition, Element, KindRecord, Unilateral
from kineta.model.motion_program import Control, Program
from kineta.model.motion_variables import Quasi, State
from kineta.model.named_expressions import Let, Lets, Output, Outputs, expanded_values, substitute_names
from kineta.model.parameters import Initial, Parameter, Parameters
from kineta.model.switch import Switch
from kineta.records import dataclass
from kineta.threads import once


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Description:
    """The records of a system and the names that follow from them, as checks and name inference read them.

    :class:`kineta.model.system.System`, the only subclass, adds their construction and copies.
    """

    name: str
    bodies: tuple[Body, ...]
    gravity: Vector3
    coordinates: tuple[str, ...]
    parameters: Parameters
    elements: tuple[Element, ...]
    points: tuple[Point, ...]
    initial: Initial
    outputs: Outputs
    lets: Lets
    constraints: tuple[Condition, ...]
    quasi: tuple[Quasi, ...]
    states: tuple[State, ...]
    contacts: tuple[Unilateral, ...]
    switches: tuple[Switch, ...]
    programs: tuple[Program, ...]
    control: Control
    appearance: tuple[Appearance, ...]

    @once
    def meanings(self) -> Mapping[str, Expr]:
        """Values of the named expressions by name, free of other named expressions."""
        return expanded_values(self.lets)

    @property
    def expanded(self) -> Description:
        """The description without named expressions, their values in place of their names."""
        raise NotImplementedError

    def expand(self, *expressions: Expr) -> tuple[Expr, ...]:
        """*expressions* with named expressions replaced by their values."""
        return tuple(self._put_in(x) for x in records(expressions, Expr, "expressions", "q1"))

    def _put_in(self, expression: Expr) -> Expr:
        return substitute_names(self.meanings, expression)

    @property
    def taken(self) -> Mapping[str, str]:
        """Rule of name inference by which each name is a coordinate or parameter."""
        found: Mapping[str, str] = self.__dict__["_taken"]
        return found

    @property
    def inferred(self) -> bool:
        """Whether the coordinates were found in the motions: the description did not list them."""
        return bool(self.__dict__["_inferred"])

    @once
    def joints(self) -> dict[str, Joint]:
        """The motions that bring coordinates of their own, by name."""
        return {m.name: m for b in self.bodies for m in b.motions if isinstance(m, Joint)}

    @once
    def frames(self) -> dict[str, None]:
        """Names of the frames: the bodies, and the ground."""
        return dict.fromkeys([*(b.name for b in self.bodies), GROUND])

    @once
    def lines(self) -> dict[str, Element]:
        """The elements between two places, and forces on places, by name."""
        found = self.expanded.elements
        return {e.name: e for e in found if isinstance(e, Force) or isinstance(getattr(e, "coordinate", None), Length)}

    @once
    def q_names(self) -> tuple[str, ...]:
        """Names of the entries of q, in order: the coordinates, then the first-order states."""
        return (*(n for c in self.coordinates for n in self._block(c)[0]), *self.state_names)

    @once
    def state_names(self) -> tuple[str, ...]:
        """Names of the first-order states, in order."""
        return tuple(own.name for own in self.states)

    @once
    def recorded(self) -> tuple[Output, ...]:
        """What runs record beside coordinates, speeds and energies: the outputs, then all other rates of first-order states."""
        taken, rates = {own.name for own in self.outputs}, [f"{name}'" for name in self.state_names]
        return (*self.outputs, *(Output(name, symbol(name)) for name in rates if name not in taken))

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
        """Names of all speeds in expressions: the speeds of the motions, and the quasi-velocities."""
        return tuple(dict.fromkeys((*self.base_speeds, *self.v_names)))

    def _block(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        joint = self.joints.get(name)
        return ((name,), (f"{name}'",)) if joint is None else (joint.coordinates, joint.speeds)

    @once
    def quaternions(self) -> dict[str, int]:
        """Index in q of the first entry of each quaternion, by joint."""
        place = {name: k for k, name in enumerate(self.q_names)}
        return {n: place[joint.quaternion[0]] for n, joint in self.joints.items() if joint.quaternion}

    @once
    def tree(self) -> tuple[Body, ...]:
        """The bodies, every base before the bodies it carries."""
        return topological_order(self.bodies)

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

    @once
    def bounded(self) -> tuple[tuple[KindRecord, Bound], ...]:
        """The bounds of values that are made of parameters, each with the record that it belongs to."""
        given = {p.name for p in self.parameters}
        return tuple(
            (record, bound)
            for record in kinded(self.expanded)
            for bound in record.kind.bounds(record)
            if given.issuperset(names := bound.value.symbols()) and names
        )

    @once
    def directions(self) -> tuple[tuple[Body | KindRecord, Vector3], ...]:
        """The directions that depend on parameters, each with the record that it belongs to."""
        plain = self.expanded
        records: tuple[Body | KindRecord, ...] = (*plain.bodies, *plain.elements, *plain.constraints, *plain.contacts)
        return tuple((record, axis) for record in records for axis in directions(record))

    @once
    def switched(self) -> dict[str, Switch]:
        """The parameters that switches set, each with the first switch that does."""
        names, found = {p.name for p in self.parameters}, dict[str, Switch]()
        for own in self.switches:
            for name, _ in own.sets:
                if name in names:
                    found.setdefault(name, own)
        return found

    @once
    def impacts(self) -> dict[str, tuple[str, ...]]:
        """The places and ends that strike, by the names of contacts and limits, and of each of these; none of dry friction."""
        found = {record.name: record.impacts(self) for record in primitive(self.contacts)}
        return {name: (name,) for own in found.values() for name in own} | found

    @once
    def nq(self) -> int:
        """Number of entries of q: coordinates and first-order states."""
        return len(self.q_names)

    @property
    def nz(self) -> int:
        """Number of first-order states."""
        return len(self.states)

    @once
    def nv(self) -> int:
        """Number of quasi-velocities."""
        return len(self.v_names)

    @once
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the parameters that may change from run to run, in order: the array ``p``."""
        return tuple(p.name for p in self.parameters if not p.fixed)


def word(record: Body | Point | KindRecord | Output | Let | Quasi | State | Parameter) -> str:
    """Word of the language for *record*."""
    if isinstance(record, KindRecord) and not isinstance(record, Switch):  # whose word, when, is no noun
        return record.kind.word.capitalize()
    return type(record).__name__


def kinded(system: Description) -> tuple[KindRecord, ...]:
    """The records that have a kind."""
    return (*system.elements, *system.constraints, *system.contacts, *system.switches, *system.programs)


def of_model(system: Description, part: str, message: str) -> CheckError:
    """Error on an item of the model as a whole."""
    return CheckError("Model", system.name, None, message, part=part)


def of_control(system: Description, message: str, *, symbol: str) -> CheckError:
    """Error on the law of control."""
    return CheckError("Model", system.name, system.control.location, f"control: {message}", symbol=symbol)
