"""Handing over from events to time stepping and back: when, and what is kept of it."""

from __future__ import annotations

from kineta.memory import Integers, Reals, Record

#: Largest part of a run that is one step of time stepping.
PART = 1e-3
#: Changes without an impact within one step of time stepping that are too many.
PILE = 100
#: Steps by which to go back from a failure of the method by events.
BACK = 10
#: Steps of time stepping without a change after which contacts are quiet.
QUIET = 50
#: Penetration [m, rad] at the start that time stepping pushes apart; more is refused, and not taken back to events.
DEEPEST_START = 1e-4


class StepCrowd(Record):
    """The ends of steps by events, to tell where those with something closed are too many.

    fewest : (contacts + 1,) for each number of closed contacts how many are too many within the time ``narrow`` [s], which is 0
    where none are; most : the largest of these
    counted, ends, latest : steps counted, (most,) the last of their times, and the last time
    """

    fewest: Integers
    most: int
    narrow: float
    counted: int
    ends: Reals
    latest: float


class QuietWatch(Record, partial=True):
    """What is pressed during time stepping, and the state in which events take over again.

    since : steps since the last change, with the one that made it; pressed : (contacts,) 1 for what the last step pressed
    states : number of those that events and time stepping share: coordinates, speeds and works
    state : (n,) state by events; flags : (contacts, FLAGS) the mode before the transition into the first mode there
    values : of what time stepping observes; jump : of the energy at the transition
    """

    since: int
    pressed: Integers
    states: int
    state: Reals
    flags: Reals
    values: Reals
    jump: float
