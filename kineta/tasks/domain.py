"""Where the expressions of a model are defined, and how near to the edge of that a run has come."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.codegen import numpy as reference
from kineta.compiler import Equations
from kineta.expr.node import DESCRIPTIONS, Expr
from kineta.expr.op import Op
from kineta.expr.program import Program, program
from kineta.expr.walk import reachable
from kineta.formalism.derivation import Derivation
from kineta.model.infer import derivatives, described
from kineta.tasks.code import Bound
from kineta.tasks.forces import Forces

FloatArray = NDArray[np.float64]

#: How near, relative to the largest distance of the run, is at the edge.
EDGE = 1e-6


@dataclass(frozen=True, slots=True)
class Rule:
    """What an operation needs of one of its operands: a condition, and the distance from its edge, below zero beyond it or on
    the other side.
    """

    operand: int
    condition: str
    distance: Callable[[FloatArray], FloatArray]


def _itself(x: FloatArray) -> FloatArray:
    return x


def _from_one(x: FloatArray) -> FloatArray:
    return np.asarray(1 - np.abs(x))


#: The operations that are not defined, or not smooth, everywhere.
RULES: Mapping[int, Rule] = {
    Op.DIV: Rule(1, "{} != 0", _itself),
    Op.SQRT: Rule(0, "{} >= 0", _itself),
    Op.LOG: Rule(0, "{} > 0", _itself),
    Op.POW: Rule(0, "{} >= 0", _itself),
    Op.ASIN: Rule(0, "-1 <= {} <= 1", _from_one),
    Op.ACOS: Rule(0, "-1 <= {} <= 1", _from_one),
    Op.TAN: Rule(0, "cos({}) != 0", lambda x: np.asarray(np.cos(x))),
}


@dataclass(frozen=True, slots=True)
class Need:
    """An operation of a model, as the model writes it, and what it needs of its operand."""

    operation: Expr
    operand: Expr
    rule: Rule

    def sentence(self, value: float, t: float) -> str:
        """That the operand had this *value* at the time *t*."""
        return (
            f"'{self.operation!r}' needs {self.rule.condition.format(repr(self.operand))}, and {self.operand!r} = {value:.12g} "
            f"at t = {t:.9g} s"
        )


def needs(equations: Equations, forces: Forces) -> list[Need]:
    """What the description of a system and the *forces* on it need of coordinates, speeds and the time."""
    roots = [e.ref for e in (*described(equations.system.expanded), *forces.expressions.values())]
    fixed = {p.name for p in equations.system.parameters}
    found = []
    for i in reachable(DESCRIPTIONS, roots):
        rule = RULES.get(DESCRIPTIONS.op[i])
        if rule is not None:
            operand = Expr(DESCRIPTIONS, (DESCRIPTIONS.lhs, DESCRIPTIONS.rhs)[rule.operand][i])
            names = operand.symbols()
            if not (fixed.issuperset(names) or derivatives(equations.system, names) or any("(" in n for n in names)):
                found.append(Need(Expr(DESCRIPTIONS, 2 * i), operand, rule))
    return found


class Domain:
    """Watches how near the operands of :func:`needs` come to the edges of their domains in the steps of a run."""

    def __init__(self, equations: Equations, run: Bound) -> None:
        acting = tuple(run.forces.expressions.values())
        self.needs = equations.kept((Domain, acting), lambda: needs(equations, run.forces))
        if self.needs:
            key = ("domain", *(n.operand for n in self.needs))
            self._operands = equations.kept(
                key, lambda: reference.compile(operands_of(equations.alone(), [n.operand for n in self.needs]))
            )
        self._p, self._states = run.p, equations.system.nq + equations.system.nv
        m = len(self.needs)
        self._farthest = np.zeros(m)
        self._nearest = self._last = np.full((3, m), np.inf)  # distances, values, times
        self._before = np.empty((0, m))

    def look(self, t: FloatArray, y: FloatArray) -> None:
        """Watch the times *t* (k,) with the states *y* (k, n)."""
        if not self.needs:
            return
        values = self._operands(t[:, None], y[:, : self._states], self._p)
        signed = np.stack([n.rule.distance(x) for n, x in zip(self.needs, values.T, strict=True)], axis=1)
        distances = np.where(np.isfinite(signed), np.abs(signed), np.inf)
        self._farthest = np.maximum(
            self._farthest, np.max(distances, axis=0, where=np.isfinite(distances), initial=0.0)
        )
        before = np.vstack([self._before if len(self._before) else signed[:1], signed[:-1]])
        distances[signed * before < 0] = 0.0  # past the edge between two times
        rows = np.stack([distances, values, np.broadcast_to(t[:, None], values.shape)])
        nearest = np.take_along_axis(rows, distances.argmin(axis=0)[None, None], axis=1)[:, 0]
        self._nearest = np.where(nearest[0] < self._nearest[0], nearest, self._nearest)
        self._last, self._before = rows[:, -1], signed[-1:]

    def edge(self, *, last: bool) -> str:
        """Which operand came to the edge of its domain, when, and with what value; at the *last* of the times, or at any.
        ``""`` where none did.
        """
        distances, values, times = self._last if last else self._nearest
        relative = distances / np.maximum(self._farthest, 1e-300)
        if not len(relative) or relative.min() > EDGE:
            return ""
        i = int(relative.argmin())
        return self.needs[i].sentence(float(values[i]), float(times[i]))


def outside(equations: Equations, run: Bound, t: float, y: FloatArray) -> str:
    """The sentence on an operation that has no value in the state *y* at *t*, where its operand has one; ``''`` for none."""
    found = needs(equations, run.forces)
    if not found:
        return ""
    both = operands_of(equations.alone(), [e for need in found for e in (need.operation, need.operand)])
    values = reference.compile(both)(np.array([t]), y[: equations.system.nq + equations.system.nv], run.p)
    finite = np.isfinite(values.reshape(-1, 2))
    lost = np.flatnonzero(~finite[:, 0] & finite[:, 1])
    return found[lost[0]].sentence(float(values[2 * lost[0] + 1]), t) if len(lost) else ""


def operands_of(d: Derivation, operands: Sequence[Expr]) -> Program:
    """Parts of expressions of a model as functions of t, (q, v) and p."""
    symbols = d.symbols
    known = symbols.by_name
    simple = all(name in known for e in operands for name in e.symbols())
    refs = symbols.expression(*operands) if simple else d.expression(*operands)
    inputs = {"t": (symbols.t,), "y": (*symbols.q, *symbols.v), "p": symbols.p}
    return program(d.graph, inputs, {"operands": ((len(refs),), refs)}, "operands")
