"""Written text has its operands in one order, whatever a process met before."""

from __future__ import annotations

import json
import random
import subprocess
import sys

import pytest

import kineta as kn
from kineta.algebra import written_order
from kineta.algebra.expression import Expr
from kineta.algebra.functions import cos, maximum, sin
from kineta.algebra.written_order import operands_in_order
from kineta.expr.graph import Graph
from tests.support import EXAMPLES

NAMES = "kmxyzuvw"


def _expression(rng: random.Random, leaves: list[Expr], depth: int) -> Expr:
    """An expression drawn by *rng* in *leaves*."""
    if not depth or rng.random() < 0.1:
        return rng.choice(leaves)
    a, b = (_expression(rng, leaves, depth - 1) for _ in range(2))
    forms = (a + b, a - b, a * b, b * 0.3 + a, sin(a - b), cos(b - a) * a, maximum(a, b), (a - b) ** 2, a / (b * b + 2))
    return rng.choice(forms)


@pytest.mark.parametrize("seed", range(12))
def test_text_does_not_depend_on_what_was_met_before(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = set[str]()
    for history in range(4):
        graph, before = Graph(), random.Random(history)
        monkeypatch.setattr(written_order, "DESCRIPTIONS", graph)
        order = before.sample(NAMES, len(NAMES))
        known = {name: Expr(graph, graph.symbol(name)) for name in order}
        for _ in range(history * 20):
            _expression(before, [known[n] for n in order], 3)
        x = _expression(random.Random(seed), [known[n] for n in NAMES], 4)
        with operands_in_order("km"):
            found.add(f"{x}; {-x}")
    assert len(found) == 1


def test_names_stand_as_declared_and_as_met_in_the_text() -> None:
    kn.loads("coordinates b1; A | Sx(b1) = 1; force f = 10 deg + c1*b1 + b1*a1 + cos(b1 - a1) on b1;")
    force = "cos(a1 - b1) + b1*c1 + b1*a1 + 2.5 on a1;"
    text = f"coordinates a1; B | Sx(a1) = 1; force f = {force} parameters b1 = 1, c1 = 2;"
    assert f"force f = {force}" in kn.dumps(kn.loads(text))


_READ = "import json, sys, kineta as kn; print(json.dumps([kn.dumps(kn.load(f)) for f in sys.argv[1:]]))"


@pytest.mark.slow
def test_examples_are_written_alike_in_any_order_of_reading() -> None:
    files = [str(file) for file in sorted(EXAMPLES.glob("*.kin"))]
    backwards = subprocess.run([sys.executable, "-c", _READ, *files[::-1]], capture_output=True, check=True, text=True)
    assert json.loads(backwards.stdout)[::-1] == [kn.dumps(kn.load(f)) for f in files]
