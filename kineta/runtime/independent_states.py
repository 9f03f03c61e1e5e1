"""Independent states under constraints, and the dependent ones as functions of them.

Changes d of the coordinates, in the directions of the speeds, and dv of the speeds satisfy the constraints to first order::

    H d = 0          f_q d + f_v dv = 0
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from kineta.arrays import FloatArray
from kineta.errors import ArgumentError
from kineta.model.motion import Free, speed_names
from kineta.model.system import System
from kineta.numerics.linear_algebra import norm, pivoted_triangle, solve, svdvals

#: Name of the computation in error messages.
DEPENDENT_STATES = "the states that follow from others"
#: Pivots of unit rows below which constraints are dependent.
SINGULAR_PIVOT = 1e-9
#: Weight of a preferred column in pivoting, and inverse weight of an avoided one.
PREFERENCE = 1e6


@dataclass(frozen=True)
class Reduction:
    """*places* of the independent states among all states, coordinates then speeds; Z (..., all, independent), the change of
    all states by a change of the independent ones; and indices of the dependent coordinates and speeds.
    """

    places: tuple[int, ...]
    Z: FloatArray
    dependent_coordinates: tuple[int, ...]
    dependent_speeds: tuple[int, ...]

    def applied(self, A: FloatArray) -> FloatArray:
        """A Z: the columns of *A* (..., rows, all) reduced to the independent states."""
        return A if self.Z.shape[-1] == self.Z.shape[-2] else A @ self.Z


def state_names(system: System) -> tuple[str, ...]:
    """Names of all states: changes of the coordinates in the directions of the speeds of the motions, then the speeds.

    A motion with a quaternion changes by small shifts ``b.Sx`` and turns ``b.Rx`` along and about the axes of the body.
    """
    changes = {f"{n}'": n for n in system.q_names}
    for joint, motion in system.joints.items():
        letters = ["S"] * 3 * isinstance(motion, Free) + ["R"] * 3
        for name, letter, axis in zip(speed_names(motion), letters, "xyzxyz", strict=False):
            changes[name] = f"{joint}.{letter}{axis}"
    return (*(changes[n] for n in system.base_speeds), *system.v_names)


def reduce_states(
    system: System, H: FloatArray, f_q: FloatArray, f_v: FloatArray, rows: Sequence[str], kept: Collection[str] = ()
) -> Reduction:
    """Independent states of *system* at states with these matrices (..., rows, columns), including *kept* ones where possible.
    The choice is made at the first state. Raises :class:`ArgumentError` for dependent constraints.
    """
    names = state_names(system)
    nb, nv = f_q.shape[-1], f_v.shape[-1]
    first = tuple(0 for _ in H.shape[:-2])
    wanted = np.array([name in kept for name in names])
    tied = _pivot_columns(H[first], np.where(wanted[:nb], 1 / PREFERENCE, 1.0))
    weights = np.where(wanted[nb:], 1 / PREFERENCE, 1.0)
    if nb == nv:
        weights[tied] *= PREFERENCE**2
    bound = _pivot_columns(f_v[first], weights)
    free, loose = ([k for k in range(n) if k not in taken] for n, taken in ((nb, tied), (nv, bound)))
    lead = H.shape[:-2]
    Z = np.zeros((*lead, nb + nv, len(free) + len(loose)))
    Z[..., free, : len(free)] = np.eye(len(free))
    Z[..., tied, : len(free)] = -_solved_columns(system, H, tied, H[..., free], rows)
    Z[..., [nb + k for k in loose], len(free) :] = np.eye(len(loose))
    held = np.concatenate([f_q @ Z[..., :nb, : len(free)], f_v[..., loose]], axis=-1)
    Z[..., [nb + k for k in bound], :] = -_solved_columns(system, f_v, bound, held, rows)
    return Reduction((*free, *(nb + k for k in loose)), Z, tuple(tied), tuple(bound))


def dependent_changes(
    found: Reduction, H: FloatArray, f_q: FloatArray, f_v: FloatArray, H_w: FloatArray, f_w: FloatArray
) -> FloatArray:
    """Changes (all, m) of the dependent states where constraints change by *H_w* and *f_w* (rows, m) and the independent states
    are fixed.
    """
    nb, m = f_q.shape[-1], H_w.shape[-1]
    change = np.zeros((nb + f_v.shape[-1], m))
    tied, bound = list(found.dependent_coordinates), list(found.dependent_speeds)
    if tied:
        change[tied] = -solve(H[:, tied], H_w, what=DEPENDENT_STATES)
    if bound:
        change[[nb + k for k in bound]] = -solve(f_v[:, bound], f_q @ change[:nb] + f_w, what=DEPENDENT_STATES)
    return change


def _pivot_columns(A: FloatArray, weights: FloatArray) -> list[int]:
    """Columns of *A*, one for each row, chosen by weighted pivoting."""
    if not len(A):
        return []
    return sorted(pivoted_triangle(np.nan_to_num(A) * weights, what=DEPENDENT_STATES)[1][: len(A)].tolist())


def _solved_columns(
    system: System, A: FloatArray, columns: Sequence[int], right: FloatArray, rows: Sequence[str]
) -> FloatArray:
    """Solution x of A[:, columns] x = right. Raises for singular columns."""
    if not len(columns):
        return np.zeros((*right.shape[:-2], 0, right.shape[-1]))
    own = A[..., columns]
    length = norm(A, axis=-1, keepdims=True)
    unit = own / np.where(length > 0, length, 1.0)
    if not np.isfinite(unit).all() or svdvals(unit, what=DEPENDENT_STATES)[..., -1].min() < SINGULAR_PIVOT:
        raise ArgumentError(
            f"Model '{system.name}': at this state the constraints {', '.join(rows)} depend on each other, so that the states "
            f"{', '.join(state_names(system)[k] for k in columns)} cannot be reduced to the others. "
            "Linearise beside it, or name other states to keep."
        )
    return np.asarray(solve(own, right, what=DEPENDENT_STATES))
