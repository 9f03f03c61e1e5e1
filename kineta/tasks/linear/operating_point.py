"""The operating point of a linearisation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, did_you_mean, shown
from kineta.model.coercion import entries
from kineta.model.system import System
from kineta.results.result import Result
from kineta.runtime.steady_motion import SteadyState
from kineta.tasks.motions import forces_of_run


def about_of(system: System, about: Any) -> tuple[Any, Any, Any]:
    """Return the times, if any, coordinates and speeds of the operating point *about*."""
    if about is None:
        return None, None, None
    if isinstance(about, Mapping):
        check_names(system, about)
        q, v = ({n: x for n, x in about.items() if n in names} for names in (system.q_names, system.v_names))
        return None, q, v
    if _is_state(about):
        return getattr(about, "t", None), about.q, about.v
    pair = entries(about)
    if pair is not None and len(pair) == 2:
        return None, pair[0], pair[1]
    raise ArgumentError(
        "Expected a state to linearise about: a mapping of names to values, a pair (q, v), or a record that has them, "
        f"found {shown(about)}."
    )


def check_names(system: System, names: Iterable[object]) -> None:
    """Raise :class:`ArgumentError` for *names* that are neither coordinates nor speeds."""
    known = (*system.q_names, *system.v_names)
    for name in names:
        if name not in known:
            raise ArgumentError(
                f"Model '{system.name}' has no coordinate or speed {shown(name)} to linearise about.{did_you_mean(name, known)}"
            )


def beside(system: System, about: Any) -> tuple[Any, Any, Any]:
    """Return time, parameters and forces of *about*, if it is an equilibrium or a run."""
    if isinstance(about, Result) and about.cases is None:
        forces_of_run.check_of(system, about)
        return about.t, forces_of_run.parameters(system, about), forces_of_run.given(system, about)
    at = getattr(about, "state", None) if _is_state(about) else None
    if isinstance(at, SteadyState):
        if len(at.p) != len(system.parameter_names):
            raise ArgumentError(
                f"Expected an equilibrium of '{system.name}', found one of '{about.model}' with other parameters."
            )
        return at.t, at.p, about.acting
    return None, None, None


def _is_state(about: Any) -> bool:
    """Return whether *about* is a record of coordinates and speeds."""
    try:
        return hasattr(about, "q") and hasattr(about, "v")
    except Exception:  # whatever the object raises
        return False


def named(system: System, about: Any) -> dict[str, Any]:
    """Return the given coordinates and speeds of a single state by name.

    Raises :class:`ArgumentError` for several states, and for a state with its own time, parameters or forces.
    """
    if about is None or isinstance(about, Mapping):
        return dict(about or {})
    _, q, v = about_of(system, about)
    q, v = initial_state(system, q, v, None)
    if max(q.ndim, v.ndim) > 1:
        raise ArgumentError(
            "Expected one state for formulas, found several; take them one by one, or ask for numbers (linearize)."
        )
    t, p, tau = beside(system, about)
    own = np.array([np.nan if x.value is None else x.value for x in system.parameters])
    if t or not (tau is None or tau.none) or not (p is None or np.array_equal(p, own)):
        raise ArgumentError(
            f"Model '{system.name}': formulas are of the model as it is, and this state has a time, parameters or forces of its "
            "own; put them into the model, or ask for numbers (linearize)."
        )
    return dict(zip((*system.q_names, *system.v_names), (*q.tolist(), *v.tolist()), strict=True))
