"""What is said of programs that cannot be held, and of starts that miss them."""

import re
from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from tests.support import some

PLANE = "P | Sx(x), Sy(y) = 2; coordinates x, y; "
REPEATED = "binds only what 'a' binds already: it says the same, or contradicts. Leave one of them out."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("program a : x'' = 1; program b : x'' = 2;", f"the program 'b' {REPEATED}"),
        ("program a : x''' = 1; program b : 2*x''' = 2;", f"the program 'b' {REPEATED}"),
        (
            "program a : |a(P)| = 1;",
            "Nothing changes it there, its gradient vanishes; start with another value of x'' or y''.",
        ),
        (
            "program a : |a(P)|^2 = 0;",
            "vanishes at the start, where nothing holds it; it is zero only where nothing changes it; ask for components",
        ),
        (
            "program a : |jerk(P)| = 2; initial x''' = 1;",
            "Nothing that is left to be found changes it there, y'''; give other values.",
        ),
        (
            "program a : x''' = 1; control least on x; initial y'' = 1;",
            "the start asks for a force of 2 on y', and no actuator acts there; give values of x'', y'' that forces on x' bring",
        ),
        (
            "program a : |a(P)|^2 = 1; initial x'' = 1, y'' = 2;",
            "it is 4 at t = 0 s, and has to be 0. Leave some of x'', y''",
        ),
        (
            "program a : x' = 1;",
            "the start misses the program 'a': it is -1 at t = 0 s, and has to be 0. Give initial values",
        ),
        ("program a : x = sin(t);", "the start misses the first derivative of the program 'a': it is -1"),
        (
            "program a : x = sin(t); control on y; initial x' = 1;",
            "Program 'a': no control on y' changes it at its order",
        ),
        (
            "constraint c : x = y; program a : x''' = 1; control least on x, y;",
            "where programs need rates of forces, expected actuators that move with all others, on 1 speed at most",
        ),
        (
            "program a : x''' = 1; control inertial;",
            "the law inertial does not apply: it speaks of one body with a Ball or Free",
        ),
        ("program a : |jerk(P)| = 1; couple c on P = (0, 0, t); control kineta;", "'c' is none."),
        ("program a : x'' = 1; limit l : x <= 1 m;", "programs hold for motions without changes, and l may bring some"),
    ],
)
def test_what_cannot_be_held_is_said(text: str, said: str) -> None:
    with pytest.raises(kn.KinetaError) as error:
        kn.simulate(kn.loads(PLANE + text), 1.0)
    assert said in str(error.value)


def test_a_start_at_which_constraints_hold_what_is_asked_for_names_what_would_not() -> None:
    text = "B | Free(b) = 2, 0.03, 0.05, 0.06; point P on B = (0.1, 0, 0); loop k : ball between B and ground;"
    says = "'p' is at the start one of what constraints hold; start with another value of the position along b.wy or the position"
    with pytest.raises(kn.SimulationError, match=says):
        kn.simulate(kn.loads(f"{text} program p : jerk(P).x = 1;"), 0.1)


def test_a_start_is_moved_by_forces_of_actuators_alone() -> None:
    text = "A | Sx(x) = 2; B ~ A | Sx(y) = 1; coordinates x, y; program p : y''*y'' + y'' = 2; control least on x;"
    run = kn.simulate(kn.loads(text), 0.1, samples=2)
    assert (run["x''"][0], run["y''"][0]) == pytest.approx((-1, 1), abs=1e-12)  # B goes on as before


CART = "gravity 9.81; Cart | Sx(x) = 2; Bob ~ Cart | Ry(p), Sz(-1) = 1; coordinates x, p; initial p = 0.3;"


@pytest.mark.parametrize("actuators", ["x, p", "x weight 10, p"])
def test_where_all_speeds_are_driven_a_start_is_as_without_names(actuators: str) -> None:
    programs = "program a : x''' = 1; program b : p'' = 2; control least"
    runs = [kn.simulate(kn.loads(f"{CART}{programs}{on};"), 0.1, samples=2) for on in ("", f" on {actuators}")]
    for name in ("x''", "p''", "control.x'", "control.p'"):
        assert runs[0][name][0] == pytest.approx(runs[1][name][0], abs=1e-12), name


def test_the_start_under_a_nonlinear_program_is_the_nearest() -> None:
    """On an ellipse of accelerations, the one nearest to that of a motion without control, (3, -9.81)."""
    text = f"gravity (0, -9.81, 0); {PLANE} force f on P = (6, 0, 0); program g : x''^2 + 9*y''^2 = 20;"
    run = kn.simulate(kn.loads(text), 0.01, samples=2)
    turns = np.linspace(0, 2 * np.pi, 100001)
    ellipse = np.sqrt(20) * np.array([np.cos(turns), np.sin(turns) / 3])
    nearest = ellipse[:, np.hypot(ellipse[0] - 3, ellipse[1] + 9.81).argmin()]
    assert [run["x''"][0], run["y''"][0]] == pytest.approx(nearest, abs=1e-3)


def test_what_is_not_given_of_a_start_follows_from_the_actuators() -> None:
    run = kn.simulate(kn.loads(CART + "program g : x''' = 1; control least on x;"), 0.1, levels={"x''": 1.0}, samples=2)
    assert run["p''"][0] == pytest.approx(np.cos(0.3) - 9.81 * np.sin(0.3), abs=1e-12)
    assert run["control.p'"][0] == pytest.approx(0, abs=1e-12)


def test_a_body_without_mass_has_no_others_that_move_it() -> None:
    with pytest.raises(kn.ModelError, match="the speed 'x'' moves nothing that has inertia"):
        kn.simulate(kn.loads("P | Sx(x) = 0; coordinates x; program a : x''' = 1;"), 1.0)


@pytest.mark.parametrize(
    ("program", "others"),
    [("x'*x''' = 1", "x'"), ("x*x'' = 1", "x"), ("|v(P)|'' = 1", "x' or y'")],
)
def test_a_start_without_a_gradient_names_what_would_give_it_one(program: str, others: str) -> None:
    with pytest.raises(kn.SimulationError) as error:
        kn.simulate(kn.loads(f"{PLANE} program a : {program};"), 1.0)
    assert str(error.value).endswith(f"where nothing holds it; start with another value of {others}.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"levels": {"x''''": 1.0}}, "has no derivative x'''' to start with; its states are x'', y'', x''', y'''"),
        ({"levels": [1.0, 2.0]}, r"Expected levels of shape (2, 2) for (x'', y'', x''', y'''), found shape (2,)."),
        ({"tau": [1.0, 0.0]}, "its programs ask for derivatives of all forces; write tau as forces of the model."),
        ({"q": [[0.0, 0.0], [1.0, 1.0]]}, "under programs one motion is run at a time; give one start."),
        ({"method": "IDA"}, "IDA knows nothing of programs; choose dop853."),
    ],
)
def test_what_does_not_go_with_programs_is_said(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(kn.ArgumentError) as error:
        kn.simulate(kn.loads(PLANE + "program a : x'''' = y + 1;"), 1.0, **arguments)
    assert said in str(error.value)


def test_levels_are_of_programs_only() -> None:
    with pytest.raises(kn.ArgumentError, match="has no programs of motion; leave out levels"):
        kn.simulate(kn.loads(PLANE), 1.0, levels={"x''": 1.0})


def sphere(law: str) -> kn.System:
    text = "coordinates q1, q2; gravity (0, 0, -0.9); P | Rz(q2), Ry(-q1), Sz(-1) = 1.3; parameters A; program a : |a(P)|^2 = A; "
    return kn.loads(f"{text}control {law};")


def size(system: kn.System, q: list[float], v: list[float], vdot: list[float]) -> float:
    free = system.replace(programs=(), control=None)
    a = kn.derive(free).function("acceleration(P)")(0.0, q, v, vdot, p=[0.0])[:3]
    return float(a @ a)


def test_a_gradient_that_vanishes_on_the_way_ends_the_motion_there() -> None:
    """Theory R.5: near t = 0.1895 by the kineta law, where the motion itself is continuous and the program stays met. What
    steps within 1e-12 do not come near to is told as near.
    """
    q, v, vdot = [1.1, 0.2], [0.3, 0.8], [0.4, -0.2]
    system = sphere("kineta")
    start = {"q": q, "v": v, "levels": [vdot], "p": {"A": size(system, q, v, vdot)}}
    for rtol in (1e-6, 1e-9, 1e-12):
        run = kn.simulate(system, 0.5, rtol=rtol, **start)
        assert run.status == -1
        assert re.search("the gradient of the program 'a' vanishes (at|near) t = 0.1894", run.message)
        assert 0.18 < run.t[-1] < 0.18949
    run = kn.simulate(sphere("covariant"), 0.5, **start)
    assert run.success


def test_a_run_says_its_programs_its_start_and_what_controls_spend() -> None:
    run = kn.simulate(kn.loads(PLANE + "program a : |a(P)|^2 = 1; initial x'' = 1;"), 2.0)
    assert run.notes[:3] == (
        "program 'a': order 2, nonlinear in its highest derivatives",
        "equations of order 3, law covariant",
        "start: y'' as in a motion without control",
    )
    assert run.notes[3] == "control: work 4 J, peak power 4 W at t = 2 s"
    np.testing.assert_allclose(run["control.x'"], 2.0, rtol=1e-12)
    np.testing.assert_allclose(run["control.work"], 2.0 * run["x'"] ** 2 / 2, atol=1e-12)
    assert [run.units[n] for n in ("x''", "control.x'", "control.power")] == ["m/s^2", "N", "W"]


@pytest.mark.parametrize("method", ["dopri5", "DOP853", "Radau", "LSODA"])
def test_all_methods_hold_a_program(method: str) -> None:
    system = kn.loads(
        "H | Ball(b) = 1, 2, 3.1, 4.2; program turn : |eps(H)|^2 = 0.13; initial b.wx = .5, b.wy = .3, b.wz = -.4;"
    )
    wanted, found = kn.simulate(system, 1.0, rtol=1e-11), kn.simulate(system, 1.0, method=method, rtol=1e-8)
    np.testing.assert_allclose(found.v[-1], wanted.v[-1], atol=1e-6)  # a hundred times what each step may miss


def test_without_programs_a_system_has_no_control_and_starts_as_any_other() -> None:
    system = kn.loads(PLANE + "program a : |a(P)|^2 = 1; control kineta; initial x' = 1, x'' = 1;")
    free = system.replace(programs=())
    assert free == kn.loads(PLANE + "initial x' = 1;").replace(name=free.name)


def test_runs_under_programs_are_kept_in_files(tmp_path: Path) -> None:
    run = kn.simulate(kn.loads(PLANE + "program a : x''' = 2; initial x' = 1;"), 1.0, events=[kn.symbol("x") - 0.5])
    run.save(tmp_path / "run.nc")
    kept = kn.load_result(tmp_path / "run.nc")
    assert kept.states == run.states == ("x", "y", "x'", "y'", "x''", "y''")
    np.testing.assert_array_equal(kept.y, run.y)
    assert "levels" in run.to_xarray()


@pytest.mark.parametrize("end", [0.5, 0.6, 1.0])
def test_a_motion_that_ends_where_a_gradient_vanishes_is_no_success(end: float) -> None:
    run = kn.simulate(kn.loads(PLANE + "program a : |a(P)| = 1 - 2*t; initial x'' = 1;"), end)
    assert run.status == -1
    assert "the gradient of the program 'a'" in run.message


@pytest.mark.parametrize(
    ("text", "levels", "said"),
    [
        ("program a : x'' = 2; initial x'' = 3;", None, "has no derivative x'' to start with"),
        ("program a : |a(P)| = 2;", {"x''": [2.0, -2.0]}, "Expected a finite number for 'x''', found [2.0, -2.0]."),
        (
            "program a : x'' = 2; control transversal y = y'';",
            None,
            "the transversal part of y' has derivatives of the order 2",
        ),
    ],
)
def test_derivatives_that_are_no_states_are_refused(text: str, levels: object, said: str) -> None:
    with pytest.raises(kn.KinetaError) as error:
        kn.simulate(kn.loads(PLANE + text), 1.0, levels=levels)
    assert said in str(error.value)


@pytest.mark.parametrize("samples", [None, 5])
def test_an_end_at_the_very_loss_of_a_program_is_no_success_and_keeps_no_state_beyond(samples: int | None) -> None:
    text = (
        "A | Sx(x) = 2; B ~ A | Sy(y) = 1; coordinates x, y; point Q on B = (0.1, 0, 0); program a : |a(Q)| = 1 - 2*t; "
    )
    for end, method in ((0.5, "dop853"), (0.6, "dop853"), (0.5, "dopri5"), (1.0, "dopri5"), (0.6, "Radau")):
        run = kn.simulate(kn.loads(f"{text}initial x'' = 1;"), end, samples=samples, method=method)
        assert run.status == -1
        assert "the gradient of the program 'a' vanishes at t = 0.5 s" in run.message
        assert run.t[-1] < 0.5
        assert np.isfinite(run["lambda.a"]).all()
        assert run.residual < 1e-12


def test_a_gradient_that_vanishes_while_the_motion_runs_away_ends_it_soon() -> None:
    """An arm whose tip is to accelerate ever along it: it stretches, and swings the faster the less it can do so."""
    arm = """gravity (0, -9.81, 0); coordinates q1, q2; parameters a0 = 4;
        Up | Rz(q1) = 1.3, 0.01, 0.05, 0.06, com = (0.4, 0, 0);
        Lo ~ Up | Sx(0.8), Rz(q2) = 0.9, 0.01, 0.03, 0.035, com = (0.3, 0.1, 0); point Tip on Lo = (0.7, 0, 0);
        damper d = 0.3 on q1'; spring s = 2 on q2; program hold : |a(Tip)| = a0 + t;
        initial q1 = 0.3, q2 = 0.7, q1' = 0.4, q2' = -0.9, q1'' = 1;"""
    run = kn.simulate(kn.loads(arm), 2.0, samples=9)
    assert run.status == -1
    assert "the gradient of the program 'hold' vanishes near t = 0.8287" in run.message
    assert run.steps < 50_000
    assert run.t[-1] < 0.8287


RUNAWAY = """
gravity (0, -9.81, 0);
U | Rz(q1), Sx(1) = 2; M ~ U | Rz(q2), Sx(0.8) = 1; L ~ M | Rz(q3), Sx(0.5) = 0.5;
coordinates q1, q2, q3;
program j : jerk(L).y = 0.3;
initial q1 = -1.5, q2 = 0.4, q3 = 0.3;
output j = jerk(L).y;
"""


@pytest.mark.parametrize("law", ["covariant", "kineta"])
def test_a_motion_that_becomes_infinitely_fast_ends_where_its_program_is_still_met(law: str) -> None:
    """The gradient, a row of the Jacobian, keeps its size all the while; the residual counts the highest derivative."""
    run = kn.simulate(kn.loads(f"{RUNAWAY} control {law};"), 1.0)
    assert "the motion under the program 'j' becomes infinitely fast near t = 0.31" in run.message
    assert np.abs(run["j"] - 0.3).max() < 1e-5
    assert 0 < run.residual < 1e-5


def test_actuators_that_lose_hold_of_a_program_are_told_from_a_gradient_that_vanishes() -> None:
    """A force along a bar that turns: across it, where the program asks, it does nothing."""
    text = "A | Sx(x), Sy(y) = 1; coordinates x, y; program a : x'' * cos(t) + y'' * sin(t) = 1; control least on x;"
    run = kn.simulate(kn.loads(text), 3.0)
    assert run.status == -1
    assert "the forces on x' lose hold of the program 'a' at t = 1.57" in run.message


@pytest.mark.parametrize("scale", ["1e-12", "1e12"])
def test_a_program_times_a_number_is_the_same_program(scale: str) -> None:
    start = "initial y = 1, x'' = 1; force f on P = (0, y, 0); "
    one, other = (kn.loads(f"{PLANE}{start}program a : {c}*|a(P)| = {c}*(2 + t);") for c in ("1", scale))
    wanted, found = kn.simulate(one, 1.0, samples=3), kn.simulate(other, 1.0, samples=3)
    np.testing.assert_allclose(found.y, wanted.y, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found["lambda.a"] * float(scale), wanted["lambda.a"], rtol=1e-6)
    with pytest.raises(kn.SimulationError, match="the start misses the program 'a'"):
        kn.simulate(one, 1.0, levels={"y''": 1.0})
    with pytest.raises(kn.SimulationError, match="the start misses the program 'a'"):
        kn.simulate(other, 1.0, levels={"y''": 1.0})


def test_programs_of_large_numbers_are_missed_by_rounding_of_these() -> None:
    text = "program a : jerk(P).x = 1e12; program b : |a(P)|^2 = 1e12^2*(1 + t); initial y'' = 1e12;"
    run = kn.simulate(kn.loads(PLANE + text), 1.0)
    assert run.success, run.message
    assert run.residual < 1e-14 * 1e24


def test_a_start_that_just_meets_its_program_has_no_more_than_rounding_of_the_rest() -> None:
    run = kn.simulate(kn.loads(PLANE + "program a : |a(P)| = 2; force f on P = (0, 10, 0); initial x'' = 2;"), 3.0)
    np.testing.assert_allclose(run["y''"], 0.0, atol=1e-8)


def test_a_control_without_a_program_is_refused() -> None:
    with pytest.raises(kn.ModelError, match="there is no program that controls could hold"):
        kn.loads(PLANE + "control covariant;")


def test_the_order_that_a_motion_knows_is_said_without_a_contradiction() -> None:
    with pytest.raises(kn.KinetaError, match="found x'''' of order 4; its programs ask for no higher ones"):
        kn.simulate(kn.loads(f"{PLANE} program a : x''' = 1; output q = x'''';"), 1.0)


@pytest.mark.parametrize("actuators", ["ph", "ps", "ph, ps weight 4"])
@pytest.mark.parametrize("order", [2, 3])
def test_actuators_that_reach_a_program_by_rounding_alone_are_refused(order: int, actuators: str) -> None:
    text = (
        "coordinates x, y, z, ps, th, ph; D | Sx(x), Sy(y), Sz(z), Rz(ps), Rx(th), Ry(ph) = 2, 0.05, 0.09, 0.05; "
        "rolling r : disk = 0.3 between D axis (0,1,0) and ground axis (0,0,1); initial z = 0.3*cos(0.3), th = 0.3; "
    )
    asked = f"program p : th{order * chr(39)} = 0.5; control least on {actuators};"
    with pytest.raises(kn.KinetaError, match=r"Program 'p': no control on p.* changes it at its order"):
        kn.simulate(kn.loads(text + asked), 0.1)


@pytest.mark.parametrize("programs", [np.zeros((2, 2)), np.ones(3), np.array(1.0), np.array(["a", "b"])])
def test_arrays_are_no_programs(programs: object) -> None:
    with pytest.raises(kn.ArgumentError, match="Expected a list of programs") as error:
        kn.loads(PLANE).replace(programs=programs)
    assert "\n" not in str(error.value)


def test_an_end_at_which_a_gradient_has_no_value_is_named() -> None:
    text = "A | Sx(x) = 2; B ~ A | Sy(y) = 1; coordinates x, y; program p : |a(B)| = (0.5-t)^3; initial y'' = 0.125;"
    run = kn.simulate(kn.loads(text), 0.5)
    assert "the gradient of the program 'p' vanishes at t = 0.5 s" in run.message
    assert not run.success


AXES = "A | Sx(x) = 2; B ~ A | Sy(y) = 1; coordinates x, y; "


@pytest.mark.parametrize("method", some(["dop853", "dopri5", "RK45", "Radau", "LSODA", "CVODE"], 2))
@pytest.mark.parametrize(
    ("program", "start", "end"),
    [
        ("|a(B)| = 1 + cos(2*pi*t)", "y'' = 2", 1.0),
        ("|a(B)| = (0.5-t)^2", "y'' = 0.25", 0.5),
        ("|a(B)| = (0.5-t)^3", "y'' = 0.125", 0.5001),
        ("|a(B)| = (0.5-t)^4", "y'' = 0.0625", 2.0),
        ("sqrt(x''^2 + y''^2) = 0.5 - t", "y'' = 0.5", 0.500000001),
        ("(x''-t)^3 = (0.5-t)^3", "x'' = 0.5", 2.0),
        ("(0.5-t)^2*x'' = (0.5-t)^2*sin(t)", "x' = 1", 1.0),
        ("x^2 + y^2 = (0.5-t)^2", "x = 0.5, x' = -1", 20.0),
        ("|jerk(B)| = 0.5 - t", "x'' = 0.1, y''' = 0.5", 0.84),
    ],
)
def test_a_gradient_that_is_lost_for_an_instant_ends_the_motion_there(
    program: str, start: str, end: float, method: str
) -> None:
    """Whether it turns round, or touches zero and comes back, whatever the order of its zero, the method and the end."""
    run = kn.simulate(kn.loads(f"{AXES} program p : {program}; initial {start};"), end, method=method)
    assert run.status == -1
    assert "the gradient of the program 'p' vanishes at t = 0.5" in run.message
    assert run.t[-1] == pytest.approx(0.5, abs=1e-4)
    assert all(np.isfinite(x).all() for x in run.outputs.values())


@pytest.mark.parametrize("method", ["dop853", "LSODA"])
@pytest.mark.parametrize("program", ["|a(B)| = 1.0001 + cos(2*pi*t)", "|a(B)|^2 = (1.0001 + cos(2*pi*t))^2"])
def test_a_gradient_that_comes_near_to_zero_is_none_that_vanishes(program: str, method: str) -> None:
    run = kn.simulate(kn.loads(f"{AXES} program p : {program}; initial y'' = 2.0001;"), 5.0, method=method)
    assert run.success, run.message


def test_a_run_goes_to_just_before_its_gradient_vanishes_and_no_event_lies_behind() -> None:
    system = kn.loads(f"{AXES} program p : |a(B)| = (0.5-t)^2; initial y'' = 0.25;")
    run = kn.simulate(system, 0.5 - 1e-3, samples=2)
    assert run.success, run.message
    run = kn.simulate(system, 1.0, events=[kn.symbol("t") - s for s in (0.4, 0.6)], dense_output=True)
    assert [len(t) for t in run.t_events] == [1, 0]
    assert run.t[-1] == run.sol.t_max == pytest.approx(0.5, abs=1e-6)
    assert kn.simulate(system, 1.0, samples=101).t[-2:] == pytest.approx([0.49, 0.5], abs=1e-6)


def test_the_one_of_several_programs_that_is_lost_is_named() -> None:
    text = f"{AXES} program a : x'' = 1; program b : "
    run = kn.simulate(kn.loads(f"{text} (y''-t)^3 = (0.5-t)^3; initial y'' = 0.5;"), 1.0)
    assert "the gradient of the program 'b' vanishes at t = 0.5 s" in run.message
    run = kn.simulate(kn.loads(f"{text} |a(B)|^2 = 1 + (1-2*t)^2; initial y'' = 1;"), 1.0)
    assert "the programs 'a', 'b', or of a combination of them, vanishes at t = 0.5 s" in run.message


JUMPS = [
    ("x = abs(t-0.5)", "x = 0.5, x' = -1", "the first derivative of the program 'p' jumps at t = 0.5 s"),
    ("x = max(0.25, t/2)", "x = 0.25", "the first derivative of the program 'p' jumps at t = 0.5 s"),
    ("x' = step(t-0.5)", "x = 1", "the program 'p' jumps at t = 0.5 s"),
    ("|a(B)| = 1 + step(x-0.5)", "x' = 1, y'' = 1", "the program 'p' jumps at t = 0.5 s"),
]


@pytest.mark.parametrize("method", ["dop853", "Radau"])
@pytest.mark.parametrize(("program", "start", "said"), JUMPS)
def test_a_program_that_jumps_ends_the_motion_and_is_named(program: str, start: str, said: str, method: str) -> None:
    run = kn.simulate(kn.loads(f"{AXES} program p : {program}; initial {start};"), 1.0, method=method)
    assert run.status == -1
    assert said in run.message
    assert run.t[-1] == pytest.approx(0.5, abs=1e-8)


@pytest.mark.parametrize("method", ["dop853", "Radau", "LSODA"])
@pytest.mark.parametrize(
    ("program", "start"),
    [("x' = abs(t-0.5)", "x' = 0.5"), ("x'' = step(t-0.5)", "x' = 1"), ("|a(B)| = 1 + abs(t-0.5)", "y'' = 1.5")],
)
def test_a_corner_that_only_controls_follow_is_passed(program: str, start: str, method: str) -> None:
    run = kn.simulate(kn.loads(f"{AXES} program p : {program}; initial {start};"), 1.0, method=method)
    assert run.success, run.message


def test_numbers_beyond_all_bounds_are_told_in_words_of_the_motion() -> None:
    system = kn.loads(PLANE + "program a : x''' = 1e6*x''; initial x'' = 1e290;")
    assert (
        "the accelerations are not finite, however small the step" in kn.simulate(system, 1.0, method="Radau").message
    )


def test_a_gradient_that_fades_while_ever_shorter_steps_follow_ends_the_motion_soon() -> None:
    """The direction of the acceleration follows the force the faster, the shorter it is."""
    text = f"{AXES} force f on B = (0.3*sin(t), 0.2*cos(2*t), 0); program p : |a(B)| = 2*(0.5-t)^2; initial x'' = 0.5;"
    run = kn.simulate(kn.loads(text), 1.0)
    assert "the gradient of the program 'p' vanishes" in run.message
    assert float(run.message.split("t = ")[2].split(" s")[0]) == pytest.approx(0.5, abs=1e-4)
    assert run.t[-1] == pytest.approx(0.5, abs=1e-2)
    assert run.steps < 50_000


@pytest.mark.parametrize("method", ["dop853", "Radau", "RK45", "BDF", "LSODA", "CVODE"])
@pytest.mark.parametrize("samples", [None, 5])
def test_the_work_of_controls_is_right_at_all_samples_of_an_easy_motion(method: str, samples: int | None) -> None:
    """Steps that are long, since the motion is a polynomial."""
    run = kn.simulate(
        kn.loads(f"{AXES} program p : |a(B)| = 1 - 2*t; initial x'' = 1;"), 0.45, method=method, samples=samples
    )
    assert run.success, run.message
    speed = run.t - run.t**2
    np.testing.assert_allclose(run["control.work"], 1.5 * speed**2, atol=1e-8)
    run = kn.simulate(
        kn.loads(f"{AXES} program p : |a(B)| = (0.5-t)^3; initial y'' = 0.125;"), 0.499, method=method, samples=samples
    )
    assert run.success, run.message
