"""Redundant constraints of a motion, found once from the start and states near it.

Where constraints happen to coincide, as in a folded parallelogram, the rank is lower than nearby; and a constraint nonlinear
in the speeds has no gradient at rest. The rank is therefore the largest over several consistent states near the start, with
other speeds where these matter. Among dependent rows, those with a gradient in all these states are kept, in any order of
writing; a row violated in all of them is never redundant merely for its vanishing gradient.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, Mask
from kineta.consistency.consistent_state import ConsistentState
from kineta.consistency.constraints import NumericConstraints
from kineta.consistency.derived_equations import Derived
from kineta.model.system import System
from kineta.numerics.linear_algebra import lstsq, nearest, norm, pivoted_triangle, qr, svd
from kineta.numerics.random_numbers import UniformNumbers
from kineta.records import dataclass

#: Coordinates and speeds.
State = tuple[FloatArray, FloatArray]

#: Rows in error messages.
ROWS = "the constraints that depend on each other"
#: Number of states near the start, and time between them: rows that vanish at t = 0 or at rest do not vanish there.
NEIGHBOURS, TIME_STEP = 3, 0.01
#: Size of the displacements, relative to a unit speed, in the mass metric; and of the changes of speed where rows are nonlinear.
POSITION_STEP, SPEED_STEP = 0.1, 1.0


@dataclass(frozen=True)
class Redundancy:
    """Names of the redundant constraints *left_out*; for each, the constraints it is a linear combination of; and regular
    states (q, v) of the motion.
    """

    left_out: tuple[str, ...]
    others: tuple[tuple[str, ...], ...]
    states: tuple[State, ...]

    @classmethod
    def of(cls, found: Mapping[str, tuple[str, ...]]) -> Redundancy:
        """Constraints that are redundant whatever the state, each with those it is a linear combination of."""
        return cls(tuple(found), tuple(found.values()), ())

    def sentence(self, total: int) -> str:
        """Sentence on the redundant constraints among *total* rows; ``''`` where all are independent."""
        if not self.left_out:
            return ""
        groups = "; ".join(
            f"{name} follows from {', '.join(others)}" if others else f"{name} changes with no motion"
            for name, others in zip(self.left_out, self.others, strict=True)
        )
        return _sentence(len(self.left_out), total, groups)


def _sentence(k: int, total: int, groups: str) -> str:
    verb = "is" if k == 1 else "are"
    return f"{k} of {total} rows of constraints {verb} redundant and left out ({groups}): their reactions are indeterminate"


_SENTENCE = re.compile(
    r"(\d+) of (\d+) rows of constraints (?:is|are) redundant and left out \((.*)\): their reactions are indeterminate"
)


def joined_notes(notes: Iterable[str]) -> list[str]:
    """The *notes* on components of a model, with one on the redundant constraints of all, in the place of the first."""
    found = {note: _SENTENCE.fullmatch(note) for note in notes}
    told = [own.groups() for own in found.values() if own is not None]
    joint = _sentence(sum(int(k) for k, *_ in told), sum(int(n) for _, n, _ in told), "; ".join(own[2] for own in told))
    return [*dict.fromkeys(note if own is None else joint for note, own in found.items())]


def find_redundancy(constraints: NumericConstraints, t: float, state: State) -> Redundancy:
    """Redundancy of the constraints around a consistent *state*, over its consistent neighbours if there are any. Raises
    :class:`NumericalError` where the rows are not finite in any of them.
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


def contradiction(constraints: NumericConstraints, t: float, start: ConsistentState) -> str:
    """Sentence on constraints that contradict each other at the state *start* of least residual; ``''`` for none."""
    if start.satisfied or not np.isfinite(start.residuals).all():
        return ""
    off, k, found = start.residuals, start.worst, find_redundancy(constraints, t, (start.q, start.v))
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
    system, left_out = equations.system, equations.left_out
    if not system.constraints or system.quasi:
        return ""
    constraints = NumericConstraints(equations, p)
    kept = [k for k, (name, _) in enumerate(constraints.rows) if name not in left_out]
    return dependent_rows(constraints, kept, t, end, regular, part)


def singular_text(system: System, t: float, why: str, what: str = "start") -> str:
    """Sentence on a singular *what*, a start, state or position at *t*, for the reason *why*."""
    advice = "Start" if what == "start" else "Take one"
    return f"Model '{system.name}': the {what} at t = {t:g} s is singular: {why}. {advice} a little beside it."


def dependent_rows(
    constraints: NumericConstraints,
    kept: list[int],
    t: float,
    end: State,
    regular: Sequence[State],
    part: float | None = None,
    driven: Sequence[int] = (),
) -> str:
    """Sentence on the dependent rows among the rows number *kept* and the prescribed speeds number *driven*; ``''`` for none."""
    elsewhere = [state for state in regular if not all(map(np.array_equal, state, end))]
    own = [*kept, *(len(constraints.rows) + k for k in range(len(driven)))]
    *others, A = (constraints.weighted_jacobian(t, *state, driven)[own] for state in (*elsewhere, end))
    if not np.isfinite(A).all():
        return ""
    length = np.max([norm(rows, axis=1, keepdims=True) for rows in (*others, A)], axis=0)
    A = A / np.where(length > 0, length, 1.0)
    if nearest(A, what=ROWS) > tolerances.INDEPENDENCE_TOLERANCE:
        return ""
    left, sizes, _ = svd(A, what=ROWS)
    if (driven or len(sizes) == len(A)) and sizes[-1] > (tolerances.SINGULARITY_TOLERANCE if part is None else part):
        return ""
    shares = np.abs(left[:, len(sizes) - 1 if driven else -1])
    present = np.flatnonzero(shares > 0.1 * shares.max()).tolist()
    names = [constraints.rows[kept[k]][0] for k in present if k < len(kept)]
    moves = [constraints.system.base_speeds[driven[k - len(kept)]].removesuffix("'") for k in present if k >= len(kept)]
    rows = f"the constraint{'s' * (len(names) > 1)} {', '.join(names)}" if names else ""
    if len(present) == 1 and names:
        return f"{rows} changes with no motion there"
    motion = f"the motion of {', '.join(moves)}" if moves else ""
    return f"{' and '.join(filter(None, (rows, motion)))} depend on each other there"


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
            far = far[far > tolerances.DEPENDENCE_TOLERANCE]
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
        and nearest(A / length[:, None], what=ROWS) > tolerances.INDEPENDENCE_TOLERANCE
    )


def _neighbouring_states(
    constraints: NumericConstraints, t: float, q: FloatArray, v: FloatArray
) -> list[tuple[float, State]]:
    """Consistent states near *q*, *v*, and their times."""
    random, linear = UniformNumbers(0), constraints.compiled.linear
    found = []
    for at in t + TIME_STEP * (1.0 + np.arange(NEIGHBOURS)):
        W = constraints.inverse_root(t, q, v)
        W = W / max(norm(W, axis=0).max(initial=0.0), tolerances.LEAST_DIVISOR)
        A = constraints.jacobian(t, q, v) @ W
        x = POSITION_STEP * _displacement(random, W.shape[1])
        if np.isfinite(A).all():
            x -= lstsq(A, A @ x, what="states beside this", rcond=tolerances.DEPENDENCE_TOLERANCE)
        there = constraints.project_position(at, constraints.retract(t, q, W @ x))
        speeds = v if linear else v + SPEED_STEP * W @ _displacement(random, W.shape[1])
        speeds = constraints.project_velocity(at, there, speeds)
        if np.isfinite(there).all() and np.isfinite(speeds).all():
            found.append((at, (there, speeds)))
    return found


def _displacement(random: UniformNumbers, n: int) -> FloatArray:
    """A vector (n,) of independent random numbers of unit variance."""
    return np.array([random.uniform(-sqrt(3.0), sqrt(3.0)) for _ in range(n)])
