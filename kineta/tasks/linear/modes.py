"""Natural modes of small oscillations: frequencies, damping, shapes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.arrays import ComplexArray, FloatArray
from kineta.calls import public
from kineta.drawing import draw, notebook, show
from kineta.equations.equations import Equations
from kineta.model.system import System
from kineta.numerics.linear_algebra import eig
from kineta.records import dataclass
from kineta.tasks.linear.linear_system import Linear, warn_unsteady
from kineta.tasks.linear.linearize import one_linear
from kineta.values import whole


@public
@dataclass(frozen=True, eq=False, repr=False)
class Modes:
    """Modes x = Re(shape exp(eigenvalue t)), slow ones first; of a conjugate pair the one with positive frequency.

    Attributes
    ----------
    eigenvalues : (m,) [1/s]
    shapes : (m, n) complex amplitudes of all states, normalised to 1 for the largest coordinate
    names : of the states, dependent ones included
    coordinates : number of leading states that are changes of coordinates
    linear : the linearisation of which they are the modes
    """

    model: str
    eigenvalues: ComplexArray
    shapes: ComplexArray
    names: tuple[str, ...]
    coordinates: int
    linear: Linear | None = field(default=None, repr=False)

    _repr_html_ = notebook

    @property
    def frequency(self) -> FloatArray:
        """Frequencies (m,) [Hz]; 0 for a mode without oscillation."""
        return np.asarray(self.eigenvalues.imag / (2 * np.pi))

    @property
    def damping(self) -> FloatArray:
        """Damping ratios (m,): 1 for aperiodic decay, negative for growth, 0 for a rigid motion."""
        size = np.abs(self.eigenvalues)
        return np.asarray(0.0 - self.eigenvalues.real / np.where(size > 0, size, 1.0))

    @property
    def growth(self) -> FloatArray:
        """Rates (m,) of growth, or of decay where negative [1/s]."""
        return np.asarray(self.eigenvalues.real)

    @property
    def stable(self) -> bool:
        """Whether all modes are free of growth."""
        return bool((self.growth <= 0).all())

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def shape(self, i: int) -> dict[str, complex]:
        """Return the amplitudes of the coordinates in mode number *i*, from 0, or from the end -1; by name. Raises
        :class:`ArgumentError` for an invalid number.
        """
        own = self.shapes[whole("i, the number of a mode", i, -len(self), len(self) - 1), : self.coordinates]
        return dict(zip(self.names, own.tolist(), strict=False))

    def lines(self) -> list[str]:
        """Return a table of the modes as text."""
        if not len(self):
            return [f"Model '{self.model}': nothing in it can move, so that it has no modes."]
        rows = [("", "frequency, Hz", "damping", "growth, 1/s", "who moves")]
        for i, value in enumerate(self.eigenvalues):
            frequency = f"{value.imag / (2 * np.pi):.6g}" if value.imag else "-"
            damping = f"{self.damping[i]:.4g}" if value.imag else "-"
            rows.append((str(i + 1), frequency, damping, f"{value.real:.6g}", self._movers(i)))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        return ["  ".join([*(c.rjust(w) for c, w in zip(row, widths, strict=False)), row[4]]).rstrip() for row in rows]

    def _movers(self, i: int) -> str:
        """Return the coordinates of largest amplitude, with their amplitudes."""
        own = self.shapes[i, : self.coordinates]
        size = np.abs(own)
        order = [k for k in np.argsort(-size, kind="stable").tolist() if size[k] > 0.05][:4]
        return ", ".join(f"{self.names[k]} {_part(own[k])}" for k in order)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def as_dict(self) -> dict[str, Any]:
        """Return eigenvalues, frequencies, damping and shapes as plain data."""
        shapes = [{n: [z.real, z.imag] for n, z in self.shape(i).items()} for i in range(len(self))]
        rows = zip(self.eigenvalues.tolist(), self.frequency.tolist(), self.damping.tolist(), shapes, strict=True)
        modes = [{"eigenvalue": [s.real, s.imag], "frequency": f, "damping": d, "shape": x} for s, f, d, x in rows]
        return {"model": self.model, "stable": self.stable, "modes": modes}

    def __repr__(self) -> str:
        ends = f"{'stable' if self.stable else 'unstable'}"
        return f"<Modes of '{self.model}': {len(self)} modes, {ends}>"

    def plot(self) -> Any:
        """Draw the eigenvalues, and the shape of every mode; returns the Matplotlib figure."""
        return draw(self)

    def picture(self, i: int, *, towards: Any = None, ax: Any = None) -> Any:
        """Draw the machine in mode number *i*, from 0: at the one end of its motion, and pale on the way to the other; returns
        the Matplotlib axes. *towards* is the direction, three numbers, from which it is looked at.
        """
        return show(self, i, towards=towards, ax=ax)


def _part(z: complex) -> str:
    """Return an amplitude in words: its size, and its phase where that is neither 0 nor 180 degrees."""
    angle = np.degrees(np.angle(z))
    if abs(z.imag) <= tolerances.PARTICIPATION_TOLERANCE * abs(z):
        return f"{z.real:.3g}"
    return f"{abs(z):.3g} at {angle:.0f} deg"


def modes(
    system: System | Equations | Linear,
    about: Any = None,
    *,
    t: float | None = None,
    p: Any = None,
    tau: Any = None,
    states: Iterable[str] | None = None,
) -> Modes:
    """Return the natural modes of *system* about an equilibrium or a steady motion, or the modes of a linearisation.

    *about*, *t*, *p*, *tau*, *states* as for :func:`~kineta.tasks.linear.linearize.linearize`; there are no inputs. About an
    unsteady state a :class:`~kineta.errors.KinetaWarning` says that the modes hold at that moment alone.
    """
    given = {"about": about, "t": t, "p": p, "tau": tau, "states": states}
    linear = one_linear(system, "modes", given, inputs=(), outputs=())
    warn_unsteady(linear, "The modes are those")
    return _modes(linear)


def _modes(linear: Linear) -> Modes:
    if not linear.states:
        return Modes(linear.model, np.zeros(0, complex), np.zeros((0, 0), complex), (), 0, linear)
    values, vectors = eig(linear.A, what="the modes")
    values = np.where(np.abs(values) > tolerances.EIGENVALUE_TOLERANCE * np.abs(values).max(), values, 0.0)
    real, imag = (
        np.where(np.abs(x) > 10 * tolerances.ROUNDING_TOLERANCE * np.abs(values), x, 0.0)
        for x in (values.real, values.imag)
    )
    kept = np.flatnonzero(imag >= 0)
    kept = kept[np.lexsort((real[kept], imag[kept]))]
    shapes = (linear.Z @ vectors[:, kept]).T
    n = len(linear.all_states) - len(linear.speeds)
    own = shapes[:, :n] if n else shapes
    largest = own[np.arange(len(own)), np.abs(own).argmax(axis=1)]
    shapes = shapes / np.where(np.abs(largest) > tolerances.ROUNDING_TOLERANCE, largest, 1.0)[:, None]
    return Modes(linear.model, real[kept] + 1j * imag[kept], shapes, linear.all_states, n, linear)
