"""Names in models, and symbols whose meaning is fixed: the time, energies, multipliers, components of points."""

from __future__ import annotations

import re
from collections.abc import Container

#: A letter, digit or ``_`` of a name: ``\w`` without raised and lowered digits, fractions and digits in circles.
LETTER = r"[^\W²³¹¼-¾⁰-₎⅐-↋①-⓿]"
#: A name without primes. It may have indices, ``Link[3]``, and prefixes of the models that it comes from, ``leg[3].Foot``.
NAME = re.compile(rf"(?!\d){LETTER}+(?:\[\d+\])*(?:\.(?!\d){LETTER}+(?:\[\d+\])*)*")

#: The symbol of the time.
TIME = "t"
#: Prefix of the names of multipliers, ``lambda.hinge.x``.
MULTIPLIER = "lambda."
#: The name of an added force, by its speed; behind brackets with numbers alone stand indices.
_ADDED_FORCE = re.compile(r"tau\[(?!\d+\])(.+)\]")
#: Energies that outputs and events may name.
ENERGIES = ("kinetic_energy", "potential_energy", "energy")
#: The series of runs beside them: the work of forces.
WORK = "work"
#: Components of the position and then of the velocity of a point or body, in ground axes.
POINT_COMPONENTS = ("x", "y", "z", "vx", "vy", "vz")


def added_force(speed: str) -> str:
    """The name of the force that is added on a *speed*, ``tau[q1']``."""
    return f"tau[{speed}]"


def forced(name: str) -> str:
    """The speed in the *name* of an added force, ``q1'`` of ``tau[q1']``; ``''`` for other names, as ``tau[3]`` with an index."""
    found = _ADDED_FORCE.fullmatch(name)
    return found[1] if found else ""


def momentum(speed: str) -> str:
    """The name of the momentum of a *speed*, ``p[b.wx]``; of the rate of a coordinate by the coordinate, ``p[q1]``."""
    return f"p[{speed.removesuffix(chr(39))}]"


def owner(label: str, names: Container[str]) -> tuple[str, str]:
    """The longest part of a *label* before a dot, or the whole, that is one of *names*, and what follows the dot: ``hinge`` and
    ``x`` of ``hinge.x``. The first part, where none is.
    """
    own = label
    while own not in names:
        shorter = own.rpartition(".")[0]
        if not shorter:
            own = label.partition(".")[0]
            break
        own = shorter
    return own, label[len(own) + 1 :]
