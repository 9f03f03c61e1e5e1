"""Equivalent models: bodies renumbered, motions respelled, another ground frame, numbers as parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import partial
from itertools import count, islice
from typing import Any

from kineta import tolerances
from kineta.algebra.expression import DESCRIPTIONS, LOCK, Expr, expr, symbol
from kineta.algebra.functions import cos, sin
from kineta.errors import ModelError
from kineta.expr.graph import Ref
from kineta.model.axis import X, Y, Z
from kineta.model.body import GROUND, Body, Point, Station
from kineta.model.coercion import Vector3, vector
from kineta.model.description import kinded
from kineta.model.elements.compliant_contact import CompliantContact
from kineta.model.elements.couple import Couple
from kineta.model.elements.force import Force
from kineta.model.joints.motion import Motion
from kineta.model.joints.rotation import Rotation, Rx, Rz
from kineta.model.joints.shift import Sx, Sy, Sz
from kineta.model.name_inference import vector_parts
from kineta.model.named_expressions import substitute_names
from kineta.model.parameters import Parameter, default_value
from kineta.model.system import System
from kineta.model.transformations.mapping import map_expressions
from kineta.model.vectors import Part
from kineta.passes.substitute import substitute

#: Fields of a system that hold expressions.
_DESCRIBED = (
    *("bodies", "gravity", "elements", "points", "initial", "outputs", "lets", "constraints", "quasi", "states"),
    *("contacts", "switches", "programs", "control"),
)


def with_values(system: System, values: Mapping[str, float]) -> System:
    """*system* with other *values* of parameters; values that are expressions of other parameters are computed anew."""
    known: dict[str, float] = {}
    parameters = []
    for own in system.parameters:
        value = values.get(own.name, own.value)
        if own.counts and value != own.value:
            text = f"Constant '{own.name}': repetitions of the text name it; give its value where the file is read: "
            raise ModelError(f"{text}kn.load(..., constants={{'{own.name}': {value:g}}}).", own.location)
        if own.default is not None and own.name not in values:
            value = default_value(own.default, known)
            if value is None:
                given = ", ".join(f"{n} = {known[n]:g}" for n in own.default.symbols())
                raise ModelError(
                    f"Parameter '{own.name}': '{own.default}' is no finite number for {given}.", own.location
                )
        parameters.append(replace(own, value=value))
        known |= {} if value is None else {own.name: value}
    return system.replace(parameters=parameters)


def renumbered(system: System) -> System:
    """*system* with its bodies, elements and points in the opposite order; coordinates keep theirs."""
    changes = {name: getattr(system, name)[::-1] for name in ("bodies", "elements", "points")}
    return system.replace(coordinates=system.coordinates, **changes)


def respelled(system: System) -> System:
    """*system* with constant motions there and back before every body's own."""
    there: list[Motion] = [Rz(0.7), Sx(0.3), Rx(-0.4)]
    back: list[Motion] = [Rx(0.4), Sx(-0.3), Rz(-0.7)]
    bodies = [replace(b, motions=(*there, *back, *b.motions)) for b in system.bodies]
    return system.replace(coordinates=system.coordinates, bodies=bodies)


#: Another ground frame: its origin, and the angles by which its axes are turned, about z and then about x.
ORIGIN, TURNS = (0.3, -0.2, 0.4), (0.7, -0.4)


def reframed(system: System) -> System:
    """*system* seen from another ground frame, the measures of which are parameters, so that no digits are rounded. The
    coordinates stay, and what depends on them; outputs are left out, and what acts in runs only: contacts, switches, programs and
    their control.
    """
    plain = system.expanded
    names = _unused(plain, 1 + len(TURNS) + len(ORIGIN))
    before, a, b, *origin = (names[0], *map(symbol, names[1:]))
    ca, sa, cb, sb = cos(a), sin(a), cos(b), sin(b)
    columns = (ca, sa, expr(0)), (-sa * cb, ca * cb, sb), (sa * sb, -ca * sb, cb)

    def turned(v: Vector3) -> Vector3:
        """Components in the axes of the new frame."""
        return vector([sum((x * c for x, c in zip(v, column, strict=True)), expr(0)) for column in columns])

    def seen_from_it(value: Any) -> Any:
        """A record with its places on the ground, and components in the axes of the ground, as the new frame has them."""
        if isinstance(value, Station | Point) and value.body == GROUND:
            moved = vector([x - o for x, o in zip(value.position, origin, strict=True)])
            return replace(value, position=turned(moved))
        if isinstance(value, CompliantContact):  # whose normal has the axes of its plane
            return replace(value, starts=tuple(map(held, value.starts)), end=held(value.end))
        if isinstance(value, Force | Couple) and value.axes == GROUND:
            value = replace(value, components=turned(value.components))
        return _with_fields(value, seen_from_it)

    def held(value: Any) -> Any:
        """A record on the old frame instead of the ground."""
        return before if isinstance(value, str) and value == GROUND else _with_fields(value, held)

    seen = {}
    for owner in (*(o.name for o in plain.bodies), *(p.name for p in plain.points)):
        for marks, shift in (("", origin), ("v", vector((0, 0, 0)))):
            own = [symbol(f"{owner}.{marks}{c}") for c in "xyz"]
            for i, c in enumerate("xyz"):
                seen[f"{owner}.{marks}{c}"] = sum((columns[k][i] * own[k] for k in range(3)), shift[i])
    seen |= {name: symbol(own.name) for name, own in _held_vectors(plain, before).items()}
    back: list[Motion] = [Rx(-b), Rz(-a), *(S(-x) for S, x in zip((Sx, Sy, Sz), origin, strict=True))]
    bodies = [replace(o, base=before) if o.base == GROUND else o for o in plain.bodies]
    bodies.append(Body(before, GROUND, tuple(back)))
    measures = (Parameter(name, value) for name, value in zip(names[1:], (*TURNS, *ORIGIN), strict=True))
    described = {n: map_expressions(getattr(plain, n), partial(substitute_names, seen)) for n in _SEEN}
    change = {"constraints": held, "elements": seen_from_it, "points": seen_from_it}
    described |= {n: tuple(map(change[n], described[n])) for n in change}
    return plain.replace(
        coordinates=system.coordinates,
        parameters=[*system.parameters, *measures],
        bodies=bodies,
        gravity=turned(plain.gravity),
        control=None,
        **dict.fromkeys(("lets", "outputs", "contacts", "switches", "programs"), ()),
        **described,
    )


def _held_vectors(system: System, frame: str) -> dict[str, Part]:
    """The parts of vectors in *system* by name, with *frame* in place of the ground."""
    written = [x for own in kinded(system) for x in own.expressions] + [form.value for form in system.quasi]
    written += [own.rate for own in system.states]
    found = {}
    for name, own in vector_parts(system, {n for e in written for n in e.symbols()}).items():
        of, axes = (frame if n == GROUND else n for n in (own.vector.of, own.vector.frame))
        found[name] = replace(own, vector=replace(own.vector, of=of, frame=axes))
    return found


#: Fields of a system with components in the axes of the ground, or with places of bodies and points.
_SEEN = ("constraints", "quasi", "states", "elements", "points")


def _with_fields(record: Any, change: Callable[[Any], Any]) -> Any:
    """*record* with all its fields changed but name and location, in nested records too."""
    if not is_dataclass(record) or isinstance(record, type | Expr):
        return record
    own = (f.name for f in fields(record) if f.init and f.name not in ("name", "location"))
    found = {n: (getattr(record, n), change(getattr(record, n))) for n in own}
    changed = {n: new for n, (old, new) in found.items() if new is not old}
    return replace(record, **changed) if changed else record


def _unused(system: System, n: int) -> list[str]:
    """*n* unused names."""
    taken = {*system.frames, *system.q_names, *system.parameter_names, *(p.name for p in system.points)}
    candidates = (f"before{k}" for k in count())
    return list(islice((name for name in candidates if name not in taken), n))


def parametrised(system: System) -> System:
    """*system* with its numbers as parameters, so that equations keep what rounding would fold: all but small whole numbers,
    their halves and quarters, and quarter turns. Of inertia, by which equations are divided, all.
    """
    lets = (let.name for let in system.lets)
    numbers = _Numbers({*system.parameter_names, *system.q_names, *system.v_names, *lets})

    def kept(motion: Motion) -> Motion:
        return _quarter_turn(motion) or map_expressions(motion, numbers.lifted)

    bodies = []
    for body in system.bodies:
        motions = tuple(map(kept, body.motions))
        bodies.append(replace(body, inertia=map_expressions(body.inertia, numbers.weighed), motions=motions))
    described = {
        name: map_expressions(getattr(system, name), numbers.lifted) for name in _DESCRIBED if name != "bodies"
    }
    more = [Parameter(name, value) for value, name in numbers.names.items()]
    parameters = [*(replace(p, fixed=False) for p in system.parameters), *more]
    return system.replace(coordinates=system.coordinates, bodies=bodies, parameters=parameters, **described)


class _Numbers:
    """The names of numbers that have become parameters."""

    def __init__(self, taken: Collection[str]) -> None:
        self.taken = taken
        self.names: dict[float, str] = {}

    def symbol(self, value: float) -> Expr:
        """The parameter of the size of *value*, with its sign."""
        if abs(value) not in self.names:
            name = f"number{len(self.names) + 1}"
            while name in self.taken:
                name += "_"
            self.names[abs(value)] = name
        named = symbol(self.names[abs(value)])
        return named if value > 0 else -named

    def weighed(self, expression: Expr) -> Expr:
        """*expression* with parameters for its numbers; a single number becomes a parameter."""
        return self.symbol(expression.value) if expression.value else self.lifted(expression)

    def lifted(self, expression: Expr) -> Expr:
        """*expression* with parameters for its numbers."""

        def number(value: float) -> Ref:
            plain = abs(value) <= 64 and (4 * value).is_integer()
            return DESCRIPTIONS.const(value) if plain else self.symbol(value).ref

        with LOCK:
            (ref,) = substitute(DESCRIPTIONS, [expression.ref], {}, number=number)
        return Expr(DESCRIPTIONS, ref)


def _quarter_turn(motion: Motion) -> Motion | None:
    """The quarter turns nearest to *motion*, which is such but for rounding as ``5*60 deg - 30 deg``; None for other motions."""
    if not isinstance(motion, Rotation) or motion.axis not in (X, Y, Z) or (angle := motion.angle.value) is None:
        return None
    if abs(math.remainder(angle, math.pi / 2)) >= tolerances.ROUNDING_TOLERANCE:
        return None
    return replace(motion, angle=expr(round(angle / (math.pi / 2)) * (math.pi / 2)))
