"""Forces and accelerations in switches and in sampled control: where they cross a value, and where they jump over it."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn

G = 9.81
FALL = np.sqrt(2 / G)
CRATE = """gravity 9.81; parameters mu = 0.5, rate = 2 N/s, at = 0 s, pulls = 1, load = 0 N;
C | Sx(x), Sz(z) = 3; coordinates x, z; force pull = rate*t*pulls on x; output at, load;
contact floor : point between C and ground axis (0, 0, 1), friction = mu;
"""
LEG = """gravity 9.81; parameters m = 5 kg, f = 0.5 kg, c = 2000 N/m, l = 0.5 m, push = 0 m, at = 0 s;
Hull | Sz(z) = m(m); Foot ~ Hull | Sz(-s) = m(f); coordinates z, s; spring leg = c on s - l - push;
contact ground : point between Foot and ground axis (0, 0, 1); initial z = l, s = l; output at;
"""
BALL = """gravity 9.81; parameters e = 0.5, n = 0; B | Sx(x), Sz(z) = 2; coordinates x, z; output n; initial z = 1;
contact floor : point between B and ground axis (0, 0, 1), restitution = e;
"""
FINGER = """parameters out = 0; Tip | Sx(x) = 0.2; coordinates x; limit wall : x <= 0; output touch = lambda.wall.upper + out;
"""


def test_a_rope_is_let_go_at_a_force_of_friction() -> None:
    system = kn.loads(CRATE + "when firm : -lambda.floor.u >= 6 N : at = t, pulls = 0, load = lambda.floor.n;")
    run = kn.simulate(system, 5.0)
    assert run.changes == ((pytest.approx(3.0, abs=1e-12), "firm switches"),)
    assert (run["at"][-1], run["load"][-1]) == (pytest.approx(3.0, abs=1e-12), pytest.approx(3 * G, abs=1e-12))
    assert np.all(run["x"] == 0)


def test_an_acceleration_sets_off_a_switch_where_slip_begins() -> None:
    """Static friction is larger: the acceleration jumps from none to 0.1 g."""
    text = CRATE.replace("friction = mu", "friction = mu, static = 0.6") + "when off : x'' >= 0.5 m/s^2 : at = t;"
    run = kn.simulate(kn.loads(text), 10.0)
    slips = 0.6 * 3 * G / 2
    assert run["at"][-1] == pytest.approx(slips, abs=1e-7)
    assert [what for _, what in run.changes] == ["floor slips", "off switches"]
    assert run["x"][-1] == pytest.approx(0.1 * G / 2 * (10 - slips) ** 2 + 2 / 3 / 6 * (10 - slips) ** 3, rel=1e-7)


def test_the_motor_of_a_leg_begins_at_a_force_under_the_foot() -> None:
    """The hull sinks as f g + m g (1 - cos w t) grows, and the spring becomes longer by the push."""
    run = kn.simulate(kn.loads(LEG + "when firm : lambda.ground.n >= (f + 1.5*m)*9.81 : push = 0.02, at = t;"), 0.15)
    w, sunk = 20.0, 5 * G / 2000
    fires = 2 * np.pi / 3 / w
    assert run["at"][-1] == pytest.approx(fires, abs=1e-10)
    later = run.t > fires
    height, speed = -0.5 * sunk, -sunk * w * np.sin(w * fires)
    phase = w * (run.t[later] - fires)
    z = 0.52 - sunk + (height - 0.02) * np.cos(phase) + speed / w * np.sin(phase)
    assert run["z"][later] == pytest.approx(z, abs=1e-9)
    assert run.energy_balance < 1e-8


def test_a_rope_goes_slack_where_it_would_have_to_push() -> None:
    """Of a bob with v² = 4 g L below, at the height 2 L/3 above the centre."""
    text = """gravity 9.81; B | Sx(x), Sz(z) = 2; coordinates x, z; constraint rope : sqrt(x^2 + z^2) = 1;
    initial z = -1, x' = sqrt(4*9.81); when slack : lambda.rope >= 0 : stop;"""
    run = kn.simulate(kn.loads(text), 2.0)
    assert run["z"][-1] == pytest.approx(2 / 3, abs=1e-9)


@pytest.mark.parametrize("watched", ["lambda.floor.n - 5", "z'' + 5", "z' + 0.1"])
def test_what_jumps_over_its_zero_at_touchdown_switches_then(watched: str) -> None:
    """A ball that comes to rest at once: its force and acceleration jump, and its speed."""
    run = kn.simulate(kn.loads(BALL + f"when down : {watched} >= 0 : n = n + 1;"), 1.0, p={"e": 0})
    assert [(t, what) for t, what in run.changes if what == "down switches"] == [(pytest.approx(FALL), "down switches")]
    assert run["n"][-1] == 1


@pytest.mark.parametrize("watched", ["lambda.floor.n - 5", "z'", "min(z', 2)"])
def test_jumps_in_the_loop_are_those_that_are_handed_back(watched: str) -> None:
    """A switch that hears impacts, and never acts, hands all of them back."""
    text = BALL + f"when up : {watched} >= 0 : n = n + 1;"
    within, handed = (
        kn.simulate(kn.loads(text + own), 4.0) for own in ("", "when ear : floor strikes and n == -1 : n = 0;")
    )
    counted = sum(what == "up switches" for _, what in within.changes)
    assert counted == (1 if "lambda" in watched else len(within.impacts))
    assert within.changes == handed.changes
    assert np.array_equal(within.y, handed.y)
    assert np.array_equal(within["n"], handed["n"])


def test_a_force_that_a_sample_takes_over_its_threshold_switches_at_the_sample() -> None:
    """A weight of 7 N is laid on 2 kg at t = 0.5 s."""
    system = kn.loads(BALL.replace("z = 1", "z = 0") + "when heavy : lambda.floor.n >= 25 N : n = t*1;")
    run = kn.simulate(system, 1.0, tau={"z'": kn.sampled([0.0, -7.0], 2)})
    assert run.changes == ((0.5, "heavy switches"),)
    assert run["n"][-1] == 0.5


def test_a_finger_pushes_until_it_feels_five_newtons() -> None:
    """It feels what it pushed with since the last sample."""
    felt = list[float]()

    def push(t: float, q: object, v: object, y: np.ndarray) -> float:
        felt.append(float(y[0]))
        return 0.0 if max(felt) > 4.5 else len(felt)

    system = kn.loads(FINGER)
    run = kn.simulate(system, 1.0, tau=kn.sampled(push, 10, reads="lambda.wall.upper"))
    assert felt == pytest.approx([0, 1, 2, 3, 4, 5, 0, 0, 0, 0], abs=1e-12)
    assert np.all(run["x"] == 0)
    kn.simulate(system, 0.1, p={"out": 7}, tau=kn.sampled(push, 10, reads=["touch"]))
    assert felt[-1] == 7


def test_sensors_feel_at_the_start_what_acts_without_samples() -> None:
    felt = list[float]()
    system, control = (
        kn.loads(CRATE),
        kn.sampled(lambda t, q, v, y: felt.append(float(y[0])) or 1.0, 1, reads="lambda.floor.n"),
    )
    kn.simulate(system, 0.5, tau={"z'": control})
    assert felt == pytest.approx([3 * G])


def test_what_is_no_series_is_named() -> None:
    control = kn.sampled(lambda t, q, v, y: 0.0, 10, reads=("lambda.wal.upper",))
    with pytest.raises(kn.ArgumentError, match=r"reads 'lambda.wal.upper'.* Did you mean 'lambda.wall.upper'\?"):
        kn.simulate(kn.loads(FINGER), 1.0, tau=control)
    with pytest.raises(kn.ArgumentError, match="Expected a Python function that reads touch, found a table of samples"):
        kn.sampled([1.0, 2.0], 10, reads="touch")
    with pytest.raises(kn.ModelError, match=r"unknown symbol 'lambda.flor.n'. Did you mean 'lambda.floor.n'\?"):
        kn.loads(BALL + "when up : lambda.flor.n >= 0 : stop;")


def test_forces_that_switches_watch_have_units() -> None:
    with pytest.raises(kn.ModelError, match=r"the right side of switch 'h' must be a force .*, found a length"):
        kn.loads(BALL + "when h : lambda.floor.n >= 5 m : n = 1;")
    with pytest.raises(kn.ModelError, match=r"a force .* and a length .* cannot be added"):
        kn.loads(BALL + "when h : lambda.floor.n + 1 m >= 0 : n = 1;")
    assert kn.loads(BALL + "when h : lambda.floor.n >= 5 N : n = 1;").switches


def test_control_reads_outputs_and_forces_alone() -> None:
    system = kn.loads(BALL)
    for name in ("x", "kinetic_energy", ""):
        with pytest.raises(
            kn.ArgumentError, match=f"The control reads '{name}'; expected an output of the model, or a force"
        ):
            kn.simulate(system, 0.1, tau=kn.sampled(lambda t, q, v, y: [0.0, 0.0], 10, reads=name))
    run = kn.simulate(system, 0.1, tau=kn.sampled(lambda t, q, v: [0.0, 0.0], 10, reads=()))
    assert run.success
