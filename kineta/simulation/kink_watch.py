"""Kinks and steps of the rate between the steps of methods that know nothing of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.codegen.llvm import NativeFunction
from kineta.integration.loop_abi import BRIEF, LOOKS, PASSINGS, REST, KinkData
from kineta.integration.problem import Kinks, Problem
from kineta.integration.run_memory import kink_data
from kineta.integration.segment import Segment
from kineta.kernels.kinks.clocks import find_stop
from kineta.kernels.kinks.guards import SLOPES
from kineta.kernels.kinks.leaps import LEAST_BESIDE, WIDER
from kineta.kernels.machine_code import machine_code
from kineta.numerics.roots import DIP, LEAST, SPAN, nearest_approach, root


def _near(values: FloatArray, slopes: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Bounds (n,) for the excursions of guards (k, n) between two places, and whether each has one extremum at most there, as in
    :func:`~kineta.kernels.kinks.guards.measure_bends`; *slopes* are changes from one place to the next at the slopes of some.
    """
    bends = np.diff(values, 2, axis=0)
    third, fourth = (np.abs(np.diff(bends, k, axis=0)).max(axis=0) for k in (1, 2))
    plain = np.all(bends[1:] * bends[:-1] > 0, axis=0) & (np.abs(bends).min(axis=0) > third + fourth)
    off = np.abs(slopes - np.diff(values, axis=0)[list(SLOPES)]).max(axis=0)
    near = np.abs(bends).max(axis=0) + third + fourth
    return DIP * np.maximum(near, off), plain & (off <= near)


class KinkWatch:
    """The kinks of the rate of a *problem* with the block *h*: ``guards`` of its state and what is *stored*, None without any,
    and clocks.
    """

    def __init__(
        self,
        problem: Problem,
        kinks: Kinks,
        guards: NativeFunction | None,
        stored: NativeFunction | None,
        h: FloatArray,
    ) -> None:
        self.guards, self._stored, self._h, self._kinks = guards, stored, h, kinks
        self._data: KinkData = kink_data(kinks, len(problem.y0), np.inf)
        n = kinks.numbers[0]
        self._last, self._quick, self._muted = np.full(n, -np.inf), np.zeros(n, dtype=int), np.zeros(n, dtype=int)
        self._left, self._sides = np.nan, np.empty((2, 0))
        self._brief = BRIEF * abs(problem.t1 - problem.t0)

    def stop(self, t: float, end: float) -> tuple[float, float]:
        """Times before and behind the first kink from *t* to *end* that depends on the time alone; twice the time up to which
        there is none.
        """
        if not any(self._kinks.numbers[1:3]) or t == end:
            return end, end
        k = self._data
        machine_code(find_stop)(k, self._h, t, end - t)
        if not k.found:
            free = end if k.longest >= abs(end - t) else t + np.copysign(k.longest, end - t)
            return free, free
        way = np.sign(end - t)
        return (k.stop if way * (k.stop - t) > 0 else t), (k.right if way * (k.right - end) < 0 else end)

    def ends(self, t: float, y: FloatArray, right: float) -> tuple[float, ...]:
        """Ends of steps over the kink between *t* and *right*: what is stored in the state y changes in one, between neighbouring
        numbers.
        """
        if self._stored is None:
            return (right,)
        stored, h = self._stored, self._h

        def values(*times: float) -> FloatArray:
            return np.asarray(stored.batch(np.array(times)[:, None], np.tile(y, (len(times), 1)), h))

        self._sides = values(t, right)
        jumps = int(np.abs(self._sides[1] - self._sides[0]).argmax())
        a, b, (first, last) = t, right, self._sides[:, jumps].tolist()
        while (middle := a + 0.5 * (b - a)) not in (a, b):
            value = float(values(middle)[0, jumps])
            a, b = (middle, b) if abs(value - first) < abs(value - last) else (a, middle)
        self._left = a
        return tuple(x for x in dict.fromkeys((a, b, right)) if x != t)

    def leap(self, t: float, behind: FloatArray) -> bool:
        """Count the energy that the time alone changes at the last kink found as work in the state *behind*, where the step over
        it begins at *t*; whether momenta and places stay, as in :func:`~kineta.kernels.kinks.leaps.take_leap`.
        """
        if self._stored is None or t != self._left:
            return True
        values = self._sides
        behind[self._kinks.work] += values[1, 0] - values[0, 0]
        return self._same(values)

    @staticmethod
    def _same(values: FloatArray) -> bool:
        """Whether momenta and places in *values* (2, n) are the same on both sides of a kink."""
        off = np.abs(values[1, 1:] - values[0, 1:]).max(initial=0.0)
        return bool(off <= tolerances.STATE_TOLERANCE * np.abs(values[:, 1:]).max(initial=0.0))

    def tears(self, segment: Segment, at: float) -> bool:
        """Whether places jump at the kink of the state just before the time *at* in *segment*, as in
        :func:`~kineta.kernels.kinks.leaps.tears`.
        """
        if self._stored is None:
            return False

        assert segment.solution is not None
        first, way, sides = segment.t0, np.sign(at - segment.t0), []
        beside = LEAST_BESIDE * tolerances.EPS * max(abs(at), abs(at - first))
        for width in (beside, WIDER * beside):
            times = np.array([max(way * at - width, way * first), way * at + width]) * way
            states = np.ascontiguousarray(np.asarray(segment.solution(times)).T)
            sides.append(np.asarray(self._stored.batch(times[:, None], states, self._h)))
        near, wide = (np.abs(values[1, 1:] - values[0, 1:]).max(initial=0.0) for values in sides)
        return not self._same(sides[0]) and bool(wide < 0.25 * WIDER * near)

    def cut(self, segment: Segment) -> Segment | None:
        """*segment*, one step, up to just behind the first kink of the state in it; None where there is none."""
        assert self.guards is not None
        a, b = segment.t0, float(segment.t[-1])
        values = self._values(segment, np.linspace(a, b, LOOKS + 1))
        quiet = np.all(values[1:] * values[:-1] > 0, axis=0)
        self._muted[:] = np.where(quiet, np.maximum(self._muted - 1, 0), np.where(self._muted, REST, 0))
        found = self._first_crossing(segment, a, b)
        if found is None:
            return None
        at, i = found
        self._quick[i] = self._quick[i] + 1 if abs(at - self._last[i]) <= self._brief else 0
        self._last[i] = at
        if self._quick[i] >= PASSINGS:
            self._quick[i], self._muted[i] = 0, REST
        assert segment.solution is not None
        y = np.asarray(segment.solution(np.array([at])))[:, 0]
        return Segment(a, segment.y0, np.array([at]), y[None], segment.solution, None)

    def _first_crossing(self, segment: Segment, a: float, b: float) -> tuple[float, int] | None:
        """The first time at which a guard has changed its sign in a step from *a* to *b*, and which; piece by piece, as in
        :func:`~kineta.kernels.kinks.crossings.seek_crossing`.
        """
        start, width, heard = 0.0, 1.0, self._muted == 0
        while start < 1.0:
            step = min(width, 1.0 - start) * (b - a) / LOOKS
            times = np.array([a + start * (b - a) + step * k for k in range(LOOKS + 1)])
            values = self._values(segment, times)
            ahead = self._values(segment, times[list(SLOPES)] + SPAN * step)
            near, plain = _near(values, (ahead - values[list(SLOPES)]) / SPAN)
            one_sided = values[1:] * values[:-1] > 0
            sizes = np.sqrt(np.abs(values))
            hides = np.any(one_sided & (sizes[1:] + sizes[:-1] < 2 * np.sqrt(near)), axis=0) & ~plain & heard
            if width > LEAST and hides.any() and np.any(hides & (near > self._blur(segment))):
                width *= 0.5
                continue
            close = np.any(one_sided & (np.minimum(np.abs(values[1:]), np.abs(values[:-1])) < near), axis=0)
            found = [
                (at, i)
                for i in np.flatnonzero(heard & (~np.all(one_sided, axis=0) | close)).tolist()
                for at in self._crossing(segment, times, i, values[:, i], float(near[i]))
            ]
            if found:
                return min(found, key=lambda one: abs(one[0] - a))
            start, width = start + width, 2.0 * width
        return None

    def _blur(self, segment: Segment) -> FloatArray:
        """How far guards (n,) move within the tolerance of a step, of common size."""
        assert self.guards is not None
        y = segment.y0
        moved = tolerances.STATE_TOLERANCE * np.abs(y) + tolerances.LEAST_DIVISOR
        rows = np.stack([y, y + moved, y + moved * np.where(np.arange(len(y)) % 2, -1.0, 1.0)])
        values = np.asarray(self.guards.batch(np.full((3, 1), segment.t0), rows, self._h))[:, : self._kinks.numbers[0]]
        return np.asarray(np.abs(values[1:] - values[0]).max(axis=0))

    def _values(self, segment: Segment, t: FloatArray) -> FloatArray:
        """Guards (k, n) at times of a segment."""
        assert self.guards is not None
        assert segment.solution is not None
        y = np.ascontiguousarray(np.asarray(segment.solution(t)).T)
        return np.asarray(self.guards.batch(t[:, None], y, self._h))[:, : self._kinks.numbers[0]]

    def _crossing(
        self, segment: Segment, times: FloatArray, i: int, values: FloatArray, near: float
    ) -> Iterator[float]:
        """The first time at which guard i has changed its sign, if it does, with excursions up to *near* between the *times*."""

        def value(t: float) -> float:
            return self._value(segment, i, t)

        step = float(times[1] - times[0])
        for (t, f), (later, g) in pairwise(zip(times.tolist(), values.tolist(), strict=True)):
            if f * g > 0 and min(abs(f), abs(g)) < near:
                low = nearest_approach(value, t, later, f, g, step)
                if low is not None and value(low) * f < 0:
                    later, g = low, value(low)
            if f * g < 0:
                tolerance = 4 * tolerances.EPS * max(abs(t), abs(later))
                at = root(value, t, later, f, g, tolerance)
                beyond = np.copysign(2 * tolerance, later - t)
                while abs(at + beyond - t) < abs(later - t) and not value(at + beyond) * g > 0:
                    beyond *= 2
                yield float(at + beyond) if abs(at + beyond - t) < abs(later - t) else later
                return

    def _value(self, segment: Segment, i: int, t: float) -> float:
        return float(self._values(segment, np.array([t]))[0, i])
