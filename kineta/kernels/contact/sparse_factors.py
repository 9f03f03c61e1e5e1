"""Factors of the Hessian of a large island by blocks: an order of elimination of least degree, and LU factors in its pattern.

Two bodies have an entry where a contact joins them, and where the elimination of others does. In a wall or a pile these are few,
and a step takes a time that grows little faster than the number of bodies.
"""

from __future__ import annotations

from kineta.integration.contact_records import ContactProblem, ContactSolution, ContactTerms, IslandWork
from kineta.kernels.contact.island_equations import collect_island, compliance
from kineta.kernels.language import kernel
from kineta.kernels.vectors import take_multiple
from kineta.memory import Integers, Reals

#: Multiplications of the most expensive factors.
MOST_WORK = 4e5


@kernel
def block_size(problem: ContactProblem, b: int) -> int:
    """Number of speeds of a block."""
    return problem.block_start[b + 1] - problem.block_start[b]


@kernel
def join_blocks(problem: ContactProblem, work: IslandWork, active: Integers, count: int) -> int:
    """Collect the island of the *active* contacts, and note which blocks a contact joins; their number, -1 without room."""
    collect_island(problem, work, active, count)
    m = work.blocks
    if m * m > work.most_links:
        return -1
    for k in range(m * m):
        work.links[k] = 0
    for a in range(count):
        first, last = problem.coupled_start[active[a]], problem.coupled_start[active[a] + 1]
        for j in range(first, last):
            for i in range(first, last):
                if i != j:
                    p, q = work.position[problem.coupled_blocks[i]], work.position[problem.coupled_blocks[j]]
                    work.links[p * m + q] = 1
    return m


@kernel
def eliminate(work: IslandWork, m: int, k: int, start: int, room: int) -> int:
    """Join the blocks that are joined to the block k, which is eliminated; the end of their list ``later`` from *start* on, -1
    where it has no *room*.
    """
    end = start
    for i in range(m):
        if work.degree[i] >= 0 and i != k and work.links[k * m + i] != 0:
            if end == room:
                return -1
            work.later[end] = i
            end += 1
    for i in range(start, end):
        p = work.later[i]
        for j in range(start, end):
            q = work.later[j]
            if p != q and work.links[p * m + q] == 0:
                work.links[p * m + q] = 1
                work.degree[p] += 1
        work.degree[p] -= 1
    work.degree[k] = -1
    return end


@kernel
def order_blocks(problem: ContactProblem, work: IslandWork, active: Integers, count: int) -> bool:
    """Order the blocks of an island of many speeds, each time one that is joined to the fewest others, and place their entries;
    whether there is room for factors, and they take no longer than ``MOST_WORK``.
    """
    m = join_blocks(problem, work, active, count)
    if m < 0:
        return False
    for k in range(m):
        work.degree[k] = 0
        for i in range(m):
            work.degree[k] += work.links[k * m + i]
    end, entries, cost = 0, 0, 0.0
    for k in range(m):
        least = -1
        for i in range(m):
            if work.degree[i] >= 0 and (least < 0 or work.degree[i] < work.degree[least]):
                least = i
        work.turn[k], work.later_start[k] = least, end
        start = end
        end = eliminate(work, m, least, start, work.most_later)
        if end < 0:
            return False
        n, wide = block_size(problem, work.own[least]), 0
        for i in range(start, end):
            wide += block_size(problem, work.own[work.later[i]])
        entries += n * (n + 2 * wide)
        cost += float(n * wide) * float(wide)
        if entries > work.most_entries or cost > MOST_WORK:
            return False
    work.later_start[m], work.sparse = end, m
    for k in range(m):
        work.degree[work.turn[k]] = k
    for i in range(end):
        work.later[i] = work.degree[work.later[i]]
    for k in range(m):
        b = work.own[work.turn[k]]
        work.sequence[k], work.position[b] = b, k
    at = 0
    for k in range(m):
        n = block_size(problem, work.sequence[k])
        work.links[k * m + k] = at
        at += n * n
        for i in range(work.later_start[k], work.later_start[k + 1]):
            work.links[k * m + work.later[i]] = at
            at += n * block_size(problem, work.sequence[work.later[i]])
            work.links[work.later[i] * m + k] = at
            at += n * block_size(problem, work.sequence[work.later[i]])
    work.entries = at
    return True


@kernel
def assemble_sparse(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
) -> None:
    """The Hessian of an island by blocks: its inertia, and what contacts add."""
    m = work.sparse
    for k in range(work.entries):
        work.hessian[k] = 0.0
    for k in range(m):
        at = problem.inertia_start[work.sequence[k]]
        n, H = block_size(problem, work.sequence[k]), work.hessian[work.links[k * m + k] :]
        for i in range(n * n):
            H[i] = work.inertia[at + i]
        for i in range(n):
            H[i * n + i] -= work.inertia[at + n * n + n + i]
    for a in range(count):
        add_contact(problem, terms, work, active[a], 1.0 / compliance(solution, work, active[a]))


@kernel
def add_contact(problem: ContactProblem, terms: ContactTerms, work: IslandWork, c: int, R: float) -> None:
    """Add to the Hessian by blocks what the contact c has in it, of the reciprocal compliance R."""
    m, start = work.sparse, problem.row_start[c]
    size, column = problem.row_start[c + 1] - start, 0
    W, G = terms.jacobian[3 * start :], work.cones[9 * c :]
    for j in range(problem.coupled_start[c], problem.coupled_start[c + 1]):
        q = problem.coupled_blocks[j]
        wide = block_size(problem, q)
        for k in range(wide):
            w0, w1, w2 = W[column + k], W[size + column + k], W[2 * size + column + k]
            a0 = R * (G[0] * w0 + G[1] * w1 + G[2] * w2)
            a1 = R * (G[3] * w0 + G[4] * w1 + G[5] * w2)
            a2 = R * (G[6] * w0 + G[7] * w1 + G[8] * w2)
            if a0 != 0.0 or a1 != 0.0 or a2 != 0.0:
                row = 0
                for i in range(problem.coupled_start[c], problem.coupled_start[c + 1]):
                    p = problem.coupled_blocks[i]
                    n, H = block_size(problem, p), work.hessian[work.links[work.position[p] * m + work.position[q]] :]
                    for t in range(n):
                        H[t * wide + k] += W[row + t] * a0 + W[size + row + t] * a1 + W[2 * size + row + t] * a2
                    row += n
        column += wide


@kernel
def factor_sparse(problem: ContactProblem, work: IslandWork) -> None:
    """LU factors by blocks, in place: unit lower factors, and the reciprocals of the pivots."""
    m = work.sparse
    for k in range(m):
        n, A = block_size(problem, work.sequence[k]), work.hessian[work.links[k * m + k] :]
        for p in range(n):
            A[p * n + p] = 1.0 / A[p * n + p]
            for r in range(p + 1, n):
                A[r * n + p] *= A[p * n + p]
                for s in range(p + 1, n):
                    A[r * n + s] -= A[r * n + p] * A[p * n + s]
        first, last = work.later_start[k], work.later_start[k + 1]
        for i in range(first, last):
            q = work.later[i]
            size = block_size(problem, work.sequence[q])
            lower, upper = work.hessian[work.links[q * m + k] :], work.hessian[work.links[k * m + q] :]
            for r in range(size):
                for s in range(n):
                    x = lower[r * n + s]
                    for t in range(s):
                        x -= lower[r * n + t] * A[t * n + s]
                    lower[r * n + s] = x * A[s * n + s]
            for r in range(n):
                for t in range(r):
                    take_multiple(upper[r * size :], A[r * n + t], upper[t * size :], size)
        for i in range(first, last):
            for j in range(first, last):
                take_product(problem, work, k, work.later[i], work.later[j])


@kernel
def take_product(problem: ContactProblem, work: IslandWork, k: int, p: int, q: int) -> None:
    """Take from the block (p, q) the product of the factors (p, k) and (k, q)."""
    m = work.sparse
    n, rows, columns = (
        block_size(problem, work.sequence[k]),
        block_size(problem, work.sequence[p]),
        block_size(problem, work.sequence[q]),
    )
    A, L, U = (
        work.hessian[work.links[p * m + q] :],
        work.hessian[work.links[p * m + k] :],
        work.hessian[work.links[k * m + q] :],
    )
    for t in range(n):
        for r in range(rows):
            take_multiple(A[r * columns :], L[r * n + t], U[t * columns :], columns)


@kernel
def place_of(problem: ContactProblem, work: IslandWork, k: int) -> int:
    """The place of the first speed of the block eliminated at k among those of the island."""
    return work.place[problem.block_speeds[problem.block_start[work.sequence[k]]]]


@kernel
def substitute_sparse(problem: ContactProblem, work: IslandWork, x: Reals) -> None:
    """Forward and backward substitution: x becomes the solution for the factors by blocks."""
    m = work.sparse
    for k in range(m):
        n, A, own = (
            block_size(problem, work.sequence[k]),
            work.hessian[work.links[k * m + k] :],
            x[place_of(problem, work, k) :],
        )
        for r in range(1, n):
            for t in range(r):
                own[r] -= A[r * n + t] * own[t]
        for i in range(work.later_start[k], work.later_start[k + 1]):
            q = work.later[i]
            L, to = work.hessian[work.links[q * m + k] :], x[place_of(problem, work, q) :]
            for r in range(block_size(problem, work.sequence[q])):
                for t in range(n):
                    to[r] -= L[r * n + t] * own[t]
    for turn in range(m):
        k = m - 1 - turn
        n, A, own = (
            block_size(problem, work.sequence[k]),
            work.hessian[work.links[k * m + k] :],
            x[place_of(problem, work, k) :],
        )
        for i in range(work.later_start[k], work.later_start[k + 1]):
            q = work.later[i]
            size = block_size(problem, work.sequence[q])
            U, other = work.hessian[work.links[k * m + q] :], x[place_of(problem, work, q) :]
            for r in range(n):
                for s in range(size):
                    own[r] -= U[r * size + s] * other[s]
        for back in range(n):
            r = n - 1 - back
            for s in range(r + 1, n):
                own[r] -= A[r * n + s] * own[s]
            own[r] *= A[r * n + r]
