"""Expressions as text: short, unambiguous, and read back as the same node."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import kineta as kn
from kineta.algebra.expression import DESCRIPTIONS, Expr
from kineta.algebra.infix import number, text
from kineta.expr.graph import Graph
from kineta.notation.common_subexpressions import common_subexpressions
from kineta.notation.latex import LATEX
from kineta.notation.text import TEXT
from kineta.notation.typesetting import typeset
from kineta.passes.remove_guards import remove_guards
from tests.expr.random_graphs import random_graph


@pytest.mark.parametrize(
    ("build", "shown"),
    [
        (lambda x, y: x - y, "x - y"),
        (lambda x, y: y - x, "y - x"),
        (lambda x, y: -x - y, "-x - y"),
        (lambda x, y: -(x - y + 2), "y - x - 2"),
        (lambda x, y: -(2 * (x - y) + x * y), "2*(y - x) - x*y"),
        (lambda x, y: 6 * (x - y) ** 5 / x**7, "6*(x - y)^5/x^7"),
        (lambda x, y: ((x**3) ** 2) ** 64, "((x^3)^2)^64"),
        (lambda x, y: x - (y - 1), "1 - y + x"),
        (lambda x, y: x * 2 * y, "2*x*y"),
        (lambda x, y: x * (y * x), "x*y*x"),
        (lambda x, y: (x * y) * (x * x), "x*y*x^2"),
        (lambda x, y: x / (y * 2), "x/(2*y)"),
        (lambda x, y: x / y / y, "x/y/y"),
        (lambda x, y: (x + 1) ** 1.5, "(1 + x)^1.5"),
        (lambda x, y: (-x) ** y, "(-x)^y"),
        (lambda x, y: (x**y) ** 0.3, "(x^y)^0.3"),
        (lambda x, y: x**-0.5, "x^(-0.5)"),
        (lambda x, y: -kn.sin(x - y), "-sin(x - y)"),
        (lambda x, y: kn.atan2(-y, x) * (y - x), "atan2(-y, x)*(y - x)"),
        (lambda x, y: 1e-7 * x + 1e22 * y, "1e-07*x + 1e+22*y"),
        (lambda x, y: x - x - 3, "-3"),
    ],
)
def test_text(build: Callable[[Expr, Expr], Expr], shown: str) -> None:
    graph = Graph()
    assert str(build(*(Expr(graph, graph.symbol(n)) for n in "xy"))) == shown


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e-7, 5e-324, 1.7976931348623157e308, 12.0, 2**53 + 2.0])
def test_numbers_read_back_as_the_same_float(value: float) -> None:
    assert float(number(value)) == value
    assert kn.loads(model("B", [number(value)])).outputs[0].value.value == value


NAMES = ("x", "Длина", "leg_1")


def model(name: str, shown: list[str]) -> str:
    outputs = ", ".join(f"o{i} = {e}" for i, e in enumerate(shown))
    return f"model {name}; parameters {', '.join(NAMES)}; B | Rz(q) = 1, 1, 1, 1; output {outputs};"


@pytest.mark.parametrize("seed", range(6))
def test_what_is_written_reads_back_as_the_same_node(seed: int) -> None:
    graph, refs = random_graph(seed, 16, NAMES, DESCRIPTIONS)
    system = kn.loads(model(f"m{seed}", [text(graph, r) for r in refs]))
    assert [o.value.ref for o in system.outputs] == refs


def test_formulas_without_parts_are_written_out_up_to_a_length() -> None:
    g = Graph()
    x = g.add(g.symbol("x"), g.symbol("y"))
    square = g.mul(x, g.mul(x, g.symbol("z")))
    assert list(common_subexpressions(g, [square], {}, parts=False).lines(TEXT, ["f"])) == [("f", "(x + y)^2*z")]
    for _ in range(15):
        square = g.mul(g.add(square, x), square)
    with pytest.raises(kn.ArgumentError, match="at most 4000 operations to write out"):
        common_subexpressions(g, [square], {}, parts=False)


def test_what_guards_a_value_is_not_written() -> None:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    guarded = g.sub(g.guard(g.div(x, g.guard(y, x)), y), g.guard(x ^ 1, y))
    assert text(g, guarded) == "x/y + x"
    plain, (ref,) = remove_guards(g, [guarded])
    assert typeset(plain, ref, LATEX) == r"x + \frac{x}{y}"
    assert list(common_subexpressions(g, [guarded], {}).lines(TEXT, ["a"])) == [("a", "x + x/y")]
