"""Elimination with scaled partial pivoting, for systems whose unknowns have unlike sizes."""

from __future__ import annotations

from kineta.kernels.contact.block_inertia import substitute
from kineta.kernels.language import kernel
from kineta.memory import Integers, Reals


@kernel
def eliminate(A: Reals, n: int, size: Reals, order: Integers) -> None:
    """LU factors of A (n, n) in place, with reciprocals of the pivots, zero for none. The pivot of a column is its largest entry
    beside the *size* (n,) of its row, squared, which becomes its reciprocal; *order* (n,) has the rows that are exchanged for it,
    one after the other.
    """
    for k in range(n):
        size[k] = 1.0 / size[k]
    for k in range(n):
        most, row = 0.0, k
        for i in range(k, n):
            own = A[i * n + k] * A[i * n + k] * size[i]
            if own > most:
                most, row = own, i
        order[k] = row
        if row != k:
            size[row] = size[k]
            for j in range(n):
                kept = A[k * n + j]
                A[k * n + j] = A[row * n + j]
                A[row * n + j] = kept
        pivot = A[k * n + k]
        A[k * n + k] = 1.0 / pivot if pivot != 0.0 else 0.0
        eliminate_column(A, n, k)


@kernel
def eliminate_column(A: Reals, n: int, k: int) -> None:
    """Take the row k of A (n, n) from those below it, whose entries in its column become factors; its pivot is a reciprocal."""
    for i in range(k + 1, n):
        part = A[i * n + k] * A[k * n + k]
        A[i * n + k] = part
        if part != 0.0:
            for j in range(k + 1, n):
                A[i * n + j] -= part * A[k * n + j]


@kernel
def back_substitute(A: Reals, n: int, order: Integers, x: Reals) -> None:
    """The solution x (n,) by factors of :func:`eliminate`, in the place of the right-hand side; zero for what has no pivot."""
    for k in range(n):
        kept = x[k]
        x[k] = x[order[k]]
        x[order[k]] = kept
    substitute(A, n, x)
