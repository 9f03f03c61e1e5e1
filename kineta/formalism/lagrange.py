"""The formalism ``lagrange``: equations of the second kind, from the kinetic energy T(t, q, v) alone::

    d/dt dT/dv_s + gamma_s - dT/dpi_s = Q_s          dT/dpi_s = sum of dT/dq_i d(qdot_i)/dv_s

For speeds that are rates of coordinates gamma is zero. For the angular velocity w and the velocity u of a free motion, which
are rates of no coordinates (Boltzmann and Hamel)::

    gamma_u = w x dT/du          gamma_w = w x dT/dw + u x dT/du
"""

from __future__ import annotations

from kineta.expr.graph import ZERO, Ref
from kineta.formalism import energy
from kineta.formalism.derivation import Derivation
from kineta.formalism.formalism import Formalism
from kineta.formalism.residual import applied_to
from kineta.model.motion import Free
from kineta.passes.differentiate import gradient
from kineta.spatial.vector import Vector


def _residual(d: Derivation) -> list[Ref]:
    g, s = d.graph, d.symbols
    T = d["kinetic_energy"].refs[0]
    V = energy.gravity_potential(d.mechanism)
    by = gradient(g, T, {*s.q, *s.v})
    momenta = [by.get(v, ZERO) for v in s.v]
    tau = s.levels.of(momenta, 1)
    falls = gradient(g, V, set(s.q))
    for q, qdot in zip(s.q, s.qdot, strict=True):
        slope = g.sub(falls.get(q, ZERO), by.get(q, ZERO))
        for k, share in s.by_speed(qdot, slope).items():
            tau[k] = g.add(tau[k], share)
    for places, term in _gyroscopic(d, momenta):
        for k, x in zip(places, term.refs, strict=True):
            tau[k] = g.add(tau[k], x)
    return [g.sub(t, Q) for t, Q in zip(tau, applied_to(d), strict=True)]


def _gyroscopic(d: Derivation, momenta: list[Ref]) -> list[tuple[list[int], Vector]]:
    """The terms gamma of the motions that bring speeds of their own, with their places in v."""
    found = []
    for motion in d.symbols.system.joints.values():
        _, k = d.symbols.joint(motion)
        w, p_w = (Vector(d.graph, *(row[i] for i in k[-3:])) for row in (d.symbols.v, momenta))
        found.append((k[-3:], w.cross(p_w)))
        if isinstance(motion, Free):
            u, p_u = (Vector(d.graph, *(row[i] for i in k[:3])) for row in (d.symbols.v, momenta))
            found += [(k[:3], w.cross(p_u)), (k[-3:], u.cross(p_u))]
    return found


LAGRANGE = Formalism(name="lagrange", source="Andreev (1.8); Lagrange, Boltzmann and Hamel", residual=_residual)
