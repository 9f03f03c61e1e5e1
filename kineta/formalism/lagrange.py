"""The formalism ``lagrange``: equations of the second kind, from the energies T(t, q, v) and V(t, q)::

    d/dt dT/dv_s + gamma_s - d(T - V)/dpi_s = Q_s          d/dpi_s = sum of d/dq_i d(qdot_i)/dv_s

V is the potential of the weight, of the springs and of the potentials; Q_s are the forces that have none.

For speeds that are rates of coordinates gamma is zero. For the angular velocity w and the velocity u of a free motion, which
are rates of no coordinates (Boltzmann and Hamel)::

    gamma_u = w x dT/du          gamma_w = w x dT/dw + u x dT/du

Quasi-velocities that the model chooses, and constraints that they obey, come in at the end: the equations in the speeds of the
motions are projected on them (Maggi).
"""

from __future__ import annotations

from kineta.expr.graph import ZERO, Ref
from kineta.formalism.boltzmann import gyroscopic
from kineta.formalism.derivation import Derivation
from kineta.formalism.elements import Elements, generalized_forces
from kineta.formalism.formalism import Formalism
from kineta.passes.differentiate import gradient
from kineta.passes.substitute import substitute


def _residual(d: Derivation) -> list[Ref]:
    """The left side less the generalised forces of what has no potential."""
    left = _projected(d) if d.symbols.system.quasi else _left(d)
    driven = Elements(d.mechanism, d.kinematics, [e for e in d.symbols.system.elements if not d.elements.stores(e)])
    return [d.graph.sub(t, Q) for t, Q in zip(left, generalized_forces(driven), strict=True)]


def _projected(d: Derivation) -> list[Ref]:
    """The equations in the speeds of the motions, projected on the quasi-velocities: the sum of dv_k/dw_s times equation k."""
    g, s, base = d.graph, d.symbols, d.released
    moved = dict(zip(base.symbols.names, s.speeds, strict=True))
    rates = s.levels.of(s.speeds, 1)
    moved |= dict(zip((f"{n}'" for n in base.symbols.names), rates, strict=True))
    tau = [ZERO] * len(s.v)
    for speed, left in zip(s.speeds, substitute(g, _left(base), moved), strict=True):
        for k, share in s.by_speed(speed, left).items():
            tau[k] = g.add(tau[k], share)
    return tau


def _left(d: Derivation) -> list[Ref]:
    """d/dt dT/dv + gamma - d(T - V)/dpi."""
    g, s = d.graph, d.symbols
    T, V = d["kinetic_energy"].refs[0], d["potential_energy"].refs[0]
    by = gradient(g, T, {*s.q, *s.v})
    momenta = [by.get(v, ZERO) for v in s.v]
    tau = s.levels.of(momenta, 1)
    falls = gradient(g, V, set(s.q))
    for q, qdot in zip(s.q, s.qdot, strict=True):
        slope = g.sub(falls.get(q, ZERO), by.get(q, ZERO))
        for k, share in s.by_speed(qdot, slope).items():
            tau[k] = g.add(tau[k], share)
    for places, term in gyroscopic(s, momenta):
        for k, x in zip(places, term.refs, strict=True):
            tau[k] = g.add(tau[k], x)
    return tau


LAGRANGE = Formalism(name="lagrange", source="Andreev (1.8); Lagrange, Boltzmann and Hamel", residual=_residual)
