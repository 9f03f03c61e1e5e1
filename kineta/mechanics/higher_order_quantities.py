"""Rodionov's kineta K_s = int (r^(s))^2 dm / 2 of any order s, and the generalised forces of inertia dK_s/dv^(s-1).

K_1 is the kinetic energy, K_2 Appell's energy of accelerations, K_3 the energy of jerks. They contain inertia elements, where I
on a rate k adds I (k^(s-1))^2 / 2, but neither weight nor other elements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kineta.errors import ModelError
from kineta.expr.graph import Ref
from kineta.mechanics.algorithms import energy
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.elements import inertia_elements
from kineta.mechanics.kinematics.sweeps import generalized, rate_forces


def kineta(d: Derivation, order: int) -> Ref:
    """The kineta K_s."""
    _check(d, order)
    of_links = energy.kineta(d.mechanism, d.kinematics.leveled, order)
    return d.graph.add(of_links, inertia_elements.kineta(d, order))


def inertia_forces(d: Derivation, order: int) -> list[Ref]:
    """The forces of inertia dK_s/dv^(s-1), (nv,): Newton-Euler of order s, derivatives of the motion outwards, wrenches
    inwards.
    """
    _check(d, order)
    swept = generalized(d.mechanism, rate_forces(d.mechanism, d.kinematics.leveled.wrenches(order)))
    return [d.graph.add(own, more) for own, more in zip(swept, inertia_elements.kineta_forces(d, order), strict=True)]


def _check(d: Derivation, order: int) -> None:
    """Raise :class:`ModelError` where inertia elements have no kineta of this *order*."""
    if order > 2 and (names := inertia_elements.nonholonomic(d.symbols.system)):
        raise ModelError(
            f"Model '{d.symbols.system.name}': {inertia_elements.without_kineta(names)} There are kineta(1) and kineta(2)."
        )


#: Shapes and entries of the quantities of an order.
BY_ORDER: Mapping[str, Callable[[Derivation, int], tuple[tuple[int, ...], Sequence[Ref]]]] = {
    "kineta": lambda d, order: ((), [kineta(d, order)]),
    "inertia_forces": lambda d, order: ((len(d.symbols.v),), inertia_forces(d, order)),
}
