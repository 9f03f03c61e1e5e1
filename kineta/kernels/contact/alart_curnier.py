"""Newton's method on the laws of contact of an island, as equations that have derivatives almost everywhere (Alart, Curnier).

With impulses x, velocities u = W v + target + R (x - c) and y = x - r u, Signorini's and Coulomb's laws are x = P(y), where P
takes the normal to the positive half-line, and the tangents to the disk of the radius mu P_n. R is a small compliance about
impulses c so far, with which undetermined impulses stay near those, and which disappears as c is repeated. Eliminating the change
of x from the linear equations leaves one of the speeds with the matrix M + W' H W, of H (3, 3) for each contact; where an island
has fewer impulses than speeds, one of the impulses with I + H S.
"""

from __future__ import annotations

from kineta.integration.contact_records import ContactProblem, ContactSolution, ContactTerms, IslandWork
from kineta.kernels.contact.block_inertia import factor, push, rates_along, substitute
from kineta.kernels.contact.island_equations import assemble_matrix, collect_island, compliance, couple_contacts
from kineta.kernels.contact.sparse_factors import assemble_sparse, factor_sparse, substitute_sparse
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.vectors import maximum
from kineta.memory import Integers, Reals

#: Compliance R relative to the Delassus operator of a contact; the factor by which it grows where Newton steps find no solution,
#: which the larger one makes more regular, and the largest.
COMPLIANCE, SOFTER, SOFTEST = 1e-4, 10.0, 1.0
#: The factor r relative to the reciprocal of the Delassus operator.
SCALE = 10.0
#: Newton steps before R grows, and with the largest; repetitions of c.
STEPS, LAST_STEPS, REPETITIONS = 20, 60, 40
#: The change of velocities, relative to the tolerance, at which repetitions end where one leaves more than a part of the change
#: before and R falls no more: undetermined impulses that no rigid motion meets wander; the same for islands whose factors have a
#: pattern, in which more forces wander.
ENOUGH, SLOW, ENOUGH_OF_MANY = 1e4, 0.25, 1e6
#: Halvings of a step whose residuals do not fall by a least part of it: whole steps run in circles where contacts open, stick and
#: slip by turns.
HALVINGS, DESCENT = 5, 1e-4


@kernel
def linearise_law(x: Reals, u: Reals, mu: float, has_normal: int, r: float, R: float, f: Reals, H: Reals) -> float:
    """The residual K^-1 (x - P(y)) as f (3,), and R H (3, 3) by rows, of a contact with impulses x at the velocities u, where K
    is the derivative by x; the largest entry of x - P(y).
    """
    y1, y2, w = x[1] - r * u[1], x[2] - r * u[2], 1.0 - r * R
    n = linearise_normal(x, u, has_normal, r, R, f, H)
    radius = mu * n if has_normal != 0 else mu
    most, t = fabs(x[0] - n), sqrt(y1 * y1 + y2 * y2)
    slips = t > radius
    e0 = y1 / t if slips else 0.0
    e1 = y2 / t if slips else 0.0
    f[1] = x[1] - (radius * e0 if slips else y1)
    f[2] = x[2] - (radius * e1 if slips else y2)
    most = maximum(most, maximum(fabs(f[1]), fabs(f[2])))
    if has_normal != 0 and n <= 0.0:
        return most
    if slips:
        lifted = 0.0
        if has_normal != 0:
            H[3], H[6], lifted = mu * e0, mu * e1, w * mu * f[0]
        s = radius / t
        across, along = f[2] * e0 - f[1] * e1, f[1] * e0 + f[2] * e1 + lifted
        across /= 1.0 - w * s
        f[1], f[2] = along * e0 - across * e1, along * e1 + across * e0
        k = R * r * s / (1.0 - w * s)
        H[4], H[5], H[7], H[8] = k * e1 * e1, -k * e0 * e1, -k * e0 * e1, k * e0 * e0
    else:
        f[1], f[2] = f[1] / (r * R), f[2] / (r * R)
        H[4], H[8] = 1.0, 1.0
    return most


@kernel
def linearise_normal(x: Reals, u: Reals, has_normal: int, r: float, R: float, f: Reals, H: Reals) -> float:
    """The entries along the normal of :func:`linearise_law`, with zeros as all others, but f of an open contact; P(y) there."""
    n = max(x[0] - r * u[0], 0.0) if has_normal != 0 else 0.0
    for i in range(9):
        H[i] = 0.0
    f[0] = x[0] - n
    if n > 0.0:
        f[0] /= r * R
        H[0] = 1.0
    return n


@kernel
def linearise_smooth_law(x: Reals, u: Reals, mu: float, slow: float, r: float, R: float, f: Reals, H: Reals) -> float:
    """As :func:`linearise_law`, of a contact whose friction -mu n u/sqrt(u^2 + slow^2) is smooth, at velocities u that have no
    compliance along the tangents.
    """
    n, most = linearise_normal(x, u, 1, r, R, f, H), 0.0
    speed = sqrt(u[1] * u[1] + u[2] * u[2] + slow * slow)
    e0, e1 = u[1] / speed, u[2] / speed
    most = fabs(x[0] - n)
    f[1], f[2] = x[1] + mu * n * e0, x[2] + mu * n * e1
    most = maximum(most, maximum(fabs(f[1]), fabs(f[2])))
    if n > 0.0:
        k, lifted = R * mu * n / speed, (1.0 - r * R) * mu * f[0]
        f[1], f[2] = f[1] - lifted * e0, f[2] - lifted * e1
        H[3], H[6] = -mu * e0, -mu * e1
        H[4], H[5], H[7], H[8] = k * (1.0 - e0 * e0), -k * e0 * e1, -k * e0 * e1, k * (1.0 - e1 * e1)
    return most


@kernel
def linearise(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
    v: Reals,
    smooth: bool,
) -> float:
    """Residuals ``toward`` of the laws of all contacts at the speeds v, their derivatives ``cones``, and the ``norm`` of the
    largest of each contact; the largest of all, as a velocity.
    """
    most, squares, u = 0.0, 0.0, solution.rates
    for a in range(count):
        c = active[a]
        x, R = solution.impulse[3 * c :], compliance(solution, work, c)
        d, mu, slow = R / work.compliance, solution.friction[c], terms.law[4 * c + 3] if smooth else 0.0
        rates_along(problem, terms, c, v, u)
        for i in range(3):
            soft = R if i == 0 or slow <= 0.0 else 0.0
            u[i] += solution.target[3 * c + i] + soft * (x[i] - work.force[3 * c + i])
        own, H, f = work.toward[3 * c :], work.cones[9 * c :], 0.0
        if slow > 0.0:
            f = linearise_smooth_law(x, u, mu, slow, SCALE / d, R, own, H)
        else:
            f = linearise_law(x, u, mu, problem.has_normal[c], SCALE / d, R, own, H)
        most = maximum(most, d * f)
        squares += d * f * d * f
    work.norm = sqrt(squares)
    return most


@kernel
def step_over_speeds(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
) -> None:
    """The *change* of the speeds in a step, from an equation of the speeds."""
    d, place = work.step, work.place
    if work.sparse > 0:
        assemble_sparse(problem, terms, solution, work, active, count)
        factor_sparse(problem, work)
    else:
        assemble_matrix(problem, terms, solution, work, active, count)
    for i in range(work.n):
        d[i] = 0.0
    for a in range(count):
        c = active[a]
        start = problem.row_start[c]
        size = problem.row_start[c + 1] - start
        speeds, W, f = problem.row_speeds[start:], terms.jacobian[3 * start :], work.toward[3 * c :]
        for j in range(size):
            d[place[speeds[j]]] -= W[j] * f[0] + W[size + j] * f[1] + W[2 * size + j] * f[2]
    if work.sparse > 0:
        substitute_sparse(problem, work, d)
    else:
        substitute(work.hessian, work.n, d)
    for k in range(work.blocks):
        for i in range(problem.block_start[work.own[k]], problem.block_start[work.own[k] + 1]):
            speed = problem.block_speeds[i]
            work.change[speed] = d[place[speed]]


@kernel
def change_impulses(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
) -> None:
    """The step ``toward`` of the impulses, from the *change* of the speeds."""
    u = solution.rates
    for a in range(count):
        c = active[a]
        R, H, f = compliance(solution, work, c), work.cones[9 * c :], work.toward[3 * c :]
        rates_along(problem, terms, c, work.change, u)
        for i in range(3):
            f[i] = -f[i] - (H[3 * i] * u[0] + H[3 * i + 1] * u[1] + H[3 * i + 2] * u[2]) / R


@kernel
def step_over_impulses(solution: ContactSolution, work: IslandWork, active: Integers, count: int) -> None:
    """The step ``toward`` of the impulses, from an equation of the impulses."""
    m, S, A, d = 3 * count, work.delassus, work.hessian, work.step
    for a in range(count):
        R, H = 1.0 / compliance(solution, work, active[a]), work.cones[9 * active[a] :]
        for i in range(3):
            h0, h1, h2 = R * H[3 * i], R * H[3 * i + 1], R * H[3 * i + 2]
            k = (3 * a + i) * m
            for j in range(m):
                A[k + j] = h0 * S[3 * a * m + j] + h1 * S[(3 * a + 1) * m + j] + h2 * S[(3 * a + 2) * m + j]
            A[k + 3 * a + i] += 1.0
            d[3 * a + i] = -work.toward[3 * active[a] + i]
            A[m * m + 3 * a + i], A[m * m + m + 3 * a + i] = 0.0, 0.0
    factor(A, m)
    substitute(A, m, d)
    for a in range(count):
        for i in range(3):
            work.toward[3 * active[a] + i] = d[3 * a + i]


@kernel
def make_step(
    problem: ContactProblem,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
    v: Reals,
    part: float,
) -> None:
    """Change the impulses by this *part* of the step ``tried``, and the speeds v with them."""
    for a in range(count):
        c = active[a]
        d, x = work.tried[3 * c :], solution.impulse[3 * c :]
        for i in range(3):
            x[i] += part * d[i]
        push(problem, solution, c, part * d[0], part * d[1], part * d[2], v)


@kernel
def search_along(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
    v: Reals,
    smooth: bool,
) -> float:
    """Change the impulses by the step ``toward``, or by the half, quarter ... of it with which residuals fall, and the speeds v
    with them; the largest residual there.
    """
    before, part, halved = work.norm, 1.0, 0
    for a in range(count):
        for i in range(3):
            work.tried[3 * active[a] + i] = work.toward[3 * active[a] + i]
    make_step(problem, solution, work, active, count, v, 1.0)
    off = linearise(problem, terms, solution, work, active, count, v, smooth)
    while not work.norm <= (1.0 - DESCENT * part) * before and halved < HALVINGS:
        part *= 0.5
        make_step(problem, solution, work, active, count, v, -part)
        off = linearise(problem, terms, solution, work, active, count, v, smooth)
        halved += 1
    return off


@kernel
def recentre(solution: ContactSolution, work: IslandWork, active: Integers, count: int) -> float:
    """Let c be the impulses so far; what this changes of a velocity."""
    moved = 0.0
    for a in range(count):
        R = compliance(solution, work, active[a])
        for i in range(3):
            k = 3 * active[a] + i
            moved = maximum(moved, R * fabs(solution.impulse[k] - work.force[k]))
            work.force[k] = solution.impulse[k]
    return moved


@kernel
def go_back(
    problem: ContactProblem, solution: ContactSolution, work: IslandWork, active: Integers, count: int, v: Reals
) -> None:
    """Let the impulses be c, and the speeds v those after them."""
    for a in range(count):
        c = active[a]
        x, known = solution.impulse[3 * c :], work.force[3 * c :]
        push(problem, solution, c, known[0] - x[0], known[1] - x[1], known[2] - x[2], v)
        for i in range(3):
            x[i] = known[i]


@kernel
def solve_laws(
    problem: ContactProblem,
    terms: ContactTerms,
    solution: ContactSolution,
    work: IslandWork,
    active: Integers,
    count: int,
    v: Reals,
    tolerance: float,
    compliant: float,
    softest: float,
    smooth: bool,
) -> float:
    """Impulses of the *active* contacts of an island that obey their laws, and the speeds v after them, from those so far, with
    the relative compliance *compliant*, or one up to *softest* with which they are found, which falls again where repetitions
    are slow; the change of a velocity in the last repetition, negative where there are none. From where steps have found nothing
    impulses return to c: that place depends on every rounding.
    Their coefficients are the ``friction`` of the *solution*, which is Coulomb's, unless contacts of *smooth* friction have that.
    A large island whose blocks are in order is collected.
    """
    if work.sparse == 0:
        collect_island(problem, work, active, count)
    work.compliance = compliant
    over_impulses = work.sparse == 0 and 3 * count < work.n
    if over_impulses:
        couple_contacts(problem, terms, solution, work, active, count)
    for a in range(count):
        for i in range(3):
            work.force[3 * active[a] + i] = solution.impulse[3 * active[a] + i]
    turns, moved, off, goes_on, pause, rest = 0, 2.0 * tolerance, 0.0, True, 0, 0
    enough = ENOUGH_OF_MANY if work.sparse > 0 else ENOUGH
    while turns < REPETITIONS and goes_on:
        before, steps, off = moved, 0, linearise(problem, terms, solution, work, active, count, v, smooth)
        softens = work.compliance < softest
        while steps < (STEPS if softens else LAST_STEPS) and off > tolerance:
            if over_impulses:
                step_over_impulses(solution, work, active, count)
            else:
                step_over_speeds(problem, terms, solution, work, active, count)
                change_impulses(problem, terms, solution, work, active, count)
            off = search_along(problem, terms, solution, work, active, count, v, smooth)
            steps += 1
        turns += 1
        if off <= tolerance:
            moved = recentre(solution, work, active, count)
            slow = turns > 1 and moved > SLOW * before
            hard = work.compliance <= compliant or pause > 1
            goes_on = moved > tolerance and not (slow and hard and moved <= enough * tolerance)
            if slow and rest == 0:
                work.compliance = maximum(work.compliance / SOFTER, compliant)
            elif slow:
                rest -= 1
        elif softens:
            go_back(problem, solution, work, active, count, v)
            work.compliance = min(SOFTER * work.compliance, softest)
            pause = 2 * pause + 1
            rest = pause
        else:
            goes_on = False
    return moved if off <= tolerance else -1.0
