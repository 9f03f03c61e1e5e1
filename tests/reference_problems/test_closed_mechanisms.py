"""Reference problems whose answers are not tables of their coordinates."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.equations.initial_values import initial_state
from kineta.tasks.mobility import freedom
from tests.mechanics.truth import load
from tests.reference_problems.test_closed_motions import closed, model

TIGHT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-13}


def test_the_bicycle_has_the_accelerations_of_the_benchmark() -> None:
    truth, system = load("bicycle/basu_mandal_nonlinear_s.json"), model("bicycle")
    start, equations = truth["initial_state"], kn.derive(system)
    q, v = ([start[n.replace("'", "d")] for n in names] for names in (system.q_names, system.v_names))
    assert np.abs(equations.function("constraints", "numpy")(0.0, q, v)).max() < 1e-12
    vdot = equations.function("forward", "numpy")(0.0, q, v)
    found = dict(zip((f"{n}'" for n in system.v_names), vdot, strict=True))
    assert found == {f"{name[:-2]}''": pytest.approx(x, abs=1e-10) for name, x in truth["expected"]["own"].items()}
    assert freedom(equations) == 3


@pytest.mark.slow
def test_the_bicycle_weaves_as_the_benchmark() -> None:
    """x is backwards, the frame leans by 90 degrees less psi, and the steering axis is upwards."""
    table = load("bicycle/whipple_history_s.json")["expected"]["table"]
    run = kn.simulate(model("bicycle"), 2.0, t_eval=[row["t"] for row in table], **TIGHT)
    found = {"lean": run["lean"], "steer": run["steer"], "steer_rate": -run["psif'"]}
    found["rear_wheel_rate*rR"] = 0.3 * run["betar'"]
    for name, series in found.items():
        assert series == pytest.approx([row[name] for row in table], abs=1e-6), name
    centre = np.array([-run["x"], run["y"], -run["z"]]).T
    assert centre == pytest.approx(np.array([row["rear_wheel_centre"] for row in table]), abs=1e-6)


def test_coins_and_eulers_disk_keep_their_inclination_at_the_speeds_of_the_closed_form() -> None:
    system, truth = model("rolling_coin"), load("nonholonomic/coin_steady_and_euler_disk_s.json")
    equations, steady = kn.derive(system), truth["expected"]["steady"]
    for row in [*steady, *truth["expected"]["euler_disk"]]:
        theta, turning = row.get("theta", row.get("inclination")), row.get("precession_W", row.get("W"))
        q = np.array([0, 0, 0.2 * np.sin(theta), 0, theta, 0])
        v = closed(equations, q, np.array([0, 0, 0, turning, 0, row["psi_dot"]]), [0, 1, 2])
        vdot = equations.function("forward", "numpy")(0.0, q, v)
        assert vdot[3:] == pytest.approx(np.zeros(3), abs=1e-9)
        speed = abs(row["psi_dot"] + turning * np.cos(theta)) * 0.2
        assert np.hypot(*v[:2]) == pytest.approx(speed, abs=1e-9)


def test_bricards_loop_has_a_component_too_many() -> None:
    """Counted, the mechanism has no freedom; the accelerations do not depend on which component is left out."""
    system, truth = model("bricard"), load("iftomm/A04_bricard_s.json")
    equations = kn.derive(system)
    q, v = initial_state(system)
    rows = equations.derivation.rows
    assert [r.constraint for r in rows] == ["P5.x", "P5.y", "P5.z", "P5.ru", "P5.rw"]
    assert freedom(equations) == 1
    M, bias = (equations.function(name, "numpy")(0.0, q, v) for name in ("mass_matrix", "bias"))
    A = np.array([at_rest(equations, [r.gradient.get(k, 0) for k in range(5)]) for r in rows])
    sides = np.block([[M, -A.T], [A, np.zeros((5, 5))]])
    vdot = np.linalg.lstsq(sides, np.concatenate([-bias, np.zeros(5)]), rcond=1e-12)[0][:5]
    assert vdot == pytest.approx(truth["expected"]["accelerations_t0"], abs=1e-12)


def at_rest(equations: kn.Equations, refs: list[int]) -> list[float]:
    from kineta.passes.evaluate import evaluate

    names = (*equations.system.q_names, *equations.system.v_names)
    return evaluate(equations.graph, refs, dict.fromkeys(names, 0.0))


def spheres() -> kn.System:
    """Fekete's problem: particles on the unit sphere that push each other away."""
    start = np.array(load("ivp_testset/fekete20_s.json")["initial_state"]["p"])
    bodies, elements, rods, initial = [], [], [], {}
    for i, place in enumerate(start):
        names = [f"{c}{i}" for c in "xyz"]
        at = [kn.symbol(n) for n in names]
        bodies.append(kn.body(f"P{i}", [kn.Sx(at[0]), kn.Sy(at[1]), kn.Sz(at[2])], kn.inertia(1)))
        elements += [kn.damper(f"d{n}", 0.5, kn.symbol(f"{n}'")) for n in names]
        rods.append(kn.constraint(f"r{i}", at[0] ** 2 + at[1] ** 2 + at[2] ** 2 - 1))
        initial |= dict(zip(names, place.tolist(), strict=True))
    for i, j in combinations(range(len(start)), 2):
        squares = ((kn.symbol(f"{c}{i}") - kn.symbol(f"{c}{j}")) ** 2 for c in "xyz")
        elements.append(kn.potential(f"V{i}_{j}", -0.5 * kn.log(sum(squares))))
    return kn.System("fekete", bodies, elements=elements, constraints=rods, initial=initial, coordinates=list(initial))


@pytest.mark.slow
def test_particles_on_a_sphere_come_to_rest_as_feketes() -> None:
    truth = load("ivp_testset/fekete20_s.json")
    run = kn.simulate(spheres(), 10.0, t_eval=[10.0], rtol=1e-11, atol=1e-12)
    assert run.q[0].reshape(20, 3) == pytest.approx(np.array(truth["expected"]["own_p_t10"]), abs=1e-9)


def test_a_wheel_that_lies_flat_is_refused_with_its_contact() -> None:
    flat = model("rolling_coin").replace(initial={"z": 0.0, "psi'": 1.0})
    with pytest.raises(kn.SimulationError, match=r"the constraint 'edge\.n' has no value, or no slope, at x = 0,"):
        kn.simulate(flat, 0.1)


def test_what_starts_where_it_has_no_slope_has_functions() -> None:
    upright = kn.derive(model("rolling_torus")).function("forward", "numpy")
    assert np.isfinite(upright(0.0, [0, 0, 0.18, np.sqrt(0.5), np.sqrt(0.5), 0, 0], np.zeros(6))).all()


def test_a_loop_cut_elsewhere_gives_the_same_accelerations() -> None:
    pin, system = "Rocker ~ Coupler | Sx(b), Rz(gamma - beta), Sx(-c)", model("fourbar")
    text = kn.dumps(system).replace("Rocker | Sx(d), Rz(gamma)", pin)
    text, closed_at = text.partition("loop ")[0], "loop pin : ball between ground at (d, 0, 0) and Rocker;"
    assert pin in text
    there = kn.loads(text + closed_at)
    state = (0.0, *initial_state(system))
    one, other = (kn.derive(s).function("forward", "numpy")(*state) for s in (system, there))
    assert other == pytest.approx(one, rel=1e-11)
