"""Alignment of the axes of revolute links: a constant rotation about the axis of the joint joins the joint angle."""

from __future__ import annotations

from dataclasses import replace

from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import Op
from kineta.mechanics.kinematics.tree import Link, Mechanism
from kineta.spatial.rotation import about
from kineta.spatial.vector import Matrix, Vector


def aligned(mechanism: Mechanism) -> Mechanism:
    """The mechanism with placements of revolute links free of a final rotation about the axis, which is added to the angle."""
    return replace(mechanism, links=tuple(_aligned(mechanism.graph, link) for link in mechanism.links))


def _aligned(graph: Graph, link: Link) -> Link:
    found = _last_turn(graph, link.R, link.axis) if link.kind == "turn" else None
    i, j = (link.axis + 1) % 3, (link.axis + 2) % 3
    own = _angle(graph, link.Q.rows[i][i], link.Q.rows[j][i])
    if found is None or own is None:
        return link
    total = graph.add(found[1], own)
    return replace(link, R=found[0], Q=about(graph, link.axis, graph.cos(total), graph.sin(total)))


def _last_turn(graph: Graph, R: Matrix, axis: int) -> tuple[Matrix, Ref] | None:
    """P and a with R = P R_e(a), where P is a permutation of axes; None where there is no such pair, or R is a permutation
    itself.
    """
    along = R.column(axis)
    unit = next((k for k in range(3) if along[k] >> 1 == ONE >> 1), 0)
    zeros = [entry == ZERO for k in range(3) for m, entry in enumerate(R.rows[k]) if (k == unit) != (m == axis)]
    if not all(zeros) or sum(entry == ZERO for entry in R.refs) > 4:
        return None
    i, j = (axis + 1) % 3, (axis + 2) % 3
    first = Vector(graph, *(ONE if k == (unit + 1) % 3 else ZERO for k in range(3)))
    second = along.cross(first)
    for p, q in ((first, second), (second, -first), (-first, -second), (-second, first)):
        columns = {axis: along, i: p, j: q}
        P = Matrix(graph, [columns[k].refs for k in range(3)]).T
        A = P.T.times(R)
        angle = _angle(graph, A.rows[i][i], A.rows[j][i])
        if angle is not None:
            return P, angle
    return None


def _angle(graph: Graph, cosine: Ref, sine: Ref) -> Ref | None:
    """The angle with this cosine and sine: from trigonometric nodes of the same argument, or from numbers in the first octant."""
    if graph.op[cosine >> 1] == Op.COS and not cosine & 1 and graph.op[sine >> 1] == Op.SIN:
        angle = graph.lhs[cosine >> 1]
        return angle ^ (sine & 1) if graph.lhs[sine >> 1] == angle else None
    c, s = graph.value(cosine), graph.value(sine)
    if c is None or s is None or c < abs(s):
        return None
    return graph.call(Op.ATAN2, sine, cosine)
