"""Kinematics, forces and reactions along given motions: sources, closed forms, and what runs have themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.errors import ArgumentError, SimulationError
from tests.formalism.test_golubev import State, case
from tests.formalism.test_wittenburg import Case
from tests.support import EXAMPLES, SHARED, needs_shared

FOURBAR, PUMA = kn.load(EXAMPLES / "fourbar.kin"), kn.load(EXAMPLES / "puma560.kin")
ARM = kn.loads("gravity (0, -9.81, 0); A | Rz(a), Sx(1) = 2; coordinates a; point P on A = (0.5, 0, 0);")
STOPPED = kn.loads("gravity 9.81; A | Ry(q), Sx(1) = 1; coordinates q; limit stop : q <= 0.5; output q'';")
TIMES = np.linspace(0, 2, 41)


def vector(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SHARED / f"theory/vectors/{name}.json").read_text())
    return found


def andreev(name: str, more: str, released: bool) -> tuple[dict[str, Any], kn.System]:
    """A closed mechanism of the vectors, cut open as its description says; with or without what releases its pivots."""
    truth = vector(name)
    parameters = ", ".join(f"{n} = {x}" for n, x in truth["parameters"].items())
    start = ", ".join(f"q{k + 1} = {x}" for k, x in enumerate(truth["cases"][0]["q"]))
    model, coordinates = truth["model"], truth["coordinates"]
    if not released:
        model, coordinates = model.replace("Sx(x0), Sy(y0), ", "").replace("d + y3", "d"), coordinates[:3]
    text = f"gravity (0, -g, 0); parameters {parameters}, X, Y; coordinates {', '.join(coordinates)}; {model} {more}"
    text += "force px = X on x0; force py = Y on y0;" if released else ""
    return truth, kn.loads(f"{text} initial {start};")


CLOSED = {
    "andreev_four_bar": "loop cut : ball between Coupler at (L2 - a2, -e2, 0) and Rocker at (L3 - a3, 0, 0);"
    "force load = Mload on q3;",
    "andreev_slider_crank": "loop cut : ball between Rod at (L2 - a2, -e2, 0) and Slider; force load = Fload on q3;",
}


# -- kinematics --------------------------------------------------------------------------------------------------------


def test_a_point_on_a_circle_is_drawn_to_its_centre() -> None:
    found = kn.kinematics(ARM, {"a": "3*t"}, ["P"], t=TIMES)
    angle = 3 * TIMES
    assert found["P.x"] == pytest.approx(1.5 * np.cos(angle), abs=1e-14)
    assert found["P.vy"] == pytest.approx(4.5 * np.cos(angle), abs=1e-13)
    assert found["P.ax"] == pytest.approx(-13.5 * np.cos(angle), abs=1e-13)
    assert (found["P.wz"][0], found["P.ez"][0], found.units["P.ax"]) == (3.0, 0.0, "m/s^2")
    seen = kn.kinematics(ARM, {"a": "3*t + t^2"}, ["P"], t=TIMES, frame="A")
    assert seen["P.x"] == pytest.approx(0.5)
    assert seen["P.ax"] == pytest.approx(-1.5 * (3 + 2 * TIMES) ** 2)
    assert seen["P.ay"] == pytest.approx(1.5 * 2)


def test_expressions_arrays_tables_and_runs_give_one_motion(tmp_path: Path) -> None:
    run = kn.simulate(PUMA, 1.0, samples=201, rtol=1e-11, atol=1e-13)
    of_run = kn.kinematics(PUMA, run)
    assert of_run["link6.x"] == pytest.approx(run["link6.x"], abs=1e-13)
    run.save(tmp_path / "run.csv")
    run.save(tmp_path / "run.nc")
    of_run.save(tmp_path / "motion.csv")
    exact = of_run["link6.az"]
    assert kn.kinematics(PUMA, tmp_path / "motion.csv")["link6.az"] == pytest.approx(exact, abs=1e-9)
    assert kn.kinematics(PUMA, tmp_path / "run.nc")["link6.az"] == pytest.approx(exact, abs=1e-12)
    arrays = {n: run[n] for n in PUMA.q_names}
    inside = slice(5, -5)
    assert kn.kinematics(PUMA, arrays, t=run.t)["link6.az"][inside] == pytest.approx(exact[inside], abs=1e-4)
    assert kn.kinematics(PUMA, run.q, t=run.t)["link6.az"] == pytest.approx(
        kn.kinematics(PUMA, arrays, t=run.t)["link6.az"]
    )


def test_one_coordinate_moves_a_four_bar() -> None:
    run = kn.simulate(FOURBAR, 1.0, samples=41, rtol=1e-11, atol=1e-13)
    theta = {n: kn.kinematics(FOURBAR, run)[n] for n in ("theta", "theta'", "theta''")}
    found = kn.kinematics(FOURBAR, theta, t=run.t)
    assert found.q == pytest.approx(run.q, abs=1e-12)
    assert found.v == pytest.approx(run.v, abs=1e-11)
    assert found["mass.ay"] == pytest.approx(kn.kinematics(FOURBAR, run)["mass.ay"], abs=1e-9)


def test_the_rigid_slider_crank_moves_as_its_closed_form() -> None:
    truth = json.loads((SHARED / "truth/ivp_testset/slider_crank_rigid_s.json").read_text())
    g, table = truth["parameters"], truth["expected"]["table"]
    system = kn.loads(
        f"""parameters l1 = {g["l1"]}, l2 = {g["l2"]}, m2 = {g["m2"]}, m3 = {g["m3"]}; coordinates phi1, phi2, x3;
        Crank | Rz(phi1) = Jz({g["J1"]});
        Rod ~ Crank | Sx(l1), Rz(phi2 - phi1) = m(m2), Jz({g["J2"]} - m2*l2^2/4), com = (l2/2, 0, 0);
        Block | Sx(x3) = m3; loop pin : ball between Rod at (l2, 0, 0) and Block; initial x3 = l1 + l2;"""
    )
    times = np.array([row["t"] for row in table])
    forces = kn.inverse(system, {"phi1": f"{g['omega']}*t"}, ["phi1'"], t=times)
    motion = forces.trajectory
    for name, values in (("phi2", motion.q[:, 1]), ("x3", motion.q[:, 2]), ("phi2_dot", motion.v[:, 1])):
        assert values == pytest.approx([row[name] for row in table], abs=1e-11)
    assert motion.vdot[:, 2] == pytest.approx([row["x3_ddot"] for row in table], abs=1e-8)
    assert forces["tau.phi1'"] == pytest.approx([row["drive_torque"] for row in table], rel=1e-9, abs=1e-9)


def test_quaternions_and_quasi_velocities_follow_from_rates_of_coordinates() -> None:
    top = kn.load(EXAMPLES / "spinning_top.kin")
    run = kn.simulate(top, 0.3, samples=601)
    found = kn.kinematics(top, {n: run[n] for n in top.q_names}, t=run.t)
    assert found.v[5:-5] == pytest.approx(run.v[5:-5], abs=1e-5)
    euler = kn.load(EXAMPLES / "euler_top.kin")
    run = kn.simulate(euler, 0.5, samples=101)
    found = kn.kinematics(euler, {n: run[n] for n in euler.q_names}, t=run.t)
    assert found.v[5:-5] == pytest.approx(run.v[5:-5], abs=1e-7)
    skate = kn.load(EXAMPLES / "skate.kin")
    with pytest.raises(SimulationError, match="do not allow this motion: at t = 0 s the rate of y is 1, and 0 is"):
        kn.kinematics(skate, {"x": 0.0, "y": "t", "phi": 0.0}, t=[0.0])


def test_what_only_the_time_moves_has_a_motion_too() -> None:
    drum = kn.loads("gravity 9.81; parameters w = 2; B | Rz(w*t), Sx(0.5) = 3, 1, 1, 1;")
    assert kn.kinematics(drum, {}, t=[0.0])["B.ax"] == pytest.approx([-2.0])
    assert kn.reactions(drum, {}, t=[0.0]).wrenches[0, 0, :3] == pytest.approx([-6.0, 0, 3 * 9.81])
    assert (kn.equilibrium(drum).stable, len(kn.base_parameters(drum))) == (True, 0)
    assert kn.inverse_kinematics(drum, {"B.x": 0.5})[0].free == 0


# -- forces ------------------------------------------------------------------------------------------------------------


@needs_shared
@pytest.mark.parametrize("name", CLOSED)
def test_kinetostatics_of_released_mechanisms_are_those_of_the_vectors(name: str) -> None:
    truth, system = andreev(name, CLOSED[name], released=True)
    unknown = ["q1'", "X", "Y", *(f"{n}'" for n in truth["coordinates"][5:])]
    given = {"q1": "q10 + w*t + b*sin(nu*t)"} | dict.fromkeys(truth["coordinates"][3:], 0.0)
    found = kn.kinetostatics(system, given, unknown, t=[c["t"] for c in truth["cases"]])
    assert all(found.determinate.values())
    series = {"drive_couple": "tau.q1'", "cut_X": "lambda.cut.x", "cut_Y": "lambda.cut.y"}
    series |= {"pivot_X": "X", "pivot_Y": "Y", "guide_N": "tau.y3'"}
    for k, expected in enumerate(truth["cases"]):
        for what, value in expected["reactions"].items():
            assert found[series[what]][k] == pytest.approx(value, rel=1e-11, abs=1e-11)


@needs_shared
@pytest.mark.parametrize("name", CLOSED)
def test_joints_pass_on_what_releasing_them_shows(name: str) -> None:
    truth, system = andreev(name, CLOSED[name], released=False)
    drive = kn.inverse(
        system, {"q1": "q10 + w*t + b*sin(nu*t)"}, ["q1'"], t=[c["t"] for c in truth["cases"]], p={"X": 0, "Y": 0}
    )
    found = kn.reactions(system, drive)
    for k, expected in enumerate(truth["cases"]):
        r = expected["reactions"]
        assert drive["tau.q1'"][k] == pytest.approx(r["drive_couple"], rel=1e-11, abs=1e-11)
        assert [found[f"cut.f{c}"][k] for c in "xy"] == pytest.approx([r["cut_X"], r["cut_Y"]], rel=1e-11, abs=1e-11)
        assert [found[f"Crank.f{c}"][k] for c in "xy"] == pytest.approx([r["pivot_X"], r["pivot_Y"]], rel=1e-11)
        if "guide_N" in r:
            assert found["Slider.fy"][k] == pytest.approx(r["guide_N"], rel=1e-11)


@needs_shared
def test_a_beam_on_pin_and_roller() -> None:
    truth = vector("andreev_statics_beam")
    g = ", ".join(f"{n} = {x}" for n, x in truth["parameters"].items())
    system = kn.loads(
        f"""parameters {g}, X, Y, N; coordinates x, y, phi; Beam | Sx(x), Sy(y), Rz(phi) = 1, 1, 1, 1;
        force weight on Beam at (a, 0, 0) = (0, -G, 0); force pin on Beam = (X, Y, 0);
        force pull on Beam at (L, 0, 0) = (F*cos(th), F*sin(th), 0);
        force roller on Beam at (c, 0, 0) = (-N*sin(alpha), N*cos(alpha), 0);"""
    )
    found = kn.statics(system, None, ["X", "Y", "N"])
    assert {n: found[n][0] for n in "XYN"} == pytest.approx(truth["reactions"], abs=1e-12 * 178)
    assert (found.redundancy, found.needed) == (0, ("X", "Y", "N"))
    clamped = kn.statics(system, None, ["X", "Y", "N", "phi'"])
    assert (clamped.redundancy, clamped.needed) == (1, ())
    assert not any(clamped.determinate.values())
    with pytest.raises(
        SimulationError, match=r"X, Y cannot produce this motion: at t = 0 s a force of 408.149 on 'phi''"
    ):
        kn.statics(system, None, ["X", "Y"], p={"N": 0.0})
    with pytest.raises(ArgumentError, match="the forces are not proportional to 'th'"):
        kn.statics(system, None, ["X", "Y", "th"], p={"N": 0.0})


def test_inverse_dynamics_find_the_forces_of_a_run() -> None:
    drives = {"theta'": kn.symbol("t"), "gamma'": 0.5}
    run = kn.simulate(FOURBAR, 1.0, samples=41, tau=drives)
    one = kn.inverse(FOURBAR, run, ["theta'"])
    assert (one.redundancy, one.needed) == (0, ("theta'",))
    every = kn.inverse(FOURBAR, run)
    assert (every.redundancy, every.needed) == (2, ())
    assert np.all((every.tau**2).sum(axis=1) <= (one.tau**2).sum(axis=1) + 1e-12)
    # The forces that constraints see not at all make the difference: those of the run do the same.
    power = (every.tau * run.v).sum(axis=1)
    assert power == pytest.approx((run.tau * run.v).sum(axis=1), abs=1e-9)
    # A weight so large leaves nothing to the other.
    pair = kn.inverse(FOURBAR, run, ["theta'", "gamma'"], weights={"theta'": 1e5})
    assert pair["tau.theta'"] == pytest.approx(one["tau.theta'"], abs=1e-6)
    free = kn.inverse(PUMA, kn.simulate(PUMA, 1.0, samples=21))
    assert free.tau == pytest.approx(np.zeros((21, 6)), abs=1e-12)


def test_what_is_named_of_a_closed_position_stays() -> None:
    slider = kn.loads(
        """gravity (0, -9.81, 0); parameters mp = 0.4; coordinates a, b, s;
        Crank | Rz(a) = m(0.5), com = (0.025, 0, 0); Rod ~ Crank | Sx(0.05), Rz(b) = m(0.8), com = (0.1, 0, 0);
        Piston | Sx(s) = m(mp); loop pin : revolute between Rod at (0.2, 0, 0) axis (0, 0, 1) and Piston axis (0, 0, 1);
        initial a = 0.52, b = -0.63, s = 0.24;"""
    )
    held, moved = kn.statics(slider, {"a": 1.5}, ["a'"]), kn.kinetostatics(slider, {"a": 1.5}, ["a'"], t=[0.0])
    assert held.trajectory.q[0] == pytest.approx(moved.trajectory.q[0], abs=1e-12)
    assert held["tau.a'"] == pytest.approx(moved["tau.a'"], abs=1e-12)
    with pytest.raises(SimulationError, match=r"the nearest one misses it by .* Give the motion of fewer"):
        kn.statics(slider, {"a": 1.5, "b": 0.0})
    for a in np.linspace(0.3, 1.5, 4):
        with pytest.raises(SimulationError, match="mp cannot produce this motion"):
            kn.statics(slider, {"a": a}, ["mp"])


def test_a_quaternion_of_no_length_is_no_motion() -> None:
    ball = kn.loads("B | Ball(b) = 1, 1, 1, 1;")
    given = {"b.qw": "t - 1", "b.qx": 0, "b.qy": 0, "b.qz": 0}
    with pytest.raises(ArgumentError, match=r"the quaternion b.qw, b.qx, b.qy, b.qz is zero at t = 1 s; expected"):
        kn.kinematics(ball, given, t=[0.0, 1.0])


def test_motions_that_actuators_cannot_make_are_said() -> None:
    with pytest.raises(
        SimulationError,
        match=r"q1', q2' cannot produce this motion: at t = .* on 'q3'' is left, among forces of up to 37",
    ):
        kn.inverse(PUMA, {f"q{k}": "sin(t)" for k in range(1, 7)}, ["q1'", "q2'"], t=np.linspace(0, 1, 11))


# -- reactions ---------------------------------------------------------------------------------------------------------


@needs_shared
def test_the_joints_of_the_tree_of_seven_bodies_pass_on_the_forces_of_the_vector() -> None:
    truth = Case("tree7")
    start = {n: truth.state[n] for n in (*truth.system.q_names, *truth.system.v_names)}
    q, v = ([start[n] for n in names] for names in (truth.system.q_names, truth.system.v_names))
    found = kn.reactions(truth.system, kn.simulate(truth.system, 1e-3, q=q, v=v, samples=2))
    for k, (plus, expected) in enumerate(
        zip(truth.given["i_plus"], truth.expected["joint_force_on_i_plus"], strict=True)
    ):
        sign = 1 if plus == k + 1 else -1  # on the body that the joint carries
        size = np.abs(truth.expected["joint_force_on_i_plus"]).max()
        assert sign * found.wrenches[0, k, :3] == pytest.approx(expected, abs=1e-12 * size)


@needs_shared
@pytest.mark.parametrize(("kind", "name"), [("planar", "planar_K4"), ("spatial", "spatial_K3")])
def test_the_joints_of_golubevs_chains_pass_on_the_forces_of_the_vectors(kind: str, name: str) -> None:
    given, expected = case(f"{kind}_chain", name)
    state = State(given, "newton_euler")
    system = state.equations.system
    found = kn.reactions(system, kn.simulate(system, 1e-3, q=state.q, v=state.v, samples=2)).wrenches[0]
    size = np.abs(np.array(expected["joint_force_on_outer_body"])).max()
    assert found[1:, :3] == pytest.approx(np.array(expected["joint_force_on_outer_body"]), abs=1e-11 * size)
    assert np.abs(found[0]).max() < 1e-11 * size


def test_reactions_in_any_axes_are_the_same_vectors() -> None:
    run = kn.simulate(FOURBAR, 1.0, samples=11)
    found, own = kn.reactions(FOURBAR, run), kn.reactions(FOURBAR, run, frame="own")
    assert found.names == ("Crank", "Coupler", "Rocker", "pin")
    assert found["pin.fx"] == pytest.approx(run["lambda.pin.x"], abs=1e-12)
    assert found["pin.nz"] == pytest.approx(0)
    for part in (slice(0, 3), slice(3, 6)):
        assert np.linalg.norm(found.wrenches[:, :, part], axis=2) == pytest.approx(
            np.linalg.norm(own.wrenches[:, :, part], axis=2), abs=1e-10
        )
    (gamma,) = run.q[:, 2:].T
    chosen = kn.reactions(FOURBAR, run, ["pin"], frame="Rocker")
    turned = np.cos(gamma) * found["pin.fx"] + np.sin(gamma) * found["pin.fy"]
    assert chosen["pin.fx"] == pytest.approx(turned, abs=1e-12)


def test_a_rolling_coin_is_carried_at_its_contact() -> None:
    coin = kn.load(EXAMPLES / "rolling_coin.kin")
    run = kn.simulate(coin, 1.0, samples=11)
    found = kn.reactions(coin, run)
    assert found["edge.fz"] == pytest.approx(run["lambda.edge.n"], abs=1e-12)
    # The couple about the centre is that of the force at the contact.
    force, couple = found.wrenches[:, 1, :3], found.wrenches[:, 1, 3:]
    assert np.einsum("ki,ki->k", force, couple) == pytest.approx(np.zeros(11), abs=1e-13)
    assert found["Coin.fz"] == pytest.approx(0, abs=1e-12)


def test_welds_carry_and_redundant_constraints_leave_reactions_open() -> None:
    mast = kn.loads("gravity 9.81; A | Rx(a), Sz(-1) = 1; B ~ A | Sz(-0.5) = 2; coordinates a; initial a = 0.3;")
    held = kn.reactions(mast, kn.statics(mast))
    assert held["A.fz"] == pytest.approx([3 * 9.81])
    assert held["B.fz"] == pytest.approx([2 * 9.81])
    # The joint of A is at its frame's origin, a metre below the axis: the drive's couple is in it.
    assert held["A.nx"] == pytest.approx([2 * 9.81 * 0.5 * np.sin(0.3)])
    bricard = kn.load(EXAMPLES / "bricard.kin")
    run = kn.simulate(bricard, 0.2, samples=3)
    assert set(kn.reactions(bricard, run).indeterminate) == {"R1", "R2", "R3", "R4", "R5", "P5"}
    forces = kn.inverse(bricard, run, ["q1'"])
    assert {n: told for n, told in forces.determinate.items() if told} == {"tau.q1'": True}
    assert kn.reactions(FOURBAR, kn.simulate(FOURBAR, 0.1)).indeterminate == ()


# -- runs on which more acts than the model says -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bouncing_ball", "friction_oscillator", "hopper", "rocking_block", "sliding_block"])
def test_what_touches_in_a_run_acts_along_it(name: str) -> None:
    system = kn.load(EXAMPLES / f"{name}.kin")
    shown = {o.name for o in system.outputs}
    more = [kn.Output(f"{n}'", kn.symbol(f"{n}'")) for n in system.v_names if f"{n}'" not in shown]
    system = system.replace(outputs=[*system.outputs, *more])
    run = kn.simulate(system, 1.0, samples=21)
    found, forces = kn.kinematics(system, run), kn.inverse(system, run)
    for k, speed in enumerate(system.v_names):
        size = max(1.0, float(np.abs(run[f"{speed}'"]).max()))
        assert found[f"{speed}'"] == pytest.approx(run[f"{speed}'"], abs=1e-11 * size)
        assert forces.tau[:, k] == pytest.approx(run.tau[:, k], abs=1e-10 * size)


def test_a_stop_carries_what_rests_on_it() -> None:
    run = kn.simulate(STOPPED, 2.0, samples=5)
    found = kn.reactions(STOPPED, run)
    assert (kn.kinematics(STOPPED, run)["q''"][-1], found["A.fz"][-1]) == (pytest.approx(0), pytest.approx(9.81))
    # What rests on the ground is carried there, not by the joint that lets it fall; the joint takes the couple.
    block = kn.loads("gravity 9.81; coordinates z; B | Sz(z) = 2; point F on B = (0.3, 0, 0); limit floor : F.z >= 0;")
    carried = kn.reactions(block, kn.simulate(block, 1.0, samples=3)).wrenches[-1, 0]
    assert carried == pytest.approx([0, 0, 0, 0, 0.3 * 2 * 9.81, 0])


def test_what_switches_set_holds_from_there_on_along_a_run() -> None:
    system = kn.loads(
        "parameters h = 0; A | Rz(q), Sx(1) = 1; force f = 3*h on q; when on : t >= 0.5 : h = 1; initial q' = 1; output q'';"
    )
    run = kn.simulate(system, 1.0, samples=5)
    assert run["h"].tolist() == [0, 0, 0, 1, 1]
    assert kn.kinematics(system, run)["q''"] == pytest.approx(run["q''"])
    assert np.abs(kn.inverse(system, run).tau).max() < 1e-14


@pytest.mark.parametrize(
    "more",
    ["program a : |a(P)| = 1 m/s^2; initial x' = 1, x'' = 1;", "program a : x'' = 1 m/s^2; control least on x';"],
)
def test_controls_of_programs_act_along_a_run(more: str) -> None:
    system = kn.loads(f"gravity (0, -9.81, 0); coordinates x, y; P | Sx(x), Sy(y) = 2; {more} output x'', y'';")
    run = kn.simulate(system, 1.0, samples=5)
    assert pytest.approx(np.array([run["x''"], run["y''"]]), abs=1e-12) == kn.kinematics(system, run).vdot.T
    assert pytest.approx(np.array([run["control.x'"], run["control.y'"]]), abs=1e-12) == kn.inverse(system, run).tau.T
    assert kn.reactions(system, run)["P.fy"] == pytest.approx(run["control.y'"], abs=1e-12)
    with pytest.warns(kn.KinetaWarning, match="a linearisation is of its equations without a: only runs know programs"):
        assert kn.linearize(system, run).A.shape == (5, 4, 4)
    assert system.replace(programs=()).initial == tuple(pair for pair in system.initial if "''" not in pair[0])
    with pytest.raises(ArgumentError, match=r"motions under programs \(a\) have no derivatives here"):
        kn.sensitivity(system, 1.0, ["x"])


# -- motions given in part ---------------------------------------------------------------------------------------------

BLADE = kn.loads(
    "Rod | Sx(x), Sy(y), Rz(phi) = m(2), Jz(0.08); coordinates x, y, phi; constraint edge : x'*sin(phi) = y'*cos(phi);"
    "force f on Rod = (-10*Rod.x, -10*Rod.y, 0);"
)
SKATE = kn.load(EXAMPLES / "skate.kin")


@pytest.mark.parametrize("system", [BLADE, SKATE], ids=["multipliers", "quasi-velocities"])
def test_what_only_speeds_bind_is_integrated(system: kn.System) -> None:
    times = np.linspace(0, 1.2, 9)
    found = kn.kinematics(system, {"phi": "t", "x": "sin(t)"}, t=times)
    assert found["y"] == pytest.approx(1 - np.cos(times), abs=1e-12)
    arrays = kn.kinematics(system, {"phi": times, "x": np.sin(times)}, t=times)
    assert arrays["y"] == pytest.approx(1 - np.cos(times), abs=1e-5)


def test_forces_along_an_integrated_motion_are_those_at_its_positions() -> None:
    part = kn.inverse(BLADE, {"phi": "t", "x": "sin(t)"}, ["phi'", "x'"], t=TIMES)
    every = kn.inverse(BLADE, {"phi": "t", "x": "sin(t)", "y": "1 - cos(t)"}, ["phi'", "x'"], t=TIMES)
    assert part.tau == pytest.approx(every.tau, rel=1e-9, abs=1e-9)


def test_a_wheel_rolls_as_far_as_it_turns() -> None:
    wheel = kn.loads(
        "Disk | Sx(x), Sz(0.3), Ry(psi) = 2, 0.05, 0.09, 0.05; coordinates x, psi;"
        "rolling e : wheel = 0.3 between Disk axis (0, 1, 0) and ground axis (0, 0, 1); initial x = 0.1;"
    )
    for motion in ({"psi": "2*t"}, {"psi'": "2"}, {"x'": "0.6"}):
        assert kn.kinematics(wheel, motion, t=TIMES)["x"] == pytest.approx(0.1 + 0.6 * TIMES, abs=1e-12)


BALL = kn.loads(
    "gravity 9.81; A | Ball(b), Sx(0.5) = 1, 0.1, 0.1, 0.1; loop L : distance = 1 between A and ground at (0.5, 0, 1);"
    "initial b.wx = 1;"
)


def test_ball_joints_in_closed_systems_move_as_they_are_given(tmp_path: Path) -> None:
    run = kn.simulate(BALL, 1.0, samples=201, rtol=1e-11, atol=1e-13)
    exact = kn.kinematics(BALL, run)
    inside = slice(5, -5)
    for motion in (run.q, {n: run[n] for n in BALL.q_names}):
        assert kn.kinematics(BALL, motion, t=run.t)["A.az"][inside] == pytest.approx(exact["A.az"][inside], abs=1e-6)
    exact.save(tmp_path / "motion.csv")
    assert kn.kinematics(BALL, tmp_path / "motion.csv")["A.az"] == pytest.approx(exact["A.az"], abs=1e-9)
    speeds = {n: exact[n] for n in ("b.wx", "b.wx'", "b.wz", "b.wz'")}
    assert kn.kinematics(BALL, speeds, t=run.t).q == pytest.approx(run.q, abs=1e-8)
    assert kn.statics(BALL).tau.shape == (1, 3)
    with pytest.raises(ArgumentError, match=r"Motion of 'b': expected all of b.qw, b.qx, b.qy, b.qz, or none of them"):
        kn.kinematics(BALL, {"b.qx": [0.0]}, t=[0.0])
    with pytest.raises(SimulationError, match=r"the motion of b.wx leaves 1 more open at t = 0 s; give that of one of"):
        kn.kinematics(BALL, {"b.wx": [0.0]}, t=[0.0])


def test_statics_go_on_with_constraints_that_the_time_moves() -> None:
    more = "Sx(1) = 1; B ~ A | Ry(b), Sx(1) = 1; initial b = 0.4;"
    bound = kn.loads(f"gravity 9.81; coordinates a, b; constraint d : a = 0.3*sin(t); A | Rz(a), {more}")
    driven = kn.loads(f"gravity 9.81; coordinates b; A | Rz(0.3*sin(t)), {more}")
    assert kn.statics(bound, t=1.0)["tau.b'"] == pytest.approx(kn.statics(driven, t=1.0)["tau.b'"], abs=1e-13)


def test_masses_of_nothing_leave_reactions_of_a_given_motion_as_they_are() -> None:
    text = "gravity 9.81; coordinates x, y, p; A | Sx(x - y), Ry(p), Sx(1) = 2;"
    loop = kn.loads(text + "loop L : distance = 1 between A and ground at (1, 0, -1);")
    motion = {"x": [0.3], "y": [0.3], "p": [0.0]}
    assert kn.inverse(loop, motion, t=[0.0])["lambda.L"] == pytest.approx([19.62])
    assert kn.reactions(loop, motion, t=[0.0])["A.fz"] == pytest.approx([0.0], abs=1e-12)
    assert kn.reactions(kn.loads(text), motion, t=[0.0])["A.fz"] == pytest.approx([19.62])


# -- what is no motion -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("motion", "said"),
    [
        ({"theta": "0.8 + x"}, "Motion of 'theta': expected an expression of t and parameters, found 'x'"),
        ({"theta": "0.8 +"}, "motion of theta:1:"),
        ({"theta": np.zeros(3)}, "one value for every time, found shape"),
        ({"thetta": 0.0}, "no coordinate 'thetta'. Did you mean 'theta'?"),
        ({"theta": "1/t"}, "expected finite numbers, found inf at t = 0 s"),
        ({}, "leaves 1 more open at t = 0 s; give that of one of theta, beta, gamma too"),
        ({"beta": "0.5 + 9*t"}, "no motion of this kind meets the constraint 'pin"),
        (np.zeros((5, 2)), "found shape"),
        ("missing.csv", "missing.csv: the file cannot be read"),
    ],
)
def test_what_is_no_motion_is_said(motion: Any, said: str) -> None:
    with pytest.raises(kn.KinetaError) as error:
        kn.kinematics(FOURBAR, motion, t=None if isinstance(motion, str) else np.linspace(0, 1, 11))
    assert said in str(error.value)


def test_contacts_and_limits_are_not_left_out_in_silence() -> None:
    ball = kn.load(EXAMPLES / "bouncing_ball.kin")
    with pytest.warns(kn.KinetaWarning, match="the inverse problem is of its equations without floor"):
        kn.inverse(ball, {"x": 0.0, "z": "1 + t"}, t=[0.0, 1.0])
    with pytest.warns(kn.KinetaWarning, match=r"goes beyond the limit 'stop' \(q <= 0\.5\), by 0\.5 at t = 1 s"):
        kn.kinematics(STOPPED, {"q": "t"}, t=[0.0, 1.0])
    with pytest.warns(kn.KinetaWarning, match=r"goes beyond the limit 'stop'"):
        kn.statics(STOPPED, q=[0.7])


def test_other_wrong_arguments_are_said() -> None:
    run = kn.simulate(FOURBAR, 0.1)
    with pytest.raises(ArgumentError, match="no body or point 'mas'"):
        kn.kinematics(FOURBAR, run, ["mas"])
    with pytest.raises(ArgumentError, match="no joint 'pinn'"):
        kn.reactions(FOURBAR, run, ["pinn"])
    with pytest.raises(ArgumentError, match="no body 'Crnk'"):
        kn.reactions(FOURBAR, run, frame="Crnk")
    with pytest.raises(ArgumentError, match="the motion of q2, q3, q4, q5, q6 is not given"):
        kn.inverse(PUMA, {"q1": "t"}, t=[0.0])
    with pytest.raises(ArgumentError, match="Expected the times t of the motion"):
        kn.inverse(PUMA, {"q1": "t"})
    with pytest.raises(ArgumentError, match="found one of 'fourbar'"):
        kn.inverse(PUMA, run)
    renamed = kn.loads("parameters m = 1; A | Rz(a), Sx(1) = m; coordinates a;")
    with pytest.raises(
        ArgumentError, match=r"Expected a run of 'text', found one of 'text' with the parameters m\. Give"
    ):
        kn.kinematics(ARM, kn.simulate(renamed, 1.0, samples=2))
    rate: Any
    for rate in ("5", 5.0):
        with pytest.raises(ArgumentError, match="the rate 'a'' follows from 'a' as it is given; leave it out"):
            kn.kinematics(ARM, {"a": "t", "a'": rate}, t=TIMES)
    with pytest.raises(ArgumentError, match="expected 'a'' beside it, of which it is the rate"):
        kn.kinematics(ARM, {"a''": 0 * TIMES}, t=TIMES)
    with pytest.raises(ArgumentError, match="no unknown force 'q1'"):
        kn.inverse(FOURBAR, run, weights={"q1": 2.0})


def test_a_motion_that_needs_no_forces_is_produced_by_any() -> None:
    pendulum = kn.load(EXAMPLES / "double_pendulum.kin")
    found = kn.kinetostatics(pendulum, kn.simulate(pendulum, 1.0, samples=21), ["q1'"])
    assert np.abs(found["tau.q1'"]).max() < 1e-8


def test_a_force_with_a_corner_is_not_proportional_to_a_parameter() -> None:
    pushed = kn.loads("parameters F; A | Rz(q), Sx(1) = 1; force f = max(F, 0) on q;")
    assert kn.kinetostatics(pushed, {"q": "t^2"}, ["F"], t=TIMES)["F"] == pytest.approx(2.0)
    with pytest.raises(ArgumentError, match="the forces are not proportional to 'F'"):
        kn.kinetostatics(pushed, {"q": "-t^2"}, ["F"], t=TIMES)


def test_what_cannot_move_needs_no_forces() -> None:
    still = kn.loads("parameters F = 3; A | Sx(0.3) = 2; force f on A = (0, F, 0);")
    assert kn.statics(still, unknown=["F"])["F"] == pytest.approx([0.0])


def test_reactions_that_quasi_velocities_leave_out_are_told() -> None:
    found = kn.inverse(SKATE, kn.simulate(SKATE, 1.0, samples=3))
    assert (found.redundancy, found.determinate["lambda.edge"]) == (0, True)


def test_where_expressions_are_not_defined_nothing_is_put_out() -> None:
    root = kn.loads("coordinates x; C | Sx(sqrt(x)) = 1;")
    pushed = kn.loads("coordinates x; C | Sx(x) = 1; force f on C = (0, sqrt(x), 0);")
    for find, said in (
        (lambda: kn.kinematics(root, {"x": "-1 - t"}, t=TIMES), "C.x has no finite value at t = 0 s"),
        (lambda: kn.regressor(root, {"x": "t"}, t=TIMES), "the regressor has no finite value at t = 0 s"),
        (lambda: kn.reactions(pushed, {"x": "-1 - t"}, t=TIMES), "C.f[xyz] has no finite value at t = 0 s"),
    ):
        with pytest.raises(SimulationError, match=said):
            find()
