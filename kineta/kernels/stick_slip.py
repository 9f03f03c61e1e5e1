"""Stick-slip transitions of friction along a line, between two steps.

At the zero of a friction event the candidate modes are tried: sticking, or slipping in either direction, with all other contacts
unchanged. An ambiguous outcome is left to Python.
"""

from __future__ import annotations

from kineta.integration.loop_abi import ALONG, FLAGS, SLIPS, STUCK, RunData
from kineta.kernels.event_start import ROUNDING
from kineta.kernels.language import fabs, kernel
from kineta.kernels.transition import (
    AWAY,
    SOON,
    go_on,
    is_beside,
    keeps,
    look_ahead,
    set_mode,
    tried_block,
    tried_state,
    try_contact,
    try_mode,
)
from kineta.kernels.vectors import copy, largest
from kineta.memory import Reals

#: Ratio of accelerations up to which slip in the right direction may start without acceleration, beside slip in the wrong
#: direction.
ASTRAY = 1e-3


@kernel
def turn(run: RunData, t: float, h: float, state: Reals, event: int) -> None:
    """Apply the stick-slip transition of an *event* at the time t in a *state*."""
    flags = run.contacts.given[run.contacts.turns[event] :]
    sticks = flags[STUCK] > 0.0
    pressed = is_pressed(run, t, event, flags)
    if pressed:
        if sticks:
            begin_slip(run, t, h, state, event, flags)
        else:
            end_slip(run, t, h, state, event, flags)


@kernel
def is_pressed(run: RunData, t: float, event: int, flags: Reals) -> bool:
    """Whether the contact of an *event* would close again if opened; otherwise separation competes with strong friction.
    True for friction without a normal.
    """
    c, e = run.contacts, run.events
    normal = c.partners[event]
    if normal < 0:
        return True
    copy(flags, c.saved, FLAGS)
    for k in range(FLAGS):
        flags[k] = 0.0
    try_mode(run, 1, t, c.base, 0.0)
    copy(c.saved, flags, FLAGS)
    look_ahead(run, t, 1)
    block, later = tried_block(run, 1), SOON * c.until
    run.time[0] = t + later
    run.rate(run.time, c.beside, block, c.rate)
    for i in range(run.n):
        c.after[i] = c.beside[i] + later * c.rate[i]
    run.time[0] = t + (later + later)
    e.function(run.time, c.after, block, e.tried)
    return c.now[e.n + normal] - e.tried[normal] > ROUNDING * largest(c.base, run.n)


@kernel
def end_slip(run: RunData, t: float, h: float, state: Reals, event: int, flags: Reals) -> None:
    """The transition at the end of slip: to stick, or to slip in the opposite direction."""
    c, e = run.contacts, run.events
    run.time[0] = t
    e.function(run.time, c.base, run.block, e.tried)
    back = -flags[ALONG]
    sticks = try_contact(run, 0, t, c.base, fabs(e.tried[event]), flags, STUCK, 0.0)
    if sticks:
        left, clear = c.now[event], AWAY * c.noise[event]
        if left > clear:
            look_ahead(run, t, 0)
            if c.soon[event] > 0.0 and keeps(run, 0, event):
                set_mode(flags, STUCK, 0.0)
                go_on(run, t, h, state, event, 0, 0.0)
        if left < -clear:
            slips = try_contact(run, 1, t, tried_state(run, 0), 0.0, flags, SLIPS, back)
            if slips:
                look_ahead(run, t, 1)
                least = ROUNDING * largest(tried_state(run, 1), run.n)
                if c.soon[e.n + event] > least and keeps(run, 1, event):
                    set_mode(flags, SLIPS, back)
                    go_on(run, t, h, state, event, 1, 0.0)


@kernel
def begin_slip(run: RunData, t: float, h: float, state: Reals, event: int, flags: Reals) -> None:
    """The transition from stick to slip, in the direction that the acceleration does not reverse at once."""
    c, e = run.contacts, run.events
    copy(c.base, c.beside, run.n)
    run.time[0] = t
    run.constraints.velocity(run.time, c.beside, run.block, c.base)
    if is_beside(run, c.beside, c.base, 0.0):
        backwards = try_contact(run, 0, t, c.base, 0.0, flags, SLIPS, -1.0)
        forwards = try_contact(run, 1, t, c.base, 0.0, flags, SLIPS, 1.0)
        if backwards and forwards:
            look_ahead(run, t, 0)
            look_ahead(run, t, 1)
            down, up = c.soon[event], c.soon[e.n + event]
            least = -ROUNDING * largest(c.base, run.n)
            if down >= up and up < least and down >= ASTRAY * up and keeps(run, 0, event):
                set_mode(flags, SLIPS, -1.0)
                go_on(run, t, h, state, event, 0, 0.0)
            if up > down and down < least and up >= ASTRAY * down and keeps(run, 1, event):
                set_mode(flags, SLIPS, 1.0)
                go_on(run, t, h, state, event, 1, 0.0)
