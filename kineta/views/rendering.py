"""Pictures of machines with Matplotlib: surfaces in the order of their depth, in space or in the plane in which they live."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.errors import ArgumentError, shown
from kineta.numerics.linear_algebra import norm
from kineta.records import dataclass
from kineta.scene.construction import Piece, pieces
from kineta.scene.height_fields import along_field, field_surface, fields, on_field
from kineta.scene.machine import Machine, Pose
from kineta.scene.surfaces import along
from kineta.views.series import pyplot

#: Direction from which a machine in space is looked at: the right, the front, and above, in parts.
TOWARDS = (0.55, -1.0, 0.5)
#: Distance of the eye, in sizes of the machine.
EYE = 5.0
#: Distance of the ground, in sizes of the machine, up to which it is in the picture.
NEAR = 12.0
#: Cells of the floor from its middle to each side.
CELLS = 9
#: Colours of the paper, of the lines of the floor, of a shadow on it, of what is below ground, and of its edge.
PAPER, LINES, SHADOW, EARTH, EDGE = "#ffffff", "#dfe3e8", "#e9ecf0", "#eef0f3", "#8a9099"
#: Colours of ground in space, which is checked, and checks in each direction.
GROUND, CHECKS = ("#ccd2da", "#bfc6cf"), 12
#: What is seen of uneven ground to each side, in sizes of the machine.
BESIDE = 0.55
#: Places on the profile of ground of a given height.
PROFILE = 1601


@dataclass(frozen=True, eq=False)
class Camera:
    """Axes by rows, right, up and towards the eye (3, 3), about a *centre*; perspective at a *distance*, none where infinite."""

    axes: FloatArray
    centre: FloatArray
    distance: float = np.inf

    def project(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Places in the picture (..., 2) and depths (...) towards the eye."""
        seen = (points - self.centre) @ self.axes.T
        near = 1.0 / (1.0 - seen[..., 2] / self.distance) if np.isfinite(self.distance) else np.ones(seen.shape[:-1])
        return seen[..., :2] * near[..., None], seen[..., 2]


def camera(machine: Machine, box: FloatArray, towards: Sequence[float] | None = None) -> Camera:
    """The camera of a *machine* within a *box*: along the normal of its plane, or from the right, the front and above."""
    normal, up = machine.scene.normal, machine.up
    if towards is None and machine.scene.towards:
        towards = machine.numbers[list(machine.scene.towards)].tolist()
    centre = box.mean(axis=0)
    if towards is None and normal is not None:
        e = np.eye(3)[normal]
        if not up.any() or abs(up @ e) > 0.5:
            up = np.eye(3)[1 if normal == 2 else 2]
        e = -e if normal == 1 else e
        # What is drawn against the plane itself has no perspective.
        return Camera(np.array([np.cross(up, e), up, e]), np.zeros(3))
    up = up if up.any() else np.array([0.0, 0.0, 1.0])
    R = along(up)
    if towards is None:
        right = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
        right = right - (right @ up) * up
        right /= norm(right)
        e = TOWARDS[0] * right + TOWARDS[1] * np.cross(up, right) + TOWARDS[2] * up
    else:
        e = np.asarray(towards, float)
    e = e / norm(e)
    across = np.cross(up, e)
    if norm(across) < tolerances.PARTICIPATION_TOLERANCE:
        across = R[:, 0]
    across /= norm(across)
    distance = EYE * float(norm(np.ptp(box, axis=0)))
    return Camera(np.array([across, np.cross(e, across), e]), centre, distance)


def _unit(v: FloatArray) -> FloatArray:
    return np.asarray(v / norm(v))


@dataclass(frozen=True, eq=False)
class Drawn:
    """Polygons (m, 4, 2) with their colours (m, 3) in the order in which they are drawn."""

    polygons: FloatArray
    colours: FloatArray


def drawn(solid: Iterable[Piece], view: Camera, *, pale: float = 0.0) -> Drawn:
    """The faces of *solid* pieces as they are seen, the farthest first; *pale* ones are mixed with the paper."""
    polygons, depths, colours = [np.zeros((0, 4, 2))], [np.zeros(0)], [np.zeros((0, 3))]
    light = _unit(np.array([0.35, 0.75, 0.6]))
    half = _unit(light + np.array([0.0, 0.0, 1.0]))
    for piece in solid:
        faces = piece.surface.vertices[piece.surface.faces]
        flat, depth = view.project(faces)
        d1, d2 = flat[:, 2] - flat[:, 0], flat[:, 3] - flat[:, 1]
        facing = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
        seen = facing > 0 if piece.surface.closed else np.ones(len(facing), bool)
        if not seen.any():
            continue
        faces, flat, depth = faces[seen], flat[seen], depth[seen]
        normal = np.cross(faces[:, 2] - faces[:, 0], faces[:, 3] - faces[:, 1]) @ view.axes.T
        normal /= np.maximum(norm(normal, axis=1, keepdims=True), tolerances.LEAST_DIVISOR)
        normal *= np.where(normal[:, 2:] < 0, -1.0, 1.0)
        bright = np.clip(normal @ light, 0, 1)
        glint = np.clip(normal @ half, 0, 1) ** 24
        colour = np.array(to_rgb(piece.colour)) * (0.52 + 0.52 * bright)[:, None] + 0.16 * glint[:, None]
        colour = np.clip(colour, 0, 1)
        polygons.append(flat)
        depths.append(depth.mean(axis=1) + piece.surface.lift)
        colours.append(colour + pale * (1 - colour))
    order = np.argsort(np.concatenate(depths), kind="stable")
    return Drawn(np.concatenate(polygons)[order], np.concatenate(colours)[order])


def spread(
    machine: Machine, poses: Sequence[Pose], paths: Sequence[Pose] = (), marked: Sequence[FloatArray] = ()
) -> FloatArray:
    """Lowest and highest coordinates (2, 3) of the surfaces in all *poses*, rails left out, of shown *paths*, and of *marked*
    places.
    """
    trails = [*marked, *(pose.moving[list(trail.at)] for trail in machine.scene.trails for pose in paths)]
    low, high = np.min([*trails, np.full(3, np.inf)], axis=0), np.max([*trails, np.full(3, -np.inf)], axis=0)
    for pose in poses:
        for piece in pieces(machine, pose):
            if piece.solid.kind != "rail" and len(piece.surface.vertices):
                low = np.minimum(low, piece.surface.vertices.min(axis=0))
                high = np.maximum(high, piece.surface.vertices.max(axis=0))
    if not np.isfinite(low).all():
        return machine.box
    for s in machine.scene.solids:  # the ground near it
        if s.kind == "plane" and s.frame == 0 and poses:
            at, n = machine.value(s, "at"), machine.value(s, "axis")
            n = n / norm(n)
            middle = (low + high) / 2
            foot = middle - ((middle - at) @ n) * n
            if norm(foot - middle) < NEAR * norm(high - low):
                low, high = np.minimum(low, foot), np.maximum(high, foot)
    around = BESIDE * norm(high - low)
    for k, field in enumerate(fields(machine)):  # and as much of uneven ground that its shape is seen
        u, w, _ = machine.value(field, "axes").reshape(3, 3)
        aside = np.array([a * u + b * w for a in (-1, 0, 1) for b in (-1, 0, 1)]) * around
        if machine.scene.normal is not None:
            aside[:, machine.scene.normal] = 0.0
        places = along_field(machine, k, aside + (low + high) / 2)
        for pose in poses:
            feet = on_field(machine, k, pose.t, places)
            if np.isfinite(feet).all() and norm(feet[4] - (low + high) / 2) < NEAR * around:
                low, high = np.minimum(low, feet.min(axis=0)), np.maximum(high, feet.max(axis=0))
    return np.array([low, high])


def corners(box: FloatArray) -> FloatArray:
    """The corners (8, 3) of a *box*."""
    return np.array([[box[i, 0], box[j, 1], box[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


def proportions(view: Camera, box: FloatArray) -> tuple[float, float]:
    """Width and height [in] of a picture of a *box*."""
    wide, high = np.ptp(view.project(corners(box))[0], axis=0).tolist()
    ratio = min(max(wide / high if high > 0 else 2.5, 0.7), 2.5)
    return (4.8 * ratio, 4.8) if ratio < 4 / 3 else (6.4, 6.4 / ratio)


def axes_of(ax: Any, size: tuple[float, float]) -> Any:
    """Axes to draw into: those given, or new ones of this *size* [in]."""
    if ax is not None:
        if not isinstance(ax, pyplot().Axes):
            raise ArgumentError(f"Expected axes of Matplotlib for ax, found {shown(ax)}.")
        return ax
    return pyplot().figure(figsize=size, layout="constrained").add_subplot()


def put(ax: Any, polygons: Drawn, zorder: float) -> Any:
    """Add *polygons* to the axes; returns their collection."""
    made = PolyCollection(
        [*polygons.polygons], facecolors=polygons.colours, edgecolors=polygons.colours, linewidths=0.5, zorder=zorder
    )
    ax.add_collection(made, autolim=False)
    return made


def prepare(ax: Any, view: Camera, box: FloatArray) -> None:
    """Equal scales for a machine within a *box*, and for a plane ticks and names."""
    flat, _ = view.project(corners(box))
    low, high = flat.min(axis=0), flat.max(axis=0)
    margin = max(0.08 * float(max(high - low)), tolerances.STATE_TOLERANCE * float(np.abs(flat).max())) or 1.0
    ax.set_aspect("equal")
    ax.set_xlim(low[0] - margin, high[0] + margin)
    ax.set_ylim(low[1] - margin, high[1] + margin)
    ax.set_facecolor(PAPER)
    if np.isfinite(view.distance):
        ax.set_axis_off()
        return
    for row, name in ((view.axes[0], ax.set_xlabel), (view.axes[1], ax.set_ylabel)):
        k = int(np.argmax(np.abs(row)))
        if abs(row[k]) > 0.999:
            name(f"{'-' if row[k] < 0 else ''}{'xyz'[k]} [m]")
    ax.grid(color=LINES, linewidth=0.6)
    ax.set_axisbelow(True)
    wide, high = high - low
    for axis, part in (("x", wide / high if high > 0 else 1.0), ("y", high / wide if wide > 0 else 1.0)):
        ax.locator_params(axis=axis, nbins=int(min(max(7 * part, 2), 6)))
    for spine in ax.spines.values():
        spine.set_color("#b8bfc8")
    ax.tick_params(color="#b8bfc8", labelcolor="#4a525c", labelsize="small")


def ground(ax: Any, machine: Machine, view: Camera, box: FloatArray, pose: Pose) -> None:
    """Draw what lies under the machine: a floor with its shadow in space, lines in a plane."""
    (_floor if np.isfinite(view.distance) else _lines)(ax, machine, view, box, pose)


def uneven_ground(machine: Machine, view: Camera, box: FloatArray, pose: Pose) -> Iterator[Piece]:
    """The surfaces of ground of given heights under a machine in space, within a *box*."""
    if np.isfinite(view.distance):
        for k, field in enumerate(fields(machine)):
            surface, cells = field_surface(machine, k, pose.t, corners(box))
            seen = np.isfinite(surface.vertices[surface.faces]).all(axis=(1, 2))
            rows, checks = cells[0] // CHECKS, cells[1] // CHECKS
            i, j = (x.ravel() for x in np.indices(cells))
            light = (i // rows + j // checks) % 2 == 0
            for colour, shown in zip(GROUND, (light, ~light), strict=True):
                yield Piece(replace(surface, faces=surface.faces[seen & shown]), colour, field)


def _lines(ax: Any, machine: Machine, view: Camera, box: FloatArray, pose: Pose) -> None:
    """The planes, and the ground of given heights, on which a machine in a plane rolls or lies."""
    reach = 4 * float(norm(np.ptp(box, axis=0)))
    for s in (x for x in machine.scene.solids if x.kind == "plane"):
        R, r = pose.frame(s.frame)
        place, _ = view.project(R @ machine.value(s, "at") + r)
        n = view.axes[:2] @ R @ machine.value(s, "axis")
        if norm(n) < 0.5:
            continue
        n /= norm(n)
        across = reach * np.array([-n[1], n[0]])
        a, b = place - across, place + across
        ax.fill(*np.array([a, b, b - reach * n, a - reach * n]).T, color=EARTH, zorder=0.6, linewidth=0)
        ax.plot(*np.array([a, b]).T, color=EDGE, linewidth=1.2, zorder=0.7)
    for k, field in enumerate(fields(machine)):
        n = view.axes[:2] @ machine.value(field, "axes")[6:]
        if norm(n) < 0.5:
            continue
        across = reach * np.linspace(-1, 1, PROFILE)[:, None] * view.axes[0] + box.mean(axis=0)
        line, _ = view.project(on_field(machine, k, pose.t, along_field(machine, k, across)))
        line = line[np.isfinite(line).all(axis=1)]
        if len(line) > 1:
            under = line[[-1, 0]] - reach * n
            ax.fill(*np.concatenate([line, under]).T, color=EARTH, zorder=0.6, linewidth=0)
            ax.plot(*line.T, color=EDGE, linewidth=1.2, zorder=0.7)


def _floor(ax: Any, machine: Machine, view: Camera, box: FloatArray, pose: Pose) -> None:
    """A grid under the machine, with its shadow: on the plane of the ground on which it rolls or lies, else below it."""
    plane = next((s for s in machine.scene.solids if s.kind == "plane" and s.frame == 0), None)
    if plane is not None:
        at, n = machine.value(plane, "at"), _unit(machine.value(plane, "axis"))
    elif (n := machine.up).any() and not fields(machine):
        at = (float((corners(box) @ n).min()) - 0.02 * machine.size) * n
    else:
        return
    if view.axes[2] @ n < 0.05:
        return
    R = along(n)
    size = float(norm(np.ptp(box, axis=0)))
    step = 10 ** np.floor(np.log10(size / 6))
    step *= next(k for k in (1, 2, 5, 10) if k * step > size / 6)
    middle = np.round((R.T @ (box.mean(axis=0) - at))[:2] / step) * step
    ends = step * np.arange(-CELLS, CELLS + 1)
    low, high = np.full(len(ends), ends[0]), np.full(len(ends), ends[-1])
    rows = np.stack([np.column_stack([ends, low]), np.column_stack([ends, high])], axis=1)
    grid = np.concatenate([rows, rows[:, :, ::-1]]) + middle
    flat, _ = view.project(np.concatenate([grid, np.zeros((*grid.shape[:2], 1))], axis=2) @ R.T + at)
    ax.add_collection(LineCollection([*flat], colors=LINES, linewidths=0.7, zorder=0.8), autolim=False)
    light = view.axes.T @ np.array([0.25, 0.8, 0.35])
    light = n + 0.35 * (light - (light @ n) * n)
    shadows = []
    for piece in pieces(machine, pose):
        faces = piece.surface.vertices[piece.surface.faces]
        height = (faces - at) @ n
        if piece.solid.kind != "rail" and (height > -0.02 * machine.size).all():
            shadows.append(view.project(faces - height[..., None] * light)[0])
    if shadows:
        dark = PolyCollection([*np.concatenate(shadows)], color=SHADOW, linewidths=0.3, zorder=0.5)
        ax.add_collection(dark, autolim=False)
