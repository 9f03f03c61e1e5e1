"""From wrenches on links to forces on rates, and from these to forces on the speeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import ZERO, Ref
from kineta.formalism.mechanism import Mechanism
from kineta.spatial.wrench import Wrench


def rate_forces(mechanism: Mechanism, wrenches: Sequence[Wrench]) -> dict[tuple[int, int], Ref]:
    """Forces on the rates that hold the *wrenches* of all links in balance, by (link, rate): the inward sweep::

    phi = e . n  or  e . f          f_p += Q f          n_p += Q n + d x Q f
    """
    total = list(wrenches)
    phi: dict[tuple[int, int], Ref] = {}
    for i in reversed(range(len(mechanism.links))):
        link, own = mechanism.links[i], total[i]
        for j, rate in enumerate(link.rates):
            phi[i, j] = (own.n if rate.turns else own.f)[rate.axis]
        if link.parent >= 0:
            f = link.inward(own.f)
            total[link.parent] = total[link.parent] + Wrench(f, link.inward(own.n) + link.offset.cross(f))
    return phi


def generalized(mechanism: Mechanism, phi: Mapping[tuple[int, int], Ref]) -> list[Ref]:
    """Forces on the speeds from forces on the rates: tau_k = sum of phi du/dv_k."""
    add, mul = mechanism.graph.add, mechanism.graph.mul
    tau = [ZERO] * len(mechanism.symbols.v)
    for (i, j), force in phi.items():
        for k, partial in mechanism.links[i].rates[j].by_speed.items():
            tau[k] = add(tau[k], mul(partial, force))
    return tau
