"""Arrays in the memory of graphics processors: those of other libraries, by DLPack and ``__cuda_array_interface__``, and own.

No copy is made in either direction. Whoever reads an own array waits for the work that writes it: DLPack tells the stream.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from kineta.arrays import FloatArray, address
from kineta.codegen.cuda.driver import STREAM, device, driver
from kineta.errors import ArgumentError, shown
from kineta.records import dataclass

#: DLPack's numbers of memory of graphics processors, and of memory that these share with the host.
_CUDA, _MANAGED = 2, 13
_FLOAT = 2  # DLPack's number of real numbers
BYTES = 8  # of a number


class _Tensor(ctypes.Structure):
    """DLPack's ``DLManagedTensor``."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


@dataclass(frozen=True, eq=False)
class DeviceView:
    """Numbers in device memory: the *address* of the first, the *shape*, *strides* in numbers, the processor.

    *owner* keeps the memory.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    ordinal: int
    owner: Any
    writable: bool = True

    def steps(self, lead: int, name: str) -> tuple[int, int]:
        """The distances of rows, along *lead* axes, and of columns, along the others.

        Raises :class:`ArgumentError` for axes that are not at equal distances, as those of a part of a larger array.
        """
        return self._step(0, lead, name), self._step(lead, len(self.shape), name)

    def broadcast(self, shape: tuple[int, ...]) -> DeviceView:
        """The same numbers in a larger *shape*, as NumPy broadcasts."""
        new = len(shape) - len(self.shape)
        own = zip(self.shape, self.strides, shape[new:], strict=True)
        return replace(self, shape=shape, strides=(*[0] * new, *(s if n == wanted else 0 for n, s, wanted in own)))

    def overlaps(self, other: DeviceView) -> bool:
        """Whether both may share memory."""
        (a, b), (c, d) = self._range(), other._range()
        return a < d and c < b and self.ordinal == other.ordinal

    def _range(self) -> tuple[int, int]:
        """The addresses of the first byte and behind the last."""
        if not prod(self.shape):
            return self.address, self.address
        reach = [(n - 1) * s for n, s in zip(self.shape, self.strides, strict=True)]
        return (
            self.address + BYTES * sum(min(r, 0) for r in reach),
            self.address + BYTES * (1 + sum(max(r, 0) for r in reach)),
        )

    def _step(self, start: int, stop: int, name: str) -> int:
        """The distance of neighbours along several axes as if they were one."""
        axes = [(n, s) for n, s in zip(self.shape[start:stop], self.strides[start:stop], strict=True) if n != 1]
        for (_, outer), (n, inner) in pairwise(axes):
            if outer != n * inner:
                raise ArgumentError(
                    f"Expected {name} with axes at equal distances, found strides {self.strides} of the shape {self.shape}. "
                    "Give a contiguous array with all leading axes."
                )
        return axes[-1][1] if axes else 0


def device_view(name: str, value: Any) -> DeviceView | None:
    """What *value* holds in the memory of a graphics processor; None for what is elsewhere. Work before is waited for.

    Raises :class:`ArgumentError` for numbers other than of 64 bits, and for an array that is not given away.
    """
    if isinstance(value, np.ndarray | np.generic | float | int | list | tuple | dict) or value is None:
        return None
    if isinstance(value, DeviceArray):
        return value.view
    place = getattr(value, "__dlpack_device__", None)
    try:
        if place is not None:
            kind, ordinal = place()
            if int(kind) not in (_CUDA, _MANAGED):
                return None
            return _of_capsule(name, value.__dlpack__(stream=STREAM), int(ordinal))
        interface = getattr(value, "__cuda_array_interface__", None)
        return None if interface is None else _of_interface(name, interface, value)
    except ArgumentError:
        raise
    except Exception as error:  # of any library
        raise ArgumentError(f"Expected {name} as an array that can be shared, found {shown(value)}: {error}") from None


def _of_capsule(name: str, capsule: Any, ordinal: int) -> DeviceView:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    tensor = ctypes.cast(pointer(capsule, b"dltensor"), ctypes.POINTER(_Tensor)).contents
    if (tensor.code, tensor.bits, tensor.lanes) != (_FLOAT, 64, 1):
        kinds = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
        raise _wrong_type(name, f"{kinds.get(tensor.code, 'type')}{tensor.bits}")
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    strides = tuple(tensor.strides[k] for k in range(tensor.ndim)) if tensor.strides else _contiguous(shape)
    # A capsule that nobody takes over gives its memory back when it goes.
    return DeviceView((tensor.data or 0) + tensor.byte_offset, shape, strides, ordinal, capsule)


def _of_interface(name: str, interface: Any, value: Any) -> DeviceView:
    if interface["typestr"] not in ("<f8", "=f8"):
        raise _wrong_type(name, interface["typestr"])
    shape = tuple(map(int, interface["shape"]))
    found = interface.get("strides")
    strides = _contiguous(shape) if found is None else tuple(int(s) // BYTES for s in found)
    start, read_only = interface["data"]
    ordinal = 0
    if start:
        key = driver().bindings.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        ordinal = int(driver()("cuPointerGetAttribute", key, int(start)))
    if interface.get("stream") not in (None, STREAM):
        device(ordinal).finish(int(interface["stream"]))
    return DeviceView(int(start or 0), shape, strides, ordinal, value, not read_only)


def _wrong_type(name: str, found: str) -> ArgumentError:
    return ArgumentError(f"Expected {name} of numbers of 64 bits (float64), found {found}.")


def _contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(prod(shape[k + 1 :]) for k in range(len(shape)))


class DeviceArray:
    """An own array of numbers in the memory of a graphics processor, which other libraries take without a copy:
    ``torch.from_dlpack(a)``, ``cupy.from_dlpack(a)``, ``jax.dlpack.from_dlpack(a)``; ``a.numpy()`` is a copy in NumPy.
    """

    def __init__(self, shape: tuple[int, ...], ordinal: int = 0) -> None:
        self._device = device(ordinal)
        self.shape = shape
        self._address = self._device.allocate(BYTES * prod(shape))

    def __del__(self) -> None:
        place = self.__dict__.pop("_address", 0)
        if place and not sys.is_finalizing():
            self._device.free(place)

    def __repr__(self) -> str:
        return f"<array of float64 of shape {self.shape} on graphics processor {self._device.ordinal}>"

    @property
    def view(self) -> DeviceView:
        """The array as a view."""
        return DeviceView(self._address, self.shape, _contiguous(self.shape), self._device.ordinal, self)

    @classmethod
    def of(cls, array: FloatArray, ordinal: int = 0) -> DeviceArray:
        """A copy of an *array* of NumPy."""
        made = cls(array.shape, ordinal)
        made.write(array)
        return made

    def write(self, array: FloatArray) -> None:
        """Copy an *array* of its shape."""
        kept = np.ascontiguousarray(array, dtype=np.float64)
        self._device.write(self._address, address(kept), kept.nbytes)

    def numpy(self) -> FloatArray:
        """A copy of NumPy's, once the array is written."""
        found = np.empty(self.shape)
        self._device.read(address(found), self._address, found.nbytes)
        return found

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The array for Numba, CuPy and others."""
        return {
            "shape": self.shape,
            "typestr": "<f8",
            "data": (self._address, False),
            "strides": None,
            "version": 3,
            "stream": STREAM,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CUDA, self._device.ordinal

    def __dlpack__(self, *, stream: int | None = None, **wanted: Any) -> Any:
        """A capsule of the array; work on *stream* waits for what writes it."""
        if stream not in (None, -1, 0, STREAM):
            self._device.precede(int(stream))
        if wanted.get("copy"):
            raise BufferError("An array of kineta is shared, not copied.")
        return _capsule(self, self.__dlpack_device__())


#: Arrays that other libraries hold, by the addresses of their tensors.
_held: dict[int, tuple[Any, ...]] = {}
_NAME = b"dltensor"


def _delete(tensor: int) -> None:
    """DLPack's deleter."""
    _held.pop(tensor, None)


def _discard(capsule: int) -> None:
    """The end of a capsule: of one that nobody took over the array goes as well."""
    valid = ctypes.pythonapi.PyCapsule_IsValid
    valid.restype, valid.argtypes = ctypes.c_int, (ctypes.c_void_p, ctypes.c_char_p)
    if valid(capsule, _NAME):
        pointer = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
            ("PyCapsule_GetPointer", ctypes.pythonapi)
        )
        _held.pop(pointer(capsule, _NAME), None)


@atexit.register
def _leave() -> None:
    """Before Python ends: who holds an array longer finds it as it is, and calls nothing of Python's."""
    for held in _held.values():
        held[1].deleter = None
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))


#: Both for C, as long as the process.
_DELETE, _DISCARD = (ctypes.CFUNCTYPE(None, ctypes.c_void_p)(f) for f in (_delete, _discard))


def _capsule(array: DeviceArray, place: tuple[int, int]) -> Any:
    view = array.view
    n = len(view.shape)
    shape, strides = (ctypes.c_int64 * max(n, 1))(*view.shape), (ctypes.c_int64 * max(n, 1))(*view.strides)
    tensor = _Tensor(
        view.address, *place, n, _FLOAT, 64, 1, shape, strides, 0, None, ctypes.cast(_DELETE, ctypes.c_void_p)
    )
    at = ctypes.addressof(tensor)
    _held[at] = array, tensor, shape, strides
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return new(at, _NAME, ctypes.cast(_DISCARD, ctypes.c_void_p))


def library_of(value: Any) -> Callable[[DeviceArray], Any]:
    """What makes of an own array one of the library of *value*."""
    if isinstance(value, DeviceArray):
        return lambda array: array
    module: Any = sys.modules.get(type(value).__module__.partition(".")[0])
    if not hasattr(module, "from_dlpack") and hasattr(value, "__array_namespace__"):
        module = value.__array_namespace__()
    return getattr(module, "from_dlpack", lambda array: array)
