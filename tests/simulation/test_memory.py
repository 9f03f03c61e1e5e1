"""Memory that questions leave: code goes with the last who uses it."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kineta as kn
from kineta.equations import equations as compiler
from tests.support import slow

TEXT = "gravity g; parameters g = 9.81, k = {}; B | Rx(q1), Sz(-0.5) = m(2); coordinates q1; damper d = k on q1; initial q1 = 1;"
SYSTEM = kn.loads(TEXT.format(0.1))
MAPS = Path("/proc/self/maps")

pytestmark = pytest.mark.skipif(not MAPS.exists(), reason="this system does not tell what memory a process has")


def maps() -> int:
    """How many areas of memory the process has, without what waits to be collected."""
    gc.collect()
    return len(MAPS.read_text().splitlines())


def resident() -> float:
    """Memory of the process [MB]."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def wave(k: float) -> kn.Expr:
    """An expression that nobody has given before."""
    return kn.sin(kn.symbol("t") * (1 + k / 1024))


T, Q = [0.0, 0.05, 0.1], kn.symbol("q1")

#: Questions with something new in each.
QUESTIONS: dict[str, Callable[[kn.Equations, int], Any]] = {
    "tau": lambda e, k: kn.simulate(e, 0.1, tau=[wave(k)]),
    "events": lambda e, k: kn.simulate(e, 0.1, events=Q - wave(k)),
    "implicit": lambda e, k: kn.simulate(e, 0.1, tau=[wave(k)], method="Radau"),
    "cases": lambda e, k: kn.simulate(e, 0.1, tau=[wave(k)], q=[[0.1], [0.2]]),
    "sampled": lambda e, k: kn.simulate(e, 0.1, tau=kn.sampled(lambda t, q, v: [k * 1e-3], 50)),
    "linearize": lambda e, k: kn.linearize(e, outputs={"y": Q * wave(k)}),
    "equilibrium": lambda e, k: kn.equilibrium(e, tau=[Q * k * 1e-3]),
    "sensitivity": lambda e, k: kn.sensitivity(e, 0.1, ["k"], goals={"y": Q * wave(k)}),
    "objective": lambda e, k: kn.objective(e, 0.1, ["k"], final=Q * wave(k))([0.1]),
    "adjoint": lambda e, k: kn.objective(e, 0.1, ["k"], integral=Q * wave(k), adjoint=True)([0.1]),
    "fit": lambda e, k: kn.fit(e, {"q1": np.cos(T)}, ["k"], t=T, tau=[k * 1e-3]),
    "function": lambda e, k: kn.derive(kn.loads(TEXT.format(0.2 + k))).function("forward")(0.0, [0.1], [0.2]),
    "system": lambda e, k: kn.simulate(kn.loads(TEXT.format(100 + k)), 0.1),
}
#: Those that take least.
QUICK = ("sampled", "linearize", "function", "system")


@pytest.mark.slow
@pytest.mark.parametrize("name", [*QUICK, *slow(name for name in QUESTIONS if name not in QUICK)])
def test_code_of_questions_that_nobody_asks_again_is_given_back(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "MEMO_SIZE", 3)
    equations, ask = kn.derive(SYSTEM), QUESTIONS[name]
    for k in range(10):
        ask(equations, k)
    before = maps()
    for k in range(10, 20):
        ask(equations, k)
    assert maps() - before < 8  # one question alone leaves six where code stays


def test_what_was_used_last_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "MEMO_SIZE", 2)
    equations = kn.derive(SYSTEM)
    made: list[str] = []
    for key in "abacab":
        equations.bounded_memo(key, lambda key=key: made.append(key) or key)
    assert made == ["a", "b", "c", "b"]  # c took the place of b, as a was used in between


@pytest.mark.slow
def test_memory_stays_flat_in_a_thousand_runs_with_new_control() -> None:
    equations = kn.derive(SYSTEM)
    for k in range(200):
        kn.simulate(equations, 0.01, tau=[wave(k)])
    areas, memory = maps(), resident()
    for k in range(200, 1000):
        kn.simulate(equations, 0.01, tau=[wave(k)])
    assert maps() - areas < 50
    assert resident() - memory < 12.0
