"""Linearisation about a state, an equilibrium or a motion, by the exact first variation of the equations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from kineta.algebra.expression import Expr, symbol
from kineta.arrays import FloatArray
from kineta.consistency.consistent_start import Consistent, consistent, singular_start, start_violation
from kineta.equations import case_arguments
from kineta.equations.argument_layout import flat_rows
from kineta.equations.equations import Equations, given_equations
from kineta.equations.initial_values import initial_state
from kineta.errors import ArgumentError, did_you_mean, shown
from kineta.model.coercion import records
from kineta.model.dimensions import expression_units, varied_units
from kineta.model.name_inference import forced_speed, highest_derivative
from kineta.model.system import System
from kineta.runtime import run_arguments
from kineta.runtime.applied_forces import AppliedForces, applied_forces
from kineta.runtime.independent_states import independent_states, state_names
from kineta.runtime.joint_limits import LimitDistances
from kineta.runtime.mass_matrix_rank import singular_mass_matrix
from kineta.runtime.parameter_checks import parameters
from kineta.runtime.tangent import NUMBERS, Input, Tangent
from kineta.tasks.ignored_features import warn_ignored
from kineta.tasks.linear.descriptor_matrices import near
from kineta.tasks.linear.linear_system import Linear, one_state
from kineta.tasks.linear.operating_point import about_of, beside
from kineta.values import numbers


def linearize(
    system: System | Equations,
    about: Any = None,
    *,
    t: Any = None,
    p: Any = None,
    tau: Any = None,
    inputs: Iterable[str] | None = None,
    outputs: Iterable[str | Expr] | Mapping[str, Expr] | None = None,
    states: Iterable[str] | None = None,
) -> Linear:
    """Return the exact linearisation of *system* about a state: x' = A x + B u, y = C x + D u, with names.

    Under constraints x are independent states. Coordinates change along the directions of the speeds: a quaternion by small
    rotations ``b.Rx``, ``b.Ry``, ``b.Rz`` about the axes of the body.

    Parameters
    ----------
    about : the state. Nothing: the model's ``initial``; a mapping of names of coordinates and speeds to values, the rest as
        in ``initial``; a pair of arrays q, v; a record that has q and v, as of :func:`~kineta.tasks.assemble.assemble`; an
        equilibrium; or a run: all its states. Rows of values give one linearisation each
    t : the time [s], for what depends on it; 0, or that of the equilibrium or the run, if not given
    p, tau : parameters, and constant forces on the speeds, as for :func:`~kineta.simulation.simulate.simulate`; those of the
        equilibrium, or of the run at each of its times, if not given
    inputs : names of speeds, for the forces on them, and of parameters; the forces on all speeds, if not given
    outputs : names of what the model knows, or expressions; the outputs of the model up to accelerations, if not given
    states : the states to keep; the others must not act on them. A coordinate brings its speed along

    Raises :class:`ArgumentError` for names that do not exist, a state that misses the constraints, one at which these depend
    on each other, and one at which the equations have no derivative.
    """
    equations = given_equations(system)
    model = equations.system
    given, taken, kept = put_in(model, inputs), put_out(model, outputs), _states(model, states)
    at = _rows(model, about, t, p, tau)
    warn_ignored(model, "a linearisation", reached=LimitDistances(equations).reached(at[0], at[1], at[4]))
    start = consistent(equations, at[0][..., 0], at[1], at[2], at[4])
    equations, at[1], at[2] = start.equations, start.q, start.v
    _check_met(equations, *at)
    tangent = Tangent(equations, given, taken)
    try:
        found = near(tangent, *at)
        chosen = independent_states(tangent, found, {*kept, *(f"{n}'" for n in kept)})
    except ArgumentError:
        _check_regular(start, *at)
        raise
    names = state_names(model)
    t_, q, v, _, p_ = at
    linear = Linear(
        model=model.name,
        **chosen.matrices(NUMBERS, found),
        states=tuple(names[k] for k in chosen.places),
        inputs=tuple(i.label for i in given),
        outputs=tuple(taken),
        t=t_[..., 0],
        q=q,
        v=v,
        rate=found.rate[..., list(chosen.places)],
        all_states=names,
        parameters=dict(zip(model.parameter_names, np.moveaxis(p_, -1, 0), strict=True)),
        units=varied_units(model) | expression_units(model, taken),
        system=model,
    )
    return linear if states is None else linear.part(kept)


def one_linear(system: System | Equations | Linear, what: str, given: Mapping[str, Any], **fixed: Any) -> Linear:
    """Return *system*, if it is a linearisation, or that of the arguments *given* and *fixed*; of one state, for *what*. Raises
    :class:`ArgumentError` for several, and for arguments *given* beside a linearisation.
    """
    if not isinstance(system, Linear):
        return one_state(linearize(system, **given, **fixed), what)
    if beside := [name for name, x in given.items() if x is not None]:
        raise ArgumentError(
            f"A linearisation has states, inputs and outputs of its own; leave out {', '.join(beside)}, or give the model in "
            "its place."
        )
    return one_state(system, what)


def _rows(system: System, about: Any, t: Any, p: Any, tau: Any) -> list[FloatArray]:
    """Return t, q, v, tau and parameters, with a common leading axis, or none."""
    given_t, q, v = about_of(system, about)
    own_t, own_p, own_tau = beside(system, about)
    own_t = given_t if own_t is None else own_t
    time = numbers("t", own_t if t is None and own_t is not None else 0.0 if t is None else t)
    values = parameters(system, own_p if p is None else p)
    acting = (
        own_tau
        if tau is None and isinstance(own_tau, AppliedForces)
        else applied_forces(system, own_tau if tau is None else tau)
    )
    if acting.expressions or acting.sampled:
        raise ArgumentError("Expected numbers for the forces tau; give expressions to the model, as elements.")
    q0, v0 = initial_state(system, q, v, values)
    rows = {"t": time[..., None], "q": q0, "v": v0, "tau": acting.constant, "p": values}
    case_arguments.case_count(rows)
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in rows.values()))
    if len(lead) > 1 or not np.isfinite(time).all():
        raise ArgumentError(f"Expected a time, or a row of them, that is finite, for t, found {shown(time)}.")
    return [np.broadcast_to(x, (*lead, x.shape[-1])) for x in rows.values()]


def put_in(system: System, names: Iterable[str] | None) -> list[Input]:
    """Return the inputs *names*, or the forces on all speeds. Raises :class:`ArgumentError` for unknown names."""
    if names is None:
        return [Input(n, True) for n in system.v_names]
    found = list[Input]()
    for name in records(names, str, "names of inputs", '"q1\'"'):
        plain = forced_speed(system, name, system.parameter_names, "speed or parameter")
        given = Input(plain, plain in system.v_names)
        _check_new("input", given, found, name)
        found.append(given)
    return found


def _check_new(what: str, given: object, before: Collection[object], name: str) -> None:
    """Raise for a repeated name."""
    if given in before:
        raise ArgumentError(f"Expected every {what} once, found '{name}' twice.")


def put_out(system: System, given: Iterable[str | Expr] | Mapping[str, Expr] | None) -> dict[str, Expr]:
    """Return the outputs by name, or the outputs of the model. Raises :class:`ArgumentError` for unknown names."""
    own = {o.name: o.value for o in system.expanded.outputs}
    if given is None:
        return {n: e for n, e in own.items() if highest_derivative(system, e) <= 2}
    named: dict[str, Expr] = {}
    if isinstance(given, Mapping):
        named = {str(n): e if isinstance(e, Expr) else symbol(e) for n, e in given.items()}
    else:
        for x in records(given, str | Expr, "names of outputs, or expressions", "'q1'"):
            _check_new("output", str(x), named, str(x))
            named[str(x)] = own.get(x, symbol(x)) if isinstance(x, str) else x
    found = {n: run_arguments.symbols(system, e, f"output '{n}'", resulting=True) for n, e in named.items()}
    for name, e in found.items():
        if highest_derivative(system, e) > 2:
            raise ArgumentError(
                f"Model '{system.name}': the output '{name}' is made of derivatives beyond accelerations, which a linearisation "
                "does not know. Leave the output out."
            )
    return found


def _states(system: System, names: Iterable[str] | None) -> list[str]:
    """Return the states to keep."""
    known = state_names(system)
    found = records(names if names is not None else (), str, "names of states", "'q1'")
    for name in found:
        if name not in known:
            raise ArgumentError(f"Model '{system.name}' has no state '{name}'.{did_you_mean(name, known)}")
    return list(found)


def _check_regular(start: Consistent[Equations], *at: FloatArray) -> None:
    """Raise :class:`ArgumentError` for a state with dependent constraints or a singular mass matrix."""
    equations = start.equations
    for t, q, v, _, p in zip(*map(flat_rows, at), strict=True):
        time = float(t[0])
        if why := singular_start(equations, time, q, v, p, start.regular, "state"):
            raise ArgumentError(why) from None
        if why := singular_mass_matrix(equations, time, q, v, p):
            name = equations.system.name
            raise ArgumentError(f"Model '{name}': the mass matrix is singular at t = {time:g} s: {why}.") from None


def _check_met(equations: Equations, *at: FloatArray) -> None:
    """Raise :class:`ArgumentError` for an inconsistent state."""
    if not equations.system.constraints:
        return
    for t, q, v, _, p in zip(*map(flat_rows, at), strict=True):
        if why := start_violation(equations, float(t[0]), q, v, p, "state"):
            raise ArgumentError(why)
