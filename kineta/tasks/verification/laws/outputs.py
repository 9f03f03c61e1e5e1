"""Law of outputs and conditions of switches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kineta.algebra.expression import Expr
from kineta.model.name_inference import element_forces, highest_derivative
from kineta.model.reserved_symbols import ENERGIES, MULTIPLIER
from kineta.model.system import System
from kineta.passes.magnitude import magnitude
from kineta.tasks.verification.laws.comparison import Comparison, compare
from kineta.tasks.verification.laws.energy_and_momentum import energy
from kineta.tasks.verification.laws.law import MechanicalLaw, by_reference, understood
from kineta.tasks.verification.random_states import values
from kineta.tasks.verification.reference_forces import named_force
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics
from kineta.tasks.verification.rigid_motion import UnknownNameError
from kineta.tasks.verification.taylor_series import TaylorSeries


def value_of(kin: ReferenceKinematics, e: Expr) -> Any:
    """Return the value of an expression that may contain energies and multipliers of constraints."""
    asked = set(e.symbols())
    more: dict[str, Any] = {}
    if any(n.startswith(MULTIPLIER) for n in asked):
        more |= {MULTIPLIER + n: TaylorSeries([x]) for n, x in kin.multipliers.items()}
        more |= {n: named_force(kin, *own) for n, own in element_forces(kin.system, asked).items()}
    if asked & set(ENERGIES):
        T, V = energy(kin)
        more |= dict(zip(ENERGIES, (T, V, T + V), strict=True))
    return kin.motion.value(e, more)


def output_values(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """Values of outputs and of conditions of switches, where they have any, as the root of what is negative there has none."""
    written = [o.value for o in kin.system.outputs] + [s.value for s in kin.system.switches if s.value is not None]
    for e in (e for e in written if highest_derivative(kin.system, e) <= kin.order):
        try:
            with np.errstate(all="ignore"):
                expected = kin.of(value_of(kin, e))
        except UnknownNameError:
            continue
        (ref,) = kin.d.expression_of_levels(e) if not _names_multipliers(kin, e) else kin.d.expression(e)
        (size,) = magnitude(kin.d.graph, [ref])
        with np.errstate(all="ignore"):
            found, scale = values(kin.d.graph, [ref, size], kin.accelerated).T
        here = np.isfinite(found) | np.isfinite(expected)
        yield compare(kin, *(np.where(here, x, 0.0) for x in (found, expected, scale)))


def _names_multipliers(kin: ReferenceKinematics, e: Expr) -> bool:
    """Return whether *e* contains multipliers."""
    return any(n.startswith(MULTIPLIER) for n in e.symbols())


def _with_outputs(system: System) -> bool:
    """Return whether *system* has outputs or switches, and no programs: with programs they belong to the law of programs."""
    return bool(system.outputs or system.switches) and not system.programs and understood(system)


LAWS = (
    MechanicalLaw(
        "outputs and conditions are what they say",
        "outputs and conditions of switches with their expressions by plain kinematics",
        by_reference(output_values),
        _with_outputs,
    ),
)
