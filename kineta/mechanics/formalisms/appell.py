"""The formalism ``appell``: the derivatives of Appell's function S by the accelerations are the generalised forces.

For a body with the reference point A of acceleration w, its mass centre at c from A, its inertia tensor J about A, and the
angular velocity W (Golubev (1.5); (1.4) about the mass centre, where c = 0)::

    S_nu = m w.w / 2 + m w.(Wdot x c + W x (W x c)) + Wdot.J Wdot / 2 + Wdot.(W x J W)          S = sum of S_nu      (3.4)

A body rotates about the axis e of its joint at the rate omega relative to its carrier pi; r leads from joint to joint::

    W = W_pi + e omega        Wdot = Wdot_pi + e omegadot + W_pi x e omega                               (3.1), (3.2), (4.1)
    w = w_pi + Wdot_pi x r + W_pi x (W_pi x r)                                                                         (3.3)

which is the outward sweep, for planar chains (all e parallel), spatial ones, several on one base, and trees. Then::

    dS/dw_A = Q_w  (3.10)        dS/dWdot_1 = Q_omega  (3.12)        dS/domegadot = M + Q  (3.14), (4.3)

and in any other independent speeds dS/dvdot = Q (Gantmacher (18)). In absolute angles of the bodies instead of joint angles
these are (5.1), and in a plane (5.2): differences of (4.3) for neighbours in the chain.

The derivative is taken of the full energy of accelerations, S + W^2 (W.J W) / 2 = int (w + U r)^2 dm / 2 with U = [Wdot x]
+ [W x][W x], whose additional term is free of accelerations and whose U is already known. Weight enters as an acceleration of
the ground.
"""

from __future__ import annotations

from collections.abc import Iterator

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.algorithms.energy import kinetas
from kineta.mechanics.derivation import Derivation, scalar
from kineta.mechanics.elements.applied_forces import generalized_forces
from kineta.mechanics.elements.inertia_elements import given
from kineta.mechanics.formalisms.formalism import Formalism
from kineta.mechanics.from_residual import acceleration_energy, moving
from kineta.mechanics.narration import Step, applied, links, one, slopes, vectors
from kineta.passes.differentiate import gradient


def _residual(d: Derivation) -> list[Ref]:
    """The residual tau = dS/dvdot - Q."""
    vdot = d.symbols.vdot
    by = gradient(d.graph, d["appell_function"].refs[0], set(vdot))
    return [d.graph.sub(by.get(a, ZERO), Q) for a, Q in zip(vdot, generalized_forces(d.elements), strict=True)]


def _steps(d: Derivation) -> Iterator[Step]:
    g, s = d.graph, d.symbols
    motion = moving(d, s.vdot)
    yield Step("Angular velocities", "Ω_ν = Ω_p + e_ν ω_ν", "Golubev (4.1)", links(d), vectors("w", motion.W(0)))
    yield Step(
        "Accelerations of the links",
        "w_ν = w_p + Ω̇_p × r + Ω_p × (Ω_p × r)",
        "Golubev (3.3), (4.1)",
        "The letter a stands for w, the acceleration of the link's origin. The ground accelerates against gravity: so the "
        "weight is in S, not among the forces.",
        (*vectors("w'", motion.W(1)), *vectors("a", motion.X(2))),
    )
    terms = [g.sum(parts) for parts in kinetas(d.mechanism, motion, 2)]
    shown = [one(f"S{k}", term) for k, term in enumerate(terms, 1)]
    yield Step(
        "Appell's function",
        "S = ∑ m w · w/2 + w · (Ω̇ × m c + Ω × (Ω × m c)) + Ω̇ · J Ω̇/2 + Ω̇ · (Ω × J Ω)",
        "Golubev (1.5), (3.4); Gantmacher (16)",
        "As the energy of the accelerations, which holds terms without accelerations too: they change no derivative.",
        (*(shown if len(shown) > 1 else ()), one("S", d["appell_function"].refs[0] if given(s) else g.sum(terms))),
    )
    by = gradient(g, d["appell_function"].refs[0], set(s.vdot))
    names = [f"{n}'" for n in s.names]
    yield Step(
        "Its derivatives", "∂S/∂v̇_s", "Gantmacher (17)", shown=slopes("S", names, [by.get(a, ZERO) for a in s.vdot])
    )
    yield applied(d, "Gantmacher (8), (9)")
    yield Step("Appell's equations", "∂S/∂v̇_s = Q_s + τ_s", "Gantmacher (18), Golubev (4.3)")


APPELL = Formalism(
    name="appell",
    source="Golubev (1.5), (4.3); Gantmacher (18)",
    residual=_residual,
    steps=_steps,
    rules={"appell_function": lambda d: scalar(acceleration_energy(d))},
)
