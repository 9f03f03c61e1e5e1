"""``Expr``, the view for people: operators, functions, truth, errors."""

from __future__ import annotations

import copy
import math
import operator
import pickle
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.algebra.expression import UFUNCS, Expr
from kineta.errors import ExpressionError
from kineta.expr.graph import ONE, Graph
from kineta.expr.op import BINARY, FUNCTIONS, Op
from kineta.passes.evaluate import evaluate

X, Y = kn.symbol("x"), kn.symbol("y")
VALUES = {"x": 0.7, "y": -1.3}


def value(e: Any) -> float:
    return evaluate(e.graph, [e.ref], VALUES)[0]


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv])
@pytest.mark.parametrize("other", [3, 0.25, -2.5, np.int64(3), np.float64(0.25), np.float32(0.5), Y])
def test_operators_mean_what_they_mean_for_floats(op: Callable[[Any, Any], Any], other: Any) -> None:
    number = VALUES["y"] if other is Y else float(other)
    assert value(op(X, other)) == pytest.approx(op(VALUES["x"], number), rel=1e-15)
    assert value(op(other, X)) == pytest.approx(op(number, VALUES["x"]), rel=1e-15)


def test_signs_powers_and_magnitudes() -> None:
    assert value(X**2) == pytest.approx(0.49)
    assert value(2**X) == pytest.approx(2**0.7)
    assert value(X**Y) == pytest.approx(0.7**-1.3)
    assert value(abs(Y)) == 1.3
    assert value(-(+X)) == -0.7
    assert float(kn.sin(0.5) * 2) == 2 * math.sin(0.5)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_exist_under_the_names_of_the_language(name: str) -> None:
    public = {"min": "minimum", "max": "maximum"}.get(name, name)
    if name == "abs":
        assert abs(X) == Expr(X.graph, X.graph.call(Op.ABS, X.ref))
        return
    arguments = (X, Y) if FUNCTIONS[name] in BINARY else (X,)
    built = getattr(kn, public)(*arguments)
    assert built == Expr(X.graph, X.graph.call(FUNCTIONS[name], *(a.ref for a in arguments)))
    assert str(built) == f"{name}({', '.join(map(str, arguments))})"


def test_equality_is_identity_of_nodes() -> None:
    assert X + Y == Y + X
    assert X != Y
    assert X != "x"
    assert len({X + Y, Y + X, -(X - Y), Y - X}) == 2
    assert Expr(Graph(), ONE) != Expr(Graph(), ONE)
    assert kn.symbol("x") == X


def test_names_make_symbols_as_in_sympy() -> None:
    assert kn.symbols("x") == X
    assert kn.symbols("x,") == (X,)
    assert kn.symbols("x y") == kn.symbols("x, y") == (X, Y)


def test_derivatives_hold_all_other_symbols() -> None:
    rate = kn.symbol("x'")
    e = kn.sin(X * Y) + X * rate
    assert value(e.diff(X).subs(rate, 2)) == pytest.approx(VALUES["y"] * math.cos(VALUES["x"] * VALUES["y"]) + 2)
    assert e.diff("x'") == X
    assert e.diff("z").value == 0


def test_symbols_are_replaced_at_the_same_time() -> None:
    e = X - 2 * Y
    assert e.subs({X: Y, "y": X}) == Y - 2 * X
    assert e.subs(X, 3).subs("y", 0.5).value == 2.0
    with pytest.raises(kn.ArgumentError, match=r"as in e\.subs\(x, 2\), or a mapping: e\.subs\(\{x: 2\}\)\.$"):
        e.subs(X)


@pytest.mark.parametrize(("name", "function"), UFUNCS.items())
def test_numpy_has_the_functions_of_expressions(name: str, function: Callable[..., Any]) -> None:
    ufunc = getattr(np, name)
    numbers = (0.7, 0.4)[: ufunc.nin]
    arguments = (X, Y)[: ufunc.nin]
    found = ufunc(*arguments)
    assert found == function(*arguments)
    assert float(found.subs(dict(zip(arguments, numbers, strict=True)))) == pytest.approx(ufunc(*numbers), rel=1e-15)
    if name not in ("sign", "maximum", "minimum"):  # of arrays, NumPy compares their entries
        assert list(ufunc(*(np.array([a, a]) for a in arguments))) == [found, found]


def test_expressions_are_calculated_with_as_arrays() -> None:
    v, A = np.array([X, Y]), np.array([[0.0, 2.0], [1.0, 0.0]])
    assert list(A @ v) == [2 * Y, X]
    assert list(np.cross([X, 0 * X, 0 * X], [0 * X, Y, 0 * X])) == [0 * X, 0 * X, X * Y]
    assert list(X * np.arange(3)) == list(np.arange(3) * X) == [0 * X, X, 2 * X]
    assert np.arctan2(1.0, X) == kn.atan2(1.0, X)
    assert (v @ v) == v.dot(v) == np.sum(v**2) == X * X + Y * Y


def test_names_values_and_symbols() -> None:
    assert (X.name, (-X).name, (X + 1).name) == ("x", None, None)
    assert ((X - X).value, X.value, (X - X + 0.5).value) == (0.0, None, 0.5)
    assert (X * kn.sin(Y) + X).symbols() == ("x", "y")
    assert (X - X).symbols() == ()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: bool(X), "The truth of the expression 'x' is not known"),
        (
            lambda: float(X + Y),
            r"Expected a number, found the expression '(x \+ y|y \+ x)'. Functions of expressions are",
        ),
        (lambda: math.sin(X), "Expected a number, found the expression 'x'. Functions of expressions are kineta.sin"),
        (lambda: bool(X < 1), "Whether x < 1 is not known before its symbols have values; kineta.where chooses by it"),
        (lambda: 0 < X < 1, "Whether x > 0 is not known before its symbols have values"),
        (lambda: max(X, Y), "Whether x < y is not known"),
        (lambda: (X < 1) + 1, "A comparison is no number, found 'x < 1'; kineta.where"),
        (lambda: kn.sin(X < 1), "A comparison is no number, found 'x < 1'; kineta.where"),
        (lambda: kn.where(X, 1, 2), "kineta.where takes a comparison first, as x < 0, found x."),
        (lambda: X + 10**400, r"Expected a number that a float can hold, found 10{35}\.\.\.\."),
        (lambda: kn.sin(np.timedelta64(3, "s")), r"Expected a number or an expression, found np.timedelta64"),
        (lambda: round(X, 2), "Expected a number, found the expression 'x'. Functions of expressions are kineta.sin"),
        (lambda: int(X), "Expected a number, found the expression 'x'."),
        (lambda: X.diff(X + Y), r"Expected a symbol or its name, found x \+ y."),
        (lambda: X.subs(X, "y"), "Expected a number or an expression, found 'y'."),
        (lambda: kn.symbols(["a"]), r"Expected names of symbols in one text, as in 'q1 q2', found \['a'\]."),
        (lambda: kn.symbols(" "), "Expected names of symbols in one text, as in 'q1 q2', found ' '."),
        (lambda: np.cbrt(X), "NumPy's cbrt does not take expressions"),
        (lambda: X + True, "Expected a number, found the truth value True."),
        (lambda: kn.sin(math.nan), "Expected a finite number, found nan."),
        (lambda: kn.sin("x"), "Expected a number or an expression, found 'x'."),
        (lambda: kn.atan2(X, [1]), r"Expected a number or an expression, found \[1\]."),
    ],
)
def test_what_cannot_be_an_expression(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(ExpressionError, match=f"^{message}"):
        build()


@pytest.mark.parametrize("sequence", [len, list, sum, iter, lambda x: x[0], lambda x: 1 in x, lambda x: [*x]])
def test_an_expression_is_no_row(sequence: Callable[[Any], Any]) -> None:
    said = "^Expected several expressions, found one, 'x', which has no length and no entries; expressions in a row are a list"
    with pytest.raises(ExpressionError, match=said) as error:
        sequence(X)
    assert isinstance(error.value, TypeError)  # as Python's protocols have it: np.iterable asks
    assert not np.iterable(X)
    assert np.array([[X, Y], [Y, X]]).shape == (2, 2)
    assert np.asarray(X).shape == ()


@pytest.mark.parametrize("op", [divmod])
def test_expressions_have_no_remainder_with_its_quotient(op: Callable[[Any, Any], Any]) -> None:
    name = "divmod"
    for a, b in ((X, 2), (2, X), (X, Y)):
        with pytest.raises(ExpressionError, match=f"^Expressions have no {name}, found it with 'x'; x % y is") as error:
            op(a, b)
        assert isinstance(error.value, TypeError)
    with pytest.raises(ExpressionError, match="NumPy's"):
        op(X, np.array([1.0]))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: X @ Y, "Expressions have no @, found it with 'x'; a product is x*y."),
        (lambda: 2 ^ X, "Expressions have no ^, found it with 'x'; a power is x**y."),
        (
            lambda: X & True,
            "Expressions have no &, found it with 'x'; & and | stand between comparisons",
        ),
        (
            lambda: X | Y,
            "Expressions have no |, found it with 'x'; & and | stand between comparisons",
        ),
        (lambda: ~X, "Expressions have no ~, found it with 'x'; the negative is -x."),
        (
            lambda: X(1),
            "Expressions are no functions, found a call of 'x'; a product is x*y.",
        ),
    ],
)
def test_operations_that_expressions_do_not_have_are_named(wrong: Callable[[], object], said: str) -> None:
    with pytest.raises(ExpressionError, match="^" + re.escape(said)) as error:
        wrong()
    assert isinstance(error.value, TypeError)


def test_an_expression_that_is_a_number_may_be_rounded() -> None:
    assert (round(X - X + 0.123, 1), round(X - X + 1.7), int(X - X + 1.7)) == (0.1, 2, 1)


@pytest.mark.parametrize("op", [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow])
def test_operators_leave_foreign_objects_to_themselves(op: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(TypeError, match="unsupported operand type"):
        op(X, object())
    with pytest.raises(TypeError, match="unsupported operand type"):
        op(object(), X)


@pytest.mark.parametrize("combine", [operator.add, operator.sub, operator.mul, kn.atan2, kn.minimum])
def test_graphs_do_not_mix(combine: Callable[[Any, Any], Any]) -> None:
    graph = Graph()
    with pytest.raises(ExpressionError, match=r"^'x' and 'u' belong to different graphs and cannot be combined\.$"):
        combine(X, Expr(graph, graph.symbol("u")))


def test_a_message_shows_the_beginning_of_what_is_too_long_to_write_out() -> None:
    e = X
    for _ in range(200):
        e = e * e + Y
    with pytest.raises(ExpressionError, match=r"^Expected a number, found the expression '.{20,300} \.\.\.'\."):
        float(e)


def test_copies_and_pickles_are_the_same_expression() -> None:
    q, p = kn.symbols("q p")
    for e in (q, -q, kn.sin(2 * q) - p / (1 + q**2), kn.atan2(q, p), kn.symbol("x") - kn.symbol("x")):
        assert copy.deepcopy(e) == copy.copy(e) == pickle.loads(pickle.dumps(e)) == e


def test_what_is_shown_in_a_prompt_is_short() -> None:
    z = kn.symbol("z")
    for _ in range(40):
        z = z * z + z
    assert len(repr(z)) < 500
    assert repr(z).endswith(" ...")


def test_threads_describe_side_by_side() -> None:
    def products(k: int) -> list[str]:
        a = [kn.symbol(f"beside{k}_{i}") for i in range(300)]
        return [str(x * y) for x, y in pairwise(a)]

    with ThreadPoolExecutor(4) as pool:
        for k, found in enumerate(pool.map(products, range(4))):
            assert found == [f"beside{k}_{i}*beside{k}_{i + 1}" for i in range(299)]


def test_a_symbol_has_a_name() -> None:
    with pytest.raises(ExpressionError, match=r"Expected the name of a symbol, found 3\."):
        kn.symbol(3)  # type: ignore[arg-type]
