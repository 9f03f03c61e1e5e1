"""Motions of Golubev's spatial chain and of Wittenburg's tree on a base that moves."""

from __future__ import annotations

import numpy as np

import kineta as kn
from tests.mechanics.ball_trees import BallTree
from tests.mechanics.golubev import chain, matrix
from tests.mechanics.truth import error, vectors
from tests.reference_problems.tables import TIGHT

TOLERANCE = 1e-9


def test_motion_of_a_spatial_chain_under_drives() -> None:
    (case,) = vectors("golubev_trajectory").values()
    given, expected = case["input"], case["expected"]
    start, end = given["initial_state"], expected["final_state"]
    own = matrix(start["q"]).T @ start["omega"]
    system = chain(given)
    q = [*start["r_A"], *start["q"], *start["phi"]]
    run = kn.simulate(system, given["t_end"], q=q, v=[*start["v_A"], *own, *start["omega_rel"]], **TIGHT)
    last, speeds = run.q[-1], run.v[-1]
    attitude = np.sign(last[3:7] @ end["q"]) * last[3:7]
    for found, wanted in (
        (last[:3], "r_A"),
        (speeds[:3], "v_A"),
        (attitude, "q"),
        (matrix(last[3:7]) @ speeds[3:6], "omega"),
        (last[7:], "phi"),
        (speeds[6:], "omega_rel"),
    ):
        assert error(found, end[wanted]) < TOLERANCE, wanted
    kept = run.energy - run.q[:, 7:] @ given["joint_torque"]
    assert error(kept, np.full(len(run.t), expected["energy_minus_joint_work_initial"])) < TOLERANCE


def test_motion_of_a_tree_on_a_base_that_moves() -> None:
    """Friction in the joints works on the relative angular velocities, which are their speeds."""
    (case,) = vectors("wittenburg_trajectory").values()
    given, expected = case["input"], case["expected"]
    tree, law = BallTree(given), given["base_motion"]
    swing = kn.sin(law["kappa"] * kn.symbol("t"))
    friction = given["joint_viscous_coefficient"]
    dampers = [kn.damper(f"d{a}{c}", friction, kn.symbol(f"j{a}.w{c}")) for a in tree.outer for c in "xyz"]
    system = kn.System(
        "tree",
        tree.bodies([x + a * swing for x, a in zip(law["r0_initial"], law["amplitude"], strict=True)]),
        gravity=given["gravity"],
        elements=dampers,
    )
    state = tree.state()
    q, v = ([state[n] for n in names] for names in (system.q_names, system.v_names))
    run = kn.simulate(system, given["t_end"], q=q, v=v, **TIGHT)
    equations, last = kn.derive(system), (run.t[-1], run.q[-1], run.v[-1])
    assert error(equations.function("rotations")(*last), [matrix(q) for q in expected["q"]]) < TOLERANCE
    assert error(equations.function("velocities")(*last)[:, 3:], expected["omega"]) < TOLERANCE
