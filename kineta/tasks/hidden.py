"""The derivative array of servo-constraints in numbers: states that meet it, and how much of it has to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import llvm
from kineta.compiler import Equations
from kineta.errors import ArgumentError, SimulationError
from kineta.expr.program import Program
from kineta.formalism.servo import Servo
from kineta.numerics.hidden import Structure, balanced, decided, least_change, structure
from kineta.numerics.newton import MET, Found, Functions, nearest_zero
from kineta.tasks.begun import named
from kineta.tasks.met import MISSED

FloatArray = NDArray[np.float64]

#: Steps of Newton's method along a motion at most; and the change, relative to the variables, after which only
#: rounding is left, or may be.
STEPS, ROUNDING, SMALL = 25, 1e-10, 1e-8
#: Part of a combination of equations that counts as none.
NONE = 1e-6
#: The first step of the pace of the time from 0 to 1, and the shortest.
EASE, LEAST_EASE = 0.25, 1e-3
#: How many states around one are looked at to weigh equations there, and how far they are, as parts of its derivatives.
AROUND, FAR = 6, 0.5
#: How far beside a state the equations are looked at, to tell what is so everywhere from what is so there.
BESIDE = 0.1


@dataclass(frozen=True)
class State:
    """Variables at the time ``t``: coordinates q (nq,), and those of the orders 1, 2, ... one after the other, ``x``."""

    t: float
    q: FloatArray
    x: FloatArray


class Array:
    """The equations of a system that is driven at the speeds number *driven*, differentiated as often as anyone asks, with the
    parameters *p*.
    """

    def __init__(self, equations: Equations, driven: tuple[int, ...], p: FloatArray) -> None:
        self.source, self.system = equations, equations.system
        self.n = equations.system.nv
        self.p = p
        self._made = equations.kept((Servo, driven), lambda: _Made(Servo(equations.alone(), driven)))
        self.equations = self._made.servo.equations
        self.names = [name for name, *_ in self.equations]

    def size(self, order: int) -> int:
        """How many variables there are of the orders 1 to *order*."""
        return self._made.size(order)

    def labels(self, order: int) -> list[tuple[str, int]]:
        """Names of all equations up to *order*, and how often they are differentiated."""
        return [label for k in range(order + 1) for label in self._made.labels(k)]

    def extended(self, state: State, order: int) -> State:
        """*state* with variables up to *order*, zero where it has none."""
        more = max(0, self.size(order) - len(state.x))
        return replace(state, x=np.concatenate([state.x, np.zeros(more)])[: self.size(order)])

    def at(self, state: State, order: int, pace: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """What has to vanish up to *order*, and its slopes by changes of the coordinates and all other variables; with another
        *pace* of the time.
        """
        offs, slopes, width = [], [], self.n + self.size(order)
        for k in range(order + 1):
            own, m = self.size(k), len(self._made.labels(k))
            found = self._made.level(k)(np.array([state.t, pace]), state.q, state.x[:own], self.p)
            offs.append(found[:m])
            slopes.append(np.zeros((m, width)))
            slopes[-1][:, : self.n + own] = found[m:].reshape(m, self.n + own)
        return np.concatenate(offs), np.concatenate(slopes)

    def moved(self, state: State, change: FloatArray) -> State:
        """*state* after a *change* of its variables, of the coordinates in the directions of the speeds."""
        q = self._made.moved(state.q, change[: self.n], self.p)
        return replace(state, q=q, x=state.x + change[self.n :])

    def later(self, state: State, t: float) -> State:
        """What is to be expected of *state* at the time *t* from its own rates."""
        h, n, x = t - state.t, self.n, state.x.copy()
        for k in range(1, self._order(x)):
            x[self.size(k - 1) :][:n] += h * x[self.size(k) :][:n]
        return replace(self.moved(state, np.concatenate([h * state.x[:n], 0.0 * x])), t=t, x=x)

    def _order(self, x: FloatArray) -> int:
        order = 1
        while self.size(order) < len(x):
            order += 1
        return order

    def qdot(self, state: State) -> FloatArray:
        """The rates of the coordinates."""
        return self._made.qdot(state.q, state.x[: self.n], self.p)

    def forces(self, state: State) -> FloatArray:
        """The forces of control on the speeds, (nv,)."""
        return self._made.forces(np.array([state.t, 1.0]), state.q, state.x[: self.size(2)], self.p)

    def branches(self, state: State) -> FloatArray:
        """What changes its sign where an operation of the equations goes over to another branch, (m,)."""
        return self._made.branches(np.array([state.t, 1.0]), state.q, state.x[: self.size(2)], self.p)


class _Made:
    """The functions of an array, each compiled when it is first needed."""

    def __init__(self, servo: Servo) -> None:
        self.servo = servo
        made = (servo.forces(), servo.branches(), servo.moved(), servo.qdot())
        self.forces, self.branches, self.moved, self.qdot = map(_compiled, made)
        self._levels: list[llvm.NativeFunction] = []
        self._sizes = [0]
        self._labels: list[list[tuple[str, int]]] = []

    def size(self, k: int) -> int:
        while len(self._sizes) <= k:
            self._sizes.append(self._sizes[-1] + len(self.servo.variables(len(self._sizes))))
        return self._sizes[k]

    def labels(self, k: int) -> list[tuple[str, int]]:
        while len(self._labels) <= k:
            self._labels.append(self.servo.labels(len(self._labels)))
        return self._labels[k]

    def level(self, k: int) -> llvm.NativeFunction:
        while len(self._levels) <= k:
            self._levels.append(_compiled(self.servo.level(len(self._levels))))
        return self._levels[k]


def _compiled(made: Program) -> llvm.NativeFunction:
    return llvm.compile([made]).function(made.name)


@dataclass(frozen=True)
class Hold:
    """All that is known of how the motion follows from what is asked of it.

    order : of the equations that are looked at
    structure : what they decide of coordinates and speeds, and then of the accelerations
    rows, columns : weights that balance them
    """

    array: Array
    order: int
    structure: Structure
    rows: FloatArray
    columns: FloatArray

    def balanced(self, state: State, pace: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """What has to vanish and its slopes, balanced; with another *pace* of the time."""
        off, A = self.array.at(state, self.order, pace)
        return self.rows * off, self.rows[:, None] * A * self.columns

    @property
    def sound(self) -> bool:
        """Whether it is known, and all equations can be held."""
        return self.structure is not UNKNOWN and not len(self.structure.repeated)

    def decided(self, state: State, pace: float = 1.0) -> Structure:
        """What the equations decide at *state*; with another *pace* of the time."""
        return structure(self.balanced(state, pace)[1], 2 * self.array.n, self.array.n)

    def met(self, state: State) -> State | None:
        """The state nearest to *state*, in coordinates and speeds, that meets all equations; None where Newton's method finds
        none.
        """
        last = np.inf
        for _ in range(STEPS):
            off, A = self.balanced(state)
            if not (np.isfinite(off).all() and np.isfinite(A).all()):
                return None
            change = self.columns * least_change(A, off, 2 * self.array.n, self.structure.rest)
            if not np.isfinite(change).all():
                return None
            state = self.array.moved(state, change)
            known = np.concatenate([state.x[: self.array.n], state.x[: 2 * self.array.n]])
            size = float(np.abs(change[: len(known)] / (1.0 + np.abs(known))).max())
            if size <= ROUNDING or SMALL >= size >= last / 2:
                return state
            last = size
        return None

    def answer(self, state: State) -> FloatArray:
        """The directions in which the equations change with the accelerations, where all that follows from these is eliminated;
        they turn round where that vanishes.
        """
        n = self.array.n
        Q, R = np.linalg.qr(decided(self.balanced(state)[1], slice(2 * n, 3 * n)))
        return np.asarray(Q * np.where(np.diagonal(R) < 0, -1.0, 1.0))


#: Where nothing is known yet.
UNKNOWN = Structure(0, 0, np.empty((0, 0)), 0)


def held(array: Array, state: State) -> tuple[Hold, State]:
    """How the motion follows from the programs, and the state nearest to *state* that meets them.

    The equations are differentiated until they say nothing new of coordinates and speeds, and decide about the accelerations.
    Raises :class:`ArgumentError` for programs that cannot be held, :class:`SimulationError` where no state near meets them.
    """
    n = array.n
    free, given = 2 * n - len(array.labels(1)), state
    for order in range(2, 2 * n + 4):
        state = array.extended(state, order)
        _check(array, state, order)
        hold, near = _found(array, state, array.extended(given, order), order)
        state, own = near, hold.structure
        if own is UNKNOWN:
            raise SimulationError(_missed(array, hold, state))
        if len(own.repeated):
            raise SimulationError(
                f"Model '{array.system.name}': the position at t = {state.t:g} s that meets the programs is singular: "
                f"{_among(array, order, own.repeated)} cannot be held there by the actuators. Start beside it."
            )
        if not own.open and own.free in (0, free):
            return hold, state
        if own.free == free:
            break
        free = own.free
    raise ArgumentError(_no_influence(array, order, [p.name for p in array.system.programs]))


def _tried(array: Array, state: State, order: int, pace: float = 1.0) -> tuple[Hold, State]:
    """The state that Newton's method finds from *state*, at a *pace* of the time, and what holds there; that is unknown where it
    does not meet the equations.
    """
    hold = Hold(array, order, UNKNOWN, *_weights(array, state, order, pace))
    found = _nearest(hold, state, pace)
    size = 1.0 + float(np.abs(found.state.x / hold.columns[array.n :]).max())
    if not found.missed <= MET * size:
        return hold, found.state
    there = Hold(array, order, UNKNOWN, *_weights(array, found.state, order, pace))
    return replace(there, structure=there.decided(found.state, pace)), found.state


def _weights(array: Array, state: State, order: int, pace: float) -> tuple[FloatArray, FloatArray]:
    """Weights that balance the equations at *state* and around it: what vanishes there by chance counts as it does elsewhere."""
    chance, sizes = np.random.default_rng(0), np.abs(array.at(state, order, pace)[1])
    largest = _sizes(array, state, order)
    for _ in range(AROUND):
        beside = array.moved(state, FAR * largest * chance.uniform(-1.0, 1.0, len(largest)))
        found = np.abs(array.at(beside, order, pace)[1])
        sizes = np.maximum(sizes, np.where(np.isfinite(found), found, 0.0))
    return balanced(sizes)


def _found(array: Array, state: State, given: State, order: int) -> tuple[Hold, State]:
    """The state near *state* that meets the equations, with what holds there; where none is found so, from the *given* one in
    other ways.
    """
    first = _tried(array, state, order)
    for way in () if first[0].sound else (_tried_raised, _eased):
        found = way(array, given, order)
        if found is not None and found[0].sound:
            return found
    return first


def _tried_raised(array: Array, state: State, order: int) -> tuple[Hold, State]:
    return _tried(array, _raised(array, state, order), order)


def _sizes(array: Array, state: State, order: int) -> FloatArray:
    """The largest of the variables of every order at *state*, for each of them; 1 for changes of coordinates."""
    levels = [state.x[array.size(k - 1) : array.size(k)] for k in range(1, order + 1)]
    return np.concatenate([np.ones(array.n), *(np.full(len(x), np.abs(x).max(initial=0.0)) for x in levels)])


def _raised(array: Array, state: State, order: int) -> State:
    """*state* with the variables from the order 2 on that meet its equations best, where coordinates and speeds stay."""
    for k in range(2, order + 1):
        off, A = array.at(state, k)
        own, first = slice(len(array.labels(k - 1)), None), array.size(k - 1)
        change = np.linalg.lstsq(A[own, array.n + first :], -off[own], rcond=None)[0]
        x = state.x.copy()
        x[first : array.size(k)] += change
        state = replace(state, x=x)
    return state


def _eased(array: Array, state: State, order: int) -> tuple[Hold, State] | None:
    """The same on the way from programs that stand still at the start to those that are asked for: what is fast at once may lead
    Newton's method astray. None where there is no way.
    """
    pace, step = 0.0, EASE
    hold, state = _tried(array, state, order, pace)
    while hold.sound and pace < 1.0:
        ahead = min(1.0, pace + step)
        following, near = _tried(array, state, order, ahead)
        if following.sound:
            hold, state, pace, step = following, near, ahead, 2 * step
        elif (step := step / 2) < LEAST_EASE:
            return None
    return (hold, state) if hold.sound else None


def _nearest(hold: Hold, state: State, pace: float = 1.0) -> Found[State]:
    array = hold.array
    functions: Functions[State] = Functions(
        lambda x: hold.balanced(x, pace)[0],
        lambda x: hold.balanced(x, pace)[1],
        lambda x, change: array.moved(x, change * hold.columns),
        longest=np.inf,
    )
    return nearest_zero(state, functions)


def _check(array: Array, state: State, order: int) -> None:
    """Raise for equations that depend on each other wherever they are looked at."""
    sizes = np.maximum(1.0, _sizes(array, state, order))
    beside = array.moved(state, BESIDE * sizes * np.random.default_rng(0).uniform(-1.0, 1.0, len(sizes)))
    A = array.at(beside, order)[1]
    if not np.isfinite(A).all():
        return
    rows, columns = _weights(array, beside, order, 1.0)
    repeated = structure(rows[:, None] * A * columns, 2 * array.n, array.n).repeated
    if not len(repeated):
        return
    shares = np.abs(repeated).max(axis=0)
    involved = {name for (name, _), share in zip(array.labels(order), shares, strict=True) if share > NONE}
    names = [p.name for p in array.system.programs if p.name in involved]
    if involved & set(array.system.v_names):
        raise ArgumentError(_no_influence(array, order, names))
    raise ArgumentError(_twice(array, state, order, involved))


def _twice(array: Array, state: State, order: int, involved: set[str]) -> str:
    """What to say of programs and constraints that depend on each other."""
    off: dict[tuple[str, int], float] = {}
    for later in (0.0, BESIDE, 2 * BESIDE):  # at the start all may be zero
        state = replace(state, t=state.t + later)
        near = _tried(array, state, order)[1]
        named_off = zip(array.labels(order), array.at(near, order)[0], strict=True)
        off = {label: x for label, x in named_off if label[0] in involved}
        if max(map(abs, off.values())) > MISSED * (1.0 + float(np.abs(near.x).max())):
            break
    where = f"Model '{array.system.name}': {' and '.join(repr(n) for n in array.names if n in involved)}"
    if max(map(abs, off.values())) <= MISSED * (1.0 + float(np.abs(near.x).max())):
        return f"{where} say the same of the motion; leave out one of the programs."
    missed = ", ".join(f"'{name}{_marks(times)}' by {x:.3g}" for (name, times), x in off.items() if abs(x) > MISSED)
    return f"{where} contradict each other: at t = {state.t:g} s the nearest motion misses {missed}. Leave out one of them."


def _marks(times: int) -> str:
    """How a name says that it is differentiated."""
    return "'" * times


def _no_influence(array: Array, order: int, names: Sequence[str]) -> str:
    """What to say of programs that forces do not reach."""
    undriven = {name for name, k, _ in array.equations if k == 2}
    acting = ", ".join(n for n in array.system.v_names if n not in undriven)
    programs = " and ".join(f"'{n}'" for n in names) or "any program"
    return (
        f"Model '{array.system.name}': no force on {acting} changes {programs} beside what else is asked for, at any order up to "
        f"{order}. Name other actuators."
    )


def _among(array: Array, order: int, repeated: FloatArray) -> str:
    """The programs in combinations of equations, in words; all, if none is there."""
    shares = np.abs(repeated).max(axis=0)
    names = {name for (name, _), share in zip(array.labels(order), shares, strict=True) if share > NONE}
    return " and ".join(f"'{p.name}'" for p in array.system.programs if p.name in names) or "they"


def _missed(array: Array, hold: Hold, state: State) -> str:
    """What to say where no state is found that meets the programs."""
    off = array.at(state, hold.order)[0]
    worst = int(np.abs(np.where(np.isfinite(off), hold.rows * off, np.inf)).argmax())
    name, times = array.labels(hold.order)[worst]
    if name in {p.name for p in array.system.programs}:
        what = named("program", name, times)
    elif name in array.system.v_names:
        what = f"the balance of forces on '{name}', on which nothing acts,"
    else:
        what = f"the constraint '{name}'"
    if not np.isfinite(off[worst]):
        return (
            f"Model '{array.system.name}': {what} has no finite value at t = {state.t:g} s: an expression in it has left its "
            "domain (the root or logarithm of a number below zero, a quotient by zero). Begin later, or give another path."
        )
    return (
        f"Model '{array.system.name}': no position is found near the start that meets all programs at t = {state.t:g} s: the "
        f"nearest misses {what} by {off[worst]:.3g}. Give initial values nearer to one, or a path within reach."
    )
