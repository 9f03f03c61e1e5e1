"""Kernels as machine code of this process, kept in the cache under their sources and static values."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache, lru_cache, partial, wraps
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from kineta.cache import stored
from kineta.codegen.llvm import generator, load_object, optimised_object_code
from kineta.codegen.target import host
from kineta.errors import ArgumentError, shown
from kineta.kernels.language import Kernel, static_text
from kineta.memory import (
    BOOLEAN,
    INTEGER,
    NOTHING,
    REAL,
    ArrayType,
    MemoryType,
    ScalarType,
    array_address,
    memory_address,
    memory_type,
)
from kineta.records import dataclass
from kineta.threads import computed_once

_STORED: dict[MemoryType, Any] = {REAL: np.float64, INTEGER: np.int64, BOOLEAN: np.int64}
_NUMBERS: dict[MemoryType, Any] = {
    REAL: ctypes.c_double,
    INTEGER: ctypes.c_int64,
    BOOLEAN: ctypes.c_bool,
    NOTHING: None,
}

R = TypeVar("R")

#: Static values whose texts are known, those last used: the text of a tableau takes longer than a short run.
TEXTS = 64
#: What Python may give for numbers.
_TAKEN: dict[MemoryType, tuple[type, ...]] = {
    REAL: (float, int, np.floating, np.integer),
    INTEGER: (int, np.integer),
    BOOLEAN: (bool, np.bool_),
}


@dataclass(frozen=True, slots=True, eq=False)
class _Itself:
    """A static *value*, equal to itself alone."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@lru_cache(maxsize=TEXTS)
def _text(static: _Itself) -> str:
    return static_text(static.value)


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """A compiled *kernel*: a function of its parameters, at an *address* in loaded *code*, which it keeps alive.

    parameters : for each, what makes of an argument what ``function`` takes, which is of the C library
    """

    kernel: Callable[..., Any]
    code: Any
    parameters: Sequence[Callable[[Any], Any]]
    function: Callable[..., Any]
    address: int

    def __call__(self, *arguments: Any) -> Any:
        """The result in machine code."""
        if len(arguments) != len(self.parameters):
            raise _wrong_count(self.kernel, self.parameters, arguments)
        return self.function(*[given(x) for given, x in zip(self.parameters, arguments)])


def _once(make: Callable[..., R]) -> Callable[..., R]:
    """*make*, a function of kernels and static values, called once for values of the same texts.

    Threads wait for each other: of two results the machine code of one would go, while addresses in it are in use.
    """
    made: dict[tuple[Any, ...], R] = {}

    @wraps(make)
    def known(*values: Any) -> R:
        key = tuple(x if isinstance(x, Kernel) else _text(_Itself(x)) for x in values)
        return computed_once(made, key, lambda: make(*values))

    return known


@_once
def machine_code(kernel: Callable[..., Any], *static: Hashable) -> CompiledKernel:
    """The *kernel* compiled for values of its *static* parameters: a function of the others, as in Python."""
    return _function(_loaded([(kernel, *static)], 1), kernel)


@_once
def machine_unit(*kernels: Callable[..., Any]) -> Mapping[str, CompiledKernel]:
    """Several *kernels* without static parameters, compiled together, so that what they share is compiled once: as
    :func:`machine_code`, by name.
    """
    code = _loaded([(kernel,) for kernel in kernels], 1)
    return {kernel.__name__: _function(code, kernel) for kernel in kernels}


def _function(code: Any, kernel: Callable[..., Any]) -> CompiledKernel:
    """The *kernel* of loaded *code* as a function."""
    known, result = _signature(kernel)
    types = [_NUMBERS.get(t, ctypes.c_void_p) for t, _ in known]
    address = int(code[_name(kernel)])
    function = ctypes.CFUNCTYPE(_NUMBERS[result], *types)(address)
    return CompiledKernel(kernel, code, [_parameter(*kind) for kind in known], function, address)


@_once
def machine_code_in_lanes(lanes: int, kernel: Callable[..., Any], *static: Hashable) -> Callable[..., Any]:
    """The *kernel* compiled for so many *lanes*, as :func:`machine_code`: a function of numbers (lanes,), arrays (n, lanes),
    and records, which are :class:`~kineta.memory.LaneRecord` where lanes do not share them. It returns the results (lanes,).
    """
    code, (known, result) = _loaded([(kernel, *static)], lanes), _signature(kernel)
    types = [t for t, _ in known]
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (len(types) + 1))(code[_name(kernel)])

    def call(*arguments: Any, code: Any = code) -> Any:
        if len(arguments) != len(known):
            raise _wrong_count(kernel, known, arguments)
        given = [
            np.array(a, _STORED[t]) if isinstance(t, ScalarType) else a for a, t in zip(arguments, types, strict=True)
        ]
        found = np.zeros(lanes, _STORED.get(result, np.int64))
        function(*(a.ctypes.data if isinstance(a, np.ndarray) else a.address for a in (*given, found)))
        return found

    return call


def _name(kernel: Callable[..., Any]) -> str:
    return f"kernel_{kernel.__name__}"


def _loaded(unit: Sequence[tuple[Any, ...]], lanes: int) -> Any:
    """The machine code of a *unit* of kernels, each with its static values."""
    parts = [
        generator(
            "",
            "codegen/kernels",
            "integration",
            "kernels",
            "kernels/contact",
            "kernels/kinks",
            "kernels/sliding",
            "kernels/time_stepping",
        ),
        host().signature,
        str(lanes),
    ]
    for kernel, *static in unit:
        parts += [_neighbours(kernel.__module__), repr(kernel), *map(static_text, static)]
    key = sha256(" ".join(parts).encode()).hexdigest()
    return load_object(stored(key, lambda: _made(unit, lanes)), [_name(kernel) for kernel, *_ in unit])


def _signature(kernel: Callable[..., Any]) -> tuple[list[tuple[MemoryType, str]], MemoryType]:
    """The types of the parameters of a *kernel*, static ones left out, with their names in errors, and that of its result."""
    source = cast(Kernel, kernel)
    result = memory_type(source.hints.get("return")) or NOTHING
    types = {n: memory_type(hint) for n, hint in source.hints.items() if n != "return"}
    return [(t, f"Argument '{n}' of kernel '{source.__name__}'") for n, t in types.items() if t is not None], result


def _wrong_count(kernel: Callable[..., Any], known: Sequence[Any], arguments: Sequence[Any]) -> ArgumentError:
    return ArgumentError(f"Kernel '{kernel.__name__}': expected {len(known)} arguments, found {len(arguments)}.")


def _made(unit: Sequence[tuple[Any, ...]], lanes: int) -> bytes:
    # Needed only for code that is not in the cache.
    from kineta.codegen.kernels import llvm_ir
    from kineta.kernels.translation import translate_unit

    return optimised_object_code(llvm_ir.source(translate_unit(*unit), lanes))


def _parameter(kind: MemoryType, what: str = "An argument") -> Callable[[Any], Any]:
    """A function from an argument of this *kind*, called *what* in errors, to what ctypes takes."""
    if isinstance(kind, ArrayType):
        return partial(array_address, kind=kind, what=what)
    if not isinstance(kind, ScalarType):
        return partial(memory_address, kind=kind, what=what)
    taken, plain = _TAKEN[kind], _TAKEN[kind][0]

    def number(value: Any) -> Any:
        if type(value) is plain:
            return value
        if not isinstance(value, taken) or (isinstance(value, bool | np.bool_) and kind is not BOOLEAN):
            raise ArgumentError(f"{what}: expected {kind}, found {shown(value)}.")
        return value.item() if isinstance(value, np.generic) else value

    return number


@cache
def _neighbours(module: str) -> str:
    """The sources of the package in which a kernel stands."""
    folder = Path(sys.modules[module].__file__ or "").parent
    return sha256(b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))).hexdigest()
