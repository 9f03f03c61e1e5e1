"""Controllability of programs of motion along a run: watch over their gradients and input distribution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.integration.segment import Segment
from kineta.numerics.linear_algebra import norm, svdvals
from kineta.programs.native_restart import NativeRestart
from kineta.programs.path_jumps import discontinuous_program
from kineta.programs.singularities import (
    INTERVALS,
    VANISHED,
    BlowUpWatch,
    DoubleRoot,
    GradientSamples,
    Kink,
    SignChange,
    StepSamples,
    approach_singularity,
    decoupling_determinant,
)
from kineta.records import dataclass
from kineta.runtime.problem import SimulationProblem

#: Part of the time span of the least progress of a motion that is not stalled.
PROGRESS = 1e-10
#: Part of the time span by which a predicted instant may be missed where a motion is stalled: extrapolated from far away, it has
#: two digits, and STALL_TOLERANCE would never be met.
STALLED_TOLERANCE = 1e-2
#: Number of fruitless approaches after which a suspected loss of influence counts as rounding.
FRUITLESS_RESTARTS = 20
#: Steps, relative to the longest, that count as short.
SHORT_STEP = 1e-2


@dataclass(frozen=True)
class ControllabilityLoss:
    """End of a motion whose programs cannot be influenced: the last time and state, and the reason in words.

    since : end of the step behind which ``segments`` continue the motion to the last time
    jumps : True where a program is discontinuous and no gradient is lost
    """

    t: float
    y: FloatArray
    why: str
    since: tuple[float, FloatArray]
    segments: Sequence[Segment] = ()
    jumps: bool = False


class ControllabilityWatch:
    """Watch over the controllability of programs along a motion: the input distribution must not vanish nor change sign in a
    step, which no residual shows, and no program may lose its gradient. There the motion ends: its last step is repeated by
    the native method, in steps that end at the instant. Where the influence decays while the motion becomes ever faster, no
    step reaches the instant, and the motion ends before it; so does a motion that grows until rounding exceeds the
    tolerance.
    """

    def __init__(self, task: SimulationProblem, carry: NativeRestart) -> None:
        self._system, self._made, self._carry = task.system, task.made, carry
        self._t, self._y, self._span = task.t0, task.y0, abs(task.t1 - task.t0)
        self._ahead = PROGRESS * (task.t1 - task.t0)
        self._states = task.states
        self._size = max(1.0, float(np.abs(self._y[: self._states]).max(initial=0.0)))
        self._fading = BlowUpWatch(task.t0)
        self._answers, self._lengths, self._largest = np.ones(1), np.zeros(1), np.zeros(1)
        first = self._looked(StepSamples(np.array([self._t]), self._y[None]))
        self._answers = first.influence[0]
        self._grow(self._looked(first.steps))

    def _looked(self, stretch: StepSamples) -> GradientSamples:
        """Gradients in the states *stretch*, projected onto the programs; influence is relative to its largest value so far."""
        B, Z, edges, kinks = self._made.regularity(stretch.t, self._carry.projected(stretch.t, stretch.y))
        S = np.einsum("kan,kbn->kab", B, Z) / (self._answers[:, None] * self._answers)
        valued = np.isfinite(S).all(axis=(1, 2))
        least = np.full((len(S), 1), np.nan)
        least[valued, 0] = svdvals(S[valued], what="what the actuators do to the programs")[:, -1]
        return GradientSamples(stretch, B, Z, np.concatenate([least, np.abs(edges)], axis=1), kinks)

    def _grow(self, looked: GradientSamples) -> None:
        """Update the largest values by the samples *looked*."""
        self._answers = np.maximum(self._answers, looked.influence.max(axis=0))
        self._lengths = np.maximum(self._lengths, norm(looked.B, axis=2).max(axis=0))
        self._largest = np.maximum(self._largest, looked.sizes.max(axis=0))

    def process(self, segment: Segment, end: tuple[float, FloatArray] | None) -> ControllabilityLoss | None:
        """End of the motion in *segment*, before its *end*; None where it continues."""
        t, y = segment.t, segment.y
        if end is not None:
            inside = (t - end[0]) * np.sign(t[-1] - segment.t0) < 0
            t, y = np.append(t[inside], end[0]), np.vstack([y[inside], end[1]])
        if not len(t):
            return self._stuck() if segment.end else None
        assert segment.solution is not None
        looked = self._looked(StepSamples.of(self._t, self._y, t, y, segment.solution))
        met = self._met(t, self._carry.projected(t, y), looked.B[INTERVALS])
        sizes = looked.sizes[INTERVALS::INTERVALS]
        least = np.sqrt((sizes / np.maximum(self._largest, sizes)).min(axis=1))
        faded = self._fading.follow(t[:met], least[:met])
        vain = 0
        for i, find in self._suspects(looked):
            if i > (met if faded is None else faded):
                break
            if lost := self._nearer(segment.mode, looked.steps, i, find):
                return lost
            vain += least[i] <= VANISHED
            if vain > FRUITLESS_RESTARTS and self._fading.predicted_instant(stuck=True) is not None:
                faded = i
                break
        if faded is None and met < len(t):
            return self._blurred(looked, met)
        soon = self._fading.predicted_instant(stuck=faded is not None)
        if soon is not None:
            i = len(t) - 1 if faded is None else faded
            return self._ends(
                float(t[i]), y[i], f"{self._lost(looked.B[INTERVALS * i + INTERVALS])} {self._when(float(t[i]), soon)}"
            )
        self._t, self._y = float(t[-1]), y[-1]
        self._grow(looked)
        return self._stuck() if segment.end else None

    def _suspects(self, looked: GradientSamples) -> Iterator[tuple[int, SignChange | DoubleRoot | Kink]]:
        """Numbers of suspicious steps, in order, each with a search for its instant."""
        by_step = (looked.kinked.reshape(-1, INTERVALS), looked.sign_changed.reshape(-1, INTERVALS), looked.near_zero)
        bent, turned, dipping = (np.logical_or.reduce(x, axis=1) for x in by_step)
        for i in np.flatnonzero(bent | turned | dipping).tolist():
            if bent[i]:
                yield i, Kink(self._looked)
            if turned[i]:
                yield i, SignChange(self._looked)
            yield from ((i, DoubleRoot(self._looked, k)) for k in np.flatnonzero(looked.near_zero[i]).tolist())

    def _nearer(
        self, mode: Any, stretch: StepSamples, i: int, find: SignChange | DoubleRoot | Kink
    ) -> ControllabilityLoss | None:
        """End of the motion in the step number *i* of *stretch*, located by *find*; None where it continues."""
        t, y, end = (
            float(stretch.t[INTERVALS * i]),
            stretch.y[INTERVALS * i],
            float(stretch.t[INTERVALS * i + INTERVALS]),
        )
        instant = approach_singularity(self._carry, t, y, end, mode, find)
        if isinstance(find, Kink):
            there = instant and (instant.t if instant.stalled else instant.after)
            return self._jump(there, instant.t, instant.y, (t, y), instant.segments) if instant and there else None
        if instant is None or find.around is None or (there := find.when(instant)) is None:
            return None
        looked, before, after = find.around
        own = self._made.code.layout.edges[find.k - 1] if isinstance(find, DoubleRoot) and find.k else None
        why = self._lost(looked.B[after], looked.B[before], own)
        return ControllabilityLoss(instant.t, instant.y, f"{why} at t = {there:.6g} s", (t, y), instant.segments)

    def _stuck(self) -> ControllabilityLoss | None:
        """Loss of controllability at the last state of a stalled motion; None for another cause."""
        rate, n = self._made.code.rate, len(self._y)
        change = self._ahead * rate(np.array([self._t]), self._y, self._made.h)[:n]
        beyond = self._y + np.where(np.isfinite(change), change, 0.0)  # what else has no value there is not for here
        looked = self._looked(StepSamples(np.array([self._t, self._t + self._ahead]), np.array([self._y, beyond])))
        if looked.kinked[0] and (lost := self._jump(self._t, self._t, self._y, (self._t, self._y))):
            return lost
        soon = self._fading.predicted_instant(stuck=True)
        if looked.sign_changed[0] or (soon is not None and abs(soon - self._t) <= STALLED_TOLERANCE * self._span):
            return self._ends(self._t, self._y, f"{self._lost(looked.B[1], looked.B[0])} at t = {self._t:.6g} s")
        return None

    def _jump(
        self, there: float, t: float, y: FloatArray, since: tuple[float, FloatArray], last: Sequence[Segment] = ()
    ) -> ControllabilityLoss | None:
        """End of a motion before a discontinuous program; None for a continuous one."""
        what = discontinuous_program(self._system, self._made, there, y, tolerances.SIDE_DISTANCE * self._span)
        why = f"{what} jumps at t = {there:.6g} s, which no motion follows; give a path without corners, as tanh, or end before"
        return ControllabilityLoss(t, y, why, since, last, jumps=True) if what else None

    def _blurred(self, looked: GradientSamples, met: int) -> ControllabilityLoss:
        """End of a motion that satisfies its programs in *met* of the steps *looked*."""
        t, y, soon = (
            float(looked.steps.t[INTERVALS * met]),
            looked.steps.y[INTERVALS * met],
            self._fading.predicted_instant(stuck=True),
        )
        if soon is None or abs(soon - t) > STALLED_TOLERANCE * self._span:
            return self._ends(t, y, f"the motion under {self._programs} becomes infinitely fast near t = {t:.3g} s")
        return self._ends(t, y, f"{self._lost(looked.B[INTERVALS * met])} {self._when(t, soon)}")

    def _ends(self, t: float, y: FloatArray, why: str) -> ControllabilityLoss:
        """End of a motion at the end of a step."""
        return ControllabilityLoss(t, y, why, (t, y))

    def _when(self, t: float, soon: float) -> str:
        """Time predicted at *t*, in words."""
        return (
            f"at t = {soon:.6g} s"
            if abs(soon - t) <= tolerances.STALL_TOLERANCE * self._span
            else f"near t = {soon:.6g} s"
        )

    def _met(self, t: FloatArray, y: FloatArray, B: FloatArray) -> int:
        """Number of the states that satisfy the programs and their highest derivatives, scaled by the gradients *B*."""
        own = self._made.code.layout.programs
        off = np.abs(self._made.code.observe(t[:, None], y, self._made.h)[:, -len(own) :])
        steps = np.abs(np.diff(t, prepend=self._t))
        short = steps <= SHORT_STEP * np.maximum.accumulate(np.maximum(steps, self._fading.longest))
        self._size = max(self._size, float(np.abs(y[~short, : self._states]).max(initial=0.0)))
        allowed = tolerances.CONSTRAINT_TOLERANCE * self._size * np.maximum(self._lengths, norm(B, axis=1))[list(own)]
        missed = np.flatnonzero(short & ~(off <= allowed).all(axis=1))
        return int(missed[0]) if len(missed) else len(t)

    @property
    def _programs(self) -> str:
        names = ", ".join(f"'{own.name}'" for own in self._system.programs)
        return f"the program {names}" if len(self._system.programs) == 1 else f"the programs {names}"

    def _lost(self, after: FloatArray, before: FloatArray | None = None, own: int | None = None) -> str:
        """Sentence on gradients (programs, nv) that become *after* from *before*; the gradient of the program number *own* has
        no value.
        """
        system = self._system
        stays = norm(after, axis=1) > tolerances.SINGULARITY_TOLERANCE * self._lengths
        names = [p.name for p in system.programs]
        turns = before is not None and not decoupling_determinant(before[None], after[None])[0] > 0
        if system.control.actuators and own is None and stays.all() and not turns:
            return f"the forces on {', '.join(n for n, _ in system.control.actuators)} lose hold of {self._programs}"
        gone = [own] if own is not None else np.flatnonzero(~stays).tolist()
        if len(gone) == 1:
            return f"the gradient of the program '{names[gone[0]]}' vanishes"
        several = ", or of a combination of them," if len(names) > 1 else ""
        return f"the gradient of {self._programs}{several} vanishes"
