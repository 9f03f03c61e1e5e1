"""LLVM modules: cores of programs with their entry points."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.codegen.lane_steps import lane_core
from kineta.codegen.loops import loop_batch, loop_core, pointers
from kineta.codegen.scalar_ir import LIBRARY, Needs, core
from kineta.codegen.simd import batch_entries, distinct
from kineta.codegen.sincos import SINES, WIDTHS, lanes, real, sincos, suffix
from kineta.codegen.spilling import spill_plan
from kineta.codegen.target import Target
from kineta.expr.lane_program import LANES, LaneProgram
from kineta.expr.loop_program import LoopProgram
from kineta.expr.program import StraightLineProgram

_TWO = {"atan2", "pow"}
#: Angles at most whose sines scalar code computes in one vector: vectors of eight slow the scalar code behind them down.
PACKED = 4


def module(programs: Sequence[StraightLineProgram], target: Target, *, batch: bool) -> str:
    """LLVM IR of *programs*: for each the symbol ``name``; with *batch* also ``name.batch`` and ``name.lanes``."""
    width, packed = target.width, min(target.width, PACKED)
    needs = Needs()
    parts = []
    for program in programs:
        if isinstance(program, LoopProgram):
            parts += [pointers(program), loop_core(program, 1, target, packed, needs)]
            parts.append(_scalar(program))
            if batch:
                parts += [_each(program), loop_core(program, width, target, 1, needs), loop_batch(program, width)]
            continue
        steps = None
        if isinstance(program, LaneProgram) and width == LANES:
            parts.append(lane_core(program, target, packed, needs))
        else:
            steps = spill_plan(program, target.registers)
            parts.append(core(steps, program.results, 1, packed, needs, fused=target.fuses))
        parts.append(_scalar(program))
        if batch:
            steps = steps or spill_plan(program, target.registers)
            parts += [
                _each(program),
                core(steps, distinct(program), width, 1, needs, fused=target.fuses),
                batch_entries(program, width),
            ]
    parts += [f"declare {{{real(w)}, {real(w)}}} @{SINES}{w}({real(w)}) nounwind\n" for w in sorted(needs.sincos)]
    parts += [lanes(name, w, n) for name, w, n in sorted(needs.lanes)]
    parts.append(needs.arrays.definitions())
    if any(isinstance(program, LoopProgram) for program in programs):
        parts.append("declare ptr @malloc(i64)\ndeclare void @free(ptr)\n")
    return "".join([*parts, _declarations(width)])


def sines_module(target: Target) -> str:
    """LLVM IR of the sines and cosines that all modules for *target* call: of one angle, and of 2, 4, ... in a vector."""
    parts = [part for w in WIDTHS for part in (sincos(w, fused=target.fuses), lanes("sin", w), lanes("cos", w))]
    return "".join([*parts, _declarations(target.width), '!0 = !{!"branch_weights", i32 1, i32 2000}\n'])


def _declarations(width: int) -> str:
    lines = [
        "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
    ]
    for w in {1, 2, 4, 8, width}:
        T = real(w)
        lines += [f"declare {T} @llvm.{name}.{suffix(w)}({T})" for name in ("sqrt", "fabs", "floor")]
        lines += [f"declare {T} @llvm.{name}.{suffix(w)}({T}, {T})" for name in ("minimum", "maximum")]
        lines.append(f"declare {T} @llvm.fma.{suffix(w)}({T}, {T}, {T})")
        if w > 1:
            lines.append(f"declare i1 @llvm.vector.reduce.or.v{w}i1(<{w} x i1>)")
            lines.append(f"declare {T} @llvm.masked.load.v{w}f64.p0(ptr, i32 immarg, <{w} x i1>, {T})")
            lines.append(f"declare void @llvm.masked.store.v{w}f64.p0({T}, ptr, i32 immarg, <{w} x i1>)")
    for name in sorted({"sin", "cos", *LIBRARY.values()}):
        lines.append(f"declare double @{name}(double{', double' if name in _TWO else ''}) nounwind")
    return "\n".join(lines) + "\n"


def _scalar(program: StraightLineProgram) -> str:
    """``name``: the scalar core."""
    kinds = ", ".join(["ptr"] * (len(program.inputs) + 1))
    return f"@{program.name} = alias void ({kinds}), ptr @{program.name}.core.1\n"


def rows_module(inputs: int) -> str:
    """LLVM IR of ``rows(ptr f, int64 n, ...)``: the loop over n rows of any scalar function f of *inputs* blocks."""
    return _rows("define void @rows(ptr %f, ", "%f", inputs)


def _each(program: StraightLineProgram) -> str:
    """``name.each``: the loop of the scalar core over rows that fill no vector."""
    return _rows(f"define internal void @{program.name}.each(", f"@{program.name}.core.1", len(program.inputs))


def _rows(head: str, called: str, n: int) -> str:
    parameters = ", ".join(["i64 %n", *(f"ptr %in{i}, i64 %stride{i}" for i in range(n)), "ptr %out", "i64 %stride"])
    lines = [
        f"  %at{i} = mul i64 %i, %stride{i}\n  %row{i} = getelementptr double, ptr %in{i}, i64 %at{i}\n"
        for i in range(n)
    ]
    arguments = ", ".join([*(f"ptr %row{i}" for i in range(n)), "ptr %result"])
    return f"""{head}{parameters}) nounwind {{
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %end
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
{"".join(lines)}  %at = mul i64 %i, %stride
  %result = getelementptr double, ptr %out, i64 %at
  call void {called}({arguments})
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""
