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

_NEUTRAL = {int(Op.ADD): ZERO, int(Op.MUL): ONE}


def fold_constants(source: Graph, roots: Sequence[Ref], parameters: Collection[str], target: Graph) -> list[Ref]:
    """The *roots* of *source* rebuilt in *target* with the same values and no more operations on variables."""
    return _Folding.rebuilt(source, roots, parameters, target)


class _Folding(Rebuilding):
    """The sweep, with the constant part and the rest of sums and products that are nested in another one."""

    def __init__(self, source: Graph, target: Graph, user: dict[int, int], parameters: Collection[str]) -> None:
        super().__init__(source, target, user, parameters)
        self.parts: dict[int, tuple[Ref, Ref]] = {}

    def visit(self, i: int) -> None:
        op, a, b = self.source.op[i], self.source.lhs[i], self.source.rhs[i]
        if op not in _NEUTRAL:
            self.copy[i] = self.copied_call(op, a, b)
            return
        (c, x), (d, y) = self._split(a, op), self._split(b, op)
        together = self.constants.call(op, c, d), self.target.call(op, x, y)
        if self.user[i] == op:
            self.parts[i] = together
        else:
            self.copy[i] = self.target.call(op, *together)

    def _split(self, ref: Ref, op: int) -> tuple[Ref, Ref]:
        """The constant part of a term (or factor), and the rest."""
        i, neutral = ref >> 1, _NEUTRAL[op]
        if i in self.constants.nodes:
            return signed(self.copy[i], ref), neutral
        if i in self.parts:
            c, x = self.parts[i]
            return (signed(c, ref), signed(x, ref)) if op == Op.ADD else (c, signed(x, ref))
        return neutral, signed(self.copy[i], ref)
