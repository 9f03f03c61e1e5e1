"""Forces on the speeds beside those of the model: numbers and expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ArgumentError, did_you_mean
from kineta.expr.node import Expr
from kineta.function import numbers
from kineta.model.system import System
from kineta.tasks import arguments

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Forces:
    """Forces on the speeds: numbers (nv,), and expressions by speed, where the number is 0.

    Numbers are given to compiled code, expressions become part of it.
    """

    constant: FloatArray
    expressions: Mapping[str, Expr]

    @property
    def none(self) -> bool:
        """True where there are none, so that they do no work."""
        return not self.constant.any() and not self.expressions


def forces(system: System, tau: Any) -> Forces:
    """:class:`Forces` from a number for all speeds, an array (nv,), a row of numbers and expressions in the order of the
    speeds, or a mapping of speeds to these. Raises :class:`ArgumentError` for all else.
    """
    found = Forces(np.zeros(system.nv), {})
    if tau is None:
        return found
    expressions = dict[str, Expr]()
    for name, value in _by_speed(system, tau).items():
        what = f"the force on '{name}'"
        if isinstance(value, Expr) and value.value is None:
            expressions[name] = arguments.symbols(system, value, what)
            continue
        number = numbers(what, value)
        if number.ndim:
            raise ArgumentError(f"Expected a number or an expression for {what}, found {value!r}.")
        if not np.isfinite(number):
            raise ArgumentError(f"Model '{system.name}': {what} is {number}; expected a finite number.")
        found.constant[system.v_names.index(name)] = number
    return Forces(found.constant, expressions)


def _by_speed(system: System, tau: Any) -> Mapping[str, Any]:
    """What *tau* gives for every speed that it names."""
    names = system.v_names
    if callable(tau):
        raise ArgumentError(
            "Expected forces tau as numbers or expressions, found a Python function; expressions are compiled."
        )
    if isinstance(tau, Mapping):
        for name in tau:
            if name not in names:
                raise ArgumentError(f"Model '{system.name}' has no speed '{name}'.{did_you_mean(name, names)}")
        return tau
    # An array of objects: of expressions NumPy makes no numbers.
    row = np.asarray(tau, dtype=object) if isinstance(tau, list | tuple | Expr) else numbers("tau", tau)
    if row.shape not in ((), (len(names),)):
        raise ArgumentError(f"Expected tau of shape ({len(names)},) for ({', '.join(names)}), found shape {row.shape}.")
    return dict(zip(names, np.broadcast_to(row, len(names)), strict=True))
