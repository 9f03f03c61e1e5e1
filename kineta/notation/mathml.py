r"""MathML from the LaTeX of this package: letters with accents and indices, fractions, roots, functions, matrices.

Browsers show it without scripts or fonts from elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape

_TOKEN = re.compile(r"\\(?:left|right)\\[lr]floor|\\left\\?.|\\right\\?.|\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|\S")

_LETTERS = (
    "alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ sigma σ "
    "tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ "
    "Omega Ω partial ∂ varepsilon ε"
).split()
_GREEK = {rf"\{word}": sign for word, sign in zip(_LETTERS[::2], _LETTERS[1::2], strict=True)}
_SIGNS = {
    r"\cdot": "·",
    r"\times": "×",
    r"\sum": "∑",
    r"\int": "∫",
    r"\,": "",
    r"\ ": "",
    r"\quad": " ",
    r"\le": "≤",
    r"\dots": "…",
    r"\ge": "≥",
    "-": "−",
    "*": "∗",
}
_WORDS = re.compile(r"\\(sin|cos|tan|arcsin|arccos|arctan|sinh|cosh|tanh|exp|ln|min|max)")
_DOTS = {r"\dot": "˙", r"\ddot": "¨", r"\dddot": "⃛"}
#: Elements that are higher than a line, around which brackets grow.
_TALL = ("<mfrac>", "<msqrt>", "<mtable>")
_PLAIN = (r"\mathrm", r"\text", r"\operatorname")
#: Slanted letters, which browsers write for a letter by itself: Latin, with the h that stands elsewhere, and Greek.
_SLANTED = "".join(map(chr, [*range(0x1D434, 0x1D468), 0x210E, *range(0x1D6E2, 0x1D71C)]))
#: All characters of formulas, for which a font has to have signs.
CHARACTERS = "".join(
    sorted(
        {
            *map(chr, range(0x20, 0x7F)),
            *_SLANTED,
            *"".join((*_GREEK.values(), *_SIGNS.values(), *_DOTS.values())),
            *"⌊⌋√\u2061",
        }
    )
)


def mathml(latex: str, *, block: bool = False) -> str:
    """A ``math`` element for a LaTeX formula of this package; with *block* on a line of its own."""
    reader = _Reader(latex)
    display = ' display="block"' if block else ""
    return f"<math{display}>{reader.row()}</math>"


class _Reader:
    def __init__(self, latex: str) -> None:
        self.words = re.findall(r"\\(?:mathrm|text|operatorname)\{([^{}]*)\}", latex)
        plain = re.sub(r"\\(mathrm|text|operatorname)\{[^{}]*\}", r"\\\1", latex)
        self.tokens = _TOKEN.findall(plain)[::-1]

    def row(self, *ends: str) -> str:
        """All up to one of *ends*, which is taken away too."""
        shown: list[str] = []
        while self.tokens:
            if self.tokens[-1] in ends:
                self.tokens.pop()
                break
            shown.append(self.scripted())
        return f"<mrow>{''.join(shown)}</mrow>" if len(shown) != 1 else shown[0]

    def scripted(self) -> str:
        """A piece with its index and its power."""
        called = _WORDS.fullmatch(self.tokens[-1])
        base = self.piece()
        marks = {}
        while self.tokens and self.tokens[-1] in "_^":
            mark = self.tokens.pop()
            marks[mark] = self.piece()
        base = self._marked(base, marks)
        if not called:
            return base
        apart = "" if self.tokens and self.tokens[-1].startswith(r"\left") else '<mspace width="0.17em"/>'
        return f"{base}<mo>&#x2061;</mo>{apart}"

    @staticmethod
    def _marked(base: str, marks: Mapping[str, str]) -> str:
        """*base* with an index and a power."""
        if len(marks) == 2:
            return f"<msubsup>{base}{marks['_']}{marks['^']}</msubsup>"
        for mark, tag in (("_", "msub"), ("^", "msup")):
            base = f"<{tag}>{base}{marks[mark]}</{tag}>" if mark in marks else base
        return base

    def piece(self) -> str:
        """The next symbol or group."""
        token = self.tokens.pop()
        if token == "{":
            return self.row("}")
        if token == r"\frac":
            return f"<mfrac>{self.piece()}{self.piece()}</mfrac>"
        if token == r"\sqrt":
            return f"<msqrt>{self.piece()}</msqrt>"
        if token in _DOTS:
            return f'<mover accent="true">{self.piece()}<mo>{_DOTS[token]}</mo></mover>'
        if token == r"\overset":
            over = self.piece()
            return f"<mover>{self.piece()}{over}</mover>"
        if token in _PLAIN:
            return f'<mi mathvariant="normal">{escape(self.words.pop(0).replace(chr(92), ""))}</mi>'
        if token == r"\left\lfloor":
            return f"<mrow><mo>⌊</mo>{self.row(chr(92) + 'right' + chr(92) + 'rfloor')}<mo>⌋</mo></mrow>"
        if token.startswith(r"\left"):
            left, right = token[-1], {"(": ")", "|": "|"}[token[-1]]
            inside = self.row(rf"{chr(92)}right{right}")
            fixed = "" if any(tag in inside for tag in _TALL) else ' stretchy="false"'
            return f"<mrow><mo{fixed}>{left}</mo>{inside}<mo{fixed}>{right}</mo></mrow>"
        if token == r"\begin":
            return self.matrix()
        if word := _WORDS.fullmatch(token):
            return f"<mi>{word[1]}</mi>"
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token in _GREEK or token.isalpha():
            return f"<mi>{_GREEK.get(token, token)}</mi>"
        sign = _SIGNS.get(token, token)
        return f"<mo>{escape(sign)}</mo>" if sign.strip() else '<mspace width="0.17em"/>'

    def matrix(self) -> str:
        """Rows and columns between brackets, after ``\\begin``."""
        cases = self.group() == "cases"
        rows: list[list[str]] = [[]]
        while self.tokens:
            cell: list[str] = []
            while self.tokens[-1] not in ("&", r"\\", r"\end"):
                cell.append(self.scripted())
            rows[-1].append(f"<mtd>{''.join(cell)}</mtd>")
            end = self.tokens.pop()
            if end == r"\end":
                self.group()
                break
            if end == r"\\":
                rows.append([])
        table = "".join(f"<mtr>{''.join(row)}</mtr>" for row in rows)
        left, right = ("<mo>{</mo>", "") if cases else ("<mo>(</mo>", "<mo>)</mo>")
        return f"<mrow>{left}<mtable>{table}</mtable>{right}</mrow>"

    def group(self) -> str:
        """The name in braces that comes next."""
        letters = list[str]()
        while (token := self.tokens.pop()) != "}":
            letters.append(token)
        return "".join(letters).removeprefix("{")
