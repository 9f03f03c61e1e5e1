"""Redundant constraints of a motion, found once from the start and states near it.

Where constraints happen to coincide, as in a folded parallelogram, the rank is lower than nearby; and a constraint nonlinear
in the speeds has no gradient at rest. The rank is therefore the largest over several consistent states near the start, with
other speeds where these matter. Among dependent rows, those with a gradient in all these states are kept, in any order of
writing; a row violated in all of them is never redundant merely for its vanishing gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, Mask
from kineta.consistency.consistent_state import ConsistentState, consistent_state
from kineta.consistency.constraints import NumericConstraints
from kineta.consistency.derived import Derived
from kineta.errors import ModelError, NumericalError, warn
from kineta.mechanics.constraints.rows import check_independent
from kineta.mechanics.constraints.structural_rank import nearest
from kineta.numerics.linear_algebra import lstsq, norm, pivoted_triangle, qr, svd

T = TypeVar("T", bound=Derived)
#: Coordinates and speeds.
State = tuple[FloatArray, FloatArray]

#: Number of states near the start; size of the displacements, relative to a unit speed, in the mass metric; size of the changes
#: of speed where rows are nonlinear in them; and time between them: rows that vanish at t = 0 or at rest do not vanish there.
NEIGHBOURS, POSITION_STEP, SPEED_STEP, TIME_STEP = 3, 0.1, 1.0, 0.01


@dataclass(frozen=True)
class Redundancy:
    """Names of the redundant constraints *left_out*; for each, the constraints it is a linear combination of; and regular
    states (q, v) of the motion.
    """

    left_out: tuple[str, ...]
    others: tuple[tuple[str, ...], ...]
    states: tuple[State, ...]

    def sentence(self, total: int) -> str:
        """Sentence on the redundant constraints among *total* rows; ``''`` where all are independent."""
        if not self.left_out:
            return ""
        k = len(self.left_out)
        groups = "; ".join(
            f"{name} follows from {', '.join(others)}" if others else f"{name} changes with no motion"
            for name, others in zip(self.left_out, self.others, strict=True)
        )
        verb = "is" if k == 1 else "are"
        return f"{k} of {total} rows of constraints {verb} redundant and left out ({groups}): their reactions are indeterminate"


def find_redundancy(constraints: NumericConstraints, t: float, q: FloatArray, v: FloatArray) -> Redundancy:
    """Redundancy of the constraints around the consistent state near *q*, *v*. Raises :class:`NumericalError` for a constraint
    without a value or gradient there.
    """
    found = consistent_state(constraints, t, q, v)
    return _find_redundancy(constraints, t, (found.q, found.v))


def _find_redundancy(constraints: NumericConstraints, t: float, state: State) -> Redundancy:
    """Redundancy around a *state*, over its consistent neighbours if there are any. Raises :class:`NumericalError` where the
    rows are not finite in any of them.
    """
    own = constraints.weighted_jacobian(t, *state)
    if _well_conditioned(own):
        return Redundancy((), (), (state,))
    near = [
        (at, other, constraints.weighted_jacobian(at, *other))
        for at, other in _neighbouring_states(constraints, t, *state)
    ]
    known = [found for found in [(t, state, own), *near] if np.isfinite(found[2]).all()]
    if not known:
        constraints.check_finite(t, *state, own)
    known = [found for found in known if constraints.satisfied(found[0], *found[1])] or known
    rows = [A for _, _, A in known]
    sizes = np.array([norm(A, axis=1) for A in rows])
    length = sizes.max(axis=0)
    sloped = sizes > tolerances.SINGULARITY_TOLERANCE * length
    found = [_independent_rows(A, length, sloped.all(axis=0)) for A in rows]
    best = max(range(len(known)), key=lambda i: (len(found[i][0]), sloped[i].sum(), found[i][1]))
    kept = found[best][0]
    names = [name for name, _ in constraints.rows]
    at, regular, _ = known[best]
    missed = set.intersection(*(constraints.violated(at, *x) for at, x, _ in known))
    null = {
        i: others
        for i, others in constraints.dependencies(at, *regular, kept).items()
        if others or names[i] not in missed
    }
    return Redundancy(
        tuple(names[i] for i in null),
        tuple(tuple(names[k] for k in sorted(others)) for others in null.values()),
        tuple(x for _, x, _ in known),
    )


def redundant_constraints(equations: Derived, p: FloatArray, start: State) -> tuple[str, ...]:
    """Names of the redundant constraints around the *start* of a system, projected onto them."""
    system = equations.system
    if system.quasi or not system.constraints:
        return ()
    constraints = NumericConstraints(equations, p)
    return find_redundancy(constraints, 0.0, *start).left_out


def without_redundant_rows(equations: T, p: FloatArray, initial: State) -> T:
    """*equations* without the constraints redundant around the *initial* state of the model, projected onto them, with a
    warning that names them; unchanged where no consistent state is found near it.

    Raises :class:`ModelError` for constraints that contradict each other in any position.
    """
    system, d = equations.system, equations.derivation
    constraints = NumericConstraints(equations, p)
    start = consistent_state(constraints, 0.0, *initial)
    if why := _contradiction(constraints, 0.0, start):
        try:
            check_independent(d.symbols, d.rows)
        except ModelError as error:
            raise ModelError(f"Model '{system.name}': {why}", error.location) from None
        return equations
    try:
        found = _find_redundancy(constraints, 0.0, (start.q, start.v))
    except NumericalError:
        return equations
    if not start.satisfied:
        k = start.worst
        warn(
            f"Model '{system.name}': no state near the start meets {constraints.described(k)}; the nearest misses it by "
            f"{abs(start.residuals[k]):.3g}. Which constraints are redundant may differ where all are met: give initial values "
            f"near such a state, as in initial {(system.q_names if k in constraints.on_position else system.v_names)[0]} = 1."
        )
    if found.left_out:
        warn(f"Model '{system.name}': {found.sentence(len(constraints.rows))}.")
    return equations.without(found.left_out)


def contradiction(constraints: NumericConstraints, t: float, q: FloatArray, v: FloatArray) -> str:
    """Sentence on constraints that contradict each other at the state of least residual near *q*, *v*; ``''`` for none."""
    return _contradiction(constraints, t, consistent_state(constraints, t, q, v))


def _contradiction(constraints: NumericConstraints, t: float, start: ConsistentState) -> str:
    """Sentence on constraints that contradict each other at the state *start*; ``''`` for none."""
    if start.satisfied or not np.isfinite(start.residuals).all():
        return ""
    off, k, found = start.residuals, start.worst, _find_redundancy(constraints, t, (start.q, start.v))
    for name, others in zip(found.left_out, found.others, strict=True):
        if others and constraints.labels[k].rstrip("'") in (name, *others):
            return (
                f"the constraint '{name}' contradicts {', '.join(others)}: no state near the start meets all, and where they are "
                f"missed least, {constraints.described(k)} is {off[k]:.3g} instead of 0. Leave one out, or change it."
            )
    return ""


def singular_configuration(
    equations: Derived, p: FloatArray, t: float, end: State, regular: Sequence[State], part: float | None = None
) -> str:
    """Sentence on the constraints that are dependent in the state *end* at the time *t* and independent in *regular* states;
    ``''`` for none. Dependent: the least singular value, of rows scaled by their lengths in regular states, is less than
    *part*, SINGULARITY_TOLERANCE by default.
    """
    system, left_out = equations.system, equations.derivation.left_out
    if not system.constraints or system.quasi:
        return ""
    constraints = NumericConstraints(equations, p)
    kept = [k for k, (name, _) in enumerate(constraints.rows) if name not in left_out]
    return dependent_rows(constraints, kept, t, end, regular, part)


def singular_beside_regular(equations: Derived, p: FloatArray, t: float, q: FloatArray, v: FloatArray) -> str:
    """The constraints that depend on each other in the state *q*, *v* but not beside it, in words; ``''`` for none."""
    independent, regular, _ = independent_constraints(equations, t, q, v, p)
    return singular_configuration(independent, p, t, (q, v), regular, tolerances.RANK_TOLERANCE)


def dependent_rows(
    constraints: NumericConstraints,
    kept: list[int],
    t: float,
    end: State,
    regular: Sequence[State],
    part: float | None = None,
) -> str:
    """Sentence on the dependent rows among the rows number *kept*; ``''`` for none."""
    elsewhere = [state for state in regular if not all(map(np.array_equal, state, end))]
    *others, A = (constraints.weighted_jacobian(t, *state)[kept] for state in (*elsewhere, end))
    if not np.isfinite(A).all():
        return ""
    length = np.max([norm(rows, axis=1, keepdims=True) for rows in (*others, A)], axis=0)
    A = A / np.where(length > 0, length, 1.0)
    if nearest(A) > tolerances.INDEPENDENCE_TOLERANCE:
        return ""
    left, sizes, _ = svd(A, what="the constraints that depend on each other")
    if len(sizes) == len(kept) and sizes[-1] > (tolerances.SINGULARITY_TOLERANCE if part is None else part):
        return ""
    shares = np.abs(left[:, -1])
    names = [constraints.rows[kept[k]][0] for k in np.flatnonzero(shares > 0.1 * shares.max())]
    if len(names) == 1:
        return f"the constraint {names[0]} changes with no motion there"
    return f"the constraints {', '.join(names)} depend on each other there"


def _independent_rows(A: FloatArray, length: FloatArray, steady: Mask) -> tuple[list[int], float]:
    """Independent rows of *A*, scaled by their *length* in regular positions, and their least pivot. *steady* rows, which
    vanish nowhere, are chosen first; among equals, the row farthest from the span of the rows before.
    """
    A = A / np.where(length > 0, length, 1.0)[:, None]
    kept, least = list[int](), 1.0
    for own in map(np.flatnonzero, (steady, ~steady)):
        if len(own):
            Q, _ = qr(A[kept].T, what="the constraints that are independent")
            rest = A[own] - A[own] @ Q @ Q.T
            R, order = pivoted_triangle(rest.T, what="the constraints that are independent")
            far = np.abs(R.diagonal())
            far = far[far > tolerances.RANK_TOLERANCE]
            kept += own[order[: len(far)]].tolist()
            least = min([least, *far.tolist()])
    return kept, least


def _well_conditioned(A: FloatArray) -> bool:
    """True where the rows *A* are clearly independent."""
    if not len(A):
        return True
    length = norm(A, axis=1)
    return (
        bool(length.min() >= tolerances.SINGULARITY_TOLERANCE * max(1.0, length.max()))
        and nearest(A / length[:, None]) > tolerances.INDEPENDENCE_TOLERANCE
    )


def _neighbouring_states(
    constraints: NumericConstraints, t: float, q: FloatArray, v: FloatArray
) -> list[tuple[float, State]]:
    """Consistent states near *q*, *v*, and their times."""
    rng, linear = np.random.default_rng(0), constraints.compiled.linear
    found = []
    for at in t + TIME_STEP * (1.0 + np.arange(NEIGHBOURS)):
        W = constraints.inverse_root(t, q, v)
        W = W / max(norm(W, axis=0).max(initial=0.0), tolerances.LEAST_DIVISOR)
        A = constraints.jacobian(t, q, v) @ W
        x = POSITION_STEP * rng.standard_normal(W.shape[1])
        if np.isfinite(A).all():
            x -= lstsq(A, A @ x, what="states beside this", rcond=tolerances.RANK_TOLERANCE)
        there = constraints.project_position(at, constraints.retract(t, q, W @ x))
        speeds = v if linear else v + SPEED_STEP * W @ rng.standard_normal(W.shape[1])
        speeds = constraints.project_velocity(at, there, speeds)
        if np.isfinite(there).all() and np.isfinite(speeds).all():
            found.append((at, (there, speeds)))
    return found


def independent_constraints(
    equations: T, t: float, q: FloatArray, v: FloatArray, p: FloatArray
) -> tuple[T, tuple[State, ...], tuple[str, ...]]:
    """*equations* without the constraints redundant at the start of a motion, regular states of it, and notes for the result;
    of several cases those of the first.
    """
    system = equations.system
    if not system.constraints or system.quasi:
        return equations, (), ()
    q, v, p = (np.atleast_2d(x)[0] for x in (q, v, p))
    constraints = NumericConstraints(equations, p)
    constraints.check_finite(t, q, v, constraints.weighted_jacobian(t, q, v))
    found = _find_redundancy(constraints, t, (q, v))
    said = found.sentence(len(constraints.rows))
    return equations.without(found.left_out), found.states, (said,) * bool(said)
