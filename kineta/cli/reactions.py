"""``kineta reactions``: what joints pass on along a motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kineta.cli.motion_options import Along, along, motion_of, shown, sought
from kineta.cli.options import Verb, json_, model, names, settings
from kineta.cli.values import Settings, read, with_values

if TYPE_CHECKING:
    from kineta.tasks.forces.inverse_dynamics import Kinetostatics
    from kineta.tasks.forces.joint_reactions import Reactions


@click.command(
    cls=Verb,
    examples="""
    kineta reactions double_pendulum.kin --to 2 --plot out.png
    kineta reactions fourbar.kin --of pin,Rocker --frame Rocker
    kineta reactions fourbar.kin --motion "theta = 0.8 + t" --actuators "theta'"
    """,
)
@model
@along
@click.option(
    "--actuators",
    default="",
    metavar="NAME,...",
    help="Speeds on which the forces act that produce it, as for inverse.",
)
@click.option("--of", default="", metavar="NAME,...", help="Bodies, for their joints, and loops; all, if not given.")
@click.option(
    "--frame", default="ground", show_default=True, metavar="BODY", help="In whose axes; own: those of every joint."
)
@settings
@json_
def reactions(
    model: Path,
    way: Along,
    actuators: str,
    of: str,
    frame: str,
    settings: Settings,
    as_json: bool,
) -> None:
    """Find what joints pass on along a motion.

    Force and couple of every joint, at its hinge point, welds and loops included. Forces of the actuators, or on all speeds,
    produce a given motion.
    """
    from kineta.results.result import Result
    from kineta.tasks.forces.inverse_dynamics import inverse
    from kineta.tasks.forces.joint_reactions import reactions as find

    system = with_values(read(model, settings))
    path, t = motion_of(system, way)
    ran = isinstance(path, Result) or (isinstance(path, Path) and path.suffix == ".nc")

    def forces(path: Any, t: Any) -> Kinetostatics | None:
        return None if ran and not actuators else inverse(system, path, names(actuators) or None, t=t)

    def passed(path: Any, driven: Kinetostatics | None) -> Reactions:
        return find(system, path if driven is None else driven, names(of) or None, frame=frame)

    driven = forces(path, t)
    found = passed(path, driven)
    notes = [] if driven is None else [_produced(driven, every=not actuators)]
    if open_ones := ", ".join(found.indeterminate):
        notes.append(f"in part indeterminate: {open_ones}; others do the same as {', '.join(found.shared)}")
    more: dict[str, Any] = {"names": list(found.names), "frame": frame}
    more |= {"shared": list(found.shared), "indeterminate": list(found.indeterminate)}
    more |= {"produced_by": [] if driven is None else list(driven.unknown)}
    most = sought(path, t, lambda path, t: passed(path, forces(path, t)))
    shown(found, way, notes, more, as_json=as_json, most=most)


def _produced(driven: Kinetostatics, *, every: bool) -> str:
    """By what forces the motion comes to be, in words."""
    names = "on all speeds" if every else ", ".join(driven.unknown)
    more = (
        f", {driven.redundancy} more than the motion tells apart: those of least squares" if driven.redundancy else ""
    )
    return f"produced by the forces {names}{more}" + ("; --actuators names others" if every and more else "")
