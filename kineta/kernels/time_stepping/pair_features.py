"""Features of two shapes that touch each other: a vertex on a vertex, an edge or a face, or two edges that cross.

Shapes are cores with a radius: a ball is a point, a capsule a segment, a box a box, a plane a half-space. Of each pair all
features are listed whose gap may close in a step; what the first of the two has in a feature is a vertex, or the first edge.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.stepping_records import NearPairs
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.vectors import copy
from kineta.memory import Reals

#: Numbers of a shape before derivatives: radius, centre, six velocities, six rates of them, its three axes.
RADIUS, CENTRE, VELOCITY, BIAS, AXES, DERIVATIVES = 0, 1, 4, 10, 16, 25
#: Numbers of a feature: gap, distance of the cores, radius of the first, places on both cores, the normal towards the first,
#: and the edges of both.
GAP, DISTANCE, ROUND, PLACE, FOOT, NORMAL, EDGE, OTHER_EDGE, FEATURE_NUMBERS = 0, 1, 2, 3, 6, 9, 12, 15, 18
#: Shapes, in the order in which one of a pair is the first.
BALL, CAPSULE, BOX, PLANE = 0, 1, 2, 3
#: Features: a vertex on a vertex, on an edge, on a face; edges that cross.
ON_VERTEX, ON_EDGE, ON_FACE, CROSSING = 0, 1, 2, 3
#: Distance [m] of centres below which their direction is arbitrary.
LEAST_DISTANCE = tolerances.ROUNDING_TOLERANCE
#: Square of the sine of the angle of two edges below which they are parallel.
PARALLEL = tolerances.SINGULARITY_TOLERANCE**2
#: Sines by which the normal of an edge or a corner may leave the directions between its faces.
BEYOND, CORNER_BEYOND = 0.1, 1e-6


@kernel
def dot(a: Reals, b: Reals) -> float:
    """The product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Reals, b: Reals, out: Reals) -> None:
    """The cross product of two vectors."""
    x, y, z = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    out[0], out[1], out[2] = x, y, z


@kernel
def move(start: Reals, way: float, along: Reals, out: Reals) -> None:
    """The point at a *way* from the start *along* a direction."""
    for i in range(3):
        out[i] = start[i] + way * along[i]


@kernel
def shape_at(pairs: NearPairs, s: int) -> Reals:
    """The numbers of a shape."""
    return pairs.places[pairs.place_start[s] :]


@kernel
def next_feature(pairs: NearPairs) -> Reals:
    """The numbers of the feature to find next."""
    return pairs.features[FEATURE_NUMBERS * pairs.count :]


@kernel
def keep(pairs: NearPairs, kind: int, one: int, other: int, name: int) -> None:
    """Keep the next feature, of this *kind*, of the shapes *one* and *other*, if its gap may close; its *name* tells it from
    the others of the pair.
    """
    if next_feature(pairs)[GAP] > pairs.close:
        return
    if pairs.count == pairs.room:
        pairs.full = True
        return
    k = pairs.count
    pairs.feature_kind[k], pairs.one[k], pairs.other[k], pairs.feature[k] = kind, one, other, name
    pairs.pair[k] = min(one, other) * pairs.shapes + max(one, other)
    pairs.count = k + 1


@kernel
def keep_vertex(
    pairs: NearPairs, kind: int, one: int, other: int, name: int, radius: float, other_radius: float
) -> None:
    """Keep the vertex in the next feature, of a shape with this *radius*, that is nearest to its foot."""
    own, distance = next_feature(pairs), 0.0
    for i in range(3):
        own[NORMAL + i] = own[PLACE + i] - own[FOOT + i]
    distance = sqrt(dot(own[NORMAL:], own[NORMAL:]))
    if distance < LEAST_DISTANCE:
        own[NORMAL], own[NORMAL + 1], own[NORMAL + 2], distance = 0.0, 0.0, LEAST_DISTANCE, LEAST_DISTANCE
    for i in range(3):
        own[NORMAL + i] /= distance
    own[GAP], own[DISTANCE], own[ROUND] = distance - radius - other_radius, distance, radius
    keep(pairs, kind, one, other, name)


@kernel
def keep_on_face(pairs: NearPairs, one: int, other: int, name: int, radius: float) -> None:
    """Keep the vertex in the next feature on the face with its normal and with its foot, any point of the face."""
    own, distance = next_feature(pairs), 0.0
    for i in range(3):
        distance += (own[PLACE + i] - own[FOOT + i]) * own[NORMAL + i]
    move(own[PLACE:], -distance, own[NORMAL:], own[FOOT:])
    own[GAP], own[DISTANCE], own[ROUND] = distance - radius, distance, radius
    keep(pairs, ON_FACE, one, other, name)


@kernel
def cross_edges(pairs: NearPairs, half: float, other_half: float, out: Reals, room: float) -> bool:
    """Where the edges in the next feature cross, from their middles to the nearest places, with the normal on the side of *out*;
    whether these lie within the halves of both, and this *room* beyond.
    """
    own = next_feature(pairs)
    e, f, way = own[EDGE:], own[OTHER_EDGE:], pairs.work
    for i in range(3):
        way[i] = own[PLACE + i] - own[FOOT + i]
    c, along, across = dot(e, f), dot(e, way), dot(f, way)
    square = 1.0 - c * c
    if square < PARALLEL:
        return False
    s, t = (c * across - along) / square, (across - c * along) / square
    if fabs(s) > half + room or fabs(t) > other_half + room:
        return False
    move(own[PLACE:], s, e, own[PLACE:])
    move(own[FOOT:], t, f, own[FOOT:])
    cross(e, f, own[NORMAL:])
    size = sqrt(square)
    if dot(own[NORMAL:], out) < 0.0:
        size = -size
    for i in range(3):
        own[NORMAL + i] /= size
    distance = 0.0
    for i in range(3):
        distance += (own[PLACE + i] - own[FOOT + i]) * own[NORMAL + i]
    own[DISTANCE] = distance
    return True


@kernel
def keep_crossing(pairs: NearPairs, one: int, other: int, name: int, radius: float, other_radius: float) -> None:
    """Keep the edges that cross in the next feature."""
    own = next_feature(pairs)
    own[GAP], own[ROUND] = own[DISTANCE] - radius - other_radius, radius
    keep(pairs, CROSSING, one, other, name)


@kernel
def touch_segment(pairs: NearPairs, one: int, other: int, name: int, radius: float, inside: bool) -> None:
    """The vertex in the next feature on the capsule *other*: on its axis, or unless it has to be *inside*, on an end."""
    own, at = next_feature(pairs), shape_at(pairs, other)
    half, s, kind = pairs.half[3 * other], 0.0, ON_EDGE
    for i in range(3):
        s += (own[PLACE + i] - at[CENTRE + i]) * at[AXES + i]
    if fabs(s) >= half:
        if inside:
            return
        s, kind = half if s > 0.0 else -half, ON_VERTEX
    move(at[CENTRE:], s, at[AXES:], own[FOOT:])
    copy(at[AXES:], own[OTHER_EDGE:], 3)
    keep_vertex(pairs, kind, one, other, name, radius, at[RADIUS])


@kernel
def touch_box(pairs: NearPairs, one: int, other: int, name: int, radius: float) -> None:
    """The vertex in the next feature, of a round shape, on the nearest face, edge or corner of the box *other*."""
    own, at, half = next_feature(pairs), shape_at(pairs, other), pairs.half[3 * other :]
    q, outside, face, free, most = pairs.work, 0, 0, 0, 0.0
    for k in range(3):
        q[k] = 0.0
        for i in range(3):
            q[k] += (own[PLACE + i] - at[CENTRE + i]) * at[AXES + 3 * k + i]
        beyond = fabs(q[k]) - half[k]
        if k == 0 or beyond > most:
            face, most = k, beyond
        if beyond > 0.0:
            outside += 1
        else:
            free = k
    if outside <= 1:
        side = 1.0 if q[face] >= 0.0 else -1.0
        for i in range(3):
            own[NORMAL + i] = side * at[AXES + 3 * face + i]
        move(at[CENTRE:], half[face], own[NORMAL:], own[FOOT:])
        keep_on_face(pairs, one, other, name, radius)
        return
    copy(at[CENTRE:], own[FOOT:], 3)
    for k in range(3):
        move(own[FOOT:], max(-half[k], min(half[k], q[k])), at[AXES + 3 * k :], own[FOOT:])
    copy(at[AXES + 3 * free :], own[OTHER_EDGE:], 3)
    keep_vertex(pairs, ON_EDGE if outside == 2 else ON_VERTEX, one, other, name, radius, 0.0)


@kernel
def put_on_plane(pairs: NearPairs, one: int, other: int, name: int, radius: float) -> None:
    """The vertex in the next feature on the plane *other*."""
    own, at = next_feature(pairs), shape_at(pairs, other)
    copy(at[AXES:], own[NORMAL:], 3)
    copy(at[CENTRE:], own[FOOT:], 3)
    keep_on_face(pairs, one, other, name, radius)


@kernel
def put_corner(pairs: NearPairs, s: int, corner: int) -> None:
    """The *corner* of the box s, whose bits are its sides, as the vertex of the next feature."""
    own, at, bit = next_feature(pairs), shape_at(pairs, s), corner
    copy(at[CENTRE:], own[PLACE:], 3)
    for k in range(3):
        side = 1.0 if bit % 2 == 1 else -1.0
        bit //= 2
        move(own[PLACE:], side * pairs.half[3 * s + k], at[AXES + 3 * k :], own[PLACE:])


@kernel
def touch_vertex(pairs: NearPairs, one: int, other: int, name: int, radius: float) -> None:
    """The vertex in the next feature on the shape *other*."""
    kind = pairs.kind[other]
    if kind == BALL:
        at = shape_at(pairs, other)
        copy(at[CENTRE:], next_feature(pairs)[FOOT:], 3)
        keep_vertex(pairs, ON_VERTEX, one, other, name, radius, at[RADIUS])
    elif kind == CAPSULE:
        touch_segment(pairs, one, other, name, radius, False)
    elif kind == BOX:
        touch_box(pairs, one, other, name, radius)
    else:
        put_on_plane(pairs, one, other, name, radius)


@kernel
def touch_capsule(pairs: NearPairs, a: int, b: int) -> None:
    """The features of the capsule a on b, a capsule, a box or a plane: those of its ends, of what touches between them, and
    where edges cross.
    """
    one, half = shape_at(pairs, a), pairs.half[3 * a]
    for k in range(2):
        move(one[CENTRE:], half if k == 1 else -half, one[AXES:], next_feature(pairs)[PLACE:])
        touch_vertex(pairs, a, b, k, one[RADIUS])
    if pairs.kind[b] == CAPSULE:
        other = shape_at(pairs, b)
        for k in range(2):
            move(
                other[CENTRE:],
                pairs.half[3 * b] if k == 1 else -pairs.half[3 * b],
                other[AXES:],
                next_feature(pairs)[PLACE:],
            )
            touch_segment(pairs, b, a, 2 + k, other[RADIUS], True)
        own, way = next_feature(pairs), pairs.work[3:]
        for i in range(3):
            own[PLACE + i], own[FOOT + i] = one[CENTRE + i], other[CENTRE + i]
            own[EDGE + i], own[OTHER_EDGE + i] = one[AXES + i], other[AXES + i]
            way[i] = one[CENTRE + i] - other[CENTRE + i]
        crosses = cross_edges(pairs, half, pairs.half[3 * b], way, 0.0)
        if crosses:
            if own[DISTANCE] < 0.0:
                own[DISTANCE] = -own[DISTANCE]
                for i in range(3):
                    own[NORMAL + i] = -own[NORMAL + i]
            keep_crossing(pairs, a, b, 4, one[RADIUS], other[RADIUS])
    elif pairs.kind[b] == BOX:
        for corner in range(8):
            put_corner(pairs, b, corner)
            is_out = points_out(pairs, b, a, corner)
            if is_out:
                touch_segment(pairs, b, a, 2 + corner, 0.0, True)
        for edge in range(12):
            cross_box_edge(pairs, a, b, edge)


@kernel
def points_out(pairs: NearPairs, box: int, s: int, corner: int) -> bool:
    """Whether the axis of the capsule s is nearest to the *corner* of a box in a direction between its faces, with the corner as
    the vertex of the next feature.
    """
    own, at, other, way, bit = next_feature(pairs), shape_at(pairs, box), shape_at(pairs, s), pairs.work, corner
    along, fits = 0.0, True
    for i in range(3):
        along += (own[PLACE + i] - other[CENTRE + i]) * other[AXES + i]
    for i in range(3):
        way[i] = other[CENTRE + i] + along * other[AXES + i] - own[PLACE + i]
    size = sqrt(dot(way, way))
    for k in range(3):
        side = 1.0 if bit % 2 == 1 else -1.0
        bit //= 2
        fits = fits and side * dot(way, at[AXES + 3 * k :]) >= -CORNER_BEYOND * size
    return fits


@kernel
def put_edge(pairs: NearPairs, s: int, edge: int, place: Reals, out: Reals) -> int:
    """The middle of an *edge* of the box s, which is numbered by its axis and its sides along the two behind, and a vector *out*
    of the box; its axis.
    """
    at, axis, bit = shape_at(pairs, s), edge // 4, edge % 4
    copy(at[CENTRE:], place, 3)
    for i in range(3):
        out[i] = 0.0
    for m in range(2):
        k = (axis + 1 + m) % 3
        side = 1.0 if bit % 2 == 1 else -1.0
        bit //= 2
        move(place, side * pairs.half[3 * s + k], at[AXES + 3 * k :], place)
        move(out, side, at[AXES + 3 * k :], out)
    return axis


@kernel
def is_between(pairs: NearPairs, s: int, edge: int, sign: float) -> bool:
    """Whether the normal in the next feature, or with the *sign* -1 that against it, lies between the faces of the box s at an
    *edge*, or little beyond.
    """
    at, fits, bit = shape_at(pairs, s), True, edge % 4
    for m in range(2):
        side = sign if bit % 2 == 1 else -sign
        bit //= 2
        fits = fits and side * dot(next_feature(pairs)[NORMAL:], at[AXES + 3 * ((edge // 4 + 1 + m) % 3) :]) >= -BEYOND
    return fits


@kernel
def cross_box_edge(pairs: NearPairs, a: int, b: int, edge: int) -> None:
    """The axis of the capsule a across an *edge* of the box b."""
    own, one, at, out = next_feature(pairs), shape_at(pairs, a), shape_at(pairs, b), pairs.work[3:]
    axis = put_edge(pairs, b, edge, own[FOOT:], out)
    for i in range(3):
        own[PLACE + i], own[EDGE + i], own[OTHER_EDGE + i] = one[CENTRE + i], one[AXES + i], at[AXES + 3 * axis + i]
    crosses = cross_edges(pairs, pairs.half[3 * a], pairs.half[3 * b + axis], out, 0.0)
    if crosses and own[DISTANCE] >= 0.0 and is_between(pairs, b, edge, 1.0):
        keep_crossing(pairs, a, b, 10 + edge, one[RADIUS], 0.0)
