"""Shooting: a periodic motion as a zero of the change of the state over a period, or from section to section.

With the state z at the start, its independent variations S, and the monodromy matrix M along the motion, Newton's method solves::

    [ S^+ M S - 1   S^+ f ] [change of z]     [ S^+ (end - z) ]
    [ (S^+ f)^T     0     ] [change of T] = - [ 0             ]

The last row, the phase condition, and the last column are there where the period T is unknown; an initial value that stays, and
that time moves, is in the place of the row. The end of a motion from section to section is where it comes back to the section: M
has the change of the time in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.equations.equations import Equations
from kineta.errors import SimulationError
from kineta.expr.walk import reachable
from kineta.numerics.linear_algebra import lstsq, norm, null_space, pinv
from kineta.records import dataclass
from kineta.runtime.events import Event
from kineta.runtime.projection import normalise
from kineta.tasks.assemble import assemble
from kineta.tasks.periodic_motions.forced_period import ForcedPeriod, Sample, action, equal, samples
from kineta.tasks.sensitivity.initial_sensitivity import independent_variations
from kineta.tasks.sensitivity.linearised_motion import Limits, LinearisedMotion, linearised_motion
from kineta.tasks.sensitivity.saltation import Guard, end_of
from kineta.tasks.sensitivity.smooth_part import smooth_part

#: What errors call what is computed here.
WAY = "the way to the periodic motion"
#: Newton steps, and halvings of each.
STEPS, HALVINGS = 40, 8
#: Ratios to the largest singular value at which directions are left alone, as those of a family of periodic motions: of Newton's
#: own step, and of others that are tried where it is long.
CUTS = (1e-7, 1e-4, 1e-2)
#: Largest change of the period in a step, and of the state, as a fraction of it and of the size of the motion.
STRETCH = 0.3
#: Periods after which a motion is near a stable one.
SETTLING = 12
#: Time in which a section has to come again, in periods.
PATIENCE = 2.5
#: A shift of coordinates that is no period of anything: what depends on them differs.
SHIFT = 1.0
#: Finest part of a turn after which equations are looked at for being the same again, as those of a universal joint after half.
FINEST = 36
#: Numbers by which a turn is divided, one after the other.
PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31)


@dataclass(frozen=True)
class Orbit:
    """A state z (n,) at the start of a period ``T`` [s], with the parameters p."""

    z: FloatArray
    T: float
    p: FloatArray


@dataclass(frozen=True)
class Passage:
    """The motion over a period: its ``end`` (n,); the independent variations S (n, k) of the start; the map M (n, k + m) of these
    and of the parameters that vary; the rates at start and end (n,); the period T; ``fixed``, whether
    the section leaves one variation out: it does not depend on what may have moved on.
    """

    end: FloatArray
    S: FloatArray
    M: FloatArray
    f_start: FloatArray
    f_end: FloatArray
    T: float
    motion: LinearisedMotion
    fixed: bool

    @property
    def size(self) -> float:
        """The largest distance of a state from the start."""
        return _extent(self.motion, len(self.end))


@dataclass
class Shooting:
    """Periodic motions of *equations* from the time *t0* under the forces *tau*.

    section : an expression that rises through zero, or the name of a switch or of a contact that strikes; None for none
    drifts : places of coordinates that may have moved on after a period; ``turning`` those of them on which the equations depend
        with a period of a turn or a part of it [rad], by whole numbers of which they move on; kept : places of initial values
        that stay
    varied : names of parameters that vary; longest : time in which the section has to come, ``least`` the shortest period [s]
    phased : whether the phase condition holds although initial values stay
    law : the period of the forces, where the parameter that varies changes it
    """

    equations: Equations
    t0: float
    tau: FloatArray
    section: Expr | str | None
    drifts: Sequence[int]
    kept: Sequence[int]
    varied: tuple[str, ...]
    longest: float
    rtol: float
    atol: float
    least: float = 0.0
    phased: bool = False
    turning: Mapping[int, float] = field(default_factory=dict)
    law: ForcedPeriod | None = None
    runs: int = 0
    _known: dict[bytes, Passage] = field(default_factory=dict)

    @property
    def forced(self) -> bool:
        """Whether accelerations, rates of states, contacts or switches depend on the time."""
        return self.equations.memo("depends on time", lambda: _depends_on_time(self.equations))

    @property
    def timed(self) -> bool:
        """Whether the period is unknown, and no section tells it."""
        return self.section is None and not self.forced

    def own_multiplier(self, at: Orbit) -> float | None:
        """Return the known eigenvalue of :meth:`monodromy`: 1 along the motion, 0 off the section; None for none."""
        if self.timed:
            return 1.0
        return 0.0 if self.passage(at).fixed else None

    @property
    def free(self) -> list[int]:
        """Places of the coordinates that may have moved on by anything."""
        return [i for i in self.drifts if i not in self.turning]

    def passage(self, at: Orbit) -> Passage:
        """Return the motion over a period from *at*. Raises :class:`SimulationError` where there is none."""
        key = b"".join(np.asarray(x, dtype=np.float64).tobytes() for x in (at.z, at.T, at.p))
        if key not in self._known:
            self._known = {key: self._passage(at)}
            # What has come to the section once does so again about then.
            self.longest = min(self.longest, PATIENCE * self._known[key].T)
        return self._known[key]

    def _passage(self, at: Orbit) -> Passage:
        if self.least > at.T:
            raise SimulationError(f"the period falls below {self.least:g} s")
        self.runs += 1
        nq, section = self.equations.system.nq, self.section
        T, T_by_parameter = (at.T, 0.0) if self.law is None else self.law.at(float(at.p[self.law.place]))
        span = self.t0, self.t0 + (T if section is None else self.longest)
        events, shown = tuple[Event, ...](), tuple[Expr, ...]()
        if isinstance(section, Expr):
            events, shown = (Event(section, True, 1, "section"),), (section,)
        motion = linearised_motion(
            self.equations,
            span,
            (at.z[:nq], at.z[nq:], at.p, self.tau),
            self.varied,
            shown=shown,
            limits=Limits(rtol=self.rtol, atol=self.atol),
            events=events,
        )
        self._check_moves(motion, at)
        allowed = self._on_constraints(motion, at)
        S = self._variations(motion, allowed)
        X = np.zeros((motion.tangent.states + len(motion.tangent.varied), S.shape[1] + len(self.varied)))
        n, k = S.shape
        X[:n, :k] = S
        for i in range(len(self.varied)):
            X[n + i, k + i] = 1.0
        begin = end_of(motion.tangent, motion.pieces[0].mode, self.t0, motion.pieces[0].y[0])
        if isinstance(section, str):
            return self._to_change(motion, section, (allowed, S), X, begin.f)
        X, salt = motion.through(X, len(motion.pieces))
        last = end_of(motion.tangent, motion.end.mode, float(motion.end.t[-1]), motion.end.y[-1])
        delays, fixed = np.zeros(X.shape[1]), False
        if isinstance(section, Expr):
            if not motion.stopped:
                raise SimulationError(self._never(f"'{section}' does not rise through zero"))
            _, slopes = motion.tangent.shown_values(motion.end.mode, np.array([last.t]), last.y[None], last.rates)
            guards = [Guard(f"'{section}'", slopes[0, 0])]
            delays, fixed = salt.delay(last, guards, X), not self._drifts_to(guards, allowed)
        elif self.law is not None:
            delays[-1] = T_by_parameter
        M = X[:n] + np.outer(last.f, delays)
        return Passage(last.y, S, M, begin.f, last.f, last.t - self.t0, motion, fixed)

    def _check_moves(self, motion: LinearisedMotion, at: Orbit) -> None:
        """Raise :class:`SimulationError` for a rest, before it is varied: a guess of its period may be as long as one likes."""
        size = max(1.0, float(np.abs(at.z).max(initial=0.0)))
        if not self.forced and _extent(motion, len(at.z)) <= tolerances.STATE_TOLERANCE * size:
            raise SimulationError(
                f"Model '{self.equations.system.name}': the state is a rest, which no period has; begin with one that moves."
            )

    def _to_change(
        self, motion: LinearisedMotion, section: str, start: tuple[FloatArray, FloatArray], X: FloatArray, f: FloatArray
    ) -> Passage:
        """The motion up to the change that is the *section*, with what it does; *start* are all variations that the constraints
        allow there, and those that are independent.
        """
        allowed, S = start
        names = [w.name for w in self.equations.system.switches]
        heard = self.equations.system.impacts.get(section, (section,))
        for k, piece in enumerate(motion.pieces):
            for step in piece.steps or () if k else ():
                if (step.switch >= 0 and names[step.switch] == section) or any(
                    i.contact in heard for i in step.impacts
                ):
                    X, salt = motion.through(X, k)
                    X = salt.behind(motion.pieces[k - 1], piece, X)
                    end = end_of(motion.tangent, piece.mode, float(piece.t[0]), piece.y[0])
                    M = X[: len(S)] + np.outer(end.f, salt.delays)
                    cut = replace(motion, pieces=motion.pieces[:k])
                    fixed = not self._drifts_to(salt.guards, allowed)
                    return Passage(end.y, S, M, f, end.f, end.t - self.t0, cut, fixed)
        raise SimulationError(self._never(f"'{section}' does not come"))

    def _never(self, what: str) -> str:
        return (
            f"Model '{self.equations.system.name}': the motion comes to no section: {what} within {self.longest:g} s; begin "
            "elsewhere, or give a longer period as the guess."
        )

    def _variations(self, motion: LinearisedMotion, S: FloatArray) -> FloatArray:
        """Independent variations (n, k) of the start, of those S that the constraints allow: at contacts that are closed."""
        rows = [slopes[: len(S)] for _, slopes in motion.held()]
        for i in self.free:  # a coordinate of its own, so that the others keep their places
            S = S[:, S[i] == 0] if np.count_nonzero(S[i]) == 1 else S @ null_space(S[i : i + 1], what=WAY)
        if rows:
            S = S @ null_space(np.array(rows) @ S, what=WAY, rcond=tolerances.RANK_TOLERANCE)
        return np.asarray(S)

    def _on_constraints(self, motion: LinearisedMotion, at: Orbit) -> FloatArray:
        """Variations (n, k) of the start of a *motion* from *at* that the constraints allow."""
        first, nq = motion.pieces[0].y[0, : len(at.z)], self.equations.system.nq
        return independent_variations(smooth_part(self.equations).equations, self.t0, first[:nq], first[nq:], at.p)

    def _drifts_to(self, guards: Sequence[Guard], S: FloatArray) -> bool:
        """Whether a shift of what may have moved on, among the variations S that the constraints allow, leads to other values of
        *guards*: the section has all variations then.
        """
        if not self.free:
            return False
        shifts = S @ pinv(S[self.free], what=WAY)
        return any(
            np.abs(g.slopes[: len(S)] @ shifts).max() > tolerances.WRITTEN_TOLERANCE * np.abs(g.slopes[: len(S)]).max()
            for g in guards
        )

    def off(self, at: Orbit) -> FloatArray:
        """Return the change (n,) of the state over a period, zero for coordinates that may drift, but for whole turns of those
        that turn.
        """
        found = self.passage(at).end - at.z
        found[self.free] = 0.0
        for i, part in self.turning.items():
            found[i] = np.remainder(found[i] + part / 2, part) - part / 2
        return found

    def system_of(self, at: Orbit) -> tuple[FloatArray, FloatArray]:
        """Return the residuals, and their derivatives by independent variations, the period where it is unknown, and the
        parameters that vary.
        """
        passage, S = self.passage(at), self.passage(at).S
        k, back = S.shape[1], self._back(S)
        J = back @ passage.M
        J[:, :k] -= np.eye(k)
        r = back @ self.off(at)
        rows = list[FloatArray]()
        if self.timed:
            J = np.concatenate([J[:, :k], (back @ passage.f_end)[:, None], J[:, k:]], axis=1)
        more = J.shape[1] - k
        if self.timed and (self.phased or not self.kept):
            phase = back @ passage.f_start
            size = max(float(norm(phase)), tolerances.LEAST_DIVISOR)
            rows.append(np.concatenate([phase / size, np.zeros(more)]))
        J = np.vstack([J, *rows]) if rows else J
        return np.concatenate([r, np.zeros(len(rows))]), np.delete(J, self._held(S), axis=1)

    def _held(self, S: FloatArray) -> list[int]:
        """Places of the variations S (n, k) that do not change, since they are those of initial values that stay."""
        return [j for j in range(S.shape[1]) if np.abs(S[list(self.kept), j]).max(initial=0.0) > 0]

    def monodromy(self, at: Orbit) -> FloatArray:
        """Return the monodromy matrix (k, k) in the independent variations."""
        passage = self.passage(at)
        return np.asarray(self._back(passage.S) @ passage.M[:, : passage.S.shape[1]])

    def _back(self, S: FloatArray) -> FloatArray:
        rows = np.ones(len(S))
        rows[self.free] = 0.0
        return np.asarray(pinv(S * rows[:, None], what=WAY) * rows)

    def moved(self, at: Orbit, change: FloatArray) -> Orbit:
        """Return the orbit after a *change* of the unknowns of :meth:`system_of`."""
        S, system = self.variations(at), self.equations.system
        k = S.shape[1]
        z, T, p = at.z + S @ change[:k], at.T, at.p.copy()
        if self.timed:
            T += float(change[k])
        for name, x in zip(self.varied, change[len(change) - len(self.varied) :], strict=True):
            p[system.parameter_names.index(name)] += x
        row = z[None].copy()
        normalise(row, list(system.quaternions.values()))
        z = row[0]
        if system.constraints:
            found = assemble(smooth_part(self.equations).equations.system, z[: system.nq], z[system.nq :], p, t=self.t0)
            z = np.concatenate([found.q, found.v])
        return Orbit(z, T, p)

    def variations(self, at: Orbit) -> FloatArray:
        """Return the variations (n, k) of the start that change."""
        S = self.passage(at).S
        return np.delete(S, self._held(S), axis=1)

    def solved(self, at: Orbit) -> Orbit:
        """Return the periodic motion nearest to *at*, by damped Newton steps; where they end, from where the motion itself has
        led to after some periods. Raises :class:`SimulationError` for none.
        """
        found, off = self._nearest(at)
        if not off <= 1e3 * self._accuracy(found) and not self.timed:
            try:
                for _ in range(SETTLING):
                    at = self._period_later(at)
                found, off = self._nearest(at)
            except SimulationError:
                pass  # what leads nowhere is no better guess
        if not off <= 1e3 * self._accuracy(found):
            raise SimulationError(
                f"Model '{self.equations.system.name}': no periodic motion was found near the guess; the nearest state differs "
                f"by {off:.3g} after {self.passage(found).T:.6g} s. Give a better guess of the state or of the period."
            )
        return found

    def _period_later(self, at: Orbit) -> Orbit:
        """The state a period after *at*, where coordinates that drift have not moved."""
        return Orbit(at.z + self.off(at), self.passage(at).T, at.p)

    def _nearest(self, at: Orbit) -> tuple[Orbit, float]:
        """The end of the damped Newton steps from *at*, and its residual."""
        off = float(norm(self.system_of(at)[0]))
        for _ in range(STEPS):
            following = self._following(at, off)
            if following is None:
                break
            at, off, size = following
            if size <= self._accuracy(at):
                break
        return at, off

    def _following(self, at: Orbit, off: float) -> tuple[Orbit, float, float] | None:
        """The orbit after a step from *at*, whose residual is *off*, its residual, and the size of the whole step; None where no
        step is better.
        """
        r, J = self.system_of(at)
        S, reach = self.variations(at), STRETCH * max(self.passage(at).size, tolerances.LEAST_DIVISOR)
        own = J[:, : J.shape[1] - len(self.varied)]
        tried = list[tuple[FloatArray, float]]()
        for cut in CUTS:
            change = -lstsq(own, r, what=WAY, rcond=cut)
            far = float(np.abs(S @ change[: S.shape[1]]).max(initial=0.0)) / reach
            far = max(1.0, far, abs(change[-1]) / (STRETCH * at.T) if self.timed else 0.0)
            tried.append((change, 1.0 / far))
        # Whole steps first, then parts of Newton's own.
        whole = [(change, 1.0) for change, share in tried if share == 1.0]
        parts = [(tried[0][0], tried[0][1] * 0.5**k) for k in range(HALVINGS)]
        for change, share in (*whole, *parts):
            size = float(np.abs(change).max(initial=0.0))
            try:
                trial = self.moved(at, np.concatenate([share * change, np.zeros(len(self.varied))]))
                left = float(norm(self.system_of(trial)[0]))
            except SimulationError:
                continue
            if left < off or (share == 1.0 and size <= self._accuracy(at)):
                return trial, left, size
        return None

    def _accuracy(self, at: Orbit) -> float:
        return tolerances.NEWTON_TOLERANCE * max(1.0, float(np.abs(at.z).max(initial=0.0)), self.passage(at).size)

    def check_extent(self, at: Orbit, start: Orbit) -> None:
        """Raise :class:`SimulationError` for a motion *at* that is a rest but for rounding, beside that of the *start*."""
        if not self.forced and self.passage(at).size <= tolerances.WRITTEN_TOLERANCE * self.passage(start).size:
            raise SimulationError(
                f"Model '{self.equations.system.name}': the nearest motion whose state returns is a rest, which no period has; "
                "begin nearer to a motion, and name what grows from period to period, as a way or an integral, among the drifts."
            )

    def check_forces(self, at: Orbit) -> None:
        """Raise :class:`SimulationError` where forces a period later are others."""
        if self.forced and not self._repeats(at, self.passage(at).T, np.zeros(len(at.z))):
            raise SimulationError(
                f"Model '{self.equations.system.name}': forces depend on the time, and {self.passage(at).T:g} s later they are "
                "others: give a period of theirs."
            )

    def find_turning(self, at: Orbit) -> None:
        """Find the coordinates that may drift, and on which the equations depend with a period of a turn or a part of it."""
        if self.drifts:
            shifts = np.eye(len(at.z))[list(self.drifts)]
            self.turning = {
                i: self._part_of_turn(at, shift)
                for i, shift in zip(self.drifts, shifts, strict=True)
                if self._repeats(at, 0.0, 2 * np.pi * shift) and not self._repeats(at, 0.0, SHIFT * shift)
            }
            self._known = {}

    def _part_of_turn(self, at: Orbit, shift: FloatArray) -> float:
        """The least part of a turn [rad] along a unit *shift* (n,) after which the equations are the same."""
        parts = 1
        for prime in PRIMES:
            while parts * prime <= FINEST and self._repeats(at, 0.0, 2 * np.pi / (parts * prime) * shift):
                parts *= prime
        return 2 * np.pi / parts

    def drifts_change_nothing(self, at: Orbit) -> bool:
        """Return whether the equations are the same where coordinates have drifted as in a period."""
        shift = np.zeros(len(at.z))
        places = list(self.drifts)
        shift[places] = (self.passage(at).end - at.z)[places]
        return not self.drifts or self._repeats(at, 0.0, shift)

    def _repeats(self, at: Orbit, later: float, shift: FloatArray) -> bool:
        """Whether what acts is the same some time *later*, and what switches watch, too, in states with a *shift* (n,)."""
        motion = self.passage(at).motion
        for sample in samples(motion):
            y = sample.y.copy()
            y[:, : len(shift)] += shift
            moved, switched = Sample(sample.mode, sample.t + later, y), bool(shift.any())
            now, then = (action(motion.tangent, x, switched).values for x in (sample, moved))
            if not equal(now, then):
                return False
        return True

    def follow_forces(self, at: Orbit, end: float) -> None:
        """Let the period be that of the forces as the parameter goes to *end*, where it changes with it. Raises
        :class:`SimulationError` where no period is found on the way.
        """
        name, model = self.varied[0], self.equations.system.name
        passage, place = self.passage(at), self.equations.system.parameter_names.index(name)
        law = ForcedPeriod(passage.motion.tangent, tuple(samples(passage.motion)), place)
        law.begin(float(at.p[place]), passage.T)
        if law.constant(end - float(at.p[place])):
            return
        try:
            law.at(end)
        except SimulationError:
            raise SimulationError(
                f"Model '{model}': '{name}' changes the period of the forces, which are no longer periodic, or have another "
                f"period, before {name} = {end:g}: follow it less far, or look for single motions with their periods."
            ) from None
        self.law, self._known = law, {}


def _extent(motion: LinearisedMotion, n: int) -> float:
    """Return by how much the first *n* variables of a *motion* change at most."""
    y = np.concatenate([piece.y[:, :n] for piece in motion.pieces])
    return float(np.abs(y - y[0]).max(initial=0.0))


def _depends_on_time(equations: Equations) -> bool:
    with equations.shared() as d:
        refs = [
            *d["inverse"].refs,
            *d.symbols.state_rates,
            *(x for row in d.rows for x in (row.rest, *row.gradient.values())),
        ]
        for contact in d.contacts:
            refs += [contact.bound, contact.static, contact.restitution, contact.active]
            refs += [x for row in contact.rows for x in (*row.levels, row.rest)]
        switches = equations.system.switches
        refs += d.expression(*(w.watched for w in switches), *(value for w in switches for _, value in w.sets))
        return d.symbols.t >> 1 in reachable(d.graph, refs)
