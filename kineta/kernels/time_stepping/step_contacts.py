"""Contacts that take part in a step of time stepping, which impulses of others draw in, and their impulses island by island."""

from __future__ import annotations

from kineta.integration.stepping_records import SteppingData
from kineta.kernels.contact.block_inertia import push, rate_along, respond, velocity_by_time
from kineta.kernels.contact.islands import gather_island, label_islands
from kineta.kernels.contact.transition import is_admissible
from kineta.kernels.language import fabs, kernel, sqrt
from kineta.kernels.time_stepping.midpoint import evaluate_middle
from kineta.kernels.time_stepping.step_impulses import FOUND, LEAST, REACH, aim, gap_of, solve_contacts, turned
from kineta.kernels.vectors import copy, maximum
from kineta.memory import Reals

#: Part of the impulses of the last step with which those of contacts whose rows are one freedom begin: what is undetermined
#: fades; and the part of their Delassus operator that tells them.
KEPT, ONE_FREEDOM = 0.9, 1e-4
#: Times at most that a step is solved again with contacts that impulses of others bring to close in it.
DRAWN = 5
#: Slip that goes on in a step, in parts of that which friction stops in it.
FAST = 4.0
#: Marks of contacts after a step: pressed, and pressed but closing on, as those that strike do for a step more.
PRESSED, CLOSING = 1, 2


@kernel
def solve_step(run: SteppingData, h: float, again: bool) -> None:
    """Impulses in a step of size h, and the speeds ``tried`` after them, from those so far."""
    evaluate_middle(run, h, again)
    if not again:
        for c in range(run.motion.problem.contacts):
            run.bearing[c] = run.motion.solution.impulse[3 * c] if run.pressed[c] == PRESSED else 0.0
    bounded, plainly, unsolved = run.bounded, run.plainly, run.unsolved
    count, turn = take_part(run, h), 0
    run.count = -1
    while count != run.count and turn < DRAWN:
        run.count = count
        run.bounded, run.plainly, run.unsolved = bounded, plainly, unsolved
        solve_islands(run)
        count = draw_in(run, run.tried, -LEAST * h, h, count)
        turn += 1


@kernel
def take_part(run: SteppingData, h: float) -> int:
    """The contacts that take part in a step of size h, with their responses, laws and targets; their number."""
    motion = run.motion
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    impulse = solution.impulse
    for c in range(problem.contacts):
        fits = is_admissible(terms, c)
        if not fits:
            run.culprit = c + 1
        bent, mean = turned(run, c, h), slides_on(run, c)
        for i in range(3):
            behind = terms.velocity[3 * c + i] if mean and i > 0 else bent * terms.bias[3 * c + i]
            solution.target[3 * c + i] = velocity_by_time(problem, terms, solution, c, i) + behind
        run.taking[c] = 0
    found = draw_in(run, run.free, REACH * h * h, h, 0)
    for c in range(problem.contacts):
        for i in range(3):
            impulse[3 * c + i] *= float(run.taking[c])
    return found


@kernel
def slides_on(run: SteppingData, c: int) -> bool:
    """Whether the contact c slides, and so fast that a step does not stop it: friction opposes its mean velocity then, and else
    that after the step.
    """
    D, v, law = run.motion.solution.delassus[9 * c :], run.motion.terms.velocity[3 * c :], run.motion.terms.law[4 * c :]
    stopped = law[0] * run.motion.solution.impulse[3 * c] * max(D[4], D[8])
    slides = run.pressed[c] == PRESSED and run.stuck[c] == 0 and run.motion.problem.has_normal[c] != 0
    return slides and law[3] <= 0.0 and sqrt(v[1] * v[1] + v[2] * v[2]) > FAST * stopped


@kernel
def draw_in(run: SteppingData, v: Reals, reach: float, h: float, found: int) -> int:
    """Take in contacts whose gap is below *reach* after a step of size h with the speeds v, beside those *found* before; the
    number of all.
    """
    motion = run.motion
    problem, terms, solution = motion.problem, motion.terms, motion.solution
    for c in range(problem.contacts):
        ahead = gap_of(run, c, h) + h * (rate_along(problem, terms, c, 0, v) + solution.target[3 * c])
        near = run.taking[c] == 0 and (problem.has_normal[c] == 0 or ahead <= reach)
        if near:
            respond(problem, terms, solution, c, motion.work.speeds)
            D = solution.delassus[9 * c :]
            near = max(D[0], max(D[4], D[8])) > 0.0
        if near:
            run.near[found] = c
            run.taking[c] = 1
            found += 1
            aim(run, c, ahead, h)
    return found


@kernel
def solve_islands(run: SteppingData) -> None:
    """Impulses of the contacts near, and the speeds ``tried`` after them, from those so far."""
    problem, solution, first = run.motion.problem, run.motion.solution, 0
    quick = quickest(run, run.count)
    begin_warm(run, run.count)
    for b in range(problem.blocks):
        solution.label[b] = -1
    label_islands(problem, run.near, run.count, solution.label)
    while first < run.count:
        own = run.near[first:]
        some = gather_island(problem, own, run.count - first, solution.label)
        solve_contacts(run, own, some, FOUND * quick)
        first += some


@kernel
def begin_warm(run: SteppingData, count: int) -> None:
    """Begin with the impulses of the last step at all *count* contacts near, of those whose rows are one freedom with a part."""
    problem, solution = run.motion.problem, run.motion.solution
    copy(run.free, run.tried, problem.speeds)
    for a in range(count):
        c = run.near[a]
        D, r = solution.delassus[9 * c :], solution.impulse[3 * c :]
        if D[0] * D[4] - D[1] * D[3] < ONE_FREEDOM * D[0] * D[4]:
            for i in range(3):
                r[i] *= KEPT
        push(problem, solution, c, r[0], r[1], r[2], run.tried)


@kernel
def quickest(run: SteppingData, count: int) -> float:
    """The largest velocity along a row of *count* contacts near, at least 1."""
    quick = 1.0
    for a in range(count):
        for i in range(3):
            quick = maximum(quick, fabs(run.motion.terms.velocity[3 * run.near[a] + i]))
    return quick
