"""Whether what touches is sound in a motion: its numbers are laws, no body is inside another, nothing is held twice; and what is
said where no forces keep to the laws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from kineta.errors import SimulationError
from kineta.formalism.touch import Touch
from kineta.model.infer import few
from kineta.tasks.code import Bound
from kineta.tasks.look import Look, Numbers, laws

FloatArray = NDArray[np.float64]

#: By how many times the gaps that are the same something may be beyond its contact, and be at it.
BEYOND = 100.0
#: Part of the largest time after which what has come to zero is looked at again.
AHEAD = 1e-9
#: Part of its fall over that time below which a bound is zero.
AT_ZERO = 1e-4
#: Part of what the rows of touches give way below which one is held.
HELD = 1e-13


def check_gaps(touches: Sequence[Touch], same: float, t: float, y: FloatArray, made: Bound) -> Numbers:
    """The gaps of *touches* in a state, which are the *same* up to that. Raises :class:`SimulationError` where one body is inside
    another, and for laws that are none.
    """
    gaps, *rest, _ = laws(len(touches), t, y, made)
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
    """What is wrong with the numbers of a touch; ``''`` where they are sound."""
    if not math.isfinite(gap):
        return "a gap without a value; an expression has left its domain"
    if not bound >= 0:
        return f"the friction {bound:.3g}; expected zero or more"
    if not static >= bound * (1 - 1e-12):
        return f"less friction where it sticks, {static:.3g}, than where it slips, {bound:.3g}"
    if not 0 <= restitution <= 1:
        return f"the restitution {restitution:.3g}; expected a number from 0 to 1"
    return ""


def check_bounds(
    touches: Sequence[Touch],
    bounds: Mapping[int, int],
    fired: Sequence[int],
    until: float,
    t: float,
    y: FloatArray,
    made: Bound,
) -> None:
    """Raise :class:`SimulationError` where a bound of friction whose event *fired*, or that is zero, is about to be less; the
    *bounds* tell which event is which touch's, *until* is the largest time.
    """
    fallen, ahead = {bounds[k] for k in fired if k in bounds}, AHEAD * max(1.0, until)
    m, beyond = len(touches), y
    now = laws(m, t, y, made)[1]
    for _ in range(2):  # a bound that depends on coordinates needs a second step to see what accelerations do
        beyond = beyond + ahead * made.code.rate(np.array([t]), beyond, made.h)
    then = laws(m, t + 2 * ahead, beyond, made)[1]
    for i in sorted(set(bounds.values())):
        if then[i] < 0 and (i in fallen or now[i] <= -AT_ZERO * then[i]):
            text = "has friction that falls below zero; expected zero or more"
            raise SimulationError(f"at t = {t:g} s '{touches[i].name}' {text}")


def check_held(
    touches: Sequence[Touch],
    held: Sequence[int],
    constraints: Sequence[str],
    t: float,
    y: FloatArray,
    seen: Look,
    made: Bound,
) -> None:
    """Raise :class:`SimulationError` where *constraints* hold already what is *held* too, and where friction, or the
    accelerations, depend on how they share the force. In a dead point nothing gives way either, but something moves.
    """
    give = [row[k] for k, row in enumerate(seen.S)]
    least = HELD * max(give, default=0.0)
    rows = {i: seen.places[i].rows[0] for i in held}
    goes = {i for i, row in rows.items() if i in seen.onward or abs(seen.drift[row]) > seen.rounding}
    twice = [i for i, row in rows.items() if not (give[row] > least or i in goes)]
    rubbing = [i for i in twice if seen.places[i].tangents]
    if rubbing or (twice and not np.isfinite(made.code.rate(np.array([t]), y, made.h)).all()):
        name, what = touches[(rubbing or twice)[0]].name, few(f"'{n}'" for n in constraints)
        raise SimulationError(
            f"at t = {t:g} s '{name}' acts along what constraints ({what}) hold already, so that nothing says how much of "
            "the force is its own. Leave out the one or the other"
        )


def check_slopes(touches: Sequence[Touch], near: Set[int], t: float, seen: Look) -> None:
    """Raise :class:`SimulationError` where no speed changes the gap of one of those *near*, so that no force keeps it closed."""
    give = seen.normal([row[k] for k, row in enumerate(seen.S)])
    for i in sorted(near):
        if not give[i]:
            raise SimulationError(
                f"at t = {t:g} s '{touches[i].name}' has a gap that no speed changes, as x^2 where x = 0, so that no force keeps "
                "it closed; expected one that goes through zero with a slope"
            )


def jammed(touches: Sequence[Touch], near: Set[int], t: float, what: str) -> SimulationError:
    """What is said where there are no *what*, ``forces`` or ``impulses``, of those *near* that keep to the laws."""
    names = ", ".join(f"'{x.name}'" for i, x in enumerate(touches) if i in near or x.normal is None)
    why = (
        "with so much friction rigid bodies may jam (Painleve). Use less friction, or a law that is smooth"
        if any(x.tangents for x in touches)
        else "they are squeezed together and nothing gives way"
    )
    return SimulationError(f"at t = {t:g} s no {what} of {names} keep to the laws of contact and friction: {why}")
