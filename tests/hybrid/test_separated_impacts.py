"""Contacts that strike alone bounce within the compiled loop: as those do that a run hands back, and in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from tests.support import quick_but

#: A box of four corners in the plane, a ball and a box of eight corners in space, two balls between walls.
BOX = """gravity 9.81; parameters e = 0.6, mu = 0.3; Box | Sx(x), Sz(z), Ry(phi) = 2, 0.02, 0.03, 0.02; coordinates x, z, phi;
point A on Box = (-0.2, 0, -0.1); point B on Box = (0.2, 0, -0.1);
point C on Box = (0.2, 0, 0.1); point D on Box = (-0.2, 0, 0.1);
contact floor : point between A, B, C, D and ground axis (0, 0, 1), restitution = e, friction = mu;
initial z = 0.6, x' = 0.4, phi = 0.7, phi' = 6;"""
BALL = """gravity (0.7, 0, -9.81); parameters e = 0.6, mu = 0.3; Ball | Free(b) = 1, 0.004, 0.004, 0.004;
contact floor : ball = 0.1 between Ball and ground axis (0, 0, 1), restitution = e, friction = mu;
initial b.z = 0.6, b.vx = 0.8, b.vy = -0.5, b.wx = 9, b.wy = -20, b.wz = 3;"""
STOPS = """gravity 9.81; parameters e = 0.8; A | Ry(a), Sz(-1) = 1; B ~ A | Ry(c), Sz(-1) = 0.5; coordinates a, c;
limit s : -0.5 <= a <= 0.7, restitution = e; limit r : -1 <= c <= 1.2, restitution = e; initial a = 0.3, a' = 4, c' = -5;"""
WALLS = """A | Sx(x) = 1; B | Sx(y) = 2; coordinates x, y; parameters e = 0.9;
limit gap : y - x >= 0.1, restitution = e; limit left : x >= -1, restitution = e; limit right : y <= 1, restitution = e;
initial x = -0.3, y = 0.3, x' = 3, y' = -1;"""
MODELS = {"box": BOX, "ball": BALL, "stops": STOPS, "walls": WALLS}


def both_ways(text: str, t: float, **options: object) -> tuple[kn.Result, kn.Result]:
    """A run, and one with a switch that never switches, which hands back at every change."""
    switched = text + "when never : t >= 1000 s : e = 0;"
    within, handed = (kn.simulate(kn.loads(model), t, **options) for model in (text, switched))  # type: ignore[arg-type]
    return within, handed


@pytest.mark.slow
@pytest.mark.parametrize("name", quick_but(MODELS, ["box"]))
def test_what_bounces_within_the_loop_moves_as_what_is_handed_back(name: str) -> None:
    within, handed = both_ways(MODELS[name], 1.5, samples=61)
    assert [what for _, what in within.changes] == [what for _, what in handed.changes]
    assert len(within.changes) > 3
    times = np.array([[t for t, _ in run.changes] for run in (within, handed)])
    assert times[0] == pytest.approx(times[1], abs=1e-8)
    for one in ("q", "v"):
        assert getattr(within, one) == pytest.approx(getattr(handed, one), rel=1e-7, abs=1e-7)
    assert np.abs(within.energy_balance).max() < 1e-8


@pytest.mark.parametrize("law", ["newton", "poisson"])
@pytest.mark.parametrize("mu", ["0", "0.1", "0.9"])
def test_both_laws_of_restitution_and_little_and_much_friction_bounce_alike(law: str, mu: str) -> None:
    text = BOX.replace("restitution = e", f"restitution = e {law}").replace("mu = 0.3", f"mu = {mu}")
    within, handed = both_ways(text, 0.8, samples=21)
    assert [what for _, what in within.changes] == [what for _, what in handed.changes]
    assert within.q == pytest.approx(handed.q, rel=1e-7, abs=1e-7)


def test_an_elastic_ball_keeps_its_period() -> None:
    model = kn.loads(
        "gravity 9.81; A | Sz(z) = 1; coordinates z; point P on A = (0, 0, 0);"
        "contact floor : point between P and ground axis (0, 0, 1), restitution = 1; initial z = 1;"
    )
    run = kn.simulate(model, 100, dense_output=True)
    period = 2 * np.sqrt(2 / 9.81)
    assert np.array([t for t, _ in run.changes]) == pytest.approx(period * (np.arange(111) + 0.5), abs=1e-9)
    assert run.sol is not None
    t = np.linspace(0, 100, 997)
    since = (t + period / 2) % period
    assert run.sol(t)[0] == pytest.approx(np.sqrt(2 * 9.81) * since - 9.81 * since**2 / 2, abs=1e-8)
    assert np.abs(run.energy_balance).max() < 1e-11


def test_every_bounce_is_recorded_before_and_after_it() -> None:
    run = kn.simulate(kn.loads(WALLS), 1.5)
    for t, what in run.changes:
        before, after = np.flatnonzero(run.t == t)
        assert run.q[before] == pytest.approx(run.q[after], abs=1e-12), what
        assert np.abs(run.v[after] - run.v[before]).max() > 1e-3


def test_a_bounce_counts_where_steps_are_counted_and_runs_end_at_it() -> None:
    model = kn.loads(WALLS)
    whole = kn.simulate(model, 1.5)
    first = whole.changes[0][0]
    assert kn.simulate(model, first).t[-1] == first
    short = kn.simulate(model, 1.5, max_steps=3)
    assert short.status != 0
    assert short.steps == 3


def test_sampled_forces_go_on_through_bounces() -> None:
    def push(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        return [np.sin(5 * t), 0.1]

    within, handed = both_ways(WALLS, 1.5, tau=kn.sampled(push, 0.05), samples=31)
    assert within.q == pytest.approx(handed.q, abs=1e-8)
    assert len(within.changes) == len(handed.changes) > 3


@pytest.mark.slow
def test_events_are_found_between_bounces_and_end_runs_there() -> None:
    events = [kn.event(kn.symbol("b.vz")), kn.event(kn.symbol("b.z") - 0.12, direction=-1)]
    within, handed = both_ways(BALL, 1.5, events=events)
    for mine, others in zip(within.t_events, handed.t_events, strict=True):
        assert mine == pytest.approx(others, abs=1e-8)
        assert len(mine) > 1
    third = kn.event(kn.symbol("b.z") - 0.15, terminal=3)
    within, handed = both_ways(BALL, 1.5, events=[third])
    assert within.status == handed.status == 1
    assert within.t[-1] == pytest.approx(handed.t[-1], abs=1e-8)
    assert len(within.changes) == len(handed.changes) > 0


@pytest.mark.slow
def test_a_plane_that_moves_does_its_work() -> None:
    text = (
        "gravity 9.81; parameters e = 0.8; Table | Sz(0.05*sin(20*t)) = 1; Ball | Sx(x), Sz(z) = 0.3; coordinates x, z;"
        "contact bat : ball = 0.02 between Ball and Table axis (0, 0, 1), restitution = e, friction = 0.3;"
        "initial z = 0.4, x' = 0.7;"
    )
    within, handed = both_ways(text, 2.0, samples=41)
    assert [what for _, what in within.changes] == [what for _, what in handed.changes]
    assert within.work == pytest.approx(handed.work, rel=1e-7, abs=1e-9)
    assert np.abs(within.energy_balance).max() < 1e-7


def test_what_is_zero_as_a_contact_strikes_is_no_event_of_what_follows() -> None:
    rising = kn.event(kn.symbol("b.z") - 0.1, direction=1)
    within, handed = both_ways(BALL, 1.2, events=[rising])
    assert len(within.t_events[0]) == len(handed.t_events[0]) == 0


@pytest.mark.slow
def test_a_ball_that_keeps_nearly_all_of_its_speed_comes_to_rest_too() -> None:
    model = kn.loads(
        "gravity 9.81; parameters e = 0.999; A | Sz(z) = 1; coordinates z; initial z = 0.01;"
        "contact floor : point between A and ground axis (0, 0, 1), restitution = e;"
    )
    end = np.sqrt(2 * 0.01 / 9.81) * 1.999 / 0.001
    run = kn.simulate(model, 1.02 * end, samples=2)
    assert run.changes[-1][1] == "floor rests"
    assert run.changes[-1][0] == pytest.approx(end, abs=1e-5)
