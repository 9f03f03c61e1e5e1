"""Choices by conditions, whole parts and remainders, in texts and in Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kineta as kn
from kineta.algebra.expression import Expr
from kineta.expr.graph import Graph
from kineta.interop.sympy import to_sympy
from kineta.notation.latex import LATEX
from kineta.notation.mathml import mathml
from kineta.notation.text import TEXT
from kineta.notation.typesetting import typeset
from kineta.passes.differentiate import forward, gradient
from kineta.passes.evaluate import evaluate
from kineta.passes.substitute import substitute
from kineta.passes.time_derivatives import TimeDerivatives

X, Y = kn.symbols("x y")


def value(e: Expr, **known: float) -> float:
    found: float = evaluate(e.graph, [e.ref], known)[0]
    return found


def test_comparisons_in_a_row_hold_together() -> None:
    text = "coordinates x; parameters a, b; M | Sx(x) = 1; force f = if({}, 1, 2) on x;"
    assert kn.loads(text.format("a < x <= b")) == kn.loads(text.format("a < x and x <= b"))
    assert kn.loads(text.format("not b >= x > a > 0")) == kn.loads(text.format("not ((b >= x and x > a) and a > 0)"))


@pytest.mark.parametrize("x", [-1.5, -1.0, -0.2, 0.0, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("y", [-1.0, 0.4, 1.0])
def test_conditions_mean_what_they_mean_for_floats(x: float, y: float) -> None:
    a, b = X < Y, X >= 0
    for condition, holds in (
        (a, x < y),
        (X <= Y, x <= y),
        (X > Y, x > y),
        (X >= Y, x >= y),
        (X > 1, x > 1),
        (a & b, x < y and x >= 0),
        (a | b, x < y or x >= 0),
        (~a, not x < y),
        (~(a | ~b) & (Y > 0), not (x < y or not x >= 0) and y > 0),
    ):
        assert value(kn.where(condition, 2, 3), x=x, y=y) == (2 if holds else 3), condition


@pytest.mark.parametrize("x", [-2.5, -2.0, -0.1, 0.0, 0.7, 3.0])
@pytest.mark.parametrize("y", [-0.75, 0.5, 2.0])
def test_whole_parts_and_remainders(x: float, y: float) -> None:
    assert value(kn.floor(X), x=x) == math.floor(x)
    assert value(kn.ceil(X), x=x) == math.ceil(x)
    assert value(kn.mod(X, Y), x=x, y=y) == x % y
    assert value(kn.hypot(X, Y), x=x, y=y) == pytest.approx(math.hypot(x, y), rel=1e-15)
    assert np.ceil(np.array([X]))[0] == kn.ceil(X)


@pytest.mark.parametrize(
    "e",
    [
        kn.where(X < Y, kn.sqrt(Y - X), X * Y),
        kn.where((X < Y) & ~(Y <= 2) | (X + Y > 0), X, -Y) * 2 + kn.floor(X / 2),
        kn.where(~((X < 1) & (Y < 1)), 1, kn.where(X > -1, X, 0)),
        kn.ceil(X) - kn.mod(X, 3),
    ],
)
def test_what_is_written_reads_as_it_was(e: Expr) -> None:
    system = kn.loads(f"coordinates x, y; A | Sx(x), Sy(y) = 1; force f = {e} on x;")
    assert system.elements[0].characteristic == e  # type: ignore[union-attr]  # a force on a coordinate
    assert kn.loads(kn.dumps(system)) == system


def test_python_and_text_are_one() -> None:
    text = kn.loads("coordinates x; A | Sx(x) = 1; force f = if(x < 0 m, -3 N/m * x, 0 N) + mod(x, 2)*ceil(x) on x;")
    force = kn.where(X < 0, -3 * X, 0) + kn.mod(X, 2) * kn.ceil(X)
    assert text.elements == (kn.generalized_force("f", force, X),)


def test_what_is_not_chosen_needs_no_value() -> None:
    """Derivatives of every sort are those of what is chosen, although the other branch has none."""
    e = kn.where(X > 0, kn.sqrt(X) + kn.log(X), -2 * X)
    for x, slope in ((-1.0, -2.0), (0.25, 1 + 4.0)):
        g = Graph()
        s = g.symbol("x")
        (ref,) = substitute(e.graph, [e.ref], {}, g)
        assert evaluate(g, forward(g, [ref], {s: 2}), {"x": x})[0] == slope
        assert evaluate(g, [gradient(g, ref, {s})[s]], {"x": x})[0] == slope
        rate = g.symbol("u")
        second = TimeDerivatives(g, lambda r, s=s, u=rate: u if r == s else 0).of([ref], 2)
        expected = 0.0 if x < 0 else -0.25 * x**-1.5 - x**-2
        assert evaluate(g, second, {"x": x, "u": 3.0})[0] == pytest.approx(9 * expected, rel=1e-14)
    with pytest.raises(kn.ExpressionError, match=r"sqrt\(-1\) is not a finite number"):
        value(kn.where(X < 0, kn.sqrt(X), 1), x=-1.0)


def test_several_choices_by_one_value_are_differentiated_backwards() -> None:
    root = kn.sqrt(X)
    e = kn.where(X > 0, root, 0) + kn.where(X > 1, 2 * root, X)
    assert value(e.diff("x"), x=-1.0) == 1.0
    g, ref = e.graph, e.ref
    assert evaluate(g, [gradient(g, ref, {X.ref})[X.ref]], {"x": -1.0}) == [1.0]


def test_choices_are_printed_with_their_conditions() -> None:
    e = kn.where((X < Y) & (X > 1), X, kn.floor(Y))
    assert typeset(e.graph, e.ref, TEXT) == "if(x < y and x > 1, x, floor(y))"
    latex = typeset(e.graph, e.ref, LATEX)
    assert latex == (
        r"\begin{cases} x & x < y \text{ and } x > 1 \\ \left\lfloor y\right\rfloor  & \text{else} \end{cases}"
    )
    shown = mathml(latex)
    assert shown.count("<mtr>") == 2
    assert "⌊" in shown
    assert "<mo>{</mo>" in shown


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("q > a or q' > b", "q > a or q' > b"),
        ("q' > b or q > a or q < 2", "q < 2 or q > a or q' > b"),
        ("(q > a and q' > b) or q < 2", "q < 2 or (q > a and q' > b)"),
        ("q < 2 and (q > a or q' > b)", "q < 2 and (q > a or q' > b)"),
        ("not (q < 2 and (q > a or q' > b))", "q >= 2 or (q <= a and q' <= b)"),
    ],
)
def test_conditions_of_conditions_are_printed_as_such(written: str, printed: str) -> None:
    system = kn.loads(f"parameters a, b; coordinates q; M | Sx(q) = 1; state z : z' = if({written}, 1, 0);")
    assert kn.derive(system).text().splitlines()[-1] == f"z' = if({printed}, 1, 0)"


def test_sympy_has_pieces() -> None:
    sympy = pytest.importorskip("sympy")
    e = kn.where((X < Y) | ~(X <= -1), X, kn.floor(Y) - kn.ceil(X))
    (shown,) = to_sympy(e.graph, [e.ref])
    assert isinstance(shown, sympy.Piecewise)
    back = kn.from_sympy(shown)
    for x, y in ((0.3, 0.4), (-1.0, -2.2), (-0.5, -1.5), (-3.0, -4.1)):
        expected = value(e, x=x, y=y)
        assert value(back, x=x, y=y) == expected
        assert float(shown.subs({s: {"x": x, "y": y}[s.name] for s in shown.free_symbols})) == expected


def test_a_motion_through_a_condition_is_that_of_its_pieces() -> None:
    """A mass driven up to a speed, then braked from a place on: both times in closed form."""
    car = kn.loads("""
        parameters F = 2 N, B = 3 N; coordinates x; Car | Sx(x) = 1;
        force f = if(x < 1 m, F, -B) on x;
    """)
    found = kn.simulate(car, 1.5, rtol=1e-11, atol=1e-12)
    at, speed = 1.0, 2.0
    rest = 1.5 - at
    assert found.q[-1, 0] == pytest.approx(1 + speed * rest - 1.5 * rest**2, rel=1e-8)
    slopes = kn.sensitivity(car, 1.5, ["F", "B"])

    def end(F: float, B: float) -> float:
        t = math.sqrt(2 / F)
        return 1 + F * t * (1.5 - t) - B / 2 * (1.5 - t) ** 2

    h = 1e-6
    expected = [(end(2 + h, 3) - end(2 - h, 3)) / (2 * h), (end(2, 3 + h) - end(2, 3 - h)) / (2 * h)]
    assert slopes["x"][-1] == pytest.approx(expected, rel=1e-7)
    assert "a force steps at 1 s" in slopes.notes[0]


def test_steps_of_whole_numbers_are_passed_by_sensitivities() -> None:
    car = kn.loads("""
        parameters v = 1 m/s, F = 2 N; coordinates x; Car | Sx(x) = 1;
        force f = F*floor(x/(1 m)) on x; initial x' = v, x = 0.5;
    """)
    slopes = kn.sensitivity(car, 1.0, ["v", "F"])
    expected = [1.0 + 2 * 0.5 * 0.5, 0.5**2 / 2]  # of 1/2 + v t + F (t - T)^2/2 with v T = 1/2
    assert slopes["x"][-1] == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_back_ends_choose_alike(backend: str) -> None:
    system = kn.loads("""
        coordinates x, y; A | Sx(x), Sy(y) = 1;
        force f = if(x < y and not (x' > 1 or y <= 0), sqrt(y - x), floor(3*x)) on x;
        force g = mod(x - y, 0.7) + hypot(x, y)*if(x > 0, sqrt(x), ceil(y)) on y;
    """)
    state = np.random.default_rng(5).uniform(-2, 2, (64, 4))
    found = kn.derive(system).function("forward", backend=backend)(0.0, state[:, :2], state[:, 2:])
    expected = []
    for x, y, u, _ in state.tolist():
        f = math.sqrt(y - x) if x < y and not (u > 1 or y <= 0) else math.floor(3 * x)
        g = (x - y) % 0.7 + math.hypot(x, y) * (math.sqrt(x) if x > 0 else math.ceil(y))
        expected.append((f, g))
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_units_of_choices_are_those_of_their_values() -> None:
    assert kn.loads("coordinates x; A | Sx(x) = 1; output f = if(x < 0, 1 N, 2 N)*1 m;")
    with pytest.raises(kn.ModelError, match="must be of one kind"):
        kn.loads("coordinates x; A | Sx(x) = 1; output f = if(x < 0, 1 N, 2 m);")
