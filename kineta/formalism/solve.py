"""Solution of M x = b for a symmetric matrix of references, with its structural zeros."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import Op
from kineta.formalism.bounds import stands


class SingularError(ArithmeticError):
    """The row ``row`` of a matrix depends on the rows eliminated before it."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


def solve(
    graph: Graph,
    M: Sequence[Sequence[Ref]],
    b: Sequence[Ref],
    order: Sequence[int],
    bounds: Sequence[Ref],
    motions: Sequence[int],
) -> list[Ref]:
    """The x with M x = b by M = L^T D L; rows are eliminated in the sequence *order*.

    From the tips to the ground the factors of a tree keep the zeros of M (RBDA, section 6.5)::

        L_ki = M_ki / M_kk          M_ij -= L_ki M_kj

    Raises :class:`SingularError` for a pivot that is structurally zero. Where one is but a rounding error against its bound,
    x is NaN. The *bounds* are those of the diagonal entries of M. Between rows of one of the *motions* errors grow; a row
    without a bound, that of a constraint, is measured by what is taken from it::

        bound_i += L_ki^2 bound_k          bound_i += |L_ki M_ki|
    """
    add, sub, mul = graph.add, graph.sub, graph.mul
    A = [list(row) for row in M]
    sizes = list(bounds)
    tests: list[list[Ref]] = [[] for _ in A]  # of the pivots that a row has met
    x = list(b)
    factors: list[tuple[int, Ref, list[tuple[int, Ref]]]] = []
    left = list(order)
    while left:
        k = left.pop(0)
        if A[k][k] == ZERO:
            raise SingularError(k)
        inverse = graph.div(ONE, A[k][k])
        regular = stands(graph, A[k][k], sizes[k], *tests[k])
        active = [i for i in left if A[k][i] != ZERO]
        L = [(i, mul(A[k][i], inverse)) for i in active]
        for i, L_ki in L:
            x[i] = sub(x[i], mul(L_ki, x[k]))
            for j in active:
                if j <= i:
                    A[i][j] = A[j][i] = sub(A[i][j], mul(L_ki, A[k][j]))
            if bounds[i] == ZERO:
                sizes[i] = add(sizes[i], graph.call(Op.ABS, mul(L_ki, A[k][i])))
            elif motions[i] == motions[k]:
                sizes[i] = add(sizes[i], mul(mul(L_ki, L_ki), sizes[k]))
        if active:
            tests[active[0]].append(regular)
        else:  # all rows that led here follow from this one
            inverse = graph.guard(inverse, regular)
        factors.append((k, inverse, L))
    for k, inverse, L in reversed(factors):
        total = mul(x[k], inverse)
        for i, L_ki in L:
            total = sub(total, mul(L_ki, x[i]))
        x[k] = total
    return x
