"""Event location: zeros of event functions over an accepted step."""

from __future__ import annotations

from kineta.integration.loop_abi import RunData
from kineta.kernels.event_start import ROUNDING, evaluate_events
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.runge_kutta import state_at
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.kernels.vectors import copy, largest
from kineta.kernels.zero_search import event_value, put_extremum, put_point, zero
from kineta.memory import Reals
from kineta.numerics.roots import AWAY, BETWEEN, CROWDED, DIP, LEAST, MANY, OFF, PARTS


@kernel
def known(run: RunData, part: int, i: int) -> float:
    """The value of event i at a part of the piece."""
    return run.events.values[part * run.events.n + i]


@kernel
def is_missing(run: RunData, i: int) -> bool:
    """Whether event i is undefined at some of the parts, and defined at others."""
    missing = 0
    for part in range(len(PARTS)):
        value = known(run, part, i)
        if value != value:
            missing += 1
    return missing > 0 and missing < len(PARTS)


@kernel
def is_starting(run: RunData, i: int) -> bool:
    """Whether event i has stayed at its zero since the start of the run."""
    return run.events.noise[i] >= 0.0


@kernel
def is_away(run: RunData, i: int, value: float) -> bool:
    """Whether a *value* of event i is outside the evaluation error of its start zero."""
    return fabs(value) > run.events.noise[i]


@kernel
def leaves(run: RunData, i: int) -> bool:
    """Whether event i leaves its start zero within the piece."""
    for part in range(1, len(PARTS)):
        if is_away(run, i, known(run, part, i)):
            return True
    return False


@kernel
def rises(old: float, new: float) -> bool:
    """Whether two successive values reach or pass zero upwards."""
    return old < 0.0 and new >= 0.0


@kernel
def falls(old: float, new: float) -> bool:
    """Whether two successive values reach or pass zero downwards."""
    return old > 0.0 and new <= 0.0


@kernel
def counts(run: RunData, i: int, old: float, new: float) -> bool:
    """Whether successive values of event i reach or pass zero in an enabled direction."""
    direction = run.events.directions[i]
    return (direction >= 0 and rises(old, new)) or (direction <= 0 and falls(old, new))


@kernel
def larger(a: float, b: float) -> float:
    """The larger of two numbers, of which either may be NaN."""
    return b if b > a or a != a else a


@kernel
def bend(run: RunData, i: int) -> float:
    """A bound for the excursion of event i between two of the parts: its second, third and fourth differences, where it is off
    the straight line between two parts by more than these say, four times as much.
    """
    a, b, c, d, e = known(run, 0, i), known(run, 1, i), known(run, 2, i), known(run, 3, i), known(run, 4, i)
    r, s, t = (c - b) - (b - a), (d - c) - (c - b), (e - d) - (d - c)
    u, v = s - r, t - s
    second = larger(larger(fabs(r), fabs(s)), fabs(t))
    told = DIP * ((second + larger(fabs(u), fabs(v))) + fabs(v - u))
    return OFF * run.events.off[i] if run.events.off[i] > told else told


@kernel
def is_likely(run: RunData, i: int) -> bool:
    """Whether event i may have a zero within the piece."""
    if is_starting(run, i):
        return leaves(run, i)
    nearest = fabs(known(run, 0, i))
    for part in range(1, len(PARTS)):
        old, new = known(run, part - 1, i), known(run, part, i)
        if rises(old, new) or falls(old, new):
            return True
        nearest = min(fabs(new), nearest)
    return nearest < bend(run, i)


# -- zeros in their order -----------------------------------------------------------------------------------------------


@kernel
def begin_points(run: RunData, x: float, f: float) -> None:
    """The first sampling point."""
    run.events.points = 0
    put_point(run, x, f)


@kernel
def first_point(method: LoopMethod, run: RunData, dense: Reals, i: int) -> int:
    """Put the first sampling point of event i: the start of the piece, or where the event has left its start zero; the last
    of the parts before it.
    """
    e, first = run.events, 0
    begin_points(run, e.start, known(run, 0, i))
    if is_starting(run, i):
        for part in reversed(range(1, len(PARTS))):
            if is_away(run, i, known(run, part, i)):
                begin_points(run, e.start + e.width * PARTS[part], known(run, part, i))
                first = part
        for x in reversed(AWAY):
            value = event_value(method, run, dense, i, e.start + e.width * x, 0.0)
            if is_away(run, i, value):
                begin_points(run, e.start + e.width * x, value)
                first = 0
    return first


@kernel
def set_points(method: LoopMethod, run: RunData, dense: Reals, i: int) -> None:
    """The sampling points of event i: the parts of the piece, and extrema between them that reach zero."""
    e = run.events
    near = bend(run, i)
    first = first_point(method, run, dense, i)
    for part in range(first + 1, len(PARTS)):
        a, fa = e.x[e.points - 1], e.f[e.points - 1]
        x, f = e.start + e.width * (float(part) * PARTS[1]), known(run, part, i)
        if fa * f > 0.0 and min(fabs(f), fabs(fa)) < near:
            put_extremum(method, run, dense, i, a, fa, x, f)
        put_point(run, x, f)


@kernel
def found(run: RunData, i: int, t: float) -> None:
    """Record and count a zero of event i at the time t, in the state ``between``."""
    e = run.events
    e.which[e.found] = i
    e.times[e.found] = t
    copy(run.between, e.states[e.found * run.n :], run.n)
    e.found += 1
    e.left[i] -= 1
    if e.left[i] == 0:
        e.ended = True


@kernel
def look_across(run: RunData, t: float, y: Reals) -> None:
    """Evaluate the caller's events before a transition at the time t in the state y."""
    if run.contacts.watched > 0:
        evaluate_events(run, t, y, run.events.values[run.events.n :])


@kernel
def note_jumps(method: LoopMethod, run: RunData, t: float, y: Reals) -> None:
    """Note zeros of the caller's events that have jumped over zero, by more than rounding and projections move them, to values
    after a transition at the time t, in the state y.
    """
    c, e = run.contacts, run.events
    before, moved = e.values[e.n :], 0.0
    if c.watched > 0:
        evaluate_events(run, t, y, e.tried)
        moved = ROUNDING * max(1.0, largest(y, c.work))
        if method.touching:
            moved = max(moved, c.transitions.same)
    for i in range(c.watched):
        least = max(moved, 2.0 * e.errors[i])
        counted = counts(run, i, before[i], e.tried[i])
        if counted and fabs(before[i]) > least and fabs(e.tried[i]) > least:
            if method.sampling:
                run.sampling.cases[e.found] = run.sampling.number
            copy(y, run.between, run.n)
            found(run, i, t)
            if method.sampling and e.ended:
                run.sampling.ended = i


@kernel
def time_at(run: RunData, x: float) -> float:
    """The time at the fraction x of the step."""
    e = run.events
    return e.end if x == 1.0 else e.t + x * e.h


@kernel
def locate_one(method: LoopMethod, run: RunData, dense: Reals, i: int) -> None:
    """Locate the zeros of event i in the piece, and where it falls below its hysteresis though it was not positive before."""
    e, risen = run.events, False
    if is_likely(run, i):
        set_points(method, run, dense, i)
        for j in range(e.points - 1):
            if counts(run, i, e.f[j], e.f[j + 1]):
                x = zero(method, run, dense, i, 0.0, e.x[j], e.f[j], e.x[j + 1], e.f[j + 1])
                if not e.pole:
                    found(run, i, time_at(run, x))
                    risen = e.f[0] > 0.0
    beyond, behind = e.beyond[i], e.start + e.width
    first, last = known(run, 0, i) + beyond, known(run, len(PARTS) - 1, i) + beyond
    if not risen and (is_starting(run, i) or first <= beyond) and first > 0.0 and last <= 0.0:
        y = zero(method, run, dense, i, beyond, e.start, first, behind, last)
        found(run, i, time_at(run, y))
    if leaves(run, i):
        e.noise[i] = -1.0


# -- pieces of a step ----------------------------------------------------------------------------------------------------


@kernel
def evaluate_parts(method: LoopMethod, run: RunData, dense: Reals) -> None:
    """Evaluate all events at the parts of the piece behind its start."""
    e, behind = run.events, run.events.start + run.events.width
    e.searches += 1
    if behind == 1.0:
        evaluate_events(run, e.end, run.new, e.values[(len(PARTS) - 1) * e.n :])
    else:
        state_at(method, run, dense, behind, e.within)
        evaluate_events(run, e.t + behind * e.h, e.within, e.values[(len(PARTS) - 1) * e.n :])
    for part in range(1, len(PARTS) - 1):
        x = e.start + e.width * (float(part) * PARTS[1])
        state_at(method, run, dense, x, e.within)
        evaluate_events(run, e.t + x * e.h, e.within, e.values[part * e.n :])
    look_between(method, run, dense)


@kernel
def look_between(method: LoopMethod, run: RunData, dense: Reals) -> None:
    """Put how far the caller's events are off the straight lines between parts at some places: what goes up and down many times
    between two parts may have the values of something slow at them.
    """
    e = run.events
    own = run.contacts.watched if method.touching or method.switching else e.n
    if own > 0:
        for i in range(own):
            e.off[i] = 0.0
        for place in BETWEEN:
            x = e.start + e.width * ((float(place[0]) + place[1]) * PARTS[1])
            state_at(method, run, dense, x, e.within)
            evaluate_events(run, e.t + x * e.h, e.within, e.tried)
            for i in range(own):
                here = known(run, place[0], i)
                line = here + place[1] * (known(run, place[0] + 1, i) - here)
                off = fabs(e.tried[i] - line) - 2.0 * e.errors[i]
                if off > e.off[i]:
                    e.off[i] = off


@kernel
def bends_to_one_side(run: RunData, i: int) -> bool:
    """Whether event i has one extremum at most in the piece, as far as its differences show."""
    a, b, c, d, e = known(run, 0, i), known(run, 1, i), known(run, 2, i), known(run, 3, i), known(run, 4, i)
    r, s, t = (c - b) - (b - a), (d - c) - (c - b), (e - d) - (d - c)
    u, v = s - r, t - s
    least = min(fabs(r), min(fabs(s), fabs(t)))
    told = DIP * ((max(fabs(r), max(fabs(s), fabs(t))) + max(fabs(u), fabs(v))) + fabs(v - u))
    steady = run.events.off[i] <= told
    return steady and r * s > 0.0 and s * t > 0.0 and least > max(fabs(u), fabs(v)) + fabs(v - u)


@kernel
def is_blurred(run: RunData, i: int) -> bool:
    """Whether event i may come to zero and go back, unseen, between two of the parts: a parabola through both values that bends
    as much as the event may does, and the event has more than one extremum.
    """
    near, starting = bend(run, i), is_starting(run, i)
    clear = bends_to_one_side(run, i)
    if clear or not near > run.events.errors[i] or (starting and not leaves(run, i)):
        return False
    for part in range(1, len(PARTS)):
        a, b = known(run, part - 1, i), known(run, part, i)
        if a * b > 0.0 or (starting and part == 1):
            if sqrt(fabs(a)) + sqrt(fabs(b)) < 2.0 * sqrt(near):
                return True
        elif fabs(b - a) < 4.0 * near:
            return True
    return False


@kernel
def is_to_halve(run: RunData) -> bool:
    """Whether the piece is too long to see all zeros in it."""
    e = run.events
    if e.width > LEAST:
        for i in range(e.n):
            blurred = is_blurred(run, i)
            if blurred:
                return True
    return False


@kernel
def forget(run: RunData, t: float, before: int) -> None:
    """Forget the zeros of a step from the time t on that has too many: of all but so many found *before*."""
    e = run.events
    for i in range(e.n):
        e.left[i], e.noise[i] = e.kept_left[i], e.kept_noise[i]
    e.found, e.crowded = before, True
    evaluate_events(run, t, run.y, e.values)


@kernel
def has_many(run: RunData, before: int, shorter: bool) -> bool:
    """Whether the step has too many zeros, behind those found *before* it, or where it is not made *shorter* too many pieces."""
    return run.events.found - before > MANY or (not shorter and run.events.searches > MANY)


@kernel
def locate(method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, end: float) -> None:
    """Locate the event zeros of the step from t to *end*, up to the piece in which it ends, or report that some are undefined
    in a part of it. Pieces are as long as the parts of each show what events do between them. A step with too many zeros is
    ``crowded``: none of them counts, and it is to be made shorter. One that is short already has few pieces, too: events that are
    noise, as forces where a loop folds flat, would take thousands.
    """
    e = run.events
    e.t, e.h, e.end, e.start, e.width, e.crowded, e.searches = t, h, end, 0.0, 1.0, False, 0
    before, shorter = e.found, fabs(h) > CROWDED * fabs(run.t_end - t)
    for i in range(e.n):
        e.kept_left[i], e.kept_noise[i] = e.left[i], e.noise[i]
    evaluate_parts(method, run, dense)
    for i in range(e.n):
        e.undefined = e.undefined or is_missing(run, i)
    going = not e.undefined
    while going:
        halved = is_to_halve(run)
        if halved and not has_many(run, before, shorter):
            e.width = 0.5 * e.width
        else:
            for i in range(e.n):
                locate_one(method, run, dense, i)
            copy(e.values[(len(PARTS) - 1) * e.n :], e.values, e.n)
            e.start = e.start + e.width
            going = e.start < 1.0 and not e.ended
            many = has_many(run, before, shorter)
            if going and shorter and many:
                forget(run, t, before)
                going = False
            e.width = min(2.0 * e.width, 1.0 - e.start) if not many else 1.0 - e.start
        if going:
            evaluate_parts(method, run, dense)
    if e.undefined:
        copy(e.values[(len(PARTS) - 1) * e.n :], e.values, e.n)
