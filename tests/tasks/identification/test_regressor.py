"""The regressor and base parameters: Pinocchio's columns, known numbers, closed systems, identification."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pinocchio
import pytest

import kineta as kn
from kineta.cli.main import app
from kineta.errors import ArgumentError
from tests.mechanics.random_systems import random_system
from tests.model.urdf.peer import Peer
from tests.model.urdf.test_peer import ARMS, WALKERS
from tests.support import EXAMPLES, slow

PUMA, FOURBAR = kn.load(EXAMPLES / "puma560.kin"), kn.load(EXAMPLES / "fourbar.kin")
ARM = kn.loads(
    "gravity (0, -9.81, 0); parameters l = 0.7; A | Rz(a) = m(1), Jz(0.1), com = (0.3, 0, 0);"
    "B ~ A | Sx(l), Rz(b) = m(2), Jz(0.2), com = (0.2, 0, 0); coordinates a, b; damper d = 0.3 on b;"
)
PLANAR_ARM = kn.loads(
    "gravity (0, -9.81, 0); parameters l = 0.5; elbow | Rz(a), Sx(l) = 1; hand ~ elbow | Rz(b), Sx(0.3) = 0.4; coordinates a, b;"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "floating"), [(ARMS[0], False), (ARMS[2], False), (WALKERS[0], True), (WALKERS[1], True)]
)
def test_columns_are_those_of_the_peer(file: str, floating: bool) -> None:
    peer = Peer(file, floating=floating)
    q, v, vdot = peer.random_state(0)
    Y = kn.derive(peer.system).function("regressor")(0.0, q, v, vdot)
    G, model = peer.G, peer.model
    expected = G.T @ pinocchio.computeJointTorqueRegressor(model, peer.data, peer.to_peer(q), G @ v, G @ vdot)
    names = [b.name for b in peer.system.bodies]
    carried = {
        f.parentJoint: f.name
        for f in reversed(list(model.frames))
        if f.type == pinocchio.FrameType.BODY and f.placement.isIdentity(1e-12) and f.name in names
    }
    joints = [j for j in carried if j]
    assert len(joints) == model.njoints - 1
    for j in joints:
        k = names.index(carried[j])
        found = Y[:, 10 * k : 10 * k + 10]
        assert found == pytest.approx(expected[:, 10 * j - 10 : 10 * j], abs=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(6))
def test_forces_are_the_regressor_times_the_parameters_and_what_elements_do(seed: int) -> None:
    system = random_system(seed, rheonomic=True, elements=True)
    rng, e = np.random.default_rng(seed), kn.derive(system)
    bare = kn.derive(system.replace(elements=()))
    q, v, vdot = rng.uniform(-1, 1, system.nq), *rng.uniform(-1, 1, (2, system.nv))
    for offset in system.quaternions.values():
        q[offset : offset + 4] /= np.linalg.norm(q[offset : offset + 4])
    p = dict.fromkeys(system.parameter_names, 0.7)
    Y = e.function("regressor", "numpy")(0.3, q, v, vdot, p=p)
    own = e.function("inertial_parameters", "numpy")(0.3, q, v, p=p)
    expected = bare.function("inverse", "numpy")(0.3, q, v, vdot, p=p)
    assert Y @ own.ravel() == pytest.approx(expected, abs=1e-11 * max(1.0, np.abs(expected).max()))


@pytest.mark.slow
def test_the_puma_has_36_base_parameters() -> None:
    base = kn.base_parameters(PUMA)
    assert (len(base), len(base.names)) == (36, 60)
    assert base.gap[0] > 1e6 * base.gap[1]
    # They are all that forces need.
    rng = np.random.default_rng(1)
    q, v, vdot = rng.uniform(-2, 2, (3, 6))
    e = kn.derive(PUMA)
    Y = e.function("regressor")(0.0, q, v, vdot)
    assert Y @ base.inverse @ base.values == pytest.approx(e.function("inverse")(0.0, q, v, vdot), abs=1e-12)
    assert {"link1.m", "link1.Ixx"} <= set(base.none)


def test_formulas_say_what_is_moved_where() -> None:
    base = kn.base_parameters(ARM)
    assert base.formulas == ("A.mx + l B.m", "A.my", "A.Izz + l^2 B.m", "B.mx", "B.my", "B.Izz")
    assert base.values == pytest.approx([0.3 + 1.4, 0, 0.1 + 0.09 + 0.98, 0.4, 0, 0.2 + 0.08])
    # Frames at the ends of the rods.
    ends = kn.base_parameters(kn.load(EXAMPLES / "double_pendulum.kin"))
    assert ends.formulas[2] == "first.Izz + l1^2 first.m + l1^2 second.m - 2*l1 first.my"
    assert ends.values[2] == pytest.approx(2.0)


@pytest.mark.slow
def test_coefficients_in_formulas_are_simplified() -> None:
    bicycle = kn.base_parameters(kn.load(EXAMPLES / "bicycle.kin").replace(contacts=()))
    turned = (
        "sin(lam)^2 Fork.Ixx + 2*sin(lam)*cos(lam) Fork.Ixy + cos(lam)^2 Fork.Iyy + (c*cos(lam) - rF*sin(lam))^2 Fr"
    )
    assert sum(formula.startswith(turned) for formula in bicycle.formulas) == 1
    ball = kn.base_parameters(kn.load(EXAMPLES / "ball_in_cylinder.kin"))
    assert "Radius.Izz + (R - r)^2 Ball.m" in ball.formulas


@pytest.mark.slow
def test_a_closed_system_has_fewer() -> None:
    opened, base = kn.base_parameters(FOURBAR.replace(constraints=())), kn.base_parameters(FOURBAR)
    assert (len(opened), len(base)) == (9, 8)
    # Open or closed, all that forces need is told, with numbers where lengths of the loop come in.
    assert "Crank.mx + a Coupler.m" in opened.formulas
    assert base.gap[0] > 1e6 * base.gap[1]


#: A load in place of the gripper of the PUMA.
LOAD = kn.inertia(3.2, (0.05, 0.06, 0.03), (0.004, -0.002, 0.001), com=(0.03, -0.02, 0.11))


def exciting(names: tuple[str, ...], seed: int) -> dict[str, kn.Expr]:
    """A motion of sines."""
    rng, t = np.random.default_rng(seed), kn.symbol("t")
    return {
        n: sum(a * kn.sin(w * t + c) for a, w, c in rng.uniform((0.1, 0.4, 0), (0.5, 3, 6), (4, 3)).tolist())
        for n in names
    }


@pytest.mark.slow
def test_a_noisy_recording_tells_the_base_parameters() -> None:
    base, times = kn.base_parameters(PUMA), np.linspace(0, 20, 1001)
    motion = exciting(PUMA.q_names, 1)
    tau = kn.inverse(PUMA, motion, t=times).tau
    exact = kn.identify(base, motion, tau, t=times)
    assert exact.values == pytest.approx(base.values, abs=1e-10)
    noisy = kn.identify(base, motion, tau + 0.05 * np.random.default_rng(2).standard_normal(tau.shape), t=times)
    assert noisy.residual == pytest.approx(0.05, rel=0.05)
    off = np.abs(noisy.values - base.values) / noisy.deviations
    assert off.max() < 4.5
    assert 0.5 < np.sqrt((off**2).mean()) < 1.5


@pytest.mark.slow
def test_closed_systems_and_elements_are_identified_too() -> None:
    base, times = kn.base_parameters(FOURBAR), np.linspace(0, 10, 401)
    motion = {"theta": "0.8 + 3*t + 0.5*sin(2*t) + 0.3*sin(5*t)"}
    drive = kn.inverse(FOURBAR, motion, ["theta'"], t=times)
    found = kn.identify(base, motion, drive.tau, t=times)
    assert found.values == pytest.approx(base.values, abs=1e-8)
    arm = kn.base_parameters(ARM)
    run = kn.simulate(ARM, 5.0, q=[0.3, 1.0], v=[2.0, -1.0], tau={"a'": kn.sin(3 * kn.symbol("t"))}, samples=201)
    assert kn.identify(arm, run).values == pytest.approx(arm.values, abs=1e-8)


def test_what_identifies_nothing_is_said() -> None:
    base, times = kn.base_parameters(PUMA), np.linspace(0, 1, 11)
    still = dict.fromkeys(PUMA.q_names, 0.3)
    with pytest.raises(ArgumentError, match=r"this motion tells .* of 36 base parameters apart"):
        kn.identify(base, still, np.zeros((11, 6)), t=times)
    with pytest.raises(ArgumentError, match=r"Expected the forces tau of shape \(11, 6\)"):
        kn.identify(base, still, np.zeros((11, 5)), t=times)
    with pytest.raises(ArgumentError, match="found none"):
        kn.identify(base, still, t=times)


def test_the_regressor_goes_along_motions() -> None:
    found = kn.regressor(PUMA, exciting(PUMA.q_names, 3), t=np.linspace(0, 1, 5))
    assert found.Y.shape == (5, 6, 60)
    assert found.names[:10] == tuple(f"link1.{c}" for c in "m mx my mz Ixx Ixy Iyy Ixz Iyz Izz".split())
    tau = kn.inverse(PUMA, exciting(PUMA.q_names, 3), t=np.linspace(0, 1, 5)).tau
    assert found.Y @ found.parameters == pytest.approx(tau, abs=1e-12)


def test_what_a_motion_does_not_tell_is_refused() -> None:
    arm = kn.loads("gravity 9.81; A | Ry(q), Sx(1) = 1;")
    base, times = kn.base_parameters(arm), np.linspace(0, 3, 50)
    noise = 1e-3 * np.random.default_rng(0).standard_normal((50, 1))
    for motion in ({"q": "0.1 + t"}, {"q": 0.1 + times}):
        with pytest.raises(ArgumentError, match="this motion tells 2 of 3 base parameters apart"):
            kn.identify(base, motion, kn.inverse(arm, motion, t=times).tau + noise, t=times)
    with pytest.raises(ArgumentError, match=r"Expected finite forces tau, found .* at t = 0 s"):
        kn.identify(base, {"q": "sin(t)"}, np.full((50, 1), np.nan), t=times)


@pytest.mark.slow
def test_what_a_motion_does_not_tell_is_named() -> None:
    """A joint at rest tells nothing of what only its motion meets; what is told only together is so in all forces."""
    base, times = kn.base_parameters(PUMA), np.linspace(0, 10, 301)
    motion = exciting(PUMA.q_names, 4) | dict.fromkeys(PUMA.q_names[:3], 0.4)
    found = kn.excitation(base, motion, t=times)
    assert not all(found.told)
    assert found.untold or found.together
    Y = kn.regressor(PUMA, motion, t=times).Y.reshape(-1, len(base.names)) @ base.inverse
    # What it tells decides the forces: whatever differs in nothing told changes none.
    rest = np.linalg.svd(found.combinations)[2][len(found.combinations) :]
    assert np.linalg.norm(Y @ rest.T) < 1e-6 * np.linalg.norm(Y)
    sizes = np.linalg.norm(Y, axis=0)
    moved = Y[:, sizes > 1e-9] / sizes[sizes > 1e-9]
    assert np.linalg.matrix_rank(moved, tol=1e-6) == len(found.combinations)
    with pytest.raises(ArgumentError, match=r"base parameters apart from 1806 forces, .*only together .link2.mx"):
        kn.identify(base, motion, kn.inverse(PUMA, motion, t=times).tau, t=times)
    whole = kn.excitation(base, exciting(PUMA.q_names, 1), t=times)
    assert all(whole.told)
    assert whole.combinations == pytest.approx(np.eye(36))
    assert (whole.untold, whole.together) == ((), ())


def test_a_turn_at_even_speed_tells_no_moment_of_inertia() -> None:
    arm = kn.loads("gravity 9.81; A | Ry(q), Sx(1) = 1;")
    found = kn.excitation(kn.base_parameters(arm), {"q": "0.1 + t"}, t=np.linspace(0, 3, 50))
    assert found.told == (True, True, False)
    assert found.untold == ("A.m + A.Iyy + 2 A.mx",)
    assert "not at all: A.m + A.Iyy + 2 A.mx" in str(found)


@pytest.mark.parametrize("posture", list(product((0.0, np.pi / 2, np.pi, -0.7), repeat=2)))
def test_a_still_arm_tells_what_its_weight_depends_on(posture: tuple[float, float]) -> None:
    """Two torques of an arm at rest, of the weights of both links: sums of rounding are no third."""
    base, times = kn.base_parameters(PLANAR_ARM), np.linspace(0, 1, 11)
    still = dict(zip(("a", "b"), posture, strict=True))
    found = kn.excitation(base, still, t=times)
    (x, y), places = np.array([np.cos([posture[0], sum(posture)]), np.sin([posture[0], sum(posture)])]), (0, 1, 3, 4)
    weights = np.zeros((2, 6))
    weights[0, places], weights[1, places] = [x[0], -y[0], x[1], -y[1]], [0, 0, x[1], -y[1]]
    rest = np.linalg.svd(np.vstack([weights, found.combinations]))[1]
    assert rest[2:] == pytest.approx(0, abs=1e-12)
    assert len(found.combinations) == 2
    assert np.count_nonzero(found.combinations) == np.count_nonzero(np.abs([x[0], y[0], x[1], y[1]]) > 1e-9)
    assert {2, 5} <= {k for k, f in enumerate(base.formulas) if f in found.untold}
    with pytest.raises(ArgumentError, match="this motion tells 2 of 6 base parameters apart from 22 forces, not elbow"):
        kn.identify(base, still, kn.inverse(PLANAR_ARM, still, t=times).tau, t=times)


@pytest.mark.slow
def test_a_known_robot_tells_all_of_an_unknown_load() -> None:
    """With all other bodies known, the ten parameters of the last one are found from the forces alone."""
    others, times = [b.name for b in PUMA.bodies[:-1]], np.linspace(0, 10, 401)
    base = kn.base_parameters(PUMA, known=others)
    load = PUMA.bodies[-1].name
    assert base.formulas == tuple(f"{load}.{c}" for c in "m mx my mz Ixx Ixy Iyy Ixz Iyz Izz".split())
    assert base.none == ()
    heavier = PUMA.replace(
        bodies=[*PUMA.bodies[:-1], kn.body(load, PUMA.bodies[-1].motions, LOAD, base=PUMA.bodies[-1].base)]
    )
    motion = exciting(PUMA.q_names, 1)
    found = kn.identify(base, motion, kn.inverse(heavier, motion, t=times).tau, t=times)
    of_load = kn.regressor(heavier, motion, t=[0.0]).parameters[-10:]
    assert found.values == pytest.approx(of_load, abs=1e-9)
    # One parameter known of a body leaves the others of it.
    part = kn.base_parameters(PUMA, known=[*others, f"{load}.m"])
    assert part.formulas == base.formulas[1:]
    assert part.known[-1] == f"{load}.m"


@pytest.mark.parametrize("closed", [False, *slow([True])])
def test_what_is_known_leaves_combinations_of_the_rest(closed: bool) -> None:
    """The forces are those of the known and of the combinations found, whatever the others are."""
    system = FOURBAR if closed else PUMA
    known = system.bodies[0].name
    base, all_of_it = kn.base_parameters(system, known=[known]), kn.base_parameters(system)
    unknown = [n not in base.known for n in base.names]
    assert np.linalg.matrix_rank(all_of_it.matrix[:, unknown], tol=1e-8) == len(base)
    assert not base.matrix[:, [not x for x in unknown]].any()
    rebuilt = all_of_it.matrix[:, unknown] @ base.inverse[unknown] @ base.matrix[:, unknown]
    assert rebuilt == pytest.approx(all_of_it.matrix[:, unknown], abs=1e-8)


def test_known_parts_are_bodies_or_parameters() -> None:
    with pytest.raises(ArgumentError, match=r"no body or inertial parameter 'link7'. Did you mean 'link"):
        kn.base_parameters(PUMA, known=["link7"])
    with pytest.raises(ArgumentError, match="all bodies are known; leave out those that are to be found"):
        kn.base_parameters(PUMA, known=[b.name for b in PUMA.bodies])


def test_dry_friction_is_part_of_what_a_run_tells_and_of_no_recording() -> None:
    arm = kn.loads("gravity 9.81; A | Ry(q), Sx(1) = 1; friction dry = 2 on q;")
    with pytest.warns(kn.KinetaWarning, match="only runs know dry friction"):
        base = kn.base_parameters(arm)
    run = kn.simulate(arm, 3.0, samples=50, tau=[20 * kn.sin(7 * kn.symbol("t"))])
    assert kn.identify(base, run).values == pytest.approx(base.values, abs=1e-9)
    with pytest.raises(ArgumentError, match="along a recorded motion the forces of dry are not known"):
        kn.identify(base, {"q": run["q"]}, run.tau, t=run.t)


def test_what_a_recording_tells_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "still.csv"
    t = np.linspace(0, 3, 61)
    np.savetxt(table, np.column_stack([t, 0 * t + 0.3, np.sin(t)]), delimiter=",", header="t,q1,q2", comments="")
    app.main(
        ["identify", str(EXAMPLES / "double_pendulum.kin"), str(table), "--excitation", "--json"], standalone_mode=False
    )
    said = json.loads(capsys.readouterr().out)
    assert [one["told"] for one in said["base"]] == [False, False, False, True, True, True]
    assert len(said["untold"]) == len(said["together"]) == 1
