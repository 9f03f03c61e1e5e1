"""Values of printed lines."""

from __future__ import annotations

import math
import re

from tests.notation.points_reader import with_values

NAMES = "sin cos tan sqrt exp log asin acos atan atan2 sinh cosh tanh"
FUNCTIONS = {n: getattr(math, n) for n in NAMES.split()}
FUNCTIONS |= {"max": max, "min": min, "abs": abs}
FUNCTIONS |= {"floor": math.floor, "chosen": lambda x, first, second: first if x else second}
FUNCTIONS |= {"sign": lambda x: (x > 0) - (x < 0), "step": lambda x: float(x > 0)}


def computed(line: str, scope: dict[str, float]) -> float:
    """The right side of *line*; the left side becomes known to *scope*. Of a condition it is 1 where this holds, else 0."""
    left, _, right = line.rpartition(" = ")
    scope[left] = _number(right, scope)
    return scope[left]


def _number(text: str, scope: dict[str, float]) -> float:
    right = with_values(text, "table", "(", ")", lambda part: _number(part, scope))
    name = re.compile(
        r"(?<![\w.])[^\W\d][\w.]*(?:\[(?:[^\[\]]|\[\d+\])*\][\w.]*)*'*(?<!\band)(?<!\bor)(?<!\bnot)(?!\w*\()"
    )
    python = name.sub(lambda m: f"known[{m[0]!r}]", right).replace("^", "**").replace("if(", "chosen(")
    return float(eval(python, {"__builtins__": {}, "known": {"pi": math.pi, **scope}, **FUNCTIONS}))
