"""Meshes of a machine, with coordinates of 16 bits."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np

from kineta.errors import MissingPackageError, warn
from kineta.scene import meshes
from kineta.scene.scene import Scene, Solid


def encoded_meshes(scene: Scene) -> dict[int, dict[str, Any]]:
    """The meshes of a *scene* by the number of their solid: lowest corner, size, vertices and triangles; a warning for each that
    cannot be read.
    """
    solids = {k: s for k, s in enumerate(scene.solids) if s.kind == "mesh"}
    most = max(meshes.LEAST, meshes.TRIANGLES // max(1, len(solids)))
    found = {}
    for k, solid in solids.items():
        try:
            found[k] = _encoded(solid, most)
        except (meshes.MeshError, MissingPackageError) as error:
            warn(f"Model '{scene.model}': a mesh of '{solid.owner or 'ground'}' is drawn as a box: {error}")
    return found


def _encoded(solid: Solid, most: int) -> dict[str, Any]:
    surface = meshes.mesh(Path(solid.name).parent / solid.file, most)
    vertices, faces = surface.vertices, surface.faces[:, :3]
    low = vertices.min(axis=0)
    size = float(np.ptp(vertices, axis=0).max()) or 1.0
    return {
        "low": low.tolist(),
        "size": size,
        "vertices": _words(np.rint((vertices - low) / size * 65535)),
        "triangles": _words(faces),
    }


def _words(values: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<u2").tobytes()).decode()
