"""What parameters may be in a page, as ``simulate`` checks them: signs of masses and moments of inertia, and bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from kineta import tolerances
from kineta.equations.equations import Equations
from kineta.expr.program import StraightLineProgram, program
from kineta.mechanics.derivation import Derivation
from kineta.model.body import Body
from kineta.model.description import word
from kineta.records import dataclass


@dataclass(frozen=True)
class ParameterLimits:
    """A *program* from the parameters p to the ``limits``, and what they are: of each inertia the mass, the moments and the
    products (7), then values with bounds.
    """

    program: StraightLineProgram
    told: dict[str, Any]


def limits(equations: Equations) -> ParameterLimits:
    """The limits of the parameters of *equations*."""
    return equations.memo(ParameterLimits, lambda: _limits(equations.alone()))


def _limits(d: Derivation) -> ParameterLimits:
    s, system = d.symbols, d.symbols.system
    bodies: Sequence[Body] = [*dict.fromkeys(b for found in system.weighed.values() for b in found)]
    entries = [e for b in bodies for e in (b.inertia.mass, *b.inertia.moments, *b.inertia.products)]
    refs = s.expression(*entries, *(bound.value for _, bound in system.bounded))
    told = {
        "bodies": [{"name": b.name, "signs": not b.inertia.unchecked, "whole": _is_whole(b)} for b in bodies],
        "slack": tolerances.INERTIA_TOLERANCE,
        "bounds": [
            {
                "of": f"{word(record)} '{record.name}'",
                "positive": bound.positive,
                "most": bound.most if bound.most < math.inf else None,
                "text": bound.broken(math.nan),
            }
            for record, bound in system.bounded
        ],
    }
    return ParameterLimits(program(d.graph, {"p": s.p}, {"limits": ((len(refs),), refs)}, "limits"), told)


def _is_whole(body: Body) -> bool:
    """Whether all moments of inertia of a body are given, so that they have to be those of a body."""
    own = body.inertia
    return not (own.unchecked or own.lumped) and all(x.value != 0 for x in own.moments)
