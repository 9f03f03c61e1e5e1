"""Moments of mass distributions against sums over particles."""

from __future__ import annotations

import numpy as np
import pytest

from kineta.expr.graph import ZERO, Graph
from kineta.passes.evaluate import evaluate
from kineta.spatial.inertia import Moments, inertia_tensor, nothing, second_moments, symmetric
from kineta.spatial.rotation import rodrigues
from kineta.spatial.vector import Matrix, Vector, identity, outer, zeros

SEEDS = range(6)


class Cloud:
    """Particles: masses (n,) and places (n, 3)."""

    def __init__(self, seed: int, n: int = 7) -> None:
        rng = np.random.default_rng(seed)
        self.m, self.r = rng.uniform(0.1, 2, n), rng.uniform(-1, 1, (n, 3))

    def moments(self, graph: Graph) -> Moments:
        def ref(x: float) -> int:
            return graph.const(float(x))

        S = np.einsum("k,ki,kj->ij", self.m, self.r, self.r)
        c = Vector(graph, *map(ref, self.m @ self.r))
        return Moments(ref(self.m.sum()), c, symmetric(Matrix(graph, [list(map(ref, row)) for row in S])))

    def J(self) -> np.ndarray:
        return sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(self.m, self.r, strict=True))


def numbers(moments: Moments) -> np.ndarray:
    return np.array(evaluate(moments.c.graph, (moments.m, *moments.c.refs, *moments.S.refs), {}))


def same(a: Moments, b: Moments) -> None:
    np.testing.assert_allclose(numbers(a), numbers(b), rtol=0, atol=1e-13)


def moved(cloud: Cloud, R: np.ndarray, r: np.ndarray) -> Cloud:
    found = Cloud(0)
    found.m, found.r = cloud.m, cloud.r @ R.T + r
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_moving_the_distribution_is_moving_its_particles(seed: int) -> None:
    g, cloud = Graph(), Cloud(seed)
    R = rodrigues(Vector(g, *map(g.const, (0.6, 0.0, 0.8))), g.const(0.5 + seed))
    r = Vector(g, g.const(0.3), g.const(-1.1), g.const(0.7))
    turn, shift = np.array(evaluate(g, R.refs, {})).reshape(3, 3), np.array(evaluate(g, r.refs, {}))
    same(cloud.moments(g).rotated(R), moved(cloud, turn, np.zeros(3)).moments(g))
    same(cloud.moments(g).shifted(r), moved(cloud, np.eye(3), shift).moments(g))
    same(cloud.moments(g).rotated(R).shifted(r), moved(cloud, turn, shift).moments(g))
    same(cloud.moments(g).shifted(r).shifted(-r), cloud.moments(g))
    same(cloud.moments(g).rotated(R).rotated(R.T), cloud.moments(g))


@pytest.mark.parametrize("seed", SEEDS)
def test_distributions_add_and_split(seed: int) -> None:
    g, a, b = Graph(), Cloud(seed), Cloud(seed + 100, 4)
    both = Cloud(0)
    both.m, both.r = np.concatenate([a.m, b.m]), np.concatenate([a.r, b.r])
    same(a.moments(g) + b.moments(g), both.moments(g))
    same(both.moments(g) - b.moments(g), a.moments(g))
    assert (a.moments(g) - a.moments(g)).is_zero
    assert numbers(a.moments(g) + nothing(g)) == pytest.approx(numbers(a.moments(g)))
    assert nothing(g).is_zero
    assert not a.moments(g).is_zero


@pytest.mark.parametrize("seed", SEEDS)
def test_the_inertia_tensor_and_its_moments(seed: int) -> None:
    g, cloud = Graph(), Cloud(seed)
    moments = cloud.moments(g)
    J = np.array(evaluate(g, moments.J.refs, {})).reshape(3, 3)
    np.testing.assert_allclose(J, cloud.J(), atol=1e-13)
    back = evaluate(g, second_moments(inertia_tensor(moments.S)).refs, {})
    np.testing.assert_allclose(back, evaluate(g, moments.S.refs, {}), atol=1e-14)


def test_what_does_nothing_builds_nothing() -> None:
    g = Graph()
    moments = Moments(g.symbol("m"), Vector(g, g.symbol("c")), zeros(g))
    size = len(g)
    assert moments.rotated(identity(g)) is moments
    assert moments.shifted(Vector(g)) is moments
    assert (moments + nothing(g)).S.refs == zeros(g).refs
    assert len(g) == size


@pytest.mark.parametrize("seed", SEEDS)
def test_vector_algebra_of_the_textbook(seed: int) -> None:
    rng = np.random.default_rng(seed)
    g = Graph()
    values = rng.uniform(-1, 1, (3, 3))
    a, b, c = (Vector(g, *(g.symbol(f"{n}{i}") for i in range(3))) for n in "abc")
    state = {f"{n}{i}": values[k, i] for k, n in enumerate("abc") for i in range(3)}

    def of(v: Vector | int) -> np.ndarray:
        return np.array(evaluate(g, v.refs if isinstance(v, Vector) else [v], state))

    x, y, z = values
    np.testing.assert_allclose(of(a.cross(b)), np.cross(x, y), atol=1e-15)
    np.testing.assert_allclose(of(a.dot(b)), [x @ y], atol=1e-15)
    np.testing.assert_allclose(of(a.cross(b.cross(c))), y * (x @ z) - z * (x @ y), atol=1e-14)
    np.testing.assert_allclose(of(outer(a, b) @ c), x * (y @ z), atol=1e-15)
    assert a.cross(b).refs == (-b.cross(a)).refs
    assert a.cross(a).refs == (ZERO,) * 3
    assert a[1] == a.y
    assert a.plus(1, b.x).refs == (a.x, g.add(a.y, b.x), a.z)
