"""The contacts of a motion from one mode to the next: what strikes, what comes to rest, what holds from there on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kineta.errors import SimulationError
from kineta.formalism.touch import FLAGS, Touch
from kineta.numerics.problem import signs
from kineta.tasks.code import Bound, Code
from kineta.tasks.grip import grip
from kineta.tasks.impact import impulses
from kineta.tasks.look import Look, look, normals, places

FloatArray = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: Part of the fastest approach below which a contact comes to rest instead of leaving again.
REST = 1e-12
#: Speeds below this part of the fastest are rounding, of states, and of those on the way back to what is closed.
NOISE, RESTING = 1e-13, 1e-9
#: By how many times the gaps that are the same something may be beyond its contact, and be at it.
BEYOND = 100.0
#: Part of the largest acceleration with which something must be pressed again to stay where its force came to zero.
PULLED = 1e-6
#: Impacts before a rest is worth a word.
FEW = 2
#: Rounding of a state; and by how many times what it does to a gap a body must rise to be seen to have left.
ROUNDOFF, TOLD = 64 * 2.0**-52, 10.0
#: Rows of a system, all of whose touches are pressed where one of them is.
SMALL = 16


@dataclass(eq=False)
class Touching:
    """The touches of a motion, and what they do at present.

    same : gaps below this are closed [m]
    codes : the code for runs with the forces of some touches
    fastest : the fastest approach to a contact so far
    flight : how long what has just left goes away, about [s]
    said : what happened in the last change
    impacts : of every contact so far; ``calm`` is when it came to rest after how many
    """

    touches: Sequence[Touch]
    nq: int
    nv: int
    same: float
    codes: Callable[[frozenset[str]], Code]
    fastest: float = 0.0
    flight: float = np.inf
    said: list[str] = field(default_factory=list)
    calm: dict[str, tuple[float, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        m = len(self.touches)
        self.places = places(self.touches)
        self.normals = normals(self.places)
        self.closed, self.flags = np.zeros(m, dtype=bool), np.zeros((m, len(FLAGS)))
        self.impacts = np.zeros(m, dtype=np.int64)
        self.events = [
            (i, normal)
            for i, touch in enumerate(self.touches)
            for normal, there in ((True, touch.normal), (False, touch.tangents and touch.smooth is None))
            if there
        ]
        self.smooth = np.array([touch.smooth is not None for touch in self.touches], dtype=bool)
        self.poisson = np.array([touch.poisson for touch in self.touches], dtype=bool)
        self.contact = np.array([touch.normal is not None for touch in self.touches], dtype=bool)

    def look(self, t: float, y: FloatArray, made: Bound) -> Look:
        """The touches at a state."""
        return look(self.places, self.normals, t, y, self.nv, made)

    def code(self, near: Bools) -> Code:
        """The code for motions in which those *near* may press, and friction in joints; in a small system all, or none."""
        joints = {touch.name for touch in self.touches if touch.normal is None}
        wanted = joints | {self.touches[i].name for i in np.flatnonzero(near).tolist()}
        if wanted != joints and sum(len(place.rows) for place in self.places) <= SMALL:
            wanted = {touch.name for touch in self.touches}
        return self.codes(frozenset(wanted))

    def change(self, t: float, y: FloatArray, made: Bound, fired: Sequence[int] = ()) -> tuple[FloatArray, Bound]:
        """The state after what happens at *t*, where the events *fired*, and the code for the motion from there on.

        Raises :class:`SimulationError` where one body is inside another, and where the laws of contact have no solution.
        """
        self.said = []
        if not self.touches:
            return y, made
        self.check(t, y, made)
        loose, giving = self._letting_go(fired)
        near = self.contact & (self.look(t, y, made).gaps <= self.same)
        made = made.switched(made.p, self.flags, self.code(near))
        y = self._closed(t, y, near, made)
        leaving = self._struck(t, y, near, made)
        seen = self.look(t, y, made)
        self.flight = _flight(seen, leaving)
        found = grip(seen, near & ~leaving & ~loose, self.smooth, giving)
        if found is not None and (seen.normal(found.a)[loose] < -PULLED * np.abs(seen.drift).max(initial=0.0)).any():
            found = grip(
                seen, near & ~leaving, self.smooth, giving
            )  # what let go is pressed again by what changed with it
        if found is None:
            raise self._jammed(t, near, "forces")
        self._tell(found.closed, found.flags)
        self.closed, self.flags = found.closed, found.flags
        made = made.switched(made.p, self.flags, self.code(self.closed))
        _, velocity = made.code.nearer
        return velocity(t, y, made.h), made

    def check(self, t: float, y: FloatArray, made: Bound) -> None:
        """Raise :class:`SimulationError` where one body is inside another."""
        gaps = self.look(t, y, made).gaps
        if gaps.min(initial=0.0) < -BEYOND * self.same:
            k = int(gaps.argmin())
            raise SimulationError(
                f"at t = {t:g} s '{self.touches[k].name}' is {-gaps[k]:.3g} beyond its contact; expected a gap of zero or more"
            )

    def _letting_go(self, fired: Sequence[int]) -> tuple[Bools, list[int]]:
        """Which contacts let go, by events of normal forces that *fired*, and which touches give way, by those of friction."""
        loose, giving = np.zeros(len(self.touches), dtype=bool), []
        for k in fired:
            i, normal = self.events[k]
            if normal:
                loose[i] = self.closed[i]
            elif self.flags[i, 1]:
                giving.append(i)
        return loose, giving

    def _closed(self, t: float, y: FloatArray, near: Bools, made: Bound) -> FloatArray:
        """The state with the gaps closed that are as good as closed."""
        if not near.any():
            return y
        flags = np.zeros_like(self.flags)
        flags[near, 0] = 1.0
        position, _ = made.code.nearer
        h = made.switched(made.p, flags).h
        return position(t, position(t, y, h), h)

    def _struck(self, t: float, y: FloatArray, near: Bools, made: Bound) -> Bools:
        """Let impacts change the speeds of *y*; which contacts are left then, or were about to."""
        seen = self.look(t, y, made)
        speed = seen.normal(seen.slip)
        hits = near & (speed < np.where(self.closed, -RESTING, -NOISE) * seen.quick)
        if not hits.any():
            return near & (speed > NOISE * seen.quick)
        self.fastest = max(self.fastest, -float(speed[hits].min()))
        tired = hits & (speed >= -REST * self.fastest)
        impulse, leaving = self._rebound(t, seen, near, hits & ~tired)
        low = leaving & self._is_low(t, y, seen, impulse, made)
        if low.any():
            tired |= low
            impulse, leaving = self._rebound(t, seen, near, hits & ~tired)
        y[self.nq : self.nq + self.nv] += seen.Y.T @ impulse
        self.impacts += hits
        self.said += [f"{self.touches[i].name} strikes" for i in np.flatnonzero(hits).tolist()]
        for i in np.flatnonzero(tired & (self.impacts > FEW)).tolist():
            self.calm.setdefault(self.touches[i].name, (t, int(self.impacts[i])))
        return leaving & ~tired

    def _rebound(self, t: float, seen: Look, near: Bools, keen: Bools) -> tuple[FloatArray, Bools]:
        """The impulses along the rows, with restitution where contacts are *keen*, and which contacts leave with them."""
        impulse = impulses(seen, near, np.where(keen, seen.restitution, 0.0), self.poisson)
        if impulse is None:
            raise self._jammed(t, near, "impulses")
        return impulse, near & (seen.normal(seen.slip + seen.S @ impulse) > NOISE * seen.quick)

    def _is_low(self, t: float, y: FloatArray, seen: Look, impulse: FloatArray, made: Bound) -> Bools:
        """Whether contacts rise no higher after an *impulse* than gaps can be told from each other."""
        speed = seen.normal(seen.slip + seen.S @ impulse)
        height = speed * speed / (2 * np.maximum(-seen.normal(seen.drift), 1e-300))
        if height.min(initial=np.inf) > self.same:
            return np.zeros(len(speed), dtype=bool)
        beside = [self.look(t, y * (1 + ROUNDOFF * s), made).gaps for s in signs(2, len(y))]
        return np.asarray(height < TOLD * np.max([np.abs(gaps - seen.gaps) for gaps in beside], axis=0))

    def _jammed(self, t: float, near: Bools, what: str) -> SimulationError:
        names = ", ".join(f"'{self.touches[i].name}'" for i in np.flatnonzero(near | ~self.contact).tolist())
        return SimulationError(
            f"at t = {t:g} s no {what} of {names} keep to the laws of contact and friction: with so much friction rigid bodies "
            "may jam (Painleve). Use less friction, or a law that is smooth"
        )

    def _tell(self, closed: Bools, flags: FloatArray) -> None:
        """Say what changes."""
        for i, touch in enumerate(self.touches):
            if closed[i] != self.closed[i]:
                self.said.append(f"{touch.name} {'rests' if closed[i] else 'leaves'}")
            for k, word in ((1, "sticks"), (2, "slips")):
                if flags[i, k] and not self.flags[i, k]:
                    self.said.append(f"{touch.name} {word}")

    def notes(self) -> tuple[str, ...]:
        """Sentences on the contacts that rest after many impacts."""
        still = {touch.name for touch, closed in zip(self.touches, self.closed, strict=True) if closed}
        return tuple(
            f"'{name}' came to rest at t = {t:.6g} s after {n} impacts."
            for name, (t, n) in self.calm.items()
            if name in still
        )


def _flight(seen: Look, leaving: Bools) -> float:
    """When the first of those *leaving* turns back, which is before it may touch again."""
    speed, fall = seen.normal(seen.slip)[leaving], seen.normal(seen.drift)[leaving]
    return float(np.min(-speed[fall < 0] / fall[fall < 0], initial=np.inf))
