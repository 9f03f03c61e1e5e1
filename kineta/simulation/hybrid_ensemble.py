"""Ensembles of motions with contacts or switches: each thread runs one after the other, with all transitions in the loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from kineta.arrays import FloatArray, IntArray, Mask
from kineta.hybrid.automaton import contact_tolerance, penetration_notes
from kineta.hybrid.chattering import pace_of
from kineta.hybrid.contact_log import ContactLog
from kineta.hybrid.contact_modes import loop_contacts
from kineta.hybrid.sampling import SampledControl
from kineta.hybrid.switches import loop_switches
from kineta.integration import loop_abi
from kineta.integration.contact_records import FLAGS
from kineta.integration.native_ensemble import CaseTransitions, Ensemble, EnsembleRun, HybridCases, cores
from kineta.integration.problem import Problem
from kineta.kernels.ensemble import hybrid_ensemble_loop
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint
from kineta.numerics.tableaux import TABLEAUX
from kineta.results import outcomes
from kineta.results.outcomes import DONE, EVENT, INTERRUPTED
from kineta.runtime.constraint_treatment import PROJECTED
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.projection import Projection
from kineta.simulation.progress import Progress
from kineta.simulation.run import problem_of, start_refusal
from kineta.simulation.solution import Solution
from kineta.threads import once

#: Status of a run by the status of a case that has not been given up.
_STATUS = {loop_abi.PAUSED: INTERRUPTED, loop_abi.DONE: DONE, loop_abi.EVENT: EVENT}


def may_run_natively(task: SimulationProblem) -> bool:
    """Whether compiled code can carry out all that contacts and switches do to the motions of *task*, and tell where it cannot:
    where laws of contact do not hold, or a switch leaves what constraints allow.
    """
    system, touches = task.system, task.made.code.layout.touches
    if not all(isinstance(one.value, np.ndarray) for one, _ in task.made.forces.sampled):
        return False
    if system.programs or task.method not in TABLEAUX or not task.t1 > task.t0:
        return False
    return bool(system.switches or touches)


def run_natively(task: SimulationProblem, found: Solution, bar: Progress) -> list[int]:
    """Integrate all cases of *task* on all cores; returns those that are left, to be run as single motions."""
    code, cases, grid = task.made.code, len(task.y0), task.grid
    assert grid is not None
    start = np.full((cases, 1), task.t0)
    rate0 = code.rate.batch(start, task.y0, task.made.h)
    doubtful = range(cases) if task.system.constraints else np.flatnonzero(~np.isfinite(rate0).all(axis=1)).tolist()
    refused = [i for i in doubtful if start_refusal(task.case(i), rate0[i])]
    task = replace(task, y0=task.y0.copy())
    Projection(task.quaternions, task.made)(start[:, 0], task.y0)
    rate0[refused] = np.nan
    ensemble = _ensemble(task, rate0)
    tableau = TABLEAUX[task.method]
    switching = bool(task.system.switches or task.made.forces.sampled)
    loop = hybrid_ensemble_loop(
        tableau,
        projecting=code.treatment == PROJECTED,
        touching=code.contacts is not None,
        switching=switching,
        kinked=any(code.layout.switching),
        sliding=bool(code.layout.slides),
    )
    runs = EnsembleRun(tableau, loop, ensemble, grid, **vars(task.control))
    with suppress(KeyboardInterrupt):
        runs.run(min(cores(), cases), lambda ended: bar.ended(ended, cases))
    stays = np.isin(runs.status, [*_STATUS])
    found.t[stays, -1], found.y[stays, -1], found.y[stays, :-1] = runs.t[stays], runs.y[stays], runs.samples[stays]
    found.nfev[stays], found.recorded[stays] = runs.evaluations[stays], runs.recorded[stays]
    found.steps[stays], found.rejected[stays] = runs.accepted[stays], runs.rejected[stays]
    found.zeros = runs.zeros.of_cases(stays)
    begun = stays & np.isfinite(runs.observed[:, -1]).any(axis=1)
    assert found.values is not None
    found.values[begun] = runs.observed[begun]
    for i in np.flatnonzero(stays).tolist():
        found.status[i], found.messages[i] = _STATUS[int(runs.status[i])], _message(task, runs, i)
    if found.forces is not None:
        _hold(task, found, stays)
    transitions = partial(CaseTransitions.ordered, runs.transitions, cases, code.layout.flags)
    brought = [""] * cases if code.contacts is None else penetration_notes(code.contacts, task)
    histories = Histories(code.layout.touches, [s.name for s in task.system.switches], transitions, brought)
    left = histories.put(found, stays)
    return [] if (runs.status == loop_abi.PAUSED).any() else left


def _ensemble(task: SimulationProblem, rate0: FloatArray) -> Ensemble:
    """The initial value problems of all cases of *task*, before their first modes."""
    code, made, first, watched = task.made.code, task.made, task.case(0), len(task.watched)
    contacts, until = code.contacts, max(abs(task.t0), abs(task.t1))

    problem = partial(problem_of, first, code, first.made.h)

    @contextmanager
    def memory() -> Iterator[Problem]:
        switching = None
        if task.system.switches or task.made.forces.sampled:
            switching = loop_switches(task)
        if contacts is None:
            yield replace(problem(), switching=switching)
        else:
            with contacts.borrowed(first.made.h) as motion:
                work, guards = contacts.transitions(0.0, until), watched + len(task.system.switches)
                own = loop_contacts(made, motion, work, watched, guards, task.states)
                yield replace(problem(), h=motion.words(), contacts=own, switching=switching)

    cases, n = task.y0.shape
    regular = [np.concatenate([q, v, np.zeros(n - len(q) - len(v))]) for q, v in task.regular]
    given = [np.broadcast_to(x, (cases, x.shape[-1])) for x in (made.p, made.forces.constant)]
    empty, held = np.empty((cases, 0)), _held(task)
    return Ensemble(
        problem=problem(),
        lanes=1,
        h=np.atleast_2d(made.h),
        y0=task.y0,
        rates0=rate0,
        values0=empty,
        noise=empty,
        largest=empty,
        hybrid=HybridCases(
            memory,
            np.asarray(contact_tolerance(task)),
            np.array(regular).reshape(len(regular), n),
            partial(pace_of, task),
            code.layout.flags,
            code.observed_size,
            np.concatenate(given, axis=-1),
            *held,
        ),
    )


def _held(task: SimulationProblem) -> tuple[FloatArray, FloatArray, IntArray]:
    """Times up to which sampled forces are held, the forces, and their places among parameters and forces."""
    control, ends = SampledControl(one := task.case(0)), list[float]()
    while (end := control.take(one.y0)) is not None:
        ends.append(end)
    v_names, size = task.system.v_names, task.made.p.shape[-1]
    driven = [v_names.index(name) for _, speeds in task.made.forces.sampled for name in speeds]
    forces = np.array(control.forces).reshape(len(ends), len(v_names))[:, driven]
    return np.array(ends), forces, size + np.array(driven, dtype=np.int64)


def _hold(task: SimulationProblem, found: Solution, which: Mask) -> None:
    """Put what was held at the times of the cases *which*."""
    ends, forces, places = _held(task)
    assert found.forces is not None
    for i in np.flatnonzero(which).tolist():
        k = found.recorded[i]
        rows = np.searchsorted(ends[:-1], found.t[i], side="right")
        found.forces[i] = task.case(i).made.forces.constant
        found.forces[i][:, places - task.made.p.shape[-1]] = forces[rows]
        found.forces[i, k:-1] = np.nan


def _message(task: SimulationProblem, runs: EnsembleRun, i: int) -> str:
    """Message on the end of case *i*."""
    t, status = float(runs.t[i]), int(runs.status[i])
    if status == loop_abi.DONE:
        return outcomes.done(t)
    if status == loop_abi.EVENT:
        ended, names = int(runs.ended[i]), [s.name for s in task.system.switches]
        behind = len(task.watched) + len(names) + task.made.code.layout.touch_events
        return outcomes.stopped(t, task.watched[ended].name if ended < behind else names[ended - behind])
    return outcomes.interrupted(t)


class CaseWords:
    """What happened to the cases of an ensemble, put into words when asked for."""

    def happened(self, i: int) -> tuple[Sequence[Any], Sequence[tuple[float, str]]]:
        """Impacts and changes of case *i*."""
        raise NotImplementedError

    def notes(self, i: int) -> tuple[str, ...]:
        """Notes on case *i*."""
        raise NotImplementedError

    def put(self, found: Solution, stays: Mask) -> list[int]:
        """Put what is told of the cases that stay, by *stays*, into *found*; returns the others, to be run as single motions."""
        cases = len(stays)
        found.impacts = CaseSequence(cases, lambda i: tuple(self.happened(i)[0]))
        found.changes = CaseSequence(cases, lambda i: tuple(self.happened(i)[1]))
        found.notes = CaseSequence(cases, self.notes)
        left: list[int] = np.flatnonzero(~stays).tolist()
        for i in left:
            found.changes[i], found.impacts[i], found.notes[i] = (), (), ()
        return left


class Histories(CaseWords):
    """What *touches* and *switches*, by name, have done in each case of an ensemble, put in order and told when asked for;
    *brought* are notes on the start.
    """

    def __init__(
        self,
        touches: Sequence[UnilateralConstraint],
        switches: Sequence[str],
        transitions: Callable[[], CaseTransitions],
        brought: Sequence[str],
    ) -> None:
        self._touches, self._switches, self._found, self._brought = touches, switches, transitions, brought

    @once
    def _transitions(self) -> CaseTransitions:
        return self._found()

    def _log(self, i: int) -> tuple[ContactLog, FloatArray]:
        """The log of case *i*, and the flags of its last mode."""
        log, x = ContactLog(self._touches, self._switches), self._transitions
        before, own = np.zeros((len(self._touches), FLAGS)), slice(x.first[i], x.first[i + 1])
        impacts = x.impacts[x.struck[i] : x.struck[i + 1]].copy()
        impacts[:, -1] -= own.start
        modes = x.flags[own].reshape(own.stop - own.start, *before.shape)
        return log, log.note_all(x.t[own].tolist(), x.what[own].tolist(), modes, impacts, before, begun=True)

    def happened(self, i: int) -> tuple[Sequence[Any], Sequence[tuple[float, str]]]:
        """Impacts and changes of case *i*."""
        log, _ = self._log(i)
        return log.impacts, log.changes

    def notes(self, i: int) -> tuple[str, ...]:
        """Notes on case *i*."""
        log, flags = self._log(i)
        return (*[self._brought[i]] * bool(self._brought[i]), *log.rests(flags))


class CaseSequence(Sequence[Any]):
    """What is *told* of each of so many *cases*, unless it has been set."""

    def __init__(self, cases: int, told: Callable[[int], Any]) -> None:
        self._cases, self._told, self._set = range(cases), told, dict[int, Any]()

    def __len__(self) -> int:
        return len(self._cases)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return tuple(map(self.__getitem__, self._cases[k]))
        i = self._cases[k]
        return self._set[i] if i in self._set else self._told(i)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __setitem__(self, k: Any, value: Any) -> None:
        self._set[self._cases[k]] = value
