"""Poincaré sections: the states in which a motion crosses a surface in the space of states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kineta.algebra.expression import Expr
from kineta.equations.equations import Equations
from kineta.errors import ArgumentError, SimulationError
from kineta.model.system import System
from kineta.results.outcomes import check_complete
from kineta.results.series import Series
from kineta.runtime.events import event
from kineta.simulation.simulate import simulate


@dataclass(frozen=True, eq=False, repr=False)
class PoincareSection(Series):
    """The states of a motion at the times t at which *section* rises through zero: ``series`` has coordinates and speeds."""

    section: str

    def findings(self) -> dict[str, Any]:
        """Return the expression."""
        return {"section": self.section}


def poincare_section(
    system: System | Equations, t: float, section: Expr, *, q: Any = None, v: Any = None, p: Any = None
) -> PoincareSection:
    """Return the states in which the motion of *system* to the time *t* [s] crosses *section* = 0 from below.

    section : an expression of coordinates and speeds
    q, v, p : as for :func:`~kineta.simulation.simulate.simulate`, of one case

    Raises :class:`ArgumentError` for several cases, :class:`SimulationError` for a motion that does not reach its end, and for
    one without a crossing.
    """
    run = simulate(system, t, q=q, v=v, p=p, events=event(section, direction=1))
    if run.cases is not None:
        raise ArgumentError(
            f"Model '{run.model}': expected one motion, found {len(run.cases)}; ask for each by itself."
        )
    check_complete(run.model, run.status, run.message)
    times, states = run.t_events[0], run.y_events[0]
    if not len(times):
        raise SimulationError(f"Model '{run.model}': '{section}' does not rise through zero to t = {run.t[-1]:g} s.")
    return PoincareSection(run.model, times, dict(zip(run.states, states.T, strict=True)), run.units, str(section))
