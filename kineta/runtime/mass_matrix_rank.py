"""Rank of the mass matrix, and motions without inertia."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from kineta import tolerances
from kineta.algebra.infix import number
from kineta.arrays import FloatArray
from kineta.codegen import numpy as reference
from kineta.consistency.consistent_start import consistent
from kineta.consistency.definition_domain import domain_violation
from kineta.consistency.redundancy import singular_configuration
from kineta.equations.equations import Equations
from kineta.equations.function import parameter_values
from kineta.expr.loop_program import LoopProgram
from kineta.expr.program import StraightLineProgram, program
from kineta.mechanics.algorithms.rounding_bounds import speed_bounds
from kineta.mechanics.derivation import Derivation
from kineta.model.checks.scaling_check import mass_spread
from kineta.model.parameters import named_values
from kineta.model.system import System
from kineta.numerics.extreme_eigenvalue import largest_eigenvalue
from kineta.numerics.linear_algebra import eigh

#: Time, coordinates, speeds.
State = tuple[float, FloatArray, FloatArray]

#: Largest number of speeds with a mass matrix derived symbolically, and number of columns computed at a time for larger systems.
_WHOLE, _COLUMNS = 200, 64
#: The beginning of a sentence on constraints that depend on each other in a state.
SINGULAR = "the state is singular: "
#: What eigenvalues are sought for.
_LEAST = "the least inertia"
#: Number of speeds of a combination in a sentence.
_TERMS = 6


def alike(equations: Equations) -> Equations:
    """The first of the equations that differ in names alone."""
    return equations if equations.like is None else equations.like[0]


def inertia_bounds(
    equations: Equations, t: float, q: ArrayLike, v: ArrayLike, p: ArrayLike | None = None
) -> FloatArray:
    """Upper bounds of the inertia of each speed, (nv,): scales of the rounding errors of the mass matrix."""
    first = alike(equations)
    bounds = first.memo("speed bounds", lambda: reference.compile(_bounds(first.alone())))
    state = (np.atleast_1d(np.asarray(x, dtype=float)) for x in (t, q, v, parameter_values(equations.system, p)))
    return np.asarray(bounds(*state))


def _bounds(d: Derivation) -> StraightLineProgram:
    s, refs = d.symbols, speed_bounds(d.mechanism)
    inputs = {"t": (s.t,), "q": s.q, "v": s.v, "p": s.p}
    return program(d.graph, inputs, {"bounds": ((len(refs),), refs)}, "bounds")


def mass_matrix(equations: Equations, t: float, q: ArrayLike, v: ArrayLike, p: ArrayLike | None = None) -> FloatArray:
    """Mass matrix (nv, nv) in one state; for large systems by inverse dynamics of unit accelerations, in linear memory."""
    n = equations.system.nv
    if n <= _WHOLE:
        p = parameter_values(equations.system, p)
        return np.asarray(alike(equations).function("mass_matrix", "numpy")(t, q, v, p=p))
    inverse, still = equations.function("inverse", "numpy"), np.zeros(n)
    blocks = [inverse(t, q, still, unit, p=p) for unit in np.array_split(np.eye(n), -(-n // _COLUMNS))]
    M = np.concatenate(blocks) - inverse(t, q, still, still, p=p)
    return (M + M.T) / 2  # type: ignore[no-any-return]  # of arrays


def ends_of_spectrum(equations: Equations, q: ArrayLike, p: ArrayLike, size: ArrayLike) -> tuple[float, float] | None:
    """The smallest and the largest eigenvalue of the mass matrix at the coordinates *q* (nq,), scaled by the *size* (nv,) of its
    diagonal entries. None for systems whose dynamics are no loops over links, and where they are not found so.
    """
    if equations.system.constraints or not all(
        isinstance(equations.programs(quantity)[1], LoopProgram) for quantity in ("forward", "inverse")
    ):
        return None
    n = equations.system.nv
    scale, still = np.sqrt(np.asarray(size, dtype=float)), np.zeros(n)
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        return None
    forward, inverse = (equations.function(quantity) for quantity in ("forward", "inverse"))
    falling, resting = (np.asarray(f(0.0, q, still, still, p=p)) for f in (forward, inverse))

    def compliant(x: FloatArray) -> FloatArray:
        """Accelerations by forces, beside those that bodies have without."""
        return np.asarray(scale * (np.asarray(forward(0.0, q, still, scale * x, p=p)) - falling))

    def inert(x: FloatArray) -> FloatArray:
        """Forces by accelerations, beside those that bodies need at rest."""
        return np.asarray((np.asarray(inverse(0.0, q, still, x / scale, p=p)) - resting) / scale)

    inverse_of_least, greatest = (largest_eigenvalue(f, n, what=_LEAST) for f in (compliant, inert))
    if inverse_of_least is None or greatest is None:
        return None
    return 1.0 / inverse_of_least, greatest


def least_inertia(M: FloatArray, size: FloatArray) -> tuple[float, FloatArray]:
    """Smallest eigenvalue of the mass matrix *M* (nv, nv), scaled by the *size* (nv,) of its diagonal entries so that masses
    and moments of inertia compare, and its eigenvector as speeds (nv,). Infinite without speeds.
    """
    if not len(size):
        return np.inf, np.empty(0)
    scale = np.sqrt(np.where(size > 0, size, 1.0))
    values, vectors = eigh(M / np.outer(scale, scale), what=_LEAST)
    idle = vectors[:, values <= max(tolerances.ROUNDING_TOLERANCE, values[0])]
    for k in range(idle.shape[1]):  # of several such motions those of few speeds
        i = np.abs(idle[:, k]).argmax()
        idle[:, k] /= idle[i, k]
        others = np.arange(idle.shape[1]) != k
        idle[:, others] -= np.outer(idle[:, k], idle[i, others])
    fewest = (np.abs(idle) > tolerances.PARTICIPATION_TOLERANCE).sum(axis=0).argmin()
    motion = np.where(np.abs(idle[:, fewest]) > tolerances.PARTICIPATION_TOLERANCE, idle[:, fewest], 0.0) / scale
    return float(values[0]), motion


def scaling_warning(system: System, p: ArrayLike | None = None) -> str:
    """Sentence on masses or moments of inertia too different in size for the parameters *p*; ``''`` for none."""
    return mass_spread(system, named_values(system.parameters, parameter_values(system, p).tolist()))


def massless_motion_text(names: Sequence[str], motion: FloatArray, why: str = "") -> str:
    """Sentence on the massless *motion* (nv,) of speeds called *names*, with the reason *why*, or advice."""
    if why:
        return f"{massless_motion(names, motion)}, up to rounding. {why}"
    advice = "Give a body that it moves a mass or a moment of inertia"
    if np.count_nonzero(motion) > 1:
        advice = "Give mass to what lies between these motions, leave one out"
    return f"{massless_motion(names, motion)}. {advice}, or start elsewhere"


def massless_motion(names: Sequence[str], motion: FloatArray) -> str:
    """Sentence on the speed, or combination of speeds, in the massless *motion* (nv,)."""
    present = np.flatnonzero(motion)
    if len(present) == 1:
        return f"the speed '{names[present[0]]}' moves no inertia"
    shown = "".join(_term(names[k], motion[k] / motion[present[0]]) for k in present[:_TERMS])
    more = " + ..." * (len(present) > _TERMS)
    return f"the combination {shown.removeprefix(' + ')}{more} of its speeds moves no inertia"


def _term(name: str, factor: float) -> str:
    size = number(float(f"{abs(factor):.3g}"))
    return f" {'-' if factor < 0 else '+'} {size + ' ' if size != '1' else ''}{name}"


def singular_mass_matrix(equations: Equations, t: float, q: ArrayLike, v: ArrayLike, p: ArrayLike | None = None) -> str:
    """Sentence on the massless motion of a state with a singular mass matrix; ``''`` for a regular one."""
    M, size = mass_matrix(equations, t, q, v, p), inertia_bounds(equations, t, q, v, p)
    if not (np.isfinite(M).all() and np.isfinite(size).all()):
        return ""
    smallest, motion = least_inertia(M, size)
    system = equations.system
    return (
        massless_motion_text(system.v_names, motion, scaling_warning(system, p))
        if smallest <= tolerances.ROUNDING_TOLERANCE
        else ""
    )


def why_infinite(equations: Equations, t: float, q: FloatArray, v: FloatArray, p: FloatArray) -> str:
    """Reason for quantities of a state that are not finite: an undefined operation, or a massless motion."""
    if why := domain_violation(equations, p, t, np.concatenate([q, v])):
        return why
    why = singular_mass_matrix(equations, t, q, v, p)
    if why:
        return f"the mass matrix is singular: {why}"
    found = consistent(equations, t, q, v, p, reach=0.0)
    why = singular_configuration(found.equations, p, t, (q, v), found.regular, tolerances.RANK_TOLERANCE)
    return f"{SINGULAR}{why}; start a little beside it" if why else "check the state and the parameters"


def vanished_inertia(equations: Equations, p: FloatArray, start: State, end: State) -> str:
    """Sentence on the motion whose inertia vanishes between *start* and *end*; ``''`` for none."""
    before, after = mass_matrix(equations, *start, p), mass_matrix(equations, *end, p)
    if not np.isfinite([before, after]).all():
        return ""
    smallest, motion = least_inertia(after, np.maximum(inertia_bounds(equations, *end, p), before.diagonal()))
    return massless_motion(equations.system.v_names, motion) if smallest <= tolerances.STALL_TOLERANCE else ""
