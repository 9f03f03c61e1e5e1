"""Quantities derived from a residual, the forces tau(t, q, v, vdot) that produce given accelerations::

bias = tau at vdot = 0        M = dtau/dvdot        vdot = M^-1 (tau - bias)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from kineta.expr.graph import ZERO, Graph, Ref, neg
from kineta.expr.walk import operations
from kineta.mechanics.algorithms import joined_subtrees
from kineta.mechanics.algorithms.composite_bodies import component, composites, momentum_of_rate
from kineta.mechanics.algorithms.energy import kineta
from kineta.mechanics.constraints import joint_reactions
from kineta.mechanics.constraints.quasi_velocities import multipliers
from kineta.mechanics.constraints.rows import Row, check_independent
from kineta.mechanics.constraints.solution_strategies import STRATEGIES
from kineta.mechanics.derivation import Array, Derivation, Rule, matrix, scalar, vector
from kineta.mechanics.elements import inertia_elements
from kineta.mechanics.kinematics.sweeps import LinkMotion, accelerated, generalized, rate_forces
from kineta.mechanics.kinematics.tree import no_inertia
from kineta.model.constraints import holding
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.passes.differentiate import gradient
from kineta.passes.simplify import shortest
from kineta.passes.substitute import substitute
from kineta.spatial.wrench import Wrench

#: References of one way.
R = TypeVar("R", bound=Sequence[Ref])


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
            d, joint_reactions.without_loads(d, joint_reactions.inertial_reactions(d, moving(d, d["forward"].refs)))
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
    """The forces for zero accelerations."""
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
    """Accelerations, then multipliers with the opposite sign, by the chosen strategy, for each order of elimination::

    M vdot - A^T lambda = tau - bias        A vdot = -rest
    """
    if not d.watched:
        check_independent(d.symbols, d.rows)
    forces = [d.graph.sub(t, b) for t, b in zip(d.symbols.tau, d["bias"].refs, strict=True)]
    return STRATEGIES[d.strategy](d, orders(d), forces, [neg(r.rest) for r in d.rows])


def orders(d: Derivation) -> Sequence[Sequence[int]]:
    """Orders of elimination of the speeds: from the tips, and from the ground where the cheaper order is sought."""
    n = len(d.symbols.v)
    return (range(n)[::-1],) if d.watched else (range(n)[::-1], range(n))


def _multipliers(d: Derivation) -> Array:
    """The multipliers of the constraints under tau: M vdot + bias = tau + A^T lambda; zero for dropped rows."""
    g, s = d.graph, d.symbols
    if s.system.quasi:
        kept = iter(of_forms(d, recursion(d.unconstrained, d.unconstrained.symbols.vdot)))
    else:
        kept = map(neg, cheapest(g, _solved(d))[len(s.v) :])
    found = [ZERO if r.constraint in d.dropped else next(kept) for r in d.constraint_rows]
    return named([f"{MULTIPLIER}{r.constraint}" for r in d.constraint_rows], found)


def of_forms(d: Derivation, forces: Sequence[Ref]) -> list[Ref]:
    """The multipliers of the constraints of a system with quasi-velocities, from the *forces* required on the speeds of the
    motions.
    """
    g, s, base = d.graph, d.symbols, d.unconstrained.symbols
    rates = s.levels.of(s.speeds, 1)
    accelerations = substitute(g, rates, dict(zip((f"{n}'" for n in s.names), d["forward"].refs, strict=True)))
    moved = dict(zip(base.names, s.speeds, strict=True))
    moved |= dict(zip((f"{n}'" for n in base.names), accelerations, strict=True))
    return list(multipliers(d.definitions, s, substitute(g, forces, moved)))


def _reaction_forces(d: Derivation) -> Array:
    """Generalised reaction forces A^T lambda of the constraints: M vdot + bias = tau + A^T lambda."""
    forces = [ZERO] * len(d.symbols.v)
    for r, multiplier in zip(d.constraint_rows, d["multipliers"].refs, strict=True) if d.rows else ():
        for k, partial in r.gradient.items():
            forces[k] = d.graph.add(forces[k], d.graph.mul(partial, multiplier))
    return vector(forces)


def _constraint_reactions(d: Derivation) -> Array:
    return Array((len(d.constraint_rows), len(d.symbols.system.bodies), 6), tuple(joint_reactions.of_constraints(d)))


def _loop_reactions(d: Derivation) -> Array:
    return Array(
        (len(holding(d.symbols.system.constraints)), 6),
        tuple(joint_reactions.of_loops(d, joint_reactions.multipliers_of(d))),
    )


def transmitted(d: Derivation, wrenches: Mapping[str, Wrench]) -> Array:
    """Joint reactions as an array: force and couple of every body."""
    rows = [(*wrenches[b.name].f.refs, *wrenches[b.name].n.refs) for b in d.symbols.system.bodies]
    return matrix(rows, 6)


def _constraints(d: Derivation) -> Array:
    """Residuals of all constraints, and the rates of position constraints."""
    found = levels(d.constraint_rows)
    if not d.symbols.projected:
        return found
    moved = dict(zip(d.unconstrained.symbols.names, d.symbols.speeds, strict=True))
    return named(found.labels, [d.symbols.tidy(x) for x in substitute(d.graph, found.refs, moved)])


def levels(closures: Sequence[Row]) -> Array:
    """All levels of the rows *closures*, with their labels."""
    return named([n for r in closures for n in r.labels], [x for r in closures for x in r.levels])


def named(labels: Sequence[str], refs: Sequence[Ref]) -> Array:
    """A row of expressions with names of their own."""
    return Array((len(refs),), tuple(refs), labels=tuple(labels))


def _constraint_jacobian(d: Derivation) -> Array:
    """Jacobian by the speeds of the constraints enforced by reactions, at the level of velocities."""
    return jacobian(d.rows, len(d.symbols.v))


def jacobian(kept: Sequence[Row], n: int) -> Array:
    """The gradients of the rows *kept* by *n* speeds, (rows, n)."""
    return matrix([r.dense(n) for r in kept], n)


def recursion(d: Derivation, vdot: Sequence[Ref]) -> list[Ref]:
    """The generalised forces tau = M vdot + bias by the two sweeps, in the cheapest way to hold axes and to join subtrees."""
    ways = []
    for motion, applied in seen_motions(d, vdot):
        wrenches = less_applied(motion.wrenches(2), applied)
        held = motion.mechanism is not d.mechanism
        ways += [rate_forces(motion.mechanism, wrenches, arms) for arms in ({}, *([d.held.arms] if held else []))]
        if d.mechanism.one_to_one and not d.graph.exact:
            ways += [joined_subtrees.rate_forces(motion, applied, c) for c in joined_subtrees.choices(motion)]
    tau = shortest(d.graph, [generalized(d.mechanism, phi) for phi in ways], d.symbols.system.parameter_names)
    given = dict(zip((f"{n}'" for n in d.symbols.names), vdot, strict=True))
    resisting = substitute(d.graph, inertia_elements.generalized(d), given)
    parts = zip(tau, resisting, d.elements.forces, strict=True)
    return [d.graph.sub(d.graph.add(t, r), q) for t, r, q in parts]


def cheapest(graph: Graph, ways: Sequence[R]) -> R:
    """The references with the fewest operations (add + mul + div) of several *ways* to write the same."""
    best, *others = ways
    least = operations(graph, best) if others else 0
    for way in others:
        if (found := operations(graph, way, least)) < least:
            best, least = way, found
    return best


def check_regular(d: Derivation) -> None:
    """Raise :class:`ModelError` for a speed that moves no mass and that no constraint determines."""
    if d.rows:
        return
    moved = [False] * len(d.symbols.v)
    for link, K in zip(d.mechanism.links, composites(d.mechanism), strict=True):
        for rate in link.rates:
            if component(momentum_of_rate(d.graph, rate, K), rate) != ZERO:
                for speed in rate.by_speed:
                    moved[speed] = True
    for speed, own in enumerate(inertia_elements.mass_matrix(d.symbols)):
        if not moved[speed] and own[speed] == ZERO:
            raise no_inertia(d.mechanism, speed)


def moving(d: Derivation, vdot: Sequence[Ref]) -> LinkMotion:
    """The motion of the links for the accelerations *vdot*; gravity is an acceleration of the ground."""
    return LinkMotion(d.mechanism, accelerated(d.graph, vdot), {2: -d.mechanism.gravity}, d.kinematics.motion)


def seen_motion(d: Derivation, vdot: Sequence[Ref], *, held: bool) -> tuple[LinkMotion, Mapping[int, Wrench]]:
    """That motion and the wrenches of elements on the links, in axes that turn with the links or in those that are *held*."""
    if not held:
        return moving(d, vdot), d.elements.wrenches
    motion = LinkMotion(d.held.mechanism, accelerated(d.graph, vdot), {2: -d.mechanism.gravity})
    return motion, d.held.wrenches(d.elements.wrenches)


def seen_motions(d: Derivation, vdot: Sequence[Ref]) -> list[tuple[LinkMotion, Mapping[int, Wrench]]]:
    """:func:`seen_motion` in all axes that differ."""
    return [seen_motion(d, vdot, held=held) for held in holdings(d)]


def holdings(d: Derivation) -> tuple[bool, ...]:
    """Whether axes are held, of all that differ."""
    return (False, True) if d.held.arms else (False,)


def acceleration_energy(d: Derivation) -> Ref:
    """Energy of the accelerations ``vdot`` relative to free fall, int (a - gravity)^2 dm / 2, of links and inertia elements."""
    return d.graph.add(kineta(d.mechanism, moving(d, d.symbols.vdot), 2), inertia_elements.acceleration_energy(d))


def rate_residual(d: Derivation, motion: LinkMotion) -> dict[tuple[int, int], Ref]:
    """Forces on the rates that produce the *motion* against the wrenches applied to the links."""
    return rate_forces(d.mechanism, less_applied(motion.wrenches(2), d.elements.wrenches))


def less_applied(wrenches: Sequence[Wrench], applied: Mapping[int, Wrench]) -> list[Wrench]:
    """*wrenches* on the links, less those *applied*, by link."""
    left = list(wrenches)
    for i, wrench in applied.items():
        left[i] = left[i] - wrench
    return left


def power(d: Derivation) -> Array:
    """Power of all nonconservative forces, equal to d(kinetic + potential energy)/dt."""
    g, s = d.graph, d.symbols
    total = g.sum([d.elements.power, *(g.mul(t, v) for t, v in zip(s.tau, s.v, strict=True))])
    drives = [
        (i, j, rate.by_time)
        for i, link in enumerate(d.mechanism.links)
        for j, rate in enumerate(link.rates)
        if rate.by_time != ZERO
    ]
    pushed = [r.drive(s) for r in d.constraint_rows] if d.rows else []
    if any(p != ZERO for p in pushed):
        total = g.add(total, g.sum(g.mul(x, p) for x, p in zip(d["multipliers"].refs, pushed, strict=False)))
    drift = inertia_elements.drift(d)
    if drift != ZERO:
        true = dict(zip((f"{n}'" for n in s.names), d["forward"].refs, strict=True))
        total = g.add(total, *substitute(g, [drift], true))
    if drives:
        phi = rate_residual(d, moving(d, d["forward"].refs))
        total = g.add(total, g.sum(g.mul(phi[i, j], speed) for i, j, speed in drives))
    return scalar(total)
