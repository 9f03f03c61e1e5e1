"""The machine code of a call from Python, shared by all programs with input blocks of the same kinds."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from enum import Enum
from functools import cache
from typing import Any

from llvmlite import ir

from kineta.codegen import python_abi
from kineta.codegen.builder import BYTE, INT, POINTER, REAL, SHORT, constant, number
from kineta.codegen.python_abi import NULL


class ArgumentKind(Enum):
    """Kinds of input blocks of a program."""

    NUMBER = "a float or an int"
    ARRAY = "an array of doubles"
    UNITS = "an array of doubles in which groups of four are made units"
    EITHER = "an array of doubles, or one number for all of them, 0 where none is given"
    BOUND = "with the program"


@cache
def table(names: int, inputs: int, outputs: int) -> type[ctypes.Structure]:
    """The table of a call: addresses, sizes in bytes, and Python objects, kept alive by it.

    names, defaults : of the arguments in order; a missing default marks a required argument
    places : offsets in the scratch memory of copied input blocks, then of several results
    asked : the arguments with which ``empty`` makes each result
    """
    address, count, item = ctypes.c_void_p, ctypes.c_int64, ctypes.py_object
    fields = {
        **dict.fromkeys(("core", "bound", "units"), address),
        **dict.fromkeys(("n_units", "long", "scratch"), count),
        **dict.fromkeys(("array", "real", "integer", "none", "fallback", "empty", "wrap"), item),
        **dict.fromkeys(("names", "defaults"), item * names),
        "rounding": ctypes.c_double,
        "sizes": count * inputs,
        "places": count * (inputs + 1),
        "asked": item * outputs,
        **dict.fromkeys(("lengths", "ndims"), count * outputs),
        "shapes": address * outputs,
    }
    return type("Table", (ctypes.Structure,), {"_fields_": list(fields.items())})


class PythonEntry(python_abi.Builtin):
    """Writer of the code of a call."""

    def __init__(self, kinds: Sequence[ArgumentKind], outputs: int) -> None:
        self.kinds = kinds
        self.names = sum(kind is not ArgumentKind.BOUND for kind in kinds) + 2
        super().__init__("call", table(self.names, len(kinds), outputs), len(kinds) + outputs)
        self.slots, self.thread = self._room(8 * self.names), self._room(8)
        self._bind()
        self.b.store(self._api("PyMem_Malloc", self._entry("scratch", INT)), self.scratch)
        self._require(self.b.not_(self._same(self._read(self.scratch), NULL)))
        inputs = [self._input(i, kind) for i, kind in enumerate(kinds)]
        if outputs == 1:
            self._one(inputs)
        else:
            self._several(inputs, outputs)
        self._ends()

    def _slot(self, i: Any) -> Any:
        return self._address(self.slots, i, POINTER)

    def _place(self, i: int) -> Any:
        """Address in the scratch memory of the input block *i*, or of the results after the last block."""
        return self._address(self._read(self.scratch), self._entry("places", INT, i), BYTE)

    # -- arguments --------------------------------------------------------------------------------------------------

    def _bind(self) -> None:
        """Bind every argument to its slot: by position, by name, or by default."""
        b, n, none = self.b, self.names, self._entry("none")
        args, nargs, keywords = self.at["args"], self.at["nargs"], self.at["keywords"]
        self._require(b.icmp_signed("<", nargs, number(n)))
        for i in range(n):
            b.store(self._entry("defaults", POINTER, i), self._slot(number(i)))
        self._for(nargs, lambda i: b.store(self._read(self._address(args, i, POINTER)), self._slot(i)))

        def named(k: Any) -> None:
            name, place = self._api("PyTuple_GetItem", keywords, k), number(-1)
            for i in range(n):
                place = b.select(self._same(name, self._entry("names", POINTER, i)), number(i), place)
            self._require(b.icmp_signed(">=", place, nargs))
            b.store(self._read(self._address(args, b.add(nargs, k), POINTER)), self._slot(place))

        with b.if_then(b.not_(self._same(keywords, NULL))):
            self._for(self._api("PyTuple_Size", keywords), named)
        for i in range(n - 2):
            self._require(b.not_(self._same(self._read(self._slot(number(i))), NULL)))
        self._require(self._same(self._read(self._slot(number(n - 2))), none))

    def _input(self, i: int, kind: ArgumentKind) -> Any:
        """Address of the input block *i*."""
        if kind is ArgumentKind.BOUND:
            return self._entry("bound")
        ways = {
            ArgumentKind.NUMBER: self._single,
            ArgumentKind.ARRAY: self._row,
            ArgumentKind.UNITS: self._units,
            ArgumentKind.EITHER: self._either,
        }
        return ways[kind](self._read(self._slot(number(i))), i)

    def _row(self, item: Any, i: int) -> Any:
        start = self._look(item, self.views[i], python_abi.CONTIGUOUS, self._entry("sizes", INT, i))
        ndim = self._read(self.views[i], SHORT, python_abi.NDIM)
        self._require(self._same(ndim, ir.Constant(SHORT, 1)))
        return start

    def _single(self, item: Any, i: int) -> Any:
        self.b.store(self._number(item), self._place(i))
        return self._place(i)

    def _either(self, item: Any, i: int) -> Any:
        b = self.b
        with b.if_else(self._is(item, "array")) as (array, other):
            with array:
                row = self._row(item, i)
                first = b.block
            with other:
                value, place = self._number(item), self._place(i)
                count = b.udiv(self._entry("sizes", INT, i), number(8))
                self._for(count, lambda k: b.store(value, self._address(place, k)))
                second = b.block
        found = b.phi(POINTER)
        found.add_incoming(row, first)
        found.add_incoming(place, second)
        return found

    def _units(self, item: Any, i: int) -> Any:
        place = self._place(i)
        self._move(self._row(item, i), place, self._entry("sizes", INT, i))
        self._for(self._entry("n_units", INT), lambda k: self._unit(place, k))
        return place

    def _unit(self, row: Any, k: Any) -> None:
        """Normalise quaternion *k* of *row*; refuse a zero quaternion."""
        b = self.b
        start = self._address(row, self._read(self._address(self._entry("units"), k, INT), INT))
        places = [self._address(start, number(j)) for j in range(4)]
        values = [self._read(p, REAL) for p in places]
        square = b.fmul(values[0], values[0])
        for value in values[1:]:
            square = b.fadd(square, b.fmul(value, value))
        self._require(b.fcmp_unordered("!=", square, constant(0.0)))
        off = self._intrinsic("fabs", b.fsub(square, constant(1.0)))
        with b.if_then(b.fcmp_ordered(">", off, self._entry("rounding", REAL))):
            length = self._intrinsic("sqrt", square)
            for place, value in zip(places, values, strict=True):
                b.store(b.fdiv(value, length), place)

    # -- results ----------------------------------------------------------------------------------------------------

    def _one(self, inputs: Sequence[Any]) -> None:
        """The result in the array ``out``, or in a new array."""
        b, out = self.b, self._read(self._slot(number(self.names - 1)))
        with b.if_else(self._same(out, self._entry("none"))) as (fresh, given):
            with fresh:
                b.store(self._made("empty", self._entry("asked")), self.answer)
            with given:
                self._api("Py_IncRef", out)
                b.store(out, self.answer)
        target = self._result(self._read(self.answer), 0)
        self._apart()
        self._run(inputs, target)

    def _several(self, inputs: Sequence[Any], outputs: int) -> None:
        """The results in new arrays."""
        self._require(self._same(self._read(self._slot(number(self.names - 1))), self._entry("none")))
        flat = self._place(len(self.kinds))
        self._run(inputs, flat)
        arrays = self._api("PyTuple_New", number(outputs))
        self.b.store(arrays, self.answer)
        self._unless(self._same(arrays, NULL), self.fail)
        for j in range(outputs):
            array = self._made("empty", self._entry("asked", POINTER, j))
            self._api("PyTuple_SetItem", arrays, number(j), array)
            length = self._entry("lengths", INT, j)
            self._move(flat, self._result(array, j), length)
            flat = self._address(flat, length, BYTE)
        self.b.store(self._made("wrap", arrays), self.answer)
        self._api("Py_DecRef", arrays)

    def _result(self, array: Any, j: int) -> Any:
        """Address of the doubles of *array*, a writable array of the shape of the output *j*."""
        view = self.views[len(self.kinds) + j]
        start = self._look(array, view, python_abi.CONTIGUOUS | python_abi.WRITABLE, self._entry("lengths", INT, j))
        ndim = self.b.sext(self._read(view, SHORT, python_abi.NDIM), INT)
        self._require(self._same(ndim, self._entry("ndims", INT, j)))
        shapes = self._read(view, POINTER, python_abi.SHAPE), self._entry("shapes", POINTER, j)
        self._for(
            ndim, lambda k: self._require(self._same(*(self._read(self._address(s, k, INT), INT) for s in shapes)))
        )
        return start

    def _apart(self) -> None:
        """Refuse a result that shares memory with an argument, since arguments are read after the first results are written."""
        b = self.b
        *arguments, (start, end) = [
            (self._read(view), self._address(self._read(view), self._read(view, INT, python_abi.LEN), BYTE))
            for view in self.views
        ]
        for first, behind in arguments:
            self._require(b.or_(b.icmp_unsigned("<=", behind, start), b.icmp_unsigned("<=", end, first)))

    def _run(self, inputs: Sequence[Any], target: Any) -> None:
        b = self.b
        core = ir.FunctionType(ir.VoidType(), [POINTER] * (len(inputs) + 1)).as_pointer()
        long = b.icmp_signed("!=", self._entry("long", INT), number(0))
        with b.if_then(long, likely=False):
            b.store(self._api("PyEval_SaveThread"), self.thread)
        b.call(self._entry("core", core), [*inputs, target])
        with b.if_then(long, likely=False):
            self._api("PyEval_RestoreThread", self._read(self.thread))
