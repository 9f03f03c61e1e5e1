"""Compounds: elements, constraints and contacts of a user's kind, composed of those of the library.

A compound is a record with statements of its own in the language. The equations see its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, TypeVar

from kineta.algebra.expression import Expr
from kineta.model.kind import Condition, Element, Kind, KindRecord, Production, Unilateral


class Compound(KindRecord):
    """A record that stands for its :meth:`parts`. A subclass is a frozen dataclass and sets its ``kind``."""

    __slots__ = ()

    def parts(self) -> tuple[Any, ...]:
        """The records of the library of which it is made."""
        raise NotImplementedError

    @property
    def expressions(self) -> tuple[Expr, ...]:
        """All expressions of its parts."""
        return tuple(x for part in self.parts() for x in part.expressions)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies its parts act on."""
        return tuple(dict.fromkeys(b for part in self.parts() for b in part.bodies))


class CompoundElement(Compound, Element):
    """An element that stands for other elements."""

    __slots__ = ()


class CompoundConstraint(Compound, Condition):
    """A constraint that stands for other constraints."""

    __slots__ = ()


class CompoundContact(Compound, Unilateral):
    """A contact, limit or dry friction that stands for others."""

    __slots__ = ()


C = TypeVar("C", bound=Compound)


def compound_kind(record: type[C], word: str, forms: Mapping[str, Production[C]], write: Callable[[C], str]) -> Kind[C]:
    """The kind of a compound, whose parts are checked by their own kinds; the arguments are those of a kind."""

    def of_parts(field: str) -> Callable[[C], tuple[Any, ...]]:
        return lambda own: tuple(x for part in own.parts() for x in getattr(part.kind, field)(part))

    def fault(scope: Any, own: C) -> tuple[str, str] | None:
        return next((found for p in own.parts() if (found := p.kind.fault(scope, p)) is not None), None)

    return Kind(record, word, forms, write, of_parts("positions"), of_parts("constants"), fault, of_parts("bounds"))


def primitive(records: tuple[Any, ...]) -> tuple[Any, ...]:
    """*records* with the parts of compounds in place of these."""
    return tuple(chain.from_iterable(map(_primitive, records)))


def _primitive(record: Any) -> Iterator[Any]:
    if isinstance(record, Compound):
        yield from primitive(record.parts())
    else:
        yield record
