"""Real robots against Pinocchio: mass matrix, bias, inverse and forward dynamics at random states."""

from __future__ import annotations

import numpy as np
import pytest

from kineta.equations.equations import derive
from tests.model.urdf.peer import Peer
from tests.support import quick_but

ARMS = [
    "ur_description/urdf/ur5_robot.urdf",
    "panda_description/urdf/panda.urdf",
    "kinova_description/robots/kinova.urdf",
]
WALKERS = [
    "solo_description/robots/solo12.urdf",
    "anymal_b_simple_description/robots/anymal.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "talos_data/robots/talos_reduced.urdf",
    "icub_description/robots/icub.urdf",
    "g1_description/urdf/g1_29dof_rev_1_0.urdf",
]
CASES = [(f, False) for f in (*ARMS, WALKERS[0])] + [(f, True) for f in (*WALKERS, ARMS[0])]


@pytest.mark.parametrize(("file", "floating"), quick_but(CASES, [(f, True) for f in WALKERS[1:]]))
def test_dynamics_agree_with_the_peer(file: str, floating: bool) -> None:
    peer = Peer(file, floating=floating)
    equations = derive(peer.system)
    for quantity in ("mass_matrix", "bias", "inverse", "forward"):
        function = equations.function(quantity)
        for seed in range(3):
            q, v, x = peer.random_state(seed)
            extra = (x,) if quantity in ("inverse", "forward") else ()
            expected = peer.expected(quantity, q, v, x)
            error = np.abs(function(0.0, q, v, *extra) - expected).max() / np.abs(expected).max()
            # Both sides of forward dynamics carry rounding errors that the mass matrix magnifies.
            condition = np.linalg.cond(peer.expected("mass_matrix", q, v, x)) if quantity == "forward" else 1.0
            assert error < 1e-12 * max(1.0, condition / 1e3), quantity
