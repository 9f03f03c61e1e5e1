"""Dynamics on a graphics processor: states a second beside what memory traffic and double-precision arithmetic allow.

Both bounds are measured in the same run, by a copy and by fused operations alone; times are those of the processor's own clock,
for rows of states and for columns. Where there is no processor, what Nvidia's assembler makes of the code stands for it, if
there is an assembler: registers, spills, and the bounds of two processors by their data sheets.
"""

from __future__ import annotations

import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import kineta as kn
from benchmarks.robots import FILES, SOURCES
from benchmarks.timing import table
from kineta.codegen.cuda.device_arrays import BYTES, DeviceArray
from kineta.codegen.cuda.device_program import DeviceProgram, Place
from kineta.codegen.cuda.driver import STREAM, Device, device
from kineta.codegen.cuda.ptx import ptx
from kineta.equations.device_calls import with_unit_quaternions
from kineta.errors import KinetaError
from kineta.expr.op import UNARY
from kineta.expr.program import StraightLineProgram
from kineta.model.io import urdf

QUANTITIES = ("forward", "inverse", "mass_matrix")
#: And of arms.
OF_ARMS = ("forward_derivatives",)
#: Bytes of a launch, which is several times what the caches hold, and states at most.
SIZE, MOST = 1 << 30, 1 << 22
#: Launches between two readings of the clock.
LAUNCHES = 10
#: The processor that the assembler writes for.
ASSEMBLED = "sm_90"
#: Instructions in double precision of what PTX writes as one.
INSTRUCTIONS = {"div": 9, "sqrt": 9, "rcp": 7}


@dataclass(frozen=True)
class Bounds:
    """What a processor does in a second: fused operations, bytes to and from memory."""

    name: str
    fused: float
    bytes: float


#: By the data sheets.
SHEETS = (Bounds("H100", 132 * 64 * 1.755e9, 3.35e12), Bounds("H200", 132 * 64 * 1.755e9, 4.8e12))
#: Threads, and fused operations of each, of the launch that measures arithmetic.
THREADS, FUSED = 1 << 18, 1 << 14


def seconds(on: Device, work: Callable[[], object], repeats: int) -> float:
    """Median seconds of one call of *work*, which only launches, by the processor's clock; the first calls are not counted."""
    none = on.driver.bindings.CUevent_flags.CU_EVENT_DEFAULT
    found = []
    with on.current():
        start, stop = on.driver("cuEventCreate", none), on.driver("cuEventCreate", none)
        for _ in range(repeats + 1):
            on.driver("cuEventRecord", start, STREAM)
            for _ in range(LAUNCHES):
                work()
            on.driver("cuEventRecord", stop, STREAM)
            on.driver("cuEventSynchronize", stop)
            found.append(float(on.driver("cuEventElapsedTime", start, stop)) / (1e3 * LAUNCHES))
        on.driver("cuEventDestroy", start)
        on.driver("cuEventDestroy", stop)
    return statistics.median(found[1:])


def fused_operations() -> str:
    """PTX of threads with eight chains of fused operations and a store that does not happen, but that the driver cannot know."""
    chains = range(8)
    start = "".join(f"mov.f64 %f{k}, 0d3FE000000000000{k};\n" for k in chains)
    turn = "".join(f"fma.rn.f64 %f{k}, %f{k}, %f8, %f{k};\n" for k in chains) * 4
    total = "".join(f"add.f64 %f0, %f0, %f{k};\n" for k in chains[1:])
    return f"""
.version 6.0
.target sm_70
.address_size 64
.visible .entry fused(.param .u64 to) {{
.reg .f64 %f<9>; .reg .u64 %a; .reg .u32 %i; .reg .pred %p;
ld.param.u64 %a, [to];
{start}mov.f64 %f8, 0d3CB0000000000000;
mov.u32 %i, 0;
turn:
.pragma "nounroll";
{turn}add.u32 %i, %i, 1;
setp.lt.u32 %p, %i, {FUSED // 32};
@%p bra turn;
{total}setp.eq.f64 %p, %f0, 0d0000000000000000;
@%p st.global.f64 [%a], %f0;
ret;
}}
"""


def bounds_of(on: Device, repeats: int) -> Bounds:
    """What a processor does, measured: fused operations alone, and a copy in its memory."""
    one, other = (DeviceArray((SIZE // BYTES,), on.ordinal).view for _ in range(2))
    entry = on.load(fused_operations(), "fused")
    fused = seconds(on, lambda: on.launch(entry, THREADS, [one.address]), repeats)
    copied = seconds(on, lambda: on.driver("cuMemcpyDtoDAsync", one.address, other.address, SIZE, STREAM), repeats)
    return Bounds(on.name, THREADS * FUSED / fused, 2 * SIZE / copied)


def arithmetic(text: str) -> int:
    """Instructions in double precision of one state; those of angles beyond a million are left out."""
    entry = text[text.index(".entry") :]
    kinds = re.findall(r"^\s*(add|sub|mul|fma|div|sqrt|rcp|min|max|setp)\.(?:\w+\.)*f64", entry, re.M)
    return sum(INSTRUCTIONS.get(kind, 1) for kind in kinds)


def traffic(program: StraightLineProgram) -> int:
    """Bytes of one state that are read and written."""
    first = program.first_operation
    read = set(program.results) | set(program.lhs)
    read |= {b for op, b in zip(program.op, program.rhs, strict=True) if op not in UNARY}
    shared = program.inputs[-1].size if program.inputs[-1].name == "h" else 0
    own = program.n_inputs - shared
    return 8 * (len({r >> 1 for r in read if r >> 1 < min(own, first)}) + program.n_outputs)


def assembler() -> str | None:
    """Nvidia's assembler, of the machine or of the wheel ``nvidia-cuda-nvcc``."""
    wheels = [p for folder in sys.path for p in Path(folder).glob("nvidia/**/bin/ptxas")]
    return shutil.which("ptxas") or (str(wheels[0]) if wheels else None)


def assembled(text: str, target: str) -> tuple[int, int, float]:
    """Registers, bytes of spills, and seconds of the assembler for an entry."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "f.ptx").write_text(text)
        start = time.perf_counter()
        said = subprocess.run(
            [str(assembler()), f"-arch={target}", "-v", "f.ptx", "-o", "f.cubin"],
            cwd=folder, capture_output=True, text=True, check=True,
        ).stderr  # fmt: skip
        seconds = time.perf_counter() - start
    entry = said[said.index("Compiling entry") :]
    spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", entry)
    registers = re.search(r"Used (\d+) registers", entry)
    assert spills
    assert registers
    return int(registers[1]), int(spills[1]) + int(spills[2]), seconds


def estimates(programs: dict[tuple[str, str], StraightLineProgram]) -> str:
    """The table of a machine without a processor."""
    most = tuple(f"{b.name}: M states/s" for b in SHEETS)
    head = ("", "PTX ms", "assembled s", "registers", "spilt bytes", "instructions", "bytes", *most)
    rows = []
    for (robot, quantity), program in programs.items():
        start = time.process_time()
        text = ptx(program)
        emitted = time.process_time() - start
        registers, spilt, seconds = assembled(text, ASSEMBLED)
        n, size = arithmetic(text), traffic(program)
        rates = [f"{min(b.fused / n, b.bytes / size) / 1e6:.0f}" for b in SHEETS]
        rows.append(
            (
                f"{robot}, {quantity}",
                f"{1e3 * emitted:.0f}",
                f"{seconds:.2f}",
                f"{registers}",
                f"{spilt}",
                f"{n}",
                f"{size}",
                *rates,
            )
        )
    return table(head, rows)


@dataclass(frozen=True)
class Launch:
    """A program, n states, and places of its blocks, with the arrays *out* that its launch writes."""

    program: DeviceProgram
    n: int
    reads: list[Place]
    writes: list[Place]
    out: list[DeviceArray]
    kept: list[DeviceArray]

    def start(self, on: Device) -> None:
        """Launch it, without waiting."""
        self.program.launch(on, self.n, self.reads, self.writes)

    def first(self, n: int) -> NDArray[np.float64]:
        """The results of the first *n* states, (n, n_outputs)."""
        rows = self.writes[0][2] == 1
        return np.concatenate(
            [(x.numpy() if rows else np.moveaxis(x.numpy(), -1, 0))[:n].reshape(n, -1) for x in self.out], axis=1
        )


def launch(f: kn.Function, blocks: Sequence[NDArray[np.float64]], columns: bool) -> Launch:
    """The launch of a function for the states of *blocks* after the time, as rows or as *columns*."""
    program = DeviceProgram(with_unit_quaternions(f.main, tuple(f.system.quaternions.values())))
    n = len(blocks[0])
    shared = [DeviceArray.of(np.zeros(1)), DeviceArray.of(f.hoisted())]
    own = [DeviceArray.of(np.ascontiguousarray(x.T) if columns else x) for x in blocks]
    reads = [(x.view.address, *((1, n) if columns else (x.shape[1], 1))) for x in own]
    outputs = program.program.outputs
    out = [DeviceArray((*b.shape, n) if columns else (n, *b.shape)) for b in outputs]
    writes = [(x.view.address, *((1, n) if columns else (b.size, 1))) for x, b in zip(out, outputs, strict=True)]
    time, h = ((x.view.address, 0, 1) for x in shared)
    return Launch(program, n, [time, *reads, h], writes, out, [*shared, *own])


def measured(on: Device, equations: dict[str, kn.Equations], repeats: int) -> str:
    """The table of a processor: results are compared with those of this machine first."""
    limits = bounds_of(on, repeats)
    print(f"measured: {2e-12 * limits.fused:.1f} TFLOP/s of fused operations, {1e-12 * limits.bytes:.2f} TB/s copied\n")
    rows = []
    for robot, own in equations.items():
        s = own.system
        draw = np.random.default_rng(1).normal
        for quantity in quantities(own):
            f, g = own.function(quantity, "cuda"), own.function(quantity)
            size = traffic(f.main)
            n = min(MOST, 1 << (SIZE // size).bit_length() - 1)
            blocks = [draw(size=(n, s.nq)), *(draw(size=(n, s.nv)) for _ in f.arguments[2:])]
            given = g(0.0, *(x[:100] for x in blocks))
            parts = given if isinstance(given, tuple) else (given,)
            expected = np.concatenate([part.reshape(100, -1) for part in parts], axis=1)
            start = time.perf_counter()
            g(0.0, *(x[: 1 << 12] for x in blocks))
            host = (time.perf_counter() - start) / min(n, 1 << 12)
            arith, memory = arithmetic(f.ptx()) / limits.fused, size / limits.bytes
            least, cells, error = max(arith, memory), [], 0.0
            for columns in (False, True):
                one = launch(f, blocks, columns)
                one.start(on)
                error = max(error, float(np.abs(one.first(100) - expected).max() / np.abs(expected).max()))
                took = seconds(on, partial(one.start, on), repeats) / n
                cells += [f"{1e-6 / took:.0f}", f"{took / least:.2f}"]
                del one
            rows.append(
                (
                    f"{robot}, {quantity}",
                    f"{n}",
                    *cells,
                    f"{1e-6 / least:.0f}",
                    "arithmetic" if arith > memory else "memory",
                    f"{host / took:.0f}",
                    f"{error:.0e}",
                )
            )
    head = ("", "states", "rows: M/s", "x bound", "columns: M/s", "x bound", "bound, M/s", "by", "x one core", "error")
    return table(head, rows)


def quantities(equations: kn.Equations) -> tuple[str, ...]:
    """What is measured of a robot: more of those that are fixed to the ground."""
    return QUANTITIES if equations.system.quaternions else (*QUANTITIES, *OF_ARMS)


def robots(quick: bool) -> dict[str, Callable[[], kn.System]]:
    """Readers of the robots: arms first, then those on a free base."""
    arms = {
        SOURCES["puma"].name: SOURCES["puma"].system,
        "Panda (8 dof)": lambda: urdf.read_with_report(FILES / "panda_description/urdf/panda.urdf")[0],
    }
    return arms | {
        SOURCES[n].name: SOURCES[n].system for n in ("quadruped", "humanoid") if not (quick and n == "humanoid")
    }


def main(quick: bool = False) -> None:
    equations = {name: kn.derive(read().replace(elements=(), contacts=())) for name, read in robots(quick).items()}
    try:
        on = device()
    except KinetaError as error:
        print(error)
    else:
        print(f"{on.name}, compute capability {on.capability[0]}.{on.capability[1]}")
        print(measured(on, equations, 3 if quick else 15))
        return
    if assembler() is None:
        print("No assembler of Nvidia was found either: pip install nvidia-cuda-nvcc.")
        return
    programs = {(r, q): own.programs(q)[1] for r, own in equations.items() for q in quantities(own)}
    print(estimates(programs))
