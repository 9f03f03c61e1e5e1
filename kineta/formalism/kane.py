"""The formalism ``kane``: what the forces of inertia do on the partial velocities (Gantmacher (15); Kane's equations)::

    sum of f . dv/dv_s + n . dw/dv_s  =  Q_s

with the force of inertia f and the couple n of every link about its origin, v and w its velocities.
"""

from __future__ import annotations

from kineta.expr.graph import Ref
from kineta.formalism import inertia
from kineta.formalism.derivation import Derivation
from kineta.formalism.formalism import Formalism
from kineta.formalism.residual import moving
from kineta.spatial.wrench import Wrench


def _residual(d: Derivation) -> list[Ref]:
    tau = [d.graph.sub(own, Q) for own, Q in zip(inertia.generalized(d), d.elements.forces, strict=True)]
    resisting = moving(d, d.symbols.vdot).wrenches(2)
    for i, (own, v, w) in enumerate(zip(resisting, d.kinematics.v, d.kinematics.w, strict=True)):
        applied = d.elements.wrenches.get(i, Wrench.zero(d.graph))
        left = own - applied
        for velocity, weight in zip((*v.refs, *w.refs), (*left.f.refs, *left.n.refs), strict=True):
            for s, share in d.symbols.by_speed(velocity, weight).items():
                tau[s] = d.graph.add(tau[s], share)
    return tau


KANE = Formalism(name="kane", source="Gantmacher (15), (17); Kane and Levinson", residual=_residual)
