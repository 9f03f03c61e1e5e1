"""The formalism ``newton_euler``: inverse dynamics by the two sweeps, the mass matrix by composite bodies, forward dynamics
by whichever takes fewer operations: factors of the mass matrix, or articulated bodies.
"""

from __future__ import annotations

from kineta.expr.graph import ZERO
from kineta.formalism import articulated, composite, inertia
from kineta.formalism.derivation import Array, Derivation, matrix, vector
from kineta.formalism.formalism import Formalism
from kineta.formalism.mechanism import Mechanism
from kineta.formalism.residual import cheapest, check_regular, eliminated, recursion

#: Operations that articulated bodies take for one rate, at most: what elimination has to undercut.
ARTICULATED = 600


def _mass_matrix(d: Derivation) -> Array:
    rows = zip(composite.mass_matrix(d.mechanism), inertia.mass_matrix(d.symbols), strict=True)
    return matrix([[d.graph.add(a, b) for a, b in zip(*row, strict=True)] for row in rows], len(d.symbols.v))


def _bias(d: Derivation) -> Array:
    return vector(recursion(d, [ZERO] * len(d.symbols.v)))


def _forward(d: Derivation) -> Array:
    """The accelerations vdot from tau: the cheapest of the ways that apply."""
    ways = []
    if d.mechanism.leading is not None and not d.rows and not inertia.given(d.symbols):
        forces = [d.graph.add(t, q) for t, q in zip(d.symbols.tau, d.elements.forces, strict=True)]
        ways.append(articulated.forward_dynamics(d.mechanism, d.kinematics.w, forces, d.elements.wrenches))
    else:
        check_regular(d)
    if not ways or _elimination(d.mechanism) < ARTICULATED * len(d.symbols.v):
        ways += eliminated(d)
    return vector(cheapest(d.graph, ways))


def _elimination(mechanism: Mechanism) -> int:
    """Estimate, without deriving it, of the operations to set up the mass matrix and to eliminate it: for every rate
    some in each entry of its row, and one pair of them for each pair of rates that carry it.
    """
    carried_by: list[int] = []
    total = 0
    for link in mechanism.links:
        below = carried_by[link.parent] if link.parent >= 0 else 0
        carried_by.append(below + len(link.rates))
        total += sum(8 * (below + j) + (below + j) ** 2 for j in range(len(link.rates)))
    return total


NEWTON_EULER = Formalism(
    name="newton_euler",
    source="Featherstone, Rigid Body Dynamics Algorithms, 5.3, 6.2, 7.3",
    residual=lambda d: recursion(d, d.symbols.vdot),
    rules={"mass_matrix": _mass_matrix, "bias": _bias, "forward": _forward},
)
