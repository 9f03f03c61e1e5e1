"""Linear algebra of plain arrays: what :mod:`kineta.numerics.linear_algebra` asks of NumPy and SciPy on the way to a module."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from kineta.errors import NumericalError
from kineta.numerics import plain_matrices
from kineta.playground.plain_arrays import array, asarray, int64, ndarray
from kineta.playground.plain_functions import divide, lengths, where
from kineta.playground.plain_shapes import zeros


class LinAlgError(ValueError):
    """A matrix without a result."""


def cholesky(A: Any) -> ndarray:
    """Lower triangular factors (..., n, n)."""
    return _each(asarray(A), _cholesky)


def inv(A: Any) -> ndarray:
    """Inverses (..., n, n)."""
    return _each(asarray(A), _inverse)


#: Lengths along an axis.
norm = lengths


def _each(x: ndarray, by: Callable[[list[list[float]]], list[list[float]]]) -> ndarray:
    """A function of matrices (..., n, n), row by row."""
    lead, (n, m) = x.shape[:-2], x.shape[-2:]
    return array([by(one.tolist()) for one in x.reshape(-1, n, m)]).reshape(*lead, n, m) if x.size else x


def _cholesky(A: list[list[float]]) -> list[list[float]]:
    try:
        L = plain_matrices.cholesky(A, what="a matrix")
    except NumericalError:
        raise LinAlgError("Singular matrix") from None
    return [[*row, *[0.0] * (len(A) - len(row))] for row in L]


def _inverse(A: list[list[float]]) -> list[list[float]]:
    """By Gauss and Jordan's elimination with row pivots."""
    n = len(A)
    rows = [[*row, *(float(i == k) for k in range(n))] for i, row in enumerate(A)]
    for k in range(n):
        best = max(range(k, n), key=lambda i: math.fabs(rows[i][k]))
        if not rows[best][k]:
            raise LinAlgError("Singular matrix")
        rows[k], rows[best] = rows[best], rows[k]
        pivot = rows[k][k]
        rows[k] = [x / pivot for x in rows[k]]
        for i in range(n):
            if i != k and (share := rows[i][k]):
                rows[i] = [x - share * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]


def eigvalsh(A: Any) -> ndarray:
    """Eigenvalues (..., n) of symmetric matrices in rising order."""
    A = asarray(A)
    n = A.shape[-1]
    found = [plain_matrices.symmetric_eigenvalues(one, what="a matrix") for one in A.reshape(-1, n, n).tolist()]
    return array(found, dtype=float).reshape(*A.shape[:-1])


def svd(A: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """U, singular values in falling order, V^T, by one-sided Jacobi rotations of the columns; of a matrix with more rows than
    columns, U has as many columns as A, unless it is *full*.
    """
    A = asarray(A)
    m, n = A.shape
    if m < n:
        if not compute_uv:
            return svd(A.T, full_matrices, False)
        V, sizes, U = svd(A.T, full_matrices)
        return U.T, sizes, V.T
    columns = [list(c) for c in A.T.tolist()]
    turns = [[float(i == k) for k in range(n)] for i in range(n)]
    for _ in range(60):
        done = True
        for i in range(n):
            for k in range(i + 1, n):
                a, b, c = (plain_matrices.dot(columns[r], columns[s]) for r, s in ((i, i), (k, k), (i, k)))
                if math.fabs(c) <= 1e-16 * math.sqrt(a * b):
                    continue
                done = False
                tau = (b - a) / (2 * c)
                t = math.copysign(1.0, tau) / (math.fabs(tau) + math.hypot(1.0, tau))
                cosine = 1 / math.hypot(1.0, t)
                for rows in (columns, turns):
                    p, q = rows[i], rows[k]
                    rows[i] = [cosine * (x - t * y) for x, y in zip(p, q, strict=True)]
                    rows[k] = [cosine * (t * x + y) for x, y in zip(p, q, strict=True)]
        if done:
            break
    sizes_of = [math.hypot(*c) for c in columns]
    order = sorted(range(n), key=lambda k: -sizes_of[k])
    sizes = array([sizes_of[k] for k in order], dtype=float)
    if not compute_uv:
        return sizes
    U = _completed([[x / sizes_of[k] for x in columns[k]] if sizes_of[k] else None for k in order], m, full_matrices)
    return array(U).reshape(-1, m).T, sizes, array([turns[k] for k in order]).reshape(n, n)


def _completed(columns: list[list[float] | None], m: int, full_matrices: bool) -> list[list[float]]:
    """Orthonormal columns, with others for those that are missing."""
    known = [c for c in columns if c is not None]

    def other() -> list[float]:
        for k in range(m):
            rest = [float(i == k) for i in range(m)]
            for _ in range(2):
                for c in known:
                    share = plain_matrices.dot(c, rest)
                    rest = [x - share * y for x, y in zip(rest, c, strict=True)]
            if (length := math.hypot(*rest)) > 0.5 / math.sqrt(m):
                known.append([x / length for x in rest])
                return known[-1]
        raise LinAlgError("Singular matrix")

    found = [c if c is not None else other() for c in columns]
    return found + [other() for _ in range(m - len(found))] * full_matrices


def pinv(A: Any, rcond: float | None = None) -> ndarray:
    """The pseudoinverse."""
    A = asarray(A)
    if not A.size:
        return zeros(A.shape[::-1])
    U, sizes, V = svd(A, full_matrices=False)
    least = (1e-15 if rcond is None else rcond) * sizes.max(initial=0.0)
    share = where(sizes > least, divide(1.0, where(sizes > least, sizes, 1.0)), 0.0)
    return (V.T * share) @ U.T  # type: ignore[no-any-return]


def lstsq(A: Any, b: Any, rcond: float | None = None) -> tuple[Any, None, int, Any]:
    """The least-squares solution of least norm, and the rank."""
    A = asarray(A)
    least = 2.2e-16 * max(A.shape) if rcond is None else rcond
    sizes = svd(A, compute_uv=False) if A.size else zeros(0)
    rank = sum(x > least * sizes[0] for x in sizes.tolist())
    return pinv(A, least) @ asarray(b), None, rank, sizes


def qr(A: Any, mode: str = "reduced", pivoting: bool = False) -> Any:
    """Q and R by Gram and Schmidt's method, each column twice; with *pivoting* the farthest column first, and the order."""
    A = asarray(A)
    m, n = A.shape
    columns, order = dict(enumerate(A.T.tolist())), list[int]()
    Q, R = list[list[float]](), [[0.0] * n for _ in range(min(m, n))]
    rest = {k: list(c) for k, c in columns.items()}
    for step in range(n):
        k = max(rest, key=lambda j: plain_matrices.dot(rest[j], rest[j])) if pivoting else step
        order.append(k)
        own = rest.pop(k)
        for i, e in enumerate(Q):
            share = plain_matrices.dot(e, own)
            R[i][step] = plain_matrices.dot(e, columns[k])
            own = [x - share * y for x, y in zip(own, e, strict=True)]
        if len(Q) < min(m, n):
            length = math.hypot(*own)
            R[len(Q)][step] = length
            e = [x / length for x in own] if length else own
            Q.append(e)
            for j, c in rest.items():
                share = plain_matrices.dot(e, c)
                rest[j] = [x - share * y for x, y in zip(c, e, strict=True)]
    triangle = array(R).reshape(len(R), n)
    parts = (triangle,) if mode == "r" else (array(Q).reshape(-1, m).T, triangle)
    parts = (*parts, array(order, dtype=int64)) if pivoting else parts
    return parts if len(parts) > 1 else triangle
