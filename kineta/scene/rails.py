"""Rails: the line of each, the length of the carts on it, and where springs on it begin. ``page/app/rails.js`` has the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.numerics.linear_algebra import norm
from kineta.records import dataclass
from kineta.scene.machine import Machine
from kineta.scene.scene import Solid
from kineta.threads import memo

#: Length of a cart in radii of a rod, and at most in the distance to the next one.
CART, CLOSE = 6.4, 0.64
#: How far behind a cart's place the wall of its spring stands, in sizes of the machine, and at most in the distance to the next.
WALL, NEAR = 0.4, 1.5
#: Room on a rail on both sides of the places of several carts, in sizes of the machine.
ROOM = 0.25


@dataclass(frozen=True, eq=False)
class Rail:
    """Ends of what is drawn, in axes of the frame, none on the line of another rail [m].

    With them the length of the *cart*, and the distance of the *wall* of its spring.
    """

    ends: tuple[FloatArray, FloatArray] | None
    cart: float
    wall: float


def rails(m: Machine) -> Mapping[tuple[int, int], Rail]:
    """The rails of a machine, by their frames and those that slide on them."""
    return memo(m, rails, lambda: _rails(m))


def _rails(m: Machine) -> dict[tuple[int, int], Rail]:
    lines: dict[tuple[int, ...], list[Solid]] = {}
    for s in m.scene.solids:
        if s.kind == "rail":
            axis, foot, _ = _line(m, s)
            of = np.rint(np.concatenate([foot / m.size, axis]) / tolerances.WRITTEN_TOLERANCE).astype(int)
            lines.setdefault((s.frame, *of.tolist()), []).append(s)
    return {key: rail for line in lines.values() for key, rail in _of_line(m, line)}


def _of_line(m: Machine, line: list[Solid]) -> Iterator[tuple[tuple[int, int], Rail]]:
    """The rails on one line, of which the first is drawn: around its place, that of a loop around what
    slides on it, of several carts from the first to the last.
    """
    axis, foot, along = _line(m, line[0])
    R, r = m.first.frame(line[0].frame)
    places = np.sort([float((m.first.frame(s.to)[1] - r) @ (R @ axis)) for s in line])
    gaps = np.diff(places)[np.diff(places) > tolerances.WRITTEN_TOLERANCE * m.size]
    gap = float(np.median(gaps)) if len(gaps) else np.inf
    cart, wall = min(CART * m.radius, CLOSE * gap), min(WALL * m.size, NEAR * gap)
    reach = 0.75 * m.size + 8 * m.radius
    middle = along if line[0].owner else places[0]  # that of a loop may be given by any of its places
    low, high = middle - reach, middle + reach
    if len(line) > 1:
        low, high = places[0] - ROOM * m.size, places[-1] + ROOM * m.size
    for s in line:
        yield (s.frame, s.to), Rail((foot + low * axis, foot + high * axis) if s is line[0] else None, cart, wall)


def _line(m: Machine, s: Solid) -> tuple[FloatArray, FloatArray, float]:
    """Unit axis of a rail, its largest component above zero, the foot of the origin on it, and the place along the axis."""
    axis, at = m.value(s, "axis"), m.value(s, "at")
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))]) / max(float(norm(axis)), tolerances.LEAST_DIVISOR)
    along = float(at @ axis)
    return axis, at - along * axis, along
