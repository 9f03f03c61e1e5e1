"""The formalism ``dalembert``: inertia and forces reduced to the speeds by structure matrices (Andreev (2.2)-(2.5))::

    sum of S_R^T m a_C + S_M^T (J eps + w x J w)  =  S_P^T P          S_R = dv_C/dv,  S_M = dw/dv,  S_P = drho'/dv

From the description alone: the motions of every body are multiplied out one by one, every body keeps its mass and its own
axes, and every element is a list of pairs, a characteristic P and the rate rho' on which it works.
"""

from __future__ import annotations

from kineta.expr.graph import ZERO, Ref, neg
from kineta.formalism.derivation import Derivation
from kineta.formalism.described import Description
from kineta.formalism.formalism import Formalism


def _residual(d: Derivation) -> list[Ref]:
    """The left side of (2.3) less the right one."""
    g, symbols, described = d.graph, d.symbols, Description(d.symbols)
    tau = [ZERO] * len(symbols.v)
    resisting = [p for body in symbols.system.bodies for p in described.inertia(body)]
    acting = [(neg(P), rate) for P, rate in described.acting()]
    for P, rate in (*resisting, *acting):
        for k, share in symbols.by_speed(rate, P).items():
            tau[k] = g.add(tau[k], share)
    return tau


DALEMBERT = Formalism(name="dalembert", source="Andreev (2.2)-(2.5)", residual=_residual)
