"""Corners and jumps along servo-constraints: where equations go over to another branch, and whether forces can follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from kineta.errors import SimulationError
from kineta.tasks.begun import named
from kineta.tasks.hidden import Hold, State

FloatArray = NDArray[np.float64]

#: Part of the whole time that is looked at before and behind a branch; and the least jump, of balanced equations, that is one.
BESIDE, JUMP = 1e-7, 1e-9


def jumps(hold: Hold, states: Sequence[State]) -> tuple[str, ...]:
    """Where forces jump along *states*, in words. Raises :class:`SimulationError` where they would have to be infinite: where a
    derivative jumps of which they take the rate.
    """
    found = []
    for state in _branches(hold, states):
        jumping = _jumping(hold, state, BESIDE * abs(states[-1].t - states[0].t))
        if not jumping:
            continue
        what, left = min(jumping, key=lambda own: -own[1])
        if left:
            raise SimulationError(
                f"Model '{hold.array.system.name}': at t = {state.t:.6g} s {what} jumps, and the forces take {left} more of its "
                "derivatives: none holds it there. Give a path without corners, as tanh or a polynomial that begins and ends "
                "with zero derivatives, or end before."
            )
        found.append(f"forces may jump at t = {state.t:.6g} s, as {what} does")
    return tuple(dict.fromkeys(found))


def _branches(hold: Hold, states: Sequence[State]) -> Iterator[State]:
    """The states between the first and the last at which an operation goes over to another branch."""
    array = hold.array
    values = [array.branches(state) for state in states]
    for (here, there), (one, other) in zip(pairwise(states), pairwise(values), strict=True):
        for k in np.flatnonzero(
            (one * other <= 0) & (one != other) & (other != 0) & ((one != 0) | (here is not states[0]))
        ):
            yield _at_zero(hold, here, there, int(k))


def _at_zero(hold: Hold, here: State, there: State, k: int) -> State:
    """The state between two at which the branch number *k* ends."""
    array = hold.array

    def value(t: float) -> float:
        return float(array.branches(array.later(here, t))[k])

    ends = value(here.t), value(there.t)
    if ends[0] * ends[1] > 0:  # a turn that only the true motion makes
        return here if abs(ends[0]) < abs(ends[1]) else there
    return array.later(here, float(brentq(value, here.t, there.t)))


def _jumping(hold: Hold, state: State, beside: float) -> list[tuple[str, int]]:
    """The derivatives of programs and of the balance of forces that jump at *state*, in words, and how many more the forces take
    of each.
    """
    array, order = hold.array, hold.order
    programs = {p.name for p in array.system.programs}
    own = {name: k for name, k, _ in array.equations}

    def change(by: float) -> FloatArray:
        ways = (array.at(array.later(state, state.t + s * by), order)[0] for s in (-1, 1))
        before, after = ways
        return np.asarray(np.abs(hold.rows * (after - before)))

    near, far = change(beside), change(2 * beside)
    found = []
    for i in np.flatnonzero(
        (near > JUMP) & (far < 1.5 * near)
    ):  # what is smooth changes twice as much in twice the time
        name, times = array.labels(order)[i]
        what = named("program", name, times) if name in programs else f"the force on '{name}', on which nothing acts,"
        found.append((what, order - own[name] - times))
    return found
