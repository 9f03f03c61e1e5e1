"""Work of the forces of control: their power, integrated along the motion, between the times that are asked for as well."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np
from numpy.polynomial import chebyshev
from scipy.integrate import DenseOutput

from kineta.arrays import FloatArray
from kineta.errors import SimulationError
from kineta.tasks.servo.derivative_array import Hold, Jet
from kineta.tasks.servo.path_following import Path

#: Number of panels at first and at most, and of places at which the power is evaluated in each.
PANELS, MOST, PLACES = 16, 256, 12
#: Number of the last coefficients that bound the error of a panel.
LAST = 2


def work_done(
    hold: Hold, states: Sequence[Jet], steps: Sequence[DenseOutput], rtol: float, atol: float
) -> tuple[FloatArray, FloatArray]:
    """Power and work of control (k,) [W, J] along the motion at *states*; *steps* interpolate its free part, and are none in a
    flat system.

    The power is a Chebyshev polynomial in each of some panels, of which the worst is halved until their errors are below *rtol*,
    relative to the largest power over the whole time, and *atol* [W]; where rounding errors are larger, there are MOST panels.
    Panels are the same for other *states*, unless these show that one of the polynomials misses the power.
    """
    array = hold.array
    times = np.array([s.t for s in states])
    begin, span = times[0], times[-1] - times[0]
    parts, along = (times - begin) / span, _Between(hold, states, steps)
    places = chebyshev.chebpts1(PLACES)
    weights = 2.0 / PLACES * chebyshev.chebvander(places, PLACES - 1).T  # their polynomials are orthogonal there
    weights[0] /= 2.0

    def shares(state: Jet) -> FloatArray:
        return np.asarray(array.forces(state) * state.x[: array.n])

    known = np.array([shares(s) for s in states])
    power, largest = known.sum(axis=1), float(np.abs(known).sum(axis=1).max())

    def within(a: float, b: float) -> slice:
        return slice(*np.searchsorted(parts, [a, b]).tolist())

    def panel(a: float, b: float) -> tuple[float, float, float, FloatArray]:
        nonlocal largest
        values = np.array([shares(along.at(float(begin + span * s))) for s in a + (b - a) * (places + 1.0) / 2.0])
        largest = max(largest, float(np.abs(values).sum(axis=1).max()))
        c = weights @ values.sum(axis=1)
        own = within(a, b)
        missed = np.abs(chebyshev.chebval(2.0 * (parts[own] - a) / (b - a) - 1.0, c) - power[own]).max(initial=0.0)
        return -(b - a) * max(float(np.abs(c[-LAST:]).sum()), float(missed)), a, b, c

    edges = np.unique([*np.linspace(0.0, 1.0, PANELS + 1), *((s.t - begin) / span for s in steps[:-1])]).tolist()
    panels = [panel(a, b) for a, b in pairwise(edges)]
    heapify(panels)
    most = max(MOST, len(panels))
    while -panels[0][0] > rtol * largest + atol and len(panels) < most:
        _, a, b, _ = heappop(panels)
        middle = (a + b) / 2.0
        heappush(panels, panel(a, middle))
        heappush(panels, panel(middle, b))
    work, total = np.zeros(len(times)), 0.0
    for _, a, b, c in sorted(panels, key=lambda one: one[1]):
        own, integral = within(a, b), span * (b - a) / 2.0 * chebyshev.chebint(c, lbnd=-1.0)
        work[own] = total + chebyshev.chebval(2.0 * (parts[own] - a) / (b - a) - 1.0, integral)
        total += float(chebyshev.chebval(1.0, integral))
    work[-1] = total
    return power, work


class _Between:
    """Jets at times between *states*, each found from the nearest one known from which there is a way."""

    def __init__(self, hold: Hold, states: Sequence[Jet], steps: Sequence[DenseOutput]) -> None:
        self.hold, self.steps = hold, steps
        self._way = 1.0 if states[-1].t > states[0].t else -1.0
        self._span = states[-1].t - states[0].t
        self._jets: list[tuple[Jet, FloatArray | None]] = [(s, None) for s in states]
        self._times = [self._way * s.t for s in states]
        self._ends = [self._way * s.t for s in steps]

    def at(self, t: float) -> Jet:
        """Return the jet at the time *t*; raise :class:`SimulationError` for a singular position on the way."""
        i = bisect_left(self._times, self._way * t)
        around = sorted(range(max(0, i - 2), min(i + 2, len(self._jets))), key=lambda k: abs(self._jets[k][0].t - t))
        if self._jets[around[0]][0].t == t:
            return self._jets[around[0]][0]
        for k in around:
            near, answer = self._jets[k]
            path = Path(self.hold, near, self._span, answer)
            self._jets[k] = near, path.answer
            try:
                path.to(t, self._guess(t, near))
            except SimulationError:
                if k == around[-1]:
                    raise
                continue
            break
        self._jets.insert(i, (path.state, path.answer))
        self._times.insert(i, self._way * t)
        return path.state

    def _guess(self, t: float, near: Jet) -> Jet | None:
        """The jet at the time *t* by the steps, with higher derivatives of one that is *near*; None in a flat system."""
        if not self.steps:
            return None
        y = self.steps[min(bisect_left(self._ends, self._way * t), len(self.steps) - 1)](t)
        nq, n = self.hold.array.system.nq, self.hold.array.n
        return Jet(t, y[:nq], np.concatenate([y[nq:], near.x[n:]]))
