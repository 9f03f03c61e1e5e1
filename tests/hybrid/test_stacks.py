"""Bodies that bounce on each other beside what rests, slips or stops: nothing falls through, nothing is pulled, runs end."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from tests.support import slow

G = 9.81


def stack(rng: np.random.Generator) -> tuple[kn.System, list[str]]:
    """A stack of bodies over ground, with contacts and limits of any restitution and friction beside; and its gaps."""
    names = "abcd"[: rng.integers(2, 5)]
    laws = [
        f"restitution = {e:.3f}{law}"
        for e, law in zip(rng.choice([0, 0.2, 0.5, 0.7, 0.9], 9), rng.choice(["", "", " poisson"], 9), strict=True)
    ]
    bodies = " ".join(f"{c.upper()} | Sz({c}) = {m:.3f};" for c, m in zip(names, rng.uniform(0.1, 5, 4), strict=False))
    touches, gaps = [f"limit floor : a >= 0, {laws[0]};"], ["a"]
    for p, c, law in zip(names, names[1:], laws[1:], strict=False):
        if rng.random() < 0.5:
            touches.append(f"contact on_{c} : point between {c.upper()} and {p.upper()} axis (0, 0, 1), {law};")
            gaps.append(f"{c} - {p}")
        else:
            touches.append(f"limit on_{c} : {c} - {p} >= 0.1, {law};")
            gaps.append(f"{c} - {p} - 0.1")
    if rng.random() < 0.5:
        touches.append(f"limit ceiling : {names[-1]} <= {0.7 * len(names)}, {laws[-1]};")
        gaps.append(f"{0.7 * len(names)} - {names[-1]}")
    if rng.random() < 0.5:
        touches.append(f"friction guide = {rng.uniform(0.1, 5):.3f} on {rng.choice([*names])};")
    heights = np.cumsum(rng.choice([0.1, 0.3, 0.6], 4))
    start = ", ".join(
        f"{c} = {z:.3f}, {c}' = {v:.3f}" for c, z, v in zip(names, heights, rng.normal(size=4), strict=False)
    )
    outputs = " ".join(f"output gap{i} = {gap};" for i, gap in enumerate(gaps))
    text = f"gravity {G}; coordinates {', '.join(names)}; {bodies} {' '.join(touches)} initial {start}; {outputs}"
    return kn.loads(text), [f"gap{i}" for i in range(len(gaps))]


@pytest.mark.parametrize("seed", range(2, 6))
def test_stacks_of_any_restitution_never_penetrate_and_lose_energy_only(seed: int) -> None:
    system, gaps = stack(np.random.default_rng(seed))
    run = kn.simulate(system, 2.0)
    assert run.success, run.message
    assert min(run[name].min() for name in gaps) > -1e-8
    assert np.diff(run.energy).max() < 1e-8


@pytest.mark.parametrize("e", [0.3, 0.7])
def test_masses_that_bounce_on_each_other_come_to_rest_on_each_other(e: float) -> None:
    masses = kn.loads(
        f"gravity {G}; coordinates a, b, c; A | Sz(a) = 1; B | Sz(b) = 2; C | Sz(c) = 3; limit floor : a >= 0, restitution = {e};"
        f"limit ab : b - a >= 0.1, restitution = {e}; limit bc : c - b >= 0.1, restitution = {e};"
        "initial a = 1, b = 2, c = 3;"
    )
    run = kn.simulate(masses, 8.0)
    assert run.q[-1] == pytest.approx([0, 0.1, 0.2], abs=1e-9)
    forces = [run[f"lambda.{n}.lower"][-1] for n in ("floor", "ab", "bc")]
    assert forces == pytest.approx([6 * G, 5 * G, 3 * G], rel=1e-9)


def test_a_ball_comes_to_rest_on_a_table_that_stands_at_the_time_of_its_closed_form() -> None:
    e, drop = 0.5, 0.9
    ball = kn.loads(
        f"gravity {G}; Table | Sz(h) = 20; Ball | Sx(x), Sz(z) = 1; coordinates h, x, z;"
        "contact legs : point between Table and ground axis (0, 0, 1);"
        f"contact top : ball = 0.1 between Ball and Table axis (0, 0, 1), restitution = {e}; initial z = 1;"
    )
    run = kn.simulate(ball, 3.0)
    rests = [t for t, what in run.changes if what == "top rests"]
    assert rests == pytest.approx([np.sqrt(2 * drop / G) * (1 + e) / (1 - e)], abs=1e-6)
    assert run["z"][-1] == pytest.approx(0.1, abs=1e-9)


@pytest.mark.parametrize("law", ["restitution = 0.3", "restitution = 0.3 poisson"])
def test_a_wall_stops_what_slipping_friction_drives(law: str) -> None:
    belt = kn.loads(
        f"coordinates x; Block | Sx(x) = 10; friction belt = 49 on x - 3*t; limit wall : x <= 1, {law};"
        "output force = lambda.wall.upper;"
    )
    run = kn.simulate(belt, 3.0)
    assert run["x"].max() < 1 + 1e-9
    assert run["force"][-1] == pytest.approx(49, rel=1e-9)


@pytest.mark.parametrize("force", [24.5, 24.53, 30.0, 78.0, -30.0])
def test_a_box_at_rest_tips_when_it_is_pushed_hard_enough(force: float) -> None:
    """About an edge at half the width, from the height of its top: from m g 0.2/0.8 on."""
    box = kn.loads(
        f"gravity {G}; Box | Sx(x), Sz(z), Ry(p) = 10, 1, 0.9, 1; coordinates x, z, p;"
        "contact floor : point between Box at (-0.2, 0, -0.4), Box at (0.2, 0, -0.4) and ground axis (0, 0, 1),"
        f" friction = 0.8; force push on Box at (0, 0, 0.4) = ({force}, 0, 0); initial z = 0.4;"
    )
    run = kn.simulate(box, 0.2, samples=21)
    assert min(run[f"lambda.floor.{k}.n"].min() for k in "12") >= 0
    turning = abs(force) * 0.8 - 10 * G * 0.2
    inertia = 0.9 + 10 * (0.2**2 + 0.4**2)
    assert abs(run["p"][1]) == pytest.approx(max(turning, 0) / inertia * 0.01**2 / 2, rel=1e-3, abs=1e-12)


def test_what_touches_without_force_leaves_when_it_would_be_pulled_and_stays_when_pressed() -> None:
    text = "coordinates z; B | Sz(z) = 1; force f = {} on z; contact floor : point between B and ground axis (0, 0, 1);"
    pulled, pressed = (kn.simulate(kn.loads(text.format(f)), 2.0) for f in ("t", "-t"))
    assert pulled["z"][-1] == pytest.approx(2**3 / 6, rel=1e-9)
    assert pressed["z"][-1] == 0
    assert pressed["lambda.floor.n"][-1] == pytest.approx(2, rel=1e-12)


def test_infinitely_many_impacts_between_two_balls_and_a_wall_bring_both_to_rest() -> None:
    """A light ball between a heavy one and a wall takes all its speed away, impact by impact, until all is at rest at once."""
    balls = kn.loads(
        "L | Sx(a) = 0.5; H | Sx(b) = 2.1; coordinates a, b; initial a = 0.52, b = 0.72, a' = -0.15, b' = -1.29;"
        "limit wall : a >= 0, restitution = 0.3; limit between : b - a >= 0, restitution = 0.3;"
    )
    run = kn.simulate(balls, 3.0)
    assert np.abs(run.v[-1]).max() < 1e-12
    assert np.abs(run.q[-1]).max() < 1e-7
    assert run.energy_balance < 1e-9


@pytest.mark.parametrize(
    ("links", "friction", "ground"), [(2, 0.1, 0.3), (3, 0.1, 0.3), (4, 0.1, 0.0), *slow([(4, 5.0, 0.3)])]
)
def test_a_chain_with_friction_in_its_joints_lies_on_the_ground(links: int, friction: float, ground: float) -> None:
    """What joints bear is within their bounds, though contacts could carry less evenly and leave more to them."""
    names, places = "ABCD"[:links], ", ".join(f"P{i}" for i in range(links))
    text = "gravity (0, -9.81, 0);" + "".join(
        f"{b} {f'~ {names[i - 1]} | Sx(1)' if i else '| Sx(x), Sy(y)'}, Rz(a{i}) = m(1), Jz(0.1), com = (0.5, 0, 0);"
        f"point P{i} on {b} = (1, 0, 0);" + f"friction f{i} = {friction} on a{i};" * (i > 0)
        for i, b in enumerate(names)
    )
    text += f"coordinates x, y, {', '.join(f'a{i}' for i in range(links))};"
    text += f"contact g : point between A, {places} and ground axis (0, 1, 0), friction = {ground};"
    run = kn.simulate(kn.loads(text), 0.05, samples=6)
    assert run.success
    assert not run.changes
    pushed = np.array([run[row] for row in run.series if row.startswith("lambda.g") and row.endswith(".n")])
    assert pushed.sum(axis=0) == pytest.approx(links * 9.81)
    assert pushed.min() > 4
    for i in range(1, links):
        assert np.abs(run[f"lambda.f{i}"]).max() <= friction


def boxes() -> kn.System:
    """Five boxes of 0.3 m by 0.2 m, each on the next, with friction."""
    text = f"gravity {G};"
    for i in range(1, 6):
        base = "ground" if i == 1 else f"B{i - 1} at (0, 0, 0.1)"
        text += (
            f"B{i} | Sx(x{i}), Sz(z{i}), Ry(-q{i}) = m(1), Jy(0.01);"
            f"point L{i} on B{i} = (-0.15, 0, -0.1); point R{i} on B{i} = (0.15, 0, -0.1);"
            f"contact c{i} : point between L{i}, R{i} and {base} axis (0, 0, 1), friction = 0.5;"
        )
    return kn.loads(f"{text} coordinates {', '.join(f'x{i}, z{i}, q{i}' for i in range(1, 6))};")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [6, 18])
def test_boxes_dropped_on_each_other_have_impulses_though_they_hardly_move(seed: int) -> None:
    """Newton's method ends at the rounding error of its energy, where forces are not unique and others are released."""
    rng, q = np.random.default_rng(seed), np.zeros((5, 3))
    v = 0.3 * rng.normal(size=(5, 3))
    q[:, 0], q[:, 1] = rng.uniform(-0.03, 0.03, 5), 0.1 + 0.2 * np.arange(5) + 0.05 * np.arange(1, 6)
    q[:, 2] = rng.uniform(-0.1, 0.1, 5)
    run = kn.simulate(boxes(), 1.2, q=q.ravel(), v=v.ravel(), method="events")
    assert run.status == 0, run.message
    assert np.diff(run.energy).max() < 1e-8
