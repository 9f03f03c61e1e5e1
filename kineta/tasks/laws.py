"""The laws of mechanics, as checks of equations at many states. Each says how far it is missed at every state, relative to what
it adds up there.
"""

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
from kineta.model.constraints.loop import Loop
from kineta.model.constraints.plain import Constraint
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
        M = _floats(self.at("mass_matrix"))
        scale = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
        found = np.linalg.cond(M / (scale[:, :, None] * scale[:, None, :]))
        if self.d.rows:
            A = scaled(_floats(self.at("constraint_jacobian")) / scale[:, None, :])
            found = found * np.linalg.cond(A) ** 2
        return np.asarray(found)

    @once
    def inertia(self) -> FloatArray:
        """How large forces of inertia are whose sum may be nothing: |v| max(|M| |v|), (n,)."""
        M, v = _floats(self.at("mass_matrix")), np.abs(_floats(self.named("{}")))
        momenta = np.einsum("nij,nj->ni", np.abs(M), v)
        return np.asarray(v.max(axis=1, initial=0) * momenta.max(axis=1, initial=0))

    @once
    def reach(self) -> FloatArray:
        """What forces, each as large as its parts, do to the accelerations at most, (n, nv): |M^-1| (|M| |vdot| + |bias|); and
        the condition of the mass matrix.
        """
        M, bias = _floats(self.at("mass_matrix")), np.abs(_floats(self.at("bias")))
        scale = np.sqrt(np.diagonal(np.abs(M), axis1=1, axis2=2))
        outer = scale[:, :, None] * scale[:, None, :]
        inverse = np.abs(np.linalg.pinv(M / outer)) / outer
        vdot = np.abs(_floats(np.maximum(np.abs(self.named("{}'")), np.abs(self.at("forward")))))
        found = np.einsum("nij,nj->ni", inverse, np.einsum("nij,nj->ni", np.abs(M), vdot) + bias)
        return np.asarray(np.maximum(found, self.condition[:, None]))


def _floats(x: FloatArray) -> FloatArray:
    """*x* in double precision."""
    return np.asarray(x, dtype=float)


def missed(found: FloatArray, expected: FloatArray, scale: FloatArray | float = 0.0) -> FloatArray:
    """Largest difference at every state, (n,), relative to the largest entries there, or to *scale*, (n,) or (n, entries)."""
    found, expected = (x.reshape(len(x), -1) for x in (found, expected))
    size = np.maximum(np.abs(found).max(axis=1, initial=0), np.abs(expected).max(axis=1, initial=0))[:, None]
    scale = np.asarray(scale) if np.ndim(scale) != 1 else np.asarray(scale)[:, None]
    off = np.abs(found - expected)
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = _floats(off / np.maximum(np.maximum(size, scale), 1e-300))
        return np.asarray(np.nan_to_num(relative, nan=np.inf).max(axis=1, initial=0))


def _as_derived(case: Case) -> FloatArray:
    """Formulas as they are shown and compiled, against what was derived; rounding is measured by the terms added up."""
    g, worst = case.d.graph, np.zeros(len(case.states[TIME]))
    for name in (*COUNTED, "potential_energy"):
        derived, shown = case.d[name].refs, case.equations.formulas(name)
        size = values(g, magnitude(g, derived), case.states) * case.condition[:, None]
        found = values(shown.graph, shown.array.refs, case.states)
        worst = np.maximum(worst, missed(found, values(g, derived, case.states), size))
    return worst


def _balanced(case: Case) -> FloatArray:
    """M vdot + bias = tau + A^T lambda at the accelerations and multipliers under tau."""
    vdot = dict(zip((f"{n}'" for n in case.system.v_names), case.at("forward").T, strict=True))
    needed, given = case.at("inverse", {**case.states, **vdot}), case.named("tau.{}") + case.at("reaction_forces")
    M, bias = case.at("mass_matrix"), case.at("bias")
    inertia = np.einsum("nij,nj->ni", np.abs(M), np.abs(case.at("forward")))
    return missed(needed, given, (inertia + np.abs(bias)).max(axis=1, initial=0) * case.condition)


def _forward_undoes_inverse(case: Case) -> FloatArray:
    """Forward dynamics of the forces that inverse dynamics find, where those of the elements may be far larger."""
    tau = dict(zip((f"tau.{n}" for n in case.system.v_names), case.at("inverse").T, strict=True))
    vdot = case.named("{}'")
    return missed(case.at("forward", {**case.states, **tau}), vdot, case.reach)


def _affine(case: Case) -> FloatArray:
    M, bias, tau = case.at("mass_matrix"), case.at("bias"), case.at("inverse")
    inertia = np.einsum("nij,nj->ni", M, case.named("{}'"))
    return missed(inertia + bias, tau, np.abs(bias).max(axis=1, initial=0))


def _symmetric(case: Case) -> FloatArray:
    M = case.at("mass_matrix")
    return missed(M, M.transpose(0, 2, 1))


def _definite(case: Case) -> FloatArray:
    """How far below zero the smallest eigenvalue of the scaled mass matrix is."""
    M = _floats(case.at("mass_matrix"))
    scale = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
    least = np.linalg.eigvalsh(M / (scale[:, :, None] * scale[:, None, :])).min(axis=1, initial=np.inf)
    return np.asarray(np.maximum(0.0, -least))


def _momenta(case: Case) -> FloatArray:
    """M is the derivative of the momenta dT/dv."""
    s, g = case.d.symbols, case.d.graph
    columns = [forward(g, case.d["momentum"].refs, {v: ONE}) for v in s.v]
    n = len(s.v)
    found = np.array([values(g, c, case.states) for c in columns]).reshape(n, -1, n).transpose(1, 2, 0)
    return missed(found, case.at("mass_matrix"))


def _power(case: Case) -> FloatArray:
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


def _skew(case: Case) -> FloatArray:
    """V . (dM/dt - 2 C) v = 0, with C v the part of the bias that is quadratic in the speeds; elements and drives aside."""
    s, g = case.d.symbols, case.d.graph
    doubled = {n: -case.states[n] for n in case.system.v_names}
    rest = dict.fromkeys(case.system.v_names, np.zeros(len(case.states[TIME])))
    bias, mirrored, still = (case.at("bias", {**case.states, **change}) for change in ({}, doubled, rest))
    v = case.named("{}")
    Mdot = values(g, s.rates(case.d["mass_matrix"].refs), case.states).reshape(-1, len(s.v), len(s.v))
    quadratic = np.einsum("ni,ni->n", v, (bias + mirrored) / 2 - still)
    kinetic = np.einsum("ni,nij,nj->n", v, Mdot, v) / 2
    scale = np.einsum("ni,ni->n", np.abs(v), np.abs(bias) + np.abs(still) + case.inertia[:, None])
    return missed(kinetic[:, None], quadratic[:, None], scale)


def _at_rest(case: Case) -> FloatArray:
    """The forces at rest are the slope of the potential."""
    s, g = case.d.symbols, case.d.graph
    (rate,) = s.rates(case.d["potential_energy"].refs)
    slope = [forward(g, [rate], {v: ONE})[0] for v in s.v]
    still = {**case.states, **dict.fromkeys(case.system.v_names, np.zeros(len(case.states[TIME])))}
    return missed(case.at("bias", still), values(g, slope, still))


def _same_motion(change: Callable[[System], System]) -> Callable[[Case], FloatArray]:
    """The same accelerations and energies, however the system is written down."""

    def check(case: Case) -> FloatArray:
        other = (
            derive(change(case.system), case.equations.formalism).without(case.equations.derivation.left_out).derivation
        )
        scales = {"forward": case.reach, "bias": np.abs(case.at("inverse")).max(axis=1, initial=0)}
        names = ("forward", "kinetic_energy", "mass_matrix", "bias")
        off = [missed(quantity(other, n, case.states), case.at(n), scales.get(n, 0.0)) for n in names]
        return np.asarray(np.max(off, axis=0))

    return check


def _always(system: System) -> bool:
    return True


def _borne(case: Case) -> FloatArray:
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


def _workless(case: Case) -> FloatArray:
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


def _within(system: System) -> bool:
    """Nothing but joints, loops between bodies, weight and added forces acts on the bodies."""
    return not system.elements and all(isinstance(c, Loop) and GROUND not in c.bodies for c in system.constraints)


def _idle(system: System) -> bool:
    """Nothing but joints, loops and rolling bodies that do no work, weight and added forces acts on the bodies. Another
    constraint may push on places of bodies and on joints at the same time.
    """
    held = system.expanded.constraints
    drives = any(_drives(e) for c in held for e in c.expressions)
    return not system.elements and not drives and not any(isinstance(c, Constraint) for c in held)


@dataclass(frozen=True, slots=True)
class Law:
    """A law: how it is said, how far it is missed at states of a system, of which systems it speaks, and what is said of others:
    why it does not.
    """

    name: str
    check: Callable[[Case], FloatArray]
    holds_for: Callable[[System], bool] = _always
    else_said: str = ""


_WORK = "it speaks of systems without elements and drives"

LAWS: tuple[Law, ...] = (
    Law("tau = M vdot + bias", _affine),
    Law(
        "forward dynamics undo inverse dynamics",
        _forward_undoes_inverse,
        _free,
        "reactions of constraints act beside the forces; that both balance stands in its place",
    ),
    Law("accelerations and reactions balance the forces", _balanced, _kept),
    Law("the mass matrix is symmetric", _symmetric),
    Law("the mass matrix is positive definite", _definite),
    Law("the mass matrix is the derivative of the momenta", _momenta),
    Law("d(T + V)/dt is the power of what is not conservative", _power),
    Law("v.(dM/dt - 2C)v = 0", _skew, _bare, _WORK),
    Law("forces at rest are the slope of the potential", _at_rest, _bare, _WORK),
    Law(
        "the ground bears what changes the momenta",
        _borne,
        _within,
        "it speaks of systems without elements, of whose constraints none takes hold of the ground",
    ),
    Law(
        "reactions of joints do no work",
        _workless,
        _idle,
        "it speaks of systems without elements, of whose constraints all are loops and rolling bodies that do not drive",
    ),
    Law("bodies and elements in any order give the same motion", _same_motion(renumbered)),
    Law("motions spelled otherwise give the same motion", _same_motion(respelled)),
    Law("another ground frame shows the same motion", _same_motion(reframed)),
    Law("formulas as shown and compiled have the values derived", _as_derived),
)
