"""Kernels by every back end and by Python: the same bits. Random programs, and every construct of the language."""

from __future__ import annotations

import ctypes
import linecache
import random
import shutil
import subprocess
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kineta.codegen.kernels import c99
from kineta.errors import ArgumentError
from kineta.kernels import language, machine_code
from kineta.kernels.language import copysign, fabs, fma, kernel, pow, sqrt, take
from kineta.kernels.translation import translate, translate_unit
from kineta.memory import CompiledFunction, Integers, LaneRecord, Reals, Record, Shared
from kineta.numerics.tableaux import DOPRI5, Tableau
from tests.kernels.wasm_machine import in_wasm
from tests.support import some

Rate = Callable[[Reals, Reals, Reals, Reals], None]


class Inner(Record):
    """A record within another."""

    count: int
    x: Reals


class Outer(Record):
    """A record with all kinds of fields."""

    t: float
    on: bool
    n: int
    x: Reals
    k: Integers
    inner: Inner
    f: Rate


def in_c(function: Callable[..., Any], *static: Any, folder: Path) -> Callable[..., Any]:
    """The kernel compiled by the machine's C compiler, without fused operations."""
    tree = translate(function, *static)
    unit, library = (folder / f"{len(list(folder.iterdir()))}.{ending}" for ending in ("c", "so"))
    unit.write_text(c99.source([tree]), encoding="utf-8")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    flags = "-std=c99 -O2 -ffp-contract=off -Wall -Wextra -Werror -Wno-tautological-compare -pedantic -shared -fPIC"
    command = [compiler, *flags.split(), "-o", str(library), str(unit), "-lm"]
    subprocess.run(command, check=True, capture_output=True)
    entry = ctypes.CDLL(str(library))[tree.name]
    types = list(tree.parameters.values())
    entry.restype = machine_code._NUMBERS[tree.result]
    entry.argtypes = [machine_code._NUMBERS.get(t, ctypes.c_void_p) for t in types]
    taken = [machine_code._parameter(t) for t in types]
    return lambda *a: entry(*(take(x) for take, x in zip(taken, a, strict=True)))


def in_lanes(function: Callable[..., Any], *static: Any, lanes: int = 4) -> Callable[..., Any]:
    """The kernel compiled for lanes that all do the same."""
    run = machine_code.machine_code_in_lanes(lanes, function, *static)

    def call(*given: Any) -> Any:
        wide = [np.repeat(a[:, None], lanes, 1) if isinstance(a, np.ndarray) else np.full(lanes, a) for a in given]
        result = run(*wide)
        for a, own in zip(given, wide, strict=True):
            assert len({bits(own[..., lane]) for lane in range(lanes)}) == 1
            if isinstance(a, np.ndarray):
                a[:] = own[:, 0]
        assert len({bits(x) for x in result}) == 1
        return result[0]

    return call


def bits(x: Any) -> bytes:
    """The bits of numbers, of which all that are none are alike."""
    found = np.array([0.0 if x is None else x])
    return np.where(np.isnan(found), np.nan, found).tobytes()


def agrees(function: Any, make: Callable[[], Sequence[Any]], folder: Path, *static: Any) -> Any:
    """The result by Python, after comparing it and the arrays among the arguments with those of the back ends."""
    names = list(typing.get_type_hints(function.function))
    kinds = [machine_code.memory_type(h) for h in typing.get_type_hints(function.function).values()]
    spots = [k for k, n in enumerate(names) if n != "return"]
    found = []
    compiled = machine_code.machine_code(function, *static), in_lanes(function, *static)
    for run in (function, *compiled, in_c(function, *static, folder=folder), in_wasm(function, *static)):
        given, values = list(make()), iter(static)
        whole = [given.pop(0) if kinds[k] is not None else next(values) for k in spots] if run is function else given
        with np.errstate(all="ignore"):
            result = run(*whole)
        result = None if typing.get_type_hints(function.function)["return"] is type(None) else result
        found.append((result, [bits(x) for x in (result, *(a for a in whole if isinstance(a, np.ndarray)))]))
    assert [changed for _, changed in found[1:]] == [found[0][1]] * 4
    return found[0][0]


# -- random programs --------------------------------------------------------------------------------------------------


class Writer:
    """A writer of random kernels of one array, one integer and one record of reals."""

    def __init__(self, seed: int) -> None:
        self.rng, self.name = random.Random(seed), f"random_{seed}"
        self.reals, self.integers, self.lines, self.depth, self.made = ["a"], ["n"], [], 1, 0

    def real(self, depth: int = 3) -> str:
        pick = self.rng.choice
        if depth == 0 or self.rng.random() < 0.2:
            choices = [
                pick(self.reals),
                f"x[{self.index()}]",
                f"x[({pick(self.integers)}) % 3 :][({pick(self.integers)} + 1) % 4]",
                repr(self.rng.uniform(-2, 2)),
                f"float({pick(self.integers)})",
            ]
            return pick(choices)
        a, b = self.real(depth - 1), self.real(depth - 1)
        return pick(
            [
                f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / (2.0 + fabs({b})))", f"(-{a})",
                f"sqrt(max(0.25, {a}))", f"fma({a}, {b}, {self.real(0)})", f"min({a}, {b})", f"max({a}, {b})",
                f"({a} if {self.real(0)} < {self.real(0)} else {b})", f"({a} + {self.integer(1)})",
                f"sqrt(fabs({a}))", f"half({a})", f"copysign({a}, {b})",
            ]
        )  # fmt: skip

    def integer(self, depth: int = 2) -> str:
        if depth == 0:
            return self.rng.choice([*self.integers, str(self.rng.randint(-7, 7))])
        a, b = self.integer(depth - 1), self.integer(depth - 1)
        d = self.rng.choice([-3, -2, 2, 5])
        return self.rng.choice(
            [f"({a} + {b})", f"({a} - {b})", f"({a} // {d})", f"({a} % {d})", f"min({a}, {b})", f"(-{a})"]
        )

    def index(self) -> str:
        return f"({self.rng.choice(self.integers)} + {self.rng.randint(0, 9)}) % 6"

    def test(self) -> str:
        sign = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        plain = f"{self.real(1)} {sign} {self.real(1)}"
        other = f"{self.integer(1)} {sign} {self.integer(1)}"
        return self.rng.choice([plain, other, f"({plain} and {other})", f"({plain} or not {other})"])

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def block(self, statements: int) -> None:
        for _ in range(statements):
            self.statement()

    def inner(self, *head: str, returns: bool = False) -> None:
        """A block of its own; names that it sets are forgotten behind it."""
        known = list(self.reals), list(self.integers)
        for line in head:
            self.put(line)
        self.depth += 1
        self.block(self.rng.randint(1, 3))
        if returns:
            self.put(f"return {self.real(1)}")
        self.depth -= 1
        self.reals, self.integers = known

    def statement(self) -> None:
        kind = self.rng.random() if self.depth < 4 else 0.3 * self.rng.random()
        self.made += 1
        if kind < 0.15:
            self.put(f"x[{self.index()}] {self.rng.choice(['=', '+=', '*='])} {self.real()}")
        elif kind < 0.3:
            self.put(f"r{self.made} = {self.real()}")
            self.reals.append(f"r{self.made}")
        elif kind < 0.5:
            self.put(f"i{self.made} = {self.integer()} % 11")
            self.integers.append(f"i{self.made}")
        elif kind < 0.7:
            self.inner(f"if {self.test()}:", returns=self.rng.random() < 0.2)
            if self.rng.random() < 0.5:
                self.inner("else:")
        elif kind < 0.85:
            self.inner(f"for j{self.made} in range({self.rng.choice(self.integers)} % 5):")
        else:
            w = f"w{self.made}"
            self.put(f"{w} = {self.rng.randint(0, 3)}")
            self.inner(f"while {w} < 6 and {self.test()}:", f"    {w} += 1")
            self.put("    " + self.rng.choice([f"if {w} == 4: break", f"if {w} < 3: continue", "pass"]))

    def text(self) -> str:
        self.block(8)
        head = f"def {self.name}(x: Reals, n: int, a: float) -> float:"
        return "\n".join([head, *self.lines, f"    return {self.real()}", ""])


@kernel
def half(x: float) -> float:
    """A part of random programs."""
    return 0.5 * x


def written(text: str, name: str) -> Any:
    """The kernel *name* of a *text*, as if it stood in a file of this name."""
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    scope = dict(globals())
    exec(compile(text, name, "exec"), scope)
    return kernel(scope[name])


@pytest.mark.slow
@pytest.mark.parametrize("seed", some(range(12), 12))
def test_random_programs(seed: int, tmp_path: Path) -> None:
    writer = Writer(seed)
    f = written(writer.text(), writer.name)
    rng = np.random.default_rng(seed)
    for k in range(2):
        given = rng.normal(size=6)
        agrees(f, lambda g=given, n=k + 3: (g.copy(), n, float(g[0])), tmp_path)


@pytest.mark.parametrize("seed", some(range(25), 3))
def test_lanes_do_what_each_would_alone(seed: int) -> None:
    writer, lanes = Writer(seed), (2, 4, 8)[seed % 3]
    f, rng = written(writer.text(), writer.name), np.random.default_rng(seed)
    x, n, a = rng.normal(size=(6, lanes)), rng.integers(2, 7, lanes), rng.normal(size=lanes)
    changed = x.copy()
    found = machine_code.machine_code_in_lanes(lanes, f)(changed, n, a)
    for k in range(lanes):
        own = x[:, k].copy()
        with np.errstate(all="ignore"):
            assert bits(f(own, int(n[k]), float(a[k]))) == bits(found[k])
        assert bits(own) == bits(changed[:, k])


# -- constructs -------------------------------------------------------------------------------------------------------


@kernel
def primes(found: Integers, n: int) -> int:
    """The number of primes below n, which are put into an array."""
    count = 0
    for k in range(2, n):
        prime, d = True, 2
        while d * d <= k:
            if k % d == 0:
                prime = False
                break
            d += 1
        if not prime:
            continue
        found[count] = k
        count += 1
    return count


def test_loops_and_jumps(tmp_path: Path) -> None:
    assert agrees(primes, lambda: (np.zeros(40, dtype=np.int64), 100), tmp_path) == 25


@kernel
def combined(method: Tableau, n: int, h: float, k: Reals, out: Reals) -> None:
    """Increments of all stages of a method."""
    for s, row in enumerate(method.A):
        for i in range(n):
            total = 0.0
            for r, weight in enumerate(row):
                if weight != 0.0:
                    total += weight * k[r * n + i]
            out[s * n + i] = h * total


def test_static_values_are_known_in_translation(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    k = rng.normal(size=18)
    agrees(combined, lambda: (3, 0.1, k.copy(), np.zeros(15)), tmp_path, DOPRI5)
    assert "0.0 *" not in c99.source([translate(combined, DOPRI5)])


@dataclass(frozen=True)
class Parts:
    """A static record of kernels."""

    before: Callable[[float], float]
    slope: float


@kernel
def doubled(x: float) -> float:
    """2 x."""
    return x + x


@kernel
def composed(parts: Parts, x: float) -> float:
    """Kernels in a static record."""
    return parts.before(x) * parts.slope if parts.slope > 1.0 else parts.before(x)


def test_kernels_are_static_values(tmp_path: Path) -> None:
    assert agrees(composed, lambda: (3.0,), tmp_path, Parts(doubled, 1.0)) == 6.0
    assert agrees(composed, lambda: (3.0,), tmp_path, Parts(half, 4.0)) == 6.0


@kernel
def filled(x: Reals, n: int) -> None:
    """Numbers by views of views."""
    rest = x[2:]
    for i in range(n - 2):
        rest[i] = float(i)
    last = rest[n - 3 :]
    last[0] *= 0.1


def test_views_are_the_same_memory(tmp_path: Path) -> None:
    agrees(filled, lambda: (np.ones(7), 7), tmp_path)
    x = np.ones(5)
    filled(x, 5)
    assert x == pytest.approx([1, 1, 0, 1, 0.2])


@kernel
def numbers(x: Reals, n: int) -> None:
    """Functions of all kinds of numbers."""
    for i in range(n):
        a = x[i]
        x[n + i] = sqrt(a) if a >= 0.0 else pow(a, 3.0)
        x[2 * n + i] = pow(a, -0.125)
        x[3 * n + i] = max(a, 1.0)
        x[4 * n + i] = max(1.0, a)
        x[5 * n + i] = copysign(2.0, a) + fma(a, a, -a)
        x[6 * n + i] = fabs(min(a, 0.0))


def test_numbers_that_are_not_finite(tmp_path: Path) -> None:
    given = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, 1e308, -1.5])
    agrees(numbers, lambda: (np.concatenate([given, np.zeros(6 * 8)]), 8), tmp_path)


def turning(address: int) -> CompiledFunction:
    return CompiledFunction(address)


_pointer = ctypes.POINTER(ctypes.c_double)


@ctypes.CFUNCTYPE(None, *[_pointer] * 4)
def rate(t: Any, y: Any, h: Any, out: Any) -> None:
    out[0], out[1] = y[1] + t[0], -y[0] * h[0]


@kernel
def used(o: Outer, time: Reals) -> float:
    """A record, the record in it, and a compiled function."""
    inner = o.inner
    o.t = 0.5 if o.on else 0.25
    o.on = not o.on
    o.f(time, o.x, inner.x, o.x[2:])
    inner.count += o.n + 1
    o.k[0] = inner.count
    return o.x[2] + o.x[3]


def test_records_are_shared_with_compiled_code() -> None:
    address = ctypes.cast(rate, ctypes.c_void_p).value
    assert address is not None
    found = []
    for run in (used, machine_code.machine_code(used)):
        inner = Inner(count=3, x=np.array([7.0]))
        o = Outer(
            t=1.0,
            on=True,
            n=2,
            x=np.array([1.0, 2, 0, 0]),
            k=np.zeros(1, dtype=np.int64),
            inner=inner,
            f=turning(address),
        )
        found.append((run(o, np.array([4.0])), o.t, o.on, o.n, inner.count, int(o.k[0]), o.x.tolist()))
    assert found[0] == found[1] == (-1.0, 0.5, False, 2, 6, 6, [1.0, 2.0, 6.0, -7.0])


class Table(Record, shared=True):
    """What lanes share."""

    n: int
    x: Reals
    counter: Integers


class Own(Record):
    """What each lane has of its own."""

    table: Table
    n: Shared[int]
    weights: Shared[Reals]
    sum: float
    x: Reals


@kernel
def taken(o: Own) -> int:
    """Take rows of a table as long as there are some, and add them, weighted, to the lane's own; the number of the last."""
    last = -1
    while True:
        row = take(o.table.counter)
        if row >= o.table.n:
            return last
        last = row
        values = o.table.x[row * o.n :]
        for i in range(o.n):
            o.x[i] += o.weights[i] * values[i]
            o.sum += values[i]


def test_lanes_share_tables_and_counters() -> None:
    values, lanes = np.arange(33.0), 4
    table = Table(n=11, x=values, counter=np.zeros(1, dtype=np.int64))
    o = LaneRecord(Own(table=table, n=3, weights=np.array([1.0, 2.0, 3.0]), sum=0.0, x=np.zeros(3)), lanes)
    assert machine_code.machine_code_in_lanes(lanes, taken)(o).tolist() == [8, 9, 10, 7]
    rows = [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7]]
    own = [values.reshape(11, 3)[r].sum(axis=0) for r in rows]
    assert o["x"].T.tolist() == [(x * [1, 2, 3]).tolist() for x in own]
    assert o["sum"].tolist() == [x.sum() for x in own]


@kernel
def drawn(counter: Integers, out: Integers) -> int:
    """Three numbers of a counter."""
    for k in range(2):
        out[k] = take(counter)
    return take(counter)


def test_a_counter_has_another_number_each_time(tmp_path: Path) -> None:
    counter, out = np.array([5]), np.zeros(2, dtype=np.int64)
    for run in (drawn, machine_code.machine_code(drawn), in_c(drawn, folder=tmp_path), in_wasm(drawn)):
        counter[:] = 5
        assert (run(counter, out), out.tolist(), counter.tolist()) == (7, [5, 6], [8])


@kernel
def varied(o: Own) -> None:
    """Every lane has another number for what all share."""
    o.weights[0] = o.sum


@kernel
def mixed(o: Own) -> None:
    """An array of one lane, or one of all."""
    x = o.x if o.sum > 0.0 else o.weights
    x[0] = 1.0


def test_what_lanes_cannot_do_is_a_sentence() -> None:
    with pytest.raises(
        ArgumentError, match="Kernel 'varied' in lanes: 'an array' is shared, and every lane has another number"
    ):
        machine_code.machine_code_in_lanes(4, varied)
    with pytest.raises(
        ArgumentError, match="Kernel 'mixed' in lanes: an array of each lane stands where one of all lanes"
    ):
        machine_code.machine_code_in_lanes(4, mixed)


def test_fields_of_a_record_are_checked() -> None:
    with pytest.raises(ArgumentError, match=r"Record 'Inner' has no field 'cuont'\. Name one of its fields\."):
        Inner(cuont=1)
    with pytest.raises(
        ArgumentError, match=r"Field 'x' of record 'Inner': expected a contiguous array \(n,\) of float64, found int64"
    ):
        Inner(x=np.zeros(3, dtype=np.int64))
    with pytest.raises(ArgumentError, match=r"found float64 of shape \(2, 2\)\. Give 'array.reshape\(-1\)'\."):
        Inner(x=np.zeros((2, 2)))
    with pytest.raises(ArgumentError, match=r"Field 'inner' of record 'Outer': expected a record 'Inner', found 3\."):
        Outer(inner=3)
    with pytest.raises(
        ArgumentError,
        match=r"Record 'Outer': expected all arrays, records and functions, found none for 'k', 'inner', 'f'\. Give them\.",
    ):
        Outer(t=1.0, x=np.zeros(2))
    with pytest.raises(ArgumentError, match=r"Field 'name' of record 'Bad': expected float, int, bool, Reals"):
        type("Bad", (Record,), {"__annotations__": {"name": str}})


def test_python_is_what_a_debugger_sees() -> None:
    """A kernel that is called is the function itself."""
    assert primes.function.__code__.co_name == "primes"
    assert doubled(2.0) == 4.0
    assert repr(doubled).endswith("test_language.doubled")


def test_code_is_kept_by_source_and_static_values(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = []
    monkeypatch.setattr(machine_code, "stored", lambda key, make: keys.append(key) or make())
    machine_code.machine_code.__wrapped__(composed, Parts(half, 1.0))
    machine_code.machine_code.__wrapped__(composed, Parts(half, 1.0))
    machine_code.machine_code.__wrapped__(composed, Parts(half, 2.0))
    machine_code.machine_code.__wrapped__(composed, Parts(doubled, 1.0))
    monkeypatch.setattr(machine_code, "_neighbours", lambda module: "another source")
    machine_code.machine_code.__wrapped__(composed, Parts(half, 1.0))
    assert keys[0] == keys[1]
    assert len(set(keys)) == 4


def test_a_static_value_without_a_text_is_refused() -> None:
    with pytest.raises(
        language.KernelError,
        match="Expected a static value of numbers, words, tuples, dataclasses and kernels, found one of type 'object'",
    ):
        machine_code.machine_code(composed, object())


@kernel
def halved(x: float, n: object) -> float:
    """Half of a number by a static one, whose type and sign decide."""
    return copysign(1.0, n * 1.0) * (x + n * 7 // 2)  # type: ignore[operator]


def test_static_values_that_are_equal_in_python_are_told_apart() -> None:
    """1 is 1.0 and True as a key of Python, and 0.0 is -0.0."""
    found = [machine_code.machine_code(halved, n)(0.5) for n in (0.0, -0.0)]
    assert found == [0.5, -0.5]
    assert len({id(machine_code.machine_code(halved, n)) for n in (1, 1.0, True, 1)}) == 3
    unit = translate_unit((halved, 0.0), (halved, -0.0), (halved, 0.0))
    assert len({tree.name for tree in unit}) == 2


@kernel
def first(x: Reals, n: int) -> float:
    """An entry."""
    return x[n]


def test_arguments_of_compiled_kernels_are_checked() -> None:
    """They are addresses: of other memory, a kernel would read and write what belongs to others."""
    code, x = machine_code.machine_code(first), np.arange(6.0)
    assert code(x, 2) == code(x[1:], np.int64(1)) == 2.0
    for arguments, said in (
        (
            (np.arange(6), 0),
            r"Argument 'x' of kernel 'first': expected a contiguous array \(n,\) of float64, found int64",
        ),
        ((x[::2], 0), "expected a contiguous array"),
        ((x, 0.5), "Argument 'n' of kernel 'first': expected an integer, found 0.5"),
        ((x, True), "expected an integer, found True"),
        ((x,), r"Kernel 'first': expected 2 arguments, found 1"),
        ((x, 0, 0), "expected 2 arguments"),
    ):
        with pytest.raises(ArgumentError, match=said):
            code(*arguments)
