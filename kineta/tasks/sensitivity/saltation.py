"""Saltation: how variations of a motion jump where its mode changes.

A motion changes where an event function e(t, y, p) is zero, from the state y- to y+ = J(t, y-, p), and from the rates f- to f+.
Its neighbour does so dt later, and between the two times one goes on in the old mode and the other in the new one::

    dt = -(e_y dy- + e_p dp) / (e_y f- + e_t)
    dy+ = J_y (dy- + f- dt) + J_t dt + J_p dp - f+ dt

Aizerman and Gantmakher, *On the stability of periodic motions*, PMM 22 (1958); Mueller, *Chaos, Solitons and Fractals* 5 (1995).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.errors import SimulationError, excerpt
from kineta.integration.contact_records import ALONG as DIRECTION
from kineta.integration.contact_records import CLOSED, FLAGS, SLIPS, STUCK
from kineta.numerics.linear_algebra import norm
from kineta.records import dataclass
from kineta.results.impacts import Impact
from kineta.runtime.compiled import BoundSystem
from kineta.tasks.sensitivity.mode_equations import (
    ALONG,
    BOUNCES,
    BOUND,
    GAP,
    HIT,
    LAWS,
    RATE,
    SLIDES,
    SLIP,
    STATIC,
    STICKS,
    WATCHED,
)
from kineta.tasks.sensitivity.mode_tangent import LinearRates, ModeTangent
from kineta.tasks.sensitivity.recorded_motion import ChangeStep, MotionPiece

#: Newton steps of the impulses of an impact.
STEPS = 20
#: Speed of an approach, relative to the fastest, that grazes: below it the time of an impact has half of its digits.
GRAZING = tolerances.PRINTED_TOLERANCE
#: Ratio of an approach to the speed that the contact left with after the impact before it, in an accumulation of impacts.
SAME_FLIGHT = 2.0


@dataclass(frozen=True)
class Guard:
    """An event function: its ``name`` in words, its derivatives ``slopes`` (n_z,), and whether the motion may graze it."""

    name: str
    slopes: FloatArray
    grazing: bool = False


@dataclass(frozen=True)
class End:
    """The end of a piece of a motion: time, state, mode, rates and watched values with their derivatives."""

    t: float
    y: FloatArray
    mode: BoundSystem
    rates: LinearRates
    values: FloatArray
    slopes: FloatArray

    @property
    def f(self) -> FloatArray:
        """The rates of the state (n,)."""
        return np.asarray(self.rates.f[0])

    @property
    def flags(self) -> FloatArray:
        """The flags (contacts, FLAGS) of the mode."""
        return self.mode.flags.reshape(-1, FLAGS)


@dataclass(frozen=True)
class Delay:
    """The *change* (columns,) of the time of an event with this *guard*, and the numbers of the guards that go with it."""

    guard: Guard
    change: FloatArray
    members: tuple[int, ...]


def disorder(old: End, one: Guard, other: Guard) -> SimulationError:
    """The error for two events at the end *old* of a piece whose order matters."""
    return SimulationError(
        f"at t = {old.t:.6g} s {one.name} and {other.name} come at one time, and change their order as things "
        "vary: there is no derivative"
    )


def end_of(tangent: ModeTangent, mode: BoundSystem, t: float, y: FloatArray) -> End:
    """Return the end of a piece in a *mode* at *t* in the state *y*."""
    own = y[None, : tangent.functions.nq + tangent.functions.nv]
    rates = tangent.rates(mode, np.array([t]), own)
    values, slopes = tangent.watched(mode, np.array([t]), own, rates)
    return End(t, own[0].copy(), mode, rates, values[0], slopes[0])


@dataclass
class Saltation:
    """The changes of a motion with the *tangent*, one after the other; ``left`` are speeds after the last impact by contact,
    ``speeds`` the fastest rates of gaps so far, ``guards`` what was zero at the last event, ``delays`` (columns,) the changes of
    its time.
    """

    tangent: ModeTangent
    switches: Sequence[str]
    left: dict[str, float]
    speeds: FloatArray
    guards: Sequence[Guard] = ()
    delays: FloatArray = field(default_factory=lambda: np.empty(0))

    def behind(self, before: MotionPiece, after: MotionPiece, X: FloatArray) -> FloatArray:
        """Return the variations behind the change from the piece *before* to that *after*, which are *X* ahead of it.

        Raises :class:`SimulationError` where they do not exist, and for changes without derivatives here.
        """
        old = end_of(self.tangent, before.mode, float(before.t[-1]), before.y[-1])
        new = end_of(self.tangent, after.mode, float(after.t[0]), after.y[0])
        steps = after.steps
        if steps is None:
            return X
        struck = any(step.impacts or step.switch >= 0 for step in steps)
        jump = new.f - old.f
        size = float(np.abs(np.concatenate([old.f, new.f])).max(initial=1.0))
        smooth = not struck and np.abs(jump).max(initial=0.0) <= tolerances.FORCE_TOLERANCE * size
        if smooth:
            return X
        guards = self._guards(old, new, steps[0]) if steps else []
        if not guards:
            if not struck and np.abs(jump).max(initial=0.0) <= tolerances.WRITTEN_TOLERANCE * size:
                return X
            contacts = self.tangent.functions.contacts
            changed = (old.mode.flags != new.mode.flags)[: FLAGS * len(contacts)].reshape(-1, FLAGS).any(axis=1)
            names = [f"'{c.name}'" for c, own in zip(contacts, changed, strict=True) if own]
            raise SimulationError(
                f"at t = {old.t:.6g} s nothing tells when the mode of {excerpt(names) or 'the motion'} changes, so that it has "
                "no derivative"
            )
        self.guards, self.delays = guards, self.delay(old, guards, X)
        return self._jumped(old, new, steps or (), X, self.delays)

    def delay(self, old: End, guards: Sequence[Guard], X: FloatArray) -> FloatArray:
        """Return the changes dt (columns,) of the time at which the *guards* are zero. Raises :class:`SimulationError` for a
        motion that grazes them, and for events at one time whose order changes.
        """
        first, *others = self.delays_of(old, guards, X)
        for other in others:
            raise disorder(old, first.guard, other.guard)
        return first.change

    def delays_of(self, old: End, guards: Sequence[Guard], X: FloatArray) -> list[Delay]:
        """Return the changes of the times at which the *guards* are zero, one for all that stay together as things vary.
        Raises :class:`SimulationError` for a motion that grazes them.
        """
        found, size = list[FloatArray](), 0.0
        for guard in guards:
            rate = float(self.tangent.in_time(guard.slopes, old.f))
            own = self.tangent.functions.nq + self.tangent.functions.nv
            terms = np.abs(guard.slopes[:own] * old.f[:own]).sum() + abs(float(guard.slopes[own]))
            if guard.grazing or not abs(rate) > tolerances.WRITTEN_TOLERANCE * terms:
                raise SimulationError(
                    f"at t = {old.t:.6g} s {guard.name} grazes its condition: neighbouring motions meet it much earlier or "
                    "not at all, and there is no derivative"
                )
            found.append(-self.tangent.by_state(guard.slopes, X) / rate)
            size = max(size, float(np.abs(found[-1]).max(initial=0.0)))
        delays = list[Delay]()
        for k, (guard, change) in enumerate(zip(guards, found, strict=True)):
            for i, known in enumerate(delays):
                if np.abs(change - known.change).max(initial=0.0) <= tolerances.SOLUTION_DISTANCE * size:
                    delays[i] = replace(known, members=(*known.members, k))
                    break
            else:
                delays.append(Delay(guard, change, (k,)))
        return delays

    # -- what is zero ---------------------------------------------------------------------------------------------------------

    def _guards(self, old: End, new: End, first: ChangeStep) -> list[Guard]:
        """The event functions that end the mode of *old*, by the *first* step of the change."""
        if first.switch >= 0:
            place = self.tangent.functions.first_switch + first.switch
            return [Guard(f"'{self.switches[first.switch]}'", old.slopes[place])]
        if first.impacts:
            return self._gaps(old, new, first.impacts)
        return list(self._of_modes(old, new))

    def _gaps(self, old: End, new: End, impacts: Sequence[Impact]) -> list[Guard]:
        found = list[Guard]()
        names = [c.name for c in self.tangent.functions.contacts]
        for impact in impacts:
            c = names.index(impact.contact)
            fresh = (
                old.flags[c, CLOSED] == 0
                and impact.before < 0
                and abs(old.values[WATCHED * c + GAP]) <= self._near(old)
            )
            if not fresh or impact.contact in (g.name.strip("'") for g in found):
                continue
            self.speeds[c] = max(self.speeds[c], abs(impact.before))
            slow = abs(impact.before) < GRAZING * self.speeds[c]
            # The last of infinitely many impacts are slow, each as fast as the one before has left.
            ends = abs(impact.before) < SAME_FLIGHT * self.left.get(impact.contact, 0.0)
            found.append(Guard(f"'{impact.contact}'", old.slopes[WATCHED * c + GAP], slow and not ends))
        return found

    def _near(self, old: End) -> float:
        return tolerances.WRITTEN_TOLERANCE * float(np.abs(old.y).max(initial=1.0))

    def _of_modes(self, old: End, new: End) -> list[Guard]:
        """The event functions of contacts whose mode changes without an impact."""
        F, found = self.tangent.functions, list[Guard]()
        places = {(c, i): place for c, i, place in F.rows()}
        for c, contact in enumerate(F.contacts):
            a, b = old.flags[c], new.flags[c]
            x, x_z, own = old.rates.x[0], old.rates.x_z[0], WATCHED * c
            reverses = bool(a[SLIPS] and b[SLIPS] and a[DIRECTION : DIRECTION + 2] @ b[DIRECTION : DIRECTION + 2] < 0)
            if a[CLOSED] and not b[CLOSED]:
                found.append(Guard(f"'{contact.name}'", x_z[places[c, 0]]))
            elif a[STUCK] and b[SLIPS]:
                rubs = [places[c, i + 1] for i in range(len(contact.tangents))]
                size = max(float(norm(x[rubs])), tolerances.LEAST_DIVISOR)
                pushed, pushed_z = (
                    (1.0, 0.0 * x_z[0]) if contact.normal is None else (x[places[c, 0]], x_z[places[c, 0]])
                )
                bound, bound_z = old.values[own + STATIC], old.slopes[own + STATIC]
                found.append(
                    Guard(f"'{contact.name}'", bound_z * pushed + bound * pushed_z - x[rubs] @ x_z[rubs] / size)
                )
            elif a[SLIPS] and (b[STUCK] or reverses):
                way = old.values[own + SLIP : own + SLIP + 2]
                if not norm(way) > 0 or len(contact.tangents) == 1:
                    way = a[DIRECTION : DIRECTION + 2]
                found.append(Guard(f"'{contact.name}'", way @ old.slopes[own + SLIP : own + SLIP + 2]))
        return found

    # -- what follows ---------------------------------------------------------------------------------------------------------

    def _jumped(self, old: End, new: End, steps: Sequence[ChangeStep], X: FloatArray, dt: FloatArray) -> FloatArray:
        """The variations behind the *steps* of a change, from the delays *dt*."""
        n = self.tangent.states
        Y = X.copy()
        Y[:n] += np.outer(old.f, dt)
        at = old
        for step in steps:
            if step.switch >= 0:
                at = self._switched(at, step.switch, Y, dt)
            for group in self._groups(at, step.impacts):
                at = self._struck(at, group, Y, dt)
        far = np.abs(at.y - new.y).max(initial=0.0)
        if far > tolerances.SOLUTION_DISTANCE * np.abs(new.y).max(initial=1.0):
            what = excerpt([f"'{i.contact}'" for step in steps for i in step.impacts] or ["a switch"])
            raise SimulationError(
                f"at t = {old.t:.6g} s the change by {what} is none that has derivatives here, as where restitution was "
                "reduced, or by Poisson's law with several contacts or friction"
            )
        Y[:n] -= np.outer(new.f, dt)
        return Y

    def _switched(self, at: End, k: int, Y: FloatArray, dt: FloatArray) -> End:
        """The state behind the switch number *k*, whose variations become *Y*."""
        F, system = self.tangent.functions, self.tangent.equations.system
        states, parameters, symbols = (*system.q_names, *system.v_names), system.parameter_names, self.tangent.varied
        y, p, new, own = at.y.copy(), at.mode.p.copy(), Y.copy(), F.nq + F.nv
        for place, name in enumerate(F.sets[k], F.first_set(k)):
            change = self.tangent.by_state(at.slopes[place], Y) + at.slopes[place, own] * dt
            if name in states:
                y[states.index(name)], new[states.index(name)] = at.values[place], change
            else:
                p[parameters.index(name)], new[self.tangent.states + symbols.index(name)] = at.values[place], change
        Y[:] = new
        return end_of(self.tangent, replace(at.mode, p=p), at.t, y)

    def _groups(self, at: End, impacts: Sequence[Impact]) -> list[list[Impact]]:
        """*impacts* at one time by those that are one collision: a cascade hits a contact again, or faster than it was."""
        found = list[list[Impact]]()
        for impact in impacts:
            if not found or impact.contact in (i.contact for i in found[-1]):
                found.append([])
            found[-1].append(impact)
            self.left[impact.contact] = impact.after
        return found

    def _struck(self, at: End, impacts: Sequence[Impact], Y: FloatArray, dt: FloatArray) -> End:
        """The state behind a collision, whose variations become *Y*."""
        F = self.tangent.functions
        own, x, laws = F.nq + F.nv, np.zeros(F.n_x), np.zeros((len(F.contacts), LAWS))
        x[: F.nv] = at.y[F.nq :]
        names = [c.name for c in F.contacts]
        places = {(c, i): place for c, i, place in F.rows()}
        for impact in impacts:
            c = names.index(impact.contact)
            contact, pushes = F.contacts[c], (impact.impulse_n, impact.impulse_u, impact.impulse_w)
            for i in range(len(contact.rows)):
                x[places[c, i]] = pushes[i]
            laws[c] = _laws(impact, float(at.values[WATCHED * c + BOUND]))
        for c in range(len(F.contacts)):
            if names[c] not in (i.contact for i in impacts):
                laws[c, SLIDES] = 1.0
        for _ in range(STEPS):
            left, inverse, slopes = self.tangent.impact(at.mode, at.t, at.y, x, laws)
            change = -inverse @ left
            x = x + change
            if np.abs(change).max(initial=0.0) <= tolerances.ROUNDING_TOLERANCE * np.abs(x).max(initial=1.0):
                break
        _, inverse, slopes = self.tangent.impact(at.mode, at.t, at.y, x, laws)
        changes = -(inverse @ (self.tangent.by_state(slopes, Y) + np.outer(slopes[:, own], dt)))
        Y[F.nq : own] = changes[: F.nv]
        return end_of(self.tangent, at.mode, at.t, np.concatenate([at.y[: F.nq], x[: F.nv]]))


def _laws(impact: Impact, friction: float) -> FloatArray:
    """The laws that hold in an *impact*, from its impulses: what is not pushed opens, what bears less friction than it can
    sticks.
    """
    found = np.zeros(LAWS)
    along = np.hypot(impact.impulse_u, impact.impulse_w)
    found[HIT] = float(impact.impulse_n > 0)
    found[BOUNCES] = float(impact.after > tolerances.STATE_TOLERANCE * abs(impact.before) and impact.before < 0)
    found[STICKS] = float(along < friction * impact.impulse_n * (1 - tolerances.STATE_TOLERANCE))
    found[SLIDES] = 1.0 - found[STICKS]
    found[ALONG] = -np.sign(impact.impulse_u)
    return found


def gap_rates(tangent: ModeTangent, values: FloatArray) -> FloatArray:
    """Return the fastest rates (contacts,) of gaps in watched *values* (k, w)."""
    count = len(tangent.functions.contacts)
    return np.asarray(np.abs(values[:, RATE : WATCHED * count : WATCHED]).max(axis=0, initial=0.0))
