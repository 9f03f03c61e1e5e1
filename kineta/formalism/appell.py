"""The formalism ``appell``: the derivatives of Appell's function S by the accelerations are the generalised forces.

For a body about a point A that moves with w, with its mass centre at c from there and its tensor J about it, the angular
velocity W and its rate (Golubev (1.5); about the mass centre c = 0, and it is (1.4))::

    S_nu = m w.w / 2 + m w.(Wdot x c + W x (W x c)) + Wdot.J Wdot / 2 + Wdot.(W x J W)          S = sum of S_nu      (3.4)

A body turns about its joint, the axis e, with the rate omega from the body pi that carries it; r leads from joint to joint::

    W = W_pi + e omega        Wdot = Wdot_pi + e omegadot + W_pi x e omega                               (3.1), (3.2), (4.1)
    w = w_pi + Wdot_pi x r + W_pi x (W_pi x r)                                                                         (3.3)

which is the outward sweep, for planar chains (all e parallel), spatial ones, several on one base, and trees. Then::

    dS/dw_A = Q_w  (3.10)        dS/dWdot_1 = Q_omega  (3.12)        dS/domegadot = M + Q  (3.14), (4.3)

and in any other speeds that tell all motions apart dS/dvdot = Q (Gantmacher (18)). In the angles of the bodies themselves
instead of those of the joints these are (5.1), and in a plane (5.2): differences of (4.3) for neighbours in the chain.

What is differentiated is the whole energy of the accelerations, S + W^2 (W.J W) / 2 = int (w + U r)^2 dm / 2 with U = [Wdot x]
+ [W x][W x]. What it has more is free of accelerations, and U is there. Weight enters as an acceleration of the ground.
"""

from __future__ import annotations

from kineta.expr.graph import ZERO, Ref
from kineta.formalism.derivation import Derivation, scalar
from kineta.formalism.elements import generalized_forces
from kineta.formalism.formalism import Formalism
from kineta.formalism.residual import acceleration_energy
from kineta.passes.differentiate import gradient


def _residual(d: Derivation) -> list[Ref]:
    """Tau = dS/dvdot - Q."""
    vdot = d.symbols.vdot
    by = gradient(d.graph, d["appell_function"].refs[0], set(vdot))
    return [d.graph.sub(by.get(a, ZERO), Q) for a, Q in zip(vdot, generalized_forces(d.elements), strict=True)]


APPELL = Formalism(
    name="appell",
    source="Golubev (1.5), (4.3); Gantmacher (18)",
    residual=_residual,
    rules={"appell_function": lambda d: scalar(acceleration_energy(d))},
)
