"""Steps on the constraint manifold: positions and then speeds are projected before the rate that opens the next step.

No stage is near a singular configuration: a step past one is placed so that it lies in the widest gap between stages.
"""

from __future__ import annotations

from itertools import pairwise

from kineta import tolerances
from kineta.integration.loop_abi import RunData
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.runge_kutta import error_norm, inner_stages, tolerance
from kineta.kernels.stage_evaluation import LOW, LoopMethod, evaluate, is_to_guard, lowest_pivot, rate_of
from kineta.kernels.vectors import copy, largest, largest_change, maximum
from kineta.memory import Reals
from kineta.numerics.tableaux import Tableau

#: Rounding error in the error estimate of a guarded step, in units of roundoff over the pivot; of speeds, times the ratio of the
#: largest distance in the step to the least.
NOISE = 32.0 * tolerances.EPS
#: Number of times that a step is placed anew, the part of the distance from a singular configuration to be had so that it may do
#: with, and the ratio of the rate of a distance that changes its sign to the largest rate of those that do not.
HOPS, CLEAR, STEEP = 8, 0.75, 1.3
#: Largest projection, in units of tolerance, that does not count as an error; guarded steps have no limit.
FAR = 10.0
_INFINITE = float("inf")


def is_late(tableau: Tableau) -> bool:
    """Whether no error estimate needs the rate at the new point."""
    return all(row[-1] == 0.0 for row in tableau.errors if len(row) > tableau.stages)


def neighbours(tableau: Tableau) -> tuple[tuple[int, int], ...]:
    """Pairs of stages, one behind the other in time."""
    order = sorted(range(tableau.stages), key=lambda stage: tableau.C[stage])
    return tuple((a, b) for a, b in pairwise(order) if tableau.C[a] < tableau.C[b])


def gap(tableau: Tableau) -> tuple[float, float]:
    """The middle of the widest gap between stages, and half its width."""
    width, start = max((b - a, a) for a, b in pairwise(sorted(tableau.C)))
    return start + width / 2, width / 2


@kernel
def pivot_at(run: RunData, stage: int, i: int) -> float:
    """Pivot i at a *stage*, relative to its largest value so far."""
    c = run.constraints
    return fabs(run.k[stage * run.n + c.pivots + i]) / c.largest[i]


@kernel
def place(method: LoopMethod, run: RunData) -> float:
    """The part of a guarded step that is well placed about a singular configuration, alone or with the next one of its size; 1
    for all of it.

    A pivot is the square of the distance, which changes its sign at the configuration: between the stages where it then changes
    least in a time, if that is no more than elsewhere; else ahead, where it falls.
    """
    c, lowest, worst = run.constraints, 1.0, 0
    for stage in range(method.tableau.stages):
        for i in range(c.watched):
            pivot = pivot_at(run, stage, i)
            if pivot < lowest:
                lowest, worst = pivot, i
    slope, steepest, x = _INFINITE, 0.0, 1.0
    for a, b in neighbours(method.tableau):
        width = method.tableau.C[b] - method.tableau.C[a]
        before, after = sqrt(pivot_at(run, a, worst)), sqrt(pivot_at(run, b, worst))
        c.far = maximum(c.far, maximum(before, after))
        steepest = maximum(steepest, fabs(before - after) / width)
        if before + after < slope * width:
            slope = (before + after) / width
            x = method.tableau.C[a] + before / maximum(slope, tolerances.LEAST_DIVISOR)
        ahead = 1.0 + width * after / maximum(before - after, tolerances.LEAST_DIVISOR)
    if slope > STEEP * steepest:
        x = ahead
    middle, half = gap(method.tableau)[0], gap(method.tableau)[1]
    if not (x > 0.0 and x < 1.0 + CLEAR * middle):
        return 1.0
    part = x / middle if x < middle else x / (1.0 + middle)
    nearest = 1.0
    for at in method.tableau.C[1:]:
        nearest = min(nearest, fabs(at - x))
    return 1.0 if x < 1.0 and nearest > CLEAR * half * part else part


@kernel
def measure_noise(run: RunData) -> None:
    """Estimate the rounding error of a guarded step, for coordinates and for speeds."""
    c = run.constraints
    c.noise_q, c.noise_v = 0.0, 0.0
    if c.met < LOW:
        q, v = 0.0, 0.0
        for i in range(run.n):
            size = c.speeds[i] * fabs(run.y[i])
            q, v = maximum(q, fabs(run.y[i]) - size), maximum(v, size)
        part = NOISE / maximum(c.met, tolerances.EPS)  # a pivot of exactly zero would make the tolerances no numbers
        c.noise_q, c.noise_v = part * q, part * v * maximum(1.0, c.far / sqrt(maximum(c.met, tolerances.EPS)))


@kernel
def is_noisy(run: RunData) -> bool:
    """Whether the rounding error of the speeds is beyond a tolerance."""
    for i in range(run.n):
        if run.constraints.speeds[i] * run.constraints.noise_v > run.tolerances[i] + run.tolerances[run.n + i] * fabs(
            run.y[i]
        ):
            return True
    return False


@kernel
def project(run: RunData, step: int, t: float) -> None:
    """Apply one projection *step* to the new state: 0 for positions, 1 for speeds. Its previous value is kept."""
    c = run.constraints
    copy(run.new, c.before, run.n)
    run.time[0] = t
    if step == 0:
        c.position(run.time, c.before, run.block, c.after)
    else:
        c.velocity(run.time, c.before, run.block, c.after)
    copy(c.after, run.new, run.n)


@kernel
def land(method: LoopMethod, run: RunData, end: float) -> float:
    """Project the new state and evaluate its rate; the size of the projection in units of tolerance."""
    n, new, tried = run.n, run.new, run.between
    copy(new, tried, n)
    project(run, 0, end)
    if largest_change(new, run.constraints.before, n) > tolerances.RESIDUAL_TOLERANCE * largest(new, n):
        project(run, 0, end)
    for _ in range(run.constraints.velocity_steps):
        project(run, 1, end)
    moved = 0.0
    for i in range(n):
        moved = maximum(moved, fabs(new[i] - tried[i]) / tolerance(method, run, i))
    run.time[0] = end
    rate_of(method, run, new, run.k[method.tableau.stages * n :])
    run.evaluations += 1
    return moved


@kernel
def projected_step(method: LoopMethod, run: RunData, t: float, h: float, end: float) -> float:
    """Try a step from t to *end*; its error, which a large projection has, too."""
    c = run.constraints
    c.guarded = c.low < LOW or c.hops > 0
    again = True
    while again:
        c.met = c.low
        inner_stages(method, run, t, h)
        if not is_late(method.tableau):
            evaluate(method, run, t + h, run.k[method.tableau.stages * run.n :])
        again = is_to_guard(run)
        c.guarded = c.guarded or again
    c.part, c.far = 1.0, 0.0
    if c.met < LOW:
        c.part = place(method, run)
    measure_noise(run)
    if c.part < 1.0 and c.hops < HOPS:
        if is_noisy(run):
            return _INFINITE
        c.part = 1.0
    error = error_norm(method, run, h)
    if error < 1.0:
        moved = land(method, run, end)
        moved = moved / FAR
        if moved != moved or not (moved < 1.0 or c.met < LOW):
            error = moved
    return error


@kernel
def hops(run: RunData, h: float) -> bool:
    """Whether a rejected step is to be placed anew about a singular configuration."""
    c = run.constraints
    if c.hops < HOPS and c.part < 1.0:
        run.size = fabs(h) * c.part
        run.just_rejected = True
        run.rejected += 1
        c.hops += 1
        return True
    return False


@kernel
def watch_pivots(run: RunData, rates: Reals) -> None:
    """Note the pivots among the *rates* after a step."""
    c = run.constraints
    for i in range(c.watched):
        c.largest[i] = max(c.largest[i], fabs(rates[c.pivots + i]))
    c.low = lowest_pivot(run, rates)
    c.hops = 0
