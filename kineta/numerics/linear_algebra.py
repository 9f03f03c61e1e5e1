"""Guarded linear algebra of arrays: the only door to NumPy's and SciPy's.

LAPACK does not refuse numbers that are not finite: for a matrix with a NaN it returns zero determinants and plausible
eigenvalues, prints on standard output, or fails without a reason. Every function here checks its arrays first, and its error
names the quantity, the argument *what*, in the words of the user ("the accelerations of the start"). ``norm``, ``det`` and
``cond`` only measure, and return NaN instead.

Names and results follow :mod:`numpy.linalg` and :mod:`scipy.linalg`. Rank tolerances (``rcond``) are arguments, since the
caller knows the accuracy of its rows; the default is the rounding error of the decomposition, n eps. SciPy is imported lazily.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.linalg import LinAlgError
from numpy.linalg import norm as norm
from numpy.typing import ArrayLike, NDArray

from kineta import tolerances
from kineta.arrays import ComplexArray, FloatArray, IntArray, Mask
from kineta.errors import NumericalError, SingularMatrixError
from kineta.numerics.plain_matrices import LARGE, not_finite

Found = TypeVar("Found")


def _guarded(what: str, compute: Callable[..., Found], *arrays: ArrayLike) -> Found:
    """The result of *compute* for *arrays*. Raises :class:`NumericalError` for numbers that are not finite, and
    :class:`SingularMatrixError` where the result does not exist.
    """
    for array in arrays:
        finite = np.isfinite(array)
        if not finite.all():
            raise NumericalError(_not_finite(what, np.asarray(array), finite))
    try:
        return compute(*arrays)
    except LinAlgError as error:
        reason = "a matrix in it is singular" if "ingular" in str(error) else f"LAPACK says: {error}"
        raise SingularMatrixError(f"There is no value for {what}: {reason.rstrip('.')}.") from None


def _not_finite(what: str, array: NDArray[Any], finite: Mask) -> str:
    """The sentence about the first number of *array* that is not *finite*."""
    first = tuple(int(k) for k in np.argwhere(~finite)[0])
    places = ("entry",) if array.ndim == 1 else (*("case",) * (array.ndim - 2), "row", "column")
    return not_finite(what, array[first], ", ".join(f"{name} {k + 1}" for name, k in zip(places, first, strict=True)))


def det(A: ArrayLike) -> FloatArray:
    """Determinants (...) of A (..., n, n), NaN for matrices that are not finite."""
    return _measured(np.linalg.det, A)


def cond(A: ArrayLike) -> FloatArray:
    """Condition numbers (...) of A (..., m, n), NaN for matrices that are not finite."""
    return _measured(np.linalg.cond, A)


def _measured(measure: Callable[[Any], Any], A: ArrayLike) -> FloatArray:
    A = np.asarray(A)
    finite = np.isfinite(A).all(axis=(-2, -1))
    if finite.all():
        return np.asarray(measure(A))
    return np.asarray(np.where(finite, measure(np.where(finite[..., None, None], A, 1.0)), np.nan))


def solve(A: ArrayLike, b: ArrayLike, *, what: str) -> Any:
    """The solution x of A x = b."""
    return _guarded(what, np.linalg.solve, A, b)


def solve_positive(A: ArrayLike, b: ArrayLike, *, what: str) -> FloatArray:
    """The solution x of A x = b for a symmetric, positive definite A."""
    from scipy.linalg import solve as scipy_solve

    return _guarded(what, lambda A, b: np.asarray(scipy_solve(A, b, assume_a="pos", check_finite=False)), A, b)


def solve_triangular(R: ArrayLike, b: ArrayLike, *, what: str) -> FloatArray:
    """The solution x of R x = b for an upper triangular R."""
    return _guarded(what, _back_substituted, R, b)


def _back_substituted(R: ArrayLike, b: ArrayLike) -> FloatArray:
    from scipy.linalg.lapack import dtrtrs

    if not np.size(R):  # which LAPACK does not take
        return np.zeros(np.shape(b))
    x, zero = dtrtrs(np.asarray(R).T, b, lower=1, trans=1)  # rows of R are columns of LAPACK's matrix
    if zero:
        raise LinAlgError("singular matrix")
    return np.asarray(x)


def lstsq(A: ArrayLike, b: ArrayLike, *, what: str, rcond: float | None = None) -> FloatArray:
    """The least-squares solution x of A x = b of least norm."""
    return ranked_lstsq(A, b, what=what, rcond=rcond)[0]


def ranked_lstsq(A: ArrayLike, b: ArrayLike, *, what: str, rcond: float | None = None) -> tuple[FloatArray, int]:
    """The least-squares solution of :func:`lstsq`, and the rank of A."""
    x, _, count, _ = _guarded(what, lambda A, b: np.linalg.lstsq(A, b, rcond=rcond), A, b)
    return np.asarray(x), int(count)


def inv(A: ArrayLike, *, what: str) -> Any:
    """The inverses (..., n, n)."""
    return _guarded(what, np.linalg.inv, A)


def pinv(A: ArrayLike, *, what: str, rcond: float | None = None) -> Any:
    """The pseudoinverses (..., n, m)."""
    return _guarded(what, lambda A: np.linalg.pinv(A, rcond=rcond), A)


def svd(A: ArrayLike, *, what: str, full_matrices: bool = True) -> tuple[Any, Any, Any]:
    """U, the singular values in falling order, and V^T."""
    U, sizes, V = _guarded(what, lambda A: np.linalg.svd(A, full_matrices=full_matrices), A)
    return U, sizes, V


def svdvals(A: ArrayLike, *, what: str) -> Any:
    """The singular values (..., min(m, n)) in falling order."""
    return _guarded(what, lambda A: np.linalg.svd(A, compute_uv=False), A)


def matrix_rank(A: ArrayLike, least: float, *, what: str) -> int:
    """The number of singular values above *least*."""
    return int(_guarded(what, lambda A: np.linalg.matrix_rank(A, least), A))


def null_space(A: ArrayLike, *, what: str, rcond: float | None = None) -> FloatArray:
    """An orthonormal basis of the null space of A, as columns."""
    from scipy.linalg import null_space as scipy_null_space

    return _guarded(what, lambda A: np.asarray(scipy_null_space(A, rcond=rcond)), A)


def qr(A: ArrayLike, *, what: str) -> tuple[Any, Any]:
    """Q and R."""
    Q, R = _guarded(what, np.linalg.qr, A)
    return Q, R


def triangle(A: ArrayLike, *, what: str) -> FloatArray:
    """The factor R of A = Q R."""
    return _guarded(what, lambda A: np.asarray(np.linalg.qr(A, mode="r")), A)


def pivoted_qr(A: ArrayLike, *, what: str) -> tuple[FloatArray, FloatArray, IntArray]:
    """Q, R and the column order of the QR decomposition with column pivoting."""
    return _guarded(what, _pivoted_qr, A)


def _pivoted_qr(A: ArrayLike) -> tuple[FloatArray, FloatArray, IntArray]:
    from scipy.linalg.lapack import dorgqr

    packed, order, tau = _pivoted(A)
    m, n = packed.shape
    if not packed.size:
        return np.eye(m), packed, order
    reflectors = packed[:, :m] if n >= m else np.hstack([packed, np.zeros((m, m - n))])
    return np.asarray(dorgqr(reflectors, tau)[0]), np.triu(packed), order


def _pivoted(A: ArrayLike) -> tuple[FloatArray, IntArray, FloatArray]:
    """LAPACK's reflectors and R in one array, the column order, and factors of the reflectors: SciPy's ``qr`` takes three times
    as long for small matrices. LAPACK takes no empty ones.
    """
    from scipy.linalg.lapack import dgeqp3

    A = np.asarray(A, dtype=float)
    if not A.size:
        return A, np.arange(A.shape[1], dtype=np.int32), np.empty(0)
    packed, order, tau, *_ = dgeqp3(A)
    return packed, order - 1, tau


def pivoted_triangle(A: ArrayLike, *, what: str) -> tuple[FloatArray, IntArray]:
    """R and the column order of the QR decomposition with column pivoting."""
    packed, order, _ = _guarded(what, _pivoted, A)
    return np.triu(packed), order


def unit_rows(A: FloatArray) -> FloatArray:
    """A (..., rows, columns) with nonzero rows scaled to unit length."""
    size = norm(A, axis=-1, keepdims=True)
    return np.asarray(A / np.where(size > 0, size, 1.0))


def dependent_row(G: ArrayLike, rank: float, *, what: str) -> tuple[int, list[float]] | None:
    """:func:`~kineta.numerics.plain_matrices.dependent_row` of many rows."""

    def found(G: FloatArray) -> tuple[int, list[float]] | None:
        if nearest(G, what=what) > tolerances.INDEPENDENCE_TOLERANCE:
            return None
        R = triangle(G.T, what=what)
        far = np.abs(R.diagonal()) > rank
        k = len(far) if far.all() else int(far.argmin())
        return None if k == len(G) else (k, solve(R[:k, :k], R[:k, k], what=what).tolist())

    return _guarded(what, found, np.asarray(G))


def nearest(G: ArrayLike, *, what: str) -> float:
    """The least distance of a row of G, of unit length, from the span of the rows before it; for many rows to 1e-7, in an order
    that preserves zeros. Zero for more rows than columns.
    """

    def found(G: FloatArray) -> float:
        if len(G) > G.shape[1]:
            return 0.0
        if len(G) <= LARGE:
            return float(np.abs(triangle(G.T, what=what).diagonal()).min(initial=np.inf))
        return float(np.sqrt(max(sparse_pivots(G, what=what).min(), 0.0)))

    return _guarded(what, found, np.asarray(G))


def sparse_pivots(A: FloatArray, *, what: str) -> FloatArray:
    """The pivots of the symmetric, positive A A^T in a fill-reducing order; all zero where one of them is zero."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import splu

    def factored(A: FloatArray) -> FloatArray:
        rows, options = csr_array(A), {"SymmetricMode": True}
        try:
            factors = splu((rows @ rows.T).tocsc(), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError:
            return np.zeros(len(A))
        return np.asarray(factors.U.diagonal())

    return _guarded(what, factored, A)


def cholesky(A: ArrayLike, *, what: str) -> Any:
    """The lower triangular Cholesky factors L, L L^T = A."""
    return _guarded(what, np.linalg.cholesky, A)


def eig(A: ArrayLike, *, what: str) -> tuple[ComplexArray, ComplexArray]:
    """Eigenvalues and, as columns, eigenvectors."""
    from scipy.linalg import eig as scipy_eig

    values, vectors = _guarded(what, lambda A: scipy_eig(A), A)
    return np.asarray(values), np.asarray(vectors)


def eigvals(A: ArrayLike, *, what: str) -> ComplexArray:
    """Eigenvalues (..., n)."""
    return np.asarray(_guarded(what, np.linalg.eigvals, A), dtype=np.complex128)


def eigh(A: ArrayLike, *, what: str) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of symmetric matrices in rising order and, as columns, eigenvectors."""
    values, vectors = _guarded(what, np.linalg.eigh, A)
    return np.asarray(values), np.asarray(vectors)


def eigvalsh(A: ArrayLike, B: ArrayLike | None = None, *, what: str) -> FloatArray:
    """Eigenvalues of symmetric matrices in rising order; with a positive definite B, of A x = w B x."""
    if B is None:
        return np.asarray(_guarded(what, np.linalg.eigvalsh, A))
    from scipy.linalg import eigh as scipy_eigh

    return _guarded(what, lambda A, B: np.asarray(scipy_eigh(A, B, eigvals_only=True)), A, B)


def slogdet(A: ArrayLike, *, what: str) -> tuple[Any, Any]:
    """Signs and logarithms of determinants."""
    sign, size = _guarded(what, np.linalg.slogdet, A)
    return sign, size


def expm(A: ArrayLike, *, what: str) -> FloatArray:
    """The exponential of a matrix."""
    from scipy.linalg import expm as scipy_expm

    return _guarded(what, lambda A: np.asarray(scipy_expm(A)), A)
