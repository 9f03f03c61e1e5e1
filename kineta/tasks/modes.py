"""Small oscillations about a state: frequencies, damping, shapes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eig

from kineta.compiler import Equations
from kineta.model.system import System
from kineta.tasks.linear import ComplexArray, Linear, a_linear, warn_unsteady
from kineta.tasks.linearize import linearize

FloatArray = NDArray[np.float64]

#: Part of the largest eigenvalue below which one is zero: what rounding makes of a double zero.
ZERO = 1e-7
#: Part of a component of a shape that may be ahead of the others by rounding; it is in phase with them.
IN_PHASE = 1e-6
#: Size of a shape, of length one, below which no coordinate moves in it.
STILL = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Modes:
    """Modes x = Re(shape exp(eigenvalue t)), slow ones first; of two that are conjugate only the one that turns forwards.

    Attributes
    ----------
    eigenvalues : (m,) [1/s]
    shapes : (m, n) complex: by how much each state takes part, the coordinate that moves most by 1
    names : of the states, also of those that follow from the independent ones
    coordinates : how many of the first states are changes of coordinates
    """

    model: str
    eigenvalues: ComplexArray
    shapes: ComplexArray
    names: tuple[str, ...]
    coordinates: int

    @property
    def frequency(self) -> FloatArray:
        """Oscillations in a second (m,) [Hz]; 0 of a mode that does not oscillate."""
        return np.asarray(self.eigenvalues.imag / (2 * np.pi))

    @property
    def damping(self) -> FloatArray:
        """Damping ratios (m,): 1 where a mode dies out without oscillating, negative where it grows, 0 of a rigid motion."""
        size = np.abs(self.eigenvalues)
        return np.asarray(0.0 - self.eigenvalues.real / np.where(size > 0, size, 1.0))

    @property
    def growth(self) -> FloatArray:
        """Rates (m,) of growth, or of decay where negative [1/s]."""
        return np.asarray(self.eigenvalues.real)

    @property
    def stable(self) -> bool:
        """Whether no mode grows."""
        return bool((self.growth <= 0).all())

    def __len__(self) -> int:
        return len(self.eigenvalues)

    def shape(self, i: int) -> dict[str, complex]:
        """By how much each coordinate takes part in mode number *i*, by name."""
        return dict(zip(self.names, self.shapes[i, : self.coordinates].tolist(), strict=False))

    def lines(self) -> list[str]:
        """A table of the modes as text."""
        rows = [("", "frequency, Hz", "damping", "growth, 1/s", "who moves")]
        for i, value in enumerate(self.eigenvalues):
            frequency = f"{value.imag / (2 * np.pi):.6g}" if value.imag else "-"
            damping = f"{self.damping[i]:.4g}" if value.imag else "-"
            rows.append((str(i + 1), frequency, damping, f"{value.real:.6g}", self._movers(i)))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        return ["  ".join([*(c.rjust(w) for c, w in zip(row, widths, strict=False)), row[4]]).rstrip() for row in rows]

    def _movers(self, i: int) -> str:
        """The coordinates that move most, with their parts."""
        own = self.shapes[i, : self.coordinates]
        size = np.abs(own)
        order = [k for k in np.argsort(-size, kind="stable").tolist() if size[k] > 0.05][:4]
        return ", ".join(f"{self.names[k]} {_part(own[k])}" for k in order)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        ends = f"{'stable' if self.stable else 'unstable'}"
        return f"<Modes of '{self.model}': {len(self)} modes, {ends}>"

    def plot(self) -> Any:
        """Draw the eigenvalues, and the shape of every mode; returns the Matplotlib figure."""
        from kineta.views.linear import modes as draw

        return draw(self)


def _part(z: complex) -> str:
    """A part of a shape: its size, and the angle by which it is ahead where that is not 0 or 180 degrees."""
    angle = np.degrees(np.angle(z))
    if abs(z.imag) <= IN_PHASE * abs(z):
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
    """Small oscillations of *system* about an equilibrium or a steady motion, or those of a linearisation.

    *about*, *t*, *p*, *tau*, *states* as for :func:`~kineta.tasks.linearize.linearize`; nothing is put in. About a state that
    is neither an equilibrium nor steady a :class:`~kineta.errors.KinetaWarning` says so: the modes are those of that moment.
    """
    if isinstance(system, Linear):
        linear = a_linear(system, "modes", about=about, t=t, p=p, tau=tau, states=states)
    else:
        made = linearize(system, about, t=t, p=p, tau=tau, inputs=(), outputs=(), states=states)
        linear = a_linear(made, "modes")
    warn_unsteady(linear, "The modes are those")
    return _modes(linear)


def _modes(linear: Linear) -> Modes:
    if not linear.states:
        return Modes(linear.model, np.zeros(0, complex), np.zeros((0, 0), complex), (), 0)
    values, vectors = eig(linear.A)
    values = np.where(np.abs(values) > ZERO * np.abs(values).max(), values, 0.0)
    real, imag = (np.where(np.abs(x) > ZERO * 1e-4 * np.abs(values), x, 0.0) for x in (values.real, values.imag))
    kept = np.flatnonzero(imag >= 0)
    kept = kept[np.lexsort((real[kept], imag[kept]))]
    shapes = (linear.Z @ vectors[:, kept]).T
    n = len(linear.all_states) - len(linear.speeds)
    own = shapes[:, :n] if n else shapes
    largest = own[np.arange(len(own)), np.abs(own).argmax(axis=1)]
    shapes = shapes / np.where(np.abs(largest) > STILL, largest, 1.0)[:, None]
    return Modes(linear.model, real[kept] + 1j * imag[kept], shapes, linear.all_states, n)
