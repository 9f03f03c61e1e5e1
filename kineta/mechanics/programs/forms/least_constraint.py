"""The forms by minimum principles, RnR_sA (31), RnGA (34) and RnGL (35)::

    R_s = K_s - sum of Q^(r)_j q_j^(s)                         RnR_sA: its slope by q^(s)
    Z_r = sum of m (x^(s) - f^(r)/m)^2 / 2                     RnGA: its slope; the true q^(s) minimise Z_r among those that
                                                               satisfy the programs, Gauss' principle for r = 0
    Lagrange's operator of the order r + 1 on Z_r-1            RnGL, for forces that depend on time and place alone

Z omits the terms f^2/m, which are independent of the variables of differentiation, but contains the full work of f on x^(s), a
part of which R_s omits and RnGL needs.
"""

from __future__ import annotations

from kineta.expr.graph import Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.higher_order_quantities import kineta
from kineta.mechanics.programs.forms.form import Form
from kineta.mechanics.programs.forms.kineta_forms import lagrangian, of_kineta, slope
from kineta.mechanics.programs.forms.point_forces import along, elsewhere, factors, work
from kineta.model.elements.coordinate import Length
from kineta.model.elements.damper import Damper
from kineta.model.elements.force import Force
from kineta.model.elements.inertia import InertiaElement
from kineta.model.name_inference import derivative_order
from kineta.model.system import System


def characteristic(d: Derivation, r: int) -> Ref:
    """The function R_s."""
    return d.graph.sub(kineta(d, r + 2), along(d, factors(d, r), r + 2))


def compulsion(d: Derivation, r: int) -> Ref:
    """The constraint Z_r."""
    g = d.graph
    return g.sub(g.sub(kineta(d, r + 2), work(d, r, r + 2)), along(d, elsewhere(d, r), r + 2))


def _without_speeds(system: System, r: int) -> str:
    if why := of_kineta(system, r):
        return why
    if r == 0:
        return "it begins where equations are differentiated."
    for element in system.elements:
        if isinstance(element, InertiaElement):
            continue
        at_points = isinstance(element, Force) or isinstance(getattr(element, "coordinate", None), Length)
        if (
            not at_points
            or isinstance(element, Damper)
            or any(derivative_order(system, x) for x in element.expressions)
        ):
            return f"it takes forces at points that depend on time and place alone, and '{element.name}' is none."
    return ""


RNR_SA = Form("RnR_sA", "(31)", "kineta", lambda d, r: slope(d, characteristic(d, r), r + 2), of_kineta)
RNGA = Form("RnGA", "(34)", "kineta", lambda d, r: slope(d, compulsion(d, r), r + 2), of_kineta)
RNGL = Form("RnGL", "(35)", "kineta", lambda d, r: lagrangian(d, compulsion(d, r - 1), r), _without_speeds)
