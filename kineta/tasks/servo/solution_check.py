"""A-posteriori check of a solution: the rates in its jets against its difference quotients.

Coordinates, speeds and accelerations solve the equations of each instant by themselves. Speeds are rates of coordinates as a
consequence of the equations, but for consequences that are lost in rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.errors import SimulationError
from kineta.tasks.servo.derivative_array import Hold, Jet

#: Number of jets that are checked.
LOOKS = 8
#: Intervals of the difference quotients, relative to the time span: one of them is short enough for the path and long enough
#: for rounding errors.
PARTS = (1e-4, -1e-4, 1e-3, -1e-3, 1e-5, -1e-5, 1e-6, -1e-6, 1e-7, -1e-7, 1e-8, -1e-8, 1e-9, -1e-9)
#: Difference, relative to the largest force or speed, of a quotient from its rate: quotients have errors of first order.
AGREES = 1e-4


def agreed(hold: Hold, states: Sequence[Jet], largest: float, asked_for: float) -> None:
    """Raise :class:`SimulationError` for *states* whose difference quotients contradict their rates, relative to the *largest*
    force of control and to the forces *asked_for* by changes of the variables.
    """
    n, system = hold.array.n, hold.array.system
    mass = hold.array.source.function("mass_matrix")
    fastest = float(np.abs([s.x[:n] for s in states]).max(initial=0.0))
    force = max(AGREES * largest + tolerances.ROUNDING_TOLERANCE * asked_for, tolerances.LEAST_DIVISOR)
    speed = AGREES * fastest + tolerances.ROUNDING_TOLERANCE * (1.0 + fastest)
    for state in states[:: max(1, len(states) // LOOKS)]:
        v, place = state.x[:n], max(1.0, float(np.abs(state.q).max()))
        M = np.abs(mass(state.t, state.q, v, p=hold.array.p))
        least, rates = np.inf, np.zeros(n)
        for h, slipped, gained in _differences(hold, state, abs(states[-1].t - states[0].t)):
            noise = tolerances.ROUNDING_TOLERANCE / abs(h)  # of a difference quotient, relative to its variable
            beyond = M @ np.maximum(np.abs(gained) - noise * np.abs(v), 0.0)
            miss = max(float(beyond.max()) / force, float(np.abs(slipped).max()) / (speed + noise * place))
            if miss < least:
                least, rates = miss, np.abs(gained)
            if miss <= 1.0:
                break
        else:
            k = int(rates.argmax())
            raise SimulationError(
                f"Model '{system.name}': the motion that the programs ask for is lost in rounding: at t = {state.t:g} s the "
                f"acceleration {system.v_names[k]}' that is found and the rate at which {system.v_names[k]} changes differ by "
                f"{rates[k]:.3g}. Softer springs, fewer bodies between actuators and programs, or a slower path keep more digits."
            )


def _differences(hold: Hold, state: Jet, span: float) -> Iterator[tuple[float, FloatArray, FloatArray]]:
    """Yield intervals of the motion from *state*, and the differences between quotients and rates of coordinates and speeds."""
    array, n = hold.array, hold.array.n
    for part in PARTS:
        found = hold.met(array.later(state, state.t + part * span))
        if found is None:
            continue
        after = found[0]
        h = after.t - state.t
        v, a = ((state.x[own] + after.x[own]) / 2 for own in (slice(n), slice(n, 2 * n)))
        there = array.moved(state, np.concatenate([h * v, np.zeros(len(state.x))])).q
        yield h, (after.q - there)[: len(there) - array.nz] / h, (after.x[:n] - state.x[:n]) / h - a
