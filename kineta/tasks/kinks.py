"""Kinks and steps in the ground of contacts and in what limits hold: what touches there has no way on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import numpy as reference
from kineta.compiler import Equations
from kineta.expr.node import DESCRIPTIONS, Expr
from kineta.expr.op import Op
from kineta.expr.walk import reachable
from kineta.model.contacts.contact import Contact
from kineta.model.contacts.friction import Friction
from kineta.model.system import System
from kineta.tasks.domain import EDGE, operands_of

FloatArray = NDArray[np.float64]

#: Operations with a kink or a step, and what is zero there.
KINKS: Mapping[int, Callable[[Expr, Expr], Expr]] = {
    **dict.fromkeys((Op.ABS, Op.SIGN, Op.STEP), lambda a, b: a),
    **dict.fromkeys((Op.MIN, Op.MAX), lambda a, b: a - b),
}


def kink(equations: Equations, p: FloatArray, t: float, y: FloatArray) -> str:
    """The sentence on the kink or step of a contact or limit at which the state *y* is at *t*; ``''`` where it is at none."""
    found = list(_kinks(equations.system.expanded))
    if not found:
        return ""
    zeros = tuple(zero for _, _, zero in found)
    values = equations.kept(("kinks", zeros), lambda: reference.compile(operands_of(equations.alone(), zeros)))
    n = equations.system.nq + equations.system.nv
    off = np.abs(values(np.array([t]), y[:n], p))
    if not off.min() <= EDGE * max(1.0, float(np.abs(y[:n]).max())):
        return ""
    name, operation, _ = found[int(off.argmin())]
    return (
        f"'{name}' has a kink or a step there, '{operation!r}', at which what touches it can neither go on nor strike; "
        "make it smooth over a short length"
    )


def _kinks(system: System) -> Iterator[tuple[str, Expr, Expr]]:
    """What has kinks: the name of its contact or limit, the operation, and what is zero at the kink."""
    g, fixed = DESCRIPTIONS, {p.name for p in system.parameters}
    for record in system.contacts:
        if isinstance(record, Friction):
            continue
        given = (record.height,) if isinstance(record, Contact) else (record.value, record.lower, record.upper)
        for i in reachable(g, [e.ref for e in given if e is not None]):
            if g.op[i] in KINKS:
                zero = KINKS[g.op[i]](Expr(g, g.lhs[i]), Expr(g, g.rhs[i]))
                if not fixed.issuperset(zero.symbols()):
                    yield record.name, Expr(g, 2 * i), zero
