"""Kernels in WebAssembly, run by wasmtime with the functions of Python's C library."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import wasmtime

from kineta.codegen.kernels import web_assembly
from kineta.kernels import language
from kineta.kernels.translation import translate

#: Functions from outside of modules.
OUTSIDE = {name: getattr(language, name) for name in ("pow", "sin", "cos", "fma")}
#: The first address of arrays.
START = 64


class Instance:
    """A module that runs."""

    def __init__(self, code: bytes) -> None:
        self.store = wasmtime.Store()
        module = wasmtime.Module(self.store.engine, code)
        given = []
        for wanted in module.imports:
            assert isinstance(wanted.type, wasmtime.FuncType)
            name = wanted.name or ""
            function = OUTSIDE[name] if name in OUTSIDE else getattr(math, name)
            given.append(wasmtime.Func(self.store, wanted.type, function))
        self.exports = wasmtime.Instance(self.store, module, given).exports(self.store)
        self.memory: Any = self.exports["memory"]

    def call(self, name: str, *arguments: Any) -> Any:
        """The result of an exported function."""
        function: Any = self.exports[name]
        return function(self.store, *arguments)

    def put(self, at: int, content: bytes) -> None:
        """Write bytes into memory."""
        self.memory.write(self.store, bytearray(content), at)

    def get(self, at: int, size: int) -> bytes:
        """Bytes of memory."""
        return bytes(self.memory.read(self.store, at, at + size))


def in_wasm(function: Callable[..., Any], *static: Any) -> Callable[..., Any]:
    """The kernel in WebAssembly, as a function of numbers and arrays."""
    tree = translate(function, *static)
    instance = Instance(web_assembly.source([tree]))

    def call(*arguments: Any) -> Any:
        at, given, arrays = START, list[Any](), list[tuple[int, np.ndarray]]()
        for x in arguments:
            given.append(at if isinstance(x, np.ndarray) else x)
            if isinstance(x, np.ndarray):
                instance.put(at, x.tobytes())
                arrays.append((at, x))
                at += x.nbytes
        result = instance.call(tree.name, *given)
        for place, x in arrays:
            x[:] = np.frombuffer(instance.get(place, x.nbytes), x.dtype)
        return result

    return call
