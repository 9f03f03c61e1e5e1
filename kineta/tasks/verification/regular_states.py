"""Random states with finite accelerations, free of redundant constraints."""

from __future__ import annotations

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, Mask
from kineta.consistency.consistent_start import consistent
from kineta.consistency.consistent_state import consistent_state
from kineta.consistency.constraints import NumericConstraints
from kineta.consistency.redundancy import contradiction, singular_configuration
from kineta.equations.equations import Equations
from kineta.equations.initial_values import initial_state
from kineta.errors import SimulationError, excerpt, reworded
from kineta.mechanics.constraints.structural_rank import dependent
from kineta.model.reserved_symbols import TIME
from kineta.numerics.linear_algebra import norm, unit_rows
from kineta.runtime.mass_matrix_rank import why_infinite
from kineta.tasks.verification.random_states import States, chosen, on_constraints, quantity, random_states

#: Factor of the number of states in a second attempt.
MORE = 30
#: Sets of random values of parameters that have none: with some of them a machine does not close, or a root has no value.
DRAWS = 8
#: Drawn states that show how long rows of constraints are where these are not met.
DRAWN = 3


def regular_states(equations: Equations, n: int, *, seed: int = 0, enough: int = 1) -> tuple[Equations, States]:
    """Return *equations* without redundant constraints, and the consistent states with finite accelerations of *n* random ones;
    where these are not *enough*, among more, as redundancy differs between positions.

    Parameters without values have random ones, the same for all states. Raises :class:`SimulationError` for too few states of the
    second attempt, and where all consistent ones are singular, with each of :data:`DRAWS` sets of such values.
    """
    unknown = [p.name for p in equations.system.parameters if p.value is None]
    for drawn in range(DRAWS if unknown else 1):
        try:
            return _attempted(equations, n, seed + drawn, enough)
        except SimulationError as error:
            last = error
    if unknown:
        raise reworded(
            last,
            f"{str(last).removesuffix('.')}; so it is with {DRAWS} sets of random values of the parameters {excerpt(unknown)}, "
            "which have none. Give them values with which the machine moves.",
        )
    raise last


def _attempted(equations: Equations, n: int, seed: int, enough: int) -> tuple[Equations, States]:
    """The states of :func:`regular_states` with one set of values of the parameters."""
    system, whole = equations.system, equations
    tries = (n, MORE * n) if system.constraints else (n,)
    for tried in tries:
        states = random_states(system, tried, seed)
        p = np.array([states[name][0] for name in system.parameter_names])
        with whole.shared() as d:
            sampled = on_constraints(d, states)
        met = len(sampled[TIME])
        if not met:
            continue
        start = consistent(equations, 0.0, *initial_state(system, p=p), p, reach=np.inf)
        equations = equations.without({*whole.left_out, *start.equations.left_out})
        (finite, apart), moved = _regular(equations, sampled), sampled
        found = chosen(sampled, np.flatnonzero(finite & apart)[:n])
        sampled = chosen(sampled, np.flatnonzero(finite)[:n])
        if len(found[TIME]) >= enough:
            return equations, found
    if met and len(sampled[TIME]) >= enough:  # nearly singular states are better than none, singular ones are not
        named = _singular(equations, p, states, sampled)
        regular = [not found for found in named]
        if sum(regular) >= enough:
            return equations, chosen(sampled, np.flatnonzero(regular))
        raise SimulationError(
            f"Model '{system.name}': the states around the start that meet the constraints are singular: "
            f"{next(filter(None, named))}. Start a little beside it, or change the model where it closes in no other position."
        )
    if not met:
        constraints = NumericConstraints(equations, p)
        start_state = consistent_state(constraints, 0.0, *initial_state(system, p=p))
        why = "" if system.quasi else contradiction(constraints, 0.0, start_state)
        raise SimulationError(
            f"Model '{system.name}': none of {tried} random states could be moved onto its constraints "
            f"({', '.join(c.name for c in system.constraints)}){': ' * bool(why)}"
            f"{why or '. Give initial values near which they hold.'}"
        )
    raise SimulationError(
        f"Model '{system.name}': its accelerations are finite at {len(sampled[TIME]) or 'none'} of {tried} random states around "
        f"the initial one: {_why(equations, p, chosen(moved, np.flatnonzero(~finite)))}."
    )


def _singular(equations: Equations, p: FloatArray, drawn: States, states: States) -> list[str]:
    """For each of *states*, constraints that depend on each other there but not in those *drawn*, in words; ``''`` for none."""
    names = equations.system.q_names, equations.system.v_names
    at = [
        [tuple(np.array([x[n][k] for n in own]) for own in names) for k in range(len(x[TIME]))] for x in (drawn, states)
    ]
    away = [(q, v) for q, v in at[0][:DRAWN]]
    return [
        singular_configuration(equations, p, float(t), (q, v), away)
        for t, (q, v) in zip(states[TIME], at[1], strict=True)
    ]


def _why(equations: Equations, p: FloatArray, states: States) -> str:
    """Return the reason why the first of *states* has no accelerations."""
    if not len(states[TIME]):
        return "constraints leave no more of them"
    q, v = (np.array([states[n][0] for n in names]) for names in (equations.system.q_names, equations.system.v_names))
    return why_infinite(equations, float(states[TIME][0]), q, v, p)


def _regular(equations: Equations, states: States) -> tuple[Mask, Mask]:
    """Return the masks of *states* with finite accelerations, and with well-conditioned constraints."""
    with equations.shared() as d:
        finite: Mask = np.asarray(np.isfinite(quantity(d, "forward", states)).all(axis=1))
        if not d.rows or not finite.any():
            return finite, finite
        A = quantity(d, "constraint_jacobian", states)
    sizes = norm(A, axis=2)
    long = sizes.min(axis=1) > tolerances.SINGULARITY_TOLERANCE * sizes[finite].max()
    rank = tolerances.INDEPENDENCE_TOLERANCE
    apart = np.array([np.isfinite(G).all() and not dependent(G.tolist(), rank) for G in unit_rows(A)])
    return finite, long & apart
