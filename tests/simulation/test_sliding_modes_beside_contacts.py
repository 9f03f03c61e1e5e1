"""Motions that slide beside contacts, limits, friction, switches and sampled control, against closed forms and dry friction."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn

CAR = "coordinates x; Car | Sx(x) = 1;"
RELAY = "force f = -sign(x') on x;"
FINE = {"rtol": 1e-11, "atol": 1e-13}


@pytest.mark.slow
def test_a_switch_turns_the_control_off() -> None:
    """At rest at x = 1 from 2 s on; from 4 s on pushed by 0.5."""
    found = kn.simulate(
        kn.loads(
            f"{CAR}parameters on = 1; force f = -on*sign(x') on x; force g = 0.5 on x; initial x' = 1;"
            "when off : t >= 4 : on = 0;"
        ),
        6.0,
    )
    assert found["x"][-1] == pytest.approx(2.0, abs=1e-12)
    assert [what for _, what in found.changes] == [
        "the motion begins to slide where 'sign(x')' of 'f' (<text>:1:57) jumps",
        "the motion no longer slides where 'sign(x')' of 'f' (<text>:1:57) jumps",
        "off switches",
    ]
    np.testing.assert_allclose([t for t, _ in found.changes], [2.0, 4.0, 4.0], atol=1e-12)


def test_a_switch_hears_what_a_relay_bears() -> None:
    """The load is t/4, the relay gives way at -0.5 of its 1 to a switch that reverses the load."""
    text = f"{CAR}parameters a = 1; {RELAY} force u = a*t/4 on x; output r = -sign(x'); when full : a*t/4 - 0.5 >= 0 : a = -1;"
    found = kn.simulate(kn.loads(text), 3.0, samples=31)
    load = np.where(found.t <= 2.0, found.t / 4, -found.t / 4)
    np.testing.assert_allclose(found["r"][1:], -load[1:], atol=1e-9)
    np.testing.assert_allclose(found["x'"], 0.0, atol=1e-12)


@pytest.mark.slow
def test_a_cart_under_sliding_mode_control_hits_a_stop() -> None:
    """x = exp(-2 t)/2 up to the stop at 0.1; then u = -4 throws it back from each impact, half as fast, until it rests there."""
    text = (
        f"{CAR}let s = 2*x + x'; force f = -4*sign(s) on x; limit stop : x >= 0.1, restitution = 0.5;"
        "initial x = 0.5, x' = -1; output u = -4*sign(s);"
    )
    found = kn.simulate(kn.loads(text), 4.0, samples=401, **FINE)
    met = np.log(5.0) / 2.0
    before = found.t < met
    np.testing.assert_allclose(found["x"][before], 0.5 * np.exp(-2.0 * found.t[before]), atol=1e-11)
    np.testing.assert_allclose(found["u"][before][1:], 4.0 * found["x"][before][1:], atol=1e-9)
    strikes = [t for t, what in found.changes if what == "stop.lower strikes"]
    flights = met + 0.1 * np.cumsum([0.0, *(0.5**k for k in range(1, 8))])
    np.testing.assert_allclose(strikes[: len(flights)], flights, atol=1e-11)
    assert found["x"][-1] == pytest.approx(0.1, abs=1e-12)
    assert found["u"][-1] == -4.0
    slides = [t for t, what in found.changes if "slide" in what]
    assert slides == [pytest.approx(0.0, abs=0.02), pytest.approx(met, abs=1e-11)]


@pytest.mark.slow
@pytest.mark.parametrize(("beside", "alone"), [(1.0, 2.0), (0.3, 1.3), (2.0, 3.0)])
def test_a_relay_beside_dry_friction(beside: float, alone: float) -> None:
    """Both on one speed are dry friction of their sum."""
    times = np.linspace(0.0, 20.0, 201)
    text = f"{CAR}force u = 3.5*sin(t) + 0.6*cos(2.7*t) on x; initial x' = 2;"
    relay = kn.simulate(kn.loads(f"{text}{RELAY}friction g = {beside} on x;"), 20.0, t_eval=times, **FINE)
    dry = kn.simulate(kn.loads(f"{text}friction g = {alone} on x;"), 20.0, t_eval=times, **FINE)
    assert relay.success
    np.testing.assert_allclose(relay["x"], dry["x"], atol=1e-10)
    np.testing.assert_allclose(relay["x'"], dry["x'"], atol=1e-10)
    assert relay.steps < 2 * dry.steps


@pytest.mark.slow
def test_a_switch_turns_a_relay_off_beside_friction() -> None:
    """Friction of 0.25 slips from the start, the relay bears the rest of 0.5 until it is turned off at 4 s."""
    text = (
        f"{CAR}parameters on = 1; force f = -on*sign(x') on x; friction g = 0.25 on x; force u = 0.5 on x; initial x' = 1;"
        "when off : t >= 4 : on = 0;"
    )
    found = kn.simulate(kn.loads(text), 6.0, **FINE)
    assert found["x"][-1] == pytest.approx(1.0 / 1.5 + 0.5, abs=1e-12)


@pytest.mark.slow
def test_a_relay_under_sampled_control_between_stops() -> None:
    """As dry friction, by events: the motion meets the stops, rests there, comes back from them, and passes rest in between. What
    opens as it strikes under the whole relay would be held under the share with which the motion slides.
    """
    text = (
        f"{CAR}parameters a = 1, e = 0, low = -1, high = 0.3; initial x' = 0.5;"
        "limit upper : x <= high, restitution = e; limit lower : x >= low, restitution = e;"
    )
    relay, dry = (kn.loads(f"{text}{law}") for law in ("force f = -a*sign(x') on x;", "friction f = a on x;"))
    for seed in range(16):
        rng = np.random.default_rng(seed)
        size, rate, phase = rng.uniform(0.5, 4), rng.uniform(0.5, 8), rng.uniform(0, 6)

        def push(t: float, q: object, v: object, size=size, rate=rate, phase=phase) -> list[float]:
            return [size * np.sin(rate * t + phase)]

        p = {
            "a": rng.uniform(0.3, 2),
            "e": rng.choice([0, 0, 0.5]),
            "high": rng.choice([0.1, 0.3]),
            "low": rng.choice([-1, 0]),
        }
        own = {"tau": {"x'": kn.sampled(push, rng.choice([7.0, 20.0, 100.0]))}, "p": p, "method": "events", **FINE}
        a, b = (kn.simulate(system, 5.0, samples=101, **own) for system in (relay, dry))
        assert a.success, (seed, a.message)
        np.testing.assert_allclose(a["x"], b["x"], atol=1e-10)


@pytest.mark.slow
def test_a_ball_bounces_while_another_coordinate_slides() -> None:
    """What does not depend on contacts slides as without them."""
    slides = f"{RELAY}force u = 0.7*sin(3*t) on x; initial x' = 1;"
    both = kn.simulate(
        kn.loads(
            f"coordinates x, z; Car | Sx(x), Sz(z) = 1; force g = -10 on z; limit floor : z >= 0, restitution = 0.8;{slides}"
            "initial z = 1;"
        ),
        6.0,
        samples=61,
        **FINE,
    )
    alone = kn.simulate(kn.loads(f"{CAR}{slides}"), 6.0, samples=61, **FINE)
    np.testing.assert_allclose(both["x"], alone["x"], atol=1e-10)
    assert sum(what == "floor.lower strikes" for _, what in both.changes) > 10


@pytest.mark.slow
def test_a_relay_on_the_ground() -> None:
    """The friction of a contact, 0.1*10, and a relay of 1 are dry friction of 2."""
    times = np.linspace(0.0, 10.0, 101)
    load = "force u = 3*sin(t) on x; initial x' = 2;"
    ground = kn.simulate(
        kn.loads(
            f"coordinates x, z; Car | Sx(x), Sz(z) = 1; force w = -10 on z;{RELAY}{load}"
            "contact floor : point between Car and ground axis (0, 0, 1), friction = 0.1;"
        ),
        10.0,
        t_eval=times,
        **FINE,
    )
    dry = kn.simulate(kn.loads(f"{CAR}friction f = 2 on x;{load}"), 10.0, t_eval=times, **FINE)
    np.testing.assert_allclose(ground["x"], dry["x"], atol=1e-10)


@pytest.mark.slow
def test_cases_slide_at_a_stop_to_the_bit() -> None:
    """Each case of an ensemble with impacts has the bits of a motion alone."""
    system = kn.loads(
        f"{CAR}parameters A = 1; {RELAY} limit stop : x <= 0.3, restitution = 0.5; force u = A*sin(3*t) on x; initial x' = 0.5;"
        "output r = -sign(x');"
    )
    times, loads = np.linspace(0.0, 5.0, 51), np.linspace(0.5, 2.5, 7)
    many = kn.simulate(system, 5.0, p={"A": loads}, t_eval=times)
    for i, load in enumerate(loads):
        one = kn.simulate(system, 5.0, p={"A": load}, t_eval=times)
        np.testing.assert_array_equal(many["x"][i], one["x"])
        np.testing.assert_array_equal(many["r"][i], one["r"])
        assert many.case(i).changes == one.changes
        assert many.case(i).impacts == one.impacts
