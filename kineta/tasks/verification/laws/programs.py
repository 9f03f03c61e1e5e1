"""Law of programs of motion and their control."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import Expr
from kineta.arrays import FloatArray
from kineta.expr.graph import ZERO
from kineta.mechanics.derivation import Derivation
from kineta.model.reserved_symbols import TIME, added_force
from kineta.numerics.linear_algebra import lstsq, solve, svdvals
from kineta.passes.evaluate import evaluate
from kineta.runtime.constraint_treatment import PROJECTED, run_derivation
from kineta.tasks.verification.laws.comparison import Comparison, compare, compare_row, rotated
from kineta.tasks.verification.laws.law import MechanicalLaw, having
from kineta.tasks.verification.laws.outputs import output_values, value_of
from kineta.tasks.verification.random_states import quantity, values
from kineta.tasks.verification.reference_kinematics import ReferenceKinematics
from kineta.tasks.verification.sampled_equations import SampledEquations, doubles, relative_error


def _program_check(case: SampledEquations) -> FloatArray:
    """Programs of motion at arbitrary derivatives of the speeds, and their control at the highest ones."""
    d = run_derivation(case.equations, PROJECTED)
    s, n = d.programs.s, len(case.states[TIME])
    names = [name + "'" * k for k in range(2, s) for name in case.system.v_names]
    chance = np.random.default_rng(n).uniform(-3, 3, (len(names), n)) + 0 * case.states[TIME]
    states = {**case.states, **dict(zip(names, chance, strict=True))}
    states |= dict.fromkeys((added_force(name) for name in case.system.v_names), 0 * case.states[TIME])
    anyhow, own = ReferenceKinematics(d, states, s, given=True), quantity(d, "highest", states).T
    worst = np.zeros(n)
    for found, expected, size in (*program_derivatives(anyhow), *output_values(anyhow)):
        worst = np.maximum(worst, relative_error(found, expected, size * case.condition))
    # Where the input distribution is singular, the highest derivatives are quotients of rounding errors.
    reached = np.flatnonzero(independently_controlled(anyhow) & np.isfinite(doubles(own)).all(axis=0))
    if not reached.size:
        return worst
    states |= dict(zip((name + "'" * (s - 1) for name in case.system.v_names), own, strict=True))
    true = ReferenceKinematics(d, {name: x[reached] for name, x in states.items()}, s, given=True)
    for found, expected, size in control_directions(true):
        off = relative_error(found, expected, size * case.condition[reached])
        worst[reached] = np.maximum(worst[reached], off)
    return worst


def program_derivatives(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """Programs of motion and their derivatives up to the order of the equations."""
    for program, row in zip(kin.system.programs, kin.d.programs.rows, strict=True):
        yield from compare_row(kin, row, value_of(kin, program.value))


def control_directions(kin: ReferenceKinematics) -> Iterator[Comparison]:
    """The highest derivatives maintain the programs. For the laws ``least`` and ``inertial``, to which no form corresponds, the
    rate of the control lies in the span that the law prescribes: input distribution or gradients of the programs.
    """
    d, r = kin.d, kin.d.programs.r
    for program, row in zip(kin.system.programs, d.programs.rows, strict=True):
        gap = value_of(kin, program.value)
        for k in range(len(row.levels), len(row.levels) + 1):
            yield compare(kin, kin.of(gap, k), 0 * kin.of(gap, k), *kin.accelerated.values())
    span = _DIRECTIONS.get(kin.system.control.law)
    if span is None or kin.system.constraints or kin.system.control.transversal:
        return
    known = {n: kin.motion.named_by(n) for n in _symbols(d, d["inverse"].refs)}
    u = np.array(evaluate(d.graph, d["inverse"].refs, known, kin.motion.functions), dtype=object)
    rates, directions = span(kin, u, r)
    for at, (y, D) in enumerate(zip(np.asarray(rates, dtype=float), np.asarray(directions, dtype=float), strict=True)):
        rest = np.zeros((kin.n, len(y)))
        rest[at] = y - D @ lstsq(D, y, what="the directions of control")
        yield compare(kin, rest, 0 * rest, *[np.abs(rates).max() + 0 * kin.states[TIME]])


def independently_controlled(kin: ReferenceKinematics) -> Any:
    """Return the states, a mask (n,), at which the controls change the programs independently."""
    sizes = svdvals(_input_distribution(kin), what="the answers of the programs to the controls")
    return sizes[:, -1] > tolerances.RANK_TOLERANCE * sizes[:, 0]


def _input_distribution(kin: ReferenceKinematics) -> Any:
    """Return M^-1 G^T restricted to the speeds with actuators, G the gradients of the programs, (n, nv, programs)."""
    weights = dict(kin.system.control.actuators) or dict.fromkeys(kin.system.v_names)
    acts = np.array([n in weights for n in kin.system.v_names])
    M = np.asarray(kin.at("mass_matrix"), dtype=float)
    answers = solve(M, np.asarray(_program_gradients(kin), dtype=float).swapaxes(1, 2), what="the mass matrix")
    return answers * acts[None, :, None]


def _symbols(d: Derivation, refs: Any) -> set[str]:
    return {n for ref in refs for n in Expr(d.graph, ref).symbols()}


def _program_gradients(kin: ReferenceKinematics) -> Any:
    """Return the gradients of the programs, (n, programs, nv)."""
    n = len(kin.system.v_names)
    refs = [row.gradient.get(k, ZERO) for row in kin.d.programs.rows for k in range(n)]
    return values(kin.d.graph, refs, kin.accelerated).reshape(kin.n, -1, n)


def _least_directions(kin: ReferenceKinematics, u: Any, r: int) -> tuple[Any, Any]:
    """Return the rates of the weighted forces, and the input distribution."""
    weights = dict(kin.system.control.actuators) or dict.fromkeys(kin.system.v_names)
    own = [weights.get(n, "") for n in kin.system.v_names]
    scale = np.stack([kin.of(kin.motion.value(w)) if isinstance(w, Expr) else np.ones(kin.n) for w in own], axis=1)
    return kin.of(u, r) * scale, _input_distribution(kin)


def _inertial_directions(kin: ReferenceKinematics, u: Any, r: int) -> tuple[Any, Any]:
    """Return the inertial rates of force and couple of the body, in its own axes, and the gradients of the programs."""
    R = kin.motion.frames[kin.system.bodies[0].name][0]
    still = np.concatenate([R @ u[k : k + 3] for k in range(0, len(u), 3)])
    rates, S = kin.of(still, r), kin.of(R).swapaxes(1, 2)
    own = [rotated(S, rates[:, k : k + 3]) for k in range(0, len(u), 3)]
    return np.concatenate(own, axis=1), _program_gradients(kin).swapaxes(1, 2)


#: By the laws of control: the rates of control, and the directions whose span they lie in.
_DIRECTIONS: Mapping[str, Callable[[ReferenceKinematics, Any, int], tuple[Any, Any]]] = {
    "least": _least_directions,
    "inertial": _inertial_directions,
}


LAWS = (
    MechanicalLaw(
        "programs and their derivatives are those of the motion",
        "programs, their derivatives and what the law says of the control with the motion differentiated by Taylor series",
        _program_check,
        having("programs"),
    ),
)
