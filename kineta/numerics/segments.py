"""Solutions in segments: the native integrator, SciPy's methods, CVODE and IDA of SUNDIALS behind one interface."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from kineta.errors import KinetaError
from kineta.numerics import foreign, layout
from kineta.numerics.explicit import DenseOutput, Run
from kineta.numerics.foreign import CVODE, IDA, SCIPY, STUCK, Implicit, Jacobian
from kineta.numerics.problem import Problem
from kineta.numerics.segment import Segment, failed
from kineta.numerics.tableaux import TABLEAUX, Tableau

FloatArray = NDArray[np.float64]

METHODS = (*TABLEAUX, *SCIPY, *CVODE, IDA)

#: Why a native method cannot go on.
FAILURES = {
    layout.STEP_TOO_SMALL: STUCK,
    layout.NOT_FINITE: "the accelerations are not finite, however small the step",
}


class Integration:
    """A method at work on a problem; iterate over it for its segments.

    *integrator* gives the compiled loop of a native method, *jacobian* the derivative of the rate by the state,
    (t, y) -> (n, n), for implicit ones, *implicit* the equations for differential-algebraic ones. With *dense* the segments have
    solutions, which hold until the next segment is asked for; with *kept* for ever. After *max_steps* steps there are no more.
    Raises :class:`ArgumentError` for an unknown method, :class:`MissingPackageError` for CVODE and IDA without scikit-sundae.
    """

    def __init__(
        self,
        integrator: Callable[[Tableau], Callable[..., int]],
        jacobian: Callable[[], Jacobian],
        implicit: Callable[[], Implicit],
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
        self.method = method
        self.problem = problem
        self.rtol, self.atol, self.left = rtol, atol, max_steps
        self._evaluations = 0
        self._reached = problem.t0, problem.y0
        self._run: Run | None = None
        if method in TABLEAUX:
            tableau = TABLEAUX[method]
            size = {"rtol": rtol, "atol": atol, "max_step": max_step}
            self._run = Run(tableau, integrator(tableau), problem, **size, max_steps=max_steps, dense=dense)
        self._task = foreign.Task(problem, self.rate, jacobian, implicit, rtol, atol, max_step, dense, kept)

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
        return self._foreign(foreign.steps(self.method, self._task))

    def go_on(self, t1: float, h: FloatArray) -> None:
        """Go on to the time *t1* with another block *h* of the problem; iterate once more for the segments."""
        if self._run:
            self._run.go_on(t1, h)
        else:
            t0, y0 = self._reached
            self.problem = replace(self.problem, h=h, t0=t0, t1=t1, y0=y0)
            self._task = replace(self._task, problem=self.problem)

    def restart(self, problem: Problem, longest: float) -> None:
        """Go on, with a native method, with another problem of the same size, with steps no longer than *longest* at first."""
        assert self._run is not None
        self._run.restart(problem, longest)

    def rate(self, t: float, y: FloatArray) -> FloatArray:
        """The right-hand side, (n,)."""
        self._evaluations += 1
        return self.problem.rate(t, y)

    def _native(self, run: Run) -> Iterator[Segment]:
        for piece in run:
            solution = None
            if piece.dense is not None:
                t, y = (np.concatenate([[a], b]) for a, b in ((piece.t0, piece.t), (piece.y0, piece.y)))
                solution = DenseOutput(t, y, piece.sizes, piece.dense)
            end = None if piece.status in (layout.PAUSED, layout.EVENT) else FAILURES.get(piece.status, "")
            rest = piece.odd, piece.zeros, piece.changed, run.problem
            yield Segment(piece.t0, piece.y0, piece.t, piece.y, solution, end, *rest)

    def _foreign(self, steps: Iterator[Segment]) -> Iterator[Segment]:
        """*steps* of a method of others: what it raises is the end of the run, not of its record."""
        t0, y0 = self._reached = self.problem.t0, self.problem.y0
        try:
            for segment in islice(steps, self.left):
                self.left -= 1
                if len(segment.t):
                    t0, y0 = self._reached = float(segment.t[-1]), segment.y[-1]
                yield segment
                if segment.end is not None:
                    return
        except KinetaError:
            raise
        except ValueError:  # so SciPy refuses to solve equations with numbers that are none
            yield failed(t0, y0, FAILURES[layout.NOT_FINITE])
        except Exception as error:
            yield failed(t0, y0, f"{self.method} cannot go on ({type(error).__name__}: {error})")
