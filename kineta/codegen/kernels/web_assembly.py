"""The back end ``wasm``: kernels as a module of WebAssembly. It gives the bits of the others.

Addresses have 32 bits, fields of records eight bytes. Compiled functions are entries of the table. Functions of the C library and
``fma`` come from outside.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import field

from kineta.codegen.kernels import tree
from kineta.codegen.wasm import F64, I32, I64, PAGE, Signature, WasmFunction, WasmModule, local_order, signed, unsigned
from kineta.memory import BOOLEAN, INTEGER, NOTHING, REAL, FunctionType, MemoryType, RecordType
from kineta.records import dataclass

_TYPES: dict[MemoryType, bytes] = {REAL: F64, INTEGER: I64}
_LOAD = {F64: b"\x2b\x03", I64: b"\x29\x03", I32: b"\x28\x02"}
_STORE = {F64: b"\x39\x03", I64: b"\x37\x03"}


def _codes(text: str) -> dict[str, bytes]:
    """Instructions by operation."""
    words = text.split()
    return {name: bytes.fromhex(code) for name, code in zip(words[::2], words[1::2], strict=True)}


_REALS = _codes(
    "add a0 sub a1 mul a2 div a3 neg 9a real b9 sqrt 9f fabs 99 floor 9c copysign a6 eq 61 ne 62 lt 63 gt 64 le 65 ge 66"
)
_INTEGERS = _codes("add 7c sub 7d mul 7e eq 51 ne 52 lt 53 gt 55 le 57 ge 59")
_TRUTHS = _codes("eq 46 ne 47 not 45")
_EMPTY = b"\x40"


def _smaller(sign: bytes) -> bytes:
    """The second argument if it is beyond the first, else the first."""
    return b"\x20\x01\x20\x00\x20\x01\x20\x00" + sign + b"\x1b"


#: The remainder in variable 2, and whether its sign differs from that of the divisor.
_REST = b"\x20\x00\x20\x01\x81\x22\x02\x42\x00\x52\x20\x02\x20\x01\x85\x42\x00\x53\x71"
#: Functions without an instruction: name, type, local variables, instructions.
_HELPERS: dict[tuple[str, bytes], tuple[bytes, bytes]] = {
    ("min", F64): (b"", _smaller(_REALS["lt"])),
    ("max", F64): (b"", _smaller(_REALS["gt"])),
    ("min", I64): (b"", _smaller(_INTEGERS["lt"])),
    ("max", I64): (b"", _smaller(_INTEGERS["gt"])),
    ("floordiv", I64): (I64, b"\x20\x00\x20\x01\x7f" + _REST + b"\xad\x7d"),
    ("mod", I64): (I64, _REST + b"\x04\x7e\x20\x02\x20\x01\x7c\x05\x20\x02\x0b"),
}


def source(
    roots: Sequence[tree.KernelTree] | Mapping[tree.KernelTree, str],
    table: Sequence[tree.KernelTree] = (),
    data: Sequence[tuple[int, bytes]] = (),
    memory: int = 16 * PAGE,
) -> bytes:
    """A module that exports the *roots*, under other names where they are given; with the compiled functions of the *table*,
    *data* by address, and so many bytes of *memory*.
    """
    kernels = tree.callees_first([*table, *roots])
    called = {name: tree.FUNCTIONS[name] for kernel in kernels for name in kernel.operations if _is_imported(name)}
    stored: dict[object, int] = {}
    own = list(data)
    for row in tree.rows(kernels):  # behind the memory
        memory = -(-memory // 8) * 8
        stored[row] = memory
        own.append((memory, struct.pack(f"<{len(row)}d", *row)))
        memory += 8 * len(row)
    module = WasmModule({n: Signature(F64 * count, F64) for n, count in sorted(called.items())}, memory=memory)
    numbers: dict[object, int] = {name: k for k, name in enumerate(module.imports)}
    for helper, (variables, code) in _HELPERS.items():
        numbers[helper] = len(module.imports) + len(module.functions)
        module.functions.append(WasmFunction(Signature(helper[1] * 2, helper[1]), variables, code))
    for kernel in kernels:
        numbers[kernel] = len(module.imports) + len(module.functions)
        module.functions.append(_function(kernel, module, numbers | stored))
    named = roots if isinstance(roots, Mapping) else {root: root.name for root in roots}
    module.exports = {name: numbers[root] for root, name in named.items()}
    module.table, module.data = [numbers[k] for k in table], own
    return module.binary()


def _is_imported(name: str) -> bool:
    return name in tree.LIBRARY or name == "fma"


def _type(kind: MemoryType) -> bytes:
    """The type of a value; truth values, addresses and compiled functions have 32 bits."""
    return _TYPES.get(kind, I32)


def _signature(parameters: Sequence[MemoryType], result: MemoryType) -> Signature:
    return Signature(b"".join(map(_type, parameters)), b"" if result is NOTHING else _type(result))


def _function(kernel: tree.KernelTree, module: WasmModule, numbers: dict[object, int]) -> WasmFunction:
    kinds = [_type(t) for t in kernel.variables.values()]
    places = {n: k for k, n in enumerate(kernel.parameters)}
    places |= {n: len(places) + k for n, k in zip(kernel.variables, local_order(kinds), strict=True)}
    writer = _CodeWriter(module, numbers, places)
    # Behind the last statement of a kernel with a result nothing is reached.
    code = writer.block(kernel.body) + (b"" if kernel.result is NOTHING else b"\x00")
    return WasmFunction(_signature([*kernel.parameters.values()], kernel.result), b"".join(kinds), code)


@dataclass(slots=True)
class _CodeWriter:
    """Writer of a kernel: numbers of functions and addresses of constant arrays, numbers of variables, and depths of blocks
    around a statement, those behind and at the next round of its loops.
    """

    module: WasmModule
    numbers: dict[object, int]
    places: dict[str, int]
    depth: int = 0
    loops: list[tuple[int, int]] = field(default_factory=list)

    # -- statements ---------------------------------------------------------------------------------------------------

    def block(self, body: Sequence[tree.Statement], deeper: int = 0) -> bytes:
        """The instructions of statements, in blocks of control around them."""
        self.depth += deeper
        code = b"".join(map(self.statement, body))
        self.depth -= deeper
        return code

    def statement(self, s: tree.Statement) -> bytes:
        """The instructions of a statement."""
        match s:
            case tree.SetVariable(name, value):
                return self.value(value) + b"\x21" + unsigned(self.places[name])
            case tree.SetEntry(array, index, value):
                place, offset = self.entry(array, index)
                return place + self.value(value) + _STORE[_type(value.type)] + offset
            case tree.SetField(record, name, value):
                assert isinstance(record.type, RecordType)
                kind, code = _type(value.type), self.value(value)
                if value.type is BOOLEAN:
                    kind, code = I64, code + b"\xad"
                return self.value(record) + code + _STORE[kind] + unsigned(8 * record.type.position(name))
            case tree.Evaluate(call):
                return self.value(call) + (b"" if call.type is NOTHING else b"\x1a")
            case tree.Jump(word):
                return b"\x0c" + unsigned(self.depth - self.loops[-1][word == "continue"])
            case tree.Leave(value):
                return (b"" if value is None else self.value(value)) + b"\x0f"
            case tree.Conditional(test, yes, no):
                other = b"\x05" + self.block(no, 1) if no else b""
                return self.value(test) + b"\x04" + _EMPTY + self.block(yes, 1) + other + b"\x0b"
            case tree.WhileLoop(test, inner):
                return self.loop(self.value(test), inner, b"")
            case tree.CountingLoop(counter, start, stop, inner):
                i = unsigned(self.places[counter])
                going = b"\x20" + i + self.value(stop) + _INTEGERS["lt"]
                begin = self.value(start) + b"\x21" + i
                return begin + self.loop(going, inner, b"\x20" + i + b"\x42\x01\x7c\x21" + i)

    def loop(self, test: bytes, body: Sequence[tree.Statement], after: bytes) -> bytes:
        """A loop while the *test* holds, with instructions *after* each round."""
        self.loops.append((self.depth + 1, self.depth + 3))
        inner = self.block(body, 3)
        self.loops.pop()
        head = b"\x02" + _EMPTY + b"\x03" + _EMPTY + test + b"\x45\x0d\x01\x02" + _EMPTY
        return head + inner + b"\x0b" + after + b"\x0c\x00\x0b\x0b"

    # -- expressions --------------------------------------------------------------------------------------------------

    def entry(self, array: tree.Expression, index: tree.Expression) -> tuple[bytes, bytes]:
        """The address of an entry, and the offset beside it."""
        if isinstance(index, tree.Constant):
            return self.value(array), unsigned(8 * int(index.value))
        return self.value(array) + self.value(index) + b"\xa7\x41\x03\x74\x6a", b"\x00"

    def value(self, x: tree.Expression) -> bytes:
        """The instructions that leave the value of an expression."""
        match x:
            case tree.Constant(kind, value):
                if kind is REAL:
                    return b"\x44" + struct.pack("<d", value)
                return (b"\x42" if kind is INTEGER else b"\x41") + signed(int(value))
            case tree.ConstantArray(_, entries):
                return b"\x41" + signed(self.numbers[entries])
            case tree.Variable(_, name):
                return b"\x20" + unsigned(self.places[name])
            case tree.FieldValue(kind, record, name):
                assert isinstance(record.type, RecordType)
                return self.value(record) + _LOAD[_type(kind)] + unsigned(8 * record.type.position(name))
            case tree.Entry(kind, array, index):
                place, offset = self.entry(array, index)
                return place + _LOAD[_type(kind)] + offset
            case tree.View(_, array, tree.Constant(_, start)):
                return self.value(array) + b"\x41" + signed(8 * int(start)) + b"\x6a"
            case tree.View(_, array, start):
                return self.entry(array, start)[0]
            case tree.Choice(kind, test, yes, no):
                if tree.is_cheap(yes) and tree.is_cheap(no):
                    return self.value(yes) + self.value(no) + self.value(test) + b"\x1b"
                return self.either(test, _type(kind), self.value(yes), self.value(no))
            case tree.KernelCall(_, kernel, arguments):
                return b"".join(map(self.value, arguments)) + b"\x10" + unsigned(self.numbers[kernel])
            case tree.AddressCall(_, function, arguments):
                assert isinstance(function.type, FunctionType)
                wanted = self.module.signature(_signature(function.type.parameters, function.type.result))
                given = b"".join(map(self.value, (*arguments, function)))
                return given + b"\x11" + wanted + b"\x00"
            case tree.Operation(kind, name, arguments):
                return self.operation(_type(kind), name, arguments)

    def either(self, test: tree.Expression, kind: bytes, yes: bytes, no: bytes) -> bytes:
        """Instructions of which one way alone is gone."""
        return self.value(test) + b"\x04" + kind + yes + b"\x05" + no + b"\x0b"

    def operation(self, kind: bytes, name: str, arguments: Sequence[tree.Expression]) -> bytes:
        """An operation of numbers."""
        if name == "and":
            return self.either(arguments[0], I32, self.value(arguments[1]), b"\x41\x00")
        if name == "or":
            return self.either(arguments[0], I32, b"\x41\x01", self.value(arguments[1]))
        given = b"".join(map(self.value, arguments))
        if name == "take":
            entry = given + _LOAD[I64] + b"\x00"
            return entry + given + entry + b"\x42\x01\x7c" + _STORE[I64] + b"\x00"
        if _is_imported(name):
            return given + b"\x10" + unsigned(self.numbers[name])
        if (name, kind) in _HELPERS:
            return given + b"\x10" + unsigned(self.numbers[name, kind])
        own = _type(arguments[0].type)
        if name == "neg" and own == I64:
            return b"\x42\x00" + given + b"\x7d"
        return given + (_REALS if own == F64 or name == "real" else _INTEGERS if own == I64 else _TRUTHS)[name]
