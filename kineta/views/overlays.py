"""Overlays of pictures of machines: paths of points, and forces as arrows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.numerics.linear_algebra import norm
from kineta.records import dataclass
from kineta.scene import surfaces
from kineta.scene.construction import PALETTE, Piece
from kineta.scene.machine import Machine, Pose
from kineta.scene.scene import ELEMENT, Solid
from kineta.views.rendering import Camera

#: Length of the longest arrow, in sizes of the machine.
LONGEST = 0.28
#: Part of the largest force below which a force is not drawn.
LEAST = 1e-3
#: The colour of forces, and what lies under their labels.
RED, PLATE = "#c2323f", {"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.75, "linewidth": 0}

_ARROW = Solid("arrow", 0, "", ELEMENT, {})


@dataclass(frozen=True, eq=False)
class Load:
    """A *force* [N] on a place *at*, both in ground axes, with its *name*."""

    name: str
    at: FloatArray
    force: FloatArray


def loads(machine: Machine, pose: Pose) -> list[Load]:
    """The forces of a *pose* that the model shows; those that are rounding are zero."""
    shown = machine.scene.arrows
    forces = [(pose.moving[list(a.force)], machine.rounding[list(a.force)]) for a in shown]
    kept = [f if norm(f) > norm(least) else 0 * f for f, least in forces]
    return [Load(a.name, pose.moving[list(a.at)], f) for a, f in zip(shown, kept, strict=True)]


def ends(machine: Machine, found: Sequence[Load], most: float) -> list[FloatArray]:
    """Where arrows of forces end, *most* being the force of the longest."""
    drawn = [x for x in found if float(norm(x.force)) > LEAST * most]
    return [x.at + LONGEST * machine.size / most * x.force for x in drawn]


def largest(found: Iterable[Load]) -> float:
    """The largest force [N]; zero without any."""
    return max((float(norm(x.force)) for x in found if np.isfinite(x.force).all()), default=0.0)


def arrows(machine: Machine, found: Sequence[Load], most: float) -> Iterator[Piece]:
    """Surfaces of arrows that end at the places of forces or start there, *most* being the force of the longest."""
    w = 0.5 * machine.radius
    for load in found:
        size = float(norm(load.force))
        if not size > LEAST * most:
            continue
        length = LONGEST * machine.size * size / most
        e, head = load.force / size, min(5 * w, 0.6 * length)
        neck, tip = load.at + (length - head) * e, load.at + length * e
        yield Piece(surfaces.bar(load.at, neck, w), RED, _ARROW)
        yield Piece(surfaces.bar(neck, tip, 2.4 * w, tip=0.0), RED, _ARROW)


def label(ax: Any, machine: Machine, found: Sequence[Load], most: float, view: Camera) -> None:
    """Write the size of every force beside its arrow, once for forces of one name and size."""
    seen: set[str] = set()
    middle = sum(ax.get_xlim()) / 2
    for load in found:
        size = float(norm(load.force))
        text = f"{load.name} {size:.3g} N"
        if size > LEAST * most and text not in seen:
            seen.add(text)
            tip = load.at + LONGEST * machine.size / most * load.force
            at, _ = view.project(tip)
            side = {"xytext": (-5, 4), "ha": "right"} if at[0] > middle else {"xytext": (5, 4)}
            ax.annotate(text, at, **side, textcoords="offset points", fontsize="small", color=RED, zorder=6, bbox=PLATE)


def paths(ax: Any, machine: Machine, poses: Sequence[Pose], view: Camera) -> None:
    """Draw the paths of the points that the model shows through *poses*."""
    for k, trail in enumerate(machine.scene.trails):
        flat, _ = view.project(np.array([pose.moving[list(trail.at)] for pose in poses]))
        colour = PALETTE[(3 + k) % len(PALETTE)]
        ax.plot(*flat.T, color=colour, linewidth=1.1, zorder=2.5, label=trail.name)
