"""Equations that are kept: forces of an island are those of equations that are made anew, to the bit, whatever changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kineta.kernels.contact import block_inertia, kept_equations, mode_forces
from kineta.kernels.contact.mode_forces import OPEN, SLIPPING, STICKING
from kineta.kernels.machine_code import machine_code
from tests.kernels.contact.problems import mode_memory, motion_of_problem, random_problem

WAYS: dict[str, Callable[[Any], Any]] = {"python": lambda f: f, "machine code": machine_code}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_forces_with_kept_equations_are_those_without(seed: int, way: Callable[[Any], Any]) -> None:
    """One thing changes from one question to the next, or nothing: a mode, a direction, friction, reference, levelling."""
    rng = np.random.default_rng(seed)
    m = 4
    p = random_problem(seed, blocks=1, contacts=m, tied=False, mu=0.3)
    modes = [STICKING] * 3 + [SLIPPING if seed % 2 else STICKING]
    motions = [motion_of_problem(p, *mode_memory(m, len(p.K), modes, np.tile([1.0, 0.0], (m, 1)))) for _ in range(2)]
    block_inertia.factor_blocks(p.problem, p.terms.inertia)
    for c in range(m):
        block_inertia.respond(p.problem, p.terms, p.solution, c, np.zeros(3 * len(p.K)))
    way(kept_equations.keep_equations)(motions[0].work)
    free = rng.normal(size=len(p.K))

    def slip() -> None:
        direction = rng.normal(size=2)
        for motion in motions:
            motion.work.toward[6:] = direction / np.linalg.norm(direction)

    def switch(c: int, mode: int) -> None:
        for motion in motions:
            motion.contacts.mode[c] = mode

    def refer() -> None:
        forces = np.abs(rng.normal(size=3 * m))
        for motion in motions:
            motion.contacts.reference[:] = forces

    def level() -> None:
        for motion in motions:
            motion.work.levels = not motion.work.levels
            motion.work.weight[:] = 1.0

    def rub() -> None:
        p.terms.law[4 * int(rng.integers(m)) :][:2] *= 1.0 + 1e-6

    changes = [slip, refer, level, rub, lambda: None]
    changes += [lambda c=c, mode=mode: switch(c, mode) for c in (1, 3) for mode in (OPEN, STICKING, SLIPPING)]
    for k in rng.integers(0, len(changes), 20):
        changes[k]()
        found = []
        for motion in motions:
            a, active = free.copy(), np.flatnonzero(motion.contacts.mode != OPEN)
            motion.solution.active[: len(active)] = active
            motion.work.force[:] = 0.0
            way(mode_forces.forces_of_active)(motion, len(active), a)
            motion.work.weight[:] = 1.0
            found.append((motion.work.force.tobytes(), a.tobytes()))
        assert found[0] == found[1]
    assert motions[0].work.keeps
    assert not motions[1].work.keeps
