"""Whether programs of motion can be influenced along a motion: the watch over their gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.model.system import System
from kineta.numerics.segment import Segment
from kineta.tasks.code import Bound

FloatArray = NDArray[np.float64]

#: Part of its largest value below which the least answer of programs to their controls has vanished.
VANISHED = 1e-10
#: Part of the whole time by which a motion has to go on at its end.
AHEAD = 1e-10
#: Part of its largest value below which an answer that falls may come to vanish; and part of the longest step below which all of
#: the last steps, so many, are short without end.
LOW, SHORT, LAST = 0.05, 1e-7, 10
#: Part of the largest state, by the gradients, by which programs are missed where numbers have become too large for them: of the
#: states before steps became short, as where a motion runs away, which is this part of the longest.
BLURRED, SHORTER = 1e-10, 1e-2
#: How many times between two steps are looked at to find when a gradient turns round, each time.
LOOKS = 101
#: Part of its largest length that a gradient keeps where it does not vanish.
STAYS = 1e-3


@dataclass(frozen=True)
class Lost:
    """Where a motion has to end: its last time and state, and why, in words."""

    t: float
    y: FloatArray
    why: str


class Gradients:
    """Watches whether the programs of a motion can be influenced along it: what answers them must not vanish nor turn round
    between two steps, which no residual shows. Where it goes to zero while the motion becomes faster and faster, no step
    reaches that: the motion ends before it. It ends, too, where it runs away until rounding is more than what is asked for.
    """

    def __init__(self, system: System, made: Bound, t: tuple[float, float], y: FloatArray) -> None:
        self._system, self._made = system, made
        self._t, self._y = t[0], y
        self._ahead = AHEAD * (t[1] - t[0])
        self._gradients = made.gradients(np.array(t[:1]), y[None])[0][0]
        self._sizes = np.zeros(made.code.layout.gradients[0])
        self._lengths = np.linalg.norm(self._gradients, axis=1)
        self._states = made.code.layout.states(system)
        self._size = max(1.0, float(np.abs(y[: self._states]).max(initial=0.0)))
        self._longest, self._recent = 0.0, np.zeros(0)
        self._halves: list[tuple[float, float]] = []

    def _least(self, B: FloatArray, Z: FloatArray) -> FloatArray:
        """The least influence of the controls on combinations of programs, relative to the largest that each has had."""
        S = np.einsum("kan,kbn->kab", B, Z)
        sizes = np.sqrt(np.maximum(np.abs(np.diagonal(S, axis1=1, axis2=2)), 1e-300))
        largest = np.maximum.accumulate(np.vstack([self._sizes, sizes]))[1:]
        self._sizes = largest[-1] if len(largest) else self._sizes
        S = S / (largest[:, :, None] * largest[:, None, :])
        valued = np.isfinite(S).all(axis=(1, 2))
        least = np.full(len(S), np.nan)
        least[valued] = np.linalg.svd(S[valued], compute_uv=False)[:, -1]
        return least

    def look(self, segment: Segment, end: tuple[float, FloatArray] | None) -> Lost | None:
        """Where the motion has to end in *segment*, before its *end*; None where it can go on."""
        t, y = segment.t, segment.y
        if end is not None:
            inside = (t - end[0]) * np.sign(t[-1] - segment.t0) <= 0
            t, y = t[inside], y[inside]
        if not len(t):
            stuck = bool(segment.end) and self._standing(np.array([self._t]), self._y[None]) < 0
            why = f"{self._lost(self._gradients, self._gradients)} at t = {self._t:.6g} s"
            return Lost(self._t, self._y, why) if stuck else None
        B, Z = self._made.gradients(t, y)
        if (met := self._met(t, y, B[0])) < len(t):
            self._follow(t[:met], np.sqrt(self._least(B[:met], Z[:met])))
            last = self._at(met - 1, t, y)
            soon, fast = self._vanishing(last[0]), "before which the motion becomes ever faster"
            lost = f"{self._lost(B[0], B[max(met - 1, 0)])} near t = {soon:.4g} s, {fast}" if soon else ""
            return Lost(
                *last, lost or f"the motion under {self._programs} becomes infinitely fast near t = {last[0]:.3g} s"
            )
        before = np.concatenate([self._gradients[None], B[:-1]])
        turned, here = _answered(before, Z), _answered(B, Z)
        least = self._least(B, Z)
        bad = np.flatnonzero((turned * np.sign(here) <= 0) | ~(least > VANISHED))
        if len(bad):
            i = int(bad[0])
            last = self._at(i - 1, t, y)
            there = self._turn(*last, float(t[i]))
            return Lost(*last, f"{self._lost(before[i], B[i])} at t = {there:.6g} s")
        if segment.end is not None and (i := self._standing(t, y)) < len(t) - 1:
            return Lost(*self._at(i, t, y), f"{self._lost(B[i], B[i + 1])} at t = {t[i + 1]:.6g} s")
        if (soon := self._fading(t, np.sqrt(least))) is not None:
            why = f"{self._lost(before[-1], B[-1])} near t = {soon:.4g} s, before which the motion becomes ever faster"
            return Lost(float(t[-1]), y[-1], why)
        self._t, self._y, self._gradients = float(t[-1]), y[-1], B[-1]
        self._lengths = np.maximum(self._lengths, np.linalg.norm(B, axis=2).max(axis=0))
        return None

    def _at(self, i: int, t: FloatArray, y: FloatArray) -> tuple[float, FloatArray]:
        """Time and state number *i* of a segment, or those before its first."""
        return (float(t[i]), y[i]) if i >= 0 else (self._t, self._y)

    def _turn(self, t: float, y: FloatArray, end: float) -> float:
        """When a gradient turns round between *t*, where the state is *y*, and *end*, if the state goes on as it does there."""
        rate = self._made.code.rate(np.array([t]), y, self._made.h)[: len(y)]
        for _ in range(3):
            times = np.linspace(t, end, LOOKS)
            B, Z = self._made.gradients(times, y + (times - t)[:, None] * rate)
            behind = np.flatnonzero(~(_answered(B[:1].repeat(LOOKS, 0), Z) * np.sign(_answered(B, Z)) > 0))
            if not len(behind) or not behind[0]:
                break
            y = y + (times[behind[0] - 1] - t) * rate
            t, end = float(times[behind[0] - 1]), float(times[behind[0]])
        return end

    def _standing(self, t: FloatArray, y: FloatArray) -> int:
        """The last of the states from which the motion goes on a little, and the gradients with it; -1 for none."""
        rate, n = self._made.code.rate, y.shape[1]
        for i in reversed(range(len(t))):
            change = self._ahead * rate(t[i : i + 1], y[i], self._made.h)[:n]
            beyond = y[i] + np.where(np.isfinite(change), change, 0.0)  # what else has no value there is not for here
            B, Z = self._made.gradients(np.array([t[i], t[i] + self._ahead]), np.array([y[i], beyond]))
            if (_answered(B[:1], Z[1:]) * _answered(B[1:], Z[1:]))[0] > 0:
                return i
        return -1

    def _met(self, t: FloatArray, y: FloatArray, B: FloatArray) -> int:
        """How many of the states still meet the programs, their highest derivatives too, whose gradients are *B* at the first."""
        own = self._made.code.layout.programs
        off = np.abs(self._made.code.observe(t[:, None], y, self._made.h)[:, -len(own) :])
        steps = np.abs(np.diff(t, prepend=self._t))
        short = steps <= SHORTER * np.maximum.accumulate(np.maximum(steps, self._longest))
        self._size = max(self._size, float(np.abs(y[~short, : self._states]).max(initial=0.0)))
        allowed = BLURRED * self._size * np.maximum(self._lengths, np.linalg.norm(B, axis=1))[list(own)]
        missed = np.flatnonzero(short & ~(off <= allowed).all(axis=1))
        return int(missed[0]) if len(missed) else len(t)

    def _follow(self, t: FloatArray, least: FloatArray) -> None:
        """Keep the times *t* in which the *least* that answers the programs fell to a half, and to a half again."""
        for time, size in zip(t.tolist(), least.tolist(), strict=True):
            while self._halves and size > 2 * self._halves[-1][1]:
                self._halves.pop()
            if not self._halves or 2 * size < self._halves[-1][1]:
                self._halves.append((time, size))

    def _vanishing(self, t: float) -> float | None:
        """When what answers the programs comes to vanish, from the times in which it fell to a half, if it is low at *t*."""
        if len(self._halves) < 3 or self._halves[-1][1] > LOW:
            return None
        (first, _), (second, _), (third, _) = self._halves[-3:]
        ratio = (second - first) / (third - second)
        return third + (third - second) / (ratio - 1) if ratio > 1 else t

    def _fading(self, t: FloatArray, least: FloatArray) -> float | None:
        """When what answers the programs comes to vanish, if it is low, falls, and the steps to the times *t* have become short
        without end.
        """
        self._follow(t, least)
        steps = np.abs(np.diff(t, prepend=self._t))
        self._longest = max(self._longest, float(steps.max()))
        self._recent = np.concatenate([self._recent, steps])[-LAST:]
        short = len(self._recent) == LAST and self._recent.max() <= SHORT * self._longest
        return self._vanishing(float(t[-1])) if short and least[-1] <= self._halves[-1][1] else None

    @property
    def _programs(self) -> str:
        names = ", ".join(f"'{own.name}'" for own in self._system.programs)
        return f"the program {names}" if len(self._system.programs) == 1 else f"the programs {names}"

    def _lost(self, before: FloatArray, after: FloatArray) -> str:
        """What happens where gradients (programs, nv) go from those *before* to those *after*, in words."""
        system = self._system
        stays = np.linalg.norm(after, axis=1) > STAYS * self._lengths
        if system.control.actuators and stays.all() and np.linalg.det(before @ after.T) > 0:
            return f"the forces on {', '.join(n for n, _ in system.control.actuators)} lose hold of {self._programs}"
        several = ", or of a combination of them," if len(system.programs) > 1 else ""
        return f"the gradient of {self._programs}{several} vanishes"


def _answered(B: FloatArray, Z: FloatArray) -> FloatArray:
    """How much *Z* answers the gradients *B*, (k, programs, nv) each: its sign changes where these turn round."""
    with np.errstate(invalid="ignore"):  # where there is no gradient there is no sign
        return np.asarray(np.linalg.det(np.einsum("kan,kbn->kab", B, Z)))
