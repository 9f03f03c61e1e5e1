"""Contact, impacts, dry friction, limits and switches, by closed forms and by what must hold in any motion."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import kineta as kn

EXAMPLES = Path(__file__).parents[2] / "examples"
G = 9.81


def example(name: str) -> kn.System:
    return kn.load(EXAMPLES / f"{name}.kin")


def words(result: kn.Result) -> list[str]:
    return [what for _, what in result.changes]


def times(result: kn.Result, what: str) -> np.ndarray:
    return np.array([t for t, word in result.changes if word == what])


# -- impacts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("e", [0.3, 0.7, 0.9])
def test_a_ball_bounces_at_the_times_of_its_closed_form_and_comes_to_rest(e: float) -> None:
    v = math.sqrt(2 * G)
    run = kn.simulate(example("bouncing_ball"), 4 * v / G / (1 - e), p={"e": e})
    strikes = times(run, "floor strikes")
    expected = v / G * (1 + 2 * np.cumsum(e ** np.arange(1, 9)))
    assert np.abs(strikes[1:9] - expected[: len(strikes[1:9])]).max() < 1e-9
    assert times(run, "floor rests") == pytest.approx(v / G * (1 + e) / (1 - e), abs=1e-7 / (1 - e))
    assert run.notes == (f"'floor' came to rest at t = {strikes[-1]:.6g} s after {len(strikes)} impacts.",)
    assert run["lambda.floor.n"][-1] == pytest.approx(0.2 * G, rel=1e-12)
    assert run.residual < 1e-12


def test_an_even_flight_is_one_step() -> None:
    run = kn.simulate(example("bouncing_ball"), 2.4)
    strikes = times(run, "floor strikes")
    own = [int(((run.t > a) & (run.t <= b)).sum()) for a, b in pairwise(strikes)]
    assert len(own) > 5
    assert set(own) == {1 + 1}  # the state at the impact is there before and after it


def test_a_ball_that_only_grazes_the_ceiling_strikes_it() -> None:
    """It would be beyond the ceiling for a tenth of a millisecond, within a step of half a second."""
    for length in (1e-2, 1e-4):
        reached = math.sqrt(2 * G * (1 + G * (length / 2) ** 2 / 2))
        ball = kn.loads(
            "gravity 9.81; coordinates z; B | Sz(z) = 1;"
            f"limit ceiling : z <= 1, restitution = 0.5; initial z' = {reached!r};"
        )
        run = kn.simulate(ball, 0.9)
        assert words(run) == ["ceiling.upper strikes"]
        assert times(run, "ceiling.upper strikes") == pytest.approx(reached / G - length / 2, abs=1e-9)
        assert run["z"].max() < 1 + 1e-9


def test_newton_and_poisson_agree_where_one_ball_strikes() -> None:
    text = (EXAMPLES / "bouncing_ball.kin").read_text()
    poisson = kn.loads(text.replace("restitution = e", "restitution = e poisson"))
    runs = [kn.simulate(s, 2.0, samples=50) for s in (example("bouncing_ball"), poisson)]
    assert np.abs(runs[0].y - runs[1].y).max() < 1e-12


def test_a_rocking_block_loses_what_housner_says() -> None:
    run = kn.simulate(example("rocking_block"), 4.0)
    ratio = 1 - 1.5 * 0.1**2 / (0.1**2 + 0.3**2)
    t, rate = run.t, run["q'"]
    jumps = np.flatnonzero(np.diff(t) == 0)
    early = [k for k in jumps if abs(rate[k]) > 1e-3]
    assert len(early) > 20
    assert [rate[k + 1] / rate[k] for k in early] == pytest.approx([ratio] * len(early), rel=1e-6)
    assert np.abs(run.v[-1]).max() < 1e-15
    assert run["lambda.floor.Left.n"][-1] == pytest.approx(G / 2, rel=1e-9)


def test_balls_in_a_row_pass_their_momentum_on() -> None:
    row = kn.loads(
        "A | Sx(a) = 1; B | Sx(b) = 1; C | Sx(c) = 2; coordinates a, b, c;"
        "limit ab : b - a >= 0.1, restitution = 1; limit bc : c - b >= 0.1, restitution = 0.5;"
        "initial b = 0.5, c = 1.0, a' = 1;"
    )
    run = kn.simulate(row, 3.0)
    a, b, c = run.v[-1]
    assert (a, b, c) == pytest.approx((0.0, 0.0, 0.5), abs=1e-12)
    assert words(run)[:2] == ["ab.lower strikes", "ab.lower leaves"] or "ab.lower strikes" in words(run)


def test_a_pendulum_leaves_its_stop_with_the_part_of_its_speed_that_is_restored() -> None:
    text = "gravity 9.81; A | Ry(q1), Sz(-1) = 1; limit stop : q1 >= 0, restitution = 0.6 {}; initial q1 = 1;"
    for law in ("", "poisson"):
        run = kn.simulate(kn.loads(text.format(law)), 1.5)
        (k,) = np.flatnonzero(np.diff(run.t) == 0)[:1]
        assert run["q1'"][k] == pytest.approx(-math.sqrt(2 * G * (1 - math.cos(1))), rel=1e-9)
        assert run["q1'"][k + 1] == pytest.approx(-0.6 * run["q1'"][k], rel=1e-12)


def test_no_impact_gives_energy() -> None:
    """Newton's law with friction may: a rod that strikes slanting, with Kane's paradox in it."""
    rod = kn.loads(
        "gravity 9.81; Rod | Sx(x), Sz(z), Ry(q) = m(1), Jy(1/12); point Tip on Rod = (0.5, 0, 0);"
        "contact floor : point between Tip and ground axis (0, 0, 1), restitution = 0.9, friction = 1.2;"
        "initial z = 0.6, x' = -2, q = 1; coordinates x, z, q;"
    )
    rng = np.random.default_rng(1)
    for _ in range(12):
        v = rng.normal(size=3) * [3, 1, 6]
        run = kn.simulate(rod, 0.8, v=v)
        lost = np.diff(run.energy)[np.diff(run.t) == 0]
        assert (lost <= 1e-9).all()


# -- friction -----------------------------------------------------------------------------------------------------------


def test_a_block_on_a_slope_sticks_and_slips_at_the_angles_of_its_coefficients() -> None:
    run = kn.simulate(example("sliding_block"), 6.0)
    assert run.changes == ((pytest.approx(10 * math.atan(0.5), abs=1e-9), "slope slips"),)


def test_a_block_that_slips_comes_to_rest_after_its_way() -> None:
    block = kn.loads(
        "gravity 9.81; B | Sx(x), Sy(y), Sz(z) = 1; coordinates x, y, z;"
        "contact floor : point between B and ground axis (0, 0, 1), friction = 0.3;"
    )
    for v in ([1.0, 0.0, 0.0], [0.6, -0.8, 0.0]):
        run = kn.simulate(block, 1.0, v=v)
        assert run.q[-1] == pytest.approx(np.array(v) / (2 * 0.3 * G), abs=1e-9)
        assert times(run, "floor sticks") == pytest.approx(1 / (0.3 * G), abs=1e-6)
        assert np.abs(run.v[-1]).max() == 0


def test_an_oscillator_with_dry_friction_stops_where_the_closed_form_says() -> None:
    run = kn.simulate(example("friction_oscillator"), 20.0)
    assert run["x"][-1] == pytest.approx(0.05, abs=1e-8)
    turns = [(pytest.approx(k * math.pi / 2, abs=1e-7), "floor reverses") for k in range(1, 7)]
    assert run.changes == (*turns, (pytest.approx(7 * math.pi / 2, abs=1e-7), "floor sticks"))
    assert run["x'"][-1] == 0


def test_what_sticks_holds_more_than_what_slips() -> None:
    block = kn.loads("B | Sx(x) = 1; coordinates x; friction dry = 1, static = 2 on x;")
    t = kn.symbol("t")
    run = kn.simulate(block, 3.0, tau={"x'": t})
    assert run.changes == ((pytest.approx(2.0, abs=1e-9), "dry slips"),)
    assert run["x'"][-1] == pytest.approx(3**2 / 2 - 2**2 / 2 - 1, abs=1e-8)


def test_smooth_friction_comes_near_to_dry_friction() -> None:
    text = (EXAMPLES / "friction_oscillator.kin").read_text()
    smooth = kn.loads(text.replace("friction floor = F on x", "friction floor = F, smooth = 1e-4 on x"))
    run = kn.simulate(smooth, 5.0)
    exact = kn.simulate(example("friction_oscillator"), 5.0)
    assert run["x"][-1] == pytest.approx(exact["x"][-1], abs=1e-3)
    assert not run.changes


def test_forces_that_are_sampled_act_on_what_rubs_smoothly() -> None:
    text = "coordinates x; b | Sx(x) = 2 kg; friction floor = 3, smooth = 0.1 on x; initial x' = 1;"
    held, steady = (kn.simulate(kn.loads(text), 2.0, tau=tau) for tau in (kn.sampled([5.0] * 8, 4.0), 5.0))
    assert held["x"][-1] == pytest.approx(steady["x"][-1], abs=1e-9)


# -- what must hold in any motion ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_forces_push_stay_in_their_cone_and_never_meet_a_gap() -> None:
    box = example("thrown_box")
    corners = "ABCDEFGH"
    more = {f"gap {c}": kn.symbol(f"{c}.z") for c in corners}
    run = kn.simulate(
        box.replace(outputs=[*box.outputs, *(kn.Output(n.replace(" ", "_"), x) for n, x in more.items())]), 2.0
    )
    for c in corners:
        gap, normal = run[f"gap_{c}"], run[f"lambda.floor.{c}.n"]
        along = np.hypot(run[f"lambda.floor.{c}.u"], run[f"lambda.floor.{c}.w"])
        assert gap.min() > -1e-9
        assert normal.min() > -1e-9
        assert (along <= 0.4 * normal + 1e-6).all()
        assert np.abs(gap * normal).max() < 1e-9
    assert (np.diff(run.energy) <= 1e-7).all()
    assert np.abs(run.v[-1]).max() < 1e-12
    assert run["box.z"][-1] == pytest.approx(min((0.2, 0.15, 0.1), key=lambda s: abs(s - run["box.z"][-1])), abs=1e-9)
    assert sum(run[f"lambda.floor.{c}.n"][-1] for c in corners) == pytest.approx(G, rel=1e-9)


#: What changes no motion: a contact that is never closed, one that is closed beside, and the order of contacts.
BESIDE = {
    "never touched": "contact roof : point between Left, Right and ground at (0, 0, 5) axis (0, 0, -1), friction = 0.5;",
    "far beside": "Ball | Sz(u) = 1; coordinates x, z, q, u; contact other : point between Ball and ground axis (0, 0, 1), "
    "restitution = 0.5; initial u = 0.3;",
    "at rest beside": "Slab | Sx(w), Sz(u) = 1; coordinates x, z, q, w, u; friction rub = 0.4 on w;"
    "contact other : point between Slab and ground axis (0, 0, 1), friction = 0.5;",
}


@pytest.mark.parametrize("name", BESIDE)
def test_contacts_that_do_not_couple_with_others_change_no_motion(name: str) -> None:
    text = (EXAMPLES / "rocking_block.kin").read_text(encoding="utf-8")
    times = np.linspace(0, 1.0, 21)
    runs = [kn.simulate(kn.loads(t), 1.0, t_eval=times, rtol=1e-11, atol=1e-13) for t in (text, text + BESIDE[name])]
    own = [change for change in runs[1].changes if change[1].startswith("floor")]
    assert [what for _, what in own] == [what for _, what in runs[0].changes]
    assert [t for t, _ in own] == pytest.approx([t for t, _ in runs[0].changes], abs=1e-8)
    for row in runs[0].states:
        assert runs[1][row] == pytest.approx(runs[0][row], abs=1e-8), row
    if name == "never touched":
        assert len(own) == len(runs[1].changes)
        assert not any(runs[1][row].any() for row in runs[1].series if row.startswith("lambda.roof"))


@pytest.mark.parametrize("samples", [None, 601])
def test_the_foot_of_a_hopper_is_never_pulled(samples: int | None) -> None:
    run = kn.simulate(example("hopper"), 6.0, samples=samples)
    assert run["lambda.ground.n"].min() > -1e-6
    assert run["Foot.z"].min() > -1e-12
    hops = times(run, "ground leaves")
    assert len(hops) == 8
    assert len(times(run, "compressed switches")) == pytest.approx(len(hops), abs=1)
    first = [
        "ground strikes",
        "ground rests",
        "ground sticks",
        "compressed switches",
        "ground leaves",
        "airborne switches",
    ]
    assert words(run)[:6] == first


@pytest.mark.slow
def test_closed_loops_touch_too() -> None:
    """A hanging chain of two rods closed to a triangle that falls onto a floor: as the same triangle welded together."""
    text = """
    gravity 9.81;
    A | Sx(x), Sz(z), Ry(q) = m(1), Jy(0.1);
    B ~ A | Ry(p) = m(1), com = (0.5, 0, 0), Jy(0.02);
    point P on B = (1, 0, 0); point Q on A = (0.6, 0, 0.8);
    coordinates x, z, q, p;
    {}
    contact floor : point between A, P and ground axis (0, 0, 1), restitution = 0.2, friction = 0.5;
    initial z = 0.5, q = 0.3, p = {};
    """
    angle = -math.atan2(0.8, 0.6)
    closed = kn.loads(text.format("loop c : ball between P and Q;", angle))
    held = kn.loads(text.format("constraint c : p = " + repr(angle) + ";", angle))
    runs = [kn.simulate(s, 0.9, samples=30) for s in (closed, held)]
    assert runs[0].success
    assert runs[1].success
    assert np.abs(runs[0].y - runs[1].y).max() < 1e-6


@pytest.mark.slow
def test_the_work_of_impacts_and_friction_belongs_to_the_balance() -> None:
    for name, end in (
        ("thrown_box", 2.0),
        ("friction_oscillator", 8.0),
        ("rocking_block", 1.5),
        ("sliding_block", 6.0),
    ):
        assert kn.simulate(example(name), end).energy_balance < 1e-7


def test_cases_move_as_each_alone() -> None:
    ball = example("bouncing_ball")
    e = np.array([[0.05, 0.7], [0.05, 0.4]])
    p = np.column_stack([np.full(2, 0.2), e])
    cases = kn.simulate(ball, 3.0, p=p, samples=40)
    for i in range(2):
        assert (cases.case(i).y == kn.simulate(ball, 3.0, p=p[i], samples=40).y).all()
    assert cases["lambda.floor.n"][:, -1] == pytest.approx(0.2 * G)


def test_events_at_an_impact_are_found_once() -> None:
    ball = example("bouncing_ball")
    run = kn.simulate(ball, 1.5, events=[kn.event(kn.symbol("z") - 0.05, name="down")])
    assert run.t_events[0] == pytest.approx(times(run, "floor strikes"), abs=1e-12)


def test_sampled_forces_and_contact_share_a_run() -> None:
    block = kn.loads("B | Sx(x) = 1; coordinates x; friction dry = 1 on x;")
    run = kn.simulate(block, 2.0, tau={"x'": kn.sampled([0.0, 0.5], [0.9, 1.5])})
    assert run["x"][-1] == pytest.approx(0.5 * 1.5**2 / 2, abs=1e-9)
    assert run.changes[0] == (pytest.approx(0.5), "dry slips")


def test_what_happened_is_saved(tmp_path: Path) -> None:
    run = kn.simulate(example("friction_oscillator"), 12.0)
    run.save(tmp_path / "run.nc")
    assert kn.load_result(tmp_path / "run.nc").changes == run.changes


def test_the_solution_between_times_knows_the_modes() -> None:
    run = kn.simulate(example("bouncing_ball"), 1.0, dense_output=True)
    strike = times(run, "floor strikes")[0]
    assert run.sol(strike - 1e-9)[3] == pytest.approx(-math.sqrt(2 * G), rel=1e-7)
    assert run.sol(strike + 1e-9)[3] == pytest.approx(0.7 * math.sqrt(2 * G), rel=1e-7)


# -- switches -----------------------------------------------------------------------------------------------------------


def test_a_switch_sets_parameters_coordinates_and_speeds() -> None:
    clock = kn.loads(
        "parameters n = 0; C | Rz(q) = Jz(1); when round : q >= 1 : q = q - 1, q' = 2*q', n = n + 1; initial q' = 1;"
        "when late : n >= 2.5 : stop; output n;"
    )
    run = kn.simulate(clock, 10.0)
    assert times(run, "round switches") == pytest.approx([1, 1.5, 1.75], abs=1e-9)
    assert run["n"][-1] == 3


def test_a_guard_keeps_a_switch_from_what_it_does() -> None:
    text = (
        "parameters on = {}; C | Sx(x) = 1; coordinates x; when past : x >= 1 and on == 1 : x' = -x'; initial x' = 1;"
    )
    text += "when never : x >= 9 : on = 2;"
    ends = [kn.simulate(kn.loads(text.format(on)), 2.0)["x"][-1] for on in (0, 1)]
    assert ends == pytest.approx([2.0, 0.0])


# -- what cannot be -----------------------------------------------------------------------------------------------------


def test_a_start_inside_the_ground_is_refused() -> None:
    with pytest.raises(kn.SimulationError, match=r"'floor' is 0.05 m beyond its contact; expected a gap of zero"):
        kn.simulate(example("bouncing_ball"), 1.0, q=[0, 0])


def test_other_methods_and_times_that_fall_are_refused() -> None:
    with pytest.raises(kn.SimulationError, match="dop853 or dopri5 or moreau"):
        kn.simulate(example("bouncing_ball"), 1.0, method="RK45")
    with pytest.raises(kn.SimulationError, match="forwards in time"):
        kn.simulate(example("bouncing_ball"), (1.0, 0.0))


def test_switches_that_set_each_other_off_end_in_a_sentence() -> None:
    chatter = kn.loads(
        "C | Sx(x) = 1; coordinates x; when a : x >= 1 : x = 0.5; when b : x <= 0.5 : x = 1; initial x' = 1;"
    )
    run = kn.simulate(chatter, 3.0)
    assert run.t[-1] <= 3.0


def test_tasks_that_know_nothing_of_contact_say_so() -> None:
    ball = example("bouncing_ball")
    with pytest.warns(kn.KinetaWarning, match="what is kept is of its equations without floor"):
        kn.first_integrals(ball)


@pytest.mark.parametrize(("static", "slips"), [("", 3.0), (", static = 0.4", 4.0)])
@pytest.mark.parametrize("turns", ["", ", Rz(p)"])
def test_two_feet_slip_together_when_both_can_hold_no_more(static: str, slips: float, turns: str) -> None:
    """However they share what they hold: their normal forces differ as the force pushes above them."""
    block = kn.loads(
        f"gravity (0, -10, 0); R | Sx(x), Sy(y){turns} = m(1), Jz(0.1); coordinates x, y{', p' * bool(turns)};"
        "point P on R = (0.5, -0.2, 0); point Q on R = (-0.5, -0.2, 0); force F on R = (t, 0, 0); initial y = 0.2;"
        f"contact feet : point between P, Q and ground axis (0, 1, 0), friction = 0.3{static};"
    )
    run = kn.simulate(block, 6.0)
    assert run["x"][-1] == pytest.approx(
        (6**3 - slips**3) / 6 - slips**2 / 2 * (6 - slips) - 3 * (6 - slips) ** 2 / 2, abs=1e-6
    )
    assert times(run, "feet.P slips") == pytest.approx(slips, abs=1e-6)


def test_friction_beside_a_stop_holds_no_more_than_it_can() -> None:
    bob = kn.loads(
        "gravity 9.81; B | Sz(z) = 1; coordinates z; limit floor : z >= 0; friction guide = 0.3 on z; initial z = 1;"
    )
    run = kn.simulate(bob, 2.0)
    assert abs(run["lambda.guide"][-1]) <= 0.3
    assert run["lambda.guide"][-1] + run["lambda.floor.lower"][-1] == pytest.approx(9.81, abs=1e-9)


def test_friction_of_zero_holds_nothing() -> None:
    clutch = kn.loads(
        "parameters on = 1; A | Sx(x) = 1; coordinates x; force f = 1 on x; friction c = 2*on on x; when off : t >= 1 : on = 0;"
    )
    assert kn.simulate(clutch, 3.0)["x"][-1] == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize("e", [0.1, 0.5])
def test_what_hops_lower_than_times_can_tell_is_at_rest(e: float) -> None:
    ball = example("bouncing_ball")
    assert kn.simulate(ball, 200.0, p={"e": e})["z"][-1] == pytest.approx(0.05, abs=1e-12)
    assert kn.simulate(ball, 1e4, q={"z": 0.05}, v={"z'": 1e-9})["z"][-1] == pytest.approx(0.05, abs=1e-12)


def test_laws_that_are_none_are_refused_when_they_come_to_be() -> None:
    text = (EXAMPLES / "bouncing_ball.kin").read_text()
    worn = kn.loads(text + "when worn : t >= 1 : e = 1.5;")
    run = kn.simulate(worn, 3.0)
    assert not run.success
    assert "Contact 'floor' (<text>:8:9): expected a restitution from 0 to 1, found 1.5." in run.message


def test_constraints_of_the_time_and_contact_share_a_run() -> None:
    sled = kn.loads(
        "B | Sx(x), Sy(y) = 1; coordinates x, y; friction f = 1 on x; constraint c : y = sin(t); initial y' = 1, x' = 1;"
    )
    assert kn.simulate(sled, 2.0)["x"][-1] == pytest.approx(0.5, abs=1e-9)


def test_a_start_beyond_a_limit_is_told_with_its_unit() -> None:
    with pytest.raises(
        kn.SimulationError, match=r"'stop\.lower' is 1 rad beyond its limit; expected a value within it"
    ):
        kn.simulate(kn.loads("B | Rz(q) = Jz(1); limit stop : 1 <= q <= 2;"), 1.0)


def test_a_start_that_is_brought_back_from_beyond_a_contact_or_limit_says_so() -> None:
    ball = kn.loads("gravity 9.81; B | Sx(x), Sz(z) = 1; coordinates x, z; limit stop : x <= 1; limit ground : z >= 0;")
    run = kn.simulate(ball, 1.0, q={"x": 1.0 + 2e-7, "z": -1e-6})
    assert run.notes == ("the start was 1.0e-06 m beyond 'ground.lower' and was brought back onto it",)
    assert kn.simulate(ball, 1.0, q={"x": 1.0 + 1e-12, "z": -1e-12}).notes == ()


@pytest.mark.parametrize("more", ["", "limit ground : y >= 0; force w = -1 on y;"])
def test_a_gap_without_a_slope_is_refused(more: str) -> None:
    flat = kn.loads(f"A | Sx(x) = 1; B | Sx(y) = 1; coordinates x, y; limit l : x^2 >= 0; {more}")
    with pytest.raises(
        kn.SimulationError, match=r"at t = 0 s 'l\.lower' has a gap that no speed changes, as x\^2 where"
    ):
        kn.simulate(flat, 1.0)


@pytest.mark.parametrize("height", ["0.2*step(Ball.x - 1)", "0.2*floor(Ball.x)"])
def test_ground_with_a_step_is_named_where_a_run_stops_at_it(height: str) -> None:
    text = "gravity 9.81; Ball | Sx(x), Sz(z) = 1; coordinates x, z; initial x' = 1, z = 0.001;"
    run = kn.simulate(
        kn.loads(text + f"contact floor : point between Ball and ground axis (0, 0, 1) height {height};"),
        2.0,
        method="events",
    )
    assert run["x"][-1] == pytest.approx(1.0, abs=0.05)
    assert not run.success
    assert "'floor' has a kink or a step there" in run.message


def test_friction_that_falls_below_zero_on_the_way_ends_the_run_there() -> None:
    text = (
        "gravity 9.81; coordinates x, z; B | Sx(x), Sz(z) = 1; force f = 2 on x; initial x' = 1;"
        "contact floor : point between B and ground axis (0, 0, 1), friction = {};"
    )
    run = kn.simulate(kn.loads(text.format("0.2 - x")), 3.0)
    assert not run.success
    assert "'floor' has friction that falls below zero; expected zero or more" in run.message
    assert run["x"][-1] == pytest.approx(0.2, abs=1e-9)
    assert kn.simulate(kn.loads(text.format("max(0.2 - x, 0)")), 3.0).success


PLANE = "gravity 9.81; B | Sx(x), Sz(z) = 1; coordinates x, z; constraint k : z = 0; "
WHEEL = (
    "gravity 9.81; B | Sx(x), Sz(z), Ry(phi) = 1, 0.1, 0.1, 0.1; coordinates x, z, phi; initial z = 0.5; "
    "rolling k : wheel = 0.5 between B axis (0, 1, 0) and ground axis (0, 0, 1); "
)


@pytest.mark.parametrize(
    "text",
    [
        PLANE + "contact c : point between B and ground axis (0, 0, 1), friction = 0.5;",
        WHEEL + "contact c : wheel = 0.5 between B axis (0, 1, 0) and ground axis (0, 0, 1), friction = 0.5;",
        PLANE + "friction c = 1 on z;",
    ],
)
def test_friction_where_constraints_hold_already_is_refused_with_both_names(text: str) -> None:
    with pytest.raises(kn.SimulationError, match=r"'c' acts along what constraints \('k'\) hold already"):
        kn.simulate(kn.loads(text), 1.0)


def test_a_light_rocker_with_friction_that_a_heavy_crank_drives_passes_its_dead_centres() -> None:
    """Beside them it responds to a couple by 1e-10 of what it would alone, which was taken for what constraints hold."""
    run = kn.simulate(
        kn.loads(
            "parameters crank = 0.3, coupler = 0.9, rocker = 0.7, base = 0.8; coordinates a, b, c;"
            "Crank | Rz(a) = Jz(4); Coupler ~ Crank | Sx(crank), Rz(b) = Jz(1e-4); Rocker | Sx(base), Rz(c) = Jz(1e-5);"
            "loop pin : ball between Coupler at (coupler, 0, 0) and Rocker at (rocker, 0, 0);"
            "force motor = 60 on a; friction bearing = 0.01 on c; initial b = acos(19/30), c = pi - acos(-0.1);"
        ),
        1.0,
    )
    assert run.success
    assert [what for _, what in run.changes] == 3 * ["bearing reverses"]


def test_a_rocker_on_a_body_that_flies_passes_its_dead_centres() -> None:
    """Beside one, it moves with its crank alone, which has little part in a direction along which all moves."""
    system = kn.loads(
        "B | Sx(x), Sz(z), Ry(f) = 0.323, 0.005582, 0.005058, 0.001331, com = (0.095, 0, 0);"
        "C ~ B | Sx(0.19), Ry(p) = 0.649, 0.005062, 0.002543, 0.002645, com = (0.072, 0, 0);"
        "D ~ B | Ry(r) = 1.886, 0.027823, 0.020787, 0.007388, com = (0.077, 0, 0); coordinates x, z, f, p, r;"
        "loop rod : distance = 0.276 between C at (0.144, 0, 0) and D at (0.154, 0, 0); friction bearing = 0.141 on r;"
    )
    start = kn.assemble(system, q={"p": -1, "r": 0.76}, v={"p'": 10, "f'": -1.6}, pinned=("p", "p'", "f'"))
    run = kn.simulate(system, 0.02, q=start.q, v=start.v)
    assert run.success, run.message
    assert [what for _, what in run.changes] == ["bearing reverses"]


def test_a_contact_without_friction_that_a_constraint_closes_leaves_the_force_to_it() -> None:
    run = kn.simulate(kn.loads(PLANE + "contact c : point between B and ground axis (0, 0, 1);"), 1.0)
    assert run["lambda.k"] == pytest.approx(9.81)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("limit a : x <= x;", "no motion changes the gap of 'a.upper'"),
        ("contact c : point between B and ground axis (0, 1, 0);", "no motion changes the gap of 'c'"),
        ("contact c : point between B and ground axis (0, 0, 1) height B.z;", "the height B.z rises as its point does"),
    ],
)
def test_gaps_that_no_motion_changes_are_refused_with_their_place(text: str, said: str) -> None:
    with pytest.raises(kn.ModelError, match=rf"<text>:1:\d+: .*{said}"):
        kn.simulate(kn.loads(f"B | Sx(x), Sz(z) = 1; coordinates x, z; {text}"), 1.0)


@pytest.mark.parametrize(
    "text",
    [
        "A | Sx(x) = 1; coordinates x; friction f = 2*x on x; initial x' = -1;",
        "A | Sx(x) = 1; coordinates x; friction f = 2*x on x; force F = -1 on x;",
        "gravity 9.81; A | Sx(x), Sz(z) = 1; coordinates x, z; contact f : point between A and ground axis (0, 0, 1), "
        "friction = x; initial x' = -1;",
    ],
)
def test_friction_that_falls_below_zero_from_zero_is_refused_there(text: str) -> None:
    with pytest.raises(kn.SimulationError, match="at t = 0 s 'f' has friction that falls below zero"):
        kn.simulate(kn.loads(text), 2.0)


def test_a_switch_that_makes_a_mass_negative_ends_the_run_there() -> None:
    lost = kn.loads("parameters m = 1; coordinates x; B | Sx(x) = m; force f = 2 on x; when lost : t >= 1 : m = -1;")
    run = kn.simulate(lost, 3.0)
    assert not run.success
    assert "at t = 1 s, when 'lost' switches: Body 'B'" in run.message
    assert "mass is -1 kg; expected zero or more" in run.message


@pytest.mark.slow
def test_a_disk_above_ground_to_which_it_is_parallel_falls_and_lies_on_its_dome() -> None:
    """The dome is 0.3^2 times the curvature of the ground high, by the eighth root of five eighth powers: 0.1 at most each."""
    coin = "gravity 9.81; B | Free(b) = 1, 0.01, 0.01, 0.02; initial b.z = 1;"
    edge = "contact edge : disk=0.3 between B axis (0,0,1) and ground axis (0,0,1) height 0.1*cos(B.x);"
    found = kn.simulate(kn.loads(coin + edge), 1.0)
    assert found.success
    assert 0.1 + 0.009 < found["b.z"][-1] < 0.1 + 0.3**2 * 0.1 * 5 ** (1 / 8)
    assert found.energy.max() - found.energy[0] < 1e-9


#: A rod that stands on its tip until it slips: normal speeds left by rounding then turn the slip as they are stopped.
STANDING = """gravity 9.81; parameters mu = 1.2061348374287666; Rod | Sx(x), Sz(z), Ry(-q) = m(1), Jy(1/3); coordinates x, z, q;
point Tip on Rod = (-1, 0, 0); contact floor : point between Tip and ground axis (0, 0, 1), friction = mu;
output Tip.vx, lambda.floor.u;"""


@pytest.mark.slow
def test_friction_never_drives_where_normal_speeds_turn_the_slip() -> None:
    rod = kn.derive(kn.loads(STANDING))
    state = np.array([1.0092901902, 0.6592637309, 0.7198391538, 1.7144102919, -1.9553408406, -2.6004923513])
    rng = np.random.default_rng(0)
    for size in (1e-10, 1e-9, 1e-8, 1e-7):
        for _ in range(8):
            start = state + size * rng.uniform(-1, 1, 6)
            run = kn.simulate(rod, 1e-6, q=start[:3], v=start[3:], samples=2, method="events")
            assert run["lambda.floor.u"][-1] * run["Tip.vx"][-1] <= 1e-9
