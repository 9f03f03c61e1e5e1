"""Twists: fields of velocities or accelerations as of a rigid body."""

from __future__ import annotations

from kineta.expr.graph import Graph, Ref
from kineta.records import dataclass
from kineta.spatial.vector import Vector
from kineta.spatial.wrench import Wrench


@dataclass(frozen=True, slots=True)
class Twist:
    """The field w x r + v, where r begins at the origin of a link, in link axes."""

    w: Vector
    v: Vector

    def __add__(self, other: Twist) -> Twist:
        return Twist(self.w + other.w, self.v + other.v)

    def __mul__(self, factor: Ref) -> Twist:
        return Twist(self.w * factor, self.v * factor)

    def work(self, F: Wrench) -> Ref:
        """The product with the wrench *F*."""
        return self.w.graph.add(self.w.dot(F.n), self.v.dot(F.f))

    def cross(self, other: Twist) -> Twist:
        """The change of *other* that is carried along with this velocity: ad_self other."""
        return Twist(self.w.cross(other.w), self.w.cross(other.v) + self.v.cross(other.w))

    def cross_wrench(self, F: Wrench) -> Wrench:
        """The change of the wrench *F* that is carried along with this velocity."""
        return Wrench(self.w.cross(F.f), self.w.cross(F.n) + self.v.cross(F.f))

    @property
    def is_zero(self) -> bool:
        """True where all components are structurally zero."""
        return self.w.is_zero and self.v.is_zero

    @classmethod
    def zero(cls, graph: Graph) -> Twist:
        """The zero twist."""
        return cls(Vector(graph), Vector(graph))
