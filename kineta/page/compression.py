"""Bytes as they stand in a page, and how numbers are told so that little of them is left."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np


def compressed(content: bytes) -> str:
    """The *content*, deflated with the head of zlib, in base 64."""
    return base64.b64encode(zlib.compress(content, 9)).decode()


def planes(words: Any, size: int) -> bytes:
    """Rows of whole numbers below 256**size as *size* bytes each; of a row all lowest bytes come first, which differ most."""
    rows = np.ascontiguousarray(words, dtype="<u8")
    octets = rows.view(np.uint8).reshape(*rows.shape, 8)[..., :size]
    return bytes(np.moveaxis(octets, -1, -2).tobytes())
