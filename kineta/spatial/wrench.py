"""Wrenches: forces with their couples."""

from __future__ import annotations

from kineta.expr.graph import Graph
from kineta.records import dataclass
from kineta.spatial.vector import Vector


@dataclass(frozen=True, slots=True)
class Wrench:
    """A force f and a couple n about the origin of a link, in link axes."""

    f: Vector
    n: Vector

    def __add__(self, other: Wrench) -> Wrench:
        return Wrench(self.f + other.f, self.n + other.n)

    def __sub__(self, other: Wrench) -> Wrench:
        return Wrench(self.f - other.f, self.n - other.n)

    @classmethod
    def zero(cls, graph: Graph) -> Wrench:
        """The zero wrench."""
        return cls(Vector(graph), Vector(graph))
