"""Knots of smooth tables, at which a higher derivative jumps: steps end there."""

from __future__ import annotations

from kineta.integration.loop_abi import RunData
from kineta.kernels.kinks.guards import TURNS, evaluate_guards, share_tried
from kineta.kernels.language import fabs, kernel
from kineta.kernels.runge_kutta import state_at
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.memory import Reals

#: Part of a step, at each end, in which knots of smooth tables are left out; places at which tables are looked at; and part of
#: what lies between two of them up to which a knot is found; part of a step, beyond its end, in which one is expected.
_ASIDE, _GLANCES, _SHARE, _AHEAD = 1e-4, 4, 1e-9, 2.0


@kernel
def crosses_knot(method: LoopMethod, run: RunData, dense: Reals, t: float, h: float) -> bool:
    """Whether a step that is accurate crosses a knot of a smooth table; it is then to be made anew up to there."""
    k = run.kinks
    if k.n_smooth == 0:
        return False
    meet = next_knot(method, run, dense, t, h, 0.0, 1.0)
    if meet > 1.0:
        return False
    k.whole = max(k.whole, fabs(h)) if k.knot == t else fabs(h)
    k.knot = t
    run.size = meet * fabs(h)
    return True


@kernel
def next_knot(
    method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, first: float, last: float
) -> float:  # fmt: skip
    """The fraction of a step, between two, at which a smooth table first comes to a knot, infinite without one. What is close to
    either of both is left out.
    """
    k, found, width = run.kinks, float("inf"), last - first
    for i in range(k.n_smooth):
        a = first + _ASIDE * width
        table_at(method, run, dense, t, h, i, a)
        low, high = k.tried[k.n + 3 * i + 1], k.tried[k.n + 3 * i + 2]
        going, j = True, 1
        while going:
            x = first + (float(j) / float(_GLANCES) if j < _GLANCES else 1.0 - _ASIDE) * width
            value = table_at(method, run, dense, t, h, i, x)
            if value < low or value > high:
                meet = arrival(method, run, dense, t, h, i, high if value > high else low, a, x)
                found, going = min(found, meet), False
            a, j = x, j + 1
            going = going and j <= _GLANCES and a < found
    return found


@kernel
def table_at(method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, i: int, x: float) -> float:
    """The quantity of smooth table i at the fraction x of the step."""
    k = run.kinks
    state_at(method, run, dense, x, k.within)
    evaluate_guards(method, run, t + x * h, k.within, k.tried)
    return k.tried[k.n + 3 * i]


@kernel
def arrival(
    method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, i: int, knot: float, a: float, b: float
) -> float:  # fmt: skip
    """The fraction of the step, between a and b, at which the quantity of smooth table i comes to a *knot*."""
    fa, fb = table_at(method, run, dense, t, h, i, a), table_at(method, run, dense, t, h, i, b)
    f, g, turn = fa - knot, fb - knot, 0
    wide = b - a
    while turn < TURNS and b - a > _SHARE * wide:
        share = share_tried(f, g, turn)
        x = a + share * (b - a)
        here = table_at(method, run, dense, t, h, i, x)
        value = here - knot
        if value * f > 0.0:
            a, f, g = x, value, 0.5 * g
        else:
            b, g, f = x, value, 0.5 * f
        turn += 1
        if fabs(value) <= _SHARE * fabs(fb - fa):
            a, b, turn = x, x, TURNS
    return b


@kernel
def expect_knot(method: LoopMethod, run: RunData, dense: Reals, h: float, start: float) -> None:
    """After a step from the time *start*: go back to the size that steps had before one was cut, and cut the next at a knot to
    which the continuation of this one comes.
    """
    k = run.kinks
    if k.knot == start:
        run.size = k.whole
    k.knot, k.whole = float("inf"), min(run.max_step, run.size)
    meet = next_knot(method, run, dense, start, h, 1.0, 1.0 + min(_AHEAD, k.whole / fabs(h)))
    if meet < 1.0 + k.whole / fabs(h):
        k.knot, run.size = run.t, (meet - 1.0) * fabs(h)
