"""Forces of rows that may depend on each other: the proximal iteration.

With forces c, (S + R) x = R c - b, repeated about its own result, finds forces near c that keep all rows S x + b = 0. Where rows
are many more than speeds, it is solved for the speeds.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import ContactSolution, ModeWork
from kineta.kernels.contact.block_inertia import substitute
from kineta.kernels.contact.pivoting import back_substitute, eliminate, eliminate_column
from kineta.kernels.language import fabs, kernel
from kineta.kernels.vectors import copy
from kineta.memory import Reals

#: Diagonal of R, relative to that of the Delassus operator.
PROXIMITY = 1e-6
#: Least and largest number of iterations.
FEWEST, MOST = 3, 30
#: Ratio of the squares of two changes at which iterations end: over rows that contradict each other forces grow without end.
STALLED = 0.25
#: R, relative to a pivot, from which rows depend on each other.
DEPENDENT = 1e-3
#: Pivot of a speed, in parts of R, from which on rows hold it.
HOLDING = 1e4
#: Pivot, relative to the diagonal, from which on a matrix is definite.
DEFINITE = 1e-6


@kernel
def solve_rows(solution: ContactSolution, work: ModeWork, n: int, reference: Reals) -> None:
    """The forces *found* (n,) in the equations of an island near a *reference*."""
    A = work.matrix[n * n :]
    copy(work.matrix, A, n * n)
    begin_near(solution, work, n, reference)
    for j in range(n):
        A[j * n + j] += work.proximity[j]
    approach_forces(work, A, n, reference)


@kernel
def begin_near(solution: ContactSolution, work: ModeWork, n: int, reference: Reals) -> None:
    """R of n rows, and their forces of the *reference*."""
    for j in range(n):
        c, i = work.rows[2 * j], work.rows[2 * j + 1]
        eased = i > 0 and work.ease[c] > 0.0
        work.proximity[j] = PROXIMITY * (work.ease[c] if eased else solution.delassus[9 * c + 4 * i])
        work.found[j] = reference[3 * c + i]


@kernel
def solve_by_speeds(solution: ContactSolution, work: ModeWork, n: int, speeds: int, reference: Reals) -> bool:
    """The forces *found* (n,), as :func:`solve_rows`, where rows are many more than speeds: (S + R)^-1 = R^-1 - R^-1 W
    (1 + Y' R^-1 W)^-1 Y' R^-1 (Woodbury), applied to what the rows miss; whether they hold all speeds. What they do not hold
    would cost digits.
    """
    b, x, R = work.right, work.found, work.proximity
    W = work.matrix[n * n :]
    Y, core = W[n * speeds :], W[2 * n * speeds :]
    u, z = work.speeds, work.speeds[speeds:]
    begin_near(solution, work, n, reference)
    for p in range(speeds):
        for q in range(speeds):
            core[p * speeds + q] = 1.0 if p == q else 0.0
    for j in range(n):
        for p in range(speeds):
            part = Y[j * speeds + p] / R[j]
            for q in range(speeds):
                core[p * speeds + q] += part * W[j * speeds + q]
    least = factor_core(core, speeds)
    if not least > HOLDING:
        return False
    turns, last, change, size = 0, 0.0, 0.0, 0.0
    while is_approaching(turns, last, change, size):
        for p in range(speeds):
            u[p], z[p] = 0.0, 0.0
        for j in range(n):
            for p in range(speeds):
                u[p] += Y[j * speeds + p] * x[j]
        for j in range(n):
            missed = b[j]
            for p in range(speeds):
                missed -= W[j * speeds + p] * u[p]
            work.missed[j] = missed
            for p in range(speeds):
                z[p] += Y[j * speeds + p] * (missed / R[j])
        substitute(core, speeds, z)
        last, change, size = change, 0.0, 0.0
        for j in range(n):
            missed = work.missed[j]
            for p in range(speeds):
                missed -= W[j * speeds + p] * z[p]
            x[j] += missed / R[j]
            change += missed * (missed / R[j])
            size += R[j] * x[j] * x[j]
        if turns == 0:
            follow_normals(work, n, reference)
        turns += 1
    return True


@kernel
def factor_core(A: Reals, n: int) -> float:
    """LU factors of A (n, n) in place, with reciprocals of the pivots; the least pivot."""
    least = 1.0 / tolerances.LEAST_DIVISOR
    for k in range(n):
        least = min(least, A[k * n + k])
        A[k * n + k] = 1.0 / A[k * n + k]
        eliminate_column(A, n, k)
    return least


@kernel
def is_approaching(turns: int, last: float, change: float, size: float) -> bool:
    """Whether the proximal iteration goes on after so many *turns*, of which the *last* one and that before it made changes, in
    the square, of forces of a *size*.
    """
    gains = change > tolerances.ROUNDING_TOLERANCE**2 * size and change < STALLED * last
    return turns < FEWEST or (turns < MOST and gains)


@kernel
def is_undetermined(work: ModeWork, n: int) -> bool:
    """Whether a pivot of the factors of an island is hardly larger than R: then rows depend on each other."""
    found, factors = False, work.matrix[n * n :]
    for j in range(n):
        found = found or fabs(factors[j * n + j]) * work.proximity[j] > DEPENDENT
    return found


@kernel
def follow_normals(work: ModeWork, n: int, reference: Reals) -> bool:
    """Friction *found* becomes that of a *reference*, as many times as large as the normal force beside it; whether any is."""
    x, pressed, grown, follows = work.found, -1, 1.0, False
    for j in range(n):
        c, i = work.rows[2 * j], work.rows[2 * j + 1]
        normal = reference[3 * c]
        if i == 0 and normal > 0.0:
            pressed, grown = c, x[j] / normal if x[j] > 0.0 else 1.0
        elif pressed == c:
            x[j], follows = grown * reference[3 * c + i], True
    return follows


@kernel
def approach_forces(work: ModeWork, A: Reals, n: int, reference: Reals) -> None:
    """The forces *found* (n,) by the proximal iteration about those that stand there, of the *reference*. A is the matrix of the
    equations with R, and becomes its factors.
    """
    b, x, centre, R = work.right, work.found, work.centre, work.proximity
    copy(R, centre, n)
    eliminate(A, n, centre, work.order)
    turns, last, change, size = 0, 0.0, 0.0, 0.0
    while is_approaching(turns, last, change, size):
        for j in range(n):
            centre[j] = x[j]
            x[j] = b[j] + R[j] * x[j]
        back_substitute(A, n, work.order, x)
        last, change, size = change, 0.0, 0.0
        for j in range(n):
            change += R[j] * (x[j] - centre[j]) * (x[j] - centre[j])
            size += R[j] * x[j] * x[j]
        if turns == 0:
            follow_normals(work, n, reference)
        turns += 1


@kernel
def number_sharing(work: ModeWork, n: int) -> int:
    """The number of contacts with tangents among n rows."""
    found, last = 0, -1
    for j in range(n):
        if work.rows[2 * j + 1] > 0 and work.rows[2 * j] != last:
            last = work.rows[2 * j]
            found += 1
    return found


@kernel
def square_rows(solution: ContactSolution, work: ModeWork, n: int, speeds: int) -> None:
    """The lower halves, by rows, of W' R^-1 W of the normals among n rows, whose R stays as it is, and behind it of W' W of the
    tangents of each contact, whose R is one number: ``squares``.
    """
    W, size, at, last = work.matrix[n * n :], speeds * (speeds + 1) // 2, 0, -1
    work.squared = True
    for k in range(size):
        work.squares[k] = 0.0
    for j in range(n):
        k, scale = 0, 1.0
        if work.rows[2 * j + 1] == 0:
            scale = 1.0 / (PROXIMITY * solution.delassus[9 * work.rows[2 * j]])
        else:
            if work.rows[2 * j] != last:
                last = work.rows[2 * j]
                at += size
                for i in range(size):
                    work.squares[at + i] = 0.0
            k = at
        for p in range(speeds):
            part = scale * W[j * speeds + p]
            for q in range(p + 1):
                work.squares[k] += part * W[j * speeds + q]
                k += 1


@kernel
def share_resultant(solution: ContactSolution, work: ModeWork, n: int, speeds: int, reference: Reals) -> bool:
    """The forces x *found* (n,) near a *reference* c with the resultant W' x (speeds,) that lies behind the rows W:
    x = c + R^-1 W m with (W' R^-1 W) m = W' x - W' c, the limit of the proximal iteration about c, whose friction grows with
    its normal forces as there. The ``squares`` of the rows are known. Whether rows hold all speeds; else there are none.
    """
    begin_near(solution, work, n, reference)
    definite = factor_squares(work, n, speeds)
    if definite:
        reach_resultant(work, n, speeds)
        follows = follow_normals(work, n, reference)
        if follows:
            reach_resultant(work, n, speeds)
    return definite


@kernel
def factor_squares(work: ModeWork, n: int, speeds: int) -> bool:
    """Factors of W' R^-1 W, behind the rows W, from their ``squares``; whether it is definite."""
    G = work.matrix[n * n + n * speeds :]
    size, last, k, total, own = speeds * (speeds + 1) // 2, -1, 0, work.squares[work.n_squares :], work.squares
    copy(own, total, size)
    for j in range(n):
        if work.rows[2 * j + 1] > 0 and work.rows[2 * j] != last:
            last, weight = work.rows[2 * j], 1.0 / work.proximity[j]
            own = own[size:]
            for i in range(size):
                total[i] += weight * own[i]
    for p in range(speeds):
        for q in range(p + 1):
            G[p * speeds + q] = total[k]
            k += 1
    return factor_symmetric(G, speeds, G[(speeds + 1) * speeds :])


@kernel
def reach_resultant(work: ModeWork, n: int, speeds: int) -> None:
    """Change the forces x *found* (n,) by R^-1 W m, with factors of W' R^-1 W, so that their resultant becomes that asked for."""
    W, x = work.matrix[n * n :], work.found
    G = W[n * speeds :]
    m = G[(speeds + 1) * speeds :]
    copy(G[speeds * speeds :], m, speeds)
    for j in range(n):
        if x[j] != 0.0:
            for p in range(speeds):
                m[p] -= W[j * speeds + p] * x[j]
    substitute_symmetric(G, speeds, m)
    for j in range(n):
        s = 0.0
        for p in range(speeds):
            s += W[j * speeds + p] * m[p]
        x[j] += s / work.proximity[j]


@kernel
def factor_symmetric(A: Reals, n: int, least: Reals) -> bool:
    """Factors L D L' of A (n, n), of which the lower half is given, in place: L D, and on the diagonal the reciprocals of D.
    Whether it is definite; *least* (n,) is working memory.
    """
    for k in range(n):
        least[k] = DEFINITE * A[k * n + k]
    for k in range(n):
        if not A[k * n + k] > least[k]:
            return False
        A[k * n + k] = 1.0 / A[k * n + k]
        for i in range(k + 1, n):
            part = A[i * n + k] * A[k * n + k]
            if part != 0.0:
                for j in range(k + 1, i + 1):
                    A[i * n + j] -= part * A[j * n + k]
    return True


@kernel
def substitute_symmetric(A: Reals, n: int, x: Reals) -> None:
    """The solution x (n,) by factors of :func:`factor_symmetric`, in the place of the right-hand side."""
    for k in range(n):
        x[k] *= A[k * n + k]
        for i in range(k + 1, n):
            x[i] -= A[i * n + k] * x[k]
    for turn in range(n):
        k, s = n - 1 - turn, 0.0
        for i in range(k + 1, n):
            s += A[i * n + k] * x[i]
        x[k] -= A[k * n + k] * s
