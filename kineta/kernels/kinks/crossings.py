"""Kinks of the state, as a step crosses them: a guard changes its sign over a step that is tried.

The step is then made anew up to a little before the kink, and once more, and the rest is passed with the rate before the kink,
which is so short that its square counts for nothing.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.loop_abi import LOOKS, PASSINGS, REST, RunData
from kineta.kernels.kinks.clocks import ROUNDED, find_stop
from kineta.kernels.kinks.guards import (
    TURNS,
    evaluate_guards,
    evaluate_looks,
    guard_along,
    guard_at,
    is_vague,
    measure_bends,
    share_tried,
)
from kineta.kernels.kinks.knots import crosses_knot, expect_knot
from kineta.kernels.kinks.leaps import place_leap
from kineta.kernels.language import copysign, fabs, kernel
from kineta.kernels.runge_kutta import next_step, resolution
from kineta.kernels.stage_evaluation import LoopMethod, block_of
from kineta.memory import Reals
from kineta.numerics.roots import LEAST, SPAN

#: Distance from a kink, relative to the step that met it, at which a step ends for the first time; and at which it is passed.
_BEFORE, CLOSE = 1e-3, 1e-8
#: Part of a distance by which a kink is passed.
_HAIR = 1e-6
#: Distance in front of a kink that was found beyond the end of a step, relative to that from there.
_SLACK = 1e-4
#: Time between two passings of a guard, relative to a step, up to which they follow each other immediately.
_SOON = 1e-5
#: Largest part of a step, beyond its end, in which its interpolant is believed.
_BEYOND = 0.5


@kernel
def begin_kinks(run: RunData) -> None:
    """No kink has been passed so far."""
    k = run.kinks
    k.at, k.ahead, k.due, k.passed = run.t, 0.0, 0.0, 0
    k.knot = float("inf")
    for i in range(k.n):
        k.last[i], k.quick[i], k.muted[i] = -float("inf"), 0, 0


@kernel
def look_ahead(method: LoopMethod, run: RunData) -> float:
    """Look for what ends the next step; the time, with its sign, in which a kink is passed instead, or 0."""
    k, h = run.kinks, next_step(run)
    way = copysign(1.0, h)
    if k.n > 0 and k.due > 0.0 and k.at == run.t:
        gap = distance_over(method, run, way)
        k.due = 0.0
        note_passing(run, k.which)
        if gap > 0.0:
            run.size = k.size
            return way * min(gap, fabs(run.t_end - run.t))
    if k.n_stored > 0 and run.t == k.over and way * (k.right - run.t) > 0.0:
        return way * min(way * (k.right - run.t), fabs(run.t_end - run.t))
    if k.n_clocks + k.n_paces > 0:
        block = block_of(method, run)
        find_stop(k, block, run.t, h)
        near = tolerances.EPS * (10.0 * fabs(run.t) + 16.0 * fabs(h)) + tolerances.LEAST_DIVISOR
        if k.found and way * (k.stop - run.t) <= near:
            to = k.right
            if k.n_stored > 0:
                if run.t != k.left:
                    place_leap(method, run)
                to = k.left if way * (k.left - run.t) > 0.0 else k.over
            return way * min(way * (to - run.t), fabs(run.t_end - run.t))
    return 0.0


@kernel
def crosses(method: LoopMethod, run: RunData, dense: Reals, t: float, h: float) -> bool:
    """Whether a step that is accurate crosses a kink; it is then to be made anew up to a little before it, or, close to it, the
    kink is due.
    """
    k = run.kinks
    k.cross = 2.0
    if k.n > 0:
        seek_crossing(method, run, dense, t, h, 0.0, 1.0)
    if k.cross > 1.0:
        return crosses_knot(method, run, dense, t, h)
    if k.at != t or k.ahead == 0.0:
        k.size = fabs(h)
    come_near(run, t, k.cross * fabs(h), _BEFORE * fabs(h))
    return True


@kernel
def seek_crossing(
    method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, first: float, last: float
) -> None:  # fmt: skip
    """Find the first change of the sign of a guard between two fractions of the step, piece by piece. Pieces are as long as the
    places looked at show what guards do between them.
    """
    k = run.kinks
    start, width, going = first, last - first, True
    k.cross = 2.0
    while going:
        behind = start + width if start + width < last else last
        evaluate_looks(method, run, dense, t, h, start, behind)
        measure_bends(method, run, dense, t, h, start, behind)
        vague = is_vague(method, run, t)
        if vague and width > LEAST * (last - first):
            width = 0.5 * width
        else:
            for i in range(k.n):
                if k.muted[i] == 0:
                    seek_one(method, run, dense, t, h, i, start, behind)
            start, width = behind, 2.0 * width
            going = start < last and k.cross > 1.0 + _BEYOND


@kernel
def seek_one(
    method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, i: int, first: float, last: float
) -> None:  # fmt: skip
    """Find the first change of the sign of guard i between two fractions, if it comes before those known."""
    k = run.kinks
    step, before, seeking = (last - first) / float(LOOKS), k.values[i], True
    for j in range(1, LOOKS + 1):
        x, value = first + step * float(j), k.values[j * k.n + i]
        if seeking and x - step < k.cross:
            if before == 0.0 and value != 0.0 and first == 0.0:
                k.cross, k.which, seeking = 0.0, i, False
            elif before == 0.0:
                before = value
            elif before * value < 0.0:
                narrow_crossing(method, run, dense, t, h, i, x - step, x, before)
                seeking = False
            elif before * value > 0.0 and min(fabs(k.values[(j - 1) * k.n + i]), fabs(value)) < k.near[i]:
                low = hidden(method, run, dense, t, h, i, x - step, x)
                if low < 2.0:
                    narrow_crossing(method, run, dense, t, h, i, x - step, low, before)
                    seeking = False


@kernel
def hidden(
    method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, i: int, a: float, b: float
) -> float:  # fmt: skip
    """A fraction between a and b at which guard i has the sign opposite to that at both of them; 2 for none."""
    span, found = (b - a) * SPAN, 2.0
    fa, fb = guard_at(method, run, dense, t, h, i, a), guard_at(method, run, dense, t, h, i, b)
    left, right = guard_at(method, run, dense, t, h, i, a + span), guard_at(method, run, dense, t, h, i, b - span)
    if fa * (left - fa) < 0.0 and fb * (fb - right) > 0.0:
        low, high = a, b - span
        while found == 2.0 and high - low > span:
            x = low + 0.5 * (high - low)
            value, ahead = guard_at(method, run, dense, t, h, i, x), guard_at(method, run, dense, t, h, i, x + span)
            if value * fa < 0.0:
                found = x
            elif fa * (ahead - value) < 0.0:
                low = x
            else:
                high = x
    return found


@kernel
def narrow_crossing(
    method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, i: int, a: float, b: float, before: float
) -> None:  # fmt: skip
    """Put the place between the fractions a and b up to which guard i keeps the sign that it had *before*."""
    k = run.kinks
    fa, fb = guard_at(method, run, dense, t, h, i, a), guard_at(method, run, dense, t, h, i, b)
    turn = 0
    while turn < TURNS and b - a > tolerances.EPS * b:
        share = share_tried(fa, fb, turn)
        x = a + share * (b - a)
        if x <= a or x >= b:
            x = a + 0.5 * (b - a)
        value = guard_at(method, run, dense, t, h, i, x)
        if value * before > 0.0:
            a, fa, fb = x, value, 0.5 * fb
        else:
            b, fb, fa = x, value, 0.5 * fa
        turn += 1
        if value == 0.0:
            a, turn = max(a, x - ROUNDED * tolerances.EPS), TURNS
    if a < k.cross:
        k.cross, k.which = a, i


@kernel
def come_near(run: RunData, t: float, distance: float, margin: float) -> None:
    """Go on from the time t up to a kink at a *distance*, but for a *margin*; or pass it, where it is close."""
    k = run.kinks
    k.at, k.ahead, k.due = t, 0.0, 0.0
    near = max(0.5 * distance, distance - margin)
    if distance <= CLOSE * k.size or near <= 2.0 * resolution(t):
        k.due = max(distance, tolerances.EPS * max(fabs(t), k.size))
    else:
        run.size = near
        k.ahead = distance - near


@kernel
def shorten(method: LoopMethod, run: RunData, h: float) -> None:
    """Shorten a step that was rejected, and crosses a kink, to what lies in front of it; or leave the kink at its start. Of steps
    before knots nothing is to be kept.
    """
    k, share = run.kinks, 1.0
    k.knot = float("inf")
    if k.n > 0:
        evaluate_guards(method, run, run.t, run.y, k.values)
        evaluate_guards(method, run, run.t + h, run.new, k.tried)
    for i in range(k.n):
        a, b = k.values[i], k.tried[i]
        if k.muted[i] == 0 and a == 0.0 and b != 0.0:
            share, k.which = 0.0, i
        elif k.muted[i] == 0 and a * b < 0.0:
            share = min(share, a / (a - b))
    if share == 0.0:
        k.size = fabs(h)
        come_near(run, run.t, 0.0, 0.0)
    elif share < 1.0:
        run.size = max(run.size, 0.9 * share * fabs(h))
        k.at, k.ahead, k.due, k.size = run.t, fabs(h), 0.0, run.size


@kernel
def note_free_step(method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, end: float) -> None:
    """After a step without a kink: find the distance of the one ahead, and count down muted guards that have kept their sign."""
    k, any = run.kinks, False
    if k.n_smooth > 0:
        expect_knot(method, run, dense, h, t)
    for i in range(k.n):
        any = any or k.muted[i] > 0
    if any:
        evaluate_looks(method, run, dense, t, h, 0.0, 1.0)
    for i in range(k.n):
        if k.muted[i] > 0:
            keeps = fabs(h) >= _SOON * k.size
            for j in range(1, LOOKS + 1):
                keeps = keeps and k.values[i] * k.values[j * k.n + i] > 0.0
            k.muted[i] = k.muted[i] - 1 if keeps else REST
    if k.n > 0 and k.at == t and k.ahead > 0.0:
        beyond = min(_BEYOND, 3.0 * k.ahead / fabs(h))
        seek_crossing(method, run, dense, t, h, 1.0, 1.0 + beyond)
        k.ahead = 0.0
        if k.cross <= 1.0 + beyond:
            distance = (k.cross - 1.0) * fabs(h)
            come_near(run, end, distance, max(0.5 * CLOSE * k.size, _SLACK * distance))


@kernel
def distance_over(method: LoopMethod, run: RunData, way: float) -> float:
    """The time in which a kink that is due is passed at the present rate, 0 where it is not there."""
    k, left, over = run.kinks, 40, False
    rounding = ROUNDED * tolerances.EPS * fabs(run.t)
    gap, most = k.due * (1.0 + _HAIR) + rounding, 100.0 * (k.due + CLOSE * k.size)
    before, behind = guard_along(method, run, 0.0), 0.0
    while not over and left > 0 and gap <= most:
        behind = guard_along(method, run, way * gap)
        over = behind != 0.0 and not behind * before > 0.0
        if not over:
            gap, left = 1.5 * gap, left - 1
    if not over:
        return 0.0
    near = gap * (before / (before - behind)) * (1.0 + _HAIR) + rounding
    if near < gap:
        behind = guard_along(method, run, way * near)
        if behind != 0.0 and not behind * before > 0.0:
            gap = near
    return gap


@kernel
def note_passing(run: RunData, i: int) -> None:
    """Note that guard i is passed at the time of the run; one that is passed again and again is not looked at for a while."""
    k = run.kinks
    soon = fabs(run.t - k.last[i]) <= _SOON * k.size
    k.quick[i] = k.quick[i] + 1 if soon else 0
    k.last[i] = run.t
    if k.quick[i] >= PASSINGS:
        k.quick[i], k.muted[i] = 0, REST
