"""Equilibria: forces in balance, stability as the potential says, families through folds and past bifurcations."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import kineta as kn
from kineta.errors import ArgumentError, SimulationError
from kineta.views.branches import figure
from tests.mechanics.truth import load
from tests.support import EXAMPLES, slow

PENDULUM = "gravity 9.81; B | Rx(q1), Sz(-0.5) = m(2); coordinates q1; initial q1 = 0.4, q1' = 3;"

HOOP = """gravity 9.81; parameters r = 0.5; coordinates ph, th;
H | Rz(ph) = Jz(0.1); B ~ H | Ry(th), Sz(-r) = m(1);"""

COLUMN = """parameters P = 0, c = 1, l = 1; coordinates a, b;
A | Rz(a) = m(1), Jz(1), com = (0.5, 0, 0); B ~ A | Sx(1), Rz(b) = m(1), Jz(1), com = (0.5, 0, 0);
point E on B = (1, 0, 0); force load at E = (-P, 0, 0); spring s1 = c on a; spring s2 = c on b;"""

TRUSS = """parameters F = 0, k = 100, h = 0.3; coordinates y; M | Sy(y) = 1; initial y = h;
spring s1 = k, sqrt(1 + h^2) between M and ground at (1, 0, 0);
spring s2 = k, sqrt(1 + h^2) between M and ground at (-1, 0, 0); force load at M = (0, -F, 0);"""


def arm(truth: dict[str, Any]) -> kn.System:
    """The two-link arm of the vector."""
    parameters = ", ".join(f"{n} = {x}" for n, x in truth["parameters"].items())
    return kn.loads(
        f"gravity (0, -g, 0); parameters {parameters}; coordinates q1, q2; {truth['model']}"
        "point T on B = (L2 - a2, 0, 0); spring s1 = C1 on q1 - g10; spring s2 = C2 on q2 - g20;"
        "spring s3 = C3, L0 between T and ground at (ax, ay, 0); force tip at T = (Fx, Fy, 0);"
    )


def test_the_equilibria_of_the_arm_are_those_of_the_vector() -> None:
    truth = load("vectors/andreev_equilibrium.json")
    system = arm(truth)
    for expected in truth["equilibria"]:
        found = kn.equilibrium(system, q=expected["start"])
        assert found.q == pytest.approx(expected["q0"], abs=1e-12)
        assert found.stable == expected["stable"]
        assert found.stability.stiffness == pytest.approx(np.array(expected["tangent_stiffness"]), abs=1e-9)
        assert found.stability.omega_squared == pytest.approx(expected["omega_squared"], abs=1e-8)


def test_rest_is_found_whatever_the_initial_speeds() -> None:
    found = kn.equilibrium(kn.loads(PENDULUM))
    assert (found.initial["q1"], found.v[0], found.stable) == (pytest.approx(0, abs=1e-15), 0.0, True)
    assert found.stability.omega_squared == pytest.approx([9.81 / 0.5])
    assert np.sort(found.stability.poles.imag) == pytest.approx(np.array([-1, 1]) * np.sqrt(9.81 / 0.5))


def test_a_robot_rests_whatever_turns_about_the_vertical() -> None:
    puma = kn.load(EXAMPLES / "puma560.kin")
    found = kn.equilibrium(puma, q=[0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    assert kn.statics(puma, found.q).tau == pytest.approx(np.zeros((1, 6)), abs=1e-12)
    assert np.abs(found.stability.omega_squared).min() == pytest.approx(0, abs=1e-9)


def test_many_starts_find_what_there_is_once() -> None:
    found = kn.equilibria(kn.load(EXAMPLES / "double_pendulum.kin"), starts=20)
    assert [e.stable for e in found] == [True, False, False, False]
    assert [e.potential_energy for e in found] == pytest.approx(np.array([-3, -1, 1, 3]) * 9.81)


@pytest.mark.slow
def test_a_closed_system_rests_where_its_potential_is_least() -> None:
    system = kn.load(EXAMPLES / "fourbar.kin")
    found = kn.equilibria(system, starts=10)
    resting = [e for e in found if e.stable]
    assert len(found) == 4
    assert len(resting) == 2
    # A motion with friction comes to one of them.
    run = kn.simulate(system, 40.0, tau={"theta'": -2.0 * kn.symbol("theta'")}, samples=2)
    (rest,) = [e for e in resting if np.abs(np.cos(e.q) - np.cos(run.q[-1])).max() < 1e-6]
    assert run["lambda.pin.y"][-1] == pytest.approx(rest.multipliers["pin.y"], abs=1e-4)


def test_a_governor_turns_as_fast_as_its_arms_say() -> None:
    found = kn.equilibrium(kn.load(EXAMPLES / "governor.kin"), steady=["phi'"])
    m, M, L, a, e = 0.8, 2.5, 0.3, 0.18, 0.03
    alpha = found.initial["alpha1"]
    square = 9.81 * np.tan(alpha) * (m * L + M * a) / (m * L * (e + L * np.sin(alpha)))
    assert np.sqrt(square) == pytest.approx(10.0, rel=1e-12)
    assert found.stable
    # It nutates with the frequency of the small motions, at the momentum of the shaft.
    system = kn.load(EXAMPLES / "governor.kin")
    start = {n: x for n, x in found.initial.items() if n in system.q_names}
    start["alpha1"] += 1e-4
    run = kn.simulate(system, 5.0, **_assembled(system, start), samples=4001)
    crossings = np.flatnonzero(np.diff(np.sign(run["alpha1"] - run["alpha1"].mean())) > 0)
    period = np.diff(run.t[crossings]).mean()
    assert 2 * np.pi / period == pytest.approx(np.sqrt(found.stability.omega_squared[0]), rel=1e-3)


def _assembled(system: kn.System, start: dict[str, float]) -> dict[str, Any]:
    found = kn.assemble(system, q=start, v={"phi'": 10.0})
    return {"q": found.q, "v": found.v}


@pytest.mark.slow
def test_a_coin_rolls_on_circles() -> None:
    truth = load("nonholonomic/coin_steady_and_euler_disk_s.json")
    text = (EXAMPLES / "rolling_coin.kin").read_text().partition("initial")[0]
    system = kn.loads(text + "quasi lean = theta', W = phi', spin = psi'; initial theta = 1.2, z = r*sin(1.2);")
    for case in truth["expected"]["steady"]:
        theta = case["theta"]
        found = kn.equilibrium(
            system,
            q={"theta": theta, "z": 0.2 * np.sin(theta)},
            v={"W": case["precession_W"], "spin": -10.0},
            steady=["W", "spin"],
            free=["spin"],
            pinned=["theta", "z"],
        )
        assert found.initial["spin"] == pytest.approx(case["psi_dot"], abs=1e-9)
    # Upright it falls below sqrt(g/3r), and keeps upright above.
    for spin, stable in ((0.99, False), (1.01, None)):
        upright = {"q": {"theta": np.pi / 2, "z": 0.2}, "v": {"spin": spin * np.sqrt(9.81 / 0.6)}, "pinned": ["theta"]}
        assert kn.equilibrium(system, steady=["W", "spin"], **upright).stable is stable


@pytest.mark.slow
def test_gyroscopes_and_dampers_decide_where_the_potential_does_not() -> None:
    plate = "parameters c = {}; coordinates x, y; B | Rz(3*t), Sx(x), Sy(y) = 1; spring k = 4 on x; spring l = 4 on y;"
    damped = plate + "damper d = c on x; damper e = c on y;"
    # A mass on a turning plate: centrifugal forces win over the springs, and Coriolis' hold it, but not against friction.
    assert kn.equilibrium(kn.loads(plate.format(0))).stable is None
    assert kn.equilibrium(kn.loads(damped.format(0.1))).stable is False
    assert kn.equilibrium(kn.loads(damped.format(-0.1))).stable is False
    stiff = kn.loads(damped.format(0.1).replace("4", "40"))
    assert kn.equilibrium(stiff).stable is True
    follower = "coordinates a; B | Rz(a) = Jz(1); spring k = 1 on a; damper d = -0.1 on a;"
    found = kn.equilibrium(kn.loads(follower))
    assert (found.stable, found.stability.omega_squared.tolist()) == (False, [1.0])


@pytest.mark.slow
def test_a_column_buckles_at_its_critical_loads() -> None:
    found = kn.family(kn.loads(COLUMN), "P", 4.0)
    loads = [s.parameter for s in found.special]
    assert [s.kind for s in found.special] == ["bifurcation", "bifurcation"]
    assert loads == pytest.approx([(3 - np.sqrt(5)) / 2, (3 + np.sqrt(5)) / 2], abs=1e-9)
    straight, *bent = found.branches
    assert len(bent) == 4
    beside = ~np.isin(straight.parameter, loads)
    assert straight.stable[beside].tolist() == (straight.parameter[beside] < loads[0]).tolist()
    for branch in bent[:2]:
        a, b = branch["a"][-1], branch["b"][-1]
        assert [a, b] == pytest.approx([4 * (np.sin(a) + np.sin(a + b)), 4 * np.sin(a + b)], abs=1e-9)
        assert np.nanmin(branch.stable) == 1


@pytest.mark.slow
def test_a_truss_snaps_through_at_its_fold() -> None:
    found = kn.family(kn.loads(TRUSS), "F", 3.0)
    length = np.hypot(1, 0.3)
    y = np.sqrt(length ** (2 / 3) - 1)
    (fold,) = found.special
    assert fold.kind == "fold"
    assert fold.q[0] == pytest.approx(y, abs=1e-7)
    assert fold.parameter == pytest.approx(200 * (length / np.hypot(1, y) - 1) * y, rel=1e-12)
    (branch,) = found.branches
    assert branch.parameter[[0, -1]] == pytest.approx([0, 0], abs=1e-9)
    assert branch["y"][-1] == pytest.approx(0, abs=1e-9)
    assert np.all(branch.stable[branch["y"] > y + 0.01] == 1)
    assert np.all(branch.stable[branch["y"] < y - 0.01] == 0)


@pytest.mark.slow
def test_a_steady_speed_is_a_parameter_too() -> None:
    found = kn.family(kn.loads(HOOP), "ph'", 10.0, steady=["ph'"])
    assert found.special[0].parameter == pytest.approx(np.sqrt(9.81 / 0.5), abs=1e-9)
    for branch in found.branches[1:]:
        w, angle = branch.parameter[-1], branch["th"][-1]
        assert w == pytest.approx(10.0, abs=1e-9)
        assert np.cos(angle) == pytest.approx(9.81 / 0.5 / w**2, abs=1e-12)
        assert branch.stable[-1] == 1


@pytest.mark.slow
@pytest.mark.parametrize("load", [15.0, 30.0, 300.0])
def test_no_step_leads_over_a_fold(load: float) -> None:
    truss = kn.loads(
        "gravity (0, -9.81, 0); parameters P = 0; Top | Sx(x), Sy(y) = 0.1; coordinates x, y; initial y = 0.1;"
        "spring left = 1e4, 0.51 between Top and ground at (-0.5, 0, 0); force load on Top = (0, -P, 0);"
        "spring right = 1e4, 0.51 between Top and ground at (0.5, 0, 0);"
    )
    found = kn.family(truss, "P", load)
    assert [s.kind for s in found.special] == ["fold"]
    assert found.special[0].parameter == pytest.approx(14.3387666, abs=1e-6)
    assert np.abs(np.diff(found.branches[0]["y"])).max() < 0.05
    assert (found.reached, found.notes[-1]) == (False, f"no branch comes to P = {load:g}")


def test_a_speed_to_go_along_has_to_be_steady() -> None:
    with pytest.raises(ArgumentError, match=r"no parameter 'phi'' to go along\. It is a speed: name it in"):
        kn.family(kn.load(EXAMPLES / "governor.kin"), "phi'", 16.0)


def test_what_is_pinned_is_held_by_no_force() -> None:
    with pytest.raises(SimulationError, match=r"No force holds a pinned coordinate: .* ask statics for the forces"):
        kn.equilibrium(kn.load(EXAMPLES / "double_pendulum.kin"), {"q1": 1.0}, pinned=["q1"])


@pytest.mark.slow
def test_pictures_of_families_leave_out_what_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    mpl.use("agg")
    drawn: list[Any] = []
    monkeypatch.setattr("kineta.views.branches.picture", lambda figure, path: drawn.append(figure))
    system = kn.loads(
        "parameters F = 0; coordinates x, y; A | Sx(x), Sy(y) = 1; spring a = 2 on x; spring b = 3 on y; force f = F on y;"
    )
    figure(kn.family(system, "F", 1.0), "a.png")
    assert [ax.get_ylabel() for ax in drawn[0].axes] == ["y [m]"]


@pytest.mark.slow
def test_a_family_is_drawn() -> None:
    mpl.use("agg")
    ax = kn.family(kn.loads(COLUMN), "P", 1.0).plot("b")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("P", "b [rad]")
    assert {"stable", "unstable", "bifurcation"} <= set(ax.get_legend_handles_labels()[1])


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ("B | Rz(q1) = Jz(1); force f = 2 on q1;", {}, "'q1'' is still off by 2 N\\*m, and no step makes less of it"),
        (
            "B | Rz(q1) = Jz(1); force f = 2 on q1;",
            {},
            "depends on what q1' moves: where it goes on, name it as steady",
        ),
        (PENDULUM + "force f = sin(t) on q1;", {}, "off by 0.841 N\\*m at t = 1 s; the time changes it"),
        (PENDULUM, {"steady": ["q1'"]}, "the coordinates that q1' move are not ignorable"),
    ],
)
def test_what_is_no_equilibrium_is_said(text: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(SimulationError, match=said):
        kn.equilibrium(kn.loads(text), **given)


@pytest.mark.slow
def test_wrong_names_and_ends_are_said() -> None:
    pendulum, column = kn.loads(PENDULUM), kn.loads(COLUMN)
    with pytest.raises(ArgumentError, match="no speed 'q2'' to go on"):
        kn.equilibrium(pendulum, steady=["q2'"])
    with pytest.raises(ArgumentError, match="list of names of speeds"):
        kn.equilibrium(pendulum, steady="q1'")
    with pytest.raises(ArgumentError, match="no parameter 'Q' to go along"):
        kn.family(column, "Q", 1.0)
    with pytest.raises(ArgumentError, match="Expected an end beside P = 0"):
        kn.family(column, "P", 0.0)
    with pytest.raises(ArgumentError, match="found cases"):
        kn.equilibrium(pendulum, q=[[0.1], [0.2]])
    sliding = kn.loads(COLUMN.replace("A |", "A | Sz(z),").replace("coordinates a, b", "coordinates z, a, b"))
    assert len(kn.family(sliding, "P", 0.2).branches) == 1
    level = kn.loads("parameters P = 0; coordinates x, y; A | Sx(x), Sy(y) = 1; spring k = 1 on x - y;")
    with pytest.raises(SimulationError, match="in 1 direction there are equilibria beside the first one"):
        kn.family(level, "P", 1.0)


def test_what_would_rest_on_a_contact_is_said_to_have_none() -> None:
    text = "gravity 9.81; B | Sx(x), Sz(z) = 1; coordinates x, z; contact floor : point between B and ground axis (0, 0, 1);"
    without = pytest.warns(
        kn.KinetaWarning, match="an equilibrium is of its equations without floor: only runs know contacts"
    )
    refused = pytest.raises(
        SimulationError, match=r"Contacts and limits \(floor\) hold nothing here; a run with damping"
    )
    with without, refused:
        kn.equilibrium(kn.loads(text))


LIMITED = "gravity 9.81; Arm | Ry(q1), Sx(1) = 1; spring k = 1 on q1; limit stop : -0.5 <= q1 <= 0.5;"
BENT = "parameters k = 1; coordinates x; C | Sx(x) = 1; potential V = {V}; initial x = {x};"


@pytest.mark.slow
def test_beyond_a_limit_nothing_rests() -> None:
    limited = kn.loads(LIMITED)
    for find in (kn.equilibrium, kn.equilibria):
        with pytest.raises(SimulationError, match=r"q1 = 1.425 lies beyond the limit 'stop' \(q1 <= 0.5\)"):
            find(limited)
    wide = kn.loads(LIMITED.replace("-0.5 <= q1 <= 0.5", "q1 <= 4.0"))
    free = wide.replace(contacts=())
    assert {round(e.q[0], 9) for e in kn.equilibria(wide)} == {
        round(e.q[0], 9) for e in kn.equilibria(free) if e.q[0] <= 4.0
    }
    pushed = LIMITED.replace("gravity 9.81;", "parameters F = 0;").replace("spring", "force f = F on q1; spring")
    found = kn.family(kn.loads(pushed), "F", 2.0)
    assert (found.branches[0]["q1"][-1], found.branches[0].parameter[-1]) == (pytest.approx(0.5), pytest.approx(0.5))
    assert found.notes == ("branch 1 ends at F = 0.5, where it reaches the limit stop",)


@pytest.mark.slow
@pytest.mark.parametrize("x", [0.0, 1.0])
@pytest.mark.parametrize("V", ["x^4/4 - k*x^2/2", "x^3/3 - k*x^2/2"])
def test_where_branches_cross_both_are_followed_from_either(V: str, x: float) -> None:
    found = kn.family(kn.loads(BENT.format(V=V, x=x)), "k", -1.0)
    assert [(s.kind, s.parameter, s.q[0]) for s in found.special] == [
        ("bifurcation", pytest.approx(0, abs=1e-12), pytest.approx(0, abs=1e-12))
    ]
    other = -1.0 if "x^3" in V else 1.0  # the parameter where the bent branch ends with x = -1
    ends = {(round(b.parameter[-1], 6), round(b["x"][-1], 6) + 0.0) for b in found.branches}
    every = {(1.0, 0.0), (-1.0, 0.0), (1.0, 1.0), (other, -1.0)}
    assert len(found.branches) == 3
    assert ends < every
    assert len(ends) == 3


@pytest.mark.slow
def test_a_hoop_that_slows_down_leaves_the_bent_branch() -> None:
    hoop = "gravity 9.81; parameters r = 0.5, w = 5; coordinates th; B | Rz(w*t), Ry(th), Sz(-r) = 1; initial th = 1;"
    found = kn.family(kn.loads(hoop), "w", 4.0)
    assert [s.parameter for s in found.special] == [pytest.approx(np.sqrt(9.81 / 0.5), abs=1e-9)]
    assert len(found.branches) == 3


@pytest.mark.parametrize(
    ("text", "end", "note"),
    [
        *slow([("force f = 1 - k*x on x; initial x = 1;", -1.0, "after 400 points; ask for more")]),
        ("force f = k - sqrt(x) on x; initial x = 1;", -1.0, "beyond, no equilibrium is found"),
        ("spring s = 1 on x - k;", -5.0, ""),
        ("spring s = 1 on x; D ~ C | Sy(1) = k;", -5.0, "expected zero or more"),
    ],
)
def test_a_family_that_ends_before_says_why(text: str, end: float, note: str) -> None:
    found = kn.family(kn.loads(f"parameters k = 1; coordinates x; C | Sx(x) = 1; {text}"), "k", end)
    assert note in " ".join(found.notes)
    assert bool(found.notes) == bool(note)


@pytest.mark.slow
def test_what_hardly_resists_does_not_decide() -> None:
    rest = "A | Ry(q) = 1,1,1,1; potential V = {}; initial q = {};"
    for potential in ("q^3", "q^5", "q^4"):
        for start in (0.5, -0.5):
            assert kn.equilibrium(kn.loads(rest.format(potential, start))).stable is None


@pytest.mark.parametrize(
    ("force", "stable"), [("0.1*q'^3", None), ("0.1*abs(q')*q'", None), ("-0.1*q'^3", True), ("0.3", True)]
)
def test_a_force_that_feeds_fast_motions_leaves_a_minimum_undecided(force: str, stable: bool | None) -> None:
    fed = kn.loads(f"A | Ry(q) = 1,1,1,1; spring s = 4 on q; force f = {force} on q;")
    assert kn.equilibrium(fed).stable is stable


def test_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(ArgumentError, match="Expected a finite number for t, found nan"):
        kn.equilibrium(kn.loads(PENDULUM), t=np.nan)


@pytest.mark.parametrize("hertz", [1, 10, 16, 25, 50, 60, 1000])
def test_what_is_shaken_does_not_rest_at_any_frequency(hertz: int) -> None:
    shaken = kn.loads(
        "parameters f = 1 Hz; coordinates x; B | Sx(x) = 1; spring k = 100 on x; force F = cos(2*pi*f*t) on x;"
    )
    with pytest.raises(SimulationError, match=r"no equilibrium lasts: .*; the time changes it"):
        kn.equilibrium(shaken, p={"f": hertz})


def test_constraints_that_the_time_moves_ask_for_steady_speeds() -> None:
    hoop = kn.loads(
        "gravity 9.81; coordinates a, b; constraint d : a = 5*t; initial b = 1;"
        "Hoop | Rz(a) = Jz(1); Bead ~ Hoop | Ry(b), Sz(-1) = 1;"
    )
    with pytest.raises(SimulationError, match="The time moves it: name the speeds that go on with it as steady"):
        kn.equilibrium(hoop)
    found = kn.equilibrium(hoop, v={"a'": 5.0}, steady=["a'"])
    assert np.cos(found.q[1]) == pytest.approx(9.81 / 25)


@pytest.mark.slow
def test_rests_are_told_apart_by_lengths_and_angles_whatever_their_energy() -> None:
    for size in (1, 1e6):
        text = (
            f"gravity (0, -9.81, 0); coordinates a; A | Rz(a) = m({size}), com = (0, 1, 0); spring s = {5 * size} on a;"
        )
        found = kn.equilibria(kn.loads(text))
        assert sorted(e.q[0] for e in found) == pytest.approx([-1.873055510632, 0, 1.873055510632], abs=1e-8)


def test_rests_are_told_apart_by_coordinates_that_move_no_body() -> None:
    found = kn.equilibria(kn.loads("coordinates s; inertia L = 1 on s; potential V = (s^2 - 1)^2;"))
    assert sorted(e.q[0] for e in found) == pytest.approx([-1, 0, 1], abs=1e-8)


def test_a_rest_that_does_not_last_hides_no_other() -> None:
    system = kn.loads("coordinates x; M | Sx(x) = 1; force F = -x*(x - 1 - 0.5*sin(t)) on x;")
    (found,) = kn.equilibria(system)
    assert found.q == pytest.approx([0], abs=1e-8)
    with pytest.raises(SimulationError, match="no equilibrium lasts"):
        kn.equilibria(system, q={"x": 1}, starts=0)


def test_a_family_that_cannot_leave_its_start_says_why() -> None:
    text = "parameters F = 0; M | Sx(x) = 1; coordinates x; spring k = 1 on x; force f = F on x; limit stop : x <= 0;"
    found = kn.family(kn.loads(text), "F", 1)
    assert found.branches == ()
    assert found.notes == ("the first branch ends at F = 0, where it reaches the limit stop",)
    with pytest.raises(ArgumentError, match="no branch to draw: the first branch ends at F = 0"):
        found.plot()


def test_a_family_of_fast_motions_takes_as_few_steps_as_one_of_slow_ones() -> None:
    motor = kn.loads(
        "parameters V = 10; R | Rz(p) = Jz(0.1); coordinates p; state i : i' = (V - 2*i - 0.5*p')/0.1; force t = 0.5*i on p;"
        "damper d = 0.01 on p'; initial p' = 15, i = 1;"
    )
    found = kn.family(motor, "V", 20.0, steady=["p'"], free=["p'"])
    assert found.reached
    (branch,) = found.branches
    assert len(branch.parameter) < 100
    assert branch["p'"] == pytest.approx(
        0.5 * branch.parameter / (0.25 + 0.02), rel=1e-9
    )  # 0.5 i = 0.01 w, 2 i = V - 0.5 w


SLIDE = "parameters k = 100 N/m; Slide | Sx(x) = 1 kg; coordinates x; force f = {} on x;"


@pytest.mark.parametrize(
    ("force", "stable", "reason"),
    [
        ("-k*(x - 0.3 m) - k*max(0, x - 0.3 m)", True, "a minimum, with another stiffness on each side"),
        ("-k*max(0, x) + 0*if(x > 0, 1 N, 2 N)", None, "the forces have another stiffness on each side of it"),
        ("-k*(x - 0.3 m) - 1e4*k*max(0, x - 0.3 m)", True, "a minimum, with another stiffness on each side"),
        ("-k*(x - 0.3 m) + 2*k*max(0, x - 0.3 m)", None, "the forces have another stiffness on each side of it"),
        ("-k*x - 1 N*sign(x)", None, "the forces jump there"),
    ],
)
def test_corners_of_forces_have_no_stiffness(force: str, stable: bool | None, reason: str) -> None:
    """A stiffness there would be that of a side which rounding chooses."""
    found = kn.equilibrium(kn.loads(SLIDE.format(force)))
    assert found.stable is stable
    assert reason in found.stability.reason
    assert not found.stability.poles.size
    assert not found.stability.omega_squared.size
    assert not found.stiffness.names


@pytest.mark.parametrize(
    ("force", "stable", "poles"),
    [
        ("-k*x - 1 N*sign(x')", True, 0),  # dry friction takes energy
        ("-k*x - 2 N*s/m*abs(x')", None, 0),  # gives as much as it takes
        ("-k*x - 2 N*s^2/m^2*x'*abs(x')", True, 2),  # smooth enough
    ],
)
def test_corners_of_forces_at_rest_have_no_poles(force: str, stable: bool | None, poles: int) -> None:
    found = kn.equilibrium(kn.loads(SLIDE.format(force)))
    assert found.stable is stable
    assert len(found.stability.poles) == poles
    np.testing.assert_allclose(found.stiffness.matrix, [[100.0]])
