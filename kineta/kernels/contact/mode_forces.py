"""Contact forces and accelerations in a mode: closed contacts stick, or slip with the friction of their normal force.

Rows of one island satisfy S x + b = 0. They may depend on each other, and whether they do is not decided: with the forces c of
the last transition, the proximal iteration (S + R) x = R c - b, repeated about its own result, finds forces near c that keep
all rows; friction of c that moves nothing grows and falls with its normal force. R is a part of the diagonal of the Delassus
operator, row by row, so that bodies of unlike masses keep their digits.
"""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import (
    ContactMode,
    ContactMotion,
    ContactProblem,
    ContactSolution,
    ContactTerms,
    ModeWork,
)
from kineta.kernels.contact.block_inertia import (
    accelerations,
    factor_blocks,
    push,
    rate_along,
    rates_along,
    respond,
    substitute,
)
from kineta.kernels.contact.friction_cone import kinetic_friction, static_friction
from kineta.kernels.contact.islands import gather_island, label_islands
from kineta.kernels.contact.kept_equations import is_noted, keep_forces, note_loads, note_rows, recall_forces
from kineta.kernels.contact.pivoting import eliminate_column
from kineta.kernels.contact.proximal_iteration import (
    is_undetermined,
    number_sharing,
    share_resultant,
    solve_by_speeds,
    solve_rows,
    square_rows,
)
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.vectors import copy
from kineta.memory import Integers, Reals

#: Modes of a contact; GLIDING is slip without friction.
OPEN, STICKING, SLIPPING, GLIDING = range(4)
#: Slip in space at which the direction of the mode and that of the velocity have equal parts; and of slip that begins [m/s].
REMEMBERED_SLIP, BEGINNING_SLIP = 1e-9, 1e-5
#: Speed [m/s] of beginning slip above which it sets its own direction; where rows nearly depend on each other it starts slower.
SEEN = 1e-6
#: Pivot, relative to the diagonal, of a row that nearly depends on others.
WEAK = 1e-3
#: Least friction, relative to the largest of an island, that counts in shares.
LEAST_SHARE = 1e-4
#: Number of times that undetermined friction is shared anew by the normal forces found.
EASINGS = 4
#: Largest number of turns in which loads of friction are levelled, and the part of the room left that they may miss of the least.
LEVELLINGS, MISSED = 100, 1e-2
#: Least part of its weight that a contact keeps in a turn, and the reciprocal of the most.
LEAST_LOAD = 0.1
#: R of the friction of joints with undetermined forces, relative to that of contacts; and the least friction of a joint, relative
#: to the largest of contacts, that counts in shares: below it its share is less than what forces may lack.
JOINT_EASE, LEAST_JOINT = 1e3, 1e-7


@kernel
def slip_direction(motion: ContactMotion, c: int, toward: Reals) -> None:
    """The direction *toward* (2,) of the slip of a contact: along a line that of the mode, so that it does not jump where a step
    passes rest; in space that of the velocity, near rest that in which it began; with smooth friction the part of its unit vector
    that friction has of its size.
    """
    problem, terms, contacts = motion.problem, motion.terms, motion.contacts
    scale = terms.law[4 * c + 3]
    u, w = contacts.direction[2 * c], contacts.direction[2 * c + 1]
    if problem.tangents[c] > 1 or scale > 0.0:
        slip_u, slip_w, trace = terms.velocity[3 * c + 1], terms.velocity[3 * c + 2], 0.0
        if contacts.begins[c] != 0:
            square = slip_u * slip_u + slip_w * slip_w
            seen = square / (square + SEEN * SEEN)
            slip_u, slip_w, trace = seen * seen * slip_u, seen * seen * slip_w, BEGINNING_SLIP
        elif scale <= 0.0:
            trace = REMEMBERED_SLIP
        u, w = slip_u + trace * u, slip_w + trace * w
        size = sqrt(u * u + w * w + scale * scale) + tolerances.LEAST_DIVISOR
        u, w = u / size, w / size
    toward[0], toward[1] = u, w


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
def apply_force(motion: ContactMotion, c: int, i: int, force: float, v: Reals) -> None:
    """Add to v (speeds,) the change by a *force* along the row i of a contact, with the friction of a normal force that slips;
    its components along the rows are the local ones of the *solution*.
    """
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    contacts, work = motion.contacts, motion.work
    x = solution.local
    x[0], x[1], x[2] = 0.0, 0.0, 0.0
    x[i] = force
    if i == 0 and contacts.mode[c] == SLIPPING:
        friction = kinetic_friction(terms, c) * force
        x[1], x[2] = -friction * work.toward[2 * c], -friction * work.toward[2 * c + 1]
    push(problem, solution, c, x[0], x[1], x[2], v)


@kernel
def clear(problem: ContactProblem, c: int, v: Reals) -> None:
    """Zero for the speeds v in the rows of a contact."""
    for k in range(problem.row_start[c], problem.row_start[c + 1]):
        v[problem.row_speeds[k]] = 0.0


@kernel
def forces_of_island(
    motion: ContactMotion, active: Integers, count: int, bias: Reals, reference: Reals, a: Reals
) -> None:
    """The forces of the *active* contacts of an island near a *reference*, and the accelerations a (speeds,) under them, whose
    rows are to be W a + *bias* = 0; likewise impulses, and speeds for a.
    """
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    contacts, work = motion.contacts, motion.work
    x, rows, own, known = work.found, work.rows, 0, False
    n = independent_rows(contacts, solution, active, count, rows)
    if work.keeps:
        own = note_rows(motion, active, count, n, SLIPPING)
        known = is_noted(work, 0, own)
    if not known:
        assemble_matrix(motion, n)
        work.held, work.squared = False, False
    right_hand_side(motion, n, bias, a)
    speeds = place_speeds(problem, work, n)
    if work.keeps:
        last = note_loads(motion, active, count, n, reference, own)
        same = is_noted(work, own, last)
        known = known and same
    if known:
        recall_forces(work, active, count, n)
    else:
        share_forces(motion, active, count, n, speeds, reference)
    if work.keeps:
        keep_forces(work, active, count, n)
    if work.levels and work.ease[active[0]] > 0.0:
        level_loads(motion, active, count, n, speeds, reference)
    for j in range(n):
        c = rows[2 * j]
        apply_force(motion, c, rows[2 * j + 1], x[j], a)
        for i in range(3):
            work.force[3 * c + i] += solution.local[i]
    if work.ease[active[0]] > 0.0:
        right_hand_side(motion, n, bias, a)
        if work.keeps:
            hold_kept_rows(motion, n, a)
        else:
            hold_rows(motion, n, a)
    for j in range(n):
        hold_speed(problem, terms, rows[2 * j], rows[2 * j + 1], bias, a)


@kernel
def share_forces(motion: ContactMotion, active: Integers, count: int, n: int, speeds: int, reference: Reals) -> None:
    """The forces *found* (n,) of an island, whose equations are assembled, near a *reference*; undetermined friction is shared
    by what friction the contacts can bear.
    """
    work = motion.work
    for k in range(count):
        work.ease[active[k]] = 0.0
    work.crowded = n * n >= 2 * n * speeds + speeds * speeds
    solve_by_rows(motion, n, speeds, reference)
    eased, shared = work.crowded or is_undetermined(work, n), number_sharing(work, n) > 0
    if eased and shared:
        gather_resultant(motion, active, count, n, speeds)
    for _ in range(EASINGS):
        if eased:
            changed = ease_tangents(motion, active, count, n)
            eased = changed and shared
        if eased:
            solve_anew(motion, n, speeds, reference)


@kernel
def hold_rows(motion: ContactMotion, n: int, a: Reals) -> None:
    """Make the n rows of an island, whose equations are assembled, exact in a; their matrix becomes its factors."""
    factor_held_rows(motion, motion.work.matrix, n)
    move_onto_rows(motion, motion.work.matrix, n, a)


@kernel
def hold_kept_rows(motion: ContactMotion, n: int, a: Reals) -> None:
    """Make the n rows of an island exact in a, as :func:`hold_rows`, where their matrix is kept, with its factors behind it."""
    work = motion.work
    factors = work.matrix[2 * n * n :]
    if not work.held:
        copy(work.matrix, factors, n * n)
        factor_held_rows(motion, factors, n)
        work.held = True
    move_onto_rows(motion, factors, n, a)


@kernel
def factor_held_rows(motion: ContactMotion, S: Reals, n: int) -> None:
    """Factors of the matrix S of n rows, in place. Rows that nearly depend on others are left out: what they miss is of second
    order, and would change accelerations by far. Rates and projections leave out the same.
    """
    solution, rows = motion.solution, motion.work.rows
    for k in range(n):
        most, pivot = solution.delassus[9 * rows[2 * k] + 4 * rows[2 * k + 1]], S[k * n + k]
        S[k * n + k] = 1.0 / pivot if pivot > WEAK * most else 0.0
        eliminate_column(S, n, k)


@kernel
def move_onto_rows(motion: ContactMotion, factors: Reals, n: int, a: Reals) -> None:
    """Change a by forces along n rows, with *factors* of their matrix, that take away what they miss."""
    x, rows = motion.work.right, motion.work.rows
    substitute(factors, n, x)
    for j in range(n):
        apply_force(motion, rows[2 * j], rows[2 * j + 1], x[j], a)


@kernel
def hold_speed(problem: ContactProblem, terms: ContactTerms, c: int, i: int, bias: Reals, a: Reals) -> None:
    """Make the row i of a contact exact in a where it is that of one speed alone: what rests does not creep by rounding."""
    start, n = problem.row_start[c], problem.row_start[c + 1] - problem.row_start[c]
    only, number = 0, 0
    for k in range(n):
        if terms.jacobian[3 * start + i * n + k] != 0.0:
            only = k
            number += 1
    if number == 1:
        a[problem.row_speeds[start + only]] = -bias[3 * c + i] / terms.jacobian[3 * start + i * n + only]


@kernel
def assemble_rows(motion: ContactMotion, n: int, bias: Reals, a: Reals) -> None:
    """The equations of an island, without R: the matrix S (n, n) and the right-hand side -b (n,)."""
    assemble_matrix(motion, n)
    right_hand_side(motion, n, bias, a)


@kernel
def assemble_matrix(motion: ContactMotion, n: int) -> None:
    """The matrix S (n, n) of the equations of an island, without R."""
    problem, terms, solution, work = motion.problem, motion.terms, motion.solution, motion.work
    S, rows = work.matrix, work.rows
    for j in range(n):
        clear(problem, rows[2 * j], work.speeds)
    for j in range(n):
        c, i = rows[2 * j], rows[2 * j + 1]
        apply_force(motion, c, i, 1.0, work.speeds)
        for k in range(n):
            if k == 0 or rows[2 * k] != rows[2 * k - 2]:
                rates_along(problem, terms, rows[2 * k], work.speeds, solution.local)
            S[k * n + j] = solution.local[rows[2 * k + 1]]
        clear(problem, c, work.speeds)


@kernel
def right_hand_side(motion: ContactMotion, n: int, bias: Reals, a: Reals) -> None:
    """The right-hand side -b (n,) of the equations of an island from accelerations a."""
    problem, terms, work = motion.problem, motion.terms, motion.work
    for j in range(n):
        c, i = work.rows[2 * j], work.rows[2 * j + 1]
        work.right[j] = -(rate_along(problem, terms, c, i, a) + bias[3 * c + i])


@kernel
def place_speeds(problem: ContactProblem, work: ModeWork, n: int) -> int:
    """Number the speeds that n rows have; their number."""
    speeds = 0
    for turn in range(2):
        for j in range(n):
            c = work.rows[2 * j]
            if j == 0 or c != work.rows[2 * j - 2]:
                for k in range(problem.row_start[c], problem.row_start[c + 1]):
                    if turn == 0:
                        work.place[problem.row_speeds[k]] = -1
                    elif work.place[problem.row_speeds[k]] < 0:
                        work.place[problem.row_speeds[k]] = speeds
                        speeds += 1
    return speeds


@kernel
def gather_rows(motion: ContactMotion, n: int, speeds: int) -> None:
    """The factors W (n, speeds) of S = W Y', by rows, and behind it Y, the changes of the speeds by unit forces."""
    problem, terms, work = motion.problem, motion.terms, motion.work
    W = work.matrix[n * n :]
    Y = W[n * speeds :]
    for k in range(2 * n * speeds):
        W[k] = 0.0
    for j in range(n):
        c, i = work.rows[2 * j], work.rows[2 * j + 1]
        start = problem.row_start[c]
        size = problem.row_start[c + 1] - start
        clear(problem, c, work.speeds)
        apply_force(motion, c, i, 1.0, work.speeds)
        for k in range(size):
            speed = problem.row_speeds[start + k]
            W[j * speeds + work.place[speed]] = terms.jacobian[3 * start + i * size + k]
            Y[j * speeds + work.place[speed]] = work.speeds[speed]


@kernel
def solve_by_rows(motion: ContactMotion, n: int, speeds: int, reference: Reals) -> None:
    """The forces *found* (n,) of an island, by its speeds where it is crowded, and they hold."""
    work = motion.work
    if work.crowded:
        gather_rows(motion, n, speeds)
        work.crowded = solve_by_speeds(motion.solution, work, n, speeds, reference)
    if not work.crowded:
        solve_rows(motion.solution, work, n, reference)


@kernel
def solve_anew(motion: ContactMotion, n: int, speeds: int, reference: Reals) -> None:
    """The forces *found* (n,) of an island whose R has changed: of the resultant that they had, where its rows are gathered."""
    work = motion.work
    if work.shares:
        work.shares = share_resultant(motion.solution, work, n, speeds, reference)
    if not work.shares:
        solve_by_rows(motion, n, speeds, reference)


@kernel
def level_loads(motion: ContactMotion, active: Integers, count: int, n: int, speeds: int, reference: Reals) -> None:
    """Level the loads of an island of undetermined forces *found* (n,), whose *reference* is zero: in each turn the resultant of
    all forces stays as it is.
    """
    work, turn = motion.work, 0
    gather_resultant(motion, active, count, n, speeds)
    weigh_loads(motion, active, count, n, False)
    while turn < LEVELLINGS and work.least <= 1.0 and work.load - work.least > MISSED * fabs(1.0 - work.load):
        turn += 1
        ease_tangents(motion, active, count, n)
        solve_anew(motion, n, speeds, reference)
        weigh_loads(motion, active, count, n, True)


@kernel
def gather_resultant(motion: ContactMotion, active: Integers, count: int, n: int, speeds: int) -> None:
    """The rows W (n, speeds) of an island, their ``squares``, and W' x (speeds,) of its forces *found*, for
    :func:`share_resultant`, where there is room for them, and nothing slips with friction of its normal force.
    """
    problem, terms, work = motion.problem, motion.terms, motion.work
    room = (1 + number_sharing(work, n)) * (speeds * (speeds + 1) // 2) <= work.n_squares
    work.shares = room and n * speeds + speeds * (speeds + 2) <= n * n
    for k in range(count):
        slips = motion.contacts.mode[active[k]] == SLIPPING and problem.has_normal[active[k]] != 0
        work.shares = work.shares and not slips
    if not work.shares:
        return
    W = work.matrix[n * n :]
    resultant = W[(n + speeds) * speeds :]
    for k in range(n * speeds):
        W[k] = 0.0
    for p in range(speeds):
        resultant[p] = 0.0
    for j in range(n):
        c, i = work.rows[2 * j], work.rows[2 * j + 1]
        start = problem.row_start[c]
        size = problem.row_start[c + 1] - start
        for k in range(size):
            p = work.place[problem.row_speeds[start + k]]
            W[j * speeds + p] = terms.jacobian[3 * start + i * size + k]
            resultant[p] += W[j * speeds + p] * work.found[j]
    if not work.squared:
        square_rows(motion.solution, work, n, speeds)


@kernel
def weigh_loads(motion: ContactMotion, active: Integers, count: int, n: int, again: bool) -> None:
    """The largest ``load`` of contacts at rest, and the ``least`` that the largest has, however loads are shared: least squares
    are below those of all loads, so that their mean bounds it from below. Weights for the next turn, which may come *again*.
    """
    problem, terms, contacts, work = motion.problem, motion.terms, motion.contacts, motion.work
    pressed, load, loads, bounds = work.centre, work.missed, 0.0, 0.0
    work.load = 0.0
    for k in range(count):
        c = active[k]
        pressed[c], load[c] = 1.0 if problem.has_normal[c] == 0 else 0.0, 0.0
    for j in range(n):
        c, x = work.rows[2 * j], work.found[j]
        if work.rows[2 * j + 1] == 0:
            pressed[c] = max(x, 0.0)
        else:
            load[c] += x * x
    for k in range(count):
        c = active[k]
        if contacts.mode[c] == STICKING:
            bound = static_friction(terms, c) * pressed[c]
            loads += work.ease[c] * load[c]
            bounds += work.ease[c] * bound * bound
            load[c] = sqrt(load[c]) / max(bound, tolerances.LEAST_DIVISOR)
            work.load = max(work.load, load[c])
    work.least = sqrt(loads / max(bounds, tolerances.LEAST_DIVISOR))
    if work.load > 0.0:
        turn_weights(motion, active, count, load, again)


@kernel
def turn_weights(motion: ContactMotion, active: Integers, count: int, load: Reals, again: bool) -> None:
    """Multiply weights of contacts at rest by their part of the largest *load* (Lawson's iteration), and where that comes
    *again*, go on from there along what two turns changed, so that the change becomes least (Anderson's acceleration).
    """
    contacts, work, m = motion.contacts, motion.work, motion.problem.contacts
    weight, last, change = work.weight, work.weight[m:], work.weight[2 * m :]
    along, square = 0.0, 0.0
    for k in range(count):
        c = active[k]
        if contacts.mode[c] == STICKING:
            now = weight[c] * (max(load[c] / work.load, LEAST_LOAD) - 1.0)
            along += (now - change[c]) * now
            square += (now - change[c]) * (now - change[c])
    part = along / square if again and square > 0.0 else 0.0
    for k in range(count):
        c = active[k]
        if contacts.mode[c] == STICKING:
            now, own = weight[c], weight[c] * max(load[c] / work.load, LEAST_LOAD)
            beyond = own - part * (own - last[c])
            weight[c] = min(max(beyond, LEAST_LOAD * now), now / LEAST_LOAD)
            last[c], change[c] = own, own - now


@kernel
def ease_tangents(motion: ContactMotion, active: Integers, count: int, n: int) -> bool:
    """R of the tangents by what friction their contacts can bear, so that undetermined friction is shared by it: all contacts
    then come to their bounds together; joints leave their load to what is pressed, the more the less they can bear, so that a
    limit that falls to zero is not met on its way. Whether it changes by more than the digits that such friction has.
    """
    problem, terms, solution, work = motion.problem, motion.terms, motion.solution, motion.work
    most, loosest, changed, bears = 0.0, 0.0, False, work.centre
    for k in range(count):
        c = active[k]
        bears[c] = 0.0
        loosest = max(loosest, max(solution.delassus[9 * c + 4], solution.delassus[9 * c + 8]))
    for j in range(n):
        c = work.rows[2 * j]
        if work.rows[2 * j + 1] == 0:
            bears[c] = static_friction(terms, c) * work.found[j]
            most = max(most, bears[c])
    for k in range(count):
        c = active[k]
        ease = loosest
        if problem.has_normal[c] == 0:
            bound, ease = static_friction(terms, c), JOINT_EASE * loosest
            if most > bound:
                ease *= most / max(bound, LEAST_JOINT * most)
        elif most > 0.0:
            ease = loosest * most / max(bears[c], LEAST_SHARE * most)
        ease *= work.weight[c]
        changed = changed or fabs(ease - work.ease[c]) > tolerances.FORCE_TOLERANCE * ease
        work.ease[c] = ease
    return changed


@kernel
def rub(motion: ContactMotion, c: int, a: Reals) -> None:
    """Add the friction of a joint that slips to the accelerations a (speeds,): a force of its own size."""
    problem, terms, solution, work = motion.problem, motion.terms, motion.solution, motion.work
    friction = kinetic_friction(terms, c)
    u, w = -friction * work.toward[2 * c], -friction * work.toward[2 * c + 1]
    push(problem, solution, c, 0.0, u, w, a)
    work.force[3 * c + 1], work.force[3 * c + 2] = u, w


@kernel
def closed_accelerations(motion: ContactMotion, a: Reals) -> None:
    """Add the forces of all closed contacts, whose responses are known, to the accelerations a (speeds,) without them."""
    found = closed_contacts(motion)
    forces_of_active(motion, found, a)


@kernel
def forces_of_active(motion: ContactMotion, found: int, a: Reals) -> None:
    """Add the forces of the *found* active contacts to the accelerations a (speeds,) without them."""
    problem, terms, solution, contacts = motion.problem, motion.terms, motion.solution, motion.contacts
    for k in range(found):
        c = solution.active[k]
        if contacts.mode[c] == SLIPPING and problem.has_normal[c] == 0:
            rub(motion, c, a)
    forces_of_islands(motion, found, terms.bias, contacts.reference, a)


@kernel
def closed_contacts(motion: ContactMotion) -> int:
    """The closed contacts become the active ones, without force, with their directions of slip; their number."""
    problem, solution, contacts, work = motion.problem, motion.solution, motion.contacts, motion.work
    found = 0
    for c in range(problem.contacts):
        for i in range(3):
            work.force[3 * c + i] = 0.0
        if contacts.mode[c] != OPEN:
            solution.active[found] = c
            found += 1
            slip_direction(motion, c, work.toward[2 * c :])
    return found


@kernel
def forces_of_islands(motion: ContactMotion, count: int, bias: Reals, reference: Reals, a: Reals) -> None:
    """The forces of all *count* active contacts, as :func:`forces_of_island`."""
    problem, solution = motion.problem, motion.solution
    first = 0
    label_islands(problem, solution.active, count, solution.label)
    while first < count:
        own = solution.active[first:]
        some = gather_island(problem, own, count - first, solution.label)
        forces_of_island(motion, own, some, bias, reference, a)
        first += some


@kernel
def mode_accelerations(motion: ContactMotion, a: Reals) -> None:
    """The accelerations and multipliers a (speeds,) in a mode, and the forces of all contacts. The inertia is replaced by its
    factors.
    """
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    contacts, work = motion.contacts, motion.work
    factor_blocks(problem, terms.inertia)
    accelerations(problem, terms.inertia, terms.force, work.speeds, a)
    for c in range(problem.contacts):
        if contacts.mode[c] != OPEN:
            respond(problem, terms, solution, c, work.speeds)
    closed_accelerations(motion, a)
