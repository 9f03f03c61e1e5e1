"""Kinks and steps: nonsmooth operations and their switching functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from kineta.expr import tables
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import Op
from kineta.expr.walk import reachable

_ZEROS: Mapping[int, Callable[[Graph, Ref, Ref], Ref | None]] = {
    **dict.fromkeys((Op.ABS, Op.SIGN, Op.STEP), lambda g, a, b: a),
    **dict.fromkeys((Op.MIN, Op.MAX), lambda g, a, b: g.sub(a, b)),
    Op.TABLE: tables.bend,
    Op.FLOOR: lambda g, a, b: g.sin(g.mul(g.const(math.pi), a)),
}


def kinks(g: Graph, refs: Iterable[Ref], *, guarding: bool = True) -> Iterator[tuple[Ref, Ref]]:
    """The nonsmooth operations of *refs*, each with its switching function; with *guarding*, those inside conditions of
    guards, too.
    """
    for i in reachable(g, refs, guarding=guarding):
        if g.op[i] in _ZEROS and (zero := _ZEROS[g.op[i]](g, g.lhs[i], g.rhs[i])) is not None:
            yield 2 * i, zero


def jumps(g: Graph, i: int) -> bool:
    """Whether the operation *i* jumps where its switching function vanishes, or is a table that bends there."""
    return g.op[i] in _STEPS or (g.op[i] == Op.TABLE and tables.bends(g, g.rhs[i]))


_STEPS = frozenset({Op.SIGN, Op.STEP, Op.FLOOR})
