"""Components of a system: bodies whose motions do not depend on each other, each component a system of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from kineta.algebra.expression import Expr, symbol
from kineta.model.body import GROUND, Inertia
from kineta.model.joints.joint import Joint
from kineta.model.named_expressions import Lets, Output, Outputs
from kineta.model.parameters import Initial, Parameters
from kineta.model.reserved_symbols import ENERGIES, MULTIPLIER, POINT_COMPONENTS, TIME, forced
from kineta.model.switch import Switch
from kineta.model.system import System
from kineta.model.vectors import part
from kineta.records import field_names, is_record
from kineta.threads import once


def names_in(value: Any) -> Iterator[str]:
    """All names in a record, or in a collection of them, but its own: texts, and symbols of expressions."""
    if isinstance(value, Expr):
        yield from value.symbols()
    elif isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list | set | frozenset):
        for entry in value:
            yield from names_in(entry)
    elif is_record(value):
        for name in field_names(type(value), "compare"):
            if name != "name" or isinstance(value, Joint):
                yield from names_in(getattr(value, name))
    elif isinstance(value, Mapping):
        yield from names_in(tuple(value.items()))


def _named(switch: Switch) -> Iterator[str]:
    """All names in a switch, with that of the force of what strikes."""
    yield from names_in(switch)
    yield f"{MULTIPLIER}{switch.strikes}"


class Components:
    """The components of *system*, in the order of their coordinates: ``systems``, the system alone where it is in one piece.

    Bodies belong together where one carries the other, and where an element, a constraint, a contact, or a motion depends on
    both; so do quantities that the caller names in one of the *coupled* groups, and what a switch watches with all that depends
    on what it sets. Time, other parameters, and bodies that no coordinate moves couple nothing: components share them, and the
    inertia of such bodies belongs to the first.

    Outputs belong to the component of which they tell. Those that tell of several, ``over``, are in none; each component has,
    named as the symbol, what it contributes to them beside its states.
    """

    def __init__(self, system: System, coupled: Iterable[Iterable[str]] = ()) -> None:
        self._whole, self._system = system, system.expanded
        self._known: dict[int, tuple[str, ...]] = {}
        self._above = {name: name for name in (*system.coordinates, *system.switched, *system.state_names)}
        # The coordinate, or parameter of a switch, that owns a quantity or frame; None where none changes it.
        self._owner: dict[str, str | None] = dict.fromkeys((GROUND, TIME, *(p.name for p in system.parameters)))
        self._owner |= {name: name for name in (*system.switched, *system.state_names)}
        for c in system.coordinates:
            joint = system.joints.get(c)
            block = (c, f"{c}'") if joint is None else (c, *joint.coordinates, *joint.speeds)
            self._owner |= dict.fromkeys(block, c)
        self._couple(self._system)
        for group in coupled:
            self._join(group)
        # One that nothing but the time sets or drives, or that nothing but outputs knows.
        for name in (*system.switched, *system.state_names):
            if self._root(name) not in map(self._root, system.coordinates):
                self._join((name, *system.coordinates[:1]))
        self._roots = list(dict.fromkeys(map(self._root, system.coordinates)))

    def _names(self, record: Any) -> tuple[str, ...]:
        """All names in a *record* of the system, looked for once."""
        found = self._known.get(id(record))
        if found is None:
            found = self._known[id(record)] = tuple(_named(record) if isinstance(record, Switch) else names_in(record))
        return found

    def _couple(self, system: System) -> None:
        """Couple what the records of *system* couple."""
        for body in system.tree:
            self._own(body.name, self._names(body))
        for point in system.points:
            self._own(point.name, [point.body, *names_in(point.position)])
        for place in (*(b.name for b in system.bodies), *(p.name for p in system.points)):
            self._owner |= dict.fromkeys((f"{place}.{c}" for c in POINT_COMPONENTS), self._owner[place])
        for quasi in system.quasi:
            self._owner[quasi.name] = self._join(names_in(quasi.value))
        for record in (*system.elements, *system.constraints, *system.contacts):
            self._owner[f"{MULTIPLIER}{record.name}"] = self._join(self._names(record))
        for state in system.states:
            self._join([state.name, *names_in(state.rate)])
        for switch in system.switches:
            self._join(self._names(switch))
        if not system.switched.keys().isdisjoint(names_in(system.gravity)):
            self._join([*names_in(system.gravity), *system.coordinates])
        for output in system.outputs:  # parts of vectors in the axes of another body
            self._owners(output.value.symbols())

    def _own(self, place: str, names: Iterable[str]) -> None:
        """Note the owner of a *place* that depends on *names*, coupled with the coordinate or parameter of the same name."""
        self._owner[place] = self._join([*names, *([place] if place in self._owner else [])])

    def _root(self, coordinate: str) -> str:
        while (above := self._above[coordinate]) != coordinate:
            self._above[coordinate] = coordinate = self._above[above]
        return coordinate

    def _owners(self, names: Iterable[str]) -> list[str]:
        """The coordinates, one of a component, that own quantities or frames of these *names*."""
        return list(dict.fromkeys(self._root(c) for name in names if (c := self._owned(name)) is not None))

    def _owned(self, name: str) -> str | None:
        """The coordinate that owns the quantity or frame *name*; None for none, and for words that are no names."""
        if name in self._owner:
            return self._owner[name]
        if (vector := part(name)) is not None:
            return self._join([vector.vector.of, vector.vector.frame])
        if speed := forced(name):
            return self._owned(speed)
        bare = name.rpartition(".")[0] if name.startswith(MULTIPLIER) else name[:-1] if name.endswith("'") else ""
        return self._owned(bare) if bare else None

    def _join(self, names: Iterable[str]) -> str | None:
        """Couple the quantities and frames *names*; the coordinate that owns them all, None for none."""
        names = tuple(names)
        own = self._owners(self._system.coordinates if not {*ENERGIES}.isdisjoint(names) else names)
        for other in own[1:]:
            self._above[other] = own[0]
        return own[0] if own else None

    def places(self, names: Iterable[str]) -> list[int]:
        """The numbers of the components that have quantities of these *names*: energies are of all, the time is of the first."""
        names = tuple(names)
        if not {*ENERGIES}.isdisjoint(names):
            return list(range(len(self._roots)))
        return [self._roots.index(c) for c in self._owners(names)] or [0]

    @once
    def over(self) -> tuple[Output, ...]:
        """The outputs over several components."""
        return tuple(o for o in self._system.outputs if len(self.places(o.value.symbols())) > 1)

    @once
    def systems(self) -> tuple[System, ...]:
        """Each component as a system of its own."""
        return (self._whole,) if len(self._roots) < 2 else tuple(self._parts())

    def _parts(self) -> Iterator[System]:
        system, always = self._system, {*names_in(self._system.gravity)}
        every: dict[str, list[tuple[Any, list[str]]]] = {
            name: [(r, self._owners(self._names(r))) for r in getattr(system, name)]
            for name in ("elements", "points", "constraints", "contacts", "quasi")
        }
        every["states"] = [(s, self._owners([s.name])) for s in system.states]
        every["bodies"] = [(b, self._owners([b.name])) for b in system.bodies]
        every["switches"] = [(s, self._owners(self._names(s))) for s in system.switches]
        every["coordinates"] = [(c, self._owners([c])) for c in system.coordinates]
        every["initial"] = [(pair, self._owners(pair[:1])) for pair in system.initial]
        told = [o for o in system.outputs if o not in self.over] + self._contributions()
        every["outputs"] = [(o, self._owners(o.value.symbols())) for o in told]
        of: dict[str, dict[str, list[Any]]] = {root: {name: [] for name in every} for root in self._roots}
        first = self._roots[0]
        for name, records in every.items():
            for record, owners in records:
                for root in owners or (self._roots if name in ("bodies", "points") else [first]):
                    massless = name == "bodies" and not owners and root != first
                    of[root][name].append(replace(record, inertia=Inertia()) if massless else record)
        for kept in of.values():
            own: dict[str, Any] = {name: tuple(found) for name, found in kept.items()}
            named = always.union(*(self._known.get(id(r)) or names_in(r) for records in own.values() for r in records))
            own |= {"initial": Initial(own["initial"]), "outputs": Outputs(own["outputs"])}
            used = Parameters(p for p in system.parameters if p.name in named)
            yield system.unchecked(**own, parameters=used, lets=Lets(), appearance=())

    def _contributions(self) -> list[Output]:
        """What components contribute, beside their states, to outputs over several."""
        system = self._system
        states = {*system.q_names, *system.v_names, *system.parameter_names, TIME, *ENERGIES}
        names = dict.fromkeys(name for o in self.over for name in o.value.symbols() if name not in states)
        return [Output(name, symbol(name)) for name in names]
