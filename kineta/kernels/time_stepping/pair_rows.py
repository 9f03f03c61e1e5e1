"""Rows of the contacts of pairs of shapes, from their features and the motions of both."""

from __future__ import annotations

from kineta.integration.stepping_records import SteppingData
from kineta.kernels.language import kernel, sqrt
from kineta.kernels.time_stepping.pair_features import (
    BIAS,
    CENTRE,
    CROSSING,
    DERIVATIVES,
    DISTANCE,
    EDGE,
    FEATURE_NUMBERS,
    FOOT,
    GAP,
    NORMAL,
    ON_EDGE,
    ON_FACE,
    OTHER_EDGE,
    PLACE,
    PLANE,
    ROUND,
    VELOCITY,
    cross,
    dot,
    shape_at,
)
from kineta.kernels.vectors import copy
from kineta.memory import Reals

#: Least square of a direction along a surface.
LEVEL = 1e-20
#: Numbers of the memory of a contact of a pair: normal, tangents, their rates; ways from both centres to the place that touches,
#: with their rates; slip and its bias; vectors.
RATES, ARM, BACK, ARM_RATE, BACK_RATE, SLIP, SLIP_BIAS, WORK = 9, 18, 21, 24, 27, 30, 33, 36
ROW_NUMBERS = 60
#: Numbers of the force of a pair in a step: that of the step, the key of the pair, the force on its first shape in ground
#: axes, and the sum of what presses.
PAIR_FORCE_NUMBERS, FORCE, PRESSING = 6, 2, 5


@kernel
def fill_pairs(run: SteppingData) -> None:
    """Rows, velocities, biases, laws and gaps of the features of all pairs near."""
    for k in range(run.pairs.count):
        touch_feature(run, k)


@kernel
def note_forces(run: SteppingData, h: float) -> None:
    """The forces of pairs that are pressed in a step of size h: sums over their features."""
    pairs, last = run.pairs, -1
    for k in range(pairs.count):
        c = pairs.fixed + k
        x, e = run.motion.solution.impulse[3 * c :], pairs.frames[9 * k :]
        if run.taking[c] != 0 and x[0] > 0.0:
            if pairs.pair[k] != last:
                last = pairs.pair[k]
                own = pairs.forces[PAIR_FORCE_NUMBERS * pairs.noted :]
                own[0], own[1], own[PRESSING] = float(run.made + 1), float(last), 0.0
                for i in range(3):
                    own[FORCE + i] = 0.0
                pairs.noted += 1
            now = pairs.forces[PAIR_FORCE_NUMBERS * (pairs.noted - 1) :]
            sign = 1.0 if pairs.one[k] == last // pairs.shapes else -1.0
            now[PRESSING] += x[0] / h
            for i in range(3):
                now[FORCE + i] += sign * (x[0] * e[i] + x[1] * e[3 + i] + x[2] * e[6 + i]) / h


@kernel
def velocity_at(shape: Reals, way: Reals, out: Reals) -> None:
    """The velocity of a point of a shape at a *way* from its centre."""
    cross(shape[VELOCITY + 3 :], way, out)
    for i in range(3):
        out[i] += shape[VELOCITY + i]


@kernel
def take_along(x: Reals, n: Reals) -> None:
    """Take from a vector what it has along a direction."""
    along = dot(x, n)
    for i in range(3):
        x[i] -= along * n[i]


@kernel
def turn_normal(kind: int, own: Reals, one: Reals, other: Reals, axes: Reals) -> None:
    """The rate of the normal of a feature, and that of the way from the centre of the first shape to its place, in *axes*."""
    n, n_rate, w = own[NORMAL:], axes[RATES:], axes[WORK:]
    way, v, turn, last = axes[WORK + 3 :], axes[WORK + 6 :], axes[WORK + 9 :], axes[WORK + 12 :]
    for i in range(3):
        way[i] = own[FOOT + i] - other[CENTRE + i]
    velocity_at(other, way, w)
    for i in range(3):
        way[i] = own[PLACE + i] - one[CENTRE + i]
    velocity_at(one, way, v)
    for i in range(3):
        w[i] = v[i] - w[i]
        v[i] -= one[VELOCITY + i]
    if kind == ON_FACE:
        cross(other[VELOCITY + 3 :], n, n_rate)
    elif kind == CROSSING:
        cross(one[VELOCITY + 3 :], own[EDGE:], turn)
        cross(turn, own[OTHER_EDGE:], n_rate)
        cross(other[VELOCITY + 3 :], own[OTHER_EDGE:], turn)
        cross(own[EDGE:], turn, last)
        cross(own[EDGE:], own[OTHER_EDGE:], turn)
        size = dot(turn, n)
        for i in range(3):
            n_rate[i] = (n_rate[i] + last[i]) / size
        take_along(n_rate, n)
        cross(own[OTHER_EDGE:], n, turn)
        slide = -(dot(w, turn) - own[DISTANCE] * dot(n_rate, turn)) / dot(own[EDGE:], turn)
        for i in range(3):
            v[i] += slide * own[EDGE + i]
    else:
        for i in range(3):
            n_rate[i] = w[i]
        if kind == ON_EDGE:
            cross(other[VELOCITY + 3 :], own[OTHER_EDGE:], turn)
            take_along(n_rate, own[OTHER_EDGE:])
            for i in range(3):
                n_rate[i] -= own[DISTANCE] * dot(n, turn) * own[OTHER_EDGE + i]
        take_along(n_rate, n)
        for i in range(3):
            n_rate[i] /= own[DISTANCE]
    for i in range(3):
        axes[ARM + i] = way[i] - own[ROUND] * n[i]
        axes[ARM_RATE + i] = v[i] - own[ROUND] * n_rate[i]


@kernel
def move_halfway(own: Reals, one: Reals, other: Reals, axes: Reals) -> None:
    """Move the way to the place of a feature, in *axes*, from the surface of the first shape across half of the gap."""
    n, n_rate, arm, back, work = axes, axes[RATES:], axes[ARM:], axes[BACK:], axes[WORK:]
    velocity_at(one, arm, work)
    opening = dot(n, work)
    for i in range(3):
        back[i] = one[CENTRE + i] + arm[i] - other[CENTRE + i]
    velocity_at(other, back, work)
    opening -= dot(n, work)
    for i in range(3):
        arm[i] -= 0.5 * own[GAP] * n[i]
        axes[ARM_RATE + i] -= 0.5 * (opening * n[i] + own[GAP] * n_rate[i])


@kernel
def touch_feature(run: SteppingData, k: int) -> None:
    """The contact of the feature k of the pairs near, halfway between both surfaces; on a plane, on that of the first shape."""
    pairs, terms, axes, c = run.pairs, run.motion.terms, run.pairs.axes, run.pairs.fixed + k
    own, a, b = pairs.features[FEATURE_NUMBERS * k :], pairs.one[k], pairs.other[k]
    one, other = shape_at(pairs, a), shape_at(pairs, b)
    n = axes
    arm, back, slip, bias = axes[ARM:], axes[BACK:], axes[SLIP:], axes[SLIP_BIAS:]
    turn_normal(pairs.feature_kind[k], own, one, other, axes)
    for i in range(3):
        n[i] = own[NORMAL + i]
    if pairs.kind[b] != PLANE:
        move_halfway(own, one, other, axes)
    turn_tangents(pairs.aside[3 * pairs.group[a] :], axes)
    if pairs.keeps:
        copy(axes, pairs.frames[9 * k :], 9)
    for i in range(3):
        back[i] = one[CENTRE + i] + arm[i] - other[CENTRE + i]
        axes[BACK_RATE + i] = one[VELOCITY + i] + axes[ARM_RATE + i] - other[VELOCITY + i]
        slip[i], bias[i] = one[VELOCITY + i] - other[VELOCITY + i], one[BIAS + i] - other[BIAS + i]
    add_motion(one, 1.0, arm, axes[ARM_RATE:], axes)
    add_motion(other, -1.0, back, axes[BACK_RATE:], axes)
    group = pairs.group[a]
    for i in range(3):
        e, rate = axes[3 * i :], axes[RATES + 3 * i :]
        terms.velocity[3 * c + i] = dot(e, slip)
        terms.bias[3 * c + i] = dot(e, bias) + dot(rate, slip)
    for i in range(4):
        terms.law[4 * c + i] = pairs.group_law[4 * group + i]
    terms.gap[c], terms.level[c] = own[GAP], own[GAP]
    run.motion.problem.has_normal[c], run.motion.problem.poisson[c] = 1, pairs.group_poisson[group]
    run.motion.problem.tangents[c] = 2 if terms.law[4 * c + 1] > 0.0 else 0
    start = run.motion.problem.row_start[c]
    size = run.motion.problem.row_start[c + 1] - start
    W = terms.jacobian[3 * start :]
    for i in range(3 * size):
        W[i] = 0.0
    add_rows(run, c, a, 1.0, arm, W, size)
    add_rows(run, c, b, -1.0, back, W, size)


@kernel
def add_motion(shape: Reals, sign: float, way: Reals, rate: Reals, axes: Reals) -> None:
    """Add to slip and bias, in *axes*, what the turning of a shape has in them, at a *way* from its centre with a *rate*."""
    work, slip, bias = axes[WORK:], axes[SLIP:], axes[SLIP_BIAS:]
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
    the direction *aside*, and both turn with the normal alone.
    """
    n, u, w = axes, axes[3:], axes[6:]
    n_rate, u_rate, w_rate = axes[RATES:], axes[RATES + 3 :], axes[RATES + 6 :]
    along = dot(n, aside)
    for i in range(3):
        w[i] = aside[i] - along * n[i]
    size = sqrt(max(dot(w, w), LEVEL))
    for i in range(3):
        w[i] /= size
    cross(w, n, u)
    u_turn, w_turn = dot(u, n_rate), dot(w, n_rate)
    for i in range(3):
        u_rate[i], w_rate[i] = -u_turn * n[i], -w_turn * n[i]


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
                        x += work[i] * D[(3 + i) * width + own + k]
                    W[row * size + place + k] += sign * x
            own += n
            at += 1
        place += n
