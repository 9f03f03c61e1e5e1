"""Newton's method over the speeds of an island, or over its impulses where these are fewer, for its augmented Lagrangian, whose
forces are repeated until they settle.
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
    lift_normals,
)
from kineta.kernels.contact.block_inertia import factor, push, substitute
from kineta.kernels.contact.newton_over_impulses import couple_contacts, minimise_over_impulses
from kineta.kernels.language import fabs, kernel
from kineta.kernels.vectors import maximum
from kineta.memory import Integers, Reals

#: Compliance of a contact, relative to its Delassus operator; that to which it falls, by a factor where a repetition leaves
#: more than a part of the change of the one before: forces that are not unique wander at the pace of the compliance.
COMPLIANCE, LEAST_COMPLIANCE, STIFFER, SLOW = 1e-4, 1e-7, 0.1, 0.25
#: Repetitions after which forces that change as in the one before, but for a part, wander: they go on until a contact opens.
PATIENCE, STEADY = 6, 0.02
#: Repetitions of the forces, which converge linearly, more slowly with more friction; and Newton steps for each.
REPETITIONS = 100


@kernel
def kinetic_energy(problem: ContactProblem, work: IslandWork, v: Reals) -> float:
    """The kinetic energy of v - free, and its gradient."""
    energy, M, speeds = 0.0, work.inertia, problem.block_speeds
    for k in range(work.blocks):
        b = work.own[k]
        first, at = problem.block_start[b], problem.inertia_start[b]
        n = problem.block_start[b + 1] - first
        for i in range(n):
            s = 0.0
            for j in range(n):
                s += M[at + i * n + j] * (v[speeds[first + j]] - work.free[speeds[first + j]])
            work.gradient[speeds[first + i]] = s
            energy += 0.5 * s * (v[speeds[first + i]] - work.free[speeds[first + i]])
    return energy


@kernel
def collect_island(problem: ContactProblem, work: IslandWork, active: Integers, count: int, v: Reals) -> None:
    """The blocks of the island of the *active* contacts; v become the free speeds."""
    n, blocks = 0, 0
    for a in range(count):
        for j in range(problem.coupled_start[active[a]], problem.coupled_start[active[a] + 1]):
            b, known = problem.coupled_blocks[j], False
            for k in range(blocks):
                known = known or work.own[k] == b
            if not known:
                work.own[blocks] = b
                blocks += 1
                first = problem.block_start[b]
                size = problem.block_start[b + 1] - first
                for i in range(size):
                    speed = problem.block_speeds[first + i]
                    work.place[speed] = n
                    work.massless[n] = 1 if work.inertia[problem.inertia_start[b] + size * size + i] > 0.0 else 0
                    work.free[speed] = v[speed]
                    n += 1
    work.blocks, work.n = blocks, n


@kernel
def assemble_gradient(
    problem: ContactProblem, terms: ContactTerms, work: IslandWork, active: Integers, count: int
) -> None:
    """The negative gradient of the energy as the *slope* (n,)."""
    d, place = work.slope, work.place
    for k in range(work.blocks):
        for i in range(problem.block_start[work.own[k]], problem.block_start[work.own[k] + 1]):
            d[place[problem.block_speeds[i]]] = -work.gradient[problem.block_speeds[i]]
    for a in range(count):
        c = active[a]
        start = problem.row_start[c]
        size = problem.row_start[c + 1] - start
        speeds, W, x = problem.row_speeds[start:], terms.jacobian[3 * start :], work.projected[3 * c :]
        for j in range(size):
            d[place[speeds[j]]] += W[j] * x[0] + W[size + j] * x[1] + W[2 * size + j] * x[2]


@kernel
def assemble_hessian(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
) -> None:
    """The factors of the Hessian (n, n) of the energy."""
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
    work.factored = 1


@kernel
def newton_step(work: IslandWork) -> float:
    """The Newton *step* (n,) with the factors so far; the largest change of a speed in it."""
    most = 0.0
    for i in range(work.n):
        work.step[i] = work.slope[i]
    substitute(work.hessian, work.n, work.step)
    for i in range(work.n):
        if work.massless[i] == 0:
            most = maximum(most, fabs(work.step[i]))
    return most


@kernel
def line_search(
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
    for i in range(work.n):
        if work.massless[i] == 0:
            slope -= work.slope[i] * work.step[i]
    part, less, now, own = 1.0, False, 0.0, 0.0
    while part > SHORTEST and not less:
        for k in range(work.blocks):
            for i in range(problem.block_start[work.own[k]], problem.block_start[work.own[k] + 1]):
                speed = problem.block_speeds[i]
                work.next[speed] = v[speed] + part * work.step[work.place[speed]]
        now = kinetic_energy(problem, work, work.next)
        own = contact_energy(problem, terms, solution, work, active, count, work.next)
        less = now + own <= work.energy + DECREASE * part * slope + tolerances.RESIDUAL_TOLERANCE * fabs(work.energy)
        part *= 1.0 if less else 0.5
    if less:
        work.energy = now + own
    return part if less else 0.0


@kernel
def minimise(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
    v: Reals,
    tolerance: float,
) -> int:
    """The speeds v of least energy for the forces so far; the number of Newton steps, negative where one of them does not
    decrease the energy, which is not made: it is a failure unless it is so small that the energy is at its rounding error.

    Factors serve on while steps with them converge fast.
    """
    steps, done, failed, part, last = 0, False, False, 0.0, 0.0
    while steps < STEPS and not (done or failed):
        if part <= 0.0:
            now = kinetic_energy(problem, work, v)
            own = contact_energy(problem, terms, solution, work, active, count, v)
            work.energy = now + own
        assemble_gradient(problem, terms, work, active, count)
        fresh = work.factored == 0
        if fresh:
            assemble_hessian(problem, terms, solution, work, active, count)
        most = newton_step(work)
        part = line_search(problem, terms, solution, work, active, count, v)
        failed = fresh and part <= 0.0 and not most <= ACCEPTED * tolerance
        for k in range(work.blocks):
            for i in range(problem.block_start[work.own[k]], problem.block_start[work.own[k] + 1]):
                if part > 0.0:
                    v[problem.block_speeds[i]] = work.next[problem.block_speeds[i]]
        if part < 1.0 or (steps > 0 and most > CHORD * last):
            work.factored = 0
        last = most
        steps += 1
        done = most * part <= tolerance and (fresh or part > 0.0)
    return -steps if failed else steps


@kernel
def way_to_opening(work: IslandWork, active: Integers, count: int) -> float:
    """How many times forces have to change as in the last repetition until a contact opens; zero where none would."""
    most = 0.0
    for a in range(count):
        x = work.projected[3 * active[a]]
        fall = work.force[3 * active[a]] - x
        if x > 0.0 and fall > 0.0:
            most = x / fall if most <= 0.0 else min(most, x / fall)
    return most


@kernel
def solve_island(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
    v: Reals,
    tolerance: float,
    repetitions: int,
    compliant: float,
) -> int:
    """Speeds v after the impulses of the *active* contacts of an island, from speeds after those so far, by at most so many
    *repetitions* of the forces, the first with the relative compliance *compliant*; the number of Newton steps, negative
    without a solution.
    """
    collect_island(problem, work, active, count, v)
    work.compliance, work.factored = compliant, 0
    for a in range(count):
        c = active[a]
        r = solution.impulse[3 * c :]
        for i in range(3):
            work.force[3 * c + i] = r[i]
            work.impulse[3 * c + i] = r[i]
        push(problem, solution, c, -r[0], -r[1], -r[2], work.free)
        work.lift[c] = 0.0
    over_impulses = 3 * count < work.n
    if over_impulses:
        couple_contacts(problem, terms, solution, work, active, count)
    lift_normals(problem, terms, solution, work, active, count, v)
    steps, more, turns, moved, failed = 0, 0, 0, 2.0 * tolerance, False
    while turns < repetitions and moved > tolerance and not failed:
        before = moved
        if over_impulses:
            more = minimise_over_impulses(problem, terms, solution, work, active, count, v, tolerance)
        else:
            more = minimise(problem, terms, solution, work, active, count, v, tolerance)
        lifted = lift_normals(problem, terms, solution, work, active, count, v)
        moved = lifted
        for a in range(count):
            R = compliance(solution, work, active[a])
            for i in range(3):
                k = 3 * active[a] + i
                moved = maximum(moved, R * fabs(work.projected[k] - work.force[k]))
        steady = turns % PATIENCE == PATIENCE - 1 and fabs(moved - before) < STEADY * before
        wanders = steady and moved > ACCEPTED * tolerance
        part = way_to_opening(work, active, count) if wanders else 0.0
        for a in range(count):
            for i in range(3):
                k = 3 * active[a] + i
                work.force[k] = work.projected[k] + part * (work.projected[k] - work.force[k])
        failed = more < 0
        steps += -more if failed else more
        if turns > 0 and moved > SLOW * before and lifted < SLOW * moved and work.compliance > LEAST_COMPLIANCE:
            work.compliance *= STIFFER
            work.factored = 0
        turns += 1
    for a in range(count):
        for i in range(3):
            solution.impulse[3 * active[a] + i] = work.force[3 * active[a] + i]
    return steps if moved <= ACCEPTED * tolerance and not failed else -steps
