"""The layout of a text: its spaces and empty lines alone. Comments, lines and columns of tables stay as they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lark import Token

from kineta.editors.diagnostics import parsed
from kineta.errors import ModelError
from kineta.model.io.kin_quantities import Node

#: Columns by which statements in braces stand behind their repetition, and further lines behind their statement.
STEP = 4
#: The most empty lines that follow one another.
EMPTY = 2
_PIECE = re.compile(r'"[^"\n]*"|#[^\n]*|[ \t]+|[<>=!]+|[^"#,;(){}<>=! \t]+|.')


def formatted(text: str, file: str) -> str:
    """The *text* of a *file* with other spaces.

    Statements begin at multiples of four columns, one for each pair of braces around them, and further lines of a statement go
    with it. No space stands before a comma or a semicolon, one at least behind them and around ``=``, none at the end of a line.
    Raises :class:`ModelError` for a text that cannot be parsed.
    """
    before = parsed(text, file)
    if before.tree is None or before.problems:
        raise ModelError("only a text without errors can be formatted; mend those that are shown first.")
    found = "".join(_lines(text))
    after = parsed(found, file)
    if after.tree is None or after.problems or [*_words(after.tree)] != [*_words(before.tree)]:
        raise ModelError("with other spaces this text would be another model; it stays as it is.")
    return found


def _words(tree: Node) -> Iterator[str]:
    """The nodes and words of a *tree* in their order, without the spaces within words."""
    for node in tree.iter_subtrees_topdown():
        yield str(node.data)
        for own in node.children:
            if isinstance(own, Token):
                yield own if own.startswith('"') else re.sub(r"\s", "", own)
            else:
                yield type(own).__name__


def _lines(text: str) -> Iterator[str]:
    """The lines of a *text* as they shall stand."""
    ending = "\r\n" if "\r\n" in text else "\n"
    braces = brackets = empty = column = moved = 0
    within, begun = False, False
    for line in text.split("\n"):
        own = line.strip(" \t\r")
        if not own:
            empty += 1
            continue
        if begun:
            yield ending * min(empty, EMPTY)
        empty, begun = 0, True
        indented = line.expandtabs(STEP)
        old = len(indented) - len(indented.lstrip(" "))
        if within:  # a further line
            new = old + moved if old + moved > column else column + STEP
        else:
            new = column = STEP * max(braces - own.startswith("}"), 0)
            moved = new - old
        yield f"{' ' * new}{_spaced(own)}{ending}"
        for piece in _PIECE.findall(own):
            brackets += (piece == "(") - (piece == ")")
            braces += (piece == "{") - (piece == "}")
            if piece[0] not in "# \t":
                within = bool(brackets) or piece not in (";", "{", "}")


def _spaced(line: str) -> str:
    """A *line* with a space at least behind commas and semicolons and around ``=``, and none before the former."""
    found, wanted = "", False
    for piece in _PIECE.findall(line):
        if wanted and piece[0] not in " \t,;":
            found += " "
        if piece in (",", ";"):
            found = found.rstrip(" \t")
        if piece == "=" and found[-1:] not in ("", " ", "\t"):
            found += " "
        found, wanted = found + piece, piece in (",", ";", "=")
    return found
