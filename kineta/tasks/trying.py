"""Touches that change within the loop of the method: what that has to know to try modes; and the state without the slip that
ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kineta.formalism.touch import FLAGS, Touch
from kineta.numerics.problem import Trials
from kineta.tasks.code import Bound

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

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


def trials(
    made: Bound,
    touches: Sequence[Touch],
    told: Sequence[tuple[int, str]],
    same: float,
    first: int,
    work: int,
    until: float,
    *,
    strikes: bool,
) -> Trials | None:
    """What the loop has to know to try modes of *touches*, by code *made*; None where none of them changes within it.

    told : for every event of touches, behind *first* others, its touch and of what it tells: ``normal``, ``tangents``, ``bound``
    same : the gap up to which contacts are closed; work : where the work is in the state; until : the largest time
    strikes : whether what strikes may be decided there, too
    """
    places = {int(i): len(made.p) + len(FLAGS) * k for k, i in enumerate(np.flatnonzero(made.code.presses))}
    of = {(i, what): first + k for k, (i, what) in enumerate(told)}
    other = {"normal": "tangents", "tangents": "normal", "bound": "bound"}
    alone = [_alone(touches[i]) for i, _ in told]
    turning = [places.get(i, -1) if what == "tangents" and a else -1 for (i, what), a in zip(told, alone, strict=True)]
    normals = [places.get(i, -1) if what == "normal" else -1 for i, what in told]
    striking = [int(strikes and place >= 0 and a) for place, a in zip(normals, alone, strict=True)]
    if max(turning, default=-1) < 0 and not any(striking):
        return None
    observed = made.code.observed
    return Trials(
        setup=made.code.setting.address,
        given=made.given,
        flags=(len(made.p), len(made.flags)),
        turning=_behind(first, -1, turning),
        normals=_behind(first, -1, normals),
        striking=_behind(first, 0, striking),
        partners=_behind(first, -1, [of.get((i, other[what]), -1) for i, what in told]),
        least=np.array([0.0] * first + [same if what == "normal" and i not in places else 0.0 for i, what in told]),
        observed=observed.address,
        size=observed.program.n_outputs,
        first=first,
        work=work,
        same=same,
        until=max(1.0, until),
    )


def _behind(first: int, none: int, values: Sequence[int]) -> IntArray:
    """*values* of events of touches behind those of the *first* events, which have *none*."""
    return np.array([none] * first + [*values], dtype=np.int64)


def _alone(touch: Touch) -> bool:
    """Whether a *touch* rubs along a line at most, with a bound of its own that cannot come to be none."""
    return len(touch.tangents) <= 1 and not touch.varies
