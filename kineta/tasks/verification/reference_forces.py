"""Forces of elements and constraints on bodies, expressions and coordinates, by the reference kinematics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.model.body import Body
from kineta.model.constraints.shapes import PLANE, Touching
from kineta.model.elements.axes import OWN
from kineta.model.elements.compliant_contact import GAP, RATE, CompliantContact, parts
from kineta.model.elements.coordinate import Length
from kineta.model.elements.couple import Couple
from kineta.model.elements.damper import Damper
from kineta.model.elements.force import Force
from kineta.model.elements.generalized import GeneralizedForce
from kineta.model.elements.inertia import InertiaElement
from kineta.model.elements.potential import Potential
from kineta.model.elements.smooth_friction import SmoothFriction
from kineta.model.elements.spring import Spring
from kineta.model.kind import Element
from kineta.model.name_inference import derivative_order, point_velocities, vector_parts
from kineta.model.named_expressions import substitute_names
from kineta.model.reserved_symbols import POINT_COMPONENTS
from kineta.model.vectors import Part
from kineta.spatial.rotation import ASIDE
from kineta.tasks.verification.closure_laws import MEANINGS, crossed, nearest, slip
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics
from kineta.tasks.verification.rigid_motion import RigidMotion, norm, rate
from kineta.tasks.verification.taylor_series import TaylorSeries


def _in_ground_axes(m: RigidMotion, body: str, components: Any, axes: str) -> Any:
    return m.frames[body if axes == OWN else axes][0] @ m.vector(components)


#: The force of an element along its coordinate, positive towards larger values.
FORCES: Mapping[type, Callable[[RigidMotion, Any], Any]] = {
    GeneralizedForce: lambda m, e: m.value(e.characteristic),
    Spring: lambda m, e: m.value(e.stiffness) * (m.value(e.free) - m.coordinate(e.coordinate)[0]),
    Damper: lambda m, e: -(m.value(e.damping) * m.coordinate(e.coordinate)[1]),
    SmoothFriction: lambda m, e: _smooth_friction(m.value(e.force), m.value(e.smooth), m.coordinate(e.coordinate)[1]),
}

#: The kinds of elements with reference forces.
KNOWN = (*FORCES, Force, Couple, CompliantContact, Potential, InertiaElement)


def _smooth_friction(force: Any, smooth: Any, s: Any) -> Any:
    return -(force * s / (s * s + smooth * smooth) ** 0.5)


def _coordinate_force(kin: ReferenceKinematics, element: Element) -> Any:
    return FORCES[type(element)](kin.motion, element)


def body_forces(kin: ReferenceKinematics) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield body, place, force and couple of elements and constraints, in ground axes."""
    m = kin.motion
    zero = np.zeros(3).astype(object)
    for e in kin.system.elements:
        if isinstance(e, Force):
            yield e.at.body, m.place(e.at), _in_ground_axes(m, e.at.body, e.components, e.axes), zero
        elif isinstance(e, Couple):
            yield e.body, m.frames[e.body][1], zero, _in_ground_axes(m, e.body, e.components, e.axes)
        elif isinstance(e, CompliantContact):
            yield from _compliant_forces(m, e)
        elif isinstance(between := getattr(e, "coordinate", None), Length):
            a, b = m.place(between.start), m.place(between.end)
            f = (b - a) / norm(b - a) * _coordinate_force(kin, e)
            yield between.end.body, b, f, zero
            yield between.start.body, a, -f, zero
    for c in kin.system.constraints:
        for body, place, f, n in MEANINGS[type(c)].pushes(m, c, kin.component_multipliers(c.name)):
            yield body, place, f, n


def first_tangent(kin: ReferenceKinematics, of: Touching, n: Any) -> Any:
    """Return the direction u of a surface with the normal *n*: on a plane across its normal, else across ``ASIDE``, or across the
    axis of the body that n never leans towards.
    """
    m, S = kin.motion, kin.motion.frames[of.end.body][0]
    if of.surface == PLANE:
        u = S @ m.across(of.surface_axis)[0]
        along = u - n * (u @ n)
        return along / norm(along)
    leans = kin.of(S.T @ n)
    k = next((i for i in range(3) if np.abs(leans[:, i]).max() < tolerances.ROUNDING_TOLERANCE), None)
    aside = S @ np.array(ASIDE if k is None else np.eye(3)[k], dtype=object)
    across = crossed(aside, n)
    return across / norm(across)


def named_force(kin: ReferenceKinematics, element: Element, part: str) -> Any:
    """Return the force of *element* with this name of a *part*, as outputs show it."""
    m = kin.motion
    if isinstance(element, Force | Couple):
        body = element.at.body if isinstance(element, Force) else element.body
        return _in_ground_axes(m, body, element.components, element.axes)["xyz".index(part)]
    if not isinstance(element, CompliantContact):
        return _coordinate_force(kin, element)
    place, letter = divmod(element.kind.forces(kin.system, element).index(part), len(parts(element)))
    _, _, f, _ = list(_compliant_forces(m, element))[2 * place]
    each = element.touchings[place]
    _, n, _ = nearest(m, each)
    u = first_tangent(kin, each, n)
    return f @ (n, u, crossed(n, u))[letter]


def _compliant_forces(m: RigidMotion, e: CompliantContact) -> Iterator[tuple[str, Any, Any, Any]]:
    for start, place, n, v, gap in touches(m, e):
        push = m.value(e.push, {GAP: gap, RATE: n @ v})
        f = n * push
        if e.smooth is not None:
            s = v - n * (n @ v)
            f = f - s * (m.value(e.friction) * push / (s @ s + m.value(e.smooth) * m.value(e.smooth)) ** 0.5)
        yield start, place, f, f * 0
        yield e.end.body, place, -f, f * 0


def touches(m: RigidMotion, e: CompliantContact) -> Iterator[tuple[str, Any, Any, Any, Any]]:
    """Yield body, place, normal, velocity against the surface and gap of what touches in a compliant contact."""
    for each in e.touchings:
        gap, n, arm = nearest(m, each)
        place = m.place(each.start) + arm
        yield each.start.body, place, n, slip(m, each.start, e.end.body, place), gap


def expression_forces(kin: ReferenceKinematics) -> Iterator[tuple[Any, Expr]]:
    """Yield the forces of elements and multipliers with the expressions on which they do work."""
    for e in kin.system.elements:
        if isinstance(e, Potential):
            yield -1.0, e.energy
        elif type(e) in FORCES and isinstance(e.coordinate, Expr):
            free = e.free if isinstance(e, Spring) else 0
            yield _coordinate_force(kin, e), e.coordinate - free
        elif isinstance(e, Spring) and e.free.symbols():
            yield -_coordinate_force(kin, e), e.free
    for c in kin.system.constraints:
        yield from MEANINGS[type(c)].works(c, kin.component_multipliers(c.name))


def directional_derivative(kin: ReferenceKinematics, e: Expr, own: Mapping[str, Any]) -> Any:
    """Return the derivative of *e*, (n, ...), along a virtual motion with the rates *own* of its symbols, zero by default."""
    if not any(n in own for n in e.symbols()):
        return 0
    moved = {n: TaylorSeries([kin.of(kin.motion.named_by(n))[:, None], own.get(n, 0)]) for n in e.symbols()}
    found = kin.motion.value(e, moved)
    return found.c[1] if isinstance(found, TaylorSeries) else 0


def point_displacements(kin: ReferenceKinematics, body: Body, e: Expr) -> dict[str, Any]:
    """Return the derivatives (n, 6), by name, of the positions of points and bodies in *e*, or of their velocities where *e* has
    speeds, by translations and rotations of *body* alone about its origin in ground axes.
    """
    m, first = kin.motion, derivative_order(kin.system, e)
    found = {}
    for name, own_part in vector_parts(kin.system, e.symbols()).items():
        if (own_part.order > 0) == (first > 0):
            found[name] = kin.of(_vector_displacement(m, body.name, own_part))
    for name in e.symbols():
        owner, _, component = name.rpartition(".")
        if owner in m.stations and m.stations[owner].body == body.name and component in POINT_COMPONENTS:
            k = POINT_COMPONENTS.index(component)
            if (k >= 3) == (first > 0):
                x, y, z = (m.place(m.stations[owner]) - m.frames[body.name][1]).tolist()
                turns = ((0, z, -y), (-z, 0, x), (y, -x, 0))
                own = [*(float(i == k % 3) for i in range(3)), *turns[k % 3]]
                found[name] = kin.of(np.array(own, dtype=object))
    return found


def _vector_displacement(m: RigidMotion, body: str, own: Part) -> Any:
    """Return the derivative (6,) of a part of a position, by translations and rotations of *body* alone about its origin; of a
    part of a velocity, by their rates.
    """
    vector, place = own.vector, m.stations[own.vector.of]
    (S, o), (_, origin) = m.frames[vector.frame], m.frames[body]
    x = m.place(place)
    turns = vector.kind == "w"
    value = m.turning[place.body] if turns else x - o if vector.kind == "r" else rate(x)
    s = value / norm(value) if own.component is None else S[:, own.component]
    zero = s * 0
    moved = np.concatenate([zero, zero])
    if place.body == body:
        moved = moved + np.concatenate([zero, s] if turns else [s, np.cross(x - origin, s)])
    if vector.kind == "r" and vector.frame == body:  # whose axes turn with it
        moved = moved - np.concatenate([s, np.cross(x - o, s)])
    return moved


def generalized_forces(kin: ReferenceKinematics) -> Iterator[Any]:
    """Yield the generalised forces (n, nv) of forces on expressions, of inertia elements and of gears."""
    unit, shape = kin.virtual, (kin.n, len(kin.system.v_names))
    speeds = {n: x.c[0] for n, x in unit.speeds.items()}
    if kin.system.quasi:
        speeds |= {n: np.broadcast_to(np.eye(shape[1])[k], shape) for k, n in enumerate(kin.system.v_names)}
    places = {n: kin.unit(unit.named[n]) for n in kin.system.q_names}
    for P, e in expression_forces(kin):
        by = directional_derivative(kin, e, speeds if derivative_order(kin.system, e) else places)
        yield np.broadcast_to(by, shape) * np.asarray(kin.of(P))[:, None]
    for element in kin.system.elements:
        if isinstance(element, InertiaElement):
            yield -_inertia_element_force(kin, element, speeds, places)
    for c in kin.system.constraints:
        if c.kind.in_joints(c):
            ((_, gap),) = MEANINGS[type(c)].gaps(unit, c)
            yield kin.unit(gap, 0) * np.asarray(kin.of(kin.component_multipliers(c.name)[""]))[:, None]


def _inertia_element_force(
    kin: ReferenceKinematics, element: InertiaElement, speeds: Mapping[str, Any], places: Mapping[str, Any]
) -> Any:
    """Return the generalised inertia force of an inertia element, (n, nv)."""
    unit, e, k = kin.virtual, element.coordinate, kin.motion.coordinate(element.coordinate)[1]
    I = kin.motion.value(element.inertia)
    force = kin.of(I * rate(k))[:, None]
    if not derivative_order(kin.system, e):
        return kin.unit(unit.coordinate(e)[1], 0) * force
    e = substitute_names({f.name: f.value for f in kin.system.quasi}, e)
    points = {n: unit.named_by(n) for n in e.symbols() if n.rpartition(".")[0] in unit.stations}
    moving = point_velocities(kin.system)
    own = {**speeds, **{n: kin.unit(x, 0) for n, x in points.items() if n in moving}}
    shifts = {**places, **{n: kin.unit(x) for n, x in points.items() if n not in moving}}
    changing = sum(x[:, None] * own[n] for n, x in _slope_rates(kin, e, moving & points.keys()).items())
    return (
        directional_derivative(kin, e, own) * force
        + (changing - directional_derivative(kin, e, shifts)) * kin.of(I * k)[:, None]
    )


def _slope_rates(kin: ReferenceKinematics, e: Expr, velocities: Iterable[str]) -> dict[str, Any]:
    """Return the rates (n,), by name, of the partial derivatives of *e* by speeds and by *velocities* of points; for angular and
    linear velocities w, v in body axes, with partial derivatives a, b, they are da/dt + w x a + v x b and db/dt + w x b
    (Kirchhoff).
    """
    slopes = {n: kin.motion.value(e.diff(n)) for n in (*kin.system.base_speeds, *velocities)}
    found = {n: kin.of(rate(x)) for n, x in slopes.items()}
    for joint in kin.system.joints.values():
        (v, w), (b, a) = (np.zeros((2, 3), dtype=object) for _ in range(2))
        for n, (turns, axis) in zip(joint.speeds, joint.components, strict=True):
            (w if turns else v)[axis], (a if turns else b)[axis] = kin.motion.speeds[n], slopes[n]
        terms = (crossed(w, b), crossed(w, a) + crossed(v, b))
        for n, (turns, axis) in zip(joint.speeds, joint.components, strict=True):
            found[n] = found[n] + kin.of(terms[turns][axis])
    return found
