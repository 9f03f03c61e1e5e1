"""A short text that stands for all that a run holds: saved with it, it shows whether a file still has the same numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from kineta.tasks.result import Result


def digest(run: Result) -> str:
    """The digest of everything in *run* that a file keeps: all but ``sol``."""
    total = sha256()
    for name, content in _leaves("", run):
        total.update(f"{name}:{len(content)}:".encode())
        total.update(content)
    return total.hexdigest()


def _leaves(name: str, value: Any) -> Iterator[tuple[str, bytes]]:
    """The numbers, words and arrays within *value* by their places, as bytes."""
    if isinstance(value, np.ndarray):
        yield f"{name} {value.dtype.str} {value.shape}", np.ascontiguousarray(value).tobytes()
    elif is_dataclass(value):
        for f in fields(value):
            if f.name != "sol":
                yield from _leaves(f"{name}.{f.name}", getattr(value, f.name))
    elif isinstance(value, Mapping):
        for key in sorted(value):
            yield from _leaves(f"{name}[{key}]", value[key])
    elif isinstance(value, tuple):
        for i, entry in enumerate(value):
            yield from _leaves(f"{name}[{i}]", entry)
    else:
        yield name, repr(float(value) if isinstance(value, float) else value).encode()
