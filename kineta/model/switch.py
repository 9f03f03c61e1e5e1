"""Switches: discrete transitions at the zero crossing of an expression, or at an impact."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from kineta.algebra import infix
from kineta.algebra.expression import Expr, Scalar, expr
from kineta.errors import Location, ModelError, did_you_mean
from kineta.model import units
from kineta.model.checks import contact_checks
from kineta.model.contacts import parameter_condition
from kineta.model.kind import Kind, KindRecord, Production, Scope
from kineta.model.reserved_symbols import TIME
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token

_SILENT = expr(-1)
#: What is done, in the words of the grammar.
_ACTIONS = '("and" guard)* ":" action ("," action)*'


@dataclass(frozen=True, slots=True)
class Switch(KindRecord):
    """Discrete transition at an upward zero crossing of ``value`` in a run, or after an impact of what ``strikes``, if all
    ``guards`` hold: parameters with required values.

    ``strikes`` is a contact or a limit, or one place or end of it: ``box.A``, ``stop.upper``; there is no ``value`` then.

    ``sets`` are new values of parameters, coordinates and speeds by name, expressions of the state and the parameters before.
    A parameter that a switch sets changes in the course of a run. ``stop``: the run ends there.
    """

    name: str
    value: Expr | None = None
    guards: tuple[tuple[str, Expr], ...] = ()
    sets: tuple[tuple[str, Expr], ...] = ()
    stop: bool = False
    location: Location | None = field(default=None, compare=False, repr=False)
    strikes: str = ""

    @property
    def watched(self) -> Expr:
        """The expression whose rise through zero sets it off: -1, which never rises, where it hears impacts."""
        return _SILENT if self.value is None else self.value


def switch(
    name: str,
    value: Expr | None = None,
    sets: Mapping[str, Scalar] | None = None,
    *,
    guards: Mapping[str, Scalar] | None = None,
    stop: bool = False,
    strikes: str = "",
) -> Switch:
    """A :class:`Switch`: when *value* rises through zero in a run, or when a contact or limit *strikes*, names get new values at
    once, or the run ends.

    strikes : in place of *value*, the name of a contact or limit, or of one place or end of it: ``box.A``, ``stop.upper``
    sets : new values of parameters, coordinates and speeds by name, expressions of the state and the parameters before
    guards : values that parameters must have then, by name: numbers or expressions of parameters
    stop : end the run there
    """
    given = (name, value, {} if guards is None else guards, {} if sets is None else sets, stop)
    return Switch(*given, strikes=strikes)  # type: ignore[arg-type]  # a record takes what it is given


def _read(source: Source, name: Token, left: Node, relation: Token, right: Node, *rest: Node) -> Switch:
    rises = source.rises(relation)
    known = source.quantity(left)
    expected = units.TIME if str(known.value) == TIME else None if known.plain else known.dimension
    bound = source.expression(right, expected, f"the right side of switch '{name}'")
    value = known.value - bound if rises else bound - known.value
    return Switch(str(name), value, *_actions(source, rest), source.location(name))


def _read_impact(source: Source, name: Token, contact: Node, *rest: Node) -> Switch:
    if contact.data != "name":
        text = f"expected the name of a contact or a limit before 'strikes', found '{source.expression(contact)}'."
        raise ModelError(text, source.location(contact))
    strikes = source.noted(contact.children[0])
    return Switch(str(name), None, *_actions(source, rest), source.location(name), strikes)


def _actions(
    source: Source, nodes: Iterable[Node]
) -> tuple[tuple[tuple[str, Expr], ...], tuple[tuple[str, Expr], ...], bool]:
    """Guards, new values, and whether the run ends, from the nodes behind what a switch waits for."""
    actions, guards = parameter_condition.split(nodes)
    sets, stop = [], False
    for node in actions:
        own, given = node.children
        if given is not None:
            found = source.expression(given, source.dimension(own), f"the new value of '{own}'")
            sets.append((source.noted(own), found))
        elif own == "stop":
            stop = True
        else:
            raise ModelError(f"expected a new value, as in {own} = 0, or stop, found '{own}'.", source.location(own))
    return parameter_condition.read(source, guards, "guard"), tuple(sets), stop


def _written(switch: Switch) -> str:
    guards = parameter_condition.clause(switch.guards, "and")
    actions = [f"{name} = {value}" for name, value in switch.sets] + ["stop"] * switch.stop
    occasion = (
        f"{switch.strikes} strikes"
        if switch.value is None
        else infix.inequality_text(switch.value.graph, switch.value.ref)
    )
    return f": {occasion}{guards} : {', '.join(actions)}"


def _fault(system: Scope, switch: Switch) -> tuple[str, str] | None:
    if not switch.sets and not switch.stop:
        return "expected something to do: new values, or stop, found nothing.", ""
    if (switch.value is None) != bool(switch.strikes):
        found = "both" if switch.strikes else "neither"
        return (
            f"expected an expression that rises through zero, or a contact that strikes, found {found}.",
            switch.strikes,
        )
    if switch.strikes and (text := _inaudible(system, switch.strikes)):
        return text, switch.strikes
    resting = {p.name for p in system.parameters} - system.switched.keys()
    if switch.value is not None and contact_checks.is_stationary(system, switch.value, resting):
        return f"nothing changes '{switch.value}' in a run; expected coordinates, speeds or the time in it.", ""
    seen: set[str] = set()
    for name, _ in switch.sets:
        text = f"'{name}' is set twice." if name in seen else _not_settable(system, switch, name)
        if text:
            return text, name
        seen.add(name)
    for name, _ in switch.guards:
        if name not in system.switched:
            return f"expected a guard on a parameter that a switch sets, found '{name}', which none sets.", name
    return None


def _inaudible(system: Scope, name: str) -> str:
    """Sentence on a *name* that is none of what strikes; ``''`` for a valid name."""
    known = system.impacts
    if name in known and not known[name]:
        return f"'{name}' is dry friction, which never strikes; expected a contact or a limit."
    has = f" It has {', '.join(n for n, own in known.items() if own)}." if any(known.values()) else " It has none."
    return "" if name in known else f"the model has no contact or limit '{name}'.{did_you_mean(name, known) or has}"


def _not_settable(system: Scope, switch: Switch, name: str) -> str:
    """Sentence on a *name* that cannot be set; ``''`` for a valid name."""
    parameters = {p.name: p for p in system.parameters}
    if name in parameters:
        constant = parameters[name].fixed
        return f"'{name}' is a constant, folded into the equations; a parameter may be set." if constant else ""
    whole = next((m.quaternion for m in system.joints.values() if name in m.quaternion), ())
    if whole:
        missing = set(whole) - {n for n, _ in switch.sets}
        return f"a quaternion is set as a whole: {', '.join(whole)}." if missing else ""
    known = (*system.q_names, *system.v_names)
    if name in known:
        return ""
    if name in system.base_speeds:
        return f"expected one of the speeds {', '.join(system.v_names)}, which are quasi-velocities, found '{name}'."
    return f"expected a parameter, a coordinate, a speed or a state, found '{name}'.{did_you_mean(name, (*known, *parameters))}"


KIND = Switch.kind = Kind(
    Switch,
    "when",
    {
        "when": Production(f'":" sum RELATION sum {_ACTIONS}', _read),
        "impact": Production(f'":" sum "strikes" {_ACTIONS}', _read_impact),
    },
    _written,
    constants=lambda switch: tuple(x for _, x in switch.guards),
    fault=_fault,
)
