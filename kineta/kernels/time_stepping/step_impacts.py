"""Impacts in a step of time stepping: which contacts strike, go on or pass an impulse on, and what is pressed and sticks then."""

from __future__ import annotations

from kineta.integration.contact_records import GOES_ON, HIT, IMPACT_NUMBERS
from kineta.integration.stepping_records import IMPACT_SUMS, SteppingData
from kineta.kernels.contact.block_inertia import rate_along, velocity_by_time
from kineta.kernels.language import kernel, sqrt
from kineta.kernels.time_stepping.step_contacts import CLOSING, PRESSED, quickest
from kineta.kernels.time_stepping.step_impulses import REACH, turned

#: Part of the velocity that REACH gives in a step with which a contact that has struck closes on.
STOPPED = 1e-2
#: Role of a contact in an impact, beside HIT and GOES_ON: none, or an impulse transmitted by other contacts.
CALM, PASSED = 0, -1
#: Slip below which a contact sticks, relative to the largest velocity.
STUCK = 1e-6


@kernel
def strikes(run: SteppingData, h: float) -> bool:
    """Whether a contact strikes in a step of size h."""
    struck = False
    for a in range(run.count):
        struck = struck or strikes_at(run, run.near[a], h)
    return struck


@kernel
def strikes_at(run: SteppingData, c: int, h: float) -> bool:
    """Whether the contact c strikes in a step of size h, faster than what REACH gives in it."""
    speed = run.motion.terms.velocity[3 * c] - turned(run, c, h) * run.motion.terms.bias[3 * c]
    return run.pressed[c] != CLOSING and speed < -REACH * h and is_struck(run, c, h)


@kernel
def is_struck(run: SteppingData, c: int, h: float) -> bool:
    """Whether the contact c has an impulse, where it was pressed one that changes its velocity by more than REACH gives in a step
    of size h.
    """
    solution = run.motion.solution
    more = solution.impulse[3 * c] - run.bearing[c]
    return more > 0.0 and (run.pressed[c] == 0 or solution.delassus[9 * c] * more > REACH * h)


@kernel
def passes_on(run: SteppingData, c: int, h: float) -> bool:
    """Whether an impact elsewhere gives the contact c an impulse that changes its velocity by more than REACH gives in a step of
    size h, beside what it bore in the last.
    """
    more = run.motion.solution.impulse[3 * c] - run.bearing[c]
    return run.motion.problem.has_normal[c] != 0 and run.motion.solution.delassus[9 * c] * more > REACH * h


@kernel
def goes_on(run: SteppingData, c: int) -> bool:
    """Whether the contact c struck in a step before, did not stop, and is pressed on."""
    return run.pressed[c] == CLOSING and run.motion.solution.impulse[3 * c] > 0.0


@kernel
def leaves(run: SteppingData, c: int, i: int) -> float:
    """The velocity along the row i of the contact c after a step."""
    problem, terms, solution = run.motion.problem, run.motion.terms, run.motion.solution
    return rate_along(problem, terms, c, i, run.tried) + velocity_by_time(problem, terms, solution, c, i)


@kernel
def find_impacts(run: SteppingData, h: float) -> None:
    """Mark what the contacts near have in impacts of a step of size h: those that strike in it, or go on, and in islands where
    one does those that it passes an impulse on to.
    """
    problem, label, first = run.motion.problem, run.motion.solution.label, 0
    for c in range(problem.contacts):
        run.blow[c] = CALM
    while first < run.count:
        island, end, struck = label[first_block(run, run.near[first])], first, False
        while end < run.count and label[first_block(run, run.near[end])] == island:
            c = run.near[end]
            if strikes_at(run, c, h):
                run.blow[c] = HIT
            elif goes_on(run, c):
                run.blow[c] = GOES_ON
            struck = struck or run.blow[c] != CALM
            end += 1
        for a in range(first, end):
            c = run.near[a]
            if struck and run.blow[c] == CALM and passes_on(run, c, h):
                run.blow[c] = HIT if run.pressed[c] == 0 else PASSED
        first = end


@kernel
def first_block(run: SteppingData, c: int) -> int:
    """The first block of the inertia that the contact c couples."""
    return run.motion.problem.coupled_blocks[run.motion.problem.coupled_start[c]]


@kernel
def note_impacts(run: SteppingData) -> None:
    """The impacts of a step, in the order of the contacts near; those that go on as a whole."""
    for a in range(run.count):
        c = run.near[a]
        v, x, whole = (
            run.motion.terms.velocity[3 * c :],
            run.motion.solution.impulse[3 * c :],
            run.sums[IMPACT_SUMS * c :],
        )
        if run.blow[c] != CALM:
            one, lost = run.impacts[IMPACT_NUMBERS * run.struck :], 0.0
            if run.blow[c] != GOES_ON:
                for i in range(IMPACT_SUMS):
                    whole[i] = 0.0
                run.told += 1
                whole[3], whole[5] = v[0], float(run.told)
            for i in range(3):
                after = leaves(run, c, i)
                whole[i] += x[i]
                one[1 + i] = whole[i]
                one[5] = after if i == 0 else one[5]
                lost -= 0.5 * x[i] * (v[i] + after)
            whole[4] += lost
            one[0] = float(c if c < run.pairs.fixed else run.pairs.fixed + run.pairs.pair[c - run.pairs.fixed])
            one[4], one[6], one[7] = whole[3], whole[4], float(max(run.blow[c], 0))
            one[8], one[9] = whole[5], float(run.made + 1)
            run.struck += 1


@kernel
def note_state(run: SteppingData, h: float) -> None:
    """Which contacts are pressed, and stick, after a step of size h."""
    problem, terms, solution = run.motion.problem, run.motion.terms, run.motion.solution
    quick = quickest(run, run.count)
    for c in range(problem.contacts):
        closing = run.blow[c] != CALM and leaves(run, c, 0) < -STOPPED * REACH * h
        run.pressed[c] = CLOSING if closing else 0
        run.stuck[c] = 0
    for a in range(run.count):
        c = run.near[a]
        u = rate_along(problem, terms, c, 1, run.tried) + solution.target[3 * c + 1]
        w = rate_along(problem, terms, c, 2, run.tried) + solution.target[3 * c + 2]
        if solution.impulse[3 * c] > 0.0 and run.pressed[c] == 0:
            run.pressed[c] = PRESSED
        holds = problem.has_normal[c] == 0 or run.pressed[c] != 0
        run.stuck[c] = 1 if holds and sqrt(u * u + w * w) <= STUCK * quick else 0
