"""Ensembles on a graphics processor: every thread carries one case after the other to its end, by the loop of one motion."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.codegen.cuda.device_arrays import BYTES, DeviceArray
from kineta.codegen.cuda.driver import Device
from kineta.codegen.cuda.elementary_functions import library
from kineta.codegen.cuda.ptx import assembly, thread_number
from kineta.codegen.kernels import llvm_ir
from kineta.codegen.scalar_ir import Needs, core
from kineta.codegen.schedule import dependencies, schedule
from kineta.codegen.sincos import lanes
from kineta.codegen.spilling import Bundle, SpillPlan
from kineta.expr.program import StraightLineProgram
from kineta.integration import loop_abi
from kineta.integration.loop_abi import EnsembleData, RunData
from kineta.integration.native_ensemble import MOST, PAUSE, STEPS, Ensemble, EnsembleRun
from kineta.kernels.ensemble import integrate_cases
from kineta.kernels.stage_evaluation import LoopMethod
from kineta.kernels.translation import translate_unit
from kineta.memory import Record
from kineta.numerics.tableaux import Tableau

#: Threads at most: they have their cases from one queue.
THREADS = 1 << 15
_ENTRY = "carry_cases"


@lru_cache(maxsize=8)
def loop_ptx(tableau: Tableau, rate: StraightLineProgram) -> str:
    """PTX of the loop of cases without events and constraints, which calls the program *rate* of time, state and block.

    The parameters of its entry: the number of threads, the address of their records and the distance between two, the steps
    that are allowed, and the address of what each returns.
    """
    method = LoopMethod(tableau, True, False, False, True)
    loop = llvm_ir.source(translate_unit((integrate_cases, method)), direct={"rate": f"{rate.name}.core.1"})
    needs = Needs()
    plan = SpillPlan(rate, [[Bundle(group) for group in schedule(rate, dependencies(rate))]], 0)
    function = core(plan, rate.results, 1, 1, needs, fused=True)
    calls = "".join(lanes(*known) for known in sorted(needs.lanes))
    called = {name for name, *_ in needs.lanes} | {"pow"} | {"sincos" for _ in needs.sincos}
    place = RunData.layout.position("allowed")
    entry = f"""define ptx_kernel void @{_ENTRY}(i64 %n, ptr %runs, i64 %size, i64 %allowed, ptr %status) nounwind {{
{thread_number("%n")}
  %at = mul i64 %i, %size
  %run = getelementptr i8, ptr %runs, i64 %at
  %place = getelementptr i64, ptr %run, i64 {place}
  store i64 %allowed, ptr %place
  %found = call i64 @kernel_{integrate_cases.__name__}(ptr %run)
  %to = getelementptr i64, ptr %status, i64 %i
  store i64 %found, ptr %to
  br label %end
end:
  ret void
}}
"""
    arrays = needs.arrays.definitions()
    return assembly("".join([library(called), calls, arrays, function, loop, entry]), loops=True)


class _RecordWords(NamedTuple):
    """A record with all that it refers to, as words: ``inside`` are places that refer to words, by their number, ``elsewhere``
    those that refer to other records; ``arrays`` are its own, by their fields.
    """

    words: IntArray
    inside: dict[int, int]
    elsewhere: dict[int, Record]
    arrays: dict[str, slice]


def _words_of(record: Record, apart: type[Record] | None = None) -> _RecordWords:
    """The words of *record*; records of the kind *apart* stay elsewhere."""
    parts, inside, elsewhere, own = list[IntArray](), dict[int, int](), dict[int, Record](), dict[str, slice]()
    size = 0

    def put(words: Any) -> int:
        nonlocal size
        parts.append(words.view(np.int64))
        size += len(words)
        return size - len(words)

    def placed(one: Record) -> int:
        start = put(one.words())
        for name in one.layout.fields:
            value, place = one.array(name), start + one.layout.position(name)
            if apart is not None and isinstance(value, apart):
                elsewhere[place] = value
            elif isinstance(value, Record):
                inside[place] = placed(value)
            elif isinstance(value, np.ndarray):
                inside[place] = put(value)
                if one is record:
                    own[name] = slice(inside[place], inside[place] + len(value))
        return start

    placed(record)
    return _RecordWords(np.concatenate(parts), inside, elsewhere, own)


class DeviceEnsembleRun(EnsembleRun):
    """Integrations of all cases of an ensemble on the graphics processor *on*, by the method *tableau* with the program *rate*.

    Cases have neither events nor constraints, contacts or switches. The rest is as of its base class.
    """

    def __init__(
        self,
        tableau: Tableau,
        rate: StraightLineProgram,
        on: Device,
        ensemble: Ensemble,
        grid: FloatArray,
        **control: Any,
    ) -> None:
        super().__init__(tableau, _nothing, ensemble, grid, **control)
        self._on, self._load = on, partial(loop_ptx, tableau, rate)

    def run(self, threads: int, at: Callable[[int], None]) -> None:
        """Integrate all cases to their ends; *threads* of this machine are not asked for."""
        on, n = self._on, min(self.cases, THREADS)
        entry = on.load(self._load(), _ENTRY)
        data, shared = self._run_data(self.ensemble.problem), _words_of(self._shared)
        common = _on_device(shared, 1, on, 0)
        own = _words_of(data, EnsembleData)
        runs = _on_device(own, n, on, common.view.address)
        status = DeviceArray((n,), on.ordinal)
        steps, done = STEPS, False
        try:
            while not done:
                began = time.perf_counter()
                on.launch(entry, n, [n, runs.view.address, BYTES * len(own.words), steps, status.view.address])
                done = bool((status.numpy().view(np.int64) == loop_abi.DONE).all())
                steps = min(2 * steps, MOST) if time.perf_counter() - began < PAUSE / 2 else max(steps // 2, STEPS)
                self._read(common, shared)
                at(self.terminated)
        finally:
            self._read(common, shared)

    def _read(self, common: DeviceArray, shared: _RecordWords) -> None:
        """Read what all threads have done."""
        words = common.numpy().view(np.int64).reshape(-1)
        for name, place in shared.arrays.items():
            array = self._shared.array(name)
            if array.flags.writeable:
                array.view(np.int64)[:] = words[place]


def _on_device(part: _RecordWords, copies: int, on: Device, elsewhere: int) -> DeviceArray:
    """*copies* of the words, each referring to itself; what is elsewhere is at one address."""
    found = DeviceArray((copies, len(part.words)), on.ordinal)
    words = np.tile(part.words, (copies, 1))
    starts = found.view.address + BYTES * len(part.words) * np.arange(copies)
    for place, target in part.inside.items():
        words[:, place] = starts + BYTES * target
    for place in part.elsewhere:
        words[:, place] = elsewhere
    found.write(words.view(np.float64))
    return found


def _nothing(run: object) -> object:
    """The loop of this machine, which is not called."""
    raise AssertionError
