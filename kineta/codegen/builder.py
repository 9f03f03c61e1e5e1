"""Functions on blocks of memory, written instruction by instruction with LLVM's IR builder."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

from llvmlite import ir

from kineta.codegen.target import host

REAL = ir.DoubleType()
INT, SHORT, BYTE = ir.IntType(64), ir.IntType(32), ir.IntType(8)
POINTER = ir.PointerType()
# llvmlite fills its table of characters at the first name, and threads that write theirs meanwhile find it half full.
ir.GlobalVariable(ir.Module(), BYTE, "name").get_reference()


def constant(value: float) -> ir.Constant:
    """A real number."""
    return ir.Constant(REAL, value)


def number(value: int) -> ir.Constant:
    """An integer."""
    return ir.Constant(INT, value)


class FunctionWriter:
    """Writer of a module with one function.

    ``at`` holds its arguments by name, ``b`` is LLVM's IR builder. Data of the process, which cannot be part of the code,
    are in a ``table``, a record of the type ``layout``.
    """

    table: Any
    layout: type[ctypes.Structure]

    def __init__(self, name: str, arguments: Mapping[str, ir.Type], result: ir.Type = INT) -> None:
        self.module = ir.Module(name)
        self.module.triple = host().triple
        self.function = ir.Function(self.module, ir.FunctionType(result, list(arguments.values())), name)
        self.at = dict(zip(arguments, self.function.args, strict=True))
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))

    def _intrinsic(self, name: str, *arguments: Any) -> Any:
        """Call LLVM's intrinsic *name*, overloaded by the type of its last argument."""
        kind = arguments[-1].type
        full = f"llvm.{name}.{'f64' if kind == REAL else f'v{kind.count}f64'}"
        signature = ir.FunctionType(kind, [a.type for a in arguments])
        function = self.module.globals.get(full) or ir.Function(self.module, signature, full)
        return self.b.call(function, arguments)

    def _for(self, count: Any, body: Callable[[Any], None]) -> None:
        """A loop with i from 0 to count - 1."""
        b = self.b
        before = b.block
        head, inner, after = (self.function.append_basic_block(n) for n in ("head", "body", "after"))
        b.branch(head)
        b.position_at_end(head)
        i = b.phi(INT)
        i.add_incoming(number(0), before)
        b.cbranch(b.icmp_signed("<", i, count), inner, after)
        b.position_at_end(inner)
        body(i)
        i.add_incoming(b.add(i, number(1)), b.block)
        b.branch(head)
        b.position_at_end(after)

    # -- memory -----------------------------------------------------------------------------------------------------

    def _address(self, base: Any, index: Any, kind: ir.Type = REAL) -> Any:
        return self.b.gep(base, [index], source_etype=kind)

    def _within(self, base: Any, offset: int) -> Any:
        """The address *base* plus *offset* bytes."""
        return self._address(base, number(offset), BYTE)

    def _read(self, base: Any, kind: ir.Type = POINTER, offset: int = 0) -> Any:
        return self.b.load(self._within(base, offset), typ=kind)

    def _entry(self, name: str, kind: ir.Type = POINTER, index: int = 0) -> Any:
        """The table entry *name*."""
        return self._read(self.table, kind, getattr(self.layout, name).offset + 8 * index)

    def _room(self, size: Any) -> Any:
        """The address of *size* bytes on the stack."""
        place = self.b.alloca(BYTE, size)
        place.align = 8
        place.type = POINTER  # as for all addresses
        return place

    def _move(self, source: Any, target: Any, size: Any) -> None:
        """Copy *size* bytes."""
        name, flag = "llvm.memcpy.p0.p0.i64", ir.IntType(1)
        kind = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, INT, flag])
        function = self.module.globals.get(name) or ir.Function(self.module, kind, name)
        self.b.call(function, [target, source, size, flag(0)])
