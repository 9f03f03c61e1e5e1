"""``changes`` are all that happened: what they say holds at every sample of a motion, looked at from outside."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

import kineta as kn
from kineta.simulation import run as simulation_run
from tests.support import hand_back_transitions

SAMPLES, END = 8001, 4.0
#: A speed that is none, a gap that is closed, a jump of a speed that is an impact.
STILL, CLOSED, JUMP = 1e-9, 1e-8, 0.02


def rubbing(seed: int) -> kn.System:
    """Two bodies on a line, driven and rubbed, the first between stops."""
    rng = random.Random(seed)
    k, c, F, w = rng.uniform(5, 40), rng.uniform(5, 40), rng.uniform(1, 6), rng.uniform(2, 9)
    a, b = rng.uniform(0.1, 1.5), rng.uniform(0.1, 1.5)
    return kn.loads(f"""
        coordinates x, y; parameters s = 0; A | Sx(x) = 1; B ~ A | Sx(y) = {rng.uniform(0.3, 2)};
        spring k = {k} on x; spring c = {c} on y; force drive = {F}*sin({w}*t) on x;
        friction f = {a}, static = {a * rng.uniform(1, 1.5)} on x; friction g = {b} on y;
        limit stop : -0.15 <= x <= 0.15, restitution = {rng.uniform(0, 0.8)};
        when late : t >= 2 s : s = 1;
        output s;
        initial x' = {rng.uniform(-1, 1)}, y' = {rng.uniform(-1, 1)};
    """)


def sliding(seed: int) -> kn.System:
    """A brick in the plane that is thrown, slides, is pushed to and fro, and stops."""
    rng = random.Random(seed)
    return kn.loads(f"""
        gravity (0, 0, -9.81); coordinates x, z; B | Sx(x), Sz(z) = 1;
        contact floor : point between B and ground axis (0, 0, 1), restitution = {rng.uniform(0, 0.7)},
          friction = {rng.uniform(0.05, 0.5)};
        force push = {rng.uniform(1, 7)}*sin({rng.uniform(2, 7)}*t) on x;
        initial z = {rng.uniform(0, 0.2)}, x' = {rng.uniform(-2, 2)};
    """)


def in_space(seed: int) -> kn.System:
    """A brick on a table that pushes it to and fro along a line in space."""
    rng = random.Random(seed)
    F, w, angle = rng.uniform(4, 9), rng.uniform(2, 6), rng.uniform(0, 6)
    return kn.loads(f"""
        gravity (0, 0, -9.81); coordinates x, y, z; B | Sx(x), Sy(y), Sz(z) = 1;
        contact floor : point between B and ground axis (0, 0, 1), friction = {rng.uniform(0.05, 0.3)};
        force push on B = ({F * np.cos(angle)}*sin({w}*t), {F * np.sin(angle)}*sin({w}*t), 0);
        initial x' = {0.7 * np.cos(angle)}, y' = {0.7 * np.sin(angle)};
    """)


def agree(run: kn.Result, rubs: dict[str, np.ndarray], gaps: dict[str, tuple[np.ndarray, np.ndarray]]) -> int:
    """Check what *run* says against velocities of slip *rubs* (NaN where open), *gaps* and their rates, by name; return how much
    it says.
    """
    t, step = run.t, run.t[1] - run.t[0]
    said = [(at, *what.rpartition(" ")[::2]) for at, what in run.changes]
    clear = np.min([np.abs(t - at) for at, *_ in said] or [np.full_like(t, np.inf)], axis=0) > 2 * step
    for name, speed in rubs.items():
        own = [
            (at, word)
            for at, n, word in said
            if n == name and word in ("sticks", "slips", "reverses", "leaves", "rests")
        ]
        marks = [t[0], *(at for at, _ in own), t[-1]]
        sign = None
        for (start, end), (_, word) in zip(pairwise(marks), [(t[0], ""), *own], strict=True):
            inside = np.flatnonzero((t > start + 2 * step) & (t < end - 2 * step) & clear & np.isfinite(speed))
            if len(inside) == 0:
                sign = None if word != "reverses" or sign is None else -sign
                continue
            found = np.where(np.abs(speed[inside]) <= STILL, 0, np.sign(speed[inside]))
            assert len(set(found)) == 1, (name, start, end, word)
            if word in ("sticks", "slips"):
                assert (found[0] == 0) == (word == "sticks"), (name, start, word)
            if word == "reverses":
                assert found[0] != 0
                assert sign is None or found[0] == -sign, (name, start)
            sign = found[0] or None
    for name, (gap, rate) in gaps.items():
        closed = abs(gap[0]) <= CLOSED
        own = [(at, word) for at, n, word in said if n == name]
        ends = [(at, word == "rests") for at, word in own if word in ("rests", "leaves")]
        for (start, state), end in zip([(t[0], closed), *ends], [*(at for at, _ in ends), t[-1]], strict=True):
            inside = (t > start + 2 * step) & (t < end - 2 * step) & clear
            assert ((np.abs(gap[inside]) <= CLOSED) == state).all(), (name, start, state)
        strikes = np.array([at for at, word in own if word == "strikes"])
        every = np.array([at for at, _, word in said if word == "strikes"])
        for i in np.flatnonzero(np.abs(np.diff(rate)) > JUMP):
            assert ((every >= t[i] - step) & (every <= t[i + 1] + step)).any(), (name, t[i])
        blows = [x for x in run.impacts if x.contact == name and x.before < -NEGLIGIBLE]
        assert len(blows) == len([x for x in strikes if any(abs(b.t - x) < 1e-12 for b in blows)])
        for at in {x.t for x in blows if x.after - x.before > 2 * JUMP}:
            i = np.searchsorted(t, at)
            assert np.abs(np.diff(rate[max(0, i - 2) : i + 2])).max() > JUMP / 2, (name, at)
    return len(said)


NEGLIGIBLE = 1e-6


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_joints_and_stops(seed: int, native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not native:
        hand_back_transitions(monkeypatch)
    run = kn.simulate(rubbing(seed), END, samples=SAMPLES)
    assert run.success
    x, v = run["x"], run["x'"]
    gaps = {"stop.lower": (x + 0.15, v), "stop.upper": (0.15 - x, -v)}
    assert agree(run, {"f": v, "g": run["y'"]}, gaps) > 4
    (switch,) = [at for at, what in run.changes if what == "late switches"]
    assert run.t[np.flatnonzero(np.diff(run["s"]))[0]] == pytest.approx(switch, abs=2 * END / SAMPLES)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_thrown_and_slides(seed: int) -> None:
    run = kn.simulate(sliding(seed), END, samples=SAMPLES)
    assert run.success
    slip = np.where(np.abs(run["z"]) <= CLOSED, run["x'"], np.nan)
    assert agree(run, {"floor": slip}, {"floor": (run["z"], run["z'"])}) > 2


@pytest.mark.parametrize("seed", range(4))
def test_slip_in_space_reverses(seed: int) -> None:
    system = in_space(seed)
    run = kn.simulate(system, END, samples=SAMPLES)
    assert run.success
    start = dict(system.initial)
    first = np.array([start["x'"].value, start["y'"].value])
    along = (run["x'"] * first[0] + run["y'"] * first[1]) / np.hypot(*first)
    assert agree(run, {"floor": along}, {}) > 2
    turned = np.flatnonzero(np.diff(np.sign(along[np.abs(along) > STILL])))
    assert len(turned)


def test_reversals_are_those_of_the_closed_form() -> None:
    block = kn.loads("coordinates x; B | Sx(x) = 1; friction f = 1 on x; force u = 3*cos(t) on x; initial x' = 0;")
    run = kn.simulate(block, 60.0)
    turns = [t for t, what in run.changes if what == "f reverses"]
    assert np.diff(turns)[-1] == pytest.approx(np.pi, abs=1e-3)
    assert {what for _, what in run.changes} <= {"f reverses", "f sticks", "f slips"}


@pytest.mark.slow
def test_elastic_walls_that_close_on_a_body_are_said_to_squeeze_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its speed grows as the gap shrinks, and infinitely many impacts come before t = 1 s."""
    monkeypatch.setattr(simulation_run, "CHECK_INTERVAL", 5000)
    monkeypatch.setattr(simulation_run, "MAX_STEPS_LEFT", 1e8)
    text = "B | Sx(x) = 1; coordinates x; limit w : 0 <= x <= 1 - t, restitution = 1; initial x = 0.3, x' = 1;"
    run = kn.simulate(kn.loads(text), 3.0)
    assert "one change follows another ever faster there (w." in run.message
    assert {"w.lower strikes", "w.upper strikes"} == set(
        run.message.partition("there (")[2].partition(")")[0].split("; ")
    )
    assert "as where elastic impacts squeeze what is between them" in run.message
    assert run["x'"][-1] ** 2 > 1e8
