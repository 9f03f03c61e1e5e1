"""One step of an adaptive explicit method: stages, error, interpolant, and step size control."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.loop_abi import RunData
from kineta.kernels.language import copysign, fabs, fma, kernel, pow, sqrt
from kineta.kernels.stage_evaluation import LoopMethod, evaluate, evaluate_always
from kineta.kernels.vectors import copy, maximum
from kineta.memory import Reals
from kineta.numerics.tableaux import Row

#: Safety factor of step sizes.
_SAFETY = 0.9
#: Least and largest ratio of a step to the last.
_SHRINK, _GROW = 0.2, 10.0
_INFINITE = float("inf")


def terms(weights: Row) -> list[tuple[int, float]]:
    """Stages with a weight that is not zero. The first two change places: a fused sum begins with its second product."""
    found = [(stage, weight) for stage, weight in enumerate(weights) if weight]
    return [*reversed(found[:2]), *found[2:]]


@kernel
def multiply_add(method: LoopMethod, a: float, b: float, c: float) -> float:
    """Return a b + c."""
    return fma(a, b, c) if method.fused else a * b + c


@kernel
def weighted(method: LoopMethod, weights: Row, n: int, k: Reals, i: int) -> float:
    """Component i of the weighted sum of stages."""
    total = terms(weights)[0][1] * k[terms(weights)[0][0] * n + i]
    for stage, weight in terms(weights)[1:]:
        total = multiply_add(method, weight, k[stage * n + i], total)
    return total


@kernel
def advance(method: LoopMethod, weights: Row, run: RunData, h: float) -> None:
    """Set the trial state y + h (weights . stages)."""
    n, y, k, new = run.n, run.y, run.k, run.new
    for i in range(n):
        new[i] = multiply_add(method, h, weighted(method, weights, n, k, i), y[i])


@kernel
def inner_stages(method: LoopMethod, run: RunData, t: float, h: float) -> None:
    """Evaluate all stages but the rate at the new point, and the new point."""
    for stage, row in enumerate(method.tableau.A):
        advance(method, row, run, h)
        evaluate(method, run, t + h * method.tableau.C[stage + 1], run.k[(stage + 1) * run.n :])
    advance(method, method.tableau.B, run, h)


@kernel
def tolerance(method: LoopMethod, run: RunData, i: int) -> float:
    """The tolerance of component i; in a guarded step with its rounding error."""
    size = maximum(fabs(run.y[i]), fabs(run.new[i]))
    plain = run.tolerances[i] + run.tolerances[run.n + i] * size
    if method.projecting:
        c = run.constraints
        return plain + (c.noise_q + c.speeds[i] * (c.noise_v - c.noise_q))
    return plain


@kernel
def error_norm(method: LoopMethod, run: RunData, h: float) -> float:
    """Norm of the error estimate in units of the tolerance (Hairer, II.10 for two estimates)."""
    n, k, controlled = run.n, run.k, float(run.steered)
    first, second = 0.0, 0.0
    for i in range(n):
        scale = tolerance(method, run, i)
        e = weighted(method, method.tableau.errors[0], n, k, i) / scale
        first += e * e
        if len(method.tableau.errors) > 1:
            e = weighted(method, method.tableau.errors[-1], n, k, i) / scale
            second += e * e
    if len(method.tableau.errors) == 1:
        return fabs(h) * sqrt(first / controlled)
    damped = first + 0.01 * second
    return fabs(h) * first / (1.0 if damped == 0.0 else sqrt(damped * controlled))


@kernel
def interpolant(method: LoopMethod, run: RunData, t: float, h: float, dense: Reals) -> None:
    """Store the interpolant of the step in *dense*; ``between`` holds the new state meanwhile."""
    n, last = run.n, method.tableau.stages
    y, k, new = run.y, run.k, run.new
    copy(new, run.between, n)
    for stage, row in enumerate(method.tableau.extra):
        advance(method, row, run, h)
        # The step is accepted: a small pivot met here guards the next one.
        evaluate_always(method, run, t + h * method.tableau.extra_C[stage], run.k[(last + 1 + stage) * n :])
    copy(run.between, new, n)
    for i in range(n):
        change = new[i] - y[i]
        f0, f1 = h * k[i], h * k[last * n + i]
        dense[i] = change
        dense[n + i] = f0 - change
        dense[2 * n + i] = (change + change) - (f0 + f1)
        for r, weights in enumerate(method.tableau.dense):
            dense[(3 + r) * n + i] = h * weighted(method, weights, n, k, i)


@kernel
def state_at(method: LoopMethod, run: RunData, dense: Reals, x: float, out: Reals) -> None:
    """The state at the fraction x of the step."""
    interpolate(method, run.n, run.y, dense, x, out)


@kernel
def interpolate(method: LoopMethod, n: int, y: Reals, dense: Reals, x: float, out: Reals) -> None:
    """The state at the fraction x of a step from the state y."""
    for i in range(n):
        change = change_of(method, n, dense, x, i)
        out[i] = y[i] + change


@kernel
def change_of(method: LoopMethod, n: int, dense: Reals, x: float, i: int) -> float:
    """What component i of n has changed by at the fraction x of a step."""
    rest = 1.0 - x
    change = dense[(method.tableau.coefficients - 1) * n + i] * (x if method.tableau.coefficients % 2 == 1 else rest)
    for r in reversed(range(method.tableau.coefficients - 1)):
        change = (change + dense[r * n + i]) * (rest if r % 2 == 1 else x)
    return change


# -- the size of a step -----------------------------------------------------------------------------------------------


@kernel
def resolution(t: float) -> float:
    """The resolution of times near t; the smallest positive number for t = 0."""
    return fabs(t) * (10 * tolerances.EPS) + tolerances.LEAST_DIVISOR


@kernel
def is_last(run: RunData) -> bool:
    """Whether the next step reaches the end of the run."""
    return min(run.max_step, run.size) * (1.0 + 1e-10) >= fabs(run.t_end - run.t)


@kernel
def next_step(run: RunData) -> float:
    """The next step, bounded by the end of the run and the largest step."""
    left = run.t_end - run.t
    return left if is_last(run) else copysign(min(run.max_step, run.size), left)


@kernel
def size_factor(method: LoopMethod, error: float) -> float:
    """The step size factor: safety times error to the power -1/order."""
    return _SAFETY * pow(error, -1.0 / method.tableau.error_order)


@kernel
def grow(method: LoopMethod, run: RunData, h: float, error: float, last: bool) -> None:
    """Set the step size after an accepted step; it does not grow directly after a rejected one."""
    factor = min(_GROW, size_factor(method, error))
    size = fabs(h) * (min(factor, 1.0) if run.just_rejected else factor)
    # A step truncated by the end of the run says nothing about the next step size.
    run.size = max(size, run.size) if last else size
    run.just_rejected = False


@kernel
def shrink(method: LoopMethod, run: RunData, h: float, error: float) -> bool:
    """Set the step size after a rejected step; whether the rate is undefined for steps of any size."""
    finite = error < _INFINITE
    run.size = fabs(h) * (max(_SHRINK, size_factor(method, error)) if finite else 0.1)
    run.just_rejected = True
    run.rejected += 1
    return not finite and run.size < resolution(run.t)


@kernel
def scaled_norm(run: RunData, x: Reals, y: Reals) -> float:
    """The root mean square of x - y in units of the tolerance in the initial state."""
    total = 0.0
    for i in range(min(run.steered, run.n)):
        d = (x[i] - y[i]) / (run.tolerances[i] + run.tolerances[run.n + i] * fabs(run.y[i]))
        total += d * d
    return sqrt(total / float(run.steered))


@kernel
def first_step(method: LoopMethod, run: RunData) -> float:
    """The initial step size (Hairer, II.4)."""
    n, y, k, new, second = run.n, run.y, run.k, run.new, run.between
    span = fabs(run.t_end - run.t)
    for i in range(n):
        second[i] = 0.0
    d0, d1 = scaled_norm(run, y, second), scaled_norm(run, k, second)
    h0 = min(span, 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1)
    h = copysign(h0, run.t_end - run.t)
    for i in range(n):
        new[i] = y[i] + h * k[i]
    run.time[0] = run.t + h
    run.rate(run.time, new, run.block, second)
    run.evaluations += 1
    d2 = scaled_norm(run, second, k) / h0
    steepest = d1 if d1 >= d2 or d2 != d2 else d2
    h1 = max(1e-6, h0 * 1e-3) if steepest <= 1e-15 else pow(0.01 / steepest, 1.0 / float(method.tableau.error_order))
    if not fabs(h1) < _INFINITE:
        h1 = h0
    if not (h0 < _INFINITE and h0 > 0.0):
        return min(1e-6, span)
    return min(min(100.0 * h0, h1), span)


@kernel
def record(run: RunData, t: float, h: float, state: Reals) -> None:
    """Record the time and the *state* after a step of the size h."""
    run.times[run.accepted] = t
    run.sizes[run.accepted] = h
    copy(state, run.states[run.accepted * run.n :], run.n)
    run.accepted += 1
