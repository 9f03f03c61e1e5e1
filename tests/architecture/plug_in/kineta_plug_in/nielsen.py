"""Nielsen's equations, of the rate of the kinetic energy along the motion::

    dTdot/dqdot_s - 2 dT/dq_s = Q_s

for speeds that are the rates of the coordinates. The weight is a force with the potential V.
"""

from __future__ import annotations

from collections.abc import Iterator

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.algorithms.energy import gravity_potential
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements.applied_forces import generalized_forces
from kineta.mechanics.formalisms.formalism import Formalism
from kineta.mechanics.narration import Step, applied, one
from kineta.model.system import System
from kineta.passes.differentiate import gradient


def _residual(d: Derivation) -> list[Ref]:
    g, s, T = d.graph, d.symbols, d["kinetic_energy"].refs[0]
    (rate,) = s.levels.of([T], 1)
    by_speed, by_coordinate = gradient(g, rate, set(s.v)), gradient(g, T, set(s.q))
    weight = gradient(g, gravity_potential(d.mechanism), set(s.q))
    tau = []
    for q, v, Q in zip(s.q, s.v, generalized_forces(d.elements), strict=True):
        left = g.sub(by_speed.get(v, ZERO), g.mul(g.const(2.0), by_coordinate.get(q, ZERO)))
        tau.append(g.sub(g.add(left, weight.get(q, ZERO)), Q))
    return tau


def _steps(d: Derivation) -> Iterator[Step]:
    T = d["kinetic_energy"].refs[0]
    yield Step("Kinetic energy", shown=(one("T", T),))
    yield Step("Its rate along the motion", shown=(one("rate", d.symbols.levels.of([T], 1)[0]),))
    yield applied(d, "Nielsen 1935")
    yield Step("Nielsen's equations", "∂Ṫ/∂q̇_s − 2 ∂T/∂q_s = Q_s + τ_s", "Nielsen 1935")


def _applies(system: System) -> str:
    if system.joints or system.quasi:
        return "its speeds have to be the rates of the coordinates."
    return ""


NIELSEN = Formalism("nielsen", "Nielsen 1935", _residual, _steps, _applies)
