"""The sweeps of any order, against the same quantities from positions alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.kinematics.sweeps import LinkMotion, generalized, leveled, rate_forces
from kineta.passes.differentiate import gradient
from kineta.passes.evaluate import evaluate
from tests.mechanics.random_systems import random_state, random_system

ORDERS = (1, 2, 3, 4)


def kineta_of_positions(d: Derivation, order: int) -> Ref:
    """K_s = int (r^(s))^2 dm / 2, from the frames of the links in ground axes differentiated s times."""
    g, terms = d.graph, []
    for link, (R, r) in zip(d.mechanism.links, d.kinematics.frames, strict=True):
        refs = d.symbols.levels.of([*R.refs, *r.refs], order)
        rows, x, own = [refs[0:3], refs[3:6], refs[6:9]], refs[9:], link.moments
        for i in range(3):
            Uc = g.sum(g.mul(a, c) for a, c in zip(rows[i], own.c.refs, strict=True))
            terms += [g.mul(own.m, g.mul(x[i], x[i])), g.mul(g.const(2.0), g.mul(x[i], Uc))]
            terms += [g.mul(rows[i][a], g.mul(own.S.rows[a][b], rows[i][b])) for a in range(3) for b in range(3)]
    return g.mul(g.const(0.5), g.sum(terms))


def state_of(d: Derivation, seed: int, order: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    state = random_state(d.symbols.system, seed)
    for k in range(1, order + 1):
        names = (n + "'" * (k - 1) for n in d.symbols.system.v_names)
        state |= {n: float(x) for n, x in zip(names, rng.normal(size=d.symbols.system.nv), strict=True)}
    return state


def values(d: Derivation, refs: list[Ref], state: dict[str, float]) -> Any:
    return np.array(evaluate(d.graph, refs, state))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", range(6))
def test_inward_after_outward_is_the_gradient_of_the_kineta(seed: int, order: int) -> None:
    d = kn.derive(random_system(seed, rheonomic=True)).derivation
    motion = LinkMotion(d.mechanism, leveled(d.symbols))
    swept = generalized(d.mechanism, rate_forces(d.mechanism, motion.wrenches(order)))
    by = gradient(d.graph, kineta_of_positions(d, order), set(d.symbols.level(order)))
    state = state_of(d, seed, order)
    expected = values(d, [by.get(v, ZERO) for v in d.symbols.level(order)], state)
    assert values(d, swept, state) == pytest.approx(expected, rel=1e-11, abs=1e-11 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("seed", range(4))
def test_the_mass_matrix_weighs_the_highest_derivatives_in_every_order(seed: int) -> None:
    d = kn.derive(random_system(seed)).derivation
    motion = LinkMotion(d.mechanism, leveled(d.symbols))
    n, state = d.symbols.system.nv, state_of(d, seed, 4)
    M = values(d, list(d["mass_matrix"].refs), state).reshape(n, n)
    for order in ORDERS:
        swept = generalized(d.mechanism, rate_forces(d.mechanism, motion.wrenches(order)))
        rows = [gradient(d.graph, r, set(d.symbols.level(order))) for r in swept]
        found = values(d, [row.get(v, ZERO) for row in rows for v in d.symbols.level(order)], state).reshape(n, n)
        assert found == pytest.approx(M, rel=1e-12, abs=1e-12 * np.abs(M).max())


def test_a_symbol_without_a_rate_is_refused() -> None:
    symbols = kn.derive(random_system(0)).derivation.symbols
    with pytest.raises(kn.ExpressionError, match=r"'tau.*' has no known rate of change"):
        symbols.levels.of([symbols.tau[0]], 1)
