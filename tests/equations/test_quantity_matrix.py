"""Vectors and matrices of quantities in print, and the matrices of the equations of motion as data."""

from __future__ import annotations

import pytest

import kineta as kn
from kineta.equations.quantity_matrix import quantity_matrix

PENDULA = """model pendula; gravity (0, -g, 0); parameters m1, m2, g, l1, l2; coordinates theta1, theta2;
Upper | Rz(theta1), Sy(-l1) = m1; Lower ~ Upper | Rz(theta2 - theta1), Sy(-l2) = m2;"""
EDGE = """model edge; parameters m, I; coordinates x, y, phi; Blade | Sx(x), Sy(y), Rz(phi) = m(m), Jz(I);
constraint edge : x'*sin(phi) - y'*cos(phi) = 0;"""


def test_a_matrix_and_a_vector() -> None:
    equations = kn.derive(kn.loads(PENDULA))
    shown = quantity_matrix(equations.printed("mass_matrix"))
    assert str(shown) == (
        "M = [         (m1 + m2)*l1^2         m2*l1*l2*cos(theta1 - theta2) ]\n"
        "    [ m2*l1*l2*cos(theta1 - theta2)             m2*l2^2            ]"
    )
    assert shown.as_dict()["rows"][1] == ["m2*l1*l2*cos(theta1 - theta2)", "m2*l2^2"]
    assert shown.latex().startswith(r"M = \begin{pmatrix} ")
    momenta = quantity_matrix(equations.printed("momentum")).as_dict()
    assert momenta["names"] == ["p[theta1]", "p[theta2]"]
    assert [len(row) for row in momenta["rows"]] == [1, 1]


@pytest.mark.parametrize("quantity", ["energy", "multipliers", "mass_and_bias"])
def test_what_is_no_matrix_is_said(quantity: str) -> None:
    with pytest.raises(kn.ArgumentError, match=f"Expected a vector or a matrix, .*; {quantity} "):
        quantity_matrix(kn.derive(kn.loads(PENDULA)).printed(quantity))


def test_the_equations_of_motion_are_data() -> None:
    form = kn.derive(kn.loads(EDGE)).matrix_form().as_dict()
    assert form["M"] == [["m", "0", "0"], ["0", "m", "0"], ["0", "0", "I"]]
    assert form["z"] == ["x''", "y''", "phi''"]
    assert form["tau"] == ["tau[x']", "tau[y']", "tau[phi']"]
    assert form["lambda"] == ["lambda.edge"]
    assert form["A^T"] == [["sin(phi)"], ["-cos(phi)"], ["0"]]
    assert form["lines"] == ["0 = sin(phi)*x' - cos(phi)*y'"]
    assert kn.derive(kn.loads(PENDULA)).matrix_form(unforced=True).as_dict()["tau"] == ["0", "0"]
