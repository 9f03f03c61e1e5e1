"""Domain of definition of a model's expressions: conditions of operations on their operands."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import DESCRIPTIONS, Expr
from kineta.arrays import FloatArray
from kineta.codegen import numpy as reference
from kineta.consistency.derived_equations import Derived
from kineta.errors import excerpt
from kineta.expr.op import Op
from kineta.expr.program import StraightLineProgram, program
from kineta.expr.walk import reachable
from kineta.mechanics.derivation import Derivation
from kineta.model.name_inference import motion_expressions, response_symbols, speed_derivatives
from kineta.model.system import System
from kineta.model.vectors import part
from kineta.records import dataclass

#: Largest number of characters of an expression in a sentence.
SHOWN_LENGTH = 80


@dataclass(frozen=True, slots=True)
class DomainRule:
    """Condition of an operation on one operand, with the signed distance from the edge of the domain, of numbers and of
    expressions; and the condition ``inside`` of a finite slope where the slope is infinite at the edge.
    """

    operand: int
    condition: str
    distance: Callable[[Any], Any]
    inside: str = ""


def _itself(x: Any) -> Any:
    return x


def _from_one(x: Any) -> Any:
    return 1 - abs(x)


#: Operations with a restricted domain of definition or smoothness.
DOMAIN_RULES: Mapping[int, DomainRule] = {
    Op.DIV: DomainRule(1, "{} != 0", _itself),
    Op.SQRT: DomainRule(0, "{} >= 0", _itself, "{} > 0"),
    Op.LOG: DomainRule(0, "{} > 0", _itself),
    Op.POW: DomainRule(0, "{} >= 0", _itself, "{} > 0"),
    Op.ASIN: DomainRule(0, "-1 <= {} <= 1", _from_one, "-1 < {} < 1"),
    Op.ACOS: DomainRule(0, "-1 <= {} <= 1", _from_one, "-1 < {} < 1"),
    Op.TAN: DomainRule(0, "cos({}) != 0", np.cos),
}
#: That of a division by a root, on what stands under the root.
BELOW_ROOT = DomainRule(0, "{} > 0", _itself)


@dataclass(frozen=True, slots=True)
class DomainCondition:
    """Operation of a model, in the model's notation, and the condition on its operand."""

    operation: Expr
    operand: Expr
    rule: DomainRule

    @property
    def steep(self) -> bool:
        """True where the slope of the operation is infinite at the edge of its domain."""
        g, i = self.operation.graph, self.operation.ref >> 1
        power = g.value(g.rhs[i]) if g.op[i] == Op.POW else 0.5
        return bool(self.rule.inside) and power is not None and power < 1

    @property
    def words(self) -> tuple[str, str]:
        """The operation and the operand as sentences have them."""
        operation, operand = (
            x if len(x) <= SHOWN_LENGTH else f"{x[:SHOWN_LENGTH]} ..."
            for x in map(repr, (self.operation, self.operand))
        )
        return operation, operand

    def sentence(self, value: float, t: float, *, slope: bool = False, whose: str = "") -> str:
        """Sentence on an operand of this *value* at the time *t*, for which the operation has no value, or no *slope*; *whose*
        are words on what has it.
        """
        operation, operand = self.words
        # A power with a negative exponent has no value at the edge itself.
        strict = slope or (bool(self.rule.inside) and self.rule.distance(value) == 0)
        condition = (self.rule.inside if strict else self.rule.condition).format(operand)
        return f"'{operation}'{whose} needs {condition}{' for its slope' * slope}, and {operand} = {value:.12g} at t = {t:.9g} s"


def domain_conditions(system: System, acting: Sequence[Expr] = (), *, moving: bool = True) -> list[DomainCondition]:
    """Domain conditions of a *system* and the forces *acting* on it that depend on the state or the time; with *moving* False,
    on parameters alone.
    """
    roots = [e.ref for e in (*motion_expressions(system.expanded), *acting)]
    fixed = {p.name for p in system.parameters}
    found, seen, g = [], reachable(DESCRIPTIONS, roots), DESCRIPTIONS
    divided = {g.rhs[i] >> 1 for i in seen if g.op[i] == Op.DIV and g.op[g.rhs[i] >> 1] == Op.SQRT}
    for i in seen:
        rule = DOMAIN_RULES.get(g.op[i])
        if rule is None or i in divided:
            continue
        operand = Expr(g, (g.lhs, g.rhs)[rule.operand][i])
        if operand.ref >> 1 in divided:
            rule, operand = BELOW_ROOT, Expr(g, g.lhs[operand.ref >> 1])
        operation = Expr(g, 2 * i)
        if not _needs_response(system, operation.symbols()) and fixed.issuperset(operand.symbols()) != moving:
            found.append(DomainCondition(operation, operand, rule))
    return found


def _needs_response(system: System, names: Collection[str]) -> bool:
    """Whether accelerations or multipliers are among *names*, or parts of vectors that are unknown or none of the state."""
    parts = [part(n) for n in names if "(" in n]
    return bool(
        response_symbols(system, names)
        or speed_derivatives(system, names)
        or any(x is None or x.order > 1 for x in parts)
    )


def domain_violation(equations: Derived, p: FloatArray, t: float, y: FloatArray, acting: Sequence[Expr] = ()) -> str:
    """Sentence on an operation without a value, or without a slope, in the state *y* at *t*, whose operand has a value; ``''``
    for none. *acting* are forces in addition to the model's.
    """
    known = domain_conditions(equations.system, acting)
    found = [*known, *domain_conditions(equations.system, acting, moving=False)]
    if not found:
        return ""
    y = y[: equations.system.nq + equations.system.nv]
    both = operand_values(equations, tuple(e for need in found for e in (need.operation, need.operand)))
    values, operands = both(np.array([t]), y, p).reshape(-1, 2).T
    for need, value, operand in zip(found, values, operands, strict=True):
        if np.isfinite(operand) and not np.isfinite(value):
            return need.sentence(float(operand), t, whose=_whose(equations.system, need.operation))
    for need, operand in zip(known, operands, strict=False):
        if need.steep and abs(need.rule.distance(operand)) <= edge_tolerance(y):
            return need.sentence(float(operand), t, slope=True, whose=_whose(equations.system, need.operation))
    return ""


def _whose(system: System, operation: Expr) -> str:
    """Words on the first force, or the first-order state, of *system* with the *operation* in it, and its place in the text."""
    expanded = system.expanded
    records = [(e.name, e.location, e.expressions) for e in expanded.elements]
    records += [(s.name, s.location, (s.rate,)) for s in expanded.states]
    for name, location, own in records:
        if operation.ref >> 1 in reachable(DESCRIPTIONS, [e.ref for e in own]):
            return f" of '{name}'{f' ({location})' if location else ''}"
    return ""


def edge_tolerance(y: FloatArray) -> Any:
    """Distance from the edge of a domain within which states *y* (..., n) lie on it, up to rounding."""
    return 4 * tolerances.EPS * np.maximum(1.0, np.abs(y).max(axis=-1, initial=0.0))


def position_text(system: System, q: FloatArray) -> str:
    """Coordinates *q* in words."""
    return excerpt(f"{n} = {x:.4g}" for n, x in zip(system.q_names, q.tolist(), strict=True))


def operand_values(equations: Derived, operands: tuple[Expr, ...]) -> reference.Function:
    """The *operands*, expressions of a model, as a function of t, (q, v) and p; memoised."""
    return equations.bounded_memo(
        (operand_values, operands), lambda: reference.compile(operand_program(equations.alone(), operands))
    )


def operand_program(d: Derivation, operands: Sequence[Expr]) -> StraightLineProgram:
    """The program from t, the state y = (q, v) and the parameters p to the values of *operands*, expressions of a model."""
    symbols = d.symbols
    known = symbols.by_name
    simple = all(name in known for e in operands for name in e.symbols())
    refs = symbols.expression(*operands) if simple else d.expression(*operands)
    inputs = {"t": (symbols.t,), "y": (*symbols.q, *symbols.v), "p": symbols.p}
    return program(d.graph, inputs, {"operands": ((len(refs),), refs)}, "operands")
