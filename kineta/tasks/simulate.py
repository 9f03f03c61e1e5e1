"""Motion from an initial state."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kineta.codegen.integrator import integrator
from kineta.compiler import Equations, equations_of
from kineta.errors import ArgumentError, SimulationError
from kineta.expr.node import Expr
from kineta.model.system import System
from kineta.numerics.problem import Problem
from kineta.numerics.segments import Integration
from kineta.tasks import arguments, outcome
from kineta.tasks.code import Bound, bound
from kineta.tasks.domain import Domain
from kineta.tasks.events import Event, Watch, wanted
from kineta.tasks.jacobian import jacobian
from kineta.tasks.mass import SINGULAR, idle, least_inertia
from kineta.tasks.met import check_met
from kineta.tasks.progress import Progress
from kineta.tasks.record import Record, bytes_per_step
from kineta.tasks.result import Result
from kineta.tasks.state import initial_state
from kineta.tasks.status import DONE, EVENT, FAILED, INTERRUPTED, OUT_OF_STEPS

FloatArray = NDArray[np.float64]


def simulate(
    system: System | Equations,
    t: float | tuple[float, float],
    *,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    tau: Any = None,
    method: str = "dop853",
    rtol: float = 1e-9,
    atol: float = 1e-12,
    t_eval: ArrayLike | None = None,
    samples: int | None = None,
    dense_output: bool = False,
    events: Event | Expr | Sequence[Event | Expr] = (),
    max_step: float = np.inf,
    max_steps: int | None = None,
    progress: bool = False,
) -> Result:
    """The motion of *system* from the state *q*, *v* over the time *t* (an end, or a start and an end) [s].

    Parameters
    ----------
    q, v : initial coordinates (nq,) and speeds (nv,), or mappings of names to values; the rest are the model's ``initial``
    p : parameters, as for :class:`~kineta.function.Function`
    tau : forces on the speeds beside those of the model: numbers or expressions, (nv,), or a mapping of speeds to these
    method : ``dop853`` (default) or ``dopri5``, run natively; SciPy's RK23, RK45, DOP853, Radau, BDF, LSODA; CVODE (BDF) or
        CVODE_ADAMS of SUNDIALS, for stiff systems (extra ``sundae``)
    rtol, atol : relative and absolute tolerance of every state
    t_eval : times at which to record; or ``samples`` equidistant ones. Neither: every step of the method
    dense_output : keep the solution as a function, ``result.sol``
    events : expressions, or :func:`~kineta.tasks.events.event` records, whose zeros are looked for
    max_step : largest step [s]
    max_steps : steps at most; ten million, if not given, or as many as half a gigabyte holds where every step is kept
    progress : show the time, the steps and their size on standard error

    An interrupted run (Ctrl-C), one that fails and one that is out of steps keep what was computed and say so in ``status``
    and ``message``. So does a run whose energy balance is more than the tolerances explain, with a
    :class:`~kineta.errors.KinetaWarning`. Raises :class:`ArgumentError` for arguments that make no sense,
    :class:`SimulationError` for a motion that cannot start.
    """
    began = time.perf_counter()
    if not isinstance(system, System | Equations):
        raise ArgumentError(f"Expected a System or its Equations, found {system!r}; kineta.load reads a file.")
    t0, t1 = arguments.span(t)
    rtol, atol, max_step = arguments.tolerances(rtol, atol, max_step)
    grid = arguments.grid(t0, t1, t_eval, samples)
    with Progress(t0, t1, shown=progress) as bar:
        equations = system if isinstance(system, Equations) else equations_of(system)
        model = equations.system
        watched = arguments.watched(model, events)
        q0, v0 = initial_state(model, q, v, p)
        made = bound(equations, p, tau, [e.value for e in watched])
        y0 = np.concatenate([q0, v0, np.zeros(made.code.works)])
        quaternions = list(model.quaternions.values())
        problem = Problem(
            rhs=made.code.rate.address,
            h=made.h,
            t0=t0,
            t1=t1,
            y0=y0,
            quaternions=quaternions,
            integrals=made.code.works,
            events=wanted(watched, made.code.event_address),
        )
        dense = dense_output or grid is not None or bool(watched)
        run = Integration(
            integrator,
            lambda: jacobian(equations, made),
            method,
            problem,
            rtol=rtol,
            atol=atol,
            max_step=max_step,
            max_steps=arguments.steps(max_steps, bytes_per_step(len(y0), every=grid is None, keep=dense_output)),
            dense=dense,
            kept=dense_output,
        )
        _check_start(equations, made, t0, y0)
        check_met(equations, t0, q0, v0, made.p)
        record = Record(grid, len(q0) + len(v0), quaternions, keep=dense_output)
        watch, domain = Watch(watched, problem), Domain(equations, made)
        status, message = _integrate(run, record, watch, domain, bar)
    return outcome.result(model, made, run, record, watch, domain, status, message, time.perf_counter() - began)


def _check_start(equations: Equations, made: Bound, t0: float, y0: FloatArray) -> None:
    """Raise :class:`SimulationError` where the state has no finite rate."""
    rate = made.code.rate(np.array([t0]), y0, made.h)
    if np.isfinite(rate).all():
        return
    system = equations.system
    q, v = y0[: system.nq], y0[system.nq : system.nq + system.nv]
    M = equations.function("mass_matrix", "numpy")(t0, q, v, p=made.p)
    if np.isfinite(M).all():
        smallest, worst = least_inertia(M)
        if smallest <= SINGULAR:
            raise SimulationError(
                f"Model '{system.name}': the mass matrix is singular at t = {t0:g} s: {idle(system.v_names[worst])}."
            )
    names = (*(f"rate of {n}" for n in system.q_names), *(f"{n}'" for n in system.v_names), "power")
    bad = next(n for n, x in zip(names, rate, strict=False) if not np.isfinite(x))
    raise SimulationError(
        f"Model '{system.name}': {bad} is not finite in the initial state; check the state and the parameters."
    )


def _integrate(run: Integration, record: Record, watch: Watch, domain: Domain, bar: Progress) -> tuple[int, str]:
    """Carry the run to its end; status and message."""
    problem = run.problem
    record.start(problem.t0, problem.y0.copy())
    domain.look(np.array([problem.t0]), problem.y0[None])
    reached = problem.t0
    try:
        for segment in run:
            end = watch.look(segment)
            if len(segment.t):
                domain.look(segment.t, segment.y)
                record.segment(segment, end)
                reached = float(segment.t[-1])
                bar.at(reached, record.steps, record.last_step)
            if end is not None:
                return EVENT, f"stopped at t = {end[0]:.6g} s by the event '{watch.ended}'"
            if segment.end:
                why = domain.edge(last=True) or (
                    "the mass matrix may be singular there, an expression outside its domain, or the motion without bound"
                )
                return FAILED, f"failed at t = {reached:.9g} s: {segment.end}; {why}. What was computed before is kept"
    except KeyboardInterrupt:
        return INTERRUPTED, f"interrupted at t = {reached:.6g} s; what was computed before is kept"
    if reached != problem.t1:
        why = domain.edge(last=True) or (
            "where a force jumps (sign, step) or changes very fast, steps are short without end; max_steps allows more"
        )
        return OUT_OF_STEPS, (
            f"out of steps at t = {reached:.9g} s: {record.steps} were made, the last of {record.last_step:.1e} s; {why}. "
            "What was computed before is kept"
        )
    return DONE, f"reached t = {problem.t1:g} s"
