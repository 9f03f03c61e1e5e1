"""Syntax errors of the language ``.kin``, in words."""

from __future__ import annotations

import re

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from kineta.errors import Location, ModelError, did_you_mean
from kineta.model import units
from kineta.model.checks.check import STATEMENTS

#: Name of the unit of a model text.
STATEMENT = "a statement"
#: Brackets within brackets beyond which a text is refused.
DEPTH = 10_000

_SIGNS = "SEMICOLON COMMA LPAR RPAR LSQB RSQB EQUAL COLON VBAR TILDE CIRCUMFLEX".split()
_WORDS = {
    **{name: f"'{sign}'" for name, sign in zip(_SIGNS, ";,()[]=:|~^", strict=True)},
    "PLUS_MINUS": "'+' or '-'",
    "TIMES": "'*' or '/'",
    "RELATION": "'<=' or '>='",
    "SAME": "'=='",
    "RANGE": "'..'",
    "STATEMENT": "a statement",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "LAW": "'newton', 'poisson', 'kelvin_voigt' or 'hunt_crossley'",
    "NAME": "a name",
    "QUANTITY": "a number",
    "TEXT": "the name of a file in quotes",
    "$END": "the end of the text",
}
#: First words of statements, as tokens.
_STATEMENTS = frozenset(word.upper() for word in STATEMENTS)
#: Tokens that end an open bracket.
_OUTSIDE = ("SEMICOLON", "EQUAL", "COLON", "VBAR", "TILDE", "$END")
_OPERATORS = ("PLUS_MINUS", "TIMES", "CIRCUMFLEX")


def check_depth(text: str, file: str) -> None:
    """Raise :class:`ModelError` where brackets are nested too deep."""
    depth = 0
    for found in re.finditer(r"#[^\n]*|[(\[{]|[)\]}]", text):
        depth += (found[0] in "([{") - (found[0] in ")]}")
        if depth > DEPTH:
            start = found.start()
            place = Location(file, text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))
            raise ModelError(f"brackets are nested deeper than {DEPTH}.", place)


def syntax_error(error: UnexpectedInput, text: str, file: str, what: str = STATEMENT) -> ModelError:
    """Syntax *error* in words, in a model or in a text of *what*."""
    if isinstance(error, UnexpectedCharacters):
        one = text[error.pos_in_stream or 0]
        power = next((str(k) for k, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹") if raised == one), "")
        advice = f"; a power is ^, as in x^{power}" if power else ""
        if one == "?":
            advice = _NO_NUMBER
        if text[error.pos_in_stream or 0 :].startswith("!="):
            advice = _EQUAL
        elif one in _OTHER_SIGNS:
            advice = _OTHER_SIGNS[one]
        if one == "'":
            advice = "; a prime stands behind a name, a component or bars, as in q', r(P).x' and |v(P)|'"
        return ModelError(
            f"found the character '{one}', which has no meaning here{advice}.", Location(file, error.line, error.column)
        )
    token = error.token if isinstance(error, UnexpectedToken) else None
    if token is not None and token.type == "NUMBERS":
        token = Token.new_borrow_pos("LPAR", "(", token)
    if token is None or token.type == "$END" or (token.start_pos or 0) >= len(text):
        written = _blank_comments(text).rstrip()
        end = Location(file, written.count("\n") + 1, len(written) - (written.rfind("\n") + 1) + 1)
        more = "" if token is None else _open(error, token, text) or _form(error, token, text)
        return ModelError(f"the text ends within {what}; expected {_expected(error, what)}{more}.", end)
    place = Location(file, token.line or 1, token.column or 1)
    more = _unit_behind(token, text) or _guard(error) or _apart(token, text) or _unnamed(error, token, text)
    more = more or (_EITHER if text.startswith("||", token.start_pos) else "") or _operator(error, token, text)
    more = more or _kind_of_table(token, text)
    more = more or _open(error, token, text) or _form(error, token, text)
    indices = _several_indices(token, text)
    more = indices or _touching(error, token, text) or more
    found = ModelError(f"expected {_expected(error, what)}, found '{token}'{more}.", place)
    return (_statement_error(token, text, file) if what == STATEMENT and not indices else None) or found


_NO_NUMBER = (
    ": a comparison is no number; if(x > 0, a, b) is a where x > 0 and else b, min(x, y) and max(x, y) choose, too"
)
#: Words of the language for signs of others.
_OTHER_SIGNS = {
    "!": "; the opposite of a condition is written not, as in not x > 0",
    "&": "; two conditions are joined by and, as in x > 0 and y > 0",
    '"': '; the name of a file ends with " on its line, as in "leg.kin"',
    **dict.fromkeys("’′´`", "; a prime is '"),
    **dict.fromkeys("“”„‘«»", '; the name of a file stands in straight quotes, as in "leg.kin"'),
    **dict.fromkeys("−–—", "; a minus is -"),
    **dict.fromkeys("×∙⋅", "; a product is *"),
    "÷": "; a division is /",
    "\x00": ": the file is no text in UTF-8",
    **dict.fromkeys("\xa0\u2007\u202f", "; it looks like a space, which is to stand in its place"),
}
#: An example of statements by their first words.
_FORMS = {
    "state": "state i in A : i' = (u - R*i)/L",
    "limit": "limit stop : -1 <= q <= 1",
    "when": "when cold : T <= low and on == 0 : on = 1",
    "contact": "contact floor : ball = r between Ball and ground axis (0, 0, 1), friction = mu",
    "rolling": "rolling edge : disk = r between Coin axis (0, 0, 1) and ground axis (0, 0, 1)",
    "loop": "loop pin : ball between Rod at (l, 0, 0) and Crank",
    "program": "program path : x = a*sin(t)",
    "constraint": "constraint rod : x^2 + y^2 = l^2",
    "use": 'use "leg.kin" as left at Sx(a) with m = 2',
    "for": "for i in 1..3 : Link[i] ~ Link[i-1] | Ry(q[i]), Sz(-l) = m",
    "point": "point Tip on Arm = (l, 0, 0)",
}
_EITHER = ": one of two conditions is written or, as in x > 0 or y > 0"
_EQUAL = ": conditions have <, <=, > and >=, since numbers are hardly ever equal; |x - a| < d says that they are near"
#: A name, or a closed bracket, at the end of a text; a number, and a number with its unit.
_OPERAND = re.compile(r"(?:([^\W\d][\w.]*'*)|\))[ \t]*$")
_NUMBER = re.compile(r"(?<![\w.'])(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*$")
_QUANTITY = re.compile(rf"(?<![\w.])(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t]*{units.PATTERN}[ \t]*$")


def _unit_behind(token: Token, text: str) -> str:
    """Advice on a *token* that is a unit behind a name or a bracket, or the word for a unit behind a number."""
    position = token.start_pos or 0
    before = text[text.rfind("\n", 0, position) + 1 : position]
    if (number := _NUMBER.search(before)) and (symbol := units.unit_of_word(token)):
        return f": the unit is written {symbol}"
    if number and token.type == "IN":
        return ": an inch is 25.4 mm"
    if token.type == "NAME" and (quantity := _QUANTITY.search(before)) and token in units.UNITS:
        return f": units are joined by *, as in {quantity[0].strip()}*{token}"
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


def _apart(token: Token, text: str) -> str:
    """Advice on a *token* that opens an index behind a space."""
    position = token.start_pos or 0
    before = re.search(r"([^\W\d][\w.]*)[ \t]+$", text[:position]) if token.type == "LSQB" else None
    end = text.find("]", position)
    if before is None or end < 0:
        return ""
    return f": an index stands directly behind its name, as in {before[1]}{text[position : end + 1]}"


def _several_indices(token: Token, text: str) -> str:
    """Advice on a *token* that opens indices between commas, directly behind their name."""
    position = token.start_pos or 0
    if token.type != "LSQB" or (before := re.search(r"[^\W\d][\w.]*$", text[:position])) is None:
        return ""
    if (inside := re.compile(r"\[([^\[\],;#\n]+(?:,[^\[\],;#\n]+)+)\]").match(text, position)) is None:
        return ""
    own = "".join(f"[{index.strip()}]" for index in inside[1].split(","))
    return f": each index has its own brackets, as in {before[0]}{own}"


def _kind_of_table(token: Token, text: str) -> str:
    """Advice on a comma behind the file of a table, before the words that stand in front of it."""
    position = token.start_pos or 0
    begun = re.search(r'\btable\s*\(\s*([^;"]*?)\s*;\s*("[^"\n]*")\s*$', text[:position])
    words = re.compile(r",\s*([a-z]+(?:\s*,\s*[a-z]+)*)\s*\)").match(text, position)
    if begun is None or words is None:
        return ""
    return f": words for the kind stand before the points, as in table({begun[1]}; {words[1]}; {begun[2]})"


def _touching(error: UnexpectedInput, token: Token, text: str) -> str:
    """Advice on a *token* in a contact that has the places of ``between`` and ``among`` in each other's form."""
    plain = _blank_comments(text)[: token.start_pos or 0]
    begun = re.search(r"\bcontact\s[^;]*$", plain)
    if begun is None:
        return ""
    places = re.split(r"\b(between|among)\b", begun[0])
    if places[-2:-1] == ["among"] and "AMONG" in _accepted(error):
        held, last = re.search(r"([^\s,]+)\s+and\s+(\S+)\s*$", places[-1]), re.search(r"(\S+)\s*$", places[-1])
        shown = f"{held[1]}, {held[2]}" if held else f"A, {last[1] if last else 'B'}"
        return f": 'and' begins another shape, and bodies of one shape stand behind commas, as in among {shown}"
    if places[-2:-1] == ["between"] and len(places) == 3 and not re.search(r"\band\b", places[-1]):
        if token.type not in ("SEMICOLON", "EQUAL"):
            return ""
        bodies = " ".join((places[-1] if token.type == "SEMICOLON" else places[-1].rpartition(",")[0]).split())
        advice = ": 'between' has 'and' before what bears the others, as in between A, B and ground axis (0, 0, 1)"
        if not re.search(r",|\.\.", bodies) or not re.search(
            r":\s*(ball|box|capsule)\s*=(?!.*\bon\b)", places[0], re.DOTALL
        ):
            return advice
        return f"{advice}; bodies that may touch each other stand behind 'among', as in among {bodies}"
    return ""


def _unnamed(error: UnexpectedInput, token: Token, text: str) -> str:
    """Advice on the first *token* that shows an item of ``output`` to be an expression without a name."""
    position = token.start_pos or 0
    plain = _blank_comments(text)[:position]
    statement = re.fullmatch(r"\s*output\b(.*)", plain[plain.rfind(";") + 1 :], re.DOTALL)
    item = "" if statement is None else statement[1].rpartition(",")[2]
    if statement is None or "=" in item or not {"NAME", "EQUAL"} & _accepted(error) or token.type in _OUTSIDE[:3]:
        return ""
    end = re.compile(r"[;#\n]|$").search(text, position)
    assert end is not None
    return (
        f": an output that is an expression has a name, as in shown = {(item + text[position : end.start()]).strip()}"
    )


def _statement_error(token: Token, text: str, file: str) -> ModelError | None:
    """Error on the first word of the statement that ends badly at *token*; None for a valid word."""
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


def _word(token: Token, text: str) -> str:
    """The first word of the statement with *token*."""
    plain = _blank_comments(text)[: token.start_pos or 0]
    found = re.search(r"[^\W\d]\w*", plain[max(plain.rfind(c) for c in ";{") + 1 :])
    return "" if found is None else found[0]


def _form(error: UnexpectedInput, token: Token, text: str) -> str:
    """An example of the statement that ends or goes on badly at *token*, where no expression does."""
    shown = _FORMS.get(_word(token, text), "")
    return f"; for example, {shown}" if shown and "TIMES" not in _accepted(error) else ""


def _expected(error: UnexpectedInput, what: str) -> str:
    """Expected tokens in a text of *what*, in words."""
    names = _accepted(error)
    if what != STATEMENT:  # which alone ends with a semicolon
        names = {"$END" if n == "SEMICOLON" else n for n in names}
    names -= {"NUMBERS"}  # they stand where a bracket does
    names -= {"VECTOR", "VBAR"} if "VECTOR" in names else {"COMPONENT"}  # they stand where names do; behind vectors
    names -= (
        {"TABLE", "NOT"} if "NAME" in names else set()
    )  # a name may be that of a function, a number that of a condition
    if "RPAR" in names:  # what it closes may also go on
        names |= {"operator"}
    if len(names & _STATEMENTS) > 1:
        names = (names - _STATEMENTS - {"NAME"}) | {"STATEMENT"}
    operators = names & set(_OPERATORS)
    if len(operators) > 1:
        names = (names - operators) | {"operator"}
    shown = sorted(_WORDS.get(n, "an operator" if n == "operator" else f"'{n.lower()}'") for n in names)
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _accepted(error: UnexpectedInput) -> set[str]:
    return set(getattr(error, "accepts", None) or getattr(error, "expected", None) or ())


def _operator(error: UnexpectedInput, token: Token, text: str) -> str:
    """Advice on a *token* that is an operator of other languages."""
    position = token.start_pos or 0
    if token == "*" and text[:position].endswith("*"):
        return ": a power is ^, as in x^2"
    if text.startswith(("//", "/*", "%"), position):
        return ": a comment begins with #"
    compared = token.type in ("RELATION", "SAME") or text[position : position + 2] == "=="
    if token.type == "RELATION" and _word(token, text) in ("constraint", "program", "contact"):
        return f": what keeps to one side is a limit, as in {_FORMS['limit']}"
    before = text[text.rfind("\n", 0, position) + 1 : position]
    elsewhere = "RELATION" not in _accepted(error) or "OR" in _accepted(error)
    if "OR" in _accepted(error) and text[position] in "=!":
        return _EQUAL
    if compared and elsewhere and (_OPERAND.search(before) or _NUMBER.search(before)):
        return _NO_NUMBER
    if token.type in ("NAME", "LPAR") and "TIMES" in _accepted(error) and (factor := _NUMBER.search(before)):
        return f": a product is written with *, as in {factor[0].strip()}*{'(...)' if token.type == 'LPAR' else token}"
    if token == "," and (left := re.search(r"\d+$", before)) and (right := re.match(r",(\d+)", text[position:])):
        return f": numbers have a point, as in {left[0]}.{right[1]}"
    if token == ")" and (pair := re.search(r"\((\d+),(\d+)[^(),;]*$", before)):
        return f": numbers have a point, as in {pair[1]}.{pair[2]}, and vectors three components"
    if (
        token == ")"
        and _accepted(error) & {"COMMA", "RPAR"} == {"COMMA"}
        and re.search(r"\([^(),;]*,[^(),;]*$", before)
    ):
        return ": a vector has three components"
    if _word(token, text) not in STATEMENTS and (joint := re.search(r"\b(Free|Ball)\s*\(?\s*$", before)):
        return f": the motion has a name for its coordinates, as in {joint[1]}(b)"
    return ""


def _guard(error: UnexpectedInput) -> str:
    """Advice on a guard of a switch, or a condition, that is no comparison of a parameter with its value."""
    if "SAME" not in _accepted(error):
        return ""
    return (
        ": behind 'and' and 'while' stand values of parameters, as in s == 1; two conditions are one in min(f, g) >= 0"
    )


def _open(error: UnexpectedInput, token: Token, text: str) -> str:
    """Which bracket is still open at *token*, where a ')' would have done."""
    if "RPAR" not in _accepted(error) or token.type not in _OUTSIDE:
        return ""
    left: list[int] = []
    plain = _blank_comments(text if token.type == "$END" else text[: token.start_pos or 0])
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
