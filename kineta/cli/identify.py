"""``kineta identify``: base parameters from a recorded motion and the forces on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kineta.cli.csv_columns import Columns, columns
from kineta.cli.options import FILE, Verb, json_, model, names, settings
from kineta.cli.values import Settings, print_json, read, with_values
from kineta.errors import ArgumentError

if TYPE_CHECKING:
    from kineta.model.system import System
    from kineta.tasks.identification.identification import Excitation


@click.command(
    cls=Verb,
    examples="""
    kineta identify double_pendulum.kin recorded.csv
    kineta identify double_pendulum.kin recorded.csv --json
    kineta identify double_pendulum.kin recorded.csv --known first
    kineta identify double_pendulum.kin recorded.csv --excitation
    """,
)
@model
@click.argument("data", type=FILE, help="Table .csv: t, coordinates, forces tau.q1'; or a run .nc.")
@click.option(
    "--known", default="", metavar="NAME,...", help="Bodies and parameters, as Hand.m, that are as in the model."
)
@click.option("--excitation", "told", is_flag=True, help="Say what the motion tells; its forces are not needed.")
@columns
@settings
@json_
def identify(
    model: Path, data: Path, known: str, told: bool, columns: Columns, settings: Settings, as_json: bool
) -> None:
    """Find base parameters from a recorded motion and its forces.

    By least squares, with standard deviations.
    """
    from kineta.tasks.identification.base_parameters import base_parameters
    from kineta.tasks.identification.identification import excitation
    from kineta.tasks.identification.identification import identify as find

    system = with_values(read(model, settings))
    base = base_parameters(system, known=names(known))
    motion, forces, t = (
        (data, None, None) if data.suffix == ".nc" else _recorded(system, data, columns, forced=not told)
    )
    if told:
        _excited(excitation(base, motion, t=t), as_json=as_json)
        return
    found = find(base, motion, forces, t=t)
    rows = zip(base.formulas, found.values.tolist(), found.deviations.tolist(), base.values.tolist(), strict=True)
    if as_json:
        keys = ("formula", "value", "deviation", "of_model")
        print_json(
            {
                "model": base.model,
                "base": [dict(zip(keys, row, strict=True)) for row in rows],
                "known": list(base.known),
                "residual": found.residual,
                "condition": found.excitation.condition,
            }
        )
        return
    click.echo(
        f"{base.model}: {len(base)} base parameters, value +- deviation, that of the model; residual {found.residual:.3g}"
    )
    for k, (formula, value, deviation, own) in enumerate(rows):
        shown = f"{round(value, 12) + 0.0:.6g} +- {deviation:.2g}"
        click.echo(f"{k + 1:4}  {shown:<24}  {round(own, 12) + 0.0:<12.6g}  {formula}")


def _excited(found: Excitation, *, as_json: bool) -> None:
    """Say what a motion tells."""
    base = found.base
    if not as_json:
        click.echo(f"{base.model}: this motion {found}")
        return
    print_json(
        {
            "model": base.model,
            "base": [{"formula": f, "told": x} for f, x in zip(base.formulas, found.told, strict=True)],
            "known": list(base.known),
            "untold": list(found.untold),
            "together": list(found.together),
            "combinations": found.combinations.tolist(),
            "condition": found.condition,
        }
    )


def _recorded(system: System, data: Path, columns: Columns, *, forced: bool) -> tuple[Any, Any, Any]:
    """The motion of a table, the forces (k, nv) where it is *forced*, and the times."""
    import numpy as np

    from kineta.results.result import force_name
    from kineta.tasks.motions.trajectory import moving

    t, found = columns.read(data)
    if not forced:
        return moving(system, found), None, t
    for name in map(force_name, system.v_names):
        if name not in found:
            raise ArgumentError(
                f"{data}: expected a column '{name}' of the force on every speed, found {', '.join(found)}."
            )
    return moving(system, found), np.stack([found[force_name(n)] for n in system.v_names], axis=-1), t
