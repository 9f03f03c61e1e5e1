"""The interface of all solvers, and their choice: the native loop, time stepping, SciPy's methods, CVODE and IDA of SUNDIALS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from kineta.arrays import FloatArray
from kineta.integration.error_control import StepControl
from kineta.integration.external import CVODE, IDA, SCIPY, ExternalRun, MethodFunctions
from kineta.integration.native import NativeRun
from kineta.integration.problem import Problem
from kineta.integration.segment import Segment
from kineta.integration.time_stepping import MOREAU, SteppingRun
from kineta.numerics.tableaux import TABLEAUX

#: Methods that control the error of their steps; and all.
ADAPTIVE = (*TABLEAUX, *SCIPY, *CVODE, IDA)
METHODS = (*ADAPTIVE, MOREAU)
#: Words for the method by events: where none is given it goes on by time stepping where it has to, else it insists.
AUTO, EVENTS, BY_EVENTS = "auto", "events", "dop853"
#: All that users may ask for.
CHOICES = (*METHODS, AUTO, EVENTS)


class Solver(Protocol):
    """A method applied to a problem; iterate over it for the segments of its solution.

    problem : the problem being solved, with its present end and block h
    """

    problem: Problem

    @property
    def evaluations(self) -> int:
        """Evaluations of the right-hand side so far, of the residual for IDA."""

    @property
    def rejected(self) -> int:
        """Rejected steps so far, 0 where the method does not count them."""

    def __iter__(self) -> Iterator[Segment]:
        """Segments up to the end, a failure, the last wanted event zero, or the last allowed step."""

    def go_on(self, t1: float, h: FloatArray) -> None:
        """Continue to the time *t1* with another block *h* of the problem; iterate again for the segments."""

    def close(self) -> None:
        """Release what the method holds. It makes no more steps."""


def start(
    method: str, problem: Problem, functions: MethodFunctions, control: StepControl, *, dense: bool, kept: bool
) -> Solver:
    """The *method* at the start of the *problem*.

    With *dense* the segments have solutions, valid until the next segment; with *kept* for ever. Raises
    :class:`MissingPackageError` for CVODE and IDA without scikit-sundae.
    """
    if method in TABLEAUX:
        tableau = TABLEAUX[method]
        return NativeRun(tableau, functions.loop(tableau), problem, **vars(control), dense=dense)
    if method == MOREAU:
        return SteppingRun(problem, *functions.stepping(), control)
    return ExternalRun(method, problem, functions, control, dense=dense, kept=kept)
