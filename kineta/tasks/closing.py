"""The constraints of a system in numbers: how far a state is from them, the way back, and which of them say the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.codegen.gradual import Gradual
from kineta.compiler import Equations, derive
from kineta.expr.graph import ZERO
from kineta.expr.program import program
from kineta.formalism.derivation import vector
from kineta.formalism.rank import PART
from kineta.model.dimensions import level_unit
from kineta.model.system import System
from kineta.numerics.metric import inverse_root, least_change
from kineta.threads import once

FloatArray = NDArray[np.float64]

#: Steps of Newton's method at most, and how often one is halved.
STEPS, HALVES = 100, 12
#: Part of the state by which constraints may be missed.
MET = 1e-10
#: Part of the state by which they are missed that is rounding.
ROUNDING = 1e-14


@dataclass(frozen=True)
class Closures:
    """The constraints of a system: functions of t, q, the speeds of the motions and p by quantity, with the shapes of what they
    belong to and the places in it that are not zero: most of large matrices are. Speeds that meet each other in the mass matrix,
    in rows (of as many sets, of as many speeds). Name and order of every row; names of the levels; and whether speeds are in them
    to the first power only.
    """

    functions: Gradual
    places: Mapping[str, tuple[tuple[int, ...], NDArray[np.int64]]]
    blocks: tuple[NDArray[np.int64], ...]
    rows: tuple[tuple[str, int], ...]
    labels: tuple[str, ...]
    linear: bool


@dataclass(frozen=True)
class Closing:
    """The constraints of *equations* with the parameters *p* (np,), in the speeds of the motions."""

    equations: Equations
    p: FloatArray

    @property
    def system(self) -> System:
        """The system constrained."""
        return self.equations.system

    @once
    def closures(self) -> Closures:
        """What is computed."""
        return self.equations.kept(Closures, lambda: _closures(self.system))

    def _values(self, quantity: str, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        shape, places = self.closures.places[quantity]
        found = np.zeros(shape)
        found.flat[places] = self.closures.functions(quantity, np.array([t]), q, v, self.p)
        return found

    @property
    def rows(self) -> tuple[tuple[str, int], ...]:
        """Name and order of every row."""
        return self.closures.rows

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the levels."""
        return self.closures.labels

    @property
    def on_position(self) -> list[int]:
        """Places of the levels on the position."""
        return self._places[0]

    def named(self, k: int) -> str:
        """The level number *k* in words."""
        name = self.labels[k]
        return f"the rate of the constraint '{name[:-1]}'" if name.endswith("'") else f"the constraint '{name}'"

    def unit(self, k: int) -> str:
        """The unit of the level number *k*; ``''`` where none follows."""
        row = self.labels[k].rstrip("'")
        return level_unit(self.system, row, dict(self.rows).get(row, 0), len(self.labels[k]) - len(row))

    @once
    def _places(self) -> tuple[list[int], list[int], list[int]]:
        """Places of the levels on the position, of the last level of every row, and which rows are on the position."""
        position, last, which, k = [], [], [], 0
        for i, (_, order) in enumerate(self.rows):
            if order == 0:
                position.append(k)
                which.append(i)
                k += 1
            last.append(k)
            k += 1
        return position, last, which

    def off(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """All levels: what has to vanish."""
        return self._values("constraints", t, q, v)

    def jacobian(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """Derivatives of the rows by the speeds, (rows, nv)."""
        return self._values("constraint_jacobian", t, q, v)

    def linear(self, t: float, q: FloatArray, v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Jacobian (rows, nv), the last level of every row (rows,), and its rate without accelerations (rows,)."""
        last = self.off(t, q, v)[self._places[1]]
        return self.jacobian(t, q, v), last, self._values("rest", t, q, v)

    def size(self, q: FloatArray, v: FloatArray) -> float:
        """What a miss is compared with."""
        return max(1.0, float(np.abs(q).max(initial=0)), float(np.abs(v).max(initial=0)))

    def moved(self, t: float, q: FloatArray, change: FloatArray) -> FloatArray:
        """The coordinates after a *change* (nv,) in the directions of the speeds."""
        rest = self._values("qdot", t, q, np.zeros_like(change))
        q = q + self._values("qdot", t, q, change) - rest
        for offset in self.system.quaternions.values():
            q[offset : offset + 4] /= np.linalg.norm(q[offset : offset + 4])
        return q

    def coordinate_rates(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """The rates of the coordinates (nq,)."""
        return self._values("qdot", t, q, v)

    def inverse_root(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """W with W W^T = M^-1: changes W x of the speeds have the kinetic energy x^2/2. Without a regular M the identity."""
        W = np.zeros((len(v), len(v)))
        for block, own in self._roots(t, q, v):
            W[block[:, :, None], block[:, None, :]] = own
        return W

    def _roots(self, t: float, q: FloatArray, v: FloatArray) -> Iterator[tuple[NDArray[np.int64], FloatArray]]:
        """What :meth:`inverse_root` is made of: sets of speeds (k, n), and its parts for them (k, n, n)."""
        M = self._values("mass_matrix", t, q, v)
        for block in self.closures.blocks:
            yield block, inverse_root(M[block[:, :, None], block[:, None, :]])

    # -- the way back -------------------------------------------------------------------------------------------------

    def position(self, t: float, q: FloatArray, held: Sequence[int] = ()) -> FloatArray:
        """Coordinates as near to *q* as steps of Newton's method find them that meet the constraints on the position, or miss
        them least; the speeds number *held* do not move them.
        """
        position, _, which = self._places
        v = np.zeros(len(self.system.base_speeds))
        off = self.off(t, q, v)[position]
        for _ in range(STEPS if position else 0):
            if np.abs(off).max() <= ROUNDING * self.size(q, v):
                break
            W = self.inverse_root(t, q, v)
            W[list(held)] = 0.0
            A = self.jacobian(t, q, v)[which]
            if not (np.isfinite(A).all() and np.isfinite(off).all()):
                break
            change = least_change(A, W, off)
            change *= min(1.0, 1.0 / max(np.abs(change).max(initial=0.0), 1e-300))
            for _ in range(HALVES):
                tried = self.moved(t, q, change)
                left = self.off(t, tried, v)[position]
                if np.linalg.norm(left) < np.linalg.norm(off):
                    break
                change /= 2
            else:
                break
            q, off = tried, left
        return q

    def velocity(self, t: float, q: FloatArray, v: FloatArray, held: Sequence[int] = ()) -> FloatArray:
        """Speeds near to *v* that meet the constraints on the velocity; those number *held* stay as they are."""
        last = self._places[1]
        W = self.inverse_root(t, q, v)
        W[list(held)] = 0.0
        off = self.off(t, q, v)[last]
        for _ in range(STEPS if last else 0):
            if np.abs(off).max() <= ROUNDING * self.size(q, v):
                break
            A = self.jacobian(t, q, v)
            if not (np.isfinite(A).all() and np.isfinite(off).all()):
                break
            tried = v + least_change(A, W, off)
            left = self.off(t, q, tried)[last]
            if not np.linalg.norm(left) < np.linalg.norm(off):
                break
            v, off = tried, left
        return v

    # -- rank ---------------------------------------------------------------------------------------------------------

    def rows_at(self, t: float, q: FloatArray, v: FloatArray) -> FloatArray:
        """The rows as changes of speeds of unit kinetic energy see them, (rows, nv)."""
        A = self.jacobian(t, q, v)
        for block, own in self._roots(t, q, v):
            A[:, block] = np.swapaxes(np.swapaxes(A[:, block], 0, 1) @ own, 0, 1)
        return A

    def null(self, t: float, q: FloatArray, v: FloatArray, kept: Sequence[int]) -> dict[int, list[int]]:
        """For every row that is not *kept* those that say together what it says."""
        A = self.rows_at(t, q, v)
        found = {}
        for i in sorted(set(range(len(A))) - set(kept)):
            share = np.linalg.lstsq(A[list(kept)].T, A[i], rcond=None)[0] if kept else np.zeros(0)
            found[i] = [kept[k] for k in np.flatnonzero(np.abs(share) > PART).tolist()]
        return found


def _closures(system: System) -> Closures:
    """The constraints of the motions of *system*, without what acts."""
    d = derive(system.replace(quasi=(), elements=(), initial=(), outputs=(), programs=(), control=None)).alone()
    s = d.symbols
    inputs = {"t": (s.t,), "q": s.q, "v": s.v, "p": s.p}
    arrays = {name: d[name] for name in ("constraints", "constraint_jacobian", "mass_matrix", "qdot")}
    arrays["rest"] = vector([r.rest for r in d.closures])
    places = {n: [k for k, ref in enumerate(a.refs) if ref != ZERO] for n, a in arrays.items()}
    programs = [
        program(d.graph, inputs, {n: ((len(own),), [arrays[n].refs[k] for k in own])}, n) for n, own in places.items()
    ]
    return Closures(
        Gradual(programs),
        {n: (a.shape, np.array(places[n], dtype=np.int64)) for n, a in arrays.items()},
        _blocks(len(s.v), places["mass_matrix"]),
        tuple((r.constraint, r.order) for r in d.closures),
        arrays["constraints"].labels,
        all(r.linear(s) for r in d.closures),
    )


def _blocks(n: int, places: Sequence[int]) -> tuple[NDArray[np.int64], ...]:
    """The sets of *n* speeds that a matrix with entries in these *places* does not mix; those of a size are rows of an array."""
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
