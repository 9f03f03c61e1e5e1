"""How slip begins and ends where more than one thing happens at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kineta as kn
from tests.support import slow

G = 9.81


BOX = kn.loads(
    f"gravity {G}; parameters mu, w; A | Sx(x), Sz(z), Ry(p) = 2, 0.01, 0.01, 0.01; coordinates x, z, p;"
    "point L on A = (-w, 0, -0.05); point R on A = (w, 0, -0.05); force f on A = (20*t, 0, 0);"
    "contact c : point between L, R and ground axis (0, 0, 1), friction = mu; initial z = 0.05;"
)


@pytest.mark.parametrize(("mu", "half", "more"), [(2, 0.1, 0), (0.3, 0.015, 1e-10), (1, 0.05, 1e-10), (4, 0.2, -1e-8)])
def test_a_box_that_would_tip_as_it_slips_slips_by_the_closed_form(mu: float, half: float, more: float) -> None:
    """mu h = w: the foot behind carries nothing when friction comes to its bound; both slip the same way, against friction."""
    T = 0.3
    run = kn.simulate(BOX, 2 * mu * G / 20 + T, p={"mu": mu * (1 + more), "w": half})
    assert run.q[-1, 0] == pytest.approx(20 * T**3 / 12, rel=1e-4)
    assert run["lambda.c.R.u"][-1] == pytest.approx(-mu * 2 * G, rel=1e-4)
    assert run["lambda.c.L.u"][-1] == pytest.approx(0.0, abs=1e-4)


BOXES = kn.loads(
    f"parameters push = 0, gx = 0, e = 0; gravity (gx, 0, {-G}); Cart | Sx(c) = 5; A | Sx(x), Sz(z), Ry(p) = 2, 0.01, 0.01, 0.01;"
    "B | Sx(X), Sz(Z), Ry(P) = 1, 0.005, 0.005, 0.005; coordinates c, x, z, p, X, Z, P;"
    "point A1 on A = (-0.1, 0, -0.05); point A2 on A = (0.1, 0, -0.05);"
    "point B1 on B = (-0.06, 0, -0.05); point B2 on B = (0.06, 0, -0.05);"
    "contact g : point between A1, A2 and Cart axis (0, 0, 1), friction = 1.2, restitution = e;"
    "contact h : point between B1, B2 and A at (0, 0, 0.05) axis (0, 0, 1), friction = 1.2, restitution = e;"
    "force f = push*t on c; initial z = 0.05, Z = 0.15; output x'', X'';"
)


def test_stacked_boxes_that_would_tip_as_they_slip_slip_on_a_pushed_cart() -> None:
    run = kn.simulate(BOXES, 2.0, p={"push": 50.0})
    assert run["x''"][-1] == pytest.approx(1.2 * G, rel=1e-6)
    assert run["X''"][-1] == pytest.approx(1.2 * G, rel=1e-6)
    for foot in ("g.A1", "g.A2", "h.B1", "h.B2"):
        n, u = run[f"lambda.{foot}.n"], run[f"lambda.{foot}.u"]
        assert n.min() > -1e-9
        assert (np.abs(u) <= 1.2 * n + 1e-5 * n.max()).all()


SPEEDS = [((-0.4713087658775225, -0.5188342816073336, -1.7737146221951365), 2.0)]
SPEEDS += [((-0.5490359172550382, -0.08058491531778637, 0.7888168682681604), 0.0)]


@pytest.mark.parametrize(("speeds", "slope"), SPEEDS)
def test_boxes_that_bounce_on_each_other_on_a_cart_do_not_jam(speeds: tuple[float, ...], slope: float) -> None:
    run = kn.simulate(BOXES, 0.2, v=dict(zip(("c'", "x'", "X'"), speeds, strict=True)), p={"gx": slope, "e": 0.5})
    assert run.success, run.message
    assert np.diff(run.energy).max() < 1e-8
    assert min(run[f"lambda.{foot}.n"].min() for foot in ("g.A1", "g.A2", "h.B1", "h.B2")) >= 0


def stool(feet: list[tuple[float, float]]) -> kn.System:
    """A body on feet 0.1 m under its centre, with friction, under a gravity that may lean."""
    points = "".join(f"point P{i} on B = ({x}, {y}, -0.1);" for i, (x, y) in enumerate(feet))
    names = [f"P{i}" for i in range(len(feet))]
    return kn.loads(
        f"parameters gx = 0, gy = 0, mu = 1; gravity (gx, gy, -{G}); B | Free(b) = 2, 0.03, 0.05, 0.06; {points}"
        f"initial b.z = 0.1; contact c : point between {', '.join(names)} and ground axis (0, 0, 1), friction = mu;"
        f"output {', '.join(f'{name}.z' for name in names)};"
    )


PENTAGON = [(0.2, 0.0), (0.061803, 0.190211), (-0.161803, 0.117557), (-0.161803, -0.117557), (0.061803, -0.190211)]


@pytest.mark.slow
def test_a_body_that_comes_to_rest_has_no_foot_that_still_slips() -> None:
    v = {"b.vx": 0.5044334637116943, "b.vy": 0.4611476060591207, "b.wz": 0.7988694897344026}
    run = kn.simulate(stool(PENTAGON), 0.2, v=v, p={"gx": -0.5380271430259839})
    assert np.abs(run.v[-1]).max() < 1e-12
    assert sorted(what for _, what in run.changes if what.endswith("sticks")) == [f"c.P{i} sticks" for i in range(5)]
    for i in range(5):
        n, u, w = (run[f"lambda.c.P{i}.{k}"] for k in "nuw")
        assert (np.hypot(u, w) <= n * (1 + 1e-9)).all()


STARTS = [
    (
        1.0,
        (0.9847915349294563, -0.03701199883842905, -0.12260954958819505, -0.11739950180068706),
        (-0.3030295973528305, 0.04232558901701568, -0.0844788079322643),
        (0.424291608835818, -0.7630841557069682, -1.7540485858663781),
    ),
    (
        0.6,
        (0.8627072698354398, 0.3764555995029278, 0.12464426439226857, 0.3138170733565706),
        (0.5900220782828929, -0.024201077096026976, -0.050060912954433094),
        (1.197424191775113, 1.1987271079833852, 0.16211960211715834),
    ),
]


@pytest.mark.parametrize(("mu", "turned", "speed", "turning"), [*STARTS[1:], *slow(STARTS[:1])])
def test_slip_in_space_begins_although_its_direction_turns_fast(
    mu: float, turned: tuple[float, ...], speed: tuple[float, ...], turning: tuple[float, ...]
) -> None:
    """The body rolls over one foot, whose slip begins slowly while its direction turns by several radians a second."""
    stands = stool([(-0.094649, 0.264130), (0.039532, 0.240076), (0.254783, 0.240079)])
    q = {"b.z": 0.5, **dict(zip(("b.qw", "b.qx", "b.qy", "b.qz"), turned, strict=True))}
    v = dict(zip(("b.vx", "b.vy", "b.vz", "b.wx", "b.wy", "b.wz"), (*speed, *turning), strict=True))
    run = kn.simulate(stands, 1.0, q=q, v=v, p={"mu": mu})
    assert run.status == 0
    assert min(run[f"P{i}.z"].min() for i in range(3)) > -1e-9
    assert run.energy_balance < 1e-8


@pytest.mark.slow
def test_a_foot_that_bears_nothing_from_the_start_and_would_pull_is_let_go() -> None:
    sliding = stool(
        [(-0.001331, 0.198314), (0.099567, 0.291198), (0.23883, 0.061916), (0.17399, -0.168014), (0.252243, -0.016794)]
    )
    v = {"b.vx": 0.6272027538580425, "b.vy": 0.36837424987620904, "b.wz": 1.181270695315732}
    run = kn.simulate(sliding, 0.02, v=v, p={"gx": -2.309354257446197})
    for i in range(5):
        n, u, w = (run[f"lambda.c.P{i}.{k}"] for k in "nuw")
        assert n.min() > -1e-7
        assert (np.hypot(u, w) <= n + 1e-6).all()


#: The centre of mass is close to the line from the first to the last but one.
SIX = [(-0.168478, 0.197569), (-0.042643, 0.269866), (0.250269, 0.176213), (0.230179, 0.100442)]
SIX += [(0.212179, -0.230234), (0.1966, -0.084187)]


@pytest.mark.parametrize("yaw", [6.030219, 6.204753, *slow([5.768420])])
def test_a_body_whose_weight_is_near_an_edge_of_its_feet_stands_still(yaw: float) -> None:
    stands = stool(SIX)
    q = {"b.qw": np.cos(yaw / 2), "b.qz": np.sin(yaw / 2)}
    run = kn.simulate(stands, 0.2, q=q, p={"mu": 0.6, "gy": 3.42})
    assert run.changes == ()
    assert np.abs(run.v).max() < 1e-12


def test_feet_that_slide_share_their_load_so_that_none_pulls() -> None:
    v = {"b.vx": 0.39153384460077817, "b.vy": 1.3880796074538642, "b.wz": -0.9141359353722821}
    run = kn.simulate(stool(SIX), 1.0, samples=201, v=v, p={"mu": 0.1, "gy": -0.9062291888455722})
    for i in range(6):
        n, u, w = (run[f"lambda.c.P{i}.{k}"] for k in "nuw")
        assert n.min() >= 0
        assert np.hypot(u, w) == pytest.approx(0.1 * n, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("short", [5e-9, 1e-10, 0.0])
def test_what_friction_only_just_holds_never_climbs(short: float) -> None:
    """A force short of its bound, and a slope under feet in space."""
    mu = 0.3
    held = mu * 2 * G * (1 - short)
    pushed = kn.loads(
        f"parameters f; gravity {G}; A | Sx(x), Sz(z), Ry(p) = 2, 0.01, 0.01, 0.01; coordinates x, z, p;"
        "point L on A = (-0.1, 0, -0.05); point R on A = (0.1, 0, -0.05); force F on A = (f, 0, 0);"
        f"contact c : point between L, R and ground axis (0, 0, 1), friction = {mu}; initial z = 0.05;"
    )
    assert abs(kn.simulate(pushed, 20.0, p={"f": held}).q[-1, 0]) < 1e-10
    run = kn.simulate(stool(PENTAGON), 20.0, p={"mu": mu, "gx": held / 2})
    assert np.abs(run.q[-1, :2]).max() < 1e-10
    assert run.changes == ()


@pytest.mark.slow
def test_a_body_thrown_on_its_feet_moves_alike_in_turned_frames_and_by_other_names() -> None:
    ends = []
    for seed, names in ((0, ("F", "G", "H")), (1, ("z", "b1", "a"))):
        frame = Rotation.identity() if seed == 0 else Rotation.random(random_state=seed)
        (gx, gy, gz), (ax, ay, az) = frame.apply([[0.5, 0.2, -G], [0, 0, 1]])
        feet = zip(names, [(0.2, 0.1), (-0.1, 0.2), (-0.15, -0.2)], strict=True)
        points = "".join(f"point {name} on B = ({x}, {y}, -0.1);" for name, (x, y) in feet)
        thrown = kn.loads(
            f"gravity ({gx}, {gy}, {gz}); B | Free(b) = 2, 0.03, 0.05, 0.06; {points}"
            f"contact c : point between {', '.join(names)} and ground axis ({ax}, {ay}, {az}), friction = 0.3, restitution = 0.4;"
        )
        turned = (frame * Rotation.from_rotvec([0.2, -0.1, 0.3])).as_quat()[[3, 0, 1, 2]]
        q = dict(zip(("b.x", "b.y", "b.z"), frame.apply([0, 0, 0.4]), strict=True))
        q |= dict(zip(("b.qw", "b.qx", "b.qy", "b.qz"), turned, strict=True))
        run = kn.simulate(thrown, 0.9, q=q, v={"b.wx": 1.0, "b.wy": -0.5, "b.wz": 2.0})
        ends.append((frame.inv().apply(run.q[-1, :3]), len(run.changes)))
    (first, changes), (second, others) = ends
    assert first == pytest.approx(second, abs=1e-8)
    assert changes == others > 20


@pytest.mark.parametrize(
    "text",
    [
        "A | Sx(x) = 1; coordinates x; friction f = max(0, 1 - 3*step(t - 1)*step(1.2 - t)) on x;",
        "gravity 9.81; A | Sx(x), Sz(z) = 1; coordinates x, z; contact f : point between A and ground axis (0, 0, 1), "
        "friction = max(0, 1 - 3*step(t - 1)*step(1.2 - t))/9.81;",
    ],
)
def test_friction_that_goes_to_nothing_and_comes_back_holds_again(text: str) -> None:
    """Free under 0.5 for 0.2 s, then slower by 0.5 again."""
    run = kn.simulate(kn.loads(text + "force g = 0.5 on x;"), 2.0, max_step=0.1)
    assert [what for _, what in run.changes] == ["f slips", "f sticks"]
    assert [t for t, _ in run.changes] == pytest.approx([1.2, 1.4])
    assert run["x"][-1] == pytest.approx(0.02)
