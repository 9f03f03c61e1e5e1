"""Runs: closed forms by every method, balance of energy, unit quaternions, ends before the end."""

from __future__ import annotations

import math
import re
import signal
import sys
import time
import warnings
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.arrays import FloatArray
from kineta.equations.equations import equations_of
from kineta.errors import MissingPackageError
from kineta.integration.solver import ADAPTIVE
from kineta.runtime.compiled import CompiledSystem, bind_system
from kineta.runtime.constraint_treatment import FREE
from kineta.runtime.implicit_methods import jacobian
from kineta.runtime.parameter_checks import parameters
from kineta.simulation.progress import Progress
from kineta.simulation.run import StallWatch
from tests.models import OSCILLATOR, PENDULUM, block
from tests.support import EXAMPLES, slow

SATELLITE = kn.load(EXAMPLES / "free_satellite.kin")
x = kn.symbol("x")


# -- methods -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ADAPTIVE)
def test_every_method_meets_the_closed_form(method: str) -> None:
    times = np.linspace(0, 3, 17)
    result = kn.simulate(OSCILLATOR, 3.0, method=method, t_eval=times, dense_output=True, rtol=1e-8, atol=1e-10)
    exact = np.array([np.cos(2 * times), -2 * np.sin(2 * times)])
    assert (result.method, result.status) == (method, 0)
    assert np.array_equal(result.t, times)
    assert result.y == pytest.approx(exact, abs=2e-6)
    assert result.sol(times) == pytest.approx(result.y, abs=1e-15)
    assert result.sol(1.0).shape == (2,)
    back = kn.simulate(OSCILLATOR, (3.0, 0.0), method=method, q=exact[:1, -1], v=exact[1:, -1], rtol=1e-8, atol=1e-10)
    assert back.t[[0, -1]] == pytest.approx([3, 0], abs=0)
    assert back.y[:, -1] == pytest.approx([1, 0], abs=2e-6)


def test_a_stiff_system_by_cvode() -> None:
    d = k = 1e6
    given = {"d": d, "k": k}
    system = kn.loads(
        "model stiff; coordinates x; parameters d, k; it | Sx(x) = 1; spring s = k on x - cos(t); damper r = d on x';"
    )
    result = kn.simulate(system, 10.0, method="CVODE", p=given, rtol=1e-8, atol=1e-10, samples=21)
    forced = k / (k - 1 + 1j * d)  # x = forced exp(it) + slow exp(at) + fast exp(bt)
    a, b = np.roots([1, d, k])[::-1]
    slow, fast = np.linalg.solve([[1, 1], [a, b]], [-forced.real, forced.imag])
    exact = (forced * np.exp(1j * result.t)).real + slow * np.exp(a * result.t) + fast * np.exp(b * result.t)
    assert result.q[:, 0] == pytest.approx(exact, abs=1e-6)
    explicit = kn.simulate(system, 0.1, p=given)
    assert explicit.nfev > 20 * result.nfev


@pytest.mark.parametrize("method", ["CVODE", "CVODE_ADAMS"])
@pytest.mark.parametrize("dense", [False, True])
def test_cvode_is_sampled_by_its_own_interpolation(method: str, dense: bool) -> None:
    steps = kn.simulate(OSCILLATOR, 3.0, method=method)
    samples = kn.simulate(OSCILLATOR, 3.0, method=method, samples=401, dense_output=dense)
    here, between = (np.abs(r.q[:, 0] - np.cos(2 * r.t)).max() for r in (steps, samples))
    assert samples.steps == steps.steps
    assert between < 20 * here


#: Methods that go on from several steps before.
SEVERAL = ("BDF", "LSODA", "CVODE", "CVODE_ADAMS", "IDA")


@pytest.mark.parametrize("method", SEVERAL)
def test_the_work_of_an_easy_motion_is_as_exact_as_the_motion(method: str) -> None:
    """x = t^2/2 - t^3/3, whose power is of a higher degree."""
    system = kn.loads("A | Sx(x) = 3; coordinates x; force f = 3*(1-2*t) on x;")
    run = kn.simulate(system, 0.45, method=method)
    assert run.success
    assert run.work[-1] == pytest.approx(1.5 * (0.45 - 0.45**2) ** 2, rel=1e-6)


@pytest.mark.parametrize("method", [method for method in ADAPTIVE if method not in SEVERAL])
def test_the_work_does_not_steer_the_steps(method: str) -> None:
    """The same spring as an element with a potential, and as a force that does work."""
    forced = kn.loads("model f; coordinates x; block | Sx(x) = 1; force s = -4*x on x; initial x = 1;")
    conservative, working = (kn.simulate(s, 2.0, method=method, rtol=1e-6) for s in (OSCILLATOR, forced))
    assert (conservative.work.any(), working.work.any()) == (False, True)
    assert working.steps == pytest.approx(conservative.steps, rel=0.05)
    assert working.t == pytest.approx(conservative.t, rel=0.01)


@pytest.mark.slow
def test_the_jacobian_is_that_of_the_rate() -> None:
    system = kn.load(EXAMPLES / "cart_pendulum.kin")
    forces = {"q1'": -2 * kn.symbol("q1") * kn.symbol("q2'")}
    equations = kn.derive(system)
    run = bind_system(equations, parameters(system, None), forces, [], FREE)
    t, y, exact = 0.3, np.array([0.1, 0.7, -0.4, 1.3, 0.0]), jacobian(equations, run)
    assert run.code.layout.works == 1
    for i in range(len(y)):
        up, down = (run.code.rate(np.array([t]), y + s * np.eye(5)[i], run.h) for s in (1e-6, -1e-6))
        assert exact(t, y)[:, i] == pytest.approx((up - down) / 2e-6, abs=1e-7)


def test_the_jacobian_of_a_rate_with_a_corner_is_finite() -> None:
    equations = kn.derive(block("-sqrt(x)", "x = 0"))
    assert np.array_equal(
        jacobian(equations, bind_system(equations, np.empty(0), None, [], FREE))(0.0, np.zeros(3))[1], [0, 0, 0]
    )


def test_methods_of_a_missing_package_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sksundae", None)
    with pytest.raises(
        MissingPackageError, match=r"This needs the package 'scikit-sundae': pip install 'kineta\[sundae\]'\."
    ):
        kn.simulate(OSCILLATOR, 1.0, method="CVODE")


# -- what is given -----------------------------------------------------------------------------------------------------


def test_state_parameters_and_forces_by_name_or_in_order() -> None:
    a = kn.simulate(OSCILLATOR, 1.0, q=[0.3], v=[0.2], p=[2.0, 18.0], tau=[0.7])
    b = kn.simulate(kn.derive(OSCILLATOR), 1, q={"x": 0.3}, v={"x'": 0.2}, p={"k": 18, "m": 2}, tau={"x'": 0.7})
    assert np.array_equal(a.y, b.y)
    assert a.parameters == {"m": 2.0, "k": 18.0}
    rest = 0.7 / 18
    exact = rest + (0.3 - rest) * np.cos(3 * a.t) + 0.2 / 3 * np.sin(3 * a.t)
    assert a.q[:, 0] == pytest.approx(exact, abs=1e-8)


def test_forces_may_be_expressions() -> None:
    result = kn.simulate(OSCILLATOR, 5.0, tau={"x'": -5 * x - 2 * kn.symbol("x'")})
    w = np.sqrt(8)
    exact = np.exp(-result.t) * (np.cos(w * result.t) + np.sin(w * result.t) / w)
    assert result.q[:, 0] == pytest.approx(exact, abs=1e-8)
    assert result.energy_balance < 1e-8
    assert result.work[-1] == pytest.approx(result.energy[-1] - 2, rel=1e-7)


def test_a_row_of_forces_mixes_numbers_and_expressions() -> None:
    robot = kn.load(EXAMPLES / "cart_pendulum.kin")
    q2, rate = kn.symbols("q2 q2'")
    row = kn.simulate(robot, 1.0, tau=[0.5, -3 * q2 - rate])
    named = kn.simulate(robot, 1.0, tau={"q2'": -3 * q2 - rate, "q1'": 0.5})
    assert np.array_equal(row.y, named.y)
    assert not np.array_equal(row.y, kn.simulate(robot, 1.0, tau=0.5).y)


def test_code_is_made_once_for_forces_of_any_size() -> None:
    equations = kn.derive(OSCILLATOR)
    made = {
        id(bind_system(equations, parameters(equations.system, None), tau, [], FREE).code)
        for tau in ({"x'": 0.5}, {"x'": -7}, [2], 3.0, [x - x + 1])
    }
    assert len(made) == 1


def test_equations_of_a_system_are_derived_once() -> None:
    again = kn.loads(kn.dumps(OSCILLATOR))
    assert again is not OSCILLATOR
    assert equations_of(again) is equations_of(OSCILLATOR)
    assert equations_of(again) is not equations_of(PENDULUM)


def test_what_is_recorded() -> None:
    steps = kn.simulate(PENDULUM, 2.0, dense_output=True)
    assert len(steps.t) == steps.steps + 1
    samples = kn.simulate(PENDULUM, 2.0, samples=9)
    assert np.array_equal(samples.t, np.linspace(0, 2, 9))
    assert samples.y == pytest.approx(steps.sol(samples.t), abs=1e-13)
    some = kn.simulate(PENDULUM, 2.0, t_eval=[0.5, 1.25])
    assert np.array_equal(some.t, [0.5, 1.25])
    assert some.y == pytest.approx(samples.y[:, [2, 5]], abs=1e-13)
    assert some.message.startswith("reached t = 2 s; energy balance ")
    assert steps["bob.x"] == pytest.approx(np.sin(steps["q"]), abs=1e-15)
    assert steps["energy"] == pytest.approx(steps.outputs["energy"], rel=1e-15)
    finer = kn.simulate(PENDULUM, 2.0, max_step=0.01)
    assert np.diff(finer.t).max() <= 0.01 * (1 + 1e-9)


# -- laws --------------------------------------------------------------------------------------------------------------


def test_there_and_back_again() -> None:
    there = kn.simulate(SATELLITE, 5.0, rtol=1e-12, dense_output=True)
    back = kn.simulate(SATELLITE, (5.0, 0.0), q=there.q[-1], v=there.v[-1], rtol=1e-12)
    assert back.y[:, -1] == pytest.approx(there.y[:, 0], abs=1e-9)
    assert there.sol(5.0) == pytest.approx(there.y[:, -1], abs=1e-14)  # without the work, though it is integrated too
    assert there.work[-1] < 0
    assert back.work[-1] == pytest.approx(-there.work[-1], rel=1e-8)


def test_a_bead_on_a_driven_rod_takes_the_work_of_the_drive() -> None:
    system = kn.loads("model rod; coordinates r; parameters w = 1.5; bead | Rz(w*t), Sx(r) = 2; initial r = 0.1;")
    result = kn.simulate(system, 2.0, rtol=1e-11)
    r = 0.1 * np.cosh(1.5 * result.t)
    kinetic = (0.15 * np.sinh(1.5 * result.t)) ** 2 + (1.5 * r) ** 2
    assert result.q[:, 0] == pytest.approx(r, rel=1e-9)
    assert result.kinetic_energy == pytest.approx(kinetic, rel=1e-8)
    assert result.work == pytest.approx(kinetic - kinetic[0], abs=1e-8 * kinetic[-1])
    assert result.energy_balance < 1e-9


def test_motion_without_a_coordinate_is_recorded_too() -> None:
    system = kn.loads("model crank; gravity (0, -10, 0); crank | Rz(3*t), Sx(1) = 2; output crank.position;")
    result = kn.simulate(system, 1.0, samples=5)
    assert (result.q.shape, result.v.shape) == ((5, 0), (5, 0))
    assert result["crank.x"] == pytest.approx(np.cos(3 * result.t), abs=1e-14)
    assert result.kinetic_energy == pytest.approx(9, rel=1e-14)
    assert result.work == pytest.approx(20 * np.sin(3 * result.t), abs=1e-7)


@pytest.mark.slow
def test_work_is_the_integral_of_power() -> None:
    system = kn.load(EXAMPLES / "cart_pendulum.kin")
    result = kn.simulate(system, 2.0, dense_output=True, rtol=1e-11)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    times = 1 + nodes
    q, v = np.split(result.sol(times), 2)
    power = kn.derive(system).function("power")(times, q.T, v.T)
    assert result.work[-1] == pytest.approx(weights @ power, rel=1e-8)
    assert result.energy_balance < 1e-9
    assert not kn.simulate(PENDULUM, 1.0).work.any()


@pytest.mark.parametrize("method", ["dop853", "dopri5", "BDF", "CVODE"])
def test_quaternions_stay_units(method: str) -> None:
    events = [kn.symbol("sat.qw"), kn.symbol("sat.qy")]
    result = kn.simulate(SATELLITE, 20.0, method=method, rtol=1e-3, atol=1e-5, dense_output=True, events=events)
    states = [result.y.T, result.sol(np.linspace(0, 20, 333)).T, *result.y_events]
    assert all(len(rows) for rows in states)
    for rows in states:
        assert np.linalg.norm(rows[:, 3:7], axis=1) == pytest.approx(1, abs=1e-15)


# -- limits ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("method", "end", "most"), [("dop853", 7e-4, 2000), ("RK45", 2e-4, 500), ("CVODE", 2e-5, 500)])
def test_no_run_goes_on_for_ever(method: str, end: float, most: int) -> None:
    """A load that changes so fast that steps are short without end."""
    result = kn.simulate(block("sin(1e7*t)", "x' = 1"), 10.0, method=method, max_steps=most)
    assert (result.status, result.success, result.steps) == (4, False, most)
    assert result.t[-1] == pytest.approx(end, rel=0.3)
    assert len(result.t) == most + 1
    assert result.message.startswith(f"out of steps at t = {result.t[-1]:.9g} s: {most} were made, the last of ")
    enough = kn.simulate(OSCILLATOR, 1.0, method=method)
    assert kn.simulate(OSCILLATOR, 1.0, method=method, max_steps=enough.steps).status == 0


@pytest.mark.parametrize("method", ["RK45", "CVODE"])
def test_methods_that_do_not_slide_end_where_friction_holds(method: str) -> None:
    result = kn.simulate(block("-3*sign(x') + sin(t)", "x' = 1"), 10.0, method=method)
    assert (result.status, result.success) == (-1, False)
    assert result.t[-1] == pytest.approx(0.354002408, abs=1e-6)
    assert result.steps < 500
    assert "the method 'dop853' lets it slide there" in result.message


@pytest.mark.slow
def test_a_run_that_does_not_get_on_is_left_soon() -> None:
    """Appell's and Hamel's point comes to rest, and its constraint has no direction there."""
    run = kn.simulate(kn.load(EXAMPLES / "appell_hamel.kin"), 10.0, samples=11)
    assert run.status == 4
    assert run.steps < 1_000_000
    assert re.search(r"and the rest would take \de\+\d\d more; 'sqrt\(x'\^2 \+ y'\^2\)' needs", run.message)


def test_the_memory_of_a_run_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kineta.runtime.run_arguments.MEMORY_LIMIT", 24 * 100)
    assert kn.simulate(OSCILLATOR, 1e3).steps == 100
    assert kn.simulate(OSCILLATOR, 1e3, dense_output=True).steps < 10
    assert kn.simulate(OSCILLATOR, 1e3, max_steps=150).steps == 150
    sampled = kn.simulate(OSCILLATOR, 1e2, samples=11)
    assert (sampled.status, len(sampled.t)) == (0, 11)


# -- ends before the end -----------------------------------------------------------------------------------------------


def test_a_run_backwards_whose_steps_shrink_without_end_says_what_drives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kineta.simulation.run.CHECK_INTERVAL", 1000)
    arm = kn.loads(
        "A | Rz(a), Sx(1) = 1; B ~ A | Rz(b), Sx(1) = 1; coordinates a, b; damper shoulder = 40 on a'; damper elbow = 40 on b';"
    )
    run = kn.simulate(arm, -1.0, v={"a'": 1.0}, samples=3)
    assert run.status == 4
    assert run.steps < 100_000
    assert (
        "backwards in time, dampers, friction and contacts that yield drive what they brake forwards in time: '"
        in run.message
    )


def test_a_pace_that_grows_as_a_power_of_the_time_is_no_stall() -> None:
    watch = StallWatch(0.0, 20.0)
    assert [watch.steps_left(1e-3 * n**0.5, n) for n in range(100_000, 1_000_000, 100_000)] == [0.0] * 9
    growing = StallWatch(0.0, 1.0)
    assert [growing.steps_left(math.log(n) / 100, n) > 0 for n in range(100_000, 500_000, 100_000)] == [
        False,
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("method", ["dop853", "dopri5", "RK45", "LSODA", *slow(["CVODE", "BDF"])])
def test_a_motion_without_bound_ends_with_time_and_reason(method: str) -> None:
    runaway = block("x^3", "x = 1, x' = 1")
    result = kn.simulate(runaway, 10.0, method=method)
    assert (result.status, result.success) == (-1, False)
    assert result.t[-1] == pytest.approx(1.311028777, abs=1e-6)
    assert result.message.startswith("failed at t = 1.3110287")
    assert "; the mass matrix may be singular there, an expression outside its domain, or the motion without bound" in (
        result.message
    )
    assert np.isfinite(result.y).all()
    early = result.t < 1.2
    speeds = np.sqrt((result.q[early, 0] ** 4 + 1) / 2)
    assert result.v[early, 0] == pytest.approx(speeds, rel=1e-5)
    sampled = kn.simulate(runaway, 10.0, method=method, samples=101)
    assert np.array_equal(sampled.t, [*np.linspace(0, 10, 101)[:14], result.t[-1]])
    assert np.array_equal(sampled.y[:, -1], result.y[:, -1])
    case = kn.simulate(runaway, 10.0, method=method, samples=101, v=[[1.0]]).case(0)
    assert np.array_equal(case.t[:-1], sampled.t[:-1])
    assert case.t[-1] == pytest.approx(sampled.t[-1], rel=1e-6)


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("force", ["1e200*x", "exp(700*x)", "-1 - sqrt(x)"])
def test_a_wild_motion_ends_without_a_word_of_numpy(method: str, force: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        warnings.simplefilter("error", RuntimeWarning)
        result = kn.simulate(block(force, "x = 1"), 10.0, method=method, max_steps=300)
    assert not result.success


def test_an_expression_that_leaves_its_domain_ends_the_run() -> None:
    result = kn.simulate(block("-1 - 1e-9*sqrt(x)", "x = 1"), 5.0)
    assert result.status == -1
    assert result.message.startswith("failed at t = 1.41421")
    assert "the accelerations are not finite, however small the step" in result.message
    assert result.q[-1, 0] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("method", ["Radau", "CVODE"])
def test_an_error_of_a_method_keeps_what_was_computed(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls, bound = iter(range(1000)), CompiledSystem.bound_rate

    def failing(code: CompiledSystem, h: FloatArray) -> Any:
        rate = bound(code, h)

        def fails(*given: Any, **out: Any) -> Any:
            if next(calls) > 100:
                raise OverflowError("too large")
            return rate(*given, **out)

        return fails

    monkeypatch.setattr(CompiledSystem, "bound_rate", failing)
    result = kn.simulate(OSCILLATOR, 10.0, method=method)
    assert result.status == -1
    assert len(result.t) > 5
    assert f": {method} cannot go on (OverflowError: too large); " in result.message


@pytest.mark.slow
@pytest.mark.parametrize("method", ADAPTIVE)
def test_every_method_counts_its_evaluations(method: str) -> None:
    result = kn.simulate(OSCILLATOR, 10.0, method=method)
    assert result.nfev > result.steps


@pytest.mark.parametrize("method", ["dopri5", "RK45", "CVODE"])
def test_an_interruption_keeps_what_was_computed(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = iter(range(1000))

    def interrupted(self: Progress, *reached: float) -> None:
        if next(calls) == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Progress, "at", interrupted)
    result = kn.simulate(OSCILLATOR, 1e5, method=method, dense_output=True)
    assert (result.status, result.success) == (2, False)
    assert result.message.startswith(f"interrupted at t = {result.t[-1]:.6g} s; what was computed before is kept")
    assert 0 < result.t[-1] < 1e5
    assert result.y.shape == (2, len(result.t))
    assert result.sol(result.t[-1] / 2) == pytest.approx([np.cos(result.t[-1]), -2 * np.sin(result.t[-1])], abs=1e-3)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal, and no patience."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr("kineta.simulation.progress.DELAY", 0.0)
    monkeypatch.setattr("kineta.simulation.progress.PERIOD", 0.0)


@pytest.mark.usefixtures("terminal")
def test_a_run_shows_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(0.0, 8.0, shown=True) as bar:
        while bar._bar is None:
            time.sleep(0.001)
        bar.at(2.0, 1234, 1.5e-3)
        time.sleep(0.3)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "compiling" in shown.err
    assert "t = 2 s, 1234 steps, the last of 1.5e-03 s" in shown.err
    assert "25%" in shown.err


@pytest.mark.usefixtures("terminal")
def test_a_run_that_is_compiled_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def slow(*given: Any) -> Any:
        time.sleep(0.3)
        return bind_system(*given)

    monkeypatch.setattr("kineta.simulation.simulate.bind_system", slow)
    kn.simulate(PENDULUM, 1.0, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "compiling" in shown.err
    kn.simulate(PENDULUM, 1.0)
    assert capsys.readouterr().err == ""


def test_a_solver_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    wild = kn.loads("coordinates x; A | Sx(x) = 1; force f = 1e200*x on x; initial x = 1;")
    assert kn.simulate(wild, 1.0, method="CVODE").status == -1
    assert capfd.readouterr() == ("", "")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_model_that_only_the_time_moves_runs_by_every_method(method: str) -> None:
    rotor = kn.loads("parameters m = 1; A | Rz(3*t), Sx(1) = m; output A.x;")
    result = kn.simulate(rotor, 1.0, method=method, samples=5, events=kn.symbol("t") - 0.25)
    assert result.success
    assert result["A.x"] == pytest.approx(np.cos(3 * result.t))
    assert result.t_events[0] == pytest.approx([0.25])
    many = kn.simulate(rotor, 1.0, method=method, samples=5, p={"m": [1.0, 2.0]})
    assert many.success
    assert many.q.shape == (2, 5, 0)
