"""Simulation problem: the checked arguments of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kineta.arrays import FloatArray
from kineta.equations.equations import Equations
from kineta.integration.error_control import StepControl, error_controlled
from kineta.integration.time_stepping import MOREAU
from kineta.model.system import System
from kineta.records import constant_record, dataclass
from kineta.runtime.compiled import BoundSystem
from kineta.runtime.events import Event
from kineta.threads import once

#: What may carry the cases of an ensemble: the cores of this machine, a graphics processor.
CARRIERS = ("llvm", "cuda")


@dataclass(eq=False)
class RunStart:
    """Start of a motion, or of several cases of it: the bound system *made*, the state *y0*, (n,) or (cases, n), ``regular``
    states and ``notes``, as in :class:`SimulationProblem`.

    settled : *y0* on the constraints, once it is known that motions go on from there
    """

    made: BoundSystem
    y0: FloatArray
    regular: Sequence[tuple[FloatArray, FloatArray]]
    notes: tuple[str, ...]
    settled: FloatArray | None = None


@constant_record
class SimulationProblem:
    """Motion of *equations* with the bound system *made* from *t0* to *t1*; or of several cases, with different states and
    parameters.

    y0 : (n,) or (cases, n) initial states: coordinates, speeds, quadratures
    grid : (k,) times to record, None for every step
    notes : sentences for the result
    regular : states (q, v) with independent constraints, at least one
    falls_back : whether a motion by events goes on by time stepping where it has to
    start : what is known of the start, which may be that of other runs
    backend : what carries cases, of :data:`CARRIERS`
    """

    equations: Equations
    made: BoundSystem
    watched: Sequence[Event]
    t0: float
    t1: float
    y0: FloatArray
    grid: FloatArray | None
    method: str
    control: StepControl
    dense_output: bool
    regular: Sequence[tuple[FloatArray, FloatArray]] = ()
    notes: tuple[str, ...] = ()
    falls_back: bool = False
    start: RunStart | None = None
    backend: str = "llvm"

    @once
    def system(self) -> System:
        """Simulated system."""
        return self.equations.system

    @property
    def cases(self) -> int | None:
        """Number of cases, None for one motion."""
        return None if self.y0.ndim == 1 else len(self.y0)

    @once
    def states(self) -> int:
        """Number of coordinates, speeds and derivatives of speeds at the head of y."""
        return self.made.code.layout.states(self.system)

    @property
    def levels(self) -> tuple[tuple[str, str, int], ...]:
        """Derivatives of the speeds among the states: name, name of the speed, number of derivatives."""
        orders = range(1, self.made.code.layout.order - 1)
        return tuple((name + "'" * k, name, k) for k in orders for name in self.system.v_names)

    @property
    def steering(self) -> int:
        """Number of entries at the head of y under error control."""
        return error_controlled(self.y0.shape[-1], self.made.code.layout.integrals)

    @property
    def direction(self) -> float:
        """Direction of time: 1, or -1 backwards."""
        return 1.0 if self.t1 > self.t0 else -1.0

    @once
    def has_modes(self) -> bool:
        """True where the motion is a hybrid automaton."""
        return self.method != MOREAU and bool(self.system.contacts or self.system.switches)

    @once
    def quaternions(self) -> list[int]:
        """Offsets of the quaternions in y."""
        return list(self.system.quaternions.values())

    def case(self, i: int) -> SimulationProblem:
        """Simulation problem of one case."""
        return replace(self, y0=self.y0[i], made=self.made.case(i))
