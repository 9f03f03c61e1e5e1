"""Certificates of models whose expressions choose between numbers, or are given by points."""

from __future__ import annotations

import pytest

import kineta as kn

CAR = "Car | Sx(x) = 1; coordinates x; "


@pytest.mark.parametrize(
    "text",
    [
        f"{CAR}force b = -if(x > 0.1, 1, 2) on x;",
        f"{CAR}force b = -if(x' > 3, 1, x'/3) on x;",
        f"{CAR}force b = if(t < 0.5, 0, 1) on x;",
        f"{CAR}force b = table(x; cubic; (-2, 1), (0, 0), (1, 2), (2, 3)) on x;",
        "Cam | Rz(phi) = Jz(0.01); Follower | Sz(0.1*sin(if(phi < 1, 0, 1))) = 0.5; coordinates phi;",
        "Cam | Rz(phi) = Jz(0.01); Follower | Sz(table(phi; cubic, periodic; (0, 0), (2, 0.1), (4, 0.2), (6, 0))) = 0.5; "
        "coordinates phi;",
        f"{CAR}force b = -2*x on x; output root = sqrt(x); output level = x*log(x);",
    ],
)
def test_equations_with_choices_hold(text: str) -> None:
    certificate = kn.verify(kn.loads(text), states=4)
    assert certificate.holds, certificate.sentence


@pytest.mark.parametrize(
    "function", ["max({}, 1)", "min({}, 3)", "sign({})", "step({})", "floor({})", "abs({})", "sin({})"]
)
def test_functions_of_numbers_alone_hold(function: str) -> None:
    """A table at a number is a number, not folded, without a course in time."""
    value = function.format("table(1; (0, 1), (2, 4))")
    text = f"{CAR}force b = -x*{value} on x; output a = x + {value};"
    certificate = kn.verify(kn.loads(text), states=2)
    assert certificate.holds, certificate.sentence
