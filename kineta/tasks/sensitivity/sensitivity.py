"""Sensitivities of a motion to parameters, forces and its initial state: exact, in the compiled loop."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.calls import public
from kineta.consistency.consistent_start import consistent, refusal
from kineta.drawing import draw, notebook
from kineta.equations.equations import Equations, given_equations
from kineta.errors import ArgumentError, SimulationError, did_you_mean, excerpt, one_of, reworded, shown
from kineta.integration.error_control import StepControl
from kineta.model.dimensions import expression_units, varied_units
from kineta.model.system import System
from kineta.numerics.tableaux import TABLEAUX
from kineta.records import dataclass
from kineta.results.labelled_matrix import aligned
from kineta.results.outcomes import check_complete
from kineta.runtime import run_arguments
from kineta.runtime.problem import SimulationProblem
from kineta.runtime.recorder import bytes_per_step
from kineta.simulation.progress import Progress
from kineta.simulation.run import integrate
from kineta.simulation.solution import Solution
from kineta.tasks.sensitivity.initial_sensitivity import (
    MotionStart,
    check_corner,
    initial_sensitivities,
    motion_start,
)
from kineta.tasks.sensitivity.linearised_motion import Limits, LinearisedMotion, linearised_motion
from kineta.tasks.sensitivity.smooth_part import SmoothPart, may_jump, smooth_part
from kineta.tasks.sensitivity.variational_equations import Varied, code, varied


@public
@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """A motion and its derivatives by the names ``by``.

    Attributes
    ----------
    t : (k,) times [s]
    q, v : (k, nq), (k, nv) coordinates and speeds; q_by, v_by : (k, nq, m), (k, nv, m) their derivatives
    outputs, outputs_by : name to (k,) and (k, m), for the outputs of the model and for goals, which are integrals over the time
    by : names of the variables
    nfev, steps : evaluations of motion and derivatives together, and steps
    units : of all series by name, where known
    kept : under constraints, names of the initial values held fixed; all others depend on the varied ones
    notes : the changes of contacts, limits and switches for which the derivatives hold
    """

    model: str
    by: tuple[str, ...]
    t: FloatArray
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    q: FloatArray
    v: FloatArray
    q_by: FloatArray
    v_by: FloatArray
    outputs: Mapping[str, FloatArray]
    outputs_by: Mapping[str, FloatArray]
    nfev: int
    steps: int
    units: Mapping[str, str]
    kept: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    _repr_html_ = notebook

    def __getitem__(self, name: str) -> FloatArray:
        """Return the derivatives (k, m) of a coordinate, speed, output or goal. Raises :class:`ArgumentError` for others."""
        return self._of(name, self.q_by, self.v_by, self.outputs_by)

    def value(self, name: str) -> FloatArray:
        """Return the values (k,) of a coordinate, speed, output or goal."""
        return self._of(name, self.q, self.v, self.outputs)

    def _of(self, name: str, q: FloatArray, v: FloatArray, outputs: Mapping[str, FloatArray]) -> FloatArray:
        for names, block in ((self.q_names, q), (self.v_names, v)):
            if isinstance(name, str) and name in names:
                return np.asarray(block[:, names.index(name)])
        if not isinstance(name, str) or name not in outputs:
            near = did_you_mean(name, (*self.q_names, *self.v_names, *outputs))
            raise ArgumentError(f"Sensitivities of '{self.model}': there is no series {shown(name)}.{near}")
        return outputs[name]

    def __repr__(self) -> str:
        return f"<Sensitivity of '{self.model}' by {', '.join(self.by)} to t = {self.t[-1]:g} s>"

    @property
    def series(self) -> tuple[str, ...]:
        """The names of coordinates, speeds, outputs and goals."""
        return tuple(dict.fromkeys([*self.q_names, *self.v_names, *self.outputs]))

    def lines(self) -> list[str]:
        """Return the values at the end of the motion, and their derivatives, as text."""
        head = ("", f"at {self.t[-1]:g} s", *(f"by {n}" for n in self.by))
        rows = ((n, *(f"{x + 0.0:.6g}" for x in (self.value(n)[-1], *self[n][-1]))) for n in self.series)
        kept = [f"kept of the initial values: {', '.join(self.kept)}"] if self.kept else []
        return [*aligned(head, *rows), *kept, *self.notes]

    def as_dict(self) -> dict[str, Any]:
        """Return the values at the end of the motion, and their derivatives, as plain data."""
        values = {n: {"value": float(self.value(n)[-1]), "by": self[n][-1].tolist()} for n in self.series}
        data = {"model": self.model, "t": float(self.t[-1]), "by": list(self.by), "series": values}
        return {**data, "kept": list(self.kept), "notes": list(self.notes)}

    def plot(self, *names: str) -> Any:
        """Draw the derivatives of the series *names* (the coordinates, if none are given) over time; returns the figure."""
        return draw(self, names)


def sensitivity(
    system: System | Equations,
    t: float | tuple[float, float],
    by: Iterable[str],
    *,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    tau: Any = None,
    keep: Iterable[str] = (),
    goals: Mapping[str, Expr] | None = None,
    method: str = "dop853",
    rtol: float = 1e-9,
    atol: float = 1e-12,
    t_eval: ArrayLike | None = None,
    samples: int | None = None,
    max_steps: int | None = None,
) -> Sensitivity:
    """Return the motion of *system* over the time *t*, as by :func:`~kineta.simulation.simulate.simulate`, and its derivatives.

    Parameters
    ----------
    by : names of parameters, of coordinates and speeds for their initial values, and ``tau[q1']`` for the force on a speed. A
        quaternion varies by small rotations ``b.Rx`` about the axes of its body, a free body also by shifts ``b.Sx`` along them
    keep : under constraints, names of the initial values held fixed; by default, where *by* names none either, the initial
        speeds stated by the model, with their coordinates. The others are dependent; ``kept`` of the result names the fixed ones
    goals : expressions that are integrated over the time, by name
    q, v, p, tau, rtol, atol, t_eval, samples, max_steps : as for ``simulate``, of one case; forces tau are numbers
    method : ``dop853`` or ``dopri5``; the derivatives are kept to the tolerances as well

    Derivatives go through impacts, changes of contact, stick and slip, and switches: for the changes of this motion in their
    order, as ``notes`` say. Raises :class:`ArgumentError` for unknown names, :class:`SimulationError` for a motion that does not
    reach its end, and where there is no derivative: it grazes a contact, or what comes at one time changes its order.
    """
    t0, t1 = run_arguments.span(t)
    method = one_of(method, TABLEAUX, "a native method")
    rtol, atol, _ = run_arguments.tolerances(rtol, atol, np.inf)
    equations = given_equations(system)
    model = equations.system
    chosen = varied(model, by, keep)
    wanted = _goals(model, goals).items()
    integrands = {n: run_arguments.symbols(model, e, f"goal '{n}'", resulting=True) for n, e in wanted}
    begun = motion_start(model, chosen, q, v, p, tau)
    grid = run_arguments.grid(t0, t1, t_eval, samples)
    return carried(equations, chosen, (t0, t1), begun, integrands, {}, grid, Limits(method, rtol, atol, max_steps))[0]


def carried(
    equations: Equations,
    by: Varied,
    span: tuple[float, float],
    begun: MotionStart,
    goals: Mapping[str, Expr],
    shown: Mapping[str, Expr],
    grid: FloatArray | None,
    limits: Limits,
) -> tuple[Sensitivity, Equations]:
    """Return :func:`sensitivity` of checked arguments, with series *shown*, and the equations without redundant rows."""
    if not may_jump(equations, goals.values()):
        return _smooth(equations, by, span, begun, goals, shown, grid, limits)
    model, smooth = equations.system, smooth_part(equations)
    seen = {o.name: o.value for o in model.expanded.outputs} | dict(shown)
    symbols = [name for name in map(by.symbol, by.names) if name is not None]
    if span[1] < span[0]:
        raise ArgumentError(
            f"Model '{model.name}': derivatives go through contacts, switches and steps forwards in time only; t falls "
            f"from {span[0]:g} s."
        )
    try:
        motion = linearised_motion(
            equations,
            span,
            (begun.q, begun.v, begun.p, begun.forces.constant),
            symbols,
            goals=list(goals.values()),
            shown=list(seen.values()),
            limits=limits,
        )
        if not motion.meets and smooth.names:
            inert, seen_inert = ({n: smooth.plain(e) for n, e in series.items()} for series in (goals, shown))
            found, bare = _smooth(smooth.equations, by, span, begun, inert, seen_inert, grid, limits)
            return replace(found, notes=(f"{excerpt(smooth.names)}: never met in this motion",)), bare
        return _through_events(motion, smooth, by, begun, goals, seen, grid), motion.tangent.equations
    except SimulationError as error:
        if str(error).startswith("Model "):
            raise
        raise reworded(error, f"Model '{model.name}': {error}.") from None


def _through_events(
    motion: LinearisedMotion,
    smooth: SmoothPart,
    by: Varied,
    begun: MotionStart,
    goals: Mapping[str, Expr],
    seen: Mapping[str, Expr],
    grid: FloatArray | None,
) -> Sensitivity:
    """The derivatives along a *motion* that jumps."""
    tangent, model = motion.tangent, motion.tangent.equations.system
    first = motion.pieces[0]
    (t0, y0), nq, nv, n = (float(first.t[0]), first.y[0]), model.nq, model.nv, tangent.states
    S, stay = initial_sensitivities(smooth.equations, by, t0, y0[:nq], y0[nq : nq + nv], begun.p, begun.stated)
    X = np.zeros((n + len(tangent.varied), len(by.names)))
    X[: nq + nv] = S
    for k, name in enumerate(by.names):
        if (symbol := by.symbol(name)) is not None:
            X[n + tangent.varied.index(symbol), k] = 1.0
    motion.check_start(X)
    rows = list(motion.along(X, grid))
    times = np.array([row.t for row in rows])
    y, change = np.array([row.y for row in rows]), np.array([row.X[:n] for row in rows])
    if not first.mode.flags.any():
        check_corner(smooth.equations, begun.p, times, y, change)
    values = [motion.shown(row) for row in rows]
    series = {
        n: (np.array([own[0][k] for own in values]), np.array([own[1][k] for own in values]))
        for k, n in enumerate(seen)
    }
    integrals = motion.integrals(times)
    series |= {name: (integrals[:, k], change[:, nq + nv + k]) for k, name in enumerate(goals)}
    return _found(model, by, times, y, change, series, seen, motion.solution, stay, motion.notes)


def _smooth(
    equations: Equations,
    by: Varied,
    span: tuple[float, float],
    begun: MotionStart,
    goals: Mapping[str, Expr],
    shown: Mapping[str, Expr],
    grid: FloatArray | None,
    limits: Limits,
) -> tuple[Sensitivity, Equations]:
    """The derivatives along a motion that does not jump, in the compiled loop."""
    model, t0 = equations.system, span[0]
    begin = consistent(equations, t0, begun.q, begun.v, begun.p)
    equations, q0, v0 = begin.equations, begin.q, begin.v
    if why := refusal(equations, t0, q0, v0, begun.p, begin.regular):
        raise SimulationError(why)
    seen = {o.name: o.value for o in model.expanded.outputs} | dict(shown)
    made = code(equations, by, list(goals.values()), list(seen.values()))
    S, stay = initial_sensitivities(equations, by, t0, q0, v0, begun.p, begun.stated)
    n, g, m = len(S), len(goals), len(by.names)
    blocks = [np.concatenate([column, np.zeros(g)]) for column in S.T]
    y0 = np.concatenate([q0, v0, np.zeros(g), *blocks, np.zeros(made.layout.integrals)])
    kept = bytes_per_step(len(y0), every=grid is None, keep=False)
    task = SimulationProblem(
        equations=equations,
        made=made.bound(begun.p, begun.forces),
        watched=(),
        t0=t0,
        t1=span[1],
        y0=y0,
        grid=grid,
        method=limits.method,
        control=StepControl(limits.rtol, limits.atol, np.inf, run_arguments.steps(limits.max_steps, kept)),
        dense_output=False,
        regular=begin.regular,
        notes=begin.notes,
    )
    with Progress(*span, shown=False) as bar:
        moved = integrate(task, bar)
    check_complete(model.name, int(moved.status[0]), moved.messages[0])
    times, rows = moved.t[0], moved.y[0]
    states = rows[:, : (n + g) * (m + 1)].reshape(len(rows), m + 1, n + g)
    change = np.moveaxis(states[:, 1:], 1, -1)
    check_corner(equations, begun.p, times, rows, change)
    series = made.observe(times[:, None], rows, task.made.h).reshape(len(rows), m + 1, len(seen))
    told = {name: (series[:, 0, k], series[:, 1:, k]) for k, name in enumerate(seen)}
    told |= {name: (states[:, 0, n + k], change[:, n + k]) for k, name in enumerate(goals)}
    return _found(model, by, times, states[:, 0], change, told, seen, moved, stay, ()), equations


def _found(
    model: System,
    by: Varied,
    times: FloatArray,
    y: FloatArray,
    change: FloatArray,
    series: Mapping[str, tuple[FloatArray, FloatArray]],
    seen: Mapping[str, Expr],
    moved: Solution,
    stay: tuple[str, ...],
    notes: tuple[str, ...],
) -> Sensitivity:
    """The record of states y, their *change* by variables, and *series* with theirs, some of them of the expressions *seen*."""
    nq, n = model.nq, model.nq + model.nv
    return Sensitivity(
        model=model.name,
        by=by.names,
        t=times,
        q_names=model.q_names,
        v_names=model.v_names,
        q=y[:, :nq],
        v=y[:, nq:n],
        q_by=change[:, :nq],
        v_by=change[:, nq:n],
        outputs={name: values for name, (values, _) in series.items()},
        outputs_by={name: slopes for name, (_, slopes) in series.items()},
        nfev=int(moved.nfev[0]),
        steps=int(moved.steps[0]),
        units=varied_units(model) | expression_units(model, seen),
        kept=stay,
        notes=notes,
    )


def _goals(system: System, goals: Mapping[str, Expr] | None) -> dict[str, Expr]:
    if goals is not None and not (isinstance(goals, Mapping) and all(isinstance(e, Expr) for e in goals.values())):
        raise ArgumentError(f"Expected goals as expressions by name, found {shown(goals)}.")
    taken = {*system.q_names, *system.v_names, *(o.name for o in system.outputs)}
    for name in goals or {}:
        if name in taken:
            raise ArgumentError(
                f"Model '{system.name}' has a series '{name}' of its own; give the goal '{name}' another name."
            )
    return dict(goals or {})
