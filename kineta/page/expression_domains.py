"""Where the expressions of a model have values, as the page tells of a run that comes to an edge of it."""

from __future__ import annotations

from typing import Any

from kineta import tolerances
from kineta.consistency.definition_domain import DOMAIN_RULES, domain_conditions, operand_program
from kineta.equations.equations import Equations
from kineta.expr.op import Op
from kineta.expr.program import StraightLineProgram
from kineta.records import dataclass

#: Words for how far operands are from the edge, as :data:`~kineta.consistency.definition_domain.DOMAIN_RULES` have it.
_DISTANCES = {DOMAIN_RULES[Op.DIV].distance: "itself", DOMAIN_RULES[Op.ASIN].distance: "from one"}


@dataclass(frozen=True)
class ExpressionDomains:
    """A *program* from t, y = (q, v) and p to the values of operations and, behind each, of its operand with a condition.

    told : how near to the edge is at it, the spacing of numbers, and of each condition its operation and operand in words, what
        these need, with a slope too, whether that is finite, and how far a value is from the edge
    """

    program: StraightLineProgram
    told: dict[str, Any]


def domains(equations: Equations) -> ExpressionDomains:
    """The conditions of the operations of *equations*."""
    return equations.memo(ExpressionDomains, lambda: _domains(equations))


def _domains(equations: Equations) -> ExpressionDomains:
    moving = domain_conditions(equations.system)
    found = [*moving, *domain_conditions(equations.system, moving=False)]
    conditions = [
        {
            "operation": operation,
            "needs": need.rule.condition.format(operand),
            "inside": need.rule.inside.format(operand),
            "operand": operand,
            "steep": need.steep and k < len(moving),
            "distance": _DISTANCES.get(need.rule.distance, "cosine"),
        }
        for k, need in enumerate(found)
        for operation, operand in [need.words]
    ]
    told = {"near": tolerances.STALL_TOLERANCE, "eps": tolerances.EPS, "conditions": conditions}
    both = [e for need in found for e in (need.operation, need.operand)]
    return ExpressionDomains(operand_program(equations.alone(), both), told)
