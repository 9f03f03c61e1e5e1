"""Random states at which a system has accelerations, whatever constraints say the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import Equations
from kineta.errors import SimulationError
from kineta.formalism.rank import dependent, scaled
from kineta.model.infer import TIME
from kineta.tasks.rank import redundant
from kineta.tasks.sampling import States, chosen, on_constraints, quantity, random_states

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
        sampled = on_constraints(whole, random_states(system, tried, seed))
        met = len(sampled[TIME])
        if not met:
            continue
        p = np.array([sampled[name][0] for name in system.parameter_names])
        equations = equations.without({*whole.left_out, *redundant(equations, p)})
        sampled = chosen(sampled, np.flatnonzero(_regular(equations, sampled))[:n])
        if len(sampled[TIME]) >= enough:
            return equations, sampled
    if not met:
        raise SimulationError(
            f"Model '{system.name}': none of {tried} random states could be moved onto its constraints "
            f"({', '.join(c.name for c in system.constraints)}). Give initial values near which they hold."
        )
    raise SimulationError(
        f"Model '{system.name}': its accelerations are finite at {len(sampled[TIME]) or 'none'} of {tried} random states; "
        "the mass matrix may be singular: kineta check names the speed."
    )


def _regular(equations: Equations, states: States) -> NDArray[np.bool_]:
    """At which *states* there are accelerations: where they are finite, and, if there are such states, where constraints are
    far from depending on each other.
    """
    d = equations.derivation
    finite: NDArray[np.bool_] = np.asarray(np.isfinite(quantity(d, "forward", states)).all(axis=1))
    if not d.rows or not finite.any():
        return finite
    A = quantity(d, "constraint_jacobian", states)
    sizes = np.linalg.norm(A, axis=2)
    long = sizes.min(axis=1) > FOLDED * sizes[finite].max()
    apart = np.array([np.isfinite(G).all() and not dependent(G, NEARLY) for G in scaled(A)])
    return finite & long & apart if (finite & long & apart).any() else finite
