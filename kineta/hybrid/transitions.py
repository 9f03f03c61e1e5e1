"""Transitions of contacts: impacts, rest, stick-slip, separation, and the active set of the next mode."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, IntArray
from kineta.hybrid.active_set import (
    ALONG,
    ALONG_N,
    MODE_TOLERANCE,
    STUCK,
    ContactForces,
    redistributed_forces,
    shares_forces,
    solve_active_set,
)
from kineta.hybrid.checks import check_bounds, check_gaps, check_held, check_slopes, no_contact_solution
from kineta.hybrid.contact_state import ContactState, Numbers, contact_rows, contact_state
from kineta.hybrid.impact_law import impulses
from kineta.hybrid.impulses import impacts, single_impulse
from kineta.hybrid.native_modes import mode_trials, returned
from kineta.integration.problem import ModeTrials, evaluation_errors, perturbation_signs, perturbed_starts
from kineta.kernels.impact import LATE
from kineta.kernels.transition import SOON
from kineta.mechanics.contact.guards import ALLOWED
from kineta.mechanics.contact.unilateral_rows import FLAGS, UnilateralConstraint, permanently_active, with_permanent
from kineta.results.impacts import Impact
from kineta.runtime.compiled import BoundSystem, CompiledSystem

#: Time, relative to the largest, of a look-ahead at slip initiation.
LATER = 1e-5
#: Number of look-aheads to saturated forces, and part of the remaining friction that each covers.
FORESEEN, NEARER = 4, 0.02
#: Tried parts of the way to the force distribution there.
PARTS = (1.0, 0.7, 0.4)
#: Largest number of impacts in a cascade at one time; afterwards the contacts near strike simultaneously.
CASCADE = 400
#: Number of impacts before a rest that is reported.
FEW = 2
#: Number of random directions that sample rounding of a state, and multiple of its effect on a gap that a separating body must
#: exceed.
TRIED, TOLD = 8, 10.0
#: Number of parameter blocks cached for recurring modes.
KEPT = 16
#: Force, relative to the largest friction limit, within the evaluation error of the code.
UNTOLD = 1e-7
#: Remaining friction, relative to the limit, that rounding may hide.
HIDDEN = 1e-5
#: Flags of slip, and of slip initiation.
SLIPS, BEGINS = map(FLAGS.index, ("slips", "begins"))
#: Number of rows of a small system, whose contacts are compiled as closed together.
SMALL = 6


@dataclass(eq=False)
class ContactTransitions:
    """Contacts of a motion, and their present modes.

    same : contact tolerance of gaps [m]
    codes : compiled systems by the names of closed contacts
    until : largest absolute time of the motion [s]
    constraints : names of the constraints
    fastest : fastest approach to a contact so far; ``changed`` is the time of the last transition
    flight : approximate time of flight after separation, or time within friction limits of distributed forces [s]
    said, struck : words on the last transition, and the contacts struck in it
    impacts : number of impacts of every contact; ``calm`` is the time of its rest and their number; ``blows`` are their impulses
    brought : note on a penetration at the start
    """

    touches: Sequence[UnilateralConstraint]
    nq: int
    nv: int
    same: float
    codes: Callable[[frozenset[str]], CompiledSystem]
    until: float
    constraints: Sequence[str] = ()
    fastest: float = 0.0
    flight: float = np.inf
    changed: float = np.nan
    said: list[str] = field(default_factory=list)
    struck: list[int] = field(default_factory=list)
    calm: dict[str, tuple[float, int]] = field(default_factory=dict)
    brought: str = ""
    blows: list[Impact] = field(default_factory=list)

    def __post_init__(self) -> None:
        m = len(self.touches)
        self.contact_rows = contact_rows(self.touches)
        self.closed: Set[int] = frozenset()
        self.impacts = [0] * m
        self.flags = np.zeros((m, len(FLAGS)))
        told = [
            (i, what)
            for i, touch in enumerate(self.touches)
            for what, there in (
                ("normal", touch.normal),
                ("tangents", touch.tangents and touch.smooth is None),
                ("bound", touch.varies),
            )
            if there
        ]
        self.events = [(i, what == "normal") for i, what in told]
        self._told_of = told
        self.lines = [
            (k, i) for k, (i, what) in enumerate(told) if what == "tangents" and len(self.touches[i].tangents) == 1
        ]
        self.gap_events = np.array([i if normal else -1 for i, normal in self.events], dtype=np.int64)
        self.bounds = {k: i for k, (i, what) in enumerate(told) if what == "bound"}
        self.smooth = [touch.smooth is not None for touch in self.touches]
        self.poisson = [touch.poisson for touch in self.touches]
        self.contacts = [i for i, touch in enumerate(self.touches) if touch.normal is not None]
        self.always = any(touch.normal is None for touch in self.touches)
        self.small = sum(len(place.rows) for place in self.contact_rows) <= SMALL
        self._codes: dict[frozenset[int], CompiledSystem] = {}
        self._bounds: dict[tuple[CompiledSystem, bytes, bytes, bytes], BoundSystem] = {}
        self._trials: dict[CompiledSystem, ModeTrials | None] = {}
        self._met: frozenset[int] = frozenset()
        self._limit = 1.0

    def look(self, t: float, y: FloatArray, made: BoundSystem) -> ContactState:
        """Contact state of a state."""
        return contact_state(self.contact_rows, t, y, self.nv, made)

    def _look_on(self, t: float, y: FloatArray, made: BoundSystem) -> ContactState:
        """Contact state, with the directions of contacts that pass a dead centre."""
        seen = self.look(t, y, made)
        lines = (
            (i, p.tangents[0]) for i, p in enumerate(self.contact_rows) if len(p.tangents) == 1 and not self.smooth[i]
        )
        still = [(i, row) for i, row in lines if abs(seen.slip[row]) <= tolerances.CONSTRAINT_TOLERANCE * seen.quick]
        if not still or not len(made.code.rows):
            return seen
        half, soon = SOON * max(1.0, self.until) / 2, y
        for k in range(2):  # what rests is moved by its speeds in the second half
            soon = soon + half * made.code.rate_call(t + k * half, soon, made.h)
        then = self.look(t + 2 * half, soon, made)
        dead = {
            i: then.slip[row]
            for i, row in still
            if not seen.S[row][row] > tolerances.SINGULARITY_TOLERANCE * then.S[row][row]
        }
        least = tolerances.RESIDUAL_TOLERANCE * float(np.abs(soon - y).max())
        return replace(seen, onward={i: math.copysign(1.0, slip) for i, slip in dead.items() if abs(slip) > least})

    def code(self, near: Set[int]) -> CompiledSystem:
        """Compiled system with the contacts *near* and joint friction closed: of all contacts in a small system, else of all
        near so far, or of none; with all contacts that lock single speeds.
        """
        if near and not near <= self._met:
            self._met |= frozenset(range(len(self.touches))) if self.small else near
        met = self._met if near else frozenset[int]()
        found = self._codes.get(met)
        if found is None:
            names = [self.touches[i].name for i in met]
            found = self._codes[met] = self.codes(
                with_permanent(self.touches, names) if near else permanently_active(self.touches)
            )
        return found

    def flies(self) -> bool:
        """True where all contacts are open, and no joint has friction."""
        return not (self.closed or self.always)

    def striking(self, made: BoundSystem) -> BoundSystem | None:
        """System with closed-form impacts, in flight with the contacts near so far; None without a closed form."""
        if not self.flies():
            return made
        return self._switched(made, np.zeros_like(self.flags), self._met) if self._met else None

    def bounced(
        self,
        events: IntArray,
        t: FloatArray,
        approaches: FloatArray,
        states: tuple[FloatArray, FloatArray],
        made: BoundSystem,
    ) -> list[str]:
        """Record impacts at the times *t*, with *approaches* along the normals and immediate separation, in *states* before and
        after; return the names of the contacts.
        """
        struck = self.gap_events[events].tolist()
        for i, at, before, after in zip(struck, t.tolist(), *states, strict=True):
            self.impacts[i] += 1
            self._blow(i, at, before, after, made)
        self.fastest, self.changed = max(self.fastest, -float(approaches.min())), float(t[-1])
        return [self.touches[i].name for i in struck]

    def _blow(self, i: int, t: float, before: FloatArray, after: FloatArray, made: BoundSystem) -> None:
        """Record the impulse on contact *i* alone that changed one state to another."""
        moved = np.concatenate([after[: self.nq], before[self.nq :]])
        seen, then = self.look(t, moved, made), self.look(t, after, made)
        self.blows += impacts(self.touches, t, seen, single_impulse(seen, then, i), {i})

    def trials(self, made: BoundSystem, first: int, work: int) -> ModeTrials | None:
        """Data for mode trials in the loop by the code *made*, whose guards follow the *first* events and whose *work* stands
        at this index of the state.
        """
        if shares_forces(self.flags):
            return None
        if made.code not in self._trials:
            rest = self.same, first, work, self.until
            strikes = made.code.closed_form_impact is not None
            self._trials[made.code] = mode_trials(made, self.touches, self._told_of, *rest, strikes=strikes)
        found = self._trials[made.code]
        return None if found is None else found.beside(made.block_inputs)

    def noted(
        self,
        made: BoundSystem,
        event: int,
        t: float,
        approach: float,
        flags: FloatArray,
        states: tuple[FloatArray, FloatArray],
    ) -> Callable[[], BoundSystem]:
        """Record a transition in the loop at the time *t*, in *states* before and after, with the *approach* of an impact, and
        the *flags* of closed contacts; return the system of the next mode.
        """
        (i, normal), present = self.events[event], np.zeros_like(self.flags)
        present[made.code.closed] = flags.reshape(-1, len(FLAGS))
        closed = frozenset(k for k in self.contacts if present[k, 0])
        strikes = normal and i not in self.closed
        self.said = [f"{self.touches[i].name} strikes"] * strikes
        self.impacts[i] += strikes
        if strikes:
            self._blow(i, t, *states, made)
        self.fastest = max(self.fastest, -approach)
        self._tell(closed, present, self._ways(t, states[0], made))
        self.closed, self.flags, self.changed, self.flight = closed, present, t, math.inf
        return partial(self._coded, made, present, made.code)

    def change(
        self, t: float, y: FloatArray, made: BoundSystem, fired: Sequence[int] = ()
    ) -> tuple[FloatArray, BoundSystem]:
        """State after the transition at *t*, at which the events *fired*, and the system of the next mode.

        Raises :class:`SimulationError` for penetration, and for a contact problem without a solution.
        """
        self.said, self.struck = [], []
        if not self.touches:
            return y, made
        gaps = self.check(t, y, made)
        if self.bounds:
            check_bounds(self.touches, self.bounds, fired, self.until, t, y, made)
        near = {i for i in self.contacts if gaps[i] <= self.same}
        loose, ways = self._letting_go(fired), self._ways(t, y, made)
        grows = any(self.flags[i, STUCK] and not normal for i, normal in (self.events[k] for k in fired))
        self._limit = 1 - 10 * tolerances.FORCE_TOLERANCE if grows else 1.0
        made = self._switched(made, self.flags, near)
        nearer = self._nearer(near, made)
        closer = nearer(t, nearer(t, y))
        if not np.isfinite(closer).all():
            check_slopes(self.touches, near, t, self.look(t, y, made))
        y = closer
        if self.constraints:  # where the position has moved, speeds are those of another one
            free = self._switched(made, np.zeros_like(self.flags), near)
            y = free.code.projection_calls[1](t, y, free.h)
        seen, found, leaving = self._struck(t, y, near, loose, made)
        self.flight = _time_of_flight(seen, found.a, leaving)
        shared = found.shared
        found = self._borne(t, y, seen, found, made, grows=grows)
        still = self._still(t, y, seen, found, made)
        # What comes to rest a little later than others comes to rest with them; and what has come to rest may have no room left.
        spent = grows and found.shared and self._full(t, still, seen, found, made, 0.0)
        if spent or self._is_astray(t, still, found, made):
            y, seen = still, self._look_on(t, still, made)
            found = self._borne(t, y, seen, self._holding(t, seen, found.closed), made, grows=grows)
            still = self._still(t, y, seen, found, made)
        self._tell(found.closed, found.flags, ways)
        if shared and t > self.changed:  # room is left for a part of the time that went before
            self.flight = min(self.flight, t - self.changed)
        self.closed, self.flags, self.changed = found.closed, found.flags, t
        made = self._switched(made, self.flags, self.closed)
        held = [i for i, p in enumerate(self.contact_rows) if i in self.closed or p.normal is None]
        if self.constraints and held:
            check_held(self.touches, held, self.constraints, t, y, seen, made)
        return still, made

    def _borne(
        self, t: float, y: FloatArray, seen: ContactState, found: ContactForces, made: BoundSystem, *, grows: bool
    ) -> ContactForces:
        """Contact forces *found*, as far as the code distinguishes them."""
        found = self._matched(t, y, found, made)
        if grows and found.shared and self._full(t, y, seen, found, made, 0.0):
            found = self._matched(t, y, self._holding(t, seen, found.closed, full=True), made)
        elif not grows and self._full(t, y, seen, found, made, ALLOWED):
            found.flags[:, BEGINS] += found.flags[:, STUCK]
        while pulled := self._pulled(t, y, found, made):  # as one lets go another may: all that a body tips away from
            rest = self._gripped(seen, found.closed - pulled)
            if rest is None:
                raise no_contact_solution(self.touches, found.closed, t, "forces")
            found = self._matched(t, y, rest, made)
        if grows and len(self._begin(found)) > 1:
            found = self._matched(t, y, self._later(t, y, made, found), made)
        return self._ahead(t, y, seen, found, made) if grows and found.shared and found.needs < 1 else found

    def _matched(self, t: float, y: FloatArray, found: ContactForces, made: BoundSystem) -> ContactForces:
        """Contact forces *found*, matched to the code: where contacts lock single speeds, the code leaves the rest to them, and
        the least forces of other contacts differ from a solution that treats all rows alike.
        """
        if not self.code(found.closed).locks_joints or self._are_enough(t, y, found, made):
            return found
        flags = found.flags.copy()
        sticks = [i for i, how in enumerate(flags[:, STUCK].tolist()) if how > 0]
        flags[sticks, ALONG:BEGINS] = 0.0
        flags[:, ALONG_N] = 0.0
        least = self._forces(t, y, self._switched(made, flags, found.closed)).tolist()
        none = tolerances.FORCE_TOLERANCE * max(map(abs, found.x), default=0.0)
        more = [x - own if abs(x - own) > none else 0.0 for x, own in zip(found.x, least, strict=True)]
        for i in found.closed:
            flags[i, ALONG_N] = more[self.contact_rows[i].rows[0]]
        for i in sticks:
            flags[i, ALONG : ALONG + len(self.contact_rows[i].tangents)] = [
                more[row] for row in self.contact_rows[i].tangents
            ]
        return replace(found, flags=flags)

    def _are_enough(self, t: float, y: FloatArray, found: ContactForces, made: BoundSystem) -> bool:
        """True where the least forces of the code satisfy all limits if the forces *found* are the least."""
        if found.shared:
            return False
        told = self._told(t, y, self._switched(made, found.flags, found.closed)).tolist()
        sticks = found.flags[:, STUCK].tolist()
        at_work = ((normal and i in found.closed) or (not normal and sticks[i] > 0) for i, normal in self.events)
        return all(value > 0 for value, works in zip(told, at_work, strict=True) if works)

    def _forces(self, t: float, y: FloatArray, made: BoundSystem) -> FloatArray:
        """Forces along all rows, by the code."""
        observed, count = made.code.observed_call(t, y, made.h), sum(len(place.rows) for place in self.contact_rows)
        end = len(observed) - made.code.layout.levels
        return observed[end - count : end]

    def _is_astray(self, t: float, y: FloatArray, found: ContactForces, made: BoundSystem) -> bool:
        """True where a contact slipping along a line is about to slip in the opposite direction."""
        lines = [k for k, i in self.lines if found.flags[i, SLIPS] > 0]
        if not lines:
            return False
        made, soon = self._switched(made, found.flags, found.closed), SOON * max(1.0, self.until)
        then = self._told(t + soon, y + soon * made.code.rate_call(t, y, made.h), made)
        return bool((then[lines] < -64 * tolerances.EPS * np.abs(y).max()).any())

    def _still(
        self, t: float, y: FloatArray, seen: ContactState, found: ContactForces, made: BoundSystem
    ) -> FloatArray:
        """State projected onto rest of closed and sticking contacts, slip initiation included, and onto the constraints."""
        made = self._switched(made, found.flags, found.closed)
        if not len(made.code.rows):
            _, velocity = made.code.projection_calls
            return velocity(t, y, made.h) if self.constraints else y
        from_rest = found.flags.copy()
        from_rest[:, STUCK] = np.maximum(found.flags[:, STUCK], found.flags[:, BEGINS])
        resting = from_rest[:, STUCK].tolist()
        held = [
            place.normal for i, place in enumerate(self.contact_rows) if i in found.closed and place.normal is not None
        ]
        held += (row for i, place in enumerate(self.contact_rows) if resting[i] for row in place.tangents)
        slip = max((abs(seen.slip[row]) for row in held), default=0.0)
        if self.struck:  # what impulses leave is rounding of what they take
            slip = max(slip, tolerances.ROUNDING_TOLERANCE * self.fastest)
        for flags in (from_rest, found.flags):
            still = returned(t, y, self._switched(made, flags, found.closed), slip)
            if still is not None:
                return still
        return y

    def _gripped(self, seen: ContactState, near: Set[int], *, full: bool = False) -> ContactForces | None:
        """Contact forces of the contacts *near* and of joint friction."""
        if near or self.always:
            return solve_active_set(seen, near, self.smooth, limit=self._limit, full=full)
        return ContactForces(frozenset(), np.zeros_like(self.flags), [0.0] * len(seen.drift), seen.drift)

    def _switched(self, made: BoundSystem, flags: FloatArray, near: Set[int]) -> BoundSystem:
        """System with the contacts *near* closed, with *flags*."""
        return self._coded(made, flags, self.code(near))

    def _coded(self, made: BoundSystem, flags: FloatArray, code: CompiledSystem) -> BoundSystem:
        """*code* bound to *flags*; the last few are cached."""
        key = code, flags.tobytes(), made.p.tobytes(), made.forces.constant.tobytes()
        found = self._bounds.get(key)
        if found is None:
            if len(self._bounds) >= KEPT:
                self._bounds.clear()
            found = self._bounds[key] = made.with_flags(made.p, flags, code)
        return found

    def _full(
        self, t: float, y: FloatArray, seen: ContactState, found: ContactForces, made: BoundSystem, room: float
    ) -> bool:
        """True where the remaining friction of a sticking contact, by the code, is no more than *room* or within rounding, so
        that its event would be missed.
        """
        sticks = found.flags[:, STUCK].tolist()
        if not any(sticks):
            return False
        made = self._switched(made, found.flags, found.closed)
        told = self._told(t, y, made).tolist()
        pushed = {i: value for (i, normal), value in zip(self.events, told, strict=True) if normal}
        bounds = [bound * pushed.get(i, 1.0) for i, bound in enumerate(seen.static)]
        least = UNTOLD * max(bounds)
        contact_rows = [
            k for k, (i, normal) in enumerate(self.events) if not normal and sticks[i] > 0 and bounds[i] > least
        ]
        left = {k: told[k] / bounds[self.events[k][0]] for k in contact_rows}
        near = [k for k, part in left.items() if part <= HIDDEN]
        if not near or min(left.values()) <= room:
            return bool(near)
        times, states = perturbed_starts(t, t + self.until, y, made.code.rate_call(t, y, made.h))
        values = np.array([self._told(at, state, made)[near] for at, state in zip(times.tolist(), states, strict=True)])
        return bool((evaluation_errors(values) >= 0).any())

    def _pulled(self, t: float, y: FloatArray, found: ContactForces, made: BoundSystem) -> Set[int]:
        """Contacts in *found* that the code would pull, at once or, at zero force, soon."""
        if not found.closed:
            return frozenset()
        made = self._switched(made, found.flags, found.closed)
        soon = SOON * max(1.0, self.until)
        now = self._told(t, y, made).tolist()
        then = self._told(t + soon, y + soon * made.code.rate_call(t, y, made.h), made).tolist()
        forces = {i: (now[k], then[k]) for k, (i, normal) in enumerate(self.events) if normal and i in found.closed}
        most = max(abs(force) for pair in forces.values() for force in pair)
        none = -tolerances.FORCE_TOLERANCE * most
        return {
            i
            for i, (at, later) in forces.items()
            if at < none or (at <= 2 * tolerances.FORCE_TOLERANCE * most and later < none)
        }

    def _begin(self, found: ContactForces) -> list[int]:
        """Joints that pass from sticking to slip initiation in *found*."""
        begin = (found.flags[:, BEGINS] * self.flags[:, STUCK]).tolist()
        return [i for i, place in enumerate(self.contact_rows) if place.normal is None and begin[i]]

    def _later(self, t: float, y: FloatArray, made: BoundSystem, found: ContactForces) -> ContactForces:
        """Contact forces a little later, with the closed contacts of *found*: where several joints saturate at once, the growth
        of the forces decides which of them slip.
        """
        made = self._switched(made, self.flags, self.closed)
        later = LATER * max(1.0, self.until)
        seen = self._look_on(t + later, y + later * made.code.rate_call(t, y, made.h), made)
        return self._gripped(seen, found.closed) or found

    def _ahead(
        self, t: float, y: FloatArray, seen: ContactState, found: ContactForces, made: BoundSystem
    ) -> ContactForces:
        """Contact forces *found*, distributed as close as admissible now to the distribution at saturation; in between they are
        admissible, since friction cones are convex.
        """
        going = self._switched(made, found.flags, found.closed)
        rate, later = going.code.rate_call(t, y, going.h), list[ContactForces]()
        way = max(t - self.changed, SOON * max(1.0, self.until))
        low, high = (0.0, found.needs), (math.inf, math.inf)
        for _ in range(FORESEEN):
            state = y + way * rate
            then = redistributed_forces(self._look_on(t + way, state, made), found, self.smooth)
            if then is None or then.needs >= 1:
                high = way, math.inf if then is None else then.needs
            elif then.needs <= low[1]:
                break
            else:
                later.append(self._matched(t + way, state, then, made))
                if 1 - then.needs <= NEARER * (1 - found.needs):
                    break
                slope, low = (then.needs - low[1]) / (way - low[0]), (way, then.needs)
            if math.isfinite(high[1]):
                slope = (high[1] - low[1]) / (high[0] - low[0])
            elif high[0] < math.inf:
                slope = 2 * (1 - low[1]) / (high[0] - low[0])
            way = low[0] + (1 - NEARER / 2) * (1 - low[1]) / slope
        tried = (_interpolated_forces(found, then, part) for then in reversed(later) for part in PARTS)
        return next((g for g in tried if self._bears(t, y, seen, g, made)), found)

    def _bears(self, t: float, y: FloatArray, seen: ContactState, found: ContactForces, made: BoundSystem) -> bool:
        """True where forces satisfy all friction limits, and push."""
        return not (self._full(t, y, seen, found, made, 0.0) or self._pulled(t, y, found, made))

    def _told(self, t: float, y: FloatArray, made: BoundSystem) -> FloatArray:
        """Values of the guards."""
        return made.code.event_call(t, y, made.h)[-len(self.events) :]

    def check(self, t: float, y: FloatArray, made: BoundSystem) -> Numbers:
        """Gaps. Raises :class:`SimulationError` for penetration, and for inadmissible laws."""
        return check_gaps(self.touches, self.same, t, y, made)

    def open(self) -> list[int]:
        """Indices of the guards on gaps of open contacts."""
        return [k for k, (i, normal) in enumerate(self.events) if normal and i not in self.closed]

    def slipping(self) -> list[int]:
        """Indices of the guards on slip along a line."""
        return [k for k, i in self.lines if self.flags[i, SLIPS] > 0]

    def _letting_go(self, fired: Sequence[int]) -> Set[int]:
        """Contacts that separate, by events of normal forces that *fired*."""
        return {i for i, normal in (self.events[k] for k in fired) if normal and i in self.closed}

    def _holding(
        self, t: float, seen: ContactState, near: Set[int], loose: Set[int] = frozenset(), *, full: bool = False
    ) -> ContactForces:
        """Contact forces of the contacts *near*; contacts *loose* separate unless pressed again."""
        found = self._gripped(seen, near - loose, full=full)
        if found is not None and loose and self._pressed(seen, found.a, loose):
            found = self._gripped(seen, near, full=full)
        if found is None:
            raise no_contact_solution(self.touches, near, t, "forces")
        return found

    def _pressed(self, seen: ContactState, a: Numbers, loose: Set[int]) -> bool:
        """True where separated contacts are pressed again at accelerations *a* along the rows."""
        along, least = seen.normal(a), MODE_TOLERANCE * max(map(abs, seen.drift), default=0.0)
        return any(along[i] < -least for i in loose)

    def _nearer(self, closed: Set[int], made: BoundSystem) -> Callable[[float, FloatArray], FloatArray]:
        """Projection of the gaps of *closed* contacts, in a state at a time."""
        if not closed:
            return lambda _, y: y
        flags = np.zeros(self.flags.shape)
        for i in closed:
            flags[i, 0] = 1.0
        own = self._switched(made, flags, closed)
        position, h = own.code.projection_calls[0], own.h
        return lambda t, y: position(t, y, h)

    def _struck(
        self, t: float, y: FloatArray, near: Set[int], loose: Set[int], made: BoundSystem
    ) -> tuple[ContactState, ContactForces, Set[int]]:
        """Change the speeds of *y* by impacts; return the contact state after them, the contact forces, and the separating
        contacts.

        Closed contacts take part. A contact near that separates does not, until an impact sends it back.
        """
        seen, struck = self.look(t, y, made), list[int]()
        held: tuple[ContactForces, Set[int]] | None = None
        for turn in range(CASCADE + 1):
            speed = seen.normal(seen.slip)
            noise = {
                i: seen.quick * (tolerances.STATE_TOLERANCE if i in self.closed else tolerances.ROUNDING_TOLERANCE)
                for i in near
            }
            hits = {i for i in near if speed[i] < -noise[i]}
            if not hits:
                break
            part = {i for i in near if speed[i] <= noise[i] or (i in self.closed and not turn) or turn == CASCADE}
            seen, found, leaving = self._rebounded(t, y, seen, hits, part, near, loose, made)
            held = found, leaving
            struck += sorted(hits)
        self.struck = sorted(set(struck))
        self.said += (f"{self.touches[i].name} strikes" for i in struck)
        return self._parted(t, y, near, loose, made)[:3] if held is None else (seen, *held)

    def _rebounded(
        self,
        t: float,
        y: FloatArray,
        seen: ContactState,
        hits: Set[int],
        part: Set[int],
        near: Set[int],
        loose: Set[int],
        made: BoundSystem,
    ) -> tuple[ContactState, ContactForces, Set[int]]:
        """Change the speeds of *y* by the impact of the contacts *hits*, in which the contacts *part* may push."""
        speed = seen.normal(seen.slip)
        self.fastest = max(self.fastest, -min(speed[i] for i in hits))
        tired: Set[int] = frozenset()
        low: Set[int] = {i for i in hits if speed[i] >= -tolerances.ROUNDING_TOLERANCE * self.fastest}
        while True:  # what comes to rest may bring others to rest with it
            tired |= low
            after, impulse = y.copy(), self._rebound(t, seen, part, hits - tired)
            after[self.nq : self.nq + self.nv] += impulse @ seen.Y
            then, found, leaving, low = self._parted(t, after, near, loose, made)
            if low <= tired:
                break
        y[:] = after
        self.blows += impacts(self.touches, t, seen, impulse.tolist(), hits)
        for i in hits:
            self.impacts[i] += 1
        for i in sorted(tired):
            if self.impacts[i] > FEW:
                self.calm.setdefault(self.touches[i].name, (t, self.impacts[i]))
        return then, found, leaving

    def _rebound(self, t: float, seen: ContactState, near: Set[int], keen: Set[int]) -> FloatArray:
        """Impulses along the rows, with restitution at the contacts *keen*."""
        restitution = [e if i in keen else 0.0 for i, e in enumerate(seen.restitution)]
        impulse = impulses(seen, near, restitution, self.poisson)
        if impulse is None:
            raise no_contact_solution(self.touches, near, t, "impulses")
        return np.array(impulse)

    def _parted(
        self, t: float, y: FloatArray, near: Set[int], loose: Set[int], made: BoundSystem
    ) -> tuple[ContactState, ContactForces, Set[int], Set[int]]:
        """Contact state after all impacts, contact forces, separating contacts, and contacts that separate too slowly to be
        resolved.
        """
        seen = self._look_on(t, y, made)
        speed = seen.normal(seen.slip)
        away, low = {i for i in near if speed[i] > tolerances.ROUNDING_TOLERANCE * seen.quick}, frozenset[int]()
        while True:
            leaving = away - low
            found = self._holding(t, seen, near - leaving, loose)
            more = self._low(t, y, seen, found, leaving, made)
            if not more:
                return seen, found, leaving, low
            low |= more

    def _low(
        self, t: float, y: FloatArray, seen: ContactState, found: ContactForces, leaving: Set[int], made: BoundSystem
    ) -> Set[int]:
        """Contacts *leaving* whose flight cannot be resolved in height or time while the contact forces *found* act."""
        speed, fall = seen.normal(seen.slip), seen.normal(found.a)
        height = {i: speed[i] ** 2 / (2 * max(-fall[i], tolerances.LEAST_DIVISOR)) for i in leaving}
        if all(high > self.same for high in height.values()):
            return frozenset()
        nearer = self._nearer(found.closed, made)
        states = (nearer(t, state) for state in y * (1 + 64 * tolerances.EPS * perturbation_signs(TRIED, len(y))))
        beside = [made.code.contact_call(t, state, made.h)[: len(self.touches)].tolist() for state in states]
        told = {
            i: max(abs(gaps[i] - seen.gaps[i]) for gaps in beside) + tolerances.EVENT_TOLERANCE * self.until * speed[i]
            for i in leaving
        }
        spent = {
            i for i in leaving if 0 < self._taken(seen, i, speed[i]) <= LATE * t * -fall[i] and height[i] < self.same
        }
        return spent | {i for i, high in height.items() if high < TOLD * told[i]}

    def _taken(self, seen: ContactState, i: int, speed: float) -> float:
        """Approach speed lost by the impact of a contact that leaves with *speed*."""
        return (1 / seen.restitution[i] - 1) * speed if seen.restitution[i] > 0 else 0.0

    def _ways(self, t: float, y: FloatArray, made: BoundSystem) -> dict[int, FloatArray]:
        """Directions of continued slip, by contact; along a line the run knows them."""
        slips = [i for i, how in enumerate(self.flags[:, SLIPS].tolist()) if how > 0]
        ways = {i: self.flags[i, ALONG : ALONG + len(self.contact_rows[i].tangents)] for i in slips}
        if any(len(way) > 1 for way in ways.values()):
            slip = self.look(t, y, made).slip
            ways |= {
                i: np.array([slip[k] for k in self.contact_rows[i].tangents]) for i, way in ways.items() if len(way) > 1
            }
        return ways

    def _tell(self, closed: Set[int], flags: FloatArray, ways: Mapping[int, FloatArray]) -> None:
        """Describe the transition; slip had the directions *ways* before."""
        for i, touch in enumerate(self.touches):
            if (i in closed) != (i in self.closed):
                self.said.append(f"{touch.name} {'rests' if i in closed else 'leaves'}")
            for k, word in ((1, "sticks"), (2, "slips")):
                if flags[i, k] and not self.flags[i, k]:
                    self.said.append(f"{touch.name} {word}")
            if i in ways and flags[i, SLIPS] and ways[i] @ flags[i, ALONG : ALONG + len(ways[i])] < 0:
                self.said.append(f"{touch.name} reverses")

    def notes(self) -> tuple[str, ...]:
        """Sentences on a projected start, and on contacts at rest after an accumulation of impacts."""
        still = {self.touches[i].name for i in self.closed}
        calm = (
            f"'{name}' came to rest at t = {t:.6g} s after {n} impacts."
            for name, (t, n) in self.calm.items()
            if name in still
        )
        return (*[self.brought] * bool(self.brought), *calm)


def _interpolated_forces(a: ContactForces, b: ContactForces, part: float) -> ContactForces:
    """Contact forces between *a* and *b*, at this *part* of the way from *a*."""
    return replace(a, flags=a.flags + part * (b.flags - a.flags))


def _time_of_flight(seen: ContactState, a: Numbers, leaving: Set[int]) -> float:
    """Time at which the first of the contacts *leaving* turns back at accelerations *a* along the rows, before it can close
    again.
    """
    speed, fall = seen.normal(seen.slip), seen.normal(a)
    return min((-speed[i] / fall[i] for i in leaving if fall[i] < 0), default=math.inf)
