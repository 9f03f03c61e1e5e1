"""The kineta law: the derivative of all reactions together is along the gradients of the programs (Rodionov's forms (22)-(35))::

    dK_s/dv^(s-1) = Q^(r) + sum of lambda_a gradient_a          s = r + 2

Q^(r) contains the derivatives of forces as vectors at their points of application, not of generalised forces. Forces on speeds
count as a field of forces tangent to the motions.
"""

from __future__ import annotations

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements.applied_forces import Elements
from kineta.mechanics.elements.element_actions import apply_elements
from kineta.mechanics.higher_order_quantities import inertia_forces
from kineta.mechanics.kinematics.sweeps import generalized, rate_forces
from kineta.mechanics.programs.covariant_derivative import Tangents
from kineta.mechanics.programs.laws.law import Law, of_what_moves, total
from kineta.model.elements.coordinate import Length
from kineta.model.elements.force import Force
from kineta.model.elements.inertia import InertiaElement
from kineta.model.system import System
from kineta.spatial.vector import Vector
from kineta.spatial.wrench import Wrench


class Rates(Elements):
    """The derivatives of *order* of the forces of all elements at their points; forces on speeds and couples belong to the
    ``tangent`` covector.
    """

    def __init__(self, d: Derivation, order: int) -> None:
        self.order = order
        self.turning: dict[int, Wrench] = {}
        super().__init__(d.mechanism, d.kinematics)

    def force(self, link: int, x: Vector, f: Vector) -> None:
        """Add the derivative of the force *f* at *x*, both in the axes of the link."""
        for _ in range(self.order):
            rates = Vector(self.graph, *self.mechanism.symbols.levels.of(f.refs, 1))
            f = rates + self.kinematics.w[link].cross(f)
        super().force(link, x, f)

    def couple(self, link: int, n: Vector) -> None:
        """Add a couple to the tangent covector."""
        self.turning[link] = self.turning.get(link, Wrench.zero(self.graph)) + Wrench(Vector(self.graph), n)

    @property
    def tangent(self) -> list[Ref]:
        """Generalised forces of all elements that do not act at points."""
        wrenches = [self.turning.get(i, Wrench.zero(self.graph)) for i in range(len(self.mechanism.links))]
        swept = generalized(self.mechanism, rate_forces(self.mechanism, wrenches))
        return [self.graph.add(own, Q) for own, Q in zip(swept, self.forces, strict=True)]

    @property
    def at_points(self) -> list[Ref]:
        """Generalised forces Q^(r) of the forces at points."""
        wrenches = [self.wrenches.get(i, Wrench.zero(self.graph)) for i in range(len(self.mechanism.links))]
        return generalized(self.mechanism, rate_forces(self.mechanism, wrenches))


def _rate(d: Derivation, r: int) -> list[Ref]:
    if r == 0:
        return total(d)
    g, rates = d.graph, apply_elements(Rates(d, r))
    found = [g.sub(x, Q) for x, Q in zip(inertia_forces(d, r + 2), rates.at_points, strict=True)]
    if any(Q != ZERO for Q in rates.tangent):
        tangents = Tangents(d)
        along = tangents.solved(tangents.derivative(rates.tangent))
        found = [g.sub(x, Q) for x, Q in zip(found, along, strict=True)]
    return found


def _applies(system: System, r: int) -> str:
    if r < 2:
        return of_what_moves(system, r)
    for element in system.elements:
        if not (
            isinstance(element, Force | InertiaElement) or isinstance(getattr(element, "coordinate", None), Length)
        ):
            return f"beyond the third order it takes forces that act at points, and '{element.name}' is none."
    return of_what_moves(system, r)


KINETA = Law("kineta", "Rodionov (22)", _rate, applies=_applies)
