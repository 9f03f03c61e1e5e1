"""Inertia by blocks: factors, accelerations, responses to unit contact forces, Delassus operators of single contacts."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import ContactProblem, ContactSolution, ContactTerms
from kineta.kernels.language import fabs, kernel
from kineta.kernels.vectors import take_multiple
from kineta.memory import Reals

#: Diagonal of R, relative to that of J M^-1 J': small beside the rows of loops that are nearly stretched.
REGULARISATION = 1e-8
#: The same, relative to the largest of J M^-1 J' in a block: the row along links that lie in one line vanishes as a whole, and
#: with it all that it would be compared with. Rows of 1e-12 of the largest still keep twelve digits after the refinements.
FOLDED = 1e-16
#: Refinements of a solution, each of which reduces the effect of R by its relative size.
REFINEMENTS = 2
#: Relative addition to the diagonal of a Delassus operator, with which sweeps converge where rows depend on each other.
STIFFENING = 1e-6
#: Response of a row, relative to that of its speeds alone, below which constraints hold it.
HELD = 1e-9


@kernel
def first_multiplier(A: Reals, n: int) -> int:
    """The place of the first multiplier of a block, behind its speeds; n where it has none."""
    first = n
    while first > 0 and A[n * n + first - 1] > 0.0:
        first -= 1
    return first


@kernel
def regularise(A: Reals, n: int, massive: int) -> None:
    """Take R from the diagonal of the multipliers, behind so many *massive* speeds, of a block whose speeds are eliminated."""
    most = 0.0
    for i in range(massive, n):
        most = max(most, fabs(A[i * n + i]))
    for i in range(massive, n):
        least = max(REGULARISATION * fabs(A[i * n + i]), FOLDED * most)
        A[n * n + n + i] = least + tolerances.LEAST_DIVISOR
        A[i * n + i] -= A[n * n + n + i]


@kernel
def factor(A: Reals, n: int) -> None:
    """LU factors of a block, in place: unit lower factors, and the reciprocals of the pivots on the diagonal.

    The matrix is definite on the speeds and on the multipliers behind them, so that no pivoting is needed. Zeros beyond the
    last entries of rows and columns so far stay zeros (the envelope).
    """
    massive, last = first_multiplier(A, n), 0
    for k in range(n):
        if k == massive:
            regularise(A, n, massive)
        A[k * n + k] = 1.0 / A[k * n + k]
        at = n - 1
        while at > last and A[k * n + at] == 0.0 and A[at * n + k] == 0.0:
            at -= 1
        last = max(last, at)
        for i in range(k + 1, last + 1):
            A[i * n + k] *= A[k * n + k]
            take_multiple(A[i * n + k + 1 :], A[i * n + k], A[k * n + k + 1 :], last - k)


@kernel
def substitute(A: Reals, n: int, x: Reals) -> None:
    """Forward and backward substitution: x becomes the solution for the factors A."""
    for k in range(n):
        s = x[k]
        for i in range(k + 1, n):
            x[i] -= A[i * n + k] * s
    for turn in range(n):
        i = n - 1 - turn
        s = x[i]
        for k in range(i + 1, n):
            s -= A[i * n + k] * x[k]
        x[i] = s * A[i * n + i]


@kernel
def factor_block(problem: ContactProblem, b: int, A: Reals) -> None:
    """LU factors of the block b, as :func:`factor`, of the entries in its pattern alone."""
    first = problem.block_start[b]
    n = problem.block_start[b + 1] - first
    massive = first_multiplier(A, n)
    for k in range(n):
        if k == massive:
            regularise(A, n, massive)
        A[k * n + k] = 1.0 / A[k * n + k]
        above = A[k * n :]
        start, end = problem.fill_start[first + k], problem.fill_start[first + k + 1]
        for at in range(start, end):
            i = problem.fill[at]
            a, row = A[i * n + k] * A[k * n + k], A[i * n :]
            row[k] = a
            for to in range(start, end):
                j = problem.fill[to]
                row[j] -= a * above[j]


@kernel
def substitute_block(problem: ContactProblem, b: int, A: Reals, x: Reals) -> None:
    """Forward and backward substitution: x becomes the solution for the factors A of the block b. Zeros are passed over: what
    multipliers miss, which come last, begins with zeros.
    """
    first, fill = problem.block_start[b], problem.fill
    n = problem.block_start[b + 1] - first
    for k in range(n):
        s = x[k]
        if s != 0.0:
            for at in range(problem.fill_start[first + k], problem.fill_start[first + k + 1]):
                x[fill[at]] -= A[fill[at] * n + k] * s
    for turn in range(n):
        k = n - 1 - turn
        s = x[k]
        for at in range(problem.fill_start[first + k], problem.fill_start[first + k + 1]):
            s -= A[k * n + fill[at]] * x[fill[at]]
        x[k] = s * A[k * n + k]


@kernel
def miss(A: Reals, n: int, x: Reals, rest: Reals) -> None:
    """What the multipliers in x make constraints be missed by, -R x (n,), in *rest*."""
    for i in range(n):
        rest[i] = -A[n * n + n + i] * x[i] if A[n * n + i] > 0.0 else 0.0


@kernel
def refine(A: Reals, n: int, x: Reals, change: Reals) -> None:
    """Add the *change* of a refinement to x, and leave what constraints are missed by then in its place."""
    for i in range(n):
        x[i] += change[i]
    miss(A, n, change, change)


@kernel
def solve(problem: ContactProblem, b: int, A: Reals, x: Reals, rest: Reals) -> None:
    """The solution x without R for the factors A of the block b, by iterative refinement; *rest* (n,) is working memory."""
    n = problem.block_start[b + 1] - problem.block_start[b]
    substitute_block(problem, b, A, x)
    if A[n * n + n - 1] > 0.0:
        miss(A, n, x, rest)
        for _ in range(REFINEMENTS):
            substitute_block(problem, b, A, rest)
            refine(A, n, x, rest)


@kernel
def factor_blocks(problem: ContactProblem, inertia: Reals) -> None:
    """Factors of all blocks, in place."""
    for b in range(problem.blocks):
        factor_block(problem, b, inertia[problem.inertia_start[b] :])


@kernel
def copy_blocks(problem: ContactProblem, inertia: Reals, copy: Reals) -> None:
    """Copy the blocks, and factor them; the *copy* has the R of the factors."""
    for k in range(problem.inertia_start[problem.blocks]):
        copy[k] = inertia[k]
    factor_blocks(problem, inertia)
    for b in range(problem.blocks):
        n = problem.block_start[b + 1] - problem.block_start[b]
        for i in range(n):
            at = problem.inertia_start[b] + n * n + n + i
            copy[at] = inertia[at]


@kernel
def accelerations(problem: ContactProblem, inertia: Reals, force: Reals, work: Reals, found: Reals) -> None:
    """Accelerations and multipliers (speeds,) under the generalised *force* (speeds,), with factors of the *inertia*; *work*
    has room for twice the speeds.
    """
    speeds = problem.block_speeds
    for b in range(problem.blocks):
        first = problem.block_start[b]
        n = problem.block_start[b + 1] - first
        for k in range(n):
            work[k] = force[speeds[first + k]]
        solve(problem, b, inertia[problem.inertia_start[b] :], work, work[n:])
        for k in range(n):
            found[speeds[first + k]] = work[k]


@kernel
def substitute_three(problem: ContactProblem, b: int, A: Reals, x: Reals, y: Reals, z: Reals) -> None:
    """Substitution, as :func:`substitute_block`, in three right sides at once: a pass over the factors for all."""
    first, fill = problem.block_start[b], problem.fill
    n = problem.block_start[b + 1] - first
    for k in range(n):
        s, u, w = x[k], y[k], z[k]
        if s != 0.0 or u != 0.0 or w != 0.0:
            for at in range(problem.fill_start[first + k], problem.fill_start[first + k + 1]):
                i = fill[at]
                a = A[i * n + k]
                x[i] -= a * s
                y[i] -= a * u
                z[i] -= a * w
    for turn in range(n):
        k = n - 1 - turn
        s, u, w = x[k], y[k], z[k]
        for at in range(problem.fill_start[first + k], problem.fill_start[first + k + 1]):
            i = fill[at]
            a = A[k * n + i]
            s -= a * x[i]
            u -= a * y[i]
            w -= a * z[i]
        a = A[k * n + k]
        x[k], y[k], z[k] = s * a, u * a, w * a


@kernel
def solve_three(problem: ContactProblem, b: int, A: Reals, x: Reals, y: Reals, z: Reals, rest: Reals) -> None:
    """Solutions, as :func:`solve`, for three right sides at once; *rest* (3 n,) is working memory."""
    n = problem.block_start[b + 1] - problem.block_start[b]
    substitute_three(problem, b, A, x, y, z)
    if A[n * n + n - 1] > 0.0:
        u, v, w = rest, rest[n:], rest[2 * n :]
        miss(A, n, x, u)
        miss(A, n, y, v)
        miss(A, n, z, w)
        for _ in range(REFINEMENTS):
            substitute_three(problem, b, A, u, v, w)
            refine(A, n, x, u)
            refine(A, n, y, v)
            refine(A, n, z, w)


@kernel
def largest_pivot(A: Reals, n: int) -> float:
    """The largest pivot of a multiplier in the factors of a block."""
    most = 0.0
    for k in range(first_multiplier(A, n), n):
        most = max(most, 1.0 / fabs(A[k * n + k]))
    return most


@kernel
def is_folded(problem: ContactProblem, inertia: Reals, weak: float) -> bool:
    """Whether a row of a loop has a pivot below this part, *weak*, of the largest of its block in the factors of the inertia."""
    folded = False
    for b in range(problem.blocks):
        A, n = inertia[problem.inertia_start[b] :], problem.block_start[b + 1] - problem.block_start[b]
        most = weak * largest_pivot(A, n)
        for k in range(first_multiplier(A, n), n):
            folded = folded or not 1.0 / fabs(A[k * n + k]) > most
    return folded


@kernel
def turn_rows(problem: ContactProblem, turned: Reals, weak: float, share: float, inertia: Reals, behind: Reals) -> None:
    """Turn rows of loops that vanish where these are stretched or folded flat: add to those with *weak* pivots a *share* of their
    change without what it has of the rows before them, if they are less than it; so for *behind* (multipliers,), which is zero
    for all others then. The changes, and behind them factors, are *turned*; the *inertia* is not yet factored.
    """
    speeds = problem.speeds - problem.multipliers
    entries = problem.inertia_start[problem.blocks]
    for b in range(problem.blocks):
        at, first = problem.inertia_start[b], problem.block_start[b]
        n = problem.block_start[b + 1] - first
        L, D, A = turned[entries + at :], turned[at:], inertia[at:]
        m, most, turns = first_multiplier(L, n), weak * largest_pivot(L, n), L[n * n + n :]
        for k in range(m, n):
            row, size, pivot = problem.block_speeds[first + k] - speeds, 0.0, 1.0 / fabs(L[k * n + k])
            for j in range(m, k):
                part = L[k * n + j] * (1.0 - turns[j])
                for i in range(m):
                    D[k * n + i] -= part * D[j * n + i]
                behind[row] -= part * behind[problem.block_speeds[first + j] - speeds]
            for i in range(m):
                size = max(size, share * D[k * n + i] * share * D[k * n + i] / fabs(A[i * n + i]))
            turns[k] = 1.0 if pivot <= most and pivot - turns[k] < size else 0.0
        for k in range(m, n):
            behind[problem.block_speeds[first + k] - speeds] *= share * turns[k]
        for i in range(m):
            for p in range(problem.fill_start[first + i], problem.fill_start[first + i + 1]):
                k = problem.fill[p]
                if k >= m:
                    A[k * n + i] += share * turns[k] * D[k * n + i]
                    A[i * n + k] += share * turns[k] * D[k * n + i]


@kernel
def only_row(problem: ContactProblem, c: int) -> int:
    """The row of the contact c if it has one: the first of a limit, the second of the friction of a joint; -1 of others."""
    if problem.has_normal[c] == 0:
        return 1 if problem.tangents[c] == 1 else -1
    return 0 if problem.tangents[c] == 0 else -1


@kernel
def respond(problem: ContactProblem, terms: ContactTerms, solution: ContactSolution, c: int, work: Reals) -> None:
    """Responses to unit forces along the rows of the contact c, and its Delassus operator: zero for what constraints hold.
    *work* has room for three times the speeds.
    """
    start = problem.row_start[c]
    n, at = problem.row_start[c + 1] - start, 0
    W, Y, D, loose = (
        terms.jacobian[3 * start :],
        solution.response[3 * start :],
        solution.delassus[9 * c :],
        solution.rates,
    )
    only = only_row(problem, c)
    first, last = max(only, 0), only + 1 if only >= 0 else 3
    for k in range(3 * n):
        Y[k] = W[k]
    for k in range(9):
        D[k] = 0.0
    loose[0], loose[1], loose[2] = 0.0, 0.0, 0.0
    for j in range(problem.coupled_start[c], problem.coupled_start[c + 1]):
        b = problem.coupled_blocks[j]
        size, square = problem.block_start[b + 1] - problem.block_start[b], 0.0
        A = terms.inertia[problem.inertia_start[b] :]
        for i in range(first, last):
            for k in range(size):
                w = W[i * n + at + k]
                square += w * w
                loose[i] += w * w * max(0.0, A[k * size + k])
        if square != 0.0 and only >= 0:
            solve(problem, b, A, Y[only * n + at :], work)
        elif square != 0.0:
            solve_three(problem, b, A, Y[at:], Y[n + at :], Y[2 * n + at :], work)
        at += size
    for i in range(first, last):
        for j in range(first, last):
            s = 0.0
            for k in range(n):
                s += W[i * n + k] * Y[j * n + k]
            D[3 * i + j] = s if i != j else (1.0 + STIFFENING) * s if s > HELD * loose[i] else 0.0


@kernel
def rate_along(problem: ContactProblem, terms: ContactTerms, c: int, i: int, v: Reals) -> float:
    """The rate of v along the row i of the contact c: W v."""
    start = problem.row_start[c]
    n = problem.row_start[c + 1] - start
    row, speeds, s = terms.jacobian[3 * start + i * n :], problem.row_speeds[start:], 0.0
    for k in range(n):
        s += row[k] * v[speeds[k]]
    return s


@kernel
def velocity_by_time(problem: ContactProblem, terms: ContactTerms, solution: ContactSolution, c: int, i: int) -> float:
    """The velocity along the row i of a contact that is not of the speeds: that of what time moves."""
    return terms.velocity[3 * c + i] - rate_along(problem, terms, c, i, solution.before)


@kernel
def rates_along(problem: ContactProblem, terms: ContactTerms, c: int, v: Reals, rates: Reals) -> None:
    """The *rates* (3,) of v along all rows of the contact c, as :func:`rate_along`."""
    start = problem.row_start[c]
    n = problem.row_start[c + 1] - start
    row, speeds, s, u, w = terms.jacobian[3 * start :], problem.row_speeds[start:], 0.0, 0.0, 0.0
    only = only_row(problem, c)
    if only >= 0:
        rates[0], rates[1], rates[2] = 0.0, 0.0, 0.0
        rates[only] = rate_along(problem, terms, c, only, v)
        return
    for k in range(n):
        rate = v[speeds[k]]
        s += row[k] * rate
        u += row[n + k] * rate
        w += row[2 * n + k] * rate
    rates[0], rates[1], rates[2] = s, u, w


@kernel
def acceleration_along(problem: ContactProblem, terms: ContactTerms, c: int, i: int, a: Reals) -> float:
    """The acceleration along the row i of the contact c under the accelerations a: W a and what is there without them."""
    return rate_along(problem, terms, c, i, a) + terms.bias[3 * c + i]


@kernel
def terms_along(problem: ContactProblem, terms: ContactTerms, c: int, i: int, a: Reals) -> float:
    """The size of the terms whose sum is :func:`acceleration_along`."""
    start = problem.row_start[c]
    n = problem.row_start[c + 1] - start
    size, row, speeds = fabs(terms.bias[3 * c + i]), terms.jacobian[3 * start + i * n :], problem.row_speeds[start:]
    for k in range(n):
        size += fabs(row[k] * a[speeds[k]])
    return size


@kernel
def push(
    problem: ContactProblem,
    solution: ContactSolution,
    c: int,
    n_impulse: float,
    u_impulse: float,
    w_impulse: float,
    v: Reals,
) -> None:
    """Add to the speeds v the responses to impulses along the rows of the contact c."""
    start = problem.row_start[c]
    n = problem.row_start[c + 1] - start
    Y, speeds = solution.response[3 * start :], problem.row_speeds[start:]
    if u_impulse == 0.0 and w_impulse == 0.0:
        for k in range(n):
            v[speeds[k]] += Y[k] * n_impulse
        return
    if n_impulse == 0.0 and w_impulse == 0.0:
        for k in range(n):
            v[speeds[k]] += Y[n + k] * u_impulse
        return
    for k in range(n):
        v[speeds[k]] += Y[k] * n_impulse + Y[n + k] * u_impulse + Y[2 * n + k] * w_impulse
