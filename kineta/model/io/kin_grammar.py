"""The grammar of the text language: the rules of ``kin.lark`` and of the kinds of records, and the parser made of them."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from lark import Lark, __version__

from kineta import entry_points
from kineta.cache import stored
from kineta.errors import shown
from kineta.model import appearance, constraints, contacts, elements, motion_program, switch
from kineta.model.compound import Compound, CompoundConstraint, CompoundContact, CompoundElement
from kineta.model.kind import Kind, Production
from kineta.threads import once

#: The rules that a whole text may follow: a model, and what is read by itself.
STARTS = ("start", "definitions", "expression")


@dataclass(frozen=True, eq=False)
class Grammar:
    """The statements of a language: the *kinds* of records, by the arguments of a system that take them."""

    kinds: Mapping[str, tuple[Kind[Any], ...]]

    @once
    def arguments(self) -> Mapping[type, str]:
        """The argument of a system that takes the records of a kind."""
        return {kind.record: argument for argument, kinds in self.kinds.items() for kind in kinds}

    @once
    def forms(self) -> Mapping[str, tuple[str, Production[Any]]]:
        """The forms of statements by the names of their rules, with the first word."""
        return {
            name: (kind.word, form)
            for kinds in self.kinds.values()
            for kind in kinds
            for name, form in kind.forms.items()
        }

    @once
    def parser(self) -> Lark:
        """The parser, from the cache on disk where it was made before."""
        text = Path(__file__).with_name("kin.lark").read_text(encoding="utf-8")
        rules = [f'{name}: "{first}" NAME {form.rule} ";"' for name, (first, form) in self.forms.items()]
        text += "\n".join(["", f"?record: {' | '.join(self.forms)}", *rules, ""])
        key = sha256(f"{__version__} {sys.version_info[:2]} {text}".encode()).hexdigest()
        return Lark.load(io.BytesIO(stored(key, lambda: _tables(text))))


def _tables(grammar: str) -> bytes:
    """The tables of the parser of *grammar*: making them takes ten times as long as loading them."""
    saved = io.BytesIO()
    Lark(grammar, start=[*STARTS], parser="lalr", propagate_positions=True, maybe_placeholders=True).save(saved)
    return saved.getvalue()


#: The grammar of the library.
GRAMMAR = Grammar(
    {
        "elements": elements.KINDS,
        "constraints": constraints.KINDS,
        "contacts": contacts.KINDS,
        "switches": (switch.KIND,),
        "programs": (motion_program.KIND,),
        "appearance": appearance.KINDS,
    }
)

#: The groups of entry points that add kinds, and their abstract records.
_GROUPS: Mapping[str, type[Compound]] = {
    "elements": CompoundElement,
    "constraints": CompoundConstraint,
    "contacts": CompoundContact,
}


def extended(text: str) -> Grammar | None:
    """The grammar with the kinds of installed entry points whose words stand in *text*; None where there are none.

    Raises :class:`ArgumentError` for an entry point that cannot be imported or is no compound.
    """
    words = {word for kinds in GRAMMAR.kinds.values() for word in (kind.word for kind in kinds)}
    found = [
        (argument, name)
        for argument in _GROUPS
        for name in entry_points.installed(f"kineta.{argument}")
        if name not in words and re.search(rf"\b{re.escape(name)}\b", text)
    ]
    return _extended(tuple(found)) if found else None


@cache
def _extended(rows: tuple[tuple[str, str], ...]) -> Grammar:
    kinds = dict(GRAMMAR.kinds)
    for argument, name in rows:
        record = entry_points.load(f"kineta.{argument}", name, _fault(name, _GROUPS[argument]))
        kinds[argument] = (*kinds[argument], record.kind)
    return Grammar(kinds)


def _fault(word: str, base: type[Compound]) -> Callable[[Any], str]:
    """The sentence on an object that is no subclass of *base* with this *word* in the language; "" for one that is."""

    def fault(found: Any) -> str:
        if not (isinstance(found, type) and issubclass(found, base)):
            return f"expected a subclass of kineta.model.compound.{base.__name__}, found {shown(found)}."
        kind = getattr(found, "kind", None)
        if not isinstance(kind, Kind):
            return f"{found.__name__} has no kind; kineta.model.compound.compound_kind makes one."
        return "" if kind.word == word else f"expected a kind with the word '{word}', found '{kind.word}'."

    return fault
