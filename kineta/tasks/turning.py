"""Friction along lines that sticks, slips back and begins to slip within the loop of the method: what that has to know; and the
state without the slip that ends.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np
from numpy.typing import NDArray

from kineta.formalism.touch import FLAGS, Touch
from kineta.numerics.problem import Turns
from kineta.tasks.code import Bound

FloatArray = NDArray[np.float64]

#: By how many times a slip speeds may change that bring it to an end, and by which part of a state in any case.
LEVER, ASIDE = 1e4, 1e-9


def returned(t: float, y: FloatArray, made: Bound, slip: float) -> FloatArray | None:
    """The state with the speeds at which what sticks does not slip, from one in which it has this *slip*; None where that would
    change much more, as in a dead point, where slip ends though all goes on.
    """
    _, velocity = made.code.nearer
    found = velocity(t, y, made.h)
    off = float(np.abs(found - y).max())
    return found if off <= max(LEVER * slip, ASIDE) or off <= ASIDE * np.abs(y).max() else None


def turns(
    made: Bound,
    touches: Sequence[Touch],
    events: Sequence[tuple[int, str]],
    open_gaps: Set[int],
    same: float,
    first: int,
    work: int,
    until: float,
) -> Turns | None:
    """What the loop has to know to let turn what may of the *touches*, by code *made*; None where nothing does.

    events : of touches, behind *first* others: the place of its touch, and whether of ``normal``, ``tangents``, or ``bound``
    open_gaps : of which touches ``normal`` is a gap, above *same*; work : where the work is in the state
    """
    places = {int(i): len(made.p) + len(FLAGS) * k for k, i in enumerate(np.flatnonzero(made.code.presses))}
    flags = [places.get(i, -1) if what == "tangents" and _turns(touches[i]) else -1 for i, what in events]
    if max(flags, default=-1) < 0:
        return None
    least = [same if what == "normal" and i in open_gaps else 0.0 for i, what in events]
    observed = made.code.observed
    return Turns(
        setup=made.code.setting.address,
        given=made.given,
        flags=np.array([-1] * first + flags),
        least=np.array([0.0] * first + least),
        observed=observed.address,
        size=observed.program.n_outputs,
        first=first,
        work=work,
        until=max(1.0, until),
    )


def _turns(touch: Touch) -> bool:
    """Whether a *touch* rubs along a line, with a bound of its own that cannot come to be none."""
    return len(touch.tangents) == 1 and not touch.varies
