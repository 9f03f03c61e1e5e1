"""Rodionov's kineta K_s = int (r^(s))^2 dm / 2 of any order s, and the generalised forces of inertia dK_s/dv^(s-1).

K_1 is the kinetic energy, K_2 the energy of the accelerations, Appell's function; K_3 that of jerks. Weight and other elements
are not in them, inertia elements are: I on a rate k adds I (k^(s-1))^2 / 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from kineta.errors import ModelError
from kineta.expr.graph import Ref
from kineta.formalism import energy, inertia
from kineta.formalism.sweeps import generalized, rate_forces

if TYPE_CHECKING:
    from kineta.formalism.derivation import Derivation


def kineta(d: Derivation, order: int) -> Ref:
    """K_s."""
    _check(d, order)
    of_links = energy.kineta(d.mechanism, d.kinematics.leveled, order)
    return d.graph.add(of_links, inertia.kineta(d, order))


def inertia_forces(d: Derivation, order: int) -> list[Ref]:
    """dK_s/dv^(s-1), (nv,): Newton-Euler of the order s, outwards the derivatives of the motion, inwards what they weigh."""
    _check(d, order)
    swept = generalized(d.mechanism, rate_forces(d.mechanism, d.kinematics.leveled.wrenches(order)))
    return [d.graph.add(own, more) for own, more in zip(swept, inertia.kineta_forces(d, order), strict=True)]


def _check(d: Derivation, order: int) -> None:
    """Raise :class:`ModelError` where inertia elements have no kineta of this *order*."""
    if order > 2 and (names := inertia.forms(d.symbols.system)):
        raise ModelError(
            f"Model '{d.symbols.system.name}': {inertia.without_kineta(names)} There are kineta(1) and kineta(2)."
        )


#: Shapes and entries of the quantities of an order.
BY_ORDER: Mapping[str, Callable[[Derivation, int], tuple[tuple[int, ...], Sequence[Ref]]]] = {
    "kineta": lambda d, order: ((), [kineta(d, order)]),
    "inertia_forces": lambda d, order: ((len(d.symbols.v),), inertia_forces(d, order)),
}
