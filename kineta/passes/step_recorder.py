"""``StepRecorder``: steps that are written once for every pattern of their operands, and then called.

An operand is a number or a place in memory. What a step writes depends on which of its operands are the numbers 0, 1, -1, which
are equal, and how they stand in memory: only where this differs from all calls before it is written anew. So structural zeros
spread from call to call as in straight-line code, and a thousand equal links take a few steps.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Container, Hashable, Mapping, Sequence

from kineta.expr.graph import Graph, Ref, neg
from kineta.expr.loop_program import LoopProgram, LoopStep
from kineta.expr.op import COMPOSED, LEAVES, UNARY, Op
from kineta.expr.program import Block, StraightLineProgram, program
from kineta.expr.walk import reachable
from kineta.passes.simplify import simplify
from kineta.records import dataclass

#: An operand or result. Negative for the numbers of :data:`NUMBERS`; else, from the lowest bit, a sign, 4 bits of the memory, 24
#: bits of the offset in a block, and the start of the block.
Operand = int
#: The numbers that shape a step, as operands -1, -2, -3.
NUMBERS = (0.0, 1.0, -1.0)
_ZERO, _ONE, _MINUS_ONE = -1, -2, -3
_SIGN, _MEMORY, _OFFSET = 1, 4, 24
_START = _SIGN + _MEMORY + _OFFSET
_MASK = (1 << _MEMORY) - 1
_STEP = 1 << _SIGN + _MEMORY  # from an operand to the next one in a block
_BLOCK = -1 << _START | _MASK << _SIGN  # of the bits of an operand, those of its block
_CONST = int(Op.CONST)
#: Largest number of scalars of a block of a step.
LARGEST = 1 << _OFFSET

#: Writes a step: references of its results from a graph and references of its operands.
Write = Callable[[Graph, list[Ref]], Sequence[Ref]]
#: An expression as operations on leaves in a row, as of :meth:`StepRecorder.expression`.
Shape = tuple[tuple[int, ...], ...]


def rebuilt(graph: Graph, shape: Shape, leaves: Sequence[Ref]) -> list[Ref]:
    """The expressions of a *shape* on references of its *leaves*."""
    values = list(leaves)

    def operand(r: int) -> Ref:
        return neg(values[r >> 1]) if r & 1 else values[r >> 1]

    for op, *operands in shape[:-1]:
        values.append(graph.call(op, *map(operand, operands)))
    return [operand(r) for r in shape[-1]]


def shape_of(
    graph: Graph, refs: Sequence[Ref], static: Container[int], longest: float = math.inf
) -> tuple[Shape, list[int]]:
    """The *refs* as a shape, and the ids of its leaves: symbols, and nodes that are *static*. Raise :class:`UnsuitedError` beyond
    *longest* nodes, and for operations composed of others.
    """
    order = reachable(graph, refs, static)
    if len(order) > longest:
        raise UnsuitedError
    leaves = [i for i in order if i in static or graph.op[i] in LEAVES]
    number = {i: k for k, i in enumerate(leaves)}
    rows: list[tuple[int, ...]] = []
    for i in order:
        if i in number:
            continue
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if op in COMPOSED:
            raise UnsuitedError
        number[i] = len(leaves) + len(rows)
        first = 2 * number[a >> 1] | a & 1
        rows.append((op, first) if op in UNARY else (op, first, 2 * number[b >> 1] | b & 1))
    rows.append(tuple(2 * number[r >> 1] | r & 1 for r in refs))
    return tuple(rows), leaves


def _place(memory: int, start: int, offset: int = 0) -> Operand:
    return ((start << _OFFSET | offset) << _MEMORY | memory) << _SIGN


class UnsuitedError(Exception):
    """What cannot be written in steps of a bounded size."""


@dataclass(frozen=True, slots=True)
class _Written:
    """A written step: its index, its number of new results, where its distinct operands are given first, and its results:
    negative for numbers; 2 k + sign for the k-th of these operands, and behind them, in steps of operands of a block, for the
    new ones.
    """

    index: int
    size: int
    given: tuple[int, ...]
    results: tuple[int, ...]


class Hoisted:
    """Functions of *parameters* of a *graph* alone, which are computed once, in rows of the block h of one or more programs."""

    def __init__(self, graph: Graph, parameters: Sequence[Ref]) -> None:
        self.refs: list[Ref] = []
        self._graph = graph
        self._static = {r >> 1 for r in parameters}
        self._seen = 0
        self._rows: dict[tuple[int, ...], int] = {}

    def static(self) -> Container[int]:
        """Ids of all nodes that depend on numbers and parameters alone."""
        graph, static = self._graph, self._static
        op, lhs, rhs = graph.op, graph.lhs, graph.rhs
        for i in range(self._seen, len(graph)):
            kind = op[i]
            if kind == Op.CONST or (
                kind not in LEAVES and lhs[i] >> 1 in static and (kind in UNARY or rhs[i] >> 1 in static)
            ):
                static.add(i)
        self._seen = len(graph)
        return static

    def row(self, nodes: tuple[int, ...]) -> int:
        """The start of a row of *nodes* in the block."""
        start = self._rows.get(nodes)
        if start is None:
            start = self._rows[nodes] = len(self.refs)
            self.refs += (2 * i for i in nodes)
        return start

    def setup(self, parameters: Sequence[Ref], name: str) -> StraightLineProgram:
        """The program from ``p``, symbols *parameters*, to ``h``."""
        return program(self._graph, {"p": parameters}, {"h": ((len(self.refs),), self.refs)}, name)


class StepRecorder:
    """Recorder of the calls of steps, with *inputs*, blocks of symbols of the graph *source*, and behind them the block of
    *hoisted* functions. Beyond *most* steps it raises :class:`UnsuitedError`.
    """

    def __init__(self, source: Graph, inputs: Mapping[str, Sequence[Ref]], hoisted: Hoisted, most: int) -> None:
        self.source = source
        self.hoisted = hoisted
        self._most = most
        self.blocks = {name: len(refs) for name, refs in inputs.items()}
        self._places = {r >> 1: _place(m, k) for m, refs in enumerate(inputs.values()) for k, r in enumerate(refs)}
        self._memory = len(self.blocks) + 1  # of numbers; the next is the workspace
        self._numbers: list[float] = []
        self._rows: dict[tuple[float, ...], int] = {}
        self._written: dict[Hashable, _Written] = {}
        self._steps: list[LoopStep] = []
        self._calls: list[tuple[int, tuple[int, ...]]] = []
        self._top = 0

    def constants(self, refs: Sequence[Ref]) -> list[Operand]:
        """Operands for *refs* that depend on parameters alone, in one row. Raise :class:`UnsuitedError` for others."""
        static, kinds = self.hoisted.static(), self.source.op
        number, function = _place(self._memory, 0), _place(len(self.blocks), 0)
        numbers: dict[int, int] = {}
        functions: dict[int, int] = {}
        found: list[Operand] = []
        for r in refs:
            i = r >> 1
            if r < 4:
                found.append(_ZERO if r < 2 else _MINUS_ONE if r & 1 else _ONE)
            elif kinds[i] == _CONST:
                found.append(numbers.setdefault(i, len(numbers)) * _STEP + number | r & 1)
            elif i in static:
                found.append(functions.setdefault(i, len(functions)) * _STEP + function | r & 1)
            else:
                raise UnsuitedError
        at, values = self.source.lhs, self.source.constants
        lift = self._row(tuple(values[at[i]] for i in numbers)) << _START if numbers else 0
        if not functions:
            return [x + lift if x >= 0 else x for x in found]
        other, mask = self.hoisted.row(tuple(functions)) << _START, _MASK << _SIGN
        return [x if x < 0 else x + (lift if x & mask == number else other) for x in found]

    def _row(self, numbers: tuple[float, ...]) -> int:
        start = self._rows.get(numbers)
        if start is None:
            start = self._rows[numbers] = len(self._numbers)
            self._numbers += numbers
        return start

    def expression(self, refs: Sequence[Ref], longest: float = math.inf) -> tuple[Shape, list[Operand]]:
        """The *refs* as a shape, and its leaves as operands. Raise :class:`UnsuitedError` beyond *longest* nodes, and for
        operations composed of others. Shapes of any length read their symbols from places that belong to the shape.
        """
        static = self.hoisted.static()
        shape, leaves = shape_of(self.source, refs, static, longest)
        fixed = [i for i in leaves if i in static]
        known = dict(zip(fixed, self.constants([2 * i for i in fixed]), strict=True))
        moving = longest < math.inf
        return shape, [known[i] if i in known else self._symbol(i, moving) for i in leaves]

    def variables(self, refs: Sequence[Ref]) -> list[Operand]:
        """The input symbols *refs* as operands, each a block of its own."""
        return [self._symbol(r >> 1, True) for r in refs]

    def _symbol(self, i: int, moving: bool) -> Operand:
        """Symbol *i* at the start of a block, or for steps that do not move at its offset in the input block."""
        if i not in self._places:
            raise UnsuitedError
        place = self._places[i]
        return place if moving else place >> _START << _SIGN + _MEMORY | place & (_MASK << _SIGN)

    def opposite(self, x: Operand) -> Operand:
        """The operand *x* with the other sign."""
        return x ^ 1 if x >= 0 else {_ONE: _MINUS_ONE, _MINUS_ONE: _ONE}.get(x, x)

    def evaluated(self, refs: Sequence[Ref], longest: float = math.inf) -> list[Operand]:
        """Expressions *refs* as :meth:`expression`, evaluated."""
        shape, leaves = self.expression(refs, longest)
        return self.call(("evaluated", shape), lambda graph, given: rebuilt(graph, shape, given), leaves)

    def call(self, key: Hashable, write: Write, operands: Sequence[Operand], *, apart: bool = False) -> list[Operand]:
        """The results of the step *key* on *operands*, written by *write* where it meets a new pattern. Results but numbers
        stand *apart*, each in a place of its own: so steps on them do not differ by signs, or by what is equal.
        """
        blocks = [x & _BLOCK for x in operands]
        number = {block: k for k, block in enumerate(dict.fromkeys(blocks))}
        used = [block for block in number if block >= 0]
        memories = tuple([block >> _SIGN & _MASK for block in used])
        offsets, places = tuple([x & ~_BLOCK for x in operands]), tuple([number[block] for block in blocks])
        full = key, offsets, places, memories
        written = self._written.get(full)
        if written is None:
            written = self._written[full] = self._write(write, operands, used, apart)
        to, n = self._top, 2 * len(written.given)
        if written.size:
            self._calls.append((written.index, (*[block >> _START for block in used], to)))
            self._top += written.size
        first = _place(self._memory + 1, to) - n
        return [
            r if r < 0 else operands[written.given[r >> 1]] & -2 | r & 1 if r < n else first + r
            for r in written.results
        ]

    def _write(self, write: Write, operands: Sequence[Operand], blocks: Sequence[int], apart: bool) -> _Written:
        """Write the step that reads *operands* in *blocks*."""
        slots: dict[Operand, int] = {}
        first: list[int] = []
        for k, x in enumerate(operands):
            if x >= 0 and x & -2 not in slots:
                slots[x & -2] = len(first)
                first.append(k)
        number = {block: k for k, block in enumerate(blocks)}
        places = [(number[x & _BLOCK], x >> _SIGN + _MEMORY & LARGEST - 1) for x in slots]
        graph = Graph()
        symbols = [graph.symbol(f"x{k}") for k in range(len(places))]
        numbers = [graph.const(x) for x in NUMBERS]
        given = [symbols[slots[x & -2]] ^ x & 1 if x >= 0 else numbers[-1 - x] for x in operands]
        into = Graph()
        refs = simplify(graph, write(graph, given), (), into)
        symbols = [into.symbol(f"x{k}") for k in range(len(places))]
        known = {s: k for k, s in enumerate(symbols)}
        fixed = {into.const(x): -1 - k for k, x in enumerate(NUMBERS)}
        new: list[Ref] = []
        at: dict[Ref, int] = {}
        results: list[int] = []
        for r in refs:
            if r in fixed:
                results.append(fixed[r])
            elif apart:
                results.append(2 * len(symbols) + len(new) * _STEP)
                new.append(r)
            elif r & -2 in known:
                results.append(2 * known[r & -2] | r & 1)
            else:
                if r & -2 not in at:
                    at[r & -2] = len(new)
                    new.append(r & -2)
                results.append(2 * len(symbols) + at[r & -2] * _STEP | r & 1)
        memories = tuple([block >> _SIGN & _MASK for block in blocks])
        index = self._step(into, dict(zip(places, symbols, strict=True)), memories, new) if new else -1
        return _Written(index, len(new), tuple(first), tuple(results))

    def _step(
        self, graph: Graph, symbols: Mapping[tuple[int, int], Ref], memories: tuple[int, ...], results: Sequence[Ref]
    ) -> int:
        """The index of a new step with *symbols* at (block, offset)."""
        sizes = [0] * len(memories)
        for block, offset in symbols:
            sizes[block] = max(sizes[block], offset + 1)
        if len(results) > LARGEST or len(self._steps) == self._most:
            raise UnsuitedError
        inputs = {f"b{m}": [graph.symbol(f"b{m}.{k}") for k in range(size)] for m, size in enumerate(sizes)}
        for (block, offset), symbol in symbols.items():
            inputs[f"b{block}"][offset] = symbol
        own = program(graph, inputs, {"y": ((len(results),), results)}, f"step{len(self._steps)}")
        self._steps.append(LoopStep(own, memories))
        return len(self._steps) - 1

    def _copied(self, x: Operand) -> Operand:
        """The operand *x* as a new result in the workspace."""
        memory, offset = x >> _SIGN & _MASK, x >> _SIGN + _MEMORY & LARGEST - 1
        key = "copied", x if x < 0 else (x & 1, memory, offset)
        written = self._written.get(key)
        if written is None:
            graph = Graph()
            symbol = graph.symbol("x") if x >= 0 else graph.const(NUMBERS[-1 - x])
            symbols = {(0, offset): symbol} if x >= 0 else {}
            index = self._step(graph, symbols, (memory,) if x >= 0 else (), [symbol ^ x & 1 if x >= 0 else symbol])
            written = self._written[key] = _Written(index, 1, (), ())
        to = self._top
        self._calls.append((written.index, (x >> _START, to) if x >= 0 else (to,)))
        self._top += 1
        return _place(self._memory + 1, to)

    def program(self, name: str, outputs: Mapping[str, tuple[tuple[int, ...], Sequence[Operand]]]) -> LoopProgram:
        """The program of all calls with *outputs*, shapes and operands by name."""
        places = array("i")
        for x in (x for _, operands in outputs.values() for x in operands):
            inside = x >= 0 and not x & 1 and x >> _SIGN & _MASK == self._memory + 1
            place = x if inside else self._copied(x)
            places.append((place >> _START) + (place >> _SIGN + _MEMORY & LARGEST - 1))
        table = array("i")
        last = count = -1
        for k, starts in self._calls:
            if k != last:
                last, count = k, len(table) + 1
                table.extend((k, 0))
            table[count] += 1
            table.extend(starts)
        blocks = (*(Block(n, (size,)) for n, size in self.blocks.items()), Block("h", (len(self.hoisted.refs),)))
        ends = tuple(Block(n, shape) for n, (shape, _) in outputs.items())
        return LoopProgram(name, blocks, ends, tuple(self._steps), tuple(self._numbers), table, places, self._top)
