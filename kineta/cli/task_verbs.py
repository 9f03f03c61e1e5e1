"""Verbs of tasks: each follows from its row of :data:`kineta.tasks.table.TASKS`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import click

from kineta.cli.options import Verb, json_, model, parameter, settings
from kineta.cli.readers import GROUPS, READERS, Reading, names
from kineta.cli.values import CHECK_FAILED, INTERRUPTED, Settings, echo, emit, fail, print_json, read, with_values
from kineta.errors import ArgumentError, MissingPackageError
from kineta.tasks.table import TASKS
from kineta.tasks.task import Option, OptionGroup, Task

if TYPE_CHECKING:
    from kineta.model.system import System
    from kineta.results.series import Extremes, Series

#: Kinds of options for files of a result, with the endings that these may have.
FILES = {
    "plot": (".png", ".svg", ".pdf"),
    "view": (".html", ".glb", ".png", ".svg", ".pdf"),
    "save": (".csv",),
    "run": (".nc", ".csv"),
    "page": (),
    "report": (".html",),
}
#: Kinds of options for the output of a result, which are no arguments of the function.
TARGETS = (*FILES, "series", "run_series", "latex")


def verbs(tasks: Iterable[Task] = TASKS) -> Iterator[click.Command]:
    """Yield the verbs of *tasks*."""
    return (_verb(task) for task in tasks if task.verb)


def _verb(task: Task) -> click.Command:
    """Return the verb of a row."""

    def called(**given: Any) -> None:
        run(task, **given)

    for option in reversed((model, *map(parameter, task.flat), settings, json_)):
        called = option(called)
    *said, examples = cleandoc(task.help).split("\n\n")
    return click.command(task.verb, cls=Verb, help="\n\n".join(said), examples=examples)(called)


def run(task: Task, model: Path, settings: Settings, *, as_json: bool, **given: Any) -> None:
    """Call the function of a *task* with the values *given* as options; say, draw and save its result."""
    present = [x for x in task.flat if given[x.name] not in (None, (), x.default)]
    _check(task, present, given)
    system = read(model, settings)
    if (task.valued is True or any(x.name == task.valued for x in present)) and all(x.valued for x in present):
        system = with_values(_with_unknown(system, names(given.get("unknown") or "")))
    series: list[str] = next(
        (READERS[x.kind](x, given[x.name], system) for x in present if x.kind.endswith("series")), []
    )
    reading = _reading(task, present, given, system)
    function = task.object(next((x.calls for x in present if x.calls), task.function or task.verb))
    found = function(system, **reading.arguments)
    # A table and a saved run are known at their own times alone.
    sampled = "motion" not in given or (given["motion"] or "").startswith("@")
    most = None if sampled else _extremes(function, system, reading.arguments)
    if not hasattr(found, "lines"):
        found = task.object(task.record)(system, found)
    files = {x: given[x.name] for x in present if x.kind in FILES}
    _write(files, found, series)
    if not (files or as_json):
        files |= {x: found.show() for x in task.flat if x.kind in ("view", "report")}
    said = () if most is None else (most,)
    if as_json:
        written = {"files": [*map(str, files.values())]} if any(x.kind in FILES for x in task.flat) else {}
        typeset = {"latex": found.latex()} if given.get("latex") else {}
        print_json({**found.as_dict(*said), **reading.keys, **written, **typeset})
    elif given.get("latex"):
        emit("\n".join(["\\[", found.latex(), "\\]"]))
    else:
        for line in (*reading.lines, *found.lines(*said), *(f"written: {path}" for path in files.values())):
            echo(line)
    _judge(task, found)


def _check(task: Task, present: Sequence[Option], given: Mapping[str, Any]) -> None:
    """Raise :class:`ArgumentError` for options that do not go together, and for files that cannot be written."""
    by_name = {x.name: x for x in task.flat}
    there = {x.name for x in present}
    for option in task.flat:
        if option.expected and not names(given[option.name] or ""):
            raise ArgumentError(f"{option.typed}: expected {option.expected}, found none.")
    for option in present:
        others, why = option.needs
        if others and not there & {*others}:
            wanted = " or ".join(f"{by_name[n].typed} {by_name[n].metavar or ''}".rstrip() for n in others)
            raise ArgumentError(f"{option.typed}: expected {wanted} beside it{why}.")
        others, why = option.excludes
        if there & {*others}:
            raise ArgumentError(f"{option.typed}: {why}.")
        if option.kind in FILES:
            check_target(option, given[option.name])


def check_target(option: Option, path: Path) -> None:
    """Raise for a file that cannot be written, before anything is computed."""
    from importlib.util import find_spec

    *first, last = FILES[option.kind] or (path.suffix,)
    if path.suffix not in (*first, last):
        told = f"{', '.join(first)} or {last}" if first else last
        raise ArgumentError(f"{option.typed}: expected a file {told}, found '{path}'.")
    if option.kind == "run" and path.suffix == ".nc" and not (find_spec("xarray") and find_spec("h5netcdf")):
        raise MissingPackageError("xarray", "xarray")
    drawn = option.kind == "report" or (option.kind in ("plot", "view") and path.suffix not in (".html", ".glb"))
    if drawn and find_spec("matplotlib") is None:
        raise MissingPackageError("matplotlib", "plot")
    if not path.parent.is_dir():
        raise ArgumentError(f"{option.typed}: there is no folder '{path.parent}'.")
    if path.is_dir():
        raise ArgumentError(f"{option.typed}: expected a file, found the folder '{path}'.")
    if not os.access(path.parent, os.W_OK):
        raise ArgumentError(f"{option.typed}: nothing can be written to the folder '{path.parent}'.")


def _with_unknown(system: System, unknown: Sequence[str]) -> System:
    """Return *system* with zeros for parameters that are *unknown* forces and have no value."""
    from dataclasses import replace

    own = [replace(p, value=0.0) if p.value is None and p.name in unknown else p for p in system.parameters]
    return system.replace(parameters=own) if own != list(system.parameters) else system


def _reading(task: Task, present: Sequence[Option], given: Mapping[str, Any], system: System) -> Reading:
    """Return the arguments of the function, with the lines and keys of the groups."""
    arguments: dict[str, Any] = {}
    lines: tuple[str, ...] = ()
    keys: dict[str, Any] = {}
    excluded = {n for x in present if x.calls for n in x.excludes[0]}
    for part in task.options:
        if isinstance(part, OptionGroup):
            reading = GROUPS[part.kind](given, system)
            arguments |= reading.arguments
            lines, keys = (*lines, *reading.lines), keys | reading.keys
            continue
        value = given[part.name]
        if part.kind in TARGETS or part.name in excluded or value is None or (value in (False, ()) and value != 0):
            continue
        if not (part.kind == "flag" and part.calls):
            arguments[part.name] = READERS[part.kind](part, value, system)
    return Reading(arguments, lines, keys)


def _extremes(function: Any, system: System, given: dict[str, Any]) -> dict[str, Extremes]:
    """Return the extremes of the series along a motion: over the steps of a run, else between the times."""
    import numpy as np

    from kineta.results.extremes import extremes

    path, t = given["motion"], given["t"]

    def found(motion: Any, t: Any) -> Series:
        made: Series = function(system, **{**given, "motion": motion, "t": t})
        return made

    def between(times: Any) -> dict[str, Any]:
        every = np.union1d(t[:1], times)  # integrals along a motion start with it
        return {n: x[np.searchsorted(every, times)] for n, x in found(path, every).series.items()}

    with catch_warnings():  # of the result itself were shown
        simplefilter("ignore")
        if t is not None:
            return extremes(between, t)
        return extremes(lambda times: found(path.at(times), None), np.union1d(path.sol.steps, path.t))


def _write(files: Mapping[Option, Path], found: Any, series: Sequence[str]) -> None:
    """Write the files of the result; the picture, which may fail for reasons of its own, last."""
    for option, path in sorted(files.items(), key=lambda item: item[0].kind == "plot"):
        if option.kind == "save":
            found.save(path, *series)
        elif option.kind == "run":
            found.save(path)
        elif option.kind == "page" or path.suffix == ".html":
            from kineta.files import write

            write({path: found.page().encode()})
        elif path.suffix == ".glb":
            from kineta.files import write

            write({path: found.gltf()})
        else:
            from kineta.views import save

            save(found, path, *series)


def _judge(task: Task, found: Any) -> None:
    """End with the exit code of a result that has not passed."""
    if not task.passed or getattr(found, task.passed, True):
        return
    from kineta.results import outcomes
    from kineta.results.result import Result

    if isinstance(found, Result) and found.status == outcomes.INTERRUPTED:
        raise SystemExit(INTERRUPTED)
    if isinstance(found, Result) and found.status != outcomes.UNBALANCED:  # for which there was a warning
        fail(f"Model '{found.model}': {found.message}.", CHECK_FAILED)
    raise SystemExit(CHECK_FAILED)
