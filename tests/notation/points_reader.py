"""Values of the tables in printed formulas."""

from __future__ import annotations

import re
from collections.abc import Callable

import kineta as kn
from kineta.expr.tables import KINDS
from kineta.passes.evaluate import evaluate

_X, _Y = kn.symbols("x y")


def with_values(formula: str, head: str, left: str, right: str, number: Callable[[str], float]) -> str:
    """*formula* with the values of tables in their place. A table is a *head* with primes and what stands between *left* and
    *right*, whose parts are read by *number*.
    """
    begin = re.compile(rf"(?<![\w.]){re.escape(head)}('*){re.escape(left)}")
    while (found := max(begin.finditer(formula), key=lambda m: m.start(), default=None)) is not None:
        depth, end = 1, found.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(formula[end], 0)
            end += 1
        inside = formula[found.end() : end - len(right)]
        value = _value(inside, len(found[1]), left, right, number)
        formula = f"{formula[: found.start()]}{left}{value:.20f}{right}{formula[end:]}"
    return formula


def _value(inside: str, order: int, left: str, right: str, number: Callable[[str], float]) -> float:
    quantities, *words, points = _parts(inside, ";")
    said = re.findall(r"[a-z]+", " ".join(words).replace(r"\text", ""))
    rows = [[number(v) for v in _parts(row.removeprefix(left).removesuffix(right), ",")] for row in _parts(points, ",")]
    at = [number(v) for v in _parts(quantities, ",")]
    kind = next((w for w in said if w in KINDS), "linear")
    outside = "extrapolate" if "extrapolate" in said else "hold"
    found = kn.table(_X if len(at) == 1 else (_X, _Y), rows, kind, periodic="periodic" in said, outside=outside)
    for _ in range(order):
        found = found.diff(_X)
    return float(evaluate(found.graph, [found.ref], dict(zip("xy", at, strict=False)))[0])


def _parts(text: str, sign: str) -> list[str]:
    """Parts of *text* between signs that stand in no brackets."""
    found, depth = [""], 0
    for c in text:
        depth += {"(": 1, "{": 1, ")": -1, "}": -1}.get(c, 0)
        if c == sign and not depth and not found[-1].endswith("\\"):  # a small space is no comma
            found.append("")
        else:
            found[-1] += c
    return [part.strip().removeprefix("\\ ").strip() for part in found]
