"""The linearisation of a motion through its events: variations along its pieces, with their jumps at changes of mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.equations.equations import Equations
from kineta.errors import SimulationError, excerpt
from kineta.integration.contact_records import CLOSED, FLAGS, STUCK
from kineta.integration.error_control import StepControl
from kineta.numerics.roots import PARTS, root, sign_change
from kineta.numerics.tableaux import TABLEAUX
from kineta.records import dataclass
from kineta.results.outcomes import EVENT, check_complete
from kineta.runtime import run_arguments
from kineta.runtime.events import Event
from kineta.runtime.recorder import bytes_per_step
from kineta.simulation.progress import Progress
from kineta.simulation.run import gauss_legendre
from kineta.simulation.simulate import simulation_problem, solve
from kineta.simulation.slide_log import BEGINS
from kineta.simulation.solution import Solution
from kineta.tasks.sensitivity.mode_equations import GAP, RATE, SLIP, WATCHED
from kineta.tasks.sensitivity.mode_tangent import ModeTangent
from kineta.tasks.sensitivity.propagation import Accuracy, propagated, states
from kineta.tasks.sensitivity.recorded_motion import MotionPiece, pieces
from kineta.tasks.sensitivity.saltation import End, Guard, Saltation, end_of, gap_rates
from kineta.tasks.sensitivity.simultaneous_steps import behind_steps

#: Places that may touch of which equations of variations are derived: a box on another has 84.
MOST_PLACES = 64

#: Largest distance in time from a kink, relative to the time, at which its sides are looked at, in the step that passes it;
#: changes over it that jump, in rates.
BESIDE, JUMPS = tolerances.STATE_TOLERANCE, 100.0
#: Changes that a note lists.
LISTED = 6


@dataclass(frozen=True)
class Variations:
    """Variations X (n + m, columns) of state and symbols at the time t, of the state y in a piece of a motion."""

    t: float
    y: FloatArray
    piece: MotionPiece
    X: FloatArray


@dataclass(frozen=True)
class PassedKink:
    """Kinks and steps between the times a and b, their places among the watched values, and the times on their *sides* at which
    the equations are looked at: those of the step that passes them.
    """

    a: float
    b: float
    places: tuple[int, ...]
    sides: tuple[float, float]


@dataclass(frozen=True)
class LinearisedMotion:
    """A motion of the ``tangent``'s equations over its ``pieces``, to be varied; ``solution`` is its record, ``passed`` are times
    at which forces, rates of states or integrands step that variations have passed, and what does.
    """

    tangent: ModeTangent
    pieces: tuple[MotionPiece, ...]
    solution: Solution
    accuracy: Accuracy
    passed: list[tuple[float, str]] = field(default_factory=list, compare=False, repr=False)

    @property
    def stopped(self) -> bool:
        """Whether an event has ended the motion."""
        return int(self.solution.status[0]) == EVENT

    @property
    def end(self) -> MotionPiece:
        """The last piece."""
        return self.pieces[-1]

    def held(self) -> list[tuple[str, FloatArray]]:
        """Return what is zero at the start since it is closed or sticks: in words, and its derivatives (n_z,)."""
        first, found = self.pieces[0], list[tuple[str, FloatArray]]()
        if not first.mode.flags.any():
            return found
        at = end_of(self.tangent, first.mode, float(first.t[0]), first.y[0])
        for c, contact in enumerate(self.tangent.functions.contacts):
            flags, own = at.mode.flags[FLAGS * c : FLAGS * (c + 1)], WATCHED * c
            places = [(GAP, "touches"), (RATE, "touches")] * bool(flags[CLOSED])
            places += [(SLIP, "sticks"), (SLIP + 1, "sticks")] * bool(flags[STUCK])
            found += [(f"'{contact.name}' {what}", at.slopes[own + place]) for place, what in places]
        return found

    def check_start(self, X: FloatArray) -> None:
        """Raise :class:`SimulationError` for variations *X* of the start that what is closed or sticks does not allow."""
        for what, slopes in self.held():
            moved = np.abs(self.tangent.by_state(slopes, X)).max(initial=0.0)
            if moved > tolerances.STATE_TOLERANCE * np.abs(slopes).max(initial=0.0) * np.abs(X).max(initial=0.0):
                raise SimulationError(
                    f"{what} at the start, and what varies would part, press in or move it there: there is no derivative. Vary "
                    "what leaves the start at the contact, or begin a little before it touches"
                )

    def _saltation(self) -> Saltation:
        contacts = len(self.tangent.functions.contacts)
        return Saltation(self.tangent, [w.name for w in self.tangent.equations.system.switches], {}, np.zeros(contacts))

    def through(self, X: FloatArray, until: int) -> tuple[FloatArray, Saltation]:
        """Return the variations at the end of the pieces before the number *until*, which are *X* at the start, and the changes
        so far. Raises :class:`SimulationError` where a change has no derivative.
        """
        salt = self._saltation()
        for k, piece in enumerate(self.pieces[:until]):
            if k:
                X = salt.behind(self.pieces[k - 1], piece, X)
            for _, moved in self._piece(piece, X, np.empty(0), salt):
                X = moved
        return X, salt

    def along(self, X: FloatArray, t: FloatArray | None) -> Iterator[Variations]:
        """Yield the variations at the times *t* (k,), or at the ends of all steps, which are *X* at the start.

        Raises :class:`SimulationError` where a change has no derivative.
        """
        first = self.pieces[0]
        salt = self._saltation()
        start = float(first.t[0])
        if t is None or (len(t) and t[0] == start):
            yield Variations(start, first.y[0], first, X)
        for k, piece in enumerate(self.pieces):
            if k:
                X = salt.behind(self.pieces[k - 1], piece, X)
            for at, moved in self._piece(piece, X, t, salt):
                X = moved
                wanted = at in piece.t[1:] if t is None else at in t
                if wanted and at != start:
                    (y,) = states(piece, np.array([at]))
                    yield Variations(at, y, piece, X)

    def _piece(
        self, piece: MotionPiece, X: FloatArray, t: FloatArray | None, salt: Saltation
    ) -> Iterator[tuple[float, FloatArray]]:
        """Times in a *piece* behind its start, with the variations there."""
        ends = np.unique(piece.t)
        if len(ends) < 2:
            return
        inside = np.empty(0) if t is None else t[(t > ends[0]) & (t < ends[-1])]
        nodes = np.unique(np.concatenate([ends, inside]))
        rows = self._watched(piece, piece.t)
        salt.speeds = np.maximum(salt.speeds, gap_rates(self.tangent, rows))
        start = nodes[0]
        for kink in self._kinks(piece, ends):
            a, b = kink.a, kink.b
            ahead = np.array([start, *nodes[(nodes > start) & (nodes < a)], a])
            for at, moved in propagated(self.tangent, piece, ahead, X, self.accuracy):
                X = moved
                yield at, X
            for at in nodes[(nodes > a) & (nodes <= b)].tolist():
                yield at, X
            X = self._bent(piece, kink.sides, kink.places, X, salt)
            start = b
        if start < nodes[-1]:
            yield from propagated(self.tangent, piece, np.array([start, *nodes[nodes > start]]), X, self.accuracy)

    def _watched(self, piece: MotionPiece, t: FloatArray) -> FloatArray:
        """Watched values (k, w) at the times *t* (k,) of a *piece*."""
        if not self.tangent.functions.n_watched:
            return np.empty((len(t), 0))
        y = states(piece, t)
        return self.tangent.watched(piece.mode, t, y, self.tangent.rates(piece.mode, t, y))[0]

    def _kinks(self, piece: MotionPiece, ends: FloatArray) -> list[PassedKink]:
        """Kinks and steps of the equations in a *piece* whose steps have these *ends*."""
        F = self.tangent.functions
        if not F.kinks:
            return []
        times = np.append((ends[:-1, None] + np.diff(ends)[:, None] * np.array(PARTS[:-1])).ravel(), ends[-1])
        values = self._watched(piece, times)[:, F.first_kink :]
        found = list[PassedKink]()
        above = values >= 0
        for k, i in zip(*np.nonzero(above[1:] != above[:-1]), strict=True):
            place = F.first_kink + int(i)

            def value(t: float, place: int = place) -> float:
                return float(self._watched(piece, np.array([t]))[0, place])

            a, b = float(times[k]), float(times[k + 1])
            fa, fb = float(values[k, i]), float(values[k + 1, i])
            near = min(tolerances.EVENT_TOLERANCE * max(1.0, abs(b)), 0.125 * (b - a))
            b = (
                root(value, a, b, fa, fb, near)
                if fa and fb
                else sign_change(value, *((a, b, fa) if fa else (b, a, fb)), near)
            )
            first, last = ends[k // (len(PARTS) - 1)], ends[k // (len(PARTS) - 1) + 1]
            a, beside = max(b - near, first), BESIDE * max(1.0, abs(b))
            if ends[0] < a and b < ends[-1]:
                sides = max(a - beside, first), min(b + beside, last)
                found.append(PassedKink(a, b, (place,), (float(sides[0]), float(sides[1]))))
        found.sort(key=lambda kink: kink.a)
        together = list[PassedKink]()
        for kink in found:
            if together and kink.a <= together[-1].sides[1]:
                before = together.pop()
                sides = before.sides[0], max(before.sides[1], kink.sides[1])
                kink = PassedKink(before.a, kink.b, (*before.places, *kink.places), sides)
            together.append(kink)
        return together

    def _bent(
        self,
        piece: MotionPiece,
        sides: tuple[float, float],
        bent: Sequence[int],
        X: FloatArray,
        salt: Saltation,
    ) -> FloatArray:
        """Variations behind kinks and steps between two times, the *sides*, which are *X* ahead of them."""
        b = sides[1]
        old, new = (
            end_of(self.tangent, piece.mode, at, row)
            for at, row in zip(sides, states(piece, np.array(sides)), strict=True)
        )
        size = float(np.abs([old.f, new.f]).max(initial=1.0))
        still = np.abs(new.f - old.f).max(initial=0.0) <= tolerances.WRITTEN_TOLERANCE * size
        F = self.tangent.functions
        passed = [k for k in bent if self._passes(old, new, k)]
        leaping = [k for k in passed if F.leaping[k - F.first_kink]]
        if still and len(leaping) < 2:
            return X
        if not passed:
            raise SimulationError(
                f"at t = {b:.6g} s {self._stepping(old, new)} steps, and nothing tells when, so that there is no derivative"
            )
        places = leaping or passed
        delays = salt.delays_of(old, [Guard("a step", old.slopes[k]) for k in places], X)
        if len(delays) > 1:
            X = behind_steps(self.tangent, old, new, delays, places, X)
            self.passed.append((b, "several forces or rates step"))
        elif not still:
            X = X.copy()
            X[: self.tangent.states] += np.outer(old.f - new.f, delays[0].change)
            self.passed.append((b, f"{self._stepping(old, new)} steps"))
        return X

    def _stepping(self, old: End, new: End) -> str:
        """What steps between two ends: a force, else the rate of a first-order state, else what is integrated."""
        F, system = self.tangent.functions, self.tangent.equations.system
        least = tolerances.WRITTEN_TOLERANCE * float(np.abs([old.f, new.f]).max(initial=1.0))
        moved = np.abs(new.f - old.f) > least
        if moved[F.nq : F.nq + F.nv].any():
            return "a force"
        states = [name for name, own in zip(system.q_names, moved[: F.nq], strict=True) if own]
        return f"the rate of '{states[0]}'" if states else "an integrand"

    def _passes(self, old: End, new: End, k: int) -> bool:
        """Whether the watched value *k* passes zero between two ends, and does not step itself."""
        rate = abs(float(self.tangent.in_time(old.slopes[k], old.f)))
        return rate > 0 and abs(float(new.values[k] - old.values[k])) <= JUMPS * rate * BESIDE * max(1.0, abs(new.t))

    @property
    def meets(self) -> bool:
        """Whether something changes, or acts from the start, or a force may step."""
        return (
            bool(self.solution.changes[0])
            or any(p.mode.flags.any() for p in self.pieces)
            or self.tangent.functions.steps
        )

    def integrals(self, t: FloatArray) -> FloatArray:
        """Return the integrals (k, goals) of the goals from the start to the times *t* (k,), rising."""
        found, total = np.zeros((len(t), self.tangent.functions.goals)), np.zeros(self.tangent.functions.goals)
        if not total.size:
            return found
        nodes, weights = gauss_legendre()
        for piece in self.pieces:
            ends = np.unique(np.concatenate([piece.t, t[(t > piece.t[0]) & (t <= piece.t[-1])]]))
            size = np.diff(ends)
            times = (ends[:-1, None] + size[:, None] * nodes).ravel()
            rates = self.tangent.rates(piece.mode, times, states(piece, times)).f[:, -total.size :]
            parts = np.einsum("kjn,j->kn", rates.reshape(len(size), len(nodes), -1), weights) * size[:, None]
            sums = total + np.cumsum(parts, axis=0)
            for k in np.flatnonzero((t > piece.t[0]) & (t <= piece.t[-1])):
                found[k] = sums[int(np.searchsorted(ends, t[k])) - 1]
            total = sums[-1] if len(sums) else total
        return found

    def shown(self, at: Variations) -> tuple[FloatArray, FloatArray]:
        """Return the values (s,) of the series shown, and their derivatives (s, columns)."""
        t, y = np.array([at.t]), at.y[None]
        rates = self.tangent.rates(at.piece.mode, t, y)
        values, slopes = self.tangent.shown_values(at.piece.mode, t, y, rates)
        return values[0], self.tangent.by_state(slopes[0], at.X)

    @property
    def changes(self) -> list[str]:
        """What changes along the motion, in order and in words."""
        until = float(self.end.t[-1])
        known = sorted([*self.solution.changes[0], *self.passed], key=lambda change: change[0])
        return [f"{what} at {t:.6g} s" for t, what in known if t <= until]

    @property
    def sequence(self) -> str:
        """The changes in words, the first ones of many; ``''`` for none."""
        said = self.changes
        return ", ".join(said[:LISTED]) + (f", and {len(said) - LISTED} more" if len(said) > LISTED else "")

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on the sequence of changes for which the derivatives hold."""
        count = len(self.changes)
        if not count:
            return ()
        these = "this change" if count == 1 else f"these {count} changes in this order"
        return (f"the derivatives hold for {these}: {self.sequence}",)


@dataclass(frozen=True)
class Limits:
    """The method of a run, its tolerances, and its most steps."""

    method: str = "dop853"
    rtol: float = 1e-9
    atol: float = 1e-12
    max_steps: int | None = None


def linearised_motion(
    equations: Equations,
    span: tuple[float, float],
    given: tuple[Any, Any, Any, Any],
    varied: Sequence[str],
    *,
    goals: Sequence[Expr] = (),
    shown: Sequence[Expr] = (),
    limits: Limits,
    events: Sequence[Event] = (),
) -> LinearisedMotion:
    """Return the motion of *equations* over the *span* from the state and parameters *given* (q, v, p, tau), to be varied by its
    state and the symbols *varied*.

    Raises :class:`SimulationError` where it does not reach its end, or slides along a surface where a rate jumps.
    """
    system = equations.system
    if (places := len({name for own in system.expanded.impacts.values() for name in own})) > MOST_PLACES:
        raise SimulationError(
            f"Model '{system.name}': sensitivities derive the equations with all {places} places that may touch, as those of"
            f" boxes on boxes; expected {MOST_PLACES} at most, since more do not end in minutes. Use balls, capsules, points on"
            " faces or compliant contact, or differences of runs."
        )
    kept = bytes_per_step(system.nq + system.nv, every=True, keep=True)
    problem = simulation_problem(
        equations,
        span,
        (*given, None),
        events,
        limits.method,
        StepControl(limits.rtol, limits.atol, np.inf, run_arguments.steps(limits.max_steps, kept)),
        dense_output=True,
        resolved=goals,
    )
    with Progress(*span, shown=False) as bar:
        solution = solve(problem, bar)
    check_complete(system.name, int(solution.status[0]), solution.messages[0])
    if slid := next((one for one in solution.changes[0] if one[1].startswith(BEGINS)), None):
        at, what = slid
        raise SimulationError(
            f"Model '{system.name}': at t = {at:.6g} s {what}, along which sensitivities do not go. End before it, take"
            " dry friction in place of a relay, or differences of runs."
        )
    own = (*varied, *(n for n in system.switched if n in system.parameter_names and n not in varied))
    tangent = ModeTangent(problem.equations, own, tuple(goals), tuple(shown))
    found = tuple(pieces(problem, solution))
    _check_modes(tangent, found)
    return LinearisedMotion(tangent, found, solution, Accuracy(TABLEAUX[limits.method], limits.rtol, limits.atol))


def _check_modes(tangent: ModeTangent, found: Sequence[MotionPiece]) -> None:
    """Raise :class:`SimulationError` where accelerations are not those of the equations of a fixed mode, as where contacts share
    forces and friction that nothing tells apart.
    """
    F = tangent.functions
    for piece in found:
        ends = [0, -1]
        t, y = piece.t[ends], piece.y[ends]
        known = piece.mode.code.rate.batch(t[:, None], y, piece.mode.h)[:, F.nq : F.nq + F.nv]
        own = tangent.rates(piece.mode, t, y).f[:, F.nq : F.nq + F.nv]
        if not np.abs(known - own).max(initial=0.0) <= tolerances.SOLUTION_DISTANCE * np.abs(known).max(initial=1.0):
            closed = piece.mode.flags[CLOSED::FLAGS]
            names = [f"'{c.name}'" for c, on in zip(F.contacts, closed, strict=False) if on and c.tangents]
            raise SimulationError(
                f"Model '{tangent.equations.system.name}': at t = {t[0]:.6g} s the contacts {excerpt(names)} share friction that "
                "nothing tells apart, so that the motion has no derivatives here. Fewer of them, or compliant ones (stiffness = "
                "..., damping = ...), have derivatives"
            )
