"""Records in memory: what compiled loops and Python share.

A record is a block of named fields of eight bytes each: numbers, truth values, and addresses of arrays, of other records and of
compiled functions. Python sees the values, compiled code the memory; nothing is copied between them.
"""

from __future__ import annotations

import collections.abc
import ctypes
import inspect
import typing
from dataclasses import field
from functools import cache, lru_cache
from typing import Annotated, Any, Protocol, TypeAlias, TypeVar, overload

import numpy as np

from kineta.arrays import FloatArray, IntArray, address
from kineta.errors import ArgumentError, excerpt, shown
from kineta.records import dataclass


class Reals(Protocol):
    """An array of real numbers, one after the other: an address. ``x[k:]`` is the same memory from entry k on."""

    @overload
    def __getitem__(self, index: int, /) -> float: ...
    @overload
    def __getitem__(self, index: slice, /) -> Reals: ...
    def __setitem__(self, index: int, value: float, /) -> None: ...


class Integers(Protocol):
    """An array of integers of 64 bits, as :class:`Reals`."""

    @overload
    def __getitem__(self, index: int, /) -> int: ...
    @overload
    def __getitem__(self, index: slice, /) -> Integers: ...
    def __setitem__(self, index: int, value: int, /) -> None: ...


# -- types ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A type of numbers, or of nothing."""

    name: str

    def __str__(self) -> str:
        return self.name


REAL, INTEGER, BOOLEAN = ScalarType("a real number"), ScalarType("an integer"), ScalarType("a truth value")
NOTHING = ScalarType("nothing")


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array of numbers of one type."""

    item: ScalarType

    def __str__(self) -> str:
        return "an array of reals" if self.item is REAL else "an array of integers"


REALS, INTEGERS = ArrayType(REAL), ArrayType(INTEGER)


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record: its fields in the order of memory, and those *shared* by all lanes of a vector."""

    name: str
    fields: dict[str, MemoryType] = field(compare=False)
    shared: set[str] = field(compare=False)
    positions: dict[str, int] = field(compare=False)

    def __str__(self) -> str:
        return f"a record '{self.name}'"

    def position(self, name: str) -> int:
        """Number of the field *name*."""
        return self.positions[name]

    @property
    def common(self) -> bool:
        """Whether there is one record for all lanes of a vector."""
        return len(self.shared) == len(self.fields)


@dataclass(frozen=True, slots=True)
class FunctionType:
    """A compiled function."""

    parameters: tuple[MemoryType, ...]
    result: MemoryType

    def __str__(self) -> str:
        return "a compiled function"


MemoryType = ScalarType | ArrayType | RecordType | FunctionType

T = TypeVar("T")
#: A field of a record with one number or array for all lanes of a vector; for one motion it is a field like others.
Shared: TypeAlias = Annotated[T, "shared"]

_PLAIN: tuple[tuple[Any, ScalarType | ArrayType], ...] = (
    *((float, REAL), (int, INTEGER), (bool, BOOLEAN), (None, NOTHING), (type(None), NOTHING)),
    *((Reals, REALS), (Integers, INTEGERS)),
)


def memory_type(annotation: Any) -> MemoryType | None:
    """The type of an annotation, or None for an annotation that describes no memory."""
    if inspect.isclass(annotation) and issubclass(annotation, Record):
        return annotation.layout
    if typing.get_origin(annotation) is collections.abc.Callable:
        parameters, result = typing.get_args(annotation)
        types = [memory_type(a) for a in (*parameters, result)]
        known = [t for t in types if t is not None]
        return FunctionType(tuple(known[:-1]), known[-1]) if len(known) == len(types) else None
    return next((kind for python, kind in _PLAIN if annotation is python), None)


#: Alignment of vectors in bytes.
ALIGNED = 64

# -- values ---------------------------------------------------------------------------------------------------------


class CompiledFunction:
    """A compiled function at an *address*, of addresses of arrays and records; 0 for none."""

    def __init__(self, address: int) -> None:
        self.address = address

    def __call__(self, *given: Any) -> None:
        """Call it with arrays and records, as compiled code would."""
        addresses = (x.address if isinstance(x, Record) else address(x) for x in given)
        _function(len(given), self.address)(*addresses)


@cache
def _prototype(parameters: int) -> Any:
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * parameters)


@lru_cache(maxsize=64)
def _function(parameters: int, address: int) -> Any:
    """The function of so many addresses at an *address*, which may become that of other code."""
    return _prototype(parameters)(address)


class Record:
    """A record; subclasses annotate its fields with float, int, bool, :class:`Reals`, :class:`Integers`, records, or functions
    ``Callable[[...], ...]``, whose values are :class:`CompiledFunction`.

    ``address`` is that of its memory. Numbers are 0 until they are set; arrays, records and functions have to be given, since
    machine code does not ask whether they are there, but for *partial* records, of which it reads what other numbers say.
    Fields marked as :data:`Shared` are common to all lanes of a vector, and those of a *shared* record are.
    """

    layout: typing.ClassVar[RecordType]
    partial: typing.ClassVar[bool]

    def __init_subclass__(cls, *, shared: bool = False, partial: bool = False) -> None:
        cls.partial = partial
        hints = {
            n: h for n, h in typing.get_type_hints(cls, include_extras=True).items() if n not in Record.__annotations__
        }
        cls.layout = RecordType(
            cls.__name__, {}, set(hints) if shared else set(), {name: k for k, name in enumerate(hints)}
        )
        for k, (name, hint) in enumerate(hints.items()):
            if typing.get_origin(hint) is Annotated:
                cls.layout.shared.add(name)
                hint = typing.get_args(hint)[0]
            kind = memory_type(hint)
            if kind is None or kind is NOTHING:
                raise ArgumentError(
                    f"Field '{name}' of record '{cls.__name__}': expected float, int, bool, Reals, Integers, a record or"
                    f" Callable of these, found {shown(hint)}."
                )
            cls.layout.fields[name] = kind
            setattr(cls, name, _accessor(cls.__name__, name, k, kind))

    def __init__(self, **values: Any) -> None:
        self._settle(np.zeros(len(self.layout.fields), dtype=np.int64), {})
        self.update(**values)
        if self.partial:
            return
        kinds = self.layout.fields.items()
        missing = [f"'{n}'" for n, kind in kinds if not isinstance(kind, ScalarType) and n not in self._held]
        if missing:
            raise ArgumentError(
                f"Record '{self.layout.name}': expected all arrays, records and functions, found none for {excerpt(missing)}. "
                "Give them."
            )

    @classmethod
    def in_memory(cls, words: IntArray, held: dict[str, Any]) -> Record:
        """The record in the memory *words* (fields,), whose addresses are those of the arrays, records and functions *held*."""
        found = cls.__new__(cls)
        found._settle(words, held)
        return found

    def _settle(self, words: IntArray, held: dict[str, Any]) -> None:
        self.address, self._held = address(words), held
        self._integers, self._reals = words.data, words.view(np.float64).data

    def words(self) -> FloatArray:
        """The memory of the record as an array of numbers of eight bytes."""
        return np.frombuffer(self._reals, dtype=np.float64)

    def array(self, name: str) -> Any:
        """The array in the field *name*, as Python has it; None if it is not set."""
        try:
            return self._held[name]
        except KeyError:
            return None

    def call(self, function: str, *arrays: str) -> None:
        """Call the compiled function in a field with the arrays in other fields."""
        addresses, places = self._integers, self.layout.positions
        _function(len(arrays), addresses[places[function]])(*[addresses[places[name]] for name in arrays])

    def update(self, **values: Any) -> None:
        """Set several fields."""
        for name, value in values.items():
            if name not in self.layout.fields:
                raise ArgumentError(f"Record '{self.layout.name}' has no field '{name}'. Name one of its fields.")
            setattr(self, name, value)


class LaneRecord:
    """A record of every lane of a vector, at first a copy of one *record* in each: number i of all lanes side by side, arrays
    (size, lanes) of which every lane has a column, records of lanes. What lanes share is that of the one record.
    """

    def __init__(self, record: Record, lanes: int) -> None:
        self.layout, self._held = record.layout, dict[str, Any]()
        self._integers = np.zeros((len(record.layout.fields), lanes), dtype=np.int64)
        self._reals = self._integers.view(np.float64)
        self.address = address(self._integers)
        for k, (name, kind) in enumerate(record.layout.fields.items()):
            value = getattr(record, name) if isinstance(kind, ScalarType) else record.array(name)
            if isinstance(kind, ScalarType):
                self[name][:] = value
            elif value is not None:
                if isinstance(kind, ArrayType) and name not in record.layout.shared:
                    value = columns(value, lanes)
                elif isinstance(kind, RecordType) and not kind.common:
                    value = LaneRecord(value, lanes)
                self._held[name] = value
                self._integers[k] = address(value) if isinstance(kind, ArrayType) else value.address

    @classmethod
    def of_one(cls, record: Record) -> LaneRecord:
        """*record* itself, as the one lane of a vector."""
        found = cls.__new__(cls)
        found.layout, found.address, found._held = record.layout, record.address, {}
        found._reals = record.words()[:, None]
        found._integers = found._reals.view(np.int64)
        for name, kind in record.layout.fields.items():
            value = record.array(name)
            if isinstance(kind, ArrayType) and value is not None and name not in record.layout.shared:
                value = value[:, None]
            elif isinstance(kind, RecordType) and value is not None and not kind.common:
                value = cls.of_one(value)
            found._held[name] = value
        found._held[""] = record  # keeps its memory alive
        return found

    def __getitem__(self, name: str) -> Any:
        """The numbers (lanes,), the array or the record in the field *name*."""
        kind = self.layout.fields[name]
        if not isinstance(kind, ScalarType):
            return self._held[name]
        return (self._reals if kind is REAL else self._integers)[self.layout.position(name)]


def columns(x: Any, lanes: int) -> Any:
    """Copies of an array (n,), one in each column of an array (n, lanes), at an address aligned for vectors."""
    memory = np.zeros((len(x) + 1) * lanes + ALIGNED // 8, dtype=x.dtype)
    start = -address(memory) % ALIGNED // 8
    columns = memory[start : start + len(x) * lanes].reshape(len(x), lanes)
    columns[:] = x[:, None]
    return columns


def _accessor(record: str, name: str, k: int, kind: MemoryType) -> property:
    """The field *name*, number k in memory."""
    what = f"Field '{name}' of record '{record}'"

    def value(self: Any) -> Any:
        return self._held[name]

    def hold(self: Any, new: Any) -> None:
        self._integers[k] = memory_address(new, kind, what)
        self._held[name] = new

    def put_real(self: Any, new: Any) -> None:
        self._reals[k] = new

    def put_integer(self: Any, new: Any) -> None:
        self._integers[k] = new

    def put_boolean(self: Any, new: Any) -> None:
        self._integers[k] = bool(new)

    if kind is REAL:
        return property(lambda self: self._reals[k], put_real)
    if kind is INTEGER:
        return property(lambda self: self._integers[k], put_integer)
    if kind is BOOLEAN:
        return property(lambda self: bool(self._integers[k]), put_boolean)
    return property(value, hold)


_REALS, _INTEGERS = np.dtype(np.float64), np.dtype(np.int64)


def array_address(value: Any, kind: ArrayType, what: str) -> int:
    """The address of an array."""
    wanted, is_array = _REALS if kind.item is REAL else _INTEGERS, isinstance(value, np.ndarray)
    if is_array and value.dtype == wanted and value.ndim == 1 and value.flags.c_contiguous:
        return address(value)
    found = f"{value.dtype} of shape {value.shape}" if is_array else shown(value)
    raise ArgumentError(
        f"{what}: expected a contiguous array (n,) of {wanted.name}, found {found}. Give 'array.reshape(-1)'."
    )


def memory_address(value: Any, kind: MemoryType, what: str) -> int:
    """The address of an array, a record or a function."""
    if isinstance(kind, ArrayType):
        return array_address(value, kind, what)
    fits = isinstance(value, CompiledFunction) if isinstance(kind, FunctionType) else isinstance(value, Record)
    if not fits or (isinstance(kind, RecordType) and value.layout is not kind):
        raise ArgumentError(f"{what}: expected {kind}, found {shown(value)}.")
    return int(value.address)
