"""Initial sensitivities: the start of a motion as a function of parameters, forces and initial values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.consistency.consistent_start import consistent, refusal
from kineta.equations.equations import Equations
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, SimulationError
from kineta.expr.graph import ZERO
from kineta.mechanics.tangent import changes_at_rest
from kineta.model.parameters import named_values
from kineta.model.reserved_symbols import added_force
from kineta.model.system import System
from kineta.numerics.linear_algebra import lstsq
from kineta.passes.evaluate import evaluate
from kineta.records import dataclass
from kineta.runtime.applied_forces import AppliedForces, applied_forces
from kineta.runtime.independent_states import Reduction, independent_states, state_names
from kineta.runtime.kinks import at_kink, corners_near
from kineta.runtime.parameter_checks import check_parameters, parameters
from kineta.runtime.tangent import NUMBERS, Input, Linearisation, Tangent
from kineta.tasks.assemble import assemble
from kineta.tasks.linear.descriptor_matrices import near
from kineta.tasks.sensitivity.variational_equations import Varied, varied

#: Part of its time after which a motion that is still where it began is told to stay there.
STAY = 1e-3


@dataclass(frozen=True)
class MotionStart:
    """The start of a motion: coordinates, speeds, parameters, forces; and the initial values stated by the model alone."""

    q: FloatArray
    v: FloatArray
    p: FloatArray
    forces: AppliedForces
    stated: Mapping[str, Expr]


def motion_start(system: System, by: Varied, q: Any, v: Any, p: Any, tau: Any) -> MotionStart:
    """Return the start of one motion from arguments of ``simulate``. Raises :class:`ArgumentError` for several."""
    values, acting = parameters(system, p), applied_forces(system, tau)
    q0, v0 = initial_state(system, q, v, values)
    if max(q0.ndim, v0.ndim, values.ndim, acting.constant.ndim) > 1 or acting.expressions or acting.sampled:
        raise ArgumentError("Expected one case, and numbers for the forces tau; take the derivatives case by case.")
    return MotionStart(q0, v0, values, acting, stated_values(system, by, q, v))


def stated_values(system: System, by: Varied, q: Any, v: Any) -> dict[str, Expr]:
    """Return the initial values stated by the model, except for values given by *q*, *v* or varied."""

    def given(name: str) -> bool:
        value = q if name in system.q_names else v
        return name in by.states or (value is not None and (not isinstance(value, Mapping) or name in value))

    return {n: e for n, e in system.expanded.initial if not given(n)}


@dataclass(frozen=True)
class VariedStart:
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

    def at(self, x: FloatArray, t: float) -> MotionStart:
        """Return the start for the values *x*, projected onto the constraints with the independent values held."""
        system = self.equations.system
        values = dict(zip(self.by.names, x.tolist(), strict=True))
        p, acting = parameters(system, self.p).copy(), applied_forces(system, self.tau)
        tau = np.array(np.broadcast_to(acting.constant, system.nv))
        speeds = [added_force(n) for n in system.v_names]
        for name, value in values.items():
            if name in self.by.parameters:
                p[system.parameter_names.index(name)] = value
            elif name not in self.by.states:
                tau[speeds.index(name)] = value
        check_parameters(system, p)
        q, v = (rows.copy() for rows in initial_state(system, self.q, self.v, p))
        for name in self.by.states:
            names, rows = (system.q_names, q) if name in system.q_names else (system.v_names, v)
            rows[names.index(name)] = values[name]
        if system.constraints:
            found = assemble(system, q, v, p, t=t, pinned=self.pinned)
            q, v = found.q, found.v
        return MotionStart(q, v, p, replace(acting, constant=tau), stated_values(system, self.by, self.q, self.v))


def varied_start(
    equations: Equations, by: Iterable[str], t: float, q: Any, v: Any, p: Any, tau: Any, *, met: bool = False
) -> VariedStart:
    """Return the checked record. Raises :class:`ArgumentError` for small rotations and other names without a value;
    :class:`SimulationError` for a start that misses the constraints where these have to be *met*.
    """
    system = equations.system
    names = varied(system, by)
    turns = [n for n in names.states if n not in (*system.q_names, *system.v_names)]
    if turns:
        raise ArgumentError(f"Model '{system.name}': '{turns[0]}' is a small change and has no value to begin with.")
    at = motion_start(system, names, q, v, p, tau)
    named = (*system.q_names, *system.v_names, *system.parameter_names, *(added_force(n) for n in system.v_names))
    tau0 = np.broadcast_to(at.forces.constant, system.nv)
    known = dict(zip(named, (*at.q, *at.v, *at.p, *tau0), strict=True))
    x0 = np.array([float(known[n]) for n in names.names])
    pinned: tuple[str, ...] = ()
    if system.constraints:
        found = consistent(equations, t, at.q, at.v, at.p)
        if met and (why := refusal(found.equations, t, found.q, found.v, at.p, found.regular)):
            raise SimulationError(why)
        _, chosen = independent_values(found.equations, names, t, found.q, found.v, at.p)
        pinned = tuple(state_names(system)[k] for k in chosen.places)
        # The choice of the first start holds for all others, so that derivatives are consistent with values.
        names = replace(names, kept=tuple(n for n in pinned if n not in names.states))
        pinned = tuple(n for n in pinned if not (system.quasi and n in system.v_names))
    return VariedStart(equations, names, q, v, p, tau, x0, pinned)


def initial_sensitivities(
    equations: Equations, by: Varied, t: float, q: FloatArray, v: FloatArray, p: FloatArray, stated: Mapping[str, Expr]
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the derivatives (nq + nv, m) of the initial state by all variables; *stated* are its values by the model.

    Under constraints independent states vary or stay fixed, and the others are dependent; the fixed names are returned as well.
    """
    system = equations.system
    D = _turned(equations, t, q, v, p)
    nb, names = D.shape[1], state_names(system)
    stays = _stated(system, by, stated, named_values(system.parameters, p.tolist()))
    X = np.concatenate(
        [lstsq(D, stays[: system.nq], what="the changes of the start") if nb else stays[:0], stays[system.nq :]]
    )
    for k, name in enumerate(by.names):
        if name in by.states:
            X[names.index(name), k] = 1.0
    stay: tuple[str, ...] = ()
    if system.constraints:
        found, chosen = independent_values(equations, by, t, q, v, p)
        stay = tuple(names[k] for k in chosen.places if names[k] not in by.states)
        Z, independents = chosen.all_states(NUMBERS, found), list(chosen.places)
        X = Z[:, : len(independents)] @ X[independents]
        X[:, [k for k, name in enumerate(by.names) if name in by.parameters]] += Z[:, len(independents) :]
    S = np.concatenate([D @ X[:nb], X[nb:]])
    if not system.constraints:
        fixed = [k for k, name in enumerate(by.names) if name not in by.states]
        S[:, fixed] = stays[:, fixed]
    return S, stay


def independent_variations(equations: Equations, t: float, q: FloatArray, v: FloatArray, p: FloatArray) -> FloatArray:
    """Return independent variations (nq + nv, k) of a state that keep to the constraints and to the length of quaternions."""
    system = equations.system
    D = _turned(equations, t, q, v, p)
    nb = D.shape[1]
    X: FloatArray = np.eye(nb + system.nv)
    if system.constraints:
        found, chosen = independent_values(equations, Varied((), frozenset(), frozenset()), t, q, v, p)
        X = chosen.all_states(NUMBERS, found)[:, : len(chosen.places)]
    return np.concatenate([D @ X[:nb], X[nb:]])


def _stated(system: System, by: Varied, stated: Mapping[str, Expr], values: Mapping[str, float]) -> FloatArray:
    """Return the derivatives of the stated initial values by parameters, (nq + nv, m)."""
    found = np.zeros((system.nq + system.nv, len(by.names)))
    places = {n: k for k, n in enumerate((*system.q_names, *system.v_names))}
    for k, name in enumerate(by.names):
        for state, e in stated.items() if name in by.parameters else ():
            slope = e.diff(name)
            found[places[state], k] = evaluate(slope.graph, [slope.ref], values)[0]
    return found


def _turned(equations: Equations, t: float, q: FloatArray, v: FloatArray, p: FloatArray) -> FloatArray:
    """Return the derivatives of coordinates along the directions of the joint speeds, then by the states, (nq, nb + nz)."""
    system = equations.system
    states = zip((*system.q_names, *system.v_names), (*q.tolist(), *v.tolist()), strict=True)
    at = named_values(system.parameters, p.tolist()) | dict(states) | {"t": t}
    with equations.shared() as d:
        directions = changes_at_rest(d)
        refs = [direction.get(q, ZERO) for q in d.symbols.q for direction in directions]
        return np.array(evaluate(d.graph, refs, at), dtype=np.float64).reshape(-1, len(directions))


def independent_values(
    equations: Equations, by: Varied, t: float, q: FloatArray, v: FloatArray, p: FloatArray
) -> tuple[Linearisation, Reduction]:
    """Return the independent states at a state: first the varied and kept ones, by default the stated speeds with their
    coordinates. Raises for a varied or kept state that is dependent.
    """
    system = equations.system
    tangent = Tangent(equations, [Input(n, False) for n in by.names if n in by.parameters])
    found = near(tangent, np.array([t]), q, v, np.zeros(system.nv), p)
    wanted = [*(name for name in by.names if name in by.states), *by.kept]
    places = state_names(system)
    stated = [n for n, _ in system.expanded.initial if n in system.v_names]
    # More stated speeds than degrees of freedom describe a whole state, and choose nothing.
    chosen_first = wanted or stated * (len(stated) <= found.f_v.shape[-1] - found.f_v.shape[-2])
    if not set(chosen_first) & {*places[: len(system.base_speeds)]}:
        chosen_first = [*chosen_first, *(n.removesuffix("'") for n in chosen_first)]
    chosen = independent_states(tangent, found, chosen_first)
    names = [places[k] for k in chosen.places]
    for name in wanted:
        if name not in names:
            raise ArgumentError(
                f"Model '{system.name}': the initial value of '{name}' follows from the constraints and others; take one of "
                f"{', '.join(names)}."
            )
    return found, chosen


def check_corner(equations: Equations, p: FloatArray, t: FloatArray, y: FloatArray, change: FloatArray) -> None:
    """Raise :class:`SimulationError` where the states *y* (k, n) of a motion at the times *t* (k,) begin and stay where a force
    or rate has a corner that the derivatives *change* (k, n, m) depend on, as friction -k |v| has at rest.
    """
    system = equations.system
    # A motion that leaves a corner from rest is as near to it at first as rounding is.
    later = int(np.searchsorted(np.abs(t - t[0]), STAY * abs(t[-1] - t[0])))
    blocks = [(t[k : k + 1], y[k, : system.nq], y[k, system.nq : system.nq + system.nv], p) for k in (0, later)]
    if not (later and change[: later + 1].any() and all(at_kink(equations, (), *block) for block in blocks)):
        return
    at, q, v, _ = blocks[1]
    try:
        near(Tangent(equations), at, q, v, np.zeros(system.nv), p)
    except ArgumentError:
        where = corners_near(equations, p, float(at[0]), y[1])
        what = where[0][1] if where else "a force or a rate"
        raise SimulationError(
            f"Model '{system.name}': the motion stays where {what} has a corner or jumps, at t = {t[0]:g} s and later, so that "
            "it has no derivatives. Begin beside it."
        ) from None
