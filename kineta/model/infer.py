"""What a description leaves unsaid: which symbols are coordinates, which parameters, and the order of the bodies."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from kineta.expr.node import Expr
from kineta.model.body import GROUND, Body
from kineta.model.element import Couple, Damper, Force, GeneralizedForce, LineDamper, LineSpring, Spring
from kineta.model.motion import Ball, Free, Rotation, coordinate_names, speed_names

if TYPE_CHECKING:
    from kineta.model.system import System

TIME = "t"
_COORDINATE = re.compile(r"q_?\d*$")


def infer_coordinates(bodies: Iterable[Body], parameters: Collection[str] = ()) -> tuple[str, ...]:
    """Coordinates of a description that does not list them, in the order in which the motions name them.

    A symbol is a coordinate if it is called ``q``, ``q1``, ``q_1`` ... or if the angle of a rotation contains it (as
    the printed models do it), unless it is among the declared *parameters*; the time ``t`` is neither. A ``Ball`` or
    ``Free`` motion counts by its name.
    """
    found: dict[str, None] = {}
    for body in bodies:
        for motion in body.motions:
            if isinstance(motion, Ball | Free):
                found[motion.name] = None
                continue
            turns = isinstance(motion, Rotation)
            argument = motion.angle if isinstance(motion, Rotation) else motion.distance
            for name in argument.symbols():
                other = name == TIME or "." in name or "'" in name or name in parameters
                if not other and (turns or _COORDINATE.match(name)):
                    found[name] = None
    return tuple(found)


def infer_parameters(system: System) -> tuple[str, ...]:
    """Symbols of *system* that are neither coordinates, speeds nor the time, in the order in which it uses them.

    A dot or a prime in a name says that it means a point or a speed, not a parameter.
    """
    known = {TIME, *system.q_names, *system.v_names, "kinetic_energy", "potential_energy", "energy"}
    found: dict[str, None] = {}
    for expression in expressions(system):
        found.update((n, None) for n in expression.symbols() if n not in known and not {".", "'"} & set(n))
    return tuple(found)


def expressions(system: System) -> Iterable[Expr]:
    """Every expression that *system* holds."""
    for body in system.bodies:
        for motion in body.motions:
            if not isinstance(motion, Ball | Free):
                yield motion.angle if isinstance(motion, Rotation) else motion.distance
        inertia = body.inertia
        yield from (inertia.mass, *inertia.com, *inertia.moments, *inertia.products)
    yield from system.gravity
    for point in system.points:
        yield from point.position
    for element in system.elements:
        yield from element_expressions(element)
    yield from (value for _, value in system.initial)
    yield from (output.value for output in system.outputs)


def element_expressions(element: object) -> tuple[Expr, ...]:
    """The expressions that *element* holds."""
    match element:
        case Force():
            return (*element.components, *element.at.position)
        case Couple():
            return element.components
        case GeneralizedForce():
            return element.characteristic, element.coordinate
        case Spring():
            return element.stiffness, element.deformation
        case LineSpring():
            return element.stiffness, element.length, *element.start.position, *element.end.position
        case Damper():
            return element.damping, element.rate
        case LineDamper():
            return element.damping, *element.start.position, *element.end.position
    raise TypeError(f"no expressions are known for the element {element!r}")


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
    for body in system.bodies:
        for motion in body.motions:
            if isinstance(motion, Ball | Free):
                found |= {n: "" if ".q" in n else "m" for n in coordinate_names(motion)}
                found |= {n: "rad/s" if ".w" in n else "m/s" for n in speed_names(motion)}
                continue
            unit = "rad" if isinstance(motion, Rotation) else "m"
            argument = motion.angle if isinstance(motion, Rotation) else motion.distance
            for name in argument.symbols():
                if name in system.coordinates and (argument.name == name or name not in found):
                    found |= {name: unit, f"{name}'": f"{unit}/s"}
    return found
