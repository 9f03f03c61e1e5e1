"""Switches: discrete transitions of parameters and states, and their guard cascades."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from kineta.arrays import FloatArray
from kineta.integration.problem import evaluation_errors, perturbed_starts
from kineta.runtime.compiled import BoundSystem

#: Time of a look-ahead, relative to the largest time.
AHEAD = 1e-9


@dataclass(frozen=True, slots=True)
class SwitchGuards:
    """Guards of the switches at one instant of a mode.

    values : (n,) guards, zero or more where the condition is true
    noise : (n,) evaluation errors of vanishing guards, -1 for all others
    rises : (n,) increase over the time ``ahead`` [s]
    """

    values: FloatArray
    noise: FloatArray
    rises: FloatArray
    ahead: float


def switch_guards(t: float, y: FloatArray, made: BoundSystem, until: float, which: slice) -> SwitchGuards:
    """Guards of the switches, *which* of all events, in the state *y* at *t* of the system *made*, whose largest time is
    *until*.
    """
    ahead, rate = AHEAD * until, made.code.rate_call(t, y, made.h)
    times, states = perturbed_starts(t, t + until, y, rate)
    times, states = np.append(times, t + ahead), np.vstack([states, y + ahead * rate])
    found = np.array([made.code.event_call(at, state, made.h)[which] for at, state in zip(times, states, strict=True)])
    return SwitchGuards(found[0], evaluation_errors(found[:-1]), found[-1] - found[0], ahead)


def guard_cascade(before: SwitchGuards, after: SwitchGuards, fired: Collection[int], since: FloatArray) -> list[int]:
    """Conditions that become true by the transition of the switches *fired*: negative guards that are no longer negative, and
    vanishing guards that rise, unless that rise has fired already. *since* (n,) is the time since each has fired [s].

    A guard that vanished and rose before has fired if it vanished then, too; one that fell has not, if another switch turned
    it.
    """
    n = len(after.values)
    others = np.array([k not in fired for k in range(n)])
    fresh = before.values - before.rises / before.ahead * since < -before.noise
    rose, fell = before.rises > before.noise, before.rises < -before.noise
    below = np.where(before.noise < 0, before.values < 0, (rose & fresh) | (fell & bool(fired)))
    turned = others & below & (after.noise >= 0) & (after.rises > after.noise)
    return np.flatnonzero(turned | ((before.values < 0) & (after.values >= 0))).tolist()
