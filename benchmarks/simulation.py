"""Ten seconds of the PUMA 560 falling from rest: kineta's native method beside SciPy's DOP853 over Pinocchio.

Each runs at the loosest tolerance that keeps the energy to 1e-9 of the largest kinetic energy, at its own steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import kineta as kn
from benchmarks.robots import SOURCES, Robot
from benchmarks.timing import interleaved, table

FloatArray = NDArray[np.float64]

SPAN = 10.0
ERROR = 1e-9
#: From loose to tight, four a decade.
TOLERANCES = tuple(10.0 ** (-k / 4) for k in range(24, 53))


@dataclass(frozen=True)
class Motion:
    """States (nq + nv, k) at the steps of a method, and how often it asked for accelerations."""

    y: FloatArray
    evaluations: int


def energy_error(robot: Robot, y: FloatArray) -> float:
    """Largest change of the energy, by Pinocchio for both, relative to the largest kinetic energy."""
    model, data, nq = robot.model, robot.model.createData(), robot.model.nq
    kinetic = np.array([pin.computeKineticEnergy(model, data, s[:nq], s[nq:]) for s in y.T])
    total = kinetic + [pin.computePotentialEnergy(model, data, s[:nq]) for s in y.T]
    return float(np.abs(total - total[0]).max() / kinetic.max())


def kineta_run(robot: Robot, **options: Any) -> Callable[[float], Motion]:
    equations = kn.derive(robot.system)

    def run(tolerance: float) -> Motion:
        result = kn.simulate(equations, SPAN, v=np.zeros(6), rtol=tolerance, atol=tolerance, **options)
        return Motion(result.y, result.nfev)

    return run


def scipy_run(robot: Robot) -> Callable[[float], Motion]:
    model, data, nq = robot.model, robot.model.createData(), robot.model.nq
    start = np.concatenate([kineta_start(robot), np.zeros(model.nv)])
    tau = np.zeros(model.nv)

    def rate(t: float, y: FloatArray) -> FloatArray:
        return np.concatenate([y[nq:], pin.aba(model, data, y[:nq], y[nq:], tau)])

    def run(tolerance: float) -> Motion:
        solution = solve_ivp(rate, (0.0, SPAN), start, method="DOP853", rtol=tolerance, atol=tolerance)
        return Motion(solution.y, solution.nfev)

    return run


def kineta_start(robot: Robot) -> FloatArray:
    """The initial coordinates of the model."""
    return np.array(kn.simulate(robot.system, 1e-6).q[0])


def loosest(robot: Robot, run: Callable[[float], Motion]) -> tuple[float, float, Motion]:
    """The loosest tolerance that is good enough, the error it gives, the motion."""
    for tolerance in TOLERANCES:
        motion = run(tolerance)
        error = energy_error(robot, motion.y)
        if error <= ERROR:
            return tolerance, error, motion
    raise SystemExit(f"No tolerance gives an energy error of {ERROR:g}.")


def main(quick: bool = False) -> None:
    robot = SOURCES["puma"].robot()
    began = time.perf_counter()
    kn.simulate(robot.system, SPAN, v=np.zeros(6), rtol=1e-10, atol=1e-10)
    first = time.perf_counter() - began
    never = kn.symbol(robot.system.q_names[0]) - 100
    runs = {
        "SciPy DOP853, pin.aba": scipy_run(robot),
        "kineta dop853": kineta_run(robot),
        "the same, solution kept": kineta_run(robot, dense_output=True),
        "the same, an event that never comes": kineta_run(robot, events=never),
    }
    found = {name: loosest(robot, run) for name, run in runs.items()}
    calls = {name: (lambda run=run, tolerance=found[name][0]: run(tolerance)) for name, run in runs.items()}
    seconds = interleaved(calls, 3 if quick else 9)
    slowest = max(seconds.values())
    rows = [
        (
            name,
            f"{tolerance:.1e}",
            f"{error:.1e}",
            f"{motion.y.shape[1] - 1}",
            f"{motion.evaluations}",
            f"{1e3 * seconds[name]:.2f}",
            f"{slowest / seconds[name]:.1f}",
        )
        for name, (tolerance, error, motion) in found.items()
    ]
    print(table(("10 s of the PUMA 560", "tolerance", "energy error", "steps", "evaluations", "ms", "ratio"), rows))
    print(f"kineta's first run of a process, derivation and compilation included: {1e3 * first:.0f} ms")
