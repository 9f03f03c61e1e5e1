"""Forces that produce given motions: sources, closed forms, and what acted in runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.errors import ArgumentError, SimulationError
from tests.mechanics.truth import load
from tests.models import FOURBAR, PUMA


def vector(name: str) -> dict[str, Any]:
    found: dict[str, Any] = load(f"vectors/{name}.json")
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


@pytest.mark.parametrize("name", CLOSED)
def test_kinetostatics_of_released_mechanisms_are_those_of_the_vectors(name: str) -> None:
    truth, system = andreev(name, CLOSED[name], released=True)
    unknown = ["q1'", "X", "Y", *(f"{n}'" for n in truth["coordinates"][5:])]
    given = {"q1": "q10 + w*t + b*sin(nu*t)"} | dict.fromkeys(truth["coordinates"][3:], 0.0)
    found = kn.kinetostatics(system, given, unknown, t=[c["t"] for c in truth["cases"]])
    assert all(found.determinate.values())
    series = {"drive_couple": "tau[q1']", "cut_X": "lambda.cut.x", "cut_Y": "lambda.cut.y"}
    series |= {"pivot_X": "X", "pivot_Y": "Y", "guide_N": "tau[y3']"}
    for k, expected in enumerate(truth["cases"]):
        for what, value in expected["reactions"].items():
            assert found[series[what]][k] == pytest.approx(value, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("name", CLOSED)
def test_joints_pass_on_what_releasing_them_shows(name: str) -> None:
    truth, system = andreev(name, CLOSED[name], released=False)
    drive = kn.inverse(
        system, {"q1": "q10 + w*t + b*sin(nu*t)"}, ["q1'"], t=[c["t"] for c in truth["cases"]], p={"X": 0, "Y": 0}
    )
    found = kn.reactions(system, drive)
    for k, expected in enumerate(truth["cases"]):
        r = expected["reactions"]
        assert drive["tau[q1']"][k] == pytest.approx(r["drive_couple"], rel=1e-11, abs=1e-11)
        assert [found[f"cut.f{c}"][k] for c in "xy"] == pytest.approx([r["cut_X"], r["cut_Y"]], rel=1e-11, abs=1e-11)
        assert [found[f"Crank.f{c}"][k] for c in "xy"] == pytest.approx([r["pivot_X"], r["pivot_Y"]], rel=1e-11)
        if "guide_N" in r:
            assert found["Slider.fy"][k] == pytest.approx(r["guide_N"], rel=1e-11)


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
    assert pair["tau[theta']"] == pytest.approx(one["tau[theta']"], abs=1e-6)
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
    assert held["tau[a']"] == pytest.approx(moved["tau[a']"], abs=1e-12)
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


def test_unknowns_in_units_of_their_own_are_all_found() -> None:
    """A modulus in Pa acts on the speeds with 1e-10 of a force: its column is no rounding error of the others."""
    text = "parameters E = 2e10; A | Sx(x) = 1; B | Sx(y) = 1; coordinates x, y; force f = 1e-10*E*y on y;"
    t = np.linspace(0, 1, 5)
    found = kn.kinetostatics(kn.loads(text), {"x": "sin(t)", "y": "2 + cos(t)"}, ["x'", "E"], t=t)
    assert found["E"] == pytest.approx(-1e10 * np.cos(t) / (2 + np.cos(t)), rel=1e-12)
    assert found["tau[x']"] == pytest.approx(-np.sin(t), abs=1e-12)
    assert found.redundancy == 0
    assert found.determinate == {"tau[x']": True, "E": True}
