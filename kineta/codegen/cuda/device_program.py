"""A program on graphics processors."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from kineta.arrays import FloatArray, address
from kineta.codegen.cuda.device_arrays import BYTES, DeviceArray
from kineta.codegen.cuda.driver import Device, device
from kineta.codegen.cuda.ptx import TARGET, ptx
from kineta.expr.program import StraightLineProgram
from kineta.threads import memo

#: Where a block stands: the address of its first number, the distances of rows and of columns in numbers.
Place = tuple[int, int, int]


class DeviceProgram:
    """A function of one array (..., size) per input block that returns the results, (..., n_outputs), of NumPy, computed on
    the first graphics processor; :meth:`launch` works on its memory.
    """

    def __init__(self, program: StraightLineProgram) -> None:
        self.program = program

    def entry(self, on: Device) -> Any:
        """The entry of the program, loaded once for a processor: code for one is older than :data:`TARGET` is its own."""
        major, minor = on.capability
        target = TARGET if major >= 7 else f"sm_{major}{minor}"
        return memo(self, on, lambda: on.load(ptx(self.program, target), self.program.name))

    def launch(self, on: Device, n: int, inputs: Sequence[Place], outputs: Sequence[Place]) -> None:
        """Compute n states from *inputs* to *outputs* in device memory, without waiting."""
        if n:
            on.launch(self.entry(on), n, [n, *(x for place in (*inputs, *outputs) for x in place)])

    def rows_of_results(self, address: int, row: int) -> list[Place]:
        """The places of output blocks that lie one after the other in rows from *address* on."""
        places = list[Place]()
        for block in self.program.outputs:
            places.append((address, row, 1))
            address += BYTES * block.size
        return places

    def __call__(self, *blocks: FloatArray) -> FloatArray:
        """The results for arrays of NumPy, which are copied to the processor and back."""
        on = device()
        lead = np.broadcast_shapes(*(b.shape[:-1] for b in blocks))
        kept, places = [], list[Place]()
        for block in blocks:
            size = block.shape[-1]
            shared = block.ndim == 1
            rows = block if shared else np.broadcast_to(block, (*lead, size))
            array = DeviceArray.of(rows, on.ordinal)
            kept.append(array)
            places.append((array.view.address, 0 if shared else size, 1))
        n, m = prod(lead), self.program.n_outputs
        found = DeviceArray((n, m), on.ordinal)
        results = self.rows_of_results(found.view.address, m)
        self.launch(on, n, places, results)
        out = np.empty((*lead, m))
        on.read(address(out), found.view.address, out.nbytes)
        return out
