"""What is said of programs that cannot be held, and of starts that miss them."""

from pathlib import Path

import numpy as np
import pytest

import kineta as kn

PLANE = "P | Sx(x), Sy(y) = 2; coordinates x, y; "
REPEATED = "binds only what 'a' binds already: it says the same, or contradicts. Leave one of them out."


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("program a : x'' = 1; program b : x'' = 2;", f"the program 'b' {REPEATED}"),
        ("program a : x''' = 1; program b : 2*x''' = 2;", f"the program 'b' {REPEATED}"),
        (
            "program a : |a(P)| = 1;",
            "Nothing changes it there, its gradient vanishes; give values of x'', y'' beside that.",
        ),
        ("program a : |a(P)|^2 = 0;", "the gradient of the program 'a' vanishes at the start"),
        (
            "program a : |a(P)|^2 = 1; initial x'' = 1, y'' = 2;",
            "it is 4 at t = 0 s, and has to be 0. Leave some of x'', y''",
        ),
        (
            "program a : x' = 1;",
            "the start misses the program 'a': it is -1 at t = 0 s, and has to be 0. Give initial values",
        ),
        ("program a : x = sin(t);", "the start misses the rate number 1 of the program 'a': it is -1"),
        (
            "program a : x = sin(t); control on y; initial x' = 1;",
            "Program 'a': no control on y' changes it at its order",
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"levels": {"x''''": 1.0}}, "has no derivative 'x''''' to start with; its states are x'', y'', x''', y'''"),
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
    return kn.loads(text)


def size(system: kn.System, q: list[float], v: list[float], vdot: list[float]) -> float:
    free = system.replace(programs=(), control=None)
    a = kn.derive(free).function("acceleration(P)")(0.0, q, v, vdot, p=[0.0])[:3]
    return float(a @ a)


def test_a_gradient_that_vanishes_on_the_way_ends_the_motion_there() -> None:
    """Theory R.5: near t = 0.1895 by the kineta law, where the motion itself is continuous and the program stays met."""
    q, v, vdot = [1.1, 0.2], [0.3, 0.8], [0.4, -0.2]
    system = sphere("kineta")
    start = {"q": q, "v": v, "levels": [vdot], "p": {"A": size(system, q, v, vdot)}}
    for rtol in (1e-6, 1e-9, 1e-12):
        run = kn.simulate(system, 0.5, rtol=rtol, **start)
        assert run.status == -1
        assert "the gradient of the program 'a' vanishes at t = 0.1894" in run.message
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
    np.testing.assert_allclose(found.v[-1], wanted.v[-1], atol=1e-6)


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
        ("program a : x'' = 2; initial x'' = 3;", None, "has no derivative 'x''' to start with"),
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
