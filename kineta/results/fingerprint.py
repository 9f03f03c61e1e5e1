"""Digest of a run: saved with the run, it shows whether the numbers of the file were changed since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import Any

import numpy as np


def digest(run: Any) -> str:
    """The SHA-256 digest of the fields of *run* that a file keeps: all but ``sol`` and ``system``."""
    total = sha256()
    for name, content in _leaves("", run):
        total.update(f"{name}:{len(content)}:".encode())
        total.update(content)
    return total.hexdigest()


def _leaves(name: str, value: Any) -> Iterator[tuple[str, bytes]]:
    """Paths and bytes of the numbers, strings and arrays within *value*."""
    if isinstance(value, np.ndarray):
        yield f"{name} {value.dtype.str} {value.shape}", np.ascontiguousarray(value).tobytes()
    elif is_dataclass(value):
        for f in fields(value):
            if f.name not in ("sol", "system"):
                yield from _leaves(f"{name}.{f.name}", getattr(value, f.name))
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield from _leaves(f"{name}[{key}]", value[key])
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for i, entry in enumerate(value):
            yield from _leaves(f"{name}[{i}]", entry)
    else:
        yield name, repr(float(value) if isinstance(value, float) else value).encode()
