"""Bodies on several feet: they share what holds them and slip together, by closed forms and by the theory of plastic limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize_scalar

import kineta as kn
from kineta.hybrid.contact_log import ContactLog
from tests.support import quick_but, slow

BOX = np.array([(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)])
TRIPOD = np.array([(0.5, 0.0), (-0.25, 0.4), (-0.25, -0.4)])
MU, G, J = 0.3, 10.0, 0.1


def body(feet: np.ndarray, below: float = 0.2, law: str = f"friction = {MU}", more: str = "") -> kn.System:
    """A body of 1 kg that stands on feet under its centre of mass."""
    points = "".join(f"point P{i} on B = ({x}, {y}, {-below});" for i, (x, y) in enumerate(feet.tolist()))
    names = ", ".join(f"P{i}" for i in range(len(feet)))
    return kn.loads(
        f"B | Free(b) = 1, {J}, {J}, {J}; {points} {more}"
        f"contact c : point between {names} and ground axis (0, 0, 1), {law}; initial b.z = {below};"
    )


def pulled(
    feet: np.ndarray, force: str, below: float = 0.2, law: str = f"friction = {MU}", arm: float = 0.0
) -> kn.System:
    """The body pulled along x, beside its centre."""
    more = f"gravity {G}; point Q on B = (0, {arm}, 0); force F on Q = ({force}, 0, 0) in ground;"
    return body(feet, below, law, more)


def times(run: kn.Result, what: str) -> list[float]:
    return [t for t, word in run.changes if word.endswith(what)]


def forces(run: kn.Result, i: int) -> np.ndarray:
    """Normal force and friction of a foot, (3, k)."""
    return np.array([run[f"lambda.c.P{i}.{k}"] for k in "nuw"])


@pytest.mark.parametrize(("feet", "below"), [(TRIPOD, 0.2), *slow([(BOX, 0.2), (BOX, 0.0)])])
def test_feet_hold_what_all_can_and_slip_together(feet: np.ndarray, below: float) -> None:
    run = kn.simulate(pulled(feet, "t", below), 6.0)
    assert times(run, "slips") == pytest.approx([MU * G] * len(feet), abs=1e-6)
    assert run["b.x"][-1] == pytest.approx((6 - MU * G) ** 3 / 6, abs=1e-6)
    assert np.abs(run["b.y"]).max() < 1e-9
    assert run.energy_balance < 1e-9
    for i in range(len(feet)):
        n, u, w = forces(run, i)
        assert (np.hypot(u, w) <= MU * n * (1 + 1e-7)).all()


@pytest.mark.slow
def test_feet_that_stick_reach_the_bound_of_what_sticks() -> None:
    run = kn.simulate(pulled(BOX, "t", law="friction = 0.3, static = 0.4"), 6.0)
    assert times(run, "slips") == pytest.approx([4.0] * 4, abs=1e-6)
    assert run["b.x"][-1] == pytest.approx((6**3 - 4**3) / 6 - 8 * 2 - 3 * 2**2 / 2, abs=1e-6)
    n, u, w = forces(run, 0)
    assert (np.hypot(u, w) / n).max() == pytest.approx(0.4, abs=1e-6)


@pytest.mark.slow
def test_a_force_beside_the_centre_turns_the_body_at_its_plastic_limit() -> None:
    """The least force over all centres of rotation under which friction at its bounds does as much work."""
    arm = 0.3

    def limit(y: float) -> float:
        return float(MU * G / 4 * np.hypot(BOX[:, 0], BOX[:, 1] - y).sum() / abs(arm - y))

    least = minimize_scalar(limit, bounds=(-20, arm - 0.01), method="bounded", options={"xatol": 1e-9})
    run = kn.simulate(pulled(BOX, "t", 0.0, arm=arm), least.fun + 0.1, samples=2001)
    assert times(run, "slips") == pytest.approx([least.fun] * 4, abs=1e-6)
    assert -run["b.vx"][-1] / run["b.wz"][-1] == pytest.approx(-least.x, rel=0.02)
    after = run.t > least.fun + 6e-3  # slip is fast beside that with which it begins
    for i, foot in enumerate(BOX):
        n, u, w = forces(run, i)
        slipping = foot - [0, least.x]
        against = run["b.wz"][-1] * np.array([slipping[1], -slipping[0]]) / np.hypot(*slipping)
        assert np.abs(np.hypot(u, w) / n - MU)[after].max() < 1e-6
        assert np.array([u, w])[:, after][:, 0] / (MU * n[0]) == pytest.approx(against / np.hypot(*against), abs=1e-3)


@pytest.mark.slow
def test_friction_begins_against_the_acceleration_of_each_foot() -> None:
    run = kn.simulate(pulled(TRIPOD, "3.5", arm=0.2), 0.1)
    held = [forces(run, i)[:, 0] for i in range(3)]
    a = np.array([3.5, 0]) + np.sum([f[1:] for f in held], axis=0)
    turn = (sum(r[0] * f[2] - r[1] * f[1] for r, f in zip(TRIPOD, held, strict=True)) - 0.2 * 3.5) / J
    for r, (n, *along) in zip(TRIPOD, held, strict=True):
        own = a + turn * np.array([-r[1], r[0]])
        assert along == pytest.approx(-MU * n * own / np.hypot(*own), abs=1e-7)


@pytest.mark.slow
def test_a_box_slides_down_a_plane_in_space_along_the_steepest_line() -> None:
    box = body(BOX, more="parameters gx = 3, gy = -2; gravity (gx, gy, -9);")
    run = kn.simulate(box, 2.0)
    steep = np.array([3.0, -2.0]) / math.hypot(3, 2)
    way = (math.hypot(3, 2) - MU * 9) * 2**2 / 2
    assert run.q[-1][:2] == pytest.approx(way * steep, abs=1e-8)
    held = kn.simulate(box, 2.0, p={"gx": 2.0, "gy": -1.5})
    assert np.abs(held.q[-1][:2]).max() < 1e-12


@pytest.mark.slow
def test_feet_that_spin_come_to_rest_together() -> None:
    run = kn.simulate(body(BOX, more=f"gravity {G};"), 1.0, v={"b.wz": 3.0})
    assert times(run, "sticks") == pytest.approx([J * 3 / (MU * G * math.hypot(0.5, 0.5))] * 4, abs=1e-6)
    gliding = kn.simulate(body(TRIPOD, more=f"gravity {G};"), 1.0, v={"b.wz": 3.0, "b.vx": 1.0})
    stops = times(gliding, "sticks")
    assert len(stops) == 3
    assert np.ptp(stops) < 1e-9
    assert np.abs(gliding.v[-1]).max() < 1e-12


@pytest.mark.slow
def test_a_force_beyond_the_bound_for_a_moment_moves_the_feet_that_long() -> None:
    most = 3.02
    run = kn.simulate(pulled(BOX, f"{most}*sin(t)"), 2.0)
    begun = math.asin(MU * G / most)
    stop = brentq(lambda t: most * (math.cos(begun) - math.cos(t)) - MU * G * (t - begun), begun + 0.1, 2.0)
    assert times(run, "slips") == pytest.approx([begun] * 4, abs=1e-6)
    assert times(run, "sticks") == pytest.approx([stop] * 4, abs=1e-4)


PENTAGON = [(0.2, 0.0), (0.061803, 0.190211), (-0.161803, 0.117557), (-0.161803, -0.117557), (0.061803, -0.190211)]


def slider(feet: list[tuple[float, float]], gravity: str) -> kn.System:
    """A body that slides on feet 0.1 m under its centre."""
    points = "".join(f"point P{i} on B = ({x}, {y}, -0.1);" for i, (x, y) in enumerate(feet))
    names = ", ".join(f"P{i}" for i in range(len(feet)))
    return kn.loads(
        f"gravity ({gravity}); B | Free(b) = 2, 0.03, 0.05, 0.06; {points} initial b.z = 0.1;"
        f"contact c : point between {names} and ground axis (0, 0, 1), friction = 1; output {names.replace(',', '.z,')}.z;"
    )


def test_a_foot_that_is_pushed_back_as_soon_as_it_is_free_is_not_lost() -> None:
    """One leaves, and comes back before its gap is more than rounding."""
    tripod = slider([(0.2, 0), (-0.1, 0.173205), (-0.1, -0.173205)], "4.985119130545087, -0.385470173000968, -9.81")
    v = {"b.vx": -1.2644927908197123, "b.vy": 0.199298510444498, "b.wz": 0.2991763573462883}
    run = kn.simulate(tripod, 0.2, v=v)
    assert run.status == 0
    assert min(run[f"P{i}.z"].min() for i in range(3)) > -1e-7


@pytest.mark.slow
def test_five_feet_that_come_to_rest_together_share_what_holds_them() -> None:
    run = kn.simulate(slider(PENTAGON, "-0.538, 0, -9.81"), 0.2, v={"b.vx": 0.5044, "b.vy": 0.4611, "b.wz": 0.7989})
    assert run.status == 0
    assert np.abs(run.v[-1]).max() < 1e-9


@pytest.mark.parametrize("push", ["1", *slow(["0"])])
def test_feet_that_nothing_presses_rest_or_slide_on(push: str) -> None:
    run = kn.simulate(body(BOX), 1.0, v={"b.vx": float(push)})
    assert run.changes == ()
    assert run["b.x"][-1] == pytest.approx(float(push), abs=1e-12)


@pytest.mark.slow
def test_a_body_on_five_feet_tips_over_their_edge_when_a_push_grows() -> None:
    """It stands until the edge alone bears it; what it tips away from has let go by then, at the latest."""
    turn = 2 * np.pi * np.arange(5) / 5
    pushed = body(
        0.1 * np.c_[np.cos(turn), np.sin(turn)],
        0.1,
        more=f"gravity {G}; force F on B at (0, 0, 0.3) = (10*t, 3*t, 0) in ground;",
    )
    run = kn.simulate(pushed, 0.3)
    edges = np.pi / 5 + turn
    least = min(
        G * 0.1 * np.cos(np.pi / 5) / (0.4 * (10 * np.cos(e) + 3 * np.sin(e))) for e in edges if np.cos(e) > 0.5
    )
    left = times(run, "leaves")
    assert run.status == 0
    assert left[2] == pytest.approx(least, abs=1e-5)
    assert np.abs(run.v[run.t < least - 1e-5]).max() < 1e-9
    assert np.abs(run.v[-1]).max() > 0.1
    assert run.energy_balance < 1e-8


@pytest.mark.slow
def test_forces_of_a_push_in_any_direction_are_shared_anew_a_few_times_before_feet_slip(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes = list[float]()
    note = ContactLog.note
    monkeypatch.setattr(
        ContactLog, "note", lambda self, t, *rest, **named: changes.append(t) or note(self, t, *rest, **named)
    )
    run = kn.simulate(body(BOX, more=f"gravity {G}; force F on B = (t, 0.3*t, 0) in ground;"), 3.0)
    assert times(run, "slips") == pytest.approx([MU * G / math.hypot(1, 0.3)] * 4, abs=1e-6)
    assert len(changes) < 10


LYING = {
    "at rest": (
        "Sy(1), Rz(q0)",
        1.5,
        0.5,
        [1.402906343560587, 0.6536506591134421, 0.7710405334198935],
        [0.7753238220475741, 0.1936328483771538, -1.6308492324351012],
    ),
    "as they come to slip": (
        "Sx(X), Sy(Y), Rz(q0)",
        0.64,
        0.0,
        [-1.5, 1.5, 0.7366356199469404, 0.31185678552820284, -0.5655277956064864, -0.9563996105722303],
        [0.0, 0.0, -1.3311571805649849, -1.572822027026339, -0.9661408777268591, -0.680009857670002],
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "end", "F", "q", "v"), quick_but(LYING.values(), [LYING["as they come to slip"]]), ids=LYING.keys()
)
def test_links_that_lie_on_the_ground_press_each_other_within_what_friction_gives(
    base: str, end: float, F: float, q: list[float], v: list[float]
) -> None:
    moved = ["X", "Y"] if "X" in base else []
    n = len(q) - len(moved)
    links = "".join(
        f"L{i}{f' ~ L{i - 1}' if i else ''} | {f'Sx(1), Rz(q{i})' if i else base} = m(1), Jz(.1), com = (.5, 0, 0);"
        f"point P{i} on L{i} = (1, 0, 0);"
        for i in range(n)
    )
    joints = "".join(f"limit l{i} : -2 <= q{i} <= 2; friction f{i} = {F} on q{i};" for i in range(1, n))
    names = [*["L0"][: len(moved)], *(f"P{i}" for i in range(n))]
    chain = kn.loads(
        f"gravity (0, -9.81, 0); {links} {joints} coordinates {', '.join(moved + [f'q{i}' for i in range(n)])};"
        f"contact g : point between {', '.join(names)} and ground axis (0, 1, 0), friction = 0.3;"
    )
    run = kn.simulate(chain, end, q=q, v=v)
    assert run.status == 0
    for name in names:
        assert (np.abs(run[f"lambda.g.{name}.w"]) <= 0.3 * run[f"lambda.g.{name}.n"] + 1e-5).all()
