"""Nvidia's driver, by its own Python bindings, with errors as sentences."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from kineta.errors import DeviceError, MissingPackageError
from kineta.threads import memo

#: The stream on which everything runs, CUDA's default: work on other streams that block waits for it, and it for theirs.
STREAM = 1
#: Threads of a block: even with 255 registers two blocks fit on a multiprocessor.
THREADS = 128
_ELSEWHERE = "The backends 'llvm' and 'numpy' need none."


class Driver:
    """The driver's functions by name, from the module *bindings*."""

    def __init__(self, bindings: Any) -> None:
        self.bindings = bindings

    def __call__(self, function: str, *arguments: Any) -> Any:
        """The result of a *function*; a tuple of several. Raises :class:`DeviceError` with the driver's message."""
        status, *results = getattr(self.bindings, function)(*arguments)
        if int(status):
            text = _text(self.bindings.cuGetErrorString(status)[1])
            raise DeviceError(f"The graphics processor failed in {function}: {text} ({self.name_of(status)}).")
        return results[0] if len(results) == 1 else tuple(results)

    def name_of(self, status: Any) -> str:
        """The name of an error."""
        return _text(self.bindings.cuGetErrorName(status)[1])


def _text(found: Any) -> str:
    return found.decode() if isinstance(found, bytes) else str(found)


@cache
def driver() -> Driver:
    """The driver of this machine, initialised. Raises :class:`MissingPackageError` and :class:`DeviceError`."""
    try:
        from cuda.bindings import driver as bindings
    except ImportError:
        raise MissingPackageError("cuda-bindings", "gpu") from None
    found = Driver(bindings)
    try:
        status = bindings.cuInit(0)[0]
    except Exception:  # of another type in every version
        raise DeviceError(f"No driver of Nvidia's graphics processors was found. {_ELSEWHERE}") from None
    if int(status):
        name = found.name_of(status)
        raise DeviceError(f"Expected a graphics processor of Nvidia, found none ({name}). {_ELSEWHERE}")
    return found


class Device:
    """A graphics processor by its number, with the context that other libraries share."""

    def __init__(self, ordinal: int) -> None:
        self.ordinal, self.driver = ordinal, driver()
        self._device = self.driver("cuDeviceGet", ordinal)
        self._context = self.driver("cuDevicePrimaryCtxRetain", self._device)

    @property
    def name(self) -> str:
        """Its name, as the driver has it."""
        found = self.driver("cuDeviceGetName", 256, self._device)
        return str(found.split(b"\0", 1)[0].decode())

    def attribute(self, name: str) -> int:
        """The value of an attribute, by its name in the driver without ``CU_DEVICE_ATTRIBUTE_``."""
        key = getattr(self.driver.bindings.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self.driver("cuDeviceGetAttribute", key, self._device))

    @property
    def capability(self) -> tuple[int, int]:
        """Its compute capability: (7, 0) for Volta."""
        return self.attribute("COMPUTE_CAPABILITY_MAJOR"), self.attribute("COMPUTE_CAPABILITY_MINOR")

    @contextmanager
    def current(self) -> Iterator[None]:
        """Calls of the driver in this context belong to this processor."""
        self.driver("cuCtxPushCurrent", self._context)
        try:
            yield
        finally:
            self.driver("cuCtxPopCurrent")

    def load(self, text: str, name: str) -> Any:
        """The entry *name* of PTX, compiled by the driver once; valid as long as the process."""

        def loaded() -> Any:
            with self.current():
                module = self.driver("cuModuleLoadData", text.encode() + b"\0")
                return self.driver("cuModuleGetFunction", module, name.encode())

        return memo(self, (text, name), loaded)

    def allocate(self, size: int) -> int:
        """The address of *size* bytes."""
        with self.current():
            return int(self.driver("cuMemAlloc", max(size, 8)))

    def free(self, address: int) -> None:
        """Give back what was allocated."""
        with self.current():
            self.driver("cuMemFree", address)

    def write(self, address: int, source: int, size: int) -> None:
        """Copy *size* bytes from the memory of this process."""
        if size:
            with self.current():
                self.driver("cuMemcpyHtoD", address, source, size)

    def read(self, target: int, address: int, size: int) -> None:
        """Copy *size* bytes to the memory of this process, after all work before."""
        if size:
            with self.current():
                self.driver("cuMemcpyDtoH", target, address, size)

    def launch(self, function: Any, n: int, arguments: Sequence[int]) -> None:
        """Start *function* on n threads with words as arguments; it is not waited for."""
        words = [ctypes.c_int64(a) for a in arguments]
        places = (ctypes.c_void_p * len(words))(*(ctypes.addressof(w) for w in words))
        blocks = -(-n // THREADS)
        with self.current():
            self.driver("cuLaunchKernel", function, blocks, 1, 1, THREADS, 1, 1, 0, STREAM, ctypes.addressof(places), 0)

    def finish(self, stream: int = STREAM) -> None:
        """Wait for all work on a *stream*."""
        with self.current():
            self.driver("cuStreamSynchronize", stream)

    def precede(self, stream: int) -> None:
        """Let another *stream* wait for all work so far."""
        with self.current():
            event = self.driver("cuEventCreate", self.driver.bindings.CUevent_flags.CU_EVENT_DISABLE_TIMING)
            self.driver("cuEventRecord", event, STREAM)
            self.driver("cuStreamWaitEvent", stream, event, 0)
            self.driver("cuEventDestroy", event)


@cache
def device(ordinal: int = 0) -> Device:
    """The graphics processor with a number."""
    count = driver()("cuDeviceGetCount")
    if ordinal >= count:
        raise DeviceError(f"Expected a graphics processor below {count}, found number {ordinal}.")
    return Device(ordinal)
