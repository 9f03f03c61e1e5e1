"""Places, directions and turning seen from the frame of another body, by the way through the tree that joins them.

A vector is carried from link to link, inwards and then outwards: few operations for few vectors, and what lies beyond the
nearest body that carries both does not come in. Of a position the part that no motion changes is carried beside the rest: the
constants of two ways that meet are subtracted from each other before anything else is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kineta.expr.graph import Graph
from kineta.formalism.kinematics import Kinematics
from kineta.formalism.mechanism import Link, Rate
from kineta.model.body import GROUND, Station
from kineta.model.motion import Axis
from kineta.model.system import System
from kineta.spatial.rotation import normals
from kineta.spatial.vector import Matrix, Vector


@dataclass(frozen=True, slots=True)
class Position:
    """A position in two parts: the ``constant`` one, and the one that ``varies``."""

    constant: Vector
    varies: Vector

    def __add__(self, constant: Vector) -> Position:
        return Position(self.constant + constant, self.varies)

    def turned(self, R: Matrix) -> Position:
        """The same in other axes, which stand still."""
        return Position(R @ self.constant, R @ self.varies)

    @property
    def sum(self) -> Vector:
        """The position."""
        return self.constant + self.varies

    def less(self, other: Position) -> Vector:
        """This position less another one in the same frame."""
        return (self.varies - other.varies) + (self.constant - other.constant)


@dataclass(frozen=True, slots=True)
class Sight:
    """What is seen from the frame of the body ``frame``."""

    kinematics: Kinematics
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

    def direction(self, body: str, axis: Sequence[float]) -> Vector:
        """A direction that is fixed in a body, in the axes of the frame."""
        place = self.kinematics.mechanism.places[body]
        return self._carried(place.link, place.R @ constant(self.graph, axis))

    def turning(self, body: str) -> Vector:
        """The angular velocity of a body against the frame, in the axes of the frame."""
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
        """The links between a link and that of the frame: those to be left on the way inwards, then those to be entered."""
        links, end = self.kinematics.mechanism.links, self.kinematics.mechanism.places[self.frame].link
        up, down = list(self._chain(link)), list(self._chain(end))
        while up and down and up[-1] == down[-1]:
            up.pop()
            down.pop()
        return [links[i] for i in up], [links[i] for i in reversed(down)]

    def _chain(self, link: int) -> Iterator[int]:
        """A link and those that carry it."""
        while link >= 0:
            yield link
            link = self.kinematics.mechanism.links[link].parent

    def _spin(self, rates: Sequence[Rate]) -> Vector:
        """The angular velocity that the rates of a link make, in link axes."""
        w = Vector(self.graph)
        for rate in rates:
            if rate.turns:
                w = w.plus(rate.axis, rate.speed)
        return w


def _inward(link: Link, x: Position) -> Position:
    """A position as the parent of a link sees it."""
    if link.kind == "shift":
        return Position(link.r + link.R @ x.constant, link.R @ (link.d + x.varies))
    return Position(link.r, link.R @ link.d + link.inward(x.constant + x.varies))


def between(kinematics: Kinematics, start: Station, end: Station) -> Vector:
    """From one place to another, in the axes of the nearest body that carries both."""
    sight = Sight(kinematics, carrier(kinematics.mechanism.symbols.system, start.body, end.body))
    return sight.position(end).less(sight.position(start))


def carrier(system: System, one: str, other: str) -> str:
    """The nearest body that carries two bodies, which may be one of them; the ground carries all."""
    base = {b.name: b.base for b in system.bodies}
    ways = []
    for name in (one, other):
        way = [name]
        while way[-1] != GROUND:
            way.append(base[way[-1]])
        ways.append(way)
    return next(name for name in ways[0] if name in ways[1])


def constant(graph: Graph, axis: Sequence[float]) -> Vector:
    """A vector of numbers."""
    return Vector(graph, *(graph.const(a) for a in axis))


def across(graph: Graph, axis: Axis) -> tuple[Vector, Vector]:
    """Two directions u, w that make right-handed axes with *axis*: the next coordinate axes, where it is one."""
    u, w = (constant(graph, e) for e in normals(axis))
    return u, w
