"""Steps on the constraint manifold: positions and then speeds are projected before the rate that opens the next step.

No step ends in a singular configuration: one that would is shortened a little.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.loop_abi import RunData
from kineta.kernels.language import fabs, kernel
from kineta.kernels.runge_kutta import error_norm, inner_stages, tolerance
from kineta.kernels.stage_evaluation import LOW, LoopMethod, evaluate, is_to_guard, lowest_pivot, rate_of
from kineta.kernels.vectors import copy, largest, largest_change, maximum
from kineta.memory import Reals
from kineta.numerics.tableaux import Tableau

#: Rounding error in the error estimate of a guarded step, in units of roundoff over the pivot.
NOISE = 0.1 * tolerances.EPS
#: Reduction of a step past a singular configuration, and the number of reductions before the error estimate is used.
HOP, HOPS = 0.78, 8
#: Largest projection, in units of tolerance, that does not count as an error; guarded steps have no limit.
FAR = 10.0


def is_late(tableau: Tableau) -> bool:
    """Whether no error estimate needs the rate at the new point."""
    return all(row[-1] == 0.0 for row in tableau.errors if len(row) > tableau.stages)


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
        c.noise_q, c.noise_v = part * q, part * v


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
    c.guarded = c.low < LOW
    again = True
    while again:
        c.met = c.low
        inner_stages(method, run, t, h)
        if not is_late(method.tableau):
            evaluate(method, run, t + h, run.k[method.tableau.stages * run.n :])
        again = is_to_guard(run)
        c.guarded = c.guarded or again
    measure_noise(run)
    error = error_norm(method, run, h)
    if error < 1.0:
        moved = land(method, run, end)
        moved = moved / FAR
        if moved != moved or not (moved < 1.0 or c.met < LOW):
            error = moved
    return error


@kernel
def hops(run: RunData, h: float) -> bool:
    """Whether a rejected step ends near a singular configuration; it is then shortened a little."""
    c = run.constraints
    if c.hops < HOPS and c.met < LOW:
        run.size = fabs(h) * HOP
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
