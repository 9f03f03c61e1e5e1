"""Discontinuities along servo-constraints: switches of piecewise operations, and jumps of the forces of control there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.errors import SimulationError
from kineta.programs.initialisation import derivative_text
from kineta.programs.path_jumps import jumping_entries
from kineta.tasks.servo.derivative_array import Hold, Jet


def jumps(hold: Hold, states: Sequence[Jet]) -> tuple[str, ...]:
    """Return sentences on the jumps of the forces along *states*. Raises :class:`SimulationError` for impulses: jumps of a
    derivative whose rate the forces contain.
    """
    found = []
    for state in _branches(hold, states):
        jumping = _jumping(hold, state, tolerances.SIDE_DISTANCE * abs(states[-1].t - states[0].t))
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


def _branches(hold: Hold, states: Sequence[Jet]) -> Iterator[Jet]:
    """Yield the jets between the first and the last at which a switching function crosses zero."""
    array = hold.array
    values = [array.branches(state) for state in states]
    for (here, there), (one, other) in zip(pairwise(states), pairwise(values), strict=True):
        for k in np.flatnonzero(
            (one * other <= 0) & (one != other) & (other != 0) & ((one != 0) | (here is not states[0]))
        ):
            yield _at_zero(hold, here, there, int(k))


def _at_zero(hold: Hold, here: Jet, there: Jet, k: int) -> Jet:
    """Return the jet between two at which the switching function number *k* crosses zero."""
    array = hold.array

    def value(t: float) -> float:
        return float(array.branches(array.later(here, t))[k])

    ends = value(here.t), value(there.t)
    if ends[0] * ends[1] > 0:  # a sign change of the extrapolated motion alone
        return here if abs(ends[0]) < abs(ends[1]) else there
    return array.later(here, float(brentq(value, here.t, there.t)))


def _jumping(hold: Hold, state: Jet, beside: float) -> list[tuple[str, int]]:
    """Return the derivatives of programs and force balances that jump at *state*, in words, each with the number of further
    derivatives in the forces.
    """
    array, order = hold.array, hold.order
    programs = {p.name for p in array.system.programs}
    own = {name: k for name, k, _ in array.equations}

    def change(by: float) -> FloatArray:
        ways = (array.at(array.later(state, state.t + s * by), order)[0] for s in (-1, 1))
        before, after = ways
        return np.asarray(np.abs(hold.rows * (after - before)))

    found = []
    for i in jumping_entries(change, beside, tolerances.STATE_TOLERANCE):
        name, times = array.labels(order)[i]
        what = (
            derivative_text("program", name, times)
            if name in programs
            else f"the force on '{name}', on which nothing acts,"
        )
        found.append((what, order - own[name] - times))
    return found
