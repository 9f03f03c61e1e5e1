"""Guards of kinks, whose signs change where the rate has a kink: their values over a step, and what they may do between these."""

from __future__ import annotations

from kineta.integration.loop_abi import LOOKS, RunData
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.runge_kutta import state_at, tolerance
from kineta.kernels.stage_evaluation import LoopMethod, block_of
from kineta.memory import Reals
from kineta.numerics.roots import DIP, SPAN

#: Turns of the search for a change of sign in a step.
TURNS = 60
#: Places looked at, of LOOKS, at which slopes are compared with the differences of values: at no regular distance.
SLOPES = (0, 3, 5)


@kernel
def evaluate_guards(method: LoopMethod, run: RunData, t: float, y: Reals, out: Reals) -> None:
    """The guards of kinks at the time t in the state y."""
    block = block_of(method, run)
    run.time[0] = t
    run.kinks.guards(run.time, y, block, out)


@kernel
def guard_at(method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, i: int, x: float) -> float:
    """Guard i at the fraction x of the step."""
    k = run.kinks
    state_at(method, run, dense, x, k.within)
    evaluate_guards(method, run, t + x * h, k.within, k.tried)
    return k.tried[i]


@kernel
def guard_along(method: LoopMethod, run: RunData, gap: float) -> float:
    """The guard of the kink that is due after a time *gap*, with its sign, at the present rate."""
    k = run.kinks
    for j in range(run.n):
        k.within[j] = run.y[j] + gap * run.k[j]
    evaluate_guards(method, run, run.t + gap, k.within, k.tried)
    return k.tried[k.which]


@kernel
def share_tried(fa: float, fb: float, turn: int) -> float:
    """The part of an interval, with the values fa and fb at its ends, at which a search for a zero looks next: that where the
    chord vanishes; its middle in each third *turn*, and where the chord tells nothing.
    """
    share = fa / (fa - fb)
    if turn % 3 == 2 or not (share > 0.0 and share < 1.0):
        share = 0.5
    return share


@kernel
def evaluate_looks(
    method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, first: float, last: float
) -> None:
    """The guards at equidistant places of the step between two fractions."""
    k = run.kinks
    for j in range(LOOKS + 1):
        x = first + (last - first) * (float(j) / float(LOOKS))
        state_at(method, run, dense, x, k.within)
        evaluate_guards(method, run, t + x * h, k.within, k.values[j * k.n :])


@kernel
def measure_bends(
    method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, first: float, last: float
) -> None:
    """Put bounds for the excursions of guards between the places looked at, from their second, third and fourth differences, and
    whether these are those of functions with one extremum at most. Values of what goes up and down many times between two places
    may be those of something slow: slopes at some places tell.
    """
    k, step = run.kinks, (last - first) / float(LOOKS)
    for i in range(k.n):
        second, third, fourth, bent, turned, least, one_way = 0.0, 0.0, 0.0, 0.0, 0.0, float("inf"), True
        for j in range(1, LOOKS):
            bend = k.values[(j - 1) * k.n + i] - 2.0 * k.values[j * k.n + i] + k.values[(j + 1) * k.n + i]
            turn = bend - bent
            one_way = one_way and (j == 1 or bend * bent > 0.0)
            second, least = max(second, fabs(bend)), min(least, fabs(bend))
            if j > 1:
                third = max(third, fabs(turn))
            if j > 2:
                fourth = max(fourth, fabs(turn - turned))
            bent, turned = bend, turn
        k.near[i] = second + third + fourth
        k.plain[i] = 1 if one_way and least > third + fourth else 0
    for place in SLOPES:
        x = first + step * float(place)
        state_at(method, run, dense, x + SPAN * step, k.within)
        evaluate_guards(method, run, t + (x + SPAN * step) * h, k.within, k.tried)
        for i in range(k.n):
            here = k.values[place * k.n + i]
            off = fabs((k.tried[i] - here) / SPAN - (k.values[(place + 1) * k.n + i] - here))
            if off > k.near[i]:
                k.near[i], k.plain[i] = off, 0
    for i in range(k.n):
        k.near[i] = DIP * k.near[i]


@kernel
def may_hide(run: RunData, i: int) -> bool:
    """Whether guard i, with its excursions, may come to zero and go back between two of the places looked at."""
    k = run.kinks
    for j in range(1, LOOKS + 1):
        a, b = k.values[(j - 1) * k.n + i], k.values[j * k.n + i]
        if a * b > 0.0 and sqrt(fabs(a)) + sqrt(fabs(b)) < 2.0 * sqrt(k.near[i]):
            return True
    return False


@kernel
def blur(method: LoopMethod, run: RunData, t: float, y: Reals, i: int) -> float:
    """How far guard i moves as the state y changes by the step tolerance: smaller excursions are error, not motion."""
    k, found = run.kinks, 0.0
    evaluate_guards(method, run, t, y, k.tried)
    here = k.tried[i]
    for j in range(run.n):
        k.within[j] = y[j] + tolerance(method, run, j)
    evaluate_guards(method, run, t, k.within, k.tried)
    found = fabs(k.tried[i] - here)
    for j in range(run.n):
        k.within[j] = y[j] + (tolerance(method, run, j) if j % 2 == 0 else -tolerance(method, run, j))
    evaluate_guards(method, run, t, k.within, k.tried)
    return max(found, fabs(k.tried[i] - here))


@kernel
def is_vague(method: LoopMethod, run: RunData, t: float) -> bool:
    """Whether guards that are looked at may have changed their sign twice between two of the places looked at."""
    k = run.kinks
    for i in range(k.n):
        if k.muted[i] == 0 and k.plain[i] == 0:
            hides = may_hide(run, i)
            if hides:
                least = blur(method, run, t, run.y, i)
                if k.near[i] > least:
                    return True
    return False
