"""Impacts: impulses of all contacts near, by Newton's or Poisson's law of restitution, with Coulomb's law for impulses.

Newton's law: where a contact closes with the normal velocity -v, it leaves with at least e v. Poisson's law: the normal impulse
while contacts open is at least e times that while they closed. Both are complementarity problems; where one of them would gain
energy, as Newton's law with friction may, restitution is reduced until it does not. Velocities are relative ones: what time
moves, as a belt, strikes as well.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import ContactProblem, ContactSolution, ContactTerms, IslandWork
from kineta.kernels.contact.alart_curnier import COMPLIANCE, SOFTEST, solve_laws
from kineta.kernels.contact.block_inertia import push, rate_along, velocity_by_time
from kineta.kernels.contact.friction_cone import slide_all
from kineta.kernels.contact.gauss_seidel import sweep
from kineta.kernels.contact.islands import gather_island, label_islands, move_forward
from kineta.kernels.language import fabs, kernel
from kineta.kernels.vectors import copy, maximum
from kineta.memory import Integers, Reals

#: Sweeps before Newton's method takes over.
SWEEPS = 200
#: Sweeps where Newton's method finds nothing.
SWEEPS_ALONE = 20_000
#: Multiple of the tolerance within which a result that still changes is accepted.
ACCEPTED = 1e3
#: Halvings of the restitution that gains no energy.
HALVINGS = 40
#: Change of a velocity in a sweep, in rounding errors of the terms of a velocity, at which impulses are found.
ROUNDED = 16.0


@kernel
def contacts_first(problem: ContactProblem, near: Integers, count: int) -> int:
    """Move contacts before friction of joints, in their order; their number. A joint has no impulse: its friction is finite."""
    found = 0
    for a in range(count):
        c = near[a]
        if problem.has_normal[c] != 0:
            move_forward(near, a, found)
            found += 1
    return found


@kernel
def begin_again(problem: ContactProblem, solution: ContactSolution, active: Integers, count: int, v: Reals) -> None:
    """No impulses of an island, and the speeds v without them."""
    for a in range(count):
        r = solution.impulse[3 * active[a] :]
        push(problem, solution, active[a], -r[0], -r[1], -r[2], v)
        for i in range(3):
            r[i] = 0.0


@kernel
def swept(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    active: Integers,
    count: int,
    v: Reals,
    tolerance: float,
    most: int,
) -> float:
    """The change of a velocity in the last sweep, of so many at most, until it is within the *tolerance*."""
    sweeps, change = 0, 2.0 * tolerance
    while sweeps < most and change > tolerance:
        change = sweep(problem, terms, solution, active, count, v)
        sweeps += 1
    return change


@kernel
def complement(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
    v: Reals,
    tolerance: float,
) -> bool:
    """Impulses of the island that satisfy the laws of its contacts, by sweeps, else by Newton's method, else by many sweeps;
    whether there are any. Newton's method has no form for least impulses, and may end at the rounding error of its energy.
    """
    bounded = False
    for a in range(count):
        bounded = bounded or solution.least[active[a]] > 0.0
    if not bounded:
        change = swept(problem, terms, solution, active, count, v, tolerance, SWEEPS)
        if not change > tolerance:
            return change <= tolerance
        tries, found = 0, False
        slide_all(terms, solution, active, count)
        while tries < 2 and not found:
            least = ACCEPTED * tolerance
            moved = solve_laws(problem, terms, solution, work, active, count, v, least, COMPLIANCE, SOFTEST, False)
            found = moved >= 0.0 and moved <= least
            if not found:
                begin_again(problem, solution, active, count, v)
            tries += 1
        if found:
            return True
    change = swept(problem, terms, solution, active, count, v, tolerance, SWEEPS_ALONE)
    return change <= ACCEPTED * tolerance


@kernel
def impulses_of_island(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
    share: float,
    slow: float,
    v: Reals,
    tolerance: float,
) -> bool:
    """The impulses of an island, from speeds before, and the speeds v after them, with this *share* of the restitution; whether
    there are any. What approaches no faster than *slow* does not rebound.
    """
    second = False
    for a in range(count):
        c = active[a]
        for k in range(problem.row_start[c], problem.row_start[c + 1]):
            v[problem.row_speeds[k]] = solution.before[problem.row_speeds[k]]
    for a in range(count):
        c = active[a]
        normal, e = terms.velocity[3 * c], share * terms.law[4 * c + 2]
        for i in range(3):
            solution.impulse[3 * c + i] = 0.0
            solution.target[3 * c + i] = velocity_by_time(problem, terms, solution, c, i)
        solution.least[c] = 0.0
        if problem.poisson[c] != 0:
            second = second or (e > 0.0 and normal < -slow)
        elif normal < -slow:
            solution.target[3 * c] += e * normal
    found = complement(problem, terms, solution, work, active, count, v, tolerance)
    if found and second:
        for a in range(count):
            c = active[a]
            for i in range(3):
                solution.compression[3 * c + i] = solution.impulse[3 * c + i]
                solution.impulse[3 * c + i] = 0.0
            if problem.poisson[c] != 0 and terms.velocity[3 * c] < -slow:
                solution.least[c] = share * terms.law[4 * c + 2] * solution.compression[3 * c]
        found = complement(problem, terms, solution, work, active, count, v, tolerance)
        for a in range(count):
            for i in range(3):
                solution.impulse[3 * active[a] + i] += solution.compression[3 * active[a] + i]
            solution.least[active[a]] = 0.0
    return found


@kernel
def gains_energy(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    active: Integers,
    count: int,
    v: Reals,
    tolerance: float,
) -> bool:
    """Whether the impulses of an island, which change the speeds before to v, work on the relative velocities by more than this
    part of the sizes of all they do.
    """
    work, size = 0.0, 0.0
    for a in range(count):
        c = active[a]
        for i in range(3):
            after = rate_along(problem, terms, c, i, v) + velocity_by_time(problem, terms, solution, c, i)
            work += 0.5 * solution.impulse[3 * c + i] * (terms.velocity[3 * c + i] + after)
            size += 0.5 * fabs(solution.impulse[3 * c + i]) * (fabs(terms.velocity[3 * c + i]) + fabs(after))
    return work > tolerance * size


@kernel
def strike_island(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
    slow: float,
    v: Reals,
    tolerance: float,
) -> bool:
    """The impulses of an island with as much restitution as gains no energy; whether there are any."""
    bounces = False
    for a in range(count):
        bounces = bounces or terms.law[4 * active[a] + 2] > 0.0
    found = impulses_of_island(problem, terms, solution, work, active, count, 1.0, slow, v, tolerance)
    if bounces and (
        not found or gains_energy(problem, terms, solution, active, count, v, tolerances.ROUNDING_TOLERANCE)
    ):
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            share = 0.5 * (low + high)
            held = impulses_of_island(problem, terms, solution, work, active, count, share, slow, v, tolerance)
            if not held or gains_energy(problem, terms, solution, active, count, v, tolerances.ROUNDING_TOLERANCE):
                high = share
            else:
                low = share
        found = impulses_of_island(problem, terms, solution, work, active, count, low, slow, v, tolerance)
    return found


@kernel
def largest_term(problem: ContactProblem, terms: ContactTerms, active: Integers, count: int, v: Reals) -> float:
    """The largest term of a velocity along a row of the *active* contacts, which rounds it."""
    most = 0.0
    for a in range(count):
        start = problem.row_start[active[a]]
        n = problem.row_start[active[a] + 1] - start
        for i in range(3):
            most = maximum(most, fabs(terms.velocity[3 * active[a] + i]))
            for k in range(n):
                most = maximum(most, fabs(terms.jacobian[3 * start + i * n + k] * v[problem.row_speeds[start + k]]))
    return most


@kernel
def impact(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    near: Integers,
    count: int,
    still: float,
    slow: float,
    v: Reals,
) -> int:
    """The speeds v after an impact of the contacts *near*, whose responses are known, and the impulses of all contacts.

    v are the speeds of the *terms*; the order of those near changes. An island is struck where a contact approaches faster than
    *still*. The number of struck islands, or -1 where one has no impulses that satisfy the laws.
    """
    struck, first, solved = 0, 0, True
    copy(v, solution.before, problem.speeds)
    for k in range(3 * problem.contacts):
        solution.impulse[k] = 0.0
    contacts = contacts_first(problem, near, count)
    label_islands(problem, near, contacts, solution.label)
    while first < contacts:
        own = near[first:]
        some = gather_island(problem, own, contacts - first, solution.label)
        fastest = 0.0
        for a in range(some):
            fastest = maximum(fastest, -terms.velocity[3 * own[a]])
        if fastest > still or fastest != fastest:
            struck += 1
            least = ROUNDED * tolerances.EPS * largest_term(problem, terms, own, some, v)
            found = strike_island(problem, terms, solution, work, own, some, slow, v, least)
            solved = solved and found
        first += some
    return struck if solved else -1
