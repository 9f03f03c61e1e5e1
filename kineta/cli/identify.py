"""``kineta identify``: base parameters from a recorded motion and the forces on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kineta.cli.common import Settings, print_json, read, with_values
from kineta.cli.options import FILE, Verb, json_, model, settings
from kineta.errors import ArgumentError


@click.command(
    cls=Verb,
    examples="""
    kineta identify double_pendulum.kin recorded.csv
    kineta identify double_pendulum.kin recorded.csv --json
    """,
)
@model
@click.argument("data", type=FILE, help="Table .csv: t, coordinates, forces tau.q1'; or a run .nc.")
@settings
@json_
def identify(model: Path, data: Path, settings: Settings, as_json: bool) -> None:
    """Find base parameters from a recorded motion and its forces.

    By least squares, with standard deviations.
    """
    from kineta.tasks.base_parameters import base_parameters
    from kineta.tasks.base_parameters import identify as find

    system = with_values(read(model, settings))
    base = base_parameters(system)
    found = find(base, data, None if data.suffix == ".nc" else _forces(data, system.v_names))
    rows = zip(base.formulas, found.values.tolist(), found.deviations.tolist(), base.values.tolist(), strict=True)
    if as_json:
        keys = ("formula", "value", "deviation", "of_model")
        print_json(
            {
                "model": base.model,
                "base": [dict(zip(keys, row, strict=True)) for row in rows],
                "residual": found.residual,
            }
        )
        return
    click.echo(
        f"{base.model}: {len(base)} base parameters, value +- deviation, that of the model; residual {found.residual:.3g}"
    )
    for k, (formula, value, deviation, own) in enumerate(rows):
        shown = f"{round(value, 12) + 0.0:.6g} +- {deviation:.2g}"
        click.echo(f"{k + 1:4}  {shown:<24}  {round(own, 12) + 0.0:<12.6g}  {formula}")


def _forces(data: Path, speeds: tuple[str, ...]) -> Any:
    """The forces of a table, (k, nv)."""
    import numpy as np

    from kineta.tasks.result import force_name
    from kineta.tasks.table import table

    _, columns = table(data)
    for name in map(force_name, speeds):
        if name not in columns:
            raise ArgumentError(
                f"{data}: expected a column '{name}' of the force on every speed, found {', '.join(columns)}."
            )
    return np.stack([columns[force_name(n)] for n in speeds], axis=-1)
