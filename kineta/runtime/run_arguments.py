"""Arguments of a run, checked before any computation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.errors import ArgumentError, did_you_mean, shown
from kineta.model.coercion import records
from kineta.model.name_inference import (
    element_forces,
    known_forces,
    likely_response_symbols,
    point_components,
    response_symbols,
    speed_derivatives,
    vector_parts,
)
from kineta.model.reserved_symbols import ENERGIES, TIME
from kineta.model.system import System
from kineta.runtime.events import Event
from kineta.values import number, numbers, whole

#: Default limit of the steps of a run, and of the memory [bytes] that they may take.
STEP_LIMIT, MEMORY_LIMIT = 10_000_000, 2**29
#: Largest number of equidistant times.
SAMPLE_LIMIT = 100_000_000
#: Default number of times recorded of every case, and limit of the memory [bytes] of the states at all times.
DEFAULT_TIMES, ENSEMBLE_MEMORY = 101, 2**32


def span(t: Any) -> tuple[float, float]:
    """Start and end of a run, from an end or from both."""
    if type(t) is float and isfinite(t) and t:
        return 0.0, t
    ends = numbers("t", t)
    if ends.shape not in ((), (2,)):
        raise ArgumentError(f"Expected the time t as an end or as (start, end), found {shown(t)}.")
    t0, t1 = map(float, ends) if ends.ndim else (0.0, float(ends))
    if not (isfinite(t0) and isfinite(t1)):
        raise ArgumentError(f"Expected a finite time t, found {t1 if isfinite(t0) else t0}.")
    if t0 == t1:
        raise ArgumentError(f"Expected an end after or before the start, found t = {t0:g} for both.")
    return t0, t1


def tolerances(rtol: Any, atol: Any, max_step: Any) -> tuple[float, float, float]:
    """Checked tolerances and largest step."""
    rtol, atol, max_step = number("rtol", rtol), number("atol", atol), number("max_step", max_step)
    if not (0 < rtol < 1 and 0 < atol < np.inf):
        raise ArgumentError(
            f"Expected tolerances with 0 < rtol < 1 and 0 < atol, found rtol = {rtol:g}, atol = {atol:g}."
        )
    if not max_step > 0:
        raise ArgumentError(f"Expected max_step > 0, found {max_step:g}.")
    return rtol, atol, max_step


def steps(max_steps: Any, kept: int) -> int:
    """Limit of the steps of a run, of which each takes *kept* bytes."""
    if max_steps is None:
        return min(STEP_LIMIT, MEMORY_LIMIT // kept) if kept else STEP_LIMIT
    return whole("max_steps", max_steps, 1)


def grid(t0: float, t1: float, t_eval: ArrayLike | None, samples: int | None) -> FloatArray | None:
    """Times to record, None for every step."""
    if t_eval is None:
        return None if samples is None else equidistant(t0, t1, whole("samples", samples, 2, SAMPLE_LIMIT))
    if samples is not None:
        raise ArgumentError("Expected either the times t_eval or a number of samples, found both.")
    times = numbers("t_eval", t_eval)
    if times.ndim != 1 or not len(times):
        raise ArgumentError(f"Expected t_eval as a row of times, found shape {times.shape}.")
    direction = np.sign(t1 - t0)
    for time in times:
        if not ((time - t0) * direction >= 0 and (t1 - time) * direction >= 0):
            raise ArgumentError(f"Expected t_eval between {t0:g} and {t1:g}, found {time:g}.")
    for before, after in pairwise(times):
        if (after - before) * direction <= 0:
            raise ArgumentError(f"Expected t_eval in the order of the motion, found {after:g} after {before:g}.")
    return times


def equidistant(t0: float, t1: float, count: int) -> FloatArray:
    """So many equidistant times from t0 to t1, as NumPy's ``linspace`` gives them, which takes as long as many a short run."""
    times = np.arange(0.0, count)
    times *= (t1 - t0) / (count - 1)
    times += t0
    times[-1] = t1
    return times


def grid_of_cases(
    t0: float, t1: float, asked: FloatArray | None, cases: int, states: int, *, dense_output: bool
) -> FloatArray:
    """Times recorded of every case: the times *asked* for, or equidistant ones."""
    if dense_output:
        raise ArgumentError(f"Expected dense_output with one motion, found {cases} cases; ask for times with t_eval.")
    times = np.linspace(t0, t1, DEFAULT_TIMES) if asked is None else asked
    needed = 8 * cases * len(times) * states
    if needed > ENSEMBLE_MEMORY:
        raise ArgumentError(
            f"The states of {cases} cases at {len(times)} times take {needed / 2**30:.0f} GiB, more than "
            f"{ENSEMBLE_MEMORY >> 30}; record fewer times, or run fewer cases at once."
        )
    return times


def watched(system: System, events: Event | Expr | Iterable[Event | Expr]) -> list[Event]:
    """Events of a run, with expressions of quantities known to *system*."""
    given = [events] if isinstance(events, Event | Expr) else events
    found = []
    for e in records(given, Event | Expr, "events, which are compiled", "kn.event(q1)"):
        event = e if isinstance(e, Event) else Event(e, name=str(e))
        found.append(replace(event, value=symbols(system, event.value, f"event '{event.name}'", resulting=True)))
    return found


def symbols(system: System, value: Expr, what: str, *, resulting: bool = False) -> Expr:
    """*value* in coordinates, speeds, parameters and points of *system* and, with *resulting*, in results of a motion, among
    which rates of first-order states stand for their expressions.

    Raises :class:`ArgumentError` for an unknown symbol.
    """
    (value,) = system.expand(value)
    for z in system.expanded.states if resulting else ():
        value = value.subs(f"{z.name}'", z.rate)
    known = {*system.q_names, *system.speeds, *(p.name for p in system.parameters), TIME, *ENERGIES}
    known |= point_components(system) | system.meanings.keys() | element_forces(system, value.symbols()).keys()
    if resulting:
        names = value.symbols()
        known |= response_symbols(system, names) | vector_parts(system, names).keys()
        known |= speed_derivatives(system, names).keys() if system.programs else set()
    for name in value.symbols():
        if name not in known:
            near = did_you_mean(name, [*likely_response_symbols(system, name), *known] if resulting else known)
            hint = known_forces(system, name) if resulting else ""
            raise ArgumentError(f"Model '{system.name}': {what} has the unknown symbol '{name}'.{near}{hint}")
    return value
