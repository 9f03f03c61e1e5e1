"""The order of names and of terms in printed equations, as it is asked for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import kineta as kn
from tests.notation.text_reader import computed
from tests.support import EXAMPLES

PENDULUM = "gravity (0, -g, 0); parameters m = 2, l = 0.7, k = 3, g = 9.81; coordinates q; A | Rz(q), Sy(-l) = m;"
PENDULUM += "force spring = -k*q - 0.1*q' on q;"


def test_names_stand_in_the_order_asked_for_and_sums_rise() -> None:
    equations = kn.derive(kn.loads(PENDULUM))
    assert equations.text() == "tau[q'] = m*l^2*q'' + 0.1*q' + m*l*g*sin(q) + k*q"
    assert equations.text(order=["g", "l"]) == "tau[q'] = l^2*m*q'' + 0.1*q' + g*l*m*sin(q) + k*q"
    assert equations.text(rising=True) == "tau[q'] = k*q + m*l*g*sin(q) + 0.1*q' + m*l^2*q''"
    assert equations.latex(order=["g"], rising=True).endswith(
        r"0.1\,\dot{q} + m\,{l}^{2}\,\ddot{q}" + "\n\\end{aligned}"
    )
    assert "g\\,m\\,l" in equations.latex(order=["g"])


def test_coordinates_bring_their_derivatives_with_them() -> None:
    equations = kn.derive(kn.load(EXAMPLES / "double_pendulum.kin"))
    first, second = equations.text(order=["q2", "q1"]).splitlines()
    assert first.index("q2''") < first.index("q1''")
    assert second.index("q2''") < second.index("q1''")


@pytest.mark.parametrize("order", [(), ("l2", "m2", "q2", "l1")])
@pytest.mark.parametrize("rising", [False, True])
def test_values_are_the_same_in_any_order(order: Sequence[str], rising: bool) -> None:
    equations = kn.derive(kn.load(EXAMPLES / "double_pendulum.kin"))
    known = {"q1": 0.3, "q2": 1.1, "q1'": 0.7, "q2'": -0.4, "q1''": 0.2, "q2''": 0.9}
    known |= {p.name: p.value for p in equations.system.parameters}
    wanted = equations.function("inverse")(0.0, [0.3, 1.1], [0.7, -0.4], [0.2, 0.9])
    told = [f"{e.name} = {e.text}" for e in equations.account(order=order, rising=rising).entries]
    for lines in (equations.text(order=order, rising=rising).splitlines(), told):
        scope = dict(known)
        values = {line.partition(" = ")[0]: computed(line, scope) for line in lines}
        assert [values[f"tau[q{k}']"] for k in (1, 2)] == pytest.approx(wanted, rel=1e-12)


def test_matrices_have_their_order() -> None:
    form = kn.derive(kn.load(EXAMPLES / "double_pendulum.kin")).matrix_form()
    assert "l2^2*m2" in form.text(order=["l2"])
    assert "{l_{2}}^{2}\\,m_{2}" in form.latex(order=["l2"])
    assert "m2*l2^2" in form.text()


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (["l3"], "The equations of 'double_pendulum' have no name 'l3' to be put in order."),
        ([2], "Expected names in the order, found 2."),
        ([kn.symbol("l1")], 'Expected names in the order, found l1; give the name, "l1".'),
        (["l1", "l1"], "Expected names of which none stands twice in the order, found 'l1' twice."),
        ("l1", "Expected the order as a list of names, found 'l1'."),
        (3, "Expected the order as a list of names, found 3."),
    ],
)
def test_orders_that_are_none(order: Sequence[str], said: str) -> None:
    equations = kn.derive(kn.load(EXAMPLES / "double_pendulum.kin"))
    for made in (equations.text, equations.latex, equations.matrix_form().text, equations.account):
        with pytest.raises(kn.ArgumentError) as error:
            made(order=order)
        assert said in str(error.value)
