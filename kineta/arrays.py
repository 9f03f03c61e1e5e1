"""Types of arrays in annotations, and addresses of arrays for compiled code."""

from __future__ import annotations

from ctypes import addressof, c_char
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ComplexArray = NDArray[np.complex128]
Mask = NDArray[np.bool_]

_first: Any = c_char.from_buffer


def address(array: NDArray[Any]) -> int:
    """Address of the first number of a contiguous *array*, 0 of an empty one: ``ctypes.data`` takes ten times as long."""
    if not array.size:
        return 0
    try:
        return addressof(_first(array))
    except TypeError:  # of memory that is not to be written
        return int(array.ctypes.data)
