"""Python's stable ABI in machine code, for compiled functions that are callable as builtins of Python."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Mapping
from typing import Any

from llvmlite import ir

from kineta.codegen.builder import BYTE, INT, POINTER, REAL, SHORT, FunctionWriter, number

VOID = ir.VoidType()
NULL = ir.Constant(POINTER, None)

#: Functions of the API by name: result type, then argument types.
FUNCTIONS: Mapping[str, tuple[ir.Type, ...]] = {
    "PyBuffer_Release": (VOID, POINTER),
    "PyErr_Clear": (VOID,),
    "PyErr_Occurred": (POINTER,),
    "PyEval_RestoreThread": (VOID, POINTER),
    "PyEval_SaveThread": (POINTER,),
    "PyFloat_AsDouble": (REAL, POINTER),
    "PyLong_AsVoidPtr": (POINTER, POINTER),
    "PyMem_Free": (VOID, POINTER),
    "PyMem_Malloc": (POINTER, INT),
    "PyObject_Call": (POINTER, POINTER, POINTER, POINTER),
    "PyObject_GetBuffer": (SHORT, POINTER, POINTER, SHORT),
    "PyObject_Vectorcall": (POINTER, POINTER, POINTER, INT, POINTER),
    "PyObject_Type": (POINTER, POINTER),
    "PyTuple_GetItem": (POINTER, POINTER, INT),
    "PyTuple_New": (POINTER, INT),
    "PyTuple_SetItem": (SHORT, POINTER, INT, POINTER),
    "PyTuple_Size": (INT, POINTER),
    "PyType_IsSubtype": (SHORT, POINTER, POINTER),
    "Py_DecRef": (VOID, POINTER),
    "Py_IncRef": (VOID, POINTER),
}
#: ``Py_buffer``: its size and the offsets of its fields, in bytes.
VIEW = 80
BUF, OBJ, LEN, NDIM, FORMAT, SHAPE = 0, 8, 16, 36, 40, 48
#: Flags of a buffer request: format and contiguity; writability.
CONTIGUOUS, WRITABLE = 0x4 | 0x38, 0x1

#: Arguments of a builtin: objects, *nargs* by position, the rest by the names in the tuple *keywords*.
ARGUMENTS = {"self": POINTER, "args": POINTER, "nargs": INT, "keywords": POINTER}
_FASTCALL_KEYWORDS = 0x80 | 0x2
_NEW = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)


class _Definition(ctypes.Structure):
    """``PyMethodDef``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def available() -> bool:
    """Whether this Python has the ABI described here: 64-bit CPython."""
    return sys.implementation.name == "cpython" and sys.maxsize > 2**32


def builtin(name: str, address: int, table: ctypes.Structure, *kept: object) -> Callable[..., Any]:
    """The compiled function of :data:`ARGUMENTS` at *address* as a Python object.

    It finds the address of *table* at the head of ``self``, a tuple that keeps the code and all its data alive.
    """
    definition = _Definition(name.encode(), address, _FASTCALL_KEYWORDS, None)
    held = (ctypes.addressof(table), table, definition, *kept)
    made: Callable[..., Any] = _NEW(("PyCFunction_NewEx", ctypes.pythonapi))(ctypes.addressof(definition), held, None)
    return made


class Builtin(FunctionWriter):
    """Writer of a builtin with a table of the type *layout*, for a number of array arguments.

    A call ends in one of three ways: refused, and passed on to the table's ``fallback``, for arguments that need a
    conversion; failed, with an exception; or with the result in ``answer``.
    """

    def __init__(self, name: str, layout: type[ctypes.Structure], views: int) -> None:
        super().__init__(name, ARGUMENTS, POINTER)
        self.layout = layout
        ends = ("refuse", "fail", "leave", "done")
        self.refuse, self.fail, self.leave, self.done = (self.function.append_basic_block(n) for n in ends)
        # All resources released at the end start empty.
        self.views = [self._room(VIEW) for _ in range(views)]
        for view in self.views:
            for field in (BUF, OBJ, LEN):
                self.b.store(number(0), self._within(view, field))
        self.answer, self.scratch, self.refused = (self._room(8) for _ in range(3))
        for place in (self.answer, self.scratch, self.refused):
            self.b.store(NULL, place)
        self.table = self._api("PyLong_AsVoidPtr", self._api("PyTuple_GetItem", self.at["self"], number(0)))

    def _api(self, name: str, *arguments: Any) -> Any:
        result, *takes = FUNCTIONS[name]
        function = self.module.globals.get(name) or ir.Function(self.module, ir.FunctionType(result, takes), name)
        return self.b.call(function, arguments)

    # -- conditions -------------------------------------------------------------------------------------------------

    def _same(self, a: Any, b: Any) -> Any:
        return self.b.icmp_unsigned("==", a, b)

    def _require(self, condition: Any) -> None:
        """Continue if *condition* holds, else refuse."""
        self._unless(self.b.not_(condition), self.refuse)

    def _unless(self, condition: Any, end: Any) -> None:
        on = self.function.append_basic_block("on")
        self.b.cbranch(condition, end, on)
        self.b.position_at_end(on)

    # -- objects ----------------------------------------------------------------------------------------------------

    def _is(self, item: Any, kind: str) -> Any:
        """Whether the type of *item* is the table's entry *kind*."""
        found = self._api("PyObject_Type", item)
        self._api("Py_DecRef", found)  # the item keeps its type alive
        return self._same(found, self._entry(kind))

    def _number(self, item: Any) -> Any:
        """The value of a float, of a NumPy float, or of an int."""
        b = self.b
        found = self._api("PyObject_Type", item)
        real = self._api("PyType_IsSubtype", found, self._entry("real"))
        whole = self._same(found, self._entry("integer"))
        self._api("Py_DecRef", found)
        self._require(b.or_(whole, b.trunc(real, ir.IntType(1))))
        value = self._api("PyFloat_AsDouble", item)
        self._require(self._same(self._api("PyErr_Occurred"), NULL))
        return value

    def _look(self, item: Any, view: Any, flags: int, size: Any) -> Any:
        """Address of the doubles of an array of *size* bytes."""
        b = self.b
        self._require(self._is(item, "array"))
        got = self._api("PyObject_GetBuffer", item, view, ir.Constant(SHORT, flags))
        self._require(self._same(got, ir.Constant(SHORT, 0)))
        self._require(self._same(self._read(view, INT, LEN), size))
        for k, letter in enumerate(b"d\0"):
            found = self._read(self._read(view, POINTER, FORMAT), BYTE, k)
            self._require(self._same(found, ir.Constant(BYTE, letter)))
        start = self._read(view, POINTER, BUF)
        self._require(self._same(b.and_(b.ptrtoint(start, INT), number(7)), number(0)))
        return start

    def _made(self, what: str, arguments: Any) -> Any:
        """The result of the table's function *what* for the tuple *arguments*; fails with its exception."""
        found = self._api("PyObject_Call", self._entry(what), arguments, NULL)
        self._unless(self._same(found, NULL), self.fail)
        return found

    def _ends(self) -> None:
        """The three ends of the call; resources are released before a refused call is passed on."""
        b = self.b
        b.branch(self.leave)
        b.position_at_end(self.refuse)
        self._api("PyErr_Clear")
        b.store(self._entry("fallback"), self.refused)
        b.branch(self.fail)
        b.position_at_end(self.fail)
        self._api("Py_DecRef", self._read(self.answer))
        b.store(NULL, self.answer)
        b.branch(self.leave)
        b.position_at_end(self.leave)
        for view in self.views:
            self._api("PyBuffer_Release", view)
        self._api("PyMem_Free", self._read(self.scratch))
        self._unless(self._same(self._read(self.refused), NULL), self.done)
        given = (self.at[name] for name in ("args", "nargs", "keywords"))
        b.ret(self._api("PyObject_Vectorcall", self._read(self.refused), *given))
        b.position_at_end(self.done)
        b.ret(self._read(self.answer))
