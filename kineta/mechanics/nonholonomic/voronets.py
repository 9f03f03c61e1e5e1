"""Voronets' equations, in independent rates of coordinates, with the rates of the dependent coordinates d as functions of these::

d/dt dT*/dw_s - d(T* - V)/dpi_s - sum over d of p_d b_ds = Q_s

b_ds = d/dt (dqdot_d/dw_s) - dqdot_d/dq_s - sum over e of (dqdot_e/dw_s) dqdot_d/dq_e
"""

from __future__ import annotations

from collections.abc import Iterator

from kineta.expr.graph import ZERO, Ref
from kineta.mechanics.derivation import Derivation
from kineta.mechanics.narration import Step
from kineta.mechanics.nonholonomic.form import (
    NonholonomicForm,
    less_transposition,
    only_rates,
    transposition,
    transposition_steps,
)
from kineta.passes.differentiate import gradient


def _along(d: Derivation, v: Ref, k: int) -> Ref:
    """dv/dpi_k."""
    g, s = d.graph, d.symbols
    slope = gradient(g, v, set(s.q))
    moved = zip(s.q, s.motion_rates, strict=True)
    return g.sum(g.mul(slope[q], s.by_speed(rate).get(k, ZERO)) for q, rate in moved if q in slope)


def _terms(d: Derivation) -> list[list[Ref]]:
    return transposition(d, lambda v, k: _along(d, v, k))


def _steps(d: Derivation) -> Iterator[Step]:
    yield from transposition_steps(
        d, _terms(d), "Voronets' coefficients", "b_ds = d/d t α_ds − ∂q̇_d/∂q_s − ∑ α_es ∂q̇_d/∂q_e"
    )
    yield Step("Voronets' equations", "d/d t ∂T*/∂w_s − ∂(T* − V)/∂π_s − ∑ p_d b_ds = Q_s + τ_s")


VORONETS = NonholonomicForm(
    name="voronets",
    source="Voronets (1901)",
    residual=lambda d: less_transposition(d, _terms(d)),
    steps=_steps,
    refusal=only_rates,
    plain=True,
)
