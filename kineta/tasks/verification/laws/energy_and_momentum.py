"""Law of energies, momenta and the mass centre."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kineta.model.elements.compliant_contact import GAP, CompliantContact
from kineta.model.elements.inertia import InertiaElement
from kineta.model.elements.potential import Potential
from kineta.model.elements.spring import Spring
from kineta.model.reserved_symbols import TIME
from kineta.tasks.verification.closure_laws import crossed
from kineta.tasks.verification.laws.comparison import Comparison, compare
from kineta.tasks.verification.laws.law import UNKNOWN_KINDS, MechanicalLaw, by_reference, understood
from kineta.tasks.verification.reference_forces import touches
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics
from kineta.tasks.verification.rigid_motion import rate
from kineta.tasks.verification.taylor_series import TaylorSeries


def energy(kin: ReferenceKinematics) -> tuple[Any, Any]:
    """Return kinetic and potential energy."""
    m = kin.motion
    g = m.vector(kin.system.gravity)
    T, V = TaylorSeries([0.0] * m.orders), TaylorSeries([0.0] * m.orders)
    for body in kin.system.bodies:
        (mass, c, J), w = m.mass(body), m.turning[body.name]
        v = rate(c)
        T = T + (v @ v * mass + w @ (J @ w)) * 0.5
        V = V - (g @ c) * mass
    for e in kin.system.elements:
        if isinstance(e, Potential):
            V = V + m.value(e.energy)
        elif isinstance(e, Spring) and {*e.stiffness.symbols()} <= {p.name for p in kin.system.parameters}:
            gamma = m.coordinate(e.coordinate)[0] - m.value(e.free)
            V = V + gamma * gamma * m.value(e.stiffness) * 0.5
        elif isinstance(e, CompliantContact):
            for *_, gap in touches(m, e):
                V = V + m.value(e.energy, {GAP: gap})
        elif isinstance(e, InertiaElement):
            k = m.coordinate(e.coordinate)[1]
            T = T + k * k * m.value(e.inertia) * 0.5
    return T, V


def energies_and_momenta(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """Kinetic and potential energy, momentum, angular momentum and mass centre."""
    m, (T, V) = kin.motion, energy(kin)
    g = m.vector(kin.system.gravity)
    zero = np.zeros(3).astype(object)
    p, L, total, first, sizes = zero, zero, 0.0, zero, [1.0 + 0 * kin.states[TIME]]
    for body in kin.system.bodies:
        mass, c, J = m.mass(body)
        v = rate(c)
        p, L = p + v * mass, L + crossed(c, v * mass) + J @ m.turning[body.name]
        total, first = total + mass, first + c * mass
        sizes += [kin.of(mass) * x for x in (*kin.of(c).T, *kin.of(g).T, *kin.of(v).T)]
    yield compare(kin, kin.at("kinetic_energy"), kin.of(T))
    yield compare(kin, kin.at("potential_energy"), kin.of(V), *sizes)
    yield compare(kin, kin.at("linear_momentum"), kin.of(p), *sizes)
    yield compare(kin, kin.at("angular_momentum"), kin.of(L), *sizes)
    if any(b.inertia.mass.value != 0 for b in kin.system.bodies):
        yield compare(kin, kin.at("mass_centre"), kin.of(first / total), 1.0 + 0 * kin.states[TIME])


LAWS = (
    MechanicalLaw(
        "energies and momenta are those of the masses and springs",
        "energies, momenta and the mass centre with the sums over bodies and elements",
        by_reference(energies_and_momenta),
        understood,
        UNKNOWN_KINDS,
    ),
)
