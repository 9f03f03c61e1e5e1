"""``kineta kinematics``: where bodies and points are along a motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kineta.cli.motion_options import Along, along, motion_of, shown, sought
from kineta.cli.options import Verb, json_, model, names, settings
from kineta.cli.values import Settings, read, with_values

if TYPE_CHECKING:
    from kineta.tasks.motions.kinematics import Kinematics


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
    from kineta.tasks.motions.kinematics import kinematics as find

    system = with_values(read(model, settings))
    path, t = motion_of(system, way)

    def along_of(path: Any, t: Any) -> Kinematics:
        return find(system, path, names(of) or None, t=t, frame=frame)

    found = along_of(path, t)
    more = {"names": list(found.names), "frame": frame}
    shown(found, way, (), more, as_json=as_json, most=sought(path, t, along_of))
