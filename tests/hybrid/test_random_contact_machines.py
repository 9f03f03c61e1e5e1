"""Fifty machines at random beside a small solver: their impacts, how they stick, slip and leave, and the forces of it.

Plane and in space, trees and closed, on planes of the ground and of each other. Where the laws of Signorini and Coulomb
have one solution, it is the one that the run has; where they have several, that of the run is one of them.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kineta as kn
from tests.hybrid.peer import FloatArray, Machine
from tests.hybrid.peer_motion import move
from tests.hybrid.random_machines import agrees, at_random, forces, problem, stays_admissible, text
from tests.support import quick_but

MACHINES = 30
#: Those that are compiled within a second.
QUICK = (4, 5, 8, 9, 12)
SEEDS = quick_but(range(MACHINES), [k for k in range(MACHINES) if k not in QUICK])


@cache
def machine(seed: int) -> tuple[Machine, FloatArray, FloatArray, FloatArray, kn.Equations]:
    body, q, resting, striking = at_random(seed)
    return body, q, resting, striking, kn.derive(kn.loads(text(body, q, resting)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_accelerations_and_forces_of_feet_that_stick_slip_and_leave(seed: int) -> None:
    body, q, v, _, equations = machine(seed)
    run = kn.simulate(equations, 1e-7)
    assert run.status == 0
    assert not run.impacts
    agrees(problem(body, q, v, False), np.array([run[f"{n}'"][0] for n in body.v_names]), forces(run, body)[..., 0])


@pytest.mark.parametrize("seed", SEEDS)
def test_impacts(seed: int) -> None:
    body, q, _, v, equations = machine(seed)
    run = kn.simulate(equations, 1e-7, v=v)
    assert run.status == 0
    impulses = np.zeros((len(body.feet), 3))
    for i in run.impacts:
        if i.t == 0:
            impulses[int(i.contact[1:])] += (i.impulse_n, i.impulse_u, i.impulse_w)
    laws, after = problem(body, q, v, True), run.v[0]
    M = laws.M
    assert after @ M @ after <= v @ M @ v * (1 + 1e-12)
    whole = [one for one in laws.solutions() if one.y @ M @ one.y <= v @ M @ v * (1 + 1e-12)]
    if not whole:  # Newton's law gives energy, or has no solution: less is restored
        restored, most = (laws.S @ after)[:, 0], -laws.c[:, 0]
        struck = impulses[:, 0] > 0
        assert (restored[struck] <= most[struck] + 1e-9).all()
        laws.c[:, 0] = np.where(struck, -restored, laws.c[:, 0])
        assert not laws.faults(after, impulses)
    else:
        agrees(laws, after, impulses)


@pytest.mark.parametrize("seed", SEEDS)
def test_motions_stay_on_their_planes_and_within_their_cones(seed: int) -> None:
    body, _, resting, striking, equations = machine(seed)
    for v in (resting, striking):
        run = kn.simulate(equations, 0.1, v=v, samples=21, method="events")
        stays_admissible(run, body)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 14])
def test_closed_machines_in_a_plane_move_as_an_independent_solver_moves_them(seed: int) -> None:
    """With impacts, sticking, slip and separation on the way."""
    body, q, _, v = at_random(seed)
    run = kn.simulate(kn.loads(text(body, q, v)), 0.1, rtol=1e-11, atol=1e-12, method="events")
    q_own, v_own = move(body, q, v, 0.1)
    assert np.abs(run.q[-1] - q_own).max() < 1e-10
    assert np.abs(run.v[-1] - v_own).max() < 1e-10 * (1 + np.abs(v_own).max())


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 6, 14, 18])
def test_closed_machines_described_in_another_order_move_alike(seed: int) -> None:
    body, q, _, v = at_random(seed)
    rng = np.random.default_rng(seed)
    statements = text(body, q, v).replace(";", ";\n").split("\n")
    plain = [line for line in statements if line.strip()]
    at = next(k for k, line in enumerate(plain) if line.startswith("coordinates"))
    plain[at] = f"coordinates {', '.join(reversed(plain[at][12:-1].split(', ')))};"
    rng.shuffle(plain)
    runs = [
        kn.simulate(kn.loads(said), 0.1, samples=21, rtol=1e-11, atol=1e-12, method="events")
        for said in ("".join(statements), "".join(plain))
    ]
    for name in body.q_names:
        assert np.abs(runs[0][name] - runs[1][name]).max() < 1e-9
