"""Features of two boxes that touch: their axis of separation, and on it a crossing of two edges, or all vertices of the polygon
in which two faces overlap.

Where a face separates them most, the opposite face of the other box lies over it. What bears are its corners over the face,
corners of the face below the other, and crossings of both outlines; each is a feature with a gap and a normal of its own, exact
also where faces are not parallel.
"""

from __future__ import annotations

from kineta.integration.stepping_records import NearPairs
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.time_stepping.pair_features import (
    AXES,
    CENTRE,
    EDGE,
    FOOT,
    NORMAL,
    OTHER_EDGE,
    PARALLEL,
    PLACE,
    cross,
    cross_edges,
    dot,
    is_between,
    keep_crossing,
    keep_on_face,
    move,
    next_feature,
    put_corner,
    put_edge,
    shape_at,
)
from kineta.memory import Reals

#: Separation [m] by which an axis must separate more than those before, and that by which edges must separate more than faces,
#: as a part of the smallest half side: faces that are nearly parallel bear on more than one place.
NOISE, BLUNT = 1e-9, 0.05
#: Overlap across a face, as a part of the smallest half side, below which boxes meet at a rim, and not on that face: a box that
#: slides over boxes flush with each other does not run into the next.
RIM = 1e-3
#: Distance from the edge of a face, as a part of the smallest half side, below which a corner lies on it.
ON_EDGE = 1e-4
#: Numbers of features: corners of both boxes, then pairs of edges.
CORNERS, EDGES = 8, 12


@kernel
def touch_boxes(pairs: NearPairs, a: int, b: int) -> None:
    """The features of two boxes."""
    one, other, h, k = shape_at(pairs, a), shape_at(pairs, b), pairs.half[3 * a :], pairs.half[3 * b :]
    way, C, apart = pairs.work[6:], pairs.work[9:], pairs.work[18:]
    least = h[0]
    for i in range(3):
        way[i] = other[CENTRE + i] - one[CENTRE + i]
        least = min(least, min(h[i], k[i]))
        for j in range(3):
            C[3 * i + j] = dot(one[AXES + 3 * i :], other[AXES + 3 * j :])
    best = 0
    for i in range(3):
        apart[i] = fabs(dot(way, one[AXES + 3 * i :])) - h[i]
        apart[3 + i] = fabs(dot(way, other[AXES + 3 * i :])) - k[i]
        for j in range(3):
            apart[i] -= fabs(C[3 * i + j]) * k[j]
            apart[3 + i] -= fabs(C[3 * j + i]) * h[j]
    for i in range(6):
        if apart[i] > apart[best] + NOISE:
            best = i
    if apart[best] > pairs.close:
        return
    edges, most = -1, apart[best]
    for i in range(3):
        for j in range(3):
            found = edge_separation(pairs, a, b, i, j)
            if found > most:
                edges, most = 3 * i + j, found
    if most > pairs.close:
        return
    before, sharp = pairs.count, most > apart[best] + BLUNT * least
    crosses, rim, own = False, False, 0 if best < 3 else 3
    if sharp:
        crosses = touch_edges(pairs, a, b, edges // 3, edges % 3)
    for i in range(3):
        rim = rim or (own + i != best and apart[own + i] > -RIM * least)
    if not (crosses or rim):
        touch_faces(pairs, a if best < 3 else b, b if best < 3 else a, best % 3, ON_EDGE * least)
        if edges >= 0 and not sharp and pairs.count == before:
            touch_edges(pairs, a, b, edges // 3, edges % 3)


@kernel
def edge_separation(pairs: NearPairs, a: int, b: int, i: int, j: int) -> float:
    """The separation of two boxes across their edges along the axes i and j; far below zero where these are parallel."""
    h, k, way, C = pairs.half[3 * a :], pairs.half[3 * b :], pairs.work[6:], pairs.work[9:]
    square = 1.0 - C[3 * i + j] * C[3 * i + j]
    if square < PARALLEL:
        return -1e30
    L = pairs.work[24:]
    cross(shape_at(pairs, a)[AXES + 3 * i :], shape_at(pairs, b)[AXES + 3 * j :], L)
    found = fabs(dot(way, L))
    for m in range(3):
        if m != i:
            found -= h[m] * fabs(C[3 * (3 - m - i) + j])
        if m != j:
            found -= k[m] * fabs(C[3 * i + 3 - m - j])
    return found / sqrt(square)


@kernel
def touch_edges(pairs: NearPairs, a: int, b: int, i: int, j: int) -> bool:
    """The crossing of the edges of two boxes along the axes i and j that are nearest to each other; whether they cross."""
    one, other, way, L = shape_at(pairs, a), shape_at(pairs, b), pairs.work[6:], pairs.work[24:]
    cross(one[AXES + 3 * i :], other[AXES + 3 * j :], L)
    if dot(L, way) > 0.0:
        for m in range(3):
            L[m] = -L[m]
    own, first = next_feature(pairs), facing_edge(pairs, a, i, L, -1.0)
    second, out = facing_edge(pairs, b, j, L, 1.0), pairs.work[27:]
    put_edge(pairs, a, first, own[PLACE:], out)
    put_edge(pairs, b, second, own[FOOT:], out)
    for m in range(3):
        own[EDGE + m], own[OTHER_EDGE + m] = one[AXES + 3 * i + m], other[AXES + 3 * j + m]
    found = cross_edges(pairs, pairs.half[3 * a + i], pairs.half[3 * b + j], L, 0.0)
    if found:
        keep_crossing(pairs, a, b, 2 * CORNERS + EDGES * first + second, 0.0, 0.0)
    return found


@kernel
def facing_edge(pairs: NearPairs, s: int, axis: int, L: Reals, sign: float) -> int:
    """The number of the edge of a box along an *axis* that is farthest along the direction L, or against it."""
    at, found = shape_at(pairs, s), 4 * axis
    for m in range(2):
        if sign * dot(L, at[AXES + 3 * ((axis + 1 + m) % 3) :]) > 0.0:
            found += 1 + m
    return found


@kernel
def corner_number(axis: int, first: int, second: int, side: int) -> int:
    """The number of a corner with a *side* along an *axis*, and sides along the two behind it."""
    found = 0
    for m in range(3):
        own = side if m == axis else first if m == (axis + 1) % 3 else second
        found += own if m == 0 else 2 * own if m == 1 else 4 * own
    return found


@kernel
def touch_faces(pairs: NearPairs, base: int, top: int, i: int, tolerance: float) -> None:
    """The features in which the box *top* overlaps a face of the box *base* across its axis i."""
    at, over, N, M = shape_at(pairs, base), shape_at(pairs, top), pairs.work[24:], pairs.work[27:]
    side, most, j, facing = 0.0, -1.0, 0, 0.0
    for m in range(3):
        side += (over[CENTRE + m] - at[CENTRE + m]) * at[AXES + 3 * i + m]
    side = 1.0 if side >= 0.0 else -1.0
    for m in range(3):
        N[m] = side * at[AXES + 3 * i + m]
    for m in range(3):
        leans = dot(N, over[AXES + 3 * m :])
        if fabs(leans) > most + NOISE:
            most, j, facing = fabs(leans), m, -1.0 if leans > 0.0 else 1.0
    for m in range(3):
        M[m] = facing * over[AXES + 3 * j + m]
    touch_top_corners(pairs, base, top, i, j, 1 if facing > 0.0 else 0, tolerance)
    touch_base_corners(pairs, base, top, i, j, 1 if side > 0.0 else 0, tolerance)
    cross_outlines(pairs, base, top, i, j, 1 if side > 0.0 else 0, 1 if facing > 0.0 else 0, tolerance)


@kernel
def touch_top_corners(pairs: NearPairs, base: int, top: int, i: int, j: int, facing: int, tolerance: float) -> None:
    """Corners of the box *top* over the face of *base*; places of all four along the face."""
    at, N, flat, u, v = shape_at(pairs, base), pairs.work[24:], pairs.work[30:], (i + 1) % 3, (i + 2) % 3
    for k in range(4):
        own = next_feature(pairs)
        corner = corner_number(j, 1 if k == 0 or k == 3 else 0, 1 if k < 2 else 0, facing)
        put_corner(pairs, top, corner)
        x, y = 0.0, 0.0
        for m in range(3):
            d = own[PLACE + m] - at[CENTRE + m]
            x += d * at[AXES + 3 * u + m]
            y += d * at[AXES + 3 * v + m]
            own[NORMAL + m] = N[m]
        flat[2 * k], flat[2 * k + 1] = x, y
        if fabs(x) <= pairs.half[3 * base + u] + tolerance and fabs(y) <= pairs.half[3 * base + v] + tolerance:
            move(at[CENTRE:], pairs.half[3 * base + i], N, own[FOOT:])
            keep_on_face(pairs, top, base, corner + (0 if top < base else CORNERS), 0.0)


@kernel
def touch_base_corners(pairs: NearPairs, base: int, top: int, i: int, j: int, side: int, tolerance: float) -> None:
    """Corners of the face of the box *base* below the box *top*, but for those below its corners."""
    over, N, M, flat, foot = shape_at(pairs, top), pairs.work[24:], pairs.work[27:], pairs.work[30:], pairs.work[38:]
    u, v, away = (j + 1) % 3, (j + 2) % 3, 4.0 * tolerance * tolerance
    slope = dot(N, M)
    for k in range(4):
        own = next_feature(pairs)
        first, second = 1 if k % 2 == 1 else 0, k // 2
        corner = corner_number(i, first, second, side)
        put_corner(pairs, base, corner)
        move(over[CENTRE:], pairs.half[3 * top + j], M, own[FOOT:])
        rise, x, y = 0.0, 0.0, 0.0
        for m in range(3):
            rise += (own[FOOT + m] - own[PLACE + m]) * M[m]
            own[NORMAL + m] = M[m]
        move(own[PLACE:], rise / slope, N, foot)
        for m in range(3):
            x += (foot[m] - over[CENTRE + m]) * over[AXES + 3 * u + m]
            y += (foot[m] - over[CENTRE + m]) * over[AXES + 3 * v + m]
        is_below = fabs(x) <= pairs.half[3 * top + u] + tolerance and fabs(y) <= pairs.half[3 * top + v] + tolerance
        X = pairs.half[3 * base + (i + 1) % 3] * (1.0 if first == 1 else -1.0)
        Y = pairs.half[3 * base + (i + 2) % 3] * (1.0 if second == 1 else -1.0)
        for m in range(4):
            dx, dy = flat[2 * m] - X, flat[2 * m + 1] - Y
            is_below = is_below and dx * dx + dy * dy > away
        if is_below:
            keep_on_face(pairs, base, top, corner + (0 if base < top else CORNERS), 0.0)


@kernel
def cross_outlines(
    pairs: NearPairs, base: int, top: int, i: int, j: int, side: int, facing: int, tolerance: float
) -> None:
    """Edges of the box *top* that cross those of the face of *base*, between the ends of both."""
    flat = pairs.work[30:]
    for k in range(4):
        x, y, z, w = flat[2 * k], flat[2 * k + 1], flat[(2 * k + 2) % 8], flat[(2 * k + 3) % 8]
        # from one corner to the next along the first axis behind j, where k is even, else along the second
        along = (j + 1 + k % 2) % 3
        upper = edge_number(j, along, facing, 1 if k == 0 or k == 3 else 0)
        for way in range(4):
            across = way // 2
            u = (i + 1 + across) % 3
            v = (i + 2 - across) % 3
            X = pairs.half[3 * base + u] * (1.0 if way % 2 == 1 else -1.0)
            p, q = (y if across == 1 else x) - X, (w if across == 1 else z) - X
            if p * q < 0.0 and min(fabs(p), fabs(q)) > tolerance:
                s = p / (p - q)
                place = x + s * (z - x) if across == 1 else y + s * (w - y)
                if fabs(place) < pairs.half[3 * base + v] - tolerance:
                    keep_outline(pairs, base, top, edge_number(i, v, side, way % 2), upper, tolerance)


@kernel
def edge_number(face: int, along: int, side: int, other_side: int) -> int:
    """The number of the edge *along* an axis of the face across another, with a *side* along that, and one along the third."""
    first = (along + 1) % 3 == face
    return 4 * along + (side + 2 * other_side if first else other_side + 2 * side)


@kernel
def keep_outline(pairs: NearPairs, base: int, top: int, lower: int, upper: int, tolerance: float) -> None:
    """The crossing of the edges *lower* and *upper* of two boxes, the first that of the box of the lesser number."""
    own, out, N = next_feature(pairs), pairs.work[38:], pairs.work[24:]
    a, b = min(base, top), max(base, top)
    first, second = upper if top == a else lower, lower if top == a else upper
    i = put_edge(pairs, a, first, own[PLACE:], out)
    j = put_edge(pairs, b, second, own[FOOT:], out)
    for m in range(3):
        own[EDGE + m] = shape_at(pairs, a)[AXES + 3 * i + m]
        own[OTHER_EDGE + m] = shape_at(pairs, b)[AXES + 3 * j + m]
        out[m] = N[m] if top == a else -N[m]
    crosses = cross_edges(pairs, pairs.half[3 * a + i], pairs.half[3 * b + j], out, tolerance)
    if crosses and is_between(pairs, a, first, -1.0) and is_between(pairs, b, second, 1.0):
        keep_crossing(pairs, a, b, 2 * CORNERS + EDGES * first + second, 0.0, 0.0)
