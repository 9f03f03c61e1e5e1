"""Surfaces of solids as polygons. A face has four corners; a triangle has the last of them twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, IntArray
from kineta.numerics.linear_algebra import norm, svd
from kineta.records import dataclass

#: Corners around a round solid, and along a ball from pole to pole.
AROUND, ALONG = 24, 12
#: Pieces of a long solid are about this many radii long, so that they can be told before and behind others.
PIECE = 5.0
#: Thickness of a thin disk, in its radii.
THIN = 0.06
#: Turns of a coil.
TURNS = 8


@dataclass(frozen=True, eq=False)
class Surface:
    """``vertices`` (n, 3) [m] and ``faces`` (m, 4), counterclockwise seen from outside where the surface is *closed*.

    lift : by how much it comes before what is farther away [m]: a spot on a face lies before all of the face
    """

    vertices: FloatArray
    faces: IntArray
    closed: bool = True
    lift: float = 0.0

    def placed(self, axes: FloatArray, origin: FloatArray) -> Surface:
        """The surface with its *axes*, columns (3, 3), at an *origin*."""
        return Surface(self.vertices @ axes.T + origin, self.faces, self.closed, self.lift)


def together(*surfaces: Surface) -> Surface:
    """One surface of several."""
    starts = np.cumsum([0, *(len(s.vertices) for s in surfaces[:-1])])
    faces = np.concatenate([s.faces + k for s, k in zip(surfaces, starts.tolist(), strict=True)])
    return Surface(np.concatenate([s.vertices for s in surfaces]), faces, all(s.closed for s in surfaces))


def along(direction: FloatArray) -> FloatArray:
    """Right-handed axes (columns) with the third along *direction*."""
    e = np.asarray(direction, float)
    length = float(np.sqrt(e @ e))
    e = e / length if length > 0 else np.array([0.0, 0.0, 1.0])
    other = np.eye(3)[int(np.argmin(np.abs(e)))]
    u = other - (other @ e) * e
    u /= np.sqrt(u @ u)
    return np.column_stack([u, np.cross(e, u), e])


def _lathe(profile: FloatArray, around: int = AROUND) -> Surface:
    """The surface of a *profile* (n, 2) of radius and height, turned about z; its ends lie on the axis, the lowest first."""
    a = 2 * np.pi * np.arange(around) / around
    rings = [np.column_stack([r * np.cos(a), r * np.sin(a), np.full(around, z)]) for r, z in profile]
    k = np.arange(around)
    faces = []
    for i in range(len(profile) - 1):
        low, high = i * around + k, i * around + (k + 1) % around
        faces.append(np.column_stack([low, high, high + around, low + around]))
    return Surface(np.concatenate(rings), np.concatenate(faces))


def sphere(radius: float, around: int = AROUND) -> Surface:
    """A ball about the origin."""
    return ellipsoid(np.full(3, radius), around)


def ellipsoid(halves: FloatArray, around: int = AROUND) -> Surface:
    """An ellipsoid with half axes along x, y and z."""
    a = np.linspace(-np.pi / 2, np.pi / 2, around // 2 + 1)
    unit = _lathe(np.column_stack([np.cos(a), np.sin(a)]), around)
    return Surface(unit.vertices * np.asarray(halves), unit.faces)


def cylinder(radius: float, length: float, around: int = AROUND, tip: float | None = None) -> Surface:
    """A cylinder about z and the origin; a cone with the radius *tip* at its upper end."""
    n = int(np.clip(np.ceil(length / max(PIECE * radius, tolerances.LEAST_DIVISOR)), 1, 12))
    z = np.linspace(-length / 2, length / 2, n + 1)
    r = np.linspace(radius, radius if tip is None else tip, n + 1)
    ends = [[0.0, z[0]], *([0.5 * radius, z[0]] for _ in range(int(radius > 0.5 * length)))]
    tops = [*([0.5 * r[-1], z[-1]] for _ in range(int(radius > 0.5 * length))), [0.0, z[-1]]]
    return _lathe(np.array([*ends, *np.column_stack([r, z]).tolist(), *tops]), around)


def capsule(radius: float, length: float, around: int = AROUND) -> Surface:
    """A cylinder of this *length* about z and the origin, with half balls on its ends."""
    a = np.linspace(0, np.pi / 2, around // 4 + 1)
    n = int(np.clip(np.ceil(length / max(PIECE * radius, tolerances.LEAST_DIVISOR)), 1, 12))
    low = np.column_stack([radius * np.cos(a[::-1]), -length / 2 - radius * np.sin(a[::-1])])
    high = np.column_stack([radius * np.cos(a), length / 2 + radius * np.sin(a)])
    middle = np.column_stack([np.full(n - 1, radius), np.linspace(-length / 2, length / 2, n + 1)[1:-1]])
    return _lathe(np.concatenate([low, middle, high]), around)


def torus(radius: float, tube: float) -> Surface:
    """A torus about z, *radius* that of the circle of the centres of the *tube*."""
    m, n = 12, 2 * AROUND
    a, b = 2 * np.pi * np.arange(n) / n, 2 * np.pi * np.arange(m) / m
    A, B = np.meshgrid(a, b, indexing="ij")
    r = radius + tube * np.cos(B)
    vertices = np.stack([r * np.cos(A), r * np.sin(A), tube * np.sin(B)], axis=-1).reshape(-1, 3)
    i, j = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    up, right = (i + 1) % n, (j + 1) % m
    return Surface(vertices, np.column_stack([i * m + j, up * m + j, up * m + right, i * m + right]))


def box(sides: FloatArray) -> Surface:
    """A box about the origin with *sides* along x, y and z."""
    pieces = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        n = [int(np.clip(round(4 * s / max(sides)), 1, 4)) for s in (sides[i], sides[j])]
        u, w = np.meshgrid(*(np.linspace(-0.5, 0.5, m + 1) for m in n), indexing="ij")
        a, b = (x.ravel() for x in np.meshgrid(np.arange(n[0]), np.arange(n[1]), indexing="ij"))
        low = a * (n[1] + 1) + b
        for sign in (1.0, -1.0):
            vertices = np.empty((u.size, 3))
            vertices[:, i], vertices[:, j], vertices[:, k] = (
                u.ravel() * sides[i],
                w.ravel() * sides[j],
                sign * sides[k] / 2,
            )
            ring = np.column_stack([low, low + n[1] + 1, low + n[1] + 2, low + 1])
            pieces.append(Surface(vertices, ring if sign > 0 else ring[:, ::-1]))
    return together(*pieces)


def hull(points: FloatArray) -> Surface:
    """The convex hull of *points*; of points in a plane a thin plate."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        found = ConvexHull(points)
    except QhullError:
        centre = points.mean(axis=0)
        normal = svd(points - centre, what="the plane of a polygon")[2][-1]
        thin = 0.01 * float(np.ptp(points, axis=0).max()) * normal
        if not thin.any():
            return sphere(0.0)
        try:
            found = ConvexHull(np.concatenate([points - thin, points + thin]))
        except QhullError:  # points of a line
            return sphere(0.0)
    triangles, centre = found.simplices, found.points.mean(axis=0)
    a, b, c = (found.points[triangles[:, k]] for k in range(3))
    inside = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - centre) < 0
    triangles[inside] = triangles[inside][:, ::-1]
    return Surface(found.points, np.column_stack([triangles, triangles[:, 2]]))


def bar(start: FloatArray, end: FloatArray, radius: float, *, around: int = 16, tip: float | None = None) -> Surface:
    """A round bar between two places; a cone with the radius *tip* at its *end*."""
    d = end - start
    length = float(np.sqrt(d @ d))
    return cylinder(radius, length, around, tip).placed(along(d), (start + end) / 2)


def rod(start: FloatArray, end: FloatArray, radius: float) -> Surface:
    """A round bar with balls on its ends."""
    d = end - start
    return capsule(radius, float(np.sqrt(d @ d)), 16).placed(along(d), (start + end) / 2)


def coil(start: FloatArray, end: FloatArray, radius: float, wire: float) -> Surface:
    """A helical spring between two places."""
    n, m = 14 * TURNS, 5
    s = np.linspace(0, 1, n + 1)
    wide = radius * np.clip(np.minimum(s, 1 - s) * 9, 0.0, 1.0)
    a = 2 * np.pi * TURNS * s
    d = end - start
    length = float(np.sqrt(d @ d))
    line = np.column_stack([wide * np.cos(a), wide * np.sin(a), s * length])
    return _tube(line @ along(d).T + start, wire, m)


def rope(start: FloatArray, end: FloatArray, length: float, up: FloatArray, radius: float) -> Surface:
    """A rope of a *length*: straight where it is taut, else on a parabola that sags against *up*, about as long as it."""
    d = end - start
    far = float(np.sqrt(d @ d))
    sag = float(np.sqrt(max((length - far) * (4 * length + 2 * far), 0.0))) / 4  # half the length where the ends meet
    if not (0.0 < sag < np.inf and up.any()):
        return bar(start, end, radius)
    s = np.linspace(0.0, 1.0, 25)[:, None]
    line: FloatArray = start + s * d - 4 * sag * s * (1 - s) * up
    return _tube(line, radius, 8)


def _tube(line: FloatArray, radius: float, around: int) -> Surface:
    """A tube about a *line* (n, 3), open at its ends."""
    ahead = np.gradient(line, axis=0)
    ahead /= np.maximum(norm(ahead, axis=1, keepdims=True), tolerances.LEAST_DIVISOR)
    u = np.cross(ahead, np.eye(3)[int(np.argmin(np.abs(ahead).mean(axis=0)))])
    u /= np.maximum(norm(u, axis=1, keepdims=True), tolerances.LEAST_DIVISOR)
    w = np.cross(ahead, u)
    a = 2 * np.pi * np.arange(around) / around
    vertices = line[:, None] + radius * (np.cos(a)[:, None] * u[:, None] + np.sin(a)[:, None] * w[:, None])
    i, k = (x.ravel() for x in np.meshgrid(np.arange(len(line) - 1), np.arange(around), indexing="ij"))
    nxt = (k + 1) % around
    faces = np.column_stack([i * around + k, i * around + nxt, (i + 1) * around + nxt, (i + 1) * around + k])
    return Surface(vertices.reshape(-1, 3), faces)


def sheet(places: FloatArray) -> Surface:
    """The surface through *places* (n, m, 3), open at its edges."""
    n, m, _ = places.shape
    low = (m * np.arange(n - 1)[:, None] + np.arange(m - 1)).ravel()
    return Surface(places.reshape(-1, 3), np.column_stack([low, low + m, low + m + 1, low + 1]), closed=False)


def wheel(radius: float) -> Surface:
    """A spoked wheel about z."""
    tyre = torus(0.965 * radius, 0.035 * radius)
    angles = 2 * np.pi * np.arange(9) / 9
    rim = 0.95 * radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(9)])
    spokes = [bar(np.zeros(3), end, 0.014 * radius, around=6) for end in rim]
    return together(tyre, *spokes, cylinder(0.09 * radius, 0.16 * radius))


def disk(radius: float, thickness: float | None = None) -> Surface:
    """A disk about z, thin unless it has a *thickness*."""
    return cylinder(radius, THIN * radius if thickness is None else thickness, 2 * AROUND)


#: Surfaces of solids by kind, from their sizes; those about an axis have it along z.
SOLIDS: Mapping[str, Callable[..., Any]] = {
    "box": lambda *sides: box(np.array(sides)),
    "sphere": sphere,
    "cylinder": cylinder,
    "capsule": capsule,
    "ellipsoid": lambda *halves: ellipsoid(np.array(halves)),
    "disk": disk,
    "wheel": wheel,
    "torus": torus,
}
