"""One interface to all solvers: the native loop, SciPy's methods, CVODE and IDA of SUNDIALS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from kineta.arrays import FloatArray
from kineta.errors import KinetaError
from kineta.integration import external, loop_abi
from kineta.integration.external import CVODE, IDA, SCIPY, STEP_UNDERFLOW, Implicit, Jacobian
from kineta.integration.native import DenseOutput, NativeRun
from kineta.integration.problem import Problem
from kineta.integration.segment import Segment, failed
from kineta.numerics.tableaux import TABLEAUX, Tableau

METHODS = (*TABLEAUX, *SCIPY, *CVODE, IDA)

#: Reasons for a failure of the native method.
FAILURES = {
    loop_abi.STEP_TOO_SMALL: STEP_UNDERFLOW,
    loop_abi.NOT_FINITE: "the accelerations are not finite, however small the step",
}


class Integration:
    """A method applied to a problem; iterate over it for its segments.

    *integrator* gives the compiled loop of a native method, *jacobian* the derivative of the rate by the state, (t, y) ->
    (n, n), for implicit methods, *implicit* the differential-algebraic equations for IDA. With *dense* the segments have
    solutions, valid until the next segment; with *kept* for ever. It ends after *max_steps* steps. Raises
    :class:`ArgumentError` for an unknown method, :class:`MissingPackageError` for CVODE and IDA without scikit-sundae.
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
        self._run: NativeRun | None = None
        if method in TABLEAUX:
            tableau = TABLEAUX[method]
            size = {"rtol": rtol, "atol": atol, "max_step": max_step}
            self._run = NativeRun(tableau, integrator(tableau), problem, **size, max_steps=max_steps, dense=dense)
        self._task = external.SolverSetup(problem, self.rate, jacobian, implicit, rtol, atol, max_step, dense, kept)

    @property
    def evaluations(self) -> int:
        """Evaluations of the right-hand side so far."""
        return self._run.evaluations if self._run else self._evaluations

    @property
    def rejected(self) -> int:
        """Rejected steps so far, if the method counts them."""
        return self._run.rejected if self._run else 0

    def __iter__(self) -> Iterator[Segment]:
        if self._run:
            return self._native(self._run)
        return self._foreign(external.steps(self.method, self._task))

    def go_on(self, t1: float, h: FloatArray) -> None:
        """Continue to the time *t1* with another block *h* of the problem; iterate again for the segments."""
        if self._run:
            self._run.go_on(t1, h)
        else:
            t0, y0 = self._reached
            self.problem = replace(self.problem, h=h, t0=t0, t1=t1, y0=y0)
            self._task = replace(self._task, problem=self.problem)

    def restart(self, problem: Problem, longest: float) -> None:
        """Continue a native method with another problem of the same size, with a next step of at most *longest*."""
        assert self._run is not None
        self._run.restart(problem, longest)

    def rate(self, t: float, y: FloatArray) -> FloatArray:
        """The right-hand side, (n,)."""
        self._evaluations += 1
        return self.problem.rate(t, y)

    def _native(self, run: NativeRun) -> Iterator[Segment]:
        for piece in run:
            solution = None
            if piece.dense is not None:
                t, y = (np.concatenate([[a], b]) for a, b in ((piece.t0, piece.t), (piece.y0, piece.y)))
                solution = DenseOutput(t, y, piece.sizes, piece.dense)
            end = None if piece.status in (loop_abi.PAUSED, loop_abi.EVENT) else FAILURES.get(piece.status, "")
            rest = piece.odd, piece.zeros, piece.changed, run.problem
            yield Segment(piece.t0, piece.y0, piece.t, piece.y, solution, end, *rest)

    def _foreign(self, steps: Iterator[Segment]) -> Iterator[Segment]:
        """The *steps* of an external solver; its exceptions end the run and keep the record."""
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
        except ValueError:  # SciPy's error for linear systems with numbers that are not finite
            yield failed(t0, y0, FAILURES[loop_abi.NOT_FINITE])
        except Exception as error:
            yield failed(t0, y0, f"{self.method} cannot go on ({type(error).__name__}: {error})")
