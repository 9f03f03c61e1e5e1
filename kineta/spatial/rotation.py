"""Rotations about fixed axes and by quaternions, over graph references."""

from __future__ import annotations

from collections.abc import Sequence

from kineta import tolerances
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.op import Op
from kineta.spatial.vector import Matrix, Vector, along, identity, outer, skew

#: A direction that no machine prefers, towards which tangents lean, and the least square of its part along a surface.
ASIDE, LEVEL = (0.36, 0.48, 0.8), 1e-20


def about(graph: Graph, axis: int, cosine: Ref, sine: Ref) -> Matrix:
    """R_e(a), active and right-handed: components after the turn to components before; *axis* is 0, 1 or 2."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    rows = [[ZERO] * 3 for _ in range(3)]
    rows[axis][axis] = ONE
    rows[i][i] = rows[j][j] = cosine
    rows[j][i] = sine
    rows[i][j] = neg(sine)
    return Matrix(graph, rows)


def turn(v: Vector, axis: int, cosine: Ref, sine: Ref) -> Vector:
    """R_e(a) v, without the products with 0 and 1."""
    add, mul = v.graph.add, v.graph.mul
    i, j = (axis + 1) % 3, (axis + 2) % 3
    c = [v.x, v.y, v.z]
    a, b = c[i], c[j]
    c[i] = add(mul(cosine, a), mul(neg(sine), b))
    c[j] = add(mul(sine, a), mul(cosine, b))
    return Vector(v.graph, *c)


def turn_matrix(M: Matrix, axis: int, cosine: Ref, sine: Ref) -> Matrix:
    """R_e(a) M R_e(a)^T. In the plane of the turn, with four products::

    u = s (M_ii - M_jj) + c (M_ij + M_ji)      M_ii - s u      M_jj + s u      c u - M_ji      c u - M_ij
    """
    g = M.graph
    add, sub, mul = g.add, g.sub, g.mul
    i, j = (axis + 1) % 3, (axis + 2) % 3
    A = [list(row) for row in M.rows]
    (a, b), (c, d) = (A[i][i], A[i][j]), (A[j][i], A[j][j])
    u = add(mul(sine, sub(a, d)), mul(cosine, add(b, c)))
    su, cu = mul(sine, u), mul(cosine, u)
    A[i][i], A[i][j], A[j][i], A[j][j] = sub(a, su), sub(cu, c), sub(cu, b), add(d, su)
    column, row = turn(M.column(axis), axis, cosine, sine), turn(M.row(axis), axis, cosine, sine)
    A[i][axis], A[j][axis], A[axis][i], A[axis][j] = column[i], column[j], row[i], row[j]
    return Matrix(g, A)


#: Distance of a direction from the z axis below which it counts as near it.
_NEAR = 1e-3
#: Component of a unit vector from which on the vector counts as parallel to the axis.
_ALONG = 1 - 2 * tolerances.EPS


def tangents(n: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors along a surface with the normal *n*, which turns: w is nearest to a coordinate axis that n never leans
    towards, as in a plane, else to ``ASIDE``; in u, w and n are right-handed axes.
    """
    g = n.graph
    k = next((i for i in range(3) if n[i] == ZERO), None)
    if k is not None:
        w = along(g, k)
        return w.cross(n), w
    aside = Vector(g, *map(g.const, ASIDE))
    across = aside - n * n.dot(aside)
    w = across * g.div(ONE, g.sqrt(g.call(Op.MAX, across.dot(across), g.const(LEVEL))))
    return w.cross(n), w


def normals(e: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors that complete the unit vector *e* to right-handed axes: the next two coordinate axes, the second with
    the sign of *e*, where *e* is a coordinate axis; else the first vector lies in a coordinate plane. With symbols this holds
    for all their values, and derivatives are those of unit vectors normal to *e*.
    """
    g = e.graph
    numbers = [g.value(r) for r in e.refs]
    if None not in numbers:
        first, second = _normals(numbers)  # type: ignore[arg-type]  # none of which is None
        return Vector(g, *map(g.const, first)), Vector(g, *map(g.const, second))
    xx, yy, zz = (g.mul(a, a) for a in e.refs)
    far = _above(g, g.add(xx, yy), _NEAR**2)
    h, k = (g.sqrt(g.call(Op.MAX, s, g.const(_NEAR**2))) for s in (g.add(xx, yy), g.add(yy, zz)))
    near = Vector(g, ZERO, g.div(e.z, k), neg(g.div(e.y, k)))
    u = Vector(g, neg(g.div(e.y, h)), g.div(e.x, h)) * far + near * g.sub(ONE, far)
    for i in range(3):
        along = _above(g, g.call(Op.ABS, e[i]), _ALONG)
        u = u * g.sub(ONE, along) + normal(e, i) * along
    return u, e.cross(u)


def _above(graph: Graph, value: Ref, bound: float) -> Ref:
    """1 where *value* is above *bound*, else 0."""
    return graph.call(Op.STEP, graph.sub(value, graph.const(bound)))


def normal(e: Vector, axis: int) -> Vector:
    """A unit vector normal to the unit vector *e*: the coordinate axis after *axis*, moved as *axis* or its opposite, whichever
    is nearer, moves to *e* (the reflection of Duff et al., 2017).
    """
    g, i = e.graph, (axis + 1) % 3
    sign = g.sub(ONE, g.mul(g.const(2.0), g.call(Op.STEP, neg(e[axis]))))
    factor = g.div(e[i], g.add(ONE, g.mul(sign, e[axis])))
    return along(g, i) - e * factor - along(g, axis, g.mul(factor, sign))


def _normals(axis: Sequence[float]) -> tuple[Sequence[float], Sequence[float]]:
    """:func:`normals` of numbers."""
    x, y, z = axis
    for k in range(3):
        if abs(axis[k]) == 1.0:
            unit = [[float(i == j) for j in range(3)] for i in range(3)]
            return unit[(k + 1) % 3], [axis[k] * a for a in unit[(k + 2) % 3]]
    h = (x * x + y * y) ** 0.5
    if h > _NEAR:
        return (-y / h, x / h, 0.0), (-x * z / h, -y * z / h, h)
    h = (y * y + z * z) ** 0.5
    return (0.0, z / h, -y / h), (-h, x * y / h, x * z / h)


def conjugated(R: Matrix, M: Matrix) -> Matrix:
    """R M R^T: a tensor in other axes, with fewer products for permutations of axes and turns about one of them."""
    permuted = _signed_permutation(R)
    if permuted is not None:
        return Matrix(
            M.graph, [[M.rows[i][j] ^ s ^ t if M.rows[i][j] > 1 else ZERO for j, t in permuted] for i, s in permuted]
        )
    for e in range(3):
        i, j = (e + 1) % 3, (e + 2) % 3
        rows = R.rows
        if rows[e][e] == ONE and rows[e][i] == rows[e][j] == rows[i][e] == rows[j][e] == ZERO:
            return turn_matrix(M, e, R.rows[i][i], R.rows[j][i])
    return R.times(M).times(R.T)


def _signed_permutation(R: Matrix) -> list[tuple[int, int]] | None:
    """For each row of *R* the column of its only entry, +-1, and the sign bit; None where R is no signed permutation."""
    found = []
    for row in R.rows:
        j = max(range(3), key=row.__getitem__)
        if row[j] >> 1 != ONE >> 1:
            return None
        found.append((j, row[j] & 1))
    return found


def rodrigues(e: Vector, angle: Ref) -> Matrix:
    """Turn about the fixed unit vector *e* by *angle*: E + sin a [e] + (1 - cos a) [e]^2."""
    graph = e.graph
    c, s = graph.cos(angle), graph.sin(angle)
    return (identity(graph).scaled(c) + skew(e).scaled(s) + outer(e, e).scaled(graph.sub(ONE, c))).snapped


def quaternion_matrix(graph: Graph, quaternion: Sequence[Ref]) -> Matrix:
    """Rotation by the unit quaternion (w, x, y, z): components after the turn to components before."""
    add, sub, mul = graph.add, graph.sub, graph.mul
    w, x, y, z = quaternion
    x2, y2, z2 = add(x, x), add(y, y), add(z, z)
    xx, yy, zz = mul(x, x2), mul(y, y2), mul(z, z2)
    xy, xz, yz = mul(x, y2), mul(x, z2), mul(y, z2)
    wx, wy, wz = mul(w, x2), mul(w, y2), mul(w, z2)
    return Matrix(
        graph,
        (
            (sub(ONE, add(yy, zz)), sub(xy, wz), add(xz, wy)),
            (add(xy, wz), sub(ONE, add(xx, zz)), sub(yz, wx)),
            (sub(xz, wy), add(yz, wx), sub(ONE, add(xx, yy))),
        ),
    )


def quaternion_rate(graph: Graph, quaternion: Sequence[Ref], omega: Vector) -> tuple[Ref, Ref, Ref, Ref]:
    """dp/dt = p (0, omega) / 2, omega in the axes after the turn (Golubev; docs/theory.md, 1)."""
    add, sub, mul = graph.add, graph.sub, graph.mul
    w, x, y, z = quaternion
    a, b, c = (omega * graph.const(0.5)).refs
    return (
        neg(add(add(mul(x, a), mul(y, b)), mul(z, c))),
        add(mul(w, a), sub(mul(y, c), mul(z, b))),
        add(mul(w, b), sub(mul(z, a), mul(x, c))),
        add(mul(w, c), sub(mul(x, b), mul(y, a))),
    )
