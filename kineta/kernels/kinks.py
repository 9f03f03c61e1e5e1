"""Kinks and steps of the rate: steps end in front of them, and go on behind.

A kink that depends on the time alone is known before the step: a quantity that is a distance d from where it jumps, has the rate
u and a second derivative of at most M is not there before d = u s + M s^2 / 2. These times are added up, each from where the
last has led; near a kink they are Newton's steps. A kink of the state is a change of the sign of a guard over a step that is
tried. The step is then made anew up to a little before it, and once more, and the rest is passed with the rate before the kink,
which is so short that its square counts for nothing.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.loop_abi import CLOCK, LOOKS, PASSINGS, REST, KinkData, RunData
from kineta.kernels.language import copysign, fabs, kernel, sqrt
from kineta.kernels.runge_kutta import next_step, resolution, state_at, tolerance
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.memory import Reals
from kineta.numerics.roots import DIP, LEAST, SPAN

#: What is far from any kink.
_FAR = 1e299
#: Rounding errors of times, in units of roundoff, within which a kink may lie.
_ROUNDED = 4.0
#: Places of a search for a kink of the time in a step, and halvings of an interval with one.
_PLACES, _HALVINGS = 400, 200
#: Turns of the search for a change of sign in a step.
_TURNS = 60
#: Part of a window that is free of kinks where their bound is unknown; and how much longer than the last way without a kink the
#: next window is, since a bound over a long window may be far above what holds over a short one.
_UNKNOWN, _LONGER = 1.0 / 64.0, 8.0
#: Distance from a kink, relative to the step that met it, at which a step ends for the first time; and at which it is passed.
_BEFORE, CLOSE = 1e-3, 1e-8
#: Part of a distance by which a kink is passed.
_HAIR = 1e-6
#: Distance in front of a kink that was found beyond the end of a step, relative to that from there.
_SLACK = 1e-4
#: Time between two passings of a guard, relative to a step, up to which they follow each other immediately.
_SOON = 1e-5
#: Places looked at, of LOOKS, at which slopes are compared with the differences of values: at no regular distance.
SLOPES = (0, 3, 5)
#: Part of a step, at each end, in which knots of smooth tables are left out; places at which tables are looked at; and part of
#: what lies between two of them up to which a knot is found; part of a step, beyond its end, in which one is expected.
_ASIDE, _GLANCES, _SHARE, _AHEAD = 1e-4, 4, 1e-9, 2.0
#: Time on either side of a kink over which a placement is looked at, as a part of that in which the kink is passed, and at least,
#: in units of roundoff; and the wider one, of so many of these.
_BESIDE, LEAST_BESIDE, WIDER = 1e-3, 64.0, 16.0
#: Largest part of a step, beyond its end, in which its interpolant is believed.
_BEYOND = 0.5


# -- kinks that depend on the time alone ----------------------------------------------------------------------------------


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
    k.stop, k.right, k.found = a - way * _ROUNDED * rounding, b + way * _ROUNDED * rounding, True


@kernel
def find_stop(k: KinkData, block: Reals, t: float, h: float) -> None:
    """Find the first kink that depends on the time alone in a step h from the time t on, and the longest step on its way."""
    k.found, k.pace = False, fabs(h)
    way, end, x, left = copysign(1.0, h), t + h, t, _PLACES
    read_clocks(k, block, t, h, k.here)
    if k.n_paces > 0:
        k.pace = free_time(k, way, k.n_clocks, k.n_clocks + k.n_paces, fabs(h) * _UNKNOWN)
        if k.pace < fabs(h):
            end = t + way * k.pace
    least = _ROUNDED * tolerances.EPS * max(fabs(t), fabs(h))
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
        k.pace = min(k.pace, fabs(x - t))


@kernel
def evaluate_stored(method: LoopMethod, run: RunData, t: float, y: Reals, out: Reals) -> None:
    """What is stored at the time t in the state y."""
    run.time[0] = t
    if method.touching:
        run.kinks.stored(run.time, y, run.contacts.motion.block, out)
    else:
        run.kinks.stored(run.time, y, run.block, out)


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


# -- kinks of the state ---------------------------------------------------------------------------------------------------


@kernel
def begin_kinks(run: RunData) -> None:
    """No kink has been passed so far."""
    k = run.kinks
    k.at, k.ahead, k.due, k.passed = run.t, 0.0, 0.0, 0
    k.knot = float("inf")
    for i in range(k.n):
        k.last[i], k.quick[i], k.muted[i] = -float("inf"), 0, 0


@kernel
def evaluate_guards(method: LoopMethod, run: RunData, t: float, y: Reals, out: Reals) -> None:
    """The guards of kinks at the time t in the state y."""
    run.time[0] = t
    if method.touching:
        run.kinks.guards(run.time, y, run.contacts.motion.block, out)
    else:
        run.kinks.guards(run.time, y, run.block, out)


@kernel
def guard_at(method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, i: int, x: float) -> float:
    """Guard i at the fraction x of the step."""
    k = run.kinks
    state_at(method, run, dense, x, k.within)
    evaluate_guards(method, run, t + x * h, k.within, k.tried)
    return k.tried[i]


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
def blur(method: LoopMethod, run: RunData, t: float, i: int) -> float:
    """How far guard i moves as the state changes by the step tolerance: smaller excursions are error, not motion."""
    k, found = run.kinks, 0.0
    evaluate_guards(method, run, t, run.y, k.tried)
    here = k.tried[i]
    for j in range(run.n):
        k.within[j] = run.y[j] + tolerance(method, run, j)
    evaluate_guards(method, run, t, k.within, k.tried)
    found = fabs(k.tried[i] - here)
    for j in range(run.n):
        k.within[j] = run.y[j] + (tolerance(method, run, j) if j % 2 == 0 else -tolerance(method, run, j))
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
                least = blur(method, run, t, i)
                if k.near[i] > least:
                    return True
    return False


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
    while turn < _TURNS and b - a > tolerances.EPS * b:
        share = fa / (fa - fb)
        if turn % 3 == 2 or not (share > 0.0 and share < 1.0):
            share = 0.5
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
            a, turn = max(a, x - _ROUNDED * tolerances.EPS), _TURNS
    if a < k.cross:
        k.cross, k.which = a, i


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
        a, low, high = first + _ASIDE * width, 0.0, 0.0
        fa = table_at(method, run, dense, t, h, i, a)
        low, high = k.tried[k.n + 3 * i + 1], k.tried[k.n + 3 * i + 2]
        going, j = True, 1
        while going:
            x = first + (float(j) / float(_GLANCES) if j < _GLANCES else 1.0 - _ASIDE) * width
            fb = table_at(method, run, dense, t, h, i, x)
            if fb < low or fb > high:
                meet = arrival(method, run, dense, t, h, i, high if fb > high else low, a, fa, x, fb)
                found, going = min(found, meet), False
            a, fa, j = x, fb, j + 1
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
    method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, i: int, knot: float,
    a: float, fa: float, b: float, fb: float,
) -> float:  # fmt: skip
    """The fraction of the step, between a and b, at which the quantity of smooth table i, there fa and fb, comes to a *knot*."""
    f, g, turn = fa - knot, fb - knot, 0
    wide = b - a
    while turn < _TURNS and b - a > _SHARE * wide:
        share = f / (f - g)
        if turn % 3 == 2 or not (share > 0.0 and share < 1.0):
            share = 0.5
        x = a + share * (b - a)
        here = table_at(method, run, dense, t, h, i, x)
        value = here - knot
        if value * f > 0.0:
            a, f, g = x, value, 0.5 * g
        else:
            b, g, f = x, value, 0.5 * f
        turn += 1
        if fabs(value) <= _SHARE * fabs(fb - fa):
            a, b, turn = x, x, _TURNS
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
def guard_along(method: LoopMethod, run: RunData, gap: float) -> float:
    """The guard of the kink that is due after a time *gap*, with its sign, at the present rate."""
    k = run.kinks
    for j in range(run.n):
        k.within[j] = run.y[j] + gap * run.k[j]
    evaluate_guards(method, run, run.t + gap, k.within, k.tried)
    return k.tried[k.which]


@kernel
def distance_over(method: LoopMethod, run: RunData, way: float) -> float:
    """The time in which a kink that is due is passed at the present rate, 0 where it is not there."""
    k, left, over = run.kinks, 40, False
    rounding = _ROUNDED * tolerances.EPS * fabs(run.t)
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
def tears(method: LoopMethod, run: RunData, gap: float) -> bool:
    """Whether the kink of the state that is passed in a time *gap* is a jump of a placement, which changes as much close to it as
    over a wider time: a mass would need an infinite acceleration.
    """
    k, a, b, turn = run.kinks, 0.0, 1.0, 0
    first, last = guard_along(method, run, 0.0), guard_along(method, run, gap)
    if first * last > 0.0 or last == 0.0:
        return False
    while turn < _TURNS:
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


@kernel
def note_passing(run: RunData, i: int) -> None:
    """Note that guard i is passed at the time of the run; one that is passed again and again is not looked at for a while."""
    k = run.kinks
    soon = fabs(run.t - k.last[i]) <= _SOON * k.size
    k.quick[i] = k.quick[i] + 1 if soon else 0
    k.last[i] = run.t
    if k.quick[i] >= PASSINGS:
        k.quick[i], k.muted[i] = 0, REST


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
        if method.touching:
            find_stop(k, run.contacts.motion.block, run.t, h)
        else:
            find_stop(k, run.block, run.t, h)
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
def is_cut(run: RunData) -> bool:
    """Whether the next step is to end in front of a kink that depends on the time alone, or at its pace."""
    k = run.kinks
    return k.n_clocks + k.n_paces > 0 and (k.found or k.pace < fabs(next_step(run)))


@kernel
def cut_step(run: RunData) -> float:
    """The next step, cut in front of the kink that depends on the time alone, or at the longest step ``pace``."""
    k, h = run.kinks, next_step(run)
    return k.stop - run.t if k.found else copysign(k.pace, h)
