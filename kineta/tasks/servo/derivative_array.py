"""The derivative array of servo-constraints in numbers: consistent jets, and the order at which the control is determined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import LOCK
from kineta.arrays import FloatArray
from kineta.codegen.compiled_functions import CompiledFunctions
from kineta.codegen.llvm import NativeFunction
from kineta.equations.equations import Equations
from kineta.errors import ArgumentError, SimulationError
from kineta.mechanics.programs.derivative_array import ServoEquations
from kineta.numerics.differentiation_index import RankStructure, determined, equilibrated, least_change, rank_structure
from kineta.numerics.linear_algebra import lstsq, qr
from kineta.numerics.newton import NewtonResult, NonlinearSystem, nearest_zero
from kineta.programs.initialisation import derivative_text
from kineta.records import dataclass
from kineta.threads import memo

#: Most Newton steps along a motion.
STEPS = 25
#: The first and the shortest step of the homotopy parameter from 0 to 1.
EASE, LEAST_EASE = 0.25, 1e-3
#: Number of neighbouring jets that weigh the equations, and their distance relative to the derivatives.
AROUND, FAR = 6, 0.5
#: Distance of the neighbour at which dependence at every jet is told from dependence at a singular one.
BESIDE = 0.1


@dataclass(frozen=True)
class Jet:
    """A jet of the motion at the time ``t``: coordinates and first-order states q (nq,), and the variables of orders 1, 2, ... in
    succession, x.
    """

    t: float
    q: FloatArray
    x: FloatArray


class DerivativeArray:
    """The equations of a system with actuators on the speeds number *driven* and the parameters *p*, with their time derivatives
    to any order.
    """

    def __init__(self, equations: Equations, driven: tuple[int, ...], p: FloatArray) -> None:
        self.source, self.system = equations, equations.system
        self.n, self.nz = equations.system.nv, equations.system.nz
        self.driven, self.p = driven, p
        self._made = equations.bounded_memo(
            (ServoEquations, driven), lambda: _ArrayFunctions(ServoEquations(equations.alone(), driven))
        )
        self.equations = self._made.servo.equations
        self.names = [name for name, *_ in self.equations]

    def size(self, order: int) -> int:
        """Return the number of variables of the orders 1 to *order*."""
        return self._made.size(order)

    def labels(self, order: int) -> list[tuple[str, int]]:
        """Return names and orders of differentiation of all equations up to *order*."""
        return [label for k in range(order + 1) for label in self._made.servo.labels(k)]

    def extended(self, state: Jet, order: int) -> Jet:
        """Return *state* truncated to *order*, or padded with zeros."""
        more = max(0, self.size(order) - len(state.x))
        return replace(state, x=np.concatenate([state.x, np.zeros(more)])[: self.size(order)])

    def at(self, state: Jet, order: int, pace: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """Return the residuals up to *order*, and their Jacobian by displacements and all variables; *pace* is the homotopy
        parameter, the rate at which the programs advance.
        """
        given, levels = np.array([state.t, pace]), [self._made.sized_level(k) for k in range(order + 1)]
        off = np.empty(sum(m for _, m, _ in levels))
        slope = np.zeros((len(off), self.n + self.size(order)))
        row = 0
        for evaluate, m, size in levels:
            found = evaluate(given, state.q, state.x[:size], self.p)
            off[row : row + m] = found[:m]
            slope[row : row + m, : self.n + size] = found[m:].reshape(m, self.n + size)
            row += m
        return off, slope

    def moved(self, state: Jet, change: FloatArray) -> Jet:
        """Return *state* after a *change* of its variables, of coordinates along the directions of the speeds."""
        q = self._made.moved(state.q, change[: self.n], self.p)
        return replace(state, q=q, x=state.x + change[self.n :])

    def later(self, state: Jet, t: float) -> Jet:
        """Return *state* extrapolated to the time *t* by its own rates."""
        h, n, x = t - state.t, self.n, state.x.copy()
        for k in range(1, self._order(x)):
            x[self.size(k - 1) :][:n] += h * x[self.size(k) :][:n]
        moved = self.moved(state, np.concatenate([h * state.x[:n], 0.0 * x]))
        own = len(moved.q) - self.nz
        q = np.concatenate([moved.q[:own], moved.q[own:] + h * self.qdot(state)[own:]]) if self.nz else moved.q
        return Jet(t, q, x)

    def _order(self, x: FloatArray) -> int:
        order = 1
        while self.size(order) < len(x):
            order += 1
        return order

    def qdot(self, state: Jet) -> FloatArray:
        """Return the rates of the coordinates and of the first-order states."""
        return self._made.qdot(np.array([state.t]), state.q, state.x[: self.n], self.p)

    def state_slopes(self, state: Jet) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of the equations, not differentiated, by the first-order states, (m, nz), and those of the rates
        of the states by displacements, speeds and states, (nz, 2 n + nz).
        """
        found = self._made.states(np.array([state.t, 1.0]), state.q, state.x[: self.size(2)], self.p)
        m, shape = len(self.equations), (self.nz, 2 * self.n + self.nz)
        return found[: m * self.nz].reshape(m, self.nz), found[m * self.nz :].reshape(shape)

    def forces(self, state: Jet) -> FloatArray:
        """Return the forces of control on the speeds, (nv,)."""
        found = np.zeros(self.n)
        found[list(self.driven)] = self._forces(state)[0]
        return found

    def _forces(self, state: Jet) -> tuple[FloatArray, FloatArray]:
        """Return the forces of control on the driven speeds, and their Jacobian by the variables up to order 2."""
        found = self._made.forces(np.array([state.t, 1.0]), state.q, state.x[: self.size(2)], self.p)
        m = len(self.driven)
        return found[:m], found[m:].reshape(m, -1)

    def branches(self, state: Jet) -> FloatArray:
        """Return the switching functions of the piecewise operations in the equations, (m,)."""
        return self._made.branches(np.array([state.t, 1.0]), state.q, state.x[: self.size(2)], self.p)


class _ArrayFunctions:
    """The compiled functions of a derivative array, each compiled at its first use; threads share them."""

    def __init__(self, servo: ServoEquations) -> None:
        self.servo = servo
        made = CompiledFunctions([servo.forces(), servo.branches(), servo.moved(), servo.qdot(), servo.states()])
        self.forces, self.branches, self.moved, self.qdot, self.states = (made[name] for name in made.programs)
        self._sizes = [0]

    def size(self, k: int) -> int:
        with LOCK:
            while len(self._sizes) <= k:
                self._sizes.append(self._sizes[-1] + len(self.servo.variables(len(self._sizes))))
        return self._sizes[k]

    def sized_level(self, k: int) -> tuple[NativeFunction, int, int]:
        """The equations of order *k*, their number, and the number of their variables of the orders 1 to *k*."""
        return memo(self, k, lambda: (self._compiled(k), len(self.servo.labels(k)), self.size(k)))

    def _compiled(self, k: int) -> NativeFunction:
        with LOCK:
            own = self.servo.level(k)
        return CompiledFunctions([own])[own.name]


@dataclass(frozen=True)
class Hold:
    """The derivative array at the order at which it determines the motion.

    order : the highest order of differentiation
    structure : rank of the array for coordinates and speeds, then for the accelerations
    rows, columns : weights that balance the Jacobian
    """

    array: DerivativeArray
    order: int
    structure: RankStructure
    rows: FloatArray
    columns: FloatArray

    def balanced(self, state: Jet, pace: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """Return residuals and Jacobian, balanced, at the homotopy parameter *pace*."""
        off, A = self.array.at(state, self.order, pace)
        return self.rows * off, self.rows[:, None] * A * self.columns

    @property
    def sound(self) -> bool:
        """Whether the structure is known and free of dependent equations."""
        return self.structure is not UNKNOWN and not len(self.structure.repeated)

    @property
    def internal(self) -> int:
        """The dimension of the internal dynamics: of the free part of the motion, and the number of first-order states."""
        return self.structure.free + self.array.nz

    def decided(self, state: Jet, pace: float = 1.0) -> RankStructure:
        """Return the structure of the array at *state* and the homotopy parameter *pace*."""
        return rank_structure(self.balanced(state, pace)[1], 2 * self.array.n, self.array.n)

    def met(self, state: Jet) -> tuple[Jet, FloatArray] | None:
        """Return the consistent jet nearest to *state* in coordinates and speeds, with the balanced Jacobian of the last step
        to it; None where Newton's method fails.
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
            if size <= tolerances.NEWTON_TOLERANCE or 100 * tolerances.NEWTON_TOLERANCE >= size >= last / 2:
                return state, A
            last = size
        return None

    def response(self, state: Jet, asked: Sequence[int]) -> FloatArray:
        """Return the derivatives (m, k) of the forces of control by right-hand sides of the equations number *asked*, with the
        free part of the motion held.
        """
        array, A = self.array, self.balanced(state)[1]
        off = -np.diag(self.rows)[:, asked]
        slope = array._forces(state)[1]
        change = self.columns[:, None] * least_change(A, off, 2 * array.n, self.structure.rest)
        return slope @ change[: slope.shape[1]]

    def answer(self, A: FloatArray) -> FloatArray:
        """Return an orthonormal basis of the equations' dependence on the accelerations, of the balanced Jacobian *A*, after
        elimination of the higher orders; a direction reverses where the dependence vanishes.
        """
        n = self.array.n
        Q, R = qr(determined(A, slice(2 * n, 3 * n)), what="the accelerations that hold the programs")
        return np.asarray(Q * np.where(np.diagonal(R) < 0, -1.0, 1.0))


#: The structure before any analysis.
UNKNOWN = RankStructure(0, 0, np.empty((0, 0)), 0)


def held(array: DerivativeArray, state: Jet) -> tuple[Hold, Jet]:
    """Return the derivative array at its sufficient order, and the consistent jet nearest to *state*.

    The equations are differentiated until their rank for coordinates and speeds is constant and the accelerations are determined.
    Raises :class:`ArgumentError` for programs without a control, :class:`SimulationError` where no consistent jet is near.
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


def _tried(array: DerivativeArray, state: Jet, order: int, pace: float = 1.0) -> tuple[Hold, Jet]:
    """Return the jet that Newton's method reaches from *state* at the homotopy parameter *pace*, with the structure there;
    ``UNKNOWN`` where residuals remain.
    """
    hold = Hold(array, order, UNKNOWN, *_weights(array, state, order, pace))
    found = _nearest(hold, state, pace)
    size = 1.0 + float(np.abs(found.state.x / hold.columns[array.n :]).max())
    if not found.violation <= tolerances.NEWTON_TOLERANCE * size:
        return hold, found.state
    there = Hold(array, order, UNKNOWN, *_weights(array, found.state, order, pace))
    return replace(there, structure=there.decided(found.state, pace)), found.state


def _weights(array: DerivativeArray, state: Jet, order: int, pace: float) -> tuple[FloatArray, FloatArray]:
    """Return weights that balance the Jacobian at *state* and its neighbours: an entry may vanish at *state* by chance."""
    chance, sizes = np.random.default_rng(0), np.abs(array.at(state, order, pace)[1])
    largest = _sizes(array, state, order)
    for _ in range(AROUND):
        beside = array.moved(state, FAR * largest * chance.uniform(-1.0, 1.0, len(largest)))
        found = np.abs(array.at(beside, order, pace)[1])
        sizes = np.maximum(sizes, np.where(np.isfinite(found), found, 0.0))
    return equilibrated(sizes)


def _found(array: DerivativeArray, state: Jet, given: Jet, order: int) -> tuple[Hold, Jet]:
    """Return the consistent jet near *state* with its structure; where Newton's method fails, by least squares of the higher
    orders or by homotopy from the *given* jet.
    """
    first = _tried(array, state, order)
    for way in () if first[0].sound else (_tried_raised, _eased):
        found = way(array, given, order)
        if found is not None and found[0].sound:
            return found
    return first


def _tried_raised(array: DerivativeArray, state: Jet, order: int) -> tuple[Hold, Jet]:
    return _tried(array, _raised(array, state, order), order)


def _sizes(array: DerivativeArray, state: Jet, order: int) -> FloatArray:
    """Return the scale of every variable: the largest of its order at *state*, and 1 for displacements."""
    levels = [state.x[array.size(k - 1) : array.size(k)] for k in range(1, order + 1)]
    return np.concatenate([np.ones(array.n), *(np.full(len(x), np.abs(x).max(initial=0.0)) for x in levels)])


def _raised(array: DerivativeArray, state: Jet, order: int) -> Jet:
    """Return *state* with the least-squares solution for the variables from order 2 on, at fixed coordinates and speeds."""
    for k in range(2, order + 1):
        off, A = array.at(state, k)
        if not (np.isfinite(off).all() and np.isfinite(A).all()):
            return state
        own, first = slice(len(array.labels(k - 1)), None), array.size(k - 1)
        change = lstsq(A[own, array.n + first :], -off[own], what="the state that holds the programs")
        x = state.x.copy()
        x[first : array.size(k)] += change
        state = replace(state, x=x)
    return state


def _eased(array: DerivativeArray, state: Jet, order: int) -> tuple[Hold, Jet] | None:
    """Return the same by a homotopy from programs at rest to the prescribed ones, as fast programs may mislead Newton's method;
    None where the homotopy fails.
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


def _nearest(hold: Hold, state: Jet, pace: float = 1.0) -> NewtonResult[Jet]:
    array = hold.array
    functions: NonlinearSystem[Jet] = NonlinearSystem(
        lambda x: hold.balanced(x, pace)[0],
        lambda x: hold.balanced(x, pace)[1],
        lambda x, change: array.moved(x, change * hold.columns),
        longest=np.inf,
    )
    return nearest_zero(state, functions)


def _check(array: DerivativeArray, state: Jet, order: int) -> None:
    """Raise for equations that are dependent everywhere, as a random jet beside *state* shows, not at *state* alone."""
    sizes = np.maximum(1.0, _sizes(array, state, order))
    beside = array.moved(state, BESIDE * sizes * np.random.default_rng(0).uniform(-1.0, 1.0, len(sizes)))
    A = array.at(beside, order)[1]
    if not np.isfinite(A).all():
        return
    rows, columns = _weights(array, beside, order, 1.0)
    repeated = rank_structure(rows[:, None] * A * columns, 2 * array.n, array.n).repeated
    if not len(repeated):
        return
    involved = _involved(array, order, repeated)
    names = [p.name for p in array.system.programs if p.name in involved]
    if involved & set(array.system.v_names):
        raise ArgumentError(_no_influence(array, order, names))
    raise ArgumentError(_twice(array, state, order, involved))


def _twice(array: DerivativeArray, state: Jet, order: int, involved: set[str]) -> str:
    """Return the sentence on dependent programs and constraints."""
    off: dict[tuple[str, int], float] = {}
    for later in (0.0, BESIDE, 2 * BESIDE):  # residuals may vanish at the start alone
        state = replace(state, t=state.t + later)
        near = _tried(array, state, order)[1]
        named_off = zip(array.labels(order), array.at(near, order)[0], strict=True)
        off = {label: x for label, x in named_off if label[0] in involved}
        if max(map(abs, off.values())) > tolerances.STATE_TOLERANCE * (1.0 + float(np.abs(near.x).max())):
            break
    where = f"Model '{array.system.name}': {' and '.join(repr(n) for n in array.names if n in involved)}"
    if max(map(abs, off.values())) <= tolerances.STATE_TOLERANCE * (1.0 + float(np.abs(near.x).max())):
        return f"{where} say the same of the motion; leave out one of the programs."
    far = [(name + "'" * times, x) for (name, times), x in off.items() if abs(x) > tolerances.STATE_TOLERANCE]
    missed = ", ".join(f"'{name}' by {x:.3g}" for name, x in far)
    return f"{where} contradict each other: at t = {state.t:g} s the nearest motion misses {missed}. Leave out one of them."


def _no_influence(array: DerivativeArray, order: int, names: Sequence[str]) -> str:
    """Return the sentence on programs out of reach of the actuators."""
    undriven = {name for name, k, _ in array.equations if k == 2}
    acting = ", ".join(n for n in array.system.v_names if n not in undriven)
    programs = " and ".join(f"'{n}'" for n in names) or "any program"
    return (
        f"Model '{array.system.name}': no force on {acting} changes {programs} beside what else is asked for, at any order up to "
        f"{order}. Name other actuators."
    )


def _involved(array: DerivativeArray, order: int, repeated: FloatArray) -> set[str]:
    """Return the names of the programs and constraints in dependent combinations of equations."""
    shares = np.abs(repeated).max(axis=0) > tolerances.PARTICIPATION_TOLERANCE
    return {name for (name, _), shared in zip(array.labels(order), shares, strict=True) if shared}


def _among(array: DerivativeArray, order: int, repeated: FloatArray) -> str:
    """Return the names of the programs in dependent combinations of equations, in words."""
    names = _involved(array, order, repeated)
    return " and ".join(f"'{p.name}'" for p in array.system.programs if p.name in names) or "they"


def _missed(array: DerivativeArray, hold: Hold, state: Jet) -> str:
    """Return the sentence on programs without a consistent jet."""
    off = array.at(state, hold.order)[0]
    worst = int(np.abs(np.where(np.isfinite(off), hold.rows * off, np.inf)).argmax())
    name, times = array.labels(hold.order)[worst]
    if name in {p.name for p in array.system.programs}:
        what = derivative_text("program", name, times)
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
