"""Headings of quantities beside names of the model that are the same."""

from __future__ import annotations

import pytest

import kineta as kn

CRANE = """gravity (0, -g, 0); parameters M, m, g, a1, T; coordinates x, L, theta; Trolley | Sx(x) = M;
Load ~ Trolley | Rz(theta), Sy(-L) = m; force f = T on x; spring s = a1 on L;"""


@pytest.mark.parametrize(
    ("quantity", "text", "latex"),
    [
        ("lagrangian", "L_Lagrange = ", r"L_{\mathrm{Lagrange}} &= "),
        ("kinetic_energy", "T_kinetic = ", r"T_{\mathrm{kinetic}} &= "),
        ("hamiltonian", "H = ", "H &= "),
    ],
)
def test_a_heading_is_no_name_of_the_model(quantity: str, text: str, latex: str) -> None:
    equations = kn.derive(kn.loads(CRANE))
    assert text in equations.text(quantity)
    assert latex in equations.latex(quantity)


def test_small_oscillations_have_words_beside_such_names() -> None:
    model = kn.loads("parameters M, k; coordinates x; B | Sx(x) = M; spring c = k on x;")
    assert kn.oscillation_formulas(model).lines() == [
        "mass[x,x] = M",
        "stiffness[x,x] = k",
        "det(mass*s^2 + damping*s + stiffness) = M*s^2 + k",
    ]
