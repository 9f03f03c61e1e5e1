"""A run without Python: by Python, by machine code and by ``kn.simulate`` the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.integration.error_control import StepControl
from kineta.integration.loop_abi import EVENT, GIVEN_UP, NOT_FINITE, OUT_OF_STEPS
from kineta.kernels.machine_code import machine_code
from kineta.kernels.standalone.standalone_run import (
    ENDED,
    INCONSISTENT,
    REACHED,
    StandaloneRun,
    advance,
    begin,
    observe,
)
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.simulate import simulation_problem
from kineta.tasks.export.run_record import loop_method, run_record
from tests.support import EXAMPLES
from tests.tasks.export.unfused import unfused


def problem(equations: kn.Equations, end: float, events: Any = (), max_steps: int = 10**6) -> SimulationProblem:
    control = StepControl(1e-9, 1e-12, np.inf, max_steps)
    return simulation_problem(equations, (0.0, end), (None,) * 5, events, "dop853", control, dense_output=False)


def record(task: SimulationProblem) -> StandaloneRun:
    """The run of *task* with its compiled functions."""
    code = task.made.code
    functions: dict[str, Any] = {"run_setup": code.setup_function, "rate": code.rate, "observed": code.observed}
    if code.treatment:
        functions |= dict(zip(("position", "velocity"), code.projections, strict=True))
    if code.events is not None:
        functions["events"] = code.events
    return run_record(task, {name: f.address for name, f in functions.items()})


def compiled(task: SimulationProblem) -> tuple[Any, Any, Any]:
    method = loop_method(task)
    return machine_code(begin, method), machine_code(advance, method), machine_code(observe)


@pytest.mark.slow
def test_python_machine_code_and_simulate_give_the_same_bits() -> None:
    equations = kn.derive(kn.load(EXAMPLES / "fourbar.kin"))
    event = kn.symbol("beta") - 0.5
    with unfused():
        result = kn.simulate(equations, 0.05, samples=4, events=[event])
        task = problem(equations, 0.05, [event])
        run = record(task)
        prepare, go_on, look = compiled(task)
        by_python, method = record(task), loop_method(task)
        assert begin(method, by_python) == prepare(run) == REACHED
        for t, y, energy in zip(result.t.tolist(), result.y.T, result.kinetic_energy, strict=True):
            while (status := go_on(run, t)) == EVENT:
                assert advance(method, by_python, t) == EVENT
                assert by_python.t == run.t
            assert advance(method, by_python, t) == status == REACHED
            look(run)
            assert run.array("state")[: task.states].tobytes() == y.tobytes()
            assert by_python.array("state").tobytes() == run.array("state").tobytes()
            assert run.array("values")[0] == energy
        assert run.array("counts").tolist() == [len(result.t_events[0])]
        assert (run.run.rejected, run.run.evaluations) == (result.rejected, result.nfev)


@pytest.mark.slow
def test_how_a_run_ends() -> None:
    equations = kn.derive(kn.load(EXAMPLES / "fourbar.kin"))
    task = problem(equations, 1.0, [kn.event(kn.symbol("theta") - 2.0, terminal=True)])
    run, (prepare, go_on, _) = record(task), compiled(task)
    assert prepare(run) == REACHED
    assert go_on(run, 1.0) == go_on(run, 1.0) == ENDED
    assert run.array("state")[0] == pytest.approx(2.0, abs=1e-10)
    run.left = 3
    assert prepare(run) == REACHED
    assert go_on(run, 1.0) == OUT_OF_STEPS
    run.left, run.run.t_end = 1000, 0.1
    assert prepare(run) == REACHED
    assert go_on(run, 0.3) == REACHED
    assert run.t == 0.1
    run.array("start")[1] = np.nan
    assert prepare(run) == INCONSISTENT
    system = kn.load(EXAMPLES / "double_pendulum.kin")
    task = problem(kn.derive(system), 10.0, [kn.sqrt(kn.symbol("q1") - 1.0)])
    run, (prepare, go_on, _) = record(task), compiled(task)
    assert prepare(run) == REACHED
    assert go_on(run, 10.0) == GIVEN_UP
    run.array("start")[2] = np.inf
    assert prepare(run) == NOT_FINITE
