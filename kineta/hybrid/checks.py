"""Checks of contacts during a motion: admissible laws, no penetration, no doubly constrained direction; and the message for a
contact problem without a solution.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.errors import SimulationError, excerpt
from kineta.hybrid.contact_state import ContactState, Numbers, contact_laws
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.runtime.compiled import BoundSystem

#: Penetration, in contact tolerances, of a closed contact.
BEYOND = 100.0
#: Time of a look-ahead at a vanishing friction limit, relative to the largest time.
AHEAD = 1e-9
#: Friction limit, relative to its fall over the look-ahead, that counts as zero.
AT_ZERO = 1e-4


def check_gaps(
    touches: Sequence[UnilateralConstraint], same: float, t: float, y: FloatArray, made: BoundSystem
) -> Numbers:
    """Gaps of *touches* in a state, with the contact tolerance *same*. Raises :class:`SimulationError` for penetration and for
    inadmissible laws.
    """
    gaps, *rest, _ = contact_laws(len(touches), t, y, made)
    for touch, *numbers in zip(touches, gaps, *rest, strict=True):
        if wrong := _wrong(*numbers):
            raise SimulationError(f"at t = {t:g} s '{touch.name}' has {wrong}")
    if min(gaps) < -BEYOND * same:
        k = gaps.index(min(gaps))
        touch, passed = touches[k], -gaps[k]
        what = "limit; expected a value within it" if touch.limit else "contact; expected a gap of zero or more"
        raise SimulationError(
            f"at t = {t:g} s '{touch.name}' is {f'{passed:.3g} {touch.unit}'.rstrip()} beyond its {what}"
        )
    return gaps


def _wrong(gap: float, bound: float, static: float, restitution: float) -> str:
    """Inadmissible parameter of a contact law in words; ``''`` for none."""
    if not math.isfinite(gap):
        return "a gap without a value; an expression has left its domain"
    if not bound >= 0:
        return f"the friction {bound:.3g}; expected zero or more"
    if not static >= bound * (1 - tolerances.ROUNDING_TOLERANCE):
        return f"less friction where it sticks, {static:.3g}, than where it slips, {bound:.3g}"
    if not 0 <= restitution <= 1:
        return f"the restitution {restitution:.3g}; expected a number from 0 to 1"
    return ""


def check_bounds(
    touches: Sequence[UnilateralConstraint],
    bounds: Mapping[int, int],
    fired: Sequence[int],
    until: float,
    t: float,
    y: FloatArray,
    made: BoundSystem,
) -> None:
    """Raise :class:`SimulationError` where a friction limit that is zero, or whose event *fired*, is about to become negative;
    *bounds* maps events to contacts, *until* is the largest time.
    """
    fallen, ahead = {bounds[k] for k in fired if k in bounds}, AHEAD * max(1.0, until)
    m, beyond = len(touches), y
    now = contact_laws(m, t, y, made)[1]
    for _ in range(2):  # a bound that depends on coordinates needs a second step to see what accelerations do
        beyond = beyond + ahead * made.code.rate(np.array([t]), beyond, made.h)
    then = contact_laws(m, t + 2 * ahead, beyond, made)[1]
    for i in sorted(set(bounds.values())):
        if then[i] < 0 and (i in fallen or now[i] <= -AT_ZERO * then[i]):
            text = "has friction that falls below zero; expected zero or more"
            raise SimulationError(f"at t = {t:g} s '{touches[i].name}' {text}")


def check_held(
    touches: Sequence[UnilateralConstraint],
    held: Sequence[int],
    constraints: Sequence[str],
    t: float,
    y: FloatArray,
    seen: ContactState,
    made: BoundSystem,
) -> None:
    """Raise :class:`SimulationError` where *constraints* already act along contacts *held*, and friction, or the accelerations,
    depend on the distribution of the force. At a dead centre no row gives way either, but the mechanism moves on.
    """
    give = [row[k] for k, row in enumerate(seen.S)]
    least = tolerances.ROUNDING_TOLERANCE * max(give, default=0.0)
    rows = {i: seen.contact_rows[i].rows[0] for i in held}
    goes = {i for i, row in rows.items() if i in seen.onward or abs(seen.drift[row]) > seen.rounding}
    twice = [i for i, row in rows.items() if not (give[row] > least or i in goes)]
    rubbing = [i for i in twice if seen.contact_rows[i].tangents]
    if rubbing or (twice and not np.isfinite(made.code.rate(np.array([t]), y, made.h)).all()):
        name, what = touches[(rubbing or twice)[0]].name, excerpt(f"'{n}'" for n in constraints)
        raise SimulationError(
            f"at t = {t:g} s '{name}' acts along what constraints ({what}) hold already, so that nothing says how much of "
            "the force is its own. Leave out the one or the other"
        )


def check_slopes(touches: Sequence[UnilateralConstraint], near: Set[int], t: float, seen: ContactState) -> None:
    """Raise :class:`SimulationError` where no speed changes the gap of a contact *near*, so that no force keeps it closed."""
    give = seen.normal([row[k] for k, row in enumerate(seen.S)])
    for i in sorted(near):
        if not give[i]:
            raise SimulationError(
                f"at t = {t:g} s '{touches[i].name}' has a gap that no speed changes, as x^2 where x = 0, so that no force keeps "
                "it closed; expected one that goes through zero with a slope"
            )


def no_contact_solution(
    touches: Sequence[UnilateralConstraint], near: Set[int], t: float, what: str
) -> SimulationError:
    """Error for a contact problem of the contacts *near* without a solution for *what*, ``forces`` or ``impulses``."""
    names = ", ".join(f"'{x.name}'" for i, x in enumerate(touches) if i in near or x.normal is None)
    why = (
        "with so much friction rigid bodies may jam (Painleve). Use less friction, or a law that is smooth"
        if any(x.tangents for x in touches)
        else "they are squeezed together and nothing gives way"
    )
    return SimulationError(f"at t = {t:g} s no {what} of {names} keep to the laws of contact and friction: {why}")
