"""The formalism ``appell``: the derivatives of Appell's function S by the accelerations are the generalised forces.

For a body with the moments m, c = int r dm, J about a point with the acceleration a (Golubev (1.5); with c = 0, (1.4))::

    S = m a.a / 2 + a.(wdot x c + w x (w x c)) + wdot.J wdot / 2 + wdot.(w x J w)          dS/dvdot = Q          (18)

This is the energy of the accelerations, int (a + U r)^2 dm / 2 with U = [wdot x] + [w x][w x], less what is free of
accelerations. That changes no derivative, and the energy itself takes fewer operations: U is there. (18) holds in any
speeds that tell all motions apart, quasi-velocities included. Weight enters as an acceleration of the ground.
"""

from __future__ import annotations

from kineta.expr.graph import ZERO, Ref
from kineta.formalism.derivation import Derivation, scalar
from kineta.formalism.formalism import Formalism
from kineta.formalism.residual import acceleration_energy, applied_to
from kineta.passes.differentiate import gradient


def _residual(d: Derivation) -> list[Ref]:
    """Tau = dS/dvdot - Q."""
    vdot = d.symbols.vdot
    by = gradient(d.graph, d["appell_function"].refs[0], set(vdot))
    return [d.graph.sub(by.get(a, ZERO), Q) for a, Q in zip(vdot, applied_to(d), strict=True)]


APPELL = Formalism(
    name="appell",
    source="Golubev (1.5), (4.3); Gantmacher (18)",
    residual=_residual,
    rules={"appell_function": lambda d: scalar(acceleration_energy(d))},
)
