"""Whether programs of motion can be influenced along a motion: the watch over their gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.numerics.segment import Segment
from kineta.tasks.carrying import Carrying
from kineta.tasks.fading import FAINT, Fading
from kineta.tasks.jumping import jumping
from kineta.tasks.losing import Bend, Dip, Looked, Turn, answered
from kineta.tasks.nearing import N, Stretch, near
from kineta.tasks.task import Task

FloatArray = NDArray[np.float64]

#: Part of the whole time by which a motion has to go on where it is stuck; by which what is foretold is there; and by which it
#: may be wrong where a motion is stuck.
AHEAD, THERE, SOON = 1e-10, 1e-6, 1e-2
#: How often a step at whose end influence is faint is made anew in vain before it is rounding that suspects it.
VAIN = 20
#: Part of it that is looked at before and behind a jump.
BESIDE = 1e-7
#: Part of the largest state, by the gradients, by which programs are missed where numbers have become too large for them: of the
#: states before steps became short, as where a motion runs away, which is this part of the longest.
BLURRED, SHORTER = 1e-10, 1e-2
#: Part of its largest length that a gradient keeps where it does not vanish.
STAYS = 1e-3


@dataclass(frozen=True)
class Lost:
    """Where a motion has to end: its last time and state, and why, in words. It comes there in the ``last`` segments, from the
    end of the step that ends at ``since``. Where a program ``jumps`` it is no gradient that is lost.
    """

    t: float
    y: FloatArray
    why: str
    since: tuple[float, FloatArray]
    last: Sequence[Segment] = ()
    jumps: bool = False


class Gradients:
    """Watches whether the programs of a motion can be influenced along it: what answers them must not vanish nor turn round in a
    step, which no residual shows, and no program may come to where it has no gradient. There the motion ends: its last step is
    made anew by *carry*, in steps that end at the instant. Where an answer goes to zero while the motion becomes
    faster and faster, no step reaches that: the motion ends before it. It ends, too, where it runs away until rounding is more
    than what is asked for.
    """

    def __init__(self, task: Task, carry: Carrying) -> None:
        self._system, self._made, self._carry = task.system, task.made, carry
        self._t, self._y, self._span = task.t0, task.y0, abs(task.t1 - task.t0)
        self._ahead = AHEAD * (task.t1 - task.t0)
        self._states = task.states
        self._size = max(1.0, float(np.abs(self._y[: self._states]).max(initial=0.0)))
        self._fading = Fading(task.t0)
        self._answers, self._lengths, self._largest = np.ones(1), np.zeros(1), np.zeros(1)
        first = self._looked(Stretch(np.array([self._t]), self._y[None]))
        self._answers = first.answers[0]
        self._grow(self._looked(first.stretch))

    def _looked(self, stretch: Stretch) -> Looked:
        """What programs are in a *stretch*, whose states are brought back to them; sizes of influence are relative to the largest
        that each has had.
        """
        B, Z, edges, kinks = self._made.gradients(stretch.t, self._carry.met(stretch.t, stretch.y))
        S = np.einsum("kan,kbn->kab", B, Z) / (self._answers[:, None] * self._answers)
        valued = np.isfinite(S).all(axis=(1, 2))
        least = np.full((len(S), 1), np.nan)
        least[valued, 0] = np.linalg.svd(S[valued], compute_uv=False)[:, -1]
        return Looked(stretch, B, Z, np.concatenate([least, np.abs(edges)], axis=1), kinks)

    def _grow(self, looked: Looked) -> None:
        """Keep how large what was *looked* at has been."""
        self._answers = np.maximum(self._answers, looked.answers.max(axis=0))
        self._lengths = np.maximum(self._lengths, np.linalg.norm(looked.B, axis=2).max(axis=0))
        self._largest = np.maximum(self._largest, looked.sizes.max(axis=0))

    def look(self, segment: Segment, end: tuple[float, FloatArray] | None) -> Lost | None:
        """Where the motion has to end in *segment*, before its *end*; None where it can go on."""
        t, y = segment.t, segment.y
        if end is not None:
            inside = (t - end[0]) * np.sign(t[-1] - segment.t0) < 0
            t, y = np.append(t[inside], end[0]), np.vstack([y[inside], end[1]])
        if not len(t):
            return self._stuck() if segment.end else None
        assert segment.solution is not None
        looked = self._looked(Stretch.of(self._t, self._y, t, y, segment.solution))
        met = self._met(t, self._carry.met(t, y), looked.B[N])
        sizes = looked.sizes[N::N]
        least = np.sqrt((sizes / np.maximum(self._largest, sizes)).min(axis=1))
        faded = self._fading.follow(t[:met], least[:met])
        vain = 0
        for i, find in self._suspects(looked):
            if i > (met if faded is None else faded):
                break
            if lost := self._nearer(segment.mode, looked.stretch, i, find):
                return lost
            vain += least[i] <= FAINT
            if vain > VAIN and self._fading.soon(stuck=True) is not None:
                faded = i
                break
        if faded is None and met < len(t):
            return self._blurred(looked, met)
        soon = self._fading.soon(stuck=faded is not None)
        if soon is not None:
            i = len(t) - 1 if faded is None else faded
            return self._ends(float(t[i]), y[i], f"{self._lost(looked.B[N * i + N])} {self._when(float(t[i]), soon)}")
        self._t, self._y = float(t[-1]), y[-1]
        self._grow(looked)
        return self._stuck() if segment.end else None

    def _suspects(self, looked: Looked) -> Iterator[tuple[int, Turn | Dip | Bend]]:
        """Steps by number in which a program may jump, or a gradient may be lost, in their order, and what finds where."""
        by_step = (looked.bent.reshape(-1, N), looked.turned.reshape(-1, N), looked.dipping)
        bent, turned, dipping = (np.logical_or.reduce(x, axis=1) for x in by_step)
        for i in np.flatnonzero(bent | turned | dipping).tolist():
            if bent[i]:
                yield i, Bend(self._looked)
            if turned[i]:
                yield i, Turn(self._looked)
            yield from ((i, Dip(self._looked, k)) for k in np.flatnonzero(looked.dipping[i]).tolist())

    def _nearer(self, mode: Any, stretch: Stretch, i: int, find: Turn | Dip | Bend) -> Lost | None:
        """Where the motion has to end in the step number *i* of a *stretch*, as *find* says; None where it can go on."""
        t, y, end = float(stretch.t[N * i]), stretch.y[N * i], float(stretch.t[N * i + N])
        instant = near(self._carry, t, y, end, mode, find)
        if isinstance(find, Bend):
            there = instant and (instant.t if instant.stuck else instant.behind)
            return self._jump(there, instant.t, instant.y, (t, y), instant.segments) if instant and there else None
        if instant is None or find.around is None or (there := find.when(instant)) is None:
            return None
        looked, before, after = find.around
        own = self._made.code.layout.edges[find.k - 1] if isinstance(find, Dip) and find.k else None
        why = self._lost(looked.B[after], looked.B[before], own)
        return Lost(instant.t, instant.y, f"{why} at t = {there:.6g} s", (t, y), instant.segments)

    def _stuck(self) -> Lost | None:
        """Why a motion does not get on that came to its last state, if that is a gradient which vanishes."""
        rate, n = self._made.code.rate, len(self._y)
        change = self._ahead * rate(np.array([self._t]), self._y, self._made.h)[:n]
        beyond = self._y + np.where(np.isfinite(change), change, 0.0)  # what else has no value there is not for here
        looked = self._looked(Stretch(np.array([self._t, self._t + self._ahead]), np.array([self._y, beyond])))
        if looked.bent[0] and (lost := self._jump(self._t, self._t, self._y, (self._t, self._y))):
            return lost
        soon = self._fading.soon(stuck=True)
        if looked.turned[0] or (soon is not None and abs(soon - self._t) <= SOON * self._span):
            return self._ends(self._t, self._y, f"{self._lost(looked.B[1], looked.B[0])} at t = {self._t:.6g} s")
        return None

    def _jump(
        self, there: float, t: float, y: FloatArray, since: tuple[float, FloatArray], last: Sequence[Segment] = ()
    ) -> Lost | None:
        """The end of a motion before a program that jumps at a kink; None where it does not."""
        what = jumping(self._system, self._made, there, y, BESIDE * self._span)
        why = f"{what} jumps at t = {there:.6g} s, which no motion follows; give a path without corners, as tanh, or end before"
        return Lost(t, y, why, since, last, jumps=True) if what else None

    def _blurred(self, looked: Looked, met: int) -> Lost:
        """Where the motion has to end that meets its programs in so many of the steps *looked* at."""
        t, y, soon = float(looked.stretch.t[N * met]), looked.stretch.y[N * met], self._fading.soon(stuck=True)
        if soon is None or abs(soon - t) > SOON * self._span:
            return self._ends(t, y, f"the motion under {self._programs} becomes infinitely fast near t = {t:.3g} s")
        return self._ends(t, y, f"{self._lost(looked.B[N * met])} {self._when(t, soon)}")

    def _ends(self, t: float, y: FloatArray, why: str) -> Lost:
        """The end of a motion at the end of a step."""
        return Lost(t, y, why, (t, y))

    def _when(self, t: float, soon: float) -> str:
        """The time that is foretold at *t*, in words."""
        return f"at t = {soon:.6g} s" if abs(soon - t) <= THERE * self._span else f"near t = {soon:.6g} s"

    def _met(self, t: FloatArray, y: FloatArray, B: FloatArray) -> int:
        """How many of the states still meet the programs, their highest derivatives too, whose gradients are *B* at the first."""
        own = self._made.code.layout.programs
        off = np.abs(self._made.code.observe(t[:, None], y, self._made.h)[:, -len(own) :])
        steps = np.abs(np.diff(t, prepend=self._t))
        short = steps <= SHORTER * np.maximum.accumulate(np.maximum(steps, self._fading.longest))
        self._size = max(self._size, float(np.abs(y[~short, : self._states]).max(initial=0.0)))
        allowed = BLURRED * self._size * np.maximum(self._lengths, np.linalg.norm(B, axis=1))[list(own)]
        missed = np.flatnonzero(short & ~(off <= allowed).all(axis=1))
        return int(missed[0]) if len(missed) else len(t)

    @property
    def _programs(self) -> str:
        names = ", ".join(f"'{own.name}'" for own in self._system.programs)
        return f"the program {names}" if len(self._system.programs) == 1 else f"the programs {names}"

    def _lost(self, after: FloatArray, before: FloatArray | None = None, own: int | None = None) -> str:
        """What happens where gradients (programs, nv) come to be *after*, perhaps from those *before*, in words; that of the
        program number *own* has no value there.
        """
        system = self._system
        stays = np.linalg.norm(after, axis=1) > STAYS * self._lengths
        names = [p.name for p in system.programs]
        turns = before is not None and not answered(before[None], after[None])[0] > 0
        if system.control.actuators and own is None and stays.all() and not turns:
            return f"the forces on {', '.join(n for n, _ in system.control.actuators)} lose hold of {self._programs}"
        gone = [own] if own is not None else np.flatnonzero(~stays).tolist()
        if len(gone) == 1:
            return f"the gradient of the program '{names[gone[0]]}' vanishes"
        several = ", or of a combination of them," if len(names) > 1 else ""
        return f"the gradient of {self._programs}{several} vanishes"
