"""``StraightLineProgram``: a list of operations without branches, the input of every backend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from math import prod

from kineta.errors import ExpressionError
from kineta.expr.count import Operations, count
from kineta.expr.graph import Graph, Ref
from kineta.expr.lowering import lowered
from kineta.expr.op import LEAVES, UNARY, Op
from kineta.expr.walk import reachable
from kineta.records import dataclass
from kineta.threads import once

#: Operations whose value depends on their first operand only.
_OF_ONE = UNARY | {Op.GUARD}


@dataclass(frozen=True, slots=True)
class Block:
    """A named block of scalars: an input or an output of a program, row-major."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of scalars."""
        return prod(self.shape)


@dataclass(frozen=True)
class StraightLineProgram:
    """Values numbered in the order of their computation.

    First the scalars of all input blocks, then the ``constants``, then one value per operation. An operand is ``2*value +
    sign`` with ``sign`` 1 for the negative; it always refers to an earlier value. ``op[k]`` is the
    :class:`~kineta.expr.op.Op` of the k-th operation, ``lhs`` and ``rhs`` are its operands (``rhs`` is 0 for functions of
    one argument). ``results`` are the operands of the output blocks, concatenated.
    """

    name: str
    inputs: tuple[Block, ...]
    outputs: tuple[Block, ...]
    constants: tuple[float, ...]
    op: tuple[int, ...]
    lhs: tuple[int, ...]
    rhs: tuple[int, ...]
    results: tuple[int, ...]

    @once
    def n_inputs(self) -> int:
        """Number of input scalars."""
        return sum(b.size for b in self.inputs)

    @property
    def n_outputs(self) -> int:
        """Number of output scalars."""
        return len(self.results)

    @property
    def n_operations(self) -> int:
        """Number of operations."""
        return len(self.op)

    @once
    def first_operation(self) -> int:
        """Number of the value of the first operation."""
        return self.n_inputs + len(self.constants)

    @once
    def digest(self) -> str:
        """SHA-256 of the content: equal programs, equal digests."""
        parts = (self.inputs, self.outputs, tuple(c.hex() for c in self.constants), self.op, self.lhs, self.rhs)
        return sha256(repr((*parts, self.results)).encode()).hexdigest()

    def needed(self, results: Iterable[int]) -> set[int]:
        """Numbers of the values on which the operands *results* depend, without conditions of guards."""
        first = self.first_operation
        found = {r >> 1 for r in results}
        for k in range(len(self.op) - 1, -1, -1):
            if first + k in found:
                found.add(self.lhs[k] >> 1)
                if self.op[k] not in _OF_ONE:
                    found.add(self.rhs[k] >> 1)
        return found

    def operations(self, hoisted: int = 0, results: Sequence[int] | None = None) -> Operations:
        """Operation counts of this program, or of the part that computes the operands *results*."""
        needed = self.needed(self.results if results is None else results)
        return count((op for value, op in enumerate(self.op, self.first_operation) if value in needed), hoisted)


def program(
    graph: Graph,
    inputs: Mapping[str, Sequence[Ref]],
    outputs: Mapping[str, tuple[tuple[int, ...], Sequence[Ref]]],
    name: str = "f",
) -> StraightLineProgram:
    """The straight-line program that computes *outputs* (name to shape and references) from the symbols of *inputs*.

    An input may be any node, not only a symbol; nodes below inputs are not computed. Raises :class:`ExpressionError` for an
    output that depends on a symbol outside all input blocks.
    """
    given: dict[int, int] = {}
    position = 0
    for refs in inputs.values():
        for ref in refs:
            given.setdefault(ref >> 1, 2 * position | ref & 1)
            position += 1
    roots = lowered(graph, [ref for _, refs in outputs.values() for ref in refs], given)
    needed = [i for i in reachable(graph, roots, given) if i not in given]
    constants = [i for i in needed if graph.op[i] == Op.CONST]
    body = [i for i in needed if graph.op[i] not in LEAVES]
    missing = [graph.names[graph.lhs[i]] for i in needed if graph.op[i] == Op.SYMBOL]
    if missing:
        raise ExpressionError(f"Program '{name}' needs the symbol '{missing[0]}', which is not among its inputs.")
    operand = dict(given)  # operand by node
    for k, i in enumerate([*constants, *body]):
        operand[i] = 2 * (position + k)
    op, lhs, rhs = graph.op, graph.lhs, graph.rhs
    return StraightLineProgram(
        name=name,
        inputs=tuple(Block(n, (len(refs),)) for n, refs in inputs.items()),
        outputs=tuple(Block(n, shape) for n, (shape, _) in outputs.items()),
        constants=tuple(graph.constants[lhs[i]] for i in constants),
        op=tuple(op[i] for i in body),
        lhs=tuple(operand[lhs[i] >> 1] ^ lhs[i] & 1 for i in body),
        rhs=tuple(0 if op[i] in UNARY else operand[rhs[i] >> 1] ^ rhs[i] & 1 for i in body),
        results=tuple(operand[r >> 1] ^ r & 1 for r in roots),
    )
