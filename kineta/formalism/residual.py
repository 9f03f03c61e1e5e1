"""What follows from a residual, the forces tau(t, q, v, vdot) that produce given accelerations::

bias = tau at vdot = 0        M = dtau/dvdot        vdot = M^-1 (tau - bias)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kineta.expr.count import count
from kineta.expr.graph import ZERO, Graph, Ref, neg
from kineta.expr.walk import reachable
from kineta.formalism import inertia, reactions
from kineta.formalism.composite import component, composites, momentum_of_rate
from kineta.formalism.constraint import check_independent
from kineta.formalism.derivation import Array, Derivation, Rule, matrix, scalar, vector
from kineta.formalism.energy import kineta
from kineta.formalism.mechanism import no_inertia
from kineta.formalism.quasi import multipliers
from kineta.formalism.strategies import STRATEGIES
from kineta.formalism.sweeps import Motion, accelerated, generalized, rate_forces
from kineta.model.constraints import holding
from kineta.model.infer import MULTIPLIER
from kineta.passes.differentiate import gradient
from kineta.passes.substitute import substitute
from kineta.spatial.wrench import Wrench


def following(residual: Callable[[Derivation], list[Ref]]) -> Mapping[str, Rule]:
    """Rules for the quantities in which formalisms differ, from a *residual*."""
    return {
        "inverse": lambda d: vector(residual(d)),
        "mass_matrix": mass_matrix_of,
        "bias": _bias,
        "mass_and_bias": _mass_and_bias,
        "forward": _forward,
        "multipliers": _multipliers,
        "reaction_forces": _reaction_forces,
        "reactions": lambda d: transmitted(
            d, reactions.less_loads(d, reactions.swept(d, moving(d, d["forward"].refs)))
        ),
        "constraint_reactions": _constraint_reactions,
        "loop_reactions": _loop_reactions,
        "constraints": _constraints,
        "constraint_jacobian": _constraint_jacobian,
        "power": power,
    }


def mass_matrix_of(d: Derivation) -> Array:
    """M = dtau/dvdot; the upper half, mirrored."""
    vdot = {a: k for k, a in enumerate(d.symbols.vdot)}
    n = len(vdot)
    rows = [gradient(d.graph, tau, vdot) for tau in d["inverse"].refs]
    upper = [[row.get(a, ZERO) for a in d.symbols.vdot] for row in rows]
    return matrix([[upper[min(i, j)][max(i, j)] for j in range(n)] for i in range(n)], n)


def _bias(d: Derivation) -> Array:
    """The forces at rest of the speeds."""
    names = (f"{n}'" for n in d.symbols.system.v_names)
    return vector(substitute(d.graph, d["inverse"].refs, dict.fromkeys(names, ZERO)))


def _mass_and_bias(d: Derivation) -> Array:
    M, bias = d["mass_matrix"], d["bias"]
    refs = M.refs + bias.refs
    return Array((len(refs),), refs, (("mass_matrix", M.shape), ("bias", bias.shape)))


def _forward(d: Derivation) -> Array:
    check_regular(d)
    return vector(cheapest(d.graph, eliminated(d)))


def eliminated(d: Derivation) -> list[list[Ref]]:
    """The accelerations vdot from tau by elimination in the mass matrix, from the tips and from the ground."""
    return [x[: len(d.symbols.v)] for x in _solved(d)]


def _solved(d: Derivation) -> list[list[Ref]]:
    """Accelerations, then multipliers with the opposite sign, by the strategy chosen, in a way or two::

    M vdot - A^T lambda = tau - bias        A vdot = -rest
    """
    if not d.watched:
        check_independent(d.symbols, d.rows)
    forces = [d.graph.sub(t, b) for t, b in zip(d.symbols.tau, d["bias"].refs, strict=True)]
    return STRATEGIES[d.strategy](d, orders(d), forces, [neg(r.rest) for r in d.rows])


def orders(d: Derivation) -> Sequence[Sequence[int]]:
    """Sequences in which the speeds are eliminated: from the tips, and from the ground where it is looked for the cheapest."""
    n = len(d.symbols.v)
    return (range(n)[::-1],) if d.watched else (range(n)[::-1], range(n))


def _multipliers(d: Derivation) -> Array:
    """The multipliers of the constraints under tau: M vdot + bias = tau + A^T lambda; none of those that are left out."""
    g, s = d.graph, d.symbols
    if not s.system.quasi:
        kept = iter(cheapest(g, _solved(d))[len(s.v) :])
        found = [ZERO if r.constraint in d.left_out else neg(next(kept)) for r in d.closures]
        return named([f"{MULTIPLIER}{r.constraint}" for r in d.closures], found)
    names = [f"{MULTIPLIER}{r.constraint}" for r in d.forms.kept]
    return named(names, of_forms(d, recursion(d.released, d.released.symbols.vdot)))


def of_forms(d: Derivation, forces: Sequence[Ref]) -> list[Ref]:
    """The multipliers of the constraints of a system with quasi-velocities, which take the part of the *forces* on the speeds of
    the motions that nothing else gives.
    """
    g, s, base = d.graph, d.symbols, d.released.symbols
    rates = s.levels.of(s.speeds, 1)
    accelerations = substitute(g, rates, dict(zip((f"{n}'" for n in s.names), d["forward"].refs, strict=True)))
    moved = dict(zip(base.names, s.speeds, strict=True))
    moved |= dict(zip((f"{n}'" for n in base.names), accelerations, strict=True))
    return list(multipliers(d.forms, s, substitute(g, forces, moved)))


def _reaction_forces(d: Derivation) -> Array:
    """What the reactions of the constraints do on the speeds, A^T lambda: M vdot + bias = tau + A^T lambda."""
    forces = [ZERO] * len(d.symbols.v)
    for r, multiplier in zip(d.closures, d["multipliers"].refs, strict=True) if d.rows else ():
        for k, partial in r.gradient.items():
            forces[k] = d.graph.add(forces[k], d.graph.mul(partial, multiplier))
    return vector(forces)


def _constraint_reactions(d: Derivation) -> Array:
    return Array((len(d.closures), len(d.symbols.system.bodies), 6), tuple(reactions.of_constraints(d)))


def _loop_reactions(d: Derivation) -> Array:
    return Array(
        (len(holding(d.symbols.system.constraints)), 6), tuple(reactions.of_loops(d, reactions.multipliers_of(d)))
    )


def transmitted(d: Derivation, wrenches: Mapping[str, Wrench]) -> Array:
    """What joints pass on as an array: force and couple of every body."""
    rows = [(*wrenches[b.name].f.refs, *wrenches[b.name].n.refs) for b in d.symbols.system.bodies]
    return matrix(rows, 6)


def _constraints(d: Derivation) -> Array:
    """What has to vanish: every constraint, and the rate of those on the position."""
    levels, labels = [x for r in d.closures for x in r.levels], [n for r in d.closures for n in r.labels]
    if not d.symbols.system.quasi:
        return named(labels, levels)
    moved = dict(zip(d.released.symbols.names, d.symbols.speeds, strict=True))
    return named(labels, [d.symbols.tidy(x) for x in substitute(d.graph, levels, moved)])


def named(labels: Sequence[str], refs: Sequence[Ref]) -> Array:
    """A row of expressions with names of their own."""
    return Array((len(refs),), tuple(refs), labels=tuple(labels))


def _constraint_jacobian(d: Derivation) -> Array:
    """How the constraints kept by reactions, differentiated until speeds appear, change with the speeds."""
    n = len(d.symbols.v)
    return matrix([[r.gradient.get(k, ZERO) for k in range(n)] for r in d.rows], n)


def recursion(d: Derivation, vdot: Sequence[Ref]) -> list[Ref]:
    """The generalised forces tau = M vdot + bias by the two sweeps."""
    tau = generalized(d.mechanism, rate_residual(d, vdot))
    given = dict(zip((f"{n}'" for n in d.symbols.names), vdot, strict=True))
    resisting = substitute(d.graph, inertia.generalized(d), given)
    parts = zip(tau, resisting, d.elements.forces, strict=True)
    return [d.graph.sub(d.graph.add(t, r), q) for t, r, q in parts]


def cheapest(graph: Graph, ways: Sequence[list[Ref]]) -> list[Ref]:
    """The one of several ways to the same values that takes the fewest operations (add + mul + div)."""
    if len(ways) == 1:
        return ways[0]
    return min(ways, key=lambda refs: count(graph.op[i] for i in reachable(graph, refs, guarding=False)).total)


def check_regular(d: Derivation) -> None:
    """Raise :class:`ModelError` where a speed moves no mass at all, and no constraint holds it."""
    if d.rows:
        return
    moved = [False] * len(d.symbols.v)
    for link, K in zip(d.mechanism.links, composites(d.mechanism), strict=True):
        for rate in link.rates:
            if component(momentum_of_rate(d.graph, rate, K), rate) != ZERO:
                for speed in rate.by_speed:
                    moved[speed] = True
    for speed, own in enumerate(inertia.mass_matrix(d.symbols)):
        if not moved[speed] and own[speed] == ZERO:
            raise no_inertia(d.mechanism, speed)


def moving(d: Derivation, vdot: Sequence[Ref]) -> Motion:
    """The motion of the links where the speeds have the accelerations *vdot*; gravity is an acceleration of the ground."""
    return Motion(d.mechanism, accelerated(d.graph, vdot), {2: -d.mechanism.gravity}, d.kinematics.motion)


def acceleration_energy(d: Derivation) -> Ref:
    """Energy of the accelerations ``vdot`` less that of free fall, int (a - gravity)^2 dm / 2, of links and inertia elements."""
    return d.graph.add(kineta(d.mechanism, moving(d, d.symbols.vdot), 2), inertia.acceleration_energy(d))


def rate_residual(d: Derivation, vdot: Sequence[Ref]) -> dict[tuple[int, int], Ref]:
    """Forces on the rates that produce the accelerations *vdot* against the wrenches applied to the links."""
    wrenches = moving(d, vdot).wrenches(2)
    for i, wrench in d.elements.wrenches.items():
        wrenches[i] = wrenches[i] - wrench
    return rate_forces(d.mechanism, wrenches)


def power(d: Derivation) -> Array:
    """Power of all that is not conservative; d(kinetic + potential energy)/dt is equal to it."""
    g, s = d.graph, d.symbols
    total = g.sum([d.elements.power, *(g.mul(t, v) for t, v in zip(s.tau, s.v, strict=True))])
    drives = [
        (i, j, rate.by_time)
        for i, link in enumerate(d.mechanism.links)
        for j, rate in enumerate(link.rates)
        if rate.by_time != ZERO
    ]
    pushed = [r.drive(s) for r in d.closures] if d.rows else []
    if any(p != ZERO for p in pushed):
        total = g.add(total, g.sum(g.mul(x, p) for x, p in zip(d["multipliers"].refs, pushed, strict=False)))
    drift = inertia.drift(d)
    if drift != ZERO:
        true = dict(zip((f"{n}'" for n in s.names), d["forward"].refs, strict=True))
        total = g.add(total, *substitute(g, [drift], true))
    if drives:
        phi = rate_residual(d, d["forward"].refs)
        total = g.add(total, g.sum(g.mul(phi[i, j], speed) for i, j, speed in drives))
    return scalar(total)
