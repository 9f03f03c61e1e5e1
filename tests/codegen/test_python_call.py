"""The call from Python in machine code: it gives what the code gives, hands on what it would have to convert, loses nothing."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kineta.codegen import llvm, python_abi
from kineta.codegen import python_call as calls
from kineta.codegen.python_call import call_wrapper
from kineta.codegen.python_entry import ArgumentKind, PythonEntry
from kineta.expr.program import Block, StraightLineProgram
from tests.codegen.random_programs import random_program

pytestmark = pytest.mark.skipif(not python_abi.available(), reason="another ABI than CPython's on 64 bits")

KINDS = (ArgumentKind.NUMBER, ArgumentKind.ARRAY, ArgumentKind.ARRAY, ArgumentKind.EITHER, ArgumentKind.BOUND)
RNG = np.random.default_rng(0)
H = RNG.uniform(-1, 1, 2)
ROWS: tuple[Any, ...] = (0.3, RNG.uniform(-1, 1, 7), RNG.uniform(-1, 1, 4), RNG.uniform(-1, 1, 3))


def some(seed: int = 0, parts: tuple[tuple[int, ...], ...] = ()) -> StraightLineProgram:
    """A program of blocks that come in every way."""
    p = random_program(seed, 80, blocks=(1, 7, 4, 3, 2))
    shapes = parts or ((p.n_outputs,),)
    outputs = tuple(Block(f"part{i}", shape) for i, shape in enumerate(shapes))
    return replace(p, outputs=outputs, results=p.results[: sum(b.size for b in outputs)])


def refuse(*_: Any, **__: Any) -> Any:
    return NotImplemented


def builtin(p: StraightLineProgram, **options: Any) -> Callable[..., Any]:
    return call_wrapper(refuse, llvm.compile([p]).function("f"), options.pop("kinds", KINDS), H, **options)


def value(p: StraightLineProgram, t: Any, *rows: np.ndarray) -> np.ndarray:
    return llvm.compile([p]).function("f")(np.array([float(t)]), *rows, H)


P = some()
F = builtin(P)
EXPECTED = value(P, *ROWS)


@pytest.mark.parametrize("seed", range(5))
def test_a_call_gives_what_the_code_gives(seed: int) -> None:
    p = some(seed)
    np.testing.assert_array_equal(builtin(p)(*ROWS), value(p, *ROWS))


def test_arguments_come_by_position_or_by_name() -> None:
    t, a, b, c = ROWS
    for found in (F(t, a, b, b3=c), F(t, b2=b, b3=c, b1=a), F(b3=c, b2=b, b1=a, b0=t, p=None), F(t, a, b, c, None)):
        np.testing.assert_array_equal(found, EXPECTED)


@pytest.mark.parametrize("t", [2, -1, np.float64(0.25), float("nan"), 0.0])
def test_a_number_is_a_float_or_an_int(t: Any) -> None:
    np.testing.assert_array_equal(F(t, *ROWS[1:]), value(P, t, *ROWS[1:]))


def test_one_number_may_stand_for_a_row() -> None:
    zero = value(P, *ROWS[:3], np.zeros(3))
    for found in (F(*ROWS[:3]), F(*ROWS[:3], 0), F(*ROWS[:3], b3=0.0)):
        np.testing.assert_array_equal(found, zero)
    np.testing.assert_array_equal(F(*ROWS[:3], 1.5), value(P, *ROWS[:3], np.full(3, 1.5)))


@pytest.mark.parametrize("parts", [((),), ((3, 2),), ((2, 2), (5,)), ((), (1, 4), (2,))])
def test_results_have_their_shapes(parts: tuple[tuple[int, ...], ...]) -> None:
    p = some(3, parts)
    found = builtin(p)(*ROWS)
    arrays = [found] if len(parts) == 1 else found
    assert [a.shape for a in arrays] == list(parts)
    np.testing.assert_array_equal(np.concatenate([a.ravel() for a in arrays]), value(p, *ROWS))


def unaligned(row: np.ndarray) -> np.ndarray:
    raw = np.zeros(row.nbytes + 1, dtype=np.uint8)[1:].view(np.float64)
    raw[:] = row
    return raw


A = ROWS[1]
REFUSED: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "too few": (ROWS[:2], {}),
    "too many": ((*ROWS, None, None), {}),
    "no number": (("x", *ROWS[1:]), {}),
    "a truth value": ((True, *ROWS[1:]), {}),
    "an array for a number": ((np.array([0.3]), *ROWS[1:]), {}),
    "an int without a double": ((10**400, *ROWS[1:]), {}),
    "None": ((0.3, None, *ROWS[2:]), {}),
    "a list": ((0.3, A.tolist(), *ROWS[2:]), {}),
    "a number for an array": ((0.3, 1.0, *ROWS[2:]), {}),
    "too short": ((0.3, A[:-1], *ROWS[2:]), {}),
    "rows": ((0.3, A[np.newaxis], *ROWS[2:]), {}),
    "other numbers": ((0.3, A.astype(np.float32), *ROWS[2:]), {}),
    "numbers of the same size": ((0.3, A.astype(np.int64), *ROWS[2:]), {}),
    "another order of bytes": ((0.3, A.astype(A.dtype.newbyteorder()), *ROWS[2:]), {}),
    "strides": ((0.3, np.repeat(A, 2)[::2], *ROWS[2:]), {}),
    "backwards": ((0.3, A[::-1], *ROWS[2:]), {}),
    "bytes between doubles": ((0.3, unaligned(A), *ROWS[2:]), {}),
    "a kind of array": ((0.3, np.ma.masked_array(A, A > 0), *ROWS[2:]), {}),
    "another buffer": ((0.3, memoryview(A), *ROWS[2:]), {}),
    "an unknown name": (ROWS, {"b9": 1.0}),
    "twice": (ROWS, {"b1": A}),
    "p": (ROWS, {"p": 1.0}),
    "out, no array": (ROWS, {"out": [0.0] * P.n_outputs}),
    "out, too short": (ROWS, {"out": np.empty(P.n_outputs - 1)}),
    "out, another shape": (ROWS, {"out": np.empty((1, P.n_outputs))}),
    "out, strides": (ROWS, {"out": np.empty(2 * P.n_outputs)[::2]}),
    "out, read-only": (ROWS, {"out": np.broadcast_to(0.0, P.n_outputs)}),
    "out, bytes between doubles": (ROWS, {"out": unaligned(EXPECTED)}),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_needs_a_conversion_is_handed_on(what: str) -> None:
    given, named = REFUSED[what]
    assert F(*given, **named) is NotImplemented
    handed = call_wrapper(lambda *args, **named: (args, named), llvm.compile([P]).function("f"), KINDS, H)(
        *given, **named
    )
    assert all(a is b for a, b in zip(handed[0], given, strict=True))
    assert handed[1].keys() == named.keys()


def test_the_result_may_go_into_an_array() -> None:
    out = np.empty(P.n_outputs)
    assert F(*ROWS, out=out) is out
    np.testing.assert_array_equal(out, EXPECTED)
    np.testing.assert_array_equal(F(*ROWS, out=None), EXPECTED)


def test_a_result_over_an_argument_is_handed_on() -> None:
    memory = np.zeros(P.n_outputs + 7)
    memory[:7] = A
    for start, apart in ((7, True), (6, False), (0, False)):
        out = memory[start : start + P.n_outputs]
        assert (F(0.3, memory[:7], *ROWS[2:], out=out) is out) == apart
    assert F(0.3, memory[-7:], *ROWS[2:], out=memory[: P.n_outputs]) is not NotImplemented


def test_groups_of_four_are_made_units() -> None:
    kinds = (ArgumentKind.NUMBER, ArgumentKind.UNITS, *KINDS[2:])
    f = builtin(P, kinds=kinds, units=(0, 3), rounding=1e-15)
    a = A.copy()
    for start in (0, 3):
        w, x, y, z = a[start : start + 4]
        a[start : start + 4] /= np.sqrt(w * w + x * x + y * y + z * z)
    np.testing.assert_array_equal(f(0.3, A, *ROWS[2:]), value(P, 0.3, a, *ROWS[2:]))
    np.testing.assert_array_equal(A, ROWS[1])
    assert f(0.3, np.zeros(7), *ROWS[2:]) is NotImplemented
    nan = np.full(7, np.nan)
    np.testing.assert_array_equal(f(0.3, nan, *ROWS[2:]), value(P, 0.3, nan, *ROWS[2:]))


def test_what_making_the_result_raises_is_raised() -> None:
    def wrap(*_: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        builtin(some(1, ((2,), (3,))), wrap=wrap)(*ROWS)


def test_calls_neither_keep_nor_lose_anything() -> None:
    out = np.empty(P.n_outputs)
    several = builtin(some(1, ((2,), (3,))))
    failing = builtin(some(1, ((2,), (3,))), wrap=lambda _: None)
    watched = [*ROWS, out, np.empty, np.ndarray, None, NotImplemented, float, int]
    watched += [x for given, named in REFUSED.values() for x in (*given, *named.values())]

    def all_ways() -> None:
        F(*ROWS)
        F(*ROWS, out=out)
        F(*ROWS[:3], 1.5)
        several(*ROWS)
        for given, named in REFUSED.values():
            F(*given, **named)
        with pytest.raises(TypeError):
            failing(*ROWS)

    for _ in range(3):
        all_ways()
    gc.collect()
    counts = [sys.getrefcount(x) for x in watched]
    tracemalloc.start()
    try:
        all_ways()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(200):
            all_ways()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 2000
    finally:
        tracemalloc.stop()
    for x, count in zip(watched, counts, strict=True):
        assert abs(sys.getrefcount(x) - count) < 20, x


def test_a_call_outlives_all_that_it_was_made_of() -> None:
    p = some(4)
    expected = value(p, *ROWS)
    f = call_wrapper(refuse, llvm.compile([p]).function("f"), KINDS, H.copy())
    gc.collect()
    [np.full(2, np.nan) for _ in range(100)]  # where what was lost would be found
    np.testing.assert_array_equal(f(*ROWS), expected)


@pytest.mark.parametrize("long", [0, 10**9])
def test_threads_call_at_once(long: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "LONG", long)  # others run Python meanwhile, or do not
    f = builtin(P)
    states = [(0.1 * i, *(RNG.uniform(-1, 1, r.shape) for r in ROWS[1:])) for i in range(4)]
    wrong: list[int] = []

    def work(i: int) -> None:
        expected = value(P, *states[i])
        if not all(np.array_equal(f(*states[i]), expected) for _ in range(300)):
            wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_nothing_of_a_process_is_in_the_code() -> None:
    text = str(PythonEntry(KINDS, 2).module)
    assert "inttoptr" not in text
    assert not [n for n in text.replace(",", " ").split() if n.isdigit() and int(n) > 2**16]
