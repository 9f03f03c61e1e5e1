"""Programs of steps in loops as LLVM IR text.

The core of such a program reads a table of runs: which step, how often, and where each time its blocks and its results stand. The
table and the numbers of the steps are not part of the code: the module has a pointer to each, set when it is loaded, so that
code serves programs of any length.
"""

from __future__ import annotations

from dataclasses import replace

from kineta.codegen.scalar_ir import Needs, core
from kineta.codegen.sincos import real
from kineta.codegen.spilling import spill_plan
from kineta.codegen.target import Target
from kineta.expr.loop_program import LoopProgram

#: What ends the table: the results follow.
END = -1
#: What a loaded library sets, behind the name of a program.
POINTERS = ("table", "numbers")


def table(program: LoopProgram) -> list[int]:
    """What the core of *program* reads: the size of the workspace, the runs, and the places of the results."""
    return [program.workspace, *program.table, END, len(program.places), *program.places]


def pointers(program: LoopProgram) -> str:
    """Definitions of the pointers that a loaded library sets."""
    return "".join(f"@{program.name}.{pointer} = global ptr null\n" for pointer in POINTERS)


def loop_core(program: LoopProgram, width: int, target: Target, packed: int, needs: Needs) -> str:
    """Definition of ``@name.core.W(ptr in_0, ..., ptr out)`` for the width W, and of its steps."""
    parts, cases, loops = [], [], []
    ends = ["[%first, %entry]"]
    numbers = len(program.inputs)
    for k, step in enumerate(program.steps):
        own = replace(step.program, name=f"{program.name}.step{k}")
        shared = [j for j, memory in enumerate(step.memories) if memory == numbers]
        plan = spill_plan(own, target.registers)
        parts.append(core(plan, own.results, width, packed, needs, shared, fused=target.fuses))
        cases.append(f"i32 {k}, label %loop{k}")
        ends.append(f"[%row{k}.next, %loop{k}]")
        loops.append(_loop(program, k, step.memories, width))
    inputs = "".join(f"ptr %in{i}, " for i in range(numbers))
    T = real(width)
    return f"""{"".join(parts)}define internal void @{program.name}.core.{width}({inputs}ptr %out) nounwind {{
entry:
  %table = load ptr, ptr @{program.name}.table
  %numbers = load ptr, ptr @{program.name}.numbers
  %scalars = load i32, ptr %table
  %size = zext i32 %scalars to i64
{_allocated("w", "%size", width)}  %first = getelementptr i32, ptr %table, i64 1
  br label %next
next:
  %run = phi ptr {", ".join(ends)}
  %step = load i32, ptr %run
  %at.times = getelementptr i32, ptr %run, i64 1
  %times = load i32, ptr %at.times
  %rows = getelementptr i32, ptr %run, i64 2
  switch i32 %step, label %results [{" ".join(cases)}]
{"".join(loops)}results:
  %i = phi i32 [0, %next], [%i.next, %results]
  %at = getelementptr i32, ptr %rows, i32 %i
  %place = load i32, ptr %at
  %from = getelementptr {T}, ptr %w, i32 %place
  %result = load {T}, ptr %from, align {8 * width}
  %to = getelementptr {T}, ptr %out, i32 %i
  store {T} %result, ptr %to, align {8 * width}
  %i.next = add i32 %i, 1
  %more = icmp slt i32 %i.next, %times
  br i1 %more, label %results, label %end
end:
  call void @free(ptr %w.given)
  ret void
}}
"""


def loop_batch(program: LoopProgram, width: int) -> str:
    """``name.batch`` and ``name.lanes`` as of programs without loops."""
    T, blocks = real(width), range(len(program.inputs))
    rows = ", ".join(["i64 %n", *(f"ptr %in{i}, i64 %stride{i}" for i in blocks), "ptr %out", "i64 %stride"])
    offsets = [sum(b.size for b in program.inputs[:i]) for i in blocks]
    states = "".join(f"  %x{i} = getelementptr {T}, ptr %x, i64 {k}\n" for i, k in enumerate(offsets))
    starts = "".join(f"ptr %x{i}, " for i in blocks)
    turned = "".join(
        f"  %at{i} = mul i64 %i, %stride{i}\n  %row{i} = getelementptr double, ptr %in{i}, i64 %at{i}\n"
        f"  call void @{program.name}.into(i64 {b.size}, ptr %row{i}, i64 %stride{i}, ptr %x{i})\n"
        for i, b in enumerate(program.inputs)
        if b.size
    )
    given = "".join(f"ptr %in{i}, " for i in blocks)
    size = str(max(program.n_outputs, 1))
    return f"""{_turned(program.name, width)}
define void @{program.name}.batch({rows}) nounwind {{
entry:
  %few = icmp slt i64 %n, {width}
  %last = sub i64 %n, {width}
  br i1 %few, label %scalar, label %start
scalar:
  call void @{program.name}.each({rows})
  ret void
start:
{_allocated("x", str(max(program.n_inputs, 1)), width)}{_allocated("y", size, width)}{states}  br label %loop
loop:
  %i = phi i64 [0, %start], [%from, %loop]
{turned}  call void @{program.name}.core.{width}({starts}ptr %y)
  %at = mul i64 %i, %stride
  %row = getelementptr double, ptr %out, i64 %at
  call void @{program.name}.outof(i64 {program.n_outputs}, ptr %row, i64 %stride, ptr %y)
  %next = add i64 %i, {width}
  %beyond = icmp sgt i64 %next, %last
  %from = select i1 %beyond, i64 %last, i64 %next
  %done = icmp sge i64 %next, %n
  br i1 %done, label %end, label %loop
end:
  call void @free(ptr %x.given)
  call void @free(ptr %y.given)
  ret void
}}
define void @{program.name}.lanes({given}ptr %out, i{width} %mask) nounwind {{
entry:
{_allocated("y", size, width)}  call void @{program.name}.core.{width}({given}ptr %y)
  %set = bitcast i{width} %mask to <{width} x i1>
  br label %loop
loop:
  %k = phi i64 [0, %entry], [%next, %loop]
  %at = getelementptr {T}, ptr %y, i64 %k
  %to = getelementptr {T}, ptr %out, i64 %k
  %found = load {T}, ptr %at, align {8 * width}
  %before = load {T}, ptr %to, align {8 * width}
  %chosen = select <{width} x i1> %set, {T} %found, {T} %before
  store {T} %chosen, ptr %to, align {8 * width}
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, {program.n_outputs}
  br i1 %more, label %loop, label %end
end:
  call void @free(ptr %y.given)
  ret void
}}
"""


def _allocated(name: str, count: str, width: int) -> str:
    """Instructions that reserve *count* vectors as ``%name``, to be freed as ``%name.given``."""
    return (
        f"  %{name}.bytes = mul i64 {count}, {8 * width}\n  %{name}.room = add i64 %{name}.bytes, 64\n"
        f"  %{name}.given = call ptr @malloc(i64 %{name}.room)\n  %{name}.number = ptrtoint ptr %{name}.given to i64\n"
        f"  %{name}.beyond = add i64 %{name}.number, 63\n  %{name}.aligned = and i64 %{name}.beyond, -64\n"
        f"  %{name} = inttoptr i64 %{name}.aligned to ptr\n"
    )


def _turned(name: str, width: int) -> str:
    """``name.into`` and ``name.outof(n, rows, stride, vectors)``: rows of n numbers into n vectors with a row in each lane, and
    back.
    """
    parts = []
    for direction, source, target in (("into", "row", "lane"), ("outof", "lane", "row")):
        moves = [
            f"  %row{j}.at = mul i64 %stride, {j}\n  %row{j}.place = add i64 %row{j}.at, %k\n"
            f"  %row{j} = getelementptr double, ptr %rows, i64 %row{j}.place\n  %lane{j}.at = add i64 %lanes, {j}\n"
            f"  %lane{j} = getelementptr double, ptr %vectors, i64 %lane{j}.at\n"
            f"  %found{j} = load double, ptr %{source}{j}\n  store double %found{j}, ptr %{target}{j}\n"
            for j in range(width)
        ]
        parts.append(
            f"define internal void @{name}.{direction}(i64 %n, ptr %rows, i64 %stride, ptr %vectors) nounwind {{\n"
            f"entry:\n  br label %loop\nloop:\n  %k = phi i64 [0, %entry], [%next, %loop]\n"
            f"  %lanes = mul i64 %k, {width}\n{''.join(moves)}  %next = add i64 %k, 1\n"
            "  %more = icmp slt i64 %next, %n\n  br i1 %more, label %loop, label %end\nend:\n  ret void\n}\n"
        )
    return "".join(parts)


def _loop(program: LoopProgram, k: int, memories: tuple[int, ...], width: int) -> str:
    """The loop of step k over the rows of a run."""
    names = [*(f"%in{i}" for i in range(len(program.inputs))), "%numbers", "%w"]
    lines = [
        f"loop{k}:\n  %row{k} = phi ptr [%rows, %next], [%row{k}.next, %loop{k}]\n"
        f"  %left{k} = phi i32 [%times, %next], [%left{k}.next, %loop{k}]\n"
    ]
    arguments = []
    for j, memory in enumerate((*memories, len(names) - 1)):
        p, T = f"%p{k}.{j}", "double" if names[memory] == "%numbers" else real(width)
        lines.append(
            f"  {p}.at = getelementptr i32, ptr %row{k}, i64 {j}\n  {p}.start = load i32, ptr {p}.at\n"
            f"  {p} = getelementptr {T}, ptr {names[memory]}, i32 {p}.start\n"
        )
        arguments.append(f"ptr {p}")
    lines.append(
        f"  call void @{program.name}.step{k}.core.{width}({', '.join(arguments)})\n"
        f"  %row{k}.next = getelementptr i32, ptr %row{k}, i64 {len(memories) + 1}\n"
        f"  %left{k}.next = sub i32 %left{k}, 1\n  %more{k} = icmp sgt i32 %left{k}.next, 0\n"
        f"  br i1 %more{k}, label %loop{k}, label %next\n"
    )
    return "".join(lines)
