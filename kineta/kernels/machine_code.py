"""Kernels as machine code of this process, kept in the cache under their sources and static values."""

from __future__ import annotations

import ctypes
import dataclasses
import sys
import typing
from collections.abc import Callable, Hashable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numpy as np

from kineta.cache import stored
from kineta.codegen.llvm import generator, load_object, optimised_object_code
from kineta.codegen.target import host
from kineta.kernels.language import Kernel, KernelError
from kineta.memory import BOOLEAN, INTEGER, NOTHING, REAL, ArrayType, MemoryType, ScalarType, memory_type

_STORED: dict[MemoryType, Any] = {REAL: np.float64, INTEGER: np.int64, BOOLEAN: np.int64}
_NUMBERS: dict[MemoryType, Any] = {
    REAL: ctypes.c_double,
    INTEGER: ctypes.c_int64,
    BOOLEAN: ctypes.c_bool,
    NOTHING: None,
}


@cache
def machine_code(kernel: Callable[..., Any], *static: Hashable) -> Callable[..., Any]:
    """The *kernel* compiled for values of its *static* parameters: a function of the others, as in Python."""
    code, types, result = _loaded(kernel, static, 1)
    function = ctypes.CFUNCTYPE(_NUMBERS[result], *(_NUMBERS.get(t, ctypes.c_void_p) for t in types))(
        code[_name(kernel)]
    )

    def call(*arguments: Any, code: Any = code) -> Any:  # keeps the code alive
        return function(*map(_given, arguments, types))

    return call


@cache
def machine_code_in_lanes(lanes: int, kernel: Callable[..., Any], *static: Hashable) -> Callable[..., Any]:
    """The *kernel* compiled for so many *lanes*, as :func:`machine_code`: a function of numbers (lanes,), arrays (n, lanes),
    and records, which are :class:`~kineta.memory.LaneRecord` where lanes do not share them. It returns the results (lanes,).
    """
    code, types, result = _loaded(kernel, static, lanes)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(types) + 1))(code[_name(kernel)])

    def call(*arguments: Any, code: Any = code) -> Any:
        given = [
            np.array(a, _STORED[t]) if isinstance(t, ScalarType) else a for a, t in zip(arguments, types, strict=True)
        ]
        found = np.zeros(lanes, _STORED.get(result, np.int64))
        function(*(a.ctypes.data if isinstance(a, np.ndarray) else a.address for a in (*given, found)))
        return found

    return call


def _name(kernel: Callable[..., Any]) -> str:
    return f"kernel_{kernel.__name__}"


def _loaded(
    kernel: Callable[..., Any], static: tuple[Hashable, ...], lanes: int
) -> tuple[Any, list[MemoryType], MemoryType]:
    """The machine code of a *kernel*, and the types of its parameters and result."""
    source = cast(Kernel, kernel)
    parts = [
        generator("", "codegen/kernels", "integration", "kernels", "kernels/contact"),
        host().signature,
        _neighbours(source.__module__),
        str(lanes),
    ]
    key = sha256(" ".join([*parts, repr(source), *map(_written, static)]).encode()).hexdigest()
    code = load_object(stored(key, lambda: _made(kernel, static, lanes)), [_name(kernel)])
    hints = typing.get_type_hints(source.function)
    result = memory_type(hints.pop("return", None)) or NOTHING
    return code, [t for t in map(memory_type, hints.values()) if t is not None], result


def _made(kernel: Callable[..., Any], static: tuple[Hashable, ...], lanes: int) -> bytes:
    # Needed only for code that is not in the cache.
    from kineta.codegen.kernels import llvm_ir
    from kineta.kernels.translation import translate

    return optimised_object_code(llvm_ir.source([translate(kernel, *static)], lanes))


def _given(value: Any, kind: MemoryType) -> Any:
    """An argument as ctypes takes it."""
    if isinstance(kind, ScalarType):
        return value
    return value.ctypes.data if isinstance(kind, ArrayType) else value.address


def _neighbours(module: str) -> str:
    """The sources of the package in which a kernel stands."""
    folder = Path(sys.modules[module].__file__ or "").parent
    return sha256(b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))).hexdigest()


def _written(value: Any) -> str:
    """A static value as text that tells it from all others. Raises :class:`KernelError` for one that has no such text."""
    if value is None or isinstance(value, bool | int | float | str | Kernel):
        return repr(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(_written, value))})"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = (f"{f.name}={_written(getattr(value, f.name))}" for f in dataclasses.fields(value))
        return f"{type(value).__module__}.{type(value).__qualname__}({', '.join(fields)})"
    raise KernelError(
        f"Expected a static value of numbers, words, tuples, dataclasses and kernels, found one of type"
        f" '{type(value).__name__}'. Make it of these."
    )
