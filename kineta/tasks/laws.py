"""The laws of mechanics, as checks of equations at many states. Each says how far it is missed, relative to what it adds up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import Equations, derive
from kineta.expr.graph import ONE
from kineta.expr.node import Expr
from kineta.formalism.derivation import Derivation
from kineta.formalism.energy import mass_centre
from kineta.formalism.kinematics import Kinematics
from kineta.formalism.quantity import COUNTED
from kineta.formalism.rank import scaled
from kineta.model.body import GROUND
from kineta.model.infer import TIME
from kineta.model.rewrite import reframed, renumbered, respelled
from kineta.model.system import System
from kineta.passes.differentiate import forward
from kineta.passes.magnitude import magnitude
from kineta.tasks.sampling import States, quantity, values
from kineta.threads import once

FloatArray = NDArray[np.float64]

#: Last parts of the names of speeds of ball joints, free bodies and points.
_RATES = {f"{kind}{axis}" for kind in "vw" for axis in "xyz"}


@dataclass(frozen=True)
class Case:
    """Equations, and the states at which they are looked at."""

    equations: Equations
    states: States

    @property
    def system(self) -> System:
        """The system."""
        return self.equations.system

    @property
    def d(self) -> Derivation:
        """The derivation."""
        return self.equations.derivation

    def at(self, name: str, states: States | None = None) -> FloatArray:
        """A quantity at the states, (n, *shape)."""
        return quantity(self.d, name, self.states if states is None else states)

    def named(self, pattern: str) -> FloatArray:
        """The values of ``pattern.format(speed)`` for every speed, (n, nv)."""
        return np.array([self.states[pattern.format(n)] for n in self.system.v_names]).T

    @once
    def condition(self) -> FloatArray:
        """Condition numbers of the mass matrices with diagonals scaled to one, times those of the squares of the constraints with
        rows scaled likewise, (n,).
        """
        M = self.at("mass_matrix")
        scale = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
        found = np.linalg.cond(M / (scale[:, :, None] * scale[:, None, :]))
        if self.d.rows:
            A = scaled(self.at("constraint_jacobian") / scale[:, None, :])
            found = found * np.linalg.cond(A) ** 2
        return np.asarray(found)

    @once
    def reach(self) -> FloatArray:
        """What forces, each as large as its parts, do to the accelerations at most, (n, nv): |M^-1| (|M| |vdot| + |bias|); and
        the condition of the mass matrix.
        """
        M, bias = np.abs(self.at("mass_matrix")), np.abs(self.at("bias"))
        scale = np.sqrt(np.diagonal(M, axis1=1, axis2=2))
        outer = scale[:, :, None] * scale[:, None, :]
        inverse = np.abs(np.linalg.pinv(self.at("mass_matrix") / outer)) / outer
        vdot = np.maximum(np.abs(self.named("{}'")), np.abs(self.at("forward")))
        found = np.einsum("nij,nj->ni", inverse, np.einsum("nij,nj->ni", M, vdot) + bias)
        return np.asarray(np.maximum(found, self.condition[:, None]))


def missed(found: FloatArray, expected: FloatArray, scale: FloatArray | float = 0.0) -> float:
    """Largest difference over the states, relative to the largest entries there, at least to *scale*, (n,) or (n, entries)."""
    found, expected = (x.reshape(len(x), -1) for x in (found, expected))
    size = np.maximum(np.abs(found).max(axis=1, initial=0), np.abs(expected).max(axis=1, initial=0))[:, None]
    scale = np.asarray(scale) if np.ndim(scale) != 1 else np.asarray(scale)[:, None]
    off = np.abs(found - expected)
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.nan_to_num(off / np.maximum(np.maximum(size, scale), 1e-300), nan=np.inf).max(initial=0))


def _as_derived(case: Case) -> float:
    """Formulas as they are shown and compiled, against what was derived; rounding is measured by the terms added up."""
    g, worst = case.d.graph, 0.0
    for name in (*COUNTED, "potential_energy"):
        derived, shown = case.d[name].refs, case.equations.formulas(name)
        size = values(g, magnitude(g, derived), case.states) * case.condition[:, None]
        worst = max(
            worst, missed(values(shown.graph, shown.array.refs, case.states), values(g, derived, case.states), size)
        )
    return worst


def _balanced(case: Case) -> float:
    """M vdot + bias = tau + A^T lambda at the accelerations and multipliers under tau."""
    vdot = dict(zip((f"{n}'" for n in case.system.v_names), case.at("forward").T, strict=True))
    needed, given = case.at("inverse", {**case.states, **vdot}), case.named("tau.{}") + case.at("reaction_forces")
    M, bias = case.at("mass_matrix"), case.at("bias")
    inertia = np.einsum("nij,nj->ni", np.abs(M), np.abs(case.at("forward")))
    return missed(needed, given, (inertia + np.abs(bias)).max(axis=1, initial=0) * case.condition)


def _forward_undoes_inverse(case: Case) -> float:
    """Forward dynamics of the forces that inverse dynamics find, where those of the elements may be far larger."""
    tau = dict(zip((f"tau.{n}" for n in case.system.v_names), case.at("inverse").T, strict=True))
    vdot = case.named("{}'")
    return missed(case.at("forward", {**case.states, **tau}), vdot, case.reach)


def _affine(case: Case) -> float:
    M, bias, tau = case.at("mass_matrix"), case.at("bias"), case.at("inverse")
    inertia = np.einsum("nij,nj->ni", M, case.named("{}'"))
    return missed(inertia + bias, tau, np.abs(bias).max(axis=1, initial=0))


def _symmetric(case: Case) -> float:
    M = case.at("mass_matrix")
    return missed(M, M.transpose(0, 2, 1))


def _definite(case: Case) -> float:
    """How far below zero the smallest eigenvalue of the scaled mass matrix is."""
    M = case.at("mass_matrix")
    scale = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
    least = np.linalg.eigvalsh(M / (scale[:, :, None] * scale[:, None, :])).min(initial=np.inf)
    return max(0.0, -float(least)) if least != 0 else 0.0


def _momenta(case: Case) -> float:
    """M is the derivative of the momenta dT/dv."""
    s, g = case.d.symbols, case.d.graph
    columns = [forward(g, case.d["momentum"].refs, {v: ONE}) for v in s.v]
    n = len(s.v)
    found = np.array([values(g, c, case.states) for c in columns]).reshape(n, -1, n).transpose(1, 2, 0)
    return missed(found, case.at("mass_matrix"))


def _power(case: Case) -> float:
    """d(T + V)/dt is the power of all that is not conservative."""
    s, g, d = case.d.symbols, case.d.graph, case.d
    rates = {s.t: ONE, **dict(zip(s.q + s.v, s.qdot + d["forward"].refs, strict=True))}
    kinetic, potential = values(
        g, forward(g, [d["kinetic_energy"].refs[0], d["potential_energy"].refs[0]], rates), case.states
    ).T
    scale = np.abs(np.stack([kinetic, potential])).max(axis=0)
    work = np.einsum(
        "ni,nij,nj->n", np.abs(case.named("{}")), np.abs(case.at("mass_matrix")), np.abs(case.at("forward"))
    )
    scale = np.maximum(np.maximum(scale, work), np.abs(case.at("forward")).max(axis=1, initial=0)) * case.condition
    return missed((kinetic + potential)[:, None], case.at("power")[:, None], scale)


def _skew(case: Case) -> float:
    """V . (dM/dt - 2 C) v = 0, with C v the part of the bias that is quadratic in the speeds; elements and drives aside."""
    s, g = case.d.symbols, case.d.graph
    doubled = {n: -case.states[n] for n in case.system.v_names}
    rest = dict.fromkeys(case.system.v_names, np.zeros(len(case.states[TIME])))
    bias, mirrored, still = (case.at("bias", {**case.states, **change}) for change in ({}, doubled, rest))
    v = case.named("{}")
    Mdot = values(g, s.rates(case.d["mass_matrix"].refs), case.states).reshape(-1, len(s.v), len(s.v))
    quadratic = np.einsum("ni,ni->n", v, (bias + mirrored) / 2 - still)
    kinetic = np.einsum("ni,nij,nj->n", v, Mdot, v) / 2
    scale = np.einsum("ni,ni->n", np.abs(v), np.abs(bias) + np.abs(still))
    return missed(kinetic[:, None], quadratic[:, None], scale)


def _at_rest(case: Case) -> float:
    """The forces at rest are the slope of the potential."""
    s, g = case.d.symbols, case.d.graph
    (rate,) = s.rates(case.d["potential_energy"].refs)
    slope = [forward(g, [rate], {v: ONE})[0] for v in s.v]
    still = {**case.states, **dict.fromkeys(case.system.v_names, np.zeros(len(case.states[TIME])))}
    return missed(case.at("bias", still), values(g, slope, still))


def _same_motion(change: Callable[[System], System]) -> Callable[[Case], float]:
    """The same accelerations and energies, however the system is written down."""

    def check(case: Case) -> float:
        other = (
            derive(change(case.system), case.equations.formalism).without(case.equations.derivation.left_out).derivation
        )
        scales = {"forward": case.reach, "bias": np.abs(case.at("inverse")).max(axis=1, initial=0)}
        return max(
            missed(quantity(other, name, case.states), case.at(name), scales.get(name, 0.0))
            for name in ("forward", "kinetic_energy", "mass_matrix", "bias")
        )

    return check


def _always(system: System) -> bool:
    return True


def _borne(case: Case) -> float:
    """What the ground passes on, and the weight, change momentum and angular momentum about the ground's origin."""
    d, s, g, n = case.d, case.d.symbols, case.d.graph, len(case.states[TIME])
    motion = {s.t: ONE, **dict(zip(s.q + s.v, s.qdot + d["forward"].refs, strict=True))}
    change = values(g, forward(g, [*d["linear_momentum"].refs, *d["angular_momentum"].refs], motion), case.states)
    (m, first), weight = mass_centre(d.described, Kinematics(d.described)), d.described.gravity
    weights = values(g, [*(weight * m).refs, *first.cross(weight).refs], case.states)
    passed, places = case.at("reactions"), case.at("positions")
    total = weights
    for i, body in enumerate(case.system.bodies):
        if body.base == GROUND:
            arm = np.cross(places[:, i], passed[:, i, :3])
            total = total + np.concatenate([passed[:, i, :3], passed[:, i, 3:] + arm], axis=1)
    scale = np.maximum(np.abs(weights).max(axis=1), np.abs(passed).reshape(n, -1).max(axis=1, initial=0))
    return missed(total, change, scale * case.condition)


def _workless(case: Case) -> float:
    """What joints pass on works on their motion with the power of added forces and drives."""
    passed, velocities, places = (case.at(name) for name in ("reactions", "velocities", "positions"))
    number = {body.name: i for i, body in enumerate(case.system.bodies)}
    work = []
    for i, body in enumerate(case.system.bodies):
        relative = velocities[:, i].copy()
        if body.base != GROUND:
            base = velocities[:, number[body.base]]
            relative[:, :3] -= base[:, :3] + np.cross(base[:, 3:], places[:, i] - places[:, number[body.base]])
            relative[:, 3:] -= base[:, 3:]
        work.append(relative * passed[:, i])
    spent = np.array(work).transpose(1, 0, 2).reshape(len(passed), -1)
    scale = np.abs(spent).max(axis=1, initial=0) * case.condition
    return missed(spent.sum(axis=1, keepdims=True), case.at("power")[:, None], scale)


def _autonomous(system: System) -> bool:
    """No drives: the time is in no motion, and constraints and quasi-velocities leave at rest what is at rest."""
    expanded = system.expanded
    chosen = [*(e for c in expanded.constraints for e in c.expressions), *(f.value for f in expanded.quasi)]
    return not any(
        TIME in m.argument.symbols() for b in expanded.bodies for m in b.motions if hasattr(m, "argument")
    ) and not (system.quasi and any(map(_drives, chosen)))


def _drives(e: Expr) -> bool:
    """Whether *e* holds the time, or terms without speeds beside such with speeds."""
    speeds: dict[Expr | str, float] = {n: 0.0 for n in e.symbols() if n.endswith("'") or n.rpartition(".")[2] in _RATES}
    return TIME in e.symbols() or bool(speeds and e.subs(speeds).value != 0)


def _kept(system: System) -> bool:
    """Constraints are kept by reactions in the equations."""
    return bool(system.constraints) and not system.quasi


def _free(system: System) -> bool:
    return not _kept(system)


def _bare(system: System) -> bool:
    return _autonomous(system) and not system.elements


def _joined(system: System) -> bool:
    """Nothing but joints, weight and added forces acts on the bodies."""
    return not system.elements and not system.constraints


@dataclass(frozen=True, slots=True)
class Law:
    """A law: how it is said, how far it is missed at states of a system, and of which systems it speaks."""

    name: str
    check: Callable[[Case], float]
    holds_for: Callable[[System], bool] = _always


LAWS: tuple[Law, ...] = (
    Law("tau = M vdot + bias", _affine),
    Law("forward dynamics undo inverse dynamics", _forward_undoes_inverse, _free),
    Law("accelerations and reactions balance the forces", _balanced, _kept),
    Law("the mass matrix is symmetric", _symmetric),
    Law("the mass matrix is positive definite", _definite),
    Law("the mass matrix is the derivative of the momenta", _momenta),
    Law("d(T + V)/dt is the power of what is not conservative", _power),
    Law("v.(dM/dt - 2C)v = 0", _skew, _bare),
    Law("forces at rest are the slope of the potential", _at_rest, _bare),
    Law("the ground bears what changes the momenta", _borne, _joined),
    Law("reactions of joints do no work", _workless, _joined),
    Law("bodies and elements in any order give the same motion", _same_motion(renumbered)),
    Law("motions spelled otherwise give the same motion", _same_motion(respelled)),
    Law("another ground frame shows the same motion", _same_motion(reframed)),
    Law("formulas as shown and compiled have the values derived", _as_derived),
)
