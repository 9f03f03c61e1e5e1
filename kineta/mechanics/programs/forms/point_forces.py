"""Forces as vectors at points, in ground axes, and their generalised factors of any order (Rodionov (25))::

    Q^(r)_j = sum of d^r f/dt^r . dx/dq_j

The force alone is differentiated, not the product. Forces on coordinates count as a field of forces tangent to the motions; the
weight is constant and contributes to Q^(0) only.
"""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import ZERO, Ref, neg
from kineta.mechanics.algorithms.energy import gravity_potential
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements.element_actions import apply_elements
from kineta.mechanics.programs.covariant_derivative import Tangents
from kineta.mechanics.programs.forms.christoffel import connection
from kineta.mechanics.programs.laws.kineta import Rates
from kineta.passes.differentiate import gradient
from kineta.spatial.vector import Vector
from kineta.threads import memo


class Points(Rates):
    """The forces of all elements: ``acting`` lists points of application and forces, both in ground axes."""

    def __init__(self, d: Derivation) -> None:
        self.acting: list[tuple[Vector, Vector]] = []
        super().__init__(d, 0)

    def force(self, link: int, x: Vector, f: Vector) -> None:
        """Add the force *f* at *x*, both in the axes of the link."""
        R, r = self.kinematics.frames[link]
        self.acting.append((r + R @ x, R @ f))


def points(d: Derivation) -> Points:
    """The forces of the system of *d*."""
    return memo(d, Points, lambda: apply_elements(Points(d)))


def factors(d: Derivation, order: int) -> list[Ref]:
    """Q^(r) of all forces for this *order* r, (n,)."""
    g, s, own = d.graph, d.symbols, points(d)
    found = elsewhere(d, order)
    if order == 0:
        falls = gradient(g, gravity_potential(d.mechanism), set(s.q))
        found = [g.sub(Q, falls.get(q, ZERO)) for Q, q in zip(found, s.coordinates, strict=True)]
    for x, f in own.acting:
        rates = s.levels.of(f.refs, order)
        for place, rate in zip(x.refs, rates, strict=True):
            by = gradient(g, place, set(s.q))
            found = [g.add(Q, g.mul(rate, by.get(q, ZERO))) for Q, q in zip(found, s.coordinates, strict=True)]
    return found


def elsewhere(d: Derivation, order: int) -> list[Ref]:
    """The part of :func:`factors` of forces that do not act at points."""
    Q = points(d).tangent
    if all(x == ZERO for x in Q):
        return [ZERO] * len(Q)
    tangents = Tangents(d, connection)
    for _ in range(order):
        Q = tangents.derivative(Q)
    return tangents.solved(Q)


def work(d: Derivation, order: int, on: int) -> Ref:
    """The sum of f^(r) . x^(k) over the points, the weight included, for the *order* r of the forces and k = *on*."""
    g, s = d.graph, d.symbols
    found = [s.levels.of([neg(gravity_potential(d.mechanism))], on)[0]] * (order == 0)
    for x, f in points(d).acting:
        rates, places = s.levels.of(f.refs, order), s.levels.of(x.refs, on)
        found += (g.mul(rate, place) for rate, place in zip(rates, places, strict=True))
    return g.sum(found)


def along(d: Derivation, Q: Sequence[Ref], order: int) -> Ref:
    """The sum of Q_j q_j^(k) for this *order* k."""
    return d.graph.sum(d.graph.mul(own, x) for own, x in zip(Q, d.symbols.level(order), strict=True))
