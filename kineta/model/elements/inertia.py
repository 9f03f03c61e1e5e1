"""An inertia that is given directly, without a body."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from kineta.algebra.expression import LOCK, Expr, Scalar
from kineta.errors import ExpressionError, Location
from kineta.model import units
from kineta.model.coercion import scalar
from kineta.model.elements.coordinate import constancy_fault
from kineta.model.kind import Element, Kind, Production, Scope
from kineta.model.reserved_symbols import TIME
from kineta.passes.differentiate import gradient
from kineta.passes.evaluate import evaluate
from kineta.records import dataclass

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source, Token


@dataclass(frozen=True, slots=True)
class InertiaElement(Element):
    """An *inertia* I, a mass or a moment, on a rate k: T = I k^2/2 (Andreev (1.8)).

    The rate k(q, v, t), linear in the speeds, is the *coordinate*, if it is an expression that contains speeds, else its time
    derivative.
    """

    name: str
    inertia: Expr
    coordinate: Expr
    location: Location | None = field(default=None, compare=False, repr=False)


def inertia_element(name: str, inertia: Scalar, rate: Expr) -> InertiaElement:
    """An *inertia* I with T = I k^2/2 on the *rate* k: linear in speeds, or of q and t (then its time derivative is the rate)."""
    return InertiaElement(name, scalar(inertia), scalar(rate))


def _read(source: Source, name: Token, inertia: Node, rate: Node) -> InertiaElement:
    I, k = source.quantity(inertia), source.quantity(rate)
    source.fits(inertia, I, f"the inertia of '{name}'", source.rate_dimension(k), units.ENERGY, 2)
    return InertiaElement(str(name), I.value, k.value, source.location(name))


def _fault(system: Scope, element: InertiaElement) -> tuple[str, str] | None:
    value, rate = system.expand(element.inertia, element.coordinate)
    for name in rate.symbols():
        if name != TIME and not any(name in names for names in (system.parameters, system.q_names, system.speeds)):
            return f"expected a rate of coordinates, speeds, parameters and the time, found '{name}' in it.", name
    if fault := constancy_fault(system, element.coordinate):
        return fault
    g = rate.graph
    with LOCK:
        speeds = {g.symbol(n) for n in rate.symbols() if n in system.speeds}
        nonlinear = any(gradient(g, partial, speeds) for partial in gradient(g, rate.ref, speeds).values())
    if nonlinear:
        return f"expected a rate that is linear in the speeds, found '{element.coordinate}'.", ""
    try:
        (found,) = evaluate(value.graph, [value.ref], system.parameters.numbers)
    except ExpressionError:
        return None  # some parameter has no value yet
    return None if found > 0 else (f"expected an inertia above zero, found {found:g}.", "")


KIND = InertiaElement.kind = Kind(
    InertiaElement,
    "inertia",
    {"inertia_on": Production('"=" sum "on" sum', _read)},
    lambda e: f"= {e.inertia} on {e.coordinate}",
    constants=lambda e: (e.inertia,),
    fault=_fault,
)
