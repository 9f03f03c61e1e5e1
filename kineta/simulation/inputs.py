"""Inputs of a run: the checked arguments about its state, its parameters, and what acts on it and is watched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.equations import case_arguments
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError
from kineta.integration.time_stepping import MOREAU
from kineta.model.system import System
from kineta.records import dataclass
from kineta.runtime import run_arguments
from kineta.runtime.applied_forces import AppliedForces, applied_forces
from kineta.runtime.events import Event
from kineta.runtime.parameter_checks import parameters
from kineta.threads import memo


@dataclass(frozen=True, eq=False)
class RunInputs:
    """Coordinates *q*, speeds *v* and parameters *p* at the start, each with a leading axis of cases or without; the *forces*
    that act beside the model's, the *watched* events, and what was given as derivatives of the speeds, *levels*. Steps end at
    kinks of the *resolved* expressions, too.

    Inputs without arguments are made once for a model, so that no array may be changed; they are *common* to its runs.
    """

    q: FloatArray
    v: FloatArray
    p: FloatArray
    forces: AppliedForces
    watched: Sequence[Event]
    levels: Any = None
    resolved: Sequence[Expr] = ()
    common: bool = False

    def case(self, i: int) -> RunInputs:
        """The inputs of one case."""
        q, v, p = (x[i] if x.ndim > 1 else x for x in (self.q, self.v, self.p))
        return replace(self, q=q, v=v, p=p, forces=self.forces.case(i))

    @property
    def alone(self) -> bool:
        """True for one motion, False where there are cases."""
        return self.q.ndim == self.v.ndim == self.p.ndim == self.forces.constant.ndim == 1


def unsteppable(model: System) -> str:
    """Why time stepping does not apply to *model*, as the end of a sentence; ``''`` where it does."""
    if not model.contacts:
        return "is for models with contacts, limits or dry friction, found none"
    if model.programs:
        return "has no programs of motion, found some"
    return ""


def run_inputs(
    model: System,
    given: tuple[Any, Any, Any, Any, Any],
    events: Event | Expr | Iterable[Event | Expr],
    method: str,
) -> RunInputs:
    """The inputs of a run of *model* by *method*; *given* are q, v, p, tau, levels."""
    if method == MOREAU and (why := unsteppable(model)):
        raise ArgumentError(f"Model '{model.name}': method '{MOREAU}' {why}. Use another method.")
    if model.programs:
        from kineta.programs.start_arguments import check_compatible

        check_compatible(model, method)
    elif given[-1] is not None:
        raise ArgumentError(f"Model '{model.name}' has no programs of motion; leave out levels.")
    if nothing_given(given, events):
        return memo(model, run_inputs, lambda: _inputs(model, given, events, common=True))
    return _inputs(model, given, events)


def nothing_given(given: Sequence[Any], events: Event | Expr | Iterable[Event | Expr]) -> bool:
    """Whether none of the arguments is given that inputs are made of."""
    return type(events) is tuple and not events and all(x is None for x in given)


def _inputs(
    model: System,
    given: tuple[Any, Any, Any, Any, Any],
    events: Event | Expr | Iterable[Event | Expr],
    *,
    common: bool = False,
) -> RunInputs:
    """The inputs of :func:`run_inputs`."""
    q, v, p, tau, levels = given
    watched = run_arguments.watched(model, events)
    values = parameters(model, p)
    q0, v0 = initial_state(model, q, v, None if p is None else values)
    if not q0.ndim == v0.ndim == values.ndim == 1:
        case_arguments.case_count({"q": q0, "v": v0, "p": values})
    return RunInputs(q0, v0, values, applied_forces(model, tau), watched, levels, common=common)
