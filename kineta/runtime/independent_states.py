"""Independent states under constraints, and the dependent ones as functions of them and of inputs.

Displacements d, changes dv of the speeds and w of inputs satisfy the constraints to first order::

    H d + H_w w = 0          f_q d + f_v dv + f_w w = 0
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.errors import ArgumentError
from kineta.model.system import System
from kineta.numerics.linear_algebra import norm, pivoted_triangle, svdvals
from kineta.records import dataclass
from kineta.runtime.tangent import Linearisation, Matrix, MatrixAlgebra, Tangent

#: Name of the computation in error messages.
DEPENDENT_STATES = "the states that follow from others"
#: Weight of a preferred column in pivoting, and inverse weight of an avoided one.
PREFERENCE = 1e6


@dataclass(frozen=True)
class Reduction:
    """*places* of the independent states among all states, displacements, first-order states, then speeds; and indices of the
    dependent displacements and speeds.
    """

    places: tuple[int, ...]
    coordinates: tuple[int, ...]
    speeds: tuple[int, ...]

    def all_states(self, algebra: MatrixAlgebra, at: Linearisation) -> Matrix:
        """Changes of all states (..., all, independent + inputs) by unit changes of the independent ones, then of inputs."""
        nb, n = at.f_q.shape[-1], at.X.shape[-2]
        free, loose = [k for k in self.places if k < nb], [k - nb for k in self.places if k >= nb]
        still = [np.full((*x.shape[:-1], len(y)), algebra.zero) for x, y in ((at.H, loose), (at.f_q, free))]
        Z = np.full((*at.X.shape[:-2], n, len(self.places) + at.H_w.shape[-1]), algebra.zero, dtype=at.X.dtype)
        Z[..., list(self.places), range(len(self.places))] = algebra.one
        held = np.concatenate([at.H[..., free], still[0], at.H_w], axis=-1)
        Z[..., list(self.coordinates), :] = algebra.solve(at.H[..., list(self.coordinates)], algebra.negate(held))
        held = np.concatenate([still[1], at.f_v[..., loose], at.f_w], axis=-1)
        held = algebra.add(algebra.product(at.f_q, Z[..., :nb, :]), held)
        Z[..., [nb + k for k in self.speeds], :] = algebra.solve(at.f_v[..., list(self.speeds)], algebra.negate(held))
        return Z

    def matrices(self, algebra: MatrixAlgebra, at: Linearisation) -> dict[str, Matrix]:
        """A, B, C, D of x' = A x + B w, y = C x + D w for the independent states x, and Z, all states from these."""
        Z, n, k = self.all_states(algebra, at), at.X.shape[-2], len(self.places)
        found = {"Z": Z[..., :k]}
        for (by_state, by_input), rows in (("AB", at.X[..., list(self.places), :]), ("CD", at.Y)):
            through = algebra.product(rows[..., :n], Z)
            found |= {by_state: through[..., :k], by_input: algebra.add(rows[..., n:], through[..., k:])}
        return found


def state_names(system: System) -> tuple[str, ...]:
    """Names of all states: changes of the coordinates in the directions of the speeds of the motions, first-order states, then
    the speeds.

    A joint changes by small shifts ``b.Sx`` and turns ``b.Rx`` along and about the axes of the body.
    """
    changes = {f"{n}'": n for n in system.q_names}
    for joint in system.joints.values():
        changes |= zip(joint.speeds, joint.changes, strict=True)
    return (*(changes[n] for n in system.base_speeds), *system.state_names, *system.v_names)


def independent_states(tangent: Tangent, at: Linearisation, kept: Collection[str] = ()) -> Reduction:
    """Independent states at the first state of *at*, including *kept* ones where possible. Raises :class:`ArgumentError` for
    constraints that are dependent at one of the states.
    """
    system = tangent.equations.system
    names = state_names(system)
    H, f_v, nb = at.H, at.f_v, at.f_q.shape[-1]
    first = tuple(0 for _ in H.shape[:-2])
    wanted = np.array([name in kept for name in names])
    tied = _pivot_columns(H[first], np.where(wanted[:nb], 1 / PREFERENCE, 1.0))
    weights = np.where(wanted[nb:], 1 / PREFERENCE, 1.0)
    if nb - system.nz == f_v.shape[-1]:
        weights[tied] *= PREFERENCE**2
    bound = _pivot_columns(f_v[first], weights)
    for A, columns, start in ((H, tied, 0), (f_v, bound, nb)):
        if not _regular(A, columns):
            rows, states = ", ".join(tangent.constraints), ", ".join(names[start + k] for k in columns)
            raise ArgumentError(
                f"Model '{system.name}': at this state the constraints {rows} depend on each other, so that the states {states} "
                "cannot be reduced to the others. Linearise beside it, or name other states to keep."
            )
    dependent = {*tied, *(nb + k for k in bound)}
    return Reduction(tuple(k for k in range(len(names)) if k not in dependent), tuple(tied), tuple(bound))


def _pivot_columns(A: FloatArray, weights: FloatArray) -> list[int]:
    """Columns of *A*, one for each row, chosen by weighted pivoting."""
    if not len(A):
        return []
    return sorted(pivoted_triangle(np.nan_to_num(A) * weights, what=DEPENDENT_STATES)[1][: len(A)].tolist())


def _regular(A: FloatArray, columns: Sequence[int]) -> bool:
    """Whether the *columns* of *A*, one for each row, are independent at all states."""
    length = norm(A, axis=-1, keepdims=True)
    unit = A[..., columns] / np.where(length > 0, length, 1.0)
    if not len(columns):
        return True
    return bool(
        np.isfinite(unit).all() and svdvals(unit, what=DEPENDENT_STATES)[..., -1].min() >= tolerances.RANK_TOLERANCE
    )
