"""Readers of the options of tasks: from texts to arguments of the task's function."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kineta.cli.values import interval_of, number, number_of, numbers, once, terminal, with_values
from kineta.errors import ArgumentError, did_you_mean
from kineta.records import dataclass
from kineta.tasks.task import Option

if TYPE_CHECKING:
    from kineta.algebra.expression import Expr
    from kineta.arrays import FloatArray
    from kineta.model.system import System

#: Times of a step response.
STEP_TIMES = 501


@dataclass(frozen=True)
class Reading:
    """Arguments from a group of options, with lines of text ahead of the result, and further keys for JSON."""

    arguments: dict[str, Any]
    lines: tuple[str, ...] = ()
    keys: dict[str, Any] = field(default_factory=dict)


def names(text: str) -> list[str]:
    """Return the names of a list with commas."""
    return [name.strip() for name in text.split(",") if name.strip()]


# -- single options ----------------------------------------------------------------------------------------------------


def _intervals(option: Option, texts: tuple[str, ...], system: System) -> dict[str, tuple[float, float]]:
    from kineta.model.dimensions import known_dimensions

    return once(option.typed, [interval_of(option.typed, x, known_dimensions(system)) for x in texts])


def _weights(option: Option, texts: tuple[str, ...], system: System) -> dict[str, float]:
    from kineta.model.units import NUMBER

    pairs = [number_of(option.typed, text, {text.partition("=")[0].strip(): NUMBER}) for text in texts]
    return once(option.typed, pairs)


def _deviations(option: Option, text: str, system: System) -> float | dict[str, float]:
    """Return one number for all series, or numbers by name."""
    from kineta.model.dimensions import known_dimensions, output_units
    from kineta.model.units import NUMBER, unit

    if "=" not in text:
        return number(option.typed, text, NUMBER)
    known = known_dimensions(system) | {n: unit(u).dimension for n, u in output_units(system).items()}
    return once(option.typed, [number_of(option.typed, part, known) for part in names(text)])


def _places(option: Option, text: str, system: System) -> dict[str, Any]:
    """Return the targets of bodies and points, from components or from JSON."""
    import json  # takes as long as much of a short call

    from kineta.model.units import LENGTH

    if not text.lstrip().startswith("{"):
        pairs = [number_of(option.typed, part, {part.partition("=")[0].strip(): LENGTH}) for part in names(text)]
        return once(option.typed, pairs)
    try:
        return dict(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{option.typed}: expected JSON, found '{text[:60]}' ({error}).") from None


def _direction(option: Option, text: str, system: System) -> tuple[float, ...]:
    """Return three numbers."""
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if len(found) != 3:
        raise ArgumentError(f"{option.typed}: expected three numbers, as in 1,-2,1, found '{text}'.")
    return found


def _expression(option: Option, text: str, system: System) -> Expr:
    from kineta.model.io.kin_reader import expression

    return expression(text, option.typed)


def _run_series(option: Option, text: str, system: System) -> list[str]:
    """Return names of series, all of which a run of *system* has."""
    from kineta.equations.equations import equations_of
    from kineta.model.reserved_symbols import POINT_COMPONENTS
    from kineta.results.result import series_names

    chosen, known = _series(option, text, system), series_names(equations_of(system))
    for name in chosen:
        if name not in known:
            owner, _, component = name.rpartition(".")
            places = (*(b.name for b in system.bodies), *(p.name for p in system.points))
            of_a_point = component in POINT_COMPONENTS and owner in places
            hint = f" Add 'output {name};' to the model." if of_a_point else did_you_mean(name, known)
            raise ArgumentError(
                f"{option.typed}: model '{system.name}' has no coordinate, speed, energy, output or multiplier '{name}'.{hint}"
            )
    return chosen


def _series(option: Option, text: str, system: System) -> list[str]:
    chosen = list(dict.fromkeys(names(text)))
    if not chosen:
        raise ArgumentError(f"{option.typed}: expected names separated by commas, found '{text}'.")
    return chosen


#: The reader of each kind of option; click has checked values that need no model.
READERS: dict[str, Callable[[Option, Any, Any], Any]] = {
    **dict.fromkeys(
        (
            "text",
            "word",
            "flag",
            "latex",
            "whole",
            "real",
            "time",
            "end",
            "hertz",
            "file",
            "plot",
            "view",
            "save",
            "run",
            "page",
            "report",
        ),
        lambda option, value, system: value,
    ),
    "names": lambda option, text, system: names(text),
    "state": lambda option, text, system: numbers(option.typed, text, system) or None,
    "intervals": _intervals,
    "weights": _weights,
    "deviations": _deviations,
    "places": _places,
    "direction": _direction,
    "expression": _expression,
    "series": _series,
    "run_series": _run_series,
}


# -- groups  -----------------------------------------------------------------------------------------------------------


def _about(given: Mapping[str, Any], system: System) -> Reading:
    """Return the state of ``--q`` and ``--v``, or the position of rest, or steady motion, that is nearest to it."""
    steady = names(given["steady"] or "")
    about: dict[str, float] = {}
    for option, known in (("q", system.q_names), ("v", system.v_names)):
        values = numbers(f"--{option}", given[option], system)
        about |= values if isinstance(values, dict) else dict(zip(known, values or (), strict=False))
    if not (given["rest"] or steady):
        return Reading({"about": about})
    if given["v"] is not None and not steady:
        raise ArgumentError("--v: at rest there are no speeds; leave out --v or --equilibrium.")
    from kineta.tasks.equilibria.equilibrium import equilibrium

    q, v = ({n: x for n, x in about.items() if n in known} for known in (system.q_names, system.v_names))
    return Reading({"about": equilibrium(with_values(system), q, v, steady=steady).initial})


def _along(given: Mapping[str, Any], system: System) -> Reading:
    """Return a motion, and its times where it has none of its own."""
    import numpy as np

    from kineta.results.outcomes import check_complete

    motion = given["motion"]
    to, samples = 1.0 if given["to"] is None else given["to"], 101 if given["samples"] is None else given["samples"]
    if motion is not None and not motion.startswith("@") and samples > 1 and to <= 0:
        raise ArgumentError(f"--to: expected a time after 0, found {to:g}; --samples 1 looks at one time alone.")
    t = np.linspace(0.0, to, samples) if samples > 1 else np.array([to])
    if motion is None:
        from kineta.simulation.simulate import simulate

        if not to:
            raise ArgumentError(
                "--to: expected a time beside 0 where no --motion is given: the run from the initial state goes there."
            )
        run = simulate(system, (0.0, to), t_eval=t, dense_output=True)
        why = f"the motion from the initial state does not come to --to: {run.message}"
        check_complete(run.model, run.status, why)
        return Reading({"motion": run, "t": None})
    if motion.startswith("@"):
        for option in ("to", "samples"):
            if given[option] is not None:
                raise ArgumentError(f"--{option}: a run or a table has times of its own; leave it out.")
        path = Path(motion[1:])
        if path.suffix == ".nc":
            return Reading({"motion": path, "t": None})
        from kineta.tasks.motions.trajectory import moving

        times, found = _table(path, given, system)
        return Reading({"motion": moving(system, found), "t": times})
    from kineta.model.dimensions import known_dimensions
    from kineta.model.io.kin_reader import definitions

    return Reading({"motion": definitions(re.sub(r"\s+", " ", motion), "--motion", known_dimensions(system)), "t": t})


def _recorded(given: Mapping[str, Any], system: System) -> Reading:
    """Return the motion of a run or a table, its times, and the forces (k, nv) unless only the excitation is asked for."""
    import numpy as np

    from kineta.model.reserved_symbols import added_force
    from kineta.tasks.motions.trajectory import moving

    if given["data"].suffix == ".nc":
        return Reading({"motion": given["data"]})
    t, found = _table(given["data"], given, system)
    motion = {"motion": moving(system, found), "t": t}
    if given["excitation"]:
        return Reading(motion)
    for name in map(added_force, system.v_names):
        if name not in found:
            raise ArgumentError(
                f"{given['data']}: expected a column '{name}' of the force on every speed, found {', '.join(found)}."
            )
    return Reading({**motion, "tau": np.stack([found[added_force(n)] for n in system.v_names], axis=-1)})


def _measured(given: Mapping[str, Any], system: System) -> Reading:
    """Return the series of a table that are fitted, with their times: those of ``--series``, or all that the model has."""
    from kineta.tasks.sensitivity.fit import measured_names

    t, found = _table(given["data"], given, system)
    known = measured_names(system)
    chosen = [n for n in found if n in known] if given["series"] is None else names(given["series"])
    if not chosen:
        raise ArgumentError(
            f"{given['data']}: expected series that the model has, as {known[0]}, found {', '.join(found)}. "
            f"--column {known[0]}=... says which is meant."
        )
    for name in chosen:
        if name not in found:
            raise ArgumentError(
                f"--series: there is no column '{name}' in {given['data']}; its columns are {', '.join(found)}."
            )
    left = [n for n in found if n not in chosen]
    aside = f"; columns that the model does not have: {', '.join(left)}" if left else ""
    lines = (f"fitted: {', '.join(chosen)}{aside}",) if given["series"] is None else ()
    return Reading({"data": {n: found[n] for n in chosen}, "t": t}, lines, {"left_aside": left})


def _table(path: Path, given: Mapping[str, Any], system: System) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return times and columns of the table at *path*, under the names that ``--time`` and ``--column`` say."""
    from kineta.model.dimensions import series_dimensions
    from kineta.results.csv_table import table

    pairs = []
    for text in given["column"]:
        name, equals, own = text.partition("=")
        if not equals:
            raise ArgumentError(f"--column: expected NAME=COLUMN, found '{text}'.")
        pairs.append((name.strip(), own.strip()))
    return table(path, given["time"] or "t", once("--column", pairs), series_dimensions(system))


def _response_grid(given: Mapping[str, Any], system: System) -> Reading:
    """Return frequencies, or the times after a step; by default the frequencies of the task."""
    import numpy as np

    from kineta.tasks.linear.response import FREQUENCIES

    step, low, high = (given[n] for n in ("step", "low", "high"))
    if (low is None) != (high is None) or (step is not None and low is not None):
        raise ArgumentError("Expected both --from and --to, without --step, or neither of them.")
    if low is not None and not 0 < low < high:
        raise ArgumentError(f"Expected frequencies above 0 that rise, found --from {low:g} --to {high:g}.")
    if step is not None and step <= 0:
        raise ArgumentError(f"--step: expected a time above 0, found {step:g}.")
    if step is not None:
        return Reading({"time": np.linspace(0.0, step, STEP_TIMES)})
    return Reading({} if low is None else {"frequency": np.geomspace(low, high, FREQUENCIES)})


def _destination(given: Mapping[str, Any], system: System) -> Reading:
    """Return the parameter of a family of equilibria, and its last value; nothing without ``--along``."""
    from kineta.model.dimensions import known_dimensions

    if given["along"] is None:
        return Reading({})
    name, value = number_of("--along", given["along"], known_dimensions(system))
    return Reading({"parameter": name, "to": value})


#: The reader of each kind of group, from the values of all options.
GROUPS: dict[str, Callable[[Mapping[str, Any], Any], Reading]] = {
    "about": _about,
    "along": _along,
    "recorded": _recorded,
    "measured": _measured,
    "response_grid": _response_grid,
    "destination": _destination,
    "progress": lambda given, system: Reading({"progress": terminal()}),
}
