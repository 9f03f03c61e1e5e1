"""Derivatives of forward dynamics, by factors of the mass matrix and swept derivatives of the forces, or by articulated bodies.

With the residuals F, G of ``tangent``, accelerations and multipliers held::

    M dvdot - A^T dlambda = -dF          A dvdot = -dG

Without constraints, the accelerations that rates take up themselves (``motion_changes``) need no solution.
"""

from __future__ import annotations

from collections.abc import Mapping

from kineta.expr.graph import ZERO, Ref, neg
from kineta.mechanics import tangent
from kineta.mechanics.algorithms.articulated_bodies import ArticulatedBodies, articulated_bodies
from kineta.mechanics.algorithms.forward_derivatives import rate_answers
from kineta.mechanics.algorithms.inverse_derivatives import Pairs
from kineta.mechanics.algorithms.motion_changes import MotionChanges
from kineta.mechanics.derivation import Array, Derivation, Rule, matrix
from kineta.mechanics.elements import inertia_elements
from kineta.mechanics.force_derivatives import applied_changes, cheapest, inverse_derivatives, swept
from kineta.mechanics.from_residual import seen_motion
from kineta.mechanics.kinematics.common_frames import Frames
from kineta.mechanics.kinematics.tree import At
from kineta.mechanics.tangent import DIRECTIONS, balance, closure, derivatives, solved
from kineta.passes.substitute import substitute
from kineta.threads import memo

#: The parts of ``forward_derivatives``.
PARTS = ("forward_by_q", "forward_by_v", "forward_by_tau")


def forward_derivatives(d: Derivation) -> list[Mapping[str, Array]]:
    """The quantities of ``PARTS``, in all ways that may be the cheapest."""
    return memo(d, forward_derivatives, lambda: _written(d))


def _written(d: Derivation) -> list[Mapping[str, Array]]:
    inverse = inverse_derivatives(d)
    frames: list[Frames] = [way for way in inverse if way != "graph"]
    found: list[Mapping[str, Array]] = []
    if "graph" in inverse:
        found.append({part: tangent.RULES[part](d) for part in PARTS})
    if articulated(d):
        found += [_by_bodies(d, way) for way in frames]
    if len(frames) > 1:
        found.append(_by_factors(d, _fewest(d, frames)))
    return found


def _fewest(d: Derivation, frames: list[Frames]) -> Frames:
    """Those of *frames* in which the derivatives of the forces take the fewest operations."""
    inverse, parts = inverse_derivatives(d), ("inverse_by_q", "inverse_by_v", "mass_matrix")
    refs = cheapest(d, [inverse[way] for way in frames], *parts).refs
    return next(way for way in frames if tuple(x for part in parts for x in inverse[way][part].refs) == refs)


def _free_rates(d: Derivation) -> tuple[At, ...]:
    """The rates that are a number times a speed which drives no other rate."""
    rates = {(i, j): rate for i, link in enumerate(d.mechanism.links) for j, rate in enumerate(link.rates)}
    driven = [k for rate in rates.values() for k in rate.by_speed]
    return tuple(
        at
        for at, rate in rates.items()
        if len(rate.by_speed) == 1
        and all(driven.count(k) == 1 and d.graph.value(x) is not None for k, x in rate.by_speed.items())
    )


def articulated(d: Derivation) -> bool:
    """Return whether articulated bodies apply: rates are speeds but for factors and what time adds, and nothing binds them."""
    s, rates = d.symbols, [rate for link in d.mechanism.links for rate in link.rates]
    if s.projected or d.rows or inertia_elements.given(s) or not d.mechanism.one_to_one:
        return False
    if len(_free_rates(d)) < len(s.v):
        return False
    by_q = derivatives(d.graph, [x for rate in rates for x in (rate.speed, rate.bias)], DIRECTIONS["q"](d))
    by_v = derivatives(d.graph, [rate.bias for rate in rates], DIRECTIONS["v"](d))
    return all(x == ZERO for row in (*by_q, *by_v) for x in row)


def articulated_motion(d: Derivation, frames: Frames) -> tuple[MotionChanges, ArticulatedBodies]:
    """The changes of all rates in the motion under tau, and the articulated bodies."""
    g, n = d.graph, len(d.symbols.v)
    tau = [g.add(t, q) for t, q in zip(d.symbols.tau, d.elements.forces, strict=True)]
    still, applied = seen_motion(d, [ZERO] * n, held=frames.held)
    bodies = articulated_bodies(still, tau, applied)
    wdot = [x + y.n for x, y in zip(still.W(1), bodies.accelerations, strict=True)]
    a = [x + y.f for x, y in zip(still.X(2), bodies.accelerations, strict=True)]
    F = [bodies.transmitted(i) for i in range(len(a))]
    return MotionChanges(still.mechanism, still.W(0), wdot, a, F, _free_rates(d)), bodies


def _by_bodies(d: Derivation, frames: Frames) -> Mapping[str, Array]:
    g, n = d.graph, len(d.symbols.v)
    m, bodies = articulated_motion(d, frames)
    found = rate_answers(m, bodies, frames.sharing)
    compliance = _on_speeds(d, found.by_force, forces=True)
    rows = {"tau": compliance}
    for block, pairs in (("q", found.by_displacement), ("v", found.by_rate)):
        rows[block] = own = _on_speeds(d, pairs)
        for l, forces in enumerate(applied_changes(d, block)):
            for j, force in enumerate(forces):
                for k in range(n) if force != ZERO else ():
                    own[k][l] = g.add(own[k][l], g.mul(compliance[k][j], force))
    return {
        f"forward_by_{block}": matrix(
            list(zip(*(bodies.guarded(g, x) for x in zip(*own, strict=True)), strict=True)), n
        )
        for block, own in rows.items()
    }


def _on_speeds(d: Derivation, pairs: Pairs, *, forces: bool = False) -> list[list[Ref]]:
    """The rows of answers of the speeds, from those of rates to displacements and rates, or to *forces*."""
    g, n, leading = d.graph, len(d.symbols.v), d.mechanism.leading or {}
    rows = [[ZERO] * n for _ in range(n)]
    for (a, b), x in pairs.items():
        k, l = leading[a], leading[b]
        by_k, by_l = (d.mechanism.links[i].rates[j].by_speed[m] for (i, j), m in ((a, k), (b, l)))
        rows[k][l] = g.div(g.div(x, by_k), by_l) if forces else g.mul(g.div(x, by_k), by_l)
    return rows


def _by_factors(d: Derivation, frames: Frames) -> Mapping[str, Array]:
    g, n = d.graph, len(d.symbols.v)
    factors, values = solved(d)
    own = swept(d, frames, () if d.rows else _free_rates(d))
    held = [*balance(d, [ZERO] * n), *closure(d)]
    found = {"forward_by_tau": tangent.RULES["forward_by_tau"](d)}
    for block in ("q", "v"):
        directions = DIRECTIONS[block](d)
        m = len(directions)
        more = [x for row in derivatives(g, held, directions, at_rest=True) for x in row]
        refs = substitute(g, [*own[f"inverse_by_{block}"].refs, *own[f"taken_by_{block}"].refs, *more], values)
        forces, taken, more = refs[: n * m], refs[n * m : 2 * n * m], refs[2 * n * m :]
        columns = []
        for k in range(m):
            right = [g.add(x, y) for x, y in zip(forces[k::m], more[k : n * m : m], strict=True)]
            x = factors.solve([neg(y) for y in right], [neg(y) for y in more[n * m + k :: m]])
            columns.append([g.sub(y, z) for y, z in zip(x[:n], taken[k::m], strict=True)])
        found[f"forward_by_{block}"] = matrix(list(zip(*columns, strict=True)), m)
    return found


def _forward(*parts: str) -> Rule:
    return lambda d: cheapest(d, forward_derivatives(d), *parts)


RULES: Mapping[str, Rule] = {part: _forward(part) for part in PARTS} | {"forward_derivatives": _forward(*PARTS)}
