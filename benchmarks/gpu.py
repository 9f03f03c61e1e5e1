"""Forward dynamics on a graphics processor: states a second beside what memory traffic and double-precision arithmetic allow.

Where there is no processor, what Nvidia's assembler makes of the code stands for it, if there is an assembler: registers,
spills, and the bounds of two processors by their data sheets.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import kineta as kn
from benchmarks.robots import SOURCES
from benchmarks.timing import interleaved, table
from kineta.codegen.cuda.device_arrays import DeviceArray
from kineta.codegen.cuda.driver import Device, device
from kineta.codegen.cuda.ptx import ptx
from kineta.errors import KinetaError
from kineta.expr.op import UNARY
from kineta.expr.program import StraightLineProgram

QUANTITIES = ("forward", "inverse", "mass_matrix")
STATES = 1 << 18
#: Fused operations in double precision of a multiprocessor in one cycle, by compute capability; 2 for all others.
RATES = {(6, 0): 32, (7, 0): 32, (8, 0): 32, (9, 0): 64, (10, 0): 64}
#: Instructions in double precision of what PTX writes as one.
INSTRUCTIONS = {"div": 9, "sqrt": 9, "rcp": 7}


@dataclass(frozen=True)
class Bounds:
    """What a processor does in a second: fused operations, bytes to and from memory."""

    name: str
    fused: float
    bytes: float


#: By the data sheets.
SHEETS = (Bounds("A100", 108 * 32 * 1.41e9, 1.555e12), Bounds("H100", 132 * 64 * 1.755e9, 3.35e12))


def bounds_of(on: Device) -> Bounds:
    """The bounds of a processor by what its driver tells."""
    hertz = 1e3 * on.attribute("CLOCK_RATE")
    width = on.attribute("GLOBAL_MEMORY_BUS_WIDTH") / 8
    rate = RATES.get(on.capability, 2)
    return Bounds(
        on.name, on.attribute("MULTIPROCESSOR_COUNT") * rate * hertz, 2e3 * on.attribute("MEMORY_CLOCK_RATE") * width
    )


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
    head = ("", "PTX ms", "assembled s", "registers", "spilt bytes", "instructions", "bytes")
    head += tuple(f"{b.name}: M states/s" for b in SHEETS)
    rows = []
    for (robot, quantity), program in programs.items():
        start = time.process_time()
        text = ptx(program)
        emitted = time.process_time() - start
        registers, spilt, seconds = assembled(text, "sm_80")
        n, size = arithmetic(text), traffic(program)
        most = [f"{min(b.fused / n, b.bytes / size) / 1e6:.0f}" for b in SHEETS]
        rows.append(
            (
                f"{robot}, {quantity}",
                f"{1e3 * emitted:.0f}",
                f"{seconds:.2f}",
                f"{registers}",
                f"{spilt}",
                f"{n}",
                f"{size}",
                *most,
            )
        )
    return table(head, rows)


def measured(on: Device, equations: dict[str, kn.Equations], repeats: int) -> str:
    """The table of a processor: results are compared with those of this machine first."""
    limits = bounds_of(on)
    rows = []
    for robot, own in equations.items():
        s = own.system
        draw = np.random.default_rng(1).normal
        for quantity in QUANTITIES:
            f, g = own.function(quantity, "cuda"), own.function(quantity)
            blocks = [draw(size=(STATES, s.nq)), *(draw(size=(STATES, s.nv)) for _ in f.arguments[2:])]
            given = [DeviceArray.of(x) for x in blocks]
            out = f(0.0, *given)
            expected = g(0.0, *(x[:100] for x in blocks))
            error = np.abs(out.numpy()[:100] - expected).max() / np.abs(expected).max()
            t = DeviceArray.of(np.zeros(1))
            seconds = interleaved(
                {
                    "device": lambda f=f, t=t, given=given, out=out: f(t, *given, out=out),
                    "host": lambda g=g, b=blocks: g(0.0, *b),
                },
                repeats,
            )
            arith = arithmetic(f.ptx()) * STATES / limits.fused
            memory = traffic(f.main) * STATES / limits.bytes
            rows.append(
                (
                    f"{robot}, {quantity}",
                    f"{STATES / seconds['device'] / 1e6:.1f}",
                    f"{STATES / max(arith, memory) / 1e6:.1f}",
                    f"{seconds['device'] / max(arith, memory):.2f}",
                    "arithmetic" if arith > memory else "memory",
                    f"{seconds['host'] / seconds['device']:.1f}",
                    f"{error:.0e}",
                )
            )
    return table(("", "M states/s", "bound", "x bound", "by", "x one core", "error"), rows)


def main(quick: bool = False) -> None:
    names = [name for name in SOURCES if not (quick and name == "humanoid")]
    equations = {SOURCES[n].name: kn.derive(SOURCES[n].system().replace(elements=(), contacts=())) for n in names}
    try:
        on = device()
    except KinetaError as error:
        print(error)
    else:
        print(f"{on.name}, compute capability {on.capability[0]}.{on.capability[1]}, {STATES} states\n")
        print(measured(on, equations, 3 if quick else 15))
        return
    if assembler() is None:
        print("No assembler of Nvidia was found either: pip install nvidia-cuda-nvcc.")
        return
    programs = {(r, q): own.programs(q)[1] for r, own in equations.items() for q in QUANTITIES}
    print(estimates(programs))
