"""Memory of a run: the records of the native loop for a problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from kineta.integration import loop_abi
from kineta.integration.error_control import error_tolerances
from kineta.integration.loop_abi import ConstraintData, ContactData, EventData, RunData, SwitchData
from kineta.integration.problem import Contacts, Problem, Switching, perturbation_signs
from kineta.memory import CompiledFunction
from kineta.numerics.roots import MOST
from kineta.numerics.tableaux import Tableau

#: Event zeros stored between two pauses, in addition to those of the last step.
ZEROS = 64


def run_data(
    tableau: Tableau,
    problem: Problem,
    chunk: int,
    *,
    rtol: float,
    atol: float,
    max_step: float,
    dense: bool,
    zeros: int = ZEROS,
) -> RunData:
    """The record of a run of *problem* with room for *chunk* steps and *zeros* of events between two pauses; no step size is
    set, and no rate.
    """
    p, n, rows = problem, len(problem.y0), chunk + 1
    data = RunData(
        n=n,
        steered=max(p.steering, 1),
        block=np.array(p.h),
        time=np.zeros(1),
        t=p.t0,
        t_end=p.t1,
        max_step=max_step,
        y=np.array(p.y0, dtype=float),
        k=np.zeros((tableau.stages + 1 + len(tableau.extra)) * n),
        new=np.zeros(n),
        between=np.zeros(n),
        tolerances=error_tolerances(n, p.integrals, rtol, atol).reshape(-1),
        n_quaternions=0 if p.manifold else len(p.quaternions),
        quaternions=np.array([*p.quaternions], dtype=np.int64),
        dense=dense,
        times=np.zeros(rows),
        sizes=np.zeros(rows),
        states=np.zeros(rows * n),
        interpolants=np.zeros(rows * dense * tableau.coefficients * n),
        events=_event_data(p, zeros),
        constraints=_constraint_data(p),
        contacts=ContactData(),
        switches=SwitchData(),
    )
    set_functions(data, p)
    return data


def set_functions(data: RunData, problem: Problem) -> None:
    """Give the loop the functions of *problem*."""
    data.rate = CompiledFunction(problem.rhs)
    data.events.function = CompiledFunction(0 if problem.events is None else problem.events.address)
    if problem.manifold is not None:
        data.constraints.position = CompiledFunction(problem.manifold.position)
        data.constraints.velocity = CompiledFunction(problem.manifold.velocity)


def set_contacts(data: RunData, contacts: Contacts, rows: int) -> None:
    """Give the loop *contacts*, with room for so many transitions between two pauses."""
    flags = len(contacts.motion.array("flags"))
    data.contacts.update(
        motion=contacts.motion,
        transitions=contacts.transitions,
        transit=CompiledFunction(contacts.transit),
        first=contacts.first,
        guard_contacts=contacts.guard_contacts,
        guard_rows=contacts.guard_rows,
        **_change_log(contacts, rows, flags),
    )


def set_switches(data: RunData, problem: Problem, rows: int) -> None:
    """Give the loop the switches of *problem*, after its contacts, with room for so many changes between two pauses."""
    s, n = problem.switching, len(problem.y0)
    assert s is not None
    count, contacts = len(s.stops), s.hears.shape[1]
    if problem.contacts is None:
        data.contacts.update(first=s.watched + count, **_change_log(s, rows, 0))
    else:
        problem.contacts.transitions.array("heard")[:] = s.hears.any(axis=0)
    data.switches.update(
        count=count,
        values=CompiledFunction(s.values),
        checked=len(s.positive),
        positive=s.positive,
        first=s.first,
        held=s.held,
        found=np.zeros(s.found),
        targets=s.targets,
        setup=CompiledFunction(s.setup),
        n_given=s.given,
        given=np.zeros(s.given),
        hears=s.hears.reshape(-1),
        stops=s.stops,
        residuals=s.residuals,
        misses=s.misses,
        **{name: np.zeros(count, dtype=np.int64) for name in ("fired", "next")},
        **{name: np.zeros(contacts, dtype=np.int64) for name in ("loose", "exhausted", "fallen")},
        **{name: np.zeros(loop_abi.GUARDS * count) for name in ("old", "new")},
        **{name: np.zeros(n) for name in ("rate", "beside")},
        since=np.zeros(count),
    )


def _event_data(problem: Problem, zeros: int) -> EventData:
    events, n = problem.events, len(problem.y0)
    if events is None:
        return EventData()
    room = zeros + (MOST + 1) * events.n
    return EventData(
        n=events.n,
        directions=events.directions,
        left=events.left,
        noise=events.noise,
        beyond=events.beyond,
        values=np.zeros(loop_abi.ROWS * events.n),
        tried=np.zeros(events.n),
        errors=np.zeros(events.n),
        within=np.zeros(n),
        signs=perturbation_signs(loop_abi.DIRECTIONS, n).reshape(-1),
        room=zeros,
        which=np.zeros(room, dtype=np.int64),
        times=np.zeros(room),
        states=np.zeros(room * n),
        x=np.zeros(MOST + 1),
        f=np.zeros(MOST + 1),
    )


def _constraint_data(problem: Problem) -> ConstraintData:
    m, n = problem.manifold, len(problem.y0)
    if m is None:
        return ConstraintData(low=1.0)
    speeds, largest = np.zeros(n), m.largest.copy()
    speeds[slice(*m.speeds)] = 1.0
    return ConstraintData(
        velocity_steps=m.steps,
        watched=len(largest),
        pivots=n - len(largest),
        largest=largest,
        speeds=speeds,
        before=np.zeros(n),
        after=np.zeros(n),
        low=1.0,
    )


def _change_log(of: Contacts | Switching, rows: int, flags: int) -> dict[str, Any]:
    """Fields in which the loop keeps so many changes, with *flags* each, and the work that they do."""
    return {
        "observed": CompiledFunction(of.observed),
        "watched": of.watched,
        "work": of.work,
        "n_flags": flags,
        "energies": np.zeros(of.size),
        "rows": rows,
        "changed_rows": np.zeros(rows, dtype=np.int64),
        "what": np.zeros(rows, dtype=np.int64),
        "times": np.zeros(rows),
        "flags": np.zeros(rows * flags),
    }
