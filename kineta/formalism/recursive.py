"""The formalism ``newton_euler``: inverse dynamics by recursion, the mass matrix by composite bodies, forward dynamics by
whichever takes fewer operations: factors of the mass matrix, or articulated bodies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.count import count
from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.walk import reachable
from kineta.formalism import articulated, composite, newton_euler
from kineta.formalism.balance import generalized
from kineta.formalism.equations import Array, Derivation, Rule, matrix, scalar, vector
from kineta.formalism.mechanism import Mechanism, dependent, no_inertia
from kineta.formalism.solve import SingularError, solve

#: Operations that articulated bodies take for one rate, at most: what elimination has to undercut.
ARTICULATED = 600


def _rate_forces(d: Derivation, vdot: Sequence[Ref]) -> dict[tuple[int, int], Ref]:
    return newton_euler.inverse_dynamics(d.mechanism, d.kinematics.w, vdot, d.elements.wrenches)


def _inverse(d: Derivation, vdot: Sequence[Ref]) -> list[Ref]:
    """The generalised forces tau = M vdot + bias."""
    tau = generalized(d.mechanism, _rate_forces(d, vdot))
    return [d.graph.sub(t, q) for t, q in zip(tau, d.elements.forces, strict=True)]


def _mass_matrix(d: Derivation) -> Array:
    return matrix(composite.mass_matrix(d.mechanism), len(d.symbols.v))


def _bias(d: Derivation) -> Array:
    return vector(_inverse(d, [ZERO] * len(d.symbols.v)))


def _mass_and_bias(d: Derivation) -> Array:
    M, bias = d["mass_matrix"], d["bias"]
    refs = M.refs + bias.refs
    return Array((len(refs),), refs, (("mass_matrix", M.shape), ("bias", bias.shape)))


def _forward(d: Derivation) -> Array:
    """The accelerations vdot from tau: the cheapest of the ways that apply."""
    ways = []
    nv = len(d.symbols.v)
    if d.mechanism.leading is not None:
        forces = [d.graph.add(t, q) for t, q in zip(d.symbols.tau, d.elements.forces, strict=True)]
        ways.append(articulated.forward_dynamics(d.mechanism, d.kinematics.w, forces, d.elements.wrenches))
    else:
        check_regular(d)
    if not ways or _elimination(d.mechanism) < ARTICULATED * nv:
        M, bias = d["mass_matrix"].refs, d["bias"].refs
        rows = [M[k * nv : (k + 1) * nv] for k in range(nv)]
        right = [d.graph.sub(t, b) for t, b in zip(d.symbols.tau, bias, strict=True)]
        try:
            ways += [solve(d.graph, rows, right, order) for order in (range(nv)[::-1], range(nv))]
        except SingularError as error:
            raise dependent(d.mechanism, error.row) from None
    return vector(ways[0] if len(ways) == 1 else min(ways, key=lambda refs: operations(d.graph, refs)))


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


def operations(graph: Graph, refs: Sequence[Ref]) -> int:
    """Add + mul + div below *refs*."""
    return count(graph.op[i] for i in reachable(graph, refs)).total


def check_regular(d: Derivation) -> None:
    """Raise :class:`ModelError` where a speed moves no mass at all."""
    moved = [False] * len(d.symbols.v)
    for link, K in zip(d.mechanism.links, composite.composites(d.mechanism), strict=True):
        for rate in link.rates:
            if composite.component(composite.momentum_of_rate(d.graph, rate, K), rate) != ZERO:
                for speed in rate.by_speed:
                    moved[speed] = True
    for speed, moves in enumerate(moved):
        if not moves:
            raise no_inertia(d.mechanism, speed)


def _power(d: Derivation) -> Array:
    """Power of all that is not conservative; d(kinetic + potential energy)/dt is equal to it."""
    g, s = d.graph, d.symbols
    power = g.sum([d.elements.power, *(g.mul(t, v) for t, v in zip(s.tau, s.v, strict=True))])
    drives = [
        (i, j, rate.by_time)
        for i, link in enumerate(d.mechanism.links)
        for j, rate in enumerate(link.rates)
        if rate.by_time != ZERO
    ]
    if drives:
        phi = _rate_forces(d, d["forward"].refs)
        power = g.add(power, g.sum(g.mul(phi[i, j], speed) for i, j, speed in drives))
    return scalar(power)


RULES: Mapping[str, Rule] = {
    "inverse": lambda d: vector(_inverse(d, d.symbols.vdot)),
    "mass_matrix": _mass_matrix,
    "bias": _bias,
    "mass_and_bias": _mass_and_bias,
    "forward": _forward,
    "power": _power,
}
