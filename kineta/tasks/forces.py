"""Forces on the speeds beside those of the model: numbers, expressions, and what is held between samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ArgumentError, did_you_mean
from kineta.expr.node import Expr
from kineta.model.system import System
from kineta.tasks import arguments
from kineta.tasks.control import Sampled
from kineta.values import numbers

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Forces:
    """Forces on the speeds: numbers (nv,) or (cases, nv), and where the number is 0 perhaps expressions by speed, and what is
    held between samples, with the speeds on which it acts.

    Numbers are given to compiled code, expressions become part of it.
    """

    constant: FloatArray
    expressions: Mapping[str, Expr]
    sampled: Sequence[tuple[Sampled, tuple[str, ...]]] = ()

    @property
    def none(self) -> bool:
        """True where there are none, so that they do no work."""
        return not (self.constant.any() or self.expressions or self.sampled)

    def case(self, i: int) -> Forces:
        """Those of one case."""
        return replace(self, constant=self.constant[i]) if self.constant.ndim > 1 else self


def forces(system: System, tau: Any) -> Forces:
    """:class:`Forces` from a number for all speeds, an array (nv,) or (cases, nv), a row of numbers, expressions and samples in
    the order of the speeds, a mapping of speeds to these, or to numbers (cases,), or samples for all speeds. Raises
    :class:`ArgumentError` for all else.
    """
    if isinstance(tau, Sampled):
        return Forces(np.zeros(system.nv), {}, ((_fitting(tau, system.v_names), system.v_names),))
    columns = dict.fromkeys(system.v_names, np.zeros(()))
    expressions, samples = dict[str, Expr](), list[tuple[Sampled, tuple[str, ...]]]()
    for name, value in _by_speed(system, tau).items():
        what = f"the force on '{name}'"
        if isinstance(value, Expr) and value.value is None:
            expressions[name] = arguments.symbols(system, value, what)
        elif isinstance(value, Sampled):
            samples.append((_fitting(value, (name,)), (name,)))
        else:
            _no_function(what, value)
            columns[name] = arguments.column(what, value)
    arguments.cases({f"the force on '{name}'": column[..., None] for name, column in columns.items()})
    constant = np.stack(np.broadcast_arrays(*columns.values()), axis=-1) if columns else np.zeros(0)
    arguments.finite(system, "the force on", system.v_names, constant)
    return Forces(constant, expressions, tuple(samples))


def _fitting(samples: Sampled, speeds: tuple[str, ...]) -> Sampled:
    """*samples*, if its rows are forces on the *speeds*."""
    rows = samples.value
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] != len(speeds):
        raise ArgumentError(
            f"Expected samples of shape (m,) or (m, {len(speeds)}) for ({', '.join(speeds)}), found shape {rows.shape}."
        )
    return samples


def _no_function(what: str, value: Any) -> None:
    if callable(value):
        raise ArgumentError(
            f"Expected {what} as numbers or expressions, found a Python function; kineta.sampled(f, rate) calls it at a rate."
        )


def _by_speed(system: System, tau: Any) -> Mapping[str, Any]:
    """What *tau* gives for every speed that it names."""
    names = system.v_names
    if tau is None:
        return {}
    _no_function("forces tau", tau)
    if isinstance(tau, Mapping):
        for name in tau:
            if name not in names:
                raise ArgumentError(f"Model '{system.name}' has no speed '{name}'.{did_you_mean(name, names)}")
        return tau
    mixed = isinstance(tau, Expr) or (isinstance(tau, list | tuple) and any(isinstance(e, Expr | Sampled) for e in tau))
    # Of expressions NumPy makes no numbers.
    rows = np.asarray(tau, dtype=object) if mixed else numbers("tau", tau)
    if rows.ndim and (rows.ndim > 2 or rows.shape[-1] != len(names)):
        raise ArgumentError(
            f"Expected tau of shape ({len(names)},) or (cases, {len(names)}) for ({', '.join(names)}), "
            f"found shape {rows.shape}."
        )
    return dict(zip(names, np.broadcast_to(rows, (*rows.shape[:-1], len(names))).T, strict=True))
