"""What joints pass on along given motions and along runs, on which more acts than the model says."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.errors import ArgumentError
from tests.mechanics.test_golubev import State, case
from tests.mechanics.test_wittenburg import Case
from tests.models import FOURBAR, STOPPED
from tests.support import EXAMPLES, some


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_welds_carry_and_redundant_constraints_leave_reactions_open() -> None:
    mast = kn.loads("gravity 9.81; A | Rx(a), Sz(-1) = 1; B ~ A | Sz(-0.5) = 2; coordinates a; initial a = 0.3;")
    held = kn.reactions(mast, kn.statics(mast))
    assert held["A.fz"] == pytest.approx([3 * 9.81])
    assert held["B.fz"] == pytest.approx([2 * 9.81])
    # About the hinge, a metre above the frame's origin, the couple is that of the drive.
    assert held["A.nx"] == pytest.approx([(1 + 2 * 1.5) * 9.81 * np.sin(0.3)])
    assert abs(held["A.nx"]) == pytest.approx(abs(kn.statics(mast)["tau[a']"]))
    bricard = kn.load(EXAMPLES / "bricard.kin")
    run = kn.simulate(bricard, 0.2, samples=3)
    assert set(kn.reactions(bricard, run).indeterminate) == {"R1", "R2", "R3", "R4", "R5", "P5"}
    assert set(kn.reactions(bricard, run).shared) == {"P5.x", "P5.y", "P5.z", "P5.ru", "P5.rw"}
    forces = kn.inverse(bricard, run, ["q1'"])
    assert {n: told for n, told in forces.determinate.items() if told} == {"tau[q1']": True}
    assert kn.reactions(FOURBAR, kn.simulate(FOURBAR, 0.1)).indeterminate == ()


def test_reactions_say_where_actuators_share_by_least_squares() -> None:
    """What others would do as well changes the reactions of all joints named, and of no other."""
    motion, t = {"theta": "0.8 + t"}, [0.0, 0.5, 1.0]
    alone, both = (kn.inverse(FOURBAR, motion, names, t=t) for names in (["theta'"], ["theta'", "gamma'"]))
    assert kn.reactions(FOURBAR, alone).shared == kn.reactions(FOURBAR, alone).indeterminate == ()
    found = kn.reactions(FOURBAR, both)
    assert set(found.shared) == {"tau[theta']", "tau[gamma']", "pin.x", "pin.y"}
    other = kn.reactions(FOURBAR, kn.inverse(FOURBAR, motion, ["theta'", "gamma'"], t=t, weights={"gamma'": 3.0}))
    changed = np.abs(found.wrenches - other.wrenches).max(axis=(0, 2)) > 1e-9
    assert found.indeterminate == tuple(n for n, x in zip(found.names, changed.tolist(), strict=True) if x)


def test_reactions_say_where_feet_that_stick_share_by_least_squares() -> None:
    table = kn.loads("""
    gravity 9.81; coordinates x, z, p;
    Box | Sx(x), Sz(z), Ry(p) = 2, 0.1, 0.1, 0.1; Lid ~ Box | Sz(0.1) = 0.3;
    Left ~ Box | Sx(-0.3), Sz(-0.2) = 0.1; Right ~ Box | Sx(0.3), Sz(-0.2) = 0.1;
    contact feet : point between Left, Right and ground axis (0, 0, 1), friction = 0.6;
    initial z = 0.2;
    """)
    found = kn.reactions(table, kn.simulate(table, 0.5, samples=3))
    assert found.indeterminate == ("Left", "Right")
    assert len(found.shared) == 2
    assert all(n.endswith(("u", "w")) for n in found.shared)
    icy = table.replace(contacts=[kn.contact("feet", "point", ["Left", "Right"], "ground", normal=(0, 0, 1))])
    assert kn.reactions(icy, kn.simulate(icy, 0.5, samples=3)).shared == ()


# -- runs on which more acts than the model says -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", some(["bouncing_ball", "friction_oscillator", "hopper", "rocking_block", "sliding_block"], 3)
)
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
