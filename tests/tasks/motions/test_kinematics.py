"""Positions, velocities and accelerations along given motions: closed forms, and what runs have themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.errors import ArgumentError, SimulationError
from tests.mechanics.truth import load
from tests.models import ARM, FOURBAR, PUMA, SKATE, TIMES
from tests.support import EXAMPLES


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_one_coordinate_moves_a_four_bar() -> None:
    run = kn.simulate(FOURBAR, 1.0, samples=41, rtol=1e-11, atol=1e-13)
    theta = {n: kn.kinematics(FOURBAR, run)[n] for n in ("theta", "theta'", "theta''")}
    found = kn.kinematics(FOURBAR, theta, t=run.t)
    assert found.q == pytest.approx(run.q, abs=1e-12)
    assert found.v == pytest.approx(run.v, abs=1e-11)
    assert found["mass.ay"] == pytest.approx(kn.kinematics(FOURBAR, run)["mass.ay"], abs=1e-9)


def test_the_rigid_slider_crank_moves_as_its_closed_form() -> None:
    truth = load("ivp_testset/slider_crank_rigid_s.json")
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
    assert forces["tau[phi1']"] == pytest.approx([row["drive_torque"] for row in table], rel=1e-9, abs=1e-9)


@pytest.mark.slow
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


@pytest.mark.slow
def test_what_only_the_time_moves_has_a_motion_too() -> None:
    drum = kn.loads("gravity 9.81; parameters w = 2; B | Rz(w*t), Sx(0.5) = 3, 1, 1, 1;")
    assert kn.kinematics(drum, {}, t=[0.0])["B.ax"] == pytest.approx([-2.0])
    assert kn.reactions(drum, {}, t=[0.0]).wrenches[0, 0, :3] == pytest.approx([-6.0, 0, 3 * 9.81])
    assert (kn.equilibrium(drum).stable, len(kn.base_parameters(drum))) == (True, 0)
    assert kn.inverse_kinematics(drum, {"B.x": 0.5})[0].free == 0


# -- motions given in part ---------------------------------------------------------------------------------------------

BLADE = kn.loads(
    "Rod | Sx(x), Sy(y), Rz(phi) = m(2), Jz(0.08); coordinates x, y, phi; constraint edge : x'*sin(phi) = y'*cos(phi);"
    "force f on Rod = (-10*Rod.x, -10*Rod.y, 0);"
)


@pytest.mark.slow
@pytest.mark.parametrize("system", [BLADE, SKATE], ids=["multipliers", "quasi-velocities"])
def test_what_only_speeds_bind_is_integrated(system: kn.System) -> None:
    times = np.linspace(0, 1.2, 9)
    found = kn.kinematics(system, {"phi": "t", "x": "sin(t)"}, t=times)
    assert found["y"] == pytest.approx(1 - np.cos(times), abs=1e-12)
    arrays = kn.kinematics(system, {"phi": times, "x": np.sin(times)}, t=times)
    assert arrays["y"] == pytest.approx(1 - np.cos(times), abs=1e-5)


@pytest.mark.slow
def test_forces_along_an_integrated_motion_are_those_at_its_positions() -> None:
    part = kn.inverse(BLADE, {"phi": "t", "x": "sin(t)"}, ["phi'", "x'"], t=TIMES)
    every = kn.inverse(BLADE, {"phi": "t", "x": "sin(t)", "y": "1 - cos(t)"}, ["phi'", "x'"], t=TIMES)
    assert part.tau == pytest.approx(every.tau, rel=1e-9, abs=1e-9)


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert kn.statics(bound, t=1.0)["tau[b']"] == pytest.approx(kn.statics(driven, t=1.0)["tau[b']"], abs=1e-13)


def test_masses_of_nothing_leave_reactions_of_a_given_motion_as_they_are() -> None:
    text = "gravity 9.81; coordinates x, y, p; A | Sx(x - y), Ry(p), Sx(1) = 2;"
    loop = kn.loads(text + "loop L : distance = 1 between A and ground at (1, 0, -1);")
    motion = {"x": [0.3], "y": [0.3], "p": [0.0]}
    assert kn.inverse(loop, motion, t=[0.0])["lambda.L"] == pytest.approx([19.62])
    assert kn.reactions(loop, motion, t=[0.0])["A.fz"] == pytest.approx([0.0], abs=1e-12)
    assert kn.reactions(kn.loads(text), motion, t=[0.0])["A.fz"] == pytest.approx([19.62])


@pytest.mark.slow
def test_outputs_of_a_model_are_series_of_a_given_motion() -> None:
    arm = kn.loads(
        "parameters l = 2 m; A | Ry(a), Sz(-l) = 1; B ~ A | Ry(b), Sz(-1) = 1; coordinates a, b;"
        "output camber = a + b, turning = a'' + b'', energy, size = |a(B)|, A.vx;"
    )
    found = kn.kinematics(arm, {"a": "sin(t)", "b": "t^2"}, t=TIMES)
    assert found["camber"] == pytest.approx(np.sin(TIMES) + TIMES**2, abs=1e-14)
    assert found["turning"] == pytest.approx(2 - np.sin(TIMES), abs=1e-14)
    assert found["size"] == pytest.approx(np.linalg.norm([found[f"B.a{c}"] for c in "xyz"], axis=0), abs=1e-13)
    assert found.units["camber"] == "rad"
    run = kn.simulate(arm, 1.0, q={"a": 0.4}, v={"b'": 2.0}, t_eval=TIMES[TIMES <= 1])
    along = kn.kinematics(arm, run)
    for name in run.outputs:
        assert along[name] == pytest.approx(run[name], abs=1e-12), name


CRANK = """model crank; A | Rz(a) = m(1), Jz(0.1); R ~ A | Sx(1), Rz(b), Sx(2) = m(1), Jz(0.1); S | Sx(x) = 1;
constraint cx : R.x = x; constraint cy : R.y = 0; initial a = 0.5, b = -0.8, x = 2.8;"""
FOLDED = "model folded; A | Rz(a), Sx(0.5) = 1; B ~ A | Rz(b), Sx(1) = 1; C | Sx(1), Rz(c), Sx(0.5) = 1; "


@pytest.mark.parametrize(
    ("text", "motion", "times", "words"),
    [
        (
            CRANK,
            {"x": "2.8 + 0.2*t"},
            (0.0, 1.0),
            "the position at t = 1 s is singular: the constraint cx and the motion of x",
        ),
        (
            CRANK,
            {"x": "3 - 0.2*cos(t)^2"},
            (0.0, np.pi / 2),
            "is singular: the constraint cx and the motion of x depend on",
        ),
        (
            CRANK,
            {"x": "2.8 + 0.2*t"},
            (0.0, 1.5),
            "misses it by .* m, and the constraint cx and the motion of x depend on",
        ),
        (
            FOLDED + "constraint u : B.x = C.x; constraint v : B.y = C.y;",
            {"a": "t - 0.5"},
            (0.0, 0.5),
            "at t = 0.5 s is sing",
        ),
    ],
)
@pytest.mark.parametrize("task", [kn.kinematics, kn.inverse])
def test_a_motion_into_a_dead_centre_is_named(
    task: Any, text: str, motion: dict[str, str], times: tuple[float, float], words: str
) -> None:
    """Speeds are without bound there, or their branch is a matter of rounding."""
    with pytest.raises(kn.SimulationError, match=words):
        task(kn.loads(text), motion, t=np.linspace(*times, 6))


# -- first-order states -------------------------------------------------------------------------------------------------

RELAXING = "B | Sx(x) = 1; coordinates x; state z : z' = x - z; initial x = 1, z = 0.5; force f = -4*x - z on x;"


@pytest.mark.parametrize("task", [kn.kinematics, kn.inverse])
def test_states_of_a_motion_follow_from_their_rates(task: Any, tmp_path: Path) -> None:
    """What a run has done is taken from it, from its arrays, fine and coarse, and from its table; another state is refused."""
    system = kn.loads(RELAXING)
    run = kn.simulate(system, 2.0, samples=101)
    run.save(tmp_path / "run.csv")
    task(system, run)
    task(system, tmp_path / "run.csv")
    for k in (1, 20):
        task(system, {"x": run["x"][::k], "z": run["z"][::k]}, t=run.t[::k])
    text = (tmp_path / "run.csv").read_text().splitlines()
    column = text[0].split(",").index("z")
    rows = [line.split(",") for line in text[1:]]
    for row in rows:
        row[column] = "0.5"
    (tmp_path / "held.csv").write_text("\n".join([text[0], *(",".join(row) for row in rows)]))
    sentence = "contradicts the rate of the state 'z': at t = .* and .* by the model. Give the z that goes with it"
    wrong = [({"x": run["x"], "z": np.cos(run.t)}, run.t), (tmp_path / "held.csv", None)]
    for motion, t in wrong:
        with pytest.raises(SimulationError, match=sentence):
            task(system, motion, **({} if t is None else {"t": t}))


def test_states_given_as_expressions_follow_from_their_rates() -> None:
    system, t = kn.loads(RELAXING), np.linspace(0.0, 1.0, 5)
    kn.kinematics(system, {"x": "sin(t)", "z": "(sin(t) - cos(t))/2"}, t=t)
    with pytest.raises(SimulationError, match="at t = 0 s its rate is 1, and 0 by the model"):
        kn.kinematics(system, {"x": "t", "z": "t"}, t=t)
    kn.kinematics(system, {"x": "t", "z": "7"}, t=[0.5])


def test_states_that_switches_set_are_not_judged() -> None:
    system = kn.loads(f"{RELAXING} when late : t >= 1 : z = 3;")
    run = kn.simulate(system, 2.0, samples=101)
    kn.kinematics(system, {"x": run["x"], "z": run["z"]}, t=run.t)
