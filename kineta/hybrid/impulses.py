"""Records of impacts: impulses of contacts and limits, and the energy lost."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from kineta import tolerances
from kineta.hybrid.contact_state import ContactState, Numbers
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.numerics.linear_algebra import solve
from kineta.results.impacts import Impact


def impacts(
    touches: Sequence[UnilateralConstraint], t: float, seen: ContactState, impulse: Numbers, struck: Collection[int]
) -> Iterator[Impact]:
    """Impacts at the time *t* by an *impulse* (r,) along the rows, from the state *seen* before it: of the contacts *struck*,
    even without an impulse of their own, and of contacts with an impulse.
    """
    after, least = seen.after(impulse), tolerances.ROUNDING_TOLERANCE * max(map(abs, impulse), default=0.0)
    for i, (touch, place) in enumerate(zip(touches, seen.contact_rows, strict=True)):
        if touch.normal is None or not (i in struck or any(abs(impulse[k]) > least for k in place.rows)):
            continue
        along = {row.constraint.rpartition(".")[2]: impulse[k] for row, k in zip(touch.rows, place.rows, strict=True)}
        parts = (impulse[place.rows[0]], along.get("u", 0.0), along.get("w", 0.0))
        work = sum(impulse[k] * (seen.slip[k] + after[k]) / 2 for k in place.rows)
        yield Impact(t, touch.name, *parts, seen.slip[place.rows[0]], after[place.rows[0]], -work)


def single_impulse(seen: ContactState, then: ContactState, i: int) -> list[float]:
    """Impulse along the rows of contact *i* alone that changes the velocities of *seen* to *then*, in one position."""
    rows = [k for k in seen.contact_rows[i].rows if seen.S[k][k] > 0]
    S = np.array([[seen.S[j][k] for k in rows] for j in rows])
    found = solve(S, [then.slip[k] - seen.slip[k] for k in rows], what="the impulses")
    impulse = [0.0] * len(seen.slip)
    for k, x in zip(rows, found.tolist(), strict=True):
        impulse[k] = x
    return impulse
