"""Energy balance of a run, and its part explained by the tolerances."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, address
from kineta.kernels.energy_balance import ROUNDING, measure_energies
from kineta.kernels.machine_code import machine_code
from kineta.numerics.linear_algebra import norm
from kineta.records import constant_record
from kineta.threads import once

#: Numbers of times, and of directions, in which the effect of errors within tolerance on the energy is sampled.
_TIMES, _DIRECTIONS = 16, 4
#: Allowed loss of energy, in errors of single steps.
_STEPS = 10.0
#: The work of a motion without any.
_NONE = np.zeros(1)


@constant_record
class Energies:
    """Energies at the times of a run, (k,) each, or (cases, k).

    values : kinetic and potential energy, and what else was observed, (..., k, m)
    done : the work, (..., k), None where no work is done
    """

    values: FloatArray
    done: FloatArray | None = None

    @property
    def kinetic(self) -> FloatArray:
        """Kinetic energy."""
        return self.values[..., 0]

    @property
    def potential(self) -> FloatArray:
        """Potential energy."""
        return self.values[..., 1]

    @once
    def work(self) -> FloatArray:
        """Work done by applied and dissipative forces."""
        return np.zeros(self.values.shape[:-1]) if self.done is None else self.done

    @property
    def size(self) -> FloatArray:
        """Largest change of a form of energy, at least the rounding of the potential energy."""
        return self._measures[0]

    @property
    def balance(self) -> FloatArray:
        """Largest deviation of energy - work from its first value, relative to :attr:`size`."""
        return self._measures[1]

    @once
    def _measures(self) -> tuple[FloatArray, FloatArray]:
        """:attr:`size` and :attr:`balance`."""
        *lead, n, width = self.values.shape
        found, worked = np.empty((2, *lead)), self.done is not None
        own, work = np.ascontiguousarray(self.values), _NONE if self.done is None else np.ascontiguousarray(self.done)
        # These arrays need no check, which would take as long as the measures of a short run.
        measuring()(address(own), width, address(work), int(worked), math.prod(lead), n, address(found))
        return found[0], found[1]

    def case(self, i: int) -> Energies:
        """Energies of one case."""
        return Energies(self.values[i], None if self.done is None else self.done[i])


@cache
def measuring() -> Callable[..., None]:
    """The compiled measures of energies, a function of addresses."""
    code = machine_code(measure_energies)
    function: Callable[..., None] = code.function
    return function


def within_tolerance(balance: float, steps: int, rtol: float) -> bool:
    """True where a *balance* is explained by the tolerance of *steps*, for any motion."""
    return balance <= _STEPS * steps * max(rtol, tolerances.RESIDUAL_TOLERANCE)


def assess_balance(
    energies: Energies,
    energy: Callable[[FloatArray, FloatArray], FloatArray],
    power: Callable[[FloatArray, FloatArray], FloatArray],
    t: FloatArray,
    y: FloatArray,
    steered: int,
    *,
    rtol: float,
    atol: float,
    steps: int,
    loose: float = 0.0,
) -> tuple[float, bool]:
    """Balance of the *energies*, and True where *steps* with the tolerances *rtol*, *atol* from y[0] to y[-1] (k, n) explain
    it. The tolerances apply to the first *steered* states; the work may deviate by *loose* more in every step.

    Where less energy is exchanged than such errors amount to, as at rest, the balance is relative to their effect for errors
    of the size of the states.

    Errors of steps add up in the energy and do not grow. The effect of errors within tolerance on the energy, and on the
    power over a step, functions (t, y) -> (k,), is sampled at states equidistant in time: near the edge of a domain of
    definition steps are many, and the energy depends on errors alone.
    """
    balance = float(energies.balance)
    if within_tolerance(balance, steps, rtol):
        return joint_balance(energies, steps), True
    rtol = max(rtol, tolerances.RESIDUAL_TOLERANCE)
    sign = np.sign(t[-1] - t[0])
    tried = np.searchsorted(sign * t, np.linspace(sign * t[0], sign * t[-1], _TIMES)).clip(0, len(t) - 1)
    times, states = np.repeat(t[tried], _DIRECTIONS), np.repeat(y[tried], _DIRECTIONS, axis=0)
    errors = np.random.default_rng(0).choice([-1.0, 1.0], states.shape) * (atol + rtol * np.abs(states))
    errors[:, steered:] = 0.0
    size, step = np.sqrt(steered / _DIRECTIONS), abs(t[-1] - t[0]) / steps
    change = 0.0
    for function, share in ((energy, 1.0), (power, step)):
        changes = (function(times, states + errors) - function(times, states)).reshape(_TIMES, _DIRECTIONS)
        change += share * size * float(np.median(norm(changes, axis=1)))
    rounding = ROUNDING * float(np.abs([energies.kinetic, energies.potential, energies.work]).max())
    size, allowed = float(energies.size), steps * (_STEPS * change + loose)
    missed = balance * size
    measure = size if size > allowed else max(size, (change + loose) / rtol)
    return missed / max(measure, tolerances.LEAST_DIVISOR), missed <= allowed + _STEPS * steps * rtol * size + rounding


def joint_balance(energies: Energies, steps: int) -> float:
    """Balance of the *energies* of a system over so many *steps*: relative to what is exchanged, or where that is no more than
    rounding, as at rest, to all that there is.
    """
    size, balance = float(energies.size), float(energies.balance)
    most = float(np.abs([energies.kinetic, energies.potential, energies.work]).max())
    at_rest = size <= ROUNDING * steps * most
    return balance * size / max(most, tolerances.LEAST_DIVISOR) if at_rest else balance
