"""Tiered compilation: programs are interpreted at first, and compiled after a number of calls."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.arrays import FloatArray
from kineta.codegen import numpy as reference
from kineta.expr.program import StraightLineProgram
from kineta.threads import once

#: Interpreted calls of all programs together, comparable in time to their compilation.
CALLS = 40


class TieredFunction:
    """Functions of one state from *programs* with distinct names."""

    def __init__(self, programs: Sequence[StraightLineProgram]) -> None:
        self._programs = programs
        self._calls = 0

    def __call__(self, name: str, *blocks: FloatArray) -> FloatArray:
        """The results of the program *name*, (n_outputs,), from one array (size,) per input block."""
        self._calls += 1
        if self._calls <= CALLS:
            return self._interpreted[name](*blocks)
        return self._compiled[name](*blocks)

    @once
    def _interpreted(self) -> dict[str, reference.Function]:
        return {p.name: reference.compile(p) for p in self._programs}

    @once
    def _compiled(self) -> dict[str, reference.Function]:
        from kineta.codegen import llvm

        made = llvm.compile(self._programs)
        return {p.name: made.function(p.name) for p in self._programs}
