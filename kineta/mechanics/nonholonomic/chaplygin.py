"""Chaplygin's equations: those of Voronets where nothing depends on the dependent coordinates d::

    d/dt dT*/dw_s - d(T* - V)/dq_s - sum over d of p_d b_ds = Q_s          b_ds = d/dt (dqdot_d/dw_s) - dqdot_d/dq_s

They are independent of the rates of the dependent coordinates, which follow afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator

from kineta.errors import excerpt
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
from kineta.passes.expand import SumsOfProducts


def _refusal(d: Derivation) -> str:
    """Return "" where energies, forces and constraints are free of the dependent coordinates, else a sentence."""
    if why := only_rates(d):
        return why
    g, s, opened = d.graph, d.symbols, SumsOfProducts(d.graph)
    others = {q for q, rate in zip(s.coordinates, s.motion_rates, strict=False) if rate not in s.v}
    found = [d["kinetic_energy"].refs[0], d["potential_energy"].refs[0], *s.speeds]
    there = {q for ref in found for q, slope in gradient(g, ref, others).items() if opened.shorter(slope) != ZERO}
    if not there:
        return ""
    names = [n for n, q in zip(s.system.q_names, s.q, strict=True) if q in there]
    return (
        f"energies or constraints depend on the dependent coordinates {excerpt(names)}; voronets is for these systems"
    )


def _terms(d: Derivation) -> list[list[Ref]]:
    g, s = d.graph, d.symbols
    own = [next((q for q, rate in zip(s.q, s.motion_rates, strict=True) if rate == w), None) for w in s.v]

    def along(v: Ref, k: int) -> Ref:
        q = own[k]
        return ZERO if q is None else gradient(g, v, {q}).get(q, ZERO)

    return transposition(d, along)


def _steps(d: Derivation) -> Iterator[Step]:
    yield from transposition_steps(d, _terms(d), "Chaplygin's coefficients", "b_ds = d/d t α_ds − ∂q̇_d/∂q_s")
    yield Step(
        "Chaplygin's equations",
        "d/d t ∂T*/∂w_s − ∂(T* − V)/∂q_s − ∑ p_d b_ds = Q_s + τ_s",
        note="Nothing in them depends on the dependent coordinates.",
    )


CHAPLYGIN = NonholonomicForm(
    name="chaplygin",
    source="Chaplygin (1897)",
    residual=lambda d: less_transposition(d, _terms(d)),
    steps=_steps,
    refusal=_refusal,
    plain=True,
)
