"""Whole modules: cores with the functions through which they are called."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.codegen.ir import LIBRARY, Needs, core
from kineta.codegen.sincos import lanes, real, sincos, suffix
from kineta.expr.program import Program

_TWO = {"atan2", "pow"}


def module(programs: Sequence[Program], width: int, *, batch: bool) -> str:
    """IR of *programs*: for each the symbols ``name`` and ``name.each``, and ``name.batch`` where *batch* is set."""
    needs = Needs()
    parts = []
    for program in programs:
        parts += [core(program, 1, width, needs), _scalar(program), _each(program)]
        if batch:
            parts += [core(program, width, 1, needs), _batch(program, width)]
    for w in sorted(needs.sincos):
        parts.append(sincos(w))
        needs.lanes |= {("sin", w, 1), ("cos", w, 1)}
    parts += [lanes(name, w, n) for name, w, n in sorted(needs.lanes)]
    parts += [_declarations(width), '!0 = !{!"branch_weights", i32 1, i32 2000}\n']
    return "".join(parts)


def _declarations(width: int) -> str:
    lines = []
    for w in {1, 2, 4, 8, width}:
        T = real(w)
        lines += [f"declare {T} @llvm.{name}.{suffix(w)}({T})" for name in ("sqrt", "fabs")]
        lines += [f"declare {T} @llvm.{name}.{suffix(w)}({T}, {T})" for name in ("minimum", "maximum")]
        if w > 1:
            lines.append(f"declare i1 @llvm.vector.reduce.or.v{w}i1(<{w} x i1>)")
            lines.append(f"declare {T} @llvm.masked.load.v{w}f64.p0(ptr, i32 immarg, <{w} x i1>, {T})")
            lines.append(f"declare void @llvm.masked.store.v{w}f64.p0({T}, ptr, i32 immarg, <{w} x i1>)")
    for name in sorted({"sin", "cos", *LIBRARY.values()}):
        lines.append(f"declare double @{name}(double{', double' if name in _TWO else ''}) nounwind")
    return "\n".join(lines) + "\n"


def _scalar(program: Program) -> str:
    n = len(program.inputs)
    parameters = ", ".join(f"ptr %in{i}" for i in range(n))
    return (
        f"define void @{program.name}({parameters}, ptr %out) nounwind {{\n"
        f"  call void @{program.name}.core.1({parameters}, ptr %out)\n  ret void\n}}\n"
    )


def _row_parameters(program: Program) -> str:
    rows = [f"ptr %in{i}, i64 %stride{i}" for i in range(len(program.inputs))]
    return ", ".join(["i64 %n", *rows, "ptr %out", "i64 %stride"])


def _each(program: Program) -> str:
    """``name.each``: the scalar core for every row."""
    n = len(program.inputs)
    lines = [
        f"  %at{i} = mul i64 %i, %stride{i}\n  %row{i} = getelementptr double, ptr %in{i}, i64 %at{i}\n"
        for i in range(n)
    ]
    arguments = ", ".join([*(f"ptr %row{i}" for i in range(n)), "ptr %result"])
    return f"""define void @{program.name}.each({_row_parameters(program)}) nounwind {{
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %end
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
{"".join(lines)}  %at = mul i64 %i, %stride
  %result = getelementptr double, ptr %out, i64 %at
  call void @{program.name}.core.1({arguments})
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""


def _batch(program: Program, width: int) -> str:
    """``name.batch``: one row per lane. The last rows are done again where *width* does not divide their number; fewer rows
    than lanes go through the scalar core.
    """
    n = len(program.inputs)
    rows = ", ".join(["i64 %n", *(f"ptr %in{i}, i64 %stride{i}" for i in range(n)), "ptr %out", "i64 %stride"])
    body = _Tile(program, width).write()
    return f"""define void @{program.name}.batch({_row_parameters(program)}) nounwind {{
entry:
  %x = alloca [{max(program.n_inputs, 1)} x {real(width)}], align 64
  %y = alloca [{max(program.n_outputs, 1)} x {real(width)}], align 64
  %few = icmp slt i64 %n, {width}
  %last = sub i64 %n, {width}
  br i1 %few, label %scalar, label %loop
scalar:
  call void @{program.name}.each({rows})
  ret void
loop:
  %i = phi i64 [0, %entry], [%start, %loop]
{body}  %next = add i64 %i, {width}
  %beyond = icmp sgt i64 %next, %last
  %start = select i1 %beyond, i64 %last, i64 %next
  %done = icmp sge i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  ret void
}}
"""


class _Tile:
    """Instructions that bring *width* rows into vectors, run the core, and take the results back."""

    def __init__(self, program: Program, width: int) -> None:
        self.program = program
        self.width = width
        self.T = real(width)
        self.lines: list[str] = []
        self.count = 0

    def write(self) -> str:
        """Loads, call and stores for the rows from %i on."""
        offset = 0
        for b, block in enumerate(self.program.inputs):
            for e in range(0, block.size, self.width):
                n = min(self.width, block.size - e)
                lanes = [self._load_row(f"%in{b}", f"%stride{b}", lane, e, n) for lane in range(self.width)]
                for j, vector in enumerate(self._transposed(lanes)[:n]):
                    self._at("%x", offset + e + j, vector)
            offset += block.size
        self._put(f"call void @{self.program.name}.core.{self.width}(ptr %x, ptr %y)")
        for e in range(0, self.program.n_outputs, self.width):
            n = min(self.width, self.program.n_outputs - e)
            columns = [self._at("%y", e + j) for j in range(n)]
            columns += ["zeroinitializer"] * (self.width - n)
            for lane, row in enumerate(self._transposed(columns)):
                self._store_row(row, lane, e, n)
        return "".join(self.lines)

    def _put(self, text: str) -> None:
        self.lines.append(f"  {text}\n")

    def _new(self, text: str) -> str:
        self.count += 1
        self._put(f"%u{self.count} = {text}")
        return f"%u{self.count}"

    def _row(self, base: str, stride: str, lane: int, element: int) -> str:
        row = self._new(f"add i64 %i, {lane}")
        at = self._new(f"mul i64 {row}, {stride}")
        start = self._new(f"getelementptr double, ptr {base}, i64 {at}")
        return self._new(f"getelementptr double, ptr {start}, i64 {element}")

    def _mask(self, n: int) -> str:
        return "<" + ", ".join(f"i1 {int(j < n)}" for j in range(self.width)) + ">"

    def _load_row(self, base: str, stride: str, lane: int, element: int, n: int) -> str:
        p = self._row(base, stride, lane, element)
        if n == self.width:
            return self._new(f"load {self.T}, ptr {p}, align 8")
        mask = f"<{self.width} x i1> {self._mask(n)}"
        return self._new(
            f"call {self.T} @llvm.masked.load.v{self.width}f64.p0(ptr {p}, i32 8, {mask}, {self.T} zeroinitializer)"
        )

    def _store_row(self, value: str, lane: int, element: int, n: int) -> None:
        p = self._row("%out", "%stride", lane, element)
        if n == self.width:
            self._put(f"store {self.T} {value}, ptr {p}, align 8")
            return
        mask = f"<{self.width} x i1> {self._mask(n)}"
        self._put(f"call void @llvm.masked.store.v{self.width}f64.p0({self.T} {value}, ptr {p}, i32 8, {mask})")

    def _at(self, base: str, index: int, value: str | None = None) -> str:
        p = self._new(f"getelementptr {self.T}, ptr {base}, i64 {index}")
        if value is None:
            return self._new(f"load {self.T}, ptr {p}, align {8 * self.width}")
        self._put(f"store {self.T} {value}, ptr {p}, align {8 * self.width}")
        return value

    def _transposed(self, rows: list[str]) -> list[str]:
        """The square of vectors turned over: blocks of 1, 2, 4 ... lanes change places with their mirror images."""
        rows = list(rows)
        d = 1
        while d < self.width:
            for r in range(self.width):
                if not r & d:
                    a, b = rows[r], rows[r + d]
                    lanes = range(self.width)
                    rows[r] = self._shuffle(a, b, [c if not c & d else self.width + c - d for c in lanes])
                    rows[r + d] = self._shuffle(a, b, [c + d if not c & d else self.width + c for c in lanes])
            d *= 2
        return rows

    def _shuffle(self, a: str, b: str, picks: Sequence[int]) -> str:
        indices = ", ".join(f"i32 {p}" for p in picks)
        return self._new(f"shufflevector {self.T} {a}, {self.T} {b}, <{self.width} x i32> <{indices}>")
