"""Expressions opened and written again keep their value, and look as a person would write them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import kineta as kn
from kineta.algebra.expression import DESCRIPTIONS
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import Op
from kineta.passes.evaluate import evaluate
from kineta.passes.expand import SumsOfProducts, expand
from tests.expr.random_graphs import random_graph, random_values

a, b, p, q, w, z = kn.symbols("a b p q w z")
sin, cos = kn.sin, kn.cos


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (sin(a) * sin(b) - cos(a) * cos(b), "-cos(a + b)"),
        (cos(a) * cos(b) + sin(a) * sin(b), "cos(a - b)"),
        (sin(a) * cos(b) + sin(b) * cos(a), "sin(a + b)"),
        (p * sin(a) * cos(b) - p * sin(b) * cos(a), "p*sin(a - b)"),
        (z * (w - z + w + z), "2*w*z"),
        (p - p * sin(a) * sin(a), "cos(a)^2*p"),
        (p / (sin(a) ** 2 + cos(a) ** 2), "p"),
        (p / (cos(a) ** 2 / sin(a) + sin(a)), "p*sin(a)"),
        (p / (sin(a) ** 2 / cos(a) + cos(a)), "p*cos(a)"),
        ((p * q - p * w) / (q - w), "p"),
        ((p * sin(b) + q * cos(b)) / sin(a) * sin(a) * sin(b) + cos(b) * (p * cos(b) - q * sin(b)), "p"),
        ((a + b) * (a - b) - a * a + b * b, "0"),
        (3 * (a + b) - 2 * a - 3 * b, "a"),
    ],
    ids=str,
)
def test_written_as_a_person_would(given: kn.Expr, written: str) -> None:
    (found,) = expand(DESCRIPTIONS, [given.ref])
    # Factors stand in the order in which the shared graph has met their symbols.
    assert sorted(str(kn.Expr(DESCRIPTIONS, found)).split("*")) == sorted(written.split("*"))


@pytest.mark.parametrize("order", [*permutations("pqw")], ids="".join)
@pytest.mark.parametrize("first", ["", "pq", "pw"])
def test_a_factor_cancels_in_any_order_of_symbols(order: tuple[str, ...], first: str) -> None:
    """Sums are equal up to their sign, by the order in which a graph has met their terms."""
    g = Graph()
    s = {name: g.symbol(name) for name in order}
    if first:
        g.mul(*(s[name] for name in first))
    given = g.div(g.sub(g.mul(s["p"], s["q"]), g.mul(s["p"], s["w"])), g.sub(s["q"], s["w"]))
    assert expand(g, [given]) == [s["p"]]


def test_what_is_small_beside_what_cancels_keeps_its_digits() -> None:
    g = Graph()
    x = g.symbol("x")
    s, c = g.sin(x), g.cos(x)
    needle = g.add(g.mul(c, c), g.mul(g.const(1e-12), g.mul(s, s)))
    opened = g.add(g.sub(needle, g.mul(s, s)), g.mul(s, s))
    (found,) = expand(g, [opened])
    value = evaluate(g, [found], {"x": 1.5707963})[0]
    assert value == pytest.approx(evaluate(g, [needle], {"x": 1.5707963})[0], rel=1e-14)


@pytest.mark.parametrize("factors", [(3, -1, -2), (-0.5, 0.3, 2), (1, -1.5, -0.25), (2, -5, 1)], ids=str)
def test_a_term_with_the_squares_of_two_sines_is_taken_apart_once(factors: tuple[float, float, float]) -> None:
    x, y = sin(a) ** 2, sin(b) ** 2
    both, first, second = factors
    written = kn.Expr(
        DESCRIPTIONS, SumsOfProducts(DESCRIPTIONS).written((both * x * y + first * x + second * y + p).ref)
    )
    values = {"a": 0.4, "b": 1.1, "p": 0.7}
    sines = np.sin(0.4) ** 2, np.sin(1.1) ** 2
    expected = both * sines[0] * sines[1] + first * sines[0] + second * sines[1] + 0.7
    assert evaluate(DESCRIPTIONS, [written.ref], values)[0] == pytest.approx(expected, rel=1e-14)


def test_a_unit_quaternion_turns_lengths_into_themselves() -> None:
    g = Graph()
    w, x, y, z = (g.symbol(f"b.q{n}") for n in "wxyz")
    along = [g.sub(g.mul(g.const(2), g.add(g.mul(w, w), g.mul(x, x))), g.const(1))]
    along += [g.mul(g.const(2), g.add(g.mul(x, y), g.mul(w, z))), g.mul(g.const(2), g.sub(g.mul(x, z), g.mul(w, y)))]
    square = g.sum(g.mul(e, e) for e in along)
    assert SumsOfProducts(g, quaternions=["b"]).written(square) == g.const(1)
    assert SumsOfProducts(g).written(square) != g.const(1)


@pytest.mark.parametrize("seed", range(30))
def test_the_value_stays_and_no_operation_is_added(seed: int) -> None:
    g, refs = random_graph(seed, 25)
    found = expand(g, refs)
    values = random_values(seed)
    for old, new in zip(refs, found, strict=True):
        (expected,), (value,) = evaluate(g, [old], values), evaluate(g, [new], values)
        assert value == pytest.approx(expected, rel=1e-10, abs=1e-10, nan_ok=True)


def test_what_would_grow_too_long_stays() -> None:
    g = Graph()
    factors = [g.add(g.symbol(f"a{k}"), g.symbol(f"b{k}")) for k in range(12)]
    product: Ref = factors[0]
    for f in factors[1:]:
        product = g.mul(product, f)
    assert expand(g, [product]) == [product]


def test_a_division_by_what_vanishes_is_left_to_its_own() -> None:
    g = Graph()
    x = g.symbol("x")
    nothing = g.sub(g.mul(x, g.add(x, g.const(1.0))), g.add(g.mul(x, x), x))
    (found,) = expand(g, [g.div(x, nothing)])
    assert g.op[found >> 1] == Op.DIV
