"""Kinks and steps of the rate between the steps of methods that know nothing of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.codegen.llvm import NativeFunction
from kineta.integration.loop_abi import BRIEF, LOOKS, PASSINGS, REST, KinkData
from kineta.integration.problem import Kinks, Problem
from kineta.integration.run_memory import kink_data
from kineta.integration.segment import Segment
from kineta.kernels.kinks import find_stop
from kineta.kernels.machine_code import machine_code
from kineta.numerics.roots import root


def _dips(values: FloatArray) -> FloatArray:
    """How far from the inner places, in distances between these, parabolas through guards (k, n) of one sign go beyond zero
    and back, (k - 2, n); NaN for those that do not.
    """
    a, b, c = np.abs(values[:-2]), np.abs(values[1:-1]), np.abs(values[2:])
    bend, slope = a - 2 * b + c, 0.5 * (c - a)
    one_sided = (values[:-2] * values[1:-1] > 0) & (values[1:-1] * values[2:] > 0)
    found = one_sided & (b <= a) & (b <= c) & (2 * slope**2 > b * bend)
    return np.where(found, -slope / np.where(found, bend, 1.0), np.nan)


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
        self._data: KinkData = kink_data(kinks, len(problem.y0))
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
            free = end if k.pace >= abs(end - t) else t + np.copysign(k.pace, end - t)
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
        a, b, (first, last) = t, right, self._sides[:, 0].tolist()
        while (middle := a + 0.5 * (b - a)) not in (a, b):
            value = float(values(middle)[0, 0])
            a, b = (middle, b) if abs(value - first) < abs(value - last) else (a, middle)
        self._left = a
        return tuple(x for x in dict.fromkeys((a, b, right)) if x != t)

    def leap(self, t: float, behind: FloatArray) -> bool:
        """Count the energy that the time alone changes at the last kink found as work in the state *behind*, where the step over
        it begins at *t*; whether momenta stay, as in :func:`~kineta.kernels.kinks.take_leap`.
        """
        if self._stored is None or t != self._left:
            return True
        values = self._sides
        behind[self._kinks.work] += values[1, 0] - values[0, 0]
        off = np.abs(values[1, 1:] - values[0, 1:]).max(initial=0.0)
        return bool(off <= tolerances.STATE_TOLERANCE * np.abs(values[:, 1:]).max(initial=0.0))

    def cut(self, segment: Segment) -> Segment | None:
        """*segment*, one step, up to just behind the first kink of the state in it; None where there is none."""
        assert self.guards is not None
        assert segment.solution is not None
        a, b = segment.t0, float(segment.t[-1])
        times = a + (b - a) * np.linspace(0.0, 1.0, LOOKS + 1)
        values = self._values(segment, times)
        quiet = np.all(values[1:] * values[:-1] > 0, axis=0)
        self._muted[:] = np.where(quiet, np.maximum(self._muted - 1, 0), np.where(self._muted, REST, 0))
        dips = _dips(values)
        found = [
            (at, i)
            for i in np.flatnonzero(~quiet | np.isfinite(dips).any(axis=0)).tolist()
            for at in self._crossing(segment, times, i, values[:, i], dips[:, i])
        ]
        if not found:
            return None
        at, i = min(found, key=lambda one: abs(one[0] - a))
        self._quick[i] = self._quick[i] + 1 if abs(at - self._last[i]) <= self._brief else 0
        self._last[i] = at
        if self._quick[i] >= PASSINGS:
            self._quick[i], self._muted[i] = 0, REST
        y = np.asarray(segment.solution(np.array([at])))[:, 0]
        return Segment(a, segment.y0, np.array([at]), y[None], segment.solution, None)

    def _values(self, segment: Segment, t: FloatArray) -> FloatArray:
        """Guards (k, n) at times of a segment."""
        assert self.guards is not None
        assert segment.solution is not None
        y = np.ascontiguousarray(np.asarray(segment.solution(t)).T)
        return np.asarray(self.guards.batch(t[:, None], y, self._h))

    def _crossing(
        self, segment: Segment, times: FloatArray, i: int, values: FloatArray, dips: FloatArray
    ) -> Iterator[float]:
        """The first time at which guard i has changed its sign, if it does and is looked at."""
        if self._muted[i]:
            return
        points = list(zip(times.tolist(), values.tolist(), strict=True))
        lows = (times[1:-1] + (times[1] - times[0]) * dips)[np.isfinite(dips)].tolist()
        points += [(low, self._value(segment, i, low)) for low in lows]
        points.sort(key=lambda one: abs(one[0] - times[0]))
        for (t, f), (later, g) in pairwise(points):
            if f * g < 0:
                tolerance = 4 * tolerances.EPS * max(abs(t), abs(later))
                at = root(lambda x: self._value(segment, i, x), t, later, f, g, tolerance)
                beyond = np.copysign(2 * tolerance, later - t)
                while abs(at + beyond - t) < abs(later - t) and not self._value(segment, i, at + beyond) * g > 0:
                    beyond *= 2
                yield float(at + beyond) if abs(at + beyond - t) < abs(later - t) else later
                return

    def _value(self, segment: Segment, i: int, t: float) -> float:
        return float(self._values(segment, np.array([t]))[0, i])
