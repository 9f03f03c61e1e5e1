"""Handing over from events to time stepping and back: when, and what is kept of it."""

from __future__ import annotations

from kineta.memory import Integers, Reals, Record

#: Largest part of a run that is one step of time stepping.
PART = 1e-3
#: Steps by which to go back from a failure of the method by events.
BACK = 10
#: Steps of time stepping without a change after which contacts are quiet.
QUIET = 50
#: Penetration [m, rad] at the start that time stepping pushes apart; more is refused, and not taken back to events.
DEEPEST_START = 1e-4

#: What is too many in a run by events: steps, or changes.
STEPS, CHANGES = 1, 2


class Pace(Record):
    """Steps and changes of a run by events, to tell where they are too many.

    size : one step of time stepping [s]; brief : duration within which ``many`` changes without an impact are too many [s]
    pile, spare_changes : changes without an impact that pile up within one step, and how many such piles are not too many
    fewest, most : (contacts + 1,) for each number of closed contacts how many steps are a crowd within the part ``crowded`` of
        one of time stepping, and the largest of these; spare_steps : how many steps in a crowd are not too many
    counted, ends, latest, crowds : steps counted, (most,) the last of their times, the last time, and steps in a crowd
    calm, since, piles : changes since the last impact, (many,) the last of their times, and piles
    over : STEPS or CHANGES where they are too many, else 0
    """

    size: float
    brief: float
    many: int
    pile: int
    spare_changes: int
    fewest: Integers
    most: int
    crowded: float
    spare_steps: int
    counted: int
    ends: Reals
    latest: float
    crowds: int
    calm: int
    since: Reals
    piles: int
    over: int


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
