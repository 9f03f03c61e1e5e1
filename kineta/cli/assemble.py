"""``kineta assemble``: a state that meets the constraints."""

from __future__ import annotations

from pathlib import Path

import click

from kineta.cli.options import Verb, json_, model, names, seconds, settings, state
from kineta.cli.values import Settings, numbers, print_json, read, with_values


@click.command(
    cls=Verb,
    examples="""
    kineta assemble fourbar.kin
    kineta assemble fourbar.kin --q "theta=60 deg, beta=0.5" --pin theta
    """,
)
@model
@state("q", "A guess of coordinates")
@state("v", "A guess of speeds")
@click.option("--pin", default="", metavar="NAME,...", help="Coordinates and speeds that stay as they are.")
@click.option("--at", type=seconds, default=0.0, show_default=True, metavar="TIME", help="The time, for drives.")
@settings
@json_
def assemble(model: Path, q: str | None, v: str | None, pin: str, at: float, settings: Settings, as_json: bool) -> None:
    """Find a state that meets the constraints.

    The nearest one to the guess, or to the initial state. Its last line can be put into the model.
    """
    from kineta.algebra.infix import number
    from kineta.model.name_inference import speed_derivatives
    from kineta.tasks.assemble import assemble as find

    system = with_values(read(model, settings))
    found = find(system, numbers("--q", q, system), numbers("--v", v, system), t=at, pinned=names(pin))
    if as_json:
        near = found.conditioning[0].as_dict() if found.conditioning else None
        found_state = {**found.initial, "moved": found.moved, "residual": found.residual, "conditioning": near}
        print_json({"model": system.name, **found_state})
        return
    for note in found.notes:
        click.echo(f"{note[0].upper()}{note[1:]}.")
    click.echo(f"Coordinates moved by at most {found.moved:.3g}; constraints are met to {found.residual:.0e}.")
    for measured in found.conditioning:
        click.echo(f"How near it is to a singular position: {measured}.")
    values = {name: number(x) for name, x in found.initial.items() if x}
    values |= {name: str(x) for name, x in system.initial if name in speed_derivatives(system, [name])}
    if values:
        click.echo(f"initial {', '.join(f'{name} = {x}' for name, x in values.items())};")
