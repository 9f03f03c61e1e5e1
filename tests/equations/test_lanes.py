"""Derivatives whose columns are computed in lanes are those of straight code."""

from __future__ import annotations

import numpy as np
import pytest

import kineta as kn
from kineta.arrays import FloatArray
from kineta.codegen import llvm
from kineta.codegen import numpy as reference
from kineta.equations import equations
from kineta.expr.lane_program import LaneProgram
from kineta.mechanics.columns import BLOCKS
from tests.mechanics.test_derivatives import four_legs, joints

#: Turns, shifts, balls and free motions on the ground and on each other; for odd seeds with every element.
SEEDS = (0, 1, 2, 4)


@pytest.fixture(autouse=True)
def _of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equations, "LONG", 0)


def legged() -> kn.System:
    """Four legs with dampers, and a spring between two of them."""
    system = four_legs()
    dampers = [kn.damper(f"d{k}", 0.3 + k, kn.symbol(f"a{k}'")) for k in range(4)]
    return system.replace(elements=(*dampers, kn.spring("s", 20.0, kn.symbol("b0") - kn.symbol("b1"))))


def blocks(function: kn.Function) -> list[FloatArray]:
    """A random state, as of the inputs of the program."""
    system, draw = function.system, np.random.default_rng(5).normal
    given = {b.name: draw(size=b.size) for b in function.main.inputs} | {"h": function.hoisted()}
    for start in system.quaternions.values():
        given["q"][start : start + 4] /= np.linalg.norm(given["q"][start : start + 4])
    return [given[b.name] for b in function.main.inputs]


def both(system: kn.System, quantity: str) -> tuple[FloatArray, FloatArray]:
    """The results in lanes, where the processor has them, and those of straight code."""
    function = kn.derive(system).function(quantity)
    program, state = function.main, blocks(function)
    assert isinstance(program, LaneProgram)
    with np.errstate(all="ignore"):
        return llvm.compile([program]).function(program.name)(*state), reference.compile(program)(*state)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_trees_agree(seed: int) -> None:
    found, straight = both(joints(seed), "forward_derivatives")
    assert np.abs(found - straight).max() < 1e-12 * np.abs(straight).max()


@pytest.mark.parametrize("quantity", BLOCKS)
def test_a_robot_agrees_in_all_blocks(quantity: str) -> None:
    found, straight = both(legged(), quantity)
    assert np.abs(found - straight).max() < 1e-12 * np.abs(straight).max()


def test_steps_beyond_the_registers_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of a step share scratch memory."""
    monkeypatch.setattr("kineta.codegen.spilling.WHOLE", {16: 300, 32: 300})
    found, straight = both(legged(), "forward_derivatives")
    assert np.abs(found - straight).max() < 1e-12 * np.abs(straight).max()


def test_a_tree_without_inertia_has_no_numbers_and_the_one_beside_it_has() -> None:
    text = """model needle; parameters a = 0; coordinates b, x, p;
        Needle | Ball(b) = m(1), Jx(1), Jy(1), Jz(a); Slider | Sx(x), Rz(p), Sx(0.3) = m(1), Jz(0.3); gravity 9.81;"""
    found, straight = (x.reshape(3, 5, 5) for x in both(kn.loads(text), "forward_derivatives"))
    assert np.isnan(found[:, 2, :3]).all()
    assert np.abs(found - straight)[:, 3:].max() < 1e-12


def test_rows_of_states_are_those_of_one() -> None:
    function = kn.derive(legged()).function("forward_derivatives")
    program, state = function.main, blocks(function)
    code = llvm.compile([program], batch=True).function(program.name)
    one, rows = code(*state), code.batch(*(np.tile(x, (9, 1)) for x in state))
    assert np.abs(rows - one).max() < 1e-12 * np.abs(one).max()
