"""Every backend against the reference evaluation."""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kineta.codegen import c, llvm, loops, spilling
from kineta.codegen import numpy as reference
from kineta.codegen.compiled_functions import CALLS, CompiledFunctions
from kineta.codegen.module import module
from kineta.codegen.spilling import WHOLE
from kineta.codegen.target import host
from kineta.errors import ArgumentError
from kineta.expr.graph import ONE, ZERO, Graph
from kineta.expr.loop_program import LoopProgram
from kineta.expr.op import BINARY, LIBM, Op
from kineta.expr.program import StraightLineProgram, program
from kineta.memory import columns
from kineta.passes.step_recorder import Hoisted, Shape, StepRecorder, rebuilt
from tests.codegen.random_programs import random_program

SEEDS = range(12)


def blocks(p: StraightLineProgram, n: int | None, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-2, 2, b.size if n is None else (n, b.size)) for b in p.inputs]


def close(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_llvm_agrees_with_numpy(seed: int) -> None:
    p = random_program(seed, 200)
    f, expected = llvm.compile([p], batch=True).function("f"), reference.compile(p)
    one = blocks(p, None)
    close(f(*one), expected(*one))
    for n in (1, 3, 7, 8, 9, 16, 101):
        rows = blocks(p, n, n)
        close(f.batch(*rows), expected(*rows))
        shared = [rows[0], rows[1][0], *rows[2:]]
        close(f.batch(*shared), expected(*shared))


def block_diagonal(n: int) -> StraightLineProgram:
    """A matrix (n, n) that is zero beside a diagonal of equal blocks of two by two."""
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    square = {(0, 0): g.mul(x, x), (0, 1): g.mul(x, y), (1, 0): g.mul(x, y), (1, 1): x ^ 1}
    entries = [square[i % 2, j % 2] if i // 2 == j // 2 else ZERO for i in range(n) for j in range(n)]
    return program(g, {"x": [x, y]}, {"M": ((n, n), entries)})


def native(p: StraightLineProgram, width: int) -> llvm.NativeFunction:
    """*p* compiled for a machine with vectors of that width."""
    batch = width > 1
    pointers = loops.POINTERS if isinstance(p, LoopProgram) else ()
    names = [p.name, *(f"{p.name}.{x}" for x in (*(("batch", "lanes") if batch else ()), *pointers))]
    text = module([p], replace(host(), width=width), batch=batch)
    return llvm.Library([p], llvm.load_object(llvm.object_code(text), names), batch).function(p.name)


def recurrence(n: int) -> LoopProgram:
    """A recurrence of n steps with numbers, a parameter, results that are inputs, numbers and negatives."""
    g = Graph()
    t, p, *x = (g.symbol(name) for name in ("t", "p", *(f"x{k}" for k in range(n))))
    hoisted = Hoisted(g, [p])
    recorder = StepRecorder(g, {"t": [t], "x": x}, hoisted, 20)
    (square,) = hoisted_square = recorder.constants([g.mul(p, p)])
    assert len(hoisted_square) == 1
    state, found = recorder.constants([ZERO, ONE]), []
    for k in range(n):
        shape, leaves = recorder.expression([g.sin(g.mul(x[k], t)), g.const(0.1 * k + 0.3)], 10)

        def write(graph: Graph, refs: list[int], shape: Shape = shape, m: int = len(leaves)) -> list[int]:
            a, b = rebuilt(graph, shape, refs[:m])
            first, second, factor = refs[m:]
            return [graph.add(graph.mul(a, second), first), graph.mul(b, graph.cos(graph.add(first, factor))), a ^ 1]

        *state, more = recorder.call(("step", shape), write, [*leaves, *state, square])
        found += [more, state[0]]
    ends = recorder.evaluated([x[0], x[n - 1] ^ 1, t], 9) + recorder.constants([ONE ^ 1, ZERO])
    return recorder.program("f", {"found": ((len(found),), found), "ends": ((len(ends),), ends)})


PROGRAMS = {"random": random_program(6, 200), "matrix": block_diagonal(9), "loops": recurrence(30)}


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("p", PROGRAMS.values(), ids=PROGRAMS)
def test_vectors_of_every_width_agree(p: StraightLineProgram, width: int) -> None:
    """Whatever width this machine would choose."""
    f, expected = native(p, width), reference.compile(p)
    close(f(*blocks(p, None)), expected(*blocks(p, None)))
    for n in (1, width, 2 * width + 1):
        close(f.batch(*blocks(p, n)), expected(*blocks(p, n)))


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("p", PROGRAMS.values(), ids=PROGRAMS)
def test_one_state_in_every_lane(p: StraightLineProgram, width: int) -> None:
    """Number i of all states side by side; lanes that are not asked for keep what they have."""
    rows, f = blocks(p, width), native(p, width)
    given, found = [columns(x[0], width) for x in rows], columns(np.zeros(p.n_outputs), width)
    for block, x in zip(given, rows, strict=True):
        block[:] = x.T
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(rows) + 1), ctypes.c_uint8)(f.lanes_address)
    call(*(x.ctypes.data for x in (*given, found)), 0b01010101)
    close(found.T[::2], reference.compile(p)(*rows)[::2])
    assert not found.T[1::2].any()


def test_lanes_without_results_store_nothing() -> None:
    g = Graph()
    f = native(program(g, {"x": [g.symbol("x")]}, {"out": ((0,), [])}, "f"), 8)
    given, found = np.ones(8), np.full(8, 7.0)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint8)(f.lanes_address)(
        given.ctypes.data, found.ctypes.data, 0xFF
    )
    assert (found == 7.0).all()


def differences() -> StraightLineProgram:
    """Sums and differences of products, and of products and choices, with all signs."""
    g = Graph()
    a, b, c, d, e = inputs = [g.symbol(name) for name in "abcde"]
    found = []
    for i in range(32):
        # Each has no other users.
        product, own = g.mul(g.add(a, g.const(0.1 + i)), b), g.add(c, g.const(0.1 * i))
        step = g.call(Op.STEP, own)
        match i // 4:
            case 0:
                other = g.call(Op.WHERE, d, own)
            case 1:
                other = step
            case 2:
                other = g.mul(step, e)
            case 3:
                other = g.call(Op.SIGN, own)
            case 4:
                other = g.call(Op.GUARD, d, g.add(ONE, own))
            case 5:
                other = g.mul(own, d)
            case 6:
                other = g.call(Op.MAX, ZERO, own)
            case _:
                other = g.call(Op.IF, step, g.call(Op.PAIR, d, e))
        found.append(g.add(product ^ (i & 1), other ^ (i >> 1 & 1)))
    return program(g, {"x": inputs}, {"out": ((len(found),), found)}, "f")


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("p", [*PROGRAMS.values(), differences()], ids=[*PROGRAMS, "differences"])
def test_vectors_of_every_width_have_the_bits_of_numbers(p: StraightLineProgram, width: int) -> None:
    """The code says what is rounded: LLVM does not choose for a vector what to fuse."""
    f, alone, rows = native(p, width), native(p, 1), blocks(p, 64)
    one_by_one = np.array([alone(*row) for row in zip(*rows, strict=True)])
    assert np.array_equal(f.batch(*rows), one_by_one, equal_nan=True)


def test_rows_without_vectors_agree_too() -> None:
    p = random_program(3, 150)
    rows = blocks(p, 5)
    close(llvm.compile([p]).function("f").batch(*rows), reference.compile(p)(*rows))


def test_no_rows_give_no_results() -> None:
    p = random_program(3, 20)
    assert llvm.compile([p], batch=True).function("f").batch(*blocks(p, 0)).shape == (0, p.n_outputs)


def test_strided_inputs_are_taken_as_they_are_meant() -> None:
    p = random_program(4, 80)
    rows = [np.asfortranarray(b) for b in blocks(p, 11)]
    turned = [np.repeat(b, 2, axis=0)[::2] for b in rows]
    close(llvm.compile([p], batch=True).function("f").batch(*turned), reference.compile(p)(*rows))


def test_batches_stay_within_their_arrays() -> None:
    p = random_program(5, 40, blocks=(3, 5, 1))
    f = llvm.compile([p], batch=True).function("f")
    wide = [np.full((19, b.size), 0.5) for b in p.inputs]
    guarded = np.full((19, p.n_outputs + 3), 7.0)
    call = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64] * 4)(f.batch_address)
    rows = [x for b in wide for x in (b.ctypes.data, b.shape[1])]
    call(19, *rows, guarded.ctypes.data, p.n_outputs + 3)
    assert (guarded[:, p.n_outputs :] == 7.0).all()
    assert (guarded[:, : p.n_outputs] == guarded[0, : p.n_outputs]).all()


@pytest.mark.parametrize("width", [2, 8])
@pytest.mark.parametrize("seed", range(3))
def test_long_programs_agree(seed: int, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is long begins here at 100 operations."""
    monkeypatch.setattr(spilling, "WHOLE", {16: 100, 32: 100})
    monkeypatch.setattr(spilling, "CHUNK", 60)
    p = random_program(seed, 400)
    f, expected = native(p, width), reference.compile(p)
    for n in (None, 17):
        given = blocks(p, n)
        close(f(*given) if n is None else f.batch(*given), expected(*given))


@pytest.mark.slow
def test_a_long_program_is_cut_as_it_is() -> None:
    p = random_program(1, 2 * WHOLE[host().registers])
    one = blocks(p, None)
    close(llvm.compile([p]).function("f")(*one), reference.compile(p)(*one))


def test_several_programs_share_a_library() -> None:
    programs = [random_program(i, 30, f"f{i}") for i in range(3)]
    library = llvm.compile(programs)
    for p in programs:
        one = blocks(p, None)
        close(library.function(p.name)(*one), reference.compile(p)(*one))


def test_wrong_blocks_are_refused_with_their_sizes() -> None:
    p = random_program(0, 10)
    f = llvm.compile([p]).function("f")
    with pytest.raises(ArgumentError, match=r"Expected blocks of sizes \(1, 5, 3, 0\), found \(1, 4, 3, 0\)"):
        f(np.zeros(1), np.zeros(4), np.zeros(3), np.zeros(0))
    with pytest.raises(ArgumentError, match="same number of rows"):
        f.batch(np.zeros((2, 1)), np.zeros((3, 5)), np.zeros(3), np.zeros(0))


def test_single_states_have_the_bits_of_the_c_library() -> None:
    """Blocks of parameters are interpreted at first, and machine code and exported code have the same, but for sums."""
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    own = [op for op in LIBM if op not in (Op.SQRT, Op.SIN, Op.COS)]
    refs = [g.call(op, x, y) if op in BINARY else g.call(op, x) for op in own]
    p = program(g, {"x": [x, y]}, {"out": ((len(refs),), refs)}, "functions")
    interpreted, compiled = reference.compile(p), llvm.compile([p], batch=False).function("functions")
    for one in np.random.default_rng(2).uniform(0.0, 1.0, (200, 2)):
        assert interpreted(one).tobytes() == compiled(one).tobytes()
    assert np.isnan(interpreted(np.array([-2.0, 0.5]))[[own.index(Op.LOG), own.index(Op.POW)]]).all()


def sines() -> StraightLineProgram:
    g = Graph()
    x = g.symbol("x")
    return program(g, {"x": [x]}, {"out": ((2,), [g.sin(x), g.cos(x)])}, "sines")


def test_sines_are_exact_to_an_ulp_everywhere() -> None:
    f = llvm.compile([sines()], batch=True).function("sines")
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [
            rng.uniform(-10, 10, 20000),
            rng.uniform(-1e6, 1e6, 20000),
            np.arange(-3000, 3000) * (np.pi / 2),
            10.0 ** rng.uniform(-300, 300, 5000),
            [0.0, -0.0, 1e-310],
        ]
    )
    exact = np.stack([np.sin(x.astype(np.longdouble)), np.cos(x.astype(np.longdouble))], axis=-1)
    error = np.abs(f.batch(x[:, None]).astype(np.longdouble) - exact) / np.spacing(np.abs(exact.astype(float)))
    assert error.max() < 1.0
    scalar = np.array([f(np.array([a])) for a in x[:500]])
    assert np.array_equal(scalar, f.batch(x[:500, None]))


def test_neighbours_of_what_is_no_angle_keep_their_sines() -> None:
    f = llvm.compile([sines()], batch=True).function("sines")
    x = np.random.default_rng(1).uniform(-1, 1, (4000, 1))
    mixed = np.array([[np.nan], [1e9]] * 2000)
    mixed[::3] = x[::3]
    assert np.array_equal(f.batch(mixed)[::3], f.batch(x)[::3])


def test_sines_of_what_is_no_angle_are_nan() -> None:
    f = llvm.compile([sines()], batch=True).function("sines")
    bad = np.array([np.nan, np.inf, -np.inf, 1.0] * 3)[:, None]
    assert np.isnan(f.batch(bad)).all(axis=1).tolist() == [True, True, True, False] * 3


def test_nan_is_not_lost_on_the_way() -> None:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    out = [g.call(op, x, y) for op in (Op.MIN, Op.MAX)] + [g.call(Op.SIGN, x), g.call(Op.ABS, x)]
    p = program(g, {"x": [x, y]}, {"out": ((4,), out)}, "f")
    for f in (llvm.compile([p]).function("f"), reference.compile(p)):
        assert np.isnan(f(np.array([np.nan, 1.0]))).all()


def guarded() -> StraightLineProgram:
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    return program(g, {"x": [x, y]}, {"out": ((2,), [g.guard(x, y), g.guard(x ^ 1, g.sub(y, x))])}, "f")


def test_a_guard_lets_a_value_through_where_its_test_is_positive(tmp_path: Path) -> None:
    p, states = guarded(), np.array([[2.0, y] for y in (3.0, 1.0, 0.0, -1.0, np.nan, np.inf, -np.inf)])
    expected = np.array([[2, -2], [2, np.nan], *[[np.nan] * 2] * 3, [2, -2], [np.nan] * 2])
    f = llvm.compile([p], batch=True).function("f")
    compiled = compiled_c([p], tmp_path).model_f
    out = np.empty((len(states), 2))
    for state, row in zip(states, out, strict=True):
        compiled(ctypes.c_void_p(state.ctypes.data), ctypes.c_void_p(row.ctypes.data))
    for found in (f.batch(states), np.array([f(s) for s in states]), reference.compile(p)(states), out):
        assert np.array_equal(found, expected, equal_nan=True)


def compiled_c(programs: list[StraightLineProgram], folder: Path, model: str = "model") -> ctypes.CDLL:
    header, text = c.source(programs, model, {"b1": list("abcde")})
    stem = c.identifier(model)
    (folder / f"{stem}.h").write_text(header)
    (folder / f"{stem}.c").write_text(text)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2", "-ffp-contract=off", "-fPIC", "-shared"]
    subprocess.run(["gcc", *flags, f"{stem}.c", "-o", "lib.so", "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "lib.so"))


@pytest.mark.parametrize("seed", range(3))
def test_c_agrees_with_numpy(seed: int, tmp_path: Path) -> None:
    p = random_program(seed, 300)
    function = compiled_c([p], tmp_path).model_f
    one = blocks(p, None)
    out = np.empty(p.n_outputs)
    function(*(ctypes.c_void_p(b.ctypes.data) for b in [*one, out]))
    close(out, reference.compile(p)(*one))


def test_names_of_other_scripts_become_identifiers() -> None:
    assert c.identifier("Нога") == "Noga"
    assert c.identifier("Щит_1") == "Shchit_1"
    assert c.identifier("q1'") == "q1_dot"
    assert c.identifier("φ") == "phi"
    assert c.identifier("2nd-arm") == "_2nd_arm"


def test_golden_c(request: pytest.FixtureRequest) -> None:
    """Generated code is reviewed code; ``pytest --update`` writes the file anew."""
    g = Graph()
    x, y = g.symbol("x"), g.symbol("y")
    e = g.sub(g.mul(g.sin(x), y), g.div(g.const(2.5), g.sqrt(g.add(y, x))))
    p = program(g, {"t": [], "q": [x, y]}, {"value": ((2,), [e, x ^ 1])}, "value")
    text = "".join(c.source([p], "tiny", {"q": ["x", "y"]}))
    golden = Path(__file__).parent / "golden_tiny.c.txt"
    if request.config.getoption("--update"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_what_is_called_often_is_compiled() -> None:
    p = random_program(1, 200)
    called, expected = CompiledFunctions([p]), reference.compile(p)
    one = blocks(p, None)
    for _ in range(CALLS + 2):
        close(called(p.name, *one), expected(*one))
