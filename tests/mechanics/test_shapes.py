"""Gaps of shapes: distances found by optimisation, derivatives, and what verification says of all pairs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import kineta as kn
from kineta.expr.graph import Graph
from kineta.mechanics.contact import guards
from kineta.passes.evaluate import evaluate

BODIES = "A | Free(a) = 1, 0.01, 0.02, 0.015; B | Free(b) = 2, 0.02, 0.01, 0.03;"
PAIRS = {
    "point on ball": ("point on ball = 0.3", "A at (0.1, 0, 0.2)", "B at (0.1, 0.2, 0)"),
    "point on capsule": ("point on capsule = 0.3, 0.5", "A", "B at (0.1, 0.2, 0) axis (1, 2, 3)"),
    "point on box": ("point on box = 0.3, 0.5, 0.4", "A at (0.1, 0, 0.2)", "B at (0.1, 0.2, 0)"),
    "ball on ball": ("ball = 0.2 on ball = 0.3", "A at (0.1, 0, 0.2)", "B"),
    "ball on capsule": ("ball = 0.2 on capsule = 0.3, 0.5", "A", "B axis (1, 0, 1)"),
    "ball on box": ("ball = 0.2 on box = 0.3, 0.5, 0.7", "A", "B at (0.1, 0.2, 0)"),
    "capsule on ball": ("capsule = 0.2, 0.6 on ball = 0.3", "A axis (0, 1, 1)", "B at (0.1, 0.2, 0)"),
    "capsule on capsule": ("capsule = 0.2, 0.6 on capsule = 0.3, 0.5", "A axis (0, 1, 1)", "B axis (1, 0, 1)"),
    "capsule on box": ("capsule = 0.2, 0.6 on box = 0.3, 0.5, 0.7", "A axis (0, 1, 1)", "B"),
    "capsule on a plane": ("capsule = 0.2, 0.6", "A axis (0, 1, 1)", "B axis (0, 0, 1)"),
    "box on a plane": ("box = 0.2, 0.6, 0.3", "A", "B axis (0, 0, 1)"),
}
RIMS = {
    "disk on a plane": ("disk = 0.3", "A at (0.1, 0, 0.2) axis (1, 2, 3)", "B axis (0, 1, 2)"),
    "torus on a plane": ("torus = 0.3, 0.1", "A axis (0, 1, 1)", "B axis (0, 0, 1)"),
}
COMPLIANT = "stiffness = 100, damping = 3, friction = 0.2, smooth = 0.1"
#: What a shape is: a box (half sides) blown up by a radius; a capsule is a box along one axis.
SHAPES: dict[str, tuple[tuple[float, float, float], float]] = {
    "point": ((0.0, 0.0, 0.0), 0.0),
    "ball": ((0.0, 0.0, 0.0), 0.2),
    "capsule": ((0.0, 0.0, 0.3), 0.1),
    "box": ((0.1, 0.2, 0.3), 0.0),
}
TEXTS = {"point": "point", "ball": "ball = 0.2", "capsule": "capsule = 0.1, 0.6", "box": "box = 0.2, 0.4, 0.6"}


def system(pair: str, law: str) -> kn.System:
    shapes, first, second = (PAIRS | RIMS)[pair]
    return kn.loads(f"gravity 9.81; {BODIES} contact c : {shapes} between {first} and {second}, {law};")


#: Pairs that are asked each time; the others are slow.
QUICK = ("ball on box", "capsule on capsule", "disk on a plane")


@pytest.mark.slow
@pytest.mark.parametrize("pair", [p if p in QUICK else pytest.param(p, marks=pytest.mark.slow) for p in PAIRS | RIMS])
def test_rows_are_those_of_the_touching_points(pair: str) -> None:
    with pytest.warns(kn.KinetaWarning, match="only runs know contacts"):
        found = kn.verify(system(pair, "friction = 0.3"), states=5)
    assert found.holds
    assert "contacts, limits and friction act where bodies touch and turn" in str(found)


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_compliant_contacts_push_where_bodies_touch(pair: str) -> None:
    model = system(pair, COMPLIANT)
    assert kn.loads(kn.dumps(model)) == model
    assert kn.verify(model).holds


@pytest.mark.slow
def test_rows_of_two_boxes_are_those_of_their_corners_and_edges() -> None:
    model = kn.loads(
        f"{BODIES} contact c : box = 0.2, 0.3, 0.1 on box = 0.3, 0.2, 0.25 between A and B, friction = 0.4;"
    )
    with pytest.warns(kn.KinetaWarning, match="only runs know contacts"):
        assert kn.verify(model).holds


class Gaps:
    """The gaps of a contact of two free bodies in given poses."""

    def __init__(self, first: str, second: str) -> None:
        text = f"contact c : {TEXTS[first]} on {TEXTS[second]} between A{axis(first)} and B{axis(second)};"
        d: Any = kn.derive(kn.loads(BODIES + text)).derivation
        graph: Graph = d.graph
        self.graph, self.names = graph, [*d.symbols.by_name]
        self.refs = [guards.gap(graph, touch) for touch in d.contacts]

    def __call__(self, poses: list[tuple[Any, Any]]) -> list[float]:
        state = dict.fromkeys(self.names, 0.0)
        for body, (x, quaternion) in zip("ab", poses, strict=True):
            state |= dict(zip((f"{body}.x", f"{body}.y", f"{body}.z"), x, strict=True))
            state |= dict(zip((f"{body}.qw", f"{body}.qx", f"{body}.qy", f"{body}.qz"), quaternion, strict=True))
        return evaluate(self.graph, self.refs, {name: float(x) for name, x in state.items()})


def axis(shape: str) -> str:
    return " axis (0, 0, 1)" if shape == "capsule" else ""


def turned(q: Any) -> Any:
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def distance(first: str, second: str, poses: list[tuple[Any, Any]]) -> float:
    """The distance of the bodies inside of two shapes, by bounded least squares, less their radii."""
    (halves, r), (others, R) = SHAPES[first], SHAPES[second]
    columns = [turned(q) * np.maximum(h, 1e-300) for (_, q), h in zip(poses, (halves, others), strict=True)]
    A = np.hstack([columns[0], -columns[1]])
    found = lsq_linear(A, poses[1][0] - poses[0][0], (-1, 1), tol=1e-15, method="bvls")
    return float(np.sqrt(2 * found.cost)) - r - R


@pytest.mark.parametrize(
    ("first", "second"),
    [p for p in itertools.product(SHAPES, ("ball", "capsule", "box")) if p[0] != "box" and p != ("point", "box")],
)
def test_gaps_are_distances(first: str, second: str) -> None:
    gaps, random = Gaps(first, second), np.random.default_rng(7)
    apart = 0
    for _ in range(60):
        poses = []
        for _ in range(2):
            q = random.normal(size=4)
            poses.append((random.uniform(-0.4, 0.4, 3), q / np.linalg.norm(q)))
        expected = distance(first, second, poses)
        if expected > -sum(SHAPES[s][1] for s in (first, second)) + 1e-6:  # what is inside does not overlap
            apart += 1
            assert min(gaps(poses)) == pytest.approx(expected, abs=1e-7)
    assert apart > 15


@pytest.mark.slow
@pytest.mark.parametrize("first", ["point", pytest.param("box", marks=pytest.mark.slow)])
def test_sharp_shapes_touch_boxes_where_their_distance_ends(first: str) -> None:
    """Moved towards each other until they touch, exactly one gap or several are zero, and none is negative."""
    gaps, random = Gaps(first, "box"), np.random.default_rng(3)
    touched = 0
    for _ in range(25):
        q, p, way = random.normal(size=4), random.normal(size=4), random.normal(size=3)
        q, p, way = (v / np.linalg.norm(v) for v in (q, p, way))
        at = lambda s: [(s * way, q), (np.zeros(3), p)]  # noqa: B023, E731
        low, high = 0.0, 2.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if distance(first, "box", at(middle)) < 1e-9 else (low, middle)
        found = min(gaps(at(high)))
        assert found == pytest.approx(0, abs=1e-6)
        assert min(gaps(at(high + 1e-3))) > 1e-6
        assert min(gaps(at(high - 1e-4))) < -1e-6
        touched += 1
    assert touched == 25
