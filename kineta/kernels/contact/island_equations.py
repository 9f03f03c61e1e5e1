"""Equations of an island of contacts: its speeds, their inertia with compliant contacts, and its Delassus operator."""

from __future__ import annotations

from kineta.integration.contact_records import ContactProblem, ContactSolution, ContactTerms, IslandWork
from kineta.kernels.contact.block_inertia import factor, push, rates_along
from kineta.kernels.language import kernel
from kineta.memory import Integers, Reals


@kernel
def compliance(solution: ContactSolution, work: IslandWork, c: int) -> float:
    """The compliance R of a contact."""
    D = solution.delassus[9 * c :]
    return work.compliance * max(D[0], max(D[4], D[8]))


@kernel
def collect_island(problem: ContactProblem, work: IslandWork, active: Integers, count: int) -> None:
    """The blocks of the island of the *active* contacts, numbered as contacts name them."""
    n, blocks = 0, 0
    for a in range(count):
        for j in range(problem.coupled_start[active[a]], problem.coupled_start[active[a] + 1]):
            work.position[problem.coupled_blocks[j]] = -1
    for a in range(count):
        for j in range(problem.coupled_start[active[a]], problem.coupled_start[active[a] + 1]):
            b = problem.coupled_blocks[j]
            if work.position[b] < 0:
                work.position[b], work.own[blocks] = blocks, b
                blocks += 1
                first = problem.block_start[b]
                size = problem.block_start[b + 1] - first
                for i in range(size):
                    speed = problem.block_speeds[first + i]
                    work.place[speed] = n
                    n += 1
    work.blocks, work.n = blocks, n


@kernel
def set_speeds(problem: ContactProblem, work: IslandWork, v: Reals, value: float) -> None:
    """Set the entries of the speeds of an island in v."""
    for k in range(work.blocks):
        for i in range(problem.block_start[work.own[k]], problem.block_start[work.own[k] + 1]):
            v[problem.block_speeds[i]] = value


@kernel
def couple_contacts(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
) -> None:
    """The Delassus operator (3 count, 3 count) of the island."""
    m, S = 3 * count, work.delassus
    for b in range(count):
        for j in range(3):
            set_speeds(problem, work, work.change, 0.0)
            push(
                problem,
                solution,
                active[b],
                1.0 if j == 0 else 0.0,
                1.0 if j == 1 else 0.0,
                1.0 if j == 2 else 0.0,
                work.change,
            )
            for a in range(count):
                rates_along(problem, terms, active[a], work.change, solution.rates)
                for i in range(3):
                    S[(3 * a + i) * m + 3 * b + j] = solution.rates[i]


@kernel
def assemble_matrix(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
) -> None:
    """The factors of M + W' H W / R (n, n), of the matrices R H (3, 3) of all contacts, ``cones``."""
    H, n, place = work.hessian, work.n, work.place
    for i in range(n * (n + 2)):
        H[i] = 0.0
    for k in range(work.blocks):
        b = work.own[k]
        first, at = problem.block_start[b], problem.inertia_start[b]
        size = problem.block_start[b + 1] - first
        for i in range(size):
            row = place[problem.block_speeds[first + i]]
            for j in range(size):
                H[row * n + place[problem.block_speeds[first + j]]] = work.inertia[at + i * size + j]
            H[row * n + row] -= work.inertia[at + size * size + size + i]
    for a in range(count):
        c = active[a]
        start = problem.row_start[c]
        size = problem.row_start[c + 1] - start
        speeds, W = problem.row_speeds[start:], terms.jacobian[3 * start :]
        G, R = work.cones[9 * c :], 1.0 / compliance(solution, work, c)
        for j in range(size):
            w0, w1, w2 = W[j], W[size + j], W[2 * size + j]
            column = place[speeds[j]]
            a0 = R * (G[0] * w0 + G[1] * w1 + G[2] * w2)
            a1 = R * (G[3] * w0 + G[4] * w1 + G[5] * w2)
            a2 = R * (G[6] * w0 + G[7] * w1 + G[8] * w2)
            if a0 != 0.0 or a1 != 0.0 or a2 != 0.0:
                for i in range(size):
                    H[place[speeds[i]] * n + column] += W[i] * a0 + W[size + i] * a1 + W[2 * size + i] * a2
    factor(H, n)
