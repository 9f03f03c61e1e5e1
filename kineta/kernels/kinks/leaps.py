"""Leaps: what is stored, generalised momenta and placements jump at a kink, whose place is found to the last bit."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.loop_abi import RunData
from kineta.kernels.kinks.guards import TURNS, guard_along
from kineta.kernels.language import copysign, fabs, kernel
from kineta.kernels.stage_evaluation import LoopMethod, block_of
from kineta.memory import Reals

#: Time on either side of a kink over which a placement is looked at, as a part of that in which the kink is passed, and at least,
#: in units of roundoff; and the wider one, of so many of these.
_BESIDE, LEAST_BESIDE, WIDER = 1e-3, 64.0, 16.0


@kernel
def evaluate_stored(method: LoopMethod, run: RunData, t: float, y: Reals, out: Reals) -> None:
    """What is stored at the time t in the state y."""
    block = block_of(method, run)
    run.time[0] = t
    run.kinks.stored(run.time, y, block, out)


@kernel
def place_leap(method: LoopMethod, run: RunData) -> None:
    """Bisect the kink found: put the two adjacent times between which what is stored jumps, and its values on both sides."""
    k = run.kinks
    evaluate_stored(method, run, k.stop, run.y, k.before)
    evaluate_stored(method, run, k.right, run.y, k.behind)
    jumps = 0
    for i in range(1, k.n_stored):
        if fabs(k.behind[i] - k.before[i]) > fabs(k.behind[jumps] - k.before[jumps]):
            jumps = i
    a, b, first, last = k.stop, k.right, k.before[jumps], k.behind[jumps]
    middle = a + 0.5 * (b - a)
    while middle != a and middle != b:
        evaluate_stored(method, run, middle, run.y, k.behind)
        if fabs(k.behind[jumps] - first) < fabs(k.behind[jumps] - last):
            a = middle
        else:
            b = middle
        middle = a + 0.5 * (b - a)
    evaluate_stored(method, run, k.right, run.y, k.behind)
    k.left, k.over = a, b


@kernel
def take_leap(run: RunData) -> bool:
    """Count the jump of the energy with the time alone as work; whether generalised momenta and placements are continuous: else
    a mass would need an infinite acceleration.
    """
    k = run.kinks
    run.new[k.work] = run.new[k.work] + (k.behind[0] - k.before[0])
    return is_continuous(run)


@kernel
def is_continuous(run: RunData) -> bool:
    """Whether generalised momenta and placements are the same on both sides of a kink."""
    k, size, off = run.kinks, 0.0, 0.0
    for i in range(1, k.n_stored):
        size = max(size, max(fabs(k.before[i]), fabs(k.behind[i])))
        off = max(off, fabs(k.behind[i] - k.before[i]))
    return off <= tolerances.STATE_TOLERANCE * size


@kernel
def tears(method: LoopMethod, run: RunData, gap: float) -> bool:
    """Whether the kink of the state that is passed in a time *gap* is a jump of a placement, which changes as much close to it as
    over a wider time: a mass would need an infinite acceleration.
    """
    k, a, b, turn = run.kinks, 0.0, 1.0, 0
    first, last = guard_along(method, run, 0.0), guard_along(method, run, gap)
    if first * last > 0.0 or last == 0.0:
        return False
    while turn < TURNS:
        middle = a + 0.5 * (b - a)
        value = guard_along(method, run, middle * gap)
        if value * last > 0.0:
            b = middle
        else:
            a = middle
        turn += 1
    beside = max(_BESIDE * fabs(gap), LEAST_BESIDE * tolerances.EPS * max(fabs(run.t), k.size))
    beside = copysign(beside, gap)
    least = -WIDER * fabs(beside) if first != 0.0 else 0.0
    near = change_about(method, run, b * gap, beside, least)
    same = is_continuous(run)
    wide = change_about(method, run, b * gap, WIDER * beside, least)
    return not same and wide < 0.25 * WIDER * near


@kernel
def change_about(method: LoopMethod, run: RunData, at: float, beside: float, least: float) -> float:
    """The largest change of a placement from *beside* before to as far behind the time *at* from now on, at the present rate, but
    not before the time *least*.
    """
    k, found = run.kinks, 0.0
    low = at - beside
    if copysign(1.0, beside) * low < least:
        low = copysign(fabs(least), -beside)
    guard_along(method, run, low)
    evaluate_stored(method, run, run.t + low, k.within, k.before)
    guard_along(method, run, at + beside)
    evaluate_stored(method, run, run.t + at + beside, k.within, k.behind)
    for i in range(1, k.n_stored):
        found = max(found, fabs(k.behind[i] - k.before[i]))
    return found
