"""The result of a run whose parts were integrated apart, joined from theirs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.codegen.numpy import FUNCTIONS
from kineta.consistency.redundancy import joined_notes
from kineta.model.dimensions import output_units
from kineta.model.named_expressions import Outputs
from kineta.model.parameters import named_values
from kineta.model.reserved_symbols import ENERGIES, MULTIPLIER, TIME, added_force
from kineta.model.system import System
from kineta.passes.evaluate import evaluate
from kineta.records import dataclass
from kineta.results.outcomes import balanced
from kineta.results.result import Result
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.energy_balance import Energies, joint_balance
from kineta.simulation.independent_components import Parts
from kineta.simulation.inputs import RunInputs
from kineta.simulation.postprocess import SUMMARY, result, undefined_outputs
from kineta.simulation.solution import Solution
from kineta.values import numbers


def joined_result(
    system: System,
    given: RunInputs,
    parts: Parts,
    solved: Sequence[tuple[SimulationProblem, Solution]],
    *,
    dense_output: bool,
    together: bool = False,
) -> Result:
    """The result of a run of *system* with *given* inputs, of which the *parts* have been *solved*: each by itself, or all
    *together* in the same steps, where they act on each other.

    Of runs that keep every step, the times are those of the part that has most, and both sides of each change of the others.
    """
    assert parts.components is not None
    each = [result(task, solution, 0.0) for task, solution in solved]
    over = system.unchecked(outputs=Outputs(parts.components.over))
    joint = JoinedSolution(over, named_values(system.parameters, given.p.tolist()), parts.states, each)
    t = each[0].t if solved[0][0].grid is not None else _common_times(each)
    series = joint.series(t, [_spread(run, t) for run in each])
    worst = max(each, key=lambda run: list(SUMMARY).index(run.status))
    said = worst.message.removesuffix(balanced("", worst.energy_balance))
    steps, evaluations = sum(run.steps for run in each), sum(run.nfev for run in each)
    balance = max(run.energy_balance for run in each)
    if together:
        steps, evaluations = steps // len(each), evaluations // len(each)
        energies = Energies(np.stack([series.kinetic, series.potential], axis=-1), series.work)
        balance = joint_balance(energies, max(1, steps))
    outputs = {name: series.outputs[name] for name in ordered_outputs(system, given, series.outputs)}
    gone = series.outputs.keys() - outputs.keys()
    found = {int(i): (run, k) for run, own in zip(each, parts.events, strict=True) for k, i in enumerate(own)}
    events = [found[i][0].t_events[found[i][1]] for i in range(len(given.watched))]
    sign = np.sign(t[-1] - t[0])
    undefined = undefined_outputs(over, t[None], {n: x[None] for n, x in outputs.items()}, None)
    return replace(
        worst,
        system=system,
        t=t,
        y=series.y,
        q_names=system.q_names,
        v_names=system.v_names,
        units={n: u for run in each for n, u in run.units.items() if n not in gone}
        | (output_units(over) if over.recorded else {}),
        outputs=outputs,
        kinetic_energy=series.kinetic,
        potential_energy=series.potential,
        work=series.work,
        energy_balance=balance,
        residual=max(run.residual for run in each),
        parameters=dict(zip(system.parameter_names, given.p.tolist(), strict=True)),
        message=balanced(said, balance),
        nfev=evaluations,
        steps=steps,
        rejected=sum(run.rejected for run in each),
        t_events=tuple(events),
        y_events=tuple(joint.states(at).T for at in events),
        event_names=tuple(e.name for e in given.watched),
        sol=joint if dense_output else None,
        notes=(*joined_notes(note for run in each for note in run.notes), *undefined),
        changes=tuple(sorted((c for run in each for c in run.changes), key=lambda change: sign * change[0])),
        impacts=tuple(sorted((i for run in each for i in run.impacts), key=lambda impact: sign * impact.t)),
    )


@dataclass(frozen=True, eq=False)
class JoinedSeries:
    """States (n, k), energies and work (k,), and outputs by name, of all parts."""

    y: FloatArray
    kinetic: FloatArray
    potential: FloatArray
    work: FloatArray
    outputs: Mapping[str, FloatArray]


class JoinedSolution:
    """Coordinates and speeds of all *parts* of a run as a function of the time, as of a motion in one piece.

    over : a system with the outputs over several parts alone; values : of its parameters
    places : of the states of each part among all
    """

    def __init__(
        self, over: System, values: Mapping[str, float], places: Sequence[IntArray], parts: Sequence[Result]
    ) -> None:
        self._over, self._values, self._places, self._parts = over, values, places, parts

    @property
    def t_min(self) -> float:
        """The first time."""
        return float(max(run.sol.t_min for run in self._parts))

    @property
    def t_max(self) -> float:
        """The last time."""
        return float(min(run.sol.t_max for run in self._parts))

    @property
    def steps(self) -> FloatArray:
        """Times of the steps of all parts, rising."""
        return np.unique(np.concatenate([run.sol.steps for run in self._parts]))

    def __call__(self, t: FloatArray | float) -> FloatArray:
        """States at *t*."""
        found = self.states(np.atleast_1d(numbers("t", t)))
        return found[:, 0] if np.ndim(t) == 0 else found

    def states(self, t: FloatArray) -> FloatArray:
        """States (n, k) at the times *t* (k,)."""
        y = np.empty((sum(map(len, self._places)), len(t)))
        for own, run in zip(self._places, self._parts, strict=True):
            if len(t):
                y[own] = run.sol(t)
        return y

    def sampled(self, run: Result, times: FloatArray) -> Result:
        """*run* at other times."""
        each = [part.at(times) for part in self._parts]
        t, every = each[0].t, np.arange(len(times))
        found = self.series(t, [(part, every) for part in each])
        outputs = {name: found.outputs[name] for name in run.outputs}
        energies: dict[str, Any] = {
            "kinetic_energy": found.kinetic,
            "potential_energy": found.potential,
            "work": found.work,
        }
        return replace(run, t=t, y=found.y, outputs=outputs, **energies)

    def series(self, t: FloatArray, rows: Sequence[tuple[Result, IntArray]]) -> JoinedSeries:
        """The series of all parts at the times *t* (k,), each with its *rows*, (k,) of a result."""
        y, outputs = np.empty((sum(map(len, self._places)), len(t))), dict[str, FloatArray]()
        for own, (run, k) in zip(self._places, rows, strict=True):
            y[own] = run.y[:, k]
            outputs |= {name: x[k] for name, x in run.outputs.items()}
        sums = [
            np.sum([getattr(run, name)[k] for run, k in rows], axis=0)
            for name in ("kinetic_energy", "potential_energy", "work")
        ]
        outputs |= outputs_over_parts(self._over, self._values, y, sums, outputs, t)
        return JoinedSeries(y, sums[0], sums[1], sums[2], outputs)


def outputs_over_parts(
    over: System,
    values: Mapping[str, float | FloatArray],
    y: Iterable[FloatArray],
    energies: Sequence[FloatArray],
    outputs: Mapping[str, FloatArray],
    t: FloatArray,
) -> dict[str, FloatArray]:
    """The outputs of *over*, of several parts, at the times *t* (..., k), from the *values* of parameters, the states *y*, each
    (..., k), kinetic and potential *energies*, and *outputs* of single parts.
    """
    sums = dict(zip(ENERGIES, (*energies[:2], energies[0] + energies[1]), strict=True))
    known = {**values, **outputs, **sums, **dict(zip((*over.q_names, *over.v_names), y, strict=True)), TIME: t}
    found = dict[str, FloatArray]()
    with np.errstate(all="ignore"):
        for o in over.outputs:
            found[o.name] = np.broadcast_to(
                evaluate(o.value.graph, [o.value.ref], known | found, FUNCTIONS)[0], t.shape
            )
    return found


def _common_times(parts: Sequence[Result]) -> FloatArray:
    """The times of the part with most of them, and those of the others that stand there more than once; each as often as in the
    part that has it most often.
    """
    sign, most = np.sign(parts[0].t[-1] - parts[0].t[0]), max(parts, key=lambda run: len(run.t))
    pairs = []
    for run in parts:
        t = sign * run.t
        occurrence = np.arange(len(t)) - np.searchsorted(t, t)
        several = np.searchsorted(t, t, side="right") - np.searchsorted(t, t) > 1
        pairs.append(np.stack([t, occurrence], axis=1)[several | (run is most)])
    return np.asarray(sign * np.unique(np.concatenate(pairs), axis=0)[:, 0])


def _spread(run: Result, t: FloatArray) -> tuple[Result, IntArray]:
    """*run* with rows for all times *t* (k,) beside its own, and the number of the row for each."""
    sign = np.sign(t[-1] - t[0])
    own, times = sign * run.t, sign * t
    first, after = np.searchsorted(own, times), np.searchsorted(own, times, side="right")
    occurrence = np.arange(len(t)) - np.searchsorted(times, times)
    missing = np.unique(times[first == after])
    rows = np.minimum(first + occurrence, after - 1)
    if not len(missing):
        return run, rows
    more = run.at(sign * missing)
    rows[first == after] = len(run.t) + np.searchsorted(missing, times[first == after])

    def both(a: Any, b: Any) -> FloatArray:
        return np.concatenate([a, b], axis=-1)

    series: dict[str, Any] = {name: both(getattr(run, name), getattr(more, name)) for name in ("t", "y", *_ENERGIES)}
    return replace(run, **series, outputs={n: both(x, more.outputs[n]) for n, x in run.outputs.items()}), rows


#: Series of a result beside its states and outputs.
_ENERGIES = ("kinetic_energy", "potential_energy", "work")


def ordered_outputs(system: System, given: RunInputs, names: Iterable[str]) -> list[str]:
    """*names* of outputs in the order of a run in one piece, without what parts contribute to outputs over several: parameters
    that switches set, outputs, rates of first-order states, forces given as expressions, multipliers, forces given as numbers.
    """
    records = (f"{MULTIPLIER}{r.name}" for r in (*system.expanded.constraints, *system.expanded.contacts))
    told, acting = (*system.switched, *(o.name for o in system.recorded)), map(added_force, given.forces.expressions)
    places = {
        name: i for i, name in enumerate(dict.fromkeys((*told, *acting, *records, *map(added_force, system.v_names))))
    }

    def place(name: str) -> int:
        while name.startswith(MULTIPLIER) and name not in places:
            name = name.rpartition(".")[0]
        return places.get(name, -1)

    return sorted((name for name in names if place(name) >= 0), key=place)
