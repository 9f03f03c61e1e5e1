"""``kineta reactions``: what joints pass on along a motion."""

from __future__ import annotations

from pathlib import Path

import click

from kineta.cli.along import Along, along, motion_of, shown
from kineta.cli.common import Settings, read, with_values
from kineta.cli.options import Verb, json_, model, names, settings


@click.command(
    cls=Verb,
    examples="""
    kineta reactions double_pendulum.kin --to 2 --plot out.png
    kineta reactions fourbar.kin --of pin,Rocker --frame Rocker
    kineta reactions fourbar.kin --motion "theta = 0.8 + 0.1*t"
    """,
)
@model
@along
@click.option("--of", default="", metavar="NAME,...", help="Bodies, for their joints, and loops; all, if not given.")
@click.option(
    "--frame", default="ground", show_default=True, metavar="BODY", help="In whose axes; own: those of every joint."
)
@settings
@json_
def reactions(
    model: Path,
    way: Along,
    of: str,
    frame: str,
    settings: Settings,
    as_json: bool,
) -> None:
    """Find what joints pass on along a motion.

    Force and couple of every joint, welds and loops included. A given motion is produced by forces on all speeds.
    """
    from kineta.tasks.reactions import reactions as find

    system = with_values(read(model, settings))
    path, t = motion_of(system, way)
    found = find(system, path, names(of) or None, t=t, frame=frame)
    open_ones = ", ".join(found.indeterminate)
    notes = [f"in part indeterminate, since constraints say what others say: {open_ones}"] if open_ones else []
    more = {"names": list(found.names), "frame": frame, "indeterminate": list(found.indeterminate)}
    shown(found, way, notes, more, as_json=as_json)
