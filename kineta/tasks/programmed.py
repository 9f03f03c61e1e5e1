"""The start of a motion under programs, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import llvm
from kineta.compiler import Equations
from kineta.errors import ArgumentError, SimulationError, did_you_mean, shown
from kineta.expr.graph import Ref
from kineta.expr.program import program
from kineta.formalism import manifold, programmed
from kineta.formalism.derivation import Derivation
from kineta.formalism.programmed import CONTROL
from kineta.model.infer import derivatives
from kineta.model.program import LEAST
from kineta.model.system import System
from kineta.numerics.foreign import IDA
from kineta.numerics.metric import inverse_root, least_change
from kineta.tasks import arguments
from kineta.tasks.code import Bound
from kineta.tasks.gradients import VANISHED
from kineta.tasks.keeping import PROJECTED, derivation
from kineta.tasks.met import MISSED, PRINTED
from kineta.tasks.state import initial_values
from kineta.values import numbers

FloatArray = NDArray[np.float64]

#: The work of controls, as a series of a run.
CONTROL_WORK = f"{CONTROL}work"
#: Steps of Newton's method at most.
STEPS = 50
#: Part of the state by which what has to vanish may be missed that is rounding.
ROUNDING = 1e-14
#: Entries of a gradient, relative to those at states near by, that are none.
FLAT = 1e-12
#: How many states near by are looked at, and how far they are, of turns and of all others relative to their size and 1.
BESIDE, NEAR = 3, 0.1
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


def started(
    equations: Equations,
    made: Bound,
    t: float,
    state: tuple[FloatArray, FloatArray, FloatArray],
    levels: Any,
) -> tuple[FloatArray, FloatArray, FloatArray, tuple[str, ...]]:
    """The coordinates and speeds of a *state* (q, v, p), nearer to the programs of a motion where numbers of few digits miss
    them, and the derivatives of the speeds below the highest, ((s-2) nv,): those of a motion without control, but for the
    *levels* given and what ``initial`` says, moved as little as programs ask for; and what is to be said of it.

    Raises :class:`ArgumentError` for what does not go with programs, :class:`SimulationError` for a start that misses them.
    """
    system, (q, v, p) = equations.system, state
    if not system.programs:
        if levels is not None:
            raise ArgumentError(f"Model '{system.name}' has no programs of motion; leave out levels.")
        return q, v, np.empty((*v.shape[:-1], 0)), ()
    if made.code.layout.order > 2 and not made.forces.none:
        raise ArgumentError(
            f"Model '{system.name}': its programs ask for derivatives of all forces; write tau as forces of the model."
        )
    if arguments.cases({"q": q, "v": v, "p": p}) is not None:
        raise ArgumentError(f"Model '{system.name}': under programs one motion is run at a time; give one start.")
    start = equations.kept(Start, lambda: _start(derivation(equations, PROJECTED)))
    return _begun(system, start, t, q, v, p, _given(system, start, levels, p))


def spent(t: FloatArray, outputs: Mapping[str, FloatArray]) -> Iterator[str]:
    """What controls spend along a run, in words."""
    if CONTROL_WORK in outputs and len(t):
        power = outputs[f"{CONTROL}power"]
        k = int(np.abs(power).argmax())
        work = outputs[CONTROL_WORK][-1]
        yield f"control: work {work:.4g} J, peak power {power[k] + 0.0:.4g} W at t = {t[k]:.4g} s"


def fits(system: System, method: str) -> None:
    """Raise :class:`ArgumentError` for what does not go with the programs of *system*, where it has some."""
    acting = ", ".join(c.name for c in (*system.contacts, *system.switches))
    if not system.programs:
        return
    if acting:
        raise ArgumentError(
            f"Model '{system.name}': programs hold for motions without changes, and {acting} may bring some; leave out the ones "
            "or the others: system.replace(contacts=(), switches=())."
        )
    if method == IDA:
        raise ArgumentError(f"Model '{system.name}': IDA knows nothing of programs; choose dop853.")


def _given(system: System, start: Start, given: Any, p: FloatArray) -> dict[str, float]:
    """The derivatives that are given, by name."""
    names = [n for row in start.names[2:] for n in row]
    first = initial_values(system, p)
    for name in derivatives(system, first):
        _known(system, name, names)
    held = {n: float(x) for n, x in first.items() if n in names}
    if given is None:
        return held
    if not isinstance(given, Mapping):
        values = numbers("levels", given)
        if values.shape != (start.order - 2, system.nv):
            raise ArgumentError(
                f"Expected levels of shape ({start.order - 2}, {system.nv}) for ({', '.join(names)}), found shape {values.shape}."
            )
        given = dict(zip(names, values.ravel().tolist(), strict=True))
    for name, value in given.items():
        _known(system, name, names)
        values = arguments.column(f"'{name}'", value)
        if values.ndim or not np.isfinite(values):
            raise ArgumentError(f"Expected a finite number for '{name}', found {shown(value)}.")
        held[name] = float(values)
    return held


def _known(system: System, name: str, names: Sequence[str]) -> None:
    """Raise where *name* is none of the derivatives that are states, *names*."""
    if name not in names:
        what = (
            f"; its states are {', '.join(names)}"
            if names
            else ", since its programs are of the second order at most, and give these"
        )
        raise ArgumentError(
            f"Model '{system.name}' has no derivative '{name}' to start with{what}.{did_you_mean(name, names)}"
        )


def _start(d: Derivation) -> Start:
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
    functions |= {name: d[name].refs for name in ("mass_matrix", "regularity")}
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


def _begun(
    system: System, start: Start, t: float, q: FloatArray, v: FloatArray, p: FloatArray, given: Mapping[str, float]
) -> tuple[FloatArray, FloatArray, FloatArray, tuple[str, ...]]:
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
    """Raise where the gradient of a program vanishes at the start, or depends on others."""
    names = [program.name for program in system.programs]
    flat = [name for name, gone in zip(names, found.flat(), strict=True) if gone]
    if flat:
        raise SimulationError(
            f"Model '{system.name}': the gradient of the program '{flat[0]}' vanishes at the start, where nothing holds it; "
            f"the direction in which it leaves that is yours to give: values of {', '.join(found.start.names[-1])} beside it."
        )
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
            f"{where} Nothing changes it there, its gradient vanishes; give values of {', '.join(names)} beside that."
        )
    if k < 2:
        return f"{where} Give initial values that meet it."
    if len(own) < len(names):
        return f"{where} Leave some of {', '.join(names)} to be found, or give others."
    return f"{where} No {', '.join(own)} near those of a motion without control meet it; give some that do, or another state."


def named(kind: str, name: str, times: int) -> str:
    """A program or constraint, or the derivative of it that is taken so many *times*, in words."""
    ordinal = dict(enumerate(("", "first ", "second ", "third "))).get(times, f"{times}th ")
    return f"the {f'{ordinal}derivative of the ' if times else ''}{kind} '{name}'"
