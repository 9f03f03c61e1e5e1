"""Equilibria of a model in words and as plain data."""

from __future__ import annotations

from typing import Any

from kineta.drawing import notebook
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.model.system import System
from kineta.records import dataclass
from kineta.tasks.equilibria.equilibrium import Equilibrium

#: Coordinates of the largest stiffness that is shown.
WIDEST = 8


@dataclass(frozen=True)
class Equilibria:
    """Equilibria of *system*: one, or several by rising potential energy."""

    system: System
    found: Equilibrium | tuple[Equilibrium, ...]

    _repr_html_ = notebook

    @property
    def each(self) -> tuple[Equilibrium, ...]:
        """The equilibria in a row."""
        return self.found if isinstance(self.found, tuple) else (self.found,)

    def lines(self) -> list[str]:
        """Return the stability of each with its values, and for one alone the stiffness."""
        if not self.system.nv:
            return [f"Model '{self.system.name}': nothing in it can move, so that it rests as it is."]
        if len(self.each) > 1:
            return [line for k, x in enumerate(self.each, 1) for line in (f"{k}: {x.stability}", *_values(x))]
        (alone,) = self.each
        shown = str(alone.stiffness).splitlines() if len(alone.stiffness.names) <= WIDEST else []
        return [str(alone.stability), *_values(alone), *(f"  {line}" for line in shown)]

    def as_dict(self) -> dict[str, Any]:
        """Return all of them as plain data."""
        return {"model": self.system.name, "equilibria": [_data(x) for x in self.each]}


def _values(found: Equilibrium) -> list[str]:
    """Return lines of coordinates and steady speeds, of multipliers, and of squared frequencies."""
    shown = {n: x for n, x in found.initial.items() if n in found.steady or not n.endswith("'")}
    lines = [", ".join(f"{n} = {round(x, 12) + 0.0:.9g}" for n, x in shown.items())]
    if found.multipliers:
        lines.append(", ".join(f"{MULTIPLIER}{n} = {x:.6g}" for n, x in found.multipliers.items()))
    if len(found.stability.omega_squared):
        lines.append("omega^2: " + ", ".join(f"{x:.6g}" for x in found.stability.omega_squared))
    return [f"  {line}" for line in lines]


def _data(found: Equilibrium) -> dict[str, Any]:
    return {
        "initial": found.initial,
        "stable": found.stable,
        "reason": found.stability.reason,
        "omega_squared": found.stability.omega_squared.tolist(),
        "stiffness": found.stiffness.as_dict(),
        "poles": [[s.real, s.imag] for s in found.stability.poles.tolist()],
        "multipliers": found.multipliers,
        "potential_energy": found.potential_energy,
        "residual": found.residual,
    }
