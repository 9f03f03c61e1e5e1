"""Friction along a line that changes while all else goes on: what the loop does is what the search for all of it finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kineta as kn
from kineta.hybrid.automaton import HybridRun
from kineta.integration import contact_records
from kineta.integration.segment import Segment
from kineta.mechanics.contact.unilateral_rows import FLAGS
from kineta.model.reserved_symbols import MULTIPLIER
from tests.support import hand_back_transitions

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def arm(n: int) -> str:
    """A chain of *n* links with friction in all joints, driven so that each of them turns back and stands still."""
    links = (
        f"L{i} {f'~ L{i - 1} | Sx(0.3),' if i else '|'} {'Rz' if i % 2 else 'Ry'}(q{i}), Sx(0.3) = 1, 0.02, 0.02, 0.02;"
        f"friction f{i} = 0.2, static = 0.25 on q{i}; force d{i} = {9 - i}*sin({1.3 + 0.37 * i}*t + {i}) on q{i};"
        f"damper c{i} = 0.5 on q{i}';"
        for i in range(n)
    )
    return "gravity 9.81;" + "".join(links)


MODELS = {
    "a chain": (arm(4), 3.0),
    "a belt": (
        "gravity 9.81; frame Belt | Sx(0.3*t); M | Sx(x), Sz(z) = 1; spring k = 40 on x; coordinates x, z;"
        "contact c : point between M and Belt axis (0, 0, 1), friction = 0.3, static = 0.4;",
        5.0,
    ),
    "one on the other": (
        "coordinates x, y; A | Sx(x) = 1; B ~ A | Sx(y) = 0.5; friction f = 0.3, static = 0.4 on x; friction g = 0.2 on y;"
        "spring k = 20 on y; force h on A = (3*sin(2*t) + sin(7*t), 0, 0);",
        10.0,
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_turns_within_the_loop_moves_as_what_is_handed_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, end = MODELS[name]
    system, within, handed = kn.loads(text), list[int](), list[float]()
    noted, changed = HybridRun._noted, HybridRun._changed

    def counted(self: HybridRun, segment: Segment, *given: bool) -> Any:
        within.append(0 if segment.changed is None else len(segment.changed.rows))
        return noted(self, segment, *given)

    def told(self: HybridRun, t: float, *given: Any) -> Any:
        handed.append(t)
        return changed(self, t, *given)

    monkeypatch.setattr(HybridRun, "_noted", counted)
    monkeypatch.setattr(HybridRun, "_changed", told)
    run = kn.simulate(system, end, samples=57)
    every = kn.simulate(system, end, dense_output=True)
    assert len(handed) <= 0.3 * sum(within)
    assert sum(within) >= 20
    hand_back_transitions(monkeypatch)
    other = kn.simulate(system, end, samples=57)
    assert run.success
    assert run.changes == other.changes
    assert np.abs(run.y - other.y).max() < 1e-9
    assert np.abs(every.sol(run.t[::-1])[:, ::-1] - run.y).max() < 1e-9
    for row in (name for name in run.series if name.startswith(MULTIPLIER)):
        assert run[row] == pytest.approx(other[row], abs=1e-6), row


def test_the_numbers_of_a_mode_lie_where_kernels_find_them() -> None:
    places = {"CLOSED", "STUCK", "SLIPS", "ALONG", "ALONG_W", "ALONG_N", "BEGINS", "SLACK"}
    names = {"ALONG": "along u"}
    found = {getattr(contact_records, k): names.get(k, k.lower().replace("_", " ")) for k in places}
    assert [found[k] for k in range(len(FLAGS))] == list(FLAGS)
    assert len(FLAGS) == contact_records.FLAGS == len(places)


@pytest.mark.parametrize("start", [1.0, 0.0])
def test_friction_on_a_cam_takes_no_more_in_a_dead_point_than_on_the_way(start: float) -> None:
    """Where the way of friction turns back its rate is zero, and all goes on: it takes its force times the way."""
    cam = kn.loads(f"C | Rz(a) = Jz(0.05); coordinates a; friction f = 0.1 on 0.3*cos(a); initial a = {start}, a' = 4;")
    run = kn.simulate(cam, 4.0, samples=50)
    way = np.array([np.abs(np.diff(0.3 * np.cos(np.linspace(start, a, 20001)))).sum() for a in run["a"]])
    assert run["a'"] == pytest.approx(np.sqrt(16 - 2 * 0.1 * way / 0.05), rel=1e-6)


CLOSED = {
    "a slider": (
        "Crank | Rz(a) = Jz(0.05); Rod ~ Crank | Sx(0.3), Rz(b) = m(0.5), Jz(0.02), com = (0.4, 0, 0); Slide | Sx(s) = 0.7;"
        "coordinates a, b, s; loop pin : ball between Rod at (0.8, 0, 0) and Slide; friction f = 0.5{} on s;",
        {"a": 1.2, "b": -1.6, "s": 0.9},
    ),
    "a foot on the ground": (
        "gravity (0, 0, -1); Crank | Ry(a) = Jy(0.05); Rod ~ Crank | Sx(0.3), Ry(b) = m(0.5), Jy(0.02), com = (0.4, 0, 0);"
        "Foot ~ Rod | Sx(0.8) = 0.1; coordinates a, b; constraint low : Foot.z = 0; friction f = 0.05{} on Foot.x;",
        {"a": 1.2, "b": -1.5},
    ),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_mechanisms_pass_their_dead_points_with_friction(name: str) -> None:
    text, guess = CLOSED[name]
    ends = []
    for smooth in ("", ", smooth = 1e-4"):
        system = kn.loads(text.format(smooth))
        start = kn.assemble(system, q=guess, v={"a'": 6.0}, pinned=["a", "a'"])
        run = kn.simulate(system, 1.5, q=start.q, v=start.v)
        assert run.success
        ends.append(run.y[:, -1])
    assert ends[0] == pytest.approx(ends[1], abs=1e-5)


def test_a_foot_on_the_ground_passes_the_dead_points_of_its_crank() -> None:
    text = (
        "gravity (0, 0, -1); Crank | Ry(a) = Jy(0.05); Rod ~ Crank | Sx(0.3), Ry(b) = m(0.5), Jy(0.02), com = (0.4, 0, 0);"
        "Foot ~ Rod | Sx(0.8) = 0.1; coordinates a, b;"
        "contact c : point between Foot and ground axis (0, 0, 1), friction = 0.05{};"
    )
    closed = kn.loads(text.format("").partition("contact")[0] + "constraint low : Foot.z = 0;")
    start = kn.assemble(closed, q={"a": 1.2, "b": -1.56}, v={"a'": -6.0}, pinned=["a", "a'"])
    runs = [kn.simulate(kn.loads(text.format(x)), 0.5, q=start.q, v=start.v) for x in ("", ", smooth = 1e-5")]
    assert [run.changes[0][1] for run in runs] == ["c reverses", "c leaves"]
    assert runs[0].y[:, -1] == pytest.approx(runs[1].y[:, -1], abs=1e-5)


CRANK = (
    "Crank | Rz(a) = Jz(0.05); Rod ~ Crank | Sx(0.3), Rz(b) = m(0.5), Jz(0.02), com = (0.4, 0, 0); Slide | Sx(s) = 0.7;"
    "coordinates a, b, s; loop pin : ball between Rod at (0.8, 0, 0) and Slide;"
)


@pytest.mark.slow
def test_two_that_rub_pass_the_dead_points_of_a_crank() -> None:
    ends = []
    for smooth in ("", ", smooth = 1e-4"):
        system = kn.loads(CRANK + f"friction f = 0.5{smooth} on s; friction c = 0.01{smooth} on a;")
        start = kn.assemble(system, q={"a": 1.2, "b": -1.6, "s": 0.9}, v={"a'": 6.0}, pinned=["a", "a'"])
        run = kn.simulate(system, 1.5, q=start.q, v=start.v)
        assert run.success
        ends.append(run.y[:, -1])
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)


def test_what_slides_elsewhere_does_not_stop_a_wheel_in_its_dead_point() -> None:
    cam = "C | Ry(a) = Jy(0.05); friction f = 0.1 on 0.3*cos(a);"
    beside = "D | Sx(x), Sz(z) = 1; contact g : point between D and ground axis (0, 0, 1), friction = 0.1;"
    both = kn.simulate(
        kn.loads(f"gravity 9.81; coordinates a, x, z; {cam} {beside} initial a = 1, a' = 4, x' = 3;"), 2.0
    )
    alone = kn.simulate(kn.loads(f"coordinates a; {cam} initial a = 1, a' = 4;"), 2.0)
    assert both["a'"][-1] == pytest.approx(alone["a'"][-1], rel=1e-8)


@pytest.mark.parametrize("start", [0.0, np.pi])
def test_a_wheel_starts_from_rest_in_a_dead_point_against_friction(start: float) -> None:
    text = "C | Rz(a) = Jz(0.05); coordinates a; friction f = 0.1 on 0.3*cos(a); force m = 0.05 on a;"
    run = kn.simulate(kn.loads(f"{text} initial a = {start!r};"), 2.0, samples=20)
    way = 0.3 * (1 - np.cos(run["a"] - start))
    assert run["a"][-1] < start + np.pi
    assert 0.025 * run["a'"] ** 2 == pytest.approx(0.05 * (run["a"] - start) - 0.1 * way, abs=1e-9)


def test_a_crank_starts_from_rest_in_its_dead_point_against_friction() -> None:
    system = kn.loads(CRANK + "friction f = 0.5 on s; force m = -1 on a;")
    start = kn.assemble(system, q={"a": 0, "b": 0, "s": 1.1}, v={"a'": 0}, pinned=["a", "a'"])
    run = kn.simulate(system, 0.5, q=start.q, v=start.v)
    lost = 0.5 * (1.1 - run["s"][-1])
    assert run.success
    assert run.kinetic_energy[-1] == pytest.approx(-run["a"][-1] - lost, rel=1e-7)


def test_two_that_rub_where_one_hardly_moves_stop_together() -> None:
    """Rounding lets the one stand a little before the other; friction gives no energy back."""
    text = (
        "Crank | Rz(a) = m(1), Jz(0.2), com = (0.1, 0, 0);"
        "Rod ~ Crank | Sx(0.2), Rz(b) = m(0.5), Jz(0.02), com = (0.10005, 0, 0);"
        "Slider | Sx(x) = 0.8; coordinates a, b, x; loop pin : ball between Rod at (0.2001, 0, 0) and Slider;"
        "friction f = 0.5, static = 0.65 on x; friction c = 0.3, static = 0.39 on a; initial x = 0.4001;"
    )
    start = kn.assemble(kn.loads(text), v={"a'": 3}, pinned=["a", "a'"])
    run = kn.simulate(kn.loads(text), 3.0, q=start.q, v=start.v)
    assert run.success
    assert run["a"][-1] == pytest.approx(2.85804, abs=1e-5)
    assert run.kinetic_energy[-1] == pytest.approx(0.0, abs=1e-20)
    assert (np.diff(run.kinetic_energy) <= 1e-12).all()


@pytest.mark.parametrize("limit", ["a <= 1.3", "s <= 0.95"])
def test_a_crank_that_strikes_a_limit_stands(limit: str) -> None:
    system = kn.loads(f"{CRANK} limit l : {limit};")
    turning = 6.0 if limit[0] == "a" else -6.0
    start = kn.assemble(system, q={"a": 1.2, "b": -1.6, "s": 0.9}, v={"a'": turning}, pinned=["a", "a'"])
    run = kn.simulate(system, 1.0, q=start.q, v=start.v)
    assert run.success
    assert np.abs(run.v[-1]).max() < 1e-8
    assert run[limit[0]][-1] == pytest.approx(float(limit[5:]), abs=1e-10)


def test_what_might_leave_as_well_as_slip_is_not_decided_within_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """With so much friction that a force along the ground lifts a corner, both keep to the laws, and only the one goes on."""
    text = """gravity 9.81; frame Ground | Sx(0.2254*sin(11.875*t)); coordinates x, z, p;
        B | Sx(x), Sz(z), Ry(p) = m(1), Jy(0.04);
        point L on B = (-0.116072, 0, -0.3); point R on B = (0.116072, 0, -0.3);
        contact c : point between L, R and Ground axis (0, 0, 1), friction = 3, restitution = 0.322;
        initial p = 0.0754686, z = 0.3078976;"""
    system = kn.loads(text)
    run = kn.simulate(system, 1.3, rtol=1e-11)
    hand_back_transitions(monkeypatch)
    other = kn.simulate(system, 1.3, rtol=1e-11)
    assert run.success
    assert [what for _, what in run.changes] == [what for _, what in other.changes]


def test_what_sticks_is_not_let_go_because_another_one_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has its bound of rest, though what the other one would ask of it, if that stuck too, were more than that."""
    text = """gravity (0, 0, -9.81); coordinates a, b; B | Ry(a) = m(0.3), Jy(0.009), com = (0.3, 0, 0);
        C ~ B | Sx(0.6), Ry(b) = m(0.3), Jy(0.009), com = (0.3, 0, 0); spring s = 30 on a; spring r = 30 on b;
        friction f = 3, static = 3.6 on a; force u = 2*sin(0.7*t) on a;
        friction g = 0.3, static = 0.6 on b; force w = 2*sin(20*t) on b;
        initial a = -0.87931739, b = -0.34684876, a' = 2.49676977;"""
    system = kn.loads(text)
    for _ in range(2):
        run = kn.simulate(system, 0.936, rtol=1e-10)
        assert [what for _, what in run.changes if what.startswith("f ")][-1] == "f sticks"
        assert 3 < np.abs(run["lambda.f"][-1]) < 3.6
        hand_back_transitions(monkeypatch)


def test_friction_that_goes_and_comes_back_leaves_what_the_floor_holds_at_rest() -> None:
    """A joint without friction does not stick, and one whose friction falls to zero leaves its load to the floor before."""
    system = kn.loads("""gravity 9.81; B | Sx(x), Sz(z) = 1; coordinates x, z; force push = 3 on x;
        friction rub = max(2*cos(t), 0) on x; contact floor : point between B and ground axis (0, 0, 1), friction = 0.8;""")
    result = kn.simulate(system, 6.0, samples=7, max_steps=100)
    assert not result["x"].any()
    assert [what for _, what in result.changes] == ["rub sticks"]
    assert result.changes[0][0] == pytest.approx(1.5 * np.pi, abs=1e-12)
    assert result.steps <= 20
