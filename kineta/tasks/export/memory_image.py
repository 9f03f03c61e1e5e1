"""The memory of records in another language: every record and array that a record leads to, by name."""

from __future__ import annotations

from typing import Any

from kineta.arrays import FloatArray, IntArray
from kineta.memory import ArrayType, Record, RecordType

#: What lies in memory.
Piece = Record | FloatArray | IntArray


def pieces(root: Record, name: str = "root") -> dict[str, Piece]:
    """The records and arrays to which *root* leads, and itself as *name*; the names of others begin with it. Each stands once,
    records before their parts; arrays without entries are left out.
    """
    found: dict[str, Piece] = {name: root}
    known = {id(root)}
    for word, kind in root.layout.fields.items():
        part: Any = root.array(word)
        if part is None or id(part) in known:
            continue
        known.add(id(part))
        if isinstance(kind, RecordType):
            found |= pieces(part, f"{name}_{word}")
        elif isinstance(kind, ArrayType) and len(part):
            found[f"{name}_{word}"] = part
    return found


def names(found: dict[str, Piece]) -> dict[int, str]:
    """The names of *found* pieces by their identity."""
    return {id(piece): name for name, piece in found.items()}
