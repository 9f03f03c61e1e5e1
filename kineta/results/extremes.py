"""Extremes along a motion: least and largest values of series, refined between the sample times."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.calls import call_user_function
from kineta.errors import ArgumentError, shown
from kineta.results.result import Result
from kineta.results.series import Extremes, Series, first_largest
from kineta.values import numbers

#: Sample points within a bracket, and number of refinements: each shrinks the bracket to a quarter.
PARTS, ROUNDS = np.linspace(0.0, 1.0, 9), 10
#: Least and largest number of sample times.
MIN_TIMES, MAX_TIMES = 200, 200_000
#: Largest change of an extreme by the last halving of the intervals, relative to its series.
SETTLED = 1e-3


def extremes(
    found: Callable[[FloatArray], Series | Result | Mapping[str, FloatArray]], t: FloatArray
) -> dict[str, Extremes]:
    """Return the extremes of all series of *found*, by name.

    found : function of rising times (k,) that returns series by name, as ``lambda t: kn.reactions(system, run.at(t))``
    t : rising first sample times: ``run.sol.steps``, the steps of a run. Their intervals are halved until the extremes settle;
        the best samples are then refined between their neighbours, where a jump may lie too

    Raises :class:`ArgumentError` without times, and for a function that returns no series or raises an error.
    """
    times = np.unique(numbers("t", t))
    if not len(times) or not np.isfinite(times).all():
        raise ArgumentError(f"Expected times at which extremes are sought, found {shown(t) if len(times) else 'none'}.")
    if not callable(found):
        raise ArgumentError(f"Expected a function that gives series at given times, found {shown(found)}.")

    def look(at: FloatArray) -> tuple[list[str], FloatArray]:
        made = call_user_function("the function of which extremes are sought", ArgumentError, found, at)
        series = getattr(made, "series", made)
        if not isinstance(series, Mapping):
            raise ArgumentError(f"Expected series by name at the times given, found {shown(series)}.")
        return list(series), np.array([*series.values()]).reshape(len(series), len(at))

    names, values = look(times)
    if not names:
        return {}
    settled = len(times) == 1
    while not settled and len(times) < MAX_TIMES:  # a step of a run may contain many oscillations
        between = (times[:-1] + times[1:]) / 2
        more = look(between)[1]
        tops = [np.vstack([-x, x]).max(axis=1) for x in (values, more)]
        size = np.maximum(np.abs(values).max(axis=1), np.abs(more).max(axis=1))
        settled = len(times) > MIN_TIMES and bool((tops[1] - tops[0] <= SETTLED * np.tile(size, 2)).all())
        order = np.argsort(np.concatenate([times, between]), kind="stable")
        times = np.concatenate([times, between])[order]
        values = np.hstack([values, more])[:, order]
    sides = np.vstack([-values, values])
    rounding = tolerances.ROUNDING_TOLERANCE * np.abs(sides).max(axis=1)
    best = first_largest(sides)
    own = np.arange(len(sides))
    low, high = times[np.maximum(best - 1, 0)], times[np.minimum(best + 1, len(times) - 1)]
    top, when = sides[own, best], times[best]
    for _ in range(ROUNDS if len(times) > 1 else 0):
        tried = low[:, None] + (high - low)[:, None] * PARTS
        some, places = np.unique(tried, return_inverse=True)
        seen = look(some)[1]
        at = np.vstack([-seen, seen])[own[:, None], places.reshape(tried.shape)]
        k = at.argmax(axis=1)
        higher = at[own, k] > top + rounding
        top, when = np.where(higher, at[own, k], top), np.where(higher, tried[own, k], when)
        low, high = tried[own, np.maximum(k - 1, 0)], tried[own, np.minimum(k + 1, len(PARTS) - 1)]
    n = len(names)
    rows = zip(-top[:n] + 0.0, when[:n], top[n:], when[n:], strict=True)
    return {name: Extremes(*map(float, row)) for name, row in zip(names, rows, strict=True)}
