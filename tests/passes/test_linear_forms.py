"""Sums of parameters in one form."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import kineta as kn
from kineta.expr.graph import ZERO, Graph, Ref, neg
from kineta.expr.op import Op
from kineta.passes.evaluate import evaluate
from kineta.passes.linear_forms import Constants

NUMBERS = (0.0, 0.1, 0.2, -0.3, 0.7, -1.0, 1e-30, 3e5)


@pytest.mark.parametrize("seed", range(60))
def test_forms_have_the_values_of_exact_arithmetic(seed: int) -> None:
    """Random sums and products of decimals and parameters, many of which cancel: beside each its exact value."""
    rng = random.Random(seed)
    g = Graph()
    constants = Constants(g)
    values = {"k": Fraction(3, 2), "m": Fraction(-7, 4), "J": Fraction(5, 8)}
    known: list[tuple[Ref, Fraction]] = [(g.symbol(n), x) for n, x in values.items()]
    known += [(g.const(x), Fraction(repr(x))) for x in NUMBERS]
    for _ in range(80):
        (a, x), (b, y) = rng.choices(known, k=2)
        if rng.random() < 0.4:
            b, y = neg(a), -x * rng.choice((1, 1, 2))
            b = b if y == -x else constants.call(Op.MUL, g.const(2.0), b)
        op, exact = rng.choice(((Op.ADD, x + y), (Op.ADD, x + y), (Op.MUL, x * y)))
        if abs(exact) < 10**9:
            known.append((constants.call(op, a, b), exact))
    found = evaluate(g, [ref for ref, _ in known], {n: float(x) for n, x in values.items()})
    for (ref, exact), value in zip(known, found, strict=True):
        assert value == pytest.approx(float(exact), rel=1e-9, abs=1e-9)
        assert ref == ZERO or value != 0 or exact == 0


def test_what_has_no_part_leaves_nothing() -> None:
    g = Graph()
    constants = Constants(g)
    k, c = g.symbol("k"), g.symbol("c")
    tenths = [constants.call(Op.MUL, g.const(x), c) for x in (0.1, 0.2, -0.3)]
    nothing = constants.call(Op.ADD, constants.call(Op.ADD, tenths[0], tenths[1]), tenths[2])
    assert nothing == ZERO
    for a, b in ((k, nothing), (nothing, k), (g.const(2.0), nothing), (g.add(k, c), ZERO), (ZERO, g.add(k, c))):
        assert constants.call(Op.MUL, a, b) == ZERO
        assert constants.call(Op.ADD, constants.call(Op.MUL, a, b), k) == k


def test_a_force_without_size_is_none() -> None:
    system = kn.loads(
        "parameters k = 1, c = 3; A | Sx(q) = 1; force f = k*(0.1*c + 0.2*c - 0.3*c) on q; coordinates q;"
    )
    assert kn.derive(system).text("inverse") == "tau[q'] = q''"
