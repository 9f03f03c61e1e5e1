"""Consistent initialisation of a motion under programs by the least change of its state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, Mask
from kineta.codegen.compiled_functions import CompiledFunctions
from kineta.codegen.llvm import NativeFunction
from kineta.errors import SimulationError
from kineta.expr.graph import Ref
from kineta.expr.program import program
from kineta.mechanics.constraints import projection
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.programs import dynamics
from kineta.mechanics.programs.dynamics import beyond_reach
from kineta.model.motion_program import LEAST
from kineta.model.system import System
from kineta.numerics.linear_algebra import eigh, lstsq, norm, null_space, pinv, svdvals
from kineta.numerics.newton import damped_newton
from kineta.numerics.weighted_least_change import inverse_root, least_change
from kineta.records import dataclass

#: Name of the computation in error messages.
START = "the start"
#: Largest number of steps towards the nearest solution.
NEAREST_STEPS = 50
#: Number of neighbouring states, and their distance: of rotations, and of other states relative to their size and 1.
NEIGHBOURS, NEIGHBOUR_DISTANCE = 3, 0.1
#: Tried parts of a step towards the nearest solution.
STEP_PARTS = (1.0, 0.5, 0.25, 0.1, 0.01)
#: Number of random directions in a test for a change of sign.
SIGN_SAMPLES = 8
#: Relative deviation from half of the previous change within which a root counts as double.
DOUBLE_ROOT_TOLERANCE = 0.05


@dataclass(frozen=True)
class StartFunctions:
    """Compiled functions of t, q, the speeds with their derivatives below the highest, and p, for the initialisation.

    ideal : names of the constraints beside the programs; actuated : indices of the actuated speeds, empty without actuators
    """

    order: int
    ideal: frozenset[str]
    actuated: tuple[int, ...]
    notes: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    labels: tuple[tuple[str, ...], ...]
    uncontrolled: tuple[NativeFunction, ...]
    rows: tuple[NativeFunction, ...]
    mass_matrix: NativeFunction
    retract: NativeFunction
    regularity: NativeFunction
    gradient_answers: NativeFunction


def compile_start(d: Derivation) -> StartFunctions:
    """Initialisation functions of the derivation *d* of a system under programs."""
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
    functions: dict[str, Sequence[Ref]] = {f"natural_{k}": dynamics.uncontrolled(d, k) for k in range(2, order)}
    labels = []
    for k in range(order):
        kept = [row for row in rows if row.order <= k]
        labels.append(tuple(row.labels[k - row.order] for row in kept))
        gradients = [x for row in kept for x in row.dense(n)]
        functions[f"rows_{k}"] = [*(row.levels[k - row.order] for row in kept), *gradients]
    functions |= {name: d[name].refs for name in ("mass_matrix", "regularity", "gradient_response")}
    change = [g.symbol(f"change of {name}") for name in s.names]
    inputs["change"] = change
    functions["moved"] = projection.retraction(d, change)
    made = CompiledFunctions(program(g, inputs, {n: ((len(x),), x)}, n) for n, x in functions.items())
    names = tuple(tuple(g.name(x) or "" for x in row) for row in levels)
    actuators = dict(s.system.control.actuators)
    return StartFunctions(
        order,
        frozenset(row.constraint for row in d.programs.ideal),
        tuple(k for k, name in enumerate(s.system.v_names) if name in actuators),
        tuple(_program_notes(d)),
        names,
        tuple(labels),
        tuple(made[f"natural_{k}"] for k in range(2, order)),
        tuple(made[f"rows_{k}"] for k in range(order)),
        made["mass_matrix"],
        made["moved"],
        made["regularity"],
        made["gradient_response"],
    )


def _program_notes(d: Derivation) -> Iterator[str]:
    """Sentences on the orders of the programs and of the equations."""
    own, law = d.programs, d.symbols.system.control.law
    for row, linear in zip(own.rows, own.linear, strict=True):
        kind = f", {'linear' if linear else 'nonlinear'} in its highest derivatives" if row.order > 1 else ""
        yield f"program '{row.constraint}': order {row.order}{kind}"
    yield f"equations of order {own.s}" + (
        f", law {law}" if own.r or law == LEAST else ", where the laws of control coincide"
    )


@dataclass
class Initialisation:
    """State under initialisation: the variables of all orders below that of the equations."""

    start: StartFunctions
    t: float
    q: FloatArray
    levels: FloatArray
    p: FloatArray

    def value(self, function: NativeFunction, change: FloatArray | None = None) -> FloatArray:
        """Value of a *function* at the state."""
        moved = np.zeros(self.levels.shape[1]) if change is None else change
        return function(np.array([self.t]), self.q, self.levels.ravel(), self.p, moved)

    @property
    def size(self) -> float:
        """Scale of the residuals."""
        return max(1.0, float(np.abs(self.q).max(initial=0)), float(np.abs(self.levels).max(initial=0)))

    def rows(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Residuals of the variables of order *k*, and their gradients."""
        m, found = len(self.start.labels[k]), self.value(self.start.rows[k])
        return found[:m], found[m:].reshape(m, self.levels.shape[1])

    def regularity(self) -> tuple[FloatArray, FloatArray]:
        """Gradients of the programs and their input distribution, (programs, nv) each."""
        B, Z = self.value(self.start.regularity).reshape(2, -1, self.levels.shape[1])
        return B, Z

    def scales(self, k: int) -> FloatArray:
        """Scales of the rows of order *k*."""
        return self._largest(lambda state: state.rows(k)[1])

    def gradients(self) -> FloatArray:
        """Gradients of the programs by their highest derivatives, (programs, nv)."""
        return self.regularity()[0]

    def controllable_part(self) -> FloatArray:
        """Controllable part of the gradient of each program, (programs, 1); zero for a program implied by constraints."""
        B, Z = self.regularity()
        squares = (B * B).sum(axis=1)
        found = np.divide((B * Z).sum(axis=1), squares, out=np.zeros(len(B)), where=squares > 0)
        return np.asarray(found[:, None])

    def vanishing(self, gradients: Callable[[Initialisation], FloatArray]) -> Mask:
        """True for *gradients* that vanish here and not in neighbouring states."""
        return np.asarray(
            ~(np.abs(gradients(self)).max(axis=1) > tolerances.ROUNDING_TOLERANCE * self._largest(gradients))
        )

    def semidefinite(self, k: int, i: int) -> bool:
        """True where the row number *i* of order *k* has one sign for all values of the variables of this order."""
        chances = map(np.random.default_rng, range(SIGN_SAMPLES))
        levels = (
            self.levels[k - 1] + chance.uniform(-NEIGHBOUR_DISTANCE, NEIGHBOUR_DISTANCE, self.levels.shape[1])
            for chance in chances
        )
        values = []
        for own in levels:
            beside = self.levels.copy()
            beside[k - 1] = own
            values.append(replace(self, levels=beside).rows(k)[0][i])
        return bool(min(values) > 0 or max(values) < 0)

    def _largest(self, gradients: Callable[[Initialisation], FloatArray]) -> FloatArray:
        """Largest entries of *gradients* (m, nv) over this state and neighbouring ones, (m,)."""
        states = [self, *(self._neighbour(chance) for chance in map(np.random.default_rng, range(NEIGHBOURS)))]
        sizes = np.array([np.abs(gradients(state)).max(axis=1, initial=0.0) for state in states])
        largest = np.where(np.isfinite(sizes), sizes, 0.0).max(axis=0)
        return np.where(largest > 0, largest, 1.0)

    def _neighbour(self, chance: np.random.Generator) -> Initialisation:
        """Random neighbouring state."""
        q = self.value(
            self.start.retract,
            np.asarray(chance.uniform(-NEIGHBOUR_DISTANCE, NEIGHBOUR_DISTANCE, self.levels.shape[1])),
        )
        levels = self.levels + chance.uniform(-NEIGHBOUR_DISTANCE, NEIGHBOUR_DISTANCE, self.levels.shape) * (
            1.0 + np.abs(self.levels)
        )
        return replace(self, q=q, levels=levels)

    def violations(self, k: int) -> FloatArray:
        """Violations of the rows of order *k*, as changes of the variables; infinite where undefined."""
        off = np.abs(self.rows(k)[0]) / self.scales(k)
        return np.where(np.isfinite(off), off, np.inf)

    def correct(self, k: int, own: Sequence[int]) -> None:
        """Correct the variables of order *k* by the least change of the ones number *own* to satisfy their rows. Coordinates
        and speeds are the user's: only violations of the order of printed digits are corrected.

        At a double root Newton steps halve: then the double step is taken.
        """
        farthest = tolerances.PRINTED_TOLERANCE * self.size if k < 2 else np.inf
        if self.violations(k).max(initial=0.0) > farthest or not own:
            return
        scales, W, given = self.scales(k), self._directions(k, own), self.levels[k - 1].copy()
        self._newton(k, W, scales)
        if k > 1 and self.violations(k).max(initial=0.0) <= tolerances.STATE_TOLERANCE * self.size:
            self._minimise_change(k, W, scales, given)

    def _newton(self, k: int, W: FloatArray, scales: FloatArray) -> None:
        """Newton's method with changes W y."""
        last = np.zeros(len(W))

        def step(at: Initialisation, off: FloatArray) -> FloatArray | None:
            nonlocal last
            A = at.rows(k)[1] / scales[:, None]
            if not (
                np.isfinite(A).all() and np.abs(off / scales).max(initial=0.0) > tolerances.RESIDUAL_TOLERANCE * at.size
            ):
                return None
            change = least_change(A, W, off / scales)
            double = np.abs(change - last / 2).max() < DOUBLE_ROOT_TOLERANCE * np.abs(last).max()
            last = 2 * change if double else change
            return last

        found, _ = damped_newton(self, lambda at: at.rows(k)[0], step, lambda at, x: at.moved(k, x), weight=1 / scales)
        self.q, self.levels = found.q, found.levels

    def moved(self, k: int, change: FloatArray) -> Initialisation:
        """State after a *change* of the variables of order *k*."""
        if not k:
            return replace(self, q=self.value(self.start.retract, change))
        levels = self.levels.copy()
        levels[k - 1] += change
        return replace(self, levels=levels)

    def _minimise_change(self, k: int, W: FloatArray, scales: FloatArray, given: FloatArray) -> None:
        """Bring consistent variables of order *k* nearer to the values *given*, along the solution manifold."""
        root = pinv(W, what=START)
        for _ in range(NEAREST_STEPS):
            y, slopes = root @ (self.levels[k - 1] - given), self.rows(k)[1] / scales[:, None] @ W
            along = y - lstsq(slopes, slopes @ y, what=START)
            if norm(along) <= tolerances.RANK_TOLERANCE * norm(y):
                return
            for part in STEP_PARTS:
                tried = self.moved(k, -part * (W @ along))
                tried._newton(k, W, scales)
                met = tried.violations(k).max(initial=0.0) <= tolerances.STATE_TOLERANCE * tried.size
                if met and norm(root @ (tried.levels[k - 1] - given)) < (1 - tolerances.RANK_TOLERANCE) * norm(y):
                    self.levels = tried.levels
                    break
            else:
                return

    def _directions(self, k: int, own: Sequence[int]) -> FloatArray:
        """Directions of change of the variables number *own* of order *k*, (nv, m), orthonormal in kinetic energy; for forces,
        within the reach of actuators and constraints.
        """
        n = self.levels.shape[1]
        if k > 1 and self.start.actuated:
            ways = self._input_distribution()
            return np.asarray(ways @ null_space(ways[[i for i in range(n) if i not in own]], what=START))
        M = self.value(self.start.mass_matrix).reshape(n, n)
        W = np.zeros((n, len(own)))
        W[own] = inverse_root(M[np.ix_(own, own)])
        return W

    def complete(self, k: int, own: Sequence[int]) -> None:
        """Set the variables number *own* of order *k* to the change of least kinetic energy by actuator forces that gives the
        other variables their values; no change where no forces do.
        """
        others = [i for i in range(self.levels.shape[1]) if i not in own]
        if k < 2 or not (self.start.actuated and others and own):
            return
        natural, ways = self.value(self.start.uncontrolled[k - 2]), self._input_distribution()
        asked = np.vstack([ways[others], self._constraint_gradients() @ ways])
        goal = np.append((self.levels[k - 1] - natural)[others], np.zeros(len(asked) - len(others)))
        shares = lstsq(asked, goal, what=START)
        if np.abs(asked @ shares - goal).max() <= tolerances.STATE_TOLERANCE * max(1.0, float(np.abs(goal).max())):
            self.levels[k - 1, own] = (natural + ways @ shares)[own]

    def _input_distribution(self) -> FloatArray:
        """Changes by actuator and constraint forces, (nv, m), orthonormal in kinetic energy."""
        n, pushes = self.levels.shape[1], self.input_directions()
        answers = lstsq(self.value(self.start.mass_matrix).reshape(n, n), pushes, what=START)
        sizes, turns = eigh(pushes.T @ answers, what=START)
        kept = sizes > tolerances.RANK_TOLERANCE * sizes.max()
        return np.asarray(answers @ turns[:, kept] / np.sqrt(sizes[kept]))

    def _constraint_gradients(self) -> FloatArray:
        """Gradients of the constraints, (m, nv)."""
        labels = zip(self.rows(2)[1], self.start.labels[2], strict=True)
        ideal = [A for A, label in labels if label.rstrip("'") in self.start.ideal]
        return np.array(ideal).reshape(len(ideal), self.levels.shape[1])

    def input_directions(self) -> FloatArray:
        """Unit forces of actuators and of constraints on the speeds, (nv, m)."""
        return np.vstack([np.eye(self.levels.shape[1])[list(self.start.actuated)], self._constraint_gradients()]).T

    def influential_variables(self, k: int, gradient: Callable[[Initialisation], FloatArray]) -> list[str]:
        """Names of the variables of orders up to *k* whose perturbation makes a vanishing *gradient* nonzero."""
        found = []
        for order in range(k + 1):
            names = self.start.names[order] if order or len(self.q) == len(self.start.names[1]) else ()
            for i, speed in enumerate(self.start.names[1]):
                change = np.zeros(self.levels.shape[1])
                change[i] = NEIGHBOUR_DISTANCE * (1.0 + abs(self.levels[order - 1, i]) if order else 1.0)
                name = names[i] if names else f"the position along {speed}"
                found += [name] * bool(np.abs(gradient(self.moved(order, change))).max() > tolerances.RANK_TOLERANCE)
        return found


def initialise(
    system: System,
    start: StartFunctions,
    t: float,
    q: FloatArray,
    v: FloatArray,
    p: FloatArray,
    given: Mapping[str, float],
) -> tuple[FloatArray, FloatArray, FloatArray, tuple[str, ...]]:
    """Consistent coordinates, speeds and derivatives of speeds at the start of *system*, order by order, and notes for the
    result. Raises :class:`SimulationError` for a start that violates its programs or cannot control them.
    """
    found = Initialisation(start, t, q.copy(), np.zeros((start.order - 1, len(v))), p)
    found.levels[0] = v
    notes, natural_ones, moved = list(start.notes), list[str](), list[str]()
    for k, names in enumerate(start.names):
        own = [i for i, name in enumerate(names) if name not in given] if k > 1 else list(range(len(v)))
        if k > 1:
            natural = found.value(start.uncontrolled[k - 2])
            found.levels[k - 1] = [given.get(name, x) for name, x in zip(names, natural, strict=True)]
        found.complete(k, own)
        before = found.levels[k - 1].copy() if k else found.q
        found.correct(k, own)
        change = float(np.abs((found.levels[k - 1] if k else found.q) - before).max(initial=0.0))
        if own and k > 1:
            natural_ones += [names[i] for i in own]
            moved += [f"{', '.join(names[i] for i in own)} by up to {change:.3g}"] * bool(change)
        elif change:
            notes.append(f"the start missed programs, and {', '.join(names)} were moved by up to {change:.1e}")
        if found.violations(k).max(initial=0.0) > tolerances.STATE_TOLERANCE * found.size:
            raise SimulationError(_violation_text(system, found, k, [names[i] for i in own]))
    _check_controllability(system, found)
    _check_actuated_forces(system, found)
    if natural_ones:
        by = f", moved to meet programs: {', '.join(moved)}" if moved else ""
        notes.append(f"start: {', '.join(natural_ones)} as in a motion without control{by}")
    return found.q, found.levels[0], found.levels[1:].ravel(), tuple(notes)


def _check_controllability(system: System, found: Initialisation) -> None:
    """Raise where the gradient of a program vanishes at the start, is out of reach of the actuators, or depends on others."""
    names = [program.name for program in system.programs]
    _check_gradients(system, found, Initialisation.gradients, "vanishes at the start, where nothing holds it")
    if own := list(found.start.actuated):
        reach = np.abs(found.value(found.start.gradient_answers).reshape(len(names), -1))
        for name, row in zip(names, reach, strict=True):
            if not row[own].max() > tolerances.ROUNDING_TOLERANCE * row.max():
                raise SimulationError(f"Model '{system.name}': {beyond_reach(system, name)}")
    _check_gradients(system, found, Initialisation.controllable_part, "is at the start one of what constraints hold")
    B, Z = found.regularity()
    S = B @ Z.T
    sizes = np.sqrt(np.abs(np.diagonal(S)))
    if (
        not svdvals(S / np.outer(sizes, sizes), what="what the actuators do to the programs")[-1]
        > tolerances.RANK_TOLERANCE
    ):
        raise SimulationError(
            f"Model '{system.name}': the programs {', '.join(names)} ask for the same at the start, or the actuators cannot hold "
            "all of them there; leave one out, name other actuators, or start beside it."
        )


def _check_actuated_forces(system: System, found: Initialisation) -> None:
    """Raise where the accelerations of the start require forces on unactuated speeds."""
    names, driven = found.start.names, found.start.actuated
    if len(names) < 3 or not driven:
        return
    n, ways = found.levels.shape[1], found.input_directions()
    force = found.value(found.start.mass_matrix).reshape(n, n) @ (
        found.levels[1] - found.value(found.start.uncontrolled[0])
    )
    left = force - ways @ lstsq(ways, force, what="the forces of the start")
    worst = int(np.abs(left).argmax())
    if abs(left[worst]) > tolerances.STATE_TOLERANCE * max(1.0, float(np.abs(force).max())):
        raise SimulationError(
            f"Model '{system.name}': the start asks for a force of {left[worst]:.3g} on {names[1][worst]}, and no actuator acts "
            f"there; give values of {', '.join(names[2])} that forces on {', '.join(names[1][k] for k in driven)} bring about."
        )


def _check_gradients(
    system: System, found: Initialisation, gradients: Callable[[Initialisation], FloatArray], why: str
) -> None:
    """Raise where one of the *gradients* of programs vanishes at the start, for the reason *why*."""
    for i in np.flatnonzero(found.vanishing(gradients)).tolist():
        name = system.programs[i].name
        what = f"Model '{system.name}': the gradient of the program '{name}' {why}"
        raise SimulationError(f"{what}; {_advice(found, gradients, i, name)}.")


def _violation_text(system: System, found: Initialisation, k: int, own: Sequence[str]) -> str:
    """Sentence on a start that violates rows of order *k*, whose free variables are *own*."""
    (off, A), names, labels = found.rows(k), found.start.names[k], found.start.labels[k]
    i = int(found.violations(k).argmax())
    name = labels[i].rstrip("'")
    kind = "program" if name in {own.name for own in system.programs} else "constraint"
    what = derivative_text(kind, name, len(labels[i]) - len(name))
    where = f"Model '{system.name}': the start misses {what}: it is {off[i]:.3g} at t = {found.t:g} s, and has to be 0."
    if not np.abs(A[i]).max() > tolerances.ROUNDING_TOLERANCE * found.scales(k)[i]:
        return (
            f"{where} Nothing changes it there, its gradient vanishes; "
            f"start with {_influential_text(found, k, lambda state: state.rows(k)[1][i])}."
        )
    if k < 2:
        return f"{where} Give initial values that meet it."
    if (
        own
        and not np.abs(A[i][[names.index(one) for one in own]]).max()
        > tolerances.ROUNDING_TOLERANCE * found.scales(k)[i]
    ):
        return f"{where} Nothing that is left to be found changes it there, {', '.join(own)}; give other values."
    if len(own) < len(names):
        return f"{where} Leave some of {', '.join(names)} to be found, or give others."
    return f"{where} No {', '.join(own)} near those of a motion without control meet it; give some that do, or another state."


def _advice(found: Initialisation, gradients: Callable[[Initialisation], FloatArray], i: int, name: str) -> str:
    """Advice on the vanishing gradient number *i*, of the program *name*."""
    k = len(found.start.names) - 1
    if name in found.start.labels[k] and found.semidefinite(k, found.start.labels[k].index(name)):
        return "it is zero only where nothing changes it; ask for components, as in a(B).x = 0 and a(B).y = 0"
    return f"start with {_influential_text(found, k, lambda state: gradients(state)[i])}"


def _influential_text(found: Initialisation, k: int, gradient: Callable[[Initialisation], FloatArray]) -> str:
    """Variables whose other values make a *gradient* nonzero, in words."""
    names = found.influential_variables(k, gradient)
    return f"another value of {' or '.join(names)}" if names else "other values of several variables"


def derivative_text(kind: str, name: str, times: int) -> str:
    """Derivative number *times* of a program or constraint, in words."""
    ordinal = dict(enumerate(("", "first ", "second ", "third "))).get(times, f"{times}th ")
    return f"the {f'{ordinal}derivative of the ' if times else ''}{kind} '{name}'"
