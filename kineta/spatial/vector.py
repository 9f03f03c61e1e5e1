"""Vectors and 3x3 matrices whose components are references into a graph.

Structural zeros and ones cost nothing: the graph's constructors drop them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kineta import tolerances
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg, snap


class Vector:
    """Three components ``x, y, z`` in the axes of some frame."""

    __slots__ = ("graph", "x", "y", "z")

    def __init__(self, graph: Graph, x: Ref = ZERO, y: Ref = ZERO, z: Ref = ZERO) -> None:
        self.graph = graph
        self.x = x
        self.y = y
        self.z = z

    def __getitem__(self, i: int) -> Ref:
        return (self.x, self.y, self.z)[i]

    @property
    def refs(self) -> tuple[Ref, Ref, Ref]:
        """The components."""
        return self.x, self.y, self.z

    @property
    def is_zero(self) -> bool:
        """True where all components are structurally zero."""
        return self.x == self.y == self.z == ZERO

    def __add__(self, other: Vector) -> Vector:
        add = self.graph.add
        return Vector(self.graph, add(self.x, other.x), add(self.y, other.y), add(self.z, other.z))

    def __sub__(self, other: Vector) -> Vector:
        sub = self.graph.sub
        return Vector(self.graph, sub(self.x, other.x), sub(self.y, other.y), sub(self.z, other.z))

    def __neg__(self) -> Vector:
        return Vector(self.graph, neg(self.x), neg(self.y), neg(self.z))

    def __mul__(self, factor: Ref) -> Vector:
        mul = self.graph.mul
        return Vector(self.graph, mul(self.x, factor), mul(self.y, factor), mul(self.z, factor))

    def dot(self, other: Vector) -> Ref:
        """Scalar product."""
        add, mul = self.graph.add, self.graph.mul
        return add(add(mul(self.x, other.x), mul(self.y, other.y)), mul(self.z, other.z))

    def cross(self, other: Vector) -> Vector:
        """Vector product."""
        sub, mul = self.graph.sub, self.graph.mul
        a, b, c = self.x, self.y, self.z
        x, y, z = other.x, other.y, other.z
        return Vector(self.graph, sub(mul(b, z), mul(c, y)), sub(mul(c, x), mul(a, z)), sub(mul(a, y), mul(b, x)))

    def plus(self, axis: int, amount: Ref) -> Vector:
        """This vector with *amount* added to the component *axis*."""
        c = [self.x, self.y, self.z]
        c[axis] = self.graph.add(c[axis], amount)
        return Vector(self.graph, *c)


def along(graph: Graph, axis: int, amount: Ref = ONE) -> Vector:
    """*amount* times the unit vector of the coordinate axis *axis* (0, 1, 2)."""
    c = [ZERO, ZERO, ZERO]
    c[axis] = amount
    return Vector(graph, *c)


class Matrix:
    """A 3x3 matrix of references, ``rows`` of three."""

    __slots__ = ("graph", "rows")

    def __init__(self, graph: Graph, rows: Sequence[Sequence[Ref]]) -> None:
        self.graph = graph
        self.rows = tuple(tuple(r) for r in rows)

    @property
    def T(self) -> Matrix:
        """Transpose."""
        return Matrix(self.graph, tuple(zip(*self.rows, strict=True)))

    @property
    def refs(self) -> tuple[Ref, ...]:
        """The nine components, row by row."""
        return self.rows[0] + self.rows[1] + self.rows[2]

    @property
    def is_identity(self) -> bool:
        """True for the structural unit matrix."""
        return self.refs == (ONE, ZERO, ZERO, ZERO, ONE, ZERO, ZERO, ZERO, ONE)

    def column(self, j: int) -> Vector:
        """Column *j*."""
        return Vector(self.graph, self.rows[0][j], self.rows[1][j], self.rows[2][j])

    def row(self, i: int) -> Vector:
        """Row *i*."""
        return Vector(self.graph, *self.rows[i])

    def __matmul__(self, v: Vector) -> Vector:
        add, mul = self.graph.add, self.graph.mul
        x, y, z = v.x, v.y, v.z
        return Vector(self.graph, *(add(add(mul(a, x), mul(b, y)), mul(c, z)) for a, b, c in self.rows))

    def __add__(self, other: Matrix) -> Matrix:
        return self._zip(self.graph.add, other)

    def __sub__(self, other: Matrix) -> Matrix:
        return self._zip(self.graph.sub, other)

    def _zip(self, operation: Callable[[Ref, Ref], Ref], other: Matrix) -> Matrix:
        pairs = zip(self.rows, other.rows, strict=True)
        return Matrix(self.graph, [[operation(a, b) for a, b in zip(r, s, strict=True)] for r, s in pairs])

    def times(self, other: Matrix) -> Matrix:
        """Matrix product."""
        if self.is_identity:
            return other
        if other.is_identity:
            return self
        return Matrix(self.graph, [(self @ other.column(j)).refs for j in range(3)]).T.snapped

    @property
    def snapped(self) -> Matrix:
        """This matrix; for a numerical rotation, entries within rounding of 0, 1/2, 1, ... are these values, so that a quarter
        turn in two steps costs no more than in one.
        """
        numbers: list[float] = []
        for ref in self.refs:
            value = self.graph.value(ref)
            if value is None:
                return self
            numbers.append(value)
        rows = numbers[:3], numbers[3:6], numbers[6:]
        for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
            if (
                abs(sum(x * y for x, y in zip(rows[i], rows[j], strict=True)) - (i == j))
                > tolerances.ROUNDING_TOLERANCE
            ):
                return self
        return Matrix(self.graph, [[self.graph.const(snap(x, 5 * tolerances.EPS)) for x in row] for row in rows])

    def scaled(self, factor: Ref) -> Matrix:
        """All components times *factor*."""
        return Matrix(self.graph, [[self.graph.mul(a, factor) for a in r] for r in self.rows])


def identity(graph: Graph) -> Matrix:
    """The unit matrix."""
    return Matrix(graph, ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE)))


def zeros(graph: Graph) -> Matrix:
    """The zero matrix."""
    return Matrix(graph, ((ZERO,) * 3,) * 3)


def skew(v: Vector) -> Matrix:
    """The matrix of ``v x``."""
    return Matrix(v.graph, ((ZERO, neg(v.z), v.y), (v.z, ZERO, neg(v.x)), (neg(v.y), v.x, ZERO)))


def outer(a: Vector, b: Vector) -> Matrix:
    """The matrix a b^T."""
    return Matrix(a.graph, [[a.graph.mul(x, y) for y in b.refs] for x in a.refs])
