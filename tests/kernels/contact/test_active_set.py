"""Active sets: the laws on accelerations, and the modes, forces and accelerations that a search of all modes finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kineta.kernels.contact import active_set, block_inertia, mode_forces, mode_search
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING
from tests.hybrid.peer import Problem
from tests.kernels.contact.problems import (
    RandomProblem,
    mode_memory,
    motion_of_problem,
    problem_of,
    random_problem,
    solved,
)
from tests.support import slow


@pytest.mark.parametrize("rests", [True, False])
@pytest.mark.parametrize(
    ("tangents", "m", "seed"),
    [
        *((k, m, seed) for k, most in ((1, 3), (2, 2)) for m in range(1, most + 1) for seed in range(6)),
        *slow((k, m, seed) for k, most in ((1, 3), (2, 2)) for m in range(1, most + 1) for seed in range(6, 12)),
        *slow((2, 3, seed) for seed in range(4)),
    ],
)
def test_modes_forces_and_accelerations_are_among_those_of_all_modes(
    tangents: int, m: int, seed: int, rests: bool
) -> None:
    rng = np.random.default_rng(seed)
    p = random_problem(seed, blocks=2, contacts=m, tied=seed % 2 == 0, tangents=tangents, mu=(0.0, 0.3, 1.2)[seed % 3])
    p.terms.bias[:] = rng.normal(size=3 * m)
    p.terms.bias[::3] -= 4.0
    slip = rng.normal(size=(m, 2)) * (not rests)
    if tangents == 1:
        p.terms.bias[2::3], slip[:, 1] = 0.0, 0.0
    p.terms.velocity.reshape(m, 3)[:, 1:] = slip
    toward = np.full((m, 2), np.nan) if rests else slip / np.linalg.norm(slip, axis=1, keepdims=True)
    free, f, rest = ~p.massless, p.terms.force.copy(), p.terms.bias.reshape(m, 3).copy()
    M, G = p.K[np.ix_(free, free)], p.K[np.ix_(p.massless, free)]
    oracle = Problem(
        M, f[free], G, f[p.massless], p.W[:, free].reshape(m, 3, -1), rest, p.mu, toward, plane=tangents == 1
    )
    found, contacts, work, a = solved(p)
    solutions = oracle.solutions()
    assert found == bool(solutions)
    if not solutions:  # much friction of what slips jams
        return
    expected = min(solutions, key=lambda s: np.abs(s.y - a[free]).max())
    assert a[free] == pytest.approx(expected.y, abs=1e-9)
    if not expected.determined:
        assert not oracle.faults(a[free], work.force.reshape(m, 3), 1e-9)
        return
    assert work.force.reshape(m, 3) == pytest.approx(expected.x, abs=1e-9)
    rates = np.abs((p.W[:, free] @ expected.y + rest.ravel()).reshape(m, 3)).max(axis=1)
    own = [
        OPEN if not x.any() else STICKING if rests and u < 1e-9 else SLIPPING
        for x, u in zip(expected.x, rates, strict=True)
    ]
    if p.mu[0] > 0:
        assert contacts.mode.tolist() == own


@pytest.mark.parametrize("seed", range(30))
def test_forces_keep_to_their_cones_and_nothing_is_pulled(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = 6
    p = random_problem(seed, blocks=3, contacts=m, tied=seed % 2 == 0, mu=0.5)
    p.terms.bias[:] = rng.normal(size=3 * m)
    p.terms.bias[::3] -= 3.0
    p.terms.velocity.reshape(m, 3)[:, 1:] = rng.normal(size=(m, 2)) * (rng.uniform(size=(m, 1)) < 0.3)
    found, contacts, work, a = solved(p)
    assert found
    x, rates = work.force.reshape(m, 3), (p.W @ a + p.terms.bias).reshape(m, 3)
    size = max(1.0, np.abs(x).max())
    for c, mode in enumerate(contacts.mode):
        assert x[c, 0] >= -1e-8 * size
        assert np.hypot(*x[c, 1:]) <= 0.5 * x[c, 0] + 1e-6 * size
        assert rates[c, 0] >= -1e-6 * size
        if mode == STICKING:
            assert np.abs(rates[c]).max() < 1e-6 * size
        if mode == SLIPPING:
            toward = contacts.direction[2 * c : 2 * c + 2]
            assert x[c, 1:] == pytest.approx(-0.5 * x[c, 0] * toward, abs=1e-6 * size)


@pytest.mark.parametrize("slip", [0.0, 0.2])
def test_smooth_friction_never_sticks(slip: float) -> None:
    p = problem_of([np.eye(3)], [[0, 1, 2]], np.eye(3), [[0]], np.array([0.5]), np.array([-10.0, 1.0, 0.0]))
    p.terms.law[3] = 0.1
    p.terms.velocity[1] = slip
    found, contacts, work, a = solved(p)
    assert found
    assert contacts.mode.tolist() == [SLIPPING]
    friction = 5.0 * slip / np.hypot(slip, 0.1)
    assert work.force == pytest.approx([10.0, -friction, 0.0], abs=1e-9)
    assert a == pytest.approx([0.0, 1.0 - friction, 0.0], abs=1e-9)


def test_friction_below_zero_does_not_stick() -> None:
    for W in (np.eye(3), np.diag([0.0, 1.0, 0.0])):
        p = problem_of([np.eye(3)], [[0, 1, 2]], W, [[0]], np.array([-0.5]), np.array([-10.0, 1.0, 0.0]))
        found, contacts, work, a = solved(p)
        assert found
        assert contacts.mode.tolist() == [SLIPPING]
        assert work.force == pytest.approx([10.0 * W[0, 0], 0.0, 0.0], abs=1e-9)
        assert a[1] == pytest.approx(1.0, abs=1e-9)


def test_friction_of_joints_has_part_in_the_scale_of_accelerations() -> None:
    p = problem_of([2.0 * np.eye(1)], [[0]], np.array([[0.0], [1.0], [0.0]]), [[0]], np.array([30.0]), np.zeros(1))
    p.solution.response[:], p.solution.delassus[4] = [0.0, 0.5, 0.0], 0.5
    contacts, work = mode_memory(1, 1, [SLIPPING], np.array([1.0, 0.0]))
    start, a = mode_search.start_forces, np.zeros(1)
    assert start(motion_of_problem(p, contacts, work), 1, np.zeros(1), a) == pytest.approx(15.0)
    assert a == pytest.approx([-15.0])


def four_feet(push: float, turn: float = 0.0) -> RandomProblem:
    """A body on four feet with the friction 0.3, pushed along by parts of its weight, and turned by a moment."""
    W = np.zeros((12, 6))
    for c, (x, y) in enumerate([(0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)]):
        W[3 * c] = [0, 0, 1, y, -x, 0]
        W[3 * c + 1] = [1, 0, 0, 0, -0.5, -y]
        W[3 * c + 2] = [0, 1, 0, 0.5, 0, x]
    force = np.array([push, 0.0, -1.0, 0.0, 0.0, turn])
    return problem_of([np.diag([1, 1, 1, 0.1, 0.1, 0.1])], [[*range(6)]], W, [[0]] * 4, np.full(4, 0.3), force)


@pytest.mark.parametrize(
    ("push", "turn", "modes"),
    [
        (0.28, 0.0, STICKING),
        (0.27, 0.03, STICKING),
        (0.28, 0.03, SLIPPING),
        (0.3 * (1.0 + 1e-6), 0.0, SLIPPING),
        (0.5, 0.0, SLIPPING),
    ],
)
def test_feet_that_slip_together_take_few_sweeps(
    push: float, turn: float, modes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Undetermined forces settle in thousands of sweeps, of which none is needed to see that something slips; near the limit of a
    push beside the centre Newton's method finds what thirteen thousand contacts in sweeps did.
    """
    sweeps, relax = [0], active_set.relax

    def counted(*given: Any) -> Any:
        sweeps[0] += 1
        return relax(*given)

    p, n = four_feet(push, turn), 6
    contacts, work = mode_memory(4, n)
    motion, free, a = motion_of_problem(p, contacts, work), np.zeros(n), np.zeros(n)
    block_inertia.copy_blocks(p.problem, p.terms.inertia, motion.island.array("inertia"))
    block_inertia.accelerations(p.problem, p.terms.inertia, p.terms.force, np.zeros(2 * n), free)
    for c in range(4):
        block_inertia.respond(p.problem, p.terms, p.solution, c, np.zeros(3 * n))
    monkeypatch.setattr(active_set, "relax", counted)
    assert active_set.solve_active_set(motion, np.arange(4), 4, 1e-6, 1e-8, free, a)
    assert contacts.mode.tolist() == [modes] * 4
    assert sweeps[0] < 4 * 80


def test_loads_beyond_all_friction_are_told_however_they_are_shared() -> None:
    """The mean of loads that least squares share is below one where, and but little above where, another share holds."""
    for push, over in ((0.2, False), (0.29, False), (0.31, True), (0.6, True)):
        p = four_feet(push)
        contacts, work = mode_memory(4, 6, [STICKING] * 4)
        motion = motion_of_problem(p, contacts, work)
        mode_forces.mode_accelerations(motion, np.zeros(6))
        assert active_set.is_overloaded(motion, np.arange(4), 4) == over


@pytest.mark.parametrize(("turn", "holds"), [(0.06546, True), (0.06546606, True), (0.06546608, False), (0.0655, False)])
def test_loads_are_levelled_in_few_turns_however_little_room_is_left(
    turn: float, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A moment of 0.065466067 beside a push turns the body. At a part of 1e-7 before that the largest load and its bound from
    below differ by a hundredth of the room left; Lawson's iteration alone takes fifty turns.
    """
    turns, weigh = [0], mode_forces.weigh_loads

    def counted(*given: Any) -> None:
        turns[0] += 1
        weigh(*given)

    monkeypatch.setattr(mode_forces, "weigh_loads", counted)
    contacts, work = mode_memory(4, 6, [STICKING] * 4)
    p, four = four_feet(0.2, turn), np.arange(4)
    motion = motion_of_problem(p, contacts, work)
    mode_forces.mode_accelerations(motion, np.zeros(6))
    n = mode_forces.independent_rows(contacts, p.solution, four, 4, work.rows)
    speeds = mode_forces.place_speeds(p.problem, work, n)
    mode_forces.level_loads(motion, four, 4, n, speeds, np.zeros(12))
    assert turns[0] <= 12
    if holds:
        assert work.load < 1.0
        assert work.load - work.least <= 0.01 * (1.0 - work.load)
    else:
        assert work.least > 1.0
