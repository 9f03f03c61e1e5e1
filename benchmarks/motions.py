"""Along ten seconds of the PUMA 560: joint reactions beside the simulation, forces and regressors beside Pinocchio."""

from __future__ import annotations

import time

import numpy as np
import pinocchio as pin

import kineta as kn
from benchmarks.robots import SOURCES
from benchmarks.timing import interleaved, table


def main(quick: bool = False) -> None:
    robot = SOURCES["puma"].robot()
    equations = kn.derive(robot.system)
    began = time.perf_counter()
    run = kn.simulate(equations, 10.0)
    first = time.perf_counter() - began
    began = time.perf_counter()
    kn.reactions(equations, run)
    found = time.perf_counter() - began
    motion = kn.kinematics(equations, run, [])
    model, data = robot.model, robot.model.createData()
    order, speeds = np.argsort(robot.q_order()), np.argsort(robot.v_order())
    q, v, vdot = run.q[:, order], run.v[:, speeds], motion.vdot[:, speeds]
    regressor = equations.function("regressor")
    calls = {
        "simulate": lambda: kn.simulate(equations, 10.0),
        "reactions of the run": lambda: kn.reactions(equations, run),
        "inverse": lambda: kn.inverse(equations, run),
        "pin.rnea": lambda: [pin.rnea(model, data, *row) for row in zip(q, v, vdot, strict=True)],
        "regressor": lambda: regressor(run.t, run.q, run.v, motion.vdot),
        "pin.computeJointTorqueRegressor": lambda: [
            pin.computeJointTorqueRegressor(model, data, *row) for row in zip(q, v, vdot, strict=True)
        ],
    }
    ms = {name: 1e3 * s for name, s in interleaved(calls, 3 if quick else 9).items()}
    rows = [(name, f"{x:.3f}", f"{x / ms['simulate']:.2f}") for name, x in ms.items()]
    print(table((f"10 s of the PUMA 560, {len(run.t)} states", "ms", "of the simulation"), rows))
    print(
        f"The first time, derivation and compilation included: {1e3 * first:.0f} ms and {1e3 * found:.0f} ms for reactions"
    )
