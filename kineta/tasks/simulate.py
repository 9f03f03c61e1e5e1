"""Motion from an initial state."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kineta.compiler import Equations, given_equations
from kineta.errors import one_of
from kineta.expr.node import Expr
from kineta.model.system import System
from kineta.numerics.segments import METHODS
from kineta.tasks import arguments, outcome
from kineta.tasks.code import bound, parameters
from kineta.tasks.events import Event
from kineta.tasks.keeping import keeping
from kineta.tasks.met import brought_back
from kineta.tasks.motion import move
from kineta.tasks.programmed import fits, started
from kineta.tasks.progress import Progress
from kineta.tasks.rank import closed
from kineta.tasks.record import bytes_per_step
from kineta.tasks.result import Result
from kineta.tasks.state import initial_state
from kineta.tasks.task import Task
from kineta.values import flag


def simulate(
    system: System | Equations,
    t: float | tuple[float, float],
    *,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    tau: Any = None,
    levels: Any = None,
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

    *q*, *v*, *p* and *tau* may have a leading axis of cases: all are run, and the result has that axis.

    Parameters
    ----------
    q, v : initial coordinates (nq,) and speeds (nv,), or mappings of names to values; the rest are the model's ``initial``
    p : parameters, as for :class:`~kineta.function.Function`
    tau : forces on the speeds beside those of the model: numbers or expressions, (nv,), or a mapping of speeds to these; what
        :func:`~kineta.tasks.control.sampled` makes of a Python function or a table, for all speeds or for one
    levels : under programs of motion of the third order and higher, derivatives of the speeds at the start: a mapping of names,
        ``{"x''": 0.3}``, or (s - 2, nv). What is not given is that of a motion without control, as far as programs allow
    method : ``dop853`` (default) or ``dopri5``, run natively; SciPy's RK23, RK45, DOP853, Radau, BDF, LSODA; CVODE (BDF) or
        CVODE_ADAMS of SUNDIALS, for stiff systems, and IDA, for comparison under constraints (extra ``sundae``)
    rtol, atol : relative and absolute tolerance of every state
    t_eval : times at which to record; or ``samples`` equidistant ones. Neither: every step of the method; with cases, 101 times
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
    equations = given_equations(system)
    t0, t1 = arguments.span(t)
    method = one_of(method, METHODS, "a method")
    dense_output, progress = flag("dense_output", dense_output), flag("progress", progress)
    rtol, atol, max_step = arguments.tolerances(rtol, atol, max_step)
    grid = arguments.grid(t0, t1, t_eval, samples)
    with Progress(t0, t1, shown=progress) as bar:
        model = equations.system
        fits(model, method)
        watched = arguments.watched(model, events)
        q0, v0 = initial_state(model, q, v, p)
        values = parameters(model, p)
        q0, v0, brought = brought_back(equations, t0, q0, v0, values)
        equations, regular, notes = closed(equations, t0, q0, v0, values)
        made = bound(equations, values, tau, [e.value for e in watched], keeping(equations, method))
        q0, v0, higher, said = started(equations, made, t0, (q0, v0, values), levels)
        cases = arguments.cases({"q": q0, "v": v0, "p": made.p, "tau": made.forces.constant})
        lead = () if cases is None else (cases,)
        parts = (q0, v0, higher, np.zeros(made.code.layout.integrals))
        y0 = np.concatenate([np.broadcast_to(x, (*lead, x.shape[-1])) for x in parts], axis=-1)
        if cases is not None:
            grid = arguments.grid_of_cases(t0, t1, grid, cases, y0.shape[-1], dense_output=dense_output)
        kept = bytes_per_step(y0.shape[-1], every=grid is None, keep=dense_output)
        task = Task(
            equations=equations,
            made=made,
            watched=watched,
            t0=t0,
            t1=t1,
            y0=y0,
            grid=grid,
            method=method,
            rtol=rtol,
            atol=atol,
            max_step=max_step,
            max_steps=arguments.steps(max_steps, kept),
            dense_output=dense_output,
            regular=regular,
            notes=(*brought, *notes, *said),
        )
        carry, result = _several() if lead else (move, outcome.result)
        moved = carry(task, bar)
    return result(task, moved, time.perf_counter() - began)


def _several() -> tuple[Callable[[Task, Progress], Any], Callable[[Task, Any, float], Result]]:
    """What carries several cases to their ends, and what makes their result. One motion does not load it."""
    from kineta.tasks import ensemble

    return ensemble.move, ensemble.result
