"""Powers with names in their exponents are read as one power of each base."""

from __future__ import annotations

import pytest

import kineta as kn

LINES = [
    ("-a/x^n", "a*n/x^(n + 1)"),
    ("k*x^n", "k*n*x^(n - 1)"),
    ("x^n*x^(-n)*a*x", "a"),
    ("2^n*a*x^n*x", "a*2^n*(n + 1)*x^n"),
    ("(x^2 + c^2)^(n/2)*k", "k*n*x*(x^2 + c^2)^(n/2 - 1)"),
    ("a*(x/c)^n", "a*n*(x/c)^(n - 1)/c"),
]


def law(potential: str) -> kn.Equations:
    return kn.derive(
        kn.loads(
            f"parameters a, c, k, n; coordinates x; A | Sx(x) = 1; potential V = {potential}; output u = a + c + k + n;"
        )
    )


@pytest.mark.parametrize(("potential", "slope"), LINES)
def test_a_base_has_one_power_in_a_term(potential: str, slope: str) -> None:
    equations = law(potential)
    assert equations.text("inverse") == f"tau[x'] = x'' + {slope}"


@pytest.mark.parametrize(("potential", "slope"), LINES)
def test_what_is_read_is_what_is_computed(potential: str, slope: str) -> None:
    given = {"a": 1.3, "c": 0.7, "k": 2.1, "n": 2.6}
    read = kn.loads(f"parameters a, c, k, n; coordinates x; A | Sx(x) = 1; force f = -({slope}) on x;")
    states = 0.0, [0.8], [0.0], [0.4]
    expected = law(potential).function("inverse")(*states, p=given)
    assert kn.derive(read).function("inverse")(*states, p=given) == pytest.approx(expected, rel=1e-12)
