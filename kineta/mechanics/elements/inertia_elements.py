"""Inertia elements, I on a rate k: T = I k^2/2 (Andreev (1.8)), and their forces of inertia::

    d/dt dT/dv_s - dT/dpi_s = I kdot dk/dv_s + I k gamma_s          gamma_s = d/dt dk/dv_s - dk/dpi_s

gamma is zero where k is the rate of an expression. For nonholonomic forms, such as components of an angular velocity in rotating
axes, it gives the gyroscopic terms, generalised forces on the speeds u of the motions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from kineta.expr.graph import ZERO, Graph, Ref
from kineta.mechanics.kinematics.boltzmann_hamel import gyroscopic
from kineta.mechanics.variables import Symbols
from kineta.model.elements.inertia import InertiaElement
from kineta.model.system import System
from kineta.passes.differentiate import gradient
from kineta.passes.substitute import substitute
from kineta.records import dataclass


class Variables(Protocol):
    """The variables of a system, and those of its motions without constraints."""

    @property
    def graph(self) -> Graph:
        """The graph of all expressions."""

    @property
    def symbols(self) -> Symbols:
        """The variables of the equations."""

    @property
    def unconstrained(self) -> Variables:
        """The variables in the speeds of the motions."""


@dataclass(frozen=True, slots=True)
class Resistance:
    """An inertia I on the rate k with the derivative kdot; gamma by the indices of the speeds u of the motions."""

    I: Ref
    k: Ref
    kdot: Ref
    gamma: dict[int, Ref]


def resistances(d: Variables) -> list[Resistance]:
    """The inertia elements of a system in its speeds v; kdot contains the accelerations."""
    s = d.symbols
    found = []
    for element in given(s):
        I, k = rate(s, element)
        (kdot,) = s.levels.of([k], 1)
        found.append(Resistance(I, k, kdot, _gamma(d, element) if _is_form(s, element) else {}))
    return found


def given(symbols: Symbols) -> list[InertiaElement]:
    """The inertia elements of a system."""
    return [e for e in symbols.system.elements if isinstance(e, InertiaElement)]


def nonholonomic(system: System) -> list[str]:
    """Names of the inertia elements on linear forms of speeds, which are not rates of expressions."""
    plain = system.expanded
    speeds = set(plain.speeds)
    own = [e for e in plain.elements if isinstance(e, InertiaElement)]
    return [e.name for e in own if not speeds.isdisjoint(e.coordinate.symbols())]


def without_kineta(names: Sequence[str]) -> str:
    """The sentence on inertia elements that are :func:`nonholonomic`."""
    return (
        f"the inertia '{names[0]}' is on a form of speeds, which says nothing of higher derivatives of what moves; "
        "give it a body."
    )


def rate(symbols: Symbols, element: InertiaElement) -> tuple[Ref, Ref]:
    """The inertia I and the rate k of an element."""
    I, k = symbols.expression(element.inertia, element.coordinate)
    return I, k if _is_form(symbols, element) else symbols.rates([k])[0]


def _is_form(symbols: Symbols, element: InertiaElement) -> bool:
    """Return whether the rate of an element is an expression of speeds."""
    return not set(symbols.system.speeds).isdisjoint(element.coordinate.symbols())


def _gamma(d: Variables, element: InertiaElement) -> dict[int, Ref]:
    s, g = d.symbols, d.graph
    base = d.unconstrained.symbols
    _, k = rate(base, element)
    partials = base.by_speed(k)
    found = dict(zip(partials, base.levels.of(list(partials.values()), 1), strict=True))
    slopes = gradient(g, k, set(base.q))
    for q, qdot in zip(base.q, base.motion_rates, strict=True):
        for j, share in base.by_speed(qdot, slopes.get(q, ZERO)).items():
            found[j] = g.sub(found.get(j, ZERO), share)
    for j, x in gyroscopic(base, [partials.get(j, ZERO) for j in range(len(base.v))]):
        found[j] = g.add(found.get(j, ZERO), x)
    moved = dict(zip(base.names, s.speeds, strict=True)) if s.projected else {}
    return {j: ref for j, ref in zip(found, substitute(g, list(found.values()), moved), strict=True) if ref != ZERO}


def pairs(d: Variables) -> Iterator[tuple[Ref, Ref]]:
    """Forces of inertia of the elements, and the rates on which they work."""
    for r in resistances(d):
        yield d.graph.mul(r.I, r.kdot), r.k
        yield from turning(d, r)


def turning(d: Variables, r: Resistance) -> Iterator[tuple[Ref, Ref]]:
    """The pairs from gamma."""
    for j, gamma in r.gamma.items():
        yield d.graph.mul(d.graph.mul(r.I, r.k), gamma), d.symbols.speeds[j]


def generalized(d: Variables) -> list[Ref]:
    """Generalised forces of inertia of the elements on the speeds v, (nv,)."""
    found = [ZERO] * len(d.symbols.v)
    for P, along in pairs(d):
        for k, share in d.symbols.by_speed(along, P).items():
            found[k] = d.graph.add(found[k], share)
    return found


def acceleration_energy(d: Variables) -> Ref:
    """The sum of I kdot^2/2 + I k gamma . udot, whose derivatives by the accelerations are the forces of inertia."""
    g, s = d.graph, d.symbols
    udot = s.levels.of(s.speeds, 1)
    terms = [ZERO]
    for r in resistances(d):
        terms.append(g.mul(g.const(0.5), g.mul(r.I, g.mul(r.kdot, r.kdot))))
        terms += (g.mul(g.mul(r.I, r.k), g.mul(gamma, udot[j])) for j, gamma in r.gamma.items())
    return g.sum(terms)


def kinetic_energy(symbols: Symbols) -> Ref:
    """The sum of I k^2/2."""
    g = symbols.graph
    found = [rate(symbols, e) for e in given(symbols)]
    return g.mul(g.const(0.5), g.sum(g.mul(I, g.mul(k, k)) for I, k in found))


def kineta(d: Variables, order: int) -> Ref:
    """The sum of I (k^(s-1))^2/2 for this *order* s; up to the second order also for forms."""
    if order <= 2:
        return kinetic_energy(d.symbols) if order == 1 else acceleration_energy(d)
    g, s = d.graph, d.symbols
    found = [rate(s, e) for e in given(s)]
    return g.mul(g.const(0.5), g.sum(g.mul(I, g.mul(x, x)) for I, k in found for x in s.levels.of([k], order - 1)))


def kineta_forces(d: Variables, order: int) -> list[Ref]:
    """The derivatives of :func:`kineta` by v^(s-1), (nv,)."""
    if order <= 2:
        return momentum(d.symbols) if order == 1 else generalized(d)
    s, found = d.symbols, [ZERO] * len(d.symbols.v)
    for I, k in (rate(s, e) for e in given(s)):
        (highest,) = s.levels.of([k], order - 1)
        for j, share in s.by_speed(k, d.graph.mul(I, highest)).items():
            found[j] = d.graph.add(found[j], share)
    return found


def momentum(symbols: Symbols) -> list[Ref]:
    """The derivatives of :func:`kinetic_energy` by the speeds, (nv,)."""
    by = gradient(symbols.graph, kinetic_energy(symbols), set(symbols.v))
    return [by.get(v, ZERO) for v in symbols.v]


def mass_matrix(symbols: Symbols) -> list[list[Ref]]:
    """The sum of I dk/dv dk/dv^T, (nv, nv)."""
    g, n = symbols.graph, len(symbols.v)
    M = [[ZERO] * n for _ in range(n)]
    for element in given(symbols):
        I, k = rate(symbols, element)
        partials = symbols.by_speed(k)
        for i, a in partials.items():
            for j, b in partials.items():
                M[i][j] = g.add(M[i][j], g.mul(I, g.mul(a, b)))
    return M


def drift(d: Variables) -> Ref:
    """Power into elements whose rate depends explicitly on time: I kdot k_0 - I k gamma . u, with k_0 at rest."""
    g, s = d.graph, d.symbols
    terms = [ZERO]
    for r in resistances(d):
        by_time = [s.at_rest(x) for x in s.rates([r.k, *s.by_speed(r.k).values()])]
        still = s.at_rest(r.k)
        if still == ZERO and all(x == ZERO for x in by_time):
            continue
        terms.append(g.mul(g.mul(r.I, r.kdot), still))
        for P, u in turning(d, r):
            terms.append(g.mul(g.sub(s.at_rest(u), u), P))
    return g.sum(terms)
