"""Whether a mass matrix is singular does not depend on units."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kineta as kn
from benchmarks.chains import chain
from kineta import tolerances
from kineta.equations.equations import equations_of
from kineta.runtime import mass_matrix_rank
from kineta.runtime.mass_matrix_rank import (
    ends_of_spectrum,
    inertia_bounds,
    least_inertia,
    mass_matrix,
    massless_motion_text,
    singular_mass_matrix,
)
from tests.models import block
from tests.support import EXAMPLES

DEFINITE = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.1], [0.0, 0.1, 3.0]])


@pytest.mark.parametrize("units", [(1, 1, 1), (1e6, 1e-5, 1), (1e-3, 1, 1e4)])
def test_units_do_not_count(units: tuple[float, ...]) -> None:
    scale = np.outer(units, units)
    smallest, _ = least_inertia(DEFINITE * scale, (DEFINITE * scale).diagonal())
    assert smallest == pytest.approx(least_inertia(DEFINITE, DEFINITE.diagonal())[0])
    assert smallest > tolerances.ROUNDING_TOLERANCE
    singular, motion = least_inertia(scale, scale.diagonal())
    assert singular < tolerances.ROUNDING_TOLERANCE
    assert np.array(units) @ motion == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("rest", [0.0, 3.7e-33])
def test_the_speed_that_moves_nothing_is_found(rest: float) -> None:
    smallest, motion = least_inertia(np.diag([2e5, rest, 1e-8]), np.array([2e5, 1.0, 1e-8]))
    assert (smallest, np.flatnonzero(motion).tolist()) == (rest, [1])


def test_a_negative_inertia_is_not_definite() -> None:
    smallest, motion = least_inertia(np.diag([2.0, 1.0, -0.5]), np.array([2.0, 1.0, 2.0]))
    assert smallest == pytest.approx(-0.25)
    assert np.flatnonzero(motion).tolist() == [2]


def test_no_inertia_at_all() -> None:
    smallest, motion = least_inertia(np.zeros((2, 2)), np.zeros(2))
    assert (smallest, np.count_nonzero(motion)) == (0.0, 1)


def test_of_several_idle_motions_one_of_few_speeds_is_named() -> None:
    rng = np.random.default_rng(0)
    others = np.array([[1.0, -1.0, 0.0, 0.0, 0.0], [0.2, 0.3, 1.0, -0.5, 2.0]])
    rows = np.linalg.svd(others)[2][2:]
    _, motion = least_inertia(rows.T @ np.diag(rng.uniform(1, 2, 3)) @ rows, np.ones(5))
    assert motion / motion[0] == pytest.approx(others[0])


@pytest.mark.parametrize(
    ("motion", "words"),
    [
        ([0, 2, 0], "the speed 'b' moves no inertia. Give a body that it moves a mass or a moment of inertia, or"),
        (
            [2, 0, -0.6],
            "the combination a - 0.3 c of its speeds moves no inertia. Give mass to what lies between these",
        ),
        ([-1, -1, 1e3], "the combination a + b - 1000 c of its speeds moves no inertia."),
    ],
)
def test_what_moves_nothing_is_said(motion: list[float], words: str) -> None:
    assert massless_motion_text("abc", np.array(motion)).startswith(words)


def test_of_long_combinations_the_beginning_is_shown() -> None:
    assert "a + b + c + d + e + f + ... of its" in massless_motion_text("abcdefgh", np.ones(8))


def test_a_run_does_not_start_in_gimbal_lock() -> None:
    system = kn.loads("model g; A | Rz(a), Ry(b), Rz(c) = 1, 1, 2, 2.5; initial b = pi;")
    with pytest.raises(kn.SimulationError) as caught:
        kn.simulate(system, 1.0)
    assert str(caught.value).startswith(
        "Model 'g': the mass matrix is singular at t = 0 s: the combination a' + c' of its speeds moves no inertia. Give"
    )
    assert singular_mass_matrix(kn.derive(system), 0.0, [0, 1, 0], [0, 0, 0]) == ""


@pytest.mark.parametrize("method", ["dop853", "RK45", "BDF", "CVODE"])
def test_a_run_that_becomes_singular_says_so(method: str) -> None:
    arm = kn.loads("A | Rz(a), Sx(1) = 0; B ~ A | Rz(b), Sx(1) = 2; initial b = 0.5, b' = -1;")
    result = kn.simulate(arm, 3.0, method=method)
    assert result.status == -1
    assert result.message.startswith("failed at t = 0.2095474")
    assert (
        "; the mass matrix becomes singular there: the combination a' - 2 b' of its speeds moves no inertia. What"
        in (result.message)
    )


def test_steps_that_become_short_beside_a_singular_state_say_so() -> None:
    """A bicycle that falls over backwards: its frame is flat near 2.77 s, where the angles theta and phi have one axis."""
    backwards = {"x'": 4.6, "betar'": -4.6 / 0.3, "betaf'": -4.6 / 0.35}
    fallen = kn.simulate(kn.load(EXAMPLES / "bicycle.kin"), 10.0, v=backwards, max_steps=3000)
    assert fallen.message.startswith("out of steps at t = 2.774")
    assert "; the mass matrix becomes singular there: the combination " in fallen.message
    assert re.search(r"([\d.]+) theta'.* - \1 phi'.* of its speeds moves no inertia\. What", fallen.message)


def test_a_state_without_a_mass_matrix_is_not_called_singular() -> None:
    assert singular_mass_matrix(kn.derive(block("sqrt(x)", "x = 1")), 0.0, [-1], [0]) == ""
    assert singular_mass_matrix(kn.derive(kn.loads("A | Sx(sqrt(q)) = 1; coordinates q;")), 0.0, [-1], [0]) == ""


def test_the_mass_matrix_of_a_large_system_is_found_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    equations = kn.derive(kn.load(EXAMPLES / "puma560.kin"))
    state = 0.0, np.linspace(-1, 1, 6), np.linspace(2, 1, 6)
    whole = mass_matrix_rank.mass_matrix(equations, *state)
    monkeypatch.setattr(mass_matrix_rank, "_WHOLE", 2)
    monkeypatch.setattr(mass_matrix_rank, "_COLUMNS", 4)
    assert mass_matrix_rank.mass_matrix(equations, *state) == pytest.approx(whole, rel=1e-13, abs=1e-13)


@pytest.mark.slow
def test_the_ends_are_those_of_the_matrix() -> None:
    n = 210
    equations = equations_of(chain(n))
    q = np.random.default_rng(0).uniform(-2, 2, n)
    p = np.zeros(0)
    size = inertia_bounds(equations, 0.0, q, np.zeros(n), p)
    found = ends_of_spectrum(equations, q, p, size)
    M = mass_matrix(equations, 0.0, q, np.zeros(n), p)
    expected = np.linalg.eigvalsh(M / np.sqrt(np.outer(size, size)))[[0, -1]]
    # The dense least eigenvalue has a rounding error of EPS times the condition number, 2e8.
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_short_ones_have_none() -> None:
    equations = kn.derive(chain(5))
    assert ends_of_spectrum(equations, np.zeros(5), np.zeros(0), np.ones(5)) is None


@pytest.mark.slow
def test_sizes_that_are_none_have_no_spectrum() -> None:
    equations = equations_of(chain(210))
    assert ends_of_spectrum(equations, np.zeros(210), np.zeros(0), np.zeros(210)) is None
