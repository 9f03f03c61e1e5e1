"""Whether a mass matrix can be solved with, and which motion it resists too little."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kineta.codegen import numpy as reference
from kineta.compiler import Equations
from kineta.expr.program import Program, program
from kineta.expr.text import number
from kineta.formalism.bounds import ROUNDING, speed_bounds
from kineta.formalism.derivation import Derivation
from kineta.function import parameter_values
from kineta.model.extreme import apart
from kineta.model.system import System

FloatArray = NDArray[np.float64]

#: Time, coordinates, speeds.
State = tuple[float, FloatArray, FloatArray]

#: Speeds of the largest system whose mass matrix is derived whole where its numbers are wanted, and the columns that are computed
#: at a time of those of larger ones.
_WHOLE, _COLUMNS = 200, 64
#: Part of its inertia that a motion may have left where a run ends in a singular position: steps come no closer.
_LOST = 1e-6
#: Part of the largest one below which a speed has no part in a motion.
_PART = 1e-6
#: Speeds of a combination that a sentence shows.
_TERMS = 6


def sizes(equations: Equations, t: float, q: ArrayLike, v: ArrayLike, p: ArrayLike | None = None) -> FloatArray:
    """Inertia that each speed may meet at most, (nv,): what the errors of the mass matrix are measured by."""
    bounds = equations.kept("speed bounds", lambda: reference.compile(_bounds(equations.alone())))
    state = (np.atleast_1d(np.asarray(x, dtype=float)) for x in (t, q, v, parameter_values(equations.system, p)))
    return np.asarray(bounds(*state))


def _bounds(d: Derivation) -> Program:
    s, refs = d.symbols, speed_bounds(d.mechanism)
    inputs = {"t": (s.t,), "q": s.q, "v": s.v, "p": s.p}
    return program(d.graph, inputs, {"bounds": ((len(refs),), refs)}, "bounds")


def mass_matrix(equations: Equations, t: float, q: ArrayLike, v: ArrayLike, p: ArrayLike | None = None) -> FloatArray:
    """The mass matrix (nv, nv) in one state; of large systems the forces that unit accelerations take, in linear memory."""
    n = equations.system.nv
    if n <= _WHOLE:
        return np.asarray(equations.function("mass_matrix", "numpy")(t, q, v, p=p))
    inverse, still = equations.function("inverse", "numpy"), np.zeros(n)
    blocks = [inverse(t, q, still, unit, p=p) for unit in np.array_split(np.eye(n), -(-n // _COLUMNS))]
    M = np.concatenate(blocks) - inverse(t, q, still, still, p=p)
    return (M + M.T) / 2  # type: ignore[no-any-return]  # of arrays


def least_inertia(M: FloatArray, size: FloatArray) -> tuple[float, FloatArray]:
    """Smallest eigenvalue of the mass matrix *M* (nv, nv) scaled with the *size* (nv,) of its diagonal entries, and the speeds
    (nv,) that belong to it. Masses and moments of inertia are then compared without units. Without speeds it is infinite.
    """
    if not len(size):
        return np.inf, np.empty(0)
    scale = np.sqrt(np.where(size > 0, size, 1.0))
    values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    idle = vectors[:, values <= max(ROUNDING, values[0])]
    for k in range(idle.shape[1]):  # of several such motions those of few speeds
        i = np.abs(idle[:, k]).argmax()
        idle[:, k] /= idle[i, k]
        others = np.arange(idle.shape[1]) != k
        idle[:, others] -= np.outer(idle[:, k], idle[i, others])
    fewest = (np.abs(idle) > _PART).sum(axis=0).argmin()
    motion = np.where(np.abs(idle[:, fewest]) > _PART, idle[:, fewest], 0.0) / scale
    return float(values[0]), motion


def lost_beside(system: System, p: ArrayLike | None = None) -> str:
    """That masses or moments of inertia are too far apart for the parameters *p*, as a sentence; else nothing."""
    known = {q.name: q.value for q in system.parameters if q.fixed and q.value is not None}
    return apart(system, known | dict(zip(system.parameter_names, parameter_values(system, p).tolist(), strict=True)))


def idle(names: Sequence[str], motion: FloatArray, why: str = "") -> str:
    """What to say where the speeds *motion* (nv,), called *names*, meet no inertia, and *why*, or what to do."""
    if why:
        return f"{moves_nothing(names, motion)}, up to rounding. {why}"
    advice = "Give a body that it moves a mass or a moment of inertia"
    if np.count_nonzero(motion) > 1:
        advice = "Give mass to what lies between these motions, leave one out"
    return f"{moves_nothing(names, motion)}. {advice}, or start elsewhere"


def moves_nothing(names: Sequence[str], motion: FloatArray) -> str:
    """The speed, or the combination of speeds, that *motion* (nv,) consists of, and that it moves no inertia."""
    present = np.flatnonzero(motion)
    if len(present) == 1:
        return f"the speed '{names[present[0]]}' moves no inertia"
    shown = "".join(_term(names[k], motion[k] / motion[present[0]]) for k in present[:_TERMS])
    more = " + ..." * (len(present) > _TERMS)
    return f"the combination {shown.removeprefix(' + ')}{more} of its speeds moves no inertia"


def _term(name: str, factor: float) -> str:
    size = number(float(f"{abs(factor):.3g}"))
    return f" {'-' if factor < 0 else '+'} {size + ' ' if size != '1' else ''}{name}"


def fault(equations: Equations, t: float, q: ArrayLike, v: ArrayLike, p: ArrayLike | None = None) -> str:
    """Why a state has no accelerations: the motion that its mass matrix does not resist; nothing where there is none."""
    M, size = mass_matrix(equations, t, q, v, p), sizes(equations, t, q, v, p)
    if not (np.isfinite(M).all() and np.isfinite(size).all()):
        return ""
    smallest, motion = least_inertia(M, size)
    system = equations.system
    return idle(system.v_names, motion, lost_beside(system, p)) if smallest <= ROUNDING else ""


def lost(equations: Equations, p: FloatArray, start: State, end: State) -> str:
    """The motion whose inertia has vanished on the way from *start* to *end*, in words; nothing where there is none."""
    before, after = mass_matrix(equations, *start, p), mass_matrix(equations, *end, p)
    if not np.isfinite([before, after]).all():
        return ""
    smallest, motion = least_inertia(after, np.maximum(sizes(equations, *end, p), before.diagonal()))
    return moves_nothing(equations.system.v_names, motion) if smallest <= _LOST else ""
