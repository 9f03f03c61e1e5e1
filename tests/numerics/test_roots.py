"""Zeros in a bracket."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from kineta.numerics.roots import domain_boundary, root

EPS = 2.0**-52


@pytest.mark.parametrize(
    ("f", "a", "b", "zero", "calls"),
    [
        (lambda x: 3 * x - 1, 0.0, 1.0, 1 / 3, 2),
        (lambda x: math.cos(x) - x, 0.0, 1.0, 0.7390851332151607, 8),
        (lambda x: math.cos(x) - x, 1.0, 0.0, 0.7390851332151607, 8),
        (lambda x: math.exp(30 * x) - 1e5, -1.0, 1.0, math.log(1e5) / 30, 15),
        (lambda x: (x - 0.3) ** 9, 0.0, 1.0, 0.3, 60),
        (lambda x: 1e200 * (x - 0.3) ** 3, 0.0, 1.0, 0.3, 60),
        (lambda x: math.copysign(1.0, x - 0.123), 0.0, 1.0, 0.123, 60),
        (lambda x: 1 / (x - 0.4), 0.0, 1.0, 0.4, 60),
        (lambda x: math.copysign(1e300, x - 0.4) if x < 0.9 else 1e-300, 0.0, 1.0, 0.4, 60),
        (lambda x: math.inf if x > 0.7 else -math.inf, 0.0, 1.0, 0.7, 60),
    ],
)
def test_zeros_are_found_to_rounding_in_few_calls(
    f: Callable[[float], float], a: float, b: float, zero: float, calls: int
) -> None:
    asked: list[float] = []

    def counted(x: float) -> float:
        asked.append(x)
        return f(x)

    assert root(counted, a, b, f(a), f(b), 4 * EPS) == pytest.approx(zero, abs=8 * EPS)
    assert len(asked) <= calls
    assert all(min(a, b) < x < max(a, b) for x in asked)


def test_the_edge_of_a_domain_is_found_from_inside() -> None:
    def f(x: float) -> float:
        return math.sqrt(x - 0.3) if x >= 0.3 else math.nan

    assert domain_boundary(f, 0.0, 1.0, 4 * EPS) == pytest.approx(0.3, abs=4 * EPS)
    assert not math.isnan(f(domain_boundary(f, 0.0, 1.0, 0.0)))
    assert domain_boundary(lambda x: -f(1 - x), 1.0, 0.0, 0.0) == pytest.approx(0.7, abs=EPS)


def test_a_tolerance_is_kept() -> None:
    assert root(math.cos, 1.0, 2.0, math.cos(1), math.cos(2), 1e-3) == pytest.approx(math.pi / 2, abs=1e-3)


def test_a_bracket_without_numbers_between_gives_the_end_that_is_past_the_zero() -> None:
    a = 0.3
    assert root(math.sin, a, math.nextafter(a, 1.0), -2.0, 1.0, 0.0) == math.nextafter(a, 1.0)
