"""The loads on what rests, for the steps of a run to see: what does not move lets steps grow without end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.expr.graph import Ref
from kineta.expr.node import Expr
from kineta.expr.op import Op
from kineta.expr.walk import reachable
from kineta.formalism.derivation import Derivation
from kineta.model.infer import TIME
from kineta.passes.substitute import substitute

#: What comes again and again as its argument grows.
PERIODIC = frozenset({Op.SIN, Op.COS, Op.TAN})


def loads(d: Derivation, acting: Mapping[str, Ref]) -> list[Ref]:
    """What the time changes by itself of the forces on speeds, with those *acting*, and of bounds of friction; and the sines of
    the time in these, which go on where a load that they switch is none. Integrated beside a motion they make its steps as short
    as they change.
    """
    g, s = d.graph, d.symbols
    bounds = [x for touch in d.touches for x in (touch.bound, touch.static)]
    if not d.touches or not _timed(d, [*d["forward"].refs, *bounds, *acting.values()]):
        return []
    forces = [g.sub(tau, bias) for tau, bias in zip(s.tau, d["bias"].refs, strict=True)]
    found = [x for x in dict.fromkeys(substitute(g, [*forces, *bounds], acting)) if _timed(d, [x])]
    alone = {TIME, *s.system.parameter_names}
    angles = (g.lhs[i] for i in reachable(g, found) if g.op[i] in PERIODIC)
    found += (g.sin(x) for x in dict.fromkeys(angles) if _timed(d, [x]) and alone.issuperset(Expr(g, x).symbols()))
    return found


def _timed(d: Derivation, refs: Sequence[Ref]) -> bool:
    """Whether the time itself changes one of *refs*."""
    return d.symbols.t >> 1 in reachable(d.graph, refs)
