"""Which states are independent where constraints hold, and how all others follow from them.

Changes d of the coordinates, in the directions of the speeds, and dv of the speeds meet the constraints to first order::

    H d = 0          f_q d + f_v dv = 0
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from kineta.errors import ArgumentError
from kineta.model.motion import Free, speed_names
from kineta.model.system import System

FloatArray = NDArray[np.float64]

#: Pivots of rows of unit length below which constraints depend on each other.
FLAT = 1e-9
#: How much sooner than others a column is chosen that is wanted, and how much later one that is not.
WANTED = 1e6


@dataclass(frozen=True)
class Reduction:
    """The *places* of the independent states among all of them, coordinates then speeds, and Z (..., all, independent), which
    makes changes of all states from those; *tied* coordinates and *bound* speeds, by their places, follow.
    """

    places: tuple[int, ...]
    Z: FloatArray
    tied: tuple[int, ...]
    bound: tuple[int, ...]

    def applied(self, A: FloatArray) -> FloatArray:
        """A Z: the columns of *A* (..., rows, all) for the independent states."""
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


def reduction(
    system: System, H: FloatArray, f_q: FloatArray, f_v: FloatArray, rows: Sequence[str], kept: Collection[str] = ()
) -> Reduction:
    """The independent states of *system* at states with these matrices (..., rows, columns); those *kept* are among them if
    they can be. The choice is that of the first state. Raises :class:`ArgumentError` where constraints depend on each other.
    """
    names = state_names(system)
    nb, nv = f_q.shape[-1], f_v.shape[-1]
    first = tuple(0 for _ in H.shape[:-2])
    wanted = np.array([name in kept for name in names])
    tied = _dependent(H[first], np.where(wanted[:nb], 1 / WANTED, 1.0))
    weights = np.where(wanted[nb:], 1 / WANTED, 1.0)
    if nb == nv:
        weights[tied] *= WANTED**2
    bound = _dependent(f_v[first], weights)
    free, loose = ([k for k in range(n) if k not in taken] for n, taken in ((nb, tied), (nv, bound)))
    lead = H.shape[:-2]
    Z = np.zeros((*lead, nb + nv, len(free) + len(loose)))
    Z[..., free, : len(free)] = np.eye(len(free))
    Z[..., tied, : len(free)] = -_solved(system, H, tied, H[..., free], rows)
    Z[..., [nb + k for k in loose], len(free) :] = np.eye(len(loose))
    held = np.concatenate([f_q @ Z[..., :nb, : len(free)], f_v[..., loose]], axis=-1)
    Z[..., [nb + k for k in bound], :] = -_solved(system, f_v, bound, held, rows)
    return Reduction((*free, *(nb + k for k in loose)), Z, tuple(tied), tuple(bound))


def following(
    found: Reduction, H: FloatArray, f_q: FloatArray, f_v: FloatArray, H_w: FloatArray, f_w: FloatArray
) -> FloatArray:
    """Changes (all, m) of the states that follow, where constraints change by *H_w* and *f_w* (rows, m) and the independent
    states stay.
    """
    nb, m = f_q.shape[-1], H_w.shape[-1]
    change = np.zeros((nb + f_v.shape[-1], m))
    tied, bound = list(found.tied), list(found.bound)
    if tied:
        change[tied] = -np.linalg.solve(H[:, tied], H_w)
    if bound:
        change[[nb + k for k in bound]] = -np.linalg.solve(f_v[:, bound], f_q @ change[:nb] + f_w)
    return change


def _dependent(A: FloatArray, weights: FloatArray) -> list[int]:
    """As many columns of *A* as it has rows, of those that determine it best."""
    if not len(A):
        return []
    return sorted(qr(np.nan_to_num(A) * weights, mode="r", pivoting=True)[1][: len(A)].tolist())


def _solved(
    system: System, A: FloatArray, columns: Sequence[int], right: FloatArray, rows: Sequence[str]
) -> FloatArray:
    """The x with A[:, columns] x = right. Raises where these columns are singular."""
    if not len(columns):
        return np.zeros((*right.shape[:-2], 0, right.shape[-1]))
    own = A[..., columns]
    length = np.linalg.norm(A, axis=-1, keepdims=True)
    unit = own / np.where(length > 0, length, 1.0)
    if not np.isfinite(unit).all() or np.linalg.svd(unit, compute_uv=False)[..., -1].min() < FLAT:
        raise ArgumentError(
            f"Model '{system.name}': at this state the constraints {', '.join(rows)} depend on each other, so that the states "
            f"{', '.join(state_names(system)[k] for k in columns)} cannot be reduced to the others. "
            "Linearise beside it, or name other states to keep."
        )
    return np.asarray(np.linalg.solve(own, right))
