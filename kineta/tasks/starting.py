"""The start of a motion as a function of values for what it varies with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import Equations
from kineta.errors import ArgumentError
from kineta.tasks.assemble import assemble
from kineta.tasks.code import parameters
from kineta.tasks.forces import forces
from kineta.tasks.rank import closed
from kineta.tasks.reduction import state_names
from kineta.tasks.sensitivity import Begun, unstated
from kineta.tasks.state import initial_state
from kineta.tasks.varied import Varied, independent, varied
from kineta.tasks.weights import check_weights

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Starting:
    """The start of motions of *equations* that vary with *by*, from the given *q*, *v*, *p*, *tau*.

    x0 : (m,) the values that are given; pinned : names of the independent initial values, where constraints hold: those of *by*
        that vary and those that it keeps
    """

    equations: Equations
    by: Varied
    q: Any
    v: Any
    p: Any
    tau: Any
    x0: FloatArray
    pinned: tuple[str, ...]

    def at(self, x: FloatArray, t: float) -> Begun:
        """The start for the values *x*: on the constraints, where there are some, with the independent values held."""
        system = self.equations.system
        values = dict(zip(self.by.names, x.tolist(), strict=True))
        p, acting = parameters(system, self.p).copy(), forces(system, self.tau)
        tau = np.array(np.broadcast_to(acting.constant, system.nv))
        for name, value in values.items():
            if name in self.by.parameters:
                p[system.parameter_names.index(name)] = value
            elif name not in self.by.states:
                tau[system.v_names.index(name.removeprefix("tau."))] = value
        check_weights(system, p)
        q, v = (rows.copy() for rows in initial_state(system, self.q, self.v, p))
        for name in self.by.states:
            names, rows = (system.q_names, q) if name in system.q_names else (system.v_names, v)
            rows[names.index(name)] = values[name]
        if system.constraints:
            found = assemble(system, q, v, p, t=t, pinned=self.pinned)
            q, v = found.q, found.v
        return Begun(q, v, p, replace(acting, constant=tau), unstated(system, self.by, self.q, self.v))


def starting(equations: Equations, by: Iterable[str], t: float, q: Any, v: Any, p: Any, tau: Any) -> Starting:
    """The record, checked. Raises :class:`ArgumentError` for turns, which are no values, and for what cannot be varied."""
    system = equations.system
    names = varied(system, by)
    turns = [n for n in names.states if n not in (*system.q_names, *system.v_names)]
    if turns:
        raise ArgumentError(f"Model '{system.name}': '{turns[0]}' is a small change and has no value to begin with.")
    values, acting = parameters(system, p), forces(system, tau)
    q0, v0 = initial_state(system, q, v, values)
    if max(q0.ndim, v0.ndim, values.ndim, acting.constant.ndim) > 1 or acting.expressions or acting.sampled:
        raise ArgumentError("Expected one case, and numbers for the forces tau.")
    known = dict(zip((*system.q_names, *system.v_names, *system.parameter_names), (*q0, *v0, *values), strict=True))
    known |= {f"tau.{n}": x for n, x in zip(system.v_names, np.broadcast_to(acting.constant, system.nv), strict=True)}
    x0 = np.array([float(known[n]) for n in names.names])
    pinned: tuple[str, ...] = ()
    if system.constraints:
        kept, _, _ = closed(equations, t, q0, v0, values)
        _, chosen = independent(kept, names, t, q0, v0, values)
        pinned = tuple(state_names(system)[k] for k in chosen.places)
        # The choice is that of the first start wherever others lead, so that derivatives are those of what is computed.
        names = replace(names, kept=tuple(n for n in pinned if n not in names.states))
        pinned = tuple(n for n in pinned if not (system.quasi and n in system.v_names))
    return Starting(equations, names, q, v, p, tau, x0, pinned)
