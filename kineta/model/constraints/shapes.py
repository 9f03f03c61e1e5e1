"""Shapes that touch: which there are, what touches of them, and the nearest points of two that move against each other.

What touches a body are places, each a contact of its own: a capsule lies on a plane with its two ends, and on another capsule
with its ends, with those of the other, and where both cross; a wheel touches with its lowest place, and lies flat on four. A
place is ``Touching``: a point, a ball or a capsule, or a round surface on a plane, against a plane, a ball, a capsule or a box.
The gap is the distance of both surfaces, negative where they overlap, and exact in each feature, as are its derivatives::

    ball, capsule on ball, capsule     |d| - r - R           d between the nearest places of the two axes
    ball on box                        |max(q, 0)| - r       q = |x| - sides/2; where the centre is inside, max(q) - r
    point on a face of a box           q                     the other two below zero, and below q
    box on box                         corners on faces, edges on edges (``box_pairs``)

Two bodies touch halfway between their surfaces, whichever is named first; points, and what is on a plane, touch where they are.

The nearest places of two axes, of half lengths h and k, lie at s along the first and t along the second: s is that of the lines,
kept within h, t then follows from s within k, and s from t (Ericson 2005, 5.1.9).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeVar

from kineta import tolerances
from kineta.algebra.expression import Expr, expr, symbol
from kineta.algebra.functions import maximum, minimum, sign, sqrt, step
from kineta.errors import did_you_mean
from kineta.model.axis import Axis, X, Y, Z
from kineta.model.body import Station
from kineta.model.bounds import Bound
from kineta.model.constraints import box_pairs, placement, rolling
from kineta.model.constraints.box_pairs import PARALLEL
from kineta.model.constraints.rolling import Shape
from kineta.model.constraints.three import Three, dot, moved, scaled
from kineta.records import dataclass

#: Shapes that may touch each other.
BODIES: Mapping[str, Shape] = {
    "point": Shape((), axis=False),
    "ball": Shape(("radius",), axis=False),
    "capsule": Shape(("radius", "length"), axis=True),
    "box": Shape(("side along x", "side along y", "side along z"), axis=False),
}
#: Shapes that may touch a plane.
SHAPES: Mapping[str, Shape] = {"point": BODIES["point"], **rolling.SHAPES, **BODIES}
#: Surfaces that may be touched, beside a plane.
SURFACES = ("ball", "capsule", "box")
PLANE = "plane"
#: Faces of a box across one of its axes, and a feature of two boxes.
FACE, FEATURE = "face", "feature"
#: Shapes that may lie on their rim, and the number of places that bear it then, beside the lowest.
RIMS, CORNERS = ("wheel", "disk", "torus"), 4
#: The width [m] of the edges of a face: what lies on an edge touches the face.
EDGE = tolerances.ROUNDING_TOLERANCE
#: Sines by which the normal of an edge or a corner may leave the directions between its faces.
BEYOND, CORNER_BEYOND = 0.1, 1e-6
#: Square of a distance [m^2] or a velocity that counts as zero: no centre of a ball outside of a box is so near, and
#: LEAST_DIVISOR would have no inverse of the third power of its root, which second derivatives of directions contain.
NOTHING = 1e-60
#: Names in the formulas of nearest places, which no point has: the way from the surface to the shape, the axes of both, and those
#: of a box on another, in the axes of the body of the surface.
WAY, AXIS, SURFACE_AXIS, *AXES = (tuple(f"contact.{n}{c}" for c in "xyz") for n in ("", "a", "b", "1", "2", "3"))

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Touching:
    """A place of a contact: a ``shape`` of the ``sizes`` at ``start`` on a ``surface`` at ``end``, with their axes.

    name : what tells the place from the others of its two bodies; ``''`` for the only one
    surface_axis : the normal of a plane, or the axis of a capsule
    feature : the axis of the faces of a box on which a point touches, a feature of two boxes, or the number of a place of a rim
    between : whether axes are looked at between their ends alone by steps of given size, since others have the ends
    edge : of the edge of a box, where it lies across its three axes: -1 or 1, along itself 0
    """

    name: str
    shape: str
    sizes: tuple[Expr, ...]
    start: Station
    axis: Axis | None
    surface: str
    surface_sizes: tuple[Expr, ...]
    end: Station
    surface_axis: Axis | None
    feature: tuple[int, ...] = ()
    between: bool = False
    edge: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Closest:
    """Gap of two surfaces, the normal on that of the second, and the way from the start of the first to where it touches.

    room : of a sharp place, the way it has until it touches no more, as to an edge; None for round ones, which always may
    over : 1 where a sharp place may touch, else 0
    own : 1 where a place is nearest between the ends of axes, else 0; None where it is looked at with the ends
    """

    gap: Expr
    normal: Three
    arm: Three
    room: Expr | None = None
    over: Expr | None = None
    own: Expr | None = None


def touchings(place: Touching) -> tuple[Touching, ...]:
    """The places at which the shape and the surface of *place* may touch."""
    return tuple(_touchings(place))


def hard(place: Touching) -> tuple[Touching, ...]:
    """The places of :func:`touchings`, with those of points and boxes on boxes as smooth ones that touch within their edges, and
    those on which a rim lies flat.
    """
    if place.shape == "point" and place.surface == "box":
        return tuple(replace(place, name="xyz"[k], surface=FACE, feature=(k,)) for k in range(3))
    if place.shape == place.surface == "box":
        found = box_pairs.features().items()
        return tuple(replace(place, name=name, surface=FEATURE, feature=feature) for name, feature in found)
    if place.shape in RIMS:
        return (place, *(replace(place, name=f"rim{k}", feature=(k,)) for k in range(1, CORNERS + 1)))
    return touchings(place)


def _touchings(place: Touching) -> Iterator[Touching]:
    if place.shape == "capsule" and place.surface != "ball":
        radius, length = place.sizes
        for name, end in zip(("low", "high"), _ends(place.start, length, place.axis), strict=True):
            yield replace(place, name=name, shape="ball", sizes=(radius,), start=end, axis=None)
    if place.surface == PLANE and place.shape == "box":
        for i, corner in enumerate(_corners(place), 1):
            yield replace(place, name=f"corner{i}", shape="point", sizes=(), start=corner)
    elif place.shape == place.surface == "capsule":
        radius, length = place.surface_sizes
        for name, end in zip(("other_low", "other_high"), _ends(place.end, length, place.surface_axis), strict=True):
            yield replace(
                place, name=name, surface="ball", surface_sizes=(radius,), end=end, surface_axis=None, between=True
            )
        yield replace(place, name="across", between=True)
    elif place.shape == "capsule" and place.surface == "box":
        for i, (sizes, middle, axis, sides) in enumerate(_edges(place), 1):
            on = replace(place, surface="capsule", surface_sizes=sizes, end=middle, surface_axis=axis)
            yield replace(on, name=f"edge{i}", between=True, edge=sides)
    elif place.shape != "capsule" or place.surface == "ball":
        yield place


def _ends(centre: Station, length: Expr, axis: Axis | None) -> tuple[Station, Station]:
    """The ends of an *axis* of this *length* about a *centre*."""
    assert axis is not None
    x, y, z = (expr(c) for c in axis)
    numbers = all(not isinstance(c, Expr) for c in axis)
    half = length / 2 if numbers else length / (2 * sqrt(x * x + y * y + z * z))
    return _moved(centre, (x * -half, y * -half, z * -half)), _moved(centre, (x * half, y * half, z * half))


def _moved(place: Station, way: Sequence[Expr]) -> Station:
    x, y, z = (a + b for a, b in zip(place.position, way, strict=True))
    return Station(place.body, (x, y, z))


def _corners(place: Touching) -> list[Station]:
    """The corners of a box at the start of a place."""
    sides = place.sizes
    return [
        _moved(place.start, [s * side / 2 for s, side in zip(signs, sides, strict=True)])
        for signs in product((-1, 1), repeat=3)
    ]


def _edges(place: Touching) -> Iterator[tuple[tuple[Expr, Expr], Station, Axis, tuple[int, ...]]]:
    """The edges of a box at the end of a place: sizes of capsules without radius, their centres, axes, and sides."""
    sides = place.surface_sizes
    for k, axis in enumerate((X, Y, Z)):
        for signs in product((-1, 1), repeat=2):
            across = (*signs[:k], 0, *signs[k:])
            way = [s * side / 2 for s, side in zip(across, sides, strict=True)]
            yield (expr(0), sides[k]), _moved(place.end, way), axis, across


def closest(place: Touching) -> Closest:
    """Gap, normal and arm at a *place*, of what is :func:`named`; on a plane, of points and balls."""
    own = {PLANE: _on_plane, "box": _on_box, FACE: _on_face, FEATURE: _of_boxes}
    return own.get(place.surface, _on_axis)(place)


def named(
    way: Iterable[T], axis: Iterable[T] | None, surface_axis: Iterable[T] | None, axes: Iterable[Iterable[T]] = ()
) -> dict[str, T]:
    """Values for the names in :func:`closest`: the *way* from the end to the start of a place, the axis of its shape and that of
    its surface, unit vectors, and the *axes* of a box on another, all in the axes of the body of the surface.
    """
    given = [(WAY, way), (AXIS, axis), (SURFACE_AXIS, surface_axis), *zip(AXES, axes, strict=False)]
    return {name: x for names, own in given if own is not None for name, x in zip(names, own, strict=True)}


def _on_plane(place: Touching) -> Closest:
    """A point or a ball on a plane."""
    n, radius = _symbols(SURFACE_AXIS), place.sizes[0] if place.sizes else expr(0)
    return Closest(dot(_symbols(WAY), n) - radius, n, scaled(n, -radius))


def _on_face(place: Touching) -> Closest:
    """A point on a face of a box."""
    x, (k,) = _symbols(WAY), place.feature
    q = [abs(c) - side / 2 for c, side in zip(x, place.surface_sizes, strict=True)]
    beside = maximum(*(c for m, c in enumerate(q) if m != k))
    n = [expr(0), expr(0), expr(0)]
    n[k] = sign(x[k])
    room = EDGE - beside
    return Closest(q[k], (n[0], n[1], n[2]), _NOWHERE, room, step(room - EDGE / 2) * step(q[k] + room))


def _of_boxes(place: Touching) -> Closest:
    """A feature of two boxes."""
    axes = (_symbols(AXES[0]), _symbols(AXES[1]), _symbols(AXES[2]))
    half = [_half(sizes) for sizes in (place.sizes, place.surface_sizes)]
    own = box_pairs.Boxes(_symbols(WAY), axes, *half).place(place.feature)
    room = own.room + EDGE
    return Closest(own.gap, own.normal, own.arm, room, own.over * step(room - EDGE / 2))


def _half(sides: Sequence[Expr]) -> Three:
    x, y, z = (side / 2 for side in sides)
    return x, y, z


def _on_axis(place: Touching) -> Closest:
    """A point, ball or capsule on a ball or capsule."""
    way, a, b = (_symbols(names) for names in (WAY, AXIS, SURFACE_AXIS))
    radius = place.sizes[0] if place.sizes else expr(0)
    h = place.sizes[1] / 2 if place.shape == "capsule" else None
    k = place.surface_sizes[1] / 2 if place.surface == "capsule" else None
    s = t = beside = expr(0)
    own, along = None, dot(way, a)
    if h is not None and k is not None:
        c, across = dot(a, b), dot(way, b)
        lean = maximum(1 - c * c, PARALLEL)
        beside = (PARALLEL - minimum(1 - c * c, PARALLEL)) * h * k
        s, t = (c * across - along) / lean, (across - c * along) / lean
        own = step(h - abs(s)) * step(k - abs(t)) * step(1 - c * c - PARALLEL)
        s = _within(s, h)
        t = _within(c * s + across, k)
        s = _within(c * t - along, h)
    elif h is not None:
        own, s = step(h - abs(along)), _within(-along, h)
    elif k is not None:
        t = _within(dot(way, b), k)
    ahead = scaled(a, s) if h is not None else _NOWHERE
    d = moved(moved(way, ahead), scaled(b, -t) if k is not None else _NOWHERE)
    apart = sqrt(dot(d, d))
    n = scaled(d, 1 / apart)
    gap = apart - radius - place.surface_sizes[0]
    if place.edge and h is not None and k is not None and own is not None:
        own = _at_edge(place.edge, n, own, t, h - abs(along - dot(a, b) * t), k)
    arm = moved(scaled(n, -radius - gap / 2), ahead)
    return Closest(gap + beside, n, arm, own=own if place.between else None)


def _at_edge(sides: Sequence[int], n: Three, own: Expr, t: Expr, room: Expr, half: Expr) -> Expr:
    """1 where the axis of a capsule is nearest to an edge of a box, of which it lies in the direction n, else 0: between the
    ends of both, as *own* tells, or for edges along the first axis at an end t of a *half* length with *room* along the capsule.
    """
    within = [side * x for side, x in zip(sides, n, strict=True) if side]
    between = own * step(within[0] + BEYOND) * step(within[1] + BEYOND)
    if sides[0]:
        return between
    out = step(within[0] + CORNER_BEYOND) * step(within[1] + CORNER_BEYOND) * step(sign(t) * n[0] + CORNER_BEYOND)
    return maximum(between, step(abs(t) - half * (1 - CORNER_BEYOND)) * step(room) * out)


def _on_box(place: Touching) -> Closest:
    """A point or a ball on a box: outside, the nearest place of the box; inside, the nearest face."""
    x = _symbols(WAY)
    q = [abs(c) - side / 2 for c, side in zip(x, place.surface_sizes, strict=True)]
    first, other = step(q[0] - q[1]) * step(q[0] - q[2]), step(q[1] - q[2])
    face = [first, (1 - first) * other, (1 - first) * (1 - other)]
    most = maximum(maximum(q[0], q[1]), q[2])
    if place.shape == "point":
        (nx, ny, nz) = (sign(c) * f for c, f in zip(x, face, strict=True))
        return Closest(most, (nx, ny, nz), _NOWHERE)
    (radius,) = place.sizes
    over = [maximum(c, 0) for c in q]
    away = sqrt(maximum(over[0] ** 2 + over[1] ** 2 + over[2] ** 2, NOTHING))
    outside = step(most)
    n = [sign(c) * (outside * o / away + (1 - outside) * f) for c, o, f in zip(x, over, face, strict=True)]
    normal, gap = (n[0], n[1], n[2]), outside * away + minimum(most, 0) - radius
    return Closest(gap, normal, scaled(normal, -radius - gap / 2))


#: The way from a point to where it touches.
_NOWHERE: Three = (expr(0), expr(0), expr(0))


def _symbols(names: Sequence[str]) -> Three:
    x, y, z = map(symbol, names)
    return x, y, z


def _within(x: Expr, half: Expr) -> Expr:
    """*x*, or the nearest of the ends of an axis of this half length."""
    return minimum(maximum(x, -half), half)


def compliant_fault(place: Touching) -> tuple[str, str] | None:
    """Sentence on what no stiffness can be given to, and the word at fault."""
    if place.shape == place.surface == "box":
        return "a box on a box has no stiffness; give balls or points on it.", place.surface
    return shape_fault(place, BODIES)


def shape_fault(place: Touching, allowed: Mapping[str, Shape]) -> tuple[str, str] | None:
    """Sentence on the shape or the surface of a *place*, of the *allowed* shapes on a plane, and the word at fault."""
    on_plane = place.surface == PLANE
    if on_plane and place.surface_axis is None:
        return f"a plane needs its normal, as in {place.end.body} axis (0, 0, 1).", place.end.body
    known = allowed if on_plane else BODIES
    if place.shape not in known:
        if place.shape in allowed:
            text = f"expected {_listed(BODIES)} on a {place.surface}, found '{place.shape}', which touches planes only."
            return text, place.shape
        if place.shape in SHAPES:
            text = f"expected {_listed(BODIES)}, which alone may be compliant, found '{place.shape}'."
            return text, place.shape
        near = did_you_mean(place.shape, known)
        return f"expected a shape ({', '.join(known)}), found '{place.shape}'.{near}", place.shape
    text = rolling.shape_fault(place.shape, known[place.shape], place.sizes, place.axis, place.start.body)
    if text or on_plane:
        return (text, place.shape) if text else None
    if place.surface not in SURFACES:
        near = did_you_mean(place.surface, SURFACES)
        text = f"expected a surface ({', '.join(SURFACES)}), or none for a plane, found '{place.surface}'.{near}"
        return text, place.surface
    body, sizes, axis = place.end.body, place.surface_sizes, place.surface_axis
    text = rolling.shape_fault(place.surface, BODIES[place.surface], sizes, axis, body)
    if not text and place.shape == "box":
        text = "" if place.surface == "box" else "expected the box as the surface: "
        text += "" if not text else f"{place.surface} = ... on box = ..., with the places exchanged."
    return (text, place.surface) if text else None


def _listed(names: Mapping[str, Shape]) -> str:
    *others, last = names
    return f"a {', a '.join(others)} or a {last}"


def clause(places: Sequence[Touching]) -> str:
    """Text of *places* that differ in their starts: ``: ball = r on box = a, b, c between A, B and C``."""
    of = places[0]
    shape, surface = (
        f"{name} = {', '.join(map(str, sizes))}" if sizes else name
        for name, sizes in ((of.shape, of.sizes), (of.surface, of.surface_sizes))
    )
    on = "" if of.surface == PLANE else f" on {surface}"
    starts = ", ".join(placement.place(place.start, place.axis) for place in places)
    return f": {shape}{on} between {starts} and {placement.place(of.end, of.surface_axis)}"


def bounds(place: Touching) -> tuple[Bound, ...]:
    """The ranges of the sizes of a *place*: lengths above zero."""
    found = rolling.positive_sizes(place.shape, SHAPES[place.shape], place.sizes)
    if place.surface == PLANE:
        return found
    return (*found, *rolling.positive_sizes(place.surface, BODIES[place.surface], place.surface_sizes))
