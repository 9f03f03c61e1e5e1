"""The result of cases whose components were stepped together, joined from theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kineta.arrays import FloatArray
from kineta.consistency.redundancy import joined_notes
from kineta.model.dimensions import output_units
from kineta.model.named_expressions import Outputs
from kineta.model.reserved_symbols import ENERGIES, WORK
from kineta.model.system import System
from kineta.results.cases import Cases
from kineta.results.outcomes import balanced
from kineta.results.result import Result
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.energy_balance import Energies, joint_balance
from kineta.simulation.independent_components import Parts
from kineta.simulation.inputs import RunInputs
from kineta.simulation.joined_result import ordered_outputs, outputs_over_parts
from kineta.simulation.postprocess import (
    Verdict,
    parameter_columns,
    recorded_energies,
    recorded_times,
    result,
    undefined_outputs,
)
from kineta.simulation.solution import Solution


def joined_cases(
    system: System, given: RunInputs, parts: Parts, solved: Sequence[tuple[SimulationProblem, Solution]]
) -> Result:
    """The result of all cases of *system* with *given* inputs, whose *parts* have been *solved* in the same steps."""
    assert parts.components is not None
    each = [result(task, solution, 0.0) for task, solution in solved]
    over, first = system.unchecked(outputs=Outputs(parts.components.over)), solved[0][1]
    ends, times, kept = [_cases(run) for run in each], first.t, recorded_times(first)
    y = np.empty((sum(map(len, parts.states)), *times.shape))
    for own, run, end in zip(parts.states, each, ends, strict=True):
        y[own] = [_with_end(run.y[:, k], end, name) for k, name in enumerate(run.states)]
    pairs = [*zip(each, ends, strict=True)]
    found = {name: _with_end(x, end, name) for run, end in pairs for name, x in run.outputs.items()}
    kinetic, potential, work = (
        np.sum([_with_end(getattr(run, name), end, name) for run, end in pairs], axis=0) for name in _ENERGIES
    )
    parameters = parameter_columns(system.parameter_names, given.p)
    found |= outputs_over_parts(over, parameters, y, (kinetic, potential), found, times)
    outputs = {name: found[name] for name in ordered_outputs(system, given, found)}
    gone = found.keys() - outputs.keys()
    held = recorded_energies(Energies(np.stack([kinetic, potential], axis=-1), work), kept)
    steps = first.steps.tolist()
    balances = [joint_balance(held.case(i), max(1, n)) for i, n in enumerate(steps)]
    verdict = Verdict(solved[0][0], balances, first.status.tolist(), first.messages, {})
    told = zip(first.messages, balances, first.nfev.tolist(), strict=True)
    names = (*system.q_names, *system.v_names)
    energies = dict(zip((*ENERGIES, WORK), (kinetic, potential, kinetic + potential, work), strict=True))
    return replace(
        each[0],
        system=system,
        y=np.ascontiguousarray(y[..., :-1].swapaxes(0, 1)),
        q_names=system.q_names,
        v_names=system.v_names,
        units={n: u for run in each for n, u in run.units.items() if n not in gone}
        | (output_units(over) if over.recorded else {}),
        outputs={name: x[:, :-1] for name, x in outputs.items()},
        kinetic_energy=kinetic[:, :-1],
        potential_energy=potential[:, :-1],
        work=work[:, :-1],
        energy_balance=verdict.balance,
        residual=max(run.residual for run in each),
        parameters=parameters,
        status=verdict.status,
        message=verdict.message,
        nfev=sum(first.nfev.tolist()),
        steps=sum(steps),
        notes=(*joined_notes(note for run in each for note in run.notes), *undefined_outputs(over, times, found, kept)),
        cases=replace(
            ends[0],
            messages=tuple(balanced(m, b) if n else m for m, b, n in told),
            end={n: x[:, -1].copy() for n, x in (*zip(names, y, strict=True), *energies.items(), *outputs.items())},
            energy_balance=np.array(balances),
            residual=np.max([end.residual for end in ends], axis=0),
        ),
    )


def _cases(run: Result) -> Cases:
    assert run.cases is not None
    return run.cases


def _with_end(values: FloatArray, cases: Cases, name: str) -> FloatArray:
    """*values* (cases, k) with those at the ends of *cases* behind them."""
    return np.concatenate([values, cases.end[name][:, None]], axis=1)


#: Series of a result beside its states and outputs.
_ENERGIES = ("kinetic_energy", "potential_energy", "work")
