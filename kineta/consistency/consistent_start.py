"""Consistent start: a state on the constraints, the equations that are independent there, and what is wrong with the state.

Every task begins with :func:`consistent`, in one order: the state is projected onto the constraints, the rank is found where
they hold, and :func:`refusal` says why a task cannot go on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.consistency.alike_systems import plainly_independent
from kineta.consistency.consistent_state import ConsistentState, consistent_state
from kineta.consistency.constraints import NumericConstraints
from kineta.consistency.derived_equations import Derived
from kineta.consistency.redundancy import (
    Redundancy,
    State,
    contradiction,
    find_redundancy,
    singular_configuration,
    singular_text,
)
from kineta.errors import ModelError, NumericalError, warn
from kineta.mechanics.constraints.rows import check_independent, redundant
from kineta.records import dataclass

T = TypeVar("T", bound=Derived)

#: Values at most of a state that a sentence proposes.
MOST_PROPOSED = 8


@dataclass(frozen=True)
class Consistent(Generic[T]):
    """Start of a task.

    equations : without the constraints redundant there, of several cases in the first
    q, v : coordinates and speeds, with the axes given
    regular : regular states of the motion
    moved, redundant : sentences on a state that was brought back, and on rows left out; ``notes`` has both, for the result
    """

    equations: T
    q: FloatArray
    v: FloatArray
    regular: tuple[State, ...] = ()
    moved: str = ""
    redundant: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was moved, and what was left out."""
        return tuple(filter(None, (self.moved, self.redundant)))


def consistent(
    equations: T, t: float | FloatArray, q: FloatArray, v: FloatArray, p: FloatArray, *, reach: float | None = None
) -> Consistent[T]:
    """Consistent start near *q*, *v*, of one motion or with a leading axis of cases.

    A state that violates no constraint by more than *reach*, PRINTED_TOLERANCE by default, relative to the coordinates, for
    rates also to the speeds, is projected onto them; one that is a guess has an infinite reach, and becomes the state of least
    residual near it. Raises :class:`NumericalError` for a constraint without a value or gradient in a given state, or anywhere
    near a guess.
    """
    system, reach = equations.system, tolerances.PRINTED_TOLERANCE if reach is None else reach
    if not system.constraints:
        return Consistent(equations, q, v)
    lead = np.broadcast_shapes(*(x.shape[:-1] for x in (q, v, p)))
    states, worst = list[State](), 0.0
    rows = zip(*(np.broadcast_to(x, (*(lead or (1,)), x.shape[-1])) for x in (q, v, p)), strict=True)
    for at, (one, speeds, own) in zip(np.broadcast_to(t, lead or 1).tolist(), rows, strict=True):
        state, off = _brought_back(NumericConstraints(equations, own), at, one, speeds, reach)
        states.append(state)
        worst = max(worst, off)
    moved = ""
    if worst:
        q, v = (np.array(x).reshape(*lead, -1) for x in zip(*states, strict=True))
        moved = f"the start missed constraints by up to {worst:.1e} and was brought back onto them"
    if system.quasi:
        return Consistent(equations, q, v, (), moved, redundant_beside_quasi_velocities(equations))
    constraints, at = NumericConstraints(equations, np.atleast_2d(p)[0]), float(np.ravel(t)[0])
    if np.isfinite(reach):
        constraints.check_finite(at, *states[0], constraints.weighted_jacobian(at, *states[0]))
    found = find_redundancy(constraints, at, states[0])
    left = found.sentence(len(constraints.rows))
    return Consistent(equations.without(found.left_out), q, v, found.states, moved, left)


def _brought_back(
    constraints: NumericConstraints, t: float, q: FloatArray, v: FloatArray, reach: float
) -> tuple[State, float]:
    """State of :func:`consistent`, and the violation that was brought back; zero for a state that was not moved."""
    _, off = largest_violation(constraints, t, q, v)
    size = constraints.scale(q, v)
    values, sizes = _measured(constraints, t, q, v)
    near = tolerances.STATE_TOLERANCE * size < abs(off) and bool((np.abs(values) <= reach * sizes).all())
    if near or np.isinf(reach):
        found = consistent_state(constraints, t, q, v)
        if np.isinf(reach) or (not any(found.distances) and found.violation <= tolerances.STATE_TOLERANCE * size):
            return (found.q, found.v), abs(off)
    return (q, v), 0.0


def start_violation(
    equations: Derived, t: float, q: FloatArray, v: FloatArray, p: FloatArray, what: str = "start"
) -> str:
    """Sentence on the constraint, or rate of a constraint, that *what* violates, a state at *t*; ``''`` for none."""
    system = equations.system
    if not system.constraints:
        return ""
    constraints = NumericConstraints(equations, p)
    k, value = largest_violation(constraints, t, q, v)
    if abs(value) <= tolerances.STATE_TOLERANCE * constraints.scale(q, v):
        return ""
    nearest = None if system.quasi else consistent_state(constraints, t, q, v)
    if nearest is not None and (why := contradiction(constraints, t, nearest)):
        return f"Model '{system.name}': {why}"
    size = f"{value:.3g} {constraints.unit(k)}".rstrip()
    values = "initial values that meet" if what == "start" else f"a {what} that meets"
    proposed = "" if what != "start" or nearest is None else _proposed(constraints, t, q, v, nearest)
    others = "other ones from a guess" if proposed else "some"
    return (
        f"Model '{system.name}': the {what} misses {constraints.described(k)}: it is {size} at t = {t:g} s, and has to be 0. "
        f"Give {values} it{proposed}, or let kn.assemble (kineta assemble) find {others}."
    )


def _proposed(constraints: NumericConstraints, t: float, q: FloatArray, v: FloatArray, nearest: ConsistentState) -> str:
    """Words with a statement that makes the state *q*, *v* a consistent one, if a short one does: by coordinates and speeds that
    are zero, which nobody gave, or else as the *nearest* state; ``''`` for none.
    """
    system = constraints.system
    names, speeds = system.q_names, system.base_speeds
    given = [(i, speeds.index(f"{n}'")) for i, n in enumerate(names) if q[i] and f"{n}'" in speeds]
    held = [k for _, k in given], [k for k, x in enumerate(v) if x], [i for i, _ in given]
    kept = consistent_state(constraints, t, q, v, held)
    found = kept if kept.satisfied else nearest
    changes = zip((*names, *speeds), (*q, *v), (*found.q, *found.v), strict=True)
    own = [f"{n} = {x:.9g}" for n, before, x in changes if abs(x - before) > tolerances.STATE_TOLERANCE]
    if not found.satisfied or len(own) > MOST_PROPOSED:
        return ""
    return f", as with 'initial {', '.join(own)};'{' beside those given' * (kept.satisfied and any(held))}"


def singular_start(
    equations: Derived,
    t: float,
    q: FloatArray,
    v: FloatArray,
    p: FloatArray,
    regular: Sequence[State],
    what: str = "start",
) -> str:
    """Sentence on the constraints that depend on each other in *what*, a state at *t*, and not in *regular* ones; ``''`` for
    none.
    """
    why = singular_configuration(equations, p, t, (q, v), regular, tolerances.RANK_TOLERANCE)
    return singular_text(equations.system, t, why, what) if why else ""


def refusal(equations: Derived, t: float, q: FloatArray, v: FloatArray, p: FloatArray, regular: Sequence[State]) -> str:
    """Sentence on why nothing can start from the state at *t*: constraints that it violates, or that are dependent there; ``''``
    where it can.
    """
    return start_violation(equations, t, q, v, p) or singular_start(equations, t, q, v, p, regular)


def largest_violation(constraints: NumericConstraints, t: float, q: FloatArray, v: FloatArray) -> tuple[int, float]:
    """Index and value of the largest residual of the state at *t*: of those beyond printed digits, then of all violated; on the
    position first.
    """
    values, sizes = _measured(constraints, t, q, v)
    off = np.where(np.isfinite(values), np.abs(values), np.inf)
    rounding = tolerances.STATE_TOLERANCE * constraints.scale(q, v) / sizes
    every = range(len(off))
    groups = (
        [k for k in group if off[k] > least[k] * sizes[k]]
        for least in (np.full(len(off), tolerances.PRINTED_TOLERANCE), rounding)
        for group in (constraints.on_position, every)
    )
    k = max(next(filter(None, groups), every), key=lambda k: float(off[k]), default=0)
    return k, float(values[k]) if every else 0.0


def _measured(constraints: NumericConstraints, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Residuals of the state at *t*, and the sizes they are measured by: the largest coordinate for those on the position, the
    largest coordinate or speed for rates, 1 where these are less. Quasi-velocities satisfy all rates.
    """
    places, quasi = constraints.on_position, constraints.system.quasi
    values = constraints.residuals(t, q, np.zeros(len(constraints.system.base_speeds)) if quasi else v)
    rates = np.delete(np.arange(len(values)), places)
    if quasi:
        values[rates] = 0.0
    sizes = np.full(len(values), constraints.scale(q, np.zeros(0)))
    sizes[rates] = constraints.scale(q, v)
    return values, sizes


def independent_rows(equations: Derived, p: FloatArray, initial: State) -> bool:
    """Whether there is a consistent state near the *initial* one of the model, around which no row is redundant."""
    if not equations.system.constraints:
        return True
    constraints = NumericConstraints(equations, p)
    start = consistent_state(constraints, 0.0, *initial)
    if not start.satisfied or contradiction(constraints, 0.0, start):
        return False
    try:
        return not find_redundancy(constraints, 0.0, (start.q, start.v)).left_out
    except NumericalError:
        return False


def all_independent(starts: Sequence[tuple[Derived, FloatArray, State]]) -> bool:
    """Whether :func:`independent_rows` holds for all of *starts*, components of a system, alike ones judged together."""
    groups: dict[int, list[tuple[Derived, FloatArray, State]]] = {}
    for start in starts:
        equations = start[0]
        if equations.system.constraints:
            groups.setdefault(id(equations if equations.like is None else equations.like[0]), []).append(start)
    for group in groups.values():
        p, q, v = (np.array(x) for x in zip(*((p, *initial) for _, p, initial in group), strict=True))
        plain = plainly_independent(group[0][0], p, q, v)
        if not all(independent_rows(*start) for start, found in zip(group, plain, strict=True) if not found):
            return False
    return True


def without_redundant_rows(equations: T, p: FloatArray, initial: State) -> T:
    """*equations* without the constraints redundant around the *initial* state of the model, projected onto them, with a
    warning that names them; unchanged where no consistent state is found near it.

    Raises :class:`ModelError` for constraints that contradict each other in any position.
    """
    system, constraints = equations.system, NumericConstraints(equations, p)
    start = consistent_state(constraints, 0.0, *initial)
    if why := contradiction(constraints, 0.0, start):
        try:
            with equations.shared() as d:
                check_independent(d.symbols, d.rows)
        except ModelError as error:
            raise ModelError(f"Model '{system.name}': {why}", error.location) from None
        return equations
    try:
        found = find_redundancy(constraints, 0.0, (start.q, start.v))
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


def without_repeated_rows(equations: T, start: Callable[[], tuple[FloatArray, State]]) -> T:
    """*equations* without the constraints that are redundant for all values, with a warning that names them; unchanged where the
    constraints are not met near *start*, parameters and initial state, since they may contradict each other.
    """
    with equations.shared() as d:
        found, total = redundant(d.symbols, d.constraint_rows), len(d.constraint_rows)
    if not found:
        return equations
    p, initial = start()
    if not consistent_state(NumericConstraints(equations, p), 0.0, *initial).satisfied:
        return equations
    left = Redundancy.of(found)
    warn(f"Model '{equations.system.name}': {left.sentence(total)}.")
    return equations.without(found)


def redundant_beside_quasi_velocities(equations: Derived) -> str:
    """Sentence on the constraints that quasi-velocities leave out; ``''`` for none."""
    with equations.shared() as d:
        found = d.definitions.redundant
        return Redundancy.of(found).sentence(len(d.constraint_rows))
