"""Tips that are symmetric about their axis: equations in axes that do not turn with them, against those of the whole link."""

from __future__ import annotations

import random

import mpmath
import numpy as np
import pytest

import kineta as kn
from kineta.expr.walk import reachable
from kineta.passes.evaluate import evaluate
from kineta.passes.multiprecision import multiprecision_operations

QUANTITIES = (
    *("inverse", "mass_matrix", "forward", "kinetic_energy", "momentum", "inverse_derivatives", "forward_derivatives"),
    *("regressor", "rotations", "velocities", "accelerations", "jacobian", "reactions", "inertia_forces(3)"),
)


def arm(seed: int, *, whole: bool = False, end: str = "") -> kn.System:
    """A tree of random placements with two rotors, one on the ground; with *whole* links equal moments are of two names."""
    rng = random.Random(seed)

    def number() -> str:
        return f"{rng.uniform(-0.6, 0.6):.3f}"

    def turn() -> str:
        return f"R{rng.choice('xyz')}({number()})"

    tensor, same = "0.031, 0.042, 0.053", "b" if whole else "a"
    return kn.loads(
        f"""parameters a = 0.013, b = 0.013; gravity ({number()}, {number()}, 9.81);
        flywheel | {turn()}, Sx({number()}), Rz(f) = 0.7, a, {same}, 0.02, com = (0, 0, 0.1);
        link1 | Sx({number()}), {turn()}, R{rng.choice("xyz")}(q1) = 2, {tensor}, com = ({number()}, 0.1, 0.2);
        link2 ~ link1 | Sy({number()}), {turn()}, S{rng.choice("xyz")}(q2) = 1, {tensor};
        link3 ~ link2 | Sz({number()}), {turn()}, R{rng.choice("xyz")}(q3) = 1.5, {tensor}, com = (0.1, {number()}, 0.1);
        wheel ~ link3 | {turn()}, Sx({number()}), Sz(0.1), {turn()}, Ry(w) = 0.4, a, 0.02, {same}, com = (0, 0.2, 0);
        {end}"""
    )


def pair(seed: int, end: str = "") -> tuple[kn.Equations, kn.Equations]:
    short, whole = (kn.derive(arm(seed, whole=whole, end=end)) for whole in (False, True))
    return short, whole


def angles(equations: kn.Equations, quantity: str) -> set[str | None]:
    """The angles of rotors in a quantity."""
    d = equations.alone()
    return {d.graph.name(2 * i) for i in reachable(d.graph, d[quantity].refs)} & {"f", "w"}


def numbers(equations: kn.Equations, quantity: str) -> list[mpmath.mpf]:
    """A quantity at a random state, in the precision of mpmath's context."""
    rng, d = random.Random(1), equations.alone()
    refs = d[quantity].refs
    at = {n: mpmath.mpf(0.013) if n in ("a", "b") else mpmath.mpf(rng.uniform(-1, 1)) for n in sorted(d.graph.names)}
    return list(evaluate(d.graph, refs, at, multiprecision_operations()))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "end"),
    [
        (0, "damper D = 0.1 on w; spring S = 3 on f; potential V = link3.z*w; force F on link3 = (1, 2, 3) in wheel;"),
        pytest.param(1, "", marks=pytest.mark.slow),
    ],
)
def test_equations_are_those_of_the_whole_links(seed: int, end: str) -> None:
    short, whole = pair(seed, end)
    with mpmath.workdps(50):
        for quantity in QUANTITIES:
            pairs = zip(numbers(short, quantity), numbers(whole, quantity), strict=True)
            assert max(abs(a - b) / (1 + abs(b)) for a, b in pairs) < 1e-12, quantity  # masses are rounded to doubles


def test_the_angle_is_in_no_equation_and_the_bodies_turn() -> None:
    short, whole = pair(0)
    for quantity in ("inverse", "forward", "mass_matrix", "inverse_derivatives", "forward_derivatives"):
        assert angles(short, quantity) == set()
        assert angles(whole, quantity) != set()
    assert short.operations("inverse").total < whole.operations("inverse").total
    assert angles(short, "rotations") == {"f", "w"}


@pytest.mark.parametrize(
    "formalism",
    ["lagrange", *(pytest.param(f, marks=pytest.mark.slow) for f in ("kane", "dalembert", "appell", "wittenburg"))],
)
def test_every_formalism_gives_the_same(formalism: str) -> None:
    system = arm(3)
    one, other = (kn.derive(system, f).function("inverse") for f in ("newton_euler", formalism))
    q, v, a = np.random.default_rng(0).normal(size=(3, 5))
    assert other(0.0, q, v, a) == pytest.approx(one(0.0, q, v, a), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("end", ["force F on wheel at (0.1, 0, 0) = (1, 2, 3);", "limit L : w <= 1;"])
def test_a_tip_at_which_something_acts_keeps_its_link(end: str) -> None:
    assert not kn.derive(arm(1, end=end)).alone().mechanism.links[-1].Q.is_identity
    assert kn.derive(arm(1)).alone().mechanism.links[-1].Q.is_identity


@pytest.mark.slow
def test_a_run_is_the_same() -> None:
    one, other = (kn.simulate(arm(5, whole=w, end="initial w' = 9, f' = 3, q1 = 0.3;"), 0.5) for w in (False, True))
    assert one.q[-1] == pytest.approx(other.q[-1], rel=1e-7, abs=1e-7)
