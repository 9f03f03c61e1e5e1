"""Constraints of a system in numbers: residuals, Jacobian, projection onto the constraint manifold, dependencies of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, IntArray
from kineta.codegen.compiled_functions import CompiledFunctions
from kineta.consistency.constraint_arrays import constraint_arrays
from kineta.consistency.definition_domain import domain_violation, position_text
from kineta.consistency.derived_equations import Derived
from kineta.errors import NumericalError
from kineta.expr.graph import ZERO
from kineta.expr.program import program
from kineta.model.dimensions import level_unit
from kineta.model.system import System
from kineta.model.transformations.isomorphism import named_as
from kineta.numerics.linear_algebra import lstsq, norm, pinv
from kineta.numerics.newton import damped_newton
from kineta.numerics.weighted_least_change import inverse_root, least_change
from kineta.records import dataclass
from kineta.threads import bounded_memo, once

#: Number of weighted Jacobians kept.
_KEPT = 4


@dataclass(frozen=True)
class CompiledConstraints:
    """Compiled constraint functions of t, q, the speeds of the motions and p.

    functions, places : functions by quantity; shape of each quantity, and flat indices of its structural nonzeros
    blocks : diagonal blocks of the mass matrix, as speed indices, (blocks of one size, size) each
    rows, labels : name and order of every row; names of the residuals
    linear : True where all rows are linear in the speeds
    """

    functions: CompiledFunctions
    places: Mapping[str, tuple[tuple[int, ...], IntArray]]
    blocks: tuple[IntArray, ...]
    rows: tuple[tuple[str, int], ...]
    labels: tuple[str, ...]
    linear: bool

    def renamed(self, names: Mapping[str, str]) -> CompiledConstraints:
        """The functions of a system in which records have other *names*."""
        rows = tuple((named_as(names, row), order) for row, order in self.rows)
        bare = [label.rstrip("'") for label in self.labels]
        labels = tuple(named_as(names, row) + label[len(row) :] for row, label in zip(bare, self.labels, strict=True))
        return replace(self, rows=rows, labels=labels)


@dataclass(frozen=True)
class NumericConstraints:
    """Constraints of *equations* with the parameters *p* (np,), in the speeds of the motions."""

    equations: Derived
    p: FloatArray

    @property
    def system(self) -> System:
        """Constrained system."""
        return self.equations.system

    @once
    def compiled(self) -> CompiledConstraints:
        """Compiled constraint functions."""
        return compiled_constraints(self.equations)

    def _values(self, quantity: str, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        shape, places = self.compiled.places[quantity]
        found = np.zeros(shape)
        found.flat[places] = self.compiled.functions(quantity, np.array([t]), q, v, self.p)
        return found

    @property
    def rows(self) -> tuple[tuple[str, int], ...]:
        """Name and order of every row."""
        return self.compiled.rows

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the residuals."""
        return self.compiled.labels

    @property
    def on_position(self) -> list[int]:
        """Indices of the residuals on the position."""
        return self.residual_places[0]

    def described(self, k: int) -> str:
        """Name of the residual number *k* in words."""
        name = self.labels[k]
        return f"the rate of the constraint '{name[:-1]}'" if name.endswith("'") else f"the constraint '{name}'"

    def unit(self, k: int) -> str:
        """Unit of the residual number *k*; ``''`` where none can be inferred."""
        row = self.labels[k].rstrip("'")
        return level_unit(self.system, row, dict(self.rows).get(row, 0), len(self.labels[k]) - len(row))

    @once
    def residual_places(self) -> tuple[list[int], list[int], list[int]]:
        """Indices of the residuals on the position and of the highest residual of every row, and the rows on the position."""
        position, last, which, k = [], [], [], 0
        for i, (_, order) in enumerate(self.rows):
            if order == 0:
                position.append(k)
                which.append(i)
                k += 1
            last.append(k)
            k += 1
        return position, last, which

    def residuals(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Residuals of the constraints, and of the rates of position constraints."""
        return self._values("constraints", t, q, v)

    def satisfied(self, t: float, q: FloatArray, v: FloatArray) -> bool:
        """True where all residuals are within tolerance."""
        return not self.violated(t, q, v)

    def violated(self, t: float, q: FloatArray, v: FloatArray) -> set[str]:
        """Names of the constraints with a residual beyond tolerance."""
        off, allowed = np.abs(self.residuals(t, q, v)), tolerances.CONSTRAINT_TOLERANCE * self.scale(q, v)
        return {name.rstrip("'") for name, own in zip(self.labels, off, strict=True) if not own <= allowed}

    def jacobian(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Constraint Jacobian: partial derivatives of the rows by the speeds, (rows, nv)."""
        return self._values("constraint_jacobian", t, q, v)

    def linearised(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Jacobian (rows, nv), highest residual of every row (rows,), and its rate without accelerations (rows,). Raises
        :class:`NumericalError` where one is not finite.
        """
        last = self.residuals(t, q, v)[self.residual_places[1]]
        found = self.jacobian(t, q, v), last, self._values("rest", t, q, v)
        self.check_finite(t, q, v, *found)
        return found

    def check_finite(self, t: float, q: FloatArray, v: FloatArray, *rows: FloatArray) -> None:
        """Raise :class:`NumericalError` where one of these *rows* of the constraints in this state is not finite."""
        finite = np.all([np.isfinite(x).all(axis=tuple(range(1, x.ndim))) for x in rows], axis=0)
        if finite.all():
            return
        name = self.rows[int(finite.argmin())][0]
        why = "" if self.system.quasi else domain_violation(self.equations, self.p, t, np.concatenate([q, v]))
        raise NumericalError(
            f"Model '{self.system.name}': the constraint '{name}' has no value, or no slope, at "
            f"{position_text(self.system, q)}{'' if v.any() else ', at rest'}{f': {why}' if why else ''}. Give another "
            "state, or other values of parameters."
        )

    def scale(self, q: FloatArray, v: FloatArray) -> float:
        """Scale of the residuals: the largest absolute coordinate or speed, at least 1."""
        moved = q[: self.system.nq - self.system.nz]
        return max(1.0, float(np.abs(moved).max(initial=0)), float(np.abs(v).max(initial=0)))

    def retract(self, t: float, q: FloatArray, change: FloatArray) -> FloatArray:
        """Coordinates after a *change* (nv,) along the speeds, with unit quaternions."""
        rest = self._values("qdot", t, q, np.zeros_like(change))
        q = q + self._values("qdot", t, q, change) - rest
        for offset in self.system.quaternions.values():
            q[offset : offset + 4] /= norm(q[offset : offset + 4])
        return q

    def coordinate_rates(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Rates of the coordinates (nq,)."""
        return self._values("qdot", t, q, v)

    def coordinate_slopes(self, t: float, q: FloatArray, which: Sequence[int]) -> FloatArray:
        """Derivatives of the coordinates number *which* by changes along the speeds, (k, nv)."""
        unit = np.eye(len(self.system.base_speeds))
        if not which:
            return unit[:0]
        rest = self._values("qdot", t, q, 0 * unit[0])
        return np.array([(self._values("qdot", t, q, e) - rest)[list(which)] for e in unit]).T

    def inverse_root(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """W with W W^T = M^-1: changes W x of the speeds have the kinetic energy x^2/2. The identity for a singular M."""
        W = np.zeros((len(v), len(v)))
        for block, own in self._roots(t, q, v):
            W[block[:, :, None], block[:, None, :]] = own
        return W

    def _roots(self, t: float, q: FloatArray, v: FloatArray) -> Iterator[tuple[IntArray, FloatArray]]:
        """Blocks of :meth:`inverse_root`: speed indices (k, n) and matrices (k, n, n)."""
        M = self._values("mass_matrix", t, q, v)
        for block in self.compiled.blocks:
            yield block, inverse_root(M[block[:, :, None], block[:, None, :]])

    # -- projection ----------------------------------------------------------------------------

    def project_position(
        self, t: float, q: FloatArray, held: Sequence[int] = (), fixed: Sequence[int] = ()
    ) -> FloatArray:
        """Coordinates near *q* on the position constraints, or of least residual, by damped Newton steps of least change in the
        mass metric; the speeds number *held* do not move them, and the coordinates number *fixed* stay.
        """
        position, _, rows = self.residual_places
        v = np.zeros(len(self.system.base_speeds))
        return damped_newton(
            q,
            lambda q: self.residuals(t, q, v)[position],
            lambda q, off: self._least_change(t, q, v, off, rows, held, 1.0, fixed),
            lambda q, change: self.retract(t, q, change),
        )[0]

    def project_velocity(self, t: float, q: FloatArray, v: FloatArray, held: Sequence[int] = ()) -> FloatArray:
        """Speeds near *v* on the velocity constraints, by damped Newton steps of least kinetic energy; the speeds number *held*
        are fixed.
        """
        last = self.residual_places[1]
        return damped_newton(
            v,
            lambda v: self.residuals(t, q, v)[last],
            lambda v, off: self._least_change(t, q, v, off, slice(None), held),
            lambda v, change: v + change,
        )[0]

    def _least_change(
        self,
        t: float,
        q: FloatArray,
        v: FloatArray,
        off: FloatArray,
        rows: list[int] | slice,
        held: Sequence[int],
        longest: float = np.inf,
        fixed: Sequence[int] = (),
    ) -> FloatArray | None:
        """Least change of the speeds, but for those number *held*, by which the residuals *off* of *rows* vanish and the
        coordinates number *fixed* stay, shortened to *longest*; None for rounding errors, and for rows that are not finite.
        """
        if not np.abs(off).max(initial=0.0) > tolerances.RESIDUAL_TOLERANCE * self.scale(q, v):
            return None
        W = self.inverse_root(t, q, v)
        W[list(held)] = 0.0
        A = self.jacobian(t, q, v)[rows]
        if not (np.isfinite(A).all() and np.isfinite(off).all()):
            return None
        if fixed:
            whole, W = norm(A @ W, axis=1), W @ _complement(self.coordinate_slopes(t, q, fixed) @ W)
            A = np.where((norm(A @ W, axis=1) > tolerances.RANK_TOLERANCE * whole)[:, None], A, 0.0)
        change = least_change(A, W, off)
        return np.asarray(change * min(1.0, longest / max(np.abs(change).max(initial=0.0), tolerances.LEAST_DIVISOR)))

    # -- dependencies ----------------------------------------------------------------------------

    def weighted_jacobian(self, t: float, q: FloatArray, v: FloatArray, driven: Sequence[int] = ()) -> FloatArray:
        """Constraint Jacobian in the mass metric, by changes of speeds of unit kinetic energy, (rows, nv), with a row for each
        speed number *driven*.

        The last ones are kept: a start is asked whether they are finite, independent, and independent beside other states.
        """
        key = "weighted_jacobian", float(t), q.tobytes(), v.tobytes(), self.p.tobytes(), tuple(driven)
        make = partial(self._weighted_jacobian, t, q, v, driven)
        return bounded_memo(self.compiled, key, make, _KEPT).copy()

    def _weighted_jacobian(self, t: float, q: FloatArray, v: FloatArray, driven: Sequence[int]) -> FloatArray:
        A = np.vstack([self.jacobian(t, q, v), np.eye(len(v))[list(driven)]])
        for block, own in self._roots(t, q, v):
            A[:, block] = np.swapaxes(np.swapaxes(A[:, block], 0, 1) @ own, 0, 1)
        return A

    def dependencies(self, t: float, q: FloatArray, v: FloatArray, kept: Sequence[int]) -> dict[int, list[int]]:
        """For each row outside *kept*, the kept rows it is a linear combination of."""
        A = self.weighted_jacobian(t, q, v)
        found = {}
        for i in sorted(set(range(len(A))) - set(kept)):
            share = (
                lstsq(A[list(kept)].T, A[i], what="the constraints that depend on each other") if kept else np.zeros(0)
            )
            found[i] = [kept[k] for k in np.flatnonzero(np.abs(share) > tolerances.PARTICIPATION_TOLERANCE).tolist()]
        return found


def _complement(A: FloatArray) -> FloatArray:
    """Projection (n, n) onto the null space of *A* (k, n)."""
    return np.asarray(
        np.eye(A.shape[1]) - pinv(A, what="the coordinates that stay", rcond=tolerances.RANK_TOLERANCE) @ A
    )


def compiled_constraints(equations: Derived) -> CompiledConstraints:
    """Compiled constraint functions of *equations*, those of the first of systems that are alike."""

    def made() -> CompiledConstraints:
        if equations.like is None:
            return _compiled_constraints(equations)
        first, names = equations.like
        return compiled_constraints(first).renamed(names)

    return equations.memo(CompiledConstraints, made)


def _compiled_constraints(equations: Derived) -> CompiledConstraints:
    """Compiled constraints of *equations* in the speeds of the motions, without applied forces."""
    given = constraint_arrays(equations)
    s, arrays = given.symbols, given.arrays
    inputs = {"t": (s.t,), "q": s.q, "v": s.v, "p": s.p}
    places = {n: [k for k, ref in enumerate(a.refs) if ref != ZERO] for n, a in arrays.items()}
    programs = [
        program(s.graph, inputs, {n: ((len(own),), [arrays[n].refs[k] for k in own])}, n) for n, own in places.items()
    ]
    return CompiledConstraints(
        CompiledFunctions(programs),
        {n: (a.shape, np.array(places[n], dtype=np.int64)) for n, a in arrays.items()},
        _diagonal_blocks(len(s.v), places["mass_matrix"]),
        given.rows,
        given.labels,
        given.linear,
    )


def _diagonal_blocks(n: int, places: Sequence[int]) -> tuple[IntArray, ...]:
    """Diagonal blocks of an n x n matrix with nonzeros in these *places*, as index sets; rows of one array have one size."""
    own = [{k} for k in range(n)]
    for i, k in (divmod(place, n) for place in places):
        few, many = sorted((own[i], own[k]), key=len)
        if few is not many:
            many |= few
            for j in few:
                own[j] = many
    by_size: dict[int, list[list[int]]] = {}
    for found in {id(x): x for x in own}.values():
        by_size.setdefault(len(found), []).append(sorted(found))
    return tuple(np.array(rows, dtype=np.int64) for rows in by_size.values())
