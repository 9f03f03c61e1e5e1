"""Kinks that depend on the time alone: they are known before the step, which ends in front of them.

A quantity that is a distance d from where it jumps, has the rate u and a second derivative of at most M is not there before
d = u s + M s^2 / 2. These times are added up, each from where the last has led; near a kink they are Newton's steps.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.loop_abi import CLOCK, KinkData, RunData
from kineta.kernels.language import copysign, fabs, kernel, sqrt
from kineta.kernels.runge_kutta import next_step
from kineta.memory import Reals

#: What is far from any kink.
_FAR = 1e299
#: Rounding errors of times, in units of roundoff, within which a kink may lie.
ROUNDED = 4.0
#: Places of a search for a kink of the time in a step, and halvings of an interval with one.
_PLACES, _HALVINGS = 400, 200
#: Part of a window that is free of kinks where their bound is unknown; and how much longer than the last way without a kink the
#: next window is, since a bound over a long window may be far above what holds over a short one.
_UNKNOWN, _LONGER = 1.0 / 64.0, 8.0


@kernel
def read_clocks(k: KinkData, block: Reals, t: float, width: float, out: Reals) -> None:
    """The numbers of all clocks at the time t, for a time *width* from there on."""
    k.moment[0], k.width[0] = t, width
    k.clocks(k.moment, k.width, block, out)


@kernel
def least_time(gap: float, rate: float, bend: float, unknown: float) -> float:
    """The least time in which a *gap* may close at a *rate* that changes by at most *bend* a second."""
    if not gap < _FAR:
        return float("inf")
    if not bend < _FAR:
        return unknown
    root = sqrt(rate * rate + 2.0 * bend * gap)
    if rate > 0.0:
        return 2.0 * gap / (root + rate)
    return (root - rate) / bend if bend > 0.0 else float("inf")


@kernel
def free_time(k: KinkData, way: float, first: int, behind: int, unknown: float) -> float:
    """A time without a kink of the clocks from number *first* to *behind*, from ``here`` in the direction *way*; at most the time
    *unknown* where nothing bounds their bend.
    """
    found = float("inf")
    for i in range(first, behind):
        rate, bend = way * k.here[CLOCK * i + 3], k.here[CLOCK * i + 4]
        up = least_time(k.here[CLOCK * i + 1], rate, bend, unknown)
        down = least_time(k.here[CLOCK * i + 2], -rate, bend, unknown)
        found = min(found, min(up, down))
    return found


@kernel
def is_changed(k: KinkData) -> bool:
    """Whether a kink lies between ``here`` and ``there``."""
    for i in range(k.n_clocks):
        if k.here[CLOCK * i] < k.there[CLOCK * i] or k.here[CLOCK * i] > k.there[CLOCK * i]:
            return True
    return False


@kernel
def move_there(k: KinkData) -> None:
    """Make ``there`` the place from which a search goes on."""
    for i in range(CLOCK * (k.n_clocks + k.n_paces)):
        k.here[i] = k.there[i]


@kernel
def enclose(k: KinkData, block: Reals, a: float, b: float, size: float) -> None:
    """Find the times before and behind the first kink between a and b, for a step of this *size*."""
    left, way, going = _HALVINGS, copysign(1.0, b - a), True
    rounding = tolerances.EPS * max(fabs(a), max(fabs(b), fabs(size)))
    while going and left > 0:
        middle = a + 0.5 * (b - a)
        read_clocks(k, block, middle, 0.0, k.there)
        changed = is_changed(k)
        if changed:
            b = middle
        else:
            a = middle
        left -= 1
        going = fabs(b - a) > rounding and middle != a + 0.5 * (b - a)
    k.stop, k.right, k.found = a - way * ROUNDED * rounding, b + way * ROUNDED * rounding, True


@kernel
def find_stop(k: KinkData, block: Reals, t: float, h: float) -> None:
    """Find the first kink that depends on the time alone in a step h from the time t on, and the longest step on its way."""
    k.found, k.longest = False, fabs(h)
    way, end, x, left = copysign(1.0, h), t + h, t, _PLACES
    read_clocks(k, block, t, h, k.here)
    if k.n_paces > 0:
        k.longest = free_time(k, way, k.n_clocks, k.n_clocks + k.n_paces, fabs(h) * _UNKNOWN)
        if k.longest < fabs(h):
            end = t + way * k.longest
    least = ROUNDED * tolerances.EPS * max(fabs(t), fabs(h))
    creep, window = least, fabs(end - t)
    while left > 0 and x != end:
        free = free_time(k, way, 0, k.n_clocks, fabs(h) * _UNKNOWN)
        creep = 2.0 * creep if free < creep else least
        more = min(free * (1.0 + 1e-9) + creep, max(window, creep))
        y = x + way * more if more < fabs(end - x) else end
        window = min(_LONGER * more, fabs(end - y))
        read_clocks(k, block, y, way * window, k.there)
        changed = is_changed(k)
        if changed:
            enclose(k, block, x, y, h)
            left = 0
        else:
            move_there(k)
            x = y
            left -= 1
    if not k.found:
        k.longest = min(k.longest, fabs(x - t))


@kernel
def is_cut(run: RunData) -> bool:
    """Whether the next step is to end in front of a kink that depends on the time alone, or is longer than clocks tell."""
    k = run.kinks
    return k.n_clocks + k.n_paces > 0 and (k.found or k.longest < fabs(next_step(run)))


@kernel
def cut_step(run: RunData) -> float:
    """The next step, cut in front of the kink that depends on the time alone, or at the ``longest`` step."""
    k, h = run.kinks, next_step(run)
    return k.stop - run.t if k.found else copysign(k.longest, h)
