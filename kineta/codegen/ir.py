"""Programs as LLVM IR text.

Text is written directly: it is several times faster than building the module object by object. A program becomes a *core*
function, for one state (width 1) or for as many states as a vector has lanes, cut into chunks where it is long, because
the time LLVM takes grows faster than the length of a function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kineta.codegen.order import schedule
from kineta.codegen.sincos import constant, real, suffix
from kineta.expr.op import LIBM, UNARY, Op
from kineta.expr.program import Program

#: Operations in one function at most.
CHUNK = 3000

#: Binary operations that are one instruction.
_INSTRUCTION = {Op.ADD: "fadd contract", Op.MUL: "fmul contract", Op.DIV: "fdiv"}
#: Operations that are an intrinsic of LLVM.
_INTRINSIC = {Op.SQRT: "sqrt", Op.ABS: "fabs", Op.MIN: "minimum", Op.MAX: "maximum"}
#: Operations that are a function of the C library.
LIBRARY = {op: name for op, name in LIBM.items() if op not in (Op.SQRT, Op.SIN, Op.COS)}


@dataclass(slots=True)
class Needs:
    """Helpers that the emitted functions call: (name, width), (C function, width, number of arguments)."""

    sincos: set[int] = field(default_factory=set)
    lanes: set[tuple[str, int, int]] = field(default_factory=set)


def core(program: Program, width: int, packed: int, needs: Needs) -> str:
    """Definition of the core function(s) of *program*.

    Width 1: ``@name.core.1(ptr in_0, ..., ptr out)``. Wider: ``@name.core.W(ptr in, ptr out)`` with all inputs and outputs as
    vectors one after the other. *packed* is the most angles whose sines a scalar core takes in one vector.
    """
    chunks = _chunks(schedule(program))
    slots, n_slots = _slots(program, chunks)
    parameters = _parameters(program, width)
    name = f"@{program.name}.core.{width}"
    if len(chunks) == 1:
        body = _Body(program, width, packed, needs, {}).write(chunks[0])
        return f"define internal void {name}({parameters}) nounwind {{\n{body}  ret void\n}}\n"
    parts = []
    calls = []
    arguments = ", ".join(f"ptr {p.split()[-1]}" for p in parameters.split(", "))
    for i, chunk in enumerate(chunks):
        body = _Body(program, width, packed, needs, slots).write(chunk)
        head = f"{name}.{i}({parameters}, ptr noalias %w)"
        parts.append(f"define internal void {head} nounwind noinline {{\n{body}  ret void\n}}\n")
        calls.append(f"  call void {name}.{i}({arguments}, ptr %w)\n")
    scratch = f"  %w = alloca [{max(n_slots, 1)} x {real(width)}], align 64\n"
    parts.append(f"define internal void {name}({parameters}) nounwind {{\n{scratch}{''.join(calls)}  ret void\n}}\n")
    return "".join(parts)


def _parameters(program: Program, width: int) -> str:
    blocks = [f"%in{i}" for i in range(len(program.inputs))] if width == 1 else ["%in"]
    return ", ".join(f"ptr noalias {p}" for p in (*blocks, "%out"))


def _chunks(order: Sequence[int | list[int]]) -> list[list[int | list[int]]]:
    chunks: list[list[int | list[int]]] = [[]]
    for item in order:
        if len(chunks[-1]) >= CHUNK:
            chunks.append([])
        chunks[-1].append(item)
    return chunks


def _flat(chunk: Sequence[int | list[int]]) -> list[int]:
    return [k for item in chunk for k in (item if isinstance(item, list) else [item])]


def _slots(program: Program, chunks: Sequence[Sequence[int | list[int]]]) -> tuple[dict[int, int], int]:
    """Scratch slots of the values (by number) that a later chunk needs; slots are used again after the last need."""
    if len(chunks) == 1:
        return {}, 0
    first = program.first_operation
    home = {first + k: c for c, chunk in enumerate(chunks) for k in _flat(chunk)}
    last: dict[int, int] = {}
    for value, c in home.items():
        k = value - first
        for r in (program.lhs[k],) if program.op[k] in UNARY else (program.lhs[k], program.rhs[k]):
            if r >> 1 >= first:
                last[r >> 1] = max(last.get(r >> 1, 0), c)
    crossing = [v for v, c in last.items() if c > home[v]]
    released: dict[int, list[int]] = {}
    born: dict[int, list[int]] = {}
    for v in crossing:
        born.setdefault(home[v], []).append(v)
    slots: dict[int, int] = {}
    free: list[int] = []
    count = 0
    for c in range(len(chunks)):
        for v in born.get(c, []):
            if not free:
                free.append(count)
                count += 1
            slots[v] = free.pop()
            released.setdefault(last[v], []).append(slots[v])
        free.extend(released.pop(c, []))
    return slots, count


class _Body:
    """Writer of the instructions of one chunk."""

    def __init__(self, program: Program, width: int, packed: int, needs: Needs, slots: dict[int, int]) -> None:
        self.program = program
        self.width = width
        self.packed = packed
        self.needs = needs
        self.slots = slots
        self.T = real(width)
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.negated: dict[int, str] = {}
        self.sources = [(b, offset) for b, block in enumerate(program.inputs) for offset in range(block.size)]

    def write(self, chunk: Sequence[int | list[int]]) -> str:
        """The instructions of *chunk*, with the stores of the results and scratch values that it makes."""
        for item in chunk:
            if isinstance(item, list):
                self._trig(item)
            else:
                self._operation(item)
        made = {self.program.first_operation + k for k in _flat(chunk)}
        for value in sorted(made & self.slots.keys()):
            self._store(self.names[value], "%w", self.slots[value])
        self._results(made)
        return "".join(self.lines)

    def _results(self, made: set[int]) -> None:
        """Stores of the results; those that no operation makes belong to the chunk with the first operation."""
        first = self.program.first_operation
        leading = first in made or not self.program.op
        for position, r in enumerate(self.program.results):
            if r >> 1 in made or (leading and r >> 1 < first):
                self._store(self._signed(r), "%out", position)

    # -- values ---------------------------------------------------------------------------------------------------

    def _put(self, text: str) -> None:
        self.lines.append(f"  {text}\n")

    def _store(self, value: str, base: str, index: int) -> None:
        p = f"%p{len(self.lines)}"
        self._put(f"{p} = getelementptr {self.T}, ptr {base}, i64 {index}")
        self._put(f"store {self.T} {value}, ptr {p}, align {8 * self.width}")

    def _load(self, name: str, base: str, index: int) -> str:
        p = f"%p{len(self.lines)}"
        self._put(f"{p} = getelementptr {self.T}, ptr {base}, i64 {index}")
        self._put(f"{name} = load {self.T}, ptr {p}, align {8 * self.width}")
        return name

    def _value(self, value: int) -> str:
        """The value of that number: a literal, an input, a scratch slot, or what an operation made."""
        found = self.names.get(value)
        if found is not None:
            return found
        program = self.program
        if value < program.n_inputs:
            block, offset = self.sources[value]
            base, index = (f"%in{block}", offset) if self.width == 1 else ("%in", value)
            found = self._load(f"%x{value}", base, index)
        elif value < program.first_operation:
            found = constant(program.constants[value - program.n_inputs], self.width)
        else:
            found = self._load(f"%s{value}", "%w", self.slots[value])
        self.names[value] = found
        return found

    def _signed(self, ref: int) -> str:
        """The operand *ref*, negated where its sign bit says so."""
        value = self._value(ref >> 1)
        if not ref & 1:
            return value
        if ref not in self.negated:
            self._put(f"%m{ref} = fneg {self.T} {value}")
            self.negated[ref] = f"%m{ref}"
        return self.negated[ref]

    # -- operations -----------------------------------------------------------------------------------------------

    def _operation(self, k: int) -> None:
        program, T = self.program, self.T
        op, a, b = program.op[k], program.lhs[k], program.rhs[k]
        name = f"%v{program.first_operation + k}"
        if op == Op.ADD and b & 1:
            self._put(f"{name} = fsub contract {T} {self._signed(a)}, {self._value(b >> 1)}")
        elif op in _INSTRUCTION:
            self._put(f"{name} = {_INSTRUCTION[Op(op)]} {T} {self._signed(a)}, {self._signed(b)}")
        else:
            operands = [self._signed(a)] if op in UNARY else [self._signed(a), self._signed(b)]
            self._function(name, Op(op), operands)
        self.names[program.first_operation + k] = name

    def _function(self, name: str, op: Op, operands: Sequence[str]) -> None:
        T = self.T
        arguments = ", ".join(f"{T} {o}" for o in operands)
        if op in _INTRINSIC:
            self._put(f"{name} = call {T} @llvm.{_INTRINSIC[op]}.{suffix(self.width)}({arguments})")
        elif op in LIBRARY:
            self.needs.lanes.add((LIBRARY[op], self.width, len(operands)))
            self._put(f"{name} = call {T} @lanes.{LIBRARY[op]}.{self.width}({arguments})")
        else:
            _CHOICES[op](self._put, name, operands[0], self.width)

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
        self._put(f"{tag} = call {{{W}, {W}}} @sincos.{width}({W} {packed})")
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


def _sign(put: Callable[[str], None], name: str, x: str, width: int) -> None:
    """-1, 0, 1; NaN stays NaN."""
    T, B = real(width), "i1" if width == 1 else f"<{width} x i1>"
    put(f"{name}n = fcmp olt {T} {x}, {constant(0.0, width)}")
    put(f"{name}p = fcmp ogt {T} {x}, {constant(0.0, width)}")
    put(f"{name}m = select {B} {name}n, {T} {constant(-1.0, width)}, {T} {x}")
    put(f"{name} = select {B} {name}p, {T} {constant(1.0, width)}, {T} {name}m")


def _step(put: Callable[[str], None], name: str, x: str, width: int) -> None:
    """1 above zero, else 0."""
    T, B = real(width), "i1" if width == 1 else f"<{width} x i1>"
    put(f"{name}p = fcmp ogt {T} {x}, {constant(0.0, width)}")
    put(f"{name} = select {B} {name}p, {T} {constant(1.0, width)}, {T} {constant(0.0, width)}")


_CHOICES: dict[Op, Callable[[Callable[[str], None], str, str, int], None]] = {Op.SIGN: _sign, Op.STEP: _step}
