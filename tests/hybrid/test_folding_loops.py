"""Closed chains of four links in a plane, thrown on the ground by default settings, where they fold flat: kites, parallelograms
and rhombs, which come to lie in one line, where the row of the loop along that line vanishes. Heights, gaps of the loop and
energy are those of plain kinematics.
"""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.arrays import FloatArray
from tests.hybrid.random_machines import rounded
from tests.hybrid.test_contact_faults import within
from tests.support import quick_but

G, R, MASS, MOMENT = 9.81, 0.02, 0.1, 1e-3
#: Depth below the ground and opening of the loop [m], and growth of energy in parts of its range: three to six times those of
#: seed 129, which passes a fold in steps of 1 ms; all others stay below a hundredth of these.
DEPTH, OPENING, GROWTH = 1e-5, 1e-8, 1e-6


def chain(sides: list[float], friction: float, restitution: float) -> kn.System:
    """Links with these *sides*, each on the end of the one before, the last of which ends where the first begins."""
    text = f"gravity {G}; coordinates x, z, f, b1, b2, b3;"
    for k, side in enumerate(sides):
        place = "Sx(x), Sz(z), Ry(f)" if k == 0 else f"Sx({sides[k - 1]}), Ry(b{k})"
        base = f" ~ L{k - 1}" if k else ""
        text += f"L{k}{base} | {place} = {MASS}, 6e-4, {MOMENT}, 6e-4, com = ({side / 2}, 0, 0);"
    text += f"loop pin : revolute between L3 at ({sides[3]}, 0, 0) axis (0, 1, 0) and L0 axis (0, 1, 0);"
    text += f"contact floor : ball = {R} between L0, L1, L2, L3 and ground axis (0, 0, 1), friction = {friction}, "
    return kn.loads(f"{text}restitution = {restitution};")


def poses(q: FloatArray, sides: list[float]) -> tuple[FloatArray, FloatArray]:
    """Angles of the links (4,), and places of their ends (5, 2) in x and z."""
    angles = np.cumsum(q[2:])
    steps = np.array(sides)[:, None] * np.stack([np.cos(angles), -np.sin(angles)], axis=1)
    return angles, np.vstack([q[:2], q[:2] + np.cumsum(steps, axis=0)])


def energy(q: FloatArray, v: FloatArray, sides: list[float]) -> float:
    """Of all links, from their places and velocities."""
    angles, ends = poses(q, sides)
    rates = np.cumsum(v[2:])
    across = (rates * np.array(sides))[:, None] * np.stack([-np.sin(angles), -np.cos(angles)], axis=1)
    speeds = np.vstack([v[:2], v[:2] + np.cumsum(across, axis=0)])
    middle = (speeds[:-1] + speeds[1:]) / 2
    height = (ends[:-1, 1] + ends[1:, 1]) / 2
    return float(MASS / 2 * (middle**2).sum() + MOMENT / 2 * (rates**2).sum() + MASS * G * height.sum())


def judge(found: kn.Result, sides: list[float]) -> None:
    """Assert that the chain stays above the ground and closed, gains no energy, and comes to rest."""
    assert found.status == 0, found.message
    each = [poses(q, sides)[1] for q in found.q]
    assert min(ends[:4, 1].min() for ends in each) > R - DEPTH
    assert max(np.abs(ends[4] - ends[0]).max() for ends in each) < OPENING
    E = np.array([energy(q, v, sides) for q, v in zip(found.q, found.v, strict=True)])
    assert (E - np.minimum.accumulate(E)).max() < GROWTH * np.ptp(E)
    assert np.abs(found.v[-1]).max() < 1e-12


def thrown(seed: int) -> tuple[kn.Result, list[float]]:
    rng = np.random.default_rng(seed)
    a, b = rounded(rng, 0.2, 0.3), rounded(rng, 0.1, 0.2)
    sides = [[a, b, b, a], [a, b, a, b], [a, a, a, a]][seed % 3]
    system = chain(sides, rounded(rng, 0.2, 0.9), float(rng.choice([0, 0, 0.3])))
    bend = rounded(rng, 1.2, 1.8)
    guess = {"x": 0, "z": rounded(rng, 0.5, 0.8), "f": rounded(rng, -3, 3), "b1": bend, "b2": np.pi - bend, "b3": bend}
    start = kn.assemble(system, q=guess, pinned=("x", "z", "f", "b1"))
    v = {"x'": rounded(rng, -1, 1), "f'": rounded(rng, -3, 3)}
    with within(20.0):
        return kn.simulate(system, 2.0, q=start.q, v=v, samples=401), sides


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [*quick_but(range(24), range(1, 24)), 115, 129, 130, 148, 151, 154, 201, 250, 257, 300, 316]
)
def test_closed_chains_of_four_links_fold_as_they_strike(seed: int) -> None:
    judge(*thrown(seed))


#: A lift of two pairs of crossed arms, whose top slides on an arm.
LIFT = """gravity 9.81;
A1 | Sx(x), Sz(z), Ry(f) = 0.5, 0.001, 0.015, 0.015, com = (0.3, 0, 0);
B1 ~ A1 | Sx(0.3), Ry(b1) = 0.5, 0.001, 0.015, 0.015;
A2 ~ B1 | Sx(0.3), Ry(a2) = 0.5, 0.001, 0.015, 0.015, com = (0.3, 0, 0);
B2 ~ A1 | Sx(0.6), Ry(b2) = 0.5, 0.001, 0.015, 0.015, com = (0.3, 0, 0);
T ~ A2 | Sx(0.6), Ry(top) = 1, 0.01, 0.03, 0.03, com = (-0.3, 0, 0);
coordinates x, z, f, b1, a2, b2, top;
loop middle : revolute between A2 at (0.3, 0, 0) axis (0, 1, 0) and B2 at (0.3, 0, 0) axis (0, 1, 0);
loop slide : line between T axis (1, 0, 0) and B2 at (0.6, 0, 0);
point F on A1 = (0, 0, 0); point G on A1 = (0.6, 0, 0); point H on B1 = (-0.3, 0, 0); point K on B1 = (0.3, 0, 0);
point M on T = (0, 0, 0); point N on T = (-0.6, 0, 0);
contact feet : ball = 0.02 between F, G, H, K, M, N and ground axis (0, 0, 1), friction = 0.2, restitution = 0.3;
output F.z, G.z, H.z, K.z, M.z, N.z;
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 5])
def test_a_scissor_lift_falls_flat(seed: int) -> None:
    """Its loops fold together, as its ends strike."""
    rng, system = np.random.default_rng(seed), kn.loads(LIFT)
    a = rounded(rng, 0.4, 1.2)
    guess = {"z": 0.1, "f": -a, "b1": 2 * a - np.pi, "a2": np.pi - 2 * a, "b2": 2 * a - np.pi, "top": a}
    start = kn.assemble(system, q=guess, pinned=("x", "z", "f", "b1"))
    run = kn.simulate(system, 2.0, q=start.q, v={"x'": rounded(rng, -1, 1), "f'": rounded(rng, -1, 1)}, samples=401)
    assert run.status == 0, run.message
    assert run.energy_balance < 1e-6
    assert (run.energy - np.minimum.accumulate(run.energy)).max() < 1e-8 * np.ptp(run.energy)
    assert min(run[f"{name}.z"].min() for name in "FGHKMN") > 0.02 - 1e-6
    assert np.abs(run.v[-1]).max() < 1e-12
