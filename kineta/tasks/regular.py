"""Random states at which a system has accelerations, whatever constraints say the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import Equations
from kineta.errors import SimulationError
from kineta.formalism.rank import dependent, scaled
from kineta.model.infer import TIME
from kineta.tasks.closing import Closing
from kineta.tasks.rank import contradiction, redundant
from kineta.tasks.sampling import States, chosen, on_constraints, quantity, random_states
from kineta.tasks.state import initial_state

#: Whether something holds, state by state.
Mask = NDArray[np.bool_]

#: How far a row of constraints, of unit length, is from those before it at least where errors of rounding do not grow with it.
NEARLY = 1e-2
#: Part of the longest row below which one shows a position in which it binds nothing.
FOLDED = 1e-3
#: How many times more states are tried where constraints leave too few.
MORE = 30


def regular_states(equations: Equations, n: int, *, seed: int = 0, enough: int = 1) -> tuple[Equations, States]:
    """*equations* without redundant constraints, and those of *n* random states that could be moved onto all constraints and
    have accelerations. Where these are not *enough*, more are tried: other positions meet constraints too, where more of them
    depend on each other.

    Raises :class:`SimulationError` where that finds too few as well.
    """
    system, whole = equations.system, equations.derivation
    tries = (n, MORE * n) if system.constraints else (n,)
    for tried in tries:
        states = random_states(system, tried, seed)
        p = np.array([states[name][0] for name in system.parameter_names])
        sampled = on_constraints(whole, states)
        met = len(sampled[TIME])
        if not met:
            continue
        equations = equations.without({*whole.left_out, *redundant(equations, p)})
        finite, apart = _regular(equations, sampled)
        found = chosen(sampled, np.flatnonzero(finite & apart)[:n])
        sampled = chosen(sampled, np.flatnonzero(finite)[:n])
        if len(found[TIME]) >= enough:
            return equations, found
    if met and len(sampled[TIME]) >= enough:  # nearly singular states are better than none
        return equations, sampled
    if not met:
        why = contradiction(Closing(equations, p), 0.0, *initial_state(system, p=p)) if not system.quasi else ""
        raise SimulationError(
            f"Model '{system.name}': none of {tried} random states could be moved onto its constraints "
            f"({', '.join(c.name for c in system.constraints)}){': ' * bool(why)}"
            f"{why or '. Give initial values near which they hold.'}"
        )
    raise SimulationError(
        f"Model '{system.name}': its accelerations are finite at {len(sampled[TIME]) or 'none'} of {tried} random states; "
        "the mass matrix may be singular: kineta check names the speed."
    )


def _regular(equations: Equations, states: States) -> tuple[Mask, Mask]:
    """At which *states* accelerations are finite, and at which constraints are far from depending on each other."""
    d = equations.derivation
    finite: Mask = np.asarray(np.isfinite(quantity(d, "forward", states)).all(axis=1))
    if not d.rows or not finite.any():
        return finite, finite
    A = quantity(d, "constraint_jacobian", states)
    sizes = np.linalg.norm(A, axis=2)
    long = sizes.min(axis=1) > FOLDED * sizes[finite].max()
    apart = np.array([np.isfinite(G).all() and not dependent(G, NEARLY) for G in scaled(A)])
    return finite, long & apart
