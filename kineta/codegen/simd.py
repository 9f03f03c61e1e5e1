"""Batches as LLVM IR text: transposition of rows of states into SIMD lanes and of results back into rows."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.codegen.sincos import constant, real
from kineta.expr.graph import Ref
from kineta.expr.program import StraightLineProgram

#: Square blocks of results that are transposed together, so that each row gets several vectors one behind the other.
TILE = 4


def distinct(program: StraightLineProgram) -> list[Ref]:
    """The operands that the core of a batch stores: each result once, without constants."""
    return [r for r in dict.fromkeys(program.results) if not _is_number(program, r)]


def batch_entries(program: StraightLineProgram, width: int) -> str:
    """``name.batch``: one row per lane; the last rows are computed twice if *width* does not divide their number, and fewer rows
    than lanes use the scalar core. ``name.lanes(ptr in_0, ..., ptr out, iW mask)``: interleaved states, whose results are
    stored for the lanes with their bits set.
    """
    T, blocks, name = real(width), range(len(program.inputs)), program.name
    rows = ", ".join(["i64 %n", *(f"ptr %in{i}, i64 %stride{i}" for i in blocks), "ptr %out", "i64 %stride"])
    given = "".join(f"ptr %in{i}, " for i in blocks)
    offsets = [sum(b.size for b in program.inputs[:i]) for i in blocks]
    states = "".join(f"  %x{i} = getelementptr {T}, ptr %x, i64 {k}\n" for i, k in enumerate(offsets))
    starts = "".join(f"ptr %x{i}, " for i in blocks)
    numbers = [r for r in dict.fromkeys(program.results) if _is_number(program, r)]
    columns = {r: k for k, r in enumerate([*distinct(program), *numbers])}
    zero = next((columns[r] for r in numbers if _number(program, r).hex() == (0.0).hex()), None)
    places = [columns[r] for r in program.results]
    constants = _Transposition(width, "n")
    for r in numbers:
        constants.store(constant(_number(program, r), width), "%y", columns[r])
    room = f"  %y = alloca [{max(len(columns), 1)} x {T}], align 64\n{''.join(constants.lines)}"
    return f"""{_columns(name, places, zero, width)}{_rows(name, places, width)}
define void @{name}.batch({rows}) nounwind {{
entry:
  %x = alloca [{max(program.n_inputs, 1)} x {T}], align 64
{room}{states}  %few = icmp slt i64 %n, {width}
  %last = sub i64 %n, {width}
  br i1 %few, label %scalar, label %loop
scalar:
  call void @{name}.each({rows})
  ret void
loop:
  %i = phi i64 [0, %entry], [%start, %loop]
{_states(program, width)}  call void @{name}.core.{width}({starts}ptr %y)
  %at = mul i64 %i, %stride
  %row = getelementptr double, ptr %out, i64 %at
  call void @{name}.rows(ptr %y, ptr %row, i64 %stride)
  %next = add i64 %i, {width}
  %beyond = icmp sgt i64 %next, %last
  %start = select i1 %beyond, i64 %last, i64 %next
  %done = icmp sge i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}}
define void @{name}.lanes({given}ptr %out, i{width} %mask) nounwind {{
entry:
{room}  call void @{name}.core.{width}({given}ptr %y)
  %set = bitcast i{width} %mask to <{width} x i1>
  br i1 {str(bool(places)).lower()}, label %loop, label %end
loop:
  %k = phi i64 [0, %entry], [%next, %loop]
  %at = getelementptr i32, ptr @{name}.columns, i64 %k
  %column = load i32, ptr %at
  %place = and i32 %column, -2
  %from = getelementptr i8, ptr %y, i32 %place
  %to = getelementptr {T}, ptr %out, i64 %k
  %found = load {T}, ptr %from, align {8 * width}
  %before = load {T}, ptr %to, align {8 * width}
  %chosen = select <{width} x i1> %set, {T} %found, {T} %before
  store {T} %chosen, ptr %to, align {8 * width}
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, {program.n_outputs}
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""


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


def _columns(name: str, places: Sequence[int], zero: int | None, width: int) -> str:
    """The table ``name.columns``: where in y, in bytes, each result is. A square of zeros, at the place *zero*, is odd."""
    empty = [k % width == 0 and {*places[k : k + width]} == {zero} for k in range(len(places))]
    table = ", ".join(f"i32 {8 * width * place + mark}" for place, mark in zip(places, empty, strict=True))
    return f"@{name}.columns = internal constant [{len(places)} x i32] [{table}]\n"


def _rows(name: str, places: Sequence[int], width: int) -> str:
    """``name.rows(ptr y, ptr out, i64 stride)``: the vectors at *places* of y, one row per lane, as rows from out on.

    Whole tiles are a loop over the table ``name.columns``. What a row gets at a time is a tile wide: single vectors, which lie
    across two lines of the cache, would bring each line twice.
    """
    squares = len(places) // (TILE * width) * TILE
    head = f"define internal void @{name}.rows(ptr noalias %y, ptr noalias %out, i64 %stride) nounwind noinline"
    rows, rest = _Transposition(width, "a"), _Transposition(width, "b")
    row = rows.rows("%out", "%stride")
    for e in range(squares * width, len(places), width):
        given = [rest.load("%y", place) for place in places[e : e + width]]
        square = rest.transposed([*given, *["zeroinitializer"] * (width - len(given))])
        for r, vector in zip(row, square, strict=True):
            rest.store_row(vector, r, e, len(given))
    if not squares:
        return f"{head} {{\n{''.join([*rows.lines, *rest.lines])}  ret void\n}}\n"
    turn, empty, put = (_Transposition(width, tag) for tag in "tep")
    square = []
    for j in range(width):
        place = turn.new(f"load i32, ptr {turn.new(f'getelementptr i32, ptr %places, i64 {j}')}")
        vector = turn.new(f"getelementptr i8, ptr %y, i32 {place}")
        square.append(turn.new(f"load {turn.T}, ptr {vector}, align {8 * width}"))
    for k, (to, vector) in enumerate(zip(row, turn.transposed(square), strict=True)):
        turn.store(vector, "%square", TILE * k)
        empty.store("zeroinitializer", "%square", TILE * k)
        first = put.new(f"getelementptr double, ptr {to}, i64 %first")
        for b in range(TILE):
            put.store_row(put.load("%tile", TILE * k + b), first, b * width, width)
    return f"""{head} {{
entry:
  %tile = alloca [{TILE * width} x {turn.T}], align 64
{"".join(rows.lines)}  br label %loop
loop:
  %k = phi i64 [0, %entry], [%next, %done]
  %places = getelementptr [{width} x i32], ptr @{name}.columns, i64 %k
  %b = and i64 %k, {TILE - 1}
  %square = getelementptr {turn.T}, ptr %tile, i64 %b
  %next = add i64 %k, 1
  %place = load i32, ptr %places
  %odd = trunc i32 %place to i1
  br i1 %odd, label %empty, label %turn
turn:
{"".join(turn.lines)}  br label %known
empty:
{"".join(empty.lines)}  br label %known
known:
  %whole = icmp eq i64 %b, {TILE - 1}
  br i1 %whole, label %put, label %done
put:
  %before = sub i64 %k, {TILE - 1}
  %first = mul i64 %before, {width}
{"".join(put.lines)}  br label %done
done:
  %more = icmp slt i64 %next, {squares}
  br i1 %more, label %loop, label %rest
rest:
{"".join(rest.lines)}  ret void
}}
"""


def _is_number(program: StraightLineProgram, result: Ref) -> bool:
    return program.n_inputs <= result >> 1 < program.first_operation


def _number(program: StraightLineProgram, result: Ref) -> float:
    value = program.constants[(result >> 1) - program.n_inputs]
    return -value if result & 1 else value


class _Transposition:
    """Writer of instructions that transpose rows into vectors with one row per lane, and back."""

    def __init__(self, width: int, tag: str = "u") -> None:
        self.width, self._tag = width, tag
        self.T = real(width)
        self.lines: list[str] = []

    def put(self, text: str) -> None:
        self.lines.append(f"  {text}\n")

    def new(self, text: str) -> str:
        name = f"%{self._tag}{len(self.lines)}"
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
