"""Divergence of kernels that run in the lanes of a vector: which values differ between lanes, and where lanes part.

A value is *uniform*, one for all lanes that take part, or *varying*. Where a test varies, lanes part: statements are executed
under a mask, loops until no lane is left. A name that is set where lanes have parted and read where other lanes are, is varying.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from itertools import takewhile

from kineta.codegen.kernels import tree
from kineta.memory import FunctionType, RecordType, ScalarType
from kineta.records import dataclass

#: Where a statement stands: the statements around it at which lanes part.
Region = tuple[Hashable, ...]
#: How lanes leave a block: not at all, all together, or some of them.
_STAY, _ALL, _SOME = range(3)


@dataclass(frozen=True, slots=True)
class LaneShape:
    """How lanes hold a value.

    varying : each lane has a number of its own; an array begins at another entry in each lane
    own : of an array or a record: its memory belongs to lanes, number i of all lanes side by side; else they share it
    """

    varying: bool = False
    own: bool = False

    def join(self, other: LaneShape) -> LaneShape:
        """The shape of a value that has either."""
        return LaneShape(self.varying or other.varying, self.own or other.own)


UNIFORM, VARYING, OWN = LaneShape(), LaneShape(varying=True), LaneShape(own=True)


@dataclass(slots=True, eq=False)
class Divergence:
    """The divergence of a *kernel* for the shapes of its parameters *given*; *callees* tells that of others.

    shapes : of parameters and variables; result : of its result
    parting : statements at which lanes part; partial : those behind which some lanes are gone; by identity
    blended : names that keep the values of lanes which take no part in an assignment
    """

    kernel: tree.KernelTree
    given: tuple[LaneShape, ...]
    callees: Callable[[tree.KernelTree, tuple[LaneShape, ...]], Divergence]
    shapes: dict[str, LaneShape] = field(default_factory=dict)
    parting: set[int] = field(default_factory=set)
    partial: set[int] = field(default_factory=set)
    blended: set[str] = field(default_factory=set)
    result: LaneShape = UNIFORM
    sets: dict[str, list[Region]] = field(default_factory=dict)
    reads: dict[str, list[Region]] = field(default_factory=dict)


def divergence(
    kernel: tree.KernelTree,
    given: tuple[LaneShape, ...],
    callees: Callable[[tree.KernelTree, tuple[LaneShape, ...]], Divergence],
) -> Divergence:
    """The divergence of a *kernel*: the least in which all that follows from it holds."""
    d = Divergence(kernel, given, callees)
    d.shapes = dict.fromkeys(kernel.variables, UNIFORM) | dict(zip(kernel.parameters, given, strict=True))
    before = None
    while before != (before := (dict(d.shapes), len(d.parting), len(d.partial), d.result)):
        d.sets, d.reads = {n: [()] for n in kernel.parameters}, {}
        _block(d, kernel.body, ())
        d.blended = {n for n in d.sets if _is_blended(d, n)}
        for n in d.blended:
            d.shapes[n] = d.shapes[n].join(VARYING)
    return d


def _is_blended(d: Divergence, name: str) -> bool:
    """Whether lanes read *name* that did not take part in an assignment to it."""
    common = d.sets[name][0]
    for region in (*d.sets[name], *d.reads.get(name, ())):
        same = takewhile(lambda pair: pair[0] == pair[1], zip(common, region, strict=False))
        common = tuple(a for a, _ in same)
    return any(region != common for region in d.sets[name])


def _block(d: Divergence, body: Sequence[tree.Statement], region: Region) -> tuple[int, int]:
    """How lanes leave a block by jumps of a loop, and by return."""
    jumps, returns = _STAY, _STAY
    for s in body:
        a, b = _statement(d, s, region)
        jumps, returns = max(jumps, a), max(returns, b)
        if max(a, b) == _SOME:
            d.partial.add(id(s))
            region = (*region, ("rest", id(s)))
    return jumps, returns


def _statement(d: Divergence, s: tree.Statement, region: Region) -> tuple[int, int]:
    """How lanes leave a statement by jumps of a loop, and by return."""
    match s:
        case tree.SetVariable(name, value):
            d.sets.setdefault(name, []).append(region)
            d.shapes[name] = d.shapes[name].join(shape(d, value, region))
        case tree.SetEntry(array, index, value):
            for x in (array, index, value):
                shape(d, x, region)
        case tree.SetField(record, _, value):
            for x in (record, value):
                shape(d, x, region)
        case tree.Evaluate(call):
            shape(d, call, region)
        case tree.Jump():
            return _ALL, _STAY
        case tree.Leave(value):
            if value is not None:
                found = shape(d, value, region)
                d.result = d.result.join(found.join(VARYING) if region else found)
            return _STAY, _ALL
        case tree.Conditional():
            return _conditional(d, s, region)
        case tree.WhileLoop() | tree.CountingLoop():
            return _loop(d, s, region)
    return _STAY, _STAY


def _conditional(d: Divergence, s: tree.Conditional, region: Region) -> tuple[int, int]:
    if shape(d, s.test, region).varying:
        d.parting.add(id(s))
    parted = id(s) in d.parting
    ways = [_block(d, part, (*region, (id(s), k)) if parted else region) for k, part in enumerate((s.yes, s.no))]
    jumps, returns = (max(way[k] for way in ways) for k in range(2))
    return (_SOME if jumps else _STAY, _SOME if returns else _STAY) if parted else (jumps, returns)


def _loop(d: Divergence, s: tree.WhileLoop | tree.CountingLoop, region: Region) -> tuple[int, int]:
    parted = id(s) in d.parting
    inner = (*region, id(s)) if parted else region
    if isinstance(s, tree.WhileLoop):
        varies = shape(d, s.test, inner).varying
    else:  # a counter has no value behind its loop, so that no lane reads what others have set
        for bound in (s.start, s.stop):
            d.shapes[s.counter] = d.shapes[s.counter].join(shape(d, bound, region))
        varies = d.shapes[s.counter].varying
    jumps, returns = _block(d, s.body, inner)
    if varies or _SOME in (jumps, returns):
        d.parting.add(id(s))
    return _STAY, (_SOME if returns else _STAY) if parted else returns


def shape(d: Divergence, x: tree.Expression, region: Region) -> LaneShape:
    """The shape of an expression that is evaluated in a *region*."""
    match x:
        case tree.Constant() | tree.ConstantArray():
            return UNIFORM
        case tree.Variable(_, name):
            d.reads.setdefault(name, []).append(region)
            return d.shapes[name]
        case tree.FieldValue(kind, record, name):
            return field_shape(shape(d, record, region), record.type, kind, name)
        case tree.Entry(_, array, index):
            base, place = shape(d, array, region), shape(d, index, region)
            return LaneShape(varying=base.own or base.varying or place.varying)
        case tree.View(_, array, start):
            base = shape(d, array, region)
            return LaneShape(base.varying or shape(d, start, region).varying, base.own)
        case tree.KernelCall(_, kernel, arguments):
            return d.callees(kernel, tuple(shape(d, a, region) for a in arguments)).result
        case tree.AddressCall(_, _, arguments):
            for a in arguments:
                shape(d, a, region)
            return UNIFORM
        case tree.Operation(_, "take", (array,)):
            shape(d, array, region)
            return VARYING
        case tree.Choice(_, test, yes, no):
            chosen = shape(d, test, region)
            return shape(d, yes, region).join(shape(d, no, region)).join(LaneShape(varying=chosen.varying))
        case tree.Operation(_, _, arguments):
            shapes = [shape(d, a, region) for a in arguments]
            return LaneShape(varying=any(s.varying for s in shapes))


def field_shape(record: LaneShape, layout: object, kind: object, name: str) -> LaneShape:
    """The shape of a field of a record."""
    assert isinstance(layout, RecordType)
    if isinstance(kind, RecordType):
        return LaneShape(own=record.own and not kind.common)
    own = record.own and name not in layout.shared
    if isinstance(kind, FunctionType):
        return UNIFORM
    return LaneShape(varying=own) if isinstance(kind, ScalarType) else LaneShape(own=own)
