"""Compounds: elements and constraints of a user's kind, composed of elements and constraints of the library.

A compound is a record with statements of its own in the language. The equations see its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, ClassVar, TypeVar

from kineta.algebra.expression import Expr
from kineta.errors import Location
from kineta.model.coercion import ModelRecord
from kineta.model.kind import Kind, Production


class Compound(ModelRecord):
    """A record that stands for its :meth:`parts`. A subclass is a frozen dataclass and sets its ``kind``."""

    __slots__ = ()

    kind: ClassVar[Kind[Any]]
    name: str
    location: Location | None

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


class CompoundElement(Compound):
    """An element that stands for other elements."""

    __slots__ = ()


class CompoundConstraint(Compound):
    """A constraint that stands for other constraints."""

    __slots__ = ()


C = TypeVar("C", bound=Compound)


def compound_kind(
    record: type[C],
    word: str,
    forms: Mapping[str, Production[C]],
    write: Callable[[C], str],
    *kinds: Kind[Any],
) -> Kind[C]:
    """The kind of a compound, whose parts are of these *kinds* and checked by them; the other arguments are those of a kind."""
    of = {kind.record: kind for kind in kinds}

    def of_parts(field: str) -> Callable[[C], tuple[Expr, ...]]:
        return lambda own: tuple(x for part in own.parts() for x in getattr(of[type(part)], field)(part))

    def fault(scope: Any, own: C) -> tuple[str, str] | None:
        return next((found for p in own.parts() if (found := of[type(p)].fault(scope, p)) is not None), None)

    return Kind(record, word, forms, write, of_parts("positions"), of_parts("constants"), fault)


def primitive(records: tuple[Any, ...]) -> tuple[Any, ...]:
    """*records* with the parts of compounds in place of these."""
    return tuple(chain.from_iterable(map(_primitive, records)))


def _primitive(record: Any) -> Iterator[Any]:
    if isinstance(record, Compound):
        yield from primitive(record.parts())
    else:
        yield record
