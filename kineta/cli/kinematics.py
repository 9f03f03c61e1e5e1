"""``kineta kinematics``: where bodies and points are along a motion."""

from __future__ import annotations

from pathlib import Path

import click

from kineta.cli.along import Along, along, motion_of, shown
from kineta.cli.common import Settings, read, with_values
from kineta.cli.options import Verb, json_, model, names, settings


@click.command(
    cls=Verb,
    examples="""
    kineta kinematics double_pendulum.kin --motion "q1 = sin(t), q2 = t^2"
    kineta kinematics fourbar.kin --motion "theta = 0.8 + 0.1*t" --of mass
    """,
)
@model
@along
@click.option("--of", default="", metavar="NAME,...", help="Bodies and points; all, if not given.")
@click.option("--frame", default="ground", show_default=True, metavar="BODY", help="In whose frame they are seen.")
@settings
@json_
def kinematics(
    model: Path,
    way: Along,
    of: str,
    frame: str,
    settings: Settings,
    as_json: bool,
) -> None:
    """Find where bodies and points are along a motion.

    Their positions, velocities and accelerations, the last by exact differentiation.
    """
    from kineta.tasks.kinematics import kinematics as find

    system = with_values(read(model, settings))
    path, t = motion_of(system, way)
    found = find(system, path, names(of) or None, t=t, frame=frame)
    shown(found, way, (), {"names": list(found.names), "frame": frame}, as_json=as_json)
