"""Instants at which programs of motion lose their gradients: search within steps, approach, finite-time blow-up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray, Mask
from kineta.integration.segment import Segment
from kineta.numerics.linear_algebra import det
from kineta.numerics.roots import DIP, PARTS
from kineta.records import dataclass

#: Multiple of the curvature between two samples above which a size stays nonzero.
CURVATURE_FACTOR = 4.0
#: Part of its earlier value to which a size falls at an end where it vanishes.
DECAY_PART = 0.25
#: Part of a stretch of steps within which a state lies at its end.
END_TOLERANCE = 1e-2


@dataclass(frozen=True)
class GradientSamples:
    """Programs in the states of ``steps``: gradients B and input distribution Z (m, programs, nv); ``sizes`` (m, 1 + edges), of
    second order, of the least influence on the programs and of quantities that vanish where a gradient is undefined; and
    quantities that change sign at ``kinks`` (m, kinks).
    """

    steps: StepSamples
    B: FloatArray
    Z: FloatArray
    sizes: FloatArray
    kinks: FloatArray

    @property
    def kinked(self) -> Mask:
        """Intervals, (m - 1,), with a kink or step of a program; never at the first state."""
        one, other = self.kinks[:-1], self.kinks[1:]
        leaves = (one == 0) & (other != 0) & (np.arange(len(one)) > 0)[:, None]
        return np.asarray(np.logical_or.reduce((one * other < 0) | leaves, axis=1))

    @property
    def influence(self) -> FloatArray:
        """Influence on each program, (m, programs), of the order of its gradient."""
        return np.asarray(np.sqrt(np.abs(np.einsum("kan,kan->ka", self.B, self.Z))))

    @property
    def sign_changed(self) -> Mask:
        """Intervals, (m - 1,), with a change of sign of the decoupling determinant, or with an undefined one."""
        goes_on = (
            decoupling_determinant(self.B[:-1], self.Z[1:]) * np.sign(decoupling_determinant(self.B[1:], self.Z[1:]))
            > 0
        )
        return np.asarray(~goes_on & self._known[:-1] & self._known[1:])

    @property
    def _known(self) -> Mask:
        """States that are finite, (m,)."""
        return np.asarray(np.isfinite(self.steps.y).all(axis=1))

    def size(self, k: int) -> FloatArray:
        """Size number *k* in the states, (m,): zero where undefined, infinite in unknown states."""
        return np.where(self._known, np.nan_to_num(self.sizes[:, k], nan=0.0), np.inf)

    @property
    def curvature(self) -> FloatArray:
        """Bound of the fall of each size between two states of a step, (steps, sizes)."""
        second = np.diff(self._steps, 2, axis=1)
        third = np.diff(second, axis=1)
        most = (np.abs(x).max(axis=1) for x in (second, third, np.diff(third, axis=1)))
        return np.asarray(DIP * sum(most))

    @property
    def near_zero(self) -> Mask:
        """Sizes that may vanish in a step, (steps, sizes)."""
        least = self._steps.min(axis=1)
        return np.asarray(np.isnan(least) | (least <= self.curvature))

    @property
    def _steps(self) -> FloatArray:
        """Sizes by step, (steps, intervals + 1, sizes)."""
        steps = (len(self.sizes) - 1) // INTERVALS
        return np.asarray(self.sizes[INTERVALS * np.arange(steps)[:, None] + np.arange(INTERVALS + 1)])


class SignChange:
    """Search for a change of sign of the decoupling determinant."""

    def __init__(self, look: Callable[[StepSamples], GradientSamples]) -> None:
        self._look = look
        self.around: tuple[GradientSamples, int, int] | None = None

    def __call__(self, stretch: StepSamples) -> tuple[int, int] | None:
        """Indices of the states around it, None for none."""
        looked = self._look(stretch)
        turned = np.flatnonzero(looked.sign_changed)
        if not len(turned):
            return None
        i = int(turned[0])
        self.around = looked, i, i + 1
        return i, i + 1

    def when(self, instant: SingularInstant) -> float | None:
        """Time of the change near the *instant*; None for none."""
        if self.around is None:
            return None
        return instant.t if instant.stalled else instant.after


class Kink:
    """Search for a kink or a step of a program."""

    def __init__(self, look: Callable[[StepSamples], GradientSamples]) -> None:
        self._look = look

    def __call__(self, stretch: StepSamples) -> tuple[int, int] | None:
        """Indices of the states around it, None for none."""
        bent = np.flatnonzero(self._look(stretch).kinked)
        return (int(bent[0]), int(bent[0]) + 1) if len(bent) else None


class DoubleRoot:
    """Search for a double root of the size number *k*, or for its root at an end. The influence, number 0, is relative to its
    largest value: the square of a gradient that vanishes stays within rounding of zero, and a motion with that error passes by.
    """

    def __init__(self, look: Callable[[StepSamples], GradientSamples], k: int) -> None:
        self._look, self.k = look, k
        self.around: tuple[GradientSamples, int, int] | None = None
        self._first = 0.0

    def __call__(self, stretch: StepSamples) -> tuple[int, int] | None:
        """Indices of the states around it, None where the size stays nonzero."""
        looked = self._look(stretch)
        sizes = looked.size(self.k)
        most = float(sizes.max(where=np.isfinite(sizes), initial=0.0))
        self._first = self._first or most
        i, last = int(sizes.argmin()), len(sizes) - 1
        before, after = max(i - 1, 0), min(i + 1, last)
        bend = looked.curvature[[before // INTERVALS, (after - 1) // INTERVALS], self.k].max()
        inside = abs(stretch.t[-1] - stretch.t[i]) > END_TOLERANCE * abs(stretch.t[-1] - stretch.t[0])
        self.around = looked, before, i
        self._t, self._least = float(stretch.t[i]), float(sizes[i])
        self._falls = bool(inside or sizes[i] <= DECAY_PART * most)
        return (
            None
            if sizes[i] > max(CURVATURE_FACTOR * bend, tolerances.ROUNDING_TOLERANCE * self._first)
            else (before, after)
        )

    def when(self, instant: SingularInstant) -> float | None:
        """Time of the root near the *instant*; None for a nonzero minimum."""
        if self.k == 0 and self._least <= tolerances.RESIDUAL_TOLERANCE:
            return self._t
        if instant.stalled:
            return self._t if self._least <= tolerances.STALL_TOLERANCE * self._first else None
        return self._t if self._falls and self._least <= tolerances.ROUNDING_TOLERANCE * self._first else None


def decoupling_determinant(B: FloatArray, Z: FloatArray) -> FloatArray:
    """Determinant of the decoupling matrix B Z^T of gradients and input distribution, (k, programs, nv) each."""
    with np.errstate(invalid="ignore"):  # where there is no gradient there is no sign
        return np.asarray(det(np.einsum("kan,kbn->kab", B, Z)))


#: Least number of steps in each pass, fractional so that the last is no rounding remainder; and largest number in all passes.
STEPS_PER_PASS, APPROACH_STEPS = 3.5, 20_000
#: Final distance from the instant, relative to the first: digits of the instant, beyond which no motion is left to continue.
FINAL_APPROACH = 1e-10
#: Number of intervals in a step.
INTERVALS = len(PARTS) - 1

#: Continuation of the motion in a mode from a time and a state to an end, in steps no longer than a number.
ContinueMotion = Callable[[float, FloatArray, float, float, Any], Iterator[Segment]]


@dataclass(frozen=True)
class StepSamples:
    """Consecutive steps of a motion, sampled at their ends and within: times (INTERVALS k + 1,) and states (INTERVALS k + 1,
    n).
    """

    t: FloatArray
    y: FloatArray

    @classmethod
    def of(
        cls, t0: float, y0: FloatArray, t: FloatArray, y: FloatArray, solution: Callable[[FloatArray], FloatArray]
    ) -> StepSamples:
        """Samples of the steps from *t0*, *y0* to the times *t* (k,) and states *y* (k, n)."""
        starts = np.concatenate([[t0], t[:-1]])
        times = starts[:, None] + np.array(PARTS[1:]) * (t - starts)[:, None]
        times[:, -1] = t
        states = np.empty((*times.shape, len(y0)))
        within = np.asarray(solution(times[:, :-1].ravel())).T
        states[:, :-1] = within.reshape(len(t), INTERVALS - 1, len(y0))
        states[:, -1] = y
        return cls(np.concatenate([[t0], times.ravel()]), np.concatenate([y0[None], states.reshape(-1, len(y0))]))

    def then(self, other: StepSamples) -> StepSamples:
        """Samples followed by the *other* ones."""
        return StepSamples(np.concatenate([self.t, other.t[1:]]), np.concatenate([self.y, other.y[1:]]))


@dataclass(frozen=True)
class SingularInstant:
    """Instant approached by a motion in ``segments``: the last time and state before it, a time ``after`` it, and True where
    the motion is ``stalled`` before it.
    """

    t: float
    y: FloatArray
    after: float
    segments: Sequence[Segment]
    stalled: bool


def approach_singularity(
    carry: ContinueMotion,
    t: float,
    y: FloatArray,
    end: float,
    mode: Any,
    find: Callable[[StepSamples], tuple[int, int] | None],
) -> SingularInstant | None:
    """Instant located by *find* between *t*, in the state *y*, and *end*, approached in ever shorter steps: *find* returns the
    indices of a state before it and of one behind it, or None.
    """
    kept, first, left, stuck = list[Segment](), abs(end - t), APPROACH_STEPS, False
    while left > 0 and abs(end - t) > max(FINAL_APPROACH * first, 4 * np.spacing(abs(end))):
        made = [s for s in carry(t, y, end, abs(end - t) / STEPS_PER_PASS, mode) if len(s.t)]
        stuck = not made or made[-1].t[-1] != end
        if not made:
            break
        looked = _joined(made)
        left -= (len(looked.t) - 1) // INTERVALS
        place = find(looked)
        if place is None and not stuck:
            return None
        if place is None or (stuck and place[1] == len(looked.t) - 1):
            place = len(looked.t) - 1, -1
        else:
            end = float(looked.t[place[1]])
        step = place[0] // INTERVALS
        kept += _up_to(made, step)
        t, y = float(looked.t[INTERVALS * step]), looked.y[INTERVALS * step]
    return SingularInstant(t, y, end, kept, stuck or left <= 0)


def _joined(segments: Sequence[Segment]) -> StepSamples:
    """Samples of the steps of *segments*."""
    found: StepSamples | None = None
    for s in segments:
        assert s.solution is not None
        one = StepSamples.of(s.t0, s.y0, s.t, s.y, s.solution)
        found = one if found is None else found.then(one)
    assert found is not None
    return found


def _up_to(segments: Sequence[Segment], steps: int) -> Iterator[Segment]:
    """The first *steps* of *segments*."""
    for s in segments:
        k = min(steps, len(s.t))
        if k:
            yield replace(s, t=s.t[:k], y=s.y[:k], end=None)
        steps -= k


#: Part of its largest value below which a falling influence may vanish.
DECAYED = 0.05
#: Part of the longest step below which a step is short, and number of last steps that must be short.
SHORT_STEP, LAST_STEPS = 1e-7, 10
#: Part of its largest value at which an influence vanishes while steps shrink with it, and number of such steps to the instant.
VANISHED, STEPS_AHEAD = 1e-4, 3e4
#: Range of the power of an influence that falls linearly in time: high for roots of high order, low for a steep approach.
POWER_RANGE = 0.1, 20.0


class BlowUpWatch:
    """Decay of an influence from the time *t* on: prediction of a finite-time blow-up."""

    def __init__(self, t: float) -> None:
        self._t, self.longest, self._recent = t, 0.0, np.zeros(0)
        self._halves: list[tuple[float, float]] = []

    def follow(self, t: FloatArray, sizes: FloatArray) -> int | None:
        """Process the times *t* of steps and the *sizes* of the influence at their ends, recording the times of successive
        halvings. Returns the number of the step at which it has vanished, if any.
        """
        steps = np.abs(np.diff(t, prepend=self._t))
        self._recent = np.concatenate([self._recent, steps])[-LAST_STEPS:]
        self.longest = max(self.longest, float(steps.max(initial=0.0)))
        soon = self._extrapolated()
        for i, (step, time, size) in enumerate(zip(steps.tolist(), t.tolist(), sizes.tolist(), strict=True)):
            self._t, self._size = time, size
            while self._halves and size > 2 * self._halves[-1][1]:
                self._halves.pop()
                soon = self._extrapolated()
            if not self._halves or 2 * size < self._halves[-1][1]:
                self._halves.append((time, size))
                soon = self._extrapolated()
            short = step <= SHORT_STEP / VANISHED * self.longest
            if size <= VANISHED and short and soon is not None and abs(soon - time) > STEPS_AHEAD * step:
                return i
        return None

    def predicted_instant(self, *, stuck: bool) -> float | None:
        """Predicted instant of a low influence that falls while the last steps shrink, or while the motion is *stuck*."""
        short = len(self._recent) == LAST_STEPS and self._recent.max() <= SHORT_STEP * self.longest
        if not self._halves or not (stuck or (short and self._size <= self._halves[-1][1])):
            return None
        return self._extrapolated()

    def _extrapolated(self) -> float | None:
        """Instant at which a low influence vanishes: a power of it falls linearly in time."""
        if len(self._halves) < 3 or self._halves[-1][1] > DECAYED:
            return None
        (t0, x0), (t1, x1), (t2, x2) = self._halves[-3:]

        part, near, nearer = (t2 - t1) / (t1 - t0), x1 / x0, x2 / x0

        def bent(power: float) -> float:
            return float((1 - near**power) * part - (near**power - nearer**power))

        if not nearer > 0 or not bent(POWER_RANGE[0]) < 0 < bent(POWER_RANGE[1]):
            return None
        from scipy.optimize import brentq

        power = float(brentq(bent, *POWER_RANGE))
        return t2 + (t2 - t1) / (float((near / nearer) ** power) - 1)
