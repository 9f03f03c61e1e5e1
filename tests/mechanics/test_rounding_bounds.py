"""Mass matrices that are singular up to rounding have no accelerations; badly scaled ones have."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest

import kineta as kn
from benchmarks.chains import chain
from kineta.equations.initial_values import initial_state
from kineta.model.joints.motion import Motion
from tests.mechanics.random_systems import random_inertia

SEEDS = range(6)
TURNS = (kn.Rx, kn.Ry, kn.Rz)
#: Bodies on a base, and the coordinates that must have certain values.
Case = tuple[list[kn.Body], dict[str, float]]
CASES: dict[str, Callable[[random.Random, str], Case]] = {}


def case(build: Callable[[random.Random, str], Case]) -> Callable[[random.Random, str], Case]:
    CASES[build.__name__.replace("_", " ")] = build
    return build


def unit(rng: random.Random) -> np.ndarray:
    v = np.array([rng.gauss(0, 1) for _ in range(3)])
    return v / np.linalg.norm(v)


def turned(axis: np.ndarray, angle: float, v: np.ndarray) -> np.ndarray:
    return v * math.cos(angle) + np.cross(axis, v) * math.sin(angle) + axis * (axis @ v) * (1 - math.cos(angle))


def q(name: str) -> kn.Expr:
    return kn.symbol(name)


def needle(axis: np.ndarray, mass: float, length: float, com: float) -> kn.Inertia:
    J = mass * length**2 * (np.eye(3) - np.outer(axis, axis))
    return kn.inertia(mass, J.diagonal(), (J[0, 1], J[0, 2], J[1, 2]), com=com * axis, unchecked=True)


@case
def a_point_on_a_ball_joint(rng: random.Random, base: str) -> Case:
    return [kn.body("B", [kn.Ball("b")], kn.inertia(rng.uniform(0.1, 9), com=unit(rng)), base=base)], {}


@case
def a_point_on_a_free_body(rng: random.Random, base: str) -> Case:
    return [kn.body("B", [kn.Free("b")], kn.inertia(rng.uniform(0.1, 9), com=unit(rng)), base=base)], {}


@case
def two_points_on_a_line(rng: random.Random, base: str) -> Case:
    e = unit(rng)
    far = kn.body("C", [kn.S(e, rng.uniform(-2, 2))], kn.inertia(rng.uniform(0.1, 3)), base="B")
    return [kn.body("B", [kn.Ball("b")], kn.inertia(rng.uniform(0.1, 3), com=e), base=base), far], {}


@case
def a_needle_about_its_axis(rng: random.Random, base: str) -> Case:
    e = unit(rng)
    own = needle(e, 10 ** rng.uniform(-2, 2), 10 ** rng.uniform(-2, 1), rng.uniform(-1, 1))
    return [kn.body("B", [kn.R(e, q("a"))], own, base=base)], {}


@case
def a_point_on_three_turns(rng: random.Random, base: str) -> Case:
    motions = [turn(q(n)) for turn, n in zip(rng.sample(TURNS, 3), "abc", strict=True)]
    return [kn.body("B", motions, kn.inertia(2, com=unit(rng)), base=base)], {}


@case
def a_gimbal_in_its_lock(rng: random.Random, base: str) -> Case:
    (first, second, third), angle = rng.choice([((2, 1, 2), math.pi), ((0, 1, 2), math.pi / 2), ((2, 0, 2), 0.0)])
    motions = [TURNS[first](q("a")), TURNS[second](q("b")), TURNS[third](q("c"))]
    own = random_inertia(rng, rng.uniform(0.1, 10))
    return [kn.body("B", motions, own, base=base)], {"b": angle + rng.choice([0.0, 1e-16, -3e-16, 1e-15])}


@case
def turns_about_axes_that_meet(rng: random.Random, base: str) -> Case:
    first, second, angle = unit(rng), unit(rng), rng.uniform(0.3, 2.5)
    motions = [kn.R(first, q("a")), kn.R(second, q("b")), kn.R(turned(second, -angle, first), q("c"))]
    return [kn.body("B", motions, random_inertia(rng, 2.0), base=base)], {"b": angle}


@case
def four_turns_of_one_body(rng: random.Random, base: str) -> Case:
    return [kn.body("B", [kn.R(unit(rng), q(n)) for n in "abcd"], random_inertia(rng, 2.0), base=base)], {}


@case
def three_shifts_in_a_plane(rng: random.Random, base: str) -> Case:
    third = kn.S([math.cos(x := rng.uniform(0.2, 1.3)), math.sin(x), 0], q("c"))
    return [kn.body("B", [kn.Sx(q("a")), kn.Sy(q("b")), third], random_inertia(rng, 2.0), base=base)], {}


@case
def a_stretched_arm_without_mass_between(rng: random.Random, base: str) -> Case:
    elbow = kn.body("B", [kn.Rz(q("a")), kn.Sx(rng.uniform(0.3, 2))], kn.inertia(0), base=base)
    hand = kn.body("C", [kn.Rz(q("b")), kn.Sx(rng.uniform(0.3, 2))], kn.inertia(2), base="B")
    return [elbow, hand], {"b": rng.choice([0.0, math.pi, 1e-16])}


@case
def a_point_on_its_axis(rng: random.Random, base: str) -> Case:
    r, angle = rng.uniform(0.3, 2), rng.uniform(-2, 2)
    com = (-r * math.cos(angle), r * math.sin(angle), rng.uniform(-1, 1))
    arm = kn.body("B", [kn.Rz(q("a")), kn.Sx(r)], kn.inertia(0), base=base)
    return [arm, kn.body("C", [kn.Rz(q("b"))], kn.inertia(2, com=com), base="B")], {"b": angle}


@case
def a_crank_in_its_dead_point(rng: random.Random, base: str) -> Case:
    motions = [kn.Sx(rng.uniform(0.3, 2) * kn.cos(q("a")))]
    return [kn.body("B", motions, random_inertia(rng, 1.0), base=base)], {"a": rng.choice([0.0, math.pi, -math.pi])}


def carried(rng: random.Random, n: int) -> list[kn.Body]:
    """A chain of *n* bodies that moves well."""
    kinds: list[Callable[[str], Motion]] = [lambda s: kn.R(unit(rng), q(s)), kn.Ball, lambda s: kn.Sy(q(s))]
    return [
        kn.body(f"a{k}", [kn.Sx(0.4), rng.choice(kinds)(f"m{k}")], random_inertia(rng, 1.0), base=base)
        for k, base in enumerate(["ground", *(f"a{k}" for k in range(n))][:n])
    ]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", CASES)
def test_a_singular_mass_matrix_gives_no_accelerations(kind: str, seed: int) -> None:
    rng = random.Random(f"{kind} {seed}")
    bodies = carried(rng, seed % 3)
    more, fixed = CASES[kind](rng, bodies[-1].name if bodies else "ground")
    motions = [m for b in (*bodies, *more) for m in b.motions]
    names = [n for m in motions for n in ([m.name] if isinstance(m, kn.Ball | kn.Free) else m.argument.symbols())]
    system = kn.System("s", [*bodies, *more], coordinates=names, gravity=(0.3, -0.7, -9.81))
    drawn = {n: rng.uniform(-2, 2) for n in system.q_names if ".q" not in n}
    state = initial_state(system, drawn | fixed, dict.fromkeys(system.v_names, 0.1))
    try:
        found = kn.derive(system).function("forward", "numpy")(0.0, *state)[-1]
    except kn.ModelError as refused:  # its numbers have shown it already
        found = math.nan if "the mass matrix is singular" in str(refused) else 0.0
    assert math.isnan(found)


@pytest.mark.parametrize("seed", range(20))
def test_a_badly_scaled_mass_matrix_gives_accelerations(seed: int) -> None:
    rng = random.Random(seed)
    bodies = []
    for k in range(rng.randint(2, 7)):
        size = 10 ** rng.uniform(-2, 0)
        own = random_inertia(rng, 1.0)
        mass = 10 ** rng.uniform(-6, 2)
        moments, products = ([mass * size**2 * float(J) for J in Js] for Js in (own.moments, own.products))
        own = kn.inertia(mass, moments, products, com=[rng.uniform(-size, size) for _ in range(3)])
        motion = rng.choice([kn.Rx, kn.Ry, kn.Rz, kn.Rz, kn.Sx])(q(f"q{k}"))
        bodies.append(kn.body(f"b{k}", [kn.Sx(rng.uniform(-1, 1)), motion], own, base=f"b{k - 1}" if k else "ground"))
    system = kn.System("s", bodies)
    state = np.random.default_rng(seed).uniform(-2, 2, (2, system.nv))
    assert np.isfinite(kn.derive(system).function("forward", "numpy")(0.0, *state)).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 30])
def test_long_chains_have_accelerations_in_any_position(n: int) -> None:
    forward = kn.derive(chain(n)).function("forward", "numpy")
    for angle in (np.zeros(n), np.random.default_rng(0).uniform(-3, 3, n)):
        assert np.isfinite(forward(0.0, angle, np.zeros(n))).all()


def test_only_the_singular_states_of_many_have_no_accelerations() -> None:
    forward = kn.derive(kn.loads("A | Rz(a), Ry(b), Rz(c) = 1, 1, 2, 2.5;")).function("forward")
    angles = np.array([[0.3, b, 0.2] for b in (1.0, 0.0, 1e-3, math.pi, 2.0)])
    assert np.isnan(forward(0.0, angles, np.ones((5, 3)))).any(axis=1).tolist() == [False, True, False, True, False]


def test_what_does_not_hang_on_it_keeps_its_accelerations() -> None:
    system = kn.loads("A | Ball(b) = m(1), com = (0.3, 0.4, -0.7); C | Sx(x) = 2; force f = 3 on x; coordinates b, x;")
    found = kn.derive(system).function("forward")(0.0, *initial_state(system))
    assert np.isnan(found[:3]).all()
    assert found[3] == 1.5


@pytest.mark.parametrize("seed", range(12))
def test_constraints_that_say_the_same_up_to_rounding_are_named(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-1, 1, (2, 3))
    more = rng.uniform(0.5, 2)
    text = "gravity (0.2, -9.81, 0.3); coordinates a, b, c, d;"
    text += "A | Rx(a), Ry(b), Sz(1), Rz(c), Sx(d) = 2, 1, 1, 1, com = (0.1, 0.2, 0.3);"
    first = [float(x) for x in a]

    def model(second: list[float]) -> kn.Equations:
        rows = enumerate((first, second))
        said = (f"constraint c{k} : {x}*sin(a)*b + {y}*c*d^2 + {z}*a*d = 0;" for k, (x, y, z) in rows)
        return kn.derive(kn.loads(text + "".join(said)))

    with pytest.raises(kn.ModelError, match="the constraint 'c1' binds only what 'c0' binds already"):
        model([float(x) for x in a * more]).expressions("forward")
    forward = model([float(x) for x in b]).function("forward", "numpy")
    assert np.isfinite(forward(0.0, rng.uniform(0.2, 1, 4), rng.uniform(-1, 1, 4))).all()


@pytest.mark.parametrize(
    "again",
    ["2*({c})", "-({c})", "({c})/3", "pi*({c})", "({c}) + ({c})^2", "exp({c}) - 1", "k*({c})", "({c})*(2 + cos(t))"],
)
@pytest.mark.parametrize("c", ["x + 2*y", "x - 0.5*sin(phi)"])
@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange"])
def test_a_constraint_said_again_is_named(formalism: str, c: str, again: str) -> None:
    second = again.format(c=c)
    text = "parameters k = 3; A | Sx(x), Sy(y), Rz(phi) = 1, 1, 1, 1; coordinates x, y, phi;"
    text += f"constraint c1: {c} = 0; constraint c2: {second} = 0; constraint c3: 0.7*({c}) + 0.1*({second}) = 0;"
    with pytest.raises(kn.ModelError, match=r"the constraint 'c[123]' binds only what .* binds? already"):
        kn.derive(kn.loads(text), formalism).expressions("multipliers")
