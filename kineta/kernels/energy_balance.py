"""The balance of energy along motions."""

from __future__ import annotations

from kineta import tolerances
from kineta.kernels.language import fabs, kernel
from kineta.kernels.vectors import largest, maximum
from kineta.memory import Reals

#: Rounding of an energy, in units of the last place.
ROUNDING = 100 * tolerances.EPS
#: Least size of an energy that a balance is relative to [J].
LEAST = tolerances.LEAST_DIVISOR


@kernel
def measure_energies(forms: Reals, cases: int, n: int, found: Reals) -> None:
    """The size and the balance of the energies of each case, as :class:`kineta.simulation.energy_balance.Energies` has them:
    *forms* are kinetic and potential energy and work, (3, cases, n), *found* all sizes, then all balances.
    """
    kinetic, potential, work = forms, forms[cases * n :], forms[2 * cases * n :]
    for i in range(cases):
        begin = i * n
        first, changed, high, off = 0.0, 0.0, 0.0, 0.0
        for k in range(begin, begin + n):
            kept = kinetic[k] + potential[k] - work[k]
            if k == begin:
                first = kept
            changed = maximum(changed, fabs(potential[k] - potential[begin]))
            high = maximum(high, fabs(potential[k] * ROUNDING))
            off = maximum(off, fabs(kept - first))
        size = maximum(maximum(largest(kinetic[begin:], n), changed), maximum(largest(work[begin:], n), high))
        found[i] = size
        found[cases + i] = off / maximum(size, LEAST)
