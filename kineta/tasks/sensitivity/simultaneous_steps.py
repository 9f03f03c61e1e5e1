"""Steps of the rates at one time that part as things vary, as two steps of an input of which each has a time of its own.

Each order of them has a product of matrices of saltation, one for each step, with the rates where some steps are passed and
others not, which are found beside the place at which all come together::

    dt = -(e_y dy + e_p dp) / (e_y f + e_t)        dy+ = dy + (f - f+) dt

Variations have a derivative where the products of all orders are one; where rates add up, they are sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.numerics.linear_algebra import pinv
from kineta.tasks.sensitivity.mode_tangent import ModeTangent
from kineta.tasks.sensitivity.saltation import Delay, End, disorder, end_of

#: Most steps at one time whose orders are tried.
MANY = 4


def behind_steps(
    tangent: ModeTangent, old: End, new: End, delays: Sequence[Delay], places: Sequence[int], X: FloatArray
) -> FloatArray:
    """Return the variations behind steps between the ends *old* and *new*, which are *X* ahead of them; *delays* are those of the
    guards at these *places* among the watched values.

    Raises :class:`SimulationError` where they depend on the order of the steps, and for more than :data:`MANY`.
    """
    count, n, none = len(delays), tangent.states, frozenset[int]()
    wrong = disorder(old, delays[0].guard, delays[1].guard)
    if count > MANY:
        raise wrong
    rates: dict[frozenset[int], FloatArray | None] = {none: old.f, frozenset(range(count)): new.f}
    found = list[FloatArray]()
    for order in permutations(range(count)):
        Y, passed, f = X.copy(), none, old.f
        for k in order:
            slopes, passed = delays[k].guard.slopes, passed | {k}
            if passed not in rates:
                behind = {places[i] for d in passed for i in delays[d].members}
                rates[passed] = _rates_beside(tangent, old, new, places, behind)
            after, rate = rates[passed], float(tangent.in_time(slopes, f))
            if after is None or rate == 0:
                raise wrong
            Y[:n] += np.outer(after - f, tangent.by_state(slopes, Y) / rate)
            f = after
        found.append(Y)
    first, size = found[0], max(float(np.abs(Y - X).max(initial=0.0)) for Y in found)
    if any(np.abs(Y - first).max(initial=0.0) > tolerances.SOLUTION_DISTANCE * size for Y in found[1:]):
        raise wrong
    return first


def _rates_beside(
    tangent: ModeTangent, old: End, new: End, places: Sequence[int], behind: set[int]
) -> FloatArray | None:
    """The rates beside the end *old*, where the watched values at the places *behind* are as in *new*, and those at the other
    *places* as in *old*; None where nothing near is so.
    """
    F, names, p = tangent.functions, tangent.equations.system.parameter_names, old.mode.p.copy()
    own = F.nq + F.nv
    varied = [k for k, name in enumerate(tangent.varied) if name in names]
    at = [names.index(tangent.varied[k]) for k in varied]
    scale = np.maximum(1.0, np.abs(np.concatenate([old.y[:own], [old.t], p[at]])))
    wanted = np.where([k in behind for k in places], new.values[list(places)], old.values[list(places)])
    slopes = old.slopes[list(places)][:, [*range(own + 1), *(own + 1 + k for k in varied)]] * scale
    moved = scale * (pinv(slopes, what="the slopes of steps") @ (wanted - old.values[list(places)]))
    p[at] += moved[own + 1 :]
    beside = end_of(tangent, replace(old.mode, p=p), old.t + moved[own], old.y[:own] + moved[:own])
    return beside.f if np.array_equal(np.sign(beside.values[list(places)]), np.sign(wanted)) else None
