"""Contact forces and accelerations in a mode: closed contacts stick, or slip with the friction of their normal force.

Rows of one island satisfy S x + b = 0. They may depend on each other, and whether they do is not decided: with the forces c of
the last transition, the proximal iteration (S + R) x = R c - b, repeated about its own result, finds forces near c that keep
all rows.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.kernels.contact.block_inertia import accelerations, along, factor_blocks, push, respond
from kineta.kernels.contact.islands import gather_island, label_islands
from kineta.kernels.contact.pivoting import back_substitute, eliminate
from kineta.kernels.contact.problem import ContactProblem, ContactSolution, ContactTerms
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.vectors import maximum
from kineta.memory import Integers, Reals, Record

#: Modes of a contact.
OPEN, STICKING, SLIPPING = 0, 1, 2
#: Diagonal of R, relative to the largest of S.
PROXIMITY = 1e-6
#: Number of iterations.
ITERATIONS = 3
#: Slip at which the direction of the mode and that of the velocity have equal parts [m/s].
REMEMBERED_SLIP = 1e-6


class ContactMode(Record):
    """The discrete state of all contacts.

    mode : (contacts,) open, sticking or slipping; candidate : (contacts,) the mode by the velocities alone
    direction : (2 contacts,) directions of slip as it began, along u and w
    reference : (3 contacts,) forces of the last transition
    """

    mode: Integers
    candidate: Integers
    direction: Reals
    reference: Reals


class ModeWork(Record):
    """Working memory of the forces of a mode.

    force : (3 contacts,) forces along the rows; toward : (2 contacts,) directions of slip
    speeds : (2 speeds,); rows : (6 contacts,) contact and row of each equation; matrix : (9 contacts^2,)
    right, found, centre : (3 contacts,); order : (6 contacts,)
    """

    force: Reals
    toward: Reals
    speeds: Reals
    rows: Integers
    matrix: Reals
    right: Reals
    found: Reals
    centre: Reals
    order: Integers


@kernel
def slip_direction(terms: ContactTerms, contacts: ContactMode, c: int, toward: Reals) -> None:
    """The direction *toward* (2,) of the slip of a contact, near rest that in which it began."""
    u = terms.velocity[3 * c + 1] + REMEMBERED_SLIP * contacts.direction[2 * c]
    w = terms.velocity[3 * c + 2] + REMEMBERED_SLIP * contacts.direction[2 * c + 1]
    size = sqrt(u * u + w * w) + tolerances.LEAST_DIVISOR
    toward[0], toward[1] = u / size, w / size


@kernel
def independent_rows(
    contacts: ContactMode, solution: ContactSolution, active: Integers, count: int, rows: Integers
) -> int:
    """The rows with forces of their own, contact and number: normals, and tangents of what sticks; how many there are."""
    n = 0
    for a in range(count):
        c = active[a]
        for i in range(3):
            if solution.delassus[9 * c + 4 * i] > 0.0 and (i == 0 or contacts.mode[c] == STICKING):
                rows[2 * n], rows[2 * n + 1] = c, i
                n += 1
    return n


@kernel
def apply_force(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    contacts: ContactMode,
    work: ModeWork,
    c: int,
    i: int,
    force: float,
    v: Reals,
) -> None:
    """Add to v (speeds,) the change by a *force* along the row i of a contact, with the friction of a normal force that slips;
    its components along the rows are the local ones of the *solution*.
    """
    start = problem.row_start[c]
    n, x = problem.row_start[c + 1] - start, solution.local
    x[0], x[1], x[2] = 0.0, 0.0, 0.0
    x[i] = force
    if i == 0 and contacts.mode[c] == SLIPPING:
        x[1], x[2] = -terms.law[3 * c] * force * work.toward[2 * c], -terms.law[3 * c] * force * work.toward[2 * c + 1]
    push(solution.response[3 * start :], problem.row_speeds[start:], n, x[0], x[1], x[2], v)


@kernel
def rate_along(problem: ContactProblem, terms: ContactTerms, c: int, i: int, v: Reals) -> float:
    """The rate of v along the row i of a contact."""
    start = problem.row_start[c]
    n = problem.row_start[c + 1] - start
    return along(terms.jacobian[3 * start + i * n :], problem.row_speeds[start:], n, v)


@kernel
def forces_of_island(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    contacts: ContactMode,
    work: ModeWork,
    active: Integers,
    count: int,
    bias: Reals,
    reference: Reals,
    a: Reals,
) -> None:
    """The forces of the *active* contacts of an island near a *reference*, and the accelerations a (speeds,) under them, whose
    rows are to be W a + *bias* = 0. Or impulses and speeds.
    """
    S, b, x, centre, rows = work.matrix, work.right, work.found, work.centre, work.rows
    n = independent_rows(contacts, solution, active, count, rows)
    largest = 0.0
    for j in range(n):
        for k in range(problem.speeds):
            work.speeds[k] = 0.0
        apply_force(problem, terms, solution, contacts, work, rows[2 * j], rows[2 * j + 1], 1.0, work.speeds)
        for k in range(n):
            S[k * n + j] = rate_along(problem, terms, rows[2 * k], rows[2 * k + 1], work.speeds)
        largest = maximum(largest, fabs(S[j * n + j]))
    proximity = PROXIMITY * largest
    for j in range(n):
        c, i = rows[2 * j], rows[2 * j + 1]
        S[j * n + j] += proximity
        b[j] = -(rate_along(problem, terms, c, i, a) + bias[3 * c + i])
        centre[j] = reference[3 * c + i]
    rank = eliminate(S, n, work.order, 0.0)
    for _ in range(ITERATIONS):
        for j in range(n):
            b[j] += proximity * centre[j]
        back_substitute(S, n, work.order, rank, b, x)
        for j in range(n):
            b[j] -= proximity * centre[j]
            centre[j] = x[j]
    for j in range(n):
        c = rows[2 * j]
        apply_force(problem, terms, solution, contacts, work, c, rows[2 * j + 1], x[j], a)
        for i in range(3):
            work.force[3 * c + i] += solution.local[i]


@kernel
def rub(
    problem: ContactProblem, terms: ContactTerms, solution: ContactSolution, work: ModeWork, c: int, a: Reals
) -> None:
    """Add the friction of a joint that slips to the accelerations a (speeds,): a force of its own size."""
    start = problem.row_start[c]
    u, w = -terms.law[3 * c] * work.toward[2 * c], -terms.law[3 * c] * work.toward[2 * c + 1]
    n = problem.row_start[c + 1] - start
    push(solution.response[3 * start :], problem.row_speeds[start:], n, 0.0, u, w, a)
    work.force[3 * c + 1], work.force[3 * c + 2] = u, w


@kernel
def closed_accelerations(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    contacts: ContactMode,
    work: ModeWork,
    a: Reals,
) -> None:
    """Add the forces of all closed contacts, whose responses are known, to the accelerations a (speeds,) without them."""
    found = closed_contacts(problem, terms, solution, contacts, work)
    for k in range(found):
        if contacts.mode[solution.active[k]] == SLIPPING and solution.delassus[9 * solution.active[k]] <= 0.0:
            rub(problem, terms, solution, work, solution.active[k], a)
    forces_of_islands(problem, terms, solution, contacts, work, found, terms.bias, contacts.reference, a)


@kernel
def stop_closed(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    contacts: ContactMode,
    work: ModeWork,
    v: Reals,
) -> None:
    """Speeds v (speeds,) without velocity along the rows of closed contacts, whose responses are known: after impacts that are
    the last of infinitely many.
    """
    found = closed_contacts(problem, terms, solution, contacts, work)
    for c in range(3 * problem.contacts):
        solution.target[c] = 0.0
    forces_of_islands(problem, terms, solution, contacts, work, found, solution.target, solution.target, v)


@kernel
def closed_contacts(
    problem: ContactProblem, terms: ContactTerms, solution: ContactSolution, contacts: ContactMode, work: ModeWork
) -> int:
    """The closed contacts become the active ones, without force, with their directions of slip; their number."""
    found = 0
    for c in range(problem.contacts):
        for i in range(3):
            work.force[3 * c + i] = 0.0
        if contacts.mode[c] != OPEN:
            solution.active[found] = c
            found += 1
            slip_direction(terms, contacts, c, work.toward[2 * c :])
    return found


@kernel
def forces_of_islands(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    contacts: ContactMode,
    work: ModeWork,
    count: int,
    bias: Reals,
    reference: Reals,
    a: Reals,
) -> None:
    """The forces of all *count* active contacts, as :func:`forces_of_island`."""
    first = 0
    label_islands(problem, solution.active, count, solution.label)
    while first < count:
        own = solution.active[first:]
        some = gather_island(problem, own, count - first, solution.label)
        forces_of_island(problem, terms, solution, contacts, work, own, some, bias, reference, a)
        first += some


@kernel
def mode_accelerations(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    contacts: ContactMode,
    work: ModeWork,
    a: Reals,
) -> None:
    """The accelerations and multipliers a (speeds,) in a mode, and the forces of all contacts. The inertia is replaced by its
    factors.
    """
    factor_blocks(problem, terms.inertia)
    accelerations(problem, terms.inertia, terms.force, work.speeds, a)
    for c in range(problem.contacts):
        if contacts.mode[c] != OPEN:
            respond(problem, terms, solution, c, work.speeds)
    closed_accelerations(problem, terms, solution, contacts, work, a)
