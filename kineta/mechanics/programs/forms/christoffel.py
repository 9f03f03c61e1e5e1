"""The form RnQ (21), by Christoffel's symbols of the metric of the masses::

    D/dt u_j = sum of lambda_a df_a/dq_j^(k) + T_j          u = M q'' + h - Q,   applied r times
    Du_j/dt  = du_j/dt - sum of C_ij w_i,  M w = u          C_ij = (dM_ij/dt + dp_i/dq_j - dp_j/dq_i) / 2,   p = dT/dq'

C_ij is the sum of Gamma_i,jk q_k' over k, plus the explicit time dependence of prescribed motions.
"""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.programs.covariant_derivative import Tangents
from kineta.mechanics.programs.forms.form import Form
from kineta.mechanics.programs.laws.law import total
from kineta.passes.differentiate import gradient
from kineta.passes.time_derivatives import TimeDerivatives


def connection(d: Derivation, w: Sequence[Ref], levels: TimeDerivatives) -> list[Ref]:
    """The sums of C_ij w_i, (n,)."""
    g, s, n = d.graph, d.symbols, len(d.symbols.v)
    rates = levels.of(d["mass_matrix"].refs, 1)
    by = [gradient(g, p, set(s.q)) for p in d["momentum"].refs]
    found = []
    for j in range(n):
        turned = (g.sub(by[i].get(s.q[j], ZERO), by[j].get(s.q[i], ZERO)) for i in range(n))
        twice = g.sum(g.mul(g.add(rates[i * n + j], x), w[i]) for i, x in enumerate(turned))
        found.append(g.mul(g.const(0.5), twice))
    return found


def _left(d: Derivation, r: int) -> list[Ref]:
    tangents, u = Tangents(d, connection), total(d)
    for _ in range(r):
        u = tangents.derivative(u)
    return tangents.solved(u)


RNQ = Form("RnQ", "(21)", "covariant", _left)
