"""The start of a motion under programs that is being made: what they ask of it, and the least changes that meet that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import llvm
from kineta.expr.graph import Ref
from kineta.expr.program import program
from kineta.formalism import manifold, programmed
from kineta.formalism.derivation import Derivation
from kineta.model.program import LEAST
from kineta.numerics.metric import inverse_root, least_change
from kineta.tasks.met import MISSED, PRINTED

FloatArray = NDArray[np.float64]

#: Steps of Newton's method at most.
STEPS = 50
#: Part of the state by which what has to vanish may be missed that is rounding.
ROUNDING = 1e-14
#: Entries of a gradient, relative to those at states near by, that are none.
FLAT = 1e-12
#: How many states near by are looked at, and how far they are, of turns and of all others relative to their size and 1.
BESIDE, NEAR = 3, 0.1
#: Parts of a change that are tried, on the way to the nearest.
PARTS = (1.0, 0.5, 0.25, 0.1, 0.01)
#: Slopes that are more than none where something has been changed.
SOME = 1e-9
#: In how many directions is tried whether something changes its sign.
SIGNS = 8
#: How near a change has to be to half of that before it, as a part of that, where a root is double.
HALF = 0.05


@dataclass(frozen=True)
class Start:
    """The compiled functions of t, q, the speeds with their derivatives below the highest, and p, from which a start is made.

    ideal : names of the constraints beside the programs; driven : places of the speeds on which alone controls act, if any
    """

    order: int
    ideal: frozenset[str]
    driven: tuple[int, ...]
    said: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    labels: tuple[tuple[str, ...], ...]
    natural: tuple[llvm.NativeFunction, ...]
    rows: tuple[llvm.NativeFunction, ...]
    mass_matrix: llvm.NativeFunction
    moved: llvm.NativeFunction
    regularity: llvm.NativeFunction
    gradient_answers: llvm.NativeFunction


def compiled(d: Derivation) -> Start:
    """What the derivation *d* of a system under programs has for its start."""
    s, g, order = d.symbols, d.graph, d.programs.s
    levels = [s.level(k) for k in range(order)]
    inputs: dict[str, Sequence[Ref]] = {
        "t": (s.t,),
        "q": s.q,
        "levels": [x for row in levels[1:] for x in row],
        "p": s.p,
    }
    rows = (*d.programs.ideal, *d.programs.rows)
    n = len(s.v)
    functions: dict[str, Sequence[Ref]] = {f"natural_{k}": programmed.natural(d, k) for k in range(2, order)}
    labels = []
    for k in range(order):
        kept = [row for row in rows if row.order <= k]
        labels.append(tuple(row.labels[k - row.order] for row in kept))
        gradients = [x for row in kept for x in programmed.filled(row, n)]
        functions[f"rows_{k}"] = [*(row.levels[k - row.order] for row in kept), *gradients]
    functions |= {name: d[name].refs for name in ("mass_matrix", "regularity", "gradient_answers")}
    change = [g.symbol(f"change of {name}") for name in s.names]
    inputs["change"] = change
    functions["moved"] = manifold.retracted(d, change)
    made = llvm.compile([program(g, inputs, {n: ((len(x),), x)}, n) for n, x in functions.items()])
    names = tuple(tuple(g.name(x) or "" for x in row) for row in levels)
    actuators = dict(s.system.control.actuators)
    return Start(
        order,
        frozenset(row.constraint for row in d.programs.ideal),
        tuple(k for k, name in enumerate(s.system.v_names) if name in actuators),
        tuple(_described(d)),
        names,
        tuple(labels),
        tuple(made.function(f"natural_{k}") for k in range(2, order)),
        tuple(made.function(f"rows_{k}") for k in range(order)),
        made.function("mass_matrix"),
        made.function("moved"),
        made.function("regularity"),
        made.function("gradient_answers"),
    )


def _described(d: Derivation) -> Iterator[str]:
    """What the programs of a system are, and what they ask for, in words."""
    own, law = d.programs, d.symbols.system.control.law
    for row, linear in zip(own.rows, own.linear, strict=True):
        kind = f", {'linear' if linear else 'nonlinear'} in its highest derivatives" if row.order > 1 else ""
        yield f"program '{row.constraint}': order {row.order}{kind}"
    yield f"equations of order {own.s}" + (
        f", law {law}" if own.r or law == LEAST else ", where the laws of control coincide"
    )


@dataclass
class Beginning:
    """A start that is being made: the variables of all orders below that of the equations."""

    start: Start
    t: float
    q: FloatArray
    levels: FloatArray
    p: FloatArray

    def value(self, function: llvm.NativeFunction, change: FloatArray | None = None) -> FloatArray:
        """What a *function* is at the start."""
        moved = np.zeros(self.levels.shape[1]) if change is None else change
        return function(np.array([self.t]), self.q, self.levels.ravel(), self.p, moved)

    @property
    def size(self) -> float:
        """What a miss is compared with."""
        return max(1.0, float(np.abs(self.q).max(initial=0)), float(np.abs(self.levels).max(initial=0)))

    def rows(self, k: int) -> tuple[FloatArray, FloatArray]:
        """What has to vanish of the variables of order *k*, and its gradients."""
        m, found = len(self.start.labels[k]), self.value(self.start.rows[k])
        return found[:m], found[m:].reshape(m, self.levels.shape[1])

    def regularity(self) -> tuple[FloatArray, FloatArray]:
        """The gradients of the programs and what answers them, (programs, nv) each."""
        B, Z = self.value(self.start.regularity).reshape(2, -1, self.levels.shape[1])
        return B, Z

    def scales(self, k: int) -> FloatArray:
        """What the rows of order *k* are measured by."""
        return self._largest(lambda state: state.rows(k)[1])

    def gradients(self) -> FloatArray:
        """Those of programs by their highest derivatives, (programs, nv)."""
        return self.regularity()[0]

    def answered(self) -> FloatArray:
        """Which part of the gradients of programs is answered, (programs, 1); none where constraints hold what is asked for."""
        B, Z = self.regularity()
        squares = (B * B).sum(axis=1)
        found = np.divide((B * Z).sum(axis=1), squares, out=np.zeros(len(B)), where=squares > 0)
        return np.asarray(found[:, None])

    def flat(self, gradients: Callable[[Beginning], FloatArray]) -> NDArray[np.bool_]:
        """Which of *gradients* vanish here, and not everywhere."""
        return np.asarray(~(np.abs(gradients(self)).max(axis=1) > FLAT * self._largest(gradients)))

    def touches(self, k: int, i: int) -> bool:
        """Whether the row number *i* of order *k* is of one sign beside its zero, whatever the variables of this order are."""
        chances = map(np.random.default_rng, range(SIGNS))
        levels = (self.levels[k - 1] + chance.uniform(-NEAR, NEAR, self.levels.shape[1]) for chance in chances)
        values = []
        for own in levels:
            beside = self.levels.copy()
            beside[k - 1] = own
            values.append(replace(self, levels=beside).rows(k)[0][i])
        return bool(min(values) > 0 or max(values) < 0)

    def _largest(self, gradients: Callable[[Beginning], FloatArray]) -> FloatArray:
        """The largest entries of *gradients* (m, nv) here and at states near by, in which they do not vanish by chance, (m,)."""
        states = [self, *(self._beside(chance) for chance in map(np.random.default_rng, range(BESIDE)))]
        sizes = np.array([np.abs(gradients(state)).max(axis=1, initial=0.0) for state in states])
        largest = np.where(np.isfinite(sizes), sizes, 0.0).max(axis=0)
        return np.where(largest > 0, largest, 1.0)

    def _beside(self, chance: np.random.Generator) -> Beginning:
        """The same at a state near by."""
        q = self.value(self.start.moved, np.asarray(chance.uniform(-NEAR, NEAR, self.levels.shape[1])))
        levels = self.levels + chance.uniform(-NEAR, NEAR, self.levels.shape) * (1.0 + np.abs(self.levels))
        return replace(self, q=q, levels=levels)

    def missed(self, k: int) -> FloatArray:
        """How far the rows of order *k* are missed, as changes of the variables; infinite where they have no value."""
        off = np.abs(self.rows(k)[0]) / self.scales(k)
        return np.where(np.isfinite(off), off, np.inf)

    def meet(self, k: int, own: Sequence[int]) -> None:
        """Move the variables of order *k* by the least change of those number *own* so that what is said of them is met, or
        missed least. Coordinates and speeds are those of the user: only misses of few digits are mended.

        Where what is given leaves just one value to a variable roots are double: changes come to be halves of those before
        them, and twice as much is right.
        """
        farthest = PRINTED * self.size if k < 2 else np.inf
        if self.missed(k).max(initial=0.0) > farthest or not own:
            return
        scales, W, given = self.scales(k), self._directions(k, own), self.levels[k - 1].copy()
        self._descended(k, W, scales)
        if k > 1 and self.missed(k).max(initial=0.0) <= MISSED * self.size:
            self._neared(k, W, scales, given)

    def _descended(self, k: int, W: FloatArray, scales: FloatArray) -> None:
        """Newton's method by changes W y."""
        best = float(self.missed(k).max(initial=0.0)), self.q.copy(), self.levels.copy()
        last = np.zeros(len(W))
        for _ in range(STEPS):
            off, A = self.rows(k)
            if (
                not np.isfinite([*off, *A.ravel()]).all()
                or np.abs(off / scales).max(initial=0.0) <= ROUNDING * self.size
            ):
                return
            change = least_change(A / scales[:, None], W, off / scales)
            if np.abs(change - last / 2).max() < HALF * np.abs(last).max():
                change = 2 * change
            last = change
            if k:
                self.levels[k - 1] += change
            else:
                self.q = self.value(self.start.moved, change)
            best = min(best, (float(self.missed(k).max()), self.q.copy(), self.levels.copy()), key=lambda one: one[0])
        _, self.q, self.levels = best

    def _neared(self, k: int, W: FloatArray, scales: FloatArray, given: FloatArray) -> None:
        """Bring variables of order *k* that meet what is said of them nearer to those *given*, along what goes on meeting it."""
        root = np.linalg.pinv(W)
        for _ in range(STEPS):
            y, slopes = root @ (self.levels[k - 1] - given), self.rows(k)[1] / scales[:, None] @ W
            along = y - np.linalg.lstsq(slopes, slopes @ y, rcond=None)[0]
            if np.linalg.norm(along) <= SOME * np.linalg.norm(y):
                return
            before = self.levels.copy()
            for part in PARTS:
                self.levels[k - 1] -= part * (W @ along)
                self._descended(k, W, scales)
                met = self.missed(k).max(initial=0.0) <= MISSED * self.size
                if met and np.linalg.norm(root @ (self.levels[k - 1] - given)) < (1 - SOME) * np.linalg.norm(y):
                    break
                self.levels = before.copy()
            else:
                return

    def _directions(self, k: int, own: Sequence[int]) -> FloatArray:
        """The changes of the variables number *own* of order *k*, (nv, m), that count alike by kinetic energy: where forces bring
        them about, those that actuators and constraints answer for.
        """
        from scipy.linalg import null_space

        n = self.levels.shape[1]
        if k > 1 and self.start.driven:
            ways = self._answers()
            return np.asarray(ways @ null_space(ways[[i for i in range(n) if i not in own]]))
        M = self.value(self.start.mass_matrix).reshape(n, n)
        W = np.zeros((n, len(own)))
        W[own] = inverse_root(M[np.ix_(own, own)])
        return W

    def completed(self, k: int, own: Sequence[int]) -> None:
        """Give the variables number *own* of order *k* the change of least kinetic energy that forces of actuators bring about
        with that of the others, which are given; nothing, where none do.
        """
        others = [i for i in range(self.levels.shape[1]) if i not in own]
        if k < 2 or not (self.start.driven and others and own):
            return
        natural, ways = self.value(self.start.natural[k - 2]), self._answers()
        asked = np.vstack([ways[others], self._ideal() @ ways])
        goal = np.append((self.levels[k - 1] - natural)[others], np.zeros(len(asked) - len(others)))
        shares = np.linalg.lstsq(asked, goal, rcond=None)[0]
        if np.abs(asked @ shares - goal).max() <= MISSED * max(1.0, float(np.abs(goal).max())):
            self.levels[k - 1, own] = (natural + ways @ shares)[own]

    def _answers(self) -> FloatArray:
        """The changes that forces of actuators and constraints bring about, (nv, m), each of unit kinetic energy and across the
        others.
        """
        n, pushes = self.levels.shape[1], self.pushes()
        answers = np.linalg.lstsq(self.value(self.start.mass_matrix).reshape(n, n), pushes, rcond=None)[0]
        sizes, turns = np.linalg.eigh(pushes.T @ answers)
        kept = sizes > SOME * sizes.max()
        return np.asarray(answers @ turns[:, kept] / np.sqrt(sizes[kept]))

    def _ideal(self) -> FloatArray:
        """The gradients of constraints, (m, nv)."""
        labels = zip(self.rows(2)[1], self.start.labels[2], strict=True)
        ideal = [A for A, label in labels if label.rstrip("'") in self.start.ideal]
        return np.array(ideal).reshape(len(ideal), self.levels.shape[1])

    def pushes(self) -> FloatArray:
        """Unit forces of actuators, and of constraints, on the speeds, (nv, m)."""
        return np.vstack([np.eye(self.levels.shape[1])[list(self.start.driven)], self._ideal()]).T

    def wakes(self, k: int, gradient: Callable[[Beginning], FloatArray]) -> list[str]:
        """Names of the variables of orders up to *k* of which another value gives a *gradient* that vanishes some size."""
        found = []
        for order in range(k + 1):
            names = self.start.names[order] if order or len(self.q) == len(self.start.names[1]) else ()
            for i, speed in enumerate(self.start.names[1]):
                change, levels = np.zeros(self.levels.shape[1]), self.levels.copy()
                if order:
                    levels[order - 1, i] += NEAR * (1.0 + abs(levels[order - 1, i]))
                else:
                    change[i] = NEAR
                q = self.value(self.start.moved, change)
                name = names[i] if names else f"the position along {speed}"
                found += [name] * bool(np.abs(gradient(replace(self, q=q, levels=levels))).max() > SOME)
        return found
