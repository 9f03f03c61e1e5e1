"""Grouping of constant parts of sums and products: (a x) b is (a b) x for a and b that depend on parameters only.

Grouped constants are hoisted or folded. Only sums and products without other users are taken apart, so no operation is
added.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import Op
from kineta.expr.walk import reachable, users
from kineta.passes.linear_forms import Constants
from kineta.passes.substitute import signed

_NEUTRAL = {int(Op.ADD): ZERO, int(Op.MUL): ONE}


def fold_constants(source: Graph, roots: Sequence[Ref], parameters: Collection[str], target: Graph) -> list[Ref]:
    """The *roots* of *source* rebuilt in *target* with the same values and no more operations on variables."""
    order = reachable(source, roots)
    user = users(source, order, roots)
    constants = Constants(source, target, parameters)
    copy = constants.copy
    parts: dict[int, tuple[Ref, Ref]] = {}  # of a nested sum or product: its constant part and the rest
    for i in order:
        if constants.copied(i):
            continue
        op, a, b = source.op[i], source.lhs[i], source.rhs[i]
        if op in _NEUTRAL:
            neutral = _NEUTRAL[op]
            (c, x), (d, y) = (_split(r, op, neutral, constants, parts) for r in (a, b))
            together = constants.call(op, c, d), target.call(op, x, y)
            if user[i] == op:
                parts[i] = together
            else:
                copy[i] = target.call(op, *together)
        else:
            copy[i] = target.call(op, signed(copy[a >> 1], a), signed(copy[b >> 1], b))
    return [signed(copy[r >> 1], r) for r in roots]


def _split(ref: Ref, op: int, neutral: Ref, constants: Constants, parts: dict[int, tuple[Ref, Ref]]) -> tuple[Ref, Ref]:
    """The constant part of a term (or factor), and the rest."""
    i = ref >> 1
    if i in constants.nodes:
        return signed(constants.copy[i], ref), neutral
    if i in parts:
        c, x = parts[i]
        return (signed(c, ref), signed(x, ref)) if op == Op.ADD else (c, signed(x, ref))
    return neutral, signed(constants.copy[i], ref)
