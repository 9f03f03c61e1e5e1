"""Batches as LLVM IR text: transposition of rows of states into SIMD lanes and of results back into rows."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.codegen.sincos import constant, real
from kineta.expr.graph import Ref
from kineta.expr.program import StraightLineProgram

#: Square blocks of results transposed by one function at most: LLVM's compile time is quadratic in the stores of a function.
SQUARES = 32


def distinct(program: StraightLineProgram) -> list[Ref]:
    """The operands that the core of a batch stores: each result once, without constants."""
    return [r for r in dict.fromkeys(program.results) if not _is_number(program, r)]


def batch_entry(program: StraightLineProgram, width: int) -> str:
    """``name.batch``: one row per lane. The last rows are computed twice if *width* does not divide their number; fewer rows
    than lanes use the scalar core.
    """
    T, blocks = real(width), range(len(program.inputs))
    rows = ", ".join(["i64 %n", *(f"ptr %in{i}, i64 %stride{i}" for i in blocks), "ptr %out", "i64 %stride"])
    columns, most = range(program.n_outputs), SQUARES * width
    pieces = [columns[start : start + most] for start in columns[::most]]
    offsets = [sum(b.size for b in program.inputs[:i]) for i in blocks]
    inputs = "".join(f"  %x{i} = getelementptr {T}, ptr %x, i64 {k}\n" for i, k in enumerate(offsets))
    starts = ", ".join(f"ptr %x{i}" for i in blocks)
    parts = [_results(program, width, piece, f"{program.name}.rows.{i}") for i, piece in enumerate(pieces)]
    calls = [f"  call void @{program.name}.rows.{i}(ptr %y, ptr %row, i64 %stride)\n" for i in range(len(parts))]
    return f"""{"".join(parts)}
define void @{program.name}.batch({rows}) nounwind {{
entry:
  %x = alloca [{max(program.n_inputs, 1)} x {T}], align 64
  %y = alloca [{max(len(distinct(program)), 1)} x {T}], align 64
{inputs}  %few = icmp slt i64 %n, {width}
  %last = sub i64 %n, {width}
  br i1 %few, label %scalar, label %loop
scalar:
  call void @{program.name}.each({rows})
  ret void
loop:
  %i = phi i64 [0, %entry], [%start, %loop]
{_states(program, width)}  call void @{program.name}.core.{width}({starts}, ptr %y)
  %at = mul i64 %i, %stride
  %row = getelementptr double, ptr %out, i64 %at
{"".join(calls)}  %next = add i64 %i, {width}
  %beyond = icmp sgt i64 %next, %last
  %start = select i1 %beyond, i64 %last, i64 %next
  %done = icmp sge i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}}
"""


def lanes_entry(program: StraightLineProgram, width: int) -> str:
    """``name.lanes(ptr in_0, ..., ptr out, iW mask)``: interleaved states; the results of a lane are stored if its bit is set."""
    to, inputs = _Transposition(width), [f"ptr %in{i}" for i in range(len(program.inputs))]
    place = {r: i for i, r in enumerate(distinct(program))}
    to.put(f"%y = alloca [{max(len(place), 1)} x {to.T}], align 64")
    to.put(f"call void @{program.name}.core.{width}({', '.join([*inputs, 'ptr %y'])})")
    to.put(f"%lanes = bitcast i{width} %mask to <{width} x i1>")
    for i, r in enumerate(program.results):
        found = to.load("%y", place[r]) if r in place else constant(_number(program, r), width)
        before = to.load("%out", i)
        to.store(to.new(f"select <{width} x i1> %lanes, {to.T} {found}, {to.T} {before}"), "%out", i)
    head = f"define void @{program.name}.lanes({', '.join([*inputs, 'ptr %out', f'i{width} %mask'])}) nounwind"
    return f"{head} {{\n{''.join(to.lines)}  ret void\n}}\n"


def _states(program: StraightLineProgram, width: int) -> str:
    """Instructions that load the rows from %i on into the vectors %x."""
    to = _Transposition(width)
    offset = 0
    for b, block in enumerate(program.inputs):
        at = to.new(f"mul i64 %i, %stride{b}")
        rows = to.rows(to.new(f"getelementptr double, ptr %in{b}, i64 {at}"), f"%stride{b}")
        for e in range(0, block.size, width):
            n = min(width, block.size - e)
            for j, vector in enumerate(to.transposed([to.load_row(row, e, n) for row in rows])[:n]):
                to.store(vector, "%x", offset + e + j)
        offset += block.size
    return "".join(to.lines)


def _results(program: StraightLineProgram, width: int, positions: range, name: str) -> str:
    """A function that stores the results at *positions* from the vectors %y into rows from %out on."""
    to = _Transposition(width)
    rows = to.rows("%out", "%stride")
    place = {r: i for i, r in enumerate(distinct(program))}
    for e in positions[::width]:
        results = program.results[e : min(e + width, positions.stop)]
        columns = [to.load("%y", place[r]) if r in place else constant(_number(program, r), width) for r in results]
        columns += ["zeroinitializer"] * (width - len(columns))
        for row, vector in zip(rows, to.transposed(columns), strict=True):
            to.store_row(vector, row, e, len(results))
    head = f"define internal void @{name}(ptr noalias %y, ptr noalias %out, i64 %stride) nounwind noinline"
    return f"{head} {{\n{''.join(to.lines)}  ret void\n}}\n"


def _is_number(program: StraightLineProgram, result: Ref) -> bool:
    return program.n_inputs <= result >> 1 < program.first_operation


def _number(program: StraightLineProgram, result: Ref) -> float:
    value = program.constants[(result >> 1) - program.n_inputs]
    return -value if result & 1 else value


class _Transposition:
    """Writer of instructions that transpose rows into vectors with one row per lane, and back."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.T = real(width)
        self.lines: list[str] = []

    def put(self, text: str) -> None:
        self.lines.append(f"  {text}\n")

    def new(self, text: str) -> str:
        name = f"%u{len(self.lines)}"
        self.put(f"{name} = {text}")
        return name

    def rows(self, first: str, stride: str) -> list[str]:
        """Addresses of *width* rows."""
        rows = [first]
        while len(rows) < self.width:
            rows.append(self.new(f"getelementptr double, ptr {rows[-1]}, i64 {stride}"))
        return rows

    def load_row(self, row: str, element: int, n: int) -> str:
        """The *n* numbers of a row from *element* on, as a vector."""
        p = self.new(f"getelementptr double, ptr {row}, i64 {element}")
        if n == self.width:
            return self.new(f"load {self.T}, ptr {p}, align 8")
        name = f"@llvm.masked.load.v{self.width}f64.p0"
        return self.new(f"call {self.T} {name}(ptr {p}, i32 8, {self._mask(n)}, {self.T} zeroinitializer)")

    def store_row(self, vector: str, row: str, element: int, n: int) -> None:
        p = self.new(f"getelementptr double, ptr {row}, i64 {element}")
        if n == self.width:
            self.put(f"store {self.T} {vector}, ptr {p}, align 8")
        else:
            name = f"@llvm.masked.store.v{self.width}f64.p0"
            self.put(f"call void {name}({self.T} {vector}, ptr {p}, i32 8, {self._mask(n)})")

    def _mask(self, n: int) -> str:
        bits = ", ".join(f"i1 {int(j < n)}" for j in range(self.width))
        return f"<{self.width} x i1> <{bits}>"

    def load(self, base: str, index: int) -> str:
        p = self.new(f"getelementptr {self.T}, ptr {base}, i64 {index}")
        return self.new(f"load {self.T}, ptr {p}, align {8 * self.width}")

    def store(self, vector: str, base: str, index: int) -> None:
        p = self.new(f"getelementptr {self.T}, ptr {base}, i64 {index}")
        self.put(f"store {self.T} {vector}, ptr {p}, align {8 * self.width}")

    def transposed(self, rows: Sequence[str]) -> list[str]:
        """The transposed square of vectors, by exchange of blocks of 1, 2, 4 ... lanes."""
        turned, lanes, d = list(rows), range(self.width), 1
        while d < self.width:
            for r in lanes:
                if not r & d:
                    a, b = turned[r], turned[r + d]
                    turned[r] = self._shuffle(a, b, [c if not c & d else self.width + c - d for c in lanes])
                    turned[r + d] = self._shuffle(a, b, [c + d if not c & d else self.width + c for c in lanes])
            d *= 2
        return turned

    def _shuffle(self, a: str, b: str, picks: Sequence[int]) -> str:
        indices = ", ".join(f"i32 {p}" for p in picks)
        return self.new(f"shufflevector {self.T} {a}, {self.T} {b}, <{self.width} x i32> <{indices}>")
