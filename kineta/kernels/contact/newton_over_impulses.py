"""Newton's method over the impulses of an island, for its augmented Lagrangian: speeds are those under the impulses so far.

With the Delassus operator S = W M^-1 W', the velocities of an island of few contacts are W free + S z for impulses z, and those
of least energy obey z = x, the projections. With derivatives G = L L' of the projections a step is::

    dz = r - L (R + L' S L)^-1 L' S r,    r = x - z

which needs no factors of the inertia, however many speeds there are.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import ContactProblem, ContactSolution, ContactTerms, IslandWork
from kineta.kernels.contact.augmented_lagrangian import (
    ACCEPTED,
    CHORD,
    DECREASE,
    SHORTEST,
    STEPS,
    compliance,
    contact_energy,
)
from kineta.kernels.contact.block_inertia import factor, push, rates_along, substitute
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.vectors import maximum
from kineta.memory import Integers, Reals


@kernel
def couple_contacts(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
) -> None:
    """The Delassus operator (3 count, 3 count) of the island, and the rates along all rows for its free speeds."""
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
    for a in range(count):
        rates_along(problem, terms, active[a], work.free, work.free_rates[3 * active[a] :])


@kernel
def set_speeds(problem: ContactProblem, work: IslandWork, v: Reals, value: float) -> None:
    """Set the entries of the speeds of an island in v."""
    for k in range(work.blocks):
        for i in range(problem.block_start[work.own[k]], problem.block_start[work.own[k] + 1]):
            v[problem.block_speeds[i]] = value


@kernel
def root(G: Reals, L: Reals) -> None:
    """The lower triangular root L (3, 3) of a semidefinite matrix G (3, 3), by rows."""
    for i in range(3):
        for j in range(3):
            L[3 * i + j] = 0.0
        for j in range(i + 1):
            s = G[3 * i + j]
            for k in range(j):
                s -= L[3 * i + k] * L[3 * j + k]
            if i == j:
                L[4 * i] = sqrt(s) if s > tolerances.ROUNDING_TOLERANCE else 0.0
            else:
                L[3 * i + j] = s / L[4 * j] if L[4 * j] > 0.0 else 0.0


@kernel
def factor_steps(solution: ContactSolution, work: IslandWork, active: Integers, count: int) -> None:
    """The factors of R + L' S L (3 count, 3 count)."""
    m, S, A = 3 * count, work.delassus, work.hessian
    for a in range(count):
        root(work.cones[9 * active[a] :], work.roots[9 * active[a] :])
    for a in range(count):
        for b in range(count):
            P, Q = work.roots[9 * active[a] :], work.roots[9 * active[b] :]
            for i in range(3):
                for j in range(3):
                    s = compliance(solution, work, active[a]) if a == b and i == j else 0.0
                    for k in range(i, 3):
                        for n in range(j, 3):
                            s += P[3 * k + i] * S[(3 * a + k) * m + 3 * b + n] * Q[3 * n + j]
                    A[(3 * a + i) * m + 3 * b + j] = s
    for i in range(m):
        A[m * m + i] = 0.0
        A[m * m + m + i] = 0.0
    factor(A, m)
    work.factored = 1


@kernel
def find_step(
    problem: ContactProblem, solution: ContactSolution, work: IslandWork, active: Integers, count: int
) -> float:
    """The step of the impulses, ``toward`` (3 contacts,), and the *change* of the speeds by it; its largest."""
    m, S, y, most = 3 * count, work.delassus, work.step, 0.0
    for a in range(count):
        for i in range(3):
            k = 3 * active[a] + i
            work.toward[k] = work.projected[k] - work.impulse[k]
    for a in range(count):
        for i in range(3):
            s = 0.0
            for b in range(count):
                for j in range(3):
                    s += S[(3 * a + i) * m + 3 * b + j] * work.toward[3 * active[b] + j]
            work.slope[3 * a + i] = s
    for a in range(count):
        L = work.roots[9 * active[a] :]
        for i in range(3):
            s = 0.0
            for k in range(i, 3):
                s += L[3 * k + i] * work.slope[3 * a + k]
            y[3 * a + i] = s
    substitute(work.hessian, m, y)
    set_speeds(problem, work, work.change, 0.0)
    for a in range(count):
        c = active[a]
        L, d = work.roots[9 * c :], work.toward[3 * c :]
        for i in range(3):
            for k in range(i + 1):
                d[i] -= L[3 * i + k] * y[3 * a + k]
        push(problem, solution, c, d[0], d[1], d[2], work.change)
    for k in range(work.blocks):
        for i in range(problem.block_start[work.own[k]], problem.block_start[work.own[k] + 1]):
            speed = problem.block_speeds[i]
            if work.massless[work.place[speed]] == 0:
                most = maximum(most, fabs(work.change[speed]))
    return most


@kernel
def impulse_energy(work: IslandWork, active: Integers, count: int, part: float) -> float:
    """The kinetic energy of speeds with the rates along all rows of :func:`contact_energy`, after this *part* of the step."""
    energy = 0.0
    for a in range(count):
        for i in range(3):
            k = 3 * active[a] + i
            energy += 0.5 * (work.impulse[k] + part * work.toward[k]) * (work.rates[k] - work.free_rates[k])
    return energy


@kernel
def search_along(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
    v: Reals,
) -> float:
    """The part of the step that decreases the energy enough, zero where none does; the speeds *next* after it."""
    slope = 0.0
    for a in range(count):
        for i in range(3):
            slope -= work.slope[3 * a + i] * work.toward[3 * active[a] + i]
    part, less, now, own = 1.0, False, 0.0, 0.0
    while part > SHORTEST and not less:
        for k in range(work.blocks):
            for i in range(problem.block_start[work.own[k]], problem.block_start[work.own[k] + 1]):
                speed = problem.block_speeds[i]
                work.next[speed] = v[speed] + part * work.change[speed]
        own = contact_energy(problem, terms, solution, work, active, count, work.next)
        now = impulse_energy(work, active, count, part)
        less = now + own <= work.energy + DECREASE * part * slope + tolerances.RESIDUAL_TOLERANCE * fabs(work.energy)
        part *= 1.0 if less else 0.5
    if less:
        work.energy = now + own
    return part if less else 0.0


@kernel
def minimise_over_impulses(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
    v: Reals,
    tolerance: float,
) -> int:
    """The speeds v, and their impulses, of least energy for the forces so far; the number of Newton steps, as of
    :func:`kineta.kernels.contact.newton_over_speeds.minimise`.
    """
    steps, done, failed, part, last = 0, False, False, 0.0, 0.0
    while steps < STEPS and not (done or failed):
        if part <= 0.0:
            own = contact_energy(problem, terms, solution, work, active, count, v)
            now = impulse_energy(work, active, count, 0.0)
            work.energy = now + own
        fresh = work.factored == 0
        if fresh:
            factor_steps(solution, work, active, count)
        most = find_step(problem, solution, work, active, count)
        part = search_along(problem, terms, solution, work, active, count, v)
        failed = fresh and part <= 0.0 and not most <= ACCEPTED * tolerance
        if part > 0.0:
            for k in range(work.blocks):
                for i in range(problem.block_start[work.own[k]], problem.block_start[work.own[k] + 1]):
                    v[problem.block_speeds[i]] = work.next[problem.block_speeds[i]]
            for a in range(count):
                for i in range(3):
                    k = 3 * active[a] + i
                    work.impulse[k] += part * work.toward[k]
        if part < 1.0 or (steps > 0 and most > CHORD * last):
            work.factored = 0
        last = most
        steps += 1
        done = most * part <= tolerance and (fresh or part > 0.0)
    return -steps if failed else steps
