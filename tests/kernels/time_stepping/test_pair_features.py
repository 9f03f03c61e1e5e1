"""Features of shapes that touch each other: distances by least squares, rows by differences along motions, faces of boxes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import kineta as kn
from kineta.arrays import FloatArray
from kineta.kernels.machine_code import machine_code
from kineta.kernels.time_stepping.near_pairs import find_pairs, list_features
from kineta.kernels.time_stepping.pair_features import AXES, BALL, CAPSULE, CENTRE, FEATURE_NUMBERS, NORMAL, RADIUS
from kineta.kernels.time_stepping.pair_rows import fill_pairs
from kineta.simulation.inputs import run_inputs
from kineta.simulation.piles.pile import pile_memory
from kineta.simulation.piles.pile_memory import PileMemory
from kineta.simulation.simulate import RunSettings, pile_tasks

SHAPES = {
    "ball": "ball = 0.3",
    "capsule": "capsule = 0.1, 0.8",
    "box": "box = 0.6, 0.5, 0.4",
    "plane": "plane",
}
PAIRS = [(a, b) for k, a in enumerate(SHAPES) for b in [*SHAPES][k:] if a != "plane"]
#: Steps so long that every feature counts as near.
ALL = 0.3


def memory_of(first: str, second: str) -> PileMemory:
    """Memory of two bodies that fly."""
    axis = " axis (1, 0.4, -0.3)"
    rows = [f"{SHAPES[s]} among {b}{axis * (s in ('capsule', 'plane'))}" for s, b in ((first, "A"), (second, "B"))]
    system = kn.loads(
        f"A | Free(a) = 1, 1, 1, 1; B | Free(b) = 1, 1, 1, 1; contact touch : {' and '.join(rows)}, friction = 0.5;"
    )
    given = run_inputs(system, (None,) * 5, (), "moreau")
    settings = RunSettings((0.0, 1.0), (1e-9, 1e-12, 1e-3), None, np.array([0.0]))
    parts, tasks = pile_tasks(kn.derive(system), given, settings, dense_output=False)
    return pile_memory(system, given, parts, tasks)


@pytest.fixture(scope="module", params=PAIRS, ids="-".join)
def memory(request: pytest.FixtureRequest) -> PileMemory:
    return memory_of(*request.param)


def put(memory: PileMemory, y: FloatArray) -> None:
    """Shapes in a state y, and all their features."""
    data, pairs = memory.data, memory.data.pairs
    data.array("y")[: len(y)] = y
    places: Any = pairs.array("places_of")
    places(data.array("time"), data.array("y"), data.motion.array("block"), pairs.array("places"))
    find, fill = machine_code(find_pairs), machine_code(fill_pairs)
    pairs.count = 0
    find(data, ALL)
    fill(data)


def at_random(rng: Any, distance: float) -> FloatArray:
    """Two bodies at a *distance*, turned at random, that move and spin."""
    y, way = np.zeros(26), rng.normal(size=3)
    y[7:10] = distance * way / np.linalg.norm(way)
    for k in (3, 10):
        e = rng.normal(size=4)
        y[k : k + 4] = e / np.linalg.norm(e)
    y[14:] = rng.normal(size=12)
    return y


def moved(memory: PileMemory, y: FloatArray, dt: float) -> FloatArray:
    """The state after a time *dt* at constant speeds (Runge, Kutta)."""
    data, n = memory.data, memory.data.motion.coordinates
    rate: Any = data.array("coordinate_rate")

    def slope(at: FloatArray) -> FloatArray:
        full, out = np.zeros_like(data.array("y")), np.zeros_like(data.array("y"))
        full[: len(at)] = at
        rate(data.array("time"), full, data.motion.array("block"), out)
        found = np.zeros_like(at)
        found[:n] = out[:n]
        return found

    k1 = slope(y)
    k2 = slope(y + dt / 2 * k1)
    k3 = slope(y + dt / 2 * k2)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + slope(y + dt * k3))


@dataclass
class Row:
    """The gap of a feature, and velocities along its rows n, u and w, which are its *axes*, with their biases."""

    gap: float
    axes: FloatArray
    velocity: FloatArray
    bias: FloatArray
    jacobian: FloatArray


def rows(memory: PileMemory, y: FloatArray) -> dict[int, Row]:
    """All features, by name."""
    put(memory, y)
    pairs, motion, found = memory.data.pairs, memory.data.motion, {}
    for k in range(pairs.count):
        c = pairs.fixed + k
        start, end = motion.problem.array("row_start")[c : c + 2]
        W = np.zeros((3, 12))
        W[:, motion.problem.array("row_speeds")[start:end]] = motion.terms.array("jacobian")[
            3 * start : 3 * end
        ].reshape(3, -1)
        velocity, bias = (motion.terms.array(n)[3 * c : 3 * c + 3].copy() for n in ("velocity", "bias"))
        feature = pairs.array("features")[FEATURE_NUMBERS * k :]
        n, aside = feature[NORMAL : NORMAL + 3], pairs.array("aside")[:3]
        w = aside - n @ aside * n
        w /= np.linalg.norm(w)
        axes = np.array([n, np.cross(w, n), w])
        found[int(pairs.array("feature")[k])] = Row(float(feature[0]), axes, velocity, bias, W)
    return found


def test_rows_are_the_rates_of_gaps_and_biases_those_of_rows(memory: PileMemory) -> None:
    rng, dt, seen = np.random.default_rng(1), 1e-4, 0
    for _ in range(12):
        y = at_random(rng, rng.uniform(0.3, 0.9))
        before, now, after = (rows(memory, moved(memory, y, s * dt)) for s in (-1, 0, 1))
        for name in {*before} & {*now} & {*after}:
            a, own, b = before[name], now[name], after[name]
            np.testing.assert_allclose(own.jacobian @ y[14:], own.velocity, atol=1e-12)
            rate, speed = (b.gap - a.gap) / (2 * dt), own.velocity[0]
            if abs(rate - speed) > 1e-5 * max(1.0, abs(speed)):  # the nearest face, edge or end has changed
                continue
            slope = (b.velocity - a.velocity) / (2 * dt)
            turn = (b.axes - a.axes) / (
                2 * dt
            )  # tangents lean; biases are those of tangents that turn with the normal alone
            slip = own.velocity @ own.axes
            slope[1:] -= turn[1:] @ slip + (own.axes[1:] @ turn[0]) * own.velocity[0]
            # Differences miss the square of their time: 6e-6 here, a hundredth of it for a tenth of the time.
            np.testing.assert_allclose(slope, own.bias, atol=2e-5 * max(1.0, np.abs(own.bias).max()))
            seen += 1
    assert seen > 10


def vertices(memory: PileMemory, s: int) -> FloatArray:
    """The vertices (k, 3) of the core of a shape."""
    pairs = memory.data.pairs
    at = pairs.array("places")[pairs.array("place_start")[s] :]
    R, half = at[AXES : AXES + 9].reshape(3, 3), pairs.array("half")[3 * s : 3 * s + 3]
    signs = {BALL: [(0, 0, 0)], CAPSULE: [(-1, 0, 0), (1, 0, 0)]}.get(
        int(pairs.array("kind")[s]), product((-1, 1), repeat=3)
    )
    return np.array([at[CENTRE : CENTRE + 3] + (np.array(sign) * half) @ R for sign in signs])


def distance(a: FloatArray, b: FloatArray) -> float:
    """The distance of the hulls of two sets of points: convex combinations of both by bounded least squares."""
    heavy = 1e4
    A = np.vstack([np.hstack([a.T, -b.T]), heavy * np.repeat([[1, 0], [0, 1]], [len(a), len(b)], axis=1)])
    found = lsq_linear(A, [0, 0, 0, heavy, heavy], bounds=(0, 1), tol=1e-14).x
    return float(np.linalg.norm(a.T @ found[: len(a)] - b.T @ found[len(a) :]))


@pytest.mark.parametrize("pair", [p for p in PAIRS if p[1] != "plane" and p != ("box", "box")], ids="-".join)
def test_the_least_gap_is_the_distance_of_shapes_with_a_radius(pair: tuple[str, str]) -> None:
    memory, rng = memory_of(*pair), np.random.default_rng(2)
    for _ in range(25):
        found = rows(memory, at_random(rng, rng.uniform(0.75, 0.95)))
        at = memory.data.pairs.array("places")
        radii = at[memory.data.pairs.array("place_start") + RADIUS].sum()
        apart = distance(vertices(memory, 0), vertices(memory, 1))
        if apart > 1e-3:
            # The reference is a bounded least-squares problem, which misses up to 8e-9 m here.
            np.testing.assert_allclose(min(r.gap for r in found.values()), apart - radii, atol=5e-8)


@pytest.mark.slow
def test_the_least_gap_of_boxes_that_nearly_touch_is_their_distance() -> None:
    memory, rng, seen = memory_of("box", "box"), np.random.default_rng(3), 0
    for _ in range(10):
        y = at_random(rng, 1.0)
        low, high = 0.3, 1.2  # along the way between the centres the boxes come to touch
        while high - low > 1e-4:
            middle = 0.5 * (low + high)
            y[7:10] *= middle / np.linalg.norm(y[7:10])
            put(memory, y)
            apart = distance(vertices(memory, 0), vertices(memory, 1))
            low, high = (low, middle) if apart > 1e-6 else (middle, high)
        y[7:10] *= (high + 1e-4) / np.linalg.norm(y[7:10])
        gaps = [r.gap for r in rows(memory, y).values()]
        apart = distance(vertices(memory, 0), vertices(memory, 1))
        if apart > 2e-6:
            seen += 1
            np.testing.assert_allclose(min(gaps), apart, atol=1e-8)
    assert seen > 6


def flat(memory: PileMemory, x: float, y: float, z: float, turned: float = 0.0) -> list[float]:
    """The gaps of two boxes with parallel faces, the second at (x, y, z), turned about z."""
    state = np.zeros(26)
    state[3] = 1.0
    state[7:10] = x, y, z
    state[10], state[13] = np.cos(turned / 2), np.sin(turned / 2)
    return [r.gap for r in rows(memory, state).values()]


def test_faces_bear_on_the_corners_of_what_they_share() -> None:
    memory = memory_of("box", "box")
    for x, y in ((0, 0), (0.2, 0), (0.2, 0.1), (-0.3, 0), (0, 0.25), (0.1, -0.2)):  # sides along x, y: 0.6, 0.5
        np.testing.assert_allclose(flat(memory, x, y, 0.4 + 1e-6), [1e-6] * 4, atol=1e-12)
    assert len(flat(memory, 0, 0, 0.4, turned=np.pi / 4)) == 8
    assert len(flat(memory, 0, 0, 0.4, turned=np.pi / 2)) == 4


def test_boxes_that_are_flush_do_not_run_into_each_other() -> None:
    memory = memory_of("box", "box")
    assert flat(memory, 0.599, 0, 0.4 - 1e-8)  # over the last millimetre
    assert not flat(memory, 0.6005, 0, 0.4 - 1e-8)  # beside and above
    assert len(flat(memory, 0.6005, 0, 0)) == 4  # beside


def test_a_kernel_in_python_lists_the_same() -> None:
    memory, rng = memory_of("box", "box"), np.random.default_rng(5)
    put(memory, at_random(rng, 0.45))
    pairs = memory.data.pairs
    found = pairs.array("features")[: FEATURE_NUMBERS * pairs.count].copy()
    names = pairs.array("feature")[: pairs.count].copy()
    assert len(names)
    list_features(pairs, ALL)
    np.testing.assert_array_equal(pairs.array("feature")[: pairs.count], names)
    np.testing.assert_array_equal(pairs.array("features")[: FEATURE_NUMBERS * pairs.count], found)
