"""The balance of energy along motions."""

from __future__ import annotations

from kineta import tolerances
from kineta.kernels.language import fabs, kernel
from kineta.kernels.vectors import maximum
from kineta.memory import Reals

#: Rounding of an energy, in units of the last place.
ROUNDING = 100 * tolerances.EPS
#: Least size of an energy that a balance is relative to [J].
LEAST = tolerances.LEAST_DIVISOR


@kernel
def measure_energies(values: Reals, width: int, work: Reals, worked: int, cases: int, n: int, found: Reals) -> None:
    """The size and the balance of the energies of each case, as :class:`kineta.simulation.energy_balance.Energies` has them:
    *values* (cases, n, width) begin with kinetic and potential energy, *work* is (cases, n), or one number for all if *worked*
    is 0 and not 1; *found* are all sizes, then all balances.
    """
    for i in range(cases):
        start, first, moved, changed, done, high, off = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(i * n, i * n + n):
            kinetic, potential, own = values[k * width], values[k * width + 1], work[k * worked]
            kept = kinetic + potential - own
            if k == i * n:
                start, first = potential, kept
            moved = maximum(moved, fabs(kinetic))
            changed = maximum(changed, fabs(potential - start))
            done = maximum(done, fabs(own))
            high = maximum(high, fabs(potential * ROUNDING))
            off = maximum(off, fabs(kept - first))
        size = maximum(maximum(moved, changed), maximum(done, high))
        found[i] = size
        found[cases + i] = off / maximum(size, LEAST)
