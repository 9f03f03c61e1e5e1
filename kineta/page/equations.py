"""What a page shows of the equations of a model, and its text, as HTML."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from pathlib import Path

from kineta.equations.equations import Equations
from kineta.mechanics.quantities import COUNTED
from kineta.model.io import dumps
from kineta.model.system import System
from kineta.notation import latex
from kineta.notation.mathml import mathml

#: Characters of equations that are shown, and the speeds of a model beyond which nobody reads them.
SHOWN, READABLE = 30_000, 12
#: Names beyond which they stand as they are written.
LABELLED = 600
#: How words begin in LaTeX.
_UPRIGHT = (r"\mathrm", r"\text")
#: Columns of the table of operations.
_OPERATIONS = ("add", "mul", "div", "sqrt", "trig")
#: What opens and closes brackets in LaTeX, and signs between terms.
_OPENING, _CLOSING = ("{", "(", "[", r"\left", r"\begin"), ("}", ")", "]", r"\right", r"\end")
_BRACKETS = re.compile(r"\\(?:left|right|begin|end)\b|\\.|[{}()\[\]]|(?P<sign>(?<= )[+-](?= ))")
#: Comments, words at the head of a statement, and numbers.
_WORDS = re.compile(
    r"(#[^\n]*)|(^\s*[a-z]+\b|\b(?:on|between|and|at|when|from|to)\b)|(\b\d+(?:\.\d+)?(?:e-?\d+)?\b)", re.M
)


@cache
def math_style() -> str:
    """The style of formulas, with the part of Latin Modern Math that they are written in."""
    font = base64.b64encode(Path(__file__).with_name("math.woff2").read_bytes()).decode()
    return (
        f'@font-face {{ font-family: "Kineta Math"; src: url(data:font/woff2;base64,{font}) format("woff2"); }}\n'
        'math { font: 17px "Kineta Math", "STIX Two Math", math; }\n'
    )


def equations_html(equations: Equations) -> str:
    """Operations of one evaluation, the equations of motion, and the constraints."""
    rows = []
    for name in COUNTED:
        if equations.system.nv <= READABLE or name in ("inverse", "forward"):
            counted = equations.operations(name).as_dict()
            cells = "".join(f"<td>{counted.get(n, 0)}</td>" for n in _OPERATIONS)
            rows.append(f"<tr><th scope='row'>{name.replace('_', ' ')}</th>{cells}</tr>")
    heads = "".join(f"<th scope='col'>{n}</th>" for n in _OPERATIONS)
    table = f"<table class='counts'><tr><td></td>{heads}</tr>{''.join(rows)}</table>"
    body = f"<section><h3>Operations of one evaluation</h3>{table}</section>"
    if equations.system.nv > READABLE:
        told = f"{equations.system.nv} equations are too many to read; <code>kineta derive</code> prints them."
        return f"{body}<section><h3>Equations of motion</h3><p class='note'>{told}</p></section>"
    return f"{body}<section><h3>Equations of motion</h3>{_formulas(equations)}</section>"


def _formulas(equations: Equations) -> str:
    lines, shown, size = equations.printed().latex(), list[str](), 0
    while size < SHOWN and (line := next(lines, "")):
        first, *rest = map(mathml, terms(line))
        signed = (x.replace("<mo>", '<mo form="infix">', 1) for x in rest)
        shown.append(f"<div class='equation'>{'<wbr>'.join([first, *signed])}</div>")
        size += len(shown[-1])
    more = sum(1 for _ in lines)
    return "".join(shown) + f"<p class='note'>and {more} more lines</p>" * bool(more)


def terms(line: str) -> list[str]:
    """The parts of a formula in LaTeX between which a browser may begin a new line: behind each one stands a sign outside of all
    brackets.
    """
    depth, last, found = 0, 0, list[str]()
    for m in _BRACKETS.finditer(line):
        depth += (m[0] in _OPENING) - (m[0] in _CLOSING)
        if m.lastgroup == "sign" and depth == 0 and "=" in line[: m.start()]:
            found.append(line[last : m.start()])
            last = m.start()
    return [*found, line[last:]] if depth == 0 else [line]


def labels(names: Iterable[str]) -> dict[str, str]:
    """The formulas by which *names* are known in equations, as MathML; none for words and their rates, and none at
    all of more than :data:`LABELLED` names.
    """
    known = [*dict.fromkeys(names)]
    if len(known) > LABELLED:
        return {}
    return {n: mathml(latex.name(n)) for n in known if not latex.name(n.rstrip("'")).startswith(_UPRIGHT)}


def model_html(system: System) -> str:
    """The text of the model."""
    return f"<pre>{''.join(_coloured(dumps(system)))}</pre>"


def _coloured(text: str) -> Iterator[str]:
    last = 0
    for m in _WORDS.finditer(text):
        kind = "c" if m[1] else "k" if m[2] else "n"
        yield f"{escape(text[last : m.start()])}<span class='{kind}'>{escape(m[0])}</span>"
        last = m.end()
    yield escape(text[last:])
