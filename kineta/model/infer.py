"""What a description leaves unsaid: which symbols are coordinates, which parameters, and the order of the bodies."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from kineta.expr.node import Expr
from kineta.model.body import GROUND, Body
from kineta.model.motion import Ball, Free, Rotation, coordinate_names, speed_names

if TYPE_CHECKING:
    from kineta.model.system import System

#: The symbol of the time.
TIME = "t"
#: Energies that outputs and events may name.
ENERGIES = ("kinetic_energy", "potential_energy", "energy")
#: Components of a point or body that an expression may name: position, then velocity.
POINT_COMPONENTS = ("x", "y", "z", "vx", "vy", "vz")
#: Names of coordinates by convention.
COORDINATE = re.compile(r"q_?\d*$")


def infer_coordinates(bodies: Iterable[Body], parameters: Collection[str] = ()) -> tuple[str, ...]:
    """Coordinates of a description that does not list them, in the order in which the motions name them.

    Those that one motion names are taken by number (``q2`` before ``q10``). A symbol is a coordinate if it is called ``q``,
    ``q1``, ``q_1`` ... or if the angle of a rotation contains it (as the printed models do it), unless it is among the
    declared *parameters*; the time ``t`` is neither. A ``Ball`` or ``Free`` motion counts by its name.
    """
    found: dict[str, None] = {}
    for body in bodies:
        for motion in body.motions:
            if isinstance(motion, Ball | Free):
                found[motion.name] = None
                continue
            turns = isinstance(motion, Rotation)
            for name in _by_number(motion.argument.symbols()):
                other = name == TIME or "." in name or "'" in name or name in parameters
                if not other and (turns or COORDINATE.match(name)):
                    found[name] = None
    return tuple(found)


def infer_parameters(system: System) -> tuple[str, ...]:
    """Symbols of *system* that are neither coordinates, speeds nor the time, in the order in which it uses them.

    A dot or a prime in a name says that it means a point or a speed, not a parameter.
    """
    known = {TIME, *system.q_names, *system.v_names, *ENERGIES}
    found: dict[str, None] = {}
    for expression in expressions(system):
        names = _by_number(expression.symbols())
        found.update((n, None) for n in names if n not in known and not {".", "'"} & set(n))
    return tuple(found)


def expressions(system: System) -> Iterable[Expr]:
    """Every expression that *system* holds."""
    for body in system.bodies:
        for motion in body.motions:
            if not isinstance(motion, Ball | Free):
                yield motion.argument
        inertia = body.inertia
        yield from (inertia.mass, *inertia.com, *inertia.moments, *inertia.products)
    yield from system.gravity
    for point in system.points:
        yield from point.position
    for element in system.elements:
        yield from element.expressions
    yield from (value for _, value in system.initial)
    yield from (output.value for output in system.outputs)


def point_components(system: System) -> set[str]:
    """Names of all positions and velocities that an expression may use: ``P.x``, ``Body.vz``."""
    owners = [*(b.name for b in system.bodies), *(p.name for p in system.points)]
    return {f"{owner}.{component}" for owner in owners for component in POINT_COMPONENTS}


def point_velocities(system: System) -> set[str]:
    """Those of :func:`point_components` that are velocities."""
    return {n for n in point_components(system) if n.rpartition(".")[2].startswith("v")}


def _by_number(names: Iterable[str]) -> list[str]:
    """*names* in the order of the alphabet, numbers in them by their value, so that nothing else decides the order."""

    def key(name: str) -> list[tuple[bool, int, str]]:
        parts = re.split(r"(\d+)", name)
        return [(not p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in parts]

    return sorted(names, key=key)


def base_first(bodies: tuple[Body, ...]) -> tuple[Body, ...]:
    """*bodies*, every base before the bodies it carries, otherwise in the given order; bodies of a cycle are left out."""
    carried: dict[str, list[Body]] = {}
    for body in bodies:
        carried.setdefault(body.base, []).append(body)
    order = list(reversed(carried.get(GROUND, [])))
    result: list[Body] = []
    while order:
        body = order.pop()
        result.append(body)
        order.extend(reversed(carried.get(body.name, [])))
    return tuple(result)


def units(system: System) -> dict[str, str]:
    """Units of coordinates and speeds, where a motion shows them: ``rad`` for what turns, ``m`` for what shifts."""
    found: dict[str, str] = {}
    coordinates = set(system.coordinates)
    for body in system.bodies:
        for motion in body.motions:
            if isinstance(motion, Ball | Free):
                found |= {n: "" if ".q" in n else "m" for n in coordinate_names(motion)}
                found |= {n: "rad/s" if ".w" in n else "m/s" for n in speed_names(motion)}
                continue
            unit = "rad" if isinstance(motion, Rotation) else "m"
            for name in motion.argument.symbols():
                if name in coordinates and (motion.argument.name == name or name not in found):
                    found |= {name: unit, f"{name}'": f"{unit}/s"}
    return found
