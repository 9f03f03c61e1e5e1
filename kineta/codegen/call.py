"""The call from Python as machine code.

What a call of a compiled program costs beside its work is the way from Python's objects to addresses. The builtin made here
goes that way without the interpreter. It takes what needs no conversion and hands everything else on to a function of Python,
which converts it, or says what is wrong. Its code is that of :mod:`kineta.codegen.entry`; sizes and addresses come in a table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kineta.cache import stored
from kineta.codegen import abi
from kineta.codegen.entry import Entry, Kind, table
from kineta.codegen.llvm import NativeFunction, load_object, object_code
from kineta.codegen.target import host

FloatArray = NDArray[np.float64]

#: Operations of a program from which on other threads may run Python meanwhile: some ten microseconds of work.
LONG = 40_000


def together(*arrays: FloatArray) -> tuple[FloatArray, ...]:
    """The arrays of a result of several parts."""
    return arrays


def call(
    fallback: Callable[..., Any],
    function: NativeFunction,
    kinds: Sequence[Kind],
    bound: FloatArray,
    units: Sequence[int] = (),
    rounding: float = 0.0,
    wrap: Callable[..., Any] = together,
) -> Callable[..., Any]:
    """*function* as a builtin of its input blocks by name, of ``p``, which must be None, and by name alone of ``out``.

    fallback : what is called in its place where an argument needs more than to be looked at
    kinds : how each input block comes; *bound* is the block that comes with the program
    units : where the groups of four begin that are made units, if the square of their length is not 1 but for *rounding*
    wrap : makes the result of the arrays, for a program of several output blocks
    """
    inputs, outputs = function.program.inputs, function.program.outputs
    names = [b.name for b, kind in zip(inputs, kinds, strict=True) if kind is not Kind.BOUND] + ["p", "out"]
    several = len(outputs) > 1
    room = [b.size * (kind not in (Kind.ARRAY, Kind.BOUND)) for b, kind in zip(inputs, kinds, strict=True)]
    places = np.cumsum([0, *room, function.program.n_outputs * several]).tolist()
    starts = np.array(units, dtype=np.int64)
    shapes = [np.array(b.shape, dtype=np.int64) for b in outputs]
    given = table(len(names), len(kinds), len(outputs))(
        core=function.address,
        bound=bound.ctypes.data,
        units=starts.ctypes.data,
        n_units=len(starts),
        rounding=rounding,
        long=len(function.program.op) >= LONG,
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
        if kind is Kind.EITHER:
            given.defaults[i] = 0.0
    given.defaults[len(names) - 2] = given.defaults[len(names) - 1] = None
    code = _code(tuple(kinds), len(outputs))
    return abi.builtin(function.program.name, code["call"], given, code, function, bound, starts, shapes)


def quick(function: NativeFunction) -> Callable[..., FloatArray]:
    """*function* of one state: of its input blocks, arrays of doubles, or a number for one of the name ``t``."""
    blocks = function.program.inputs

    def checked(*given: Any, **_: Any) -> FloatArray:
        return function(*(np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in given[: len(blocks)]))

    if not abi.available():
        return checked
    kinds = [Kind.NUMBER if block.name == "t" else Kind.ARRAY for block in blocks]
    return call(checked, function, kinds, np.empty(0))


@cache
def _code(kinds: tuple[Kind, ...], outputs: int) -> Any:
    """The loaded code of calls with inputs of these *kinds* and so many *outputs*."""
    module = str(Entry(kinds, outputs).module)
    key = sha256(f"{host().signature} {module}".encode()).hexdigest()
    return load_object(stored(key, lambda: object_code(module)), ["call"])
