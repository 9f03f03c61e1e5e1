"""What the checker says of a text: all errors that can be told at once, not the first alone.

The reader stops at its first error. The statement in which it stands is blanked then, so that all places stay, and the rest is
read again; what follows from the blank alone, as names that it described, is not said.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import field
from pathlib import Path

from lark import Token, Tree

from kineta.editors.names import key
from kineta.editors.positions import Lines
from kineta.errors import KinetaWarning, Location, ModelError
from kineta.model import joints
from kineta.model.checks.check import STATEMENTS
from kineta.model.checks.unused_names import unused_declarations
from kineta.model.io import kin_reader
from kineta.model.io.kin_grammar import GRAMMAR, Grammar
from kineta.model.system import System
from kineta.records import dataclass

#: Readings of a text, by the characters up to which it may have so many.
_READINGS = ((20_000, 25), (100_000, 8), (2_000_000, 2))
#: A word, a number or a sign at a place of an error.
_TOKEN = re.compile(r"\"[^\"\n]*\"|[+-]?[ \t]*[\w.]+(?:\[[^\[\]\n]*\])*[\w.]*'*|\S")
_NAME = r"[^\W\d][\w.]*(?:\[[^\[\]]*\])*"
_PLACED = re.compile(r" \(\S[^()]*:(\d+):(\d+)\)(?=:)")
#: Statements that describe several names, each before its value.
_LISTS = ("parameters", "constants", "let", "quasi", "output")
_EXPRESSIONS = ("sum", "product", "unary", "power", "component", "call", "magnitude", "vector", "quantity")
_QUOTED = re.compile(r"'([^'\s]+'*)'")


@dataclass(frozen=True, slots=True)
class Remark:
    """A *sentence* on the characters from *start* to *end*: an ``error``, a ``warning`` or a ``hint``; *file* and *location* are
    those of an error in a file that the text uses.
    """

    start: int
    end: int
    sentence: str
    severity: str = "error"
    location: Location | None = None


@dataclass
class Diagnosis:
    """The ``problems`` of a text; the *tree* of what could be parsed, its *grammar*, and the *system*; None for none."""

    problems: list[Remark] = field(default_factory=list)
    grammar: Grammar = GRAMMAR
    tree: Tree[Token] | None = None
    system: System | None = None


def diagnose(text: str, file: str, text_of: Callable[[Path], str]) -> Diagnosis:
    """The diagnosis of the *text* of a *file*; *text_of* gives the texts of files that it uses."""
    found = Diagnosis()
    readings = _readings(text)
    left, gone = _parsed(text, file, found, readings)
    if found.tree is not None:
        _read(text, left, gone, file, found, readings, text_of)
    found.problems.sort(key=lambda p: p.start)
    return found


def parsed(text: str, file: str) -> Diagnosis:
    """The syntax tree of what can be parsed of the *text* of a *file*, and what cannot."""
    found = Diagnosis()
    _parsed(text, file, found, _readings(text))
    return found


def _readings(text: str) -> int:
    return next((n for size, n in _READINGS if len(text) <= size), 1)


def _parsed(text: str, file: str, found: Diagnosis, readings: int) -> tuple[str, set[str]]:
    """*text* with blanks for statements that break the grammar, and the names that these describe."""
    left, gone = text, set[str]()
    for _ in range(readings):
        try:
            found.grammar, found.tree = kin_reader.parsed(left, file)
            break
        except ModelError as error:
            if error.location is None:
                found.problems.append(Remark(0, len(text), str(error)))
                break
            at = Lines(left).of(error.location)
            found.problems.append(_problem(text, at, str(error), error.location))
            left, statement = _mended(left, at, str(error))
            gone |= _described(statement)
    return left, gone


def _mended(text: str, at: int, sentence: str) -> tuple[str, str]:
    """*text* with the semicolon that is missing before a line, or else without the statement of the error *at* a place; and this
    statement.
    """
    plain = _without_comments(text)
    start = max(plain.rfind(sign, 0, at) for sign in ";{}") + 1
    code = len(plain[:at].rstrip())
    if "';'" in sentence and "\n" in plain[code:at] and plain[start:code].strip():
        if text[code : code + 1] in " \t\r":
            return f"{text[:code]};{text[code + 1 :]}", ""
        return _blanked(text, start, code), text[start:code]
    if not plain[start:].strip() or plain[start : at + 1].strip() == "":
        start = max(plain.rfind(sign, 0, max(start - 1, 0)) for sign in ";}") + 1
    end = plain.find(";", at)
    end = len(text) if end < 0 else end + 1
    return _blanked(text, start, end), text[start:end]


def _read(
    text: str, left: str, gone: set[str], file: str, found: Diagnosis, readings: int, text_of: Callable[[Path], str]
) -> None:
    """Read what is *left* of the text, without one statement after another; *gone* are the names that it no longer describes."""
    for _ in range(readings):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", KinetaWarning)
            try:
                found.system = kin_reader.read(left, file, text_of=text_of)
            except ModelError as error:
                fault = error
            except RecursionError:
                found.problems.append(Remark(0, len(text), "the text is nested too deep."))
                return
            else:
                if left == text:
                    found.problems += [_about(text, str(w.message), "warning") for w in told]
                    found.problems += [_about(text, s, "hint") for s in unused_declarations(found.system)]
                return
        span = _span(text, left, file, found, fault)
        if span is None:
            if not gone:
                found.problems.append(Remark(0, len(text.partition("\n")[0]), str(fault)))
            return
        at, start, end = span
        if not _follows(str(fault), gone):
            found.problems.append(_problem(text, at, str(fault), fault.location, file, _expression_end(found.tree, at)))
        gone |= _described(left[start:end])
        left = _blanked(left, start, end)


def _span(text: str, left: str, file: str, found: Diagnosis, fault: ModelError) -> tuple[int, int, int] | None:
    """Where *fault* stands, and the statement in which it does; that of ``use`` for one in another file. None for none."""
    place = fault.location
    if place is None or found.tree is None:
        return None
    if str(fault).startswith("Model '") and (place.line, place.column) == (1, 1):
        return None
    if place.file != file:
        files = [t for s in found.tree.find_data("use") for t in s.children[:1] if isinstance(t, Token)]
        left_over = sorted((t for t in files if left[t.start_pos : t.end_pos].strip()), key=lambda t: t.start_pos or 0)
        named = [t for t in left_over if Path(place.file).name == t[1:-1].rpartition("/")[2]] or left_over
        if not named:
            return None
        at = named[0].start_pos or 0
    else:
        at = Lines(left).of(place)
    holding = [s for s in _statements(found.tree) if s.meta.start_pos <= at < s.meta.end_pos]
    if not holding or not left[at : at + 1].strip():
        return None
    inner = holding[-1]
    return at, inner.meta.start_pos, inner.meta.end_pos


def _statements(tree: Tree[Token]) -> list[Tree[Token]]:
    """The statements of a text, those of repetitions in braces behind these, and within them."""
    found: list[Tree[Token]] = []
    waiting = [c for c in tree.children if isinstance(c, Tree)][::-1]
    while waiting:
        statement = waiting.pop()
        found.append(statement)
        if statement.data == "for" and len(own := [c for c in statement.children[4:] if isinstance(c, Tree)]) > 1:
            waiting += own[::-1]
    return found


def _described(statement: str) -> set[str]:
    """The names that a *statement* describes."""
    plain = _without_comments(statement)
    names = re.findall(_NAME, plain)
    found = {*names} if names[:1] == ["coordinates"] else {*names[: 2 if names[:1] and names[0] in STATEMENTS else 1]}
    if names[:1] and names[0] in _LISTS:
        found.update(re.findall(rf"({_NAME})\s*(?:\([^()]*\)\s*)?=", plain))
    found.update(re.findall(rf"\b(?:{'|'.join(joints.known_words())})\(\s*({_NAME})", plain))
    found.update(re.findall(rf"\bas\s+({_NAME})", plain))
    return {key(name) for name in found}


def _follows(sentence: str, gone: set[str]) -> bool:
    """Whether a *sentence* is about a name that is *gone*, or a part of it."""
    heads = (key(name) for name in _QUOTED.findall(sentence))
    return any(name in gone or name.partition(".")[0] in gone for name in heads)


def _expression_end(tree: Tree[Token] | None, at: int) -> int:
    """The end of the longest expression that begins *at* a place; 0 for none."""
    parts = tree.iter_subtrees() if tree is not None else ()
    own = (p.meta for p in parts if str(p.data) in _EXPRESSIONS)
    return max((meta.end_pos for meta in own if getattr(meta, "start_pos", None) == at), default=0)


def _problem(text: str, at: int, sentence: str, location: Location | None, file: str = "", longest: int = 0) -> Remark:
    """The problem of an error *at* a place, with the range of the word there, or, where the sentence does not name that, of the
    expression up to *longest*.
    """
    token = _TOKEN.match(text, at)
    end = token.end() if token is not None else min(at + 1, len(text))
    if f"'{text[at:end]}'" not in sentence:
        end = max(end, longest)
    if location is not None and location.file == (file or location.file):
        for shown in (f"{location}: ", f" ({location})"):
            sentence = sentence.replace(shown, "", 1)
        return Remark(at, end, _short(sentence, location.file))
    return Remark(at, end, _short(sentence, location.file if location is not None else ""), location=location)


def _short(sentence: str, file: str) -> str:
    """*sentence* with the name of a *file* for its path."""
    return sentence.replace(file, Path(file).name) if file else sentence


def _about(text: str, sentence: str, severity: str) -> Remark:
    """The problem of a *sentence* at the place in it, or at the first use of a name in it."""
    if (placed := _PLACED.search(sentence)) is not None:
        at = Lines(text).of(Location("", int(placed[1]), int(placed[2])))
        token = _TOKEN.match(text, at)
        return Remark(at, token.end() if token else at + 1, sentence.replace(placed[0], "", 1), severity)
    for name in _QUOTED.findall(sentence):
        found = re.search(rf"(?<![\w.]){re.escape(name)}(?![\w'])", _without_comments(text))
        if found is not None and f"Model '{name}'" not in sentence:
            return Remark(found.start(), found.end(), sentence, severity)
    return Remark(0, len(text.partition("\n")[0]), sentence, severity)


def _blanked(text: str, start: int, end: int) -> str:
    """*text* with blanks from *start* to *end*."""
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def _without_comments(text: str) -> str:
    return re.sub(r"#[^\n]*", lambda m: " " * len(m[0]), text)
