"""Solutions in segments: the native integrator, SciPy's methods and SUNDIALS CVODE behind one interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ArgumentError, MissingPackageError, did_you_mean
from kineta.numerics import layout
from kineta.numerics.explicit import DenseOutput, Run
from kineta.numerics.problem import Problem
from kineta.numerics.tableaux import TABLEAUX, Tableau

FloatArray = NDArray[np.float64]

SCIPY = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
CVODE = ("CVODE", "CVODE_ADAMS")
METHODS = (*TABLEAUX, *SCIPY, *CVODE)

_FAILURES = {
    layout.STEP_TOO_SMALL: "the step size became too small to be seen in the time",
    layout.NOT_FINITE: "the accelerations are not finite, however small the step",
}


@dataclass(frozen=True, slots=True)
class Segment:
    """Accepted steps from (t0, y0): times (k,), states (k, n), and the solution between them.

    ``end`` is None where the run goes on, ``""`` at its end, and a sentence where it failed. Event functions may have changed
    their signs over the last step, and only where ``crossed`` is set.
    """

    t0: float
    y0: FloatArray
    t: FloatArray
    y: FloatArray
    solution: Callable[[FloatArray], FloatArray] | None
    end: str | None
    crossed: bool


def _failed(t0: float, y0: FloatArray, why: str) -> Segment:
    """The end of a run that got no further than (t0, y0)."""
    return Segment(t0, y0, np.empty(0), np.empty((0, len(y0))), None, why.rstrip("."), False)


class Integration:
    """A method at work on a problem; iterate over it for its segments.

    *integrator* gives the compiled loop of a native method. Raises :class:`ArgumentError` for an unknown
    method, :class:`MissingPackageError` for CVODE without scikit-sundae.
    """

    def __init__(
        self,
        integrator: Callable[[Tableau], Callable[..., int]],
        method: str,
        problem: Problem,
        *,
        rtol: float,
        atol: FloatArray | float,
        max_step: float,
        dense: bool,
    ) -> None:
        if method not in METHODS:
            raise ArgumentError(
                f"Expected a method ({', '.join(METHODS)}), found '{method}'.{did_you_mean(str(method), reversed(METHODS))}"
            )
        self.method = method
        self.problem = problem
        self.options: dict[str, Any] = {"rtol": rtol, "atol": atol, "max_step": max_step}
        self.dense = dense
        self._evaluations = 0
        self._run: Run | None = None
        if method in TABLEAUX:
            tableau = TABLEAUX[method]
            self._run = Run(tableau, integrator(tableau), problem, **self.options, dense=dense)

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
        return self._scipy() if self.method in SCIPY else self._cvode()

    def rate(self, t: float, y: FloatArray) -> FloatArray:
        """The right-hand side, (n,)."""
        self._evaluations += 1
        return self.problem.rate(t, y)

    def _native(self, run: Run) -> Iterator[Segment]:
        for piece in run:
            solution = None
            if piece.dense is not None:
                solution = DenseOutput(np.r_[piece.t0, piece.t], np.vstack([piece.y0, piece.y]), piece.dense)
            end = None if piece.status in (layout.PAUSED, layout.EVENT) else _FAILURES.get(piece.status, "")
            yield Segment(piece.t0, piece.y0, piece.t, piece.y, solution, end, piece.crossed)

    def _scipy(self) -> Iterator[Segment]:
        import scipy.integrate

        p = self.problem
        solver = getattr(scipy.integrate, self.method)(self.rate, p.t0, p.y0, p.t1, **self.options)
        while solver.status == "running":
            t0, y0 = solver.t, solver.y.copy()
            message = solver.step()
            if solver.status == "failed" or solver.t == t0:  # LSODA reports success without moving
                yield _failed(t0, y0, message or _FAILURES[layout.STEP_TOO_SMALL])
                return
            end = "" if solver.status == "finished" else None
            yield Segment(t0, y0, np.array([solver.t]), solver.y[None].copy(), solver.dense_output(), end, True)

    def _cvode(self) -> Iterator[Segment]:
        try:
            from sksundae import cvode
        except ImportError:
            raise MissingPackageError("scikit-sundae", "sundae") from None
        p = self.problem

        def rate(t: float, y: FloatArray, ydot: FloatArray) -> None:
            ydot[:] = self.rate(t, y)

        options = {**self.options, "max_step": 0.0 if np.isinf(self.options["max_step"]) else self.options["max_step"]}
        kind = "Adams" if self.method.endswith("ADAMS") else "BDF"
        solver = cvode.CVODE(rate, method=kind, **options)
        state = solver.init_step(p.t0, p.y0)
        t0, y0 = p.t0, p.y0.copy()
        while t0 != p.t1:
            state = solver.step(p.t1, method="onestep", tstop=p.t1)
            t1, y1 = float(np.ravel(state.t)[-1]), np.atleast_2d(state.y)[-1].copy()
            if not state.success or t1 == t0:
                yield _failed(t0, y0, _FAILURES[layout.STEP_TOO_SMALL] if state.success else f"CVODE: {state.message}")
                return
            solution = Hermite(t0, y0, self.rate(t0, y0), t1, y1, self.rate(t1, y1)) if self.dense else None
            yield Segment(t0, y0, np.array([t1]), y1[None], solution, "" if t1 == p.t1 else None, True)
            t0, y0 = t1, y1


class Hermite:
    """The cubic through two states with given derivatives."""

    def __init__(self, t0: float, y0: FloatArray, f0: FloatArray, t1: float, y1: FloatArray, f1: FloatArray) -> None:
        self.t0, self.h = t0, t1 - t0
        self.y0, self.change = y0, y1 - y0
        self.f0, self.f1 = self.h * f0, self.h * f1

    def __call__(self, t: FloatArray) -> FloatArray:
        """States at *t*: (n,) or (n, len(t))."""
        x = (np.asarray(t) - self.t0) / self.h
        x = x[..., None] if np.ndim(x) else x
        inner = self.f0 - self.change + x * (2 * self.change - self.f0 - self.f1)
        value = self.y0 + x * (self.change + (1 - x) * inner)
        return value.T
