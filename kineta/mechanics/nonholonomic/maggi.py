"""Maggi's equations: Lagrange's equations of the motions, without constraints, projected on the independent speeds::

sum over k of (dv_k/dw_s) (d/dt dT/dv_k - d(T - V)/dq_k) = Q_s
"""

from __future__ import annotations

from kineta.mechanics.formalisms.lagrange import LAGRANGE
from kineta.mechanics.nonholonomic.form import NonholonomicForm, always

MAGGI = NonholonomicForm(
    name="maggi",
    source="Maggi (1896)",
    residual=LAGRANGE.residual,
    steps=LAGRANGE.steps,
    refusal=always,
)
