"""Rooted trees: what a Runge-Kutta method of order p has to get right (Butcher; Hairer, Norsett, Wanner, II.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from math import prod

import numpy as np
from numpy.typing import NDArray

#: A tree is the tuple of the trees that hang on its root.
Tree = tuple["Tree", ...]
FloatArray = NDArray[np.float64]


@cache
def trees(order: int) -> tuple[Tree, ...]:
    """All rooted trees with *order* vertices."""
    return tuple(dict.fromkeys(tuple(sorted(t)) for t in _forests(order - 1, order - 1)))


def _forests(vertices: int, largest: int) -> Iterator[tuple[Tree, ...]]:
    """Sets of trees with *vertices* vertices together, none with more than *largest*."""
    if vertices == 0:
        yield ()
    for order in range(min(vertices, largest), 0, -1):
        for tree in trees(order):
            for rest in _forests(vertices - order, order):
                yield (tree, *rest)


def size(tree: Tree) -> int:
    """Number of vertices."""
    return 1 + sum(size(t) for t in tree)


def density(tree: Tree) -> int:
    """Gamma: the condition of a method on a tree is weight = 1 / density."""
    return size(tree) * prod(density(t) for t in tree)


def stage_values(A: FloatArray, tree: Tree) -> FloatArray:
    """Product over the branches of sum_j a_ij (value of the branch at stage j), at every stage i."""
    values = np.ones(len(A))
    for branch in tree:
        values = values * (A @ stage_values(A, branch))
    return values


def defects(A: FloatArray, weights: Sequence[float] | FloatArray, order: int, end: float = 1.0) -> FloatArray:
    """How far *weights* are from integrating up to *end* what the trees of *order* stand for."""
    return np.array([np.dot(weights, stage_values(A, t)) - end**order / density(t) for t in trees(order)])
