"""``kineta statics``, ``kineta kinetostatics`` and ``kineta inverse``: forces that hold a position or produce a motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kineta.cli.motion_options import Along, along, motion_of, shown, sought
from kineta.cli.options import FILE, Verb, json_, model, names, settings, state
from kineta.cli.values import Settings, numbers, read, with_values

if TYPE_CHECKING:
    from kineta.model.system import System
    from kineta.results.extremes import Extremes
    from kineta.tasks.forces.inverse_dynamics import Kinetostatics

unknown_ = click.option(
    "--unknown", default="", metavar="NAME,...", help="Speeds and parameters of forces; all speeds, if not given."
)
weights_ = click.option(
    "--weight", "weights", multiple=True, metavar="NAME=NUMBER", help="Of a force among many; one by default."
)


@click.command(
    cls=Verb,
    examples="""
    kineta statics double_pendulum.kin --q "q1=30 deg, q2=0"
    kineta statics fourbar.kin --unknown "theta'"
    """,
)
@model
@state("q", "The position")
@unknown_
@weights_
@click.option("--save", type=FILE, metavar="FILE", help="Write a table (.csv).")
@settings
@json_
def statics(
    model: Path,
    q: str | None,
    unknown: str,
    weights: Sequence[str],
    save: Path | None,
    settings: Settings,
    as_json: bool,
) -> None:
    """Find the forces that hold a position.

    Unknown are forces on speeds, parameters to which forces are proportional, and the reactions of constraints.
    """
    from kineta.tasks.forces.inverse_dynamics import statics as find

    system = _with_unknown(read(model, settings), unknown)
    found = find(system, numbers("--q", q, system), names(unknown) or None, weights=_weights(weights))
    place = dict(zip(system.q_names, found.trajectory.q[0].tolist(), strict=True))
    _said(found, Along(save=save), place, as_json=as_json)


@click.command(
    cls=Verb,
    examples="""
    kineta kinetostatics double_pendulum.kin --motion "q1 = t, q2 = t^2"
    kineta kinetostatics fourbar.kin --unknown "theta'"
    """,
)
@model
@along
@unknown_
@weights_
@settings
@json_
def kinetostatics(
    model: Path,
    way: Along,
    unknown: str,
    weights: Sequence[str],
    settings: Settings,
    as_json: bool,
) -> None:
    """Find the unknown forces under which a motion comes to be.

    Unknown are forces on speeds, parameters to which forces are proportional, and the reactions of constraints.
    """
    from kineta.tasks.forces.inverse_dynamics import kinetostatics as find

    system = _with_unknown(read(model, settings), unknown)
    path, t = motion_of(system, way)

    def forces(path: Any, t: Any) -> Kinetostatics:
        return find(system, path, names(unknown) or None, t=t, weights=_weights(weights))

    _said(forces(path, t), way, as_json=as_json, most=sought(path, t, forces))


@click.command(
    cls=Verb,
    examples="""
    kineta inverse double_pendulum.kin --motion "q1 = sin(t), q2 = t"
    kineta inverse fourbar.kin --actuators "theta'"
    """,
)
@model
@along
@click.option("--actuators", default="", metavar="NAME,...", help="Speeds on which forces act; all, if not given.")
@weights_
@settings
@json_
def inverse(
    model: Path,
    way: Along,
    actuators: str,
    weights: Sequence[str],
    settings: Settings,
    as_json: bool,
) -> None:
    """Find forces of actuators that produce a motion.

    Of actuators that can replace each other, the forces are those of least squares.
    """
    from kineta.tasks.forces.inverse_dynamics import inverse as find

    system = with_values(read(model, settings))
    path, t = motion_of(system, way)

    def forces(path: Any, t: Any) -> Kinetostatics:
        return find(system, path, names(actuators) or None, t=t, weights=_weights(weights))

    _said(forces(path, t), way, as_json=as_json, most=sought(path, t, forces))


def _with_unknown(system: System, unknown: str) -> System:
    """*system*, if all parameters have values but for those that are unknown forces."""
    from dataclasses import replace

    wanted = names(unknown)
    own = [replace(p, value=0.0) if p.value is None and p.name in wanted else p for p in system.parameters]
    return with_values(system.replace(parameters=own) if own != list(system.parameters) else system)


def _weights(given: Sequence[str]) -> dict[str, float] | None:
    from kineta.cli.values import number_of
    from kineta.model.units import NUMBER

    return dict(number_of("--weight", text, {text.partition("=")[0].strip(): NUMBER}) for text in given) or None


def _said(
    found: Kinetostatics,
    way: Along,
    place: Mapping[str, float] | None = None,
    *,
    as_json: bool,
    most: Mapping[str, Extremes] | None = None,
) -> None:
    notes = []
    if place and found.trajectory.system.constraints:
        notes = [f"at {', '.join(f'{n} = {round(x, 12) + 0.0:.6g}' for n, x in place.items())}"]
    notes += [f"no others can replace {', '.join(found.needed)}"] if found.redundancy and found.needed else []
    if found.redundancy:
        notes.append(f"{found.redundancy} more than the motion tells apart: those of least squares")
    if open_ones := [n for n, told in found.determinate.items() if not told]:
        notes.append(f"not determinate: {', '.join(open_ones)}")
    more: dict[str, Any] = {"unknown": list(found.unknown), "needed": list(found.needed)}
    more |= {} if place is None else {"q": dict(place)}
    more |= {"redundancy": found.redundancy, "determinate": dict(found.determinate)}
    shown(found, way, notes, more, as_json=as_json, most=most)
