"""What is wrong with a text that is not in the language ``.kin``, in words."""

from __future__ import annotations

import re

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from kineta.errors import Location, ModelError, did_you_mean
from kineta.model import units
from kineta.model.check import STATEMENTS

#: Brackets within brackets beyond which a text is refused.
DEPTH = 10_000

_WORDS = {
    "SEMICOLON": "';'",
    "COMMA": "','",
    "LPAR": "'('",
    "RPAR": "')'",
    "LSQB": "'['",
    "RSQB": "']'",
    "EQUAL": "'='",
    "COLON": "':'",
    "VBAR": "'|'",
    "TILDE": "'~'",
    "CIRCUMFLEX": "'^'",
    "PLUS_MINUS": "'+' or '-'",
    "TIMES": "'*' or '/'",
    "RELATION": "'<=' or '>='",
    "SAME": "'=='",
    "LAW": "'newton' or 'poisson'",
    "NAME": "a name",
    "QUANTITY": "a number",
    "TEXT": "the name of a file in quotes",
    "$END": "the end of the text",
}
#: What stands within no bracket.
_OUTSIDE = ("SEMICOLON", "EQUAL", "COLON", "VBAR", "TILDE")
_OPERATORS = ("PLUS_MINUS", "TIMES", "CIRCUMFLEX")


def check_depth(text: str, file: str) -> None:
    """Raise :class:`ModelError` where brackets are nested too deep."""
    depth = 0
    for line, content in enumerate(text.split("\n"), 1):
        for column, character in enumerate(content.partition("#")[0], 1):
            depth += (character in "([") - (character in ")]")
            if depth > DEPTH:
                raise ModelError(f"brackets are nested deeper than {DEPTH}.", Location(file, line, column))


def syntax_error(error: UnexpectedInput, text: str, file: str) -> ModelError:
    """What *error* means, in words."""
    if isinstance(error, UnexpectedCharacters):
        found = f"the character '{text[error.pos_in_stream or 0]}'"
        return ModelError(f"found {found}, which has no meaning here.", Location(file, error.line, error.column))
    token = error.token if isinstance(error, UnexpectedToken) else None
    if token is None or token.type == "$END" or isinstance(error, UnexpectedEOF):
        written = _blank_comments(text).rstrip()
        end = Location(file, written.count("\n") + 1, len(written) - (written.rfind("\n") + 1) + 1)
        return ModelError(f"the text ends within a statement; expected {_expected(error)}.", end)
    place = Location(file, token.line or 1, token.column or 1)
    more = _unit_behind(token, text) or _guard(error) or _open(error, token, text) or _bars(error, token)
    found = f"expected {_expected(error)}, found '{token}'{more}."
    return _statement_error(token, text, file) or ModelError(found, place)


#: A name, or a closed bracket, at the end of a text; a number, and one with its unit.
_OPERAND = re.compile(r"(?:([^\W\d][\w.]*'*)|\))[ \t]*$")
_NUMBER = re.compile(r"(?<![\w.'])(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*$")
_QUANTITY = re.compile(rf"(?<![\w.])(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*{units.PATTERN}[ \t]*$")


def _unit_behind(token: Token, text: str) -> str:
    """What to say of a *token* that is a unit behind a name or a bracket, or the word for one behind a number."""
    position = token.start_pos or 0
    before = text[text.rfind("\n", 0, position) + 1 : position]
    if _NUMBER.search(before) and (symbol := units.spelled(token)):
        return f": the unit is written {symbol}"
    operand, unit = _OPERAND.search(before), re.compile(units.PATTERN).match(text, position)
    if token.type != "NAME" or unit is None or len(unit[0]) < len(token) or operand is None or _QUANTITY.search(before):
        return ""
    try:
        units.unit(unit[0])
    except ModelError:
        return ""
    name, one = operand[1] or "(...)", f"1 {unit[0]}"
    given = f"give '{name}' its value with the unit, as in {name} = {one}, or " if name.isidentifier() else ""
    return f": a unit may follow a number only; {given}multiply, as in {name} * {one}"


def _statement_error(token: Token, text: str, file: str) -> ModelError | None:
    """What is wrong with the first word of the statement that ends badly at *token*, if anything."""
    plain, position = _blank_comments(text), token.start_pos or 0
    start = plain.rfind(";", 0, position) + 1
    match = re.compile(r"\s*([^\W\d][\w.]*'*)\s*").match(plain, start)
    if match is None or match.start(1) > position:
        return None
    word, begin = match[1], match.start(1)
    second = match.end() == position  # *token* follows the word at once
    body = second and token.type in ("TILDE", "VBAR")
    if word in STATEMENTS and body:
        message = f"'{word}' is a word of the language and cannot name a body."
    elif word not in STATEMENTS and second and not body:
        message = (
            "expected a body (Name ~ Base | motions = inertia;) or one of "
            f"{', '.join(STATEMENTS)}, found '{word}'.{did_you_mean(word, STATEMENTS)}"
        )
    else:
        return None
    return ModelError(message, Location(file, plain.count("\n", 0, begin) + 1, begin - plain.rfind("\n", 0, begin)))


def _expected(error: UnexpectedInput) -> str:
    """The tokens that would have done, in words."""
    names = _accepted(error)
    names.discard("VECTOR")  # it stands where names do
    if "RPAR" in names:  # what it closes may also go on
        names |= {"operator"}
    operators = names & set(_OPERATORS)
    if len(operators) > 1:
        names = (names - operators) | {"operator"}
    shown = sorted(_WORDS.get(n, "an operator" if n == "operator" else f"'{n.lower()}'") for n in names)
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _accepted(error: UnexpectedInput) -> set[str]:
    return set(getattr(error, "accepts", None) or getattr(error, "expected", None) or ())


def _bars(error: UnexpectedInput, token: Token) -> str:
    """What to say of a bar that begins no magnitude of a vector."""
    if token.type != "VBAR" or "VECTOR" not in _accepted(error):
        return ""
    return ": bars are for the magnitude of a vector, as in |a(Tip)|; of a number write abs(...)"


def _guard(error: UnexpectedInput) -> str:
    """What to say where a guard of a switch is no comparison of a parameter with its value."""
    if "SAME" not in _accepted(error):
        return ""
    return ": behind 'and' stand values of parameters, as in s == 1; two conditions are one in min(f, g) >= 0"


def _open(error: UnexpectedInput, token: Token, text: str) -> str:
    """Which bracket is still open at *token*, where a ')' would have done."""
    if "RPAR" not in _accepted(error) or token.type not in _OUTSIDE:
        return ""
    left: list[int] = []
    plain = _blank_comments(text[: token.start_pos or 0])
    for match in re.finditer(r"[()]", plain):
        if match[0] == "(":
            left.append(match.start())
        elif left:
            left.pop()
    if not left:
        return ""
    line, column = plain.count("\n", 0, left[-1]) + 1, left[-1] - plain.rfind("\n", 0, left[-1])
    return f": the '(' at {line}:{column} is not closed yet"


def _blank_comments(text: str) -> str:
    return re.sub(r"#[^\n]*", lambda m: " " * len(m[0]), text)
