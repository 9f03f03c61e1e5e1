"""Meshes from files, through trimesh: read, thinned, kept for further pictures."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kineta.errors import MissingPackageError, warn
from kineta.model.appearance.shape import BodyShape
from kineta.model.system import System
from kineta.scene.scene import Scene, Solid
from kineta.scene.surfaces import Surface

#: Triangles of all meshes of a machine together, and of one of them at least.
TRIANGLES, LEAST = 24_000, 150
#: Meshes that are kept, the most recently used.
KEPT = 512


#: Packages with which trimesh guesses the encoding of a file that is neither the binary form of its format nor text.
GUESSING = ("charset_normalizer", "chardet")


class MeshError(Exception):
    """A mesh that cannot be drawn, with the reason."""


def unreadable(system: System) -> frozenset[BodyShape]:
    """The shapes of a *system* with a mesh that cannot be drawn."""
    own = [x for x in system.appearance if isinstance(x, BodyShape) and x.solid == "mesh"]
    found = set[BodyShape]()
    for x in own:
        try:
            _read(x.location.file if x.location else "", x.file, len(own))
        except (MeshError, MissingPackageError):
            found.add(x)
    return frozenset(found)


def mesh_of(scene: Scene, solid: Solid) -> Surface | None:
    """The surface of a *solid* with a mesh; none, and a warning, where it cannot be drawn."""
    try:
        return _read(solid.name, solid.file, sum(x.kind == "mesh" for x in scene.solids))
    except (MeshError, MissingPackageError) as error:
        warn(f"Model '{scene.model}': a mesh of '{solid.owner or 'ground'}' is not drawn: {error}")
        return None


def _read(model: str, file: str, count: int) -> Surface:
    """One of *count* meshes of a machine, in a *file* beside that of its *model*."""
    path = Path(model).parent / file
    if not path.is_file():
        raise MeshError(f"there is no file '{file}'")
    written = path.stat()
    return mesh(path, (written.st_mtime_ns, written.st_size), max(LEAST, TRIANGLES // count))


@lru_cache(maxsize=KEPT)
def mesh(path: Path, written: tuple[int, int], triangles: int) -> Surface:
    """The surface in a file, with this number of *triangles* at most; *written*: when, and its size, which tell another one.

    Raises :class:`MeshError` for a file that is damaged or holds no triangles, :class:`MissingPackageError` without trimesh.
    """
    try:
        import trimesh
    except ImportError:
        raise MissingPackageError("trimesh", "show") from None
    try:
        found: Any = trimesh.load(path, force="mesh")
        found.merge_vertices(merge_tex=True, merge_norm=True)  # else thinning tears it along its seams
        if len(found.faces) > triangles:
            found = found.simplify_quadric_decimation(face_count=triangles)
        vertices, faces = np.asarray(found.vertices, np.float64), np.asarray(found.faces, np.int64)
        closed = bool(found.is_watertight and found.is_winding_consistent)
    except Exception as error:  # whatever readers of foreign files raise
        if isinstance(error, ImportError) and error.name in GUESSING:
            raise MeshError(f"'{path}' is damaged: its content is not that of a {path.suffix or 'mesh'} file") from None
        raise MeshError(f"'{path}' cannot be read ({type(error).__name__}: {error})") from None
    if not len(faces) or not np.isfinite(vertices).all():
        raise MeshError(f"'{path}' holds no triangles")
    if closed and found.volume < 0:
        faces = faces[:, ::-1]
    return Surface(vertices, np.column_stack([faces, faces[:, 2]]), closed)
