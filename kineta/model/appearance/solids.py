"""The solids that shapes may be."""

from __future__ import annotations

from collections.abc import Mapping

from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class SolidKind:
    """Arguments of a solid: the names of its ``sizes``, the last *optional* of which may be left out, and whether it has an
    *axis*, along which its length may be given by two places.
    """

    sizes: tuple[str, ...] = ()
    optional: int = 0
    axis: bool = False


#: The solids by their words; ``mesh`` is that of a file, ``none`` is nothing at all.
SOLIDS: Mapping[str, SolidKind] = {
    "box": SolidKind(("side along x", "side along y", "side along z")),
    "sphere": SolidKind(("radius",)),
    "capsule": SolidKind(("radius", "length"), axis=True),
    "cylinder": SolidKind(("radius", "length"), axis=True),
    "ellipsoid": SolidKind(("half axis along x", "half axis along y", "half axis along z")),
    "disk": SolidKind(("radius", "thickness"), optional=1, axis=True),
    "mesh": SolidKind(),
    "none": SolidKind(),
}
