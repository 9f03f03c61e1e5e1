"""Derivatives of inverse dynamics by the sweeps of ``algorithms.inverse_derivatives``, by displacements and by speeds.

Forces on the speeds are tau_k = sum of du_a/dv_k phi_a over the rates u_a. With the derivatives of phi by displacements s along
the rates, by the rates and by their accelerations::

    dphi = phi_s s + phi_u du + M dudot          dtau_k = sum of du_a/dv_k dphi_a + d(du_a/dv_k) phi_a

What rates are of coordinates and speeds, and what elements add, is differentiated on the graph.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, TypeVar

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics import tangent
from kineta.mechanics.algorithms.composite_bodies import component
from kineta.mechanics.algorithms.inverse_derivatives import Pairs, RateDerivatives, rate_derivatives
from kineta.mechanics.algorithms.motion_changes import MotionChanges
from kineta.mechanics.derivation import Array, Derivation, Rule, matrix
from kineta.mechanics.elements import inertia_elements
from kineta.mechanics.from_residual import cheapest as fewest
from kineta.mechanics.from_residual import holdings, less_applied, seen_motion
from kineta.mechanics.kinematics.common_frames import Frames, Sharing
from kineta.mechanics.kinematics.sweeps import accelerated, carried, generalized, rate_forces
from kineta.mechanics.kinematics.tree import At, rates_below
from kineta.mechanics.tangent import DIRECTIONS, derivatives
from kineta.passes.differentiate import forwards
from kineta.records import dataclass
from kineta.spatial.vector import Vector
from kineta.spatial.wrench import Wrench
from kineta.threads import memo

K = TypeVar("K")

#: Ways in which the derivatives are written: on the graph, or swept in these frames.
Way = Literal["graph"] | Frames

#: Speeds of a mechanism of relative coordinates beyond which differentiation on the graph is never cheaper.
FEW = 16
#: Pairs of a rate and a rate of a carrier beyond which derivatives are swept in one way without comparison.
MANY = 2000
#: Mean number of rates for a speed beyond which sweeps from rate to rate are too long.
CROWDED = 4


@dataclass(frozen=True, slots=True)
class RateChange:
    """What changes in one direction: displacements along the rates, the rates, their accelerations, their partial derivatives."""

    displaced: Mapping[At, Ref]
    rates: Mapping[At, Ref]
    accelerations: Mapping[At, Ref]
    partials: Mapping[tuple[At, int], Ref]


def ways(d: Derivation) -> tuple[Way, ...]:
    """The ways to write the derivatives of inverse dynamics that may be the cheapest."""
    links, base = d.mechanism.links, d.unconstrained.mechanism.links
    rates = [len(link.rates) for link in links]
    if [len(link.rates) for link in base] != rates or sum(rates) > CROWDED * len(d.symbols.v):
        return ("graph",)
    if sum(own * below for own, below in zip(rates, rates_below(links), strict=True)) > MANY:
        return (Frames("limb", held=True),)
    sharings: tuple[Sharing, ...] = ("link", "limb", "tree")
    if len(d.symbols.v) > FEW and d.mechanism.one_to_one:
        return tuple(Frames(sharing, held=True) for sharing in sharings)
    return ("graph", *(Frames(sharing, held) for held in holdings(d) for sharing in sharings))


def inverse_derivatives(d: Derivation) -> Mapping[Way, Mapping[str, Array]]:
    """The quantities ``inverse_by_q``, ``inverse_by_v`` and ``mass_matrix``, in all :func:`ways`."""
    return memo(d, inverse_derivatives, lambda: {w: _on_graph(d) if w == "graph" else swept(d, w) for w in ways(d)})


def _on_graph(d: Derivation) -> Mapping[str, Array]:
    own = {name: tangent.RULES[name](d) for name in ("inverse_by_q", "inverse_by_v")}
    return {**own, "mass_matrix": d["mass_matrix"]}


def swept(d: Derivation, frames: Frames, free: Collection[At] = ()) -> Mapping[str, Array]:
    """The same by sweeps in *frames*. Where rates are *free*, forces leave out what accelerations of these rates
    take up: accelerations of the speeds, ``taken_by_q`` and ``taken_by_v``.
    """
    g, n = d.graph, len(d.symbols.v)
    motion, wrenches = seen_motion(d, d.symbols.vdot, held=frames.held)
    F = carried(motion.mechanism, less_applied(motion.wrenches(2), wrenches))
    m = MotionChanges(motion.mechanism, motion.W(0), motion.W(1), motion.X(2), F, free)
    by_rates, inertia = rate_derivatives(m, frames.sharing), inertia_elements.generalized(d)
    own = zip(_mass(m, by_rates.mass), inertia_elements.mass_matrix(d.symbols), strict=True)
    found = {"mass_matrix": matrix([[g.add(x, y) for x, y in zip(*row, strict=True)] for row in own], n)}
    for block in ("q", "v"):
        forces, taken, applied = [], [], iter(applied_changes(d, block))
        changing = forwards(g, inertia, DIRECTIONS[block](d), at_rest=True)
        for change, by_inertia in zip(_rate_changes(d, m, block), changing, strict=True):
            parts = _on_speeds(m, by_rates, change), by_inertia, next(applied)
            forces.append([g.sub(g.add(x, y), z) for x, y, z in zip(*parts, strict=True)])
            taken.append(_taken(m, by_rates, change))
        for name, columns in ((f"inverse_by_{block}", forces), (f"taken_by_{block}", taken)):
            found[name] = matrix(list(zip(*columns, strict=True)), len(columns))
    return found


def cheapest(d: Derivation, found: Sequence[Mapping[str, Array]], *parts: str) -> Array:
    """The *parts* in the way of *found* in which they have the fewest operations, in one array."""
    together = [tuple(ref for part in parts for ref in way[part].refs) for way in found]
    refs = fewest(d.graph, together)
    way = found[together.index(refs)]
    if len(parts) == 1:
        return way[parts[0]]
    return Array((len(refs),), refs, tuple((part, way[part].shape) for part in parts))


def applied_changes(d: Derivation, block: str) -> list[list[Ref]]:
    """The changes of the forces of elements on the speeds in the directions of a *block*, as seen from the links on which they
    act.
    """
    acting = sorted(d.elements.wrenches)
    refs = [x for i in acting for x in (*d.elements.wrenches[i].f.refs, *d.elements.wrenches[i].n.refs)]

    def found() -> list[list[Ref]]:
        columns = forwards(d.graph, [*refs, *d.elements.forces], DIRECTIONS[block](d), at_rest=True)
        return [_swept(d, acting, column[: len(refs)], column[len(refs) :]) for column in columns]

    return memo(d, (applied_changes, block), found)


def _swept(d: Derivation, acting: Sequence[int], wrenches: Sequence[Ref], forces: Sequence[Ref]) -> list[Ref]:
    """The *forces* on the speeds with those of *wrenches*, six numbers each, on the links *acting*."""
    g = d.graph
    if not any(wrenches):
        return list(forces)
    on_links, numbers = [Wrench.zero(g)] * len(d.mechanism.links), iter(wrenches)
    for i in acting:
        on_links[i] = Wrench(*(Vector(g, *(next(numbers) for _ in range(3))) for _ in range(2)))
    swept = generalized(d.mechanism, rate_forces(d.mechanism, on_links))
    return [g.add(x, y) for x, y in zip(forces, swept, strict=True)]


def _rate_changes(d: Derivation, m: MotionChanges, block: str) -> list[RateChange]:
    """What changes in the directions of a *block*."""
    level, along = accelerated(d.graph, d.symbols.vdot), d.unconstrained.mechanism.links
    rates = {(i, j): m.links[i].rates[j] for i, j in m.rates}
    partials = [(at, k) for at, rate in rates.items() for k in rate.by_speed]
    roots = [x for rate in rates.values() for x in (rate.speed, level(rate, 1))]
    roots += [rates[at].by_speed[k] for at, k in partials]
    found = []
    for k, column in enumerate(zip(*derivatives(d.graph, roots, DIRECTIONS[block](d)), strict=True)):
        moved = {(i, j): along[i].rates[j].by_speed.get(k, ZERO) for i, j in rates} if block == "q" else {}
        speeds, accelerations = (dict(zip(rates, column[n : 2 * len(rates) : 2], strict=True)) for n in (0, 1))
        varied = dict(zip(partials, column[2 * len(rates) :], strict=True))
        found.append(RateChange(_present(moved), _present(speeds), _present(accelerations), _present(varied)))
    return found


def _present(refs: Mapping[K, Ref]) -> dict[K, Ref]:
    return {at: x for at, x in refs.items() if x != ZERO}


def _on_speeds(m: MotionChanges, found: RateDerivatives, change: RateChange) -> list[Ref]:
    """The change of the forces on the speeds against wrenches that move along with their links."""
    g = m.graph
    total = [ZERO] * len(m.mechanism.symbols.v)
    parts = (
        (found.by_displacement, change.displaced),
        (found.by_rate, change.rates),
        (found.mass, change.accelerations),
    )
    for at in m.rates:
        rate = m.links[at[0]].rates[at[1]]
        terms = (g.mul(pairs.get((at, a), ZERO), x) for pairs, by in parts for a, x in by.items())
        dphi = g.sum(terms) if rate.by_speed else ZERO
        for k, partial in rate.by_speed.items():
            varied = g.mul(change.partials.get((at, k), ZERO), component(m.F[at[0]], rate))
            total[k] = g.sum([total[k], g.mul(partial, dphi), varied])
    return total


def _taken(m: MotionChanges, found: RateDerivatives, change: RateChange) -> list[Ref]:
    """The accelerations of the speeds that free rates take up."""
    g = m.graph
    total = [ZERO] * len(m.mechanism.symbols.v)
    parts = (found.taken_by_displacement, change.displaced), (found.taken_by_rate, change.rates)
    for at in m.free:
        ((k, partial),) = m.links[at[0]].rates[at[1]].by_speed.items()
        terms = (g.mul(pairs.get((at, a), ZERO), x) for pairs, by in parts for a, x in by.items())
        total[k] = g.div(g.sum(terms), partial)
    return total


def _mass(m: MotionChanges, pairs: Pairs) -> list[list[Ref]]:
    g, n = m.graph, len(m.mechanism.symbols.v)
    rows = [[ZERO] * n for _ in range(n)]
    for (a, b), x in pairs.items():
        for i, by_i in m.links[a[0]].rates[a[1]].by_speed.items():
            for j, by_j in m.links[b[0]].rates[b[1]].by_speed.items():
                rows[i][j] = g.add(rows[i][j], g.mul(g.mul(by_i, x), by_j))
    return [[rows[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)]


def _inverse(*parts: str) -> Rule:
    return lambda d: cheapest(d, list(inverse_derivatives(d).values()), *parts)


RULES: Mapping[str, Rule] = {
    "inverse_by_q": _inverse("inverse_by_q"),
    "inverse_by_v": _inverse("inverse_by_v"),
    "inverse_derivatives": _inverse("inverse_by_q", "inverse_by_v", "mass_matrix"),
}
