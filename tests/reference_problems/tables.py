"""Reference problems of rigid body motion as systems."""

from __future__ import annotations

from typing import Any

import numpy as np

import kineta as kn
from tests.mechanics.truth import load

#: As tight as rounding allows: what is compared is the equations, not the step size.
TIGHT: dict[str, Any] = {"rtol": 1e-13, "atol": 1e-14}


def rigid(name: str) -> dict[str, Any]:
    """A reference problem."""
    return load(f"rigid/{name}_s.json")


def column(table: list[dict[str, Any]], name: str) -> np.ndarray:
    """The column *name* of a table of expected values."""
    return np.array([row[name] for row in table])


def run(system: kn.System, table: list[dict[str, Any]], **given: Any) -> kn.Result:
    """The motion of *system*, recorded at the times of *table*."""
    times = column(table, "t")
    result = kn.simulate(system, times[-1], t_eval=times, **{**TIGHT, **given})
    assert result.success, result.message
    return result


def ball(moments: Any, mass: float = 0.0, com: Any = (0, 0, 0), gravity: Any = (0, 0, 0)) -> kn.System:
    """A body with a fixed point and the central *moments*."""
    own = kn.inertia(mass, moments, com=com, lumped=True)
    return kn.System("top", [kn.body("body", [kn.Ball("b")], own)], gravity=gravity)


def pendulums(masses: list[float], lengths: list[float], g: float) -> kn.System:
    """Point masses on massless rods, in absolute angles from the downward vertical."""
    angles = [kn.symbol(f"q{i}") for i in range(len(masses))]
    turns = [a - b for a, b in zip(angles, [kn.symbol("q0") * 0, *angles], strict=False)]
    bodies = [
        kn.body(f"b{i}", [kn.Rz(turn), kn.Sy(-length)], kn.inertia(mass), base=f"b{i - 1}" if i else "ground")
        for i, (mass, length, turn) in enumerate(zip(masses, lengths, turns, strict=True))
    ]
    return kn.System("chain", bodies, gravity=(0, -g, 0), coordinates=[f"q{i}" for i in range(len(masses))])


def rotations(system: kn.System, result: kn.Result, body: int = 0) -> np.ndarray:
    """Matrices (k, 3, 3) of a body: components in its axes to inertial ones."""
    return kn.derive(system).function("rotations", "numpy")(result.t, result.q, result.v)[:, body]
