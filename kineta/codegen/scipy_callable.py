"""Programs with one result as functions of some of their inputs, callable by SciPy's compiled loops (``LowLevelCallable``)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
from llvmlite import ir

from kineta.arrays import FloatArray
from kineta.cache import stored
from kineta.codegen.builder import BYTE, INT, POINTER, REAL, SHORT, FunctionWriter
from kineta.codegen.llvm import NativeFunction, load_object, object_code
from kineta.codegen.target import host

_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, ctypes.POINTER(ctypes.c_double), ctypes.c_void_p)


def integrand(function: NativeFunction, blocks: Sequence[FloatArray], places: Sequence[int]) -> tuple[Any, Any]:
    """``double f(int n, double *x, void *data)`` and its data, as ctypes objects that keep both alive.

    x are the inputs number *places*, counted over all *blocks*; the others have the values of *blocks*.
    """
    state, where = np.concatenate(blocks), np.array(places, dtype=np.int64)
    starts = np.cumsum([0, *(8 * len(b) for b in blocks)])
    table = _table(len(blocks))(
        function.address, state.ctypes.data, state.nbytes, where.ctypes.data, len(where), tuple(starts[:-1].tolist())
    )
    code = _code(len(blocks))
    call: Any = _FUNCTION(code["integrand"])
    call.kept = (code, function, table, state, where)
    return call, ctypes.c_void_p(ctypes.addressof(table))


@cache
def _table(blocks: int) -> type[ctypes.Structure]:
    fields = {
        "core": ctypes.c_void_p,
        "state": ctypes.c_void_p,
        "size": ctypes.c_int64,
        "places": ctypes.c_void_p,
        "n": ctypes.c_int64,
        "starts": ctypes.c_int64 * blocks,
    }
    return type("Table", (ctypes.Structure,), {"_fields_": list(fields.items())})


@cache
def _code(blocks: int) -> Any:
    """The loaded code for programs with this number of input blocks."""
    module = str(_Integrand(blocks).module)
    key = sha256(f"{host().signature} {module}".encode()).hexdigest()
    return load_object(stored(key, lambda: object_code(module)), ["integrand"])


class _Integrand(FunctionWriter):
    """Writer of the code: inserts x into the inputs, and calls the program."""

    def __init__(self, blocks: int) -> None:
        super().__init__("integrand", {"n": SHORT, "x": POINTER, "table": POINTER}, REAL)
        self.layout, self.table = _table(blocks), self.at["table"]
        b, size = self.b, self._entry("size", INT)
        state, out = self._room(size), self._room(8)
        self._move(self._entry("state"), state, size)

        def place(k: Any) -> None:
            where = self._read(self._address(self._entry("places"), k, INT), INT)
            b.store(self._read(self._address(self.at["x"], k), REAL), self._address(state, where))

        self._for(self._entry("n", INT), place)
        inputs = [self._address(state, self._entry("starts", INT, i), BYTE) for i in range(blocks)]
        core = ir.FunctionType(ir.VoidType(), [POINTER] * (blocks + 1)).as_pointer()
        b.call(self._entry("core", core), [*inputs, out])
        b.ret(self._read(out, REAL))
