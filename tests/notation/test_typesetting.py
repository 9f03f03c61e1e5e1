"""Formulas are written as a person would: order, signs, numbers, like terms."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
import pytest

import kineta as kn
from kineta.algebra.expression import Expr
from kineta.expr.graph import Graph
from kineta.notation.latex import LATEX
from kineta.notation.text import TEXT
from kineta.notation.typesetting import FactorKind, typeset
from kineta.passes.collect_terms import collect_terms
from kineta.passes.evaluate import evaluate
from tests.expr.random_graphs import random_graph
from tests.support import EXAMPLES

KINDS = {
    "m": (FactorKind.PARAMETER, 0),
    "k": (FactorKind.PARAMETER, 1),
    "q": (FactorKind.POSITION, 0),
    "v": (FactorKind.SPEED, 0),
    "a": (FactorKind.ACCELERATION, 0),
}


@pytest.mark.parametrize(
    ("build", "text", "latex"),
    [
        (lambda m, k, q, v, a: v * kn.sin(q) * q * m * 2, "2*m*q*sin(q)*v", r"2\,m\,q\,\sin q\,v"),
        (lambda m, k, q, v, a: kn.sin(q) * m - v * v + a, "a - v^2 + m*sin(q)", r"a - {v}^{2} + m\,\sin q"),
        (lambda m, k, q, v, a: k * q - m * a, "k*q - m*a", r"k\,q - m\,a"),
        (lambda m, k, q, v, a: q * (v + a) - q * (m - k), "q*(a + v) + (k - m)*q", None),
        (lambda m, k, q, v, a: -(v + a) / (2 * m), "-(a + v)/(2*m)", r"-\frac{a + v}{2\,m}"),
        (lambda m, k, q, v, a: v + (a + v), "a + 2*v", "a + 2\\,v"),
        (lambda m, k, q, v, a: m * v * v * 0.5, "m*v^2/2", r"\frac{1}{2}\,m\,{v}^{2}"),
        (lambda m, k, q, v, a: m * 0.25 * v + 0.25 * q + 0.5, "m*v/4 + q/4 + 1/2", None),
        (lambda m, k, q, v, a: m / 3 * q, "m*q/3", r"\frac{1}{3}\,m\,q"),
        (
            lambda m, k, q, v, a: 1.5 * m * a + 0.4 * m * q,
            "3*m*a/2 + 2*m*q/5",
            r"\frac{3}{2}\,m\,a + \frac{2}{5}\,m\,q",
        ),
        (lambda m, k, q, v, a: m * math.sin(math.pi / 3) * q, "sqrt(3)*m*q/2", r"\frac{\sqrt{3}}{2}\,m\,q"),
        (lambda m, k, q, v, a: m * math.sqrt(2) * q, "sqrt(2)*m*q", r"\sqrt{2}\,m\,q"),
        (lambda m, k, q, v, a: kn.sin(2 * math.pi * m * q), "sin(2*pi*m*q)", r"\sin\left(2\,\pi\,m\,q\right)"),
        (lambda m, k, q, v, a: 9.81 * m + 2.35 * m * q + 1.5 * v, "3*v/2 + 2.35*m*q + 9.81*m", None),
        (lambda m, k, q, v, a: 1.5 * v + 0.3, "1.5*v + 0.3", None),
        (lambda m, k, q, v, a: (q - k) * (q - k) * m - (k - q) * a, "(q - k)*a + m*(q - k)^2", None),
        (lambda m, k, q, v, a: 0.497 * q - 0.334 * v, "0.497*q - 0.334*v", None),
        (lambda m, k, q, v, a: 0.0025 * q, "0.0025*q", r"2.5 \cdot 10^{-3}\,q"),
        (lambda m, k, q, v, a: 1e-5 * q + 3e22 * v, "3e22*v + 1e-5*q", r"3 \cdot 10^{22}\,v + 10^{-5}\,q"),
        (lambda m, k, q, v, a: 0.1 * 0.15 * q + (0.1 + 0.2), "0.015*q + 0.3", r"0.015\,q + 0.3"),
        (lambda m, k, q, v, a: kn.sin(q) ** 2 * v / kn.sqrt(q), "sin(q)^2*v/sqrt(q)", None),
        (
            lambda m, k, q, v, a: kn.maximum(kn.maximum(v, q), m) + kn.minimum(m, k),
            "min(k, m) + max(m, max(q, v))",
            None,
        ),
        (lambda m, k, q, v, a: (-q) ** v * q**-0.5, "(-q)^v*q^(-0.5)", None),
        (lambda m, k, q, v, a: q - q - v * 0, "0", "0"),
    ],
)
def test_a_formula_as_a_person_writes_it(build: Callable[..., Expr], text: str, latex: str | None) -> None:
    graph = Graph()
    ref = build(*(Expr(graph, graph.symbol(n)) for n in KINDS)).ref
    assert typeset(graph, ref, TEXT, kinds=KINDS) == text
    assert latex is None or typeset(graph, ref, LATEX, kinds=KINDS) == latex


@pytest.mark.parametrize("seed", range(20))
def test_collecting_keeps_the_meaning(seed: int) -> None:
    graph, refs = random_graph(seed, 30, ("x", "y", "z"))
    values = dict(zip("xyz", np.random.default_rng(seed).uniform(0.3, 0.9, 3).tolist(), strict=True))
    found = evaluate(graph, collect_terms(graph, refs, {"y"}), values)
    np.testing.assert_allclose(found, evaluate(graph, refs, values), rtol=1e-9, atol=1e-9)


def test_the_double_pendulum_is_as_in_books() -> None:
    equations = kn.derive(kn.load(EXAMPLES / "double_pendulum.kin"))
    assert equations.text("inverse").splitlines() == [
        "tau[q1'] = (m1 + m2)*l1^2*q1'' + m2*l1*l2*cos(q1 - q2)*q2'' + m2*l1*l2*sin(q1 - q2)*q2'^2 + 9.81*(m1 + m2)*l1*sin(q1)",
        "tau[q2'] = m2*l1*l2*cos(q1 - q2)*q1'' + m2*l2^2*q2'' - m2*l1*l2*sin(q1 - q2)*q1'^2 + 9.81*m2*l2*sin(q2)",
    ]


@pytest.mark.slow
def test_parts_that_cancel_are_not_shown() -> None:
    furuta = kn.loads(
        "gravity g; parameters J0, m, g, L, l, J; coordinates alpha, theta; Arm | Rz(alpha) = Jz(J0);"
        "Rod ~ Arm | Sx(L), Rx(theta) = m, J, J, 0, com = (0, 0, -l);"
    )
    lines = dict(line.split(" = ") for line in kn.derive(furuta).text("forward").splitlines())
    parts = [name for name in lines if re.fullmatch(r"z\d+", name)]
    assert parts == [f"z{k}" for k in range(1, len(parts) + 1)]
    for name in parts:
        assert any(re.search(rf"\b{name}\b", text) for text in lines.values()), name
