"""Time stepping of Moreau and Jean: a step of given size with impulses of all contacts, whatever opens or closes in it.

Half a step with the speeds so far, one evaluation of all terms at the midpoint, the contact problem, half a step with the new
speeds; where motion turns fast, a step has several such parts. Forces are implicit by their derivatives; multipliers of
constraints are speeds without mass. A contact obeys Signorini's condition for the gap at the midpoint of the *next* step; a part
of a penetration is corrected in each step, slowly. Restitution is Newton's or Poisson's, where the free motion would close the
contact, and as much of it as gains no energy.
"""

from __future__ import annotations

from kineta.integration.stepping_records import SteppingData
from kineta.kernels.language import fabs, kernel
from kineta.kernels.time_stepping.displacements import advance, close_loops
from kineta.kernels.time_stepping.midpoint import BENT, STRAIGHT, bends, twice_energy
from kineta.kernels.time_stepping.near_pairs import keep_last, note_depth
from kineta.kernels.time_stepping.pair_rows import note_forces
from kineta.kernels.time_stepping.step_contacts import PRESSED, solve_step
from kineta.kernels.time_stepping.step_impacts import find_impacts, note_impacts, note_state, strikes
from kineta.kernels.time_stepping.step_impulses import LEAST
from kineta.kernels.vectors import copy
from kineta.memory import Reals

#: Times at most that a part of a step is solved again about the mean speeds found.
TURNS = 5
#: Part of twice the kinetic energy that the impulse of what turns on gives and takes at most in a part of a step.
EXCHANGED = 5e-4


@kernel
def note_means(run: SteppingData, h: float, share: float, first: bool) -> None:
    """Accelerations, multipliers and contact forces averaged over a step, of which a part of size h, the *first* or one behind
    others, is this *share*; the work in it.
    """
    motion = run.motion
    given, v, before = run.middle[motion.n :], run.y[motion.coordinates :], motion.coordinates
    for k in range(motion.problem.speeds):
        given[k] = (run.tried[k] - v[k] if k < motion.speeds else run.tried[k]) / h
    forces = given[motion.problem.speeds + motion.problem.multipliers :]
    for k in range(motion.n_forces):
        forces[k] = motion.solution.impulse[motion.force_rows[k]] / h
    for k in range(motion.n, motion.n_extended):
        run.y[k] = share * run.middle[k] + (0.0 if first else run.y[k])
    if run.works > 0:
        copy(v, run.middle[before:], motion.speeds)
        motion.rate(run.time, run.middle, motion.block, run.rate)
        add_work(run, run.middle[run.work :], 0.5 * h, 0.5, run.middle[before:])
        for k in range(motion.speeds):
            run.middle[before + k] = 0.5 * (v[k] + run.tried[k])
        motion.rate(run.time, run.middle, motion.block, run.rate)
        add_work(run, run.y[run.work :], h, 1.0, run.middle[before:])


@kernel
def add_work(run: SteppingData, work: Reals, time: float, share: float, v: Reals) -> None:
    """Add the power ``rate`` over a *time* to all *work*, and that of a *share* of the impulses of pairs at the speeds v."""
    problem, pairs = run.motion.problem, run.pairs
    for i in range(run.works):
        work[i] += time * run.rate[run.work + i]
    for a in range(run.count):
        c = run.near[a]
        if c >= pairs.fixed:
            start, x = problem.row_start[c], run.motion.solution.impulse[3 * c :]
            size = problem.row_start[c + 1] - start
            W, speeds = run.motion.terms.jacobian[3 * start :], problem.row_speeds[start:]
            for k in range(size):
                force = x[0] * W[k] + x[1] * W[size + k] + x[2] * W[2 * size + k]
                work[pairs.owner[speeds[k]]] += share * force * v[speeds[k]]


@kernel
def divide(run: SteppingData, parts: int) -> None:
    """Let a step have so many *parts*: impulses of a part, with which the next begins, are as much smaller as it is shorter."""
    if parts != run.parts:
        for k in range(3 * run.motion.problem.contacts):
            run.motion.solution.impulse[k] *= float(run.parts) / float(parts)
        run.parts = parts


@kernel
def find_part(run: SteppingData, h: float) -> None:
    """The impulses and speeds of a part of a step, of size h, from the present state and time; these stand amidst it then."""
    motion = run.motion
    motion.gaps_of(run.time, run.y, motion.block, run.gaps)
    copy(run.y, run.middle, motion.n_extended)
    advance(run, run.y, run.y, 0.5 * h, run.middle)
    run.time[0] += 0.5 * h
    for k in range(motion.problem.speeds):
        motion.solution.before[k] = run.y[motion.coordinates + k] if k < motion.speeds else 0.0
    copy(motion.solution.before, run.tried, motion.problem.speeds)
    bounded, plainly, unsolved = run.bounded, run.plainly, run.unsolved
    solve_step(run, h, False)
    again = strikes(run, h)
    if again:
        run.bounded, run.plainly, run.unsolved = bounded, plainly, unsolved
        solve_step(run, h, True)


@kernel
def straighten(run: SteppingData, h: float, bent: bool, bounded: int, plainly: int, unsolved: int) -> None:
    """Find the forces of a part of a step, of size h, that are *bent*: about the mean speeds found, again and again. The numbers
    are those of islands before it.
    """
    turns = 0
    while bent:
        run.bounded, run.plainly, run.unsolved = bounded, plainly, unsolved
        solve_step(run, h, True)
        turns += 1
        bent = False
        if turns < TURNS:
            bent = bends(run, h, STRAIGHT)


@kernel
def is_rough(run: SteppingData, h: float, bent: bool) -> bool:
    """Whether a part of a step, of size h, is too long: its forces, which are *bent* or not at all, bend much, or what is pressed
    turns on so fast that its impulse gives and takes a large part of the kinetic energy in it.
    """
    rough = False
    if bent:
        rough = bends(run, h, BENT)
    for a in range(run.count):
        rough = rough or turns_fast(run, run.near[a], h)
    return rough


@kernel
def has_passed(run: SteppingData, h: float) -> bool:
    """Whether a contact that is open at the start of a part of a step, of size h, has passed its plane amidst it: the part
    before, which was shorter, did not look as far ahead.
    """
    gap, passed = run.motion.terms.gap, False
    for c in range(run.pairs.fixed):
        normal = run.motion.problem.has_normal[c] != 0 and run.pressed[c] != PRESSED
        passed = passed or (normal and run.gaps[c] > 0.0 and gap[c] < -LEAST * h)
    return passed


@kernel
def turns_fast(run: SteppingData, c: int, h: float) -> bool:
    """Whether the contact c, which was pressed before, turns on so fast in a part of a step, of size h."""
    problem, work = run.motion.problem, run.motion.solution.impulse[3 * c] * fabs(run.motion.terms.bias[3 * c])
    fast = run.pressed[c] != 0 and work > 0.0
    if fast:
        size = 0.0
        for k in range(problem.coupled_start[c], problem.coupled_start[c + 1]):
            size += twice_energy(run, problem.coupled_blocks[k])
        fast = 0.5 * h * work > EXCHANGED * size
    return fast


@kernel
def end_part(run: SteppingData, end: float, h: float, share: float, first: bool) -> None:
    """The state at the *end* of a part of a step, of size h, whose speeds are found."""
    motion = run.motion
    find_impacts(run, h)
    note_impacts(run)
    if run.pairs.keeps:
        note_forces(run, h)
    note_state(run, h)
    note_means(run, h, share, first)
    run.time[0] = end
    for k in range(motion.speeds):
        run.middle[motion.coordinates + k] = run.tried[k]
        run.y[motion.coordinates + k] = run.tried[k]
    advance(run, run.middle, run.middle, 0.5 * h, run.y)
    advance(run, run.y, run.middle, 0.5 * h, run.y)
    if motion.problem.multipliers > 0:
        close_loops(run)
    if run.pairs.shapes > 0:
        keep_last(run)
    if run.count > 0:
        if run.pairs.shapes > 0:
            note_depth(run)
        motion.gaps_of(run.time, run.y, motion.block, run.gaps)
        for c in range(run.pairs.fixed):
            if motion.problem.has_normal[c] != 0:
                run.depths[c] = max(run.depths[c], -run.gaps[c])


@kernel
def time_step(run: SteppingData, end: float) -> None:
    """The step from the time of the run to the *end*, in as many equal parts, 1, 2, 4 and so on, as its first needs; in half as
    many as the last at least, where nothing passes its plane in these.
    """
    begin, last, parts, part = run.time[0], run.parts, max(1, run.parts // 2), 0
    copy(run.y, run.origin, run.motion.n_extended)
    while part < parts:
        divide(run, parts)
        to = end if part + 1 == parts else begin + (part + 1) * ((end - begin) / parts)
        h, rough = to - run.time[0], False
        bounded, plainly, unsolved = run.bounded, run.plainly, run.unsolved
        find_part(run, h)
        bent = bends(run, h, STRAIGHT)
        if part == 0 and parts < run.finest:
            rough = is_rough(run, h, bent)
            rough = rough or (parts < last and has_passed(run, h))
        if rough:
            parts = 2 * parts
            run.time[0] = begin
            run.bounded, run.plainly, run.unsolved = bounded, plainly, unsolved
        else:
            straighten(run, h, bent, bounded, plainly, unsolved)
            end_part(run, to, h, 1.0 / parts, part == 0)
            part += 1
    if parts > 1:
        go_straight(run, begin, end)


@kernel
def go_straight(run: SteppingData, begin: float, end: float) -> None:
    """Amidst a step of several parts, what the parabola between its ends goes by: straight on from the *begin*; half the work
    that the mean forces would do at the speeds there, with which speeds that are linear keep the balance of energy.
    """
    motion, h = run.motion, end - begin
    run.time[0] = begin
    advance(run, run.origin, run.origin, 0.5 * h, run.middle)
    copy(run.y[motion.n :], run.middle[motion.n :], motion.n_extended - motion.n)
    if run.works > 0:
        run.time[0] = begin + 0.5 * h
        copy(run.origin[motion.coordinates :], run.middle[motion.coordinates :], motion.speeds)
        motion.rate(run.time, run.middle, motion.block, run.rate)
        for i in range(run.works):
            run.middle[run.work + i] = run.origin[run.work + i] + 0.5 * h * run.rate[run.work + i]
    run.time[0] = end
    copy(run.y[motion.coordinates :], run.middle[motion.coordinates :], motion.speeds)
