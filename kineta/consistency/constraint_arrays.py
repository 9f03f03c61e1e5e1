"""Constraints of a system as named expressions in the speeds of its motions, and their judgement in plain numbers at a regular
start, which loads no array library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from kineta import tolerances
from kineta.consistency.derived_equations import Derived
from kineta.errors import ExpressionError, NumericalError
from kineta.mechanics.derivation import Array, vector
from kineta.mechanics.formalisms.table import FORMALISMS
from kineta.mechanics.from_residual import jacobian, levels
from kineta.mechanics.variables import Symbols
from kineta.model.system import System
from kineta.numerics.plain_matrices import LARGE, cholesky, dependent_row, dot, forward_substituted, shaped, unit_rows
from kineta.passes.evaluate import evaluate
from kineta.records import dataclass

#: Formalism of the mass matrix and of the constraint rows.
PASSIVE_FORMALISM = "newton_euler"


@dataclass(frozen=True)
class ConstraintArrays:
    """Residuals, Jacobian, mass matrix and rates of a system without applied forces, in t, q, the speeds of the motions and p.

    rows, labels : name and order of every row; names of the residuals
    linear : True where all rows are linear in the speeds
    """

    symbols: Symbols
    arrays: Mapping[str, Array]
    rows: tuple[tuple[str, int], ...]
    linear: bool

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the residuals."""
        return self.arrays["constraints"].labels


def constraint_arrays(equations: Derived) -> ConstraintArrays:
    """Constraint arrays of *equations*, derived once."""
    return equations.memo(ConstraintArrays, lambda: _constraint_arrays(equations.system))


def _constraint_arrays(system: System) -> ConstraintArrays:
    own = FORMALISMS[PASSIVE_FORMALISM].derivation(system.passive)
    d, closures = own.unconstrained, own.constraint_rows
    arrays = {
        "constraints": levels(closures),
        "constraint_jacobian": jacobian(closures, len(d.symbols.v)),
        "mass_matrix": d["mass_matrix"],
        "qdot": vector(d.symbols.motion_rates),
        "rest": vector([r.rest for r in closures]),
    }
    linear = all(r.linear(d.symbols) for r in closures)
    return ConstraintArrays(d.symbols, arrays, tuple((r.constraint, r.order) for r in closures), linear)


def regular_residual(equations: Derived, q: Sequence[float], v: Sequence[float], p: Sequence[float]) -> float | None:
    """Largest residual of a start at t = 0 that satisfies all constraints, whose rows are clearly independent of each other: none
    is redundant, and no other state need be looked at. None for a start of which
    :func:`~kineta.consistency.consistent_start.consistent` has to judge, and for large systems.
    """
    system, n = equations.system, len(equations.system.base_speeds)
    given = constraint_arrays(equations)
    if max(n, len(given.rows)) > LARGE:
        return None
    names = ("t", *system.q_names, *system.base_speeds, *system.parameter_names)
    state = dict(zip(names, (0.0, *q, *([0.0] * n if system.quasi else v), *p), strict=True))

    def at(quantity: str) -> list[float]:
        return evaluate(given.symbols.graph, given.arrays[quantity].refs, state)

    try:
        residuals = dict(zip(given.labels, at("constraints"), strict=True))
        if system.quasi:  # which satisfy all rates
            residuals = {row: residuals[row] for row, order in given.rows if order == 0}
        elif not _independent(shaped(at("constraint_jacobian"), n), shaped(at("mass_matrix"), n)):
            return None
    except (ExpressionError, NumericalError):
        return None
    largest = max(map(abs, residuals.values()), default=0.0)
    satisfied = all(map(isfinite, residuals.values())) and largest <= tolerances.STATE_TOLERANCE * max(
        1.0, *map(abs, (*q, *v))
    )
    return largest if satisfied else None


def _independent(A: Sequence[Sequence[float]], M: Sequence[Sequence[float]]) -> bool:
    """True where the rows *A*, in the metric of the mass matrix *M*, are clearly independent."""
    factor = cholesky(M, what="the mass matrix")
    rows = [forward_substituted(factor, row) for row in A]
    lengths = [dot(row, row) ** 0.5 for row in rows]
    return (
        min(lengths) >= tolerances.SINGULARITY_TOLERANCE * max(1.0, *lengths)
        and dependent_row(unit_rows(rows), tolerances.INDEPENDENCE_TOLERANCE, what="the constraints") is None
    )
