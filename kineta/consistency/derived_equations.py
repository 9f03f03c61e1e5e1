"""Protocol of derived equations, which lets numeric constraints stand below ``equations``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol, Self, TypeVar

from kineta.mechanics.derivation import Derivation
from kineta.model.system import System

T = TypeVar("T")


class Derived(Protocol):
    """Derivation of a system, with a memo of objects computed from it."""

    @property
    def system(self) -> System:
        """Derived system."""

    @property
    def like(self) -> tuple[Self, Mapping[str, str]] | None:
        """Equations of a system that differs from this one in names alone, and its names with those of this one."""

    @property
    def left_out(self) -> frozenset[str]:
        """Names of the redundant rows of constraints, which are dropped."""

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows of constraints that reactions enforce."""

    def shared(self) -> AbstractContextManager[Derivation]:
        """Return the derivation shared by all quantities, locked."""

    def alone(self) -> Derivation:
        """Return a derivation with a graph of its own."""

    def without(self, constraints: Iterable[str]) -> Self:
        """Return the equations without the rows of *constraints*."""

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of *make*, memoised by *key*."""

    def bounded_memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the same for unbounded sets of keys: only those last used are retained."""
