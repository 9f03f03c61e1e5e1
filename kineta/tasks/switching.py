"""Switches whose conditions come true where a mode starts, at a zero from which no run could tell."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.numerics.problem import nearby, noise
from kineta.tasks.code import Bound
from kineta.tasks.sound import AHEAD

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Seen:
    """The values of switches at one instant of a mode.

    values : (n,), zero or more where the condition is true
    noise : (n,) what rounding may make of those that are zero, -1 for all others
    rises : (n,) by how much they rise over the time ``ahead`` [s]
    """

    values: FloatArray
    noise: FloatArray
    rises: FloatArray
    ahead: float


def seen(t: float, y: FloatArray, made: Bound, until: float, which: slice) -> Seen:
    """The switches, *which* of all events they are, in the state *y* at *t* of a motion with the code *made*, whose largest
    time is *until*.
    """
    ahead, rate = AHEAD * until, made.code.going(t, y, made.h)
    times, states = nearby(t, t + until, y, rate)
    times, states = np.append(times, t + ahead), np.vstack([states, y + ahead * rate])
    found = np.array([made.code.told(at, state, made.h)[which] for at, state in zip(times, states, strict=True)])
    return Seen(found[0], noise(found[:-1]), found[-1] - found[0], ahead)


def come_true(before: Seen, after: Seen, fired: Collection[int], since: FloatArray) -> list[int]:
    """Which conditions come true by a change in which the switches *fired*: what was below zero and is no longer, and what is at
    zero and rises from there, unless that rise has fired already. *since* (n,) is how long ago each of them has fired [s].

    What was at zero and rose before has fired if it was at zero then, too; what fell has not, if another switch turned it.
    """
    n = len(after.values)
    others = np.array([k not in fired for k in range(n)])
    fresh = before.values - before.rises / before.ahead * since < -before.noise
    rose, fell = before.rises > before.noise, before.rises < -before.noise
    below = np.where(before.noise < 0, before.values < 0, (rose & fresh) | (fell & bool(fired)))
    turned = others & below & (after.noise >= 0) & (after.rises > after.noise)
    return np.flatnonzero(turned | ((before.values < 0) & (after.values >= 0))).tolist()
