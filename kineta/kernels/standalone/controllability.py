"""Controllability of the programs of motion of a run without Python: the sign of the decoupling determinant over each step."""

from __future__ import annotations

from kineta.integration.contact_records import Function
from kineta.integration.loop_abi import RunData
from kineta.kernels.language import fabs, kernel
from kineta.kernels.vectors import copy
from kineta.memory import Reals, Record


class Controllability(Record, partial=True):
    """Gradients of ``programs`` by the derivatives of ``speeds``, and their input distribution.

    regularity : B, Z (programs, speeds), then what is not looked at here; values : of it, (2 programs speeds + ...)
    before : B at the start of the next step; matrix : (programs, programs) for a determinant
    ahead : least progress [s] of a motion; state : (n,) that far ahead
    """

    regularity: Function
    programs: int
    speeds: int
    values: Reals
    before: Reals
    matrix: Reals
    ahead: float
    state: Reals


@kernel
def keep_gradients(run: RunData, c: Controllability) -> None:
    """Keep the gradients in the present state, where the run begins or is changed."""
    run.time[0] = run.t
    c.regularity(run.time, run.y, run.block, c.values)
    copy(c.values, c.before, c.programs * c.speeds)


@kernel
def is_lost(run: RunData, c: Controllability) -> bool:
    """Whether the gradients kept turn round, or have no value, up to the present state, whose gradients are kept then."""
    lost = turn_round(run, c, run.t, run.y)
    copy(c.values, c.before, c.programs * c.speeds)
    return lost


@kernel
def is_stuck(run: RunData, c: Controllability) -> bool:
    """Whether the gradients kept turn round just ahead of the present state, at which no step is possible."""
    run.time[0] = run.t
    run.rate(run.time, run.y, run.block, c.state)
    for i in range(run.n):
        step = c.ahead * c.state[i]
        c.state[i] = run.y[i] + step
    return turn_round(run, c, run.t + c.ahead, c.state)


@kernel
def turn_round(run: RunData, c: Controllability, t: float, y: Reals) -> bool:
    """Whether the decoupling determinant B Z^T in a state has another sign with the gradients kept than with its own, or none."""
    run.time[0] = t
    c.regularity(run.time, y, run.block, c.values)
    inputs = c.values[c.programs * c.speeds :]
    across = determinant(c, c.before, inputs)
    after = determinant(c, c.values, inputs)
    return not across * after > 0.0


@kernel
def determinant(c: Controllability, gradients: Reals, inputs: Reals) -> float:
    """The determinant of gradients times the transposed input distribution, by elimination with the largest pivots."""
    n, m, a, found = c.programs, c.speeds, c.matrix, 1.0
    for i in range(n):
        for j in range(n):
            total = 0.0
            for k in range(m):
                total += gradients[i * m + k] * inputs[j * m + k]
            a[i * n + j] = total
    for i in range(n):
        best = i
        for j in range(i + 1, n):
            if fabs(a[j * n + i]) > fabs(a[best * n + i]):
                best = j
        if best != i:
            found = -found
            for k in range(i, n):
                held = a[i * n + k]
                a[i * n + k] = a[best * n + k]
                a[best * n + k] = held
        pivot = a[i * n + i]
        found *= pivot
        if pivot != 0.0:
            for j in range(i + 1, n):
                factor = a[j * n + i] / pivot
                for k in range(i, n):
                    a[j * n + k] -= factor * a[i * n + k]
    return found
