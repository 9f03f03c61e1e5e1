"""``kineta modes``: frequencies, damping and shapes of small oscillations."""

from __future__ import annotations

from pathlib import Path

import click

from kineta.cli.linearize import chosen
from kineta.cli.options import FILE, Verb, at_equilibrium, going_on, json_, model, names, seconds, settings, state
from kineta.cli.values import Settings, print_json, read, with_values


@click.command(
    cls=Verb,
    examples="""
    kineta modes double_pendulum.kin --q q1=0,q2=0
    kineta modes fourbar.kin --equilibrium --plot modes.png
    """,
)
@model
@state("q", "Coordinates about which")
@state("v", "Speeds about which")
@at_equilibrium
@going_on
@click.option("--at", type=seconds, default=0.0, show_default=True, metavar="TIME", help="The time, for drives.")
@click.option("--state", "states", metavar="NAME,...", help="The states to keep.")
@click.option("--plot", type=FILE, metavar="FILE", help="Write a picture (.png, .svg, .pdf).")
@settings
@json_
def modes(
    model: Path,
    q: str | None,
    v: str | None,
    rest: bool,
    steady: str,
    at: float,
    states: str | None,
    plot: Path | None,
    settings: Settings,
    as_json: bool,
) -> None:
    """Find the modes of small oscillations.

    About an equilibrium or a steady motion: frequencies, damping, and who moves how much.
    """
    from kineta.tasks.linear.modes import modes as find

    system = with_values(read(model, settings))
    about = chosen(system, q, v, rest=rest, steady=names(steady))
    found = find(system, about, t=at, states=None if states is None else names(states))
    if plot is not None:
        from kineta.views.series import picture

        picture(found.plot(), plot)
    if as_json:
        shapes = [{n: [z.real, z.imag] for n, z in found.shape(i).items()} for i in range(len(found))]
        rows = zip(found.eigenvalues.tolist(), found.frequency.tolist(), found.damping.tolist(), shapes, strict=True)
        print_json(
            {
                "model": found.model,
                "stable": found.stable,
                "modes": [
                    {"eigenvalue": [s.real, s.imag], "frequency": f, "damping": d, "shape": shape}
                    for s, f, d, shape in rows
                ],
            }
        )
        return
    click.echo(str(found) if len(found) else f"Model '{system.name}': nothing in it can move, so that it has no modes.")
    if plot is not None:
        click.echo(f"written: {plot}")
