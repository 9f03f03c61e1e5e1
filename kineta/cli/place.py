"""``kineta place``: coordinates that put bodies and points where they are wanted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from kineta.cli.options import Verb, json_, model, settings, state, whole
from kineta.cli.values import Settings, interval_of, number_of, numbers, once, print_json, read, with_values
from kineta.errors import ArgumentError


@click.command(
    cls=Verb,
    examples="""
    kineta place double_pendulum.kin --put "second.x=1, second.y=-1"
    kineta place fourbar.kin --put mass.y=0.5 --limit theta=0,2
    """,
)
@model
@click.option(
    "--put",
    required=True,
    metavar="PLACE",
    help='Components, "Tip.x=0.3, Tip.y=0.2", or JSON of positions, axes or poses by name.',
)
@state("q", "A guess of coordinates")
@click.option("--limit", "limits", multiple=True, metavar="NAME=LOW,HIGH", help="Limits of a coordinate.")
@click.option("--frame", default="ground", show_default=True, metavar="BODY", help="In whose frame places are given.")
@click.option("--starts", type=whole(0, 10**6), default=100, show_default=True, metavar="N", help="Random starts.")
@settings
@json_
def place(
    model: Path,
    put: str,
    q: str | None,
    limits: Sequence[str],
    frame: str,
    starts: int,
    settings: Settings,
    as_json: bool,
) -> None:
    """Find coordinates that put bodies where they are wanted.

    All that are found from the guess, or the initial position, and from random starts; the nearest first.
    """
    from kineta.model.dimensions import known_dimensions
    from kineta.tasks.motions.inverse_kinematics import inverse_kinematics as find

    system = with_values(read(model, settings))
    found = find(
        system,
        _wanted(put),
        numbers("--q", q, system),
        frame=frame,
        limits=once("--limit", [interval_of("--limit", x, known_dimensions(system)) for x in limits]) or None,
        starts=starts,
    )
    if as_json:
        rows = [
            {"initial": x.initial, "distance": x.distance, "turn": x.turn, "free": x.free}
            | {"conditioning": None if x.conditioning is None else x.conditioning.as_dict()}
            for x in found
        ]
        print_json({"model": system.name, "placements": rows})
        return
    for k, one in enumerate(found):
        values = ", ".join(f"{n} = {round(x, 12) + 0.0:.9g}" for n, x in one.initial.items())
        click.echo(f"{k + 1}: {values}")
        if one.conditioning is not None:
            click.echo(f"   {one.conditioning}")
    if found[0].free == 1:
        click.echo("1 motion is left that moves none of it")
    elif found[0].free:
        click.echo(f"{found[0].free} motions are left that move none of it")


def _wanted(text: str) -> dict[str, Any]:
    from kineta.model.units import LENGTH

    if not text.lstrip().startswith("{"):
        parts = [part.strip() for part in text.split(",") if part.strip()]
        pairs = [number_of("--put", part, {part.partition("=")[0].strip(): LENGTH}) for part in parts]
        return once("--put", pairs)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"--put: expected JSON, found '{text[:60]}' ({error}).") from None
    return dict(found)
