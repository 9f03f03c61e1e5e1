"""Words and colours of the language for editors: made from its tables, and complete."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from pygments.token import Comment, Error, Keyword, Name, Number, Text

from kineta.editors import colours, words
from kineta.editors.pygments_lexer import KinLexer
from kineta.expr.op import FUNCTIONS
from kineta.model import vectors
from kineta.model.checks.check import STATEMENTS
from kineta.model.units import UNITS
from tests.support import EXAMPLES, ROOT

SYNTAX = ROOT / "editors" / "vscode" / "syntaxes" / "kin.tmLanguage.json"


def test_the_textmate_grammar_is_the_one_of_the_tables() -> None:
    assert SYNTAX.read_text(encoding="utf-8") == colours.textmate(), (
        "python -m kineta.editors.colours > editors/vscode/..."
    )


@pytest.mark.parametrize(
    "word",
    sorted(
        {
            *STATEMENTS,
            *words.clauses(),
            *words.functions(),
            *words.motions(),
            *words.symbols(),
            *words.KEYS,
            *vectors.KINDS,
        }
    ),
)
def test_every_word_has_a_meaning(word: str) -> None:
    assert words.meaning(word).endswith((".", ";", ")", "]", "|")), word


def test_units_are_told_by_their_dimension() -> None:
    assert words.unit_meaning("kg*m/s^2") == "kg*m/s^2: a force [kg*m/s^2]"
    assert {words.unit_meaning(word) for word in ("foot", "2", "", "m*x")} == {""}


def kinds(text: str) -> dict[str, str]:
    return {value: str(kind) for kind, value in KinLexer().get_tokens(text) if value.strip()}


def test_words_are_coloured_by_what_they_are() -> None:
    found = kinds(
        "force pull on Bob = (sin(phi), 3.5e2 kg*m/s^2, t); # force\n"
        "N | R[0, 0, 1](q) = m(2), Jz(1);\nfor i in 1..6 : L[i-1] | = 1;"
    )
    expected = {
        **dict.fromkeys(("force", "for"), Keyword),
        **dict.fromkeys(("on", "in"), Keyword.Reserved),
        **dict.fromkeys(("Bob", "pull", "phi", "L", "N"), Name),
        **dict.fromkeys(("3.5e2", "6", "2"), Number),
        **dict.fromkeys(("m", "Jz"), Name.Attribute),
        "kg*m/s^2": Keyword.Type,
        "sin": Name.Builtin,
        "t": Name.Constant,
        "R": Name.Class,
        "# force": Comment.Single,
    }
    assert {value: found[value] for value in expected} == {value: str(kind) for value, kind in expected.items()}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.kin")), ids=lambda p: p.stem)
def test_every_example_is_coloured_whole(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = list(KinLexer().get_tokens(text))
    assert not [value for kind, value in found if kind in Error or (kind in Text and value.strip())]
    assert "".join(value for _, value in found).strip() == text.strip()


def test_every_word_of_the_tables_is_coloured() -> None:
    for word in STATEMENTS:
        assert kinds(f"{word} x")[word] == str(Keyword)
    for word in FUNCTIONS:
        assert kinds(f"{word}(x)")[word] == str(Name.Builtin)
    for unit in UNITS:
        assert kinds(f"3 {unit};")[unit] == str(Keyword.Type)


def test_the_textmate_rules_are_those_of_the_lexer() -> None:
    patterns = json.loads(colours.textmate())["patterns"]
    assert [p["match"] for p in patterns] == [rule.pattern for rule in colours.RULES]
    for pattern in patterns:
        re.compile(pattern["match"])
        assert not re.search(r"\(\?<[=!][^)]*[+*{]", pattern["match"]), "lookbehinds have a fixed length"


def test_pygments_finds_the_lexer_by_its_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["kin"].partition(":")
    assert getattr(import_module(module), name) is KinLexer
    assert (KinLexer.aliases[0], KinLexer.filenames) == ("kin", ["*.kin"])
