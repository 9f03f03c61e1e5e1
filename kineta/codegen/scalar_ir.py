"""Programs as LLVM IR text.

Writing text is several times faster than building a module object by object. A program becomes a *core* function, for one
state (width 1) or one state per SIMD lane, split into as many functions as its spill plan has chunks.

What is rounded is told by the text, not chosen by LLVM, whose choice may be another one for vectors than for numbers: a product
that the schedule has put together with a sum is fused with it where the processor fuses, and nothing else is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import field
from itertools import groupby

from kineta.codegen.lookup import SEARCH, Arrays
from kineta.codegen.schedule import TRIG
from kineta.codegen.sincos import SINES, constant, real, suffix
from kineta.codegen.spilling import Bundle, SpillPlan
from kineta.expr.graph import Ref
from kineta.expr.op import LIBM, UNARY, Op
from kineta.expr.program import StraightLineProgram
from kineta.expr.row import StepRow
from kineta.records import dataclass

#: Binary operations with an instruction of their own.
_INSTRUCTION = {Op.ADD: "fadd", Op.MUL: "fmul", Op.DIV: "fdiv"}
#: Operations with an LLVM intrinsic.
_INTRINSIC = {Op.SQRT: "sqrt", Op.ABS: "fabs", Op.FLOOR: "floor", Op.MIN: "minimum", Op.MAX: "maximum"}
#: Operations of the C library.
LIBRARY = {op: name for op, name in LIBM.items() if op not in (Op.SQRT, Op.SIN, Op.COS)}


#: Number of results that are zero one after the other, from which on they are set at once.
LONG = 8
_ZERO = (0.0).hex()

#: Results at most that are kept in registers to the end of a chunk.
KEPT = 18
#: Distances that one byte of an x86 instruction tells: in bytes, or in vectors of 64 bytes.
REACH = 256
#: Results from which on their lines of the cache are prefetched: where these are in no cache of the core, stores would wait.
MANY = 512
#: Windows of scratch memory in registers at most.
WINDOWS = 9

#: Appends one instruction and returns its value.
Put = Callable[[str], None]


@dataclass(slots=True)
class Needs:
    """Helpers called by the emitted functions: (name, width), (C function, width, number of arguments); and arrays they read."""

    sincos: set[int] = field(default_factory=set)
    lanes: set[tuple[str, int, int]] = field(default_factory=set)
    arrays: Arrays = field(default_factory=Arrays)


def core(
    plan: SpillPlan,
    results: Sequence[Ref],
    width: int,
    packed: int,
    needs: Needs,
    shared: Container[int] = (),
    *,
    fused: bool,
    later: int = 0,
) -> str:
    """Definition of the core functions of a program with the output operands *results*.

    They are ``@name.core.W(ptr in_0, ..., ptr out)`` for the width W, of numbers or vectors. *packed* is the largest number of
    angles whose sines a scalar core computes in one vector; the input blocks *shared*, by index, are numbers at any width. With
    *fused* sums take in the products that are scheduled with them. Results are prefetched before they are stored; those that
    stand behind a last parameter ``ptr later`` and are stored by others if there are so many of them *later*.
    """
    program = plan.program
    pointers = [*(f"%in{i}" for i in range(len(program.inputs))), "%out"]
    writer = ScalarWriter(program, results, width, packed, needs, shared, fused=fused)
    name, more, n = f"@{program.name}.core.{width}", ["%later"] if later else [], later or len(results)
    near = _prefetches([*pointers, *more][-1], n, len(plan.chunks)) if width == 1 and n >= MANY else ()
    return functions(plan, writer, name, pointers, more, near)


def functions(
    plan: SpillPlan,
    writer: ScalarWriter,
    name: str,
    pointers: Sequence[str],
    more: Sequence[str] = (),
    behind: Sequence[str] = (),
) -> str:
    """Definition of the function *name* of *pointers* and *more*: what *writer* makes of the chunks of *plan*, each with
    instructions *behind* it.
    """
    bodies = [writer.body(chunk) for chunk in plan.chunks]
    given, parameters = (", ".join(f"ptr noalias {p}" for p in own) for own in (pointers, [*pointers, *more]))
    # Spilled vectors are whole in lines of the cache.
    aligned = f" alignstack({8 * writer.width})" if writer.width > 1 else ""
    if len(bodies) == 1:
        return f"define internal void {name}({parameters}) nounwind{aligned} {{\n{bodies[0]}  ret void\n}}\n"
    parts = [
        f"define internal void {name}.{i}({given}, ptr noalias %w) nounwind noinline{aligned} {{\n{body}  ret void\n}}\n"
        for i, body in enumerate(bodies)
    ]
    arguments = ", ".join(f"ptr {p}" for p in pointers)
    calls = "".join(
        f"  call void {name}.{i}({arguments}, ptr %w)\n{text}" for i, text in enumerate(behind or [""] * len(bodies))
    )
    scratch = f"  %w = alloca [{plan.slots} x {writer.T}], align 64\n"
    parts.append(f"define internal void {name}({parameters}) nounwind {{\n{scratch}{calls}  ret void\n}}\n")
    return "".join(parts)


def _prefetches(base: str, results: int, chunks: int) -> list[str]:
    """Behind each of some *chunks* the instructions that prefetch lines of the cache with some of the *results*."""
    lines = -(-results // 8)
    texts = [
        f"  %line{k} = getelementptr double, ptr {base}, i64 {8 * k}\n"
        f"  call void @llvm.prefetch.p0(ptr %line{k}, i32 1, i32 3, i32 1)\n"
        for k in range(lines)
    ]
    return ["".join(texts[lines * i // chunks : lines * (i + 1) // chunks]) for i in range(chunks)]


class ScalarWriter:
    """Writer of the instructions of the chunks, one after the other."""

    #: The type of addresses, and what stands behind loads.
    pointer, loaded = "ptr", ""

    def __init__(
        self,
        program: StraightLineProgram,
        results: Sequence[Ref],
        width: int,
        packed: int,
        needs: Needs,
        shared: Container[int] = (),
        *,
        fused: bool,
    ) -> None:
        self.program = program
        self.width = width
        self.packed = packed
        self.needs = needs
        self.shared = shared
        self.fused = fused
        self.T = real(width)
        self.reach = REACH if width == 8 else REACH // (8 * width)
        self.sources = [(b, offset) for b, block in enumerate(program.inputs) for offset in range(block.size)]
        self.results: dict[int, list[tuple[int, Ref]]] = {}
        for position, r in enumerate(results):
            self.results.setdefault(r >> 1, []).append((position, r))
        # A few stores wait for the end of a chunk: stores between operations constrain their order at a higher cost than keeping
        # the results.
        self.wait = len(self.results) <= KEPT
        self.given = [v for v in self.results if v < program.first_operation]

    def body(self, chunk: Sequence[Bundle]) -> str:
        """The instructions of *chunk* with the stores of its results; results without an operation belong to the first
        chunk.
        """
        self.lines: list[str] = []
        self.windows = Counter[int]()
        self.names: dict[int, str] = {}
        self.found: dict[tuple[Ref, tuple[float, ...]], list[str]] = {}
        first = self.program.first_operation
        self._results(self.given)
        for step in chunk:
            for k, slot in step.loads:
                self.names[first + k] = self._load(*self._scratch(slot))
            self._step(step.operations)
            for k, slot in step.stores:
                self._store(self.names[first + k], *self._scratch(slot))
            if not self.wait:
                self._results(first + k for k in step.operations)
        self._results(first + k for step in chunk for k in step.operations)
        return "".join([*self._windows(), *self.lines])

    def _scratch(self, slot: int) -> tuple[str, int]:
        """The place of a *slot* of scratch memory, from the middle of its window on."""
        window, place = divmod(slot, self.reach)
        self.windows[window] += 1
        return f"%w{window}", place - self.reach // 2

    def _windows(self) -> Iterator[str]:
        """Instructions with the middles of the windows. Those that are used most are in registers: LLVM would look at all of
        scratch memory from one address, with four bytes for the distance in place of one.
        """
        held = [window for window, uses in self.windows.most_common(WINDOWS) if uses >= 3]
        for window in self.windows:
            middle = f"getelementptr {self.T}, ptr %w, i64 {window * self.reach + self.reach // 2}"
            if window in held:
                yield f"  %w{window}.found = {middle}\n"
                yield f'  %w{window} = call ptr asm "", "=r,0"(ptr %w{window}.found)\n'
            else:
                yield f"  %w{window} = {middle}\n"

    def _results(self, values: Iterable[int]) -> None:
        """Stores of the results among *values* that are not yet stored."""
        for value in values:
            stored = self.results.pop(value, [])
            for position, r in self._zeros(stored) if self._is_zero(value) else stored:
                self._store(self._signed(r), "%out", position)

    def _is_zero(self, value: int) -> bool:
        inputs = self.program.n_inputs
        return inputs <= value < self.program.first_operation and self.program.constants[value - inputs].hex() == _ZERO

    def _zeros(self, stored: Sequence[tuple[int, Ref]]) -> Iterable[tuple[int, Ref]]:
        """Set long runs of zeros among the results *stored* at once: sparse matrices have thousands. The other results."""
        for _, group in groupby(enumerate(stored), lambda found: (found[1][1], found[1][0] - found[0])):
            run = [result for _, result in group]
            position, r = run[0]
            if len(run) < LONG or r & 1:
                yield from run
            else:
                p, size = f"%p{len(self.lines)}", 8 * self.width * len(run)
                self._put(f"{p} = getelementptr {self.T}, ptr %out, i64 {position}")
                self._put(f"call void @llvm.memset.p0.i64(ptr align {8 * self.width} {p}, i8 0, i64 {size}, i1 false)")

    def _step(self, operations: Sequence[int]) -> None:
        if self.program.op[operations[0]] in TRIG:
            self._trig(operations)
        elif self.fused and len(operations) == 2:
            self._fused(*operations)
        else:
            for k in operations:
                self._operation(k)

    # -- values ---------------------------------------------------------------------------------------------------

    def _put(self, text: str) -> None:
        self.lines.append(f"  {text}\n")

    def _place(self, base: str, index: int) -> str:
        """The address of number *index* of a block."""
        p = f"%p{len(self.lines)}"
        self._put(f"{p} = getelementptr {self.T}, {self.pointer} {base}, i64 {index}")
        return p

    def _store(self, value: str, base: str, index: int) -> None:
        p = self._place(base, index)
        self._put(f"store {self.T} {value}, {self.pointer} {p}, align {8 * self.width}")

    def _load(self, base: str, index: int) -> str:
        p = self._place(base, index)
        name = f"%l{len(self.lines)}"
        self._put(f"{name} = load {self.T}, {self.pointer} {p}, align {8 * self.width}{self.loaded}")
        return name

    def _spread(self, base: str, index: int) -> str:
        """Number *index* of a block of numbers, in every lane."""
        p = f"%p{len(self.lines)}"
        self._put(f"{p} = getelementptr double, ptr {base}, i64 {index}")
        self._put(f"{p}.d = load double, ptr {p}, align 8")
        self._put(f"{p}.v = insertelement {self.T} poison, double {p}.d, i32 0")
        self._put(f"{p}.s = shufflevector {self.T} {p}.v, {self.T} poison, <{self.width} x i32> zeroinitializer")
        return f"{p}.s"

    def _value(self, value: int) -> str:
        """The operand for a value number: a literal, an input, or the result of an operation."""
        if value not in self.names:
            inputs = self.program.n_inputs
            if value >= inputs:
                self.names[value] = constant(self.program.constants[value - inputs], self.width)
            else:
                block, offset = self.sources[value]
                spread = self.width > 1 and block in self.shared
                self.names[value] = (self._spread if spread else self._load)(f"%in{block}", offset)
        return self.names[value]

    def _signed(self, ref: int) -> str:
        """The operand *ref*, negated for a set sign bit."""
        value = self._value(ref >> 1)
        if not ref & 1:
            return value
        name = f"%m{len(self.lines)}"
        self._put(f"{name} = fneg {self.T} {value}")
        return name

    # -- operations -----------------------------------------------------------------------------------------------

    def _operation(self, k: int) -> None:
        program, T = self.program, self.T
        op, a, b = program.op[k], program.lhs[k], program.rhs[k]
        name = f"%v{program.first_operation + k}"
        if op == Op.ADD and b & 1:
            self._put(f"{name} = fsub {T} {self._signed(a)}, {self._value(b >> 1)}")
        elif op == Op.LOOKUP:
            row = program.constants[(b >> 1) - program.n_inputs]
            assert isinstance(row, StepRow)
            self._lookup(name, a, row)
        elif op in _INSTRUCTION:
            self._put(f"{name} = {_INSTRUCTION[Op(op)]} {T} {self._signed(a)}, {self._signed(b)}")
        else:
            operands = [self._signed(a)] if op in UNARY else [self._signed(a), self._signed(b)]
            self._function(name, Op(op), operands)
        self.names[program.first_operation + k] = name

    def _lookup(self, name: str, a: Ref, row: StepRow) -> None:
        """The value of a *row* at the operand *a*, in each lane."""
        array, found = self.needs.arrays.name(row.values), "poison"
        for lane, place in enumerate(self._pieces(a, row.knots)):
            p = f"{name}.{lane}"
            self._put(f"{p}.p = getelementptr double, ptr {array}, i64 {place}")
            self._put(f"{name if self.width == 1 else f'{p}.d'} = load double, ptr {p}.p, align 8")
            if self.width > 1:
                whole = name if lane == self.width - 1 else f"{p}.v"
                self._put(f"{whole} = insertelement {self.T} {found}, double {p}.d, i32 {lane}")
                found = whole

    def _pieces(self, a: Ref, knots: tuple[float, ...]) -> list[str]:
        """The place of the operand *a* among *knots* in each lane, searched once in a chunk."""
        known = self.found.get((a, knots))
        if known is None:
            x, tag = self._signed(a), f"%k{len(self.lines)}"
            known = self.found[a, knots] = [f"{tag}.{lane}" for lane in range(self.width)]
            for lane, place in enumerate(known):
                quantity = x if self.width == 1 else f"{place}.x"
                if self.width > 1:
                    self._put(f"{quantity} = extractelement {self.T} {x}, i32 {lane}")
                given = f"double {quantity}, ptr {self.needs.arrays.name(knots)}, i64 {len(knots)}"
                self._put(f"{place} = call i64 @{SEARCH}({given})")
        return known

    def _fused(self, product: int, total: int) -> None:
        """The sum *total* of a *product*, which has no other user, and something else, rounded once."""
        program, first = self.program, self.program.first_operation
        a, b = program.lhs[total], program.rhs[total]
        own, other = (a, b) if a >> 1 == first + product else (b, a)
        x, y = program.lhs[product], program.rhs[product]
        if first > x >> 1 >= program.n_inputs:
            x, y = y, x  # the sign is put on what is no constant
        sign = (own ^ x ^ y) & 1
        factors = self._signed(x & ~1 | sign), self._value(y >> 1)
        arguments = ", ".join(f"{self.T} {z}" for z in (*factors, self._signed(other)))
        name = f"%v{first + total}"
        self._put(f"{name} = call {self.T} @llvm.fma.{suffix(self.width)}({arguments})")
        self.names[first + total] = name

    def _function(self, name: str, op: Op, operands: Sequence[str]) -> None:
        T = self.T
        arguments = ", ".join(f"{T} {o}" for o in operands)
        if op in _INTRINSIC:
            self._put(f"{name} = call {T} @llvm.{_INTRINSIC[op]}.{suffix(self.width)}({arguments})")
        elif op in LIBRARY:
            self._put(f"{name} = call {T} @{self._library(LIBRARY[op], len(operands))}({arguments})")
        else:
            _CHOICES[op](self._put, name, operands, self.width)

    def _library(self, function: str, arguments: int) -> str:
        """The name of a function of the C library here."""
        self.needs.lanes.add((function, self.width, arguments))
        return f"lanes.{function}.{self.width}"

    def _trig(self, group: Sequence[int]) -> None:
        """Sines and cosines of all angles of *group*, several angles of one state in one vector."""
        angles = list(dict.fromkeys(self.program.lhs[k] for k in group))
        step = self.packed if self.width == 1 else 1
        for start in range(0, len(angles), step):
            self._sincos(group, angles[start : start + step])

    def _sincos(self, group: Sequence[int], angles: Sequence[int]) -> None:
        n = len(angles)
        operands = [self._signed(a) for a in angles]
        lanes = 1 << (n - 1).bit_length()
        width = self.width * lanes
        self.needs.sincos.add(width)
        W = real(width)
        tag = f"%t{len(self.lines)}"
        packed = operands[0]
        if lanes > 1:
            packed = "zeroinitializer"
            for lane, operand in enumerate(operands):
                self._put(f"{tag}.{lane} = insertelement {W} {packed}, double {operand}, i32 {lane}")
                packed = f"{tag}.{lane}"
        self._put(f"{tag} = call {{{W}, {W}}} @{SINES}{width}({W} {packed})")
        for index, op in enumerate((Op.SIN, Op.COS)):
            wanted = {self.program.lhs[k]: k for k in group if self.program.op[k] == op}
            if not any(a in wanted for a in angles):
                continue
            both = f"{tag}.{op.name.lower()}"
            self._put(f"{both} = extractvalue {{{W}, {W}}} {tag}, {index}")
            for lane, angle in enumerate(angles):
                if angle in wanted:
                    value = self.program.first_operation + wanted[angle]
                    name = both if lanes == 1 else f"%v{value}"
                    if lanes > 1:
                        self._put(f"{name} = extractelement {W} {both}, i32 {lane}")
                    self.names[value] = name


def _sign(put: Put, name: str, operands: Sequence[str], width: int) -> None:
    """-1, 0, 1; NaN stays NaN."""
    T, B, x = real(width), _truth(width), operands[0]
    put(f"{name}n = fcmp olt {T} {x}, {constant(0.0, width)}")
    put(f"{name}p = fcmp ogt {T} {x}, {constant(0.0, width)}")
    put(f"{name}m = select {B} {name}n, {T} {constant(-1.0, width)}, {T} {x}")
    put(f"{name} = select {B} {name}p, {T} {constant(1.0, width)}, {T} {name}m")


def _step(put: Put, name: str, operands: Sequence[str], width: int) -> None:
    """1 above zero, else 0."""
    T, B, x = real(width), _truth(width), operands[0]
    put(f"{name}p = fcmp ogt {T} {x}, {constant(0.0, width)}")
    put(f"{name} = select {B} {name}p, {T} {constant(1.0, width)}, {T} {constant(0.0, width)}")


def _guard(put: Put, name: str, operands: Sequence[str], width: int) -> None:
    """The first operand for a positive second operand, else NaN."""
    T, B, (x, y) = real(width), _truth(width), operands
    put(f"{name}p = fcmp ogt {T} {y}, {constant(0.0, width)}")
    put(f"{name} = select {B} {name}p, {T} {x}, {T} {constant(math.nan, width)}")


def _where(put: Put, name: str, operands: Sequence[str], width: int) -> None:
    """The first operand for a positive second operand, else 0."""
    T, B, (x, y) = real(width), _truth(width), operands
    put(f"{name}p = fcmp ogt {T} {y}, {constant(0.0, width)}")
    put(f"{name} = select {B} {name}p, {T} {x}, {T} {constant(0.0, width)}")


def _truth(width: int) -> str:
    """Type of *width* truth values."""
    return "i1" if width == 1 else f"<{width} x i1>"


_CHOICES: dict[Op, Callable[[Put, str, Sequence[str], int], None]] = {
    Op.SIGN: _sign,
    Op.STEP: _step,
    Op.GUARD: _guard,
    Op.WHERE: _where,
}
