"""``kineta servo``: forces of a few actuators that hold programs of motion."""

from __future__ import annotations

from pathlib import Path

import click

from kineta.cli.motion_options import Along, shown
from kineta.cli.options import FILE, Verb, end, json_, model, names, settings, state, whole
from kineta.cli.values import Settings, numbers, read, with_values


@click.command(
    cls=Verb,
    examples="""
    kineta servo crane_servo.kin --to 4 --plot forces.png --series "control.x'"
    kineta servo car_chain.kin --to 6 --actuators "x1'" --save motion.csv
    """,
)
@model
@click.option("--to", type=end, default=10.0, show_default=True, metavar="TIME", help="End of the motion.")
@click.option("--actuators", default="", metavar="NAME,...", help="Speeds to act on; those of control, if not given.")
@state("q", "Initial coordinates")
@state("v", "Initial speeds")
@settings
@click.option(
    "--samples", type=whole(2, 10**7), default=201, show_default=True, metavar="NUMBER", help="Equidistant times."
)
@click.option("--plot", type=FILE, metavar="FILE", help="Write a picture (.png, .svg, .pdf).")
@click.option("--series", default="", metavar="NAME,...", help="Draw just these.")
@click.option("--save", type=FILE, metavar="FILE", help="Write a table (.csv).")
@json_
def servo(
    model: Path,
    to: float,
    actuators: str,
    q: str | None,
    v: str | None,
    settings: Settings,
    samples: int,
    plot: Path | None,
    series: str,
    save: Path | None,
    as_json: bool,
) -> None:
    """Find the forces of actuators that hold programs of motion.

    Also where they act on what the programs speak of only through the rest of the system: a crane and its load.
    """
    from kineta.tasks.servo.servo import servo as find

    system = with_values(read(model, settings))
    found = find(
        system,
        to,
        actuators=names(actuators) or None,
        q=numbers("--q", q, system),
        v=numbers("--v", v, system),
        samples=samples,
    )
    said = {
        "actuators": list(found.actuators),
        "index": found.index,
        "inversion": found.inversion,
        "flat": found.flat,
        "internal": found.internal,
        "poles": None if found.poles is None else [[s.real, s.imag] for s in found.poles.tolist()],
        "stability": found.stability,
        "residual": found.residual,
        "work": found.work,
        "peak_power": found.peak_power,
        "conditioning": found.conditioning.as_dict(),
    }
    shown(found, Along(plot=plot, series=series, save=save), found.notes, said, as_json=as_json)
