"""Thread safety, and safety of forked processes.

A process forked while another thread holds a lock inherits a lock that is never released. Values are therefore memoised without
locks (:class:`once`) or under locks that a forked process discards (:func:`computed_once`), and a fork waits for changes in place
(:func:`hold_forks`) and for imports, during which Python locks each module; what threads import as a fork begins, the new process
imports anew. The collector of garbage, one for all threads, waits while much is built (:func:`collector_paused`).
"""

from __future__ import annotations

import gc
import importlib
import itertools
import os
import sys
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import RLock, get_ident
from typing import Any, Generic, TypeVar, cast, overload

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class once(Generic[T]):  # noqa: N801  a decorator, as property is
    """A property computed at its first access and stored in the object's ``__dict__``.

    Concurrent threads may each compute it; all of them get the value stored first.
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


@contextmanager
def collector_paused() -> Iterator[None]:
    """Garbage collection paused: it would traverse growing trees and lists without cycles again and again."""
    own = get_ident()
    on = gc.isenabled()
    if on:
        _pausing.add(own)
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
            _pausing.discard(own)


#: Threads that go on with garbage collection after a pause.
_pausing: set[int] = set()


#: Locks of values under computation, by store and key.
_making: dict[tuple[int, Hashable], Any] = {}


def computed_once(store: dict[K, T], key: K, make: Callable[[], T]) -> T:
    """``store[key]``, computed by *make* if missing; concurrent threads wait for the computation."""
    found: Any = store.get(key, _MISSING)
    if found is _MISSING:
        place = id(store), key
        try:
            with _making.setdefault(place, RLock()):
                found = store.get(key, _MISSING)
                if found is _MISSING:
                    found = store.setdefault(key, make())
        finally:
            _making.pop(place, None)
    return cast(T, found)


_MISSING = object()


def memo(owner: object, key: K, make: Callable[[], T]) -> T:
    """The value of *make* for *key*, computed once for *owner* and stored in its ``__dict__``."""
    store: dict[K, T] = owner.__dict__.setdefault("_memory", {})
    return store[key] if key in store else computed_once(store, key, make)


#: Sequence numbers of accesses.
_uses = itertools.count()


def bounded_memo(owner: object, key: K, make: Callable[[], T], most: int) -> T:
    """As :func:`memo`, for the *most* keys accessed last: for unbounded sets of keys."""
    store: dict[K, list[Any]] = owner.__dict__.setdefault("_lately", {})
    entry = store.get(key)
    if entry is None:
        entry = computed_once(store, key, lambda: [make(), next(_uses)])
    entry[1] = next(_uses)
    if len(store) > most:
        for old, _ in sorted(store.copy().items(), key=lambda item: item[1][1])[:-most]:
            store.pop(old, None)
    return cast(T, entry[0])


#: Locks of objects changed in place.
_held: list[Any] = []


def hold_forks(lock: Any) -> None:
    """Delay forks while another thread holds *lock*: the data it protects are consistent in the new process, and the lock is
    free.
    """
    _held.append(lock)


#: Longest delay of a fork by imports [s]: a module may run for as long as the program.
_PATIENCE = 10.0

#: Locks of modules under import, by name: weak references.
_importing: dict[str, Callable[[], Any]] = getattr(importlib, "_bootstrap")._module_locks  # noqa: B009  no type stub has it

#: Locks that forking threads hold.
_taken: dict[int, list[Any]] = {}


def _others_import() -> bool:
    """Whether another thread imports a module."""
    locks = [find() for find in list(_importing.values())]
    return any(lock is not None and lock.owner not in (None, get_ident()) for lock in locks)


def _before_fork() -> None:
    """Take all locks outside of imports. A thread that holds one lock may wait for another, or import: the one lock waited for is
    taken first, and others only where they are free.
    """
    patient, busy = time.monotonic() + _PATIENCE, 0
    taken = _taken[get_ident()] = []
    while True:
        while _others_import() and time.monotonic() < patient:
            time.sleep(1e-3)
        locks = _held[busy:] + _held[:busy]
        for k, lock in enumerate(locks):
            if not lock.acquire(blocking=k == 0):
                busy = (busy + k) % len(locks)
                break
            taken.append(lock)
        if len(taken) == len(_held) and not (_others_import() and time.monotonic() < patient):
            return
        _release()


def _release() -> None:
    """Release the locks that this thread holds to fork."""
    taken = _taken[get_ident()]
    while taken:
        taken.pop().release()


def _after_fork() -> None:
    _release()
    del _taken[get_ident()]


def _after_fork_in_child() -> None:
    """Forget what only other threads would have ended: values under computation, imports, pauses of the collector."""
    _making.clear()
    _after_fork()
    _taken.clear()
    for name, find in list(_importing.items()):
        lock = find()
        if lock is None or lock.owner != get_ident():
            _importing.pop(name, None)
            if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
                _forget_module(name)
    if _pausing - {get_ident()}:
        gc.enable()
    _pausing.intersection_update({get_ident()})


def _forget_module(name: str) -> None:
    """Forget a module that is imported in part, with the modules of its package."""
    for other in list(sys.modules):
        if other == name or other.startswith(name + "."):
            sys.modules.pop(other, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
