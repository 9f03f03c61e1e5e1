"""The same system in other words: bodies renumbered, motions spelled otherwise, another ground frame, numbers as parameters."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import fields, replace
from functools import partial
from typing import Any

from kineta.expr.graph import Ref
from kineta.expr.node import DESCRIPTIONS, LOCK, Expr, expr, symbol
from kineta.model.body import GROUND, Body, Point, Station
from kineta.model.constraints.loop import Loop
from kineta.model.constraints.rolling import Rolling
from kineta.model.elements.coordinate import Length
from kineta.model.elements.couple import Couple
from kineta.model.elements.damper import Damper
from kineta.model.elements.force import Force
from kineta.model.elements.generalized import GeneralizedForce
from kineta.model.elements.spring import Spring
from kineta.model.given import Vector3, vector
from kineta.model.let import put_in
from kineta.model.mapped import mapped
from kineta.model.motion import Ball, Free, Motion, Rotation, Rx, Ry, Rz, Shift, Sx, Sy, Sz, X, Y, Z
from kineta.model.system import Parameter, System
from kineta.passes.substitute import substitute

#: Fields of a system that hold expressions.
_DESCRIBED = (
    *(
        "bodies",
        "gravity",
        "elements",
        "points",
        "initial",
        "outputs",
        "lets",
        "constraints",
        "quasi",
        "contacts",
        "switches",
        "programs",
        "control",
    ),
)


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


#: Another ground frame: its origin, and its axes, turned about z and then about x.
ORIGIN, TURNS = (0.3, -0.2, 0.4), (0.7, -0.4)


def reframed(system: System) -> System:
    """*system* seen from another ground frame. The coordinates stay, and what depends on them; outputs are left out, and what
    acts in runs only: contacts, switches, programs and their control.
    """
    plain, (a, b) = system.expanded, TURNS
    columns = (
        (math.cos(a), math.sin(a), 0.0),
        (-math.sin(a) * math.cos(b), math.cos(a) * math.cos(b), math.sin(b)),
        (math.sin(a) * math.sin(b), -math.cos(a) * math.sin(b), math.cos(b)),
    )

    def turned(v: Vector3) -> Vector3:
        """Components in the axes of the new frame."""
        return vector([sum((x * c for x, c in zip(v, column, strict=True)), expr(0)) for column in columns])

    def placed(value: Any) -> Any:
        """A record with its places on the ground, and components in the axes of the ground, as the new frame has them."""
        if isinstance(value, Station | Point) and value.body == GROUND:
            moved = vector([x - o for x, o in zip(value.position, ORIGIN, strict=True)])
            return replace(value, position=turned(moved))
        if isinstance(value, Force | Couple) and value.axes == GROUND:
            value = replace(value, components=turned(value.components))
        if isinstance(value, Length | Force | GeneralizedForce | Spring | Damper):
            return replace(value, **{f.name: placed(getattr(value, f.name)) for f in fields(value)})
        return value

    seen = {}
    for owner in (*(b.name for b in plain.bodies), *(p.name for p in plain.points)):
        for marks, origin in (("", ORIGIN), ("v", (0.0, 0.0, 0.0))):
            own = [symbol(f"{owner}.{marks}{c}") for c in "xyz"]
            for i, c in enumerate("xyz"):
                seen[f"{owner}.{marks}{c}"] = sum((columns[k][i] * own[k] for k in range(3)), expr(origin[i]))
    back: list[Motion] = [Rx(-b), Rz(-a), *(S(-x) for S, x in zip((Sx, Sy, Sz), ORIGIN, strict=True))]
    before = _unused(plain)
    bodies = [replace(o, base=before) if o.base == GROUND else o for o in plain.bodies]
    bodies.append(Body(before, GROUND, tuple(back)))

    def held(value: Any) -> Any:
        """A constraint that takes hold of the old frame instead of the ground."""
        if isinstance(value, Station) and value.body == GROUND:
            return replace(value, body=before)
        if isinstance(value, Loop | Rolling):
            return replace(value, **{f.name: held(getattr(value, f.name)) for f in fields(value)})
        return before if value == GROUND else value

    described = {name: mapped(getattr(plain, name), partial(put_in, seen)) for name in ("constraints", "quasi")}
    described["constraints"] = tuple(held(c) for c in described["constraints"])
    for name in ("elements", "points"):
        described[name] = [placed(x) for x in mapped(getattr(plain, name), partial(put_in, seen))]
    return system.replace(
        coordinates=system.coordinates,
        bodies=bodies,
        gravity=turned(plain.gravity),
        lets=(),
        outputs=(),
        contacts=(),
        switches=(),
        programs=(),
        control=None,
        **described,
    )


def _unused(system: System) -> str:
    """A name for a body more."""
    name = "before"
    while name in {*system.frames, *system.q_names, *system.parameter_names, *(p.name for p in system.points)}:
        name += "_"
    return name


def lifted(system: System) -> System:
    """*system* with its numbers as parameters, so that equations keep what rounding would fold: all but small whole numbers,
    their halves and quarters, and quarter turns. Of inertia, by which equations are divided, all.
    """
    lets = (let.name for let in system.lets)
    numbers = _Numbers({*system.parameter_names, *system.q_names, *system.v_names, *lets})

    def turned(motion: Motion) -> Iterator[Motion]:
        if isinstance(motion, Ball | Free) or _quarter_turn(motion):
            yield motion
            return
        kept = mapped(motion, numbers.lifted)
        yield from [kept] if motion.axis in (X, Y, Z) else _about_z(kept, numbers)

    bodies = []
    for body in system.bodies:
        motions = tuple(m for motion in body.motions for m in turned(motion))
        bodies.append(replace(body, inertia=mapped(body.inertia, numbers.weighed), motions=motions))
    described = {name: mapped(getattr(system, name), numbers.lifted) for name in _DESCRIBED if name != "bodies"}
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
        """*expression* with parameters for its numbers; a parameter, where it is one."""
        return self.symbol(expression.value) if expression.value else self.lifted(expression)

    def lifted(self, expression: Expr) -> Expr:
        """*expression* with parameters for its numbers."""

        def number(value: float) -> Ref:
            plain = abs(value) <= 64 and (4 * value).is_integer()
            return DESCRIPTIONS.const(value) if plain else self.symbol(value).ref

        with LOCK:
            (ref,) = substitute(DESCRIPTIONS, [expression.ref], {}, number=number)
        return Expr(DESCRIPTIONS, ref)


def _about_z(motion: Rotation | Shift, numbers: _Numbers) -> Iterator[Motion]:
    """A motion about or along any axis as one about z, with that axis turned into its place and back."""
    x, y, z = motion.axis
    turns = [(make, a) for make, a in ((Rz, math.atan2(y, x)), (Ry, math.atan2(math.hypot(x, y), z))) if a]
    yield from (make(numbers.symbol(a)) for make, a in turns)
    yield replace(motion, axis=Z)
    yield from (make(numbers.symbol(-a)) for make, a in reversed(turns))


def _quarter_turn(motion: Rotation | Shift) -> bool:
    angle = motion.argument.value if isinstance(motion, Rotation) and motion.axis in (X, Y, Z) else None
    return angle is not None and abs(math.remainder(angle, math.pi / 2)) < 1e-12
