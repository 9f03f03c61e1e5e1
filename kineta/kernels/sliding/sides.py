"""Sliding modes: where a motion begins to slide along a surface, and where it leaves it.

A motion that passes a switching function slides along its surface if both sides drive towards it. It leaves where the share of
one side (:mod:`kineta.kernels.sliding.rate`) has gone to zero: rates do not jump there, and the step is cut a little behind.
Up to the end of a step that leads away the operations are held on the side to which it goes, since the sign of what is zero but
for rounding says nothing.
"""

from __future__ import annotations

from fractions import Fraction

from kineta import tolerances
from kineta.expr.op import FREE, HIGH, KEPT, LOW, SLIDING
from kineta.integration.loop_abi import REST, RunData
from kineta.kernels.kinks.guards import blur, evaluate_guards
from kineta.kernels.language import copysign, fabs, kernel, pow
from kineta.kernels.runge_kutta import change_of, resolution, state_at
from kineta.kernels.sliding.rate import evaluate_sliding, solve_shares, told_side
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.kernels.vectors import largest
from kineta.memory import Reals
from kineta.numerics.tableaux import Row

#: Part of the way between the sides by which a share is beyond its end at least, and at most, where the motion leaves, and that
#: at which a step is cut: rates change by as much, over a time in which the share changes by as much.
_LEAVING, _LEFT, _CUT = 1e-9, 1e-7, 1e-8
#: Places of a step at which shares are looked at, and halvings of a part between two of them.
_PLACES, _HALVINGS = 32, 50
#: Error of interpolated shares in units of the relative tolerance, and at least; places behind the start and before the end of a
#: step at which it is found, in units of the distance of those that the interpolant goes through.
_ACCURATE, _LEAST_ERROR, _CHECKED = 10.0, 1e-10, (0.5, -0.37)
#: Ratios of a step to the last, and how often in a row it is made shorter.
_SAFETY, _SHRINK, _GROW, _CUTS = 0.8, 0.1, 10.0, 12
#: Turns of the search for the sides, for each switching function.
_TURNS = 4
#: Value of a switching function, in units of what the tolerance of the state moves it by, within which a motion with contacts is
#: on its surface; and rate of one, relative to the largest of the state, that counts as none.
_NEAR, _STILL = 4.0, tolerances.STATE_TOLERANCE
#: Part of a step that is tried where a motion that has left a surface is back at its end, and how often.
_SHORTER, _TRIES = 0.25, 6


def share_weights(coefficients: int) -> list[Row]:
    """Weights of values at the places k / coefficients, k = 1, ..., of a step that give the coefficients of an interpolant behind
    the first, as in :class:`~kineta.numerics.tableaux.Tableau`.
    """
    size = coefficients - 1
    rows = [[Fraction(int(i == j)) for j in range(size)] for i in range(size)]
    matrix = [[_basis(Fraction(k, coefficients), r) for r in range(1, coefficients)] for k in range(1, coefficients)]
    for k in range(size):
        best = next(i for i in range(k, size) if matrix[i][k])
        matrix[k], matrix[best], rows[k], rows[best] = matrix[best], matrix[k], rows[best], rows[k]
        rows[k] = [x / matrix[k][k] for x in rows[k]]
        matrix[k] = [x / matrix[k][k] for x in matrix[k]]
        for i in range(size):
            if i != k and (factor := matrix[i][k]):
                matrix[i] = [a - factor * b for a, b in zip(matrix[i], matrix[k], strict=True)]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [tuple(map(float, row)) for row in rows]


def _basis(x: Fraction, r: int) -> Fraction:
    """The function of coefficient r of an interpolant: x, x (1 - x), x^2 (1 - x), ..."""
    return x ** (1 + r // 2) * (1 - x) ** ((r + 1) // 2)


# -- the sides ------------------------------------------------------------------------------------------------------------


@kernel
def begin_slides(run: RunData) -> None:
    """The motion slides nowhere so far."""
    s = run.slides
    s.loose, s.tries, s.whole, s.cuts = True, 0, 0.0, 0
    for j in range(s.n):
        s.sides[j], s.fresh[j], s.off[j] = FREE, 0, 0.0
    count_active(run)


@kernel
def count_active(run: RunData) -> None:
    """Count the switching functions whose signs are not looked at."""
    s = run.slides
    s.active = 0
    for j in range(s.n):
        if s.sides[j] >= KEPT or s.fresh[j] != 0:
            s.active += 1
            run.kinks.muted[s.guards[j]] = REST


@kernel
def begin_rate(method: LoopMethod, run: RunData) -> None:
    """The rate at the start of a run, or of a mode, with the sides there."""
    if method.sliding:
        find_sides(method, run, run.t, run.y, run.k)
    else:
        rate_on_sides(method, run, run.t, run.y, run.k)
    run.evaluations += 1


@kernel
def rate_on_sides(method: LoopMethod, run: RunData, t: float, y: Reals, rates: Reals) -> None:
    """The *rates* of a state y at the time t on its sides, which stay: the code has those of switching functions there."""
    run.time[0] = t
    run.rate(run.time, y, run.block, rates)
    if method.sliding:
        for j in range(run.slides.n):
            rates[run.slides.place + j] = 0.0


@kernel
def find_sides(method: LoopMethod, run: RunData, t: float, y: Reals, out: Reals) -> None:
    """Find the sides in a state y at the time t, at the start or after a change of forces or modes, and the rate with them."""
    s = run.slides
    s.loose = False
    evaluate_guards(method, run, t, y, run.kinks.tried)
    for j in range(s.n):
        s.values[j] = run.kinks.tried[s.guards[j]]
    for j in range(s.n):
        least, held = 0.0, s.sides[j] >= KEPT or s.fresh[j] != 0
        if method.touching or s.sides[j] >= KEPT:
            moved = blur(method, run, t, y, s.guards[j])
            least = _NEAR * moved
        if fabs(s.values[j]) > least or s.sides[j] < KEPT:
            s.sides[j] = side_of(s.values[j])
        on = fabs(s.values[j]) <= least or s.sides[j] == FREE
        if on:
            enter(method, run, t, y, j, s.sides[j])
        elif held:
            look_again(run, j)
        s.fresh[j] = 1 if on and held and s.sides[j] < KEPT and s.sides[j] != FREE else 0
    settle(run, t, y, out)


@kernel
def look_again(run: RunData, j: int) -> None:
    """Look at the sign of the switching function j, which the motion has left."""
    run.kinks.muted[run.slides.guards[j]], run.kinks.quick[run.slides.guards[j]] = 0, 0


@kernel
def side_of(value: float) -> int:
    """The side of a switching function of this *value*; free at zero."""
    if value == 0.0:
        return FREE
    return HIGH if value > 0.0 else LOW


@kernel
def enter(method: LoopMethod, run: RunData, t: float, y: Reals, j: int, side: int) -> None:
    """Let the motion slide along the surface j, if both sides drive towards it in the state y at the time t; else it goes
    where both drive, or on this *side*. Where neither drives, contacts keep the motion on the surface.
    """
    s = run.slides
    run.time[0], s.fresh[j], way = t, 0, copysign(1.0, run.t_end - run.t)
    s.sides[j] = LOW
    evaluate_sliding(run, y, s.rates)
    below = way * s.drifts[j]
    s.sides[j] = HIGH
    evaluate_sliding(run, y, s.rates)
    above = way * s.drifts[j]
    still = method.touching and max(fabs(below), fabs(above)) <= _STILL * max(1.0, largest(s.rates, run.n))
    if still:
        s.sides[j] = KEPT
    elif below > 0.0 and above < 0.0:
        s.sides[j], s.off[j] = SLIDING, 0.0
        count_active(run)
        additive = is_additive(run, y)
        if s.singular or not additive:
            s.sides[j] = FREE
    elif not (below > 0.0 and above > 0.0):
        s.sides[j] = LOW if below < 0.0 and above < 0.0 else min(side, HIGH)
    count_active(run)


@kernel
def is_additive(run: RunData, y: Reals) -> bool:
    """Whether what changes on the higher sides of all surfaces along which the motion slides is the sum of what changes on
    that of each: else the sides do not tell what the motion along all is.
    """
    s, n = run.slides, run.n
    evaluate_sliding(run, y, s.rates)
    for j in range(s.n):
        y[s.place + j] = float(HIGH) if s.sides[j] == SLIDING else told_side(s.sides[j])
    s.held(run.time, y, run.block, s.trial)
    for i in range(n):
        total, size = s.base[i], fabs(s.base[i]) + fabs(s.trial[i])
        for j in range(s.n):
            if s.sides[j] == SLIDING:
                total += s.ways[j * n + i]
                size += fabs(s.ways[j * n + i])
        if fabs(s.trial[i] - total) > tolerances.STATE_TOLERANCE * size:
            return False
    return True


@kernel
def settle(run: RunData, t: float, y: Reals, out: Reals) -> None:
    """Find the sides in the state y at the time t, and the rate with them: what slides has shares within their ends, and what has
    left its surface goes away from it.
    """
    s, turn, going, way = run.slides, 0, True, copysign(1.0, run.t_end - run.t)
    run.time[0] = t
    while going and turn < 1 + _TURNS * s.n:
        evaluate_sliding(run, y, out)
        worst, which, side = _LEAVING, -1, SLIDING
        for j in range(s.n):
            over = beyond(run, j)
            if s.sides[j] == SLIDING and over > worst:
                worst, which, side = over, j, LOW if s.shares[j] < 0.5 else HIGH
        for j in range(s.n):
            drift = way * s.drifts[j]
            back = (s.sides[j] == LOW and drift > 0.0) or (s.sides[j] == HIGH and drift < 0.0)
            if which < 0 and back and s.fresh[j] != 0:
                which = j
        if which >= 0:
            s.sides[which], s.fresh[which] = side, 1
            if side == SLIDING:
                s.fresh[which] = 0
        going, turn = which >= 0, turn + 1
    count_active(run)


@kernel
def beyond(run: RunData, j: int) -> float:
    """How far the share of surface j is beyond its ends."""
    s = run.slides
    return max(-s.shares[j], s.shares[j] - 1.0) - s.off[j]


@kernel
def bring(method: LoopMethod, run: RunData, t: float, y: Reals) -> None:
    """Bring the state y at the time t onto the surfaces along which the motion slides, by impulses of what jumps there."""
    s, n = run.slides, run.n
    run.time[0] = t
    evaluate_sliding(run, y, s.rates)
    evaluate_guards(method, run, t, y, run.kinks.tried)
    for j in range(s.n):
        s.rest[j] = -run.kinks.tried[s.guards[j]] if s.sides[j] == SLIDING else 0.0
    solve_shares(run)
    for j in range(s.n):
        if s.sides[j] == SLIDING and not s.singular:
            for i in range(n):
                if i < s.place or i >= s.place + s.n:
                    y[i] = y[i] + s.rest[j] * s.ways[j * n + i]


@kernel
def meet(method: LoopMethod, run: RunData, t: float, end: float, rates: Reals) -> None:
    """Let a motion that has passed surfaces from the time t to the new state at the *end* slide along them where it has to."""
    s, k = run.slides, run.kinks
    evaluate_guards(method, run, t, run.y, k.values)
    evaluate_guards(method, run, end, run.new, k.tried)
    for j in range(s.n):
        if s.sides[j] < KEPT and s.fresh[j] == 0 and k.muted[s.guards[j]] > 0:
            s.sides[j] = FREE
        elif s.sides[j] < KEPT and s.fresh[j] == 0 and k.values[s.guards[j]] * k.tried[s.guards[j]] <= 0.0:
            enter(method, run, end, run.new, j, side_of(k.tried[s.guards[j]]))
    if s.active > 0:
        bring(method, run, end, run.new)
    settle(run, end, run.new, rates)


@kernel
def let_free(run: RunData) -> None:
    """Let operations go by signs of their switching functions, as where the rate is undefined on the other side."""
    s = run.slides
    for j in range(s.n):
        if s.sides[j] < KEPT and s.fresh[j] == 0:
            s.sides[j] = FREE


# -- steps along surfaces -------------------------------------------------------------------------------------------------


@kernel
def is_stray(method: LoopMethod, run: RunData, dense: Reals, t: float, h: float, end: float) -> bool:
    """Whether a step that is accurate goes on where the motion has left a surface, or comes back to one; it is then to be made
    anew, shorter.
    """
    s = run.slides
    evaluate_guards(method, run, end, run.new, run.kinks.tried)
    for j in range(s.n):
        value = run.kinks.tried[s.guards[j]]
        wrong = (s.sides[j] == LOW and value > 0.0) or (s.sides[j] == HIGH and value < 0.0)
        if wrong and s.fresh[j] != 0:
            come_back(run, j, h)
            return True
    fit_shares(method, run, dense, t, h)
    ratio = told_by(method, run, dense, t, h)
    s.pace = fabs(h) * ratio
    if s.pace < fabs(h) and s.cuts < _CUTS:
        s.cuts += 1
        run.size = s.pace
        return True
    x = leaving(method, run, dense)
    if x < 1.0 and fabs(x * h) > resolution(t):
        s.whole = max(s.whole, fabs(h))
        run.size = x * fabs(h)
        return True
    return False


@kernel
def come_back(run: RunData, j: int, h: float) -> None:
    """Try a shorter step away from surface j, or slide on along it until its share is well within its ends."""
    s = run.slides
    s.tries += 1
    run.size = _SHORTER * fabs(h)
    if s.tries > _TRIES:
        s.tries = 0
        s.sides[j], s.fresh[j], s.off[j] = SLIDING, 0, 0.0
        count_active(run)
        run.time[0] = run.t
        evaluate_sliding(run, run.y, run.k)
        s.off[j] = 2.0 * max(0.0, beyond(run, j)) + _LEAVING
        run.size = max(run.size, s.whole)


@kernel
def fit_shares(method: LoopMethod, run: RunData, dense: Reals, t: float, h: float) -> None:
    """Put the coefficients of the shares in the interpolant of a step, from their values within it."""
    s, n = run.slides, run.n
    for k in range(1, method.tableau.coefficients):
        x = float(k) / float(method.tableau.coefficients)
        state_at(method, run, dense, x, s.trial)
        run.time[0] = t + x * h
        evaluate_sliding(run, s.trial, s.rates)
        for j in range(s.n):
            at = s.place + j
            s.looks[j * method.tableau.coefficients + k] = s.trial[at] - run.y[at] - x * (run.new[at] - run.y[at])
    for j in range(s.n):
        at = s.place + j
        dense[at] = run.new[at] - run.y[at]
        for r, weights in enumerate(share_weights(method.tableau.coefficients)):
            total = 0.0
            for place, weight in enumerate(weights):
                total += weight * s.looks[j * method.tableau.coefficients + place + 1]
            dense[(r + 1) * n + at] = total


@kernel
def told_by(method: LoopMethod, run: RunData, dense: Reals, t: float, h: float) -> float:
    """The ratio to a step of the longest one over which an interpolant tells the shares."""
    s, off = run.slides, 0.0
    for place in _CHECKED:
        x = place / float(method.tableau.coefficients)
        x = x if place > 0.0 else 1.0 + x
        state_at(method, run, dense, x, s.trial)
        for j in range(s.n):
            s.looks[j * method.tableau.coefficients] = s.trial[s.place + j]
        run.time[0] = t + x * h
        evaluate_sliding(run, s.trial, s.rates)
        for j in range(s.n):
            off = max(off, fabs(s.trial[s.place + j] - s.looks[j * method.tableau.coefficients]))
    allowed = max(_LEAST_ERROR, _ACCURATE * run.tolerances[run.n])
    if off <= allowed * pow(_SAFETY / _GROW, float(method.tableau.coefficients + 1)):
        return _GROW
    return max(_SHRINK, _SAFETY * pow(allowed / off, 1.0 / float(method.tableau.coefficients + 1)))


@kernel
def over_at(method: LoopMethod, run: RunData, dense: Reals, x: float, j: int) -> float:
    """How far the share of surface j is beyond its ends at the fraction x of the step."""
    s = run.slides
    change = change_of(method, run.n, dense, x, s.place + j)
    share = run.y[s.place + j] + change - float(SLIDING)
    return max(-share, share - 1.0) - s.off[j]


@kernel
def leaving(method: LoopMethod, run: RunData, dense: Reals) -> float:
    """The fraction of a step up to which it is to be made where a share leaves its ends within it; 2 where none does, or one that
    leaves at its very end.
    """
    s, found = run.slides, 2.0
    for j in range(s.n):
        if s.sides[j] == SLIDING:
            place = 1
            while place <= _PLACES and float(place - 1) / float(_PLACES) < found:
                b = float(place) / float(_PLACES)
                over = over_at(method, run, dense, b, j)
                if over > _LEAVING and not (place == _PLACES and over <= _LEFT):
                    found = min(found, narrow_leaving(method, run, dense, b - 1.0 / float(_PLACES), b, j))
                    place = _PLACES
                place += 1
    return found


@kernel
def narrow_leaving(method: LoopMethod, run: RunData, dense: Reals, a: float, b: float, j: int) -> float:
    """The fraction between a and b from which on surface j is left, but for a little."""
    for _ in range(_HALVINGS):
        x = a + 0.5 * (b - a)
        over = over_at(method, run, dense, x, j)
        if over > _CUT:
            b = x
        else:
            a = x
    return b


@kernel
def end_step(method: LoopMethod, run: RunData) -> None:
    """After a step: let go what has left its surface, and let leave what has come to its end."""
    s, leaves = run.slides, False
    evaluate_guards(method, run, run.t, run.y, run.kinks.tried)
    for j in range(s.n):
        value = run.kinks.tried[s.guards[j]]
        gone = (s.sides[j] == LOW and value < 0.0) or (s.sides[j] == HIGH and value > 0.0)
        if gone and s.fresh[j] != 0:
            s.fresh[j] = 0
            look_again(run, j)
            s.tries = 0
        elif s.sides[j] == SLIDING:
            s.shares[j] = run.y[s.place + j] - float(SLIDING)
            if beyond(run, j) + s.off[j] < 0.0:
                s.off[j] = 0.0
            over = beyond(run, j)
            leaves = leaves or over > _LEAVING
    s.cuts = 0
    run.size = min(run.size, s.pace)
    if leaves:
        for j in range(s.n):
            s.looks[j * method.tableau.coefficients] = run.y[s.place + j]
        settle(run, run.t, run.y, run.k)
        for j in range(s.n):  # what slides on begins the next step as it has been recorded
            if s.sides[j] == SLIDING:
                run.y[s.place + j] = s.looks[j * method.tableau.coefficients]
        run.size, s.whole = max(run.size, s.whole), 0.0
        if not method.sampling:  # states within the next step begin with its sides
            for j in range(s.n):
                run.states[(run.accepted - 1) * run.n + s.place + j] = run.y[s.place + j]
    count_active(run)
