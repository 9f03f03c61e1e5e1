"""Solution of M x = b for a symmetric matrix of references, with its structural zeros."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import ONE, ZERO, Graph, Ref


class SingularError(ArithmeticError):
    """The row ``row`` of a matrix depends on the rows eliminated before it."""

    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


def solve(graph: Graph, M: Sequence[Sequence[Ref]], b: Sequence[Ref], order: Sequence[int]) -> list[Ref]:
    """The x with M x = b by M = L^T D L; rows are eliminated in the sequence *order*.

    Raises :class:`SingularError` for a pivot that is structurally zero. From the tips to the ground the factors of a tree
    keep the zeros of M (RBDA, section 6.5)::

        L_ki = M_ki / M_kk          M_ij -= L_ki M_kj
    """
    sub, mul = graph.sub, graph.mul
    A = [list(row) for row in M]
    x = list(b)
    factors: list[tuple[int, Ref, list[tuple[int, Ref]]]] = []
    left = list(order)
    while left:
        k = left.pop(0)
        if A[k][k] == ZERO:
            raise SingularError(k)
        inverse = graph.div(ONE, A[k][k])
        active = [i for i in left if A[k][i] != ZERO]
        L = [(i, mul(A[k][i], inverse)) for i in active]
        for i, L_ki in L:
            x[i] = sub(x[i], mul(L_ki, x[k]))
            for j in active:
                if j <= i:
                    A[i][j] = A[j][i] = sub(A[i][j], mul(L_ki, A[k][j]))
        factors.append((k, inverse, L))
    for k, inverse, L in reversed(factors):
        total = mul(x[k], inverse)
        for i, L_ki in L:
            total = sub(total, mul(L_ki, x[i]))
        x[k] = total
    return x
