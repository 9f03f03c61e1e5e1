"""Each two shapes as a pair of a table and as a contact by itself: the same motions and impacts, and the laws of momentum and
energy.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kineta as kn
from kineta.arrays import FloatArray

#: The first and the second of a pair, and the axis that each has.
FIRST = {"ball": "ball = 0.12", "capsule": "capsule = 0.08, 0.4", "box": "box = 0.4, 0.3, 0.2"}
SECOND = {"ball": "ball = 0.15", "capsule": "capsule = 0.1, 0.6", "box": "box = 0.5, 0.45, 0.25", "plane": "plane"}
AXES = {"capsule": " axis (1, 0, 0)", "plane": " axis (0, 0, 1)"}
PAIRS = [(a, b) for k, a in enumerate(FIRST) for b in [*SECOND][k:]]
#: Pairs that are looked at in quick tests.
QUICK = (("ball", "box"), ("capsule", "capsule"), ("box", "plane"))
#: Impacts up to which two motions are compared: what rounding they begin with each impact makes a thousand times larger.
BLOWS = 2
#: Growth of energy in parts of it, of steps of 1 ms: of capsules that roll on each other 2e-5 J, a quarter for half of the step.
GROWTH = 1e-4


def system(first: str, second: str, *, table: bool, exchanged: bool = False) -> kn.Equations:
    """Two bodies in space, or one over the ground."""
    on = "ground" if second == "plane" else "B"
    a, b, x, y = FIRST[first], SECOND[second], AXES.get(first, ""), AXES.get(second, "")
    if table:
        rows = [f"{a} among A{x}", f"{b} among {on}{y}"]
        touching = " and ".join(rows[::-1] if exchanged else rows)
    else:
        surface = "" if second == "plane" else f" on {b}"
        touching = f"{a}{surface} between A{x} and {on}{y}"
    more = "" if second == "plane" else "B | Sx(bx), Sy(by), Sz(bz), Ball(b) = 2, 0.03, 0.03, 0.03;"
    return kn.derive(
        kn.loads(
            f"gravity 0; A | Sx(ax), Sy(ay), Sz(az), Ball(a) = 1, 0.005, 0.005, 0.005; {more}"
            f"coordinates ax, ay, az, a{', bx, by, bz, b' * bool(more)};"
            f"contact k : {touching}, friction = 0.4, restitution = 0.2;"
        )
    )


def thrown(seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """The body A on its way to the body B or the ground, both turned at random and spinning."""
    rng, q, v = np.random.default_rng(seed), dict[str, float](), dict[str, float]()
    way = rng.normal(size=3)
    way[2] = 1 + abs(way[2])  # above the ground
    way /= np.linalg.norm(way)
    for body in "ab":
        turned = rng.normal(size=4)
        turned /= np.linalg.norm(turned)
        q |= {f"{body}.q{c}": float(x) for c, x in zip("xyzw", turned, strict=True)}
        v |= {f"{body}.w{c}": float(x) for c, x in zip("xyz", 2 * rng.normal(size=3), strict=True)}
    v |= {f"a{c}'": float(x) for c, x in zip("xyz", -2 * way, strict=True)}
    q |= {f"a{c}": float(x) for c, x in zip("xyz", 0.8 * way + 0.05 * rng.normal(size=3), strict=True)}
    return q, v


def momenta(run: kn.Result) -> FloatArray:
    """Momentum and its moment about the origin of both bodies (k, 6); speeds of their centres are those in ground axes, and
    inertias those of balls, so that both are kept to rounding.
    """
    total = np.zeros((len(run.t), 6))
    for body, mass, inertia in (("a", 1.0, 0.005), ("b", 2.0, 0.03)):
        turned = Rotation.from_quat(np.array([run[f"{body}.q{c}"] for c in "xyzw"]).T)
        place, push = (
            np.array([run[f"{body}{c}"] for c in "xyz"]).T,
            mass * np.array([run[f"{body}{c}'"] for c in "xyz"]).T,
        )
        total[:, :3] += push
        total[:, 3:] += np.cross(place, push) + inertia * turned.apply(np.array([run[f"{body}.w{c}"] for c in "xyz"]).T)
    return total


def same_until_later_blows(one: kn.Result, other: kn.Result) -> None:
    """Assert that two runs are the same through their first blows."""
    blows = sorted({i.t for i in one.impacts})
    end = blows[BLOWS] if len(blows) > BLOWS else one.t[-1]
    early = one.t < end
    np.testing.assert_allclose(one.y[:, early], other.y[:, early], atol=1e-10)
    struck = [np.array([i.impulse_n for i in run.impacts if i.t < end and i.impulse_n > 1e-5]) for run in (one, other)]
    np.testing.assert_allclose(struck[0].sum(), struck[1].sum(), atol=1e-4)


def runs(first: str, second: str, seeds: Iterable[int], *systems: kn.Equations) -> None:
    """Throw, compare and judge."""
    hits = 0
    for seed in seeds:
        q, v = thrown(seed)
        if second == "plane":
            q, v = ({n: x for n, x in given.items() if n.startswith("a")} for given in (q, v))
        one, other = (kn.simulate(own, 0.5, q=q, v=v, method="moreau", samples=501) for own in systems)
        hits += bool(one.impacts)
        same_until_later_blows(one, other)
        if second != "plane":
            kept = momenta(one)
            np.testing.assert_allclose(kept - kept[0], 0, atol=1e-12)
        assert np.diff(one.kinetic_energy).max() < GROWTH * one.kinetic_energy[0]
    assert hits > 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "pair", [p if p in QUICK else pytest.param(p, marks=pytest.mark.slow) for p in PAIRS], ids="-".join
)
def test_a_table_has_the_motion_of_its_pairs(pair: tuple[str, str]) -> None:
    runs(*pair, range(3), *(system(*pair, table=table) for table in (True, False)))


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_tables_have_the_motions_of_their_pairs(pair: tuple[str, str]) -> None:
    runs(*pair, range(3, 20), *(system(*pair, table=table) for table in (True, False)))


@pytest.mark.parametrize(
    "pair",
    [p if p[0] == "capsule" else pytest.param(p, marks=pytest.mark.slow) for p in PAIRS if p[0] == p[1]],
    ids="-".join,
)
def test_the_order_of_two_bodies_does_not_matter(pair: tuple[str, str]) -> None:
    runs(*pair, range(3), *(system(*pair, table=True, exchanged=exchanged) for exchanged in (False, True)))
