"""What a run is asked for, after every argument has been checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import Equations
from kineta.model.system import System
from kineta.numerics.steering import steering
from kineta.tasks.code import Bound
from kineta.tasks.events import Event

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Task:
    """The motion of *equations* with the code *made* from *t0* to *t1*; or of several cases, which differ in states and numbers.

    y0 : (n,) or (cases, n) initial states: coordinates, speeds, and the work done where the code has it
    grid : (k,) times to record, None for every step
    notes : what the result is to say
    regular : states (q, v) in which the constraints are independent, one at least
    """

    equations: Equations
    made: Bound
    watched: Sequence[Event]
    t0: float
    t1: float
    y0: FloatArray
    grid: FloatArray | None
    method: str
    rtol: float
    atol: float
    max_step: float
    max_steps: int
    dense_output: bool
    regular: Sequence[tuple[FloatArray, FloatArray]] = ()
    notes: tuple[str, ...] = ()

    @property
    def system(self) -> System:
        """The system that moves."""
        return self.equations.system

    @property
    def states(self) -> int:
        """Number of coordinates, speeds, and derivatives of these that are states, the first in y."""
        return self.made.code.layout.states(self.system)

    @property
    def levels(self) -> tuple[tuple[str, str, int], ...]:
        """The derivatives of the speeds that are states: name, that of the speed, and how many derivatives of it."""
        orders = range(1, self.made.code.layout.order - 1)
        return tuple((name + "'" * k, name, k) for k in orders for name in self.system.v_names)

    @property
    def steering(self) -> int:
        """How many of the first numbers in y steer the step size."""
        return steering(self.y0.shape[-1], self.made.code.layout.integrals)

    @property
    def quaternions(self) -> list[int]:
        """Offsets of the quaternions in y."""
        return list(self.system.quaternions.values())

    def case(self, i: int) -> Task:
        """The task of one case."""
        return replace(self, y0=self.y0[i], made=self.made.case(i))
