"""What a linear system puts out: to oscillations that are put in, or to a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import expm

from kineta.compiler import Equations
from kineta.errors import ArgumentError, did_you_mean
from kineta.expr.node import Expr
from kineta.model.system import System
from kineta.tasks.linear import Linear, a_linear, warn_unsteady
from kineta.tasks.linearize import linearize
from kineta.values import numbers

FloatArray = NDArray[np.float64]

#: Frequencies that are looked at, if none are given, and how far beyond the eigenvalues they go.
FREQUENCIES, BEYOND = 400, 10.0
#: Part of the largest eigenvalue below which one is none to look around: rigid motions, to rounding.
SLOW = 1e-6
#: Part of the time by which steps of equidistant times differ by rounding, so that one exponential serves all.
EQUIDISTANT = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Response:
    """Outputs (k, outputs, inputs) for each input by itself.

    Attributes
    ----------
    frequency : (k,) [Hz], for ``values`` that are complex: the amplitude and phase of every output when an input oscillates by 1
    time : (k,) [s], for ``values`` that are real: every output after an input has stepped from 0 to 1
    units : of inputs and outputs by name, where they are known
    """

    model: str
    frequency: FloatArray | None
    time: FloatArray | None
    values: NDArray[Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: Mapping[str, str]

    @property
    def over(self) -> FloatArray:
        """The frequencies, or the times."""
        found = self.time if self.frequency is None else self.frequency
        assert found is not None
        return found

    def of(self, output: str, given: str | None = None) -> NDArray[Any]:
        """The values (k,) of an *output* for the input *given*, which may be left out where there is one.

        Raises :class:`ArgumentError` for unknown names.
        """
        if given is None and len(self.inputs) != 1:
            raise ArgumentError(f"Expected the name of an input ({', '.join(self.inputs)}), found none.")
        at = []
        for name, names, what in ((output, self.outputs, "output"), (given or self.inputs[0], self.inputs, "input")):
            if name not in names:
                raise ArgumentError(f"Model '{self.model}' has no {what} '{name}' here.{did_you_mean(name, names)}")
            at.append(names.index(name))
        return np.asarray(self.values[:, at[0], at[1]])

    def plot(self) -> Any:
        """Draw amplitudes and phases over the frequency, or the outputs over time; returns the Matplotlib figure."""
        from kineta.views.linear import response as draw

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
    """The frequency response C (iw - A)^-1 B + D at each *frequency* [Hz], or the step response at each *time* [s].

    Neither: frequencies around those of the system. The other arguments are those of
    :func:`~kineta.tasks.linearize.linearize`, which makes the :class:`Linear` where none is given. Raises
    :class:`ArgumentError` as that does, for times that do not rise, and for those to which the response grows beyond all numbers.
    About a state that is neither an equilibrium nor steady a :class:`~kineta.errors.KinetaWarning` says so.
    """
    if isinstance(system, Linear):
        linear = a_linear(system, "a response", about=about, t=t, p=p, tau=tau, inputs=inputs, outputs=outputs)
    else:
        linear = a_linear(linearize(system, about, t=t, p=p, tau=tau, inputs=inputs, outputs=outputs), "a response")
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
    """Frequencies around the eigenvalues."""
    sizes = np.abs(linear.eigenvalues) / (2 * np.pi)
    sizes = sizes[sizes > SLOW * sizes.max(initial=0.0)]
    low, high = (sizes.min(), sizes.max()) if len(sizes) else (1.0, 1.0)
    return np.geomspace(low / BEYOND, high * BEYOND, FREQUENCIES)


def _transfer(linear: Linear, hertz: FloatArray) -> NDArray[np.complex128]:
    n = len(linear.states)
    found = np.empty((len(hertz), len(linear.outputs), len(linear.inputs)), dtype=complex)
    for k, w in enumerate(2 * np.pi * hertz):
        try:
            found[k] = linear.C @ np.linalg.solve(1j * w * np.eye(n) - linear.A, linear.B) + linear.D
        except np.linalg.LinAlgError:  # exactly at a frequency of its own, without damping
            found[k] = np.inf
    return found


def _step(linear: Linear, times: FloatArray) -> FloatArray:
    """By the exponential of the system with its inputs, which stay, as states."""
    n, m = linear.B.shape
    whole = np.zeros((n + m, n + m))
    whole[:n, :n], whole[:n, n:] = linear.A, linear.B
    state = np.concatenate([np.zeros((n, m)), np.eye(m)])
    found, before, step, last = np.empty((len(times), len(linear.outputs), m)), 0.0, np.eye(n + m), 0.0
    for k, now in enumerate(times):
        dt = now - before
        with np.errstate(all="ignore"):  # a response that grows ends in a sentence
            if abs(dt - last) > EQUIDISTANT * now:
                step, last = expm(whole * dt), dt
            state, before = step @ state if dt else state, now
            found[k] = linear.C @ state[:n] + linear.D
        if not np.isfinite(found[k]).all():
            raise ArgumentError(
                f"Model '{linear.model}': the response grows beyond all numbers before t = {now:g} s; ask for earlier times."
            )
    return found
