"""Applied forces on the speeds, in addition to the model's: numbers, expressions, and samples under zero-order hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.equations import case_arguments
from kineta.errors import ArgumentError, warn
from kineta.model.name_inference import forced_speed
from kineta.model.system import System
from kineta.records import dataclass
from kineta.runtime import run_arguments
from kineta.runtime.sampled_forces import SampledForces
from kineta.threads import memo, once
from kineta.values import numbers

#: Number of rows from which a monotonic table may be samples.
SAMPLE_ROWS = 20


@dataclass(frozen=True)
class AppliedForces:
    """Applied forces on the speeds: numbers (nv,) or (cases, nv), expressions by speed, and sampled forces with the speeds they
    act on.

    Numbers are arguments of compiled code, expressions are compiled into it.
    """

    constant: FloatArray
    expressions: Mapping[str, Expr]
    sampled: Sequence[tuple[SampledForces, tuple[str, ...]]] = ()

    @once
    def none(self) -> bool:
        """True without applied forces, whose work is then zero."""
        return not (self.constant.any() or self.expressions or self.sampled)

    def case(self, i: int) -> AppliedForces:
        """Applied forces of one case."""
        return replace(self, constant=self.constant[i]) if self.constant.ndim > 1 else self


#: No applied forces.
NO_FORCES = AppliedForces(np.zeros(0), {})


def applied_forces(system: System, tau: Any) -> AppliedForces:
    """Return the :class:`AppliedForces` of *tau*: a number for all speeds, an array (nv,) or (cases, nv), a row of numbers,
    expressions and samples in the order of the speeds, a mapping of speeds, or of names ``tau[q1']``, to these or to numbers
    (cases,), or samples for all speeds; those that are applied forces stay. Raises :class:`ArgumentError` for any other value.
    """
    if isinstance(tau, AppliedForces):
        return tau
    if isinstance(tau, SampledForces):
        return AppliedForces(np.zeros(system.nv), {}, ((_checked_samples(tau, system.v_names), system.v_names),))
    if tau is None:
        return memo(system, applied_forces, lambda: AppliedForces(np.zeros(system.nv), {}))
    columns = dict.fromkeys(system.v_names, np.zeros(()))
    expressions, samples = dict[str, Expr](), list[tuple[SampledForces, tuple[str, ...]]]()
    for name, value in _by_speed(system, tau).items():
        what = f"the force on '{name}'"
        if isinstance(value, Expr) and value.value is None:
            expressions[name] = run_arguments.symbols(system, value, what)
        elif isinstance(value, SampledForces):
            samples.append((_checked_samples(value, (name,)), (name,)))
        else:
            _reject_function(what, value)
            columns[name] = case_arguments.column(what, value)
    case_arguments.case_count({f"the force on '{name}'": column[..., None] for name, column in columns.items()})
    constant = np.stack(np.broadcast_arrays(*columns.values()), axis=-1) if columns else np.zeros(0)
    case_arguments.check_finite(system, "the force on", system.v_names, constant)
    return AppliedForces(constant, expressions, tuple(samples))


def _checked_samples(samples: SampledForces, speeds: tuple[str, ...]) -> SampledForces:
    """*samples*, checked to have one column for each of the *speeds*."""
    rows = samples.value
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] != len(speeds):
        raise ArgumentError(
            f"Expected samples of shape (m,) or (m, {len(speeds)}) for ({', '.join(speeds)}), found shape {rows.shape}."
        )
    return samples


def _reject_function(what: str, value: Any) -> None:
    if callable(value) and not isinstance(value, Expr):
        raise ArgumentError(
            f"Expected {what} as numbers or expressions, found a Python function; kineta.sampled(f, rate) calls it at a rate."
        )


def _by_speed(system: System, tau: Any) -> Mapping[str, Any]:
    """Applied forces *tau* by speed."""
    names = system.v_names
    _reject_function("forces tau", tau)
    if isinstance(tau, Mapping):
        speeds = [forced_speed(system, name) for name in tau]
        if twice := [n for k, n in enumerate(speeds) if n in speeds[:k]]:
            raise ArgumentError(f"Model '{system.name}': expected one force on '{twice[0]}', found two.")
        return dict(zip(speeds, tau.values(), strict=True))
    mixed = isinstance(tau, Expr) or (
        isinstance(tau, list | tuple) and any(isinstance(e, Expr | SampledForces) for e in tau)
    )
    # Of expressions NumPy makes no numbers.
    rows = np.asarray(tau, dtype=object) if mixed else numbers("tau", tau)
    if rows.ndim and (rows.ndim > 2 or rows.shape[-1] != len(names)):
        raise ArgumentError(
            f"Expected tau of shape ({len(names)},) or (cases, {len(names)}) for ({', '.join(names)}), "
            f"found shape {rows.shape}."
        )
    return dict(zip(names, np.broadcast_to(rows, (*rows.shape[:-1], len(names))).T, strict=True))


def warn_samples(system: System, rows: FloatArray, grid: FloatArray | None) -> None:
    """Warn where *rows* (cases, nv) of forces, the only difference between cases, look like samples of a single run."""
    turns = np.diff(rows, axis=0)
    smooth = np.abs(turns).max(axis=0, initial=0.0) <= np.ptp(rows, axis=0) / 3
    back = (turns.min(axis=0, initial=0.0) < 0) & (turns.max(axis=0, initial=0.0) > 0)
    same, timed = len(rows) > 1 and not turns.any(), grid is not None and len(rows) == len(grid)
    if same or timed or (smooth.all() and (back.any() or (len(rows) >= SAMPLE_ROWS and not _evenly_spaced(rows)))):
        what = "are all the same" if same else "are as many as the times" if timed else "follow each other like samples"
        warn(
            f"Model '{system.name}': the {len(rows)} rows of tau are {len(rows)} cases, each with a constant force, and {what}. "
            "Samples of one run are tau=kineta.sampled(rows, rate)."
        )


def _evenly_spaced(rows: FloatArray) -> bool:
    """True for *rows* (cases, nv) in arithmetic or geometric progression, as in a parameter study."""
    ways = (np.diff(x, axis=0) for x in (rows, np.log(np.abs(rows) if rows.all() else np.ones_like(rows))))
    return any(
        bool(way.any()) and np.allclose(way, way[0], rtol=tolerances.WRITTEN_TOLERANCE, atol=0.0) for way in ways
    )
