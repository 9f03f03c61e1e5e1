"""Laws of invariance: order of bodies, motions of joints, ground frame, passes of the compiler."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kineta.arrays import FloatArray
from kineta.equations.equations import derive
from kineta.mechanics.quantities import COUNTED
from kineta.model.reserved_symbols import TIME
from kineta.model.system import System
from kineta.model.transformations.equivalents import reframed, renumbered, respelled
from kineta.passes.magnitude import magnitude
from kineta.tasks.verification.laws.law import MechanicalLaw
from kineta.tasks.verification.random_states import quantity, values
from kineta.tasks.verification.sampled_equations import SampledEquations, relative_error


def _same_motion(change: Callable[[System], System]) -> Callable[[SampledEquations], FloatArray]:
    """Return the check that an equivalent model has the same accelerations, energy, mass matrix and bias."""

    def check(case: SampledEquations) -> FloatArray:
        other = derive(change(case.system), case.equations.method).without(case.equations.left_out).derivation
        scales = {"forward": case.acceleration_scale, "bias": np.abs(case.at("inverse")).max(axis=1, initial=0)}
        names = ("forward", "kinetic_energy", "mass_matrix", "bias")
        states = {p.name: case.constant(p.value) for p in other.symbols.system.parameters if p.value is not None}
        states |= case.states
        off = [relative_error(quantity(other, n, states), case.at(n), scales.get(n, 0.0)) for n in names]
        return np.asarray(np.max(off, axis=0))

    return check


def _compiled_formulas(case: SampledEquations) -> FloatArray:
    """Values of the formulas after all passes = values of the derivation, relative to the terms of the sums."""
    g, worst = case.d.graph, np.zeros(len(case.states[TIME]))
    for name in (*COUNTED, "potential_energy"):
        derived, shown = case.d[name].refs, case.equations.formulas(name)
        size = values(g, magnitude(g, derived), case.states) * case.condition[:, None]
        size = np.maximum(size, case.acceleration_scale) if name == "forward" else size
        found = values(shown.graph, shown.array.refs, case.states)
        worst = np.maximum(worst, relative_error(found, values(g, derived, case.states), size))
    return worst


LAWS = (
    MechanicalLaw(
        "bodies and elements in any order give the same motion",
        "accelerations, energy, mass matrix and bias with those of the model in the opposite order",
        _same_motion(renumbered),
    ),
    MechanicalLaw(
        "motions spelled otherwise give the same motion",
        "accelerations, energy, mass matrix and bias with those of the model with motions there and back",
        _same_motion(respelled),
    ),
    MechanicalLaw(
        "another ground frame shows the same motion",
        "accelerations, energy, mass matrix and bias with those of the model in another ground frame",
        _same_motion(reframed),
    ),
    MechanicalLaw(
        "formulas as shown and compiled have the values derived",
        "the values of formulas after all passes with those of what was derived",
        _compiled_formulas,
    ),
)
