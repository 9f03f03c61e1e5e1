"""Motion under constraints: kept to rounding, past singular positions, whichever of them are redundant."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import kineta as kn
from kineta.consistency.consistent_state import consistent_state
from kineta.consistency.constraints import NumericConstraints
from kineta.consistency.redundancy import Redundancy, find_redundancy
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, KinetaWarning, SimulationError
from kineta.numerics.linear_algebra import nearest, unit_rows
from kineta.tolerances import EPS
from tests.mechanics.truth import load
from tests.support import EXAMPLES

ROD = """gravity (0, -9.81, 0); A | Sx(x), Sy(y) = 1; coordinates x, y; constraint rod : x^2 + y^2 = 1;
initial x = 0.6, y = -0.8;"""

CRANK = """gravity (0, -9.81, 0); parameters l = 1;
A | Rz(a) = m(1), Jz(0.1), com = (0.5, 0, 0); B ~ A | Sx(1), Rz(b) = m(1), Jz(0.1), com = (0.5, 0, 0);
coordinates a, b; point E on B = (l, 0, 0); constraint slide : E.y = 0; initial a = 0.3, a' = 4;"""


def parallelograms(windows: int) -> kn.System:
    """Rods that stand side by side, joined at their tops (IFToMM A02), all moving to the right."""
    rods = range(windows + 1)
    text = "gravity (0, -9.81, 0);"
    for k in rods:
        text += f"A{k} | Sx({k}), Rz(a{k}) = m(1), Jz(1/12), com = (0, 0.5, 0);"
    for k in rods[:-1]:
        text += f"C{k} ~ A{k} | Sy(1), Rz(c{k}) = m(1), Jz(1/12), com = (0.5, 0, 0);"
        text += (
            f"loop P{k} : revolute between C{k} at (1, 0, 0) axis (0, 0, 1) and A{k + 1} at (0, 1, 0) axis (0, 0, 1);"
        )
    text += f"coordinates {', '.join(f'a{k}, c{k}' for k in rods[:-1])}, a{windows};"
    return kn.loads(text)


def rates(system: kn.System, v0: float) -> dict[str, float]:
    return {name: -v0 if name.startswith("a") else v0 for name in system.v_names}


def missed(result: kn.Result, system: kn.System) -> float:
    levels = kn.derive(system).function("constraints", "numpy")
    rows = zip(result.t, result.q, result.v, strict=True)
    return float(np.abs([levels(t, q, v) for t, q, v in rows]).max())


@pytest.mark.parametrize("method", ["dop853", "dopri5"])
def test_native_methods_keep_to_constraints(method: str) -> None:
    result = kn.simulate(kn.loads(ROD), 10.0, method=method)
    assert result.success
    assert result.residual < 1e-14
    assert result.energy_balance < 1e-7
    # Levels are sums of x^2, y^2 and 1, and of 2 x x' and 2 y y'. An evaluation, compiled or in NumPy, rounds each product and
    # each sum: three units of rounding, eps/2, of the sum of magnitudes, so that two differ by three eps of it at most.
    magnitudes = max(2.0, 2 * np.abs(result.q * result.v).sum(axis=1).max())
    assert missed(result, kn.loads(ROD)) == pytest.approx(result.residual, abs=3 * EPS * magnitudes)


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_other_methods_are_pulled_back_to_constraints(method: str) -> None:
    result = kn.simulate(kn.loads(ROD), 2.0, method=method)
    assert result.success
    assert 1e-15 < result.residual < 1e-7
    native = kn.simulate(kn.loads(ROD), 2.0)
    assert result.y[:, -1] == pytest.approx(native.y[:, -1], abs=1e-6)


@pytest.mark.slow
def test_differential_algebraic_equations_have_the_same_motion() -> None:
    """Under a drive and a force, without accelerations solved for beforehand; and without any constraints."""
    pytest.importorskip("sksundae")
    driven = kn.loads(CRANK.replace("slide :", "slide : -0.05*sin(3*t) +"))
    start = kn.assemble(driven, pinned=["a", "a'"])
    given = {"q": start.q, "v": start.v, "tau": {"a'": -0.1 * kn.symbol("a'")}, "samples": 5}
    native, solved = (kn.simulate(driven, 0.5, method=m, **given) for m in ("dop853", "IDA"))
    assert solved.success, solved.message
    assert solved.y == pytest.approx(native.y, abs=1e-5)
    assert solved.residual < 1e-6
    free = kn.load(EXAMPLES / "double_pendulum.kin")
    ends = [kn.simulate(free, 1.0, method=m, samples=3).q[-1] for m in ("dop853", "IDA")]
    assert ends[1] == pytest.approx(ends[0], abs=1e-6)


def test_a_pendulum_in_absolute_coordinates_is_one_in_its_angle() -> None:
    angle = kn.loads("gravity (0, -9.81, 0); A | Rz(a), Sx(1) = 1; coordinates a; initial a = -atan2(0.8, 0.6);")
    times = np.linspace(0, 5, 51)
    expected = kn.simulate(angle, 5.0, t_eval=times, rtol=1e-11, atol=1e-13)
    result = kn.simulate(kn.loads(ROD), 5.0, t_eval=times, rtol=1e-11, atol=1e-13)
    (a,) = expected.q.T
    assert result["x"] == pytest.approx(np.cos(a), abs=1e-9)
    (w,) = expected.v.T
    assert 2 * result["lambda.rod"] == pytest.approx(9.81 * np.sin(a) - w**2, abs=1e-7)


def test_samples_events_and_dense_output_meet_constraints() -> None:
    system = kn.loads(ROD)
    result = kn.simulate(system, 3.0, samples=77, dense_output=True, events=[kn.event(kn.symbol("x"))])
    assert result.residual < 1e-14
    x, y, vx, vy = result.sol(np.linspace(0, 3, 501))
    for value in (x**2 + y**2 - 1, x * vx + y * vy):
        assert np.abs(value).max() < 1e-13
    x, y, *_ = result.y_events[0].T
    assert np.abs(x).max() < 1e-9
    assert np.abs(x**2 + y**2 - 1).max() < 1e-14


def test_quaternions_and_constraints_are_kept_together() -> None:
    text = "gravity 9.81; B | Ball(b) = m(1), Jx(1), Jy(2), Jz(3), com = (0, 0, 1); point P on B = (0, 0, 1);"
    system = kn.loads(text + "constraint c : P.x = 0; initial b.wx = 0.5, b.wz = 0.3;")
    result = kn.simulate(system, 10.0)
    assert result.residual < 1e-14
    assert np.abs(np.linalg.norm(result.q, axis=1) - 1).max() < 1e-14


def test_quasi_velocities_keep_positions_on_constraints() -> None:
    chosen = ROD.replace("initial", "quasi w = x*y' - y*x'; initial")
    result = kn.simulate(kn.loads(chosen), 10.0)
    assert result.residual < 1e-14
    assert result.q[-1] == pytest.approx(kn.simulate(kn.loads(ROD), 10.0).q[-1], abs=1e-6)


def test_constraints_nonlinear_in_speeds_are_kept() -> None:
    text = (
        "gravity 9.81; A | Sx(x), Sy(y), Sz(z) = 1.4; coordinates x, y, z; constraint f : z' = 0.5*sqrt(x'^2 + y'^2);"
    )
    system = kn.loads(text + "initial x' = 3, y' = 4, z' = 2.5;")
    result = kn.simulate(system, 0.5)
    assert result.residual < 1e-13
    # The horizontal speed falls by g k t/(1 + k^2), in one direction.
    assert np.hypot(*result.v[-1, :2]) == pytest.approx(5 - 9.81 * 0.5 * 0.5 / 1.25, abs=1e-10)


@pytest.mark.slow
def test_many_cases_keep_to_constraints() -> None:
    system, starts = kn.loads(ROD), np.array([[0.6, -0.8], [0.0, -1.0], [-0.6, -0.8]])
    result = kn.simulate(system, 3.0, q=starts, samples=21)
    assert result.residual < 1e-14
    for i, start in enumerate(starts):
        assert np.array_equal(result.case(i).y, kn.simulate(system, 3.0, q=start, samples=21).y)


def test_projections_as_quantities_bring_states_back() -> None:
    equations = kn.derive(kn.loads(ROD))
    q, v = np.array([0.65, -0.8]), np.array([1.0, 0.3])
    for _ in range(4):
        q = equations.function("projected_q")(0.0, q, v)
    v = equations.function("projected_v")(0.0, q, v)
    assert equations.function("constraints")(0.0, q, v) == pytest.approx([0, 0], abs=1e-15)
    # The change is that of least kinetic energy: along the gradient, here the radius.
    assert q == pytest.approx(np.array([0.65, -0.8]) / np.hypot(0.65, 0.8), abs=1e-12)


def test_rods_without_mass_carry_what_constraints_hold() -> None:
    text = "gravity (0, -9.81, 0); A | Rz(a) = 0; B | Sx(x), Sy(y) = 1; point P on A = (1, 0, 0); coordinates a, x, y;"
    text += "constraint cx : P.x = x; constraint cy : P.y = y; initial a = -1, x = cos(1), y = -sin(1);"
    pendulum = kn.loads("gravity (0, -9.81, 0); A | Rz(a), Sx(1) = 1; coordinates a; initial a = -1;")
    result = kn.simulate(kn.loads(text), 3.0)
    assert result.residual < 1e-14
    assert result.q[-1, 0] == pytest.approx(kn.simulate(pendulum, 3.0).q[-1, 0], abs=1e-8)
    for formalism in ("lagrange", "kane", "appell"):
        vdot = kn.derive(kn.loads(text), formalism).function("forward")(0.0, result.q[0], result.v[0])
        assert vdot[0] == pytest.approx(-9.81 * np.cos(-1), rel=1e-13)


@pytest.mark.parametrize("off", [1e-12, 3e-10, 1e-9, 1e-8, 1e-6, 1e-5, 1e-3])
def test_a_start_beside_the_constraints_is_brought_back_or_refused(off: float) -> None:
    system = kn.loads(CRANK)
    start = kn.assemble(system, pinned=["a", "a'"])
    q = start.q + np.array([0.0, off])
    if off < 1e-4:
        result = kn.simulate(system, 0.5, q=q, v=start.v, max_steps=5000)
        assert result.success
        assert result.residual < 1e-13
        assert bool(result.notes) == (off > 5e-9)
    else:
        with pytest.raises(SimulationError, match="misses"):
            kn.simulate(system, 0.5, q=q, v=start.v)


def test_six_digits_of_a_result_are_a_start() -> None:
    system = kn.load(EXAMPLES / "fourbar.kin")
    run = kn.simulate(system, 1.0, samples=3)
    q, v = ([float(f"{x:.6g}") for x in row] for row in (run.q[1], run.v[1]))
    again = kn.simulate(system, 0.5, q=q, v=v)
    assert again.residual < 1e-13
    assert re.fullmatch(r"the start missed constraints by up to .* and was brought back onto them", again.notes[0])
    cases = kn.simulate(system, 0.5, q=[q, run.q[1]], v=[v, run.v[1]], samples=3)
    assert cases.success
    assert cases.q[0, -1] == pytest.approx(run.q[2], abs=1e-3)


# -- singular positions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
@pytest.mark.parametrize("v0", [0.3, 1.0, 1.37, 2.11, 2.9])
def test_parallelograms_pass_their_folds(v0: float, rtol: float) -> None:
    system = parallelograms(2)
    result = kn.simulate(system, 10.0, v=rates(system, v0), rtol=rtol, atol=rtol / 100)
    assert result.success
    assert result.energy_balance < 100 * rtol
    assert result.residual < 1e-11
    assert np.ptp(result.q[:, ::2], axis=1).max() < 1e-3  # all windows stay parallelograms


def test_a_fold_costs_few_steps() -> None:
    system = parallelograms(2)
    result = kn.simulate(system, 10.0, v=rates(system, 1.0), rtol=1e-10, atol=1e-12)
    assert result.steps < 160
    assert np.diff(result.t).min() > 1e-3


def test_a_slider_crank_of_equal_rods_passes_where_the_slide_may_leave_its_line() -> None:
    system = kn.loads(CRANK)
    start = kn.assemble(system, pinned=["a", "a'"])
    result = kn.simulate(system, 10.0, q=start.q, v=start.v, rtol=1e-10, atol=1e-12)
    assert result.success
    assert result.q[:, 1] == pytest.approx(-2 * result.q[:, 0], abs=1e-6)


def test_a_run_that_cannot_go_on_says_which_constraints_stop_it() -> None:
    driven = kn.loads(
        CRANK.replace("Rz(a)", "Rz(t)")
        .replace("l = 1", "l = 0.8")
        .replace("initial a = 0.3, a' = 4;", "")
        .replace("coordinates a, b", "coordinates b")
    )
    start = kn.assemble(driven, q={"b": 0.0})
    result = kn.simulate(driven, 3.0, q=start.q, v=start.v)
    assert result.status == -1
    assert result.t[-1] == pytest.approx(np.arcsin(0.8), abs=1e-6)
    assert "the constraint slide changes with no motion there" in result.message


def test_a_start_in_a_singular_position_is_refused_with_the_constraint() -> None:
    text = CRANK.replace("a = 0.3, a' = 4", "a = pi/2, b = -pi, a' = 1")
    with pytest.raises(SimulationError, match="singular: the constraint slide changes with no motion there"):
        kn.simulate(kn.loads(text), 1.0)


# -- redundant constraints --------------------------------------------------------------------------------------------


def test_a_constraint_said_twice_is_left_out_and_named() -> None:
    system = kn.loads(ROD.replace("initial", "constraint again : (x^2 + y^2)^2 = 1; initial"))
    result = kn.simulate(system, 5.0)
    assert result.success
    assert "again follows from rod" in result.notes[0]
    assert result.y[:, -1] == pytest.approx(kn.simulate(kn.loads(ROD), 5.0).y[:, -1], abs=1e-7)
    assert not result["lambda.again"].any()


def test_a_redundant_constraint_that_contradicts_is_refused() -> None:
    system = kn.loads(ROD.replace("initial", "constraint other : x^2 + y^2 = 2; initial"))
    with pytest.raises(
        SimulationError, match="the constraint 'other' contradicts rod: no state near the start meets all"
    ):
        kn.simulate(system, 1.0)


#: A third crank of a parallelogram, whose hinge is closed by what the others do.
CRANKS = """parameters m = 1, a = 1, b = 2;
    Crank | Rz(q1), Sx(a) = m, 0.1, 0.1, 0.1; Coupler ~ Crank | Rz(q2), Sx(b) = m, 0.1, 0.1, 0.1;
    Rocker | Sx(b), Rz(q3), Sx(a) = m, 0.1, 0.1, 0.1; Middle | Sx(b / 2), Rz(q4), Sx(a) = m, 0.1, 0.1, 0.1;
    point Half on Coupler = (-b / 2, 0, 0);
    constraint x1 : Coupler.x = Rocker.x; constraint y1 : Coupler.y = Rocker.y;
    constraint x2 : Half.x = Middle.x; constraint y2 : Half.y = Middle.y;
    initial q1 = 1, q2 = -1, q3 = 1, q4 = 1; gravity (0, -9.81, 0);"""
TWICE = ROD.replace("initial", "constraint again : (x^2 + y^2)^2 = 1; initial")


@pytest.mark.parametrize(
    ("text", "said"), [(CRANKS, r"\(y2 follows from x1, y1, x2\)"), (TWICE, r"\(again follows from rod\)")]
)
def test_functions_leave_out_what_is_redundant_as_runs_do(text: str, said: str) -> None:
    system = kn.loads(text)
    equations = kn.derive(system)
    with pytest.warns(KinetaWarning, match=f"redundant and left out {said}: their reactions are indeterminate"):
        forward = equations.function("forward")
    q, v = initial_state(system)
    run = kn.simulate(system, 1e-4)
    speeds = (run.v[-1] - run.v[0]) / run.t[-1]
    assert forward(0.0, q, v) == pytest.approx(speeds, abs=1e-2)
    assert np.isfinite(equations.function("multipliers")(0.0, q, v)).all()
    assert equations.settled().derivation.left_out == {said[2:].partition(" ")[0]}


def test_constraints_that_contradict_each_other_everywhere_have_no_accelerations() -> None:
    system = kn.loads(ROD.replace("initial", "constraint other : x^2 + y^2 = 2; initial"))
    with pytest.raises(kn.ModelError, match="the constraint 'other' contradicts rod"):
        kn.derive(system).function("forward")
    with pytest.raises(
        SimulationError, match=r"onto its constraints \(rod, other\): the constraint 'other' contradicts"
    ):
        kn.verify(system, states=2, digits=0)


def test_without_values_nothing_is_left_out() -> None:
    equations = kn.derive(kn.loads(CRANKS.replace("a = 1,", "a,")))
    assert equations.settled() is equations


@pytest.mark.slow
def test_bricards_mechanism_moves_though_its_constraints_count_none() -> None:
    text = """gravity (0, -9.81, 0); parameters I = 101/1200, c = 1/600;
    B1 | Ry(q1) = m(1), com = (0.5, 0, 0), Jx(c), Jy(I), Jz(I);
    B2 ~ B1 | Sx(1), Rz(q2) = m(1), com = (0, -0.5, 0), Jx(I), Jy(c), Jz(I);
    B3 ~ B2 | Sy(-1), Rx(q3) = m(1), com = (0, 0, 0.5), Jx(I), Jy(I), Jz(c);
    B4 ~ B3 | Sz(1), Ry(q4) = m(1), com = (-0.5, 0, 0), Jx(c), Jy(I), Jz(I);
    B5 ~ B4 | Sx(-1), Rz(q5) = m(1), com = (0, 0.5, 0), Jx(I), Jy(c), Jz(I);
    loop L : revolute between B5 at (0, 1, 0) axis (1, 0, 0) and ground at (0, 0, 1) axis (1, 0, 0);"""
    result = kn.simulate(kn.loads(text), 10.0, rtol=1e-10, atol=1e-12)
    assert result.success
    assert result.residual < 1e-13  # the row left out is kept by the others
    assert result.energy_balance < 1e-9
    assert result.notes[0].startswith("1 of 5 rows of constraints is redundant")
    last = load("iftomm/A04_bricard_s.json")["expected"]["table"][-1]
    assert result.q[-1] == pytest.approx(last["joint_angles"], abs=1e-9)


# -- a start that meets them --------------------------------------------------------------------------------------------


def test_assembling_finds_the_nearest_state() -> None:
    found = kn.assemble(kn.loads(ROD), q=[0.6, -0.9], v={"x'": 1.0})
    assert found.q == pytest.approx(np.array([0.6, -0.9]) / np.hypot(0.6, 0.9), abs=1e-2)
    assert found.q @ found.q == pytest.approx(1, abs=1e-14)
    assert found.q @ found.v == pytest.approx(0, abs=1e-14)
    assert found.initial["x"] == found.q[0]
    assert kn.simulate(kn.loads(ROD), 1.0, q=found.q, v=found.v).success


@pytest.mark.parametrize(
    ("pinned", "x", "y"), [(["b.x"], 0.0, 1.0), (["b.y"], -2.0, 0.0), (["b.x", "b.z", "b.qw"], 0.0, 1.0)]
)
def test_a_pinned_position_of_a_turned_body_stays(pinned: list[str], x: float, y: float) -> None:
    """Its speeds are in the axes of the body: a quarter turn takes x to y."""
    half = math.sqrt(0.5)
    text = f"A | Free(b) = 1, 1, 1, 1; constraint C : b.y = 1 + 0.5*b.x; initial b.qw = {half}, b.qz = {half};"
    found = kn.assemble(kn.loads(text), pinned=pinned)
    assert found.q == pytest.approx([x, y, 0, half, 0, 0, half], abs=1e-12)
    with pytest.raises(kn.SimulationError, match="Pin less, or start from another guess"):
        kn.assemble(kn.loads(text), pinned=["b.x", "b.y"])


def test_what_is_pinned_stays() -> None:
    found = kn.assemble(kn.loads(ROD), q={"x": 0.5, "y": 0.1}, v={"y'": 2.0}, pinned=["x", "y'"])
    assert found.q == pytest.approx([0.5, np.sqrt(0.75)], abs=1e-14)
    assert found.v == pytest.approx([-2 * np.sqrt(3), 2.0], abs=1e-13)


def test_a_guess_where_constraints_have_no_slope_is_left() -> None:
    circle = "model m; coordinates x, y; A | Sx(x), Sy(y) = 1; constraint rod : x^2 + y^2 = 1;"
    found = kn.assemble(kn.loads(circle))
    assert found.q @ found.q == pytest.approx(1, abs=1e-12)
    assert found.notes == ("the guess led to no position; one about 0.01 beside it did",)
    assert kn.simulate(kn.loads(circle), 1.0, q=found.q, v=found.v).success
    with pytest.raises(SimulationError, match="the start misses the constraint 'rod': it is -1"):
        kn.simulate(kn.loads(circle), 1.0)


def test_many_guesses_are_assembled_at_once() -> None:
    found = kn.assemble(kn.loads(ROD), q={"x": [0.6, 0.5, -0.9], "y": [-0.8, -0.1, 0.3]})
    assert found.q.shape == found.v.shape == (3, 2)
    assert (found.q**2).sum(axis=1) == pytest.approx(np.ones(3), abs=1e-13)
    assert found.initial["x"].tolist() == found.q[:, 0].tolist()
    assert found.q[0] == pytest.approx(kn.assemble(kn.loads(ROD), q=[0.6, -0.8]).q, abs=0)
    with pytest.raises(SimulationError, match=r"^Case 1: Model .* misses it by 0\.17\. Pin less"):
        kn.assemble(kn.loads(ROD), q={"x": [0.6, 0.6], "y": [-0.8, -0.9]}, pinned=["x", "y"])


def test_constraints_that_just_touch_are_no_start() -> None:
    touching = (
        "model m; coordinates x, y; A | Sx(x), Sy(y) = 1; constraint rod : x^2 + y^2 = 1; constraint path : x = 1 + t;"
    )
    with pytest.raises(SimulationError, match="depend on each other, so that speeds of"):
        kn.assemble(kn.loads(touching), q=[0.9, 0.1], v=[0.0, 1.0])


def test_drives_are_met_at_their_time() -> None:
    driven = ROD.replace("x^2 + y^2 = 1", "x = 0.5 + 0.1*sin(2*t)")
    found = kn.assemble(kn.loads(driven), t=1.0)
    assert found.q[0] == pytest.approx(0.5 + 0.1 * np.sin(2))
    assert found.v[0] == pytest.approx(0.2 * np.cos(2))


def test_what_cannot_be_met_is_said_with_how_much_is_missed() -> None:
    contradicting = ROD.replace("initial", "constraint other : x^2 + y^2 = 2; initial")
    with pytest.raises(SimulationError, match=r"'rod' cannot be met at t = 0 s.* misses it by 0\.5"):
        kn.assemble(kn.loads(contradicting))
    with pytest.raises(SimulationError, match=r"misses it by 0\.17\. Pin less"):
        kn.assemble(kn.loads(ROD), q=[0.6, -0.9], pinned=["x", "y"])
    fewer_speeds = "A | Sx(x), Sy(y) = 1; coordinates x, y; quasi u = y'; constraint rod : 2 + x^2 = 0;"
    with pytest.raises(SimulationError, match=r"'rod' cannot be met .* misses it by 2\."):
        kn.assemble(kn.loads(fewer_speeds))


def test_wrong_pins_are_refused() -> None:
    with pytest.raises(ArgumentError, match="no coordinate or speed 'z' to pin"):
        kn.assemble(kn.loads(ROD), pinned=["z"])
    with pytest.raises(ArgumentError, match="put it in brackets"):
        kn.assemble(kn.loads(ROD), pinned="x")


def test_a_drift_that_tolerances_do_not_explain_is_a_status() -> None:
    with pytest.warns(KinetaWarning, match="constraints are missed by up to"):
        result = kn.simulate(kn.loads(ROD), 20.0, method="RK23", rtol=1e-2, atol=10.0)
    assert result.status == 3
    with pytest.warns(
        KinetaWarning, match=r"'text': 2 of 2 cases miss constraints\. Case 0 .* constraints are missed by up to"
    ):
        many = kn.simulate(kn.loads(ROD), 20.0, v=np.tile(result.v[0], (2, 1)), method="RK23", rtol=1e-2, atol=10.0)
    assert many.cases is not None
    assert many.cases.status.tolist() == [3, 3]
    assert many.message.startswith("2 cases: 2 off constraints; ")


# -- large systems ----------------------------------------------------------------------------------------------------


def rank_of(system: kn.System) -> Redundancy:
    constraints = NumericConstraints(kn.derive(system), np.empty(0))
    start = consistent_state(constraints, 0.0, *initial_state(system))
    return find_redundancy(constraints, 0.0, (start.q, start.v))


@pytest.mark.slow
def test_a_long_row_is_as_regular_as_its_windows() -> None:
    """The least singular value of so many constraints is small, though none of them is near to what others say."""
    found = rank_of(parallelograms(110))
    assert not found.left_out
    assert len(found.states) == 1  # no others had to be looked at


def test_a_loop_that_closes_twice_is_found_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kineta.numerics.linear_algebra.LARGE", 10)
    system = parallelograms(8)
    again = replace(system.constraints[5], name="again")
    found = rank_of(system.replace(constraints=(*system.constraints, again)))
    names = {name.partition(".")[0] for name in (*found.left_out, *(n for others in found.others for n in others))}
    assert len(found.left_out) == 2
    assert names == {"P5", "again"}


def test_distances_of_rows_are_told_without_their_zeros_too() -> None:
    rng = np.random.default_rng(3)
    G = np.zeros((300, 301))
    for k in range(300):
        G[k, k : k + 2] = rng.standard_normal(2)
    G = unit_rows(G)
    assert np.linalg.svd(G, compute_uv=False)[-1] <= nearest(G, what="rows") <= 1
    assert nearest(np.vstack([G[1:], G[7]]), what="rows") < 1e-7
    assert nearest(np.eye(3, 2), what="rows") == 0


def test_where_all_is_pinned_no_other_guess_is_advised() -> None:
    fourbar = kn.load(EXAMPLES / "fourbar.kin")
    with pytest.raises(SimulationError, match="Pin less: nothing is left to move"):
        kn.assemble(fourbar, {"theta": 0.5}, pinned=["theta", "beta", "gamma"])
