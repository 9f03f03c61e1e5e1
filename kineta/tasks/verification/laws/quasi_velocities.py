"""Law of quasi-velocities."""

from __future__ import annotations

from collections.abc import Iterator

from kineta.model.reserved_symbols import TIME
from kineta.tasks.verification.laws.comparison import Comparison, compare
from kineta.tasks.verification.laws.law import MechanicalLaw, by_reference, having
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics


def quasi_velocity_definitions(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """Values and rates of the defining expressions = quasi-velocities and their rates."""
    for quasi in kin.system.quasi:
        own = kin.motion.value(quasi.value)
        for k in range(2):
            yield compare(
                kin, kin.of(own, k), kin.of(kin.motion.named[quasi.name], k), 1.0 + 0 * kin.states[TIME], kin.of(own, k)
            )


LAWS = (
    MechanicalLaw(
        "quasi-velocities are what defines them",
        "the expressions of the quasi-velocities, and their rates, with the speeds",
        by_reference(quasi_velocity_definitions),
        having("quasi"),
    ),
)
