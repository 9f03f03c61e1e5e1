"""Sweeps of several columns of the derivatives of forward dynamics at a time, as of ``forward_derivatives``.

Columns that stand beside each other are swept together, one in each lane of a vector, in the frame of the first link of the
tree: loads P inwards, from the links at which changes begin, then accelerations a outwards::

    u = f - S . p      p -= G u          v = G . a + beta . y + u / D      a += S v

with a force f on the rate. What a rate is to all columns is in all lanes, what a column begins with in its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.mechanics.kinematics.tree import At, Link
from kineta.records import dataclass
from kineta.spatial.twist import Twist
from kineta.spatial.vector import Vector
from kineta.spatial.wrench import Wrench


@dataclass(frozen=True, slots=True)
class SweptRate:
    """What a rate is to all columns."""

    S: Twist
    G: Wrench
    beta: Vector
    inverse: Ref


@dataclass(frozen=True, slots=True)
class Begun:
    """What a column begins with: X, y on its link, P on the carrier of this; and accelerations that rates take up themselves."""

    X: Twist
    y: Vector
    P: Wrench
    taken: Mapping[At, Ref]

    def times(self, factor: Ref) -> Begun:
        """The column times a *factor*."""
        P, mul = Wrench(self.P.f * factor, self.P.n * factor), self.y.graph.mul
        return Begun(self.X * factor, self.y * factor, P, {at: mul(x, factor) for at, x in self.taken.items()})


class ColumnSweep:
    """The sweeps of columns that have *begun* on links, or with *forces* on rates; *found* are the accelerations of the rates."""

    def __init__(
        self,
        graph: Graph,
        links: Sequence[Link],
        rates: Mapping[At, SweptRate],
        begun: Sequence[tuple[int, Begun]],
        forces: Mapping[At, Ref],
    ) -> None:
        self.graph, self.links, self.rates, self.forces = graph, links, rates, forces
        self.found: dict[At, Ref] = {}
        self._driven = [[j for j in range(len(link.rates)) if (i, j) in rates] for i, link in enumerate(links)]
        self._p = [Wrench.zero(graph) for _ in links]
        self._X = [Twist.zero(graph) for _ in links]
        self._y = [Vector(graph) for _ in links]
        self._taken: dict[At, Ref] = {}
        self._u: dict[At, Ref] = {}
        for i, own in begun:
            self._X[i], self._y[i] = self._X[i] + own.X, self._y[i] + own.y
            self._load(links[i].parent, own.P)
            for at, x in own.taken.items():
                self._taken[at] = graph.add(self._taken.get(at, ZERO), x)

    def _load(self, i: int, P: Wrench) -> None:
        if i >= 0:
            self._p[i] = self._p[i] + P

    def inwards(self, i: int) -> None:
        """Take the load on link i to its carrier."""
        g, p = self.graph, self._p[i]
        for j in reversed(self._driven[i]):
            own = self.rates[i, j]
            u = self._u[i, j] = g.sub(self.forces.get((i, j), ZERO), own.S.work(p))
            p -= Wrench(own.G.f * u, own.G.n * u)
        self._load(self.links[i].parent, p)

    def outwards(self, i: int) -> None:
        """Take the acceleration of the carrier of link i to the link."""
        g, carrier = self.graph, self.links[i].parent
        a, y = self._X[i], self._y[i]
        if carrier >= 0:
            a, y = a + self._X[carrier], y + self._y[carrier]
        for j in self._driven[i]:
            own = self.rates[i, j]
            v = g.add(a.work(own.G), g.add(y.dot(own.beta), g.mul(self._u[i, j], own.inverse)))
            a = a + own.S * v
            self.found[i, j] = g.sub(v, self._taken.get((i, j), ZERO))
        self._X[i], self._y[i] = a, y
