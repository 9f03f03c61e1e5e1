"""Matrices in text: which entries are rounding errors."""

from __future__ import annotations

import numpy as np

from kineta.results.labelled_matrix import labelled


def test_entries_of_mixed_units_are_rounding_errors_beside_row_and_column() -> None:
    """A stiff micro-machine: its 1 is no rounding error beside 1e13, as -3e-18 beside 1 and 4 is."""
    A = np.array([[-3e-18, 1.0, 0.0], [-1e13, 4.0, -2e-5], [-0.0, 1e-14, 1e-5]])
    rows = [line.split()[1:] for line in labelled("A", "xyz", "xyz", A, mixed=True)[1:]]
    assert rows == [["0", "1", "0"], ["-1e+13", "4", "-2e-05"], ["0", "1e-14", "1e-05"]]
    assert labelled("A", "xyz", "xyz", A)[1].split()[1:] == ["0", "0", "0"]
    assert labelled("A", [], ["x"], np.zeros((0, 1)), mixed=True) == ["A  x"]
