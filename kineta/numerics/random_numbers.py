"""Random numbers in plain Python: the sequences of ``numpy.random.default_rng``, for code that loads no array library."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

_WORD, _LONG, _WHOLE = (1 << 32) - 1, (1 << 64) - 1, (1 << 128) - 1
#: Multiplier of the congruential generator (O'Neill 2014).
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645


class UniformNumbers:
    """Generator PCG64 of uniform numbers, seeded as NumPy seeds it with a whole number *seed* from 0 to 2^128."""

    def __init__(self, seed: int) -> None:
        start, sequence = _seed_numbers(seed)
        self._increment = (sequence << 1 | 1) & _WHOLE
        self._state = (self._increment + start) & _WHOLE
        self._advance()

    def _advance(self) -> None:
        self._state = (self._state * _MULTIPLIER + self._increment) & _WHOLE

    def _bits(self) -> int:
        """The next 64 bits."""
        self._advance()
        folded, turn = (self._state >> 64 ^ self._state) & _LONG, self._state >> 122
        return (folded >> turn | folded << (64 - turn)) & _LONG

    def uniform(self, low: float, high: float) -> float:
        """The next number between *low* and *high*."""
        return low + (high - low) * ((self._bits() >> 11) * 2.0**-53)

    def signs(self, n: int) -> list[float]:
        """So many numbers -1 or 1, two of each 64 bits, as ``choice([-1.0, 1.0], n)`` gives them."""
        bits = (self._bits() for _ in range((n + 1) // 2))
        return [1.0 if half & 1 << 31 else -1.0 for word in bits for half in (word & _WORD, word >> 32)][:n]


def _seed_numbers(seed: int) -> tuple[int, int]:
    """Start and sequence, of 128 bits each, from a *seed*: NumPy's ``SeedSequence`` with a pool of four words."""
    hashed = _hash(0x43B0D7E5, 0x931E8875)
    pool = [hashed(seed >> 32 * k & _WORD) for k in range(4)]
    for source, target in permutations(range(4), 2):
        mixed = (0xCA01F9DD * pool[target] - 0x4973F715 * hashed(pool[source])) & _WORD
        pool[target] = mixed ^ mixed >> 16
    hashed = _hash(0x8B51F9DD, 0x58F38DED)
    a, b, c, d = (hashed(pool[k]) | hashed(pool[k + 1]) << 32 for k in (0, 2, 0, 2))
    return a << 64 | b, c << 64 | d


def _hash(factor: int, step: int) -> Callable[[int], int]:
    """A hash function of words whose *factor* changes with every call."""

    def hashed(word: int) -> int:
        nonlocal factor
        word ^= factor
        factor = factor * step & _WORD
        word = word * factor & _WORD
        return word ^ word >> 16

    return hashed
