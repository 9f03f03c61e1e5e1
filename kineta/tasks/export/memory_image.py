"""The memory of records in another language: every record and array that a record leads to, by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from kineta.arrays import FloatArray, IntArray, address
from kineta.memory import ArrayType, Record, RecordType

#: What lies in memory.
Piece = Record | FloatArray | IntArray
#: The place of a record or an array: the name of a piece, and the number of the entry in it; None for what lies nowhere.
Place = Callable[[Any], tuple[str, int] | None]


def pieces(root: Record, used: Collection[str], held: Sequence[Record] = ()) -> dict[str, Piece]:
    """The records of *used* types and the arrays to which *root* leads, and itself as ``root``, with which all names begin, and
    those that are *held* by addresses in arrays. Each stands once, records before their parts; arrays without entries are left
    out, and those that lie in another piece.
    """
    known = {id(root)}
    found = _reached(root, "root", used, known)
    for k, record in enumerate(held):
        if id(record) not in known and record.layout.name in used:
            known.add(id(record))
            found |= _reached(record, f"root_held_{k}", used, known)
    inner = {
        name
        for name, part in found.items()
        if not isinstance(part, Record) and any(_holds(whole, part) for whole in found.values())
    }
    return {name: part for name, part in found.items() if name not in inner}


def _reached(record: Record, name: str, used: Collection[str], known: set[int]) -> dict[str, Piece]:
    """*record* as *name*, and all that it leads to."""
    found: dict[str, Piece] = {name: record}
    for word, kind in record.layout.fields.items():
        part: Any = record.array(word)
        if part is None or id(part) in known:
            continue
        known.add(id(part))
        if isinstance(kind, RecordType) and kind.name in used:
            found |= _reached(part, f"{name}_{word}", used, known)
        elif isinstance(kind, ArrayType) and len(part):
            found[f"{name}_{word}"] = part
    return found


def _extent(part: Piece) -> tuple[int, int]:
    """The addresses of a piece and behind it."""
    start, size = (part.address, len(part.layout.fields)) if isinstance(part, Record) else (address(part), len(part))
    return start, start + 8 * size


def _holds(whole: Piece, part: Piece) -> bool:
    """Whether an array *part* lies in another piece, the *whole*."""
    (start, end), (first, last) = _extent(whole), _extent(part)
    return (
        whole is not part
        and start <= first
        and last <= end
        and (isinstance(whole, Record) or end - start > last - first)
    )


def places(found: Mapping[str, Piece]) -> Place:
    """The places of records and arrays in the pieces *found*."""
    extents = [(name, *_extent(piece)) for name, piece in found.items()]

    def place(part: Any) -> tuple[str, int] | None:
        if part is None or not (isinstance(part, Record) or len(part)):
            return None
        first, last = _extent(part)
        return next(((n, (first - start) // 8) for n, start, end in extents if start <= first and last <= end), None)

    return place
