"""The state about which a linearisation is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ArgumentError, did_you_mean, shown
from kineta.model.given import entries
from kineta.model.system import System
from kineta.tasks import acted
from kineta.tasks.result import Result
from kineta.tasks.state import initial_state
from kineta.tasks.steady import State

FloatArray = NDArray[np.float64]


def about_of(system: System, about: Any) -> tuple[Any, Any, Any]:
    """The times, if it has some, coordinates and speeds of what a linearisation is asked about."""
    if about is None:
        return None, None, None
    if isinstance(about, Mapping):
        known = (*system.q_names, *system.v_names)
        for name in about:
            if name not in known:
                raise ArgumentError(
                    f"Model '{system.name}' has no coordinate or speed '{name}' to linearise about."
                    f"{did_you_mean(name, known)}"
                )
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


def beside(system: System, about: Any) -> tuple[Any, Any, Any]:
    """Time, parameters and forces of an equilibrium or a run, if *about* is one."""
    if isinstance(about, Result) and about.cases is None:
        acted.check_of(system, about)
        return about.t, acted.parameters(system, about), acted.given(system, about)
    at = getattr(about, "state", None) if _is_state(about) else None
    if isinstance(at, State):
        return at.t, _of_model(system, about.model, at.p), about.acting
    return None, None, None


def _of_model(system: System, model: str, p: FloatArray) -> FloatArray:
    if len(p) != len(system.parameter_names):
        raise ArgumentError(
            f"Expected an equilibrium of '{system.name}', found one of '{model}' with other parameters."
        )
    return p


def _is_state(about: Any) -> bool:
    """Whether *about* is a record of coordinates and speeds."""
    try:
        return hasattr(about, "q") and hasattr(about, "v")
    except Exception:  # whatever the object raises
        return False


def named(system: System, about: Any) -> dict[str, Any]:
    """The coordinates and speeds of a single state by name, as far as they are given.

    Raises :class:`ArgumentError` for several, and for one with a time, parameters or forces of its own beside those of *system*.
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
