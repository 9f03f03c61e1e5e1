"""Programs as PTX: LLVM verifies them, an interpreter runs them on any machine, and Nvidia's assembler takes them."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import kineta as kn
from kineta.codegen import numpy as reference
from kineta.codegen.cuda.elementary_functions import FUNCTIONS, WORDS, two_over_pi
from kineta.codegen.cuda.ptx import ptx
from kineta.errors import ArgumentError
from kineta.expr.graph import Graph
from kineta.expr.op import BINARY, COMPOSED, UNARY, Op
from kineta.expr.program import StraightLineProgram, program
from kineta.expr.row import StepRow
from tests.codegen.ptx_interpreter import Memory, evaluate, parsed
from tests.codegen.random_programs import random_program
from tests.support import EXAMPLES

#: Places of several operations whose results have one rounding alone.
EXACT = (Op.DIV, Op.SQRT, Op.ABS, Op.SIGN, Op.STEP, Op.MIN, Op.MAX, Op.GUARD, Op.FLOOR, Op.WHERE)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e308, -1e308, 5e-324, -1e-310, math.inf, -math.inf, math.nan]


def run(p: StraightLineProgram, *blocks: np.ndarray) -> np.ndarray:
    n = max(len(b) for b in blocks if b.ndim > 1)
    found = evaluate(ptx(p), p.name, blocks, n, [b.size for b in p.outputs])
    return np.concatenate(found, axis=-1)


def function(op: Op) -> StraightLineProgram:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    if op == Op.LOOKUP:
        y = g.const(StepRow([-1.0, 0.5, 1.0], [2.0, 3.0, -4.0, 5.0]))
    node = g.call(op, x) if op in UNARY else {Op.GUARD: g.guard, Op.WHERE: g.where}.get(op, partial(g.call, op))(x, y)
    return program(g, {"x": [x, g.symbol("y")]}, {"out": ((1,), [node])}, "f")


@pytest.mark.parametrize("seed", range(4))
def test_random_programs_have_the_meaning_of_the_reference(seed: int) -> None:
    p = random_program(seed, 120)
    rng = np.random.default_rng(seed)
    blocks = [rng.uniform(-2, 2, (37, b.size)) for b in p.inputs]
    blocks[1] = blocks[1][0]  # shared by all threads
    np.testing.assert_allclose(run(p, *blocks), reference.compile(p)(*blocks), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("op", sorted((UNARY | BINARY) - COMPOSED), ids=lambda op: Op(op).name.lower())
def test_every_operation_at_every_special_argument(op: Op) -> None:
    p = function(op)
    x = np.array([[a, b] for a in SPECIAL for b in SPECIAL])
    found, expected = run(p, x), reference.compile(p)(x)
    assert (np.isnan(found) == np.isnan(expected)).all()
    if op in EXACT:
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


#: Arguments at which functions are measured: between two bounds, or with exponents between two bounds.
BETWEEN: dict[str, list[tuple[float, float]]] = {
    "asin": [(-1, 1)],
    "acos": [(-1, 1)],
    "log": [(0.5, 2), (0, 1e6)],
    "exp": [(-1, 1), (-700, 700)],
    "sinh": [(-2, 2), (-700, 700)],
    "cosh": [(-2, 2), (-700, 700)],
    "pow": [(0.1, 4)],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_right_to_three_units_in_the_last_place(name: str) -> None:
    rng = np.random.default_rng(3)
    draws = [rng.uniform(*bounds, 1500) for bounds in BETWEEN.get(name, [(-3, 3), (-50, 50)])]
    if name not in ("asin", "acos", "exp", "sinh", "cosh"):
        size = 10.0 ** rng.uniform(-300, 300, 1500)
        draws.append(size if name in ("log", "pow") else size * rng.choice((-1, 1), 1500))
    x = np.concatenate(draws)
    y = np.where(np.arange(len(x)) < 1500, rng.uniform(-30, 30, len(x)), rng.uniform(-1, 1, len(x)))
    p = function(Op[name.upper()])
    found = run(p, np.stack([x, y], axis=-1))[:, 0]
    wide = [np.longdouble(x), np.longdouble(y)][: 2 if name in ("pow", "atan2") else 1]
    exact = reference.FUNCTIONS[Op[name.upper()]](*wide)
    error = np.abs(found - exact) / np.spacing(np.abs(exact.astype(float)))
    assert error.max() < (1.0 if name in ("sin", "cos") else 3.0)


def test_places_of_two_over_pi() -> None:
    """The first of them, and all by what they make of large angles, that nearest to a multiple of pi/2 among them."""
    bits = 0
    for word in two_over_pi(WORDS - 1):
        bits = bits << 64 | word
    value = Fraction(bits, 1 << (64 * (WORDS - 1) - 1))
    assert abs(value * Fraction(math.pi) / 2 - 1) < Fraction(1, 2**52)
    x = np.array([[6381956970095103.0 * 2.0**797, 0.0], [2.0**1000, 0.0]])
    sine, cosine = (run(function(op), x)[:, 0] for op in (Op.SIN, Op.COS))
    assert cosine[0] == -4.68716592425462761112e-19  # the worst case of doubles
    assert abs(sine[0]) == 1.0
    assert math.isclose(math.sin(2.0**1000), sine[1], rel_tol=1e-15)


def test_blocks_lie_as_they_are_given() -> None:
    """Rows far apart, columns far apart, nothing written elsewhere, and threads beyond the last state do nothing."""
    p = random_program(4, 60, blocks=(3, 5, 1))
    rng = np.random.default_rng(0)
    n, m = 21, p.n_outputs
    tall = [np.asfortranarray(rng.uniform(-1, 1, (n, b.size))) for b in p.inputs]
    expected = reference.compile(p)(*tall)
    out = np.full((m + 2, n + 3), 7.0)
    memory, words = Memory(), [n]
    for x in tall:
        memory.add(x.T)
        words += [x.ctypes.data, x.strides[0] // 8, x.strides[1] // 8]
    memory.add(out)
    parsed(ptx(p)).run(p.name, [*words, out[1:].ctypes.data, 1, n + 3], 2, 16, memory)
    np.testing.assert_allclose(out[1:-1, :n].T, expected, rtol=1e-13, atol=1e-13)
    assert (out[[0, -1]] == 7.0).all()
    assert (out[:, n:] == 7.0).all()


@pytest.mark.parametrize("model", ["puma560", "fourbar", "hopping_robot_stance", "spinning_top"])
def test_equations_of_machines(model: str) -> None:
    equations = kn.derive(kn.load(EXAMPLES / f"{model}.kin"))
    rng = np.random.default_rng(1)
    for quantity in ("forward", "mass_matrix", "inverse"):
        f = equations.function(quantity)
        blocks = [f.hoisted() if b.name == "h" else rng.uniform(-1, 1, (5, b.size)) for b in f.main.inputs]
        found, expected = run(f.main, *blocks), reference.compile(f.main)(*blocks)
        assert np.isfinite(expected).any()
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.nanmax(np.abs(expected)))


def test_the_oldest_processor_is_chosen() -> None:
    p = random_program(1, 10)
    assert parsed(ptx(p)).target == "sm_70"
    assert parsed(ptx(p, "sm_90")).target == "sm_90"
    assert ".target sm_80" in kn.derive(kn.loads("A | Rz(q) = 1, 1, 1, 2;")).function("forward").ptx("sm_80")


@pytest.mark.parametrize("target", ["volta", "sm_7", 70, "sm_70; exit"])
def test_what_is_no_processor_is_refused(target: str) -> None:
    with pytest.raises(ArgumentError, match="Expected a processor as 'sm_70', found"):
        ptx(random_program(1, 10), target)


def assembler() -> str | None:
    """Nvidia's assembler, of the machine or of the wheel ``nvidia-cuda-nvcc``."""
    wheels = [p for folder in sys.path for p in Path(folder).glob("nvidia/**/bin/ptxas")]
    return shutil.which("ptxas") or (str(wheels[0]) if wheels else None)


@pytest.mark.slow
@pytest.mark.skipif(assembler() is None, reason="without ptxas")
@pytest.mark.parametrize(
    "made",
    [lambda: random_program(2, 300), lambda: kn.derive(kn.load(EXAMPLES / "puma560.kin")).programs("forward")[1]],
    ids=["random", "puma560"],
)
def test_the_assembler_takes_it(made: Callable[[], StraightLineProgram], tmp_path: Path) -> None:
    (tmp_path / "f.ptx").write_text(ptx(made()))
    command = [assembler(), "-arch=sm_80", "-v", "f.ptx", "-o", "f.cubin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "0 bytes spill stores" in done.stderr
