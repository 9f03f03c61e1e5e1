"""The KKT (saddle-point) matrix: the mass matrix bordered by constraints, in factors::

    M x - A^T lambda = f        A x = s

Where massless bodies leave M without a pivot, though constraints determine their motion, M + A^T A takes its place: with f +
A^T s on the right side, x and lambda are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.algorithms.rounding_bounds import row_bounds
from kineta.mechanics.constraints.rows import Row, repeated
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.kinematics.tree import dependent
from kineta.mechanics.linear_algebra.ldl import Factors, SingularError, factored, sparse
from kineta.records import dataclass
from kineta.threads import memo


@dataclass(frozen=True, slots=True)
class KKTFactors:
    """The factors of a KKT matrix with the rows *kept*; *added* tells whether A^T A was added."""

    factors: Factors
    kept: Sequence[Row]
    added: bool

    def solve(self, f: Sequence[Ref], s: Sequence[Ref]) -> list[Ref]:
        """The solution x, and lambda with the opposite sign."""
        g, right = self.factors.graph, [*f, *s]
        if self.added:
            for row, value in zip(self.kept, s, strict=True):
                for k, partial in row.gradient.items():
                    right[k] = g.add(right[k], g.mul(partial, value))
        return self.factors.solve(right)

    @property
    def pivots(self) -> list[Ref]:
        """The pivots of the rows kept."""
        found, n = self.factors.pivots, len(self.factors.pivots) - len(self.kept)
        return [found[n + i] for i in range(len(self.kept))]


def kkt_factors(d: Derivation, kept: Sequence[Row], order: Sequence[int]) -> KKTFactors:
    """The factors of the KKT matrix of the rows *kept*, memoised by the derivation; the speeds are eliminated first, in the
    sequence *order*.

    Raise :class:`ModelError` where a speed moves no inertia, and for a redundant constraint.
    """
    border = tuple(tuple(row.gradient.items()) for row in kept)
    return memo(d, (KKTFactors, border, tuple(order)), lambda: _kkt_factors(d, kept, order))


def _kkt_factors(d: Derivation, kept: Sequence[Row], order: Sequence[int]) -> KKTFactors:
    try:
        return _factored(d, kept, order, added=False)
    except SingularError as error:
        if error.row >= len(d.symbols.v):
            raise repeated(d.symbols.system, kept[: error.row - len(d.symbols.v) + 1]) from None
        found = error
    try:
        return _factored(d, kept, order, added=True)
    except SingularError:
        raise dependent(d.mechanism, found.row) from None


def _factored(d: Derivation, kept: Sequence[Row], order: Sequence[int], *, added: bool) -> KKTFactors:
    g, n = d.graph, len(d.symbols.v)
    matrix = [*map(dict, sparse(d["mass_matrix"].refs, n)), *(dict(r.gradient) for r in kept)]
    bounds, motions = row_bounds(d.mechanism, len(kept))
    for i, row in enumerate(kept):
        for k, partial in row.gradient.items():
            matrix[k][n + i] = partial
            for j, other in row.gradient.items() if added else ():
                matrix[k][j] = g.add(matrix[k].get(j, ZERO), g.mul(partial, other))
            if added:
                bounds[k] = g.add(bounds[k], g.mul(partial, partial))
    last = range(n, n + len(kept))
    return KKTFactors(factored(g, matrix, [*order, *last], bounds, motions, watched=d.watched), kept, added)
