"""``kineta regressor``: the base parameters of a model."""

from __future__ import annotations

from pathlib import Path

import click

from kineta.cli.options import Verb, json_, model, settings
from kineta.cli.values import Settings, print_json, read, with_values


@click.command(
    cls=Verb,
    examples="""
    kineta regressor double_pendulum.kin
    kineta regressor fourbar.kin --json
    """,
)
@model
@settings
@json_
def regressor(model: Path, settings: Settings, as_json: bool) -> None:
    """Find the base parameters of a model.

    The combinations of masses, moments and inertias on which forces depend.
    """
    from kineta.tasks.identification.base_parameters import base_parameters

    found = base_parameters(with_values(read(model, settings)))
    if as_json:
        print_json(
            {
                "model": found.model,
                "parameters": list(found.names),
                "base": [
                    {"formula": f, "value": v} for f, v in zip(found.formulas, found.values.tolist(), strict=True)
                ],
                "matrix": found.matrix.tolist(),
                "none": list(found.none),
                "gap": list(found.gap),
            }
        )
        return
    click.echo(f"{found.model}: forces depend on {len(found)} of {len(found.names)} inertial parameters")
    for k, (formula, value) in enumerate(zip(found.formulas, found.values.tolist(), strict=True)):
        click.echo(f"{k + 1:4}  {round(value, 12) + 0.0:<12.6g}  {formula}")
    if found.none:
        click.echo(f"in no force: {', '.join(found.none)}")
