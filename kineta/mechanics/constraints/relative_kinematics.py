"""Relative kinematics: positions, directions and angular velocities relative to another body, along the path that joins both in
the tree.

A vector is transformed from link to link, inwards and then outwards: few operations for few vectors, and links beyond the
nearest common carrier do not enter. The constant part of a position is carried separately: the constants of two paths are
subtracted from each other first, so that they cancel exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kineta.expr.graph import Graph
from kineta.mechanics.kinematics.kinematics import TreeKinematics
from kineta.mechanics.kinematics.tree import Link, Rate
from kineta.model.body import GROUND, Station
from kineta.model.system import System
from kineta.records import dataclass
from kineta.spatial.vector import Matrix, Vector


@dataclass(frozen=True, slots=True)
class Position:
    """A position as the sum of a ``constant`` part and a part that ``varies``."""

    constant: Vector
    varies: Vector

    def __add__(self, constant: Vector) -> Position:
        return Position(self.constant + constant, self.varies)

    def turned(self, R: Matrix) -> Position:
        """The position in other axes, constant relative to the present axes."""
        return Position(R @ self.constant, R @ self.varies)

    @property
    def sum(self) -> Vector:
        """The position."""
        return self.constant + self.varies

    def less(self, other: Position) -> Vector:
        """This position less another in the same frame."""
        return (self.varies - other.varies) + (self.constant - other.constant)


@dataclass(frozen=True, slots=True)
class RelativeKinematics:
    """Kinematics relative to the frame of the body ``frame``."""

    kinematics: TreeKinematics
    frame: str

    @property
    def graph(self) -> Graph:
        """The graph of all references."""
        return self.kinematics.graph

    def position(self, station: Station) -> Position:
        """The position of a place, in the frame."""
        link, x = self.kinematics.in_link(station)
        found = Position(x, Vector(self.graph))
        inwards, outwards = self._way(link)
        for each in inwards:
            found = _inward(each, found)
        for each in outwards:
            moved = (found.constant - each.offset) + found.varies
            found = Position(Vector(self.graph), each.outward(moved))
        place = self.kinematics.mechanism.places[self.frame]
        return (found + -place.r).turned(place.R.T)

    def direction(self, body: str, e: Vector) -> Vector:
        """A body-fixed direction *e*, in the axes of the frame."""
        place = self.kinematics.mechanism.places[body]
        return self._carried(place.link, place.R @ e)

    def turning(self, body: str) -> Vector:
        """The angular velocity of a body relative to the frame, in the axes of the frame."""
        inwards, outwards = self._way(self.kinematics.mechanism.places[body].link)
        w = Vector(self.graph)
        for each in inwards:
            w = each.inward(w + self._spin(each.rates))
        for each in outwards:
            w = each.outward(w) - self._spin(each.rates)
        return self.kinematics.mechanism.places[self.frame].R.T @ w

    def _carried(self, link: int, v: Vector) -> Vector:
        """The components of a vector given in link axes, in the axes of the frame."""
        inwards, outwards = self._way(link)
        for each in inwards:
            v = each.inward(v)
        for each in outwards:
            v = each.outward(v)
        return self.kinematics.mechanism.places[self.frame].R.T @ v

    def _way(self, link: int) -> tuple[list[Link], list[Link]]:
        """The links on the path from a link to the link of the frame: those traversed inwards, then those traversed outwards."""
        links, end = self.kinematics.mechanism.links, self.kinematics.mechanism.places[self.frame].link
        up, down = list(self._chain(link)), list(self._chain(end))
        while up and down and up[-1] == down[-1]:
            up.pop()
            down.pop()
        return [links[i] for i in up], [links[i] for i in reversed(down)]

    def _chain(self, link: int) -> Iterator[int]:
        """A link and its carriers."""
        while link >= 0:
            yield link
            link = self.kinematics.mechanism.links[link].parent

    def _spin(self, rates: Sequence[Rate]) -> Vector:
        """The relative angular velocity of a link, in link axes."""
        w = Vector(self.graph)
        for rate in rates:
            if rate.turns:
                w = w.plus(rate.axis, rate.speed)
        return w


def _inward(link: Link, x: Position) -> Position:
    """A position relative to the parent of a link."""
    if link.kind == "shift":
        return Position(link.r + link.R @ x.constant, link.R @ (link.d + x.varies))
    return Position(link.r, link.R @ link.d + link.inward(x.constant + x.varies))


def between(kinematics: TreeKinematics, start: Station, end: Station) -> Vector:
    """Vector from one place to another, in the axes of their nearest common carrier."""
    sight = RelativeKinematics(kinematics, carrier(kinematics.mechanism.symbols.system, start.body, end.body))
    return sight.position(end).less(sight.position(start))


def carrier(system: System, one: str, other: str) -> str:
    """The nearest common carrier of two bodies, possibly one of them; the ground carries all."""
    base = {b.name: b.base for b in system.bodies}
    ways = []
    for name in (one, other):
        way = [name]
        while way[-1] != GROUND:
            way.append(base[way[-1]])
        ways.append(way)
    return next(name for name in ways[0] if name in ways[1])
