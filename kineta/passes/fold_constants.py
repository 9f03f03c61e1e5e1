"""Grouping of constant parts of sums and products: (a x) b is (a b) x for a and b that depend on parameters only.

Grouped constants are hoisted or folded. Only sums and products without other users are taken apart, so no operation is
added.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import Op
from kineta.passes.linear_forms import Rebuilding
from kineta.passes.substitute import signed

_ADD, _MUL = int(Op.ADD), int(Op.MUL)


def fold_constants(source: Graph, roots: Sequence[Ref], parameters: Collection[str], target: Graph) -> list[Ref]:
    """The *roots* of *source* rebuilt in *target* with the same values and no more operations on variables."""
    sweep = Rebuilding(source, roots, parameters, target)
    copy, constant, user, grouped = sweep.copy, sweep.constant, sweep.user, sweep.constants.call
    parts: dict[int, tuple[Ref, Ref]] = {}  # of sums and products nested in another one: the constant part and the rest
    for i, op, a, b in sweep.operations():
        if op == _ADD:
            joined, neutral = target.add, ZERO
        elif op == _MUL:
            joined, neutral = target.mul, ONE
        else:
            copy[i] = sweep.call(op, a, b)
            continue
        if a >> 1 in parts:
            c, x = parts[a >> 1]
            c, x = signed(c, a) if op == _ADD else c, signed(x, a)
        elif constant[a >> 1]:
            c, x = signed(copy[a >> 1], a), neutral
        else:
            c, x = neutral, signed(copy[a >> 1], a)
        if b >> 1 in parts:
            d, y = parts[b >> 1]
            d, y = signed(d, b) if op == _ADD else d, signed(y, b)
        elif constant[b >> 1]:
            d, y = signed(copy[b >> 1], b), neutral
        else:
            d, y = neutral, signed(copy[b >> 1], b)
        together = d if c == neutral else c if d == neutral else grouped(op, c, d)
        rest = joined(x, y)
        if user[i] == op:
            parts[i] = together, rest
        else:
            copy[i] = rest if together == neutral else joined(together, rest)
    return sweep.rebuilt()
