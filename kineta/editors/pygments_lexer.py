"""The Pygments lexer of the language, found by the entry point ``pygments.lexers``: ``pygmentize model.kin``, and code blocks
``kin`` of documents.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Whitespace, string_to_tokentype

from kineta.editors.colours import RULES, Rule


def _action(rule: Rule) -> Any:
    """The token type of a rule, or those of its groups."""
    types = [string_to_tokentype(token) for token in rule.tokens]
    return types[0] if len(types) == 1 else bygroups(*types)


class KinLexer(RegexLexer):  # type: ignore[misc]  # Pygments has no types
    """Lexer of texts in the language ``.kin``."""

    name = "kineta"
    aliases: ClassVar[list[str]] = ["kin", "kineta"]
    filenames: ClassVar[list[str]] = ["*.kin"]
    mimetypes: ClassVar[list[str]] = ["text/x-kin"]
    tokens: ClassVar[dict[str, list[Any]]] = {"root": [(r"\s+", Whitespace), *((r.pattern, _action(r)) for r in RULES)]}
