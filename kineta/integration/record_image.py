"""Images of records: a record, its arrays and the records in it as one block of memory, copied at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from kineta.arrays import IntArray, address
from kineta.memory import CompiledFunction, Record

R = TypeVar("R", bound=Record)


class _Place(NamedTuple):
    """Place of a record of a *kind* in an image: its own words, its arrays with their types, its records, its functions."""

    kind: type[Record]
    words: slice
    arrays: dict[str, tuple[slice, np.dtype[Any]]]
    records: dict[str, _Place]
    functions: dict[str, CompiledFunction]


class RecordImage(Generic[R]):
    """Image of a *record*, whose arrays in the fields *room* are zero in a copy."""

    def __init__(self, record: R, room: Sequence[str]) -> None:
        self._size, self._parts, self._referring, self._referred = 0, list[IntArray](), list[int](), list[int]()
        self._place = self._placed(record, room)
        words = self._size
        for name in room:
            self._put_array(self._place, name, record.array(name))
        self._words = np.concatenate(self._parts)[:words]
        self._pointers = np.array(self._referring)
        self._words[self._pointers] = self._referred

    def copy(self) -> RecordCopy[R]:
        """A record in memory of its own."""
        memory = np.zeros(self._size, dtype=np.int64)
        memory[: len(self._words)] = self._words
        memory[self._pointers] += address(memory)
        return RecordCopy(cast(R, _record(self._place, memory)), memory, memory[: len(self._words)].copy())

    def _placed(self, record: Record, room: Sequence[str]) -> _Place:
        place = _Place(type(record), self._put(record.words()), {}, {}, {})
        for name in record.layout.fields:
            value = record.array(name)
            if isinstance(value, CompiledFunction):
                place.functions[name] = value
            elif isinstance(value, Record):
                place.records[name] = self._placed(value, ())
                self._refer(place, name, place.records[name].words)
            elif value is not None and name not in room:
                self._put_array(place, name, value)
        return place

    def _put_array(self, place: _Place, name: str, array: NDArray[Any]) -> None:
        words = self._put(array)
        place.arrays[name] = words, array.dtype
        if len(array):
            self._refer(place, name, words)

    def _put(self, words: NDArray[Any]) -> slice:
        """The place of *words*, added to the image."""
        self._parts.append(words.view(np.int64))
        self._size += len(words)
        return slice(self._size - len(words), self._size)

    def _refer(self, place: _Place, name: str, words: slice) -> None:
        """Let the field *name* of a record refer to *words*, by their distance from the beginning in bytes."""
        self._referring.append(place.words.start + place.kind.layout.position(name))
        self._referred.append(8 * words.start)


class RecordCopy(NamedTuple, Generic[R]):
    """A copy of an image: the *record*, its *memory*, and the *first* words of it, which are not room, as they were copied."""

    record: R
    memory: IntArray
    first: IntArray

    def reset(self) -> None:
        """Give the record its first values again, but for its room. Numbers and entries of arrays alone have changed."""
        self.memory[: len(self.first)] = self.first


class _FieldParts(dict[str, Any]):
    """What the fields of the record at a *place* of *memory* refer to; arrays and records are made when they are asked for."""

    def __init__(self, place: _Place, memory: IntArray) -> None:
        super().__init__(place.functions)
        self._place, self._memory = place, memory

    def __missing__(self, name: str) -> Any:
        if name in self._place.records:
            return self.setdefault(name, _record(self._place.records[name], self._memory))
        words, kind = self._place.arrays[name]
        return self.setdefault(name, self._memory[words].view(kind))


def _record(place: _Place, memory: IntArray) -> Record:
    return place.kind.in_memory(memory[place.words], _FieldParts(place, memory))
