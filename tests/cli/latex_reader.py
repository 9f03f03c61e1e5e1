"""Reads LaTeX formulas as a person does, and evaluates them: a second opinion on what was printed.

A function without brackets takes the name behind it.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping

from tests.notation.points_reader import with_values

_FUNCTIONS = {
    r"\sin": math.sin, r"\cos": math.cos, r"\tan": math.tan, r"\arcsin": math.asin, r"\arccos": math.acos,
    r"\arctan": math.atan, r"\sinh": math.sinh, r"\cosh": math.cosh, r"\tanh": math.tanh, r"\exp": math.exp,
    r"\ln": math.log, r"\min": min, r"\max": max, r"\operatorname{atan2}": math.atan2,
    r"\operatorname{sign}": lambda x: (x > 0) - (x < 0), r"\operatorname{step}": lambda x: float(x > 0),
}  # fmt: skip
_RELATIONS = {"<": operator.lt, ">": operator.gt, r"\le": operator.le, r"\ge": operator.ge}


def value(formula: str, names: Mapping[str, float]) -> float:
    """The number that *formula* stands for; *names* gives the values of the letters as they are printed."""
    formula = with_values(formula, r"\operatorname{table}", r"\left(", r"\right)", lambda part: value(part, names))
    reader = _Reader(formula, names)
    result = reader.sum()
    assert reader.at == len(reader.tokens), f"left over: {reader.tokens[reader.at :]}"
    return result


_MARKS = {
    r"\left(", r"\right)", r"\left|", r"\right|", r"\frac", r"\sqrt", r"\,", r"\cdot", *"{}^,+-/&", r"\left\lfloor",
    r"\right\rfloor", r"\begin{cases}", r"\end{cases}", r"\\", r"\text{else}", *_RELATIONS,
}  # fmt: skip
_NUMBER = re.compile(r"\d+\.?\d*")


def _tokens(formula: str, names: Mapping[str, float]) -> list[str]:
    """What *formula* consists of: at every place the longest name or mark that stands there, or else a number."""
    known = {*names, *_FUNCTIONS, *_MARKS}
    lengths = sorted({*map(len, known)}, reverse=True)
    tokens, at = list[str](), 0
    while at < len(formula):
        found = next((formula[at : at + n] for n in lengths if formula[at : at + n] in known), None)
        if found is None:
            number = _NUMBER.match(formula, at)
            assert number, f"cannot read: {formula[at:]}"
            found = number[0]
        tokens.append(found)
        at += len(found)
        while formula[at : at + 1].isspace():
            at += 1
    return tokens


class _Reader:
    def __init__(self, formula: str, names: Mapping[str, float]) -> None:
        self.names = {r"\pi": math.pi, **names}
        self.tokens, self.at = _tokens(formula, self.names), 0

    def next(self, *expected: str) -> bool:
        """Step over the next token if it is one of those *expected*."""
        found = self.at < len(self.tokens) and self.tokens[self.at] in expected
        self.at += found
        return found

    def take(self, *expected: str) -> None:
        assert self.next(*expected), f"expected {expected}, found {self.tokens[self.at :]}"

    def sum(self) -> float:
        total = -self.product() if self.next("-") else self.product()
        while self.at < len(self.tokens) and self.tokens[self.at] in "+-":
            sign = -1 if self.tokens[self.at] == "-" else 1
            self.at += 1
            total += sign * self.product()
        return total

    def product(self) -> float:
        total = self.power()
        while self.at + 1 < len(self.tokens) and (sign := self.tokens[self.at]) in (r"\,", r"\cdot", "/"):
            self.at += 1
            total = total / self.power() if sign == "/" else total * self.power()
        return total

    def power(self) -> float:
        base = self.atom()
        return base ** self.group() if self.next("^") else base

    def group(self) -> float:
        self.take("{")
        inside = self.sum()
        self.take("}")
        return inside

    def atom(self) -> float:
        token = self.tokens[self.at]
        if token == "{":
            return self.group()
        self.at += 1
        if token in _FUNCTIONS:
            exponent = self.group() if self.next("^") else 1.0
            return float(_FUNCTIONS[token](*self.arguments())) ** exponent
        if token == r"\frac":
            return self.group() / self.group()
        if token == r"\sqrt":
            return math.sqrt(self.group())
        if token in (r"\left(", r"\left|"):
            inside = self.sum()
            self.take(token.replace("left", "right").replace("(", ")"))
            return abs(inside) if "|" in token else inside
        if token == r"\left\lfloor":
            inside = self.sum()
            self.take(r"\right\rfloor")
            return float(math.floor(inside))
        if token == r"\begin{cases}":
            return self.cases()
        return self.names[token] if token in self.names else float(token)

    def cases(self) -> float:
        """A value, its condition, and another value."""
        first = self.sum()
        self.take("&")
        left, relation = self.sum(), self.tokens[self.at]
        self.take(*_RELATIONS)
        holds = _RELATIONS[relation](left, self.sum())
        self.take(r"\\")
        other = self.sum()
        for mark in ("&", r"\text{else}", r"\end{cases}"):
            self.take(mark)
        return first if holds else other

    def arguments(self) -> list[float]:
        if not self.next(r"\left("):
            return [self.atom()]
        found = [self.sum()]
        while self.next(","):
            found.append(self.sum())
        self.take(r"\right)")
        return found
