"""Bounds of the inertia on each rate in any position, the scale for rounding errors of the mass matrix.

Bounds are sums of magnitudes and independent of angles: a rotating mass counts with its inertia about any axis. They depend on
parameters only, apart from prismatic offsets, and add nothing to the cost of evaluating the mass matrix.
"""

from __future__ import annotations

from collections.abc import Mapping

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.op import Op
from kineta.mechanics.elements import inertia_elements as inertia
from kineta.mechanics.kinematics.tree import Link, Mechanism
from kineta.model.body import Inertia
from kineta.passes.magnitude import running_errors
from kineta.records import dataclass
from kineta.spatial.inertia import second_moments
from kineta.spatial.vector import Matrix, Vector

#: Magnitudes and running errors of the components of vectors.
Sizes = dict[tuple[Ref, ...], tuple[list[Ref], list[Ref]]]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of the moments of a mass distribution: mass m, magnitude of the first moment c, second moments along the axes S
    and along any direction s.
    """

    graph: Graph
    m: Ref
    c: Ref
    S: tuple[Ref, Ref, Ref]
    s: Ref

    def __add__(self, other: Bounds) -> Bounds:
        add = self.graph.add
        x, y, z = (add(a, b) for a, b in zip(self.S, other.S, strict=True))
        return Bounds(self.graph, add(self.m, other.m), add(self.c, other.c), (x, y, z), add(self.s, other.s))

    def about(self, axis: int) -> Ref:
        """Bound of the moment of inertia about the coordinate axis *axis*."""
        return self.graph.add(self.S[(axis + 1) % 3], self.S[(axis + 2) % 3])

    def turned(self, axis: int) -> Bounds:
        """The bounds after a rotation by any angle about the coordinate axis *axis*."""
        most = self.graph.call(Op.MIN, self.about(axis), self.s)
        x, y, z = (S if k == axis else most for k, S in enumerate(self.S))
        return Bounds(self.graph, self.m, self.c, (x, y, z), self.s)

    def rotated(self, R: Matrix | None) -> Bounds:
        """The bounds in axes from which *R* leads to the present axes; None for any rotation."""
        places = [[k for k in range(3) if row[k] != ZERO] for row in R.rows] if R is not None else []
        if not places or any(len(p) > 1 for p in places):
            return Bounds(self.graph, self.m, self.c, (self.s,) * 3, self.s)
        x, y, z = (self.S[p[0]] for p in places)
        return Bounds(self.graph, self.m, self.c, (x, y, z), self.s)

    def shifted(self, r: Vector, known: Sizes) -> Bounds:
        """The bounds about an origin from which the present origin is reached by *r*, whose sizes are *known* or added."""
        if r.is_zero:
            return self
        g = self.graph
        if r.refs not in known:
            known[r.refs] = [g.call(Op.ABS, x) for x in r.refs], running_errors(g, r.refs)
        lengths, sizes = known[r.refs]

        def grown(S: Ref, length: Ref, size: Ref) -> Ref:
            return g.add(S, g.mul(size, g.add(g.mul(g.const(2.0), self.c), g.mul(self.m, length))))

        x, y, z = (grown(*each) for each in zip(self.S, lengths, sizes, strict=True))
        length, size = g.sum(lengths), g.sum(sizes)
        return Bounds(g, self.m, g.add(self.c, g.mul(self.m, length)), (x, y, z), grown(self.s, length, size))


def rate_bounds(mechanism: Mechanism) -> Mapping[tuple[int, int], Ref]:
    """For every rate (link, number) a bound of its inertia."""
    links = mechanism.links
    carried = [Bounds(mechanism.graph, ZERO, ZERO, (ZERO,) * 3, ZERO) for _ in links]
    known: dict[Inertia, Bounds] = {}  # of bodies that are alike
    sizes: Sizes = {}
    for body in mechanism.symbols.system.tree:
        place = mechanism.places[body.name]
        if place.link >= 0:
            axes = place.R if place.held is None else place.held
            if body.inertia not in known:
                known[body.inertia] = _of_body(mechanism, body.inertia, sizes)
            own = known[body.inertia].rotated(axes).shifted(place.r, sizes)
            carried[place.link] = carried[place.link] + own
    found: dict[tuple[int, int], Ref] = {}
    for i in reversed(range(len(links))):
        for j, rate in enumerate(links[i].rates):
            found[i, j] = carried[i].about(rate.axis) if rate.turns else carried[i].m
        if links[i].parent >= 0:
            carried[links[i].parent] = carried[links[i].parent] + _inward(links[i], carried[i], sizes)
    return found


def speed_bounds(mechanism: Mechanism) -> list[Ref]:
    """Bounds of the diagonal entries of the mass matrix."""
    graph = mechanism.graph
    add, mul = graph.add, graph.mul
    found = [ZERO] * len(mechanism.symbols.v)
    for (i, j), bound in rate_bounds(mechanism).items():
        by_speed = mechanism.links[i].rates[j].by_speed
        for (k, partial), size in zip(by_speed.items(), running_errors(graph, list(by_speed.values())), strict=True):
            found[k] = add(found[k], mul(mul(graph.call(Op.ABS, partial), size), bound))
    for k, row in enumerate(inertia.mass_matrix(mechanism.symbols)):
        found[k] = add(found[k], row[k])
    return found


def row_bounds(mechanism: Mechanism, constraints: int = 0) -> tuple[list[Ref], list[int]]:
    """Bounds of the rows of M and of *constraints* rows after them (zero for a constraint), and the motion of each row: the
    link of a ball joint or free motion, else a number of its own.
    """
    bounds = [*speed_bounds(mechanism), *[ZERO] * constraints]
    motions = [-1 - k for k in range(len(bounds))]
    for i, link in enumerate(mechanism.links):
        if link.kind in ("ball", "free"):
            for rate in link.rates:
                for k in rate.by_speed:
                    motions[k] = i
    return bounds, motions


def _inward(link: Link, carried: Bounds, sizes: Sizes) -> Bounds:
    """Bounds of the mass carried by *link*, in the axes of its parent about the origin of the parent."""
    if link.kind == "turn":
        carried = carried.turned(link.axis)
    elif link.kind != "shift":
        carried = carried.rotated(None)
    return carried.rotated(link.R).shifted(link.offset, sizes)


def _of_body(mechanism: Mechanism, inertia: Inertia, sizes: Sizes) -> Bounds:
    """Bounds of the moments of a body about the origin of its frame. Moments about principal axes count as exact."""
    graph, symbols = mechanism.graph, mechanism.symbols
    (m,) = running_errors(graph, symbols.expression(inertia.mass))
    J = symbols.expression(*inertia.moments)
    diagonal = Matrix(graph, [[J[i] if i == j else ZERO for j in range(3)] for i in range(3)])
    x, y, z = (graph.call(Op.ABS, row[i]) for i, row in enumerate(second_moments(diagonal).rows))
    own = Bounds(graph, m, ZERO, (x, y, z), graph.sum((x, y, z)))
    if any(product != ZERO for product in symbols.expression(*inertia.products)):
        own = own.rotated(None)
    return own.shifted(Vector(graph, *symbols.expression(*inertia.com)), sizes)
