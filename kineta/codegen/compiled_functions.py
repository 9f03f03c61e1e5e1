"""Programs by name as functions: the one way from programs to machine code.

NumPy and LLVM are imported with the first function that is called.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING

from kineta.expr.program import StraightLineProgram
from kineta.threads import memo

if TYPE_CHECKING:
    from kineta.arrays import FloatArray
    from kineta.codegen import numpy as reference
    from kineta.codegen.llvm import Library, NativeFunction

#: Interpreted calls of all functions together, comparable in time to their compilation.
CALLS = 40


def _together(name: str) -> Hashable:
    """The group of all functions."""
    return None


class CompiledFunctions:
    """Functions of *programs* with distinct names, and with *batch* their entries for SIMD lanes.

    The functions of a *group* are compiled together, when the machine code of one of them is asked for.
    """

    def __init__(
        self,
        programs: Iterable[StraightLineProgram],
        *,
        batch: bool = False,
        group: Callable[[str], Hashable] = _together,
    ) -> None:
        self.programs = {p.name: p for p in programs}
        self._batch, self._group = batch, group
        self._calls = 0

    def __getitem__(self, name: str) -> NativeFunction:
        """The machine code of the function *name*."""
        return memo(self, (name,), lambda: self._library(self._group(name)).function(name))

    def get(self, name: str) -> NativeFunction | None:
        """The machine code of the function *name*; None where there is none."""
        return self[name] if name in self.programs else None

    def _library(self, group: Hashable) -> Library:
        from kineta.codegen import llvm

        own = [program for name, program in self.programs.items() if self._group(name) == group]
        return memo(self, group, lambda: llvm.compile(own, batch=self._batch))

    def interpreted(self, name: str) -> reference.Function:
        """The function *name* without compilation, for few calls: of blocks with any leading axes."""
        from kineta.codegen import numpy as reference

        return memo(self, (name, "interpreted"), lambda: reference.compile(self.programs[name]))

    def __call__(self, name: str, *blocks: FloatArray) -> FloatArray:
        """The results of the function *name* for one state, (n,), from one array (size,) per input block: interpreted at
        first, and in machine code after a number of calls.
        """
        self._calls += 1
        return (self.interpreted(name) if self._calls <= CALLS else self[name])(*blocks)
