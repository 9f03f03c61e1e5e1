"""Linear algebra of small dense matrices in plain Python, as rows of numbers: deriving and checking a model load no array
library.

Matrices of more than LARGE rows are the business of :mod:`~kineta.numerics.linear_algebra`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import copysign, hypot, isfinite, sqrt
from operator import mul

from kineta import tolerances
from kineta.errors import NumericalError, SingularMatrixError

Row = Sequence[float]
Rows = Sequence[Row]

#: Number of rows up to which plain Python takes no longer than the import of NumPy.
LARGE = 100


def dot(a: Iterable[float], b: Iterable[float]) -> float:
    """Product of two rows."""
    return sum(map(mul, a, b), 0.0)


def unit_rows(A: Rows) -> list[list[float]]:
    """*A* with nonzero rows scaled to unit length."""
    lengths = [sqrt(dot(row, row)) for row in A]
    return [[x / length for x in row] if length else list(row) for row, length in zip(A, lengths, strict=True)]


def shaped(entries: Row, columns: int) -> list[list[float]]:
    """The *entries* of a matrix as rows of so many *columns*."""
    return [list(entries[k : k + columns]) for k in range(0, len(entries), columns)]


def check_finite(A: Rows, what: str) -> None:
    """Raise :class:`NumericalError` for an entry of *A* that is not finite."""
    for i, row in enumerate(A):
        for k, x in enumerate(row):
            if not isfinite(x):
                raise NumericalError(not_finite(what, x, f"row {i + 1}, column {k + 1}"))


def not_finite(what: str, value: float, place: str) -> str:
    """The sentence on a *value* that is not finite, at this *place* of a matrix."""
    return (
        f"There is no value for {what}: {value:g} in {place} of its matrix; an expression has no value at this state, or "
        "one beyond all numbers. Change the state or the parameters."
    )


def dependent_row(G: Rows, rank: float, *, what: str) -> tuple[int, list[float]] | None:
    """Number and weights (k,) of the first row k of *G*, rows of unit length, that is a combination of the k rows before it: its
    distance from their span is *rank* or less. None for independent rows.

    G^T = Q R by Gram and Schmidt's method, each row twice, so that Q is orthogonal to rounding.
    """
    check_finite(G, what)
    Q, R = list[list[float]](), list[list[float]]()
    for k, row in enumerate(G):
        rest, shares = list(row), [0.0] * k
        for _ in range(2):
            for i, e in enumerate(Q):
                if share := dot(rest, e):
                    shares[i] += share
                    rest = [x - share * y for x, y in zip(rest, e, strict=True)]
        distance = hypot(*rest)
        if distance <= rank:
            for i in reversed(range(k)):
                shares[i] = (shares[i] - dot((R[j][i] for j in range(i + 1, k)), shares[i + 1 :])) / R[i][i]
            return k, shares
        Q.append([x / distance for x in rest])
        R.append([*shares, distance])
    return None


def independent_columns(A: Rows, *, what: str) -> list[int]:
    """Numbers of independent columns of *A*, as many as it has rows: each is the farthest from the span of those before it, the
    first of equal ones (QR decomposition with column pivoting).
    """
    check_finite(A, what)
    rest, order = {k: list(c) for k, c in enumerate(zip(*A, strict=True))}, list[int]()
    for _ in range(min(len(A), len(rest))):
        far = max(rest, key=lambda k: dot(rest[k], rest[k]))
        order.append(far)
        c = rest.pop(far)
        size = dot(c, c) or 1.0
        for k, column in rest.items():
            share = dot(c, column) / size
            rest[k] = [x - share * y for x, y in zip(column, c, strict=True)]
    return order


def cholesky(M: Rows, *, what: str) -> list[list[float]]:
    """The lower triangular factor L, as rows without zeros, L L^T = M. Raises :class:`SingularMatrixError` where *M* is not
    positive definite.
    """
    L = list[list[float]]()
    for i, row in enumerate(M):
        own = list[float]()
        for k in range(i):
            own.append((row[k] - dot(own, L[k])) / L[k][k])
        pivot = row[i] - dot(own, own)
        if not pivot > 0:
            raise SingularMatrixError(f"There is no value for {what}: a matrix in it is singular.")
        L.append([*own, sqrt(pivot)])
    return L


def forward_substituted(L: Rows, b: Row) -> list[float]:
    """The solution x of L x = b for a triangular factor of :func:`cholesky`."""
    x = list[float]()
    for row, y in zip(L, b, strict=True):
        x.append((y - dot(row, x)) / row[-1])
    return x


def solve_positive(L: Rows, b: Row) -> list[float]:
    """The solution x of L L^T x = b for a triangular factor of :func:`cholesky`."""
    x = forward_substituted(L, b)
    for i in reversed(range(len(x))):
        x[i] = (x[i] - dot((L[k][i] for k in range(i + 1, len(x))), x[i + 1 :])) / L[i][i]
    return x


def symmetric_eigenvalues(A: Rows, *, what: str) -> list[float]:
    """Eigenvalues of the symmetric *A* in rising order: Householder's reduction to three diagonals, then QL steps with shifts."""
    check_finite(A, what)
    a, beside = [list(row) for row in A], list[float]()
    for k in range(len(a) - 1):
        below = [row[k] for row in a[k + 1 :]]
        size = copysign(hypot(*below), below[0])
        beside.append(-size)
        below[0] += size
        if not (half := dot(below, below) / 2):
            continue
        p = [dot(row[k + 1 :], below) / half for row in a[k + 1 :]]
        share = dot(p, below) / (2 * half)
        p = [x - share * y for x, y in zip(p, below, strict=True)]
        for row, x, y in zip(a[k + 1 :], below, p, strict=True):
            row[k + 1 :] = [z - x * q - y * b for z, q, b in zip(row[k + 1 :], p, below, strict=True)]
    return _tridiagonal_eigenvalues([a[k][k] for k in range(len(a))], beside)


def _tridiagonal_eigenvalues(d: list[float], beside: Sequence[float]) -> list[float]:
    """Eigenvalues, in rising order, of the symmetric matrix of diagonal *d* with these entries *beside* it; *d* is changed."""
    n, e = len(d), [*beside, 0.0]
    for first in range(n):
        while True:
            last = next(
                (m for m in range(first, n - 1) if abs(e[m]) <= tolerances.EPS * (abs(d[m]) + abs(d[m + 1]))), n - 1
            )
            if last == first:
                break
            g = (d[first + 1] - d[first]) / (2 * e[first])
            g = d[last] - d[first] + e[first] / (g + copysign(hypot(g, 1.0), g))
            s, c, p = 1.0, 1.0, 0.0
            for i in reversed(range(first, last)):
                f, b = s * e[i], c * e[i]
                r = e[i + 1] = hypot(f, g)
                if not r:
                    d[i + 1] -= p
                    e[last] = 0.0
                    break
                s, c = f / r, g / r
                g = d[i + 1] - p
                r = (d[i] - g) * s + 2 * c * b
                p = s * r
                d[i + 1] = g + p
                g = c * r - b
            else:
                d[first] -= p
                e[first] = g
                e[last] = 0.0
    return sorted(d)
