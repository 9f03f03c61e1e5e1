"""Constraints in the reference kinematics: residuals, and the forces and couples of multipliers.

A kind of constraint is a row of ``MEANINGS``; laws do not apply to systems with a kind that has no row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from kineta.algebra.expression import Expr
from kineta.mechanics.contact.rims import FLAT
from kineta.model.body import GROUND, Station
from kineta.model.constraints.equation import Constraint
from kineta.model.constraints.loop import Loop
from kineta.model.constraints.rolling import Rolling
from kineta.model.constraints.shapes import PLANE, Touching, closest, named
from kineta.model.name_inference import derivative_order
from kineta.records import dataclass
from kineta.tasks.verification.rigid_motion import RigidMotion, Vector, norm, rate
from kineta.tasks.verification.taylor_series import TaylorSeries

#: Order of the derivatives in a residual, and the residual.
Gap = tuple[int, Any]
#: Body, place, force and couple about the place, in ground axes.
Push = tuple[str, Vector, Vector, Vector]
Multipliers = Mapping[str, Any]
#: Force on an expression, and the expression.
Work = tuple[Any, Expr]


@dataclass(frozen=True, slots=True)
class Meaning:
    """The residuals of a kind of constraint, the loads of its multipliers, and the expressions on which they do work."""

    gaps: Callable[[RigidMotion, Any], Iterator[Gap]]
    pushes: Callable[[RigidMotion, Any, Multipliers], Iterator[Push]] = lambda *_: iter(())
    works: Callable[[Any, Multipliers], Iterator[Work]] = lambda *_: iter(())


def crossed(a: Vector, b: Vector) -> Vector:
    """Return the vector product."""
    found: Vector = np.cross(a, b)
    return found


def carrier(m: RigidMotion, one: str, other: str) -> str:
    """Return the nearest common ancestor of two bodies, possibly one of them."""
    base = {b.name: b.base for b in m.system.bodies}
    way = [one]
    while way[-1] != GROUND:
        way.append(base[way[-1]])
    while other not in way:
        other = base[other]
    return other


# -- loops ------------------------------------------------------------------------------------------------------------


def _places(m: RigidMotion, loop: Loop) -> tuple[Vector, Vector]:
    return m.place(loop.start), m.place(loop.end)


def _axes(m: RigidMotion, loop: Loop) -> tuple[Vector, Vector]:
    assert loop.axis is not None
    e = m.axis(loop.start.body, loop.axis)
    return e, e if loop.end_axis is None else m.axis(loop.end.body, loop.end_axis)


def _together(m: RigidMotion, loop: Loop) -> Iterator[Gap]:
    a, b = _places(m, loop)
    yield from ((0, x) for x in b - a)


def _beside(m: RigidMotion, loop: Loop) -> Iterator[Gap]:
    (a, b), (e, _) = _places(m, loop), _axes(m, loop)
    yield from ((0, x) for x in crossed(e, b - a))


def _plane(m: RigidMotion, loop: Loop) -> Iterator[Gap]:
    (a, b), (e, _) = _places(m, loop), _axes(m, loop)
    yield 0, e @ (b - a)


def _distance(m: RigidMotion, loop: Loop) -> Iterator[Gap]:
    a, b = _places(m, loop)
    assert loop.value is not None
    yield 0, norm(b - a) - m.value(loop.value)


def _parallel(m: RigidMotion, loop: Loop) -> Iterator[Gap]:
    yield from ((0, x) for x in crossed(*_axes(m, loop)))


def _square(m: RigidMotion, loop: Loop) -> Iterator[Gap]:
    e, f = _axes(m, loop)
    yield 0, e @ f


def _aligned(m: RigidMotion, loop: Loop) -> Iterator[Gap]:
    """Equal angular velocities and axes parallel in pairs; the pairing differs between assemblies."""
    between = m.frames[loop.start.body][0].T @ m.frames[loop.end.body][0]
    yield from ((0, x * (1 - x * x)) for x in between.flat)
    yield from ((1, x) for x in m.turning[loop.end.body] - m.turning[loop.start.body])


def _gear(m: RigidMotion, loop: Loop) -> Iterator[Gap]:
    """Rates of rotation of both bodies about their axes, relative to their common ancestor."""
    (e, f), base = _axes(m, loop), m.turning[carrier(m, loop.start.body, loop.end.body)]
    assert loop.value is not None
    first, second = ((m.turning[s.body] - base) @ x for s, x in ((loop.start, e), (loop.end, f)))
    yield 1, second - m.value(loop.value) * first


#: The residuals of the joints of loops.
_JOINTS: Mapping[str, tuple[Callable[[RigidMotion, Loop], Iterator[Gap]], ...]] = {
    "ball": (_together,),
    "revolute": (_together, _parallel),
    "prismatic": (_beside, _aligned),
    "universal": (_together, _square),
    "cylindrical": (_beside, _parallel),
    "rigid": (_together, _aligned),
    "line": (_beside,),
    "plane": (_plane,),
    "distance": (_distance,),
    "gear": (_gear,),
}


def _loop_gaps(m: RigidMotion, loop: Loop) -> Iterator[Gap]:
    for part in _JOINTS[loop.joint]:
        yield from part(m, loop)


#: The components of their multipliers.
_COMPONENTS: Mapping[str, frozenset[str]] = {
    name: frozenset(parts.split(","))
    for name, parts in {
        "ball": "x,y,z",
        "revolute": "x,y,z,ru,rw",
        "prismatic": "u,w,rx,ry,rz",
        "universal": "x,y,z,r",
        "cylindrical": "u,w,ru,rw",
        "rigid": "x,y,z,rx,ry,rz",
        "line": "u,w",
        "plane": "",
        "distance": "",
        "gear": "",
    }.items()
}


def _loop_pushes(m: RigidMotion, loop: Loop, of: Multipliers) -> Iterator[Push]:
    """Yield the load on the second body about its place, and the opposite load on the first: along x y z of the common ancestor;
    along u, w normal to the first axis; along the axis, or the line of a distance. A couple on a rotation turns an axis of
    the second body away from an axis of the first.
    """
    if loop.joint == "gear":
        return
    first = m.frames[loop.start.body][0]
    base = m.frames[carrier(m, loop.start.body, loop.end.body)][0]
    a, b = _places(m, loop)
    directions: dict[str, Vector] = dict(zip("xyz", base.T, strict=True))
    one, other = first.T, m.frames[loop.end.body][0].T
    directions |= {f"r{'xyz'[k]}": crossed(other[(k + 1) % 3], one[(k + 2) % 3]) for k in range(3)}
    if loop.axis is not None:
        e, f = _axes(m, loop)
        u, w = (first @ x for x in m.across(loop.axis))
        directions |= {"u": u, "w": w, "ru": crossed(w, f), "rw": crossed(f, u), "": e, "r": crossed(f, e)}
    if loop.joint == "distance":
        directions[""] = (b - a) / norm(b - a)
    f, n = np.zeros(3).astype(object), np.zeros(3).astype(object)
    for component, multiplier in of.items():
        if component not in _COMPONENTS[loop.joint]:
            f = f * np.nan  # the joint transmits no such force
            continue
        if component.startswith("r"):
            n = n + directions[component] * multiplier
        else:
            f = f + directions[component] * multiplier
    yield loop.end.body, b, f, n
    yield loop.start.body, b, -f, -n


def _loop_works(loop: Loop, of: Multipliers) -> Iterator[Work]:
    """Yield the work of a variable distance on the coordinates and positions that define it."""
    if loop.joint == "distance" and loop.value is not None:
        yield -of.get("", TaylorSeries([0.0])), loop.value


# -- rolling ----------------------------------------------------------------------------------------------------------


def arm(m: RigidMotion, shape: str, body: str, sizes: tuple[Any, ...], axis: Any, n: Vector) -> Vector:
    """Return the vector from the centre of a surface to its lowest point along the normal *n*."""
    measures = [m.value(x) for x in sizes]
    if shape == "point":
        return n * 0
    if shape == "ball":
        return n * -measures[0]
    if shape == "ellipsoid":
        own = m.frames[body][0].T @ n
        scaled = np.array([a * x for a, x in zip(measures, own, strict=True)], dtype=object)
        lowest = np.array([a * x for a, x in zip(measures, scaled / norm(scaled), strict=True)], dtype=object)
        return -(m.frames[body][0] @ lowest)
    e = m.axis(body, axis)
    across = crossed(crossed(e, n), e)
    return across / norm(across) * -measures[0] + n * -(measures[1] if len(measures) > 1 else 0.0)


def nearest(m: RigidMotion, place: Touching) -> tuple[Any, Vector, Vector]:
    """Return the gap at a *place* of a contact, the normal of its surface, and the vector from its start to where it touches."""
    S = m.frames[place.end.body][0]
    if place.surface == PLANE:
        assert place.surface_axis is not None
        n = m.axis(place.end.body, place.surface_axis)
        if place.feature:
            return _flat(m, place, n)
        lowest = arm(m, place.shape, place.start.body, place.sizes, place.axis, n)
        return n @ (m.place(place.start) + lowest - m.place(place.end)), n, lowest
    axis = None if place.axis is None else S.T @ m.axis(place.start.body, place.axis)
    own = None if place.surface_axis is None else m.direction(place.surface_axis)
    found, more = (
        closest(place),
        named(S.T @ (m.place(place.start) - m.place(place.end)), axis, own, (S.T @ m.frames[place.start.body][0]).T),
    )
    gap, *rest = (m.value(x, more) for x in (found.gap, *found.normal, *found.arm))
    return gap, S @ np.array(rest[:3], dtype=object), S @ np.array(rest[3:], dtype=object)


def _flat(m: RigidMotion, place: Touching, n: Vector) -> tuple[Any, Vector, Vector]:
    """Return the gap, the normal n and the arm at one of the places on which a rim lies flat."""
    assert place.surface_axis is not None
    assert place.axis is not None
    e, S = m.axis(place.start.body, place.axis), m.frames[place.end.body][0]
    r, tube = (*(m.value(x) for x in place.sizes), 0.0)[:2]
    u = S @ m.across(place.surface_axis)[0]
    w = crossed(n, u)
    along = (u, w, -u, -w)[place.feature[0] - 1]
    arm = (along - e * (along @ e)) * r - n * tube
    lean = crossed(n, e)
    return n @ (m.place(place.start) + arm - m.place(place.end)) + (lean @ lean * 0.5 - FLAT) * r, n, arm


def slip(m: RigidMotion, start: Station, on: str, place: Vector) -> Vector:
    """Return the velocity at *place* of the body of *start* relative to the body *on*."""

    def of(body: str) -> Vector:
        return rate(m.frames[body][1]) + crossed(m.turning[body], place - m.frames[body][1])

    return of(start.body) - of(on)


def _touching(m: RigidMotion, rolling: Rolling) -> tuple[Vector, Vector, Vector]:
    """Return normal, centre and contact point."""
    n, centre = m.axis(rolling.end.body, rolling.normal), m.place(rolling.start)
    return n, centre, centre + arm(m, rolling.shape, rolling.start.body, rolling.sizes, rolling.axis, n)


def _rolling_gaps(m: RigidMotion, rolling: Rolling) -> Iterator[Gap]:
    n, _, place = _touching(m, rolling)
    yield 0, n @ (place - m.place(rolling.end))
    yield from ((1, x) for x in crossed(n, slip(m, rolling.start, rolling.material, place)))


def _rolling_pushes(m: RigidMotion, rolling: Rolling, of: Multipliers) -> Iterator[Push]:
    """Yield the loads at the contact point: normal force from the body of the plane, tangential forces from the material."""
    n, centre, place = _touching(m, rolling)
    u, w = (m.frames[rolling.end.body][0] @ x for x in m.across(rolling.normal))
    normal, along = n * of.get("n", 0), u * of.get("u", 0) + w * of.get("w", 0)
    total = normal + along
    yield rolling.start.body, centre, total, crossed(place - centre, total)
    yield rolling.end.body, place, -normal, normal * 0
    yield rolling.material, place, -along, along * 0


# -- the table --------------------------------------------------------------------------------------------------------


def _plain_gaps(m: RigidMotion, constraint: Constraint) -> Iterator[Gap]:
    yield derivative_order(m.system, constraint.value), m.value(constraint.value)


def _plain_works(constraint: Constraint, of: Multipliers) -> Iterator[Work]:
    yield of.get("", TaylorSeries([0.0])), constraint.value


#: The residuals and loads of the kinds of constraints.
MEANINGS: Mapping[type, Meaning] = {
    Constraint: Meaning(_plain_gaps, works=_plain_works),
    Loop: Meaning(_loop_gaps, _loop_pushes, _loop_works),
    Rolling: Meaning(_rolling_gaps, _rolling_pushes),
}
