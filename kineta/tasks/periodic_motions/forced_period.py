"""The period of forces, and of surfaces that move, as a function of a parameter, as 2 pi/w of cos(w t)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

import numpy as np

from kineta import tolerances
from kineta.arrays import FloatArray
from kineta.errors import SimulationError
from kineta.records import dataclass
from kineta.runtime.compiled import BoundSystem
from kineta.tasks.sensitivity.linearised_motion import LinearisedMotion
from kineta.tasks.sensitivity.mode_equations import WATCHED
from kineta.tasks.sensitivity.mode_tangent import ModeTangent

#: Times of each piece of a motion at which forces are compared a period later.
COMPARED = 5
#: Newton steps, the largest of them all together as a fraction of the period, and halvings of the way to a value.
STEPS, NEAR, HALVINGS = 12, 0.1, 12
#: Difference quotients by time, in periods.
QUOTIENT = 1e-5


@dataclass(frozen=True)
class Sample:
    """Times t (k,) and states y (k, n) of a motion in one ``mode``."""

    mode: BoundSystem
    t: FloatArray
    y: FloatArray


def samples(motion: LinearisedMotion) -> Iterator[Sample]:
    """Yield times and states of every piece of a *motion*."""
    for piece in motion.pieces:
        which = np.unique(np.linspace(0, len(piece.t) - 1, COMPARED).astype(int))
        yield Sample(piece.mode, piece.t[which], piece.y[which])


def equal(now: FloatArray, then: FloatArray) -> bool:
    """Return whether values (k, m) are equal in each column to the digits that a period is written with."""
    size = np.abs(now).max(axis=0, initial=1.0)
    return bool((np.abs(now - then) <= tolerances.WRITTEN_TOLERANCE * size).all())


@dataclass(frozen=True)
class Action:
    """What time may move in k states: ``values`` (k, n + w), rates, gaps and bounds of contacts, and their derivatives ``slopes``
    (k, n + w) by the last symbol that varies.
    """

    values: FloatArray
    slopes: FloatArray


def action(tangent: ModeTangent, sample: Sample, switched: bool = False) -> Action:
    """Return what acts at a *sample*; *switched*, with what switches watch and set."""
    rates = tangent.rates(sample.mode, sample.t, sample.y)
    values, slopes = tangent.watched(sample.mode, sample.t, sample.y, rates)
    end = values.shape[1] if switched else WATCHED * len(tangent.functions.contacts)
    return Action(
        np.concatenate([rates.f, values[:, :end]], axis=1),
        np.concatenate([rates.A[:, :, -1], slopes[:, :end, -1]], axis=1),
    )


@dataclass
class ForcedPeriod:
    """The period T(p) of what acts at ``samples`` of a motion, by Newton's method for f(t + T, y, p) = f(t, y, p).

    place : of p in the parameters, the last of those that vary
    known : values of p, with T [s] and dT/dp there
    """

    tangent: ModeTangent
    samples: Sequence[Sample]
    place: int
    known: list[tuple[float, float, float]] = field(default_factory=list)

    def begin(self, value: float, T: float) -> None:
        """Know that the forces at *value* have the period *T*."""
        self.known.append((value, T, self._slope(value, T)))

    def constant(self, reach: float) -> bool:
        """Return whether the first period is that of other values of the parameter, which changes by *reach*, too."""
        value, T, _ = self.known[0]
        pairs = self._pairs(value, T)
        return all(equal(now.values, now.values + reach * (then.slopes - now.slopes)) for now, then in pairs)

    def at(self, value: float) -> tuple[float, float]:
        """Return T and dT/dp at a *value* of the parameter. Raises :class:`SimulationError` where forces have no period."""
        part = 1.0
        for _ in range(10 * HALVINGS):
            near = min(self.known, key=lambda x: abs(x[0] - value))
            if near[0] == value:
                return near[1:]
            tried = value if part == 1.0 else near[0] + part * (value - near[0])
            T = self._solved(tried, _predicted(near, tried))
            if T is not None:
                self.known.append((tried, T, self._slope(tried, T)))
                part = min(1.0, 2 * part)
            elif (part := part / 2) < 0.5**HALVINGS:
                break
        raise SimulationError("no period of the forces")

    def _solved(self, value: float, T: float) -> float | None:
        """The period at *value* near to *T*; None for none."""
        first = T
        for _ in range(STEPS):
            g, g_T = self._off(value, T), self._by_period(value, T)
            size = float(g_T @ g_T)
            if not (np.isfinite(size) and size > 0):
                return None
            step = -float(g_T @ g) / size
            T += step
            if not abs(T - first) < NEAR * first:
                return None
            if abs(step) <= tolerances.NEWTON_TOLERANCE * T:
                pairs = self._pairs(value, T)
                return T if all(equal(now.values, then.values) for now, then in pairs) else None
        return None

    def _slope(self, value: float, T: float) -> float:
        """Return dT/dp."""
        g_T = self._by_period(value, T)
        pairs = self._pairs(value, T)
        g_p = np.concatenate([(then.slopes - now.slopes).ravel() for now, then in pairs])
        size = float(g_T @ g_T)
        return -float(g_T @ g_p) / size if size > 0 else 0.0

    def _off(self, value: float, T: float) -> FloatArray:
        pairs = self._pairs(value, T)
        return np.concatenate([(then.values - now.values).ravel() for now, then in pairs])

    def _by_period(self, value: float, T: float) -> FloatArray:
        """Return the derivative of the differences by T, by central difference quotients."""
        h = QUOTIENT * T
        acting = zip(self._acting(value, T + h), self._acting(value, T - h), strict=True)
        return np.concatenate([(after.values - before.values).ravel() for after, before in acting]) / (2 * h)

    def _pairs(self, value: float, T: float) -> Iterator[tuple[Action, Action]]:
        """What acts at the samples with a *value* of the parameter, now and *T* later."""
        return zip(self._acting(value, 0.0), self._acting(value, T), strict=True)

    def _acting(self, value: float, later: float) -> list[Action]:
        """What acts at the samples some time *later*, with a *value* of the parameter."""
        found = list[Action]()
        for sample in self.samples:
            p = sample.mode.p.copy()
            p[self.place] = value
            found.append(action(self.tangent, Sample(replace(sample.mode, p=p), sample.t + later, sample.y)))
        return found


def _predicted(near: tuple[float, float, float], value: float) -> float:
    """The period at *value* by the power of the parameter that a known one tells; by its slope where the sign changes."""
    at, T, slope = near
    if at * value > 0:
        return float(T * (value / at) ** (slope * at / T))
    return T + slope * (value - at)
