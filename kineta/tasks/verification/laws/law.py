"""A law of mechanics as a check of equations."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from kineta.arrays import FloatArray
from kineta.model.elements.inertia import InertiaElement
from kineta.model.reserved_symbols import TIME
from kineta.model.system import System
from kineta.records import dataclass
from kineta.tasks.verification.closure_laws import MEANINGS
from kineta.tasks.verification.laws.comparison import Comparison
from kineta.tasks.verification.reference_forces import KNOWN
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics
from kineta.tasks.verification.sampled_equations import SampledEquations, relative_error


def any_system(_: System) -> bool:
    """Return True: the law holds for every system."""
    return True


def has_bodies(system: System) -> bool:
    """Return whether *system* has bodies, not elements alone."""
    return bool(system.bodies)


def understood(system: System) -> bool:
    """Return whether the reference kinematics covers all constraints and elements: known kinds, and inertia without vectors."""
    plain = system.expanded
    rates = [e.coordinate for e in plain.elements if isinstance(e, InertiaElement)]
    known = all(type(c) in MEANINGS for c in plain.constraints) and all(type(e) in KNOWN for e in plain.elements)
    return known and not any("(" in n for rate in rates for n in rate.symbols())


def having(parts: str) -> Callable[[System], bool]:
    """Return the predicate of systems that the reference kinematics covers and that have *parts*."""
    return lambda system: bool(getattr(system, parts)) and understood(system)


UNKNOWN_KINDS = "it speaks of constraints and elements whose kinds plain kinematics knows, and inertia without vectors"

NO_BODIES = "it speaks of bodies, and the model has none"


@dataclass(frozen=True, slots=True)
class MechanicalLaw:
    """A law of mechanics.

    name, compares : the statement, and the two sides of the comparison
    check : the relative error at every state, (n,)
    applies : the predicate of the systems to which the law applies; otherwise : the reason why it does not apply to the others
    """

    name: str
    compares: str
    check: Callable[[SampledEquations], FloatArray]
    applies: Callable[[System], bool] = any_system
    otherwise: str = ""


def by_reference(
    law: Callable[[ReferenceKinematics], Iterable[Comparison]],
) -> Callable[[SampledEquations], FloatArray]:
    """Return the check of a *law* of the reference kinematics; errors are relative to the terms times the condition."""

    def check(case: SampledEquations) -> FloatArray:
        worst = np.zeros(len(case.states[TIME]))
        for found, expected, size in law(case.reference):
            worst = np.maximum(worst, relative_error(found, expected, size * case.condition))
        return worst

    return check
