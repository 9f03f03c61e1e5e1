"""Impulses of an island in a step of given size: by sweeps or by Newton's method, with as much restitution as gains no energy."""

from __future__ import annotations

from kineta.integration.stepping_records import SteppingData
from kineta.kernels.contact.alart_curnier import COMPLIANCE, SOFTEST, solve_laws
from kineta.kernels.contact.block_inertia import push, rate_along, velocity_by_time
from kineta.kernels.contact.friction_cone import slide_all
from kineta.kernels.contact.gauss_seidel import sweep
from kineta.kernels.contact.impact import contacts_first, gains_energy
from kineta.kernels.contact.sparse_factors import order_blocks
from kineta.kernels.language import fabs, kernel
from kineta.kernels.vectors import copy
from kineta.memory import Integers, Reals

#: Contacts whose gap closes within a step up to this acceleration [m/s^2] take part.
REACH = 20.0
#: Gap in a step squared, and speed in a step, below which a contact rests as it begins to touch [m/s^2].
TOUCHING = 1.0
#: Part of a penetration that is taken back in a step, and of what is pressed on rows that turn, whose places drift, at the speed
#: at most that REACH gives in it: it stays kinetic energy.
TAKEN_BACK, TURNING_BACK = 0.2, 0.4
#: Halvings of the restitution that gains no energy.
HALVINGS = 12
#: Part of the change in a sweep that the next leaves at most, else sweeps end.
QUICK = 0.3
#: Sweeps before Newton's method takes over, and those in which it fails.
SWEEPS, LAST_SWEEPS = 5, 200
#: Sweeps over large islands where Newton's method fails, and the factor of the change of a velocity at which they end.
MANY_SWEEPS, ROUGH = 200, 100.0
#: Sweeps with impulses of a least size, as by Poisson's law, for which Newton's method has no form.
SWEEPS_ALONE = 2000
#: Change of a velocity at which impulses are found, relative to the largest velocity [m/s], at least 1.
FOUND = 1e-8
#: Part of it to which Newton's method goes on: errors of speeds are errors of forces in the next step.
FINER, FINEST = 1e-3, 1e-5
#: Factor of the change of a velocity beyond which impulses of Newton's method are none: they grow from repetition to repetition
#: where friction jams what restitution throws back.
JAMMED = 1e4
#: Velocity [m/s] by which gaps close, and penetrations are taken back, more slowly. Without jumps at none of it: targets that a
#: face on four corners cannot meet let forces wander from corner to corner.
LEAST = 1e-6


@kernel
def turned(run: SteppingData, c: int, h: float) -> float:
    """The time by which the rows of the contact c turn on in a step of size h: half a step where it was pressed in the last, or
    begins to touch without an impact.
    """
    return 0.5 * h if run.pressed[c] != 0 or touches(run, c, h) else 0.0


@kernel
def touches(run: SteppingData, c: int, h: float) -> bool:
    """Whether the contact c is closed at the start of a step of size h, and neither closes nor opens there; or sinks, while its
    row amidst the step, which is turned back by half of it, tells of what goes straight on that it opens.
    """
    if c >= run.pairs.fixed or run.motion.problem.has_normal[c] == 0:
        return False
    gap, turns = run.gaps[c], 0.5 * h * run.motion.terms.bias[3 * c]
    speed = run.motion.terms.velocity[3 * c] - turns
    still = fabs(gap) < TOUCHING * h * h and fabs(speed) < TOUCHING * h
    return still or (gap < 0.0 and speed < 0.0 and speed > turns)


@kernel
def gap_of(run: SteppingData, c: int, h: float) -> float:
    """The gap of the contact c amidst a step of size h, of what is pressed without what straight motion to there adds to it: from
    the gap and the velocity at the start of the step.
    """
    bent = turned(run, c, h)
    if bent == 0.0 or c >= run.pairs.fixed:
        return run.motion.terms.gap[c]
    return run.gaps[c] + bent * (run.motion.terms.velocity[3 * c] - bent * run.motion.terms.bias[3 * c])


@kernel
def aim(run: SteppingData, c: int, ahead: float, h: float) -> None:
    """The friction of a contact in a step of size h, and its normal velocity after it, where its gap without impulse would
    be *ahead*: ``plain`` is added to it without restitution, ``rebound`` is the velocity of Newton's law,
    or the part of Poisson's, and ``back`` takes a penetration back.
    """
    terms, solution = run.motion.terms, run.motion.solution
    law, gap, normal = terms.law[4 * c :], gap_of(run, c, h), solution.target[3 * c]
    before = terms.velocity[3 * c] - turned(run, c, h) * terms.bias[3 * c]
    if run.stuck[c] != 0:
        law[0] = max(law[0], law[1])
    run.rebound[c], run.back[c] = 0.0, 0.0
    if run.motion.problem.has_normal[c] == 0:
        law[0] *= h
    else:
        if ahead <= 0.0 and run.motion.problem.poisson[c] == 0:
            run.rebound[c] = law[2] * max(0.0, -before)
        elif ahead <= 0.0 and before < -LEAST:
            run.rebound[c] = law[2]
        if gap > LEAST * h and run.rebound[c] <= 0.0:
            normal += gap / h - LEAST
        else:
            turns = run.pressed[c] != 0 and terms.bias[3 * c] != 0.0
            deep = -gap * (TURNING_BACK if turns else TAKEN_BACK)
            if deep > LEAST * h:
                run.back[c] = min(deep / h - LEAST, REACH * h)
    run.plain[c] = normal


@kernel
def begin_cold(run: SteppingData, v: Reals, active: Integers, count: int) -> None:
    """Begin with the speeds v and without impulses at the *active* contacts."""
    problem = run.motion.problem
    for a in range(count):
        for k in range(problem.row_start[active[a]], problem.row_start[active[a] + 1]):
            run.tried[problem.row_speeds[k]] = v[problem.row_speeds[k]]
        for i in range(3):
            run.motion.solution.impulse[3 * active[a] + i] = 0.0


@kernel
def sweeps(run: SteppingData, active: Integers, count: int, most: int, part: float, tolerance: float) -> bool:
    """At *most* so many sweeps over the *active* contacts, while each leaves this *part* of the change before; whether they find
    impulses.
    """
    made, change, fast, motion = 0, 2.0 * tolerance, True, run.motion
    while made < most and change > tolerance and fast:
        before = change
        change = sweep(motion.problem, motion.terms, motion.solution, active, count, run.tried)
        fast = made == 0 or change < part * before
        made += 1
    return change <= tolerance


@kernel
def solve_twice(run: SteppingData, active: Integers, count: int, share: float, tolerance: float) -> bool:
    """Impulses of an island by Poisson's law, with this *share* of the restitution: those that stop the speeds before the step,
    and those after, of which a least part is known; whether there are any.
    """
    problem, solution = run.motion.problem, run.motion.solution
    begin_cold(run, solution.before, active, count)
    for a in range(count):
        solution.target[3 * active[a]] = run.plain[active[a]]
    contacts = contacts_first(problem, active, count)
    sweeps(run, active, contacts, LAST_SWEEPS, 1.0, FINEST * tolerance)
    copy(solution.impulse, solution.compression, 3 * problem.contacts)
    begin_cold(run, run.free, active, count)
    for a in range(count):
        c = active[a]
        r = solution.compression[3 * c :]
        push(problem, solution, c, r[0], r[1], r[2], run.tried)
        if problem.poisson[c] != 0:
            solution.least[c] = share * run.rebound[c] * r[0]
    aim_island(run, active, count, share)
    found = sweeps(run, active, count, SWEEPS_ALONE, 1.0, FINER * tolerance)
    for a in range(count):
        c = active[a]
        for i in range(3):
            solution.impulse[3 * c + i] += solution.compression[3 * c + i]
        solution.least[c] = 0.0
    return found


@kernel
def aim_island(run: SteppingData, active: Integers, count: int, share: float) -> bool:
    """Set the targets of an island, with this *share* of the restitution; whether Poisson's law has a part in it."""
    problem, twice = run.motion.problem, False
    for a in range(count):
        c = active[a]
        rebound = share * run.rebound[c]
        twice = twice or (problem.poisson[c] != 0 and rebound > 0.0)
        if problem.has_normal[c] != 0:
            run.motion.solution.target[3 * c] = run.plain[c] - max(
                0.0 if problem.poisson[c] != 0 else rebound, run.back[c]
            )
    return twice


@kernel
def count_speeds(run: SteppingData, active: Integers, count: int) -> int:
    """A bound of the number of speeds of an island, or 0 where all speeds are few."""
    problem, found = run.motion.problem, 0
    if problem.speeds <= run.largest:
        return 0
    island = run.motion.solution.label[problem.coupled_blocks[problem.coupled_start[active[0]]]]
    for b in range(problem.blocks):
        if run.motion.solution.label[b] == island:
            found += problem.block_start[b + 1] - problem.block_start[b]
    return found


@kernel
def solve_by_newton(run: SteppingData, active: Integers, count: int, tolerance: float) -> bool:
    """Impulses of an island by Newton's method, from those so far; whether there are any."""
    motion = run.motion
    slide_all(motion.terms, motion.solution, active, count)
    moved = solve_laws(
        motion.problem,
        motion.terms,
        motion.solution,
        motion.island,
        active,
        count,
        run.tried,
        FINER * tolerance,
        COMPLIANCE,
        SOFTEST,
        True,
    )
    return moved >= 0.0 and moved <= JAMMED * tolerance


@kernel
def solve_once(run: SteppingData, active: Integers, count: int, share: float, tolerance: float) -> bool:
    """Impulses of an island with this *share* of the restitution: by sweeps, else by Newton's method, at first from the impulses
    so far, then from none; whether there are any.
    """
    found = False
    twice = aim_island(run, active, count, share)
    if twice:
        return solve_twice(run, active, count, share, tolerance)
    smooth = 0.0
    for a in range(count):
        smooth = max(smooth, run.motion.terms.law[4 * active[a] + 3])
    if smooth <= 0.0:  # sweeps have Coulomb's friction
        found = sweeps(run, active, count, SWEEPS, QUICK, FINEST * tolerance)
    if not found:
        found = solve_by_newton(run, active, count, tolerance)
    if not found:
        begin_cold(run, run.free, active, count)
        found = solve_by_newton(run, active, count, tolerance)
    return found


@kernel
def gains(run: SteppingData, active: Integers, count: int) -> bool:
    """Whether an island strikes, and its impulses gain energy."""
    strikes = False
    for a in range(count):
        strikes = strikes or run.rebound[active[a]] > LEAST
    if strikes:
        strikes = gains_energy(
            run.motion.problem, run.motion.terms, run.motion.solution, active, count, run.tried, FOUND
        )
    return strikes


@kernel
def keep_energy(run: SteppingData, active: Integers, count: int) -> None:
    """Reduce the impulses of an island that do not obey all laws by one factor, with which they do no work on the relative
    velocities: they stay within their cones.
    """
    problem, terms, solution = run.motion.problem, run.motion.terms, run.motion.solution
    linear, quadratic = 0.0, 0.0
    for a in range(count):
        c = active[a]
        for i in range(3):
            half, free = 0.5 * solution.impulse[3 * c + i], rate_along(problem, terms, c, i, run.free)
            linear += half * (terms.velocity[3 * c + i] + free + velocity_by_time(problem, terms, solution, c, i))
            quadratic += half * (rate_along(problem, terms, c, i, run.tried) - free)
    if linear + quadratic > 0.0:
        kept = max(0.0, -linear / quadratic) if quadratic > 0.0 else 0.0
        for a in range(count):
            x = solution.impulse[3 * active[a] :]
            push(problem, solution, active[a], (kept - 1.0) * x[0], (kept - 1.0) * x[1], (kept - 1.0) * x[2], run.tried)
            for i in range(3):
                x[i] *= kept


@kernel
def keep_impulses(run: SteppingData, active: Integers, count: int) -> None:
    """Keep the impulses of an island from the last step."""
    solution = run.motion.solution
    for a in range(count):
        for i in range(3):
            solution.compression[3 * active[a] + i] = solution.impulse[3 * active[a] + i]


@kernel
def begin_kept(run: SteppingData, active: Integers, count: int) -> None:
    """Begin with the impulses that were kept."""
    problem, solution = run.motion.problem, run.motion.solution
    begin_cold(run, run.free, active, count)
    for a in range(count):
        x, kept = solution.impulse[3 * active[a] :], solution.compression[3 * active[a] :]
        for i in range(3):
            x[i] = kept[i]
        push(problem, solution, active[a], x[0], x[1], x[2], run.tried)


@kernel
def solve_many(run: SteppingData, active: Integers, count: int, tolerance: float) -> None:
    """Impulses of a large island: by Newton's method where its factors have room, else by sweeps alone, and without restitution
    where it would gain energy.
    """
    motion, turns, found, gained = run.motion, 0, False, True
    fits = order_blocks(motion.problem, motion.island, active, count)
    keep_impulses(run, active, count)
    while turns < 2 and gained:
        aim_island(run, active, count, 1.0 if turns == 0 else 0.0)
        if turns > 0:
            run.bounded += 1
        found = False
        if fits:
            found = sweeps(run, active, count, SWEEPS, 1.0, FINEST * tolerance)
            if not found:
                found = solve_by_newton(run, active, count, tolerance)
        if not found:
            begin_kept(run, active, count)
            found = sweeps(run, active, count, MANY_SWEEPS, 1.0, ROUGH * tolerance)
        gained = gains(run, active, count)
        turns += 1
    motion.island.sparse = 0
    if not found:
        keep_energy(run, active, count)
        run.unsolved += 1


@kernel
def solve_contacts(run: SteppingData, active: Integers, count: int, tolerance: float) -> None:
    """Impulses of an island, and its speeds, with as much restitution as gains no energy; where there are none, without
    restitution and without taking penetrations back.
    """
    if count_speeds(run, active, count) > run.largest:
        solve_many(run, active, count, tolerance)
        return
    found = solve_once(run, active, count, 1.0, tolerance)
    if found:
        low, high, share = 0.0, 1.0, 1.0
        gained = gains(run, active, count)
        if gained:
            run.bounded += 1
            for _ in range(HALVINGS):
                share = 0.5 * (low + high)
                held = solve_once(run, active, count, share, tolerance)
                gained = gains(run, active, count)
                if gained or not held:
                    high = share
                else:
                    low = share
            found = solve_once(run, active, count, low, tolerance)
    wanted = 0.0
    for a in range(count):
        wanted = max(wanted, run.rebound[active[a]] + run.back[active[a]])
        if not found:
            run.rebound[active[a]], run.back[active[a]] = 0.0, 0.0
    if not found and wanted > 0.0:
        begin_cold(run, run.free, active, count)
        found = solve_once(run, active, count, 0.0, tolerance)
        run.plainly += 1 if found else 0
    if not found:
        begin_cold(run, run.free, active, count)
        found = sweeps(run, active, count, LAST_SWEEPS, 1.0, tolerance)
        if not found:
            keep_energy(run, active, count)
            run.unsolved += 1
