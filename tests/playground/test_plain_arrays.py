"""Plain arrays are those of NumPy, on random ones."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kineta.errors import NumericalError
from kineta.playground import plain_arrays, plain_functions, plain_shapes, stand_in
from kineta.playground import plain_linear_algebra as linear

plain = SimpleNamespace(**(vars(plain_arrays) | vars(plain_shapes) | vars(plain_functions)))
Both = Callable[[Any, Any], Any]


def both(values: Any) -> tuple[Any, Any]:
    return np.array(values), plain.array(np.array(values).tolist())


def same(found: Any, wanted: Any, tolerance: float = 0.0) -> None:
    own = np.array(found.tolist() if isinstance(found, plain.ndarray) else found)
    assert np.shape(own) == np.shape(wanted)
    np.testing.assert_allclose(own, wanted, rtol=tolerance, atol=tolerance)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


#: Expressions of an array a (2, 3, 4), b (3, 4) and whole numbers k (3,), of NumPy n or its stand-in.
EXPRESSIONS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "arithmetic": lambda n, a, b, k: 2.0 * a + b / 3.0 - a * b - 1.0,
    "powers and comparison": lambda n, a, b, k: n.where((a > 0) & (b <= 0.5), a**2, -b),
    "outer product": lambda n, a, b, k: b[:, None] * b[:, :, None],
    "matrices": lambda n, a, b, k: a @ b.T,
    "stacked matrices": lambda n, a, b, k: n.swapaxes(a, -1, -2) @ a,
    "vector": lambda n, a, b, k: b @ b[1],
    "sums": lambda n, a, b, k: a.sum(axis=-1),
    "extremes": lambda n, a, b, k: n.abs(a).max(axis=(0, 2), initial=0.3),
    "extreme of rows": lambda n, a, b, k: a.min(axis=0),
    "all": lambda n, a, b, k: (a > -1.0).all(axis=1),
    "chosen": lambda n, a, b, k: a[:, k],
    "chosen pairs": lambda n, a, b, k: a[0][k[:, None], k[None]],
    "masked": lambda n, a, b, k: b[b > 0],
    "last": lambda n, a, b, k: a[..., -1],
    "every other": lambda n, a, b, k: b[::2, 1:],
    "joined": lambda n, a, b, k: n.concatenate([a, b[None]], axis=0),
    "joined at the end": lambda n, a, b, k: n.concatenate([b, b[:, :1]], axis=-1),
    "below": lambda n, a, b, k: n.vstack([b, b[0]]),
    "moved": lambda n, a, b, k: n.moveaxis(a, -1, 0),
    "wide": lambda n, a, b, k: n.broadcast_to(b[0], (2, 4)),
    "places": lambda n, a, b, k: n.flatnonzero(b > 0),
    "rows of places": lambda n, a, b, k: n.argwhere(b > 0.5),
    "running sums": lambda n, a, b, k: n.cumsum(k),
    "less": lambda n, a, b, k: n.delete(b[0], [1, 2]),
    "among": lambda n, a, b, k: n.isin(range(5), k),
    "unequal": lambda n, a, b, k: n.unique(k),
    "identity": lambda n, a, b, k: n.eye(4) + b[2],
    "diagonal": lambda n, a, b, k: b.diagonal(),
    "signs": lambda n, a, b, k: n.sign(a) * n.maximum(a, 0.1) + n.minimum(b, 0.2),
    "ratios": lambda n, a, b, k: n.geomspace(1e-2, 1.0, 8),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_have_the_values_of_numpy(rng: np.random.Generator, name: str) -> None:
    a, b, k = both(rng.standard_normal((2, 3, 4))), both(rng.standard_normal((3, 4))), both([2, 0, 1])
    by = EXPRESSIONS[name]
    same(by(plain, a[1], b[1], k[1]), by(np, a[0], b[0], k[0]), 1e-15)


def test_parts_are_written_as_in_numpy(rng: np.random.Generator) -> None:
    a, b = both(rng.standard_normal((3, 4)))
    for x in (a, b):
        x[1] = 7.0
        x[:, 2] = x[:, 0]
        x[[0, 2]] *= 2
        x.flat[[3, 5]] = [1, 2]
    same(b, a)


def test_slices_share_memory_and_records_find_it() -> None:
    x = plain.zeros(6)
    part = x[2:4]
    part[:] = 3.0
    assert x.tolist() == [0, 0, 3, 3, 0, 0]
    assert part.ctypes.data == x.ctypes.data + 16
    assert x.view(int)[2] == np.float64(3.0).view(np.int64)


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (2, 4)])
def test_decompositions_make_the_matrix_again(rng: np.random.Generator, shape: tuple[int, int]) -> None:
    A, a = both(rng.standard_normal(shape))
    sizes = np.linalg.svd(A, compute_uv=False)
    for full in (False, True):
        U, found, V = linear.svd(a, full_matrices=full)
        same(found, sizes, 1e-13)
        same(U[:, : len(sizes)] * found @ V[: len(sizes)], A, 1e-13)
        assert U.shape[1] == (shape[0] if full else len(sizes))
    Q, R = linear.qr(a)
    same(Q @ R, A, 1e-13)
    same(Q.T @ Q, np.eye(min(shape)), 1e-13)
    same(linear.pinv(a), np.linalg.pinv(A), 1e-12)
    R, order = linear.qr(a, mode="r", pivoting=True)
    same(R.T @ R, (A.T @ A)[np.ix_(order.tolist(), order.tolist())], 1e-12)


def test_least_squares_of_dependent_rows_have_the_least_norm(rng: np.random.Generator) -> None:
    rows = rng.standard_normal((2, 4))
    (A, a), (b, c) = both(np.vstack([rows, rows.sum(axis=0)])), both(rng.standard_normal(3))
    same(linear.lstsq(a, c, 1e-9)[0], np.linalg.lstsq(A, b, 1e-9)[0], 1e-12)
    assert linear.lstsq(a, c, 1e-9)[2] == 2


def test_many_matrices_are_inverted_and_factored(rng: np.random.Generator) -> None:
    x = rng.standard_normal((3, 4, 4))
    A, a = both(x @ np.swapaxes(x, -1, -2) + np.eye(4))
    same(linear.inv(a), np.linalg.inv(A), 1e-12)
    same(linear.cholesky(a), np.linalg.cholesky(A), 1e-12)
    same(linear.eigvalsh(a), np.linalg.eigvalsh(A), 1e-12)
    with pytest.raises(linear.LinAlgError, match="Singular"):
        linear.inv(plain.zeros((2, 2)))


def test_what_has_no_stand_in_says_so_when_it_is_called() -> None:
    unknown = stand_in._missing("numpy.einsum")
    assert unknown[int] is Any
    with pytest.raises(NumericalError, match=r"numpy\.einsum.*not in the browser"):
        unknown("ij,jk")
