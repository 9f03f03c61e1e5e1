"""The start of a motion under programs: order by order what they ask of it, met by the least change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import llvm
from kineta.errors import SimulationError
from kineta.expr.graph import Ref
from kineta.expr.program import program
from kineta.formalism import manifold, programmed
from kineta.formalism.derivation import Derivation
from kineta.formalism.programmed import beyond_reach
from kineta.model.program import LEAST
from kineta.model.system import System
from kineta.numerics.metric import inverse_root, least_change
from kineta.tasks.gradients import VANISHED
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
#: Slopes that are more than none where something has been changed.
SOME = 1e-9
#: How near a change has to be to half of that before it, as a part of that, where a root is double.
HALF = 0.05


@dataclass(frozen=True)
class Start:
    """The compiled functions of t, q, the speeds with their derivatives below the highest, and p, from which a start is made."""

    order: int
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
    return Start(
        order,
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


@dataclass
class _Beginning:
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

    def flat(self) -> NDArray[np.bool_]:
        """Which gradients of programs vanish here, and not everywhere."""
        sizes = self._largest(lambda state: state.regularity()[0])
        return np.asarray(~(np.abs(self.regularity()[0]).max(axis=1) > FLAT * sizes))

    def _largest(self, gradients: Callable[[_Beginning], FloatArray]) -> FloatArray:
        """The largest entries of *gradients* (m, nv) here and at states near by, in which they do not vanish by chance, (m,)."""
        states = [self, *(self._beside(chance) for chance in map(np.random.default_rng, range(BESIDE)))]
        sizes = np.array([np.abs(gradients(state)).max(axis=1, initial=0.0) for state in states])
        largest = np.where(np.isfinite(sizes), sizes, 0.0).max(axis=0)
        return np.where(largest > 0, largest, 1.0)

    def _beside(self, chance: np.random.Generator) -> _Beginning:
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
        n, scales = self.levels.shape[1], self.scales(k)
        best = float(self.missed(k).max(initial=0.0)), self.q.copy(), self.levels.copy()
        W = np.zeros((n, len(own)))
        W[own] = inverse_root(self.value(self.start.mass_matrix).reshape(n, n)[np.ix_(own, own)])
        last = np.zeros(n)
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

    def wakes(self, k: int, gradient: Callable[[_Beginning], FloatArray]) -> list[str]:
        """Names of the variables of orders up to *k* of which another value gives a *gradient* that vanishes some size."""
        found = []
        for order in range(k + 1):
            for i, name in enumerate(self.start.names[order]):
                change, levels = np.zeros(self.levels.shape[1]), self.levels.copy()
                if order:
                    levels[order - 1, i] += NEAR * (1.0 + abs(levels[order - 1, i]))
                else:
                    change[i] = NEAR
                q = self.value(self.start.moved, change)
                found += [name] * bool(np.abs(gradient(replace(self, q=q, levels=levels))).max() > SOME)
        return found


def begun(
    system: System, start: Start, t: float, q: FloatArray, v: FloatArray, p: FloatArray, given: Mapping[str, float]
) -> tuple[FloatArray, FloatArray, FloatArray, tuple[str, ...]]:
    """The coordinates, speeds and derivatives of these at the start of *system*, order by order, and what is to be said of them.
    Raises :class:`SimulationError` for a start that misses its programs, or in which nothing holds one.
    """
    found = _Beginning(start, t, q.copy(), np.zeros((start.order - 1, len(v))), p)
    found.levels[0] = v
    notes, natural_ones, moved = list(start.said), list[str](), list[str]()
    for k, names in enumerate(start.names):
        own = [i for i, name in enumerate(names) if name not in given] if k > 1 else list(range(len(v)))
        if k > 1:
            natural = found.value(start.natural[k - 2])
            found.levels[k - 1] = [given.get(name, x) for name, x in zip(names, natural, strict=True)]
        before = found.levels[k - 1].copy() if k else found.q
        found.meet(k, own)
        change = float(np.abs((found.levels[k - 1] if k else found.q) - before).max(initial=0.0))
        if own and k > 1:
            natural_ones += [names[i] for i in own]
            moved += [f"{', '.join(names[i] for i in own)} by up to {change:.3g}"] * bool(change)
        elif change:
            notes.append(f"the start missed programs, and {', '.join(names)} were moved by up to {change:.1e}")
        if found.missed(k).max(initial=0.0) > MISSED * found.size:
            raise SimulationError(_missed(system, found, k, [names[i] for i in own]))
    _influenced(system, found)
    if natural_ones:
        by = f", moved to meet programs: {', '.join(moved)}" if moved else ""
        notes.append(f"start: {', '.join(natural_ones)} as in a motion without control{by}")
    return found.q, found.levels[0], found.levels[1:].ravel(), tuple(notes)


def _influenced(system: System, found: _Beginning) -> None:
    """Raise where the gradient of a program vanishes at the start, is out of the actuators' reach, or depends on others."""
    names = [program.name for program in system.programs]
    flat = [name for name, gone in zip(names, found.flat(), strict=True) if gone]
    if flat:
        raise SimulationError(
            f"Model '{system.name}': the gradient of the program '{flat[0]}' vanishes at the start, where nothing holds it; "
            f"start with {_others(found, len(found.start.names) - 1, lambda s: s.regularity()[0][names.index(flat[0])])}."
        )
    actuators = dict(system.control.actuators)
    if own := [i for i, name in enumerate(found.start.names[1]) if name in actuators]:
        reach = np.abs(found.value(found.start.gradient_answers).reshape(len(names), -1))
        for name, row in zip(names, reach, strict=True):
            if not row[own].max() > FLAT * row.max():
                raise SimulationError(f"Model '{system.name}': {beyond_reach(system, name)}")
    B, Z = found.regularity()
    S = B @ Z.T
    sizes = np.sqrt(np.abs(np.diagonal(S)))
    if not np.linalg.svd(S / np.outer(sizes, sizes), compute_uv=False)[-1] > VANISHED:
        raise SimulationError(
            f"Model '{system.name}': the programs {', '.join(names)} ask for the same at the start, or the actuators cannot hold "
            "all of them there; leave one out, name other actuators, or start beside it."
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


def _missed(system: System, found: _Beginning, k: int, own: Sequence[str]) -> str:
    """What to say of a start that misses rows of its variables of order *k*, of which those called *own* were free."""
    (off, A), names, labels = found.rows(k), found.start.names[k], found.start.labels[k]
    i = int(found.missed(k).argmax())
    name = labels[i].rstrip("'")
    kind = "program" if name in {own.name for own in system.programs} else "constraint"
    what = named(kind, name, len(labels[i]) - len(name))
    where = f"Model '{system.name}': the start misses {what}: it is {off[i]:.3g} at t = {found.t:g} s, and has to be 0."
    if not np.abs(A[i]).max() > FLAT * found.scales(k)[i]:
        return (
            f"{where} Nothing changes it there, its gradient vanishes; "
            f"start with {_others(found, k, lambda state: state.rows(k)[1][i])}."
        )
    if k < 2:
        return f"{where} Give initial values that meet it."
    if len(own) < len(names):
        return f"{where} Leave some of {', '.join(names)} to be found, or give others."
    return f"{where} No {', '.join(own)} near those of a motion without control meet it; give some that do, or another state."


def _others(found: _Beginning, k: int, gradient: Callable[[_Beginning], FloatArray]) -> str:
    """Which variables need other values for a *gradient* that vanishes, in words."""
    names = found.wakes(k, gradient)
    return f"another value of {' or '.join(names)}" if names else "other values of several variables"


def named(kind: str, name: str, times: int) -> str:
    """A program or constraint, or the derivative of it that is taken so many *times*, in words."""
    ordinal = dict(enumerate(("", "first ", "second ", "third "))).get(times, f"{times}th ")
    return f"the {f'{ordinal}derivative of the ' if times else ''}{kind} '{name}'"
