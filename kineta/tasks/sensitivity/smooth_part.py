"""Whether motions jump, and their equations without what may: contacts, limits, dry friction and switches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kineta.algebra.expression import Expr
from kineta.equations.equations import Equations, derive
from kineta.expr.walk import reachable
from kineta.model.name_inference import contact_rows
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.model.transformations.subset import without_parts
from kineta.passes.nonsmooth_operations import jumps
from kineta.records import dataclass


@dataclass(frozen=True)
class SmoothPart:
    """*equations* without the ``names`` of contacts, limits, dry friction and switches, and the symbols of their ``forces``."""

    equations: Equations
    names: tuple[str, ...]
    forces: Mapping[Expr | str, Expr | float | int]

    def plain(self, value: Expr) -> Expr:
        """Return *value* with zero forces."""
        return value.subs(self.forces) if self.forces else value


def smooth_part(equations: Equations) -> SmoothPart:
    """Return *equations* without contacts, limits, dry friction and switches."""
    system = equations.system
    names = tuple(c.name for c in (*system.contacts, *system.switches))
    if not names:
        return SmoothPart(equations, (), {})
    smooth = equations.memo(
        "without what acts in runs",
        lambda: derive(without_parts(system, names), equations.method, strategy=equations.strategy),
    )
    return SmoothPart(smooth, names, dict.fromkeys((f"{MULTIPLIER}{n}" for n in contact_rows(system)), 0.0))


def may_jump(equations: Equations, goals: Iterable[Expr] = ()) -> bool:
    """Return whether motions of *equations* may jump, or their accelerations, or *goals* to be integrated: at contacts, switches,
    or steps of forces or of rates of states.
    """
    if equations.system.contacts or equations.system.switches:
        return True
    if any(jumps(e.graph, i) for e in goals for i in reachable(e.graph, [e.ref])):
        return True
    return equations.memo("steps of forces", lambda: _steps(equations))


def _steps(equations: Equations) -> bool:
    with equations.shared() as d:
        refs = [*d["inverse"].refs, *(row.rest for row in d.rows), *d.symbols.qdot]
        return any(jumps(d.graph, i) for i in reachable(d.graph, refs))
