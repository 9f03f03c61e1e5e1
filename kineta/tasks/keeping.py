"""How a run keeps the constraints of its system."""

from __future__ import annotations

from dataclasses import replace

from kineta.compiler import Equations
from kineta.formalism import holding, programmed
from kineta.formalism.derivation import Derivation
from kineta.numerics.foreign import IDA
from kineta.numerics.tableaux import TABLEAUX

#: There are none; states are projected onto them after every step; accelerations pull states back to them (Baumgarte); the method
#: solves for accelerations, multipliers and constraints together.
FREE, PROJECTED, STABILISED, SOLVED = "", "projected", "stabilised", "solved"

#: What accelerations pull back with: f'' + 2 a f' + a^2 f = 0 for constraints on the position, f' + a f = 0 for others [1/s].
PULL = 20.0


def keeping(equations: Equations, method: str) -> str:
    """How a run of *equations* by *method* keeps its constraints: native methods project, IDA solves with them, the others know
    nothing of them.
    """
    system = equations.system
    if not (system.constraints or system.contacts or system.programs):
        return FREE
    return PROJECTED if method in TABLEAUX else SOLVED if method == IDA else STABILISED


def derivation(equations: Equations, kept: str, pressed: frozenset[str] = frozenset()) -> Derivation:
    """A derivation for a run that has its constraints *kept* so, with the forces of the touches *pressed*."""
    d = equations.alone(watched=kept == PROJECTED, pull=PULL if kept == STABILISED else 0.0)
    if equations.system.programs:
        return replace(d, rules=programmed.in_run(d.rules))
    if not equations.system.contacts:
        return d
    return replace(d, rules=holding.in_mode(d.rules, pressing=bool(pressed)), pressed=pressed)
