"""What must hold of a system, and the sentence said where it does not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kineta.errors import ExpressionError, Location, ModelError, did_you_mean
from kineta.expr.node import Expr
from kineta.model.body import GROUND, Body, Inertia, Station
from kineta.model.element import (
    Couple,
    Damper,
    Force,
    GeneralizedForce,
    LineDamper,
    LineSpring,
    Spring,
)
from kineta.model.infer import TIME, base_first, element_expressions
from kineta.model.motion import Ball, Free, Rotation
from kineta.passes.evaluate import evaluate

if TYPE_CHECKING:
    from kineta.model.system import System

#: Components of a point or body that an expression may name.
POINT_COMPONENTS = ("x", "y", "z", "vx", "vy", "vz")
#: Energies that an output may name.
ENERGIES = ("kinetic_energy", "potential_energy", "energy")


def check(system: System) -> None:
    """Raise :class:`~kineta.errors.ModelError` for the first thing wrong with *system*."""
    for rule in (_names, _tree, _coordinates, _elements, _symbols, _motions, _inertias, _initial):
        rule(system)


def _fail(what: str, name: str, location: Location | None, message: str) -> ModelError:
    """``Body 'Shin' (model.kin:7:9): message``."""
    where = f" ({location})" if location else ""
    return ModelError(f"{what} '{name}'{where}: {message}")


# -- names and tree -----------------------------------------------------------------------------------------------------


def _names(system: System) -> None:
    if not system.bodies:
        raise ModelError(f"Model '{system.name}': expected at least one body, found none.")
    joints = [m.name for b in system.bodies for m in b.motions if isinstance(m, Ball | Free)]
    for name, times in Counter(joints).items():
        if times > 1:
            raise ModelError(f"Motion '{name}': {times} motions have this name; each Ball or Free needs its own.")
    taken: dict[str, str] = {GROUND: "the fixed frame"}
    taken |= dict.fromkeys(joints, "a Ball or Free motion")
    frames = [("Body", b.name, b.location) for b in system.bodies]
    frames += [("Point", p.name, p.location) for p in system.points]
    _distinct(frames, taken)
    _distinct([(type(e).__name__, e.name, e.location) for e in system.elements], {})
    reserved = {TIME: "the time", "pi": "a number"} | dict.fromkeys(ENERGIES, "an energy")
    variables = reserved | dict.fromkeys((*system.q_names, *system.v_names), "a coordinate or speed")
    _distinct([("Parameter", p.name, p.location) for p in system.parameters], variables)
    _distinct([("Output", o.name, o.location) for o in system.outputs], {})


def _distinct(records: Iterable[tuple[str, str, Location | None]], taken: dict[str, str]) -> None:
    for kind, name, location in records:
        if name in taken:
            raise _fail(kind, name, location, f"the name is taken by {taken[name]}. Choose another.")
        article = "an" if kind[0] in "AEIOU" else "a"
        taken[name] = f"{article} {kind.lower()} described before" + (f" ({location})" if location else "")


def _tree(system: System) -> None:
    known = {b.name for b in system.bodies} | {GROUND}
    for body in system.bodies:
        if body.base not in known:
            near = did_you_mean(body.base, known)
            raise _fail("Body", body.name, body.location, f"base '{body.base}' does not exist.{near}")
    reached = {b.name for b in base_first(system.bodies)}
    for body in system.bodies:
        if body.name not in reached:
            chain = _cycle(system, body)
            raise _fail(
                "Body",
                body.name,
                body.location,
                f"the bases form a cycle: {' ~ '.join(chain)}. One must stand on the ground.",
            )


def _cycle(system: System, body: Body) -> list[str]:
    base = {b.name: b.base for b in system.bodies}
    chain = [body.name]
    while base[chain[-1]] not in chain:
        chain.append(base[chain[-1]])
    return [*chain, base[chain[-1]]]


# -- coordinates, symbols ----------------------------------------------------------------------------------------------


def _coordinates(system: System) -> None:
    declared = Counter(system.coordinates)
    where = f"Model '{system.name}': coordinate"
    used = {n for b in system.bodies for m in b.motions for n in _argument_symbols(m)}
    for name, times in declared.items():
        if times > 1:
            raise ModelError(f"{where} '{name}' is listed {times} times.")
        if name not in system.joints and name not in used:
            candidates = (used | system.joints.keys()) - declared.keys()
            raise ModelError(f"{where} '{name}' is used by no motion of a body.{did_you_mean(name, candidates)}")
        if name == TIME:
            raise ModelError(f"{where} '{name}' is the time and cannot be a coordinate.")
    for name in system.joints:
        if name not in declared:
            raise ModelError(
                f"{where}s: the motion '{name}' is missing from the list; add '{name}' where its block stands."
            )


def _argument_symbols(motion: object) -> tuple[str, ...]:
    if isinstance(motion, Ball | Free):
        return ()
    return (motion.angle if isinstance(motion, Rotation) else motion.distance).symbols()  # type: ignore[attr-defined]


def _known(system: System) -> set[str]:
    return {TIME, *system.q_names, *system.v_names, *(p.name for p in system.parameters)}


def _of_points(system: System) -> set[str]:
    owners = [b.name for b in system.bodies] + [p.name for p in system.points]
    return {f"{o}.{c}" for o in owners for c in POINT_COMPONENTS}


def _symbols(system: System) -> None:
    known, points = _known(system), _of_points(system)
    for body in system.bodies:
        inertia = body.inertia
        own = [*(_argument(m) for m in body.motions), inertia.mass, *inertia.com, *inertia.moments, *inertia.products]
        _only(known, own, "Body", body.name, body.location)
    for point in system.points:
        _only(known, point.position, "Point", point.name, point.location)
    for element in system.elements:
        _only(known | points, element_expressions(element), type(element).__name__, element.name, element.location)
    for output in system.outputs:
        _only(known | points | set(ENERGIES), [output.value], "Output", output.name, output.location)
    for name, value in system.initial:
        _only({p.name for p in system.parameters}, [value], "Initial value", name, None)
    _only({p.name for p in system.parameters}, system.gravity, "Model", system.name, None)


def _argument(motion: object) -> Expr | None:
    if isinstance(motion, Ball | Free):
        return None
    return motion.angle if isinstance(motion, Rotation) else motion.distance  # type: ignore[attr-defined]


def _only(known: set[str], values: Iterable[Expr | None], kind: str, name: str, location: Location | None) -> None:
    for value in values:
        for found in value.symbols() if value is not None else ():
            if found not in known:
                near = did_you_mean(found, known)
                raise _fail(kind, name, location, f"unknown symbol '{found}' in '{value}'.{near}")


def _motions(system: System) -> None:
    speeds = set(system.v_names)
    for body in system.bodies:
        for motion in body.motions:
            for found in _argument_symbols(motion):
                if found in speeds:
                    raise _fail(
                        "Body",
                        body.name,
                        body.location,
                        f"the speed '{found}' stands in the motion argument '{_argument(motion)}'; "
                        "expected coordinates, parameters and the time only.",
                    )


def _elements(system: System) -> None:
    bodies = {b.name for b in system.bodies} | {GROUND}
    for point in system.points:
        if point.body not in bodies:
            raise _fail(
                "Point",
                point.name,
                point.location,
                f"body '{point.body}' does not exist.{did_you_mean(point.body, bodies)}",
            )
    for element in system.elements:
        for name in _bodies(element):
            if name not in bodies:
                near = did_you_mean(name, bodies)
                raise _fail(
                    type(element).__name__, element.name, element.location, f"body '{name}' does not exist.{near}"
                )


def _bodies(element: object) -> Sequence[str]:
    match element:
        case Force(at=Station(body=body)) | Couple(body=body):
            return (body,)
        case LineSpring(start=start, end=end) | LineDamper(start=start, end=end):
            return start.body, end.body
        case GeneralizedForce() | Spring() | Damper():
            return ()
    raise TypeError(f"no bodies are known for the element {element!r}")


# -- inertia, initial state ------------------------------------------------------------------------------------------


def _inertias(system: System) -> None:
    values = {p.name: p.value for p in system.parameters if p.value is not None}
    parameters = {p.name for p in system.parameters}
    for body in system.bodies:
        _constant_inertia(body, parameters)
        try:
            _possible(body, body.inertia, values)
        except ExpressionError:
            continue  # some parameter has no value yet


def _constant_inertia(body: Body, parameters: set[str]) -> None:
    own = body.inertia
    for value in (own.mass, *own.com, *own.moments, *own.products):
        for found in value.symbols():
            if found not in parameters:
                raise _fail(
                    "Body",
                    body.name,
                    body.location,
                    f"inertia '{value}' depends on '{found}'; expected parameters only.",
                )


def _possible(body: Body, inertia: Inertia, values: dict[str, float]) -> None:
    """Raise for a mass distribution that no body can have."""

    def numbers(expressions: Sequence[Expr]) -> list[float]:
        return [evaluate(e.graph, [e.ref], values)[0] for e in expressions]

    (mass,) = numbers([inertia.mass])
    if mass < 0:
        raise _fail("Body", body.name, body.location, f"mass is {mass:g} kg; expected zero or more.")
    if inertia.unchecked:
        return
    moments = numbers(inertia.moments)
    for axis, moment in zip("xyz", moments, strict=True):
        if moment < 0:
            raise _fail("Body", body.name, body.location, f"J{axis} is {moment:g} kg*m^2; expected zero or more.")
    if inertia.lumped:
        return
    principal = principal_moments(moments, numbers(inertia.products))
    a, b, c = sorted(principal)
    slack = 1e-9 * max(c, 0.0)
    if a < -slack:
        raise _fail(
            "Body",
            body.name,
            body.location,
            f"the inertia tensor has the principal moment {a:g} kg*m^2; expected zero or more.",
        )
    if a + b < c - slack:
        shown = ", ".join(f"{m:g}" for m in principal)
        raise _fail(
            "Body",
            body.name,
            body.location,
            f"no body has the principal moments {shown} kg*m^2: the largest exceeds the sum of the others. "
            "Correct them, give only the ones that matter with keys, as in Jz(J1), or add the word unchecked to the list.",
        )


def principal_moments(moments: Sequence[float], products: Sequence[float]) -> tuple[float, float, float]:
    """Principal moments of the inertia tensor with the given diagonal and (xy, xz, yz) entries, by Jacobi rotations."""
    A = [
        [moments[0], products[0], products[1]],
        [products[0], moments[1], products[2]],
        [products[1], products[2], moments[2]],
    ]
    for _ in range(30):
        p, q = max(((0, 1), (0, 2), (1, 2)), key=lambda ij: abs(A[ij[0]][ij[1]]))
        if A[p][q] == 0.0:
            break
        theta = 0.5 * math.atan2(2 * A[p][q], A[q][q] - A[p][p])
        c, s = math.cos(theta), math.sin(theta)
        for row in A:
            row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
        A[p], A[q] = (
            [c * x - s * y for x, y in zip(A[p], A[q], strict=True)],
            [s * x + c * y for x, y in zip(A[p], A[q], strict=True)],
        )
    return A[0][0], A[1][1], A[2][2]


def _initial(system: System) -> None:
    known = {*system.q_names, *system.v_names}
    seen: set[str] = set()
    for name, _ in system.initial:
        where = f"Model '{system.name}': initial '{name}'"
        if name not in known:
            raise ModelError(f"{where} is neither a coordinate nor a speed.{did_you_mean(name, known)}")
        if name in seen:
            raise ModelError(f"{where} is given twice.")
        seen.add(name)
    for joint in system.joints:
        _unit_quaternion(system, joint)


def _unit_quaternion(system: System, joint: str) -> None:
    values = {p.name: p.value for p in system.parameters if p.value is not None}
    given = dict(system.initial)
    parts = [given.get(f"{joint}.{c}") for c in ("qw", "qx", "qy", "qz")]
    if all(p is None for p in parts):
        return
    try:
        numbers = [0.0 if p is None else evaluate(p.graph, [p.ref], values)[0] for p in parts]
    except ExpressionError:
        return  # some parameter has no value yet
    length = math.hypot(*numbers)
    if abs(length - 1) > 1e-6:
        raise ModelError(
            f"Model '{system.name}': the initial quaternion of '{joint}' has the length {length:g}; expected 1. "
            "Give all of qw, qx, qy, qz of a turn (cos(a/2), e sin(a/2))."
        )
