"""The formalism ``gauss``: of all accelerations that are possible, the true ones make the constraint least::

    Z = sum of m (a - F / m)^2 / 2          dZ/dvdot = tau

Z is quadratic in the accelerations, so its least value is where its derivatives vanish. What does not contain accelerations
is left out: Z = S - sum of F . a.
"""

from __future__ import annotations

from kineta.expr.graph import ZERO, Ref
from kineta.formalism.derivation import Derivation, scalar
from kineta.formalism.formalism import Formalism
from kineta.formalism.residual import acceleration_energy, moving
from kineta.passes.differentiate import gradient


def constraint(d: Derivation) -> Ref:
    """Gauss's constraint Z of the accelerations ``vdot``, without added forces tau."""
    g = d.graph
    motion = moving(d, d.symbols.vdot)
    work = [g.mul(Q, a) for Q, a in zip(d.elements.forces, d.symbols.vdot, strict=True)]
    for i, wrench in d.elements.wrenches.items():
        work += [wrench.f.dot(motion.X(2)[i]), wrench.n.dot(motion.W(1)[i])]
    return g.sub(acceleration_energy(d), g.sum(work))


def _residual(d: Derivation) -> list[Ref]:
    by = gradient(d.graph, d["gauss_constraint"].refs[0], set(d.symbols.vdot))
    return [by.get(a, ZERO) for a in d.symbols.vdot]


GAUSS = Formalism(
    name="gauss",
    source="Gauss 1829; Rodionov",
    residual=_residual,
    rules={"gauss_constraint": lambda d: scalar(constraint(d))},
)
