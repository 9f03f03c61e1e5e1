"""Descriptor matrices: the linearisation in all states, independent and dependent ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.consistency.definition_domain import domain_violation
from kineta.errors import ArgumentError
from kineta.runtime.independent_states import independent_states, state_names
from kineta.runtime.kinks import at_kink, corners_there, crowded_jumps
from kineta.runtime.tangent import Linearisation, Tangent

#: Why an entry of a matrix has no limit.
BENT = "it has a corner, a jump or no value there"
#: Largest relative change of rates over the distance of neighbours, in units of it, where they do not jump.
LIPSCHITZ = 100.0
#: Ratio of a second, smaller distance, at which continuous rates differ in proportion; limits are extrapolated from both.
NEARER = 1 / 16
#: The lowest power of the distance by which what comes to its own value is known to.
SLOWEST = 1 / 4
#: What bends that is named at most.
NAMED = 3


def near(
    tangent: Tangent, t: FloatArray, q: FloatArray, v: FloatArray, tau: FloatArray, p: FloatArray
) -> Linearisation:
    """Return the matrices at states with leading axes, or their limits where they do not exist. Raises without a limit."""
    found = tangent.at(t, q, v, tau, p)
    if all(np.isfinite(getattr(found, f.name)).all() for f in fields(found)) and not at_kink(
        tangent.equations, tangent.outputs.values(), t, q, v, p
    ):
        return found
    independent_states(tangent, found)  # names the dependent constraints
    rng, apart = np.random.default_rng(0), tolerances.SIDE_DISTANCE
    far, close = list[Linearisation](), list[Linearisation]()
    for _ in range(3):
        dq, dv = (apart * rng.choice([-1.0, 1.0], x.shape[-1]) * rng.uniform(0.5, 1.0, x.shape[-1]) for x in (q, v))
        for to, part in ((far, 1.0), (close, NEARER)):
            to += [tangent.at(t, q + sign * part * dq, v + sign * part * dv, tau, p) for sign in (1, -1)]
    why = _why(tangent, t, q, v, p)
    _check_steady(tangent, [x.rate for x in far[-2:]], [x.rate for x in close[-2:]], why)
    means = {}
    for f in fields(found):
        wide, narrow = (np.array([getattr(x, f.name) for x in found]) for found in (far, close))
        size = max(1.0, float(np.abs(np.nan_to_num([wide, narrow])).max(initial=0.0)))
        # What changes in proportion to the distance has a limit, however fast it does.
        own = getattr(found, f.name)
        limits = narrow + NEARER / (1 - NEARER) * (narrow - wide)
        # What comes to its value like a power of the distance has this limit.
        limits = np.where(np.abs(narrow - own) <= NEARER**SLOWEST * np.abs(wide - own), own, limits)
        if not np.isfinite(limits).all() or np.ptp(limits, axis=0).max(initial=0.0) > apart * size:
            raise ArgumentError(_no_limit(tangent, f.name, limits, why))
        mean = limits.mean(axis=0)
        kept = np.isfinite(own) & (np.abs(np.nan_to_num(own) - mean) <= apart * size)
        means[f.name] = np.where(kept, own, mean)
    return Linearisation(**means)


def _why(tangent: Tangent, t: FloatArray, q: FloatArray, v: FloatArray, p: FloatArray) -> str:
    """Return the sentence on the first operation without a value or derivative, or on what jumps or bends, at the states; ``''``
    for none.
    """
    lead = q.shape[:-1]
    for i in np.ndindex(lead):
        own = (np.broadcast_to(x, (*lead, x.shape[-1]))[i] for x in (t, q, v, p))
        time, place, speeds, known = own
        acting = tuple(tangent.outputs.values())
        state = float(time[0]), np.concatenate([place, speeds])
        if why := domain_violation(tangent.equations, known, *state, acting):
            return why
        if jumping := crowded_jumps(tangent.equations, known, *state):
            return f"{BENT}, where {jumping[0]} jumps"
        if bending := list(dict.fromkeys(corners_there(tangent.equations, known, *state)))[:NAMED]:
            return f"{BENT}, where {' or '.join(bending)} bends"
    return ""


def _check_steady(tangent: Tangent, far: Sequence[FloatArray], near: Sequence[FloatArray], why: str) -> None:
    """Raise for rates that jump at a state: their differences across it are as large *near* as *far*."""
    wide, narrow = (np.abs(a - b) for a, b in (far, near))
    size = max(1.0, float(np.abs(np.nan_to_num(far)).max(initial=0.0)))
    if (narrow > np.maximum(LIPSCHITZ * tolerances.SIDE_DISTANCE * size, wide / 2)).any():
        raise ArgumentError(_no_limit(tangent, "rate", np.array(near), why))


def _no_limit(tangent: Tangent, name: str, values: FloatArray, why: str) -> str:
    """Return the sentence on entries without a limit at a state, and *why*."""
    system = tangent.equations.system
    states = state_names(system)
    rows = tangent.rows if name[0] in "Hf" else tuple(tangent.outputs) if name == "Y" else states
    spread = np.where(np.isfinite(values).all(axis=0), np.ptp(np.nan_to_num(values), axis=0), np.inf)
    at = np.unravel_index(int(spread.argmax()), spread.shape)
    row = int(at[-1] if name == "rate" else at[-2])
    what = f"the rate of '{rows[row]}'" if rows is states else f"'{rows[row]}'"
    return f"Model '{system.name}': {what} has no derivative at this state: {why or BENT}. Linearise beside it."
