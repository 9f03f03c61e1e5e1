"""Law of first-order states."""

from __future__ import annotations

from collections.abc import Iterator

from kineta.passes.magnitude import magnitude
from kineta.tasks.verification.laws.comparison import Comparison, compare
from kineta.tasks.verification.laws.law import MechanicalLaw, by_reference, having
from kineta.tasks.verification.random_states import values
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics


def state_rates(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """Rates of states in the rates of the state, and their expressions by plain kinematics."""
    s = kin.d.symbols
    for own, ref in zip(kin.system.states, s.qdot[len(s.q) - s.system.nz :], strict=True):
        both = values(kin.d.graph, [ref, *magnitude(kin.d.graph, [ref])], kin.accelerated).T
        yield compare(kin, both[0], kin.of(kin.motion.value(own.rate)), both[1])


LAWS = (
    MechanicalLaw(
        "rates of states are what they say",
        "rates of first-order states with their expressions by plain kinematics",
        by_reference(state_rates),
        having("states"),
    ),
)
