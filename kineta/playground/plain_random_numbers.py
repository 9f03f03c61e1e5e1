"""Random numbers in plain arrays."""

from __future__ import annotations

import math

from kineta.numerics.random_numbers import UniformNumbers
from kineta.playground.plain_arrays import array, float64, ndarray


class RandomNumbers:
    """Random numbers."""

    def __init__(self, seed: int) -> None:
        self._numbers = UniformNumbers(seed)

    def standard_normal(self, n: int) -> ndarray:
        """Normal numbers, by Box and Muller's method."""
        draws = [(self._numbers.uniform(0.0, 1.0), self._numbers.uniform(0.0, 1.0)) for _ in range(n)]
        return array([math.sqrt(-2 * math.log(1 - a)) * math.cos(2 * math.pi * b) for a, b in draws], dtype=float64)
