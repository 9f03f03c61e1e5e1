"""Frequency response and step response of a linearisation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.arrays import ComplexArray, FloatArray
from kineta.calls import public
from kineta.drawing import draw, notebook
from kineta.equations.equations import Equations
from kineta.errors import ArgumentError, SingularMatrixError, did_you_mean, shown
from kineta.model.system import System
from kineta.numerics.linear_algebra import expm, solve
from kineta.records import dataclass
from kineta.tasks.linear.linear_system import Linear, warn_unsteady
from kineta.tasks.linear.linearize import one_linear
from kineta.values import numbers

#: Default number of frequencies, and the factor by which they extend beyond the eigenvalues.
FREQUENCIES, BEYOND = 400, 10.0


@public
@dataclass(frozen=True, eq=False, repr=False)
class Response:
    """The response (k, outputs, inputs) to each input by itself.

    Attributes
    ----------
    frequency : (k,) [Hz], with complex ``values``: amplitude and phase of every output for an input of unit amplitude
    time : (k,) [s], with real ``values``: every output after a unit step of an input
    units : of inputs and outputs by name, where known
    """

    model: str
    frequency: FloatArray | None
    time: FloatArray | None
    values: NDArray[Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: Mapping[str, str]

    _repr_html_ = notebook

    @property
    def over(self) -> FloatArray:
        """The frequencies, or the times."""
        found = self.time if self.frequency is None else self.frequency
        assert found is not None
        return found

    def of(self, output: str, given: str | None = None) -> NDArray[Any]:
        """Return the values (k,) of an *output* for the input *given*, which may be omitted for a single input.

        Raises :class:`ArgumentError` for unknown names.
        """
        if given is None and len(self.inputs) != 1 and output in self.outputs:
            raise ArgumentError(f"Expected the name of an input ({', '.join(self.inputs)}), found none.")
        at, chosen = [], next(iter(self.inputs), "") if given is None else given
        for name, names, what in ((output, self.outputs, "output"), (chosen, self.inputs, "input")):
            if not isinstance(name, str):
                raise ArgumentError(f"Expected the name of an {what} ({', '.join(names)}), found {shown(name)}.")
            if name not in names:
                raise ArgumentError(f"Model '{self.model}' has no {what} '{name}' here.{did_you_mean(name, names)}")
            at.append(names.index(name))
        return np.asarray(self.values[:, at[0], at[1]])

    def lines(self) -> list[str]:
        """Return the largest, the first and the last response of each output to each input, as text."""
        lines = []
        for i, name in enumerate(self.inputs):
            for k, output in enumerate(self.outputs):
                size = np.abs(self.values[:, k, i])
                at = int(size.argmax())
                where = f"after {self.over[at]:.6g} s" if self.frequency is None else f"at {self.over[at]:.6g} Hz"
                most = f"at most {size[at]:.6g} {where}"
                lines.append(f"{output} to {name}: {most}, {size[0]:.6g} first, {size[-1]:.6g} last")
        return lines

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data; complex values as pairs."""
        values = self.values if self.frequency is None else np.stack([self.values.real, self.values.imag], -1)
        return {
            "model": self.model,
            "inputs": list(self.inputs),
            "outputs": list(self.outputs),
            "frequency": None if self.frequency is None else self.frequency.tolist(),
            "time": None if self.time is None else self.time.tolist(),
            "values": values.tolist(),
        }

    def plot(self) -> Any:
        """Draw amplitudes and phases over the frequency, or the outputs over time; returns the Matplotlib figure."""
        return draw(self)

    def __repr__(self) -> str:
        over = f"{len(self.values)} {'times' if self.frequency is None else 'frequencies'}"
        return f"<Response of '{self.model}': {', '.join(self.outputs)} to {', '.join(self.inputs)} at {over}>"


def response(
    system: System | Equations | Linear,
    about: Any = None,
    *,
    frequency: ArrayLike | None = None,
    time: ArrayLike | None = None,
    t: float | None = None,
    p: Any = None,
    tau: Any = None,
    inputs: Iterable[str] | None = None,
    outputs: Iterable[str | Expr] | Mapping[str, Expr] | None = None,
) -> Response:
    """Return the frequency response C (iw - A)^-1 B + D at each *frequency* [Hz], or the step response at each *time* [s].

    By default frequencies around the eigenvalues of the system. The other arguments are those of
    :func:`~kineta.tasks.linear.linearize.linearize`, unless a :class:`Linear` is given. Raises :class:`ArgumentError` as
    ``linearize`` does, for times that do not rise, and for times at which the response overflows. Warns of an unsteady state
    with a :class:`~kineta.errors.KinetaWarning`.
    """
    given = {"about": about, "t": t, "p": p, "tau": tau, "inputs": inputs, "outputs": outputs}
    linear = one_linear(system, "a response", given)
    if not linear.outputs or not linear.inputs:
        missing = "outputs" if not linear.outputs else "inputs"
        raise ArgumentError(f"Model '{linear.model}': there are no {missing} to respond: give {missing}=['...'].")
    if frequency is not None and time is not None:
        raise ArgumentError("Expected frequencies or times, found both; ask for one response after the other.")
    warn_unsteady(linear, "The response is that")
    if time is not None:
        times = _rising("time", time)
        return Response(linear.model, None, times, _step(linear, times), linear.inputs, linear.outputs, linear.units)
    hertz = _around(linear) if frequency is None else _rising("frequency", frequency)
    return Response(linear.model, hertz, None, _transfer(linear, hertz), linear.inputs, linear.outputs, linear.units)


def _rising(name: str, given: ArrayLike) -> FloatArray:
    values = np.atleast_1d(numbers(name, given))
    if (
        values.ndim != 1
        or not len(values)
        or not np.isfinite(values).all()
        or values[0] < 0
        or (np.diff(values) <= 0).any()
    ):
        raise ArgumentError(f"Expected a row of numbers from 0 on that rise, for {name}, found {values[:4]}.")
    return values


def _around(linear: Linear) -> FloatArray:
    """Return frequencies around the eigenvalues."""
    sizes = np.abs(linear.eigenvalues) / (2 * np.pi)
    sizes = sizes[sizes > tolerances.EIGENVALUE_TOLERANCE * sizes.max(initial=0.0)]
    low, high = (sizes.min(), sizes.max()) if len(sizes) else (1.0, 1.0)
    return np.geomspace(low / BEYOND, high * BEYOND, FREQUENCIES)


def _transfer(linear: Linear, hertz: FloatArray) -> ComplexArray:
    n = len(linear.states)
    found = np.empty((len(hertz), len(linear.outputs), len(linear.inputs)), dtype=complex)
    for k, w in enumerate(2 * np.pi * hertz):
        try:
            found[k] = linear.C @ solve(1j * w * np.eye(n) - linear.A, linear.B, what="the response") + linear.D
        except SingularMatrixError:  # at an undamped natural frequency
            found[k] = np.inf
    return found


def _step(linear: Linear, times: FloatArray) -> FloatArray:
    """Return the step response by the matrix exponential of the system augmented with constant inputs."""
    n, m = linear.B.shape
    whole = np.zeros((n + m, n + m))
    whole[:n, :n], whole[:n, n:] = linear.A, linear.B
    state = np.concatenate([np.zeros((n, m)), np.eye(m)])
    found, before, step, last = np.empty((len(times), len(linear.outputs), m)), 0.0, np.eye(n + m), 0.0
    for k, now in enumerate(times):
        dt = now - before
        with np.errstate(all="ignore"):  # overflow ends in an error below
            if abs(dt - last) > tolerances.ROUNDING_TOLERANCE * now:
                step, last = expm(whole * dt, what=f"the response at t = {now:g} s"), dt
            state, before = step @ state if dt else state, now
            found[k] = linear.C @ state[:n] + linear.D
        if not np.isfinite(found[k]).all():
            raise ArgumentError(
                f"Model '{linear.model}': the response grows beyond all numbers before t = {now:g} s; ask for earlier times."
            )
    return found
