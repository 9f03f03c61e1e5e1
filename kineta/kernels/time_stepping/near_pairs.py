"""Pairs of shapes that are near in a step, found by sweep and prune, and the rows of their contacts.

Which pairs are near is decided anew amidst each step, and each becomes a contact behind those of the components. Pairs are in the
order of the numbers of their shapes, so that runs repeat to the bit, and a pair keeps what it was pressed by in the last step.
"""

from __future__ import annotations

from kineta.integration.contact_records import NearPairs, SteppingData
from kineta.kernels.language import kernel, sqrt
from kineta.kernels.time_stepping.step_impulses import REACH
from kineta.memory import Integers, Reals

#: Numbers of a shape before derivatives: radius, centre, six velocities, six rates of them.
RADIUS, CENTRE, VELOCITY, BIAS, DERIVATIVES = 0, 1, 4, 10, 16
#: Part of the smaller radius by which impacts in a step may bring a pair near.
CROWD = 0.25
#: Distance [m] of centres below which their direction is arbitrary.
LEAST_DISTANCE = 1e-12
#: Least square of a direction along a surface.
LEVEL = 1e-20


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
def bound_shapes(pairs: NearPairs, h: float) -> float:
    """Bounds of all shapes along the axis in which they are spread most, with what they may move in a step of size h; the speed
    of the fastest.
    """
    fastest, most = 0.0, -1.0
    for s in range(pairs.shapes):
        v = pairs.places[pairs.place_start[s] + VELOCITY :]
        speed = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
        pairs.reach[s] = h * speed + REACH * h * h
        fastest = max(fastest, speed)
    for axis in range(3):
        mean, spread = 0.0, 0.0
        for s in range(pairs.shapes):
            mean += pairs.places[pairs.place_start[s] + CENTRE + axis]
        mean /= float(pairs.shapes)
        for s in range(pairs.shapes):
            off = pairs.places[pairs.place_start[s] + CENTRE + axis] - mean
            spread += off * off
        if spread > most:
            most = spread
            pairs.along = axis
    for s in range(pairs.shapes):
        at = pairs.places[pairs.place_start[s] :]
        wide = at[RADIUS] + pairs.reach[s] + min(h * fastest, CROWD * at[RADIUS])
        pairs.lower[s] = at[CENTRE + pairs.along] - wide
        pairs.upper[s] = at[CENTRE + pairs.along] + wide
    return fastest


@kernel
def keep_last(run: SteppingData) -> None:
    """Keep what pairs were pressed by in the last step."""
    pairs, impulse = run.pairs, run.motion.solution.impulse
    pairs.last = pairs.count
    for k in range(pairs.count):
        c = pairs.fixed + k
        pairs.last_key[k], pairs.last_pressed[k], pairs.last_stuck[k] = pairs.key[k], run.pressed[c], run.stuck[c]
        for i in range(3):
            pairs.last_impulse[3 * k + i] = impulse[3 * c + i]


@kernel
def is_near(pairs: NearPairs, a: int, b: int, fast: float) -> bool:
    """Whether two shapes may touch each other in a step in which impacts move what they meet by *fast* at most."""
    if pairs.group[a] != pairs.group[b] or pairs.body[a] == pairs.body[b]:
        return False
    one, other = pairs.places[pairs.place_start[a] :], pairs.places[pairs.place_start[b] :]
    crowd = min(fast, CROWD * min(one[RADIUS], other[RADIUS]))
    apart, square = one[RADIUS] + other[RADIUS] + pairs.reach[a] + pairs.reach[b] + crowd, 0.0
    for i in range(3):
        d = one[CENTRE + i] - other[CENTRE + i]
        square += d * d
    return square <= apart * apart


@kernel
def find_pairs(run: SteppingData, h: float) -> None:
    """The pairs that are near in a step of size h, as contacts behind the others, from the ``places`` of shapes amidst it."""
    pairs, problem, impulse = run.pairs, run.motion.problem, run.motion.solution.impulse
    keep_last(run)
    fastest = bound_shapes(pairs, h)
    fast, found = h * fastest, 0
    sort_by_bounds(pairs.order, pairs.lower, pairs.shapes)
    for i in range(pairs.shapes):
        a, j, more = pairs.order[i], i + 1, True
        while more and j < pairs.shapes:
            b = pairs.order[j]
            more = pairs.lower[b] <= pairs.upper[a]
            near = False
            if more:
                near = is_near(pairs, a, b, fast)
            if near and found < pairs.room:
                pairs.key[found] = min(a, b) * pairs.shapes + max(a, b)
            if near:
                found += 1
            j += 1
    pairs.full = found > pairs.room
    pairs.count = min(found, pairs.room)
    sort_keys(pairs.key, pairs.count)
    k = 0
    for own in range(pairs.count):
        c = pairs.fixed + own
        while k < pairs.last and pairs.last_key[k] < pairs.key[own]:
            k += 1
        known = k < pairs.last and pairs.last_key[k] == pairs.key[own]
        run.pressed[c] = pairs.last_pressed[k] if known else 0
        run.stuck[c] = pairs.last_stuck[k] if known else 0
        for i in range(3):
            impulse[3 * c + i] = pairs.last_impulse[3 * k + i] if known else 0.0
        couple_pair(run, c, pairs.key[own] // pairs.shapes, pairs.key[own] % pairs.shapes)
    problem.contacts = pairs.fixed + pairs.count


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


@kernel
def fill_pairs(run: SteppingData) -> None:
    """Rows, velocities, biases, laws and gaps of all pairs near."""
    pairs = run.pairs
    for k in range(pairs.count):
        touch_balls(run, pairs.fixed + k, pairs.key[k] // pairs.shapes, pairs.key[k] % pairs.shapes)


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
def touch_balls(run: SteppingData, c: int, a: int, b: int) -> None:
    """The contact c of the balls a and b: where they touch on the surface of a, with the normal of b."""
    pairs, terms, axes = run.pairs, run.motion.terms, run.pairs.axes
    one, other = pairs.places[pairs.place_start[a] :], pairs.places[pairs.place_start[b] :]
    n, u, w = axes, axes[3:], axes[6:]
    n_rate, u_rate, w_rate = axes[9:], axes[12:], axes[15:]
    drift, arm, back = axes[18:], axes[21:], axes[24:]
    arm_rate, back_rate = axes[27:], axes[30:]
    slip, bias = axes[36:], axes[39:]
    aside = pairs.aside[3 * pairs.group[a] :]
    apart = 0.0
    for i in range(3):
        n[i] = one[CENTRE + i] - other[CENTRE + i]
        drift[i] = one[VELOCITY + i] - other[VELOCITY + i]
        apart += n[i] * n[i]
    apart = sqrt(apart)
    if apart < LEAST_DISTANCE:
        n[0], n[1], n[2], apart = 0.0, 0.0, LEAST_DISTANCE, LEAST_DISTANCE
    for i in range(3):
        n[i] /= apart
    closing = dot(n, drift)
    for i in range(3):
        n_rate[i] = (drift[i] - closing * n[i]) / apart
    turn_tangents(aside, axes)
    for i in range(3):
        arm[i], arm_rate[i] = -one[RADIUS] * n[i], -one[RADIUS] * n_rate[i]
        back[i] = (apart - one[RADIUS]) * n[i]
        back_rate[i] = (apart - one[RADIUS]) * n_rate[i] + closing * n[i]
        slip[i], bias[i] = drift[i], one[BIAS + i] - other[BIAS + i]
    normal_bias = dot(n, bias) + dot(n_rate, drift)
    add_motion(one, 1.0, arm, arm_rate, axes)
    add_motion(other, -1.0, back, back_rate, axes)
    gap, group = apart - one[RADIUS] - other[RADIUS], pairs.group[a]
    terms.velocity[3 * c], terms.velocity[3 * c + 1], terms.velocity[3 * c + 2] = closing, dot(u, slip), dot(w, slip)
    terms.bias[3 * c] = normal_bias
    terms.bias[3 * c + 1] = dot(u, bias) + dot(u_rate, slip)
    terms.bias[3 * c + 2] = dot(w, bias) + dot(w_rate, slip)
    for i in range(4):
        terms.law[4 * c + i] = pairs.group_law[4 * group + i]
    terms.gap[c], terms.level[c] = gap, gap
    run.motion.problem.has_normal[c], run.motion.problem.poisson[c] = 1, pairs.group_poisson[group]
    run.motion.problem.tangents[c] = 2 if terms.law[4 * c + 1] > 0.0 else 0
    pairs.depth = max(pairs.depth, -gap)
    start = run.motion.problem.row_start[c]
    size = run.motion.problem.row_start[c + 1] - start
    W = terms.jacobian[3 * start :]
    for k in range(3 * size):
        W[k] = 0.0
    add_rows(run, c, a, 1.0, arm, W, size)
    add_rows(run, c, b, -1.0, back, W, size)


@kernel
def add_motion(shape: Reals, sign: float, way: Reals, rate: Reals, axes: Reals) -> None:
    """Add to slip and bias, in *axes*, what the turning of a shape has in them, at a *way* from its centre with a *rate*."""
    work, slip, bias = axes[33:], axes[36:], axes[39:]
    cross(shape[VELOCITY + 3 :], way, work)
    for i in range(3):
        slip[i] += sign * work[i]
    cross(shape[BIAS + 3 :], way, work)
    for i in range(3):
        bias[i] += sign * work[i]
    cross(shape[VELOCITY + 3 :], rate, work)
    for i in range(3):
        bias[i] += sign * work[i]


@kernel
def turn_tangents(aside: Reals, axes: Reals) -> None:
    """Tangents u and w of a surface with the normal n, and their rates, in the *axes* n, u, w and their rates: w is nearest to
    the direction *aside*.
    """
    n, u, w = axes, axes[3:], axes[6:]
    n_rate, u_rate, w_rate, work = axes[9:], axes[12:], axes[15:], axes[33:]
    along, along_rate = dot(n, aside), dot(n_rate, aside)
    for i in range(3):
        w[i] = aside[i] - along * n[i]
        w_rate[i] = -along_rate * n[i] - along * n_rate[i]
    size = sqrt(max(dot(w, w), LEVEL))
    for i in range(3):
        w[i] /= size
    turn = dot(w, w_rate)
    for i in range(3):
        w_rate[i] = (w_rate[i] - turn * w[i]) / size
    cross(w, n, u)
    cross(w_rate, n, u_rate)
    cross(w, n_rate, work)
    for i in range(3):
        u_rate[i] += work[i]


@kernel
def add_rows(run: SteppingData, c: int, s: int, sign: float, way: Reals, W: Reals, size: int) -> None:
    """Add to the rows W of the contact c what the shape s has in them, which touches at the *way* from its centre."""
    pairs, problem, axes, work = run.pairs, run.motion.problem, run.pairs.axes, run.pairs.rates
    own, at = 0, pairs.block_start[s]
    end = pairs.block_start[s + 1]
    width = 0
    for j in range(at, end):
        width += problem.block_start[pairs.blocks[j] + 1] - problem.block_start[pairs.blocks[j]]
    D = pairs.places[pairs.place_start[s] + DERIVATIVES :]
    place = 0
    for j in range(problem.coupled_start[c], problem.coupled_start[c + 1]):
        block = problem.coupled_blocks[j]
        n = problem.block_start[block + 1] - problem.block_start[block]
        if at < end and pairs.blocks[at] == block:
            for row in range(3):
                e = axes[3 * row :]
                cross(way, e, work)
                for k in range(n):
                    x = 0.0
                    for i in range(3):
                        x += e[i] * D[i * width + own + k]
                        if row > 0:
                            x += work[i] * D[(3 + i) * width + own + k]
                    W[row * size + place + k] += sign * x
            own += n
            at += 1
        place += n
