"""Problems of contact with closed forms, or with solutions of their own beside the engine's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.special
from scipy.integrate import quad, solve_ivp

import kineta as kn
from tests.models import COMPASS
from tests.support import EXAMPLES

G = 9.81


def impacts(run: kn.Result) -> np.ndarray:
    """Times of the impacts of a run that recorded its steps."""
    return np.asarray(run.t[np.flatnonzero(np.diff(run.t) == 0)])


def test_a_rocking_block_strikes_fifty_times_as_housner_says() -> None:
    """Between impacts theta'' = -p^2 sin(alpha - theta); at each the rate falls to the part 1 - 3/2 sin(alpha)^2."""
    b, h, tilt = 0.1, 0.3, 0.1
    alpha, radius = math.atan2(b, h), math.hypot(b, h)
    p2, kept = 0.75 * G / radius, 1 - 1.5 * math.sin(alpha) ** 2

    def rise(top: float) -> float:
        """Time from the upright position to the tilt *top*; theta = top (1 - s^2) takes the pole out."""

        def part(s: float) -> float:
            theta = top * (1 - s * s)
            # (cos(alpha - top) - cos(alpha - theta)) by a product, which keeps its digits.
            drop = 2 * math.sin((2 * alpha - top - theta) / 2) * math.sin((top - theta) / 2)
            return (
                2 * top * s / math.sqrt(2 * p2 * drop)
                if s
                else 2 * top / math.sqrt(2 * p2 * top * math.sin(alpha - top))
            )

        return quad(part, 0, 1, epsabs=0, epsrel=1e-12)[0]

    times, top = [rise(tilt)], tilt
    for _ in range(49):
        rate2 = kept**2 * 2 * p2 * (math.cos(alpha - top) - math.cos(alpha))
        cosine = rate2 / (2 * p2) + math.cos(alpha)
        # alpha - top from its cosine, near alpha: by half angles again.
        top = 2 * math.asin(math.sqrt((1 - math.cos(alpha)) / 2)) - 2 * math.asin(math.sqrt((1 - cosine) / 2))
        times.append(times[-1] + 2 * rise(top))
    run = kn.simulate(kn.load(EXAMPLES / "rocking_block.kin"), 5.0, rtol=1e-12, atol=1e-14)
    found = impacts(run)[:50]
    assert len(found) == 50
    assert np.abs(found - times).max() < 1e-9


@pytest.mark.parametrize(("mu", "v0", "w0"), [(0.2, 8.0, 0.0), (0.1, 6.0, -20.0)])
def test_a_bowling_ball_rolls_after_its_slip(mu: float, v0: float, w0: float) -> None:
    """It slips until v = (5 v0 + 2 r w0)/7, however much friction there is, with the deceleration mu g."""
    r = 0.108
    ball = kn.loads(
        f"gravity {G}; Ball | Free(b) = m(6), Jx(0.4*6*{r}^2), Jy(0.4*6*{r}^2), Jz(0.4*6*{r}^2);"
        f"contact lane : ball = {r} between Ball and ground axis (0, 0, 1), friction = {mu};"
        f"initial b.z = {r}, b.vx = {v0}, b.wy = {w0}; "
    )
    rolls = (5 * v0 + 2 * r * w0) / 7
    ends = (v0 - rolls) / (mu * G)
    run = kn.simulate(ball, 2 * ends, rtol=1e-10)
    (turn,) = (t for t, what in run.changes if "stick" in what or "roll" in what)
    # Slip in space ends at 1e-7 m/s, a little before.
    assert turn == pytest.approx(ends, abs=1.1e-7 / (3.5 * mu * G))
    assert run["b.x"][-1] == pytest.approx(v0 * ends - mu * G * ends**2 / 2 + rolls * (run.t[-1] - ends), rel=1e-9)


@pytest.mark.parametrize("law", ["", " poisson"])
def test_balls_of_newtons_cradle_in_touch_share_and_apart_pass_on(law: str) -> None:
    """In touch, the rest leaves as one with 2/n of the speed under either law; a little apart, the last one takes all."""
    n, width = 5, 0.1
    names = [f"x{k}" for k in range(n)]
    text = f"coordinates {', '.join(names)};" + "".join(f"B{k} | Sx({x}) = 1; " for k, x in enumerate(names))
    text += "".join(f"limit c{k} : x{k + 1} - x{k} >= {width}, restitution = 1{law}; " for k in range(n - 1))

    def speeds(gap: float) -> list[float]:
        at = {f"x{k}": k * (width + gap) for k in range(1, n)} | {"x0": -1.0}
        return kn.simulate(kn.loads(text), 1.5, q=at, v={"x0'": 1.0}).v[-1].tolist()  # type: ignore[no-any-return]

    assert speeds(0.0) == pytest.approx([2 / n - 1] + [2 / n] * (n - 1), abs=1e-12)
    assert speeds(1e-3) == pytest.approx([0.0] * (n - 1) + [1.0], abs=1e-12)


#: Five pendulums whose balls touch as they hang; {between} are the balls of a contact.
CRADLE = """model cradle; gravity 9.81; parameters r = 0.05, L = 0.5;
for i in 1..5 : frame F[i] | Sx(2*r*(i - 3)); for i in 1..5 : P[i] ~ F[i] | Ry(q[i]), Sz(-L) = 1;
for i in 1..4 : contact hit[i] : ball = r on ball = r between {between}, restitution = 1;
initial q[1] = 0.7;"""
ORDERS = ["P[i] and P[i+1]", "P[i+1] and P[i]"]


def cradle(t: np.ndarray) -> np.ndarray:
    """The angles (5, k) of CRADLE at the times t (k,) up to the second impact: of the first ball, whose quarter of a period ends
    in an impact that leaves it with -3/5 of its speed, and of the others, which have 2/5 of it.
    """
    rate, k = np.sqrt(9.81 / 0.5), np.sin(0.35)
    quarter = scipy.special.ellipk(k**2)
    behind = np.maximum(rate * t - quarter, 0.0)

    def swing(part: float) -> np.ndarray:
        """The angle of a pendulum that begins to rise with a part of the first one's speed."""
        return np.asarray(2 * np.arcsin(part * k * scipy.special.ellipj(behind, (part * k) ** 2)[0]))

    falls = 2 * np.arcsin(k * scipy.special.ellipj(quarter - np.minimum(rate * t, quarter), k**2)[0])
    return np.array([np.where(behind > 0.0, swing(0.6), falls), *[-swing(0.4)] * 4])


@pytest.mark.parametrize("between", ORDERS)
def test_pendulums_in_touch_swing_on_as_one(between: str) -> None:
    """Their contacts bear nothing but rounding errors, on which no law of contact can be decided."""
    found = kn.simulate(kn.loads(CRADLE.format(between=between)), 1.0, samples=41, rtol=1e-12, atol=1e-14)
    assert not found.notes
    quarter = np.sqrt(0.5 / 9.81) * scipy.special.ellipk(np.sin(0.35) ** 2)
    assert [i.t for i in found.impacts] == pytest.approx([quarter] * 4, abs=1e-12)
    np.testing.assert_allclose(found.y[:5], cradle(found.t), atol=1e-11)


@pytest.mark.parametrize(("mu", "holds"), [(0.26, True), (0.24, False)])
def test_a_gripper_holds_what_its_friction_can(mu: float, holds: bool) -> None:
    """Two fingers press a box of weight m g by F each: it stays where 2 mu F >= m g, else falls by g - 2 mu F/m."""
    m, F = 1.0, 2 * G
    gripper = kn.loads(
        f"gravity {G}; parameters F = {F}; coordinates x, z, a, b;"
        f"Box | Sx(x), Sz(z) = {m}; Left | Sx(a) = 0.1; Right | Sx(b) = 0.1;"
        "force left on Left = (F, 0, 0); force right on Right = (-F, 0, 0);"
        f"contact l : point between Box at (-0.05, 0, 0) and Left axis (1, 0, 0), friction = {mu};"
        f"contact r : point between Box at (0.05, 0, 0) and Right axis (-1, 0, 0), friction = {mu};"
        "initial a = -0.05, b = 0.05;"
    )
    run = kn.simulate(gripper, 0.5, p={"F": F})
    fall = 0.0 if holds else 0.5 * (G - 2 * mu * F / m) * 0.25
    assert run["z"][-1] == pytest.approx(-fall, abs=1e-10)
    assert np.abs(run["x"]).max() < 1e-12


@pytest.mark.parametrize("mu", [0.3, 0.6])
def test_a_box_laid_on_a_conveyor_slips_or_tips(mu: float) -> None:
    """It slips with mu g up to the belt's speed where mu < b/h, and begins to tip about its rear edge where mu > b/h."""
    b, h, v = 0.1, 0.25, 1.0
    box = kn.loads(
        f"gravity {G}; parameters v = {v}; frame Belt | Sx(v*t);"
        f"Box | Sx(x), Sz(z), Ry(q) = m(2), Jy(2*({b}^2 + {h}^2)/3); coordinates x, z, q;"
        f"point Rear on Box = (-{b}, 0, -{h}); point Front on Box = ({b}, 0, -{h});"
        f"contact belt : point between Rear, Front and Belt axis (0, 0, 1), friction = {mu};"
        f"initial z = {h};"
    )
    run = kn.simulate(box, 0.25)
    if mu < b / h:
        arrives = v / (mu * G)
        assert np.abs(run["q"]).max() < 1e-10
        assert run["x"][-1] == pytest.approx(
            0.5 * mu * G * run.t[-1] ** 2 if run.t[-1] < arrives else v * run.t[-1] - v * arrives / 2, rel=1e-9
        )
        run = kn.simulate(box, 2 * arrives)
        assert run["x"][-1] == pytest.approx(1.5 * v * arrives, rel=1e-9)
    else:
        # The front edge lifts: the box slips on its rear edge and turns about it.
        assert run["q"][-1] != 0


def painleve(mu: float) -> kn.System:
    """A rod of 2 m, leaning by phi from the ground; its lower end slides ahead of it."""
    return kn.loads(
        f"gravity {G}; parameters phi = 1; coordinates x, z, q;"
        "Rod | Sx(x), Sz(z), Ry(-q) = m(1), Jy(1/3); point Tip on Rod = (-1, 0, 0);"
        f"contact floor : point between Tip and ground axis (0, 0, 1), friction = {mu};"
        "initial q = phi, z = sin(phi), x' = -1; output lambda.floor.n;"
    )


@pytest.mark.parametrize("mu", [0.5, 1.2, 1.35])
def test_a_rod_that_slides_is_pressed_as_painleve_says(mu: float) -> None:
    """m J n = (g - l q'^2 sin phi) / (1 + 3 cos(phi) (cos(phi) - mu sin(phi))), where that is positive."""
    run = kn.simulate(painleve(mu), 1e-6, rtol=1e-10)
    c, s = math.cos(1.0), math.sin(1.0)
    assert run["lambda.floor.n"][0] == pytest.approx(G / (1 + 3 * c * (c - mu * s)), rel=1e-9)


def test_a_rod_with_too_much_friction_ends_in_a_sentence_that_names_it() -> None:
    c, s = math.cos(1.0), math.sin(1.0)
    critical = (1 + 3 * c * c) / (3 * s * c)
    mu = 1.1 * critical
    try:
        run = kn.simulate(painleve(mu), 0.1, method="events")
    except kn.SimulationError as error:
        said = str(error)
    else:
        assert run.status != 0
        said = run.message
    assert "floor" in said
    assert "friction" in said


def steps_of_the_compass(slope: float, y: np.ndarray, count: int) -> tuple[list[float], np.ndarray]:
    """Times of the impacts, and the last state (s, n, s', n'), from point masses: momenta are summed up as they are."""
    a = b = 0.5
    l, m, mh = 1.0, 5.0, 10.0
    masses = np.array([m, mh, m])

    def turned(angle: float) -> np.ndarray:
        return np.array([math.sin(angle), math.cos(angle)])

    def slopes(angle: float) -> np.ndarray:
        return np.array([math.cos(angle), -math.sin(angle)])

    def jacobian(s: float, n: float) -> np.ndarray:
        """Velocities of stance mass, hip and swing mass by s' and n', (3, 2, 2)."""
        zero = np.zeros(2)
        return np.array([[a * slopes(s), zero], [l * slopes(s), zero], [l * slopes(s), -b * slopes(n)]]).swapaxes(1, 2)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        (s, n), v = y[:2], y[2:]
        J = jacobian(s, n)
        M = np.einsum("i,ikj,ikl->jl", masses, J, J)
        bias = np.array(
            [
                -a * turned(s) * v[0] ** 2,
                -l * turned(s) * v[0] ** 2,
                -l * turned(s) * v[0] ** 2 + b * turned(n) * v[1] ** 2,
            ]
        )
        force = masses[:, None] * (np.array([0.0, -G]) - bias)
        return np.concatenate([v, np.linalg.solve(M, np.einsum("ikj,ik->j", J, force))])

    def after(y: np.ndarray) -> np.ndarray:
        (s, n), v = y[:2], y[2:]
        places = np.array([a * turned(s), l * turned(s), l * turned(s) - b * turned(n)])
        foot, hip, speeds = l * turned(s) - l * turned(n), l * turned(s), jacobian(s, n) @ v

        def moment(places: np.ndarray, speeds: np.ndarray, about: np.ndarray, which: list[int]) -> float:
            r, p = (places - about)[which], (masses[:, None] * speeds)[which]
            return float(np.sum(r[:, 0] * p[:, 1] - r[:, 1] * p[:, 0]))

        wanted = [moment(places, speeds, foot, [0, 1, 2]), moment(places, speeds, hip, [0])]
        # The legs change their parts: order of masses, then, is new stance (old swing), hip, new swing (old stance).
        new = jacobian(n, s)
        own = np.array([places[2], places[1], places[0]])
        columns = [[moment(own, new[..., k], foot, [0, 1, 2]), moment(own, new[..., k], hip, [2])] for k in range(2)]
        return np.concatenate([[n, s], np.linalg.solve(np.array(columns).T, wanted)])

    def strikes(t: float, y: np.ndarray) -> float:
        return float(min(y[0] + y[1] - 2 * slope, y[0] - y[1] - 0.2))

    strikes.terminal, strikes.direction = True, 1.0  # type: ignore[attr-defined]
    times = [0.0]
    for _ in range(count):
        run = solve_ivp(rate, (times[-1], times[-1] + 3), y, method="DOP853", events=strikes, rtol=1e-12, atol=1e-13)
        y = after(run.y[:, -1])
        times.append(float(run.t[-1]))
    return times[1:], y


def test_the_compass_gait_walks_as_point_masses_do() -> None:
    slope = math.radians(3)
    start = np.array([-0.2187, 0.3234, 1.0918, 0.3772])
    times, last = steps_of_the_compass(slope, start, 8)
    run = kn.simulate(COMPASS, times[-1] + 1e-9, p={"slope": slope}, rtol=1e-11, atol=1e-12)
    found = [t for t, what in run.changes if "strike" in what]
    assert found == pytest.approx(times, rel=1e-8)
    assert [*run.q[-1], *run.v[-1]] == pytest.approx(last, abs=1e-6)


def test_the_gait_of_the_compass_doubles_its_period_on_steeper_slopes() -> None:
    """One period of 0.734 s at 3 degrees, two from 4.37 degrees on, four at 5. Each gait begins where the one before ended."""
    state: dict[str, Any] = {}
    kinds = []
    for degrees in (3.0, 3.6, 4.2, 4.45, 4.7, 4.9, 5.0):
        run = kn.simulate(COMPASS, 60.0, p={"slope": math.radians(degrees)}, **state)
        periods = np.diff([t for t, _ in run.changes])[-16:]
        kinds.append(next(k for k in (1, 2, 4, 16) if np.abs(periods[k:] - periods[:-k]).max(initial=0) < 2e-3))
        if degrees == 3.0:
            assert periods[-1] == pytest.approx(0.734, abs=5e-4)
        after = np.flatnonzero(np.diff(run.t) == 0)[-1] + 1
        state = {"q": run.q[after], "v": run.v[after]}
    assert kinds == [1, 1, 1, 2, 2, 2, 4]
