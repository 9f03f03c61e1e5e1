"""The grammar of the text language: the rules of ``kin.lark`` and of the kinds of records, and the parser made of them."""

from __future__ import annotations

import marshal
import pickle
import re
import sys
from collections.abc import Callable, Collection, Mapping
from copy import copy
from functools import cache
from hashlib import sha256
from io import BytesIO
from operator import itemgetter
from pathlib import Path
from typing import Any

from lark import Lark, __version__
from lark.common import LexerConf
from lark.grammar import Rule
from lark.lexer import AbstractBasicLexer, BasicLexer, ContextualLexer
from lark.parse_tree_builder import ExpandSingleChild, PropagatePositions
from lark.parsers.lalr_analysis import Reduce, Shift
from lark.parsers.lalr_parser import LALR_Parser

from kineta import entry_points
from kineta.cache import stored
from kineta.errors import shown
from kineta.model import appearance, constraints, contacts, elements, motion_program, switch
from kineta.model.compound import Compound, CompoundConstraint, CompoundContact, CompoundElement
from kineta.model.kind import Kind, Production
from kineta.model.units import UNITS
from kineta.records import dataclass
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
        text = text.replace("(KNOWN_UNITS)", f"({'|'.join(sorted(UNITS, key=lambda n: (-len(n), n)))})")
        rules = [f'{name}: "{first}" NAME {form.rule} ";"' for name, (first, form) in self.forms.items()]
        text += "\n".join(["", f"?record: {' | '.join(self.forms)}", *rules, ""])
        key = sha256(f"{__version__} {sys.version_info[:2]} states {text}".encode()).hexdigest()
        return _loaded(stored(key, lambda: _tables(text)))


def _tables(grammar: str) -> bytes:
    """The tables of the parser of *grammar*, with the actions of each state apart: making them takes ten times as long as loading
    them.
    """
    made = Lark(grammar, start=[*STARTS], parser="lalr", propagate_positions=True, maybe_placeholders=True)
    file = BytesIO()
    made.save(file)
    found = pickle.loads(file.getvalue())
    table = found["data"]["parser"]["parser"]
    table["states"] = {state: marshal.dumps(actions) for state, actions in table["states"].items()}
    return pickle.dumps(found)


def _loaded(tables: bytes) -> Lark:
    """The parser of these tables."""
    found, plug_in = pickle.loads(tables), _Tables()
    load: Callable[..., Lark] = Lark._load_from_dict  # as stand-alone parsers of Lark do
    return load(**found, _plugins={"LALR_Parser": plug_in, "ContextualLexer": plug_in.lexer})


class _Tables:
    """The tables of one parser, as plug-ins of Lark: states and their lexers are made when a text leads there. A grammar has two
    thousand states, of which a text visits a few hundred.
    """

    def deserialize(self, data: Mapping[str, Any], memo: Any, callbacks: Any, debug: bool) -> LALR_Parser:
        """The parser, without a state yet."""
        make: Callable[..., LALR_Parser] = LALR_Parser.deserialize
        callbacks = {rule: _FIRST if _passes_on(rule, action) else action for rule, action in callbacks.items()}
        parser = make({**data, "states": {}}, memo, callbacks, debug)
        table: Any = parser._parse_table
        self.states = table.states = _States(data["states"], data["tokens"], memo)
        return parser

    def lexer(self, conf: LexerConf, states: Any, always_accept: Collection[str] = ()) -> ContextualLexer:
        """The lexer, without that of a state yet."""
        lexer = ContextualLexer(conf, {}, always_accept=always_accept)
        lexer.lexers = _Lexers(conf, self.states, always_accept)
        return lexer


#: What a rule gives that passes on its only part.
_FIRST = itemgetter(0)


def _passes_on(rule: Any, action: Any) -> bool:
    """Return whether the *action* of a *rule* gives its only part as it is, as of a sum of one term: its positions are known."""
    passes = isinstance(action, PropagatePositions) and isinstance(action.node_builder, ExpandSingleChild)
    return passes and len(rule.expansion) == 1


class _States(dict[int, dict[str, Any]]):
    """Actions by the words of each state."""

    def __init__(self, saved: Mapping[int, bytes], tokens: Mapping[int, str], memo: Any) -> None:
        super().__init__()
        self._saved, self._tokens, self._memo = saved, tokens, memo

    def __missing__(self, state: int) -> dict[str, Any]:
        actions = marshal.loads(self._saved[state]).items()
        found = {
            self._tokens[token]: (Reduce, Rule.deserialize(to, self._memo)) if reduces else (Shift, to)
            for token, (reduces, to) in actions
        }
        return self.setdefault(state, found)


class _Lexers(dict[int, AbstractBasicLexer]):
    """Lexers of the words that each state expects: one for equal words."""

    def __init__(self, conf: LexerConf, states: _States, always_accept: Collection[str]) -> None:
        super().__init__()
        self._conf, self._states = conf, states
        self._always, self._made = {*conf.ignore, *always_accept}, dict[frozenset[str], AbstractBasicLexer]()

    def __missing__(self, state: int) -> AbstractBasicLexer:
        accepts = frozenset(self._states[state])
        if accepts not in self._made:
            own, known = copy(self._conf), self._conf.terminals_by_name
            own.terminals = [known[name] for name in accepts | self._always if name in known]
            self._made[accepts] = BasicLexer(own)
        return self.setdefault(state, self._made[accepts])


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
