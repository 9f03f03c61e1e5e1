"""Pairs of shapes that are near in a step, found by sweep and prune, and the contacts of their features.

Which pairs are near is decided anew amidst each step, and each feature in which one may touch becomes a contact behind those of
the components. Pairs are in the order of the numbers of their shapes, so that runs repeat to the bit, and a feature keeps what it
was pressed by in the last step.
"""

from __future__ import annotations

from kineta.integration.stepping_records import IMPACT_SUMS, NearPairs, SteppingData
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.time_stepping.box_features import touch_boxes
from kineta.kernels.time_stepping.pair_features import (
    AXES,
    BALL,
    BOX,
    CAPSULE,
    CENTRE,
    FEATURE_NUMBERS,
    GAP,
    PLACE,
    PLANE,
    RADIUS,
    VELOCITY,
    dot,
    next_feature,
    put_corner,
    put_on_plane,
    shape_at,
    touch_capsule,
    touch_vertex,
)
from kineta.kernels.time_stepping.step_impulses import REACH
from kineta.kernels.vectors import copy
from kineta.memory import Integers, Reals

#: Part of the smaller size by which impacts in a step may bring a pair near.
CROWD = 0.25
#: Half the size of a plane [m].
ENDLESS = 1e30


@kernel
def first_gap(n: int) -> int:
    """The largest gap of sorting n numbers (Knuth)."""
    gap = 1
    while 9 * gap < n:
        gap = 3 * gap + 1
    return gap


@kernel
def sort_by_bounds(order: Integers, lower: Reals, n: int) -> None:
    """Sort n shapes by their lower bounds, those that are alike by number (Shell)."""
    gap = first_gap(n)
    while gap > 0:
        for i in range(gap, n):
            own, j, more = order[i], i, True
            while more and j >= gap:
                other = order[j - gap]
                more = lower[other] > lower[own] or (lower[other] == lower[own] and other > own)
                if more:
                    order[j] = other
                    j -= gap
            order[j] = own
        gap //= 3


@kernel
def sort_keys(key: Integers, n: int) -> None:
    """Sort n keys (Shell)."""
    gap = first_gap(n)
    while gap > 0:
        for i in range(gap, n):
            own, j, more = key[i], i, True
            while more and j >= gap:
                more = key[j - gap] > own
                if more:
                    key[j] = key[j - gap]
                    j -= gap
            key[j] = own
        gap //= 3


@kernel
def begin_pairs(run: SteppingData) -> None:
    """Begin without pairs that are near."""
    pairs = run.pairs
    pairs.count, pairs.last, pairs.depth, pairs.full = 0, 0, 0.0, False
    run.motion.problem.contacts = pairs.fixed


@kernel
def size_shapes(pairs: NearPairs, given: Reals) -> None:
    """Set what differs between cases: sizes of shapes, and laws of groups."""
    n = pairs.shapes
    copy(given, pairs.half, 3 * n)
    copy(given[3 * n :], pairs.bulk, n)
    copy(given[4 * n :], pairs.swing, n)
    copy(given[5 * n :], pairs.group_law, 4 * pairs.groups)


@kernel
def bound_shapes(pairs: NearPairs, h: float) -> float:
    """Bounds of all shapes along the axis in which those that move are spread most, with what they may move in a step of size h;
    the speed of the fastest.
    """
    fastest, most = 0.0, -1.0
    for s in range(pairs.shapes):
        at, half, extent = shape_at(pairs, s), pairs.half[3 * s :], pairs.extent[3 * s :]
        v = at[VELOCITY:]
        speed = sqrt(dot(v, v)) + pairs.swing[s] * sqrt(dot(v[3:], v[3:]))
        pairs.reach[s] = h * speed + REACH * h * h
        fastest = max(fastest, speed)
        for i in range(3):
            extent[i] = at[RADIUS] if pairs.kind[s] != PLANE else ENDLESS
            for k in range(3):
                extent[i] += fabs(at[AXES + 3 * k + i]) * half[k]
    for axis in range(3):
        mean, spread, count = 0.0, 0.0, 0
        for s in range(pairs.shapes):
            if pairs.block_start[s + 1] > pairs.block_start[s]:
                mean += shape_at(pairs, s)[CENTRE + axis]
                count += 1
        mean /= max(1.0, float(count))
        for s in range(pairs.shapes):
            off = shape_at(pairs, s)[CENTRE + axis] - mean
            if pairs.block_start[s + 1] > pairs.block_start[s]:
                spread += off * off
        if spread > most:
            most = spread
            pairs.along = axis
    for s in range(pairs.shapes):
        wide = pairs.extent[3 * s + pairs.along] + pairs.reach[s] + min(h * fastest, CROWD * pairs.bulk[s])
        place = shape_at(pairs, s)[CENTRE + pairs.along]
        pairs.lower[s], pairs.upper[s] = place - wide, place + wide
    return fastest


@kernel
def keep_last(run: SteppingData) -> None:
    """Keep what contacts of pairs were pressed by in a step."""
    pairs, impulse = run.pairs, run.motion.solution.impulse
    pairs.last = pairs.count
    for k in range(pairs.count):
        c = pairs.fixed + k
        pairs.last_pair[k], pairs.last_feature[k] = pairs.pair[k], pairs.feature[k]
        pairs.last_pressed[k], pairs.last_stuck[k] = run.pressed[c], run.stuck[c]
        for i in range(3):
            pairs.last_impulse[3 * k + i] = impulse[3 * c + i]
        copy(run.sums[IMPACT_SUMS * c :], pairs.last_sums[IMPACT_SUMS * k :], IMPACT_SUMS)


@kernel
def come_close(pairs: NearPairs, a: int, b: int, h: float, fast: float) -> float:
    """The gap that may close between two shapes in a step of size h, in which impacts move what they meet by *fast* at most."""
    crowd, turn = min(fast, CROWD * min(pairs.bulk[a], pairs.bulk[b])), 0.0
    if pairs.kind[a] == PLANE or pairs.kind[b] == PLANE:
        plane, far = shape_at(pairs, a if pairs.kind[a] == PLANE else b), pairs.work
        w = plane[VELOCITY + 3 :]
        for i in range(3):
            far[i] = shape_at(pairs, a)[CENTRE + i] - shape_at(pairs, b)[CENTRE + i]
        turn = h * sqrt(dot(w, w) * dot(far, far))
    return pairs.reach[a] + pairs.reach[b] + crowd + turn


@kernel
def is_near(pairs: NearPairs, a: int, b: int, h: float, fast: float) -> bool:
    """Whether two shapes may touch each other in a step of size h, in which impacts move what they meet by *fast* at most."""
    fixed = pairs.block_start[a] == pairs.block_start[a + 1] and pairs.block_start[b] == pairs.block_start[b + 1]
    if fixed or pairs.group[a] != pairs.group[b] or pairs.body[a] == pairs.body[b]:
        return False
    if pairs.kind[a] == PLANE and pairs.kind[b] == PLANE:
        return False
    one, other, near, close = shape_at(pairs, a), shape_at(pairs, b), True, come_close(pairs, a, b, h, fast)
    if pairs.kind[a] == PLANE or pairs.kind[b] == PLANE:
        first = pairs.kind[a] == PLANE
        n, s = one[AXES:] if first else other[AXES:], b if first else a
        apart = -close
        for i in range(3):
            d = one[CENTRE + i] - other[CENTRE + i]
            apart += (-d if first else d) * n[i] - fabs(n[i]) * pairs.extent[3 * s + i]
        return apart <= 0.0
    square, round_reach = 0.0, close
    for i in range(3):
        d = fabs(one[CENTRE + i] - other[CENTRE + i])
        near = near and d <= pairs.extent[3 * a + i] + pairs.extent[3 * b + i] + close
        square += d * d
    if pairs.kind[a] == BALL and pairs.kind[b] == BALL:
        round_reach += one[RADIUS] + other[RADIUS]
        near = square <= round_reach * round_reach
    return near


@kernel
def find_near(pairs: NearPairs, h: float, fast: float) -> int:
    """The pairs of shapes that are near in a step of size h; their number."""
    found = 0
    sort_by_bounds(pairs.order, pairs.lower, pairs.shapes)
    for i in range(pairs.shapes):
        a, j, more = pairs.order[i], i + 1, True
        while more and j < pairs.shapes:
            b = pairs.order[j]
            more = pairs.lower[b] <= pairs.upper[a]
            near = False
            if more:
                near = is_near(pairs, a, b, h, fast)
            if near and found < pairs.room:
                pairs.key[found] = min(a, b) * pairs.shapes + max(a, b)
            if near:
                found += 1
            j += 1
    pairs.full = found > pairs.room
    found = min(found, pairs.room)
    sort_keys(pairs.key, found)
    return found


@kernel
def touch_shapes(pairs: NearPairs, a: int, b: int) -> None:
    """The features of two shapes, the first of a kind that is not behind that of the second."""
    if pairs.kind[a] == BALL:
        copy(shape_at(pairs, a)[CENTRE:], next_feature(pairs)[PLACE:], 3)
        touch_vertex(pairs, a, b, 0, shape_at(pairs, a)[RADIUS])
    elif pairs.kind[a] == CAPSULE:
        touch_capsule(pairs, a, b)
    elif pairs.kind[b] == BOX:
        touch_boxes(pairs, a, b)
    else:
        for corner in range(8):
            put_corner(pairs, a, corner)
            put_on_plane(pairs, a, b, corner, 0.0)


@kernel
def list_features(pairs: NearPairs, h: float) -> None:
    """The features of all pairs that may touch in a step of size h, from the ``places`` of shapes amidst it."""
    fastest = bound_shapes(pairs, h)
    near = find_near(pairs, h, h * fastest)
    pairs.count = 0
    for k in range(near):
        a, b = pairs.key[k] // pairs.shapes, pairs.key[k] % pairs.shapes
        pairs.close = come_close(pairs, a, b, h, h * fastest)
        if pairs.kind[a] <= pairs.kind[b]:
            touch_shapes(pairs, a, b)
        else:
            touch_shapes(pairs, b, a)


@kernel
def note_depth(run: SteppingData) -> None:
    """Note the deepest overlap of shapes at the end of a step, whose contacts have been kept."""
    pairs = run.pairs
    pairs.places_of(run.time, run.y, run.motion.block, pairs.places)
    list_features(pairs, 0.0)
    for k in range(pairs.count):
        pairs.depth = max(pairs.depth, -pairs.features[FEATURE_NUMBERS * k + GAP])


@kernel
def find_pairs(run: SteppingData, h: float) -> None:
    """The features of pairs that are near in a step of size h, as contacts behind the others."""
    pairs, impulse = run.pairs, run.motion.solution.impulse
    list_features(pairs, h)
    k = 0
    for own in range(pairs.count):
        c = pairs.fixed + own
        while k < pairs.last and pairs.last_pair[k] < pairs.pair[own]:
            k += 1
        at = k
        while (
            at < pairs.last and pairs.last_pair[at] == pairs.pair[own] and pairs.last_feature[at] != pairs.feature[own]
        ):
            at += 1
        known = at < pairs.last and pairs.last_pair[at] == pairs.pair[own]
        run.pressed[c] = pairs.last_pressed[at] if known else 0
        run.stuck[c] = pairs.last_stuck[at] if known else 0
        for i in range(3):
            impulse[3 * c + i] = pairs.last_impulse[3 * at + i] if known else 0.0
        if known:
            copy(pairs.last_sums[IMPACT_SUMS * at :], run.sums[IMPACT_SUMS * c :], IMPACT_SUMS)
        couple_pair(run, c, pairs.pair[own] // pairs.shapes, pairs.pair[own] % pairs.shapes)
    run.motion.problem.contacts = pairs.fixed + pairs.count


@kernel
def couple_pair(run: SteppingData, c: int, a: int, b: int) -> None:
    """The blocks and speeds of the contact c of two shapes: those of both, each once."""
    pairs, problem = run.pairs, run.motion.problem
    i, j, end, other = pairs.block_start[a], pairs.block_start[b], pairs.block_start[a + 1], pairs.block_start[b + 1]
    at, place = problem.coupled_start[c], problem.row_start[c]
    while i < end or j < other:
        first = i < end and (j >= other or pairs.blocks[i] <= pairs.blocks[j])
        block = 0
        if first:
            block = pairs.blocks[i]
            i += 1
            if j < other and pairs.blocks[j] == block:
                j += 1
        else:
            block = pairs.blocks[j]
            j += 1
        problem.coupled_blocks[at] = block
        at += 1
        for k in range(problem.block_start[block], problem.block_start[block + 1]):
            problem.row_speeds[place] = problem.block_speeds[k]
            place += 1
    problem.coupled_start[c + 1], problem.row_start[c + 1] = at, place
