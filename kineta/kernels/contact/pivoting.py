"""Elimination with complete pivoting, for systems whose rows may depend on each other."""

from __future__ import annotations

from kineta.kernels.language import fabs, kernel
from kineta.memory import Integers, Reals


@kernel
def eliminate(A: Reals, n: int, order: Integers, least: float) -> int:
    """LU factors of A (n, n) in place, with rows and columns in an *order* (2 n,); the rank, where the next pivot is at most
    *least*.
    """
    columns, rank, regular = order[n:], 0, True
    for i in range(n):
        order[i] = i
        columns[i] = i
    while rank < n and regular:
        most, row, column = 0.0, rank, rank
        for i in range(rank, n):
            for j in range(rank, n):
                if fabs(A[order[i] * n + columns[j]]) > most:
                    most, row, column = fabs(A[order[i] * n + columns[j]]), i, j
        regular = most > least
        if regular:
            swap(order, rank, row)
            swap(columns, rank, column)
            first, pivot = order[rank] * n, columns[rank]
            one = 1.0 / A[first + pivot]
            for i in range(rank + 1, n):
                at = order[i] * n
                A[at + pivot] *= one
                for j in range(rank + 1, n):
                    A[at + columns[j]] -= A[at + pivot] * A[first + columns[j]]
            rank += 1
    return rank


@kernel
def swap(order: Integers, i: int, j: int) -> None:
    """Exchange two entries."""
    k = order[i]
    order[i] = order[j]
    order[j] = k


@kernel
def back_substitute(A: Reals, n: int, order: Integers, rank: int, b: Reals, x: Reals) -> None:
    """The solution x (n,) for the right-hand side b (n,), by factors of :func:`eliminate`; zero beyond the rank."""
    columns = order[n:]
    for i in range(n):
        x[columns[i]] = b[order[i]] if i < rank else 0.0
    for i in range(rank):
        for k in range(i):
            x[columns[i]] -= A[order[i] * n + columns[k]] * x[columns[k]]
    for turn in range(rank):
        i = rank - 1 - turn
        for k in range(i + 1, rank):
            x[columns[i]] -= A[order[i] * n + columns[k]] * x[columns[k]]
        x[columns[i]] /= A[order[i] * n + columns[i]]
