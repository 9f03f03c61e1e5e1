"""Free motion in space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from kineta.expr.graph import Graph, Ref
from kineta.model.joints.joint import QUATERNION, Joint
from kineta.records import dataclass
from kineta.spatial.rotation import quaternion_matrix, quaternion_rate
from kineta.spatial.vector import Matrix, Vector


@dataclass(frozen=True, slots=True)
class Free(Joint):
    """Free motion in space.

    Coordinates: the position ``name.x .y .z`` of the origin in the axes of the frame before [m], then the quaternion of
    :class:`Ball`. Speeds: ``name.vx .vy .vz``, the velocity of the origin relative to the frame before, in the axes of the
    frame *after* [m/s], then ``name.wx .wy .wz`` as for :class:`Ball`. (A base whose linear speeds are the rates of x, y, z is
    ``Sx(x), Sy(y), Sz(z), Ball(name)``.)
    """

    coordinate_units: ClassVar[Mapping[str, str]] = {"x": "m", "y": "m", "z": "m", **QUATERNION}
    twist: ClassVar[tuple[str, ...]] = ("vx", "vy", "vz", "wx", "wy", "wz")

    name: str

    def frame(self, graph: Graph, q: Sequence[Ref]) -> tuple[Matrix, Vector]:
        """The rotation by the quaternion, at the position."""
        return quaternion_matrix(graph, q[3:]), Vector(graph, *q[:3])

    def rates(self, graph: Graph, q: Sequence[Ref], u: Vector, w: Vector) -> Sequence[Ref]:
        """The velocity in the axes before, and the rates of the quaternion."""
        turning = quaternion_rate(graph, q[3:], w)
        return (*(quaternion_matrix(graph, q[3:]) @ u).refs, *turning)
