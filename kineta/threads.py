"""What threads share, and the processes that are forked from them.

Who forks while another thread holds a lock leaves the new process with a lock that nobody gives back. So values are kept
without locks (:class:`once`) or under locks that a forked process throws away (:func:`made`), and a fork waits for
what is being changed in place (:func:`hold_forks`), and for imports: Python locks each module until it is whole.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any, Generic, TypeVar, overload

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class once(Generic[T]):  # noqa: N801  a decorator, as property is
    """A property that is worked out when first asked for, and kept in the object's ``__dict__``.

    Threads that ask at the same time may each work it out; all of them get what was kept first.
    """

    def __init__(self, work: Callable[[Any], T]) -> None:
        self.work = work
        self.__doc__ = work.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> once[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self.name, self.work(instance))


#: Locks of what is being made, by store and key.
_making: dict[tuple[int, Hashable], Any] = {}


def made(store: dict[K, T], key: K, make: Callable[[], T]) -> T:
    """``store[key]``, which *make* makes where it is missing: once, threads that ask at the same time wait for it."""
    if key not in store:
        place = id(store), key
        try:
            with _making.setdefault(place, RLock()):
                if key not in store:
                    store.setdefault(key, make())
        finally:
            _making.pop(place, None)
    return store[key]


def kept_by(owner: object, key: K, make: Callable[[], T]) -> T:
    """What *make* has made for *owner*, :func:`made` once for every *key* and kept in its ``__dict__``."""
    found: T = made(owner.__dict__.setdefault("_memory", {}), key, make)
    return found


#: Locks of what is changed in place.
_held: list[Any] = []


def hold_forks(lock: Any) -> None:
    """Let a fork wait until no other thread holds *lock*: what the lock protects is whole in the new process, and free."""
    _held.append(lock)


#: How long a fork waits for imports at most [s]: the one that forks may itself be part of an import.
_PATIENCE = 10.0


def _importing() -> bool:
    """Whether a module is being imported."""
    specs = (getattr(module, "__spec__", None) for module in list(sys.modules.values()))
    return any(getattr(spec, "_initializing", False) for spec in specs)


def _before_fork() -> None:
    """Take all locks or none, while nothing is imported: a thread that holds one may wait for another."""
    taken, patient = 0, time.monotonic() + _PATIENCE
    while True:
        waits = _importing() and time.monotonic() < patient
        if not waits and taken == len(_held):
            return
        if not waits and _held[taken].acquire(timeout=0.01):
            taken += 1
            continue
        for lock in _held[:taken]:
            lock.release()
        taken = 0
        if waits:
            time.sleep(1e-3)


def _after_fork() -> None:
    for lock in _held:
        lock.release()


def _after_fork_in_child() -> None:
    _making.clear()
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
