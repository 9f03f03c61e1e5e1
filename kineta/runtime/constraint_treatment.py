"""Treatment of constraints in a run: projection, Baumgarte stabilisation, or solution as a DAE."""

from __future__ import annotations

from kineta.equations.equations import Equations
from kineta.integration.external import IDA
from kineta.integration.time_stepping import MOREAU
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.programs import dynamics
from kineta.numerics.tableaux import TABLEAUX

#: Without constraints; projection after every step; stabilised accelerations (Baumgarte); accelerations, multipliers and
#: constraints solved together by the method; multipliers found as speeds without mass in every step of time stepping.
FREE, PROJECTED, STABILISED, SOLVED, STEPPED = "", "projected", "stabilised", "solved", "stepped"

#: Baumgarte parameter a [1/s]: f'' + 2 a f' + a^2 f = 0 for constraints on the position, f' + a f = 0 for others.
BAUMGARTE_RATE = 20.0


def treatment(equations: Equations, method: str) -> str:
    """Treatment of constraints in a run of *equations* by *method*: native methods project, IDA solves a DAE, time
    stepping finds impulses, all other methods integrate stabilised accelerations.
    """
    system = equations.system
    if method == MOREAU:
        return STEPPED
    if not (system.constraints or system.contacts or system.programs):
        return FREE
    return PROJECTED if method in TABLEAUX else SOLVED if method == IDA else STABILISED


def run_derivation(equations: Equations, kept: str) -> Derivation:
    """Derivation for a run with the treatment *kept* of constraints, without contact forces."""
    d = equations.alone(watched=kept == PROJECTED, baumgarte=BAUMGARTE_RATE if kept == STABILISED else 0.0)
    return dynamics.controlled(d) if equations.system.programs else d
