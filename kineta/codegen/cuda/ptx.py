"""Programs as PTX, the assembly language of Nvidia's processors: one thread a state.

LLVM writes PTX on any machine, without Nvidia's tools. What a driver makes of it runs on the processor that it was written for
and on all later ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from kineta.codegen.cuda.elementary_functions import library
from kineta.codegen.scalar_ir import Needs, ScalarWriter
from kineta.codegen.schedule import dependencies, schedule
from kineta.codegen.spilling import Bundle
from kineta.codegen.target import llvm
from kineta.errors import ArgumentError, shown
from kineta.expr.graph import Ref
from kineta.expr.program import StraightLineProgram

TRIPLE = "nvptx64-nvidia-cuda"
#: The processor that code is written for: Volta of 2017, and all that came after it.
TARGET = "sm_70"
#: The type of addresses of the memory that all threads share.
GLOBAL = "ptr addrspace(1)"
#: Cost, in LLVM's units, up to which a call is inlined.
INLINED = 25


def ptx(program: StraightLineProgram, target: str = TARGET) -> str:
    """*program* as PTX for the processor *target*, ``sm_70`` or a later one.

    Its entry has the name of the program and the parameters ``n`` and, for each input block and then each output block,
    ``address, row, column``: number k of a block of thread i, below n, stands at ``address + 8 (i row + k column)``, so that a
    block with the row 0 is shared by all. Addresses are of device memory, the others are signed numbers of 64 bits.

    Raises :class:`ArgumentError` for a *target* that LLVM does not know.
    """
    return assembly(kernel(program), target)


def assembly(ir: str, target: str = TARGET, *, loops: bool = False) -> str:
    """PTX of a module given as LLVM IR, verified and simplified; what has *loops* and calls by all of LLVM's passes, so that
    variables are registers and what is called is inlined.
    """
    machine, binding = _machine(target), llvm()
    parsed = binding.parse_assembly(f'target triple = "{TRIPLE}"\n{_once_declared(ir)}')
    parsed.data_layout = str(machine.target_data)
    parsed.verify()
    options = binding.create_pipeline_tuning_options(1)
    options.inlining_threshold = INLINED
    options.loop_vectorization, options.slp_vectorization, options.loop_unrolling = False, False, False
    builder = binding.create_pass_builder(machine, options)
    passes = builder.getModulePassManager() if loops else binding.create_new_module_pass_manager()
    if not loops:
        passes.add_always_inliner_pass()
        passes.add_sroa_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(parsed, builder)
    return str(machine.emit_assembly(parsed))


def _once_declared(ir: str) -> str:
    """*ir* without declarations of what it defines, or declares before."""
    known = set(re.findall(r"^define [^@]*@([\w.]+)\(", ir, re.M))
    lines = []
    for line in [*_REGISTERS, *ir.splitlines()]:
        name = re.match(r"declare [^@]*@([\w.]+)\(", line)
        if name is None or name[1] not in known:
            lines.append(line)
        if name is not None:
            known.add(name[1])
    return "\n".join(lines)


#: What tells a thread its number.
_REGISTERS = [f"declare i32 @llvm.nvvm.read.ptx.sreg.{name}.x()" for name in ("tid", "ntid", "ctaid")]


@cache
def _machine(target: str) -> Any:
    """LLVM's code generator for a processor."""
    binding = llvm()
    if not isinstance(target, str) or not re.fullmatch(r"sm_[1-9]\d{1,2}[af]?", target):
        raise ArgumentError(f"Expected a processor as 'sm_70', found {shown(target)}.")
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    found = binding.Target.from_triple(TRIPLE)
    # Level 0: higher ones keep the distances of columns in registers, and take a time that is quadratic in the results.
    return found.create_target_machine(cpu=target, opt=0)


def kernel(program: StraightLineProgram) -> str:
    """LLVM IR of the entry of *program* and of all that it calls."""
    writer = _DeviceWriter(program)
    body = writer.body([Bundle(group) for group in schedule(program, dependencies(program))])
    access = {f"in{i}": "readonly" for i in range(len(program.inputs))}
    access |= {f"out{i}": "writeonly" for i in range(len(program.outputs))}
    parameters = [f"{GLOBAL} noalias {how} %{b}.at, i64 %{b}.row, i64 %{b}.column" for b, how in access.items()]
    rows = "".join(
        f"  %{b}.first = mul i64 %i, %{b}.row\n  %{b} = getelementptr double, {GLOBAL} %{b}.at, i64 %{b}.first\n"
        for b in access
    )
    return f"""{library(writer.called)}{writer.needs.arrays.definitions()}
define ptx_kernel void @{program.name}(i64 %n, {", ".join(parameters)}) nounwind {{
{thread_number("%n")}{rows}{body}  br label %end
end:
  ret void
}}
!0 = !{{}}
"""


def thread_number(n: str) -> str:
    """Instructions that set ``%i`` to the number of a thread, and go to ``%end`` if it is not below *n*."""
    return f"""\
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %thread.long = zext i32 %thread to i64
  %threads.long = zext i32 %threads to i64
  %block.long = zext i32 %block to i64
  %before = mul i64 %threads.long, %block.long
  %i = add i64 %before, %thread.long
  %some = icmp slt i64 %i, {n}
  br i1 %some, label %state, label %end
state:
"""


class _DeviceWriter(ScalarWriter):
    """Writer of the instructions of one thread: blocks have columns some way apart, and functions are the device's own."""

    pointer, loaded = GLOBAL, ", !invariant.load !0"

    def __init__(self, program: StraightLineProgram) -> None:
        super().__init__(program, program.results, 1, 1, Needs(), fused=True)
        self.wait = False  # results that wait for the end would be held in registers
        self.called: set[str] = set()
        self.targets = [(f"%out{i}", k) for i, block in enumerate(program.outputs) for k in range(block.size)]

    def _store(self, value: str, base: str, index: int) -> None:
        super()._store(value, *self.targets[index])

    def _place(self, base: str, index: int) -> str:
        p = f"%p{len(self.lines)}"
        self._put(f"{p}.at = mul i64 {base}.column, {index}")
        self._put(f"{p} = getelementptr double, {GLOBAL} {base}, i64 {p}.at")
        return p

    def _zeros(self, stored: Sequence[tuple[int, Ref]]) -> Iterator[tuple[int, Ref]]:
        yield from stored

    def _library(self, function: str, arguments: int) -> str:
        self.called.add(function)
        return function

    def _trig(self, group: Sequence[int]) -> None:
        self.called.add("sincos")
        super()._trig(group)
