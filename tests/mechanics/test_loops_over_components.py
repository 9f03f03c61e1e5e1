"""Loops over components that are alike against straight code of the same systems."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.codegen import llvm
from kineta.codegen import numpy as reference
from kineta.equations.equations import Equations, _lowered
from kineta.errors import KinetaWarning
from kineta.expr.loop_program import LoopProgram
from kineta.mechanics import loops_over_components

FOUR_BAR = """
Crank[i] | Sx(3*i), Rz(a[i]) = m(0.5*k), Jz(0.004), com = (0.1, 0, 0);
Coupler[i] ~ Crank[i] | Sx(0.2 + 0.01*i), Rz(b[i]) = m(1), Jz(0.05), com = (0.3, 0, 0);
Rocker[i] | Sx(3*i + 0.6), Rz(c[i]) = m(0.8 + 0.1*i), Jz(0.02), com = (0.1, 0, 0);
loop pin[i] : revolute between Coupler[i] at (0.6, 0, 0) axis (0, 0, 1) and Rocker[i] at (0.2 + 0.01*i, 0, 0);
damper g[i] = 0.1*i + 0.05 on b[i]';
initial a[i] = 1, b[i] = -1, c[i] = 1;
"""
BRANCHED = """
Base[i] | Free(f[i]) = m(2), Jx(0.1), Jy(0.2), Jz(0.3), com = (0.1, 0.01*i, 0.2);
Arm[i] ~ Base[i] | Sx(0.3), Ball(s[i]) = m(1), Jx(0.02), Jy(0.03), Jz(0.025), com = (0, 0, 0.1);
Leg[i] ~ Base[i] | Sy(0.1*i), Rx(0.7), Rz(u[i]) = m(k), Jz(0.1), com = (0.2, 0, 0);
Toe[i] ~ Leg[i] | Sx(0.4), Rz(2*u[i] + 0.3) = m(0.2), Jz(0.05);
spring h[i] = 3 on u[i] - 0.2;
"""
QUASI = """
Skate[i] | Sx(x[i]), Sy(y[i]), Rz(h[i]) = m(2 + i), Jz(0.4), com = (0.1, 0, 0);
constraint blade[i] : y[i]'*cos(h[i]) = x[i]'*sin(h[i]);
quasi u[i] = x[i]'*cos(h[i]) + y[i]'*sin(h[i]), w[i] = h[i]';
"""
RELAXED = """
coordinates x[i];
Mass[i] | Sx(x[i]) = 1 + i;
state z[i] : z[i]' = (x[i] - z[i])/(0.2*k);
force f[i] = 5*z[i] on x[i];
"""


def many(text: str, n: int) -> kn.System:
    return kn.loads(f"gravity (0.3, -9.81, 0.2); parameters k = 1.2; constants N = {n}; for i in 1..N : {{ {text} }}")


def programs(equations: Equations, quantity: str) -> tuple[LoopProgram, np.ndarray, np.ndarray, list[np.ndarray]]:
    """The program with its block h, the results of straight code, and what both are given."""
    s, rng = equations.system, np.random.default_rng(7)
    shown = equations.formulas(quantity)
    once, straight = _lowered(shown.symbols, quantity, shown.array)
    setup, main = equations.programs(quantity)
    assert isinstance(main, LoopProgram)
    q = rng.uniform(-1, 1, s.nq)
    for offset in s.quaternions.values():
        q[offset : offset + 4] /= np.linalg.norm(q[offset : offset + 4])
    given, p = [np.array([0.3]), q, *rng.uniform(-1, 1, (2, s.nv))], np.array([1.1])
    right = reference.compile(straight)(*given, reference.compile(once)(p))
    assert main.operations().total <= straight.operations().total + 4 * s.nv
    return main, reference.compile(setup)(p), right, given


@pytest.mark.parametrize("quantity", ["forward", pytest.param("inverse", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(FOUR_BAR, id="loops"),
        *(pytest.param(x, marks=pytest.mark.slow) for x in (BRANCHED, QUASI, RELAXED)),
    ],
)
def test_components_that_are_alike(text: str, quantity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops_over_components, "MANY", 3)
    monkeypatch.setattr(loops_over_components, "REPEATED", 0.1)
    main, h, right, given = programs(kn.derive(many(text, 3)), quantity)
    assert sum(len(step.program.op) > 4 for step in main.steps) < 4
    native = llvm.compile([main], batch=True).function(quantity)
    for found in (reference.compile(main)(*given, h), native(*given, h)):
        assert found == pytest.approx(right, rel=1e-12, abs=1e-12 * np.abs(right).max())


def test_long_trees_and_different_components_are_written_straight_or_over_links() -> None:
    chain = "A[0] | Rz(q[0]) = m(1), Jz(1); for i in 1..199 : A[i] ~ A[i - 1] | Sx(1), Rz(q[i]) = m(1), Jz(1);"
    assert not kn.derive(kn.loads(chain)).repeated
    assert not kn.derive(many(FOUR_BAR, 3)).repeated
    assert len(kn.derive(many("A[i] | Rz(q[i]) = m(1), Jz(1);", 120)).repeated) == 120


def test_loops_that_close_are_judged_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of one component only are redundant where it is twice closed."""
    monkeypatch.setattr(loops_over_components, "MANY", 3)
    equations = kn.derive(many(FOUR_BAR, 5))
    assert equations.settled() is equations
    twice = FOUR_BAR + "loop two[i] : ball between Coupler[i] at (0.6, 0, 0) and Rocker[i] at (0.2 + 0.01*i, 0, 0);"
    with pytest.warns(KinetaWarning, match="redundant"):
        assert len(kn.derive(many(twice, 5)).settled().left_out) == 10
