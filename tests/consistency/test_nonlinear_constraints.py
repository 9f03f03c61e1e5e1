"""Constraints nonlinear in the speeds, of models that start at rest, where these constraints have no slope."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.consistency.consistent_start import consistent
from kineta.equations.equations import equations_of
from tests.mechanics.random_systems import random_system

PARTICLE = "coordinates x, y, z; parameters k = 0.5; P | Sx(x), Sy(y), Sz(z) = 1; force f on P = (1, 2, 3);"
SPEED = PARTICLE + "constraint c : x'^2 + y'^2 + z'^2 = 0.9;"
CONE = PARTICLE + "constraint c : z'^2 = k^2*(x'^2 + y'^2);"


def constrained(seed: int, count: int) -> tuple[kn.System, Any, Any, Any]:
    """A random tree without initial values and *count* constraints v.B v/2 + b.v + sin(t) = c, a state q, v that meets them at
    t = 0.3, and their slopes B v + b there.
    """
    rng = np.random.default_rng(seed)
    free = random_system(seed, n=3)
    q = kn.assemble(free, q=dict.fromkeys((n for n in free.q_names if "." not in n), 0.2)).q
    v = rng.uniform(-1, 1, free.nv)
    speeds = np.array([kn.symbol(n) for n in free.v_names])
    constraints, slopes = [], []
    for i in range(count):
        L = rng.uniform(-1, 1, (free.nv, free.nv))
        B, b = L @ L.T, rng.uniform(-1, 1, free.nv) * (seed % 2)
        c = v @ B @ v / 2 + b @ v + np.sin(0.3)
        constraints.append(kn.constraint(f"c{i}", speeds @ B @ speeds / 2 + b @ speeds + kn.sin(kn.symbol("t")) - c))
        slopes.append(B @ v + b)
    return free.replace(constraints=constraints), q, v, np.array(slopes)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_accelerations_from_rest_are_those_of_the_saddle_point_problem(seed: int, count: int) -> None:
    system, q, v, A = constrained(seed, count)
    count = min(count, system.nv - 1)
    system, A = system.replace(constraints=system.constraints[:count]), A[:count]
    free = kn.derive(system.replace(constraints=()))
    M, h = (free.function(name)(0.3, q, v) for name in ("mass_matrix", "bias"))
    saddle = np.block([[M, -A.T], [A, np.zeros((count, count))]])
    expected = np.linalg.solve(saddle, np.concatenate([-h, np.full(count, -np.cos(0.3))]))
    equations = kn.derive(system)
    scale = np.abs(expected).max() * max(1.0, np.linalg.cond(A) ** 2)
    for name, values in (("forward", expected[: system.nv]), ("multipliers", expected[system.nv :])):
        assert np.abs(equations.function(name)(0.3, q, v) - values).max() < 1e-12 * scale, name


@pytest.mark.parametrize("seed", range(4))
def test_speeds_are_found_from_rest_and_the_motion_keeps_to_them(seed: int) -> None:
    system, q, _, _ = constrained(seed, 1)
    started = kn.assemble(system, q=q)
    assert started.residual < 1e-10
    assert "the guess led to no speeds" in " ".join(started.notes) or seed % 2
    run = kn.simulate(system, 0.1, q=started.q, v=started.v)
    assert run.success
    assert np.abs(kn.derive(system).function("constraints")(run.t, run.q, run.v)).max() < 1e-9


@pytest.mark.parametrize("text", [SPEED, CONE])
def test_what_has_no_slope_at_rest_is_kept(text: str) -> None:
    system = kn.loads(text)
    v = np.array([0.3, 0.9, 0.0 if text == SPEED else 0.5 * np.hypot(0.3, 0.9)])
    row = v if text == SPEED else np.array([-0.25, -0.25, 1.0]) * v
    f = np.array([1.0, 2.0, 3.0])
    found = kn.derive(system).function("forward")(0, np.zeros(3), v)
    assert found == pytest.approx(f - row * (row @ f) / (row @ row), abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "speeds"),
    [
        ("abs(x') = 1", (1, -1)),
        ("max(x', 0) + max(-x', 0) = 1", (1, -1)),
        ("max(x', 1) = 2", (2,)),
        ("abs(2*x') = 1 + 0*y'", (0.5, -0.5)),
    ],
)
def test_kinks_in_the_speeds_have_no_slope_at_rest_and_are_kept(value: str, speeds: tuple[float, ...]) -> None:
    system = kn.loads(PARTICLE + f"constraint c : {value};")
    found = kn.assemble(system)
    assert min(abs(found.v[0] - x) for x in speeds) < 1e-10
    for x in speeds:
        forward = kn.derive(system).function("forward")(0, np.zeros(3), np.array([x, 0.3, 0.9]))
        assert forward == pytest.approx([0, 2, 3], abs=1e-12)
    run = kn.simulate(system, 0.1, v=found.v)
    assert run.success
    assert run.v[-1] == pytest.approx([found.v[0], found.v[1] + 0.2, found.v[2] + 0.3], abs=1e-9)


@pytest.mark.parametrize("value", ["abs(x') = -1", "max(x', 500) = 600"])
def test_what_no_state_found_meets_is_not_redundant(value: str) -> None:
    equations = kn.derive(kn.loads(PARTICLE + f"constraint c : {value};"))
    with pytest.warns(kn.KinetaWarning, match="no state near the start meets the constraint 'c'") as said:
        forward = equations.function("forward")
    assert "redundant and left out" not in "".join(str(w.message) for w in said)
    assert forward(0, np.zeros(3), np.array([600.0, 0, 0])) == pytest.approx([0, 2, 3], abs=1e-12)
    found = consistent(equations, 0.0, np.zeros(3), np.zeros(3), np.array([0.5]), reach=np.inf)
    assert found.equations is equations


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (("x' = y'", "x'^2 = y'^2"), [1.5, 1.5, 3]),
        (("x = y", "x'^2 = y'^2"), [1.5, 1.5, 3]),
        (("x' = y'", "y' = z'", "x'^2 + y'^2 = 2*z'^2"), [2, 2, 2]),
        (("x' = y'", "y' = 1.02*z'", "x'^2 - y'^2 + 0.01*z'*(y' - 1.02*z') = 0"), None),
    ],
)
def test_of_rows_that_say_the_same_those_with_a_slope_are_kept_in_any_order(rows: Any, expected: Any) -> None:
    found = []
    for order in permutations(range(len(rows))):
        system = kn.loads(PARTICLE + "".join(f"constraint c{k} : {rows[k]};" for k in order))
        with pytest.warns(kn.KinetaWarning, match=rf"\(c{len(rows) - 1} follows from"):
            found.append(kn.derive(system).function("forward")(0, np.zeros(3), np.zeros(3)))
    assert np.ptp(found, axis=0).max() < 1e-12
    assert expected is None or found[0] == pytest.approx(expected, abs=1e-12)


def test_quasi_velocities_with_kinks_are_refused() -> None:
    with pytest.raises(
        kn.ModelError, match=r"Quasi 'u': expected an expression linear in the speeds, found 'abs\(x'\)'"
    ):
        kn.derive(kn.loads("coordinates x; P | Sx(x) = 1; quasi u = abs(x');")).function("forward")


def test_what_repeats_a_nonlinear_constraint_is_left_out_and_said_once() -> None:
    system = kn.loads(SPEED + "constraint d : 2*x'^2 + 2*y'^2 + 2*z'^2 = 1.8;")
    equations = kn.derive(system)
    with pytest.warns(
        kn.KinetaWarning, match=r"1 of 2 rows of constraints is redundant .*\(d follows from c\)"
    ) as said:
        forward = equations.function("forward")
    equations.function("multipliers")
    assert len(said) == 1
    assert forward(0, np.zeros(3), np.array([0.3, 0.9, 0.0])) == pytest.approx([0.3, -0.1, 3.0], abs=1e-12)


def test_what_no_speeds_meet_is_said_with_what_to_give() -> None:
    system = kn.loads(SPEED.replace("0.9", "-0.9"))
    with pytest.warns(kn.KinetaWarning, match=r"no state near the start meets the constraint 'c'.*initial x' = 1\."):
        kn.derive(system).function("forward")
    with pytest.raises(
        kn.SimulationError, match=r"nor from 8 beside it: .* misses it by 0\.9\. Start from other speeds"
    ):
        kn.assemble(system)
    with pytest.raises(kn.ModelError, match=r"'d' contradicts c"):
        kn.derive(kn.loads(SPEED + "constraint d : 2*x'^2 + 2*y'^2 + 2*z'^2 = 1.7;")).function("forward")


def test_a_start_without_a_slope_is_refused_with_a_sentence() -> None:
    with pytest.raises(
        kn.SimulationError, match=r"the constraint c changes with no motion there\. Start a little beside"
    ):
        kn.simulate(kn.loads(CONE), 0.1)


def test_a_given_motion_finds_the_speeds_that_it_leaves_to_nonlinear_constraints() -> None:
    t = kn.symbol("t")
    for start, sign in (("", 0), ("initial z' = -1;", -1), ("initial z' = 1;", 1)):
        found = kn.kinematics(kn.loads(CONE + start), {"x": 0.3 * t, "y": 0.4 * t}, t=np.linspace(0, 1, 5))
        z = found.v[:, 2]
        assert abs(z) == pytest.approx(0.25, abs=1e-12)
        assert sign == 0 or (np.sign(z) == sign).all()


def test_rows_that_vanish_at_the_first_instant_or_place_are_kept() -> None:
    for text in ("x'*sin(t) + y'*t = 0", "x^2 + y^2 = 0", "x^2 + y^2 = 1"):
        equations = equations_of(kn.loads(f"{PARTICLE} constraint c : {text};"))
        found = consistent(equations, 0.0, np.zeros(3), np.zeros(3), np.array([0.5]), reach=np.inf)
        assert found.equations is equations
