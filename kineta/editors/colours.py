"""Rules by which editors colour the language, in one table: the TextMate grammar and the Pygments lexer are made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from kineta.editors import words
from kineta.model import vectors
from kineta.model.reserved_symbols import LETTER
from kineta.model.units import UNITS
from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """What matches *pattern*, or each of its groups, has these *scopes* of TextMate and *tokens* of Pygments; "" for none."""

    pattern: str
    scopes: tuple[str, ...]
    tokens: tuple[str, ...]


def _one_of(names: Iterable[str]) -> str:
    """A pattern of *names*, longer ones first."""
    return "|".join(re.escape(name) for name in sorted(set(names), key=lambda n: (-len(n), n)))


def _word(names: Iterable[str], behind: str = "(?![\\w'.\\[])") -> str:
    """A pattern of *names* that are whole words, before what *behind* tells."""
    return f"(?<![\\w.'])(?:{_one_of(names)}){behind}"


#: What opens the arguments of a function.
_CALL = "(?=[ \\t]*\\()"
_NUMBER = "(?:(?<=\\.\\.)|(?<![\\w.'\\]]))(?:\\d+(?:\\.(?!\\.)\\d*)?|\\.\\d+)(?:[eE][+-]?\\d+)?"
_FACTOR = f"(?:{_one_of(UNITS)})(?:\\^-?\\d+(?:\\.5)?)?"
_UNIT = f"(?:(?<=[ \\t])1/)?{_FACTOR}(?:[*/·]{_FACTOR}(?![\\w(.'\\[]))*(?![\\w('])"

#: The rules in their order: the first that matches at a place counts.
RULES = (
    Rule("#[^\\n]*", ("comment.line.number-sign",), ("Comment.Single",)),
    Rule('"[^"\\n]*"', ("string.quoted.double",), ("String",)),
    Rule(
        f"({_NUMBER})([ \\t]*)({_UNIT})",
        ("constant.numeric", "", "keyword.other.unit"),
        ("Number", "Text", "Keyword.Type"),
    ),
    Rule(_NUMBER, ("constant.numeric",), ("Number",)),
    Rule(_word(words.STATEMENTS, "(?![\\w'.\\[(]|[ \\t]*[=|~*/+^,;)])"), ("keyword.control",), ("Keyword",)),
    Rule(_word(words.motions(), "(?=[ \\t]*[\\[(])"), ("support.type",), ("Name.Class",)),
    Rule("(?<![\\w.'])[RS]_?[xyz]?(?=[ \\t]*[\\[(])", ("support.type",), ("Name.Class",)),
    Rule(_word(words.functions(), _CALL), ("support.function",), ("Name.Builtin",)),
    Rule(_word(vectors.KINDS, _CALL), ("support.function",), ("Name.Builtin",)),
    Rule(_word(words.KEYS, _CALL), ("variable.parameter",), ("Name.Attribute",)),
    Rule(_word(words.clauses()), ("keyword.other",), ("Keyword.Reserved",)),
    Rule(_word(words.symbols()), ("constant.language",), ("Name.Constant",)),
    Rule(f"(?!\\d){LETTER}+'*", ("variable.other",), ("Name",)),
    Rule("(?<=\\])'+", ("variable.other",), ("Name",)),
    Rule("\\.\\.|[-+*/·^=~|<>]+", ("keyword.operator",), ("Operator",)),
    Rule("[;,:(){}\\[\\].]", ("punctuation",), ("Punctuation",)),
)


def textmate() -> str:
    """The TextMate grammar as JSON."""
    patterns: list[dict[str, object]] = []
    for rule in RULES:
        if len(rule.scopes) == 1:
            patterns.append({"match": rule.pattern, "name": f"{rule.scopes[0]}.kin"})
        else:
            captures = {str(k): {"name": f"{scope}.kin"} for k, scope in enumerate(rule.scopes, 1) if scope}
            patterns.append({"match": rule.pattern, "captures": captures})
    grammar = {"name": "kineta", "scopeName": "source.kin", "fileTypes": ["kin"], "patterns": patterns}
    return json.dumps(grammar, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(textmate(), end="")  # noqa: T201
