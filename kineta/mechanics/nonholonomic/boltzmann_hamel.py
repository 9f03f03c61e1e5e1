"""The Boltzmann-Hamel equations, in quasi-velocities w of which those of the constraints vanish::

    d/dt dT*/dw_s - d(T* - V)/dpi_s + sum over r, k of gamma^r_sk w_k P_r = Q_s          P_r = sum of p_i h_ir

    w = G qdot + g_0,  qdot = h w + h_0          gamma^r_sk = sum of (dG_ri/dq_j - dG_rj/dq_i) h_is h_jk

r runs over all quasi-velocities, those of the constraints included, and k over the free ones and, with h_0 and the derivatives by
the time, the number 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kineta.expr.graph import ONE, ZERO, Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.linear_algebra.small_systems import eliminated
from kineta.mechanics.narration import Step, each, one
from kineta.mechanics.nonholonomic.form import (
    NonholonomicForm,
    energy_steps,
    lagrangian_part,
    momenta,
    momentum_step,
    only_rates,
    partials,
)
from kineta.passes.differentiate import forward, gradient
from kineta.passes.expand import SumsOfProducts


def _inverse(d: Derivation) -> list[list[Ref]]:
    """All columns of h: by the quasi-velocities of the constraints, then by the free ones."""
    rows = [f.gradient for f in d.definitions.rows]
    n = len(rows)
    columns = [eliminated(d.symbols.opened, rows, [ONE if i == r else ZERO for i in range(n)]) for r in range(n)]
    return [list(row) for row in zip(*columns, strict=True)]


def _coefficients(d: Derivation) -> dict[tuple[int, int, int], Ref]:
    """gamma^r_sk other than zero by r, s and k, of which -1 stands for the number 0."""
    g, s, opened = d.graph, d.symbols, SumsOfProducts(d.graph)
    h, free = partials(d), [s.at_rest(v) for v in s.speeds]
    known = dict(zip(s.q, range(len(s.q)), strict=True))
    moved = [s.motion_rates[known[q]] for q in s.q]
    place = {rate: i for i, rate in enumerate(s.speeds)}
    # The coordinate of each speed of the motions.
    coordinate = {place[rate]: q for q, rate in zip(s.q, moved, strict=True) if rate in place}
    found: dict[tuple[int, int, int], Ref] = {}
    for r, form in enumerate(d.definitions.rows):
        slope = {i: gradient(g, partial, set(s.q)) for i, partial in form.gradient.items()}
        rest = gradient(g, form.free, set(s.q))
        curl: dict[tuple[int, int], Ref] = {}
        for i, by in slope.items():
            for j, q in coordinate.items():
                if q in by:
                    curl[i, j] = g.add(curl.get((i, j), ZERO), by[q])
                    curl[j, i] = g.sub(curl.get((j, i), ZERO), by[q])
        for a in range(len(s.v)):
            for k in range(-1, len(s.v)):
                terms = [
                    g.mul(g.mul(x, h[i][a]), h[j][k] if k >= 0 else free[j]) for (i, j), x in curl.items() if i != j
                ]
                if k < 0:
                    by_time = forward(g, list(form.gradient.values()), {s.t: ONE})
                    terms += [g.mul(x, h[i][a]) for i, x in zip(slope, by_time, strict=True) if x != ZERO]
                    terms += [g.mul(g.sub(ZERO, rest[q]), h[i][a]) for i, q in coordinate.items() if q in rest]
                gamma = opened.shorter(g.sum(terms))
                if gamma != ZERO:
                    found[r, a, k] = gamma
    return found


def _all_momenta(d: Derivation) -> list[Ref]:
    """P of all quasi-velocities: of the constraints, then of the free ones."""
    g, p = d.graph, momenta(d)
    opened = SumsOfProducts(g)
    return [
        opened.shorter(g.sum(g.mul(x, y) for x, y in zip(p, column, strict=True)))
        for column in zip(*_inverse(d), strict=True)
    ]


def _residual(d: Derivation) -> list[Ref]:
    g, s, P = d.graph, d.symbols, _all_momenta(d)
    found = lagrangian_part(d)
    for (r, a, k), gamma in _coefficients(d).items():
        term = g.mul(gamma, P[r]) if k < 0 else g.mul(g.mul(gamma, s.v[k]), P[r])
        found[a] = g.add(found[a], term)
    return found


def _steps(d: Derivation) -> Iterator[Step]:
    s, forms = d.symbols, [f.name for f in d.definitions.rows]
    yield from energy_steps(d)
    yield momentum_step(d, range(len(s.speeds)))
    yield Step(
        "Momenta of all quasi-velocities, those of the constraints included",
        "P_r = ∑ p_i ∂q̇_i/∂w_r",
        shown=each("P", forms, _all_momenta(d)),
    )
    names: Sequence[str] = (*s.names, "0")
    yield Step(
        "Boltzmann's symbols",
        "γ^r_sk = ∑ (∂G_ri/∂q_j − ∂G_rj/∂q_i) h_is h_jk",
        note="`w = G q̇ + g_0` and `q̇ = h w + h_0`; r runs over all quasi-velocities. Those that are not shown are zero.",
        shown=tuple(
            one(f"gamma[{forms[r]},{names[a]},{names[k]}]", gamma) for (r, a, k), gamma in _coefficients(d).items()
        ),
    )
    yield Step("The Boltzmann-Hamel equations", "d/d t ∂T*/∂w_s − ∂(T* − V)/∂π_s + ∑ γ^r_sk w_k P_r = Q_s + τ_s")


BOLTZMANN_HAMEL = NonholonomicForm(
    name="boltzmann_hamel",
    source="Boltzmann (1902), Hamel (1904)",
    residual=_residual,
    steps=_steps,
    refusal=only_rates,
)
