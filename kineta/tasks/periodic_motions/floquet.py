"""Floquet multipliers of a periodic motion: what they say of its stability, and where they leave the unit circle.

Guckenheimer and Holmes, *Nonlinear Oscillations*, 1.5 and 3.5; Kuznetsov, *Elements of Applied Bifurcation Theory*, 5.3.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from kineta import tolerances
from kineta.arrays import ComplexArray, FloatArray
from kineta.numerics.linear_algebra import eigvals

#: What errors call what is computed here.
MULTIPLIERS = "the Floquet multipliers"
#: Distance from the unit circle that decides stability, and from 1 of the multiplier of a motion along itself, beyond which that
#: one is said to be missing: a double multiplier, as of conservative motions, has half of the digits.
NEAR_CIRCLE = 1e-4


def multipliers(M: FloatArray, without: float | None) -> tuple[ComplexArray, float]:
    """Return the eigenvalues of the monodromy matrix M (k, k) by falling size, without the one nearest to *without*, and the
    distance of that one.
    """
    found = eigvals(M, what=MULTIPLIERS)
    off = 0.0
    if without is not None and len(found):
        # Of a pair of multipliers that rounding has spread about 1 their mean is what has to be near.
        k = int(np.abs(found - without).argmin())
        off = float(np.abs(found[k] - without))
        found = np.delete(found, k)
    return found[np.argsort(-np.abs(found), kind="stable")], off


def is_stable(found: ComplexArray) -> bool | None:
    """Return whether all multipliers are within the unit circle; None where the largest is on it."""
    most = float(np.abs(found).max(initial=0.0))
    return None if abs(most - 1.0) <= NEAR_CIRCLE else most < 1.0


def words(found: ComplexArray) -> str:
    """Return the stability in words."""
    stable = is_stable(found)
    if not len(found) or stable:
        most = float(np.abs(found).max(initial=0.0))
        return f"stable (what is beside it shrinks to {most:.3g} of itself in a period, or faster)"
    worst = complex(found[0])
    if stable is None:
        return f"stability undecided (a multiplier {spelt(worst)} is on the unit circle)"
    if abs(worst.imag) > 0:
        return f"unstable (what is beside it turns about it and grows: multipliers {spelt(worst)} and its conjugate)"
    way = "changes its side from period to period and grows" if worst.real < 0 else "goes away to one side"
    return f"unstable (what is beside it {way}: multiplier {spelt(worst)})"


def spelt(x: complex) -> str:
    """Return a multiplier as text."""
    real, imaginary = (round(part, 9) + 0.0 for part in (x.real, x.imag))
    if abs(imaginary) <= tolerances.STATE_TOLERANCE:
        return f"{real:.6g}"
    return f"{real:.6g} {'-' if imaginary < 0 else '+'} {abs(imaginary):.6g}i"


#: Bifurcations, with a number that changes its sign where multipliers pass the unit circle there.
DOUBLING, TORUS = "period doubling", "torus"


def doubling_number(found: ComplexArray) -> float:
    """Return the product of all multipliers + 1, which is real, and zero where one is -1."""
    return float(np.prod(found + 1.0).real)


def torus_number(found: ComplexArray) -> float:
    """Return the product of all mu_i mu_k - 1, zero where a complex pair is on the unit circle."""
    return float(np.prod([a * b - 1.0 for a, b in combinations(found, 2)]).real) if len(found) > 1 else 1.0


def has_pair_on_circle(found: ComplexArray) -> bool:
    """Return whether a complex pair is nearest to the unit circle, and not two real multipliers whose product is one."""
    if not len(found):
        return False
    return bool(abs(found[int(np.abs(np.abs(found) - 1.0).argmin())].imag) > NEAR_CIRCLE)
