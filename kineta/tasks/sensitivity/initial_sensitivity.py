"""Initial sensitivities: the start of a motion as a function of parameters, forces and initial values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.consistency.consistent_start import consistent, refusal
from kineta.equations.equations import Equations
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, SimulationError
from kineta.runtime.applied_forces import applied_forces
from kineta.runtime.compiled import parameters
from kineta.runtime.independent_states import state_names
from kineta.runtime.parameter_checks import check_parameters
from kineta.tasks.assemble import assemble
from kineta.tasks.sensitivity.sensitivity import Begun, unstated
from kineta.tasks.sensitivity.variational_equations import Varied, independent, varied


@dataclass(frozen=True)
class Starting:
    """The start of motions of *equations* as a function of the values *by*, from the given *q*, *v*, *p*, *tau*.

    x0 : (m,) the given values; pinned : names of the independent initial values under constraints, varied and kept ones
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
        """Return the start for the values *x*, projected onto the constraints with the independent values held."""
        system = self.equations.system
        values = dict(zip(self.by.names, x.tolist(), strict=True))
        p, acting = parameters(system, self.p).copy(), applied_forces(system, self.tau)
        tau = np.array(np.broadcast_to(acting.constant, system.nv))
        for name, value in values.items():
            if name in self.by.parameters:
                p[system.parameter_names.index(name)] = value
            elif name not in self.by.states:
                tau[system.v_names.index(name.removeprefix("tau."))] = value
        check_parameters(system, p)
        q, v = (rows.copy() for rows in initial_state(system, self.q, self.v, p))
        for name in self.by.states:
            names, rows = (system.q_names, q) if name in system.q_names else (system.v_names, v)
            rows[names.index(name)] = values[name]
        if system.constraints:
            found = assemble(system, q, v, p, t=t, pinned=self.pinned)
            q, v = found.q, found.v
        return Begun(q, v, p, replace(acting, constant=tau), unstated(system, self.by, self.q, self.v))


def starting(
    equations: Equations, by: Iterable[str], t: float, q: Any, v: Any, p: Any, tau: Any, *, met: bool = False
) -> Starting:
    """Return the checked record. Raises :class:`ArgumentError` for small rotations and other names without a value;
    :class:`SimulationError` for a start that misses the constraints where these have to be *met*.
    """
    system = equations.system
    names = varied(system, by)
    turns = [n for n in names.states if n not in (*system.q_names, *system.v_names)]
    if turns:
        raise ArgumentError(f"Model '{system.name}': '{turns[0]}' is a small change and has no value to begin with.")
    values, acting = parameters(system, p), applied_forces(system, tau)
    q0, v0 = initial_state(system, q, v, values)
    if max(q0.ndim, v0.ndim, values.ndim, acting.constant.ndim) > 1 or acting.expressions or acting.sampled:
        raise ArgumentError("Expected one case, and numbers for the forces tau.")
    known = dict(zip((*system.q_names, *system.v_names, *system.parameter_names), (*q0, *v0, *values), strict=True))
    known |= {f"tau.{n}": x for n, x in zip(system.v_names, np.broadcast_to(acting.constant, system.nv), strict=True)}
    x0 = np.array([float(known[n]) for n in names.names])
    pinned: tuple[str, ...] = ()
    if system.constraints:
        found = consistent(equations, t, q0, v0, values)
        if met and (why := refusal(found.equations, t, found.q, found.v, values, found.regular)):
            raise SimulationError(why)
        _, chosen = independent(found.equations, names, t, found.q, found.v, values)
        pinned = tuple(state_names(system)[k] for k in chosen.places)
        # The choice of the first start holds for all others, so that derivatives are consistent with values.
        names = replace(names, kept=tuple(n for n in pinned if n not in names.states))
        pinned = tuple(n for n in pinned if not (system.quasi and n in system.v_names))
    return Starting(equations, names, q, v, p, tau, x0, pinned)
