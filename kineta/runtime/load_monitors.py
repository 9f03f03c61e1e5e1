"""Loads on contacts at rest as quadratures for error control: at rest alone, steps grow without bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kineta.algebra.expression import Expr
from kineta.expr.graph import Ref
from kineta.expr.op import Op
from kineta.expr.walk import reachable
from kineta.mechanics.derivation import Derivation
from kineta.model.reserved_symbols import TIME
from kineta.passes.substitute import substitute

#: Periodic operations.
PERIODIC = frozenset({Op.SIN, Op.COS, Op.TAN})


def monitored_loads(d: Derivation, acting: Mapping[str, Ref]) -> list[Ref]:
    """Explicitly time-dependent forces on the speeds, with the forces *acting*, and friction limits; and the sines of their
    periodic arguments, which also vary where the load is switched off. As quadratures they bound the step size by their rate
    of change.
    """
    g, s = d.graph, d.symbols
    bounds = [x for touch in d.contacts for x in (touch.bound, touch.static)]
    if not d.contacts or not _time_dependent(d, [*d["forward"].refs, *bounds, *acting.values()]):
        return []
    forces = [g.sub(tau, bias) for tau, bias in zip(s.tau, d["bias"].refs, strict=True)]
    found = [x for x in dict.fromkeys(substitute(g, [*forces, *bounds], acting)) if _time_dependent(d, [x])]
    alone = {TIME, *s.system.parameter_names}
    angles = (g.lhs[i] for i in reachable(g, found) if g.op[i] in PERIODIC)
    found += (
        g.sin(x) for x in dict.fromkeys(angles) if _time_dependent(d, [x]) and alone.issuperset(Expr(g, x).symbols())
    )
    return found


def _time_dependent(d: Derivation, refs: Sequence[Ref]) -> bool:
    """True where one of *refs* depends explicitly on the time."""
    return d.symbols.t >> 1 in reachable(d.graph, refs)
