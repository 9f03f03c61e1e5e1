"""Kinks and steps: nonsmooth operations and their switching functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import Op
from kineta.expr.walk import reachable

_ZEROS: Mapping[int, Callable[[Graph, Ref, Ref], Ref]] = {
    **dict.fromkeys((Op.ABS, Op.SIGN, Op.STEP), lambda g, a, b: a),
    **dict.fromkeys((Op.MIN, Op.MAX), lambda g, a, b: g.sub(a, b)),
    Op.FLOOR: lambda g, a, b: g.sin(g.mul(g.const(math.pi), a)),
}


def kinks(g: Graph, refs: Iterable[Ref], *, guarding: bool = True) -> Iterator[tuple[Ref, Ref]]:
    """The nonsmooth operations of *refs*, each with its switching function; with *guarding*, those inside conditions of
    guards, too.
    """
    for i in reachable(g, refs, guarding=guarding):
        if g.op[i] in _ZEROS:
            yield 2 * i, _ZEROS[g.op[i]](g, g.lhs[i], g.rhs[i])
