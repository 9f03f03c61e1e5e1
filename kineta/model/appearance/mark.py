"""Paths and forces that pictures show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from kineta.errors import Location, did_you_mean
from kineta.model.body import Body, Point
from kineta.model.kind import Appearance, Kind, KindRecord, Production, Scope
from kineta.records import dataclass
from kineta.values import word

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Source, Token

#: What may be shown, with what it is of.
SHOWN: Mapping[str, str] = {"path": "a body or point", "force": "an element with a line of action"}


@dataclass(frozen=True, slots=True)
class Mark(Appearance):
    """A quantity *name* of ``SHOWN``, ``path`` or ``force``, ``of`` a body, point or element."""

    name: str
    of: str
    location: Location | None = field(default=None, compare=False, repr=False)


def mark(what: str, of: str | Body | Point | KindRecord) -> Mark:
    """What pictures and films show: the ``path`` of a point or body, the ``force`` of an element as an arrow."""
    named = of.name if isinstance(of, Body | Point | KindRecord) else word(of, "the name of what is shown")
    return Mark(word(what, "what is shown"), named)


def _read(source: Source, what: Token, of: Token) -> Mark:
    return Mark(source.noted(what), source.noted(of), source.location(what))


def _fault(scope: Scope, own: Mark) -> tuple[str, str] | None:
    if own.name not in SHOWN:
        near = did_you_mean(own.name, SHOWN)
        return f"expected what to show ({', '.join(SHOWN)}), found '{own.name}'.{near}", own.name
    known = [*scope.frames, *(p.name for p in scope.points)] if own.name == "path" else [*scope.lines]
    if own.of not in known:
        near = did_you_mean(own.of, known) or (f" There are {', '.join(known)}." if known else " There is none.")
        return f"expected {SHOWN[own.name]}, found '{own.of}'.{near}", own.of
    return None


KIND = Mark.kind = Kind(
    Mark, "show", {"show": Production('"of" NAME', _read)}, lambda own: f"of {own.of}", fault=_fault
)
