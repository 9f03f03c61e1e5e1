"""Meshes of a machine: coordinates and triangles of 16 bits, as differences from one to the next."""

from __future__ import annotations

from typing import Any

import numpy as np

from kineta.page.compression import compressed, planes
from kineta.scene.meshes import mesh_of
from kineta.scene.scene import Scene


def encoded_meshes(scene: Scene) -> tuple[dict[int, dict[str, Any]], str]:
    """The meshes of a *scene* by the number of their solid: lowest corner, size, how many vertices and triangles, and whether it
    is closed; and the vertices and triangles of all meshes, one after the other. A warning for each that cannot be drawn.
    """
    found, surfaces = dict[int, dict[str, Any]](), list[bytes]()
    for k, solid in enumerate(scene.solids):
        if solid.kind != "mesh" or (surface := mesh_of(scene, solid)) is None:
            continue
        vertices, faces = surface.vertices, surface.faces[:, :3]
        low = vertices.min(axis=0)
        size = float(np.ptp(vertices, axis=0).max()) or 1.0
        found[k] = {"low": low.tolist(), "size": size, "vertices": len(vertices), "triangles": len(faces)}
        found[k]["closed"] = surface.closed
        surfaces += [_differences(np.rint((vertices - low) / size * 65535)), _differences(faces)]
    return found, compressed(b"".join(surfaces))


def _differences(rows: Any) -> bytes:
    """Rows of three whole numbers as differences from the row before, modulo 2^16, number by number."""
    return planes(np.diff(rows.astype(np.int64), axis=0, prepend=0).T & 0xFFFF, 2)
