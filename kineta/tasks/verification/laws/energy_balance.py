"""Laws of energy: power balance, skew symmetry, potential gradient."""

from __future__ import annotations

import numpy as np

from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.expr.graph import ONE
from kineta.model.reserved_symbols import TIME
from kineta.model.system import System
from kineta.passes.differentiate import forward, forwards
from kineta.tasks.verification.laws.law import MechanicalLaw
from kineta.tasks.verification.random_states import values
from kineta.tasks.verification.sampled_equations import SampledEquations, relative_error

#: Suffixes of the names of speeds of ball joints, free bodies and points.
_RATES = {f"{kind}{axis}" for kind in "vw" for axis in "xyz"}

_ELEMENTS_OR_DRIVES = "it speaks of systems without elements and drives"


def _power_balance(case: SampledEquations) -> FloatArray:
    """d(T + V)/dt = power of the nonconservative forces."""
    s, g, d = case.d.symbols, case.d.graph, case.d
    rates = {s.t: ONE, **dict(zip(s.q + s.v, s.qdot + d["forward"].refs, strict=True))}
    kinetic, potential = values(
        g, forward(g, [d["kinetic_energy"].refs[0], d["potential_energy"].refs[0]], rates), case.states
    ).T
    scale = np.abs(np.stack([kinetic, potential])).max(axis=0)
    work = np.einsum(
        "ni,nij,nj->n", np.abs(case.by_speed("{}")), np.abs(case.at("mass_matrix")), np.abs(case.at("forward"))
    )
    forces = np.abs(np.hstack([case.at("forward"), case.at("reaction_forces")])).max(axis=1, initial=0)
    # Forces count as powers: random speeds are of the order of one.
    scale = np.maximum(np.maximum(scale, work), forces) * case.condition
    return relative_error((kinetic + potential)[:, None], case.at("power")[:, None], scale)


def _skew_symmetry(case: SampledEquations) -> FloatArray:
    """Skew symmetry of dM/dt - 2 C, where C v is the part of the bias that is quadratic in the speeds."""
    s, g = case.d.symbols, case.d.graph
    doubled = {n: -case.states[n] for n in case.system.v_names}
    rest = dict.fromkeys(case.system.v_names, np.zeros(len(case.states[TIME])))
    bias, mirrored, still = (case.at("bias", {**case.states, **change}) for change in ({}, doubled, rest))
    v = case.by_speed("{}")
    Mdot = values(g, s.rates(case.d["mass_matrix"].refs), case.states).reshape(-1, len(s.v), len(s.v))
    quadratic = np.einsum("ni,ni->n", v, (bias + mirrored) / 2 - still)
    kinetic = np.einsum("ni,nij,nj->n", v, Mdot, v) / 2
    scale = np.einsum("ni,ni->n", np.abs(v), np.abs(bias) + np.abs(still) + case.inertia_scale[:, None])
    return relative_error(kinetic[:, None], quadratic[:, None], scale)


def _potential_gradient(case: SampledEquations) -> FloatArray:
    """Bias at rest = gradient of the potential."""
    s, g = case.d.symbols, case.d.graph
    (rate,) = s.rates(case.d["potential_energy"].refs)
    slope = [x for (x,) in forwards(g, [rate], [{v: ONE} for v in s.v])]
    still = {**case.states, **dict.fromkeys(case.system.v_names, np.zeros(len(case.states[TIME])))}
    return relative_error(case.at("bias", still), values(g, slope, still))


def _autonomous(system: System) -> bool:
    """Return whether *system* is scleronomic: no motion depends on time, and rest satisfies constraints and quasi-velocities."""
    expanded = system.expanded
    chosen = [*(e for c in expanded.constraints for e in c.expressions), *(f.value for f in expanded.quasi)]
    return not any(
        TIME in m.argument.symbols() for b in expanded.bodies for m in b.motions if hasattr(m, "argument")
    ) and not (system.quasi and any(map(_is_driven, chosen)))


def _is_driven(e: Expr) -> bool:
    """Return whether *e* depends on time, or has terms with and terms without speeds."""
    speeds: dict[Expr | str, float] = {n: 0.0 for n in e.symbols() if n.endswith("'") or n.rpartition(".")[2] in _RATES}
    return TIME in e.symbols() or bool(speeds and e.subs(speeds).value != 0)


def _without_elements(system: System) -> bool:
    return _autonomous(system) and not system.elements


LAWS = (
    MechanicalLaw(
        "d(T + V)/dt is the power of what is not conservative",
        "the rate of the energy along the motion with the power of all that has no potential",
        _power_balance,
    ),
    MechanicalLaw(
        "v.(dM/dt - 2C)v = 0",
        "the rate of the mass matrix with the part of the bias that is quadratic in the speeds",
        _skew_symmetry,
        _without_elements,
        _ELEMENTS_OR_DRIVES,
    ),
    MechanicalLaw(
        "forces at rest are the slope of the potential",
        "the bias without speeds with the slope of the potential energy",
        _potential_gradient,
        _without_elements,
        _ELEMENTS_OR_DRIVES,
    ),
)
