"""The balance of energy of a run, and how much of it the tolerances explain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.threads import once

FloatArray = NDArray[np.float64]

#: Times at which, and directions in which it is tried what errors of the size of the tolerances do to the energy.
_TIMES, _DIRECTIONS = 16, 4
#: How many times the errors allowed in its steps a run may lose, and an energy the unit roundoff.
_STEPS, _ROUNDING = 10.0, 100 * 2.0**-52
#: Relative tolerances below this are those of rounding.
_FINEST = 1e-14


@dataclass(frozen=True)
class Energies:
    """Kinetic and potential energy, and the work done, at the times of a run: (k,) each, or (cases, k)."""

    kinetic: FloatArray
    potential: FloatArray
    work: FloatArray

    @once
    def size(self) -> FloatArray:
        """The largest change of a form of energy, or what rounding makes of the potential one."""
        rounding = _ROUNDING * self.potential
        changes = (self.kinetic, self.potential - self.potential[..., :1], self.work, rounding)
        return np.asarray(np.maximum.reduce([np.abs(c).max(axis=-1, initial=0.0) for c in changes]))

    @once
    def balance(self) -> FloatArray:
        """Largest deviation of energy - work from its first value, relative to :attr:`size`."""
        with np.errstate(invalid="ignore"):  # the balance of energies that are not finite is NaN
            kept = self.kinetic + self.potential - self.work
            deviation = np.abs(kept - kept[..., :1]).max(axis=-1, initial=0.0)
            return np.asarray(deviation / np.maximum(self.size, 1e-300))

    def case(self, i: int) -> Energies:
        """Those of one case."""
        return Energies(self.kinetic[i], self.potential[i], self.work[i])


def evident(balance: FloatArray, steps: int | NDArray[np.int64], rtol: float) -> NDArray[np.bool_]:
    """Where a *balance* is so small that the tolerance of so many *steps* explains it whatever the motion."""
    return np.asarray(balance <= _STEPS * steps * max(rtol, _FINEST))


def judged(
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
    """The balance of the *energies*, and whether *steps* of the tolerances *rtol*, *atol* from y[0] to y[-1] (k, n) explain it.
    The tolerances are those of the first *steered* states; the work may miss *loose* in every step beside what they make of it.

    Where no more energy is exchanged than such errors make, as by a body that rests, there is none to measure by: the balance
    is then relative to what errors as large as the states would make of it.

    Errors of steps do not grow in the energy, they add up. What an error of the size of the tolerances makes of the energy, and
    of the power that is work over a step, functions (t, y) -> (k,), is tried at some states, equally far from each other in the
    time: where a motion comes to the edge of what its expressions can do, steps are many, and the energy depends on nothing but
    errors.
    """
    if evident(energies.balance, steps, rtol):
        return float(energies.balance), True
    rtol, balance = max(rtol, _FINEST), energies.balance
    sign = np.sign(t[-1] - t[0])
    tried = np.searchsorted(sign * t, np.linspace(sign * t[0], sign * t[-1], _TIMES)).clip(0, len(t) - 1)
    times, states = np.repeat(t[tried], _DIRECTIONS), np.repeat(y[tried], _DIRECTIONS, axis=0)
    errors = np.random.default_rng(0).choice([-1.0, 1.0], states.shape) * (atol + rtol * np.abs(states))
    errors[:, steered:] = 0.0
    size, step = np.sqrt(steered / _DIRECTIONS), abs(t[-1] - t[0]) / steps
    change = 0.0
    for function, share in ((energy, 1.0), (power, step)):
        changes = (function(times, states + errors) - function(times, states)).reshape(_TIMES, _DIRECTIONS)
        change += share * size * float(np.median(np.linalg.norm(changes, axis=1)))
    rounding = _ROUNDING * float(np.abs([energies.kinetic, energies.potential, energies.work]).max())
    size, allowed = float(energies.size), steps * (_STEPS * change + loose)
    missed = float(balance) * size
    measure = size if size > allowed else max(size, (change + loose) / rtol)
    return missed / max(measure, 1e-300), missed <= allowed + _STEPS * steps * rtol * size + rounding
