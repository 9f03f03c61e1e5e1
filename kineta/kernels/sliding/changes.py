"""Changes of contacts of motions that may slide: mode and sides are found by turns, until each is that of the other."""

from __future__ import annotations

from kineta import tolerances
from kineta.integration.contact_records import CLOSED, FLAGS, SLIPS
from kineta.integration.loop_abi import RunData
from kineta.kernels.contact.state_terms import CHANGED, NO_FORCES
from kineta.kernels.language import fabs, kernel
from kineta.kernels.sliding.sides import find_sides
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.kernels.vectors import copy
from kineta.memory import Reals

#: Turns in which mode and sides are found.
_TURNS = 8


@kernel
def change_contacts(method: LoopMethod, run: RunData, t: float, y: Reals) -> None:
    """Carry out the transition of contacts at the time t in the state y; of a motion that may slide with the sides after it."""
    c = run.contacts
    run.time[0] = t
    if not method.sliding:
        c.transit(c.motion, c.transitions, run.time, y)
    else:
        s, made, left = run.slides, c.transitions.made, _TURNS
        copy(y, s.before, run.n)
        while left > 0:
            c.transit(c.motion, c.transitions, run.time, y)
            same = c.transitions.status != CHANGED
            if not same:
                same = is_settled(method, run, t, y)
            left = 0 if same else left - 1
            if not same:
                if left < _TURNS - 1:
                    give_way(run)
                take_back(run, made, y)
                if left == 0:
                    c.transitions.status = NO_FORCES
            run.time[0] = t


@kernel
def is_settled(method: LoopMethod, run: RunData, t: float, y: Reals) -> bool:
    """Whether the sides with which a mode has been found, in the state y, are those in this mode; these are then in y."""
    s, same = run.slides, True
    find_sides(method, run, t, y, s.rates)
    for j in range(s.n):
        same = same and fabs(y[s.place + j] - s.before[s.place + j]) <= tolerances.STATE_TOLERANCE
        s.before[s.place + j] = y[s.place + j]
    return same


@kernel
def give_way(run: RunData) -> None:
    """Let friction that slips, and contacts near that are open, under the sides of another mode give way: with what surfaces bear
    after it they would just hold again.
    """
    c = run.contacts
    for k in range(c.motion.problem.contacts):
        if c.motion.flags[FLAGS * k + SLIPS] > 0.0:
            c.transitions.exhausted[k] = 1
        if (
            c.transitions.near[k] != 0
            and c.motion.problem.has_normal[k] != 0
            and not c.motion.flags[FLAGS * k + CLOSED] > 0.0
        ):
            c.transitions.loose[k] = 1


@kernel
def take_back(run: RunData, made: int, y: Reals) -> None:
    """Go back to the mode and the state before a transition, with the sides found after it, and with so many impacts *made*."""
    c = run.contacts
    copy(c.transitions.kept, c.motion.flags, c.n_flags)
    copy(run.slides.before, y, run.n)
    c.transitions.made = made
