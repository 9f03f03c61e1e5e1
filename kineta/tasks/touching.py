"""The contacts of a motion from one mode to the next: what strikes, what comes to rest, what holds from there on."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kineta.formalism.slipping import ALLOWED
from kineta.formalism.touch import FLAGS, Touch, pressing, standing
from kineta.numerics.problem import Trials, nearby, noise, signs
from kineta.tasks.code import Bound, Code
from kineta.tasks.grip import ALONG, ALONG_N, SPENT, STILL, STUCK, Grip, grip, reshared, shares_forces
from kineta.tasks.impact import impulses
from kineta.tasks.look import Look, Numbers, look, places
from kineta.tasks.sound import check_bounds, check_gaps, check_held, check_slopes, jammed
from kineta.tasks.trying import returned, trials

FloatArray = NDArray[np.float64]

#: Part of the fastest approach below which a contact comes to rest instead of leaving again.
REST = 1e-12
#: Speeds below this part of the fastest are rounding, of states, and of those on the way back to what is closed.
NOISE, RESTING = 1e-13, 1e-9
#: Part of what one gives soon, below which it is in a dead point; and of what moves until then, that a slip is.
DEAD, MOVES = 1e-3, 1e-14
#: Part of the largest acceleration with which something must be pressed again to stay where its force came to zero.
PRESSED = 1e-6
#: Part of the largest force that is none, and one that is nearly none, beyond the errors with which forces are found; and part of
#: the largest time after which it is asked whether that pulls, and after which it is who slips.
NO_FORCE, HARDLY, SOON, LATER = 1e-9, 2e-9, 1e-6, 1e-5
#: How often it is looked ahead where forces come to their bounds; to which part of what is left of these that goes; and parts of
#: the way to how forces are shared there.
FORESEEN, NEARER, PARTS = 4, 0.02, (1.0, 0.7, 0.4)
#: Impacts that follow each other at one time, of which each sends back what another has sent away; what is near then strikes at
#: once.
CASCADE = 400
#: Impacts before a rest is worth a word.
FEW = 2
#: Rounding of a state, and in how many directions it is tried; by how many times what it does to a gap a body must rise to be
#: seen to have left.
ROUNDOFF, TRIED, TOLD = 64 * 2.0**-52, 8, 10.0
#: Part of the time that is rounding: where it gives a bounce as much speed as an impact takes, bounces never end.
LATE = 8 * 2.0**-52
#: How many blocks of numbers are kept for modes that come again.
KEPT = 16
#: Part of the largest bound below which the code does not tell a force from one.
UNTOLD = 1e-7
#: Part of a bound below which rounding may hide what is left of it.
HIDDEN = 1e-5
#: Which of the flags say that something slips, and that it begins to, or would.
SLIPS, BEGINS = map(FLAGS.index, ("slips", "begins"))
#: Rows of a system, all of whose touches are pressed where one of them is.
SMALL = 6


@dataclass(eq=False)
class Touching:
    """The touches of a motion, and what they do at present.

    same : gaps below this are closed [m]
    codes : the code for runs with the forces of some touches
    until : the largest time of the motion, forwards or backwards from zero [s]
    constraints : their names
    fastest : the fastest approach to a contact so far; ``changed`` is when the last change was
    flight : how long what has just left goes away, about, or forces that are shared stay within their bounds [s]
    said, struck : what happened in the last change, and which contacts were struck in it
    impacts : of every contact so far; ``calm`` is when it came to rest after how many
    brought : what is said of a start that was beyond a contact or limit by little
    """

    touches: Sequence[Touch]
    nq: int
    nv: int
    same: float
    codes: Callable[[frozenset[str]], Code]
    until: float
    constraints: Sequence[str] = ()
    fastest: float = 0.0
    flight: float = np.inf
    changed: float = np.nan
    said: list[str] = field(default_factory=list)
    struck: list[int] = field(default_factory=list)
    calm: dict[str, tuple[float, int]] = field(default_factory=dict)
    brought: str = ""

    def __post_init__(self) -> None:
        m = len(self.touches)
        self.places = places(self.touches)
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
        self.small = sum(len(place.rows) for place in self.places) <= SMALL
        self._codes: dict[frozenset[int], Code] = {}
        self._bounds: dict[tuple[Code, bytes, bytes, bytes], Bound] = {}
        self._trials: dict[Code, Trials | None] = {}
        self._met: frozenset[int] = frozenset()
        self._limit = 1.0

    def look(self, t: float, y: FloatArray, made: Bound) -> Look:
        """The touches at a state."""
        return look(self.places, t, y, self.nv, made)

    def _look_on(self, t: float, y: FloatArray, made: Bound) -> Look:
        """The touches at a state, and which way those in dead points go on."""
        seen = self.look(t, y, made)
        lines = ((i, p.tangents[0]) for i, p in enumerate(self.places) if len(p.tangents) == 1 and not self.smooth[i])
        still = [(i, row) for i, row in lines if abs(seen.slip[row]) <= STILL * seen.quick]
        if not still or not len(made.code.rows):
            return seen
        half, soon = SOON * max(1.0, self.until) / 2, y
        for k in range(2):  # what rests is moved by its speeds in the second half
            soon = soon + half * made.code.going(t + k * half, soon, made.h)
        then = self.look(t + 2 * half, soon, made)
        dead = {i: then.slip[row] for i, row in still if not seen.S[row][row] > DEAD * then.S[row][row]}
        least = MOVES * float(np.abs(soon - y).max())
        return replace(seen, onward={i: math.copysign(1.0, slip) for i, slip in dead.items() if abs(slip) > least})

    def code(self, near: Set[int]) -> Code:
        """The code for motions in which those *near* may press, and friction in joints: in a small system that of all, else of
        all that have been near so far, or that of none; beside what holds single speeds.
        """
        if near and not near <= self._met:
            self._met |= frozenset(range(len(self.touches))) if self.small else near
        met = self._met if near else frozenset[int]()
        found = self._codes.get(met)
        if found is None:
            names = [self.touches[i].name for i in met]
            found = self._codes[met] = self.codes(pressing(self.touches, names) if near else standing(self.touches))
        return found

    def flies(self) -> bool:
        """Whether all is open, and nothing rubs in joints."""
        return not (self.closed or self.always)

    def striking(self, made: Bound) -> Bound | None:
        """The code with what happens where one strikes, in flight one of those that have been near; None where that has none."""
        if not self.flies():
            return made
        return self._switched(made, np.zeros_like(self.flags), self._met) if self._met else None

    def bounced(self, events: NDArray[np.int64], t: FloatArray, approaches: FloatArray) -> list[str]:
        """Take note of those that struck at the times *t*, with *approaches* along the normals, and left again: their names."""
        struck = self.gap_events[events].tolist()
        for i in struck:
            self.impacts[i] += 1
        self.fastest, self.changed = max(self.fastest, -float(approaches.min())), float(t[-1])
        return [self.touches[i].name for i in struck]

    def trials(self, made: Bound, first: int, work: int) -> Trials | None:
        """What the loop has to know to try modes by the code *made*, whose events of touches come behind the *first*, and whose
        state has the *work* done there.
        """
        if shares_forces(self.flags):
            return None
        if made.code not in self._trials:
            rest = self.same, first, work, self.until
            strikes = made.code.bounce is not None
            self._trials[made.code] = trials(made, self.touches, self._told_of, *rest, strikes=strikes)
        found = self._trials[made.code]
        return None if found is None else found.beside(made.given)

    def noted(self, made: Bound, event: int, t: float, approach: float, flags: FloatArray) -> Callable[[], Bound]:
        """Take note of a touch that changed at the time *t*, after an *approach* if it struck, and of the *flags* of what presses
        from there on: what gives the code for the motion from there on.
        """
        (i, normal), present = self.events[event], np.zeros_like(self.flags)
        present[made.code.presses] = flags.reshape(-1, len(FLAGS))
        closed = frozenset(k for k in self.contacts if present[k, 0])
        strikes = normal and i not in self.closed
        self.said = [f"{self.touches[i].name} strikes"] * strikes
        self.impacts[i] += strikes
        self.fastest = max(self.fastest, -approach)
        self._tell(closed, present)
        self.closed, self.flags, self.changed, self.flight = closed, present, t, math.inf
        return partial(self._coded, made, present, made.code)

    def change(self, t: float, y: FloatArray, made: Bound, fired: Sequence[int] = ()) -> tuple[FloatArray, Bound]:
        """The state after what happens at *t*, where the events *fired*, and the code for the motion from there on.

        Raises :class:`SimulationError` where one body is inside another, and where the laws of contact have no solution.
        """
        self.said, self.struck = [], []
        if not self.touches:
            return y, made
        gaps = self.check(t, y, made)
        if self.bounds:
            check_bounds(self.touches, self.bounds, fired, self.until, t, y, made)
        near = {i for i in self.contacts if gaps[i] <= self.same}
        loose = self._letting_go(fired)
        grows = any(self.flags[i, STUCK] and not normal for i, normal in (self.events[k] for k in fired))
        self._limit = SPENT if grows else 1.0
        made = self._switched(made, self.flags, near)
        nearer = self._nearer(near, made)
        closer = nearer(t, nearer(t, y))
        if not np.isfinite(closer).all():
            check_slopes(self.touches, near, t, self.look(t, y, made))
        y = closer
        if self.constraints:  # where the position has moved, speeds are those of another one
            free = self._switched(made, np.zeros_like(self.flags), near)
            y = free.code.nearer[1](t, y, free.h)
        seen, found, leaving = self._struck(t, y, near, loose, made)
        self.flight = _flight(seen, found.a, leaving)
        shared = found.shared
        found = self._borne(t, y, seen, found, made, grows=grows)
        still = self._still(t, y, seen, found, made)
        # What comes to rest a little later than others comes to rest with them; and what has come to rest may have no room left.
        spent = grows and found.shared and self._full(t, still, seen, found, made, 0.0)
        if spent or self._is_astray(t, still, found, made):
            y, seen = still, self._look_on(t, still, made)
            found = self._borne(t, y, seen, self._holding(t, seen, found.closed), made, grows=grows)
            still = self._still(t, y, seen, found, made)
        self._tell(found.closed, found.flags)
        if shared and t > self.changed:  # room is left for a part of the time that went before
            self.flight = min(self.flight, t - self.changed)
        self.closed, self.flags, self.changed = found.closed, found.flags, t
        made = self._switched(made, self.flags, self.closed)
        held = [i for i, p in enumerate(self.places) if i in self.closed or (p.normal is None and not self.smooth[i])]
        if self.constraints and held:
            check_held(self.touches, held, self.constraints, t, y, seen, made)
        return still, made

    def _borne(self, t: float, y: FloatArray, seen: Look, found: Grip, made: Bound, *, grows: bool) -> Grip:
        """What is *found* to hold, as the code can tell it from what does not."""
        found = self._matched(t, y, found, made)
        if grows and found.shared and self._full(t, y, seen, found, made, 0.0):
            found = self._matched(t, y, self._holding(t, seen, found.closed, full=True), made)
        elif not grows and self._full(t, y, seen, found, made, ALLOWED):
            found.flags[:, BEGINS] += found.flags[:, STUCK]
        while pulled := self._pulled(t, y, found, made):  # as one lets go another may: all that a body tips away from
            rest = self._gripped(seen, found.closed - pulled)
            if rest is None:
                raise jammed(self.touches, found.closed, t, "forces")
            found = self._matched(t, y, rest, made)
        if grows and len(self._begin(found)) > 1:
            found = self._matched(t, y, self._later(t, y, made, found), made)
        return self._ahead(t, y, seen, found, made) if grows and found.shared and found.needs < 1 else found

    def _matched(self, t: float, y: FloatArray, found: Grip, made: Bound) -> Grip:
        """What is *found* to hold, by its forces: where some hold single speeds, they take what the code leaves to them, and the
        least forces of the others are not those of a search that knows all rows alike.
        """
        if not self.code(found.closed).locks or self._are_enough(t, y, found, made):
            return found
        flags = found.flags.copy()
        sticks = [i for i, how in enumerate(flags[:, STUCK].tolist()) if how > 0]
        flags[sticks, ALONG:BEGINS] = 0.0
        flags[:, ALONG_N] = 0.0
        least = self._forces(t, y, self._switched(made, flags, found.closed)).tolist()
        none = NO_FORCE * max(map(abs, found.x), default=0.0)
        more = [x - own if abs(x - own) > none else 0.0 for x, own in zip(found.x, least, strict=True)]
        for i in found.closed:
            flags[i, ALONG_N] = more[self.places[i].rows[0]]
        for i in sticks:
            flags[i, ALONG : ALONG + len(self.places[i].tangents)] = [more[row] for row in self.places[i].tangents]
        return replace(found, flags=flags)

    def _are_enough(self, t: float, y: FloatArray, found: Grip, made: Bound) -> bool:
        """Whether the least forces of the code keep to all bounds where those *found* are the least."""
        if found.shared:
            return False
        told = self._told(t, y, self._switched(made, found.flags, found.closed)).tolist()
        sticks = found.flags[:, STUCK].tolist()
        at_work = ((normal and i in found.closed) or (not normal and sticks[i] > 0) for i, normal in self.events)
        return all(value > 0 for value, works in zip(told, at_work, strict=True) if works)

    def _forces(self, t: float, y: FloatArray, made: Bound) -> FloatArray:
        """The forces along all rows, by the code."""
        observed, count = made.code.seen(t, y, made.h), sum(len(place.rows) for place in self.places)
        end = len(observed) - made.code.layout.levels
        return observed[end - count : end]

    def _is_astray(self, t: float, y: FloatArray, found: Grip, made: Bound) -> bool:
        """Whether something along a line would soon slip against the way of its slip."""
        lines = [k for k, i in self.lines if found.flags[i, SLIPS] > 0]
        if not lines:
            return False
        made, soon = self._switched(made, found.flags, found.closed), SOON * max(1.0, self.until)
        then = self._told(t + soon, y + soon * made.code.going(t, y, made.h), made)
        return bool((then[lines] < -ROUNDOFF * np.abs(y).max()).any())

    def _still(self, t: float, y: FloatArray, seen: Look, found: Grip, made: Bound) -> FloatArray:
        """The state in which what is closed or sticks, or at least begins to slip from rest, does not move, nor constraints."""
        made = self._switched(made, found.flags, found.closed)
        if not len(made.code.rows):
            _, velocity = made.code.nearer
            return velocity(t, y, made.h) if self.constraints else y
        from_rest = found.flags.copy()
        from_rest[:, STUCK] = np.maximum(found.flags[:, STUCK], found.flags[:, BEGINS])
        resting = from_rest[:, STUCK].tolist()
        held = [place.normal for i, place in enumerate(self.places) if i in found.closed and place.normal is not None]
        held += (row for i, place in enumerate(self.places) if resting[i] for row in place.tangents)
        slip = max((abs(seen.slip[row]) for row in held), default=0.0)
        if self.struck:  # what impulses leave is rounding of what they take
            slip = max(slip, REST * self.fastest)
        for flags in (from_rest, found.flags):
            still = returned(t, y, self._switched(made, flags, found.closed), slip)
            if still is not None:
                return still
        return y

    def _gripped(self, seen: Look, near: Set[int], *, full: bool = False) -> Grip | None:
        """What holds of those *near*, and of friction in joints."""
        if near or self.always:
            return grip(seen, near, self.smooth, limit=self._limit, full=full)
        return Grip(frozenset(), np.zeros_like(self.flags), [0.0] * len(seen.drift), seen.drift)

    def _switched(self, made: Bound, flags: FloatArray, near: Set[int]) -> Bound:
        """The code for motions in which those *near* may press, with *flags*."""
        return self._coded(made, flags, self.code(near))

    def _coded(self, made: Bound, flags: FloatArray, code: Code) -> Bound:
        """*code* with *flags*: the last few are kept."""
        key = code, flags.tobytes(), made.p.tobytes(), made.forces.constant.tobytes()
        found = self._bounds.get(key)
        if found is None:
            if len(self._bounds) >= KEPT:
                self._bounds.clear()
            found = self._bounds[key] = made.switched(made.p, flags, code)
        return found

    def _full(self, t: float, y: FloatArray, seen: Look, found: Grip, made: Bound, room: float) -> bool:
        """Whether the code sees no more than this part as *room* up to the bound of something that sticks, or no more than
        rounding: the event of that would not be seen to come to zero.
        """
        sticks = found.flags[:, STUCK].tolist()
        if not any(sticks):
            return False
        made = self._switched(made, found.flags, found.closed)
        told = self._told(t, y, made).tolist()
        pushed = {i: value for (i, normal), value in zip(self.events, told, strict=True) if normal}
        bounds = [bound * pushed.get(i, 1.0) for i, bound in enumerate(seen.static)]
        least = UNTOLD * max(bounds)
        places = [k for k, (i, normal) in enumerate(self.events) if not normal and sticks[i] > 0 and bounds[i] > least]
        left = {k: told[k] / bounds[self.events[k][0]] for k in places}
        near = [k for k, part in left.items() if part <= HIDDEN]
        if not near or min(left.values()) <= room:
            return bool(near)
        times, states = nearby(t, t + self.until, y, made.code.going(t, y, made.h))
        values = np.array([self._told(at, state, made)[near] for at, state in zip(times.tolist(), states, strict=True)])
        return bool((noise(values) >= 0).any())

    def _pulled(self, t: float, y: FloatArray, found: Grip, made: Bound) -> Set[int]:
        """Which contacts *found* to hold the code would pull, at once or, where their force is none, soon."""
        if not found.closed:
            return frozenset()
        made = self._switched(made, found.flags, found.closed)
        soon = SOON * max(1.0, self.until)
        now = self._told(t, y, made).tolist()
        then = self._told(t + soon, y + soon * made.code.going(t, y, made.h), made).tolist()
        forces = {i: (now[k], then[k]) for k, (i, normal) in enumerate(self.events) if normal and i in found.closed}
        most = max(abs(force) for pair in forces.values() for force in pair)
        none = -NO_FORCE * most
        return {i for i, (at, later) in forces.items() if at < none or (at <= HARDLY * most and later < none)}

    def _begin(self, found: Grip) -> list[int]:
        """The joints that stick so far and begin to slip as is *found*."""
        begin = (found.flags[:, BEGINS] * self.flags[:, STUCK]).tolist()
        return [i for i, place in enumerate(self.places) if place.normal is None and begin[i]]

    def _later(self, t: float, y: FloatArray, made: Bound, found: Grip) -> Grip:
        """What holds a little later, if all holds until then, of those that are *found* to be closed: where several joints come
        to their bounds at once, the way in which forces grow tells who slips.
        """
        made = self._switched(made, self.flags, self.closed)
        later = LATER * max(1.0, self.until)
        seen = self._look_on(t + later, y + later * made.code.going(t, y, made.h), made)
        return self._gripped(seen, found.closed) or found

    def _ahead(self, t: float, y: FloatArray, seen: Look, found: Grip, made: Bound) -> Grip:
        """What is *found* to hold, with forces shared as near to where they come to their bounds, if they grow as they do, as may
        be while these hold now: between both they hold as well, since what friction can bear is convex.
        """
        going = self._switched(made, found.flags, found.closed)
        rate, later = going.code.going(t, y, going.h), list[Grip]()
        way = max(t - self.changed, SOON * max(1.0, self.until))
        low, high = (0.0, found.needs), (math.inf, math.inf)
        for _ in range(FORESEEN):
            state = y + way * rate
            then = reshared(self._look_on(t + way, state, made), found, self.smooth)
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
        tried = (_between(found, then, part) for then in reversed(later) for part in PARTS)
        return next((g for g in tried if self._bears(t, y, seen, g, made)), found)

    def _bears(self, t: float, y: FloatArray, seen: Look, found: Grip, made: Bound) -> bool:
        """Whether forces are within all bounds, and push."""
        return not (self._full(t, y, seen, found, made, 0.0) or self._pulled(t, y, found, made))

    def _told(self, t: float, y: FloatArray, made: Bound) -> FloatArray:
        """The values of the events."""
        return made.code.told(t, y, made.h)[-len(self.events) :]

    def check(self, t: float, y: FloatArray, made: Bound) -> Numbers:
        """The gaps. Raises :class:`SimulationError` where one body is inside another, and for laws that are none."""
        return check_gaps(self.touches, self.same, t, y, made)

    def open(self) -> list[int]:
        """The places of the events that are gaps of what is open."""
        return [k for k, (i, normal) in enumerate(self.events) if normal and i not in self.closed]

    def slipping(self) -> list[int]:
        """The places of the events of what slips along a line."""
        return [k for k, i in self.lines if self.flags[i, SLIPS] > 0]

    def _letting_go(self, fired: Sequence[int]) -> Set[int]:
        """Which contacts let go, by events of normal forces that *fired*."""
        return {i for i, normal in (self.events[k] for k in fired) if normal and i in self.closed}

    def _holding(
        self, t: float, seen: Look, near: Set[int], loose: Set[int] = frozenset(), *, full: bool = False
    ) -> Grip:
        """What those that are *near* do from here on; what is *loose* lets go, if nothing presses it again."""
        found = self._gripped(seen, near - loose, full=full)
        if found is not None and loose and self._pressed(seen, found.a, loose):
            found = self._gripped(seen, near, full=full)
        if found is None:
            raise jammed(self.touches, near, t, "forces")
        return found

    def _pressed(self, seen: Look, a: Numbers, loose: Set[int]) -> bool:
        """Whether what let go is pressed again at accelerations *a* along the rows."""
        along, least = seen.normal(a), PRESSED * max(map(abs, seen.drift), default=0.0)
        return any(along[i] < -least for i in loose)

    def _nearer(self, closed: Set[int], made: Bound) -> Callable[[float, FloatArray], FloatArray]:
        """What brings the gaps of what is *closed* nearer to zero, in a state at a time."""
        if not closed:
            return lambda _, y: y
        flags = np.zeros(self.flags.shape)
        for i in closed:
            flags[i, 0] = 1.0
        own = self._switched(made, flags, closed)
        position, h = own.code.nearer[0], own.h
        return lambda t, y: position(t, y, h)

    def _struck(
        self, t: float, y: FloatArray, near: Set[int], loose: Set[int], made: Bound
    ) -> tuple[Look, Grip, Set[int]]:
        """Let impacts change the speeds of *y*; the touches after them, what holds then, and which contacts are left.

        What is closed takes part. What is near and moves apart does not: it is struck when an impact sends it back.
        """
        seen, struck = self.look(t, y, made), list[int]()
        held: tuple[Grip, Set[int]] | None = None
        for turn in range(CASCADE + 1):
            speed = seen.normal(seen.slip)
            noise = {i: seen.quick * (RESTING if i in self.closed else NOISE) for i in near}
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
        seen: Look,
        hits: Set[int],
        part: Set[int],
        near: Set[int],
        loose: Set[int],
        made: Bound,
    ) -> tuple[Look, Grip, Set[int]]:
        """Let the impact of what *hits*, in which all that is *part* of it may push, change the speeds of *y*."""
        speed = seen.normal(seen.slip)
        self.fastest = max(self.fastest, -min(speed[i] for i in hits))
        tired: Set[int] = frozenset()
        low: Set[int] = {i for i in hits if speed[i] >= -REST * self.fastest}
        while True:  # what comes to rest may bring others to rest with it
            tired |= low
            after = y.copy()
            after[self.nq : self.nq + self.nv] += self._rebound(t, seen, part, hits - tired) @ seen.Y
            then, found, leaving, low = self._parted(t, after, near, loose, made)
            if low <= tired:
                break
        y[:] = after
        for i in hits:
            self.impacts[i] += 1
        for i in sorted(tired):
            if self.impacts[i] > FEW:
                self.calm.setdefault(self.touches[i].name, (t, self.impacts[i]))
        return then, found, leaving

    def _rebound(self, t: float, seen: Look, near: Set[int], keen: Set[int]) -> FloatArray:
        """The impulses along the rows, with restitution where contacts are *keen*."""
        restitution = [e if i in keen else 0.0 for i, e in enumerate(seen.restitution)]
        impulse = impulses(seen, near, restitution, self.poisson)
        if impulse is None:
            raise jammed(self.touches, near, t, "impulses")
        return np.array(impulse)

    def _parted(
        self, t: float, y: FloatArray, near: Set[int], loose: Set[int], made: Bound
    ) -> tuple[Look, Grip, Set[int], Set[int]]:
        """The touches after all impacts, what holds then, which contacts are left with the speeds that they have, and which would
        be, but too slowly to be seen to.
        """
        seen = self._look_on(t, y, made)
        speed = seen.normal(seen.slip)
        away, low = {i for i in near if speed[i] > NOISE * seen.quick}, frozenset[int]()
        while True:
            leaving = away - low
            found = self._holding(t, seen, near - leaving, loose)
            more = self._low(t, y, seen, found, leaving, made)
            if not more:
                return seen, found, leaving, low
            low |= more

    def _low(self, t: float, y: FloatArray, seen: Look, found: Grip, leaving: Set[int], made: Bound) -> Set[int]:
        """Which of those *leaving* rise no higher than gaps, or their times, can be told from each other, while what is *found*
        to hold holds.
        """
        speed, fall = seen.normal(seen.slip), seen.normal(found.a)
        height = {i: speed[i] ** 2 / (2 * max(-fall[i], 1e-300)) for i in leaving}
        if all(high > self.same for high in height.values()):
            return frozenset()
        nearer = self._nearer(found.closed, made)
        states = (nearer(t, state) for state in y * (1 + ROUNDOFF * signs(TRIED, len(y))))
        beside = [made.code.touch(t, state, made.h)[: len(self.touches)].tolist() for state in states]
        told = {
            i: max(abs(gaps[i] - seen.gaps[i]) for gaps in beside) + ROUNDOFF * self.until * speed[i] for i in leaving
        }
        spent = {
            i for i in leaving if 0 < self._taken(seen, i, speed[i]) <= LATE * t * -fall[i] and height[i] < self.same
        }
        return spent | {i for i, high in height.items() if high < TOLD * told[i]}

    def _taken(self, seen: Look, i: int, speed: float) -> float:
        """What an impact has taken of the approach of one that leaves with a *speed*."""
        return (1 / seen.restitution[i] - 1) * speed if seen.restitution[i] > 0 else 0.0

    def _tell(self, closed: Set[int], flags: FloatArray) -> None:
        """Say what changes."""
        for i, touch in enumerate(self.touches):
            if (i in closed) != (i in self.closed):
                self.said.append(f"{touch.name} {'rests' if i in closed else 'leaves'}")
            for k, word in ((1, "sticks"), (2, "slips")):
                if flags[i, k] and not self.flags[i, k]:
                    self.said.append(f"{touch.name} {word}")

    def notes(self) -> tuple[str, ...]:
        """Sentences on a start that was moved, and on the contacts that rest after many impacts."""
        still = {self.touches[i].name for i in self.closed}
        calm = (
            f"'{name}' came to rest at t = {t:.6g} s after {n} impacts."
            for name, (t, n) in self.calm.items()
            if name in still
        )
        return (*[self.brought] * bool(self.brought), *calm)


def _between(a: Grip, b: Grip, part: float) -> Grip:
    """What holds by forces between those of *a* and *b*, this *part* of the way from *a*."""
    return replace(a, flags=a.flags + part * (b.flags - a.flags))


def _flight(seen: Look, a: Numbers, leaving: Set[int]) -> float:
    """When the first of those *leaving* turns back at accelerations *a* along the rows, which is before it may touch again."""
    speed, fall = seen.normal(seen.slip), seen.normal(a)
    return min((-speed[i] / fall[i] for i in leaving if fall[i] < 0), default=math.inf)
