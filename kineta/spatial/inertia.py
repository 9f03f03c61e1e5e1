"""Mass distributions by their moments, over graph references.

Ten numbers describe a rigid mass distribution: mass, first moment and second moments about the origin. All are sums over
particles, so that distributions may be added and split freely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from kineta.expr.graph import ZERO, Graph, Ref, neg
from kineta.records import dataclass
from kineta.spatial.rotation import conjugated
from kineta.spatial.vector import Matrix, Vector, zeros


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments of a mass distribution about the origin of a frame, in its axes.

    m : mass; c : first moment, int r dm; S : second moments, int r r^T dm (symmetric). The inertia tensor about the origin
    is J = tr(S) E - S.
    """

    m: Ref
    c: Vector
    S: Matrix

    @property
    def is_zero(self) -> bool:
        """True for the empty distribution."""
        return self.m == ZERO and self.c.is_zero and all(r == ZERO for r in self.S.refs)

    def __add__(self, other: Moments) -> Moments:
        return self._combined(self.c.graph.add, other)

    def __sub__(self, other: Moments) -> Moments:
        return self._combined(self.c.graph.sub, other)

    def _combined(self, operation: Callable[[Ref, Ref], Ref], other: Moments) -> Moments:
        graph = self.c.graph
        c = Vector(graph, *map(operation, self.c.refs, other.c.refs))
        S = _mirrored(graph, map(operation, _upper(self.S), _upper(other.S)))
        return Moments(operation(self.m, other.m), c, S)

    def rotated(self, R: Matrix) -> Moments:
        """The distribution in axes from which *R* leads to the present axes."""
        if R.is_identity:
            return self
        R = Matrix(self.c.graph, R.rows)
        return Moments(self.m, R @ self.c, symmetric(conjugated(R, self.S)))

    def shifted(self, r: Vector) -> Moments:
        """The distribution about an origin from which the present origin is reached by *r*."""
        if r.is_zero:
            return self
        graph, x, c, S = self.c.graph, r.refs, self.c.refs, self.S.rows
        add, mul = graph.add, graph.mul
        mx = [mul(a, self.m) for a in x]
        upper = (
            add(add(add(S[i][j], mul(x[i], c[j])), mul(x[j], c[i])), mul(mx[i], x[j]))
            for i in range(3)
            for j in range(i, 3)
        )
        return Moments(self.m, Vector(graph, *map(add, c, mx)), _mirrored(graph, upper))

    @property
    def J(self) -> Matrix:
        """Inertia tensor about the origin."""
        return inertia_tensor(self.S)


def nothing(graph: Graph) -> Moments:
    """The empty distribution."""
    return Moments(ZERO, Vector(graph), zeros(graph))


def _upper(S: Matrix) -> tuple[Ref, ...]:
    (a, b, c), (_, d, e), (_, _, f) = S.rows
    return a, b, c, d, e, f


def _mirrored(graph: Graph, upper: Iterable[Ref]) -> Matrix:
    """The symmetric matrix whose upper half has these entries, row by row."""
    a, b, c, d, e, f = upper
    return Matrix(graph, ((a, b, c), (b, d, e), (c, e, f)))


def symmetric(S: Matrix) -> Matrix:
    """*S* with its upper half mirrored: equal entries are the same node."""
    return _mirrored(S.graph, _upper(S))


def inertia_tensor(S: Matrix) -> Matrix:
    """J = tr(S) E - S."""
    add = S.graph.add
    (a, b, c), (_, d, e), (_, _, f) = S.rows
    return Matrix(S.graph, ((add(d, f), neg(b), neg(c)), (neg(b), add(a, f), neg(e)), (neg(c), neg(e), add(a, d))))


def second_moments(J: Matrix) -> Matrix:
    """S = tr(J)/2 E - J, the inverse of :func:`inertia_tensor`: S_xx = (J_yy + J_zz - J_xx)/2.

    Numbers are read as their decimal representations, so that the small moment of a slender body survives.
    """
    graph = J.graph
    S = [[neg(entry) for entry in row] for row in J.rows]
    diagonal = [J.rows[i][i] for i in range(3)]
    values = [graph.value(entry) for entry in diagonal]
    exact = [] if None in values else [Fraction(repr(value)) for value in values]
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        if exact:
            S[i][i] = graph.const(float((exact[j] + exact[k] - exact[i]) / 2))
        else:
            twice = graph.add(graph.sub(diagonal[j], diagonal[i]), diagonal[k])
            S[i][i] = graph.mul(graph.const(0.5), twice)
    return Matrix(graph, S)
