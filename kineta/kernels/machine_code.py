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

from kineta.cache import stored
from kineta.codegen.llvm import generator, load_object, optimised_object_code
from kineta.codegen.target import host
from kineta.kernels.language import Kernel, KernelError
from kineta.memory import BOOLEAN, INTEGER, NOTHING, REAL, ArrayType, MemoryType, ScalarType, memory_type

_NUMBERS: dict[MemoryType, Any] = {
    REAL: ctypes.c_double,
    INTEGER: ctypes.c_int64,
    BOOLEAN: ctypes.c_bool,
    NOTHING: None,
}


@cache
def machine_code(kernel: Callable[..., Any], *static: Hashable) -> Callable[..., Any]:
    """The *kernel* compiled for values of its *static* parameters: a function of the others, as in Python."""
    source = cast(Kernel, kernel)
    name = f"kernel_{source.__name__}"
    parts = [
        generator("", "codegen/kernels", "integration", "kernels", "kernels/contact"),
        host().signature,
        _neighbours(source.__module__),
    ]
    key = sha256(" ".join([*parts, repr(source), *map(_written, static)]).encode()).hexdigest()
    code = load_object(stored(key, lambda: _made(kernel, static)), [name])
    hints = typing.get_type_hints(source.function)
    result = memory_type(hints.pop("return", None)) or NOTHING
    types = [t for t in map(memory_type, hints.values()) if t is not None]
    function = ctypes.CFUNCTYPE(_NUMBERS[result], *(_NUMBERS.get(t, ctypes.c_void_p) for t in types))(code[name])

    def call(*arguments: Any, code: Any = code) -> Any:  # keeps the code alive
        return function(*map(_given, arguments, types))

    return call


def _made(kernel: Callable[..., Any], static: tuple[Hashable, ...]) -> bytes:
    # Needed only for code that is not in the cache.
    from kineta.codegen.kernels import BACKENDS
    from kineta.kernels.translation import translate

    return optimised_object_code(BACKENDS["llvm"]([translate(kernel, *static)]))


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
