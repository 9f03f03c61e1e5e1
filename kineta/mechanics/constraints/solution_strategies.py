"""Solution strategies for accelerations x under constraints, and their multipliers::

    M x - A^T lambda = f        A x = s

``multipliers``: both together, by elimination in the KKT matrix, which preserves the zeros of M and A.

``nullspace``: the particular solution is x_0 = A^T (A A^T)^-1 s; the homogeneous solutions are spanned by as many columns of the
projector N = E - A^T (A A^T)^-1 A as there are degrees of freedom::

    N^T M N w = N^T (f - M x_0)        x = x_0 + N w        lambda = (A A^T)^-1 A (M x - f)

``partition``: the constraints determine dependent speeds d by the independent speeds i::

    A_d x_d = s - A_i x_i              A_d^T lambda = (M x - f)_d

Dependent speeds, or independent columns, are selected by Gaussian elimination with full pivoting at a regular state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.mechanics.constraints.kkt import kkt_factors
from kineta.mechanics.constraints.structural_rank import matrix, random_state
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.linear_algebra.ldl import Factors, factored, sparse
from kineta.mechanics.linear_algebra.small_systems import eliminated
from kineta.numerics.plain_matrices import independent_columns

#: The default strategy: regular wherever the constraints are independent, at a cost proportional to the number of bodies.
MULTIPLIERS = "multipliers"
#: The name of the choice by default.
AUTO = "auto"

#: Maps a derivation with rows, orders of elimination of its speeds, f and s to solutions: x, then lambda with the opposite sign;
#: one solution for each order worth comparing.
Strategy = Callable[[Derivation, Sequence[Sequence[int]], Sequence[Ref], Sequence[Ref]], list[list[Ref]]]

#: A matrix as rows of its entries by column, without zeros.
Rows = Sequence[Mapping[int, Ref]]


def _multipliers(d: Derivation, orders: Sequence[Sequence[int]], f: Sequence[Ref], s: Sequence[Ref]) -> list[list[Ref]]:
    return [kkt_factors(d, d.rows, order).solve(f, s) for order in orders]


def _nullspace(d: Derivation, orders: Sequence[Sequence[int]], f: Sequence[Ref], s: Sequence[Ref]) -> list[list[Ref]]:
    g, n, A = d.graph, len(d.symbols.v), [r.gradient for r in d.rows]
    columns = _transposed(A, n)
    normal = _factors(d, [_times(g, A, a) for a in _filled(A, n)])

    def wanted(right: Sequence[Ref]) -> list[Ref]:
        """A^T (A A^T)^-1 of the *right* side."""
        return _times(g, columns, normal.solve(right))

    N = []
    for j in _free(d):
        along = wanted([row.get(j, ZERO) for row in A])
        N.append([g.sub(ONE if k == j else ZERO, x) for k, x in enumerate(along)])
    x, left = _reduced(d, N, wanted(s), f)
    return [[*x, *(neg(y) for y in normal.solve(_times(g, A, left)))]]


def _partition(d: Derivation, orders: Sequence[Sequence[int]], f: Sequence[Ref], s: Sequence[Ref]) -> list[list[Ref]]:
    n, A = len(d.symbols.v), [r.gradient for r in d.rows]
    free = _free(d)
    held = [k for k in range(n) if k not in free]
    own = [{i: row[k] for i, k in enumerate(held) if k in row} for row in A]

    def whole(right: Sequence[Ref], j: int | None = None) -> list[Ref]:
        """The x with A x = *right* whose free entries are zero, except entry *j*, which is one."""
        dependent = dict(zip(held, eliminated(d.symbols.opened, own, right), strict=True))
        return [ONE if k == j else dependent.get(k, ZERO) for k in range(n)]

    N = [whole([neg(row.get(j, ZERO)) for row in A], j) for j in free]
    x, left = _reduced(d, N, whole(s), f)
    solved = eliminated(d.symbols.opened, _transposed(own, len(held)), [left[k] for k in held])
    return [[*x, *(neg(y) for y in solved)]]


#: The strategies by name.
STRATEGIES: Mapping[str, Strategy] = {MULTIPLIERS: _multipliers, "nullspace": _nullspace, "partition": _partition}

#: Names of the options.
STRATEGY_NAMES = (AUTO, *STRATEGIES)


def _reduced(
    d: Derivation, N: Sequence[Sequence[Ref]], x_0: Sequence[Ref], f: Sequence[Ref]
) -> tuple[list[Ref], list[Ref]]:
    """The solution x = x_0 + N w with N^T (M x - f) = 0, of the columns *N*; and M x - f, which is A^T lambda."""
    g, n = d.graph, len(d.symbols.v)
    M = sparse(d["mass_matrix"].refs, n)
    short = [g.sub(a, b) for a, b in zip(f, _times(g, M, x_0), strict=True)]
    moved = [_times(g, M, column) for column in N]
    w = _factors(d, [[_dot(g, a, b) for b in moved] for a in N]).solve([_dot(g, a, short) for a in N])
    x = [g.sum([x_0[k], *(g.mul(column[k], y) for column, y in zip(N, w, strict=True))]) for k in range(n)]
    return x, [g.sub(a, b) for a, b in zip(_times(g, M, x), f, strict=True)]


def _factors(d: Derivation, matrix: Sequence[Sequence[Ref]]) -> Factors:
    """A symmetric *matrix* factored, the last row first; pivots are compared with the terms subtracted from them."""
    n = len(matrix)
    rows = [{j: x for j, x in enumerate(row) if x != ZERO} for row in matrix]
    return factored(d.graph, rows, range(n)[::-1], [ZERO] * n, range(n), watched=d.watched)


def _times(g: Graph, rows: Rows, x: Sequence[Ref]) -> list[Ref]:
    return [g.sum(g.mul(a, x[k]) for k, a in row.items()) for row in rows]


def _dot(g: Graph, a: Sequence[Ref], b: Sequence[Ref]) -> Ref:
    return g.sum(g.mul(x, y) for x, y in zip(a, b, strict=True))


def _filled(rows: Rows, columns: int) -> list[list[Ref]]:
    return [[row.get(k, ZERO) for k in range(columns)] for row in rows]


def _transposed(rows: Rows, columns: int) -> list[dict[int, Ref]]:
    return [{i: row[k] for i, row in enumerate(rows) if k in row} for k in range(columns)]


def _regular(d: Derivation) -> dict[str, float]:
    """The state at which free speeds are selected."""
    refs = [*(a for r in d.rows for a in r.gradient.values()), *d["mass_matrix"].refs]
    return random_state(d.symbols.system, d.graph, refs, 0)


def _free(d: Derivation) -> list[int]:
    """The speeds least determined by the constraints, as many as there are degrees of freedom."""
    gradients = [r.gradient for r in d.rows]
    A = matrix(d.graph, gradients, len(d.symbols.v), _regular(d))
    dependent = independent_columns(A, what="the speeds that constraints leave free")
    return sorted({*range(len(d.symbols.v))}.difference(dependent))
