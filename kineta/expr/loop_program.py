"""``LoopProgram``: a program whose operations repeat, as steps in loops over tables of places."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from kineta.expr.op import UNARY
from kineta.expr.program import Block, StraightLineProgram
from kineta.records import dataclass
from kineta.threads import once


@dataclass(frozen=True, slots=True)
class LoopStep:
    """A step: a program of blocks that stand anywhere in memory, and the memory of each block.

    memories : for each input block of *program* the index of an input block of the whole program; behind these the numbers, then
        the workspace, in which every step also has its results
    """

    program: StraightLineProgram
    memories: tuple[int, ...]


class LoopProgram(StraightLineProgram):
    """A straight-line program written as steps and a table of where each step reads and writes.

    Its size grows with the table alone, and machine code is that of the steps. The operations as a whole (``op``, ``lhs``,
    ``rhs``, ``constants``, ``results``) are written out when they are asked for.

    Attributes
    ----------
    steps : the distinct steps
    numbers : constants that steps read from memory
    table : runs, one after the other: the index of a step, how often it is done, and for each time the starts of its input blocks
        and of its results
    places : where the results stand in the workspace
    workspace : number of scalars of the workspace
    """

    steps: tuple[LoopStep, ...]
    numbers: tuple[float, ...]
    table: array[int]
    places: array[int]
    workspace: int

    def __init__(
        self,
        name: str,
        inputs: tuple[Block, ...],
        outputs: tuple[Block, ...],
        steps: tuple[LoopStep, ...],
        numbers: tuple[float, ...],
        table: array[int],
        places: array[int],
        workspace: int,
    ) -> None:
        own = {"name": name, "inputs": inputs, "outputs": outputs, "steps": steps, "numbers": numbers}
        vars(self).update(own, table=table, places=places, workspace=workspace)

    def __getattr__(self, name: str) -> Any:
        if name in ("op", "lhs", "rhs", "constants", "results"):
            vars(self).update(self._written_out())
            return vars(self)[name]
        raise AttributeError(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StraightLineProgram) and (self.name, self.digest) == (other.name, other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def n_outputs(self) -> int:
        """Number of output scalars."""
        return len(self.places)

    @once
    def n_operations(self) -> int:
        """Number of operations of all steps together."""
        return sum(len(self.steps[k].program.op) for k, _ in self.runs())

    @once
    def code_digest(self) -> str:
        """SHA-256 of what decides the machine code: programs of any length with the same steps have the same."""
        steps = [(step.program.digest, step.memories) for step in self.steps]
        return sha256(repr((len(self.inputs), steps)).encode()).hexdigest()

    @once
    def digest(self) -> str:
        """SHA-256 of the content: equal programs, equal digests."""
        found = sha256(repr((self.code_digest, self.inputs, self.outputs, self.workspace)).encode())
        for part in (array("d", self.numbers), self.table, self.places):
            found.update(part.tobytes())
        return found.hexdigest()

    def runs(self) -> Iterator[tuple[int, Sequence[int]]]:
        """Every step as it is done: its index, and the starts of its input blocks and of its results."""
        at, end = 0, len(self.table)
        while at < end:
            k, times = self.table[at : at + 2]
            width, at = len(self.steps[k].memories) + 1, at + 2
            for _ in range(times):
                yield k, self.table[at : at + width]
                at += width

    def _written_out(self) -> dict[str, tuple[Any, ...]]:
        """All operations in a row."""
        own = dict.fromkeys((*self.numbers, *(c for step in self.steps for c in step.program.constants)))
        constants = {c: 2 * (self.n_inputs + k) for k, c in enumerate(own)}
        first = self.n_inputs + len(constants)
        memories: list[list[int]] = []
        start = 0
        for block in self.inputs:
            memories.append([2 * k for k in range(start, start + block.size)])
            start += block.size
        workspace = [0] * self.workspace
        memories += [[constants[c] for c in self.numbers], workspace]
        op: list[int] = []
        lhs: list[int] = []
        rhs: list[int] = []
        for k, (*starts, to) in self.runs():
            step = self.steps[k]
            operands: list[int] = []
            for block, memory, at in zip(step.program.inputs, step.memories, starts, strict=True):
                found = memories[memory][at : at + block.size]
                operands += found + [0] * (block.size - len(found))
            operands += [constants[c] for c in step.program.constants]
            for each, a, b in zip(step.program.op, step.program.lhs, step.program.rhs, strict=True):
                operands.append(2 * (first + len(op)))
                op.append(each)
                lhs.append(operands[a >> 1] ^ a & 1)
                rhs.append(0 if each in UNARY else operands[b >> 1] ^ b & 1)
            for j, r in enumerate(step.program.results):
                workspace[to + j] = operands[r >> 1] ^ r & 1
        parts = (tuple(own), tuple(op), tuple(lhs), tuple(rhs), tuple(workspace[k] for k in self.places))
        return dict(zip(("constants", "op", "lhs", "rhs", "results"), parts, strict=True))
