"""Bodies that rock, mechanisms that lie, sprung bodies on several feet, a humanoid on its soles, boxes thrown together.

Each as it was first written, and twenty at random beside it: a motion comes out, or a sentence that names contacts; no corner
is below its plane, energy does not grow, forces stay within their cones.
"""

from __future__ import annotations

import re
import signal
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import cos, sin
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import kineta as kn
from tests.hybrid.peer import FloatArray, Link, Machine, Motion, Pin
from tests.hybrid.random_machines import (
    agrees,
    com,
    facing,
    forces,
    inertia,
    problem,
    rounded,
    set_down,
    stays_admissible,
    text,
)
from tests.support import EXAMPLES, quick_but, slow

#: A depth below a plane [m], ten times the relative tolerance of runs on bodies of metres.
DEPTH = 1e-8
#: Forces beyond their cones, and powers of contacts, in parts of the largest force: what event location leaves.
CONE = 1e-7
#: Growth of energy in parts of its range: errors of 1e-9 a step over some hundred steps of some events each.
GROWTH = 1e-6


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Interrupt runs that take more of the processor, as Ctrl-C does: their status is 2."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@dataclass(frozen=True)
class Model:
    """A text with contacts between places and planes z = 0 of the ground: contact to places and friction.

    *driven*: what acts gives it energy.
    """

    text: str
    contacts: dict[str, tuple[tuple[str, ...], float | str]]
    driven: bool = False

    def names(self) -> list[tuple[str, str, float | str]]:
        """Place, prefix of its forces, friction, of all places."""
        return [
            (place, f"lambda.{name}.{place}" if len(places) > 1 else f"lambda.{name}", mu)
            for name, (places, mu) in self.contacts.items()
            for place in places
        ]

    def equations(self) -> kn.Equations:
        return _derived(self.text, tuple((place, prefix) for place, prefix, _ in self.names()))


@cache
def _derived(written: str, names: tuple[tuple[str, str], ...]) -> kn.Equations:
    shown = [f"{place}.{c}" for place, _ in names for c in ("z", "vx", "vy", "vz")]
    shown += [f"{prefix}.{c}" for _, prefix in names for c in "nuw"]
    return kn.derive(kn.loads(f"{written}\noutput {', '.join(shown)};"))


def run(model: Model, span: float, seconds: float = 10.0, **given: Any) -> kn.Result:
    equations = model.equations()
    with within(seconds):
        return kn.simulate(equations, span, method="events", **given)


def judge(model: Model, result: kn.Result) -> None:
    """Assert what holds of every run with contacts."""
    assert result.status != 2, f"no end: it came to t = {result.t[-1]:g} s with {len(result.changes)} changes"
    if result.status != 0:
        assert any(re.search(rf"\b{name}\b", result.message) for name in model.contacts), result.message
        assert "mass matrix" not in result.message
    assert (np.diff(result.t) >= 0).all()
    largest = max(1.0, *(np.abs(result[f"{prefix}.n"]).max() for _, prefix, _ in model.names()))
    for place, prefix, named in model.names():
        mu = float(result.parameters[named]) if isinstance(named, str) else named
        gap = result[f"{place}.z"]
        n, u, w = (result[f"{prefix}.{c}"] for c in "nuw")
        assert gap.min() > -DEPTH, f"{place} is {-gap.min():.1e} m below its plane"
        assert n.min() > -CONE * largest, f"{place} pulls with {-n.min():.1e} N"
        beyond = (np.hypot(u, w) - mu * n).max()
        assert beyond <= CONE * largest, f"friction of {place} is {beyond:.1e} N beyond its cone"
        assert np.abs(n * gap).max() < DEPTH * largest, f"{place} pushes from {gap[np.abs(n * gap).argmax()]:.1e} m"
        power = n * result[f"{place}.vz"] + u * result[f"{place}.vx"] + w * result[f"{place}.vy"]
        fast = 1 + max(np.abs(result[f"{place}.v{c}"]).max() for c in "xyz")
        assert power.max() < CONE * largest * fast, f"the contact of {place} gives {power.max():.1e} W"
    for impact in result.impacts:
        assert impact.impulse_n >= -1e-9
    lost = dict[float, float]()
    for impact in result.impacts:
        lost[impact.t] = lost.get(impact.t, 0.0) + impact.energy_lost
    reach = max(1e-3, float(np.ptp(result.energy)), float(result["kinetic_energy"].max()))
    assert min(lost.values(), default=0.0) > -GROWTH * reach
    if not model.driven:
        assert (result.energy - np.minimum.accumulate(result.energy)).max() < GROWTH * reach


GRAVITY = "gravity 9.81;\n"

CUBE = Model(
    GRAVITY
    + """parameters m = 1, J = 0.00667, a = 0.1, b = 0.1, mu = 0.8, e = 0;
Cube | Sx(x), Sz(z), Ry(q) = m(m), Jy(J);
coordinates x, z, q;
point L on Cube = (-a, 0, -b); point R on Cube = (a, 0, -b);
point T on Cube = (-a, 0, b); point U on Cube = (a, 0, b);
contact floor : point between L, R, T, U and ground axis (0, 0, 1), friction = mu, restitution = e;""",
    {"floor": (("L", "R", "T", "U"), "mu")},
)


def above(a: float, b: float, q: float, height: float) -> float:
    """Where the centre is if the lowest corner is at a *height*."""
    return a * abs(sin(q)) + b * abs(cos(q)) + height


@pytest.mark.parametrize("start", range(20))
def test_a_cube_tilted_by_a_fiftieth_falls_and_rests(start: int) -> None:
    q = -0.02 + 1e-4 * start
    result = run(CUBE, 2.0, q={"q": q, "z": above(0.1, 0.1, q, 0.05)})
    judge(CUBE, result)
    assert result.status == 0
    assert result["z"][-1] == pytest.approx(0.1, abs=1e-9)
    assert result["q"][-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_cubes_and_blocks_at_random(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rounded(rng, 0.05, 0.2)
    b = a / rng.uniform(0.75, 1.2)
    m, mu, e, q = rounded(rng, 0.2, 5), rounded(rng, 0.2, 1), float(rng.choice([0, 0, 0.3])), rounded(rng, -0.3, 0.3)
    result = run(
        CUBE,
        1.5,
        p={"m": m, "J": m * (a * a + b * b) / 3, "a": a, "b": b, "mu": mu, "e": e},
        q={"q": q, "z": above(a, b, q, rounded(rng, 0, 0.1))},
        v={"x'": rounded(rng, -1, 1), "q'": rounded(rng, -2, 2)},
    )
    judge(CUBE, result)


FOURBAR = kn.load(EXAMPLES / "fourbar.kin")


def lying(height: float) -> kn.Equations:
    """The example with ground below its coupler."""
    touch = f"point Tip on Coupler = (0.45, -0.1, 0);\ncontact g : point between Tip and ground at (0, {height}, 0) "
    touch += "axis (0, 1, 0), friction = 0.4;\noutput Tip.y, lambda.g.n, lambda.g.u, lambda.g.w;"
    return kn.derive(kn.loads(kn.dumps(FOURBAR) + touch))


@pytest.mark.slow
@pytest.mark.parametrize(("height", "turning"), [(0.16981, 1.0), (0.3, 0.0), (0.35, 0.0), (0.3596, 0.0)])
def test_a_four_bar_comes_to_lie_on_its_coupler(height: float, turning: float) -> None:
    equations = lying(height)
    with within(10):
        result = kn.simulate(equations, 2.0, v=turning * np.array([9, -2.094085512590407, 1.4383863170941085]))
    assert result.status == 0, result.message
    n, t = result["lambda.g.n"], np.hypot(result["lambda.g.u"], result["lambda.g.w"])
    assert n.min() >= -CONE * n.max()
    assert (t <= 0.4 * n + CONE * n.max()).all()
    assert result["Tip.y"].min() > height - DEPTH
    assert (result.energy - np.minimum.accumulate(result.energy)).max() < GROWTH * np.ptp(result.energy)
    if turning:
        assert n[-1] == pytest.approx(44.28, abs=0.02)
        assert t[-1] < 0.5


def four_bar(seed: int) -> tuple[Machine, FloatArray]:
    """A four-bar at random, at rest on one place of its coupler or on two."""
    rng = np.random.default_rng(seed)
    turns = [Motion("R", "y", f"q{k}") for k in range(3)]
    arms = [rounded(rng, 0.2, 0.4), rounded(rng, 0.5, 0.9)]
    links = [
        Link("L0", -1, (turns[0],), *inertia(rng), com(rng, True)),
        Link("L1", 0, (Motion("S", "x", arms[0]), turns[1]), *inertia(rng), com(rng, True)),
        Link("L2", 1, (Motion("S", "x", arms[1]), turns[2]), *inertia(rng), com(rng, True)),
    ]
    machine, q = Machine(links, True), rng.uniform(-1.2, 1.2, 3).round(3)
    tip = np.array([rounded(rng, 0.3, 0.8), 0.0, 0.0])
    end = machine.poses(q, np.zeros(3))[2].at(tip)[0]
    machine.pins.append(Pin(2, tip, -1, end))
    set_down(rng, machine, q, 1 + seed % 2)
    facing(machine, q, np.zeros(3))
    return machine, q


@pytest.mark.parametrize("seed", quick_but(range(10), range(4, 10)))
def test_four_bars_at_random_lie_on_the_ground(seed: int) -> None:
    machine, q = four_bar(seed)
    rest = np.zeros(3)
    equations = kn.derive(kn.loads(text(machine, q, rest)))
    with within(10):
        result = kn.simulate(equations, 0.2, samples=11)
    assert result.status != 2
    agrees(
        problem(machine, q, rest, False),
        np.array([result[f"{n}'"][0] for n in machine.v_names]),
        forces(result, machine)[..., 0],
    )
    stays_admissible(result, machine)


BAR = Model(
    GRAVITY
    + """parameters m = 10, c = 2e3, d = 50, mu = 0.8, w = 0.5;
Bar | Sx(x), Sz(z), Ry(th) = m, 1, 1, 1;
F1 ~ Bar | Sx(-w), Sz(u1 - 0.5) = 1;
F2 ~ Bar | Sx(w), Sz(u2 - 0.5) = 1;
coordinates x, z, th, u1, u2;
spring c1 = c on u1; spring c2 = c on u2; damper d1 = d on u1'; damper d2 = d on u2';
contact g : point between F1, F2 and ground axis (0, 0, 1), friction = mu;
initial z = 0.5;""",
    {"g": (("F1", "F2"), "mu")},
)


def test_a_sprung_bar_stands_on_two_legs() -> None:
    result = run(BAR, 3.0, samples=301)
    judge(BAR, result)
    assert result.status == 0
    m, c, d, g = 10.0, 4e3, 100.0, 9.81
    decay, rate = d / (2 * m), np.sqrt(c / m - (d / (2 * m)) ** 2)
    t = result.t
    sunk = m * g / c * (1 - np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t)))
    assert np.abs(result["z"] - 0.5 + sunk).max() < 1e-7
    assert np.abs(result["x"]).max() < 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_sprung_bars_at_random(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = {"m": rounded(rng, 5, 20), "c": rounded(rng, 1e3, 5e3), "d": rounded(rng, 20, 200), "mu": rounded(rng, 0.2, 1)}
    p["w"] = rounded(rng, 0.2, 0.8)
    th = float(rng.choice([0.0, rounded(rng, -0.05, 0.05)]))
    z = 0.5 * cos(th) + p["w"] * abs(sin(th)) + float(rng.choice([0.0, 0.05]))
    judge(BAR, run(BAR, 1.0, p=p, q={"z": z, "th": th}, v={"x'": float(rng.choice([0.0, rounded(rng, -1, 1)]))}))


STANDING = """Body | Sx(x), Sy(y), Sz(z), Rz(psi), Ry(pitch), Rx(roll) = m, 30, 60, 60, com = (0.75, 0, h);
frame S1 ~ Body | Sy(0.5), Sz(u1); frame S2 ~ Body | Sy(-0.5), Sz(u2);
frame S3 ~ Body | Sx(1.5), Sy(0.5), Sz(u3); frame S4 ~ Body | Sx(1.5), Sy(-0.5), Sz(u4);
F1 ~ S1 | = 8; F2 ~ S2 | = 8; F3 ~ S3 | = 8; F4 ~ S4 | = 8;
coordinates x, y, z, psi, pitch, roll, u1, u2, u3, u4;
spring c1 = c, -0.03 on u1; spring c2 = c, -0.03 on u2; spring c3 = c, -0.03 on u3; spring c4 = c, -0.03 on u4;
damper d1 = d on u1'; damper d2 = d on u2'; damper d3 = d on u3'; damper d4 = d on u4';
"""
TABLE = Model(
    f"""{GRAVITY}parameters m = 200, h = 0.3, c = 2e4, d = 1.5e3, mu = 0.8, f = 300;
{STANDING}contact legs : point between F1, F2, F3, F4 and ground axis (0, 0, 1), friction = mu;
force push on Body = (0, f*t, 0);""",
    {"legs": (("F1", "F2", "F3", "F4"), "mu")},
    driven=True,
)


def body_and_springs(rng: np.random.Generator) -> dict[str, float]:
    """Parameters at random of what stands on sprung feet."""
    return {
        "m": rounded(rng, 50, 400),
        "h": rounded(rng, 0.1, 0.5),
        "c": rounded(rng, 1e4, 4e4),
        "d": rounded(rng, 500, 3e3),
    }


@pytest.mark.slow
def test_a_table_on_sprung_feet_is_pushed_aside() -> None:
    result = run(TABLE, 4.0, samples=401)
    judge(TABLE, result)
    assert result.status == 0
    assert np.abs(result["y"]).max() < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12])
def test_tables_at_random(seed: int) -> None:
    """Number 6 creeps without end: below it is stopped."""
    rng = np.random.default_rng(seed)
    p = body_and_springs(rng) | {"mu": rounded(rng, 0.2, 1), "f": rounded(rng, -600, 600)}
    judge(TABLE, run(TABLE, 2.0, 30.0, p=p, samples=201, v={"x'": float(rng.choice([0.0, rounded(rng, -1, 1)]))}))


@pytest.mark.slow
def test_feet_that_creep_without_end_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that a direction of slip makes short are not made for hours."""
    monkeypatch.setattr("kineta.hybrid.chattering.MOST_STEPS", 2000)
    rng = np.random.default_rng(6)
    p = body_and_springs(rng) | {"mu": rounded(rng, 0.2, 1), "f": rounded(rng, -600, 600)}
    result = run(TABLE, 2.0, p=p, samples=201, v={"x'": float(rng.choice([0.0, rounded(rng, -1, 1)]))})
    judge(TABLE, result)
    assert result.status == -1
    assert (
        "2000 steps with 'legs.F1', 'legs.F2', 'legs.F3', 'legs.F4' closed were shorter than 1e-06 s" in result.message
    )
    assert 2000 < result.steps < 20_000


CART = Model(
    f"""{GRAVITY}parameters m = 200, h = 0.3, c = 2e4, d = 1.5e3, mu = 0.8, ice = 0;
{STANDING}contact road : point between F1, F3 and ground axis (0, 0, 1), friction = mu;
contact frozen : point between F2, F4 and ground axis (0, 0, 1), friction = ice;""",
    {"road": (("F1", "F3"), "mu"), "frozen": (("F2", "F4"), "ice")},
)


@pytest.mark.slow
def test_a_cart_brakes_with_one_side_on_ice() -> None:
    result = run(CART, 2.0, 30.0, samples=201, v={"x'": 5.0})
    judge(CART, result)
    assert result.status == 0
    assert abs(result["psi"][-1]) > 0.05


#: Corners of a sole in the frame of an ankle.
SOLE = [(x, y) for x in (0.1, -0.1) for y in (0.06, -0.06)]


@cache
def talos() -> Model:
    """A humanoid on its soles, with the dry friction and the limits of its joints; nothing drives it."""
    root = Path(sysconfig.get_path("purelib"), "cmeel.prefix", "share", "example-robot-data", "robots")
    said, names = f'include "{root / "talos_data/robots/talos_reduced.urdf"}" floating;\n', []
    for side in ("left", "right"):
        for k, (x, y) in enumerate(SOLE):
            names.append(f"{side[0].upper()}{k}")
            said += f"point {names[-1]} on leg_{side}_6_link = ({x}, {y}, -0.107);\n"
    said += f"contact soles : point between {', '.join(names)} and ground axis (0, 0, 1), friction = 0.7;\n"
    return Model(said, {"soles": (tuple(names), 0.7)})


#: The height of its base where it stands upright [m].
UPRIGHT = 1.08305


@pytest.mark.slow
def test_talos_falls_on_his_feet() -> None:
    result = run(talos(), 0.4, seconds=60.0, samples=81, q={"root.z": UPRIGHT})
    judge(talos(), result)
    assert result.status == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_talos_is_let_fall_at_random(seed: int) -> None:
    rng = np.random.default_rng(seed)
    joints = [n for n in talos().equations().system.q_names if not n.startswith("root.")]
    bent = dict(zip(joints, np.zeros(len(joints)), strict=True))
    for side in ("left", "right"):
        knee = rounded(rng, 0, 0.6)
        bent |= {f"leg_{side}_3_joint": -knee / 2, f"leg_{side}_4_joint": knee, f"leg_{side}_5_joint": -knee / 2}
    start = {"root.z": UPRIGHT + rounded(rng, 0, 0.02)}
    speeds = {
        "root.vx": rounded(rng, -0.3, 0.3),
        "root.vy": rounded(rng, -0.3, 0.3),
        "root.wz": rounded(rng, -0.5, 0.5),
    }
    judge(talos(), run(talos(), 0.2, seconds=20.0, samples=41, q=bent | start, v=speeds))


def boxes(count: int) -> Model:
    """Boxes thrown on the ground, each differently."""
    said, contacts = GRAVITY + "parameters mu = 0.4, e = 0.3;\n", {}
    for k in range(count):
        a, b, c = 0.2, 0.15, 0.1
        J = [(b * b + c * c) / 3, (a * a + c * c) / 3, (a * a + b * b) / 3]
        said += f"B{k} | Free(b{k}) = 1, {J[0]}, {J[1]}, {J[2]};\n"
        corners = []
        for n in range(8):
            i, j, l = (1 - 2 * (n >> s & 1) for s in (2, 1, 0))
            corners.append(f"C{k}_{n}")
            said += f"point {corners[-1]} on B{k} = ({i * a}, {j * b}, {l * c});\n"
        said += f"contact floor{k} : point between {', '.join(corners)} and ground axis (0, 0, 1), "
        said += "restitution = e, friction = mu;\n"
        said += (
            f"initial b{k}.z = {0.8 + 0.05 * k}, b{k}.qw = 0.9, b{k}.qx = 0.3, b{k}.qy = 0.2, b{k}.qz = sqrt(0.06), "
        )
        said += f"b{k}.vx = {1.5 + 0.1 * k}, b{k}.wx = {2 + 0.2 * k}, b{k}.wy = 3, b{k}.wz = 1, b{k}.x = {2.0 * k};\n"
        contacts[f"floor{k}"] = (tuple(corners), "mu")
    return Model(said, contacts)


def test_a_box_is_thrown() -> None:
    result = run(boxes(1), 1.5)
    judge(boxes(1), result)
    assert result.status == 0


@pytest.mark.parametrize("count", slow([2, 4, 10]))
def test_boxes_are_thrown_together(count: int) -> None:
    """Each moves as it does alone."""
    result = run(boxes(count), 1.5, seconds=30.0, samples=151)
    judge(boxes(count), result)
    assert result.status == 0
    alone = run(boxes(1), 1.5, samples=151)
    assert np.abs(result["b0.z"] - alone["b0.z"]).max() < 1e-5


@pytest.mark.parametrize("seed", quick_but(range(10), range(1, 10)))
def test_boxes_at_random(seed: int) -> None:
    rng = np.random.default_rng(seed)
    r = rng.normal(size=4)
    r /= np.linalg.norm(r)
    q = {"b0.z": rounded(rng, 0.3, 1)} | {f"b0.q{c}": float(x) for c, x in zip("wxyz", r, strict=True)}
    v = {f"b0.{n}": rounded(rng, -3, 3) for n in ("vx", "vy", "wx", "wy", "wz")}
    p = {"mu": rounded(rng, 0.1, 0.9), "e": rounded(rng, 0, 0.6)}
    judge(boxes(1), run(boxes(1), 1.2, p=p, q=q, v=v))


ARM = """gravity (0, -9.81, 0);
Upper | Rz(q1), Sx(0.5) = 2, 0.02, 0.05, 0.05;
Fore ~ Upper | Sx(0.5), Rz(q2), Sx(0.4) = 1, 0.01, 0.03, 0.03;
coordinates q1, q2;
limit shoulder : -2 <= q1 <= 2; limit elbow : -1.5 <= q2 <= 1.5;
output lambda.shoulder.lower, lambda.shoulder.upper, lambda.elbow.lower, lambda.elbow.upper;"""


@cache
def arm(limited: bool) -> kn.Equations:
    if limited:
        return kn.derive(kn.loads(ARM))
    return kn.derive(kn.loads(ARM.partition("limit shoulder")[0]))


def controlled(limited: bool, aim: FloatArray) -> kn.Result:
    def control(t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        return 60 * (aim - q) - 8 * v

    with within(20):
        return kn.simulate(arm(limited), 0.5, tau=kn.sampled(control, 1000), samples=101)


def test_limits_that_are_far_change_nothing_of_sampled_control() -> None:
    near, free = (controlled(limited, np.array([0.6, -0.5])) for limited in (True, False))
    assert near.status == free.status == 0
    assert not near.changes
    assert np.abs(near.y - free.y).max() < 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_sampled_control_with_limits_at_random(seed: int) -> None:
    aim = np.random.default_rng(seed).uniform(-3, 3, 2).round(3)
    result = controlled(True, aim)
    assert result.status == 0, result.message
    for name, bound, q in (("shoulder", 2.0, result["q1"]), ("elbow", 1.5, result["q2"])):
        lower, upper = result[f"lambda.{name}.lower"], result[f"lambda.{name}.upper"]
        assert np.abs(q).max() < bound + DEPTH
        largest = max(1.0, np.abs(lower).max(), np.abs(upper).max())
        assert lower.min() > -CONE * largest
        assert upper.min() > -CONE * largest
        assert np.abs(lower * (q + bound)).max() < DEPTH * largest
        assert np.abs(upper * (q - bound)).max() < DEPTH * largest


NEARLY = Model(
    GRAVITY
    + """parameters w = 0.1, mu = 0.6, s = 1e-6;
Plate | Free(b) = 2, 0.02, 0.03, 0.04;
point A on Plate = (w, 0, -0.1); point B on Plate = (-w, s, -0.1); point C on Plate = (-w, -s, -0.1);
point D on Plate = (0, 0.1, -0.1); point E on Plate = (0, 0.1 + s, -0.1);
contact feet : point between A, B, C, D, E and ground axis (0, 0, 1), friction = mu;
initial b.z = 0.1;""",
    {"feet": (("A", "B", "C", "D", "E"), "mu")},
)


@pytest.mark.slow
@pytest.mark.parametrize("near", [0.0, 1e-12, 1e-9, 1e-7, 1e-6, 1e-5, 1e-3])
def test_feet_that_are_nearly_one_bear_a_plate_at_rest(near: float) -> None:
    result = run(NEARLY, 0.5, p={"s": near})
    judge(NEARLY, result)
    assert result.status == 0


@pytest.mark.parametrize("seed", range(20))
def test_feet_nearly_one_at_random(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = {"s": float(10.0 ** rng.uniform(-12, -2)), "w": rounded(rng, 0.02, 0.3), "mu": rounded(rng, 0.1, 1)}
    v = {"b.vx": float(rng.choice([0.0, rounded(rng, -1, 1)])), "b.wz": float(rng.choice([0.0, rounded(rng, -2, 2)]))}
    judge(NEARLY, run(NEARLY, 0.5, p=p, v=v))
