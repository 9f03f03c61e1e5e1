"""Order conditions of the tableaux, of their error estimates and of their interpolants."""

from __future__ import annotations

import numpy as np
import pytest

from kineta.integration.native import interpolate
from kineta.numerics.tableaux import DOP853, DOPRI5, TABLEAUX, Tableau
from tests.numerics.rooted_trees import FloatArray, defects, trees

EACH = pytest.mark.parametrize("tableau", TABLEAUX.values(), ids=list(TABLEAUX))


def stages(tableau: Tableau) -> FloatArray:
    """The full matrix A: stages, derivative at the new point, extra stages."""
    rows = [(), *tableau.A, tableau.B, *tableau.extra]
    A = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        A[i, : len(row)] = row
    return A


def padded(weights: tuple[float, ...], A: FloatArray) -> FloatArray:
    return np.array([*weights, *[0.0] * (len(A) - len(weights))])


def test_there_are_as_many_trees_as_cayley_counted() -> None:
    assert [len(trees(n)) for n in range(1, 10)] == [1, 1, 2, 4, 9, 20, 48, 115, 286]


@EACH
def test_stages_lie_at_their_abscissae(tableau: Tableau) -> None:
    A = stages(tableau)
    assert np.array([*tableau.C, 1.0, *tableau.extra_C]) == pytest.approx(A.sum(axis=1), abs=1e-14)
    assert not np.triu(A).any()


@EACH
def test_order(tableau: Tableau) -> None:
    A = stages(tableau)
    weights = padded(tableau.B, A)
    for order in range(1, tableau.order + 1):
        assert np.abs(defects(A, weights, order)).max() < 1e-14
    assert np.abs(defects(A, weights, tableau.order + 1)).max() > 1e-7


@pytest.mark.parametrize(("tableau", "orders"), [(DOP853, (5, 3)), (DOPRI5, (4,))], ids=["dop853", "dopri5"])
def test_error_estimates(tableau: Tableau, orders: tuple[int, ...]) -> None:
    """An estimate is the difference of two methods: it sees nothing up to the order of the lower."""
    A = stages(tableau)
    for weights, lower in zip(tableau.errors, orders, strict=True):
        for order in range(1, lower + 2):
            seen = np.abs(defects(A, padded(weights, A), order, end=0.0)).max()
            assert seen < 1e-14 if order <= lower else seen > 1e-5


@pytest.mark.parametrize(("tableau", "dense"), [(DOP853, 7), (DOPRI5, 4)], ids=["dop853", "dopri5"])
def test_order_of_the_interpolant(tableau: Tableau, dense: int) -> None:
    A = stages(tableau)
    first, new = np.eye(len(A))[0], np.eye(len(A))[tableau.stages]
    change = padded(tableau.B, A)
    rows = [change, first - change, 2 * change - first - new, *(padded(w, A) for w in tableau.dense)]
    for x in (0.1, 0.35, 0.5, 0.8, 1.0):
        weights = interpolate(np.array(rows), np.float64(x))  # type: ignore[arg-type]
        for order in range(1, dense + 1):
            assert np.abs(defects(A, weights, order, end=x)).max() < 2e-13
    assert interpolate(np.array(rows), np.float64(0.0)) == pytest.approx(0)  # type: ignore[arg-type]
