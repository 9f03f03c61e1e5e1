"""Equations as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kineta.codegen.bindings import bindings
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import BINARY, Op
from kineta.expr.text import number
from kineta.expr.walk import reachable_below

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
).split()
_LETTERS = {g: rf"\{g}" for g in _GREEK} | {"fi": r"\varphi", "Fi": r"\varphi", "phi": r"\varphi"}
_LETTERS |= {c: _LETTERS[g] for c, g in zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ", _GREEK, strict=True)}
_CALLS = {
    Op.SIN: r"\sin",
    Op.COS: r"\cos",
    Op.TAN: r"\tan",
    Op.ASIN: r"\arcsin",
    Op.ACOS: r"\arccos",
    Op.ATAN: r"\arctan",
    Op.SINH: r"\sinh",
    Op.COSH: r"\cosh",
    Op.TANH: r"\tanh",
    Op.EXP: r"\exp",
    Op.LOG: r"\ln",
    Op.MIN: r"\min",
    Op.MAX: r"\max",
}
_FUNCTIONS = tuple(_CALLS.values())
# Binding strength of what was written. An open product ends in a function without brackets, as in a \sin x: what is written
# behind it would be read as part of the argument.
_SUM, _OPEN, _PRODUCT, _ATOM = range(4)
#: A component of a quaternion, a position or a velocity: the letter and its axis.
_COMPONENT = re.compile(r"[qvw][wxyz]")
_NAME = re.compile(r"^([^\W\d_]+)_?(\w*)$")


def name(text: str) -> str:
    r"""A name as LaTeX: ``q1'`` is \dot{q}_{1}, ``Fi2`` is \varphi_{2}, ``b.wx`` is w^{\mathrm{b}}_{x}, ``J_nz`` is J_{nz}.

    Words in letters that are not ASCII are set as text, which any font for the script serves: \text{Нога}.
    """
    if text.startswith("tau."):
        base = text[4:]
        return rf"\tau_{{{name(base.rstrip(chr(39)))}}}"
    primes = len(text) - len(text.rstrip("'"))
    stem = text.rstrip("'")
    owner, _, last = stem.rpartition(".")
    letter, index = (last[0], last[1]) if owner and _COMPONENT.fullmatch(last) else _split(last)
    accent = {0: letter, 1: rf"\dot{{{letter}}}", 2: rf"\ddot{{{letter}}}"}.get(primes, letter)
    shown = accent + (f"_{{{index}}}" if index else "")
    return rf"{accent}^{{{_word(owner)}}}" + shown[len(accent) :] if owner else shown


def _split(word: str) -> tuple[str, str]:
    """Letter and index of a name without dots and primes."""
    digits = re.match(r"^(.*?)_?(\d+\w*)$", word)
    match = digits or _NAME.match(word)
    stem, index = (match[1], match[2]) if match else (word, "")
    if stem in _LETTERS:
        return _LETTERS[stem], _index(index)
    if len(stem) == 1:
        return stem if stem.isascii() else _word(stem), _index(index)
    if 1 < len(word) <= 4 and word.isascii() and word[0].isupper() and not digits and "_" not in word:
        return word[0], word[1:]
    return _word(stem), _index(index)


def _word(text: str) -> str:
    return rf"\{'mathrm' if text.isascii() else 'text'}{{{_escaped(text)}}}"


def _index(text: str) -> str:
    return _escaped(text) if text.isascii() else _word(text)


def _escaped(text: str) -> str:
    return text.replace("_", r"\_")


def lines(graph: Graph, results: Mapping[str, Ref], *, parts: bool = True) -> Iterator[str]:
    """``z_{1} = ...`` for every repeated part, then ``name = ...`` for every result (names of results are LaTeX already).

    Without *parts* everything is written out. Raises :class:`ArgumentError` where that would be too long.
    """
    bound = bindings(graph, results, parts=parts)
    shown = {i: name(n) for i, n in bound.named.items()}
    for i, label in shown.items():
        yield f"{label} = {expression(bound.graph, 2 * i, shown)}"
    for label, ref in bound.results.items():
        known = shown.get(ref >> 1)
        yield f"{label} = " + (
            expression(bound.graph, ref, shown) if known is None else ("-" if ref & 1 else "") + known
        )


def expression(graph: Graph, ref: Ref, names: Mapping[int, str]) -> str:
    """*ref* as LaTeX; nodes (ids) below it that have *names* by these."""
    written: dict[int, tuple[str, int]] = {}

    def operand(r: Ref, least: int) -> str:
        shown, strength = written[r >> 1]
        if r & 1:
            shown, strength = "-" + (shown if strength >= _OPEN else rf"\left({shown}\right)"), _SUM
        return shown if strength >= least else rf"\left({shown}\right)"

    def product(a: Ref, b: Ref) -> tuple[str, int]:
        strengths = written[a >> 1][1], written[b >> 1][1]
        if a == b and strengths[0] == _ATOM:
            return f"{{{operand(a, _ATOM)}}}^{{2}}", _PRODUCT
        # Numbers go first, functions last.
        if graph.op[b >> 1] == Op.CONST or (strengths[0] == _OPEN != strengths[1]):
            a, b = b, a
        second = operand(b, _OPEN)
        first = operand(a, _OPEN if second.startswith(_FUNCTIONS) else _PRODUCT)
        times = r" \cdot " if second[0].isdigit() else r"\,"
        return first + times + second, _OPEN if written[b >> 1][1] == _OPEN else _PRODUCT

    for i in reachable_below(graph, ref, names):
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if i in names and i != ref >> 1:
            written[i] = names[i], _ATOM
        elif op == Op.CONST:
            written[i] = _number(graph.constants[a])
        elif op == Op.SYMBOL:
            written[i] = name(graph.names[a]), _ATOM
        elif op == Op.ADD:
            sign = "-" if b & 1 else "+"
            written[i] = f"{operand(a, _SUM)} {sign} {operand(b & -2, _OPEN if b & 1 else _SUM)}", _SUM
        elif op == Op.MUL:
            written[i] = product(a, b)
        elif op == Op.DIV:
            written[i] = rf"\frac{{{operand(a, _SUM)}}}{{{operand(b, _SUM)}}}", _PRODUCT
        elif op == Op.POW:
            written[i] = rf"{{{operand(a, _ATOM)}}}^{{{operand(b, _SUM)}}}", _PRODUCT
        elif op == Op.SQRT:
            written[i] = rf"\sqrt{{{operand(a, _SUM)}}}", _ATOM
        elif op == Op.GUARD:
            written[i] = written[a >> 1]
        elif op == Op.ABS:
            written[i] = rf"\left|{operand(a, _SUM)}\right|", _ATOM
        else:
            arguments = operand(a, _SUM) + (f", {operand(b, _SUM)}" if op in BINARY else "")
            call = _CALLS.get(Op(op), rf"\operatorname{{{Op(op).name.lower()}}}")
            bare = graph.op[a >> 1] == Op.SYMBOL and not a & 1 and op not in BINARY
            written[i] = (rf"{call} {arguments}", _OPEN) if bare else (rf"{call}\left({arguments}\right)", _PRODUCT)
    return operand(ref, _SUM)


def _number(value: float) -> tuple[str, int]:
    mantissa, _, exponent = number(value).partition("e")
    return (rf"{mantissa} \cdot 10^{{{int(exponent)}}}", _PRODUCT) if exponent else (mantissa, _ATOM)
