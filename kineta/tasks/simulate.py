"""Motion from an initial state."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kineta.compiler import Equations, derive
from kineta.errors import ArgumentError, SimulationError
from kineta.expr.node import Expr
from kineta.model.infer import ENERGIES, POINT_COMPONENTS, units
from kineta.model.system import System
from kineta.numerics.explicit import Problem
from kineta.numerics.segments import Integration, Segment
from kineta.tasks import arguments
from kineta.tasks.code import Bound, bound
from kineta.tasks.events import Event, Watch
from kineta.tasks.progress import Progress
from kineta.tasks.result import Result
from kineta.tasks.state import initial_state, quaternion_offsets

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
    progress: bool = False,
) -> Result:
    """The motion of *system* from the state *q*, *v* over the time *t* (an end, or a start and an end) [s].

    Parameters
    ----------
    q, v : initial coordinates (nq,) and speeds (nv,), or mappings of names to values; the rest are the model's ``initial``
    p : parameters, as for :class:`~kineta.compiler.Function`
    tau : forces on the speeds beside those of the model: numbers (nv,), or a mapping of speeds to numbers or expressions
    method : ``dop853`` (default) or ``dopri5``, run natively; SciPy's RK23, RK45, DOP853, Radau, BDF, LSODA; CVODE (BDF) or
        CVODE_ADAMS of SUNDIALS, for stiff systems (extra ``sundae``)
    rtol, atol : relative and absolute tolerance of every state
    t_eval : times at which to record; or ``samples`` equidistant ones. Neither: every step of the method
    dense_output : keep the solution as a function, ``result.sol``
    events : expressions, or :func:`~kineta.tasks.events.event` records, whose zeros are looked for

    An interrupted run (Ctrl-C) and one that fails keep what was computed and say so in ``status`` and ``message``. Raises
    :class:`ArgumentError` for arguments that make no sense, :class:`SimulationError` for a motion that cannot start.
    """
    began = time.perf_counter()
    if not isinstance(system, System | Equations):
        raise ArgumentError(f"Expected a System or its Equations, found {system!r}; kineta.load reads a file.")
    equations = system if isinstance(system, Equations) else derive(system)
    t0, t1 = arguments.span(t)
    rtol, atol, max_step = arguments.tolerances(rtol, atol, max_step)
    watched = arguments.watched(equations.system, events)
    q0, v0 = initial_state(equations.system, q, v, p)
    made = bound(equations, p, tau, [e.value for e in watched])
    code = made.code
    y0 = np.concatenate([q0, v0, np.zeros(code.works)])
    grid = arguments.grid(t0, t1, t_eval, samples)
    problem = Problem(
        code.rate.address, made.h, t0, t1, y0, quaternion_offsets(equations.system), code.event_address, len(watched)
    )
    need_dense = dense_output or grid is not None or bool(watched)
    run = Integration(method, problem, rtol=rtol, atol=atol, max_step=max_step, dense=need_dense)
    _check_start(equations, made, t0, y0)
    record = _Record(grid, len(q0) + len(v0), quaternion_offsets(equations.system), keep=dense_output)
    watch = Watch(watched, run.run.event_values) if watched else None
    status, message = _integrate(run, record, watch, t0, t1, progress)
    return _result(equations, made, run, record, watch, status, message, time.perf_counter() - began, method)


def _check_start(equations: Equations, made: Bound, t0: float, y0: FloatArray) -> None:
    """Raise :class:`SimulationError` where the state has no finite rate."""
    rate = made.code.rate(np.array([t0]), y0, made.h)
    if np.isfinite(rate).all():
        return
    system = equations.system
    q, v = y0[: system.nq], y0[system.nq : system.nq + system.nv]
    M = equations.function("mass_matrix", "numpy")(t0, q, v, p=made.p)
    if np.isfinite(M).all():
        values, vectors = np.linalg.eigh(M)
        if values[0] <= 1e-12 * max(values[-1], 1e-300):
            name = system.v_names[int(np.abs(vectors[:, 0]).argmax())]
            raise SimulationError(
                f"Model '{system.name}': the mass matrix is singular at t = {t0:g} s: the speed '{name}' moves no inertia. "
                "Give a body that it moves a mass or a moment of inertia, or start elsewhere."
            )
    names = (*(f"rate of {n}" for n in system.q_names), *(f"{n}'" for n in system.v_names), "power")
    bad = next(n for n, x in zip(names, rate, strict=False) if not np.isfinite(x))
    raise SimulationError(
        f"Model '{system.name}': {bad} is not finite in the initial state; check the state and the parameters."
    )


# -- the run -----------------------------------------------------------------------------------------------------------


@dataclass
class _Record:
    """Times and states to return."""

    grid: FloatArray | None
    states: int
    quaternions: Sequence[int]
    keep: bool

    def __post_init__(self) -> None:
        # One list for both: an interruption may come between any two statements.
        self.rows: list[tuple[FloatArray, FloatArray]] = []
        self.segments: list[Segment] = []
        self.steps = 0
        self._next = 0

    def start(self, t: float, y: FloatArray) -> None:
        """The initial state."""
        if self.grid is None:
            self._add(np.array([t]), y[None])

    def segment(self, segment: Segment, until: float | None) -> None:
        """What to record of *segment*, up to the time *until*."""
        self.steps += len(segment.t)
        if self.keep:
            self.segments.append(segment)
        last = segment.t[-1] if until is None else until
        direction = np.sign(segment.t[-1] - segment.t0)
        if self.grid is not None:
            end = self._next
            while end < len(self.grid) and (self.grid[end] - last) * direction <= 0:
                end += 1
            times, self._next = self.grid[self._next : end], end
            if len(times) and segment.solution is not None:
                self._add(times, np.asarray(segment.solution(times)).T)
        else:
            inside = (segment.t - last) * direction <= 0
            self._add(segment.t[inside], segment.y[inside])
        if until is not None and segment.solution is not None and (not self.rows or self.rows[-1][0][-1] != until):
            self._add(np.array([until]), np.asarray(segment.solution(np.array([until]))).T)

    def _add(self, t: FloatArray, y: FloatArray) -> None:
        if len(t):
            _normalise(y, self.quaternions)
            self.rows.append((t, y))

    def solution(self, t: FloatArray | float) -> FloatArray:
        """Coordinates and speeds between the first and the last step: (states,) or (states, len(t))."""
        times = np.atleast_1d(np.asarray(t, dtype=np.float64))
        ends = np.array([s.t[-1] for s in self.segments])
        forwards = self.segments[-1].t[-1] >= self.segments[0].t0
        which = np.searchsorted(ends if forwards else -ends, times if forwards else -times)
        which = np.clip(which, 0, len(ends) - 1)
        out = np.empty((self.segments[0].y.shape[1], len(times)))
        for i in np.unique(which):
            solution = self.segments[i].solution
            assert solution is not None
            out[:, which == i] = solution(times[which == i])
        _normalise(out.T, self.quaternions)
        return out[: self.states, 0] if np.ndim(t) == 0 else out[: self.states]


def _integrate(
    run: Integration, record: _Record, watch: Watch | None, t0: float, t1: float, progress: bool
) -> tuple[int, str]:
    """Carry the run to its end; status and message."""
    record.start(t0, run.problem.y0.copy())
    reached = t0
    with Progress(t0, t1, shown=progress) as bar:
        try:
            for segment in run:
                until = _watched(segment, watch) if watch is not None else None
                if len(segment.t):
                    record.segment(segment, until)
                    reached = float(segment.t[-1])
                    bar.at(reached)
                if until is not None and watch is not None:
                    return 1, f"stopped at t = {until:.6g} s by the event '{watch.ended}'"
                if segment.end:
                    return -1, (
                        f"failed at t = {reached:.9g} s: {segment.end}; the mass matrix may be singular there, an expression "
                        "outside its domain, or the motion without bound. What was computed before is kept"
                    )
        except KeyboardInterrupt:
            return 2, f"interrupted at t = {reached:.6g} s; what was computed before is kept"
    return 0, f"reached t = {t1:g} s"


def _watched(segment: Segment, watch: Watch) -> float | None:
    """Look for events in every step of *segment*; the time of one that ends the run."""
    t0, y0 = segment.t0, segment.y0
    for t1, y1 in zip(segment.t, segment.y, strict=True):
        assert segment.solution is not None
        until = watch.step(t0, float(t1), y0, y1, segment.solution)
        if until is not None:
            return until
        t0, y0 = float(t1), y1
    return None


def _result(
    equations: Equations,
    made: Bound,
    run: Integration,
    record: _Record,
    watch: Watch | None,
    status: int,
    message: str,
    seconds: float,
    method: str,
) -> Result:
    system = equations.system
    t = np.concatenate([np.empty(0), *(rows[0] for rows in record.rows)])
    y = np.concatenate([np.empty((0, len(run.problem.y0))), *(rows[1] for rows in record.rows)])
    observed = made.code.observe(t[:, None], y, made.h)
    kinetic, potential = observed[:, 0], observed[:, 1]
    states = system.nq + system.nv
    work = y[:, states] if made.code.works else np.zeros(len(t))
    names = [o.name for o in system.outputs]
    events = list(_events(watch, states, record.quaternions))
    balance = _balance(kinetic, potential, work)
    return Result(
        model=system.name,
        method=method,
        t=t,
        y=np.ascontiguousarray(y[:, :states].T),
        q_names=system.q_names,
        v_names=system.v_names,
        units=_units(system),
        outputs=dict(zip(names, observed[:, 2:].T, strict=True)),
        kinetic_energy=kinetic,
        potential_energy=potential,
        work=work,
        energy_balance=balance,
        parameters=dict(zip(system.parameter_names, made.p.tolist(), strict=True)),
        status=status,
        message=f"{message}; energy balance {balance:.1e}",
        nfev=run.evaluations,
        steps=record.steps,
        rejected=run.rejected,
        seconds=seconds,
        t_events=tuple(e[0] for e in events),
        y_events=tuple(e[1] for e in events),
        event_names=tuple(e.name for e in watch.events) if watch else (),
        sol=record.solution if record.keep and record.segments else None,
    )


#: Units of what follows the dot in ``P.x`` or ``P.vz``.
_COMPONENTS = {c: "m/s" if c.startswith("v") else "m" for c in POINT_COMPONENTS}


def _units(system: System) -> dict[str, str]:
    """Units of the series of a run by name; of an output that is more than a name none is known."""
    known = units(system) | dict.fromkeys((*ENERGIES, "work"), "J")
    for output in system.outputs:
        value = str(output.value)
        owner, _, component = value.rpartition(".")
        if value in output.value.symbols() and (value in known or (owner and component in _COMPONENTS)):
            known[output.name] = known[value] if value in known else _COMPONENTS[component]
    return known


def _events(watch: Watch | None, states: int, quaternions: Sequence[int]) -> Iterator[tuple[FloatArray, FloatArray]]:
    for found in watch.found if watch else ():
        rows = np.array([y[:states] for _, y in found]).reshape(len(found), states)
        _normalise(rows, quaternions)
        yield np.array([t for t, _ in found]), rows


def _normalise(rows: FloatArray, quaternions: Sequence[int]) -> None:
    """Make the quaternions of states (k, n) units again."""
    for offset in quaternions:
        rows[:, offset : offset + 4] /= np.linalg.norm(rows[:, offset : offset + 4], axis=1, keepdims=True)


def _balance(kinetic: FloatArray, potential: FloatArray, work: FloatArray) -> float:
    """Largest deviation of energy - work from its first value, relative to the largest change of a form of energy."""
    if not len(kinetic):
        return 0.0
    kept = kinetic + potential - work
    sizes = (np.abs(kinetic).max(), np.abs(potential - potential[0]).max(), np.abs(work).max())
    return float(np.abs(kept - kept[0]).max() / max(*sizes, 1e-300))
