"""Derivatives of motions: forth, back, and by differences they are the same; fits find what was put in."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import kineta as kn
from tests.support import EXAMPLES, slow


def example(name: str) -> kn.System:
    return kn.load(EXAMPLES / f"{name}.kin")


PENDULUM = example("double_pendulum")
#: A model, what varies, and what is asked for at the end: trees with quaternions, closed, rolling, with quasi-velocities.
MOTIONS = [
    ("double_pendulum", ["m1", "l2", "q1", "q2'", "tau[q1']"], "second.x"),
    ("fourbar", ["theta", "a", "mb"], "beta"),
    ("rolling_coin", ["theta", "theta'", "r"], "x"),
    ("upright_coin", ["turning", "R", "psi"], "x"),
    ("ball_tree", ["j1.wx", "tau[j2.wy]"], "Tail.x"),
]
CLOSE = {"rtol": 1e-11, "atol": 1e-13}


@pytest.mark.parametrize(("name", "by", "final"), [*MOTIONS[:-1], *slow(MOTIONS[-1:])], ids=[m[0] for m in MOTIONS])
def test_derivatives_forth_and_back_are_those_of_differences(name: str, by: Sequence[str], final: str) -> None:
    system = example(name)
    goal = {"final": kn.symbol(final), "integral": kn.symbol(system.v_names[0]) ** 2}
    forth = kn.objective(system, 0.4, by, adjoint=False, **goal, **CLOSE)
    back = kn.objective(system, 0.4, by, adjoint=True, **goal, **CLOSE)
    value, gradient = forth.value_and_gradient(forth.x0)
    size = max(1.0, np.abs(gradient).max())
    other, by_weights = back.value_and_gradient(back.x0)
    assert abs(value - other) < 1e-10 * max(1, abs(value))
    assert np.abs(gradient - by_weights).max() < 1e-9 * size
    rng = np.random.default_rng(2)
    along = rng.uniform(0.5, 1, len(by))
    h = 1e-4
    steps = [(8, h), (-8, -h), (-1, 2 * h), (1, -2 * h)]
    slope = sum(weight * forth(forth.x0 + step * along) for weight, step in steps) / (12 * h)
    assert abs(slope - gradient @ along) < 1e-7 * size


def test_series_and_goals_have_derivatives_at_all_times() -> None:
    found = kn.sensitivity(PENDULUM, 1.0, ["q1", "m2"], samples=11, goals={"effort": kn.symbol("q1'") ** 2})
    assert found["q1"].shape == found["second.x"].shape == found["effort"].shape == (11, 2)
    assert np.allclose(found["q1"][0], [1, 0])
    assert found["effort"][0].tolist() == [0.0, 0.0]
    plain = kn.simulate(PENDULUM, 1.0, samples=11)
    assert np.allclose(found.value("second.x"), plain["second.x"], atol=1e-8)
    assert np.allclose(found.q_by[:, 0], found["q1"])
    pulled = kn.sensitivity(PENDULUM, 1.0, ["tau[q1']"], samples=3, tau={"q1'": 0.3})
    assert pulled["q1"][-1] != 0


def test_outputs_may_be_made_of_named_expressions() -> None:
    system = kn.loads(
        "model a; parameters m = 1; B | Sx(q) = m; let twice = 2*q; output y = twice*q; initial q = 3, q' = 1;"
    )
    assert np.allclose(kn.sensitivity(system, 1.0, ["q"], samples=2)["y"], [[12], [16]])
    assert np.allclose(kn.linearize(system).C, [[12, 0]])


def test_initial_values_that_the_model_makes_of_parameters_vary_with_them() -> None:
    system = kn.loads("model ball; parameters h = 2, m = 1, g = 10; Ball | Sz(z) = m; gravity g; initial z = h^2;")
    found = kn.sensitivity(system, 1.0, ["h", "g"], samples=3)
    assert np.allclose(found["z"], [[4, 0], [4, -0.125], [4, -0.5]])
    assert np.allclose(kn.sensitivity(system, 1.0, ["h"], samples=3, q={"z": 4.0})["z"], 0)


@pytest.mark.slow
def test_a_ball_joint_varies_by_turns_about_the_axes_of_its_body() -> None:
    system = example("ball_tree")
    found = kn.sensitivity(system, 0.2, ["j1.Rz"], samples=3)
    first = dict(zip(found.q_names, found.q_by[0, :, 0], strict=True))
    q = dict(zip(found.q_names, found.q[0], strict=True))
    assert np.isclose(first["j1.qz"], q["j1.qw"] / 2)


@pytest.mark.parametrize("keep", ["theta", "a"])
def test_what_stays_of_a_closed_machine_is_said_and_chosen(keep: str) -> None:
    closed = example("fourbar")
    coordinate = "theta" if keep == "theta" else "beta"
    found = kn.sensitivity(closed, 0.3, ["b"], keep=[coordinate, f"{coordinate}'"], samples=2)
    assert found.kept == (coordinate, f"{coordinate}'")
    assert found[coordinate][0] == pytest.approx(0, abs=1e-12)
    ends = []
    for h in (1e-5, -1e-5):
        p = {"b": dict(zip(closed.parameter_names, (x.value for x in closed.parameters), strict=True))["b"] + h}
        start = kn.assemble(closed, p=p, pinned=[coordinate, f"{coordinate}'"])
        ends.append(kn.simulate(closed, 0.3, q=start.q, v=start.v, p=p, samples=2)["theta"][-1])
    assert found["theta"][-1, 0] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5)


def test_speeds_that_the_model_states_stay_with_their_coordinates() -> None:
    closed = example("fourbar")
    stated = closed.replace(initial=[*((n, e) for n, e in closed.initial if "'" not in n), ("theta'", 0.0)])
    found = kn.sensitivity(stated, 0.1, ["b"], samples=2)
    assert found.kept == ("theta", "theta'")
    alone = kn.sensitivity(stated, 0.1, ["theta'"], samples=2)
    assert (alone.kept, alone["theta'"][0, 0]) == (("theta",), pytest.approx(1.0, rel=1e-12))


def test_an_optimiser_finds_the_throw_that_hits() -> None:
    ball = kn.loads(
        "model ball; parameters c = 0.1, m = 1; coordinates x, z; Ball | Sx(x), Sz(z) = m; gravity 10;\n"
        "damper air = c on x; initial x' = 5, z' = 5;"
    )
    x, z = kn.symbols("x z")
    miss = kn.objective(ball, 1.0, ["x'", "z'"], final=(x - 8) ** 2 + (z - 1) ** 2)
    found = minimize(miss.value_and_gradient, miss.x0, jac=True)
    assert found.fun < 1e-9
    assert np.allclose(found.x, [8 * 0.1 / (1 - np.exp(-0.1)), 6.0], rtol=1e-5)


def test_a_fit_finds_what_was_put_in_within_its_intervals() -> None:
    rng, true = np.random.default_rng(0), {"m2": 1.3, "l1": 0.9, "q1": 1.1}
    run = kn.simulate(PENDULUM, 1.5, samples=101, p={"m2": 1.3, "l1": 0.9}, q={"q1": 1.1})
    data = {n: run[n] + 1e-3 * rng.standard_normal(101) for n in ("q1", "second.x")}
    data["q1"][::7] = np.nan
    fit = kn.fit(PENDULUM, data, list(true), t=run.t, q={"q1": 1.2})
    assert ((fit.interval[:, 0] < list(true.values())) & (list(true.values()) < fit.interval[:, 1])).all()
    assert np.abs(fit.x - list(true.values())).max() < 5e-3
    assert 0.8e-3 < fit.deviation < 1.2e-3
    assert np.allclose(np.diag(fit.correlation), 1)
    assert fit.lines()[0].startswith("m2 = 1.3") or fit.lines()[0].startswith("m2 = 1.29")
    known = kn.fit(PENDULUM, data, list(true), t=run.t, q={"q1": 1.2}, sigma=1e-3)
    assert np.allclose(known.interval - known.x[:, None], fit.interval - fit.x[:, None], rtol=0.2)


def test_a_fit_takes_tables_runs_and_frames_as_they_are(tmp_path: Path) -> None:
    run = kn.simulate(PENDULUM, 0.5, samples=21, p={"m2": 1.3})
    run.save(tmp_path / "run.nc")
    rows = "\n".join(f"{t!r};{q!r};1" for t, q in zip(run.t.tolist(), run["q1"].tolist(), strict=True))
    (tmp_path / "run.csv").write_text(f"t;q1;light\n{rows}\n")
    series = {"t": run.t, "q1": run["q1"]}
    frame = UserDict(series)  # as one of pandas, no dictionary
    for data in (series, tmp_path / "run.csv", str(tmp_path / "run.nc"), frame):
        found = kn.fit(PENDULUM, data, ["m2"])
        assert found.x[0] == pytest.approx(1.3, abs=1e-6)
    (tmp_path / "other.csv").write_text("t,light\n0,1\n1,1\n")
    with pytest.raises(kn.ArgumentError, match=r"other.csv: expected series that the model has, q1, .*, found light\."):
        kn.fit(PENDULUM, tmp_path / "other.csv", ["m2"])


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    system = kn.loads(
        "model oscillator; parameters m = 1, k = 9, d = 0.4; M | Sx(q) = m; spring s = k on q; damper b = d on q;\n"
        "initial q = 1;"
    )
    run, rng, held = kn.simulate(system, 5.0, samples=40), np.random.default_rng(3), 0
    for _ in range(40):
        fit = kn.fit(
            system, {"q": run["q"] + 0.02 * rng.standard_normal(40)}, ["k", "d"], t=run.t, level=0.8, rtol=1e-7
        )
        held += int(((fit.interval[:, 0] < [9, 0.4]) & (fit.interval[:, 1] > [9, 0.4])).sum())
    assert 52 <= held <= 74  # of 80, at a level of 0.8


def test_a_closed_mechanism_is_fitted() -> None:
    system = example("fourbar")
    run = kn.simulate(system, 0.4, samples=51)
    fit = kn.fit(system, run, ["mb", "a"], p={"mb": 2.2, "a": 0.3001})
    assert np.allclose(fit.x, [2.3, 0.3], rtol=1e-6)


@pytest.mark.slow
def test_a_stone_that_rolls_is_fitted_from_starts_that_follow_its_surface() -> None:
    stone = example("rattleback")
    goal = kn.objective(stone, 0.2, ["a", "c"], final=kn.symbol("x") ** 2 + kn.symbol("s.wz"), rtol=1e-10)
    h = 1e-7 * np.eye(2)
    differences = [(goal(goal.x0 + d) - goal(goal.x0 - d)) / 2e-7 for d in h]
    assert goal.gradient(goal.x0) == pytest.approx(differences, rel=1e-5)
    again = kn.objective(
        stone, 0.2, ["a", "c"], final=kn.symbol("x") ** 2 + kn.symbol("s.wz"), rtol=1e-10, adjoint=True
    )
    assert again.gradient(goal.x0) == pytest.approx(differences, rel=1e-5)
    at = goal.start.at(goal.x0 + np.array([0.0, 1e-5]), 0.0)
    moved = [
        n for n, x, y in zip(stone.q_names, at.q, goal.start.at(goal.x0, 0.0).q, strict=True) if abs(x - y) > 1e-12
    ]
    assert moved == ["z"]
    t = np.linspace(0.0, 0.2, 9)
    data = kn.sensitivity(stone, (0.0, 0.2), ["c"], q=at.q, v=at.v, p={"c": goal.x0[1] + 1e-5}, t_eval=t).value("z")
    assert kn.fit(stone, {"z": data}, ["c"], t=t).x[0] == pytest.approx(goal.x0[1] + 1e-5, abs=1e-9)


def test_what_a_motion_never_meets_changes_no_derivative() -> None:
    text = (
        "gravity 9.81; parameters k = 5, s = 0; A | Ry(q), Sx(1) = 1; spring c = k on q; initial q = 0.3; output A.z{};"
    )
    more = "limit stop : q <= 3; contact floor : point between A and ground at (0, 0, -1.2) axis (0, 0, 1), friction = 0.2;"
    more += "when far : q >= 2.9 : s = 1;"
    plain = kn.sensitivity(kn.loads(text.format("")), 1.0, ["k", "q"], samples=5)
    held = kn.loads(text.format(", force = lambda.stop.upper") + more)
    found = kn.sensitivity(held, 1.0, ["k", "q"], samples=5, goals={"pressed": kn.symbol("lambda.floor.n") + 1})
    assert np.allclose(found["A.z"], plain["A.z"], rtol=1e-12)
    assert not found["force"].any()
    assert found.value("pressed")[-1] == pytest.approx(1.0)
    assert (found.notes, plain.notes) == (("stop, floor, far: never met in this motion",), ())


T = np.linspace(0, 1, 5)
NAMED = kn.loads("parameters m = 1; let J = 2*m; Hull | Free(b) = m, J, J, J; output energy;")
SENTENCES: list[tuple[Any, str]] = [
    (
        lambda: kn.sensitivity(NAMED, 1.0, ["b.z"]),
        "'b.z' to vary. Variations of the motion 'b' are in the axes of its body: did you mean b.Sz, a shift along an axis",
    ),
    (lambda: kn.sensitivity(NAMED, 1.0, ["b.qx"]), "did you mean b.Rx, b.Ry, b.Rz, turns about the axes of the body?"),
    (
        lambda: kn.sensitivity(NAMED, 1.0, ["J"]),
        "'J' to vary. 'J' stands for 2*m by 'let' or 'with'; change 'm' instead.",
    ),
    (lambda: kn.sensitivity(PENDULUM, 1.0, ["m3"]), "has no parameter, coordinate or speed 'm3' to vary."),
    (lambda: kn.sensitivity(PENDULUM, 1.0, ["m1"], keep=["q3"]), "found 'q3', which is no coordinate or speed."),
    (lambda: kn.sensitivity(PENDULUM, 1.0, ["q1"], keep=["q1"]), "found 'q1', which varies."),
    (lambda: kn.sensitivity(PENDULUM, 1.0, []), "Expected names of what varies, found none"),
    (lambda: kn.sensitivity(PENDULUM, 1.0, ["m1", "m1"]), "Expected each name once, found 'm1' twice."),
    (lambda: kn.sensitivity(PENDULUM, 1.0, ["m1"], method="Radau"), "Expected a native method"),
    (lambda: kn.sensitivity(PENDULUM, 1.0, ["m1"], goals={"a": 3}), "Expected goals as expressions by name"),
    (lambda: kn.sensitivity(PENDULUM, 1.0, ["m1"])["q3"], "there is no series 'q3'."),
    (
        lambda: kn.sensitivity(example("fourbar"), 1.0, ["theta", "beta"]),
        "the initial value of 'beta' follows from the constraints and others; take one of theta",
    ),
    (lambda: kn.objective(PENDULUM, 1.0, ["m1"]), "Expected a goal: integral=..., final=..., or both, found none."),
    (lambda: kn.objective(PENDULUM, 1.0, ["m1"], final=3), "Expected an expression for final, found 3."),
    (
        lambda: kn.objective(PENDULUM, 1.0, ["m1"], final=kn.symbol("q1"))([1, 2]),
        "Expected finite x of shape (1,) for (m1)",
    ),
    (
        lambda: kn.objective(example("ball_tree"), 1.0, ["j1.Rx"], final=kn.symbol("j1.qx")),
        "is a small change and has no value",
    ),
    (lambda: kn.fit(PENDULUM, {}, ["m1"], t=T), "Expected data to fit, found none"),
    (lambda: kn.fit(PENDULUM, 3, ["m1"], t=T), "a run, or the path of a table or run for the data, found 3."),
    (lambda: kn.fit(PENDULUM, {"q1": T}, ["m1"]), "Expected the times t of the data, found none."),
    (
        lambda: kn.fit(PENDULUM, {"q1": T[:3]}, ["m1"], t=T),
        "Expected the series 'q1' of shape (5,), as the times",
    ),
    (lambda: kn.fit(PENDULUM, {"q3": T}, ["m1"], t=T), "the series 'q3' has the unknown symbol 'q3'."),
    (lambda: kn.fit(PENDULUM, {"q1": T}, ["m1"], t=T[::-1]), "Expected times t in rising order"),
    (
        lambda: kn.fit(PENDULUM, {"q1": T[:2]}, ["m1", "m2"], t=T[:2]),
        "Expected more data than the 2 values that are fitted",
    ),
    (lambda: kn.fit(PENDULUM, {"q1": T}, ["m1"], t=T, sigma=0), "Expected a standard deviation above 0"),
    (
        lambda: kn.fit(PENDULUM, {"q1": T}, ["m1"], t=T, bounds={"m1": (2, 3)}),
        "Expected bounds (lowest, highest) around m1 = 1",
    ),
    (lambda: kn.fit(PENDULUM, {"q1": T}, ["m1", "m2"], t=T), "The data do not tell m1, m2 apart"),
    (lambda: kn.fit(PENDULUM, {"q1": np.where(T > 0.5, np.inf, T)}, ["m1"], t=T), "nothing was measured, found inf."),
    (lambda: kn.objective(PENDULUM, 1.0, ["m1"], final="q1"), "write kn.symbol('q1')"),
    (
        lambda: kn.objective(PENDULUM, 1.0, ["m1"], final=kn.sqrt(kn.symbol("q1") - 9))([1.0]),
        "the goal has no finite value at m1 = 1",
    ),
    (
        lambda: kn.objective(PENDULUM, 1.0, ["m1"], integral=kn.sqrt(kn.symbol("q1") - 0.5), q=[0.5, 0.0])([1.0]),
        "is not finite in the initial state",
    ),
    (lambda: kn.objective(PENDULUM, 1.0, ["m1"], final=kn.symbol("q1"))([-1.0]), "expected zero or more"),
    (
        lambda: kn.sensitivity(PENDULUM, 1.0, ["m1"], goals={"q1": kn.symbol("q2")}),
        "has a series 'q1' of its own; give the goal 'q1' another name",
    ),
    (
        lambda: kn.fit(PENDULUM, {"q1": T}, ["m1"], t=T, t0=2.0),
        "Expected a start t0 before the data, which begin at 0 s",
    ),
]


@pytest.mark.parametrize(("call", "message"), SENTENCES, ids=[text[:40] for _, text in SENTENCES])
def test_what_makes_no_sense_gets_a_sentence(call: Any, message: str) -> None:
    with pytest.raises(kn.KinetaError) as caught:
        call()
    assert message in str(caught.value)


def test_a_fit_that_meets_its_bounds_says_so_and_stays_within() -> None:
    falling = kn.loads("parameters c = 1; coordinates z; Ball | Sz(z) = m(1); force f = -c on z;")
    t = np.linspace(0.0, 1.0, 20)
    noise = 1e-2 * np.random.default_rng(0).standard_normal(20)
    found = kn.fit(falling, {"z": -0.75 * t**2 + noise}, ["c"], t=t, bounds={"c": (0.5, 1.1)})
    assert (found.x[0], found.interval[0, 1]) == (pytest.approx(1.1), 1.1)
    assert found.interval[0, 0] < 1.1
    assert found.notes == (
        "c = 1.1 is at its bound, where its interval is cut off; without it the fit would go further",
    )
    assert kn.fit(falling, {"z": -0.75 * t**2 + noise}, ["c"], t=t).notes == ()


def test_pictures_are_drawn() -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    run = kn.simulate(PENDULUM, 0.5, samples=21)
    figures = [
        kn.sensitivity(PENDULUM, 0.5, ["m1"], samples=5).plot("q1", "second.x", "q2"),
        kn.fit(PENDULUM, run, ["m1"]).plot(),
    ]
    assert [len(f.axes) for f in figures] == [3, 2]
    assert [ax.get_ylabel() for ax in figures[0].axes] == ["q1 [rad]", "second.x [m]", "q2 [rad]"]
    assert figures[0].axes[0].get_title() == "by m1 [kg]"
    for figure in figures:
        plt.close(figure)


def test_a_start_off_its_constraints_is_refused_by_objectives_as_by_sensitivity() -> None:
    fourbar = kn.loads(
        """gravity (0, -9.81, 0); parameters m = 1; A | Rz(p) = m(m), Jz(0.1); B ~ A | Sx(0.4), Rz(q - p) = m(1), Jz(0.1);
        C | Sx(1), Rz(r) = m(1), Jz(0.1); coordinates p, q, r; initial p = 1.1;
        loop L : revolute between B at (0.9, 0, 0) axis (0, 0, 1) and C at (0.6, 0, 0);"""
    )
    goal = kn.symbol("p'") ** 2
    for task in (
        lambda: kn.sensitivity(fourbar, 0.1, ["m"]),
        lambda: kn.objective(fourbar, 0.1, ["m"], integral=goal),
    ):
        with pytest.raises(kn.SimulationError, match=r"the start misses the constraint 'L\.x'.* let kn\.assemble"):
            task()
    found = kn.assemble(fourbar)
    assert kn.objective(fourbar.replace(initial=found.initial), 0.1, ["m"], integral=goal)([1.0]) > 0


DRAGGED = """
parameters m = 1 kg, c = 0.3 kg/m, F = 2 N, g = 9.81 m/s^2, l = 0.7 m;
coordinates x, y;
P | Sx(x), Sy(y) = m;
force air on P = -c*|v(P)|*v(P);
"""


@pytest.mark.parametrize("more", ["", "force beside = table(t; (0 s, 0 N), (2 s, 0 N)) on y;"], ids=["smooth", "table"])
def test_drag_from_rest_has_the_derivatives_of_its_closed_form(more: str) -> None:
    """x = m/c log cosh(w t), w = sqrt(F c)/m: |v| v has the derivative 0 at rest."""
    found = kn.sensitivity(
        kn.loads(f"{DRAGGED} force push on P = (F, 0, 0); {more}"), 1.0, ["c", "F"], samples=3, **CLOSE
    )
    m, c, F, t = 1.0, 0.3, 2.0, found.t
    w = np.sqrt(F * c) / m
    by_w = m / c * t * np.tanh(w * t)
    by_c = -m / c**2 * np.log(np.cosh(w * t)) + by_w * w / (2 * c)
    assert np.abs(found["x"] - np.stack([by_c, by_w * w / (2 * F)], axis=1)).max() < 1e-10


def test_drag_on_a_chain_at_rest_has_derivatives_forth_and_back() -> None:
    model = kn.loads(
        "parameters m = 1 kg, c = 0.3 kg/m, l = 0.7 m, g = 9.81 m/s^2; gravity (0, 0, -g);"
        "A | Ry(q1), Sz(-l) = m; B ~ A | Rx(q2), Sz(-l) = m; initial q1 = 0.4, q2 = 0.3;"
        "force air on A = -c*|v(A)|*v(A); force wind on B = -c*|v(B)|*v(B);"
    )
    by = ["c", "m", "q1", "q2'"]
    forth, back = (kn.objective(model, 0.3, by, adjoint=a, final=kn.symbol("B.x"), **CLOSE) for a in (False, True))
    gradient = forth.gradient(forth.x0)
    assert np.abs(gradient - back.gradient(back.x0)).max() < 1e-10
    h = 1e-4 * np.eye(len(by))
    slopes = [(forth(forth.x0 + step) - forth(forth.x0 - step)) / 2e-4 for step in h]
    assert np.abs(gradient - slopes).max() < 1e-7


def test_drag_of_any_power_above_one_has_derivatives_at_rest_forth_and_back() -> None:
    """Of a velocity in the plane, and by the exponent."""
    model = kn.loads(
        "parameters c = 0.3, F = 2, a = 1.3; coordinates x, y; P | Sx(x), Sy(y) = 1; force push on P = (F, 0, 0);"
        "force air on P = -c*sqrt(|v(P)|)*v(P); force oil = -c*y'*abs(y')^(a - 1) + F*x - c*sign(x')*abs(x')^a on y;"
    )
    by = ["c", "F", "a"]
    forth, back = (kn.objective(model, 0.4, by, adjoint=a, final=kn.symbol("y"), **CLOSE) for a in (False, True))
    gradient = forth.gradient(forth.x0)
    assert np.abs(gradient - back.gradient(back.x0)).max() < 1e-9
    slopes = [(forth(forth.x0 + step) - forth(forth.x0 - step)) / 2e-4 for step in 1e-4 * np.eye(len(by))]
    assert np.abs(gradient - slopes).max() < 1e-7


#: A force on the mass at rest, and what is said of it.
CORNERS = [
    (
        "force rub on P = (-c*|v(P)|*(1 m/s), 0, 0);",
        "stays where '|v(P)|' of 'rub' (<text>:1:96) has a corner or jumps, at t = 0 s",
    ),
    ("force rub = -F*|x|/(1 m) on x;", "stays where 'abs(x)' of 'rub' (<text>:1:96) has a corner or jumps, at t = 0 s"),
    (
        "force rub = -F*sqrt(x/(1 m)) on x;",
        "'sqrt(x)' of 'rub' (<text>:1:96) needs x > 0 for its slope, and x = 0 at t = 0 s",
    ),
    (
        "force rub = -F*sqrt(x/(1 m)) on x; force beside = table(t; (0 s, 0 N), (2 s, 1 N)) on y;",
        "the derivatives have no value near t = 0 s: 'sqrt(x)' of 'rub' (<text>:1:96) needs x > 0 for its slope",
    ),
]


@pytest.mark.parametrize(("force", "sentence"), CORNERS)
def test_a_corner_or_a_steep_force_at_rest_is_named(force: str, sentence: str) -> None:
    model = f"parameters m = 1 kg, c = 1 kg/m, F = 2 N; coordinates x, y; P | Sx(x), Sy(y) = m;        {force}"
    with pytest.raises(kn.SimulationError) as caught:
        kn.sensitivity(kn.loads(model), 0.5, ["x", "c"])
    assert sentence in str(caught.value)


def test_drag_has_an_equilibrium_at_rest() -> None:
    held = "spring s = c*(1 m/s^2) on x; spring w = c*(1 m/s^2) on y;"
    assert kn.equilibrium(kn.loads(DRAGGED + held)).stability.stable
