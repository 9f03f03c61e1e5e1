"""``kineta fit``: parameters and initial values from measured data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kineta.cli.csv_columns import Columns, columns
from kineta.cli.options import FILE, Verb, json_, model, names, seconds, settings, state
from kineta.cli.values import Settings, interval_of, number, number_of, numbers, once, print_json, read, with_values
from kineta.errors import ArgumentError

if TYPE_CHECKING:
    from kineta.model.system import System
    from kineta.tasks.sensitivity.fit import Fit


@click.command(
    cls=Verb,
    examples="""
    kineta fit double_pendulum.kin data.csv --by m2
    kineta fit double_pendulum.kin data.csv --by "m2,q1'" --series q1,q2
    kineta fit double_pendulum.kin data.csv --by m2 --sigma 0.01 --bounds m2=1,2
    """,
)
@model
@click.argument("data", type=FILE, help="Table .csv: times under t, series under their names, nothing where none.")
@click.option(
    "--by", default="", metavar="NAME,...", help="Parameters, coordinates and speeds (initial), forces tau.q1'."
)
@click.option("--series", metavar="NAME,...", help="Columns to fit; else all that the model has.")
@state("q", "Initial coordinates to begin with")
@state("v", "Initial speeds to begin with")
@click.option(
    "--sigma",
    metavar="VALUES",
    help="Standard deviation of the errors: a number for all series, or name=value,...; else it follows from the fit.",
)
@click.option(
    "--bounds",
    multiple=True,
    metavar="NAME=LOW,HIGH",
    help="Lowest and highest value of what is fitted; one of them may be left out. As often as needed.",
)
@click.option("--t0", type=seconds, metavar="TIME", help="When the motion starts; else at the first time of the data.")
@click.option("--plot", type=FILE, metavar="FILE", help="Write a picture (.png, .svg, .pdf).")
@columns
@settings
@json_
def fit(
    model: Path,
    data: Path,
    by: str,
    series: str | None,
    q: str | None,
    v: str | None,
    sigma: str | None,
    bounds: Sequence[str],
    t0: float | None,
    plot: Path | None,
    columns: Columns,
    settings: Settings,
    as_json: bool,
) -> None:
    """Fit parameters to measured data.

    By least squares with exact derivatives, with intervals that hold the values with 95 % probability.
    """
    from kineta.model.dimensions import known_dimensions
    from kineta.tasks.sensitivity.fit import fit as find

    system = with_values(read(model, settings))
    if not names(by):
        raise ArgumentError("--by: expected names of parameters, coordinates or speeds, as in --by m1,q1, found none.")
    t, measured = columns.read(data)
    chosen = _chosen(system, data, list(measured), series)
    left = [n for n in measured if n not in chosen]
    found = find(
        system,
        {n: measured[n] for n in chosen},
        names(by),
        t=t,
        t0=t0,
        q=numbers("--q", q, system),
        v=numbers("--v", v, system),
        sigma=_sigma(system, sigma),
        bounds=once("--bounds", [interval_of("--bounds", x, known_dimensions(system)) for x in bounds]),
    )
    if plot is not None:
        from kineta.views.series import picture

        picture(found.plot(), plot)
    if as_json:
        print_json(
            {
                "model": found.model,
                "values": found.values,
                "interval": dict(zip(found.by, found.interval.tolist(), strict=True)),
                "level": found.level,
                "covariance": found.covariance.tolist(),
                "deviation": found.deviation,
                "series": chosen,
                "left_aside": left,
                "patterned": list(found.patterned),
                "notes": list(found.notes),
            }
        )
        return
    if series is None:
        aside = f"; columns that the model does not have: {', '.join(left)}" if left else ""
        click.echo(f"fitted: {', '.join(chosen)}{aside}")
    _print(found)
    if plot is not None:
        click.echo(f"written: {plot}")


def _chosen(system: System, data: Path, columns: Sequence[str], series: str | None) -> list[str]:
    """The *columns* of *data* that are fitted: those of *series*, or all that the model has."""
    known = (*system.q_names, *system.v_names, *(o.name for o in system.outputs))
    chosen = [n for n in columns if n in known] if series is None else names(series)
    if not chosen:
        raise ArgumentError(
            f"{data}: expected series that the model has, as {known[0]}, found {', '.join(columns)}. "
            f"--column {known[0]}=... says which is meant."
        )
    for name in chosen:
        if name not in columns:
            raise ArgumentError(
                f"--series: there is no column '{name}' in {data}; its columns are {', '.join(columns)}."
            )
    return chosen


def _print(found: Fit) -> None:
    click.echo(str(found))
    click.echo(f"deviation of the data from the motion: {found.deviation:.3g}")
    if found.patterned:
        click.echo(
            f"the deviations of {', '.join(found.patterned)} follow each other, as errors of measurements do not: the intervals "
            "mean little; begin elsewhere, or let more vary"
        )


def _sigma(system: System, text: str | None) -> float | dict[str, float] | None:
    """The standard deviation of all series, or by name."""
    from kineta.model.dimensions import known_dimensions, output_units
    from kineta.model.units import NUMBER, unit

    if text is None:
        return None
    if "=" not in text:
        return number("--sigma", text, NUMBER)
    known = known_dimensions(system) | {n: unit(u).dimension for n, u in output_units(system).items()}
    return once("--sigma", [number_of("--sigma", part, known) for part in names(text)])
