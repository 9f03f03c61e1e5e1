"""Fits of parameters, forces and initial values to measured data: least squares with exact derivatives, and intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import least_squares
from scipy.stats import t as student

from kineta import tolerances
from kineta.algebra.expression import Expr, symbol
from kineta.arrays import FloatArray
from kineta.drawing import draw, notebook
from kineta.equations.equations import Equations, given_equations
from kineta.errors import ArgumentError, ModelError, SimulationError, excerpt, shown
from kineta.files import path_of
from kineta.model.dimensions import series_dimensions
from kineta.model.reserved_symbols import TIME
from kineta.model.system import System
from kineta.numerics.linear_algebra import inv, norm, svd
from kineta.records import dataclass
from kineta.results.csv_table import table
from kineta.results.netcdf import load_result
from kineta.results.result import Result
from kineta.runtime import run_arguments
from kineta.tasks.sensitivity.initial_sensitivity import VariedStart, varied_start
from kineta.tasks.sensitivity.linearised_motion import Limits
from kineta.tasks.sensitivity.sensitivity import Sensitivity, carried
from kineta.values import check_rising, number, numbers

#: Least number of deviations for a test of their independence.
MIN_DEVIATIONS = 10
#: Autocorrelation of systematic deviations.
AUTOCORRELATED = 0.5


@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """The result of a fit.

    Attributes
    ----------
    by : names of the fitted quantities; x : (m,) their values; ``values`` has them by name
    interval : (m, 2) confidence intervals of probability ``level``, for independent normal errors of the data
    covariance : (m, m) of x
    deviation : root mean square deviation of the data from the motion, in units of sigma
    t, data, model_values : times, and by series the measured and the computed values
    evaluations : number of computed motions; message : reason for the end of the search; units : by name, where known
    notes : values on their bounds, at which intervals are cut off
    """

    model: str
    by: tuple[str, ...]
    x: FloatArray
    interval: FloatArray
    covariance: FloatArray
    level: float
    deviation: float
    t: FloatArray
    data: Mapping[str, FloatArray]
    model_values: Mapping[str, FloatArray]
    evaluations: int
    message: str
    units: Mapping[str, str]
    notes: tuple[str, ...] = ()

    _repr_html_ = notebook

    @property
    def values(self) -> dict[str, float]:
        """The fitted values by name."""
        return dict(zip(self.by, self.x.tolist(), strict=True))

    @property
    def correlation(self) -> FloatArray:
        """The correlation matrix of x, (m, m)."""
        size = np.sqrt(np.diag(self.covariance))
        return np.asarray(self.covariance / np.outer(size, size))

    @property
    def patterned(self) -> tuple[str, ...]:
        """The series with autocorrelated deviations: the model differs from the data, and intervals mean little."""
        found = []
        for name, values in self.data.items():
            there = np.isfinite(values)
            off, size = (values - self.model_values[name])[there], float(np.abs(values[there]).max(initial=0.0))
            square = float(off @ off)
            if (
                len(off) >= MIN_DEVIATIONS
                and square > len(off) * (tolerances.WRITTEN_TOLERANCE * size) ** 2
                and off[1:] @ off[:-1] > AUTOCORRELATED * square
            ):
                found.append(name)
        return tuple(found)

    def table(self) -> list[str]:
        """Return a table of the values with their intervals, as text."""
        half = np.abs(self.interval - self.x[:, None]).max(axis=1)
        width = max(map(len, self.by))
        rows = zip(self.by, self.x, half, strict=True)
        return [f"{name.ljust(width)} = {x:.6g} +- {h:.2g} ({100 * self.level:g} %)" for name, x, h in rows]

    def lines(self) -> list[str]:
        """Return the values, the notes, and the deviation of the data from the motion, as text."""
        lines = [*self.table(), *self.notes, f"deviation of the data from the motion: {self.deviation:.3g}"]
        if self.patterned:
            lines.append(
                f"the deviations of {', '.join(self.patterned)} follow each other, as errors of measurements do not: the "
                "intervals mean little; begin elsewhere, or let more vary"
            )
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return the values with their intervals and covariance as plain data."""
        return {
            "model": self.model,
            "values": self.values,
            "interval": dict(zip(self.by, self.interval.tolist(), strict=True)),
            "level": self.level,
            "covariance": self.covariance.tolist(),
            "deviation": self.deviation,
            "series": list(self.data),
            "patterned": list(self.patterned),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return "\n".join([*self.table(), *self.notes])

    def __repr__(self) -> str:
        pairs = ", ".join(f"{n} = {x:.6g}" for n, x in self.values.items())
        return f"<Fit of '{self.model}': {pairs}; deviation {self.deviation:.3g}>"

    def plot(self) -> Any:
        """Draw data and motion, a panel for every series; returns the Matplotlib figure."""
        return draw(self)


def fit(
    system: System | Equations,
    data: Result | Mapping[str, ArrayLike],
    by: Iterable[str],
    *,
    t: ArrayLike | None = None,
    t0: float | None = None,
    q: Any = None,
    v: Any = None,
    p: Any = None,
    tau: Any = None,
    sigma: float | Mapping[str, float] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    level: float = 0.95,
    rtol: float = 1e-9,
    atol: float = 1e-12,
) -> Fit:
    """Return the values of the quantities *by* for which the motion of *system* fits *data* best, by least squares (SciPy).

    Parameters
    ----------
    data : measured series by name, (k,) each, in a mapping or a data frame: coordinates, speeds, outputs, any symbol of the
        model; NaN for missing values. Or the path of a table (``.csv``), of which coordinates, speeds and outputs are taken; a
        run, or the path of one (``.nc``), whose coordinates are the data
    by : names of parameters, of coordinates and speeds for their initial values, and ``tau[q1']`` for the force on a speed
    t : (k,) rising times of the data; by default the series ``t``, or the times of a run
    t0 : start of the motion; by default the first time
    q, v, p, tau : initial guess, as for :func:`~kineta.simulation.simulate.simulate`
    sigma : standard deviation of the errors of all data, or by series; by default one for all, estimated from the fit
    bounds : lowest and highest values by name
    level : probability of the intervals

    Raises :class:`ArgumentError` for inconsistent data and for data that do not determine the values, and
    :class:`SimulationError` for a motion on the way that cannot be computed.
    """
    equations = given_equations(system)
    times, series = _data(equations.system, data, t)
    first = float(times[0]) if t0 is None else number("t0", t0)
    if not first <= times[0] or not first < times[-1]:
        raise ArgumentError(f"Expected a start t0 before the data, which begin at {times[0]:g} s, found {first:g}.")
    level = number("level", level)
    if not 0 < level < 1:
        raise ArgumentError(f"Expected a probability between 0 and 1 for level, found {level:g}.")
    rtol, atol, _ = run_arguments.tolerances(rtol, atol, np.inf)
    begun = varied_start(equations, by, first, q, v, p, tau)
    problem = _Problem(begun, first, times, series, _sigmas(series, sigma), Limits(rtol=rtol, atol=atol))
    lowest, highest = _bounds(begun, bounds)
    problem.check_seen(problem.jacobian(begun.x0))
    found = least_squares(
        problem.residuals,
        begun.x0,
        problem.jacobian,
        bounds=(lowest, highest),
        x_scale="jac",
        xtol=tolerances.ROUNDING_TOLERANCE,
        ftol=tolerances.ROUNDING_TOLERANCE,
        gtol=tolerances.ROUNDING_TOLERANCE,
    )
    return _bounded(
        problem.fitted(found.x, level, given=sigma is not None, message=str(found.message)), lowest, highest
    )


def measured_names(system: System) -> tuple[str, ...]:
    """Names of what is taken from a table to be fitted: coordinates, speeds and outputs."""
    return (*system.q_names, *system.v_names, *(o.name for o in system.outputs))


def _series(system: System, path: Path) -> dict[str, FloatArray]:
    """Return the coordinates, speeds and outputs in a table, and its times."""
    times, columns = table(path, known=series_dimensions(system))
    known = measured_names(system)
    found = {n: x for n, x in columns.items() if n in known}
    if not found:
        raise ArgumentError(f"{path}: expected series that the model has, {excerpt(known)}, found {excerpt(columns)}.")
    return {TIME: times, **found}


def _data(system: System, data: Any, t: ArrayLike | None) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return times and series. Raises :class:`ArgumentError` for data without times, without values, or of other lengths."""
    if isinstance(data, str | Path):
        path = path_of(data, "the path of the data")
        data = load_result(path) if path.suffix == ".nc" else _series(system, path)
    if isinstance(data, Result):
        if data.cases is not None:
            raise ArgumentError("Expected one run to fit, found cases; choose one, run.case(0).")
        return data.t, {n: data[n] for n in data.q_names}
    try:
        data = {n: data[n] for n in data}  # of a data frame, too
        named = all(isinstance(n, str) for n in data)
    except Exception:  # whatever the object raises
        named = False
    if not named:
        raise ArgumentError(
            f"Expected measured series by name, a run, or the path of a table or run for the data, found {shown(data)}."
        )
    t = data.pop(TIME, None) if t is None else t
    if not data:
        raise ArgumentError("Expected data to fit, found none: give a mapping of names to measured values.")
    if t is None:
        raise ArgumentError("Expected the times t of the data, found none.")
    times = numbers("t", t)
    if times.ndim != 1 or len(times) < 2:
        raise ArgumentError(f"Expected times t (k,), two at least, found {shown(t)}.")
    check_rising("times t", times)
    series = {n: numbers(f"the series '{n}'", x) for n, x in data.items()}
    for name, values in series.items():
        if values.shape != times.shape:
            raise ArgumentError(
                f"Expected the series '{name}' of shape {times.shape}, as the times have, found {values.shape}."
            )
        if np.isinf(values).any() or np.isnan(values).all():
            wrong = f"{values[np.isinf(values)][0]:g}" if np.isinf(values).any() else "NaN everywhere"
            raise ArgumentError(
                f"Expected finite numbers in the series '{name}', NaN where nothing was measured, found {wrong}."
            )
    return times, series


def _sigmas(series: Mapping[str, FloatArray], sigma: float | Mapping[str, float] | None) -> dict[str, float]:
    if not isinstance(sigma, Mapping):
        common = 1.0 if sigma is None else number("sigma", sigma)
        found = dict.fromkeys(series, common)
    else:
        missing = [n for n in series if n not in sigma]
        if missing:
            raise ArgumentError(f"Expected sigma for every series, found none for '{missing[0]}'.")
        found = {n: number(f"sigma of '{n}'", sigma[n]) for n in series}
    for name, value in found.items():
        if not value > 0 or not np.isfinite(value):
            raise ArgumentError(f"Expected a standard deviation above 0 for sigma of '{name}', found {value:g}.")
    return found


def _bounds(begun: VariedStart, bounds: Mapping[str, tuple[float, float]] | None) -> tuple[FloatArray, FloatArray]:
    names = begun.by.names
    if bounds is not None and not isinstance(bounds, Mapping):
        raise ArgumentError(f"Expected bounds as pairs (lowest, highest) by name, found {shown(bounds)}.")
    found = np.array([[-np.inf, np.inf]] * len(names)).T
    for name, pair in (bounds or {}).items():
        if name not in names:
            raise ArgumentError(f"Expected bounds of what is fitted ({', '.join(names)}), found {shown(name)}.")
        k, own = names.index(name), numbers(f"the bounds of '{name}'", pair)
        if own.shape != (2,) or not own[0] < own[1] or not own[0] <= begun.x0[k] <= own[1]:
            raise ArgumentError(
                f"Expected bounds (lowest, highest) around {name} = {begun.x0[k]:g}, found {shown(pair)}."
            )
        found[:, k] = own
    return found[0], found[1]


def _bounded(found: Fit, lowest: FloatArray, highest: FloatArray) -> Fit:
    """Return *found* with intervals within the bounds, and notes on values that lie on one."""
    near = tolerances.STATE_TOLERANCE * np.maximum(1.0, np.abs(found.x))
    at = (found.x - lowest <= near) | (highest - found.x <= near)
    notes = [
        f"{n} = {x:.6g} is at its bound, where its interval is cut off; without it the fit would go further"
        for n, x, met in zip(found.by, found.x, at.tolist(), strict=True)
        if met
    ]
    interval = np.clip(found.interval, lowest[:, None], highest[:, None])
    return replace(found, interval=interval, notes=tuple(notes))


class _Problem:
    """The least-squares problem: residuals and Jacobian for values x, each motion computed once."""

    def __init__(
        self,
        begun: VariedStart,
        t0: float,
        times: FloatArray,
        series: Mapping[str, FloatArray],
        sigmas: Mapping[str, float],
        limits: Limits,
    ) -> None:
        self.begun, self.t0, self.times, self.series, self.limits = begun, t0, times, series, limits
        self.sigmas, self.evaluations = sigmas, 0
        model = begun.equations.system
        known = {*model.q_names, *model.v_names, *(o.name for o in model.outputs)}
        self.shown: dict[str, Expr] = {
            n: run_arguments.symbols(model, symbol(n), f"the series '{n}'", resulting=True)
            for n in series
            if n not in known
        }
        self.measured = {n: np.isfinite(x) for n, x in series.items()}
        if sum(int(x.sum()) for x in self.measured.values()) <= len(begun.by.names):
            raise ArgumentError(
                f"Expected more data than the {len(begun.by.names)} values that are fitted, found "
                f"{sum(int(x.sum()) for x in self.measured.values())}."
            )
        self._last: tuple[bytes, Sensitivity] | None = None

    def at(self, x: FloatArray) -> Sensitivity:
        """Return the motion for *x* with its derivatives."""
        if self._last is None or self._last[0] != x.tobytes():
            span = self.t0, float(self.times[-1])
            try:
                start = self.begun.at(x, self.t0)
                found = carried(
                    self.begun.equations, self.begun.by, span, start, {}, self.shown, self.times, self.limits
                )[0]
            except (ModelError, SimulationError) as error:
                values = ", ".join(f"{n} = {value:.6g}" for n, value in zip(self.begun.by.names, x, strict=True))
                told = SimulationError(
                    f"The fit came to {values}, from where it cannot go on: {error} Bounds keep it away."
                )
                raise told.with_traceback(error.__traceback__) from None
            self._last, self.evaluations = (x.tobytes(), found), self.evaluations + 1
        return self._last[1]

    def residuals(self, x: FloatArray) -> FloatArray:
        """Return motion less data, in units of sigma."""
        found = self.at(x)
        parts = [((found.value(n) - data) / self.sigmas[n])[self.measured[n]] for n, data in self.series.items()]
        return np.concatenate(parts)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Return the Jacobian of the residuals."""
        found = self.at(x)
        return np.concatenate([(found[n] / self.sigmas[n])[self.measured[n]] for n in self.series])

    def fitted(self, x: FloatArray, level: float, *, given: bool, message: str) -> Fit:
        """Return the result at the end *x* of the search."""
        model, names = self.begun.equations.system, self.begun.by.names
        r, J = self.residuals(x), self.jacobian(x)
        self.check_seen(J)
        free = len(r) - len(names)
        variance = 1.0 if given else float(r @ r) / free
        scale = norm(J, axis=0)
        covariance = (
            inv((J / scale).T @ (J / scale), what="the errors of the parameters") / np.outer(scale, scale) * variance
        )
        half = np.sqrt(np.diag(covariance)) * float(student.ppf((1 + level) / 2, np.inf if given else free))
        found = self.at(x)
        return Fit(
            model=model.name,
            by=names,
            x=x,
            interval=np.stack([x - half, x + half], axis=1),
            covariance=covariance,
            level=level,
            deviation=float(np.sqrt(np.mean(r**2))),
            t=self.times,
            data=self.series,
            model_values={n: found.value(n) for n in self.series},
            evaluations=self.evaluations,
            message=message,
            units=found.units,
        )

    def check_seen(self, J: FloatArray) -> None:
        """Raise for values that the data do not determine."""
        names, scale = self.begun.by.names, norm(J, axis=0)
        unseen = [n for n, size in zip(names, scale, strict=True) if not size > 0]
        if unseen:
            raise ArgumentError(f"The data do not depend on {', '.join(unseen)}: leave it out, or measure more.")
        _, sizes, rows = svd(J / scale, what="what the data say of the parameters", full_matrices=False)
        if sizes[-1] < tolerances.RANK_TOLERANCE * sizes[0]:
            part = np.abs(rows[-1])
            together = [n for n, x in zip(names, part, strict=True) if x > 0.1 * part.max()]
            raise ArgumentError(
                f"The data do not tell {', '.join(together)} apart: they change together without a trace. Fit fewer of them, or "
                "measure something else."
            )
