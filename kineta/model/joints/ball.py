"""Ball joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from kineta.expr.graph import Graph, Ref
from kineta.model.joints.joint import QUATERNION, Joint
from kineta.records import dataclass
from kineta.spatial.rotation import quaternion_matrix, quaternion_rate
from kineta.spatial.vector import Matrix, Vector


@dataclass(frozen=True, slots=True)
class Ball(Joint):
    """Free turn about the origin.

    Coordinates: the unit quaternion ``name.qw .qx .qy .qz`` (scalar first, Hamilton) that maps components in the frame after
    the motion to components in the frame before. Speeds: ``name.wx .wy .wz``, the angular velocity relative to
    the frame before, in the axes of the frame after [rad/s].
    """

    coordinate_units: ClassVar[Mapping[str, str]] = QUATERNION
    twist: ClassVar[tuple[str, ...]] = ("wx", "wy", "wz")

    name: str

    def frame(self, graph: Graph, q: Sequence[Ref]) -> tuple[Matrix, Vector]:
        """The rotation by the quaternion about the origin."""
        return quaternion_matrix(graph, q), Vector(graph)

    def rates(self, graph: Graph, q: Sequence[Ref], u: Vector, w: Vector) -> Sequence[Ref]:
        """The rates of the quaternion."""
        return quaternion_rate(graph, q, w)
