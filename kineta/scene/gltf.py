"""Machines as they move in files of glTF 2.0, which programs of three dimensions read: a node for each frame, with its meshes and
its motion [Khronos Group: glTF 2.0 Specification].
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, IntArray
from kineta.numerics.linear_algebra import norm
from kineta.records import dataclass
from kineta.scene.construction import between, colour, ends, fixed_surfaces
from kineta.scene.machine import Machine, Pose
from kineta.scene.scene import Solid
from kineta.scene.surfaces import Surface, along

#: Cosine of the angle between faces up to which an edge is round.
ROUND = 0.75
#: Numbers of the format: of types, targets of buffers, and parts of a file.
_FLOAT, _INTEGER, _VERTICES, _INDICES = 5126, 5125, 34962, 34963
_MAGIC, _VERSION, _JSON, _BINARY = 0x46546C67, 2, 0x4E4F534A, 0x004E4942
_KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}


def gltf(machine: Machine, t: FloatArray, poses: Sequence[Pose]) -> bytes:
    """A binary file (``.glb``) of a *machine* in *poses* at times *t* (k,) [s], which begin at zero; of one pose without motion.

    The vertical is y there, as the format has it.
    """
    made = _File(t)
    frames = np.stack([pose.frames for pose in poses])
    root = made.node({"name": machine.scene.model, "rotation": _upright(machine).tolist()})
    dressed: dict[int, list[tuple[Surface, str]]] = {}
    for solid, fixed in fixed_surfaces(machine):
        dressed.setdefault(solid.frame, []).extend((s, c or colour(machine, solid)) for s, c in fixed)
    stretched = [solid for solid in machine.scene.solids if solid.to >= 0 and solid.kind != "rail"]
    bars = {k: list(between(machine, solid, machine.first)) for k, solid in enumerate(stretched)}
    for k, solid in enumerate(stretched):
        if solid.kind.endswith("_on_rail"):  # what slides on the rail is fixed to its frame
            R, r = machine.first.frame(solid.frame)
            surface = bars[k].pop(0)
            local = Surface((surface.vertices - r) @ R, surface.faces, surface.closed)
            dressed.setdefault(solid.frame, []).append((local, colour(machine, solid)))
    for k, name in enumerate(machine.scene.frames):
        node = made.node({"name": name or "ground"} | made.mesh(dressed.get(k, [])), root)
        turns = _quaternions(frames[:, k, :9].reshape(-1, 3, 3))
        made.moved(node, {"translation": frames[:, k, 9:], "rotation": turns}, machine.size)
    for k, solid in enumerate(stretched):
        if bars[k]:
            made.stretched(machine, solid, bars[k], poses, root)
    return made.written(root)


def _upright(machine: Machine) -> FloatArray:
    """The turn (4,), as x, y, z, w, that brings the vertical of a machine to y; without gravity z, or of a plane x, y none."""
    up = machine.up if machine.up.any() else np.eye(3)[1 if machine.scene.normal == 2 else 2]
    half = np.array([*np.cross(up, [0.0, 1.0, 0.0]), 1.0 + up[1]])
    return half / norm(half) if norm(half) > tolerances.STATE_TOLERANCE else np.array([1.0, 0.0, 0.0, 0.0])


def _quaternions(R: FloatArray) -> FloatArray:
    """Turns (k, 3, 3) as x, y, z, w (k, 4), each near the one before."""
    a, b, c = R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]
    squares = np.stack([1 + a - b - c, 1 - a + b - c, 1 - a - b + c, 1 + a + b + c], axis=1)
    sums = {(i, j): R[:, i, j] + R[:, j, i] for i, j in ((0, 1), (0, 2), (1, 2))}
    turned = [R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]]
    rows = np.array(
        [
            [squares[:, 0], sums[0, 1], sums[0, 2], turned[0]],
            [sums[0, 1], squares[:, 1], sums[1, 2], turned[1]],
            [sums[0, 2], sums[1, 2], squares[:, 2], turned[2]],
            [*turned, squares[:, 3]],
        ]
    )
    found = np.asarray(rows[squares.argmax(axis=1), :, np.arange(len(R))])
    found /= norm(found, axis=1)[:, None]
    signs = np.where(np.einsum("ij,ij->i", found[1:], found[:-1]) < 0, -1.0, 1.0)
    found[1:] *= np.cumprod(signs)[:, None]
    return found


def _turned(directions: FloatArray) -> FloatArray:
    """Axes (k, 3, 3), columns, whose third are unit *directions* (k, 3), each turned least from those before."""
    found = [along(directions[0])]
    for before, d in pairwise(directions):
        v, c = np.cross(before, d), float(before @ d)
        if c < -0.999:
            found.append(along(d))
            continue
        K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
        found.append((np.eye(3) + K + K @ K / (1 + c)) @ found[-1])
    return np.array(found)


def cornered(surface: Surface) -> tuple[FloatArray, FloatArray, IntArray]:
    """Vertices (n, 3), their normals (n, 3), and triangles (m, 3) of a *surface*: an edge between faces at a large angle has the
    vertices of both.
    """
    quads = surface.faces
    triangles = np.concatenate([quads[:, :3], quads[:, [0, 2, 3]][quads[:, 3] != quads[:, 2]]])
    # Corners at one place, as those of a pole, are one vertex.
    fine = tolerances.WRITTEN_TOLERANCE * max(float(np.ptp(surface.vertices, axis=0).max()), tolerances.LEAST_DIVISOR)
    _, kept, index = np.unique(np.rint(surface.vertices / fine), axis=0, return_index=True, return_inverse=True)
    vertices, triangles = surface.vertices[kept], index.ravel()[triangles]
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)
    sizes = norm(areas, axis=1)
    triangles, areas, sizes = triangles[sizes > 0], areas[sizes > 0], sizes[sizes > 0]
    units = areas / sizes[:, None]
    corner, face = triangles.ravel(), np.repeat(np.arange(len(triangles)), 3)
    order = np.argsort(corner, kind="stable")
    count = np.bincount(corner, minlength=len(vertices))
    first = np.cumsum(count) - count
    # All pairs of corners at one vertex: the normal of each is the mean of those within the angle.
    many = count[corner]
    one = np.repeat(np.arange(len(corner)), many)
    place = np.arange(len(one)) - np.repeat(np.cumsum(many) - many, many)
    other = order[first[corner[one]] + place]
    near = np.einsum("ij,ij->i", units[face[one]], units[face[other]]) > ROUND
    normals = np.zeros((len(corner), 3))
    np.add.at(normals, one[near], areas[face[other[near]]])
    normals /= norm(normals, axis=1)[:, None]
    _, kept, index = np.unique(
        np.column_stack([corner, np.rint(1e4 * normals)]), axis=0, return_index=True, return_inverse=True
    )
    return vertices[corner[kept]], normals[kept], index.reshape(-1, 3)


@dataclass
class _File:
    """A file that is being made: its records, and the bytes of its numbers."""

    t: FloatArray
    data: bytearray = field(default_factory=bytearray)
    records: dict[str, list[Any]] = field(default_factory=dict)
    colours: dict[tuple[str, bool], int] = field(default_factory=dict)
    channels: list[dict[str, Any]] = field(default_factory=list)
    samplers: list[dict[str, Any]] = field(default_factory=list)
    times: int | None = None

    def put(self, kind: str, record: Mapping[str, Any]) -> int:
        """Add a record of a kind; its number."""
        made = self.records.setdefault(kind, [])
        made.append(dict(record))
        return len(made) - 1

    def node(self, record: Mapping[str, Any], parent: int | None = None) -> int:
        """Add a node below a *parent*; its number."""
        made = self.put("nodes", record)
        if parent is not None:
            self.records["nodes"][parent].setdefault("children", []).append(made)
        return made

    def numbers(self, values: Any, target: int | None = None) -> int:
        """Add an array; the number of its accessor."""
        whole = target == _INDICES
        array = np.ascontiguousarray(values, "<u4" if whole else "<f4")
        rows = array.reshape(len(array), -1)
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes}
        self.data += array.tobytes()
        record = {
            "bufferView": self.put("bufferViews", view | ({"target": target} if target else {})),
            "componentType": _INTEGER if whole else _FLOAT,
            "count": len(array),
            "type": _KINDS[rows.shape[1]],
        }
        if not whole:
            record |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        return self.put("accessors", record)

    def mesh(self, dressed: Iterable[tuple[Surface, str]]) -> dict[str, int]:
        """The mesh of surfaces with colours, one part for each colour, as a field of a node; nothing without surfaces."""
        parts: dict[tuple[str, bool], list[Surface]] = {}
        for surface, c in dressed:
            if len(surface.faces):
                parts.setdefault((c, surface.closed), []).append(surface)
        made = []
        for key, found in parts.items():
            corners = [cornered(s) for s in found]
            starts = np.cumsum([0, *(len(v) for v, _, _ in corners[:-1])])
            index = np.concatenate([i + k for (_, _, i), k in zip(corners, starts.tolist(), strict=True)])
            if not len(index):
                continue
            vertices, normals = (np.concatenate([x[k] for x in corners]) for k in (0, 1))
            attributes = {"POSITION": self.numbers(vertices, _VERTICES), "NORMAL": self.numbers(normals, _VERTICES)}
            indices = self.numbers(index.ravel(), _INDICES)
            made.append({"attributes": attributes, "indices": indices, "material": self.material(*key)})
        return {"mesh": self.put("meshes", {"primitives": made})} if made else {}

    def material(self, c: str, closed: bool) -> int:
        """The number of the material of a colour ``#rrggbb``, seen from both sides where the surface is not *closed*."""
        if (c, closed) not in self.colours:
            shown = np.array([int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)])
            linear = np.where(shown <= 0.04045, shown / 12.92, ((shown + 0.055) / 1.055) ** 2.4)
            look = {"baseColorFactor": [*linear.tolist(), 1.0], "roughnessFactor": 0.52, "metallicFactor": 0.06}
            record = {"name": c, "pbrMetallicRoughness": look, "doubleSided": not closed}
            self.colours[c, closed] = self.put("materials", record)
        return self.colours[c, closed]

    def moved(self, node: int, ways: Mapping[str, FloatArray], size: float) -> None:
        """Where a *node* is, turned and scaled over time; what stays is written once."""
        for path, values in ways.items():
            self.records["nodes"][node][path] = values[0].tolist()
            least = tolerances.STATE_TOLERANCE * (size if path == "translation" else 1.0)
            if len(values) < 2 or not np.ptp(values, axis=0).max() > least:
                continue
            if self.times is None:
                self.times = self.numbers(self.t)
            sampler = {"input": self.times, "output": self.numbers(values), "interpolation": "LINEAR"}
            self.samplers.append(sampler)
            self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})

    def stretched(
        self, machine: Machine, solid: Solid, bars: Sequence[Surface], poses: Sequence[Pose], root: int
    ) -> None:
        """A solid between two frames: in axes along it, which turn and lengthen with it."""
        start, end = ends(machine, solid, machine.first)
        own, long = along(end - start), float(norm(end - start))
        local = [Surface((s.vertices - start) @ own, s.faces, s.closed) for s in bars]
        node = self.node(
            {"name": solid.name or solid.kind} | self.mesh((s, colour(machine, solid)) for s in local), root
        )
        places = np.array([ends(machine, solid, pose) for pose in poses])
        d = places[:, 1] - places[:, 0]
        lengths = norm(d, axis=1)
        directions = np.where(
            lengths[:, None] > tolerances.STATE_TOLERANCE * machine.size,
            d / np.maximum(lengths, tolerances.LEAST_DIVISOR)[:, None],
            own[:, 2],
        )
        ways = {"translation": places[:, 0], "rotation": _quaternions(_turned(directions))}
        ways["scale"] = np.column_stack([np.ones((len(lengths), 2)), lengths / long])
        self.moved(node, ways, machine.size)

    def written(self, root: int) -> bytes:
        """The file."""
        known: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "kineta"},
            "scene": 0,
            "scenes": [{"nodes": [root]}],
        }
        known |= self.records
        if self.data:
            known["buffers"] = [{"byteLength": len(self.data)}]
        if self.channels:
            known["animations"] = [{"name": "motion", "channels": self.channels, "samplers": self.samplers}]
        text = json.dumps(known, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        data = bytes(self.data) + b"\0" * (-len(self.data) % 4)
        parts = struct.pack("<II", len(text), _JSON) + text
        parts += struct.pack("<II", len(data), _BINARY) + data if data else b""
        return struct.pack("<III", _MAGIC, _VERSION, 12 + len(parts)) + parts
