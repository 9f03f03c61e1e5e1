"""A stand-in for the bindings of CUDA's driver: memory of this process, and launches that the interpreter of PTX runs.

Functions have the names, arguments and results of ``cuda.bindings.driver``.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from types import ModuleType
from typing import Any

import numpy as np

from kineta.codegen.cuda import driver as own
from tests.codegen.ptx_interpreter import Memory, Module, parsed


class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100


OK = CUresult.CUDA_SUCCESS


class CUdevice_attribute(IntEnum):  # noqa: N801
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37


class CUpointer_attribute(IntEnum):  # noqa: N801
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9


class CUevent_flags(IntEnum):  # noqa: N801
    CU_EVENT_DISABLE_TIMING = 2


class SimulatedDriver(ModuleType):
    """The module, with what happened: ``launches``, ``streams`` that waited, ``live`` allocations."""

    CUdevice_attribute, CUpointer_attribute, CUevent_flags = CUdevice_attribute, CUpointer_attribute, CUevent_flags

    def __init__(self, status: CUresult = OK, room: int = 1 << 30) -> None:
        super().__init__("cuda.bindings.driver")
        self.status, self.room = status, room
        self.memory = Memory()
        self.live: dict[int, np.ndarray] = {}
        self.launches: list[tuple[str, int, int]] = []
        self.copies = 0
        self.streams: list[int] = []
        self.contexts: list[Any] = []

    def cuInit(self, flags: int) -> tuple[Any, ...]:
        return (self.status,)

    def cuGetErrorName(self, status: CUresult) -> tuple[Any, ...]:
        return OK, status.name.encode()

    def cuGetErrorString(self, status: CUresult) -> tuple[Any, ...]:
        return OK, {2: b"out of memory"}.get(int(status), b"failed")

    def cuDeviceGetCount(self) -> tuple[Any, ...]:
        return OK, 2

    def cuDeviceGet(self, ordinal: int) -> tuple[Any, ...]:
        return OK, ordinal

    def cuDeviceGetName(self, length: int, device: int) -> tuple[Any, ...]:
        return OK, b"Simulated".ljust(length, b"\0")

    def cuDeviceGetAttribute(self, attribute: CUdevice_attribute, device: int) -> tuple[Any, ...]:
        values = {75: 9, 76: 0, 16: 100, 13: 1_500_000, 36: 2_600_000, 37: 5120}
        return OK, values[int(attribute)]

    def cuDevicePrimaryCtxRetain(self, device: int) -> tuple[Any, ...]:
        return OK, f"context {device}"

    def cuCtxPushCurrent(self, context: Any) -> tuple[Any, ...]:
        self.contexts.append(context)
        return (OK,)

    def cuCtxPopCurrent(self) -> tuple[Any, ...]:
        return OK, self.contexts.pop()

    def cuModuleLoadData(self, image: bytes) -> tuple[Any, ...]:
        assert self.contexts
        assert image.endswith(b"\0")
        return OK, parsed(image[:-1].decode())

    def cuModuleGetFunction(self, module: Module, name: bytes) -> tuple[Any, ...]:
        return OK, (module, name.decode())

    def cuMemAlloc(self, size: int) -> tuple[Any, ...]:
        assert self.contexts
        if size > self.room:
            return CUresult.CUDA_ERROR_OUT_OF_MEMORY, 0
        array = np.full(-(-size // 8), np.nan)
        self.live[array.ctypes.data] = array
        return OK, self.memory.add(array)

    def cuMemFree(self, address: int) -> tuple[Any, ...]:
        assert self.contexts
        del self.live[address]
        self.memory.remove(address)
        return (OK,)

    def cuMemcpyHtoD(self, target: int, source: int, size: int) -> tuple[Any, ...]:
        assert self.contexts
        self.copies += 1
        ctypes.memmove(self.memory.bytes_at(target, size).ctypes.data, source, size)
        return (OK,)

    def cuMemcpyDtoH(self, target: int, source: int, size: int) -> tuple[Any, ...]:
        assert self.contexts
        self.copies += 1
        ctypes.memmove(target, self.memory.bytes_at(source, size).ctypes.data, size)
        return (OK,)

    def cuLaunchKernel(self, function: Any, *given: Any) -> tuple[Any, ...]:
        assert self.contexts
        gx, gy, gz, bx, by, bz, shared, stream, parameters, extra = given
        assert (gy, gz, by, bz, shared, stream, extra) == (1, 1, 1, 1, 0, 1, 0)
        module, name = function
        n = len(module.functions[name].parameters)
        places = (ctypes.c_void_p * n).from_address(parameters)
        words = [ctypes.c_int64.from_address(p).value for p in places]
        module.run(name, words, gx, bx, self.memory)
        self.launches.append((name, gx, bx))
        return (OK,)

    def cuStreamSynchronize(self, stream: int) -> tuple[Any, ...]:
        self.streams.append(stream)
        return (OK,)

    def cuPointerGetAttribute(self, attribute: CUpointer_attribute, address: int) -> tuple[Any, ...]:
        self.memory.bytes_at(address, 8)
        return OK, 0

    def cuEventCreate(self, flags: CUevent_flags) -> tuple[Any, ...]:
        return OK, "event"

    def cuEventRecord(self, event: Any, stream: int) -> tuple[Any, ...]:
        assert stream == 1
        return (OK,)

    def cuStreamWaitEvent(self, stream: int, event: Any, flags: int) -> tuple[Any, ...]:
        self.streams.append(stream)
        return (OK,)

    def cuEventDestroy(self, event: Any) -> tuple[Any, ...]:
        return (OK,)


@contextmanager
def installed(driver: ModuleType | None) -> Iterator[Any]:
    """*driver* in place of the bindings, or none at all."""
    names = ("cuda", "cuda.bindings", "cuda.bindings.driver")
    before = {name: sys.modules.get(name) for name in names}
    package, bindings = ModuleType("cuda"), ModuleType("cuda.bindings")
    package.bindings, bindings.driver = bindings, driver  # type: ignore[attr-defined]
    given = (package, bindings, driver) if driver else (None, None, None)
    sys.modules.update(zip(names, given, strict=True))  # type: ignore[arg-type]
    _forget()
    try:
        yield driver
    finally:
        _forget()
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


def _forget() -> None:
    own.driver.cache_clear()
    own.device.cache_clear()
