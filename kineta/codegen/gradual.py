"""Programs that may be called but a few times: interpreted at first, and compiled when they turn out to be called often."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.codegen import numpy as reference
from kineta.codegen.numpy import FloatArray
from kineta.expr.program import Program
from kineta.threads import once

#: Calls of all programs together that are interpreted: so many take a good part of the time that compiling them does.
CALLS = 40


class Gradual:
    """Functions of one state, made from *programs*, whose names must differ."""

    def __init__(self, programs: Sequence[Program]) -> None:
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
