"""Forces on the speeds beside those of the model: numbers and expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ArgumentError, did_you_mean
from kineta.expr.node import Expr
from kineta.model.system import System
from kineta.tasks import arguments
from kineta.values import numbers

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Forces:
    """Forces on the speeds: numbers (nv,) or (cases, nv), and expressions by speed, where the number is 0.

    Numbers are given to compiled code, expressions become part of it.
    """

    constant: FloatArray
    expressions: Mapping[str, Expr]

    @property
    def none(self) -> bool:
        """True where there are none, so that they do no work."""
        return not self.constant.any() and not self.expressions

    def case(self, i: int) -> Forces:
        """Those of one case."""
        return replace(self, constant=self.constant[i]) if self.constant.ndim > 1 else self


def forces(system: System, tau: Any) -> Forces:
    """:class:`Forces` from a number for all speeds, an array (nv,) or (cases, nv), a row of numbers and expressions in the
    order of the speeds, or a mapping of speeds to these, or to numbers (cases,). Raises :class:`ArgumentError` for all else.
    """
    columns = dict.fromkeys(system.v_names, np.zeros(()))
    expressions = dict[str, Expr]()
    for name, value in _by_speed(system, tau).items():
        what = f"the force on '{name}'"
        if isinstance(value, Expr) and value.value is None:
            expressions[name] = arguments.symbols(system, value, what)
        else:
            columns[name] = arguments.column(what, value)
    arguments.cases({f"the force on '{name}'": column[..., None] for name, column in columns.items()})
    constant = np.stack(np.broadcast_arrays(*columns.values()), axis=-1) if columns else np.zeros(0)
    arguments.finite(system, "the force on", system.v_names, constant)
    return Forces(constant, expressions)


def _by_speed(system: System, tau: Any) -> Mapping[str, Any]:
    """What *tau* gives for every speed that it names."""
    names = system.v_names
    if tau is None:
        return {}
    if callable(tau):
        raise ArgumentError(
            "Expected forces tau as numbers or expressions, found a Python function; expressions are compiled."
        )
    if isinstance(tau, Mapping):
        for name in tau:
            if name not in names:
                raise ArgumentError(f"Model '{system.name}' has no speed '{name}'.{did_you_mean(name, names)}")
        return tau
    mixed = isinstance(tau, Expr) or (isinstance(tau, list | tuple) and any(isinstance(e, Expr) for e in tau))
    # Of expressions NumPy makes no numbers.
    rows = np.asarray(tau, dtype=object) if mixed else numbers("tau", tau)
    if rows.ndim and (rows.ndim > 2 or rows.shape[-1] != len(names)):
        raise ArgumentError(
            f"Expected tau of shape ({len(names)},) or (cases, {len(names)}) for ({', '.join(names)}), "
            f"found shape {rows.shape}."
        )
    return dict(zip(names, np.broadcast_to(rows, (*rows.shape[:-1], len(names))).T, strict=True))
