"""A planar joint: ``Planar(b)`` slides in the plane of the axes x and y, and turns about z."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kineta.expr.graph import Graph, Ref
from kineta.model.joints.joint import Joint
from kineta.spatial.rotation import about
from kineta.spatial.vector import Matrix, Vector


@dataclass(frozen=True, slots=True)
class Planar(Joint):
    """Position ``name.x .y`` [m] and ``name.angle`` [rad] in a plane; speeds ``name.vx .vy .wz`` in the axes of the body."""

    coordinate_units: ClassVar[Mapping[str, str]] = {"x": "m", "y": "m", "angle": "rad"}
    twist: ClassVar[tuple[str, ...]] = ("vx", "vy", "wz")

    name: str

    def frame(self, graph: Graph, q: Sequence[Ref]) -> tuple[Matrix, Vector]:
        """The turn by the angle, at the position."""
        x, y, angle = q
        return about(graph, 2, graph.cos(angle), graph.sin(angle)), Vector(graph, x, y)

    def rates(self, graph: Graph, q: Sequence[Ref], u: Vector, w: Vector) -> Sequence[Ref]:
        """The velocity in the axes before, and the rate of the angle."""
        v = self.frame(graph, q)[0] @ u
        return v.x, v.y, w.z
