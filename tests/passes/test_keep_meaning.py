"""Passes that rewrite a graph leave the values of its expressions as they are."""

from __future__ import annotations

import pytest

from kineta.errors import ExpressionError
from kineta.expr.graph import MINUS_ONE, ONE, Graph, neg
from kineta.expr.op import Op
from kineta.expr.program import program
from kineta.passes.evaluate import evaluate
from kineta.passes.hoist import hoist
from kineta.passes.substitute import substitute
from tests.expr.random_graphs import random_graph, random_values
from tests.expr.test_program import run

NAMES = ("x", "y", "z")


def approx(values: list[float]) -> object:
    return pytest.approx(values, rel=1e-11, abs=1e-12)


@pytest.mark.parametrize("into_itself", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_substituting_is_evaluating_elsewhere(seed: int, into_itself: bool) -> None:
    g, refs = random_graph(seed, 40)
    target = g if into_itself else Graph()
    a, y = target.symbol("a"), target.symbol("y")
    replacement = target.sub(target.mul(a, y), target.cos(a))
    values = random_values(seed, ("a", "y", "z"))
    (x,) = evaluate(target, [replacement], values)
    copies = substitute(g, refs, {"x": replacement}, target)
    assert evaluate(target, copies, values) == approx(evaluate(g, refs, {**values, "x": x}))
    assert "x" in target.names if into_itself else "x" not in target.names


@pytest.mark.parametrize("seed", range(4))
def test_substituting_numbers_leaves_numbers(seed: int) -> None:
    g, refs = random_graph(seed, 40)
    values = random_values(seed)
    other = Graph()
    copies = substitute(g, refs, {n: other.const(v) for n, v in values.items()}, other)
    assert {other.op[r >> 1] for r in copies} == {Op.CONST}
    assert [other.value(r) for r in copies] == approx(evaluate(g, refs, values))


def test_substituting_nothing_changes_nothing() -> None:
    g, refs = random_graph(7, 40)
    size = len(g)
    assert substitute(g, refs, {}) == refs
    assert len(g) == size
    x, y = g.symbol("x"), g.symbol("y")
    assert substitute(g, [neg(g.sub(x, y))], {"x": neg(y), "y": neg(x)}) == [neg(g.sub(x, y))]  # at once, not in turn


@pytest.mark.parametrize("seed", range(6))
def test_hoisting_moves_work_that_depends_on_parameters_only(seed: int) -> None:
    g, refs = random_graph(seed, 60)
    values = random_values(seed)
    x, parameters = g.symbol("x"), [g.symbol("y"), g.symbol("z")]
    half = len(refs) // 2
    functions = {"f": {"out": ((half,), refs[:half])}, "g": {"out": ((len(refs) - half,), refs[half:])}}
    setup, main = hoist(g, {"x": [x]}, functions, parameters, "fg")
    assert [b.name for b in setup.inputs] == ["p"]
    h = run(setup, [values["y"], values["z"]])
    found = [r for f in main.values() for r in run(f, [values["x"], *h])]
    assert found == evaluate(g, refs, values)
    assert {b.name for f in main.values() for b in f.inputs} == {"x", "h"}


def test_hoisting_counts_once_and_apart() -> None:
    g = Graph()
    x, p, r = (g.symbol(n) for n in ("x", "p", "r"))
    static = g.mul(g.add(p, r), p)
    roots = [g.mul(static, x), g.add(static, g.sin(p)), g.const(2), neg(r)]
    plain = program(g, {"in": [x, p, r]}, {"out": ((4,), roots)}).operations()
    setup, main = hoist(g, {"x": [x]}, {"f": {"out": ((4,), roots)}}, [p, r], "f")
    once, each = setup.operations(), main["f"].operations(setup.operations().total)
    assert (each.add, each.mul, each.trig, each.hoisted) == (0, 1, 0, 3)
    assert plain.total + plain.trig == once.total + once.trig + each.total + each.trig
    assert hoist(g, {"x": [x]}, {"f": {"out": ((), [x])}}, [p], "f")[0].n_outputs == 0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda g, x: g.add(x, g.symbol("mass")), "The symbol 'mass' has no value."),
        (lambda g, x: g.div(ONE, g.sub(x, g.const(2))), "1/0 is not a finite number."),
        (lambda g, x: g.call(Op.LOG, neg(x)), "log(-2) is not a finite number."),
        (lambda g, x: g.call(Op.ASIN, x), "asin(2) is not a finite number."),
        (lambda g, x: g.call(Op.EXP, g.mul(x, g.const(500))), "exp(1000) is not a finite number."),
        (lambda g, x: g.call(Op.POW, g.sub(x, g.const(2)), MINUS_ONE), "1/0 is not a finite number."),
    ],
)
def test_values_that_do_not_exist(build: object, message: str) -> None:
    g = Graph()
    with pytest.raises(ExpressionError) as error:
        evaluate(g, [build(g, g.symbol("x"))], {"x": 2.0})  # type: ignore[operator]
    assert str(error.value) == message


@pytest.mark.parametrize("seed", range(4))
def test_what_is_known_for_the_same_values_is_not_computed_again(seed: int) -> None:
    g, refs = random_graph(seed, 40)
    values, known = random_values(seed, NAMES), dict[int, float]()
    whole = evaluate(g, refs, values)
    assert [x for r in refs for x in evaluate(g, [r], values, known=known)] == whole
    assert evaluate(g, refs, {}, {}, known) == whole


def test_what_has_no_value_is_not_kept() -> None:
    g, known = Graph(), dict[int, float]()
    x = g.symbol("x")
    root = g.sqrt(x)
    chosen = g.call(Op.WHERE, root, x)
    assert evaluate(g, [chosen], {"x": -1.0}, known=known) == [0.0]
    with pytest.raises(ExpressionError, match=r"sqrt\(-1\)"):
        evaluate(g, [root], {"x": -1.0}, known=known)
