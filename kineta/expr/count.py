"""Operation counts in the convention of the literature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from kineta.expr.op import Op
from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class Operations:
    """Operations of one evaluation.

    A repeated sub-expression counts once; changes of sign, factors +-1 and guards of divisors are free. ``trig`` counts
    sines, cosines and all other elementary functions. ``hoisted`` counts work that depends on parameters only: it is done
    once per set of parameters and is not part of the other counts.
    """

    add: int = 0
    mul: int = 0
    div: int = 0
    sqrt: int = 0
    trig: int = 0
    hoisted: int = 0

    @property
    def total(self) -> int:
        """Add + mul + div, the count quoted in the literature."""
        return self.add + self.mul + self.div

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __str__(self) -> str:
        rest = "".join(f" + {n} {name}" for name, n in (("div", self.div), ("sqrt", self.sqrt)) if n)
        return f"{self.add} add + {self.mul} mul{rest} + {self.trig} trig ({self.hoisted} hoisted)"


_FIELD: dict[int, str] = {Op.ADD: "add", Op.MUL: "mul", Op.DIV: "div", Op.SQRT: "sqrt"}


def count(ops: Iterable[int], hoisted: int = 0) -> Operations:
    """Counts of a list of operations, without leaves."""
    totals: dict[str, Any] = {"add": 0, "mul": 0, "div": 0, "sqrt": 0, "trig": 0, "hoisted": hoisted}
    for op, times in Counter(ops).items():
        if op > Op.SYMBOL and op != Op.GUARD:
            totals[_FIELD.get(op, "trig")] += times
    return Operations(**totals)
