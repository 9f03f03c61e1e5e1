"""Counting and scheduling: from references to a straight-line program."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from kineta.codegen.schedule import dependencies, schedule
from kineta.errors import ExpressionError
from kineta.expr.count import Operations, count
from kineta.expr.graph import ONE, Graph, Ref, neg
from kineta.expr.op import FLOAT, UNARY, Op
from kineta.expr.program import StraightLineProgram, program
from kineta.passes.evaluate import evaluate
from tests.expr.random_graphs import random_graph, random_values

NAMES = ("x", "y", "z")

COUNTS: dict[str, tuple[Callable[[Graph, Ref, Ref], list[Ref]], str]] = {
    "signs are free": (lambda g, x, y: [g.sub(neg(x), y), neg(g.mul(x, neg(y)))], "add mul"),
    "factors of one are free": (lambda g, x, y: [g.mul(x, g.const(-1)), g.div(x, ONE), g.add(x, y)], "add"),
    "repeats count once": (
        lambda g, x, y: [g.mul(x, y), g.add(g.mul(y, x), x), g.sub(x, y), g.sub(y, x)],
        "mul add add",
    ),
    "a number as divisor is a factor": (lambda g, x, y: [g.div(x, g.const(3)), g.div(x, y)], "mul div"),
    "a power of n is by squaring": (lambda g, x, y: [g.call(Op.POW, x, g.const(9))], "mul mul mul mul"),
    "sines and cosines, each once": (lambda g, x, y: [g.sin(x), g.cos(x), g.sin(neg(x)), g.cos(neg(x))], "trig trig"),
    "guards": (lambda g, x, y: [g.guard(g.mul(x, y), g.add(x, g.const(2))), g.guard(x, g.mul(y, y))], "mul"),
    "roots": (lambda g, x, y: [g.sqrt(x), g.sqrt(x)], "sqrt"),
    "constants and symbols": (lambda g, x, y: [x, neg(y), g.const(0.3)], ""),
    "what is not needed": (lambda g, x, y: [g.sub(g.mul(x, y), g.mul(y, x)), g.add(x, g.sub(y, x))], ""),
}


@pytest.mark.parametrize("rule", COUNTS)
def test_operations_are_counted_as_the_field_counts_them(rule: str) -> None:
    build, kinds = COUNTS[rule]
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    found = program(g, {"in": [x, y]}, {"out": ((), build(g, x, y))}).operations()
    assert found == Operations(**{kind: kinds.split().count(kind) for kind in ("add", "mul", "div", "sqrt", "trig")})


def test_every_function_but_the_root_counts_as_trig() -> None:
    assert count(UNARY - {Op.SQRT}) == Operations(trig=len(UNARY) - 1)
    n = Operations(add=3, mul=4, div=1, sqrt=1, trig=2, hoisted=7)
    assert n.total == 8
    assert str(n) == "3 add + 4 mul + 1 div + 1 sqrt + 2 trig (7 hoisted)"
    assert Operations(**n.as_dict()) == n


def run(p: StraightLineProgram, inputs: list[float], order: list[int] | None = None) -> list[float]:
    """The values of the results, by a loop over the operations in *order*."""
    first = p.first_operation
    values: dict[int, float] = dict(enumerate([*inputs, *p.constants]))

    def operand(r: int) -> float:
        return -values[r >> 1] if r & 1 else values[r >> 1]

    for k in range(len(p.op)) if order is None else order:
        arguments = (p.lhs[k],) if p.op[k] in UNARY else (p.lhs[k], p.rhs[k])
        values[first + k] = FLOAT[p.op[k]](*map(operand, arguments))
    return [operand(r) for r in p.results]


@pytest.mark.parametrize("seed", range(8))
def test_a_program_runs_from_front_to_back_and_means_what_the_graph_means(seed: int) -> None:
    g, refs = random_graph(seed, 60)
    values = random_values(seed)
    p = program(g, {"a": [g.symbol("x")], "b": [g.symbol("y"), g.symbol("z")]}, {"out": ((len(refs),), refs)})
    expected = evaluate(g, refs, values)
    assert run(p, list(values.values())) == expected
    flat = [k for item in schedule(p, dependencies(p)) for k in item]
    assert sorted(flat) == list(range(len(p.op)))
    assert run(p, list(values.values()), flat) == expected


def test_shapes_and_blocks() -> None:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    p = program(g, {"t": [], "q": [x, y]}, {"M": ((2, 2), [x, ONE, ONE, y]), "E": ((), [g.mul(x, y)])}, "both")
    assert [(b.name, b.shape, b.size) for b in p.inputs] == [("t", (0,), 0), ("q", (2,), 2)]
    assert [(b.name, b.shape, b.size) for b in p.outputs] == [("M", (2, 2), 4), ("E", (), 1)]
    assert (p.n_inputs, p.constants, p.first_operation, p.n_outputs) == (2, (1.0,), 3, 5)
    assert run(p, [3.0, 4.0]) == [3, 1, 1, 4, 12]


def test_what_is_given_is_not_computed() -> None:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    difference = g.sub(x, y)
    result = g.mul(g.sin(difference), y)
    p = program(g, {"d": [neg(difference)], "y": [y]}, {"out": ((), [result])})
    assert p.operations() == Operations(mul=1, trig=1)
    assert run(p, [-0.5, 0.25]) == evaluate(g, [result], {"x": 0.75, "y": 0.25})


def test_a_symbol_that_is_not_given_is_named() -> None:
    g = Graph()
    with pytest.raises(ExpressionError) as error:
        program(g, {"q": [g.symbol("x")]}, {"out": ((), [g.add(g.symbol("x"), g.symbol("mass"))])}, "inverse")
    assert str(error.value) == "Program 'inverse' needs the symbol 'mass', which is not among its inputs."


def test_equal_programs_have_equal_digests() -> None:
    def build(constant: float = 0.1, noise: int = 0) -> StraightLineProgram:
        g = Graph()
        x = g.symbol("x")
        for k in range(noise):  # what the outputs do not need leaves no trace
            g.add(x, g.const(k + 2.0))
        return program(g, {"in": [x]}, {"out": ((), [g.mul(x, g.const(constant))])}, f"f{noise}")

    assert build().digest == build(noise=3).digest
    others = [build(0.1 + 2**-56), replace(build(), results=(1,)), replace(build(), op=(int(Op.ADD),))]
    assert len({build().digest, *(p.digest for p in others)}) == 4


@pytest.mark.parametrize("seed", range(4))
def test_a_program_holds_only_what_its_outputs_need(seed: int) -> None:
    g, refs = random_graph(seed, 80)
    root = random.Random(seed).choice(refs)
    p = program(g, {"in": [g.symbol(n) for n in NAMES]}, {"out": ((), [root])})
    used = {r >> 1 for r in (*p.lhs, *(b for op, b in zip(p.op, p.rhs, strict=True) if op not in UNARY), *p.results)}
    assert used >= set(range(p.n_inputs, p.first_operation + len(p.op)))
