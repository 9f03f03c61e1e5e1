"""Records: dataclasses whose methods are written when they are first looked at.

The standard library compiles up to six methods when it decorates a class, in half a millisecond. A process that derives one
model imports two hundred records and calls a few methods of each.
"""

from __future__ import annotations

import abc
import dataclasses
import inspect
from dataclasses import MISSING, FrozenInstanceError, field, fields
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls: type[T] | None = None, /, **options: bool) -> Any:
        """*cls* as :func:`dataclasses.dataclass` makes it, with the options ``init``, ``repr``, ``eq``, ``frozen``, ``slots``,
        ``kw_only``.
        """
        return partial(_record, **options) if cls is None else _record(cls, **options)


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def constant_record(cls: type[T]) -> type[T]:
    """*cls*, which is made in every run, as a dataclass that is equal to itself alone, and whose fields nobody sets: the type
    checker sees to that, not the class, which would take three times as long to make.
    """
    return dataclass(eq=False)(cls)


def is_record(value: object) -> bool:
    """Whether *value* is an instance of a dataclass."""
    return hasattr(type(value), "__dataclass_fields__")


_FIELD_NAMES: dict[tuple[Any, str], tuple[str, ...]] = {}


def field_names(kind: Any, which: str) -> tuple[str, ...]:
    """The names of the fields of records of a *kind* that are compared, ``compare``, or given to make one, ``init``."""
    found = _FIELD_NAMES.get((kind, which))
    if found is None:
        found = _FIELD_NAMES[kind, which] = tuple(f.name for f in fields(kind) if getattr(f, which))
    return found


class _Method:
    """The method *name* of an *owner*, written at the first look, and there from then on."""

    __slots__ = ("name", "owner")

    def __init__(self, owner: Any, name: str) -> None:
        self.owner, self.name = owner, name

    def __get__(self, instance: object, kind: type | None = None) -> Any:
        method = _initialiser(self.owner) if self.name == "__init__" else _by_library(self.owner, self.name)
        setattr(self.owner, self.name, method)
        return method.__get__(instance, kind)


def _late(owner: Any, name: str) -> Any:
    """The method *name* of an *owner*, written at the first call. Python takes an interruption of the look at ``__hash__`` and
    ``__eq__`` for a class without them, that of a call for what it is.
    """

    def method(self: object, *others: object) -> Any:
        found = _by_library(owner, name)
        setattr(owner, name, found)
        return found(self, *others)

    return method


#: What the standard library is asked for when it shall write nothing, and for each method that it writes.
_NOTHING = {"init": False, "repr": False, "eq": False}
_METHODS = {"__repr__": {"repr": True}, "__eq__": {"eq": True}, "__hash__": {"unsafe_hash": True}}


def _by_library(owner: Any, name: str) -> Any:
    own = {f.name: f for f in fields(owner)}
    bare = _bare(owner, {n: f.type for n, f in own.items()}, own)
    return vars(dataclasses.dataclass(bare, **(_NOTHING | _METHODS[name])))[name]


class _Absent:
    """The default of a field that is made by a factory."""

    def __repr__(self) -> str:
        return "<factory>"


def _initialiser(owner: Any) -> Any:
    """The ``__init__`` of *owner*. That of the standard library sets fields of frozen classes only with two more methods."""
    known: dict[str, Any] = {"__set": object.__setattr__, "__absent": _Absent()}
    first: list[str] = []
    by_name: list[str] = []
    body: list[str] = []
    for f in fields(owner):
        parameter, value = f.name, f.name
        if f.default_factory is not MISSING:
            known[f"__make_{f.name}"] = f.default_factory
            value = f"__make_{f.name}() if {f.name} is __absent else {f.name}" if f.init else f"__make_{f.name}()"
            parameter += "=__absent"
        elif f.default is not MISSING:
            known[f"__default_{f.name}"] = f.default
            parameter += f"=__default_{f.name}"
        elif not f.init:
            continue
        if f.init:
            (by_name if f.kw_only else first).append(parameter)
        body.append(
            f" __set(self, {f.name!r}, {value})" if owner.__dataclass_params__.frozen else f" self.{f.name} = {value}"
        )
    if hasattr(owner, "__post_init__"):
        body.append(" self.__post_init__()")
    head = ", ".join(["self", *first, *["*"][: len(by_name)], *by_name])
    exec("\n".join([f"def __init__({head}):", *body, " return None"]), known)
    method = known["__init__"]
    method.__qualname__, method.__module__ = f"{owner.__qualname__}.__init__", owner.__module__
    method.__annotations__ = {f.name: f.type for f in fields(owner) if f.init} | {"return": None}
    return method


def _record(
    cls: Any,
    *,
    init: bool = True,
    repr: bool = True,  # noqa: A002  # as the standard library calls it
    eq: bool = True,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
) -> Any:
    kinds = inspect.get_annotations(cls)
    read = _bare(cls, kinds, {n: getattr(cls, n) for n in kinds if hasattr(cls, n)})
    own = vars(dataclasses.dataclass(read, kw_only=kw_only, **_NOTHING))
    for name in kinds.keys() & vars(cls).keys():  # fields that say their defaults by field()
        setattr(cls, name, own[name]) if name in own else delattr(cls, name)
    bases = [vars(base).get("__dataclass_fields__", {}) for base in cls.__mro__[:0:-1]]
    cls.__dataclass_fields__ = {n: f for known in (*bases, own["__dataclass_fields__"]) for n, f in known.items()}
    cls.__dataclass_params__ = _parameters(frozen)
    positional = tuple(f.name for f in fields(cls) if f.init and not f.kw_only)
    cls.__match_args__ = positional  # type: ignore[misc]  # mypy lets nobody set this name
    names = [f.name for f in fields(cls)]
    if slots:
        cls = _with_slots(cls, names)
    if frozen:
        _freeze(cls, frozenset(names), slots)
    said = vars(cls).copy()
    if eq and said.get("__hash__") is None:  # also what Python sets where a class says __eq__
        cls.__hash__ = _late(cls, "__hash__") if frozen else None
    for name, asked in {"__init__": init, "__repr__": repr, "__eq__": eq}.items():
        if asked and name not in said:
            setattr(cls, name, _late(cls, name) if name == "__eq__" else _Method(cls, name))
    return abc.update_abstractmethods(cls)


def _bare(cls: type, annotations: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """A class of the name of *cls* with these *annotations* and *attributes*, without bases."""
    known = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": "A record."}
    return type(cls.__name__, (), known | {"__annotations__": annotations} | attributes)


@cache
def _parameters(frozen: bool) -> Any:
    """What the standard library asks of the bases of a dataclass."""
    return vars(dataclasses.dataclass(frozen=frozen)(_bare(object, {}, {})))["__dataclass_params__"]


def _with_slots(cls: type, names: list[str]) -> Any:
    """*cls* made anew, with slots for those of *names* that no base has."""
    taken = {slot for base in cls.__mro__[1:-1] for slot in vars(base).get("__slots__", ())}
    inside = {n: x for n, x in vars(cls).items() if n not in {*names, "__dict__", "__weakref__"}}
    inside |= {"__slots__": tuple(n for n in names if n not in taken), "__qualname__": cls.__qualname__}
    return type(cls)(cls.__name__, cls.__bases__, inside)


def _freeze(cls: Any, names: frozenset[str], slots: bool) -> None:
    """Fields of *cls* cannot be set; other attributes can, of classes derived from it."""

    def set_attribute(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete_attribute(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = set_attribute, delete_attribute
    if slots:
        cls.__getstate__, cls.__setstate__ = _values, _restore


def _values(self: Any) -> list[object]:
    """What is kept of a frozen record with slots when it is pickled."""
    return [getattr(self, f.name) for f in fields(self)]


def _restore(self: Any, values: list[object]) -> None:
    for f, value in zip(fields(self), values, strict=True):
        object.__setattr__(self, f.name, value)
