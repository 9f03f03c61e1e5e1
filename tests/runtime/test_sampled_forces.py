"""Forces held between samples: what is asked when, what acts until when, and what a run keeps of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.integration.solver import ADAPTIVE
from tests.models import OSCILLATOR
from tests.support import EXAMPLES

CART = kn.load(EXAMPLES / "cart_pendulum.kin")
MASS = kn.loads("model mass; coordinates x; it | Sx(x) = 2;")
x, rate = kn.symbols("x x'")


def held_from(times: Any, forces: Any, t: Any, x0: float = 0.0, v0: float = 0.0) -> Any:
    """The place at *t* of two kilograms under *forces*, each from its time on."""
    edges = np.append(times, np.inf)
    for start, end, force in zip(edges[:-1], edges[1:], forces, strict=True):
        lasted = np.clip(t, start, end) - start
        x0, v0 = x0 + v0 * lasted + force / 4 * lasted**2, v0 + force / 2 * lasted
    return x0


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_function_is_asked_at_its_rate_and_held(method: str) -> None:
    asked: list[tuple[float, float, float]] = []

    def control(t: float, q: Any, v: Any) -> float:
        asked.append((t, q[0], v[0]))
        q[:] = v[:] = np.nan  # they are the function's own
        return float(np.cos(7 * t))

    grid, times = np.arange(67) / 32, np.arange(17) / 8
    run = kn.simulate(MASS, grid[-1], tau=kn.sampled(control, 8.0), method=method, t_eval=grid)
    assert np.array_equal([a[0] for a in asked], times)
    assert run["x"] == pytest.approx(held_from(times, np.cos(7 * times), run.t), abs=1e-8)
    assert [a[1] for a in asked] == pytest.approx(run["x"][:65:4], abs=1e-12)
    assert [a[2] for a in asked] == pytest.approx(run["x'"][:65:4], abs=1e-12)
    assert np.array_equal(run["tau[x']"], np.repeat(np.cos(7 * times), 4)[:67])
    assert run.units["tau[x']"] == "N"
    assert run.energy_balance < 1e-6


def test_what_was_held_is_recorded_and_does_work(tmp_path: Path) -> None:
    run = kn.simulate(OSCILLATOR, 3.0, tau=kn.sampled(lambda t, q, v: -3 * q[0] - 2 * v[0], 25), dense_output=True)
    assert run.energy_balance < 1e-12
    assert run.work[-1] == pytest.approx(run.energy[-1] - 2, rel=1e-9)
    assert np.array_equal(run.tau[:, 0], run["tau[x']"])
    accelerations = kn.derive(OSCILLATOR).function("forward")(run.t, run.q, run.v, run.tau)
    assert accelerations[:, 0] == pytest.approx(run["tau[x']"] - 4 * run["x"], abs=1e-12)
    assert run.sol(run.t) == pytest.approx(run.y, abs=1e-12)
    run.save(tmp_path / "run.nc")
    assert np.array_equal(kn.load_result(tmp_path / "run.nc").tau, run.tau)


def test_rows_are_held_from_their_times_on() -> None:
    times, forces = np.array([-1.0, 0.3, 0.9, 5.0]), np.array([1.0, -2.0, 4.0, 9.0])
    run = kn.simulate(MASS, 2.0, tau=kn.sampled(times, forces), samples=41)
    assert run["x"] == pytest.approx(held_from([0, 0.3, 0.9], forces[:3], run.t), abs=1e-12)
    assert run["tau[x']"][[0, 5, 6, 17, 18, 40]].tolist() == [1, 1, -2, -2, 4, 4]
    back = kn.simulate(MASS, (2.0, 0.0), q=run.q[-1], v=run.v[-1], tau=kn.sampled(times, forces), samples=41)
    assert back["x"] == pytest.approx(run["x"][::-1], abs=1e-12)
    steady = kn.simulate(MASS, 2.0, tau=kn.sampled(forces[:3], 4.0), samples=9)
    assert steady["tau[x']"].tolist() == [1, -2, 4, 4, 4, 4, 4, 4, 4]


@pytest.mark.parametrize("given", [{}, {"samples": 21}, {"dense_output": True}, {"samples": 21, "v": [[0.0], [0.5]]}])
@pytest.mark.parametrize("text", ["", "limit stop : x <= 0.05; friction dry = 0.1 on x;"])
@pytest.mark.parametrize("table", [True, False])
def test_a_row_at_a_sample_shows_forces_and_what_they_do(text: str, table: bool, given: dict[str, Any]) -> None:
    system = kn.loads(
        f"M | Sx(x) = 2; coordinates x; output a = x'', f = {'lambda.dry - lambda.stop.upper' if text else 0}; {text}"
    )
    held = kn.sampled(1 + np.sin(np.arange(10.0)), 10) if table else kn.sampled(lambda t, q, v: 1 + np.sin(10 * t), 10)
    run = kn.simulate(system, 1.0, tau=held, **given)
    for own in [run] if run.cases is None else map(run.case, range(2)):
        assert 2 * own["a"] == pytest.approx(own["tau[x']"] + own["f"], abs=1e-12)


def test_backwards_the_rate_counts_from_the_start() -> None:
    asked: list[float] = []
    kn.simulate(MASS, (1.0, 0.5), tau=kn.sampled(lambda t, q, v: asked.append(t) or 0.0, 8))
    assert asked == [1.0, 0.875, 0.75, 0.625]


def test_some_speeds_are_held_at_rates_of_their_own() -> None:
    asked: dict[str, list[float]] = {"slow": [], "fast": []}

    def control(name: str) -> Any:
        return lambda t, q, v: asked[name].append(t) or 0.1 * t

    q2 = kn.symbol("q2")
    both = kn.simulate(CART, 1.0, tau=[kn.sampled(control("slow"), 2), kn.sampled(control("fast"), 4)], samples=9)
    assert asked == {"slow": [0, 0.5], "fast": [0, 0.25, 0.5, 0.75]}
    assert both.tau[:, 0].tolist() == pytest.approx([0, 0, 0, 0, 0.05, 0.05, 0.05, 0.05, 0.05])
    mixed = kn.simulate(CART, 1.0, tau={"q1'": kn.sampled([[0.5], [0.1]], 2), "q2'": -q2}, samples=9)
    assert mixed.tau[:, 0].tolist() == [0.5] * 4 + [0.1] * 5
    assert mixed.tau[:, 1] == pytest.approx(-mixed["q2"], abs=1e-15)
    table = kn.simulate(CART, 1.0, tau=kn.sampled([[0.5, 0], [0.1, 1]], 2), samples=9)
    named = kn.simulate(CART, 1.0, tau=kn.sampled(lambda t, q, v: {"q1'": 0.5} if t < 0.5 else [0.1, 1], 2), samples=9)
    assert np.array_equal(table.y, named.y)


@pytest.mark.slow
def test_parameters_and_quaternions_under_a_control() -> None:
    satellite = kn.load(EXAMPLES / "free_satellite.kin")
    lengths: list[float] = []

    def control(t: float, q: Any, v: Any) -> Any:
        lengths.append(float(np.linalg.norm(q[3:7])))
        return {"sat.wx": 0.01 * np.sin(t)}

    run = kn.simulate(satellite, 5.0, tau=kn.sampled(control, 4), method="BDF", rtol=1e-4, atol=1e-6)
    assert lengths == pytest.approx(np.ones(20), abs=1e-15)
    assert run.units["tau[sat.wx]"] == "N*m"
    heavy = kn.simulate(OSCILLATOR, 1.0, p={"m": 3.0}, tau=kn.sampled([1.5], 1))
    assert np.array_equal(heavy.y, kn.simulate(OSCILLATOR, 1.0, p={"m": 3.0}, tau=[1.5]).y)


# -- ends ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["dop853", "RK45"])
def test_events_are_found_once_wherever_the_pieces_end(method: str) -> None:
    """x = t^2 / 4 passes 1/4 where a piece ends, and 1 within one."""
    quarter, one = kn.event(x - 0.25), kn.event(x - 1, terminal=True)
    run = kn.simulate(MASS, 9.0, tau=kn.sampled([1.0] * 9, 1.0), events=[quarter, one, rate - 0.75], method=method)
    assert [len(t) for t in run.t_events] == [1, 1, 1]
    assert np.concatenate(run.t_events) == pytest.approx([1.0, 2.0, 1.5], abs=1e-9)
    assert run.status == 1
    assert run.t[-1] == pytest.approx(2.0, abs=1e-9)


def test_steps_are_limited_over_all_pieces() -> None:
    for method in ("dop853", "RK45"):
        run = kn.simulate(OSCILLATOR, 9.0, tau=kn.sampled(lambda t, q, v: -q[0], 10), method=method, max_steps=25)
        assert (run.status, run.steps) == (4, 25)


def test_an_interrupted_control_interrupts_the_run() -> None:
    def control(t: float, q: Any, v: Any) -> float:
        if t > 0.4:
            raise KeyboardInterrupt
        return 1.0

    run = kn.simulate(MASS, 2.0, tau=kn.sampled(control, 10))
    assert (run.status, run.t[-1]) == (2, 0.5)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (ZeroDivisionError("no more"), "the control raised ZeroDivisionError: no more"),
        (np.nan, "the control gives nan, expected finite numbers"),
        ([1, 2], "the control gives the shape (2,), expected (1,)"),
        ({"x": 1}, "the control gives a force on 'x'. Did you mean 'x''?"),
        ("1 N", "the control gives '1 N', expected numbers"),
    ],
)
def test_a_control_that_fails_ends_the_run_and_keeps_it(answer: Any, why: str) -> None:
    def control(t: float, q: Any, v: Any, start: float = 0.25) -> Any:
        if t < start:
            return 1.0
        if isinstance(answer, Exception):
            raise answer
        return answer

    run = kn.simulate(MASS, 2.0, tau=kn.sampled(control, 4))
    assert (run.status, run.t[-1]) == (-1, 0.25)
    assert run.message.startswith(f"failed at t = 0.25 s: {why}. What was computed before is kept; ")
    with pytest.raises(kn.SimulationError) as caught:
        kn.simulate(MASS, 2.0, tau=kn.sampled(lambda t, q, v: control(t, q, v, 0.0), 4))
    assert str(caught.value) == f"Model 'mass': at t = 0 s {why}{'' if why.endswith('?') else '.'}"
    assert caught.value.__cause__ is None
    assert (caught.traceback[-1].name == "control") == isinstance(answer, Exception)


def test_every_case_has_a_control_of_its_own() -> None:
    tau = kn.sampled(lambda t, q, v: -2 * q[0] - v[0], 5)
    stop = kn.event(x - 0.2, terminal=True, direction=-1)
    run = kn.simulate(OSCILLATOR, 1.0, q=[[1.0], [0.5], [0.3]], tau=tau, events=stop, samples=6)
    assert run.tau.shape == (3, 6, 1)
    for i, start in enumerate((1.0, 0.5, 0.3)):
        one = kn.simulate(OSCILLATOR, 1.0, q=[start], tau=tau, events=stop, samples=6)
        assert np.array_equal(run.case(i).y, one.y)
        assert np.array_equal(run.case(i).tau, one.tau)
    assert run.cases is not None
    assert np.isnan(run.tau[2, run.cases.recorded[2] :]).all()


MISTAKES: list[tuple[Any, str]] = [
    (lambda: kn.sampled(np.cos, 0), "Expected a number of samples a second above 0, found 0."),
    (lambda: kn.sampled(np.cos, [1]), "Expected a number of samples a second above 0, found [1]."),
    (lambda: kn.sampled([], 3), "Expected samples of shape (m,) or (m, speeds), found shape (0,)."),
    (lambda: kn.sampled(["a"], 3), "Expected numbers for the samples, found ['a']."),
    (lambda: kn.sampled([0, 2, 1], [1, 2, 3]), "Expected times of the samples in rising order, found 1 after 2 (number 3 of 3)."),
    (lambda: kn.sampled([0, 1], [1, 2, 3]), "Expected 3 times for as many samples, found shape (2,)."),
    (lambda: kn.sampled([1, np.nan], 10), "Expected finite samples, found nan as sample 2 of 2."),
    (
        lambda: kn.simulate(CART, 1.0, tau=kn.sampled(np.ones((4, 3)), 1)),
        "Expected samples of shape (m,) or (m, 2) for (q1', q2'), found shape (4, 3).",
    ),
    (
        lambda: kn.simulate(MASS, (0.5, 2), tau=kn.sampled([1.0, 2.0], [3.0, 4.0])),
        "Expected samples from t = 0.5 s on, found the first at t = 1 s.",
    ),
    (
        lambda: kn.simulate(CART, 1.0, tau={"q1'": lambda t, q, v: 0}),
        "Expected the force on 'q1'' as numbers or expressions, found a Python function; "
        "kineta.sampled(f, rate) calls it at a rate.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "sentence"), MISTAKES)
def test_samples_that_make_no_sense_are_named(mistake: Any, sentence: str) -> None:
    with pytest.raises(kn.ArgumentError) as caught:
        mistake()
    assert str(caught.value) == sentence


@pytest.mark.slow
def test_accelerations_know_sampled_forces_from_the_start() -> None:
    pendulum = kn.loads("gravity 9.81; A | Ry(q), Sx(1) = 1; initial q = 0.3; output q'';")
    run = kn.simulate(pendulum, 1.0, samples=5, tau=kn.sampled(lambda t, q, v: np.array([3 - q[0]]), 7.0))
    assert run["q''"][0] == pytest.approx(9.81 * np.cos(0.3) + 2.7)
    assert kn.kinematics(pendulum, run)["q''"] == pytest.approx(run["q''"])
