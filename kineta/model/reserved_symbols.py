"""Symbols whose meaning is fixed: the time, energies, multipliers, components of points."""

from __future__ import annotations

#: The symbol of the time.
TIME = "t"
#: Prefix of the names of multipliers, ``lambda.hinge.x``.
MULTIPLIER = "lambda."
#: Energies that outputs and events may name.
ENERGIES = ("kinetic_energy", "potential_energy", "energy")
#: Components of the position and then of the velocity of a point or body, in ground axes.
POINT_COMPONENTS = ("x", "y", "z", "vx", "vy", "vz")
