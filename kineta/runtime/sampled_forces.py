"""Sampled forces under zero-order hold: of a Python function, or of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.errors import ArgumentError, SimulationError, did_you_mean, excerpt, shown
from kineta.model.coercion import entries
from kineta.records import dataclass
from kineta.values import check_rising, numbers

#: A control: forces from the time, the coordinates (nq,), the speeds (nv,), and what it reads, if anything.
Function = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class SampledForces:
    """Forces that are held from one sample to the next (zero-order hold).

    value : a function of t, q, v, which is called at every sample, or the rows of a table, (m,) or (m, speeds)
    rate : samples a second, counted from the start of a run [1/s]; None where the rows have times
    times : (m,) from which on the rows hold [s]; None where they follow at the rate
    reads : names of the series whose values a function takes behind t, q, v
    """

    value: Function | FloatArray
    rate: float | None
    times: FloatArray | None
    reads: tuple[str, ...] = ()

    def starts(self, t0: float, t1: float) -> Iterator[float]:
        """Times from which on a sample is held in a motion from *t0* to *t1*, the first of them *t0*. Raises
        :class:`ArgumentError` where a table begins too late.
        """
        sign = 1.0 if t1 > t0 else -1.0
        if self.rate is not None:
            for k in count():
                t = t0 + sign * k / self.rate
                if k and sign * (t1 - t) <= tolerances.STATE_TOLERANCE / self.rate:
                    return
                yield t
        else:
            assert self.times is not None
            if self.times[0] > min(t0, t1):
                raise ArgumentError(
                    f"Expected samples from t = {min(t0, t1):g} s on, found the first at t = {self.times[0]:g} s."
                )
            inside = self.times[(self.times > min(t0, t1)) & (self.times < max(t0, t1))]
            yield from (t0, *(inside if sign > 0 else inside[::-1]).tolist())

    def sample(self, t0: float, t: float, backwards: bool, *seen: FloatArray) -> Any:
        """The value that is held from *t* on, in a motion that began at *t0*; *seen* are q, v and what is read, if anything."""
        if not isinstance(self.value, np.ndarray):
            return self.value(t, *seen)
        if self.times is None:
            assert self.rate is not None
            row = min(round(abs(t - t0) * self.rate), len(self.value) - 1)
        else:
            row = int(np.searchsorted(self.times, t, side="left" if backwards else "right")) - 1
        return self.value[row]


def sampled(values: Function | ArrayLike, rate: float | ArrayLike, *, reads: str | Sequence[str] = ()) -> SampledForces:
    """Forces for ``tau`` of :func:`~kineta.simulation.simulate.simulate` that are held between samples (zero-order hold).

    ``sampled(f, rate)`` calls ``f(t, q, v)`` at the start of a run and then *rate* times a second. ``sampled(values, rate)``
    takes the rows of an array one after the other, the last one for good; ``sampled(times, values)`` each from its time on.

    For all speeds a sample is (nv,), one number for all, or a mapping of some speeds to numbers; for the force on one speed, a
    number. Raises :class:`ArgumentError` for a rate that is not positive and a table that is none.

    reads : none, or names of outputs of the model and of forces of constraints and contacts (``lambda.floor.n``), as sensors:
        ``f(t, q, v, y)`` takes their values y (k,). They are those under the forces held until then, one sample late; at the
        start those without sampled forces
    """
    names = (reads,) if isinstance(reads, str) else entries(reads)
    if names is None or not all(isinstance(name, str) for name in names):
        raise ArgumentError(f"Expected names of outputs and forces that the control reads, found {shown(reads)}.")
    if callable(values) and not isinstance(values, Expr):
        return SampledForces(values, _rate(rate), None, names)
    if names:
        raise ArgumentError(f"Expected a Python function that reads {excerpt(names)}, found a table of samples.")
    first, second = numbers("the samples", values), numbers("the rate or the samples", rate)
    if second.ndim == 0:
        return SampledForces(_rows(first), _rate(rate), None)
    rows = _rows(second)
    if first.shape != (len(rows),):
        raise ArgumentError(f"Expected {len(rows)} times for as many samples, found shape {first.shape}.")
    check_rising("times of the samples", first)
    return SampledForces(rows, None, first)


def _rate(rate: Any) -> float:
    value = numbers("the rate of samples", rate)
    if value.ndim or not 0 < value < np.inf:
        raise ArgumentError(f"Expected a number of samples a second above 0, found {shown(rate)}.")
    return float(value)


def _rows(values: FloatArray) -> FloatArray:
    if values.ndim not in (1, 2) or not len(values):
        raise ArgumentError(f"Expected samples of shape (m,) or (m, speeds), found shape {values.shape}.")
    if not np.isfinite(values).all():
        k = int((~np.isfinite(values)).reshape(len(values), -1).any(axis=1).argmax())
        raise ArgumentError(
            f"Expected finite samples, found {shown(values[k].tolist())} as sample {k + 1} of {len(values)}."
        )
    return values


def sample_forces(sample: Any, names: Sequence[str]) -> FloatArray:
    """A *sample* as forces on the speeds *names*, or one for all. Raises :class:`SimulationError` for an invalid one."""
    if isinstance(sample, Mapping):
        unknown = next((n for n in sample if n not in names), None)
        if unknown is not None:
            raise SimulationError(f"the control gives a force on '{unknown}'.{did_you_mean(str(unknown), names)}")
        sample = [sample.get(n, 0.0) for n in names]
    try:
        values = numbers("the control", sample)
    except ArgumentError:
        raise SimulationError(f"the control gives {shown(sample)}, expected numbers") from None
    if values.shape not in ((), (len(names),)):
        raise SimulationError(f"the control gives the shape {values.shape}, expected ({len(names)},)")
    if not np.isfinite(values).all():
        raise SimulationError(f"the control gives {shown(sample)}, expected finite numbers")
    return values
