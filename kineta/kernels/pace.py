"""The pace of a run by events: steps with something closed, and changes without an impact, that are too many."""

from __future__ import annotations

from kineta.integration.contact_records import CLOSED, FLAGS
from kineta.integration.handover import CHANGES, STEPS, Pace
from kineta.integration.loop_abi import RunData
from kineta.kernels.language import kernel
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.memory import Reals


@kernel
def count_anew(pace: Pace, t: float) -> None:
    """Begin to count steps and changes from the time t on."""
    pace.latest, pace.counted, pace.crowds, pace.calm, pace.piles, pace.over = t, 0, 0, 0, 0, 0


@kernel
def keeps_pace(method: LoopMethod, run: RunData, t: float) -> bool:
    """Count the end of a step at the time t in the present mode; whether steps are not too many. A case of an ensemble in which
    they are is given up.
    """
    c = run.contacts
    count_step(c.pace, t, c.motion.flags, c.n_flags)
    if method.sampling and c.pace.over != 0:
        run.events.undefined = True
    return c.pace.over == 0


@kernel
def count_step(pace: Pace, t: float, flags: Reals, n: int) -> None:
    """Count the end of a step at the time t in a mode of n *flags*."""
    closed, count = False, 0
    if t > pace.latest:
        pace.latest = t
        for k in range(n):
            closed = closed or flags[k] != 0.0
            if k % FLAGS == CLOSED and flags[k] > 0.0:
                count += 1
        fewest, narrow = pace.fewest[count], pace.crowded * pace.size
        early = pace.counted >= fewest and t - pace.ends[(pace.counted - fewest) % pace.most] < narrow
        if closed and early:
            pace.crowds += 1
            pace.over = STEPS if pace.crowds > pace.spare_steps else pace.over
        pace.ends[pace.counted % pace.most] = t
        pace.counted += 1


@kernel
def is_calm(pace: Pace, t: float) -> bool:
    """Count a change at the time t; whether changes are not too many."""
    pace.since[pace.calm % pace.many] = t
    pace.calm += 1
    if pace.calm >= pace.pile and t - pace.since[(pace.calm - pace.pile) % pace.many] < pace.size:
        pace.piles += 1
    chatters = pace.calm >= pace.many and t - pace.since[pace.calm % pace.many] < pace.brief
    if chatters or pace.piles > pace.spare_changes:
        pace.over = CHANGES
    return pace.over == 0
