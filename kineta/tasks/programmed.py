"""The start of a motion under programs, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
#: Entries of the gradient of a program, in the units of the model, that are none.
FLAT = 1e-12


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

    def _changes(self, own: Sequence[int]) -> FloatArray:
        """W with W W^T = M^-1 for the speeds number *own*, or the identity where their M is singular; zero for the others."""
        n = self.levels.shape[1]
        M = self.value(self.start.mass_matrix).reshape(n, n)[np.ix_(own, own)]
        W = np.zeros((n, len(own)))
        try:
            W[own] = np.linalg.inv(np.linalg.cholesky(M)).T
        except np.linalg.LinAlgError:
            W[own] = np.eye(len(own))
        return W

    def meet(self, k: int, own: Sequence[int]) -> None:
        """Move the variables of order *k* by the least change of those number *own* so that what is said of them is met, or
        missed least. Coordinates and speeds are those of the user: only misses of few digits are mended.
        """
        farthest = PRINTED * self.size if k < 2 else np.inf
        if np.abs(self.rows(k)[0]).max(initial=0.0) > farthest or not own:
            return
        W = self._changes(own)
        for _ in range(STEPS):
            off, A = self.rows(k)
            if not np.isfinite([*off, *A.ravel()]).all() or np.abs(off).max(initial=0.0) <= ROUNDING * self.size:
                return
            change = -W @ np.linalg.lstsq(A @ W, off, rcond=1e-9)[0]
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
        off, A = found.rows(k)
        if not np.abs(off).max(initial=0.0) <= MISSED * found.size:
            raise SimulationError(_missed(system, start, k, [names[i] for i in own], (off, A), t))
    _influenced(system, start, found)
    if natural_ones:
        by = f", moved to meet programs: {', '.join(moved)}" if moved else ""
        notes.append(f"start: {', '.join(natural_ones)} as in a motion without control{by}")
    return found.q, found.levels[0], found.levels[1:].ravel(), tuple(notes)


def _influenced(system: System, start: Start, found: _Beginning) -> None:
    """Raise where the gradient of a program vanishes at the start, or depends on others."""
    parts = found.value(start.regularity).reshape(2, len(system.programs), -1)
    S = parts[0] @ parts[1].T
    sizes = np.sqrt(np.abs(np.diagonal(S)))
    names = [program.name for program in system.programs]
    flat = [name for name, row in zip(names, parts[0], strict=True) if not np.abs(row).max() > FLAT]
    if flat:
        raise SimulationError(
            f"Model '{system.name}': the gradient of the program '{flat[0]}' vanishes at the start, where nothing holds it; "
            f"the direction in which it leaves that is yours to give: values of {', '.join(start.names[-1])} beside it."
        )
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


def _missed(
    system: System, start: Start, k: int, own: Sequence[str], rows: tuple[FloatArray, FloatArray], t: float
) -> str:
    """What to say of a start that misses the *rows* of its variables of order *k*, of which those called *own* were free."""
    off, A = rows
    i = int(np.abs(np.where(np.isfinite(off), off, np.inf)).argmax())
    name = start.labels[k][i].rstrip("'")
    marks = len(start.labels[k][i]) - len(name)
    kind = "program" if name in {own.name for own in system.programs} else "constraint"
    what = f"the {kind} '{name}'" if marks == 0 else f"the rate number {marks} of the {kind} '{name}'"
    where = f"Model '{system.name}': the start misses {what}: it is {off[i]:.3g} at t = {t:g} s, and has to be 0."
    if not np.abs(A[i]).max() > FLAT:
        return f"{where} Nothing changes it there, its gradient vanishes; give values of {', '.join(start.names[k])} beside that."
    if k < 2:
        return f"{where} Give initial values that meet it."
    if len(own) < len(start.names[k]):
        return f"{where} Leave some of {', '.join(start.names[k])} to be found, or give others."
    return f"{where} No {', '.join(own)} near those of a motion without control meet it; give some that do, or another state."
