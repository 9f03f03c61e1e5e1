"""Mode trials in the native loop: data for candidate modes of contacts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, IntArray
from kineta.integration.problem import ModeTrials
from kineta.kernels.transition import LEVER
from kineta.mechanics.contact.unilateral_rows import FLAGS, UnilateralConstraint
from kineta.runtime.compiled import BoundSystem


def returned(t: float, y: FloatArray, made: BoundSystem, slip: float) -> FloatArray | None:
    """State projected onto sticking, from one with this *slip*; None where the projection would change much more, as at a dead
    centre, where slip vanishes and the motion goes on.
    """
    _, velocity = made.code.projection_calls
    found = velocity(t, y, made.h)
    off = float(np.abs(found - y).max())
    return found if off <= max(LEVER * slip, tolerances.STATE_TOLERANCE * max(1.0, np.abs(y).max())) else None


def mode_trials(
    made: BoundSystem,
    touches: Sequence[UnilateralConstraint],
    told: Sequence[tuple[int, str]],
    same: float,
    first: int,
    work: int,
    until: float,
    *,
    strikes: bool,
) -> ModeTrials | None:
    """Data for mode trials of *touches* in the loop, by code *made*; None where none of them changes within it.

    told : contact and quantity of every guard behind the *first* events: ``normal``, ``tangents``, ``bound``
    same : contact tolerance of gaps; work : index of the work in the state; until : largest time
    strikes : True where impacts may be decided in the loop, too
    """
    places = {int(i): len(made.p) + len(FLAGS) * k for k, i in enumerate(np.flatnonzero(made.code.closed))}
    of = {(i, what): first + k for k, (i, what) in enumerate(told)}
    other = {"normal": "tangents", "tangents": "normal", "bound": "bound"}
    alone = [_single_tangent(touches[i]) for i, _ in told]
    turning = [places.get(i, -1) if what == "tangents" and a else -1 for (i, what), a in zip(told, alone, strict=True)]
    normals = [places.get(i, -1) if what == "normal" else -1 for i, what in told]
    striking = [int(strikes and place >= 0 and a) for place, a in zip(normals, alone, strict=True)]
    if max(turning, default=-1) < 0 and not any(striking):
        return None
    observed = made.code.observed
    return ModeTrials(
        setup=made.code.setup_function.address,
        given=made.block_inputs,
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


def _single_tangent(touch: UnilateralConstraint) -> bool:
    """True for a contact with at most one tangent and a friction limit that cannot vanish."""
    return len(touch.tangents) <= 1 and not touch.varies
