"""Calls of compiled programs from Python, as machine code.

The overhead of a call is the conversion of Python objects to addresses. The builtin made here does it without the
interpreter. It takes arguments that need no conversion and passes all others on to a Python function, which converts them or
raises an error. Its code is written by :mod:`kineta.codegen.python_entry`; sizes and addresses are in a table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np

from kineta.arrays import FloatArray
from kineta.cache import stored
from kineta.codegen import python_abi
from kineta.codegen.llvm import NativeFunction, load_object, object_code
from kineta.codegen.python_entry import ArgumentKind, PythonEntry, table
from kineta.codegen.target import host

#: Operations of a program from which on the call releases the global interpreter lock: about ten microseconds.
LONG = 40_000


def as_tuple(*arrays: FloatArray) -> tuple[FloatArray, ...]:
    """The *arrays* of a result of several parts, as a tuple."""
    return arrays


def call_wrapper(
    fallback: Callable[..., Any],
    function: NativeFunction,
    kinds: Sequence[ArgumentKind],
    bound: FloatArray,
    units: Sequence[int] = (),
    rounding: float = 0.0,
    wrap: Callable[..., Any] = as_tuple,
) -> Callable[..., Any]:
    """*function* as a builtin of its input blocks by name, of ``p``, which must be None, and of the keyword ``out``.

    fallback : called instead for arguments that need a conversion
    kinds : the kind of each input block; *bound* is the block bound to the program
    units : offsets of the quaternions to normalise, if the square of their length differs from 1 by more than *rounding*
    wrap : makes the result from the arrays, for a program of several output blocks
    """
    inputs, outputs = function.program.inputs, function.program.outputs
    names = [b.name for b, kind in zip(inputs, kinds, strict=True) if kind is not ArgumentKind.BOUND] + ["p", "out"]
    several = len(outputs) > 1
    room = [
        b.size * (kind not in (ArgumentKind.ARRAY, ArgumentKind.BOUND)) for b, kind in zip(inputs, kinds, strict=True)
    ]
    places = np.cumsum([0, *room, function.program.n_outputs * several]).tolist()
    starts = np.array(units, dtype=np.int64)
    shapes = [np.array(b.shape, dtype=np.int64) for b in outputs]
    given = table(len(names), len(kinds), len(outputs))(
        core=function.address,
        bound=bound.ctypes.data,
        units=starts.ctypes.data,
        n_units=len(starts),
        rounding=rounding,
        long=function.program.n_operations >= LONG,
        scratch=8 * places.pop(),
        array=np.ndarray,
        real=float,
        integer=int,
        none=None,
        fallback=fallback,
        empty=np.empty,
        wrap=wrap,
        names=tuple(sys.intern(n) for n in names),
        sizes=tuple(8 * b.size for b in inputs),
        places=tuple(8 * p for p in places),
        asked=tuple((b.shape,) for b in outputs),
        lengths=tuple(8 * b.size for b in outputs),
        ndims=tuple(len(b.shape) for b in outputs),
        shapes=tuple(s.ctypes.data for s in shapes),
    )
    for i, kind in enumerate(kinds):
        if kind is ArgumentKind.EITHER:
            given.defaults[i] = 0.0
    given.defaults[len(names) - 2] = given.defaults[len(names) - 1] = None
    code = _code(tuple(kinds), len(outputs))
    return python_abi.builtin(function.program.name, code["call"], given, code, function, bound, starts, shapes)


def state_wrapper(function: NativeFunction, bound: FloatArray | None = None) -> Callable[..., FloatArray]:
    """*function* of one state: of its input blocks as arrays of doubles, a number for the block ``t``.

    The last block is *bound* where it is given: its memory is read at every call.
    """
    blocks, fixed = function.program.inputs, () if bound is None else (bound,)
    free = len(blocks) - len(fixed)

    def checked(*given: Any, out: FloatArray | None = None) -> FloatArray:
        value = function(*(np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in given[:free]), *fixed)
        if out is None:
            return value
        out[:] = value
        return out

    if not python_abi.available():
        return checked
    kinds = [ArgumentKind.NUMBER if block.name == "t" else ArgumentKind.ARRAY for block in blocks[:free]]
    kinds += [ArgumentKind.BOUND for _ in fixed]
    return call_wrapper(checked, function, kinds, np.empty(0) if bound is None else bound)


@cache
def _code(kinds: tuple[ArgumentKind, ...], outputs: int) -> Any:
    """The loaded code of calls with input blocks of these *kinds* and this number of *outputs*."""
    module = str(PythonEntry(kinds, outputs).module)
    key = sha256(f"{host().signature} {module}".encode()).hexdigest()
    return load_object(stored(key, lambda: object_code(module)), ["call"])
