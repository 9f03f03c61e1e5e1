"""Functions of components as tables: those that are alike are called one after the other with the numbers of each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kineta.arrays import FloatArray, IntArray
from kineta.integration.stepping_records import (
    ComponentTable,
    ComponentTables,
    SteppingData,
)
from kineta.integration.time_stepping import CHUNK
from kineta.kernels.machine_code import machine_unit
from kineta.kernels.time_stepping import component_tables
from kineta.kernels.time_stepping.component_tables import follow_table
from kineta.memory import CompiledFunction
from kineta.runtime.contact_problem import IMPACTS
from kineta.runtime.problem import SimulationProblem
from kineta.simulation.piles.touching_shapes import ShapeFunction

#: Numbers that the steps of a segment may have.
SEGMENT_NUMBERS = 1 << 21


class TableFunctions:
    """The functions of components and the kernels of their tables, at the addresses of their machine code."""

    def memory(self, task: SimulationProblem) -> SteppingData:
        """The memory of the component *task*, with its functions."""
        return task.made.code.stepping(task.made.h, task.quaternions)

    def kernel(self, name: str) -> int:
        """The address of a kernel of tables; all are compiled together."""
        own = [getattr(component_tables, f"table_{what}") for what in ComponentTables.layout.fields]
        return machine_unit(follow_table, *own)[name].address

    def of_shapes(self, function: ShapeFunction) -> int:
        """The address of the kinematics of shapes."""
        return function.function.address

    def rows(self, size: int) -> tuple[int, int]:
        """Steps with states of this *size*, and impacts, between two pauses."""
        return int(np.clip(SEGMENT_NUMBERS // size, 1, CHUNK)), IMPACTS

    def room(self, task: SimulationProblem) -> int:
        """Numbers behind the block h that the functions of the component *task* use."""
        return 0

    def room_of_shapes(self, function: ShapeFunction) -> int:
        """Numbers behind the block h of the kinematics of shapes."""
        return 0


def chained(
    entries: Sequence[tuple[int, IntArray, int, IntArray]], blocks: FloatArray, follow: int
) -> list[ComponentTable]:
    """A table for each function of *entries*, which are an address, places of inputs, the start of a block among all *blocks*,
    and places of results; each goes on with the next, by the kernel at the address *follow*.
    """
    grouped: dict[tuple[int, int, int], list[tuple[int, IntArray, int, IntArray]]] = {}
    for entry in entries:
        grouped.setdefault((entry[0], len(entry[1]), len(entry[3])), []).append(entry)
    found = list[ComponentTable]()
    for own in [*reversed(grouped.values())] or [[]]:
        address, source, _, target = own[0] if own else (0, _flat([]), 0, _flat([]))
        table = ComponentTable(
            function=CompiledFunction(address),
            count=len(own),
            inputs=len(source),
            outputs=len(target),
            source=_flat([e[1] for e in own]),
            at=np.array([e[2] for e in own], dtype=np.int64),
            blocks=blocks,
            target=_flat([e[3] for e in own]),
            state=np.zeros(len(source)),
            found=np.zeros(len(target)),
            more=bool(found),
            following=CompiledFunction(follow),
            rest=found[0].words() if found else np.zeros(0),
        )
        found.insert(0, table)
    return found


def _flat(rows: Sequence[IntArray]) -> IntArray:
    return np.concatenate(rows).astype(np.int64) if rows else np.zeros(0, dtype=np.int64)
