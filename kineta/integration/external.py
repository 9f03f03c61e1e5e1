"""External solvers: SciPy's methods, CVODE and IDA of SUNDIALS, step by step."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from itertools import islice
from typing import Any, Protocol

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.errors import KinetaError, MissingPackageError
from kineta.integration.error_control import StepControl, error_tolerances
from kineta.integration.problem import Problem
from kineta.integration.segment import NOT_FINITE, STEP_UNDERFLOW, Segment, failed
from kineta.integration.stepping_records import SteppingData
from kineta.numerics.linear_algebra import lstsq
from kineta.numerics.tableaux import Tableau
from kineta.records import dataclass

Rate = Callable[..., FloatArray]
Jacobian = Callable[[float, FloatArray], FloatArray]

SCIPY = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
CVODE = ("CVODE", "CVODE_ADAMS")
#: The method for differential-algebraic equations.
IDA = "IDA"

#: SciPy's implicit methods, which take a Jacobian, and the method with a maximum norm of the error.
_IMPLICIT = ("Radau", "BDF", "LSODA")
_MAXIMUM_NORM = ("LSODA",)
#: Multistep methods: quadratures take a small part in their error control. One-step methods compute quadratures as accurately as
#: the motion; multistep methods extrapolate them, and an easy motion says nothing about the smoothness of its power.
MULTISTEP = ("BDF", "LSODA", *CVODE, IDA)
#: Tolerance of a state without error control: solvers divide by it and by its reciprocal.
_ANY = 1e100
#: Roundings of the time that the first step of IDA takes at least.
_SEEN = 64.0
#: The largest order of CVODE.
_ORDER = 12


@dataclass(frozen=True, slots=True)
class Implicit:
    """Differential-algebraic equations with ``algebraic`` unknowns after the states of y.

    residual : function of t, y and rate, and of an array ``out`` that receives it, (n,) each
    speeds : range of the states whose rates contain these unknowns
    """

    residual: Callable[..., FloatArray]
    algebraic: int
    speeds: tuple[int, int]


class KinkStops(Protocol):
    """Kinks and steps of a rate.

    guards : None where none depends on the state
    """

    guards: Any

    def stop(self, t: float, end: float) -> tuple[float, float]:
        """Times before and behind the first kink from *t* to *end* that depends on the time alone; twice the time up to which
        there is none.
        """

    def ends(self, t: float, y: FloatArray, right: float) -> tuple[float, ...]:
        """Ends of steps over the kink between *t* and *right*: what is stored in the state y changes in one, between neighbouring
        numbers.
        """

    def leap(self, t: float, behind: FloatArray) -> bool:
        """Count the energy that the time alone changes at the last kink found as work in the state *behind*, where the step over
        it begins at *t*; whether momenta stay.
        """

    def cut(self, segment: Segment) -> Segment | None:
        """A step up to just behind the first kink of the state in it; None where there is none."""

    def tears(self, segment: Segment, at: float) -> bool:
        """Whether places jump at the kink of the state just before the time *at* in *segment*."""


class MethodFunctions(Protocol):
    """What a method takes beside the addresses of a problem, made when it asks for it."""

    def loop(self, tableau: Tableau) -> Callable[..., int]:
        """The compiled loop of a tableau."""

    def rate(self, h: FloatArray) -> Rate:
        """The rate as a function of t and y, and of an array ``out`` that receives it, with the memory of a block *h*."""

    def jacobian(self) -> Jacobian:
        """The Jacobian of the rate, (n, n), a function of t and y."""

    def implicit(self) -> Implicit:
        """The differential-algebraic form."""

    def kinks(self, problem: Problem, h: FloatArray) -> KinkStops | None:
        """Where the rate of the *problem* with the memory of a block *h* has kinks and steps; None for a smooth one."""

    def stepping(self) -> tuple[SteppingData, Callable[[SteppingData], int], Sequence[tuple[str, str]]]:
        """Memory of time stepping, its compiled loop, names and units of contacts."""


class ExternalRun:
    """A method of SciPy or SUNDIALS applied to a problem; iterate over it for its segments, each a step.

    With *dense* the segments have solutions, valid until the next segment; with *kept* for ever. Raises
    :class:`MissingPackageError` for CVODE and IDA without scikit-sundae.
    """

    rejected = 0

    def __init__(
        self,
        method: str,
        problem: Problem,
        functions: MethodFunctions,
        control: StepControl,
        *,
        dense: bool,
        kept: bool,
    ) -> None:
        self.method, self.problem, self.functions, self.control = method, problem, functions, control
        self.dense, self.kept, self.left, self.evaluations = dense, kept, control.max_steps, 0
        self._h = problem.h.copy()
        self.rate = functions.rate(self._h)

    def go_on(self, t1: float, h: FloatArray) -> None:
        """Continue to the time *t1* with another block *h* of the problem; iterate again for the segments."""
        self._h[:] = h
        self.problem = replace(self.problem, h=h, t1=t1)

    def close(self) -> None:
        """Nothing is held beyond the run."""

    def __iter__(self) -> Iterator[Segment]:
        """Segments up to the end, a failure, or the last allowed step. Exceptions of a method end the run."""
        # Solvers of linear systems refuse empty ones; without states all methods agree.
        by = _scipy if self.method in SCIPY or not len(self.problem.y0) else _ida if self.method == IDA else _cvode
        try:
            for segment in islice(self._steps(by), self.left):
                self.left -= 1
                if len(segment.t):
                    self.problem = replace(self.problem, t0=float(segment.t[-1]), y0=segment.y[-1])
                yield segment
                if segment.end is not None:
                    return
        except KinetaError:
            raise
        except ValueError:  # SciPy's error for linear systems with numbers that are not finite
            yield failed(self.problem.t0, self.problem.y0, NOT_FINITE)
        except Exception as error:
            why = f"{self.method} cannot go on ({type(error).__name__}: {error})"
            yield failed(self.problem.t0, self.problem.y0, why)

    def _steps(self, by: Callable[[ExternalRun, Problem], Iterator[Segment]]) -> Iterator[Segment]:
        """The steps of a method, which is restarted at kinks of the rate."""
        kinks, end = self.functions.kinks(self.problem, self._h), self.problem.t1
        if kinks is None:
            yield from by(self, self.problem)
            return
        own, self.dense = self.dense, self.dense or kinks.guards is not None
        t, y = self.problem.t0, self.problem.y0
        while t != end:
            stop, right = kinks.stop(t, end)
            for segment in by(self, replace(self.problem, t0=t, y0=y, t1=stop)) if stop != t else ():
                cut = kinks.cut(segment) if kinks.guards is not None and len(segment.t) else None
                step = cut or segment
                if len(step.t):
                    t, y = float(step.t[-1]), step.y[-1]
                last = "" if t == end else None
                yield replace(step, end=step.end or last, solution=step.solution if own else None)
                if step.end:
                    return
                if cut and kinks.tears(cut, t):
                    yield failed(t, y, STEP_UNDERFLOW)
                    return
                if cut:
                    break
            for to in kinks.ends(t, y, right) if t == stop != right else ():
                rate = self.rate(t, y)
                self.evaluations += 1
                behind, before = y + (to - t) * rate, y
                if not kinks.leap(t, behind):
                    yield failed(t, y, STEP_UNDERFLOW)
                    return
                line = _line(t, before, (behind - before) / (to - t)) if own else None
                yield Segment(t, before, np.array([to]), behind[None], line, "" if to == end else None)
                t, y = to, behind

    def options(self) -> dict[str, Any]:
        """Tolerances for a root-mean-square norm over all states: states without error control contribute no error, and the
        tolerances of the others are scaled accordingly. For multistep methods quadratures have loose tolerances.
        """
        n, steering, control = len(self.problem.y0), self.problem.steering, self.control
        share = 1.0 if self.method in _MAXIMUM_NORM else np.sqrt(max(steering, 1) / max(n, 1))
        atol = share * error_tolerances(n, self.problem.integrals, control.rtol, control.atol)[0]
        if self.method not in MULTISTEP:
            atol[steering:] = _ANY
        return {"rtol": share * control.rtol, "atol": atol, "max_step": control.max_step}


def _line(t0: float, y0: FloatArray, rate: FloatArray) -> Callable[[FloatArray | float], FloatArray]:
    """States on a straight line."""
    return lambda t: (y0 + (np.asarray(t)[..., None] - t0) * rate).T


def _scipy(run: ExternalRun, p: Problem) -> Iterator[Segment]:
    import scipy.integrate

    options, before = run.options(), run.evaluations
    if run.method in _IMPLICIT and len(p.y0):
        options["jac"] = run.functions.jacobian()
    method = run.method if len(p.y0) else "DOP853"
    with np.errstate(all="ignore"):  # values that are not finite near a pole are rejected by the method
        solver = getattr(scipy.integrate, method)(run.rate, p.t0, p.y0, p.t1, **options)
    while solver.status == "running":
        t0, y0 = solver.t, solver.y.copy()
        try:
            with np.errstate(all="ignore"):
                message = solver.step()
        finally:
            run.evaluations = before + solver.nfev
        if solver.status == "failed" or solver.t == t0:  # LSODA reports success without moving
            yield failed(t0, y0, message or STEP_UNDERFLOW)
            return
        solution = solver.dense_output() if run.dense else None
        run.evaluations = before + solver.nfev
        end = "" if solver.status == "finished" else None
        yield Segment(t0, y0, np.array([solver.t]), solver.y[None].copy(), solution, end)


def _cvode(run: ExternalRun, p: Problem) -> Iterator[Segment]:
    try:
        from sksundae import cvode
    except ImportError:
        raise MissingPackageError("scikit-sundae", "sundae") from None
    rate, jacobian = run.rate, run.functions.jacobian()

    def counted(t: float, y: FloatArray, ydot: FloatArray) -> None:
        run.evaluations += 1
        rate(t, y, out=ydot)

    def slope(t: float, y: FloatArray, ydot: FloatArray, J: FloatArray) -> None:
        J[:] = jacobian(t, y)

    kind = "Adams" if run.method.endswith("ADAMS") else "BDF"
    solver = cvode.CVODE(counted, method=kind, jacfn=slope, **_sundials(run.options()))
    solver.init_step(p.t0, p.y0)
    yield from _stepped("CVODE", solver, run, p)


def _ida(run: ExternalRun, p: Problem) -> Iterator[Segment]:
    try:
        from sksundae import ida
    except ImportError:
        raise MissingPackageError("scikit-sundae", "sundae") from None
    options, given = run.options(), run.functions.implicit()
    n, m, speeds, residual = len(p.y0), given.algebraic, slice(*given.speeds), given.residual

    def counted(t: float, y: FloatArray, rate: FloatArray, out: FloatArray) -> None:
        run.evaluations += 1
        residual(t, y, rate, out=out)

    rate = np.concatenate([run.rate(p.t0, p.y0), np.zeros(m)])
    free, *pushed = (residual(p.t0, np.r_[p.y0, e], rate)[speeds] for e in (np.zeros(m), *np.eye(m)))
    unknown = (
        lstsq(np.array([x - free for x in pushed]).T, -free, what="the multipliers of the start") if m else np.empty(0)
    )
    options["atol"] = np.r_[options["atol"], np.full(m, _ANY)]
    # The method's own first step, half of that in which states change by their tolerances, may be lost in the time.
    quick = rate[:n] / (options["rtol"] * np.abs(p.y0) + options["atol"][:n])
    seen = _SEEN * tolerances.EPS * abs(p.t0)
    if 0.5 * np.sqrt(n + m) < seen * np.sqrt(quick @ quick):
        options["first_step"] = np.copysign(min(seen, 0.1 * abs(p.t1 - p.t0)), p.t1 - p.t0)
    places = list(range(n, n + m)) or None
    solver = ida.IDA(counted, algebraic_idx=places, **_sundials(options))
    solver.init_step(p.t0, np.r_[p.y0, unknown], rate)
    yield from _stepped("IDA", solver, run, p)


def _sundials(options: dict[str, Any]) -> dict[str, Any]:
    """The *options* in the words of SUNDIALS, with its logging turned off: the run reports failures."""
    for level in ("WARNING", "ERROR"):
        os.environ.setdefault(f"SUNLOGGER_{level}_FILENAME", os.devnull)
    return options if np.isfinite(options["max_step"]) else options | {"max_step": 0.0}


def _stepped(name: str, solver: Any, run: ExternalRun, p: Problem) -> Iterator[Segment]:
    """The steps of an initialised *solver* of SUNDIALS, without algebraic unknowns."""
    n = len(p.y0)
    t0, y0 = p.t0, p.y0.copy()
    while t0 != p.t1:
        with redirect_stdout(StringIO()):  # at a failure scikit-sundae prints the message that the run reports
            state = solver.step(p.t1, method="onestep", tstop=p.t1)
        t1, y1 = float(np.ravel(state.t)[-1]), np.atleast_2d(state.y)[-1][:n].copy()
        if not state.success or t1 == t0:
            yield failed(t0, y0, STEP_UNDERFLOW if state.success else f"{name}: {state.message}")
            return
        between = SundialsInterpolant(solver, t0, y0, t1, y1, p.t1)
        solution = between.kept() if run.kept else between
        yield Segment(t0, y0, np.array([t1]), y1[None], solution, "" if t1 == p.t1 else None)
        between.done()
        t0, y0 = t1, y1


class SundialsInterpolant:
    """The solution over the last step of a solver of SUNDIALS, from (t0, y0) to (t1, y1), by its own interpolation: a
    function t -> (n,) or (n, len(t)), valid until the next step.
    """

    def __init__(self, solver: Any, t0: float, y0: FloatArray, t1: float, y1: FloatArray, stop: float) -> None:
        self._solver, self._stop = solver, stop
        self._ends = {t0: y0, t1: y1}
        self._t0, self._t1 = t0, t1
        self._asked = False

    def __call__(self, t: FloatArray | float) -> FloatArray:
        """States at *t*."""
        value = np.array([self._at(x) for x in np.atleast_1d(t).tolist()])
        return value[0] if np.ndim(t) == 0 else value.T

    def _at(self, t: float) -> FloatArray:
        if t in self._ends:
            return self._ends[t]
        self._asked = True
        state = np.ravel(self._solver.step(t, method="normal", tstop=self._stop).y)
        return np.array(state[: len(self._ends[self._t0])])

    def kept(self) -> ChebyshevInterpolant:
        """A permanent copy: a Chebyshev polynomial of the largest order of CVODE."""
        from numpy.polynomial.chebyshev import chebinterpolate

        middle, half = (self._t0 + self._t1) / 2, (self._t1 - self._t0) / 2

        def values(x: FloatArray) -> Any:  # of arrays, unknown to NumPy's type hints
            return self(middle + half * x).T

        return ChebyshevInterpolant(middle, half, chebinterpolate(values, _ORDER))

    def done(self) -> None:
        """Return the solver to the end of the step."""
        if self._asked:
            self._solver.step(self._t1, method="normal", tstop=self._stop)


@dataclass(frozen=True, slots=True)
class ChebyshevInterpolant:
    """A polynomial over one step: its midpoint, its half-width, and Chebyshev coefficients (k, n)."""

    middle: float
    half: float
    coefficients: FloatArray

    def __call__(self, t: FloatArray | float) -> FloatArray:
        """States at *t*: (n,) or (n, len(t))."""
        from numpy.polynomial.chebyshev import chebval

        return np.asarray(chebval((np.asarray(t) - self.middle) / self.half, self.coefficients))
