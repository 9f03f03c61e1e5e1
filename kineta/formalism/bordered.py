"""The mass matrix with constraints as its border, in factors::

    M x - A^T lambda = f        A x = s

Where bodies without mass leave M without a pivot, though constraints hold them, M + A^T A takes its place: with f + A^T s on the
right x and lambda are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kineta.expr.graph import ZERO, Ref
from kineta.formalism.bounds import row_bounds
from kineta.formalism.constraint import Row, repeated
from kineta.formalism.derivation import Derivation
from kineta.formalism.locking import free, masked
from kineta.formalism.mechanism import dependent
from kineta.formalism.solve import Factors, SingularError, factored, sparse
from kineta.threads import kept_by


@dataclass(frozen=True, slots=True)
class Bordered:
    """The factors of such a matrix with the rows *kept*, and whether A^T A was *added*; what is ``free`` of the speeds that
    touches may hold.
    """

    factors: Factors
    kept: Sequence[Row]
    added: bool
    free: Mapping[int, Ref]

    def solve(self, f: Sequence[Ref], s: Sequence[Ref]) -> list[Ref]:
        """x, and lambda with the opposite sign."""
        g, right = self.factors.graph, [*f, *s]
        for k, share in self.free.items():
            right[k] = g.mul(share, right[k])
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


def bordered(d: Derivation, kept: Sequence[Row], order: Sequence[int]) -> Bordered:
    """The mass matrix with the gradients of the rows *kept* as its border, factored once for a derivation; the speeds in the
    sequence *order* first.

    Raises :class:`ModelError` where a speed moves no inertia, and for a constraint that binds only what others bind.
    """
    border = tuple(tuple(row.gradient.items()) for row in kept)
    return kept_by(d, (Bordered, border, tuple(order)), lambda: _bordered(d, kept, order))


def _bordered(d: Derivation, kept: Sequence[Row], order: Sequence[int]) -> Bordered:
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


def _factored(d: Derivation, kept: Sequence[Row], order: Sequence[int], *, added: bool) -> Bordered:
    g, n = d.graph, len(d.symbols.v)
    matrix = [*masked(d, sparse(d["mass_matrix"].refs, n)), *(dict(r.gradient) for r in kept)]
    bounds, motions = row_bounds(d.mechanism, len(kept))
    for i, row in enumerate(kept):
        for k, partial in row.gradient.items():
            matrix[k][n + i] = partial
            for j, other in row.gradient.items() if added else ():
                matrix[k][j] = g.add(matrix[k].get(j, ZERO), g.mul(partial, other))
            if added:
                bounds[k] = g.add(bounds[k], g.mul(partial, partial))
    last = range(n, n + len(kept))
    return Bordered(factored(g, matrix, [*order, *last], bounds, motions, watched=d.watched), kept, added, free(d))
