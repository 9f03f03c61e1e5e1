"""Margins of mass distributions that switches set, beside the sentences that tell impossible ones."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.model.checks.inertia_check import inertia_fault, inertia_margins


@pytest.mark.parametrize("seed", range(40))
def test_margins_are_zero_or_more_where_there_is_no_fault(seed: int) -> None:
    """Of random tensors, half of them of bodies; plates and rods are at the bounds."""
    rng = np.random.default_rng(seed)
    sizes = (
        rng.choice([0.0, 1.0], 3) * rng.uniform(0.1, 2, 3) if seed % 4 == 0 else rng.uniform(-0.3 * (seed % 2), 1, 3)
    )
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    J = turn @ np.diag(sizes.sum() - sizes) @ turn.T
    body = kn.Inertia(mass=1.0, moments=np.diag(J), products=(J[0, 1], J[0, 2], J[1, 2]))
    margins = [margin.value for margin in inertia_margins(body)]
    assert all(margin is not None for margin in margins)
    assert (min(margins) < 0) == bool(inertia_fault(body, None, {})), margins


@pytest.mark.slow
def test_a_switch_that_sets_an_impossible_inertia_is_refused_in_every_run() -> None:
    system = kn.loads("""parameters J = 1, d = 1; B | Free(b) = 1, J, 1, 1; initial b.vx = 1, b.wx = 1; output J;
    when fold : b.x >= 0.5 : J = J + d;""")
    assert kn.simulate(system, 1.0)["J"][-1] == 2
    folded = kn.simulate(system, 1.0, p={"d": 1.1})
    assert "when 'fold' switches: Body 'B'" in folded.message
    assert "no body has the principal moments" in folded.message
    cases = kn.simulate(system, 1.0, p={"d": [0.5, 1.1, 1.0]}, samples=3)
    assert cases.cases is not None
    assert cases.cases.status.tolist() == [0, -1, 0]
