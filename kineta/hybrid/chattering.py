"""Chattering: steps by events, and changes, that pile up within what would be one step of time stepping."""

from __future__ import annotations

import numpy as np

from kineta.arrays import FloatArray
from kineta.integration.contact_records import CLOSED
from kineta.integration.handover import PART, Pace
from kineta.integration.loop_abi import BRIEF, CHATTER
from kineta.integration.time_stepping import STEP
from kineta.runtime.problem import SimulationProblem

#: Steps of the method by events within this part of one of time stepping that are too many.
CROWD, CROWDED = 500, 0.5
#: Closed contacts up to which so many steps are not too many, and the fewest that are: an evaluation by events takes a time that
#: grows as the cube of the closed contacts, and one step of time stepping does not.
SPARSE, FEWEST = 8, 10
#: Changes without an impact within one step of time stepping that are too many.
PILE = 100
#: Steps, and changes, that may be too many in a motion by events alone: some seconds for a table on sprung feet, or a humanoid.
MOST_STEPS, MOST_CHANGES = 150_000, 3000


def step_size(task: SimulationProblem) -> float:
    """The step of time stepping of *task* [s], without one that it gives."""
    return float(min(task.control.max_step, STEP, PART * (task.t1 - task.t0)))


def most_steps(closed: int) -> int:
    """The number of steps within a part of one of time stepping that are too many with so many contacts *closed*."""
    return min(CROWD, max(FEWEST, int(CROWD * (SPARSE / max(closed, 1)) ** 3)))


def pace_of(task: SimulationProblem) -> Pace:
    """The pace of motions by events of *task*, before the first step: what is too many, and how often it may be where time
    stepping does not take over.
    """
    contacts, alone = len(task.made.code.layout.touches), not task.falls_back
    return Pace(
        size=step_size(task),
        brief=BRIEF * (task.t1 - task.t0),
        many=CHATTER,
        pile=PILE,
        spare_changes=MOST_CHANGES * alone,
        fewest=np.array([most_steps(k) for k in range(contacts + 1)], dtype=np.int64),
        most=CROWD,
        crowded=CROWDED,
        spare_steps=MOST_STEPS * alone,
        ends=np.zeros(CROWD),
        latest=task.t0,
        since=np.zeros(CHATTER),
    )


def crowd(pace: Pace, flags: FloatArray, closed: str) -> str:
    """What is too many steps in the mode of these *flags*, with the names of what is *closed*."""
    narrow = pace.crowded * pace.size
    if pace.spare_steps:
        return (
            f"{pace.spare_steps} steps with {closed} closed were shorter than {narrow / pace.most:.0e} s: directions of slip that"
            " turn fast, and forces that hardly differ from their bounds, need such steps by events. The method 'moreau' steps"
            " over them"
        )
    most = pace.array("fewest")[int((flags[:, CLOSED] > 0.0).sum())]
    return f"{most} steps by events with {closed} closed take less than {narrow:g} s"
