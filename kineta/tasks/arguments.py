"""Arguments of a run, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kineta.errors import ArgumentError, did_you_mean, shown
from kineta.expr.node import Expr
from kineta.model.given import records
from kineta.model.infer import (
    ENERGIES,
    TIME,
    derivatives,
    known_forces,
    likely_results,
    point_components,
    results,
    vectors,
)
from kineta.model.system import System
from kineta.tasks.events import Event
from kineta.values import number, numbers, whole

FloatArray = NDArray[np.float64]

#: Steps of a run at most, where no other number is given, and the bytes that they may keep.
STEPS, KEPT = 10_000_000, 2**29
#: Equidistant times to record at most.
SAMPLES = 100_000_000
#: Times recorded of every case where none are asked for, and the bytes that the states at all times may take.
SHARED, BYTES = 101, 2**32


def span(t: Any) -> tuple[float, float]:
    """Start and end from an end, or from both."""
    ends = numbers("t", t)
    if ends.shape not in ((), (2,)):
        raise ArgumentError(f"Expected the time t as an end or as (start, end), found {shown(t)}.")
    t0, t1 = map(float, ends) if ends.ndim else (0.0, float(ends))
    if not (np.isfinite(t0) and np.isfinite(t1)):
        raise ArgumentError(f"Expected a finite time t, found {t0 if not np.isfinite(t0) else t1}.")
    if t0 == t1:
        raise ArgumentError(f"Expected an end after or before the start, found t = {t0:g} for both.")
    return t0, t1


def column(name: str, value: Any) -> FloatArray:
    """*value* as a number, or as one for every case, (cases,)."""
    values = numbers(name, value)
    if values.ndim > 1:
        raise ArgumentError(f"Expected a number for {name}, or one for every case, found shape {values.shape}.")
    return values


def finite(system: System, what: str, names: Sequence[str], values: FloatArray) -> None:
    """Raise where a value (n,) or (cases, n) is not finite."""
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        *case, i = bad[0].tolist()
        where = f" in case {case[0]}" if case else ""
        value = values[tuple(bad[0])]
        raise ArgumentError(f"Model '{system.name}': {what} '{names[i]}' is {value}{where}; expected a finite number.")


def cases(given: Mapping[str, FloatArray]) -> int | None:
    """How many cases there are, None for one motion without an axis of cases. *given*: rows (n,) or (cases, n) by name."""
    found = {name: len(rows) for name, rows in given.items() if rows.ndim > 1}
    if len(set(found.values())) > 1:
        raise ArgumentError(
            f"Expected the same number of cases, found {', '.join(f'{k} for {n}' for n, k in found.items())}."
        )
    count = next(iter(found.values()), None)
    if count == 0:
        raise ArgumentError(f"Expected at least one case, found none for {next(iter(found))}.")
    return count


def tolerances(rtol: Any, atol: Any, max_step: Any) -> tuple[float, float, float]:
    """The numbers that steer the step size."""
    rtol, atol, max_step = number("rtol", rtol), number("atol", atol), number("max_step", max_step)
    if not (0 < rtol < 1 and 0 < atol < np.inf):
        raise ArgumentError(
            f"Expected tolerances with 0 < rtol < 1 and 0 < atol, found rtol = {rtol:g}, atol = {atol:g}."
        )
    if not max_step > 0:
        raise ArgumentError(f"Expected max_step > 0, found {max_step:g}.")
    return rtol, atol, max_step


def steps(max_steps: Any, kept: int) -> int:
    """How many steps a run may make, of which each keeps *kept* bytes."""
    if max_steps is None:
        return min(STEPS, KEPT // kept) if kept else STEPS
    return whole("max_steps", max_steps, 1)


def grid(t0: float, t1: float, t_eval: ArrayLike | None, samples: int | None) -> FloatArray | None:
    """The times to record, None for every step."""
    if t_eval is None:
        return None if samples is None else np.linspace(t0, t1, whole("samples", samples, 2, SAMPLES))
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


def grid_of_cases(
    t0: float, t1: float, asked: FloatArray | None, cases: int, states: int, *, dense_output: bool
) -> FloatArray:
    """The times at which every case is recorded: those *asked* for, or equidistant ones."""
    if dense_output:
        raise ArgumentError(f"Expected dense_output with one motion, found {cases} cases; ask for times with t_eval.")
    times = np.linspace(t0, t1, SHARED) if asked is None else asked
    needed = 8 * cases * len(times) * states
    if needed > BYTES:
        raise ArgumentError(
            f"The states of {cases} cases at {len(times)} times take {needed / 2**30:.0f} GiB, more than {BYTES >> 30}; "
            "record fewer times, or run fewer cases at once."
        )
    return times


def watched(system: System, events: Event | Expr | Iterable[Event | Expr]) -> list[Event]:
    """The events of a run, each an expression of what *system* knows."""
    given = [events] if isinstance(events, Event | Expr) else events
    found = []
    for e in records(given, Event | Expr, "events, which are compiled", "kn.event(q1)"):
        event = e if isinstance(e, Event) else Event(e, name=str(e))
        found.append(replace(event, value=symbols(system, event.value, f"event '{event.name}'", resulting=True)))
    return found


def symbols(system: System, value: Expr, what: str, *, resulting: bool = False) -> Expr:
    """*value* in coordinates, speeds, parameters and points of *system*, and in what a motion results in, if that may be.

    Raises where it holds a symbol that is none.
    """
    (value,) = system.expand(value)
    known = {*system.q_names, *system.speeds, *(p.name for p in system.parameters), TIME, *ENERGIES}
    known |= point_components(system) | system.meanings.keys()
    if resulting:
        names = value.symbols()
        known |= results(system, names) | vectors(system, names).keys()
        known |= derivatives(system, names).keys() if system.programs else set()
    for name in value.symbols():
        if name not in known:
            near = did_you_mean(name, [*likely_results(system, name), *known] if resulting else known)
            hint = known_forces(system, name) if resulting else ""
            raise ArgumentError(f"Model '{system.name}': {what} has the unknown symbol '{name}'.{near}{hint}")
    return value
