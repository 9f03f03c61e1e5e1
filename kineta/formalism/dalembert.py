"""The formalism ``dalembert``: inertia and forces reduced to the speeds by structure matrices (Andreev (2.2)-(2.5))::

    sum of S_R^T m a_C + S_M^T (J eps + w x J w)  =  S_P^T P          S_R = dv_C/dv,  S_M = dw/dv,  S_P = drho'/dv

From the description alone: the motions of every body are multiplied out one by one, every body keeps its mass and its own
axes, and every element is a list of pairs, a characteristic P and the rate rho' on which it works. So do the energies::

    T = sum of (m v_C . v_C + w . J w) / 2     (1.1)          V = sum of C gamma^2 / 2 - sum of m g . r_C
"""

from __future__ import annotations

from kineta.expr.graph import ZERO, Ref, neg
from kineta.formalism import inertia
from kineta.formalism.derivation import Derivation, scalar
from kineta.formalism.described import Description
from kineta.formalism.formalism import Formalism
from kineta.formalism.reactions import less_loads
from kineta.formalism.residual import transmitted
from kineta.model.body import GROUND
from kineta.spatial.wrench import Wrench


def _residual(d: Derivation) -> list[Ref]:
    """The left side of (2.3) less the right one."""
    g, symbols, described = d.graph, d.symbols, Description(d.symbols)
    tau = [ZERO] * len(symbols.v)
    resisting = [p for body in symbols.system.bodies for p in described.inertia(body)]
    resisting += [p for r in inertia.resistances(d) for p in inertia.turning(d, r)]
    acting = [(neg(P), rate) for P, rate in described.acting()]
    for P, rate in (*resisting, *acting):
        for k, share in symbols.by_speed(rate, P).items():
            tau[k] = g.add(tau[k], share)
    return tau


def _freed(d: Derivation) -> dict[str, Wrench]:
    """What every joint passes on: all that the masses beyond it need, reduced to the origin of the body."""
    g, described, system = d.graph, Description(d.symbols), d.symbols.system
    bases, found = {b.name: b.base for b in system.bodies}, {b.name: Wrench.zero(g) for b in system.bodies}
    for name, own in described.needed().items():
        body = name
        while body != GROUND:
            arm = described.frames[name].r - described.frames[body].r
            found[body] = found[body] + Wrench(own.f, own.n + arm.cross(own.f))
            body = bases[body]
    return found


DALEMBERT = Formalism(
    name="dalembert",
    source="Andreev (1.1), (2.2)-(2.5)",
    residual=_residual,
    rules={
        "reactions": lambda d: transmitted(d, less_loads(d, _freed(d))),
        "kinetic_energy": lambda d: scalar(Description(d.symbols).kinetic_energy()),
        "potential_energy": lambda d: scalar(Description(d.symbols).potential_energy()),
    },
)
