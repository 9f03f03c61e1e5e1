"""``kineta simulate``: motion from the initial state."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kineta.cli.options import FILE, Verb, completing, end, json_, model, real, settings, state, whole
from kineta.cli.values import (
    CHECK_FAILED,
    INTERRUPTED,
    Settings,
    console,
    fail,
    number_table,
    numbers,
    print_json,
    print_table,
    read,
    terminal,
    with_values,
)
from kineta.errors import readable

if TYPE_CHECKING:
    from rich.table import Table

    from kineta.model.system import System
    from kineta.results.result import Result

#: Times recorded at most.
MOST = 10_000_000


def _methods() -> Iterable[str]:
    from kineta.integration.solver import METHODS

    return METHODS


@click.command(
    cls=Verb,
    examples="""
    kineta simulate double_pendulum.kin --to 2 --plot out.png
    kineta simulate double_pendulum.kin --q "q1=30 deg" --set m1=2.5 --save run.nc
    kineta simulate double_pendulum.kin --plot out.png --series "q1,q1'"
    """,
)
@model
@click.option(
    "--to",
    type=end,
    default=10.0,
    show_default=True,
    metavar="TIME",
    help="End, in seconds or with a unit; negative: backwards.",
)
@state("q", "Initial coordinates")
@state("v", "Initial speeds")
@state("levels", "Initial accelerations and their derivatives, under programs of motion")
@state("tau", "Constant forces on the speeds")
@settings
@click.option(
    "--method",
    default="dop853",
    show_default=True,
    metavar="NAME",
    shell_complete=completing(_methods),
    help="dop853, dopri5, CVODE, CVODE_ADAMS, IDA, or a method of SciPy.",
)
@click.option("--rtol", type=real, default=1e-9, show_default=True, metavar="NUMBER", help="Relative tolerance.")
@click.option("--atol", type=real, default=1e-12, show_default=True, metavar="NUMBER", help="Absolute tolerance.")
@click.option(
    "--samples",
    type=whole(2, MOST),
    default=1001,
    show_default=True,
    metavar="NUMBER",
    help="Equidistant times recorded.",
)
@click.option("--max-steps", type=whole(1, 10**18), show_default="10 million", metavar="NUMBER", help="Steps at most.")
@click.option("--plot", type=FILE, metavar="FILE", help="Write a picture (.png, .svg, .pdf).")
@click.option(
    "--series", metavar="NAME,...", help="Draw just these: coordinates, speeds, energies, outputs, multipliers."
)
@click.option("--save", type=FILE, metavar="FILE", help="Write the run (.nc or .csv).")
@json_
def simulate(
    model: Path,
    to: float,
    q: str | None,
    v: str | None,
    levels: str | None,
    tau: str | None,
    settings: Settings,
    method: str,
    rtol: float,
    atol: float,
    samples: int,
    max_steps: int | None,
    plot: Path | None,
    series: str | None,
    save: Path | None,
    as_json: bool,
) -> None:
    """Let the system move from its initial state.

    Ctrl-C and SIGTERM keep, show and save what was computed.
    """
    from kineta.simulation.simulate import simulate as run

    _check_targets(plot, save)
    system = with_values(read(model, settings))
    drawn = _series(system, series, plot)
    result = run(
        system,
        to,
        q=numbers("--q", q, system),
        v=numbers("--v", v, system),
        levels=numbers("--levels", levels, system),
        tau=_forces(numbers("--tau", tau, system)),
        method=method,
        rtol=rtol,
        atol=atol,
        samples=samples,
        max_steps=max_steps,
        progress=terminal(),
    )
    if save is not None:
        result.save(save)
    if plot is not None:
        _picture(result, plot, drawn)
    if as_json:
        more = {"impacts": [x._asdict() for x in result.impacts], "parameters": dict(result.parameters)}
        print_json({**result.summary(), **more, "final": _final(result)})
    else:
        _print(result, [p for p in (plot, save) if p is not None])
    _judge(result)


def _judge(result: Result) -> None:
    """Leave with the exit code that an outcome other than success has."""
    from kineta.results import outcomes

    if result.status == outcomes.INTERRUPTED:
        raise SystemExit(INTERRUPTED)
    if result.status == outcomes.UNBALANCED:  # which a warning has said
        raise SystemExit(CHECK_FAILED)
    if not result.success:
        fail(f"Model '{result.model}': {result.message}.", CHECK_FAILED)


def _forces(given: Any) -> Any:
    return None if given is None or len(given) == 0 else given


def _check_targets(plot: Path | None, save: Path | None) -> None:
    """Refuse what cannot be written before anything is computed."""
    from importlib.util import find_spec

    from kineta.errors import ArgumentError, MissingPackageError

    if save is not None and save.suffix not in (".nc", ".csv"):
        raise ArgumentError(f"--save: expected a file .nc or .csv, found '{save}'.")
    if plot is not None and plot.suffix not in (".png", ".svg", ".pdf"):
        raise ArgumentError(f"--plot: expected a file .png, .svg or .pdf, found '{plot}'.")
    if plot is not None and find_spec("matplotlib") is None:
        raise MissingPackageError("matplotlib", "plot")
    if save is not None and save.suffix == ".nc" and (find_spec("xarray") is None or find_spec("h5netcdf") is None):
        raise MissingPackageError("xarray", "xarray")
    for option, path in (("--plot", plot), ("--save", save)):
        if path is None:
            continue
        if not path.parent.is_dir():
            raise ArgumentError(f"{option}: there is no folder '{path.parent}'.")
        if path.is_dir():
            raise ArgumentError(f"{option}: expected a file, found the folder '{path}'.")
        if not os.access(path.parent, os.W_OK):
            raise ArgumentError(f"{option}: nothing can be written to the folder '{path.parent}'.")


def _series(system: System, given: str | None, plot: Path | None) -> list[str]:
    """The names that ``--series`` gives. Raises :class:`ArgumentError` for one that a run of *system* does not have."""
    from kineta.equations.equations import equations_of
    from kineta.errors import ArgumentError, did_you_mean
    from kineta.results.result import series_names

    if given is None:
        return []
    names = [n for n in dict.fromkeys(part.strip() for part in given.split(",")) if n]
    if not names:
        raise ArgumentError(f"--series: expected names separated by commas, found '{given}'.")
    if plot is None:
        raise ArgumentError("--series: expected --plot FILE beside it, the picture to draw into.")
    known = series_names(equations_of(system))
    for name in names:
        if name not in known:
            of_a_point = _of_a_point(system, name)
            hint = f" Add 'output {name};' to the model." if of_a_point else did_you_mean(name, known)
            raise ArgumentError(
                f"--series: model '{system.name}' has no coordinate, speed, energy, output or multiplier '{name}'.{hint}"
            )
    return names


def _of_a_point(system: System, name: str) -> bool:
    """Whether *name* could be an output: ``P.x`` ... ``P.vz`` of a body or point P."""
    from kineta.model.reserved_symbols import POINT_COMPONENTS

    owner, _, component = name.partition(".")
    return component in POINT_COMPONENTS and owner in (
        *(b.name for b in system.bodies),
        *(p.name for p in system.points),
    )


def _picture(result: Result, path: Path, names: list[str]) -> None:
    import matplotlib as mpl

    mpl.use("agg")
    from kineta.views.series import figure

    figure(result, path, *names)


def _final(result: Result) -> dict[str, float]:
    """The last values of everything; nothing, if not even the start was recorded."""
    return {name: float(values[-1]) for name, values in result.series.items() if len(values)}


def _print(result: Result, written: list[Path]) -> None:
    from rich.markup import escape

    out = console()
    out.print(f"[bold]{escape(readable(result.model))}[/]: {escape(result.message)}", soft_wrap=True)
    for note in result.notes:
        out.print(f"  {escape(note)}", soft_wrap=True)
    out.print(f"  {result.method}: {result.steps} steps, {result.nfev} evaluations, {result.seconds:.3g} s")
    if len(result.t):
        print_table(out, _table(result))
    if result.impacts:
        print_table(out, _impacts(result))
    for path in written:
        click.echo(f"written: {path}")


def _impacts(result: Result) -> Table:
    """For every contact that was struck, how often, the largest impulse with its time, and the energy that all of them took."""
    from rich.markup import escape

    table = number_table("impacts of", "", "largest impulse", "at t [s]", "energy lost [J]")
    for name in dict.fromkeys(x.contact for x in result.impacts):
        own = [x for x in result.impacts if x.contact == name]
        largest = max(own, key=lambda x: x.size)
        lost = sum(x.energy_lost for x in own)
        numbers = (f"{x:.6g}" for x in (largest.size, largest.t, lost))
        table.add_row(escape(readable(name)), str(len(own)), *numbers)
    return table


def _table(result: Result) -> Table:
    """The first and the last recorded value of everything."""
    from rich.markup import escape

    table = number_table("", "start", "end")
    for name, values in result.series.items():
        unit = result.units.get(name, "J" if name.endswith("energy") or name == "work" else "")
        table.add_row(escape(readable(f"{name} [{unit}]" if unit else name)), f"{values[0]:.6g}", f"{values[-1]:.6g}")
    return table
