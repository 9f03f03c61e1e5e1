"""Solutions in segments: the native integrator, SciPy's methods and SUNDIALS CVODE behind one interface."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebinterpolate, chebval
from numpy.typing import NDArray

from kineta.errors import KinetaError, MissingPackageError, one_of
from kineta.numerics import layout
from kineta.numerics.explicit import DenseOutput, Run
from kineta.numerics.problem import Problem
from kineta.numerics.tableaux import TABLEAUX, Tableau

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Jacobian = Callable[[float, FloatArray], FloatArray]

SCIPY = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
CVODE = ("CVODE", "CVODE_ADAMS")
METHODS = (*TABLEAUX, *SCIPY, *CVODE)

#: Methods of SciPy that take a Jacobian, and the one whose norm is the largest error, not a mean.
_IMPLICIT = ("Radau", "BDF", "LSODA")
_LARGEST = ("LSODA",)
#: The tolerance of a state that steers nothing: methods divide by it, and by its reciprocal.
_ANY = 1e100
#: The largest order of CVODE.
_ORDER = 12

#: Why a native method cannot go on.
FAILURES = {
    layout.STEP_TOO_SMALL: "the step size became too small to be seen in the time",
    layout.NOT_FINITE: "the accelerations are not finite, however small the step",
}


@dataclass(frozen=True, slots=True)
class Segment:
    """Accepted steps from (t0, y0): times (k,), states (k, n), and the solution between them.

    ``end`` is None where the run goes on, ``""`` at its end, and a sentence where it failed. ``zeros`` are those of events that
    the method has found: which event's, (m,), times (m,) and states (m, n). Where ``odd`` is set, they are still to be found
    over the last step.
    """

    t0: float
    y0: FloatArray
    t: FloatArray
    y: FloatArray
    solution: Callable[[FloatArray], FloatArray] | None
    end: str | None
    odd: bool = True
    zeros: tuple[IntArray, FloatArray, FloatArray] | None = None


def _failed(t0: float, y0: FloatArray, why: str) -> Segment:
    """The end of a run that got no further than (t0, y0)."""
    return Segment(t0, y0, np.empty(0), np.empty((0, len(y0))), None, why.rstrip("."), odd=False)


class Integration:
    """A method at work on a problem; iterate over it for its segments.

    *integrator* gives the compiled loop of a native method, *jacobian* the derivative of the rate by the state,
    (t, y) -> (n, n), for implicit ones. With *dense* the segments have solutions, which hold until the next segment is asked
    for; with *kept* for ever. After *max_steps* steps there are no more. Raises :class:`ArgumentError` for an unknown method,
    :class:`MissingPackageError` for CVODE without scikit-sundae.
    """

    def __init__(
        self,
        integrator: Callable[[Tableau], Callable[..., int]],
        jacobian: Callable[[], Jacobian],
        method: str,
        problem: Problem,
        *,
        rtol: float,
        atol: float,
        max_step: float,
        max_steps: int,
        dense: bool,
        kept: bool,
    ) -> None:
        self.method = one_of(method, METHODS, "a method")
        self.problem = problem
        self.rtol, self.atol, self.max_step = rtol, atol, max_step
        self.max_steps = max_steps
        self.jacobian, self.dense, self.kept = jacobian, dense, kept
        self._evaluations = 0
        self._run: Run | None = None
        if method in TABLEAUX:
            tableau = TABLEAUX[method]
            steps = {"rtol": rtol, "atol": atol, "max_step": max_step}
            self._run = Run(tableau, integrator(tableau), problem, **steps, max_steps=max_steps, dense=dense)

    @property
    def evaluations(self) -> int:
        """Evaluations of the right-hand side so far."""
        return self._run.evaluations if self._run else self._evaluations

    @property
    def rejected(self) -> int:
        """Steps tried in vain so far, where the method tells."""
        return self._run.rejected if self._run else 0

    def __iter__(self) -> Iterator[Segment]:
        if self._run:
            return self._native(self._run)
        return self._foreign(self._scipy() if self.method in SCIPY else self._cvode())

    def rate(self, t: float, y: FloatArray) -> FloatArray:
        """The right-hand side, (n,)."""
        self._evaluations += 1
        return self.problem.rate(t, y)

    def _options(self) -> dict[str, Any]:
        """Tolerances for a method whose norm is the root of the mean square over all states: a state that steers nothing
        counts as one without an error, and those that steer get what it dilutes.
        """
        n, steering = len(self.problem.y0), self.problem.steering
        share = 1.0 if self.method in _LARGEST else np.sqrt(steering / max(n, 1))
        atol = np.full(n, share * self.atol)
        atol[steering:] = _ANY
        return {"rtol": share * self.rtol, "atol": atol, "max_step": self.max_step}

    def _native(self, run: Run) -> Iterator[Segment]:
        for piece in run:
            solution = None
            if piece.dense is not None:
                solution = DenseOutput(np.r_[piece.t0, piece.t], np.vstack([piece.y0, piece.y]), piece.dense)
            end = None if piece.status in (layout.PAUSED, layout.EVENT) else FAILURES.get(piece.status, "")
            yield Segment(piece.t0, piece.y0, piece.t, piece.y, solution, end, piece.odd, piece.zeros)

    def _foreign(self, steps: Iterator[Segment]) -> Iterator[Segment]:
        """*steps* of a method of others: what it raises is the end of the run, not of its record."""
        t0, y0 = self.problem.t0, self.problem.y0
        try:
            for segment in islice(steps, self.max_steps):
                t0, y0 = float(segment.t[-1]) if len(segment.t) else t0, segment.y[-1] if len(segment.y) else y0
                yield segment
        except KinetaError:
            raise
        except Exception as error:
            yield _failed(t0, y0, f"{self.method} cannot go on ({type(error).__name__}: {error})")

    def _scipy(self) -> Iterator[Segment]:
        import scipy.integrate

        p, options = self.problem, self._options()
        if self.method in _IMPLICIT:
            options["jac"] = self.jacobian()
        with np.errstate(all="ignore"):  # what is not finite on the way to a pole is the method's to reject
            solver = getattr(scipy.integrate, self.method)(self.rate, p.t0, p.y0, p.t1, **options)
        while solver.status == "running":
            t0, y0 = solver.t, solver.y.copy()
            with np.errstate(all="ignore"):
                message = solver.step()
            if solver.status == "failed" or solver.t == t0:  # LSODA reports success without moving
                yield _failed(t0, y0, message or FAILURES[layout.STEP_TOO_SMALL])
                return
            solution = solver.dense_output() if self.dense else None
            end = "" if solver.status == "finished" else None
            yield Segment(t0, y0, np.array([solver.t]), solver.y[None].copy(), solution, end)

    def _cvode(self) -> Iterator[Segment]:
        try:
            from sksundae import cvode
        except ImportError:
            raise MissingPackageError("scikit-sundae", "sundae") from None
        p, options, jacobian = self.problem, self._options(), self.jacobian()

        def rate(t: float, y: FloatArray, ydot: FloatArray) -> None:
            ydot[:] = self.rate(t, y)

        def slope(t: float, y: FloatArray, ydot: FloatArray, J: FloatArray) -> None:
            J[:] = jacobian(t, y)

        for level in ("WARNING", "ERROR"):  # what SUNDIALS would print is said by the run
            os.environ.setdefault(f"SUNLOGGER_{level}_FILENAME", os.devnull)
        options["max_step"] = 0.0 if np.isinf(self.max_step) else self.max_step
        kind = "Adams" if self.method.endswith("ADAMS") else "BDF"
        solver = cvode.CVODE(rate, method=kind, jacfn=slope, **options)
        solver.init_step(p.t0, p.y0)
        t0, y0 = p.t0, p.y0.copy()
        while t0 != p.t1:
            state = solver.step(p.t1, method="onestep", tstop=p.t1)
            t1, y1 = float(np.ravel(state.t)[-1]), np.atleast_2d(state.y)[-1].copy()
            if not state.success or t1 == t0:
                yield _failed(t0, y0, FAILURES[layout.STEP_TOO_SMALL] if state.success else f"CVODE: {state.message}")
                return
            between = Between(solver, t0, y0, t1, y1, p.t1)
            solution = between.kept() if self.kept else between
            yield Segment(t0, y0, np.array([t1]), y1[None], solution, "" if t1 == p.t1 else None)
            between.done()
            t0, y0 = t1, y1


class Between:
    """The solution over the last step that CVODE has made, from (t0, y0) to (t1, y1), by its own interpolation: a function
    t -> (n,) or (n, len(t)), until the next step.
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
        return np.ravel(self._solver.step(t, method="normal", tstop=self._stop).y).copy()

    def kept(self) -> Polynomial:
        """The same for ever: a polynomial, of the largest order that CVODE has."""
        middle, half = (self._t0 + self._t1) / 2, (self._t1 - self._t0) / 2

        def values(x: FloatArray) -> Any:  # of several numbers, which NumPy's types do not know
            return self(middle + half * x).T

        return Polynomial(middle, half, chebinterpolate(values, _ORDER))

    def done(self) -> None:
        """Let the solver go on: it would return to the end of the step first."""
        if self._asked:
            self._solver.step(self._t1, method="normal", tstop=self._stop)


@dataclass(frozen=True, slots=True)
class Polynomial:
    """A polynomial over one step: its middle, half its length, and coefficients (k, n) of Chebyshev's polynomials."""

    middle: float
    half: float
    coefficients: FloatArray

    def __call__(self, t: FloatArray | float) -> FloatArray:
        """States at *t*: (n,) or (n, len(t))."""
        return np.asarray(chebval((np.asarray(t) - self.middle) / self.half, self.coefficients))
