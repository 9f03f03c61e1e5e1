"""The forms of the kineta: RnA (22), RnL (26) and RnQ^(r) (27), with s = r + 2::

RnA        dK_s/dq^(s) = Q^(r) + ...
RnL        d/dt dK_s-1/dq^(s-1) - dK_s-1/dq^(r) / (r + 1) = Q^(r) + ...
RnQ^(r)    as a balance of generalised force factors, of inertia and of forces, without a kineta
"""

from __future__ import annotations

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.higher_order_quantities import inertia_forces, kineta
from kineta.mechanics.programs.forms.form import Form, in_coordinates
from kineta.mechanics.programs.forms.point_forces import factors
from kineta.mechanics.programs.laws.kineta import KINETA
from kineta.model.system import System
from kineta.passes.differentiate import gradient


def slope(d: Derivation, of: Ref, order: int) -> list[Ref]:
    """The derivatives of *of* by the variables of this *order*."""
    variables = d.symbols.level(order) if order else d.symbols.coordinates
    by = gradient(d.graph, of, set(variables))
    return [by.get(x, ZERO) for x in variables]


def lagrangian(d: Derivation, of: Ref, r: int) -> list[Ref]:
    """Lagrange's operator of order r + 1 on *of*."""
    g = d.graph
    rates = d.symbols.levels.of(slope(d, of, r + 1), 1)
    part = g.const(1 / (r + 1))
    return [g.sub(rate, g.mul(part, x)) for rate, x in zip(rates, slope(d, of, r), strict=True)]


def of_kineta(system: System, r: int) -> str:
    """Return "" where the forms of the kineta law apply, else the sentence of the reason why not."""
    return in_coordinates(system, r) or KINETA.applies(system, r)


def _less(d: Derivation, left: list[Ref], r: int) -> list[Ref]:
    return [d.graph.sub(x, Q) for x, Q in zip(left, factors(d, r), strict=True)]


RNA = Form("RnA", "(22)", "kineta", lambda d, r: _less(d, slope(d, kineta(d, r + 2), r + 2), r), of_kineta)
RNL = Form("RnL", "(26)", "kineta", lambda d, r: _less(d, lagrangian(d, kineta(d, r + 1), r), r), of_kineta)
RNQ_R = Form("RnQ^(r)", "(27)", "kineta", lambda d, r: _less(d, inertia_forces(d, r + 2), r), of_kineta)
