"""What threads share, and the processes that are forked from them.

Who forks while another thread holds a lock leaves the new process with a lock that nobody gives back. So values are kept
without locks (:class:`once`) or under locks that a forked process throws away (:func:`made`), and a fork waits for
what is being changed in place (:func:`hold_forks`).
"""

from __future__ import annotations

import os
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


#: Locks of what is changed in place.
_held: list[Any] = []


def hold_forks(lock: Any) -> None:
    """Let a fork wait until no other thread holds *lock*: what the lock protects is whole in the new process, and free."""
    _held.append(lock)


def _before_fork() -> None:
    """Take all locks or none: a thread that holds one may wait for another."""
    taken = 0
    while taken < len(_held):
        if _held[taken].acquire(timeout=0.01):
            taken += 1
        else:
            for lock in _held[:taken]:
                lock.release()
            taken = 0


def _after_fork() -> None:
    for lock in _held:
        lock.release()


def _after_fork_in_child() -> None:
    _making.clear()
    _after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)
