"""Equations as LaTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from fractions import Fraction

from kineta.expr.op import Op
from kineta.notation.printed_numbers import short_decimal
from kineta.notation.text import few
from kineta.records import dataclass

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
).split()
_LETTERS = {g: rf"\{g}" for g in _GREEK} | {"fi": r"\varphi", "Fi": r"\varphi", "phi": r"\varphi"}
_LETTERS |= {c: _LETTERS[g] for c, g in zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ", _GREEK, strict=True)}
#: Greek letters by their first letters, where no index can be meant (``la`` may be l_a).
_SHORTENED = {
    short: _LETTERS[g]
    for g in _GREEK
    for short in (g[:2], g[:3])
    if short in "al be ga de ep th ph om Om alp bet gam del eps zet kap lam sig ome Gam Del Lam Sig Ome".split()
}
_CALLS = {Op[n.upper()]: rf"\{n}" for n in "sin cos tan sinh cosh tanh exp min max".split()}
_CALLS |= {Op.ASIN: r"\arcsin", Op.ACOS: r"\arccos", Op.ATAN: r"\arctan", Op.LOG: r"\ln"}
#: Functions with delimiters around their argument.
_AROUND = {
    Op.SQRT: r"\sqrt{{{0}}}",
    Op.ABS: r"\left|{0}\right|",
    Op.FLOOR: r"\left\lfloor {0}\right\rfloor ",
    Op.IF: r"\begin{{cases}} {1} & {0} \\ {2} & \text{{else}} \end{{cases}}",
}
#: Signs of comparisons.
_RELATIONS = {"<": "<", ">": ">", "<=": r"\le", ">=": r"\ge"}
#: A component of a quaternion, a position or a velocity: letter and axis.
_COMPONENT = re.compile(r"[qvw][wxyz]")
#: An added force, by its speed.
_FORCE = re.compile(r"tau\[(\D.*)\]")
#: A momentum and its rate; ``p[1]`` is one of the names with indices.
_MOMENTUM = re.compile(r"p\[(\D.*)\]('*)")
_NAME = re.compile(r"^([^\W\d_]+)_?(\w*)$")
#: A letter and its index without a line between them, ``mH``, ``IHxx``, ``Jmax``, ``kg2``; other words are words.
_SHORT = re.compile(
    r"(?!(?:go|no|of|on|up)\d*$)([A-Za-z](?=[A-Za-z]\d*$|[A-Z][A-Za-z]{0,2}\d*$|[xyz]{2,3}\d*$|(?:max|min)$)[A-Za-z]+)(\d*)",
    re.A,
)
#: A Greek letter and its index: ``thetaL``, ``omMax``, and where no word begins so, ``psif``.
_GREEK_SHORT = re.compile(
    rf"(?:({'|'.join([*_GREEK, *_SHORTENED])})([A-Z][A-Za-z]{{0,2}}\d*)"
    r"|(alpha|beta|gamma|delta|epsilon|theta|kappa|lambda|rho|sigma|phi|psi|omega)([a-z]\d*))"
)
#: A word.
_WORD = re.compile(r"[^\W\d_]{2}")
#: A name with indices in brackets, and one of these.
_INDEXED = re.compile(r"(\w+)((?:\[\d+\])+)")
_INDEX = re.compile(r"\[(\d+)\]")
#: The name of a row or column of a quantity.
_PLACE = r"(?:[^\[\],]|\[\d+\])+"


#: The control force on a speed, and its derivatives: ``control.x'``, ``rate.control.x'``, ``rate2.control.x'``.
_CONTROL = re.compile(r"(?:(rate)(\d*)\.)?control\.(.+)")


def name(text: str) -> str:
    r"""A name as LaTeX: ``q1'`` is \dot{q}_{1}, ``Fi2`` is \varphi_{2}, ``b.wx`` is w^{\mathrm{b}}_{x}, ``mH`` is m_{H},
    ``J_nz`` is J_{\mathrm{nz}}.

    Words in letters that are not ASCII are set as text, which any font for the script serves: \text{Нога}.
    """
    if match := _CONTROL.fullmatch(text):
        return f"{_dotted('u', int(match[2] or match[1] is not None))}_{{{_entry('tau', match[3])}}}"
    letter, _, of = text.partition(".")
    if of and letter in ("lambda", "nu"):
        return rf"\{letter}_{{{_entry(letter, of)}}}"
    if match := _FORCE.fullmatch(text):
        return rf"\tau_{{{_entry('tau', match[1])}}}"
    if match := _MOMENTUM.fullmatch(text):
        return f"{_dotted('p', len(match[2]))}_{{{name(match[1].rstrip(chr(39)))}}}"
    primes = len(text) - len(text.rstrip("'"))
    stem = text.rstrip("'")
    owner, _, last = stem.rpartition(".")
    letter, index = (last[0], last[1]) if owner and _COMPONENT.fullmatch(last) else _split(last)
    accent = _dotted(letter, primes)
    shown = accent + (f"_{{{index}}}" if index else "")
    return rf"{accent}^{{{_word(owner)}}}" + shown[len(accent) :] if owner else shown


def _dotted(letter: str, times: int) -> str:
    if times > 3:
        return rf"\overset{{({times})}}{{{letter}}}"
    return rf"\{'d' * times}ot{{{letter}}}" if times else letter


def _split(word: str) -> tuple[str, str]:
    """Letter and index of a name without dots and primes."""
    if indexed := _INDEXED.fullmatch(word):
        letter, own = _split(indexed[1])
        return letter, ",".join(filter(None, (own, *_INDEX.findall(indexed[2]))))
    if greek := _GREEK_SHORT.fullmatch(word):
        letter, index = filter(None, greek.groups())
        return _greek(letter), _index(index)
    if (short := _SHORT.fullmatch(word)) and not _greek(short[1]):
        return short[1][0], _index(short[1][1:] + short[2])
    digits = re.match(r"^(.*?)_?(\d+\w*)$", word)
    match = digits or _NAME.match(word)
    stem, index = (match[1], match[2]) if match else (word, "")
    if letter := _greek(stem):
        return letter, _index(index)
    if len(stem) == 1:
        return stem if stem.isascii() else _word(stem), _index(index)
    return _word(stem), _index(index)


def _greek(word: str) -> str:
    """The Greek letter that *word* names in full or shortened, or an empty text."""
    return _LETTERS.get(word) or _SHORTENED.get(word, "")


def _word(text: str) -> str:
    if "[" in text:  # of the parts of a name with prefixes those with indices
        found = (_INDEXED.fullmatch(part) for part in text.split("."))
        parts = [
            f"{_word(m[1])}_{{{','.join(_INDEX.findall(m[2]))}}}" if m else _word(part)
            for m, part in zip(found, text.split("."), strict=True)
        ]
        return ".".join(parts)
    return rf"\{'mathrm' if text.isascii() else 'text'}{{{_escaped(text)}}}"


def _index(text: str) -> str:
    """An index: words of two letters and more are upright, as they are elsewhere."""
    if text in _LETTERS:
        return _LETTERS[text]
    return _word(text) if _WORD.search(text) or not text.isascii() else _escaped(text)


def _escaped(text: str) -> str:
    return text.replace("_", r"\_")


def label(text: str) -> str:
    r"""The LaTeX name of a quantity of a derivation: ``tau[q1']``, ``M[1,2]``, ``dT/dq1``; ``w2.x'`` is \dot{\omega}_{2x}."""
    if _MOMENTUM.fullmatch(text):
        return name(text)
    if match := re.fullmatch(r"d(\w+\*?)/d(.+)", text):
        return rf"\frac{{\partial {label(match[1])}}}{{\partial {_variable(match[2])}}}"
    if match := re.fullmatch(r"(\w+)\*(\[(?:[^\[\]]|\[\d+\])*\])?", text):
        return f"{label(match[1] + (match[2] or ''))}^{{*}}"
    if match := re.fullmatch(rf"gamma\[({_PLACE}),({_PLACE}),({_PLACE})\]", text):
        over, *under = (_entry("gamma", x) for x in match.groups())
        return rf"\gamma^{{{over}}}_{{{','.join(under)}}}"
    if match := re.fullmatch(r"(\w+)\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\.([xyz]))?", text):
        indices = [_entry(match[1], x) for x in match[2].split(",")]
        return _lettered(match[1], ",".join(indices) + (match[3] or ""))
    if match := re.fullmatch(r"([A-Za-z])(\d+)(\.[xyz])?('*)", text):
        return _lettered(match[1], match[2] + (match[3] or "")[1:], len(match[4]))
    return text if text.isdigit() else name(text)


def _variable(text: str) -> str:
    r"""A coordinate, or a quasi-coordinate ``pi.w`` by its speed: \pi_{w}."""
    return rf"\pi_{{{name(text[3:].rstrip(chr(39)))}}}" if text.startswith("pi.") else name(text)


#: Letters of quantities with an entry for every constraint.
_OF_CONSTRAINTS = ("lambda", "nu", "A", "rest", "f")


def _entry(letter: str, text: str) -> str:
    r"""The index *text* of an entry; a component of a constraint, ``pin.x``, stays on one line: \mathrm{pin}.x."""
    if text.isdigit():
        return text
    if _FORCE.fullmatch(text) or _MOMENTUM.fullmatch(text):
        return label(text)
    owner, _, last = text.rpartition(".")
    if letter in _OF_CONSTRAINTS and owner and not _COMPONENT.fullmatch(last.rstrip("'")):
        return f"{_word(owner)}.{name(last)}"
    return name(text.rstrip("'") if letter in ("tau", "p") else text)


def _lettered(letter: str, index: str, dots: int = 0) -> str:
    """A letter with dots and an index; words are upright."""
    base = (
        _VECTORS.get(letter)
        or _LETTERS.get(letter)
        or (letter if len(letter) == 1 else rf"\mathrm{{{_escaped(letter)}}}")
    )
    base = (base, rf"\dot{{{base}}}", rf"\ddot{{{base}}}")[dots]
    return f"{base}_{{{index}}}" if index else base


#: Letters of vectors.
_VECTORS = {"w": r"\omega"}


def matrix(cells: Sequence[str], columns: int) -> str:
    """A matrix, or a column."""
    rows = (" & ".join(cells[k : k + columns]) for k in range(0, len(cells), columns))
    return "\\begin{pmatrix} " + r" \\ ".join(rows) + " \\end{pmatrix}"


#: Letters in a line of a page at most: longer sums are broken.
WIDTH = 90
_BRACKETS = re.compile(r"(?P<open>\\left\b|\\begin\b|\{)|(?P<close>\\right\b|\\end\b|\})| [+-] ")
#: LaTeX commands without width, or of the width of one letter.
_NO_PLACE = re.compile(r"\\(?:left|right|mathrm|text|frac|d?dot)\b|\\,|[{}^_ ]")
_ONE_LETTER = re.compile(r"\\[a-z]+")


def break_lines(value: str) -> list[str]:
    """*value* as lines of the width of a page, broken between the terms of a sum; other formulas stay whole."""
    depth, cuts = 0, [0]
    for match in _BRACKETS.finditer(value):
        if match["open"] or match["close"]:
            depth += 1 if match["open"] else -1
        elif not depth:
            cuts.append(match.start())
    lines = [""]
    for start, end in zip(cuts, [*cuts[1:], len(value)], strict=True):
        term = value[start:end]
        if lines[-1] and _letters(lines[-1]) + _letters(term) > WIDTH:
            lines.append(term)
        else:
            lines[-1] += term
    return lines


def _letters(text: str) -> int:
    """The approximate printed width of *text* in letters."""
    return len(_ONE_LETTER.sub("x", _NO_PLACE.sub("", text)))


#: Unicode characters of equations.
_SIGNS = {
    "∑": r"\sum ", "∂": r"\partial ", "·": r"\cdot ", "×": r"\times ", "−": "-", "½": r"\frac{1}{2} ", "²": "^{2}",
    "⁻": "^{-", "¹": "1}", "ᵀ": "^{T}", "∫": r"\int ", "δ": r"\delta ", "ε": r"\varepsilon ", "ω": r"\omega ", "Ω": r"\Omega ",
    "π": r"\pi ", "α": r"\alpha ", "τ": r"\tau ", "γ": r"\gamma ", "ρ": r"\rho ", "η": r"\eta ", "ν": r"\nu ", "λ": r"\lambda ",
    "κ": r"\kappa ",
}  # fmt: skip


#: Derivatives in equations: partial ones, and those by the time.
_PARTIAL = re.compile(r"∂(\([^()]*\)|[^\s/∂()+−=,]*)/∂([^\s/∂()+−=,·]+)")
_RATE = re.compile(r"\bd ?([^\s/]*)/d t\b")


def from_unicode(law: str) -> str:
    r"""An equation in Unicode characters, ``∂S/∂v̇_s = Q_s``, as LaTeX: \frac{\partial S}{\partial \dot{v}_{s}} = Q_{s}."""
    divided = _RATE.sub(r"\\frac{d \1}{d t}", _PARTIAL.sub(r"\\frac{∂\1}{∂\2}", unicodedata.normalize("NFD", law)))
    marked = re.sub(r"(\S)̇", r"\\dot{\1}", re.sub(r"(\S)̈", r"\\ddot{\1}", divided))
    indexed = re.sub(r"_([0-9A-Za-zα-ωΑ-Ω]+)", r"_{\1}", marked)
    signs = "".join(_SIGNS.get(c, c) for c in indexed)
    signs = signs.replace("*", "^{*}").replace("(", r"\left(").replace(")", r"\right)")
    parted = re.sub(r",\s+(or )?", lambda m: r", \quad " + r"\text{or } " * bool(m[1]), signs)
    return re.sub(r" +", " ", parted)


#: Characters of words that are commands of LaTeX, or letters and signs of formulas.
_IN_WORDS = {c: rf"\{c}" for c in "_&%#{}$"} | {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}"}
_IN_WORDS |= {
    c: f"${sign.strip()}$"
    for c, sign in (_LETTERS | _SIGNS).items()
    if not c.isascii() and sign.count("{") == sign.count("}")
}


def words(text: str) -> str:
    r"""Words as LaTeX, with formulas between backticks: "with `A² v̇` and τ" is with $A^{2} \dot{v}$ and $\tau$."""
    return "".join(
        f"${from_unicode(x).strip()}$" if k % 2 else "".join(_IN_WORDS.get(c, c) for c in x)
        for k, x in enumerate(text.split("`"))
    )


@dataclass(frozen=True)
class Latex:
    """The notation of LaTeX. Sums fall from the highest derivatives, or with *rising* rise to them."""

    rising: bool = False

    def name(self, text: str) -> str:
        """A name with its index and its dots."""
        return name(text)

    def number(self, value: float) -> str:
        r"""0.25, 2.5 \cdot 10^{-3}."""
        if value == 0 or 0.01 <= value < 1e5:
            return repr(value).removesuffix(".0")
        mantissa, _, exponent = f"{value:.16e}".partition("e")
        digits = repr(short_decimal(float(mantissa))).removesuffix(".0")
        power = f"10^{{{int(exponent)}}}"
        return power if digits == "1" else rf"{digits} \cdot {power}"

    def sum(self, terms: Sequence[tuple[bool, str]]) -> str:
        """Terms with their signs."""
        (minus, first), *rest = terms
        return ("-" if minus else "") + first + "".join(f" {'-' if m else '+'} {s}" for m, s in rest)

    def product(self, number: Fraction | float, above: Sequence[str], below: Sequence[str]) -> str:
        """Factors, or a fraction; a numerical denominator stays with the number above it."""
        p, q = (number.numerator, number.denominator) if isinstance(number, Fraction) else (number, 1)
        if q != 1 and not below:
            roots = above[:1] if above and re.fullmatch(r"\\sqrt\{\d+\}|\\pi", above[0]) else []
            top = self._times([str(p)] * (p != 1 or not roots) + list(roots))
            return self._times([rf"\frac{{{top}}}{{{q}}}", *above[len(roots) :]])
        over, under = [self.number(float(p))] * (p != 1 or not above) + list(above), [str(q)] * (q != 1) + list(below)
        if not below:
            return self._times(over)
        return rf"\frac{{{self._alone(over)}}}{{{self._alone(under)}}}"

    def _alone(self, factors: Sequence[str]) -> str:
        """A product above or below a fraction bar, with a sum without brackets."""
        (left, right), shown = (r"\left(", r"\right)"), self._times(factors)
        return shown[len(left) : -len(right)] if len(factors) == 1 and shown.startswith(left) else shown

    def _times(self, factors: Sequence[str]) -> str:
        shown = factors[0]
        for factor in factors[1:]:
            shown += (r" \cdot " if factor[0].isdigit() else r"\,") + factor
        return shown

    def power(self, base: str, exponent: str) -> str:
        """A power; a base with an index or dots is grouped by braces."""
        return f"{{{base}}}^{{{exponent}}}"

    def brackets(self, inside: str) -> str:
        """A sum in brackets."""
        return rf"\left({inside}\right)"

    def call(self, op: Op, arguments: Sequence[str], power: int, bare: bool) -> str:
        """A function, optionally with a power; a name as its last argument has no brackets."""
        if op in _AROUND:
            around = _AROUND[op].format(*arguments)
            return around if power == 1 else self.power(around, str(power))
        call = _CALLS.get(op, rf"\operatorname{{{op.name.lower()}}}") + (f"^{{{power}}}" if power != 1 else "")
        return f"{call} {arguments[0]}" if bare else call + self.brackets(", ".join(arguments))

    def table(self, quantity: str, order: int, words: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """A table by its points, the first ones and the last one of many."""
        points = few([self.brackets(", ".join(few(row, r"\dots"))) for row in rows], r"\dots")
        said = [quantity, *([rf"\text{{{', '.join(words)}}}"] if words else []), ", ".join(points)]
        return rf"\operatorname{{table}}{chr(39) * order}" + self.brackets(r";\ ".join(said))

    def relation(self, left: str, sign: str, right: str) -> str:
        """A comparison."""
        return f"{left} {_RELATIONS[sign]} {right}"

    def joined(self, word: str, conditions: Sequence[str]) -> str:
        """Conditions with a word between them, or before one."""
        return rf" \text{{ {word} }} ".join(conditions) if len(conditions) > 1 else rf"\text{{{word} }} {conditions[0]}"


LATEX = Latex()
