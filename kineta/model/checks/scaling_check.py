"""Numbers of a description that are too large, too small or too far apart to calculate with, found when equations fail."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

from kineta.algebra.expression import Expr, expr
from kineta.algebra.infix import number
from kineta.errors import ExpressionError
from kineta.expr.op import Op
from kineta.expr.walk import reachable
from kineta.model.checks.diagnostics import CheckError
from kineta.model.description import word
from kineta.model.named_expressions import substitute_names
from kineta.model.system import System
from kineta.model.transformations.mapping import map_expressions
from kineta.passes.evaluate import evaluate

#: Ratio of masses, or of moments of inertia, above which the smaller are lost in rounding.
_APART = 1e11
#: Powers of ten from which on a number is suspected: floating point holds a product of three such numbers, not of five.
_FAR = 70


@contextmanager
def scaling_diagnosis(system: System) -> Iterator[None]:
    """Attribution of what has no value in *system* to the record that has none for its constants, or else to that with the
    number farthest from 1.

    Raises :class:`CheckError` for :class:`ExpressionError`, unless no number of the description is that far.
    """
    try:
        yield
    except ExpressionError as error:
        constants = {p.name: expr(p.value) for p in system.parameters if p.fixed and p.value is not None}
        map_expressions(tuple(_records(system)), partial(substitute_names, constants))
        try:
            map_expressions(system.gravity, partial(substitute_names, constants))
        except ExpressionError as fault:
            raise CheckError("Model", system.name, None, f"gravity: {fault}", part="gravity") from None
        found = ((_distance(x), x, record) for record in _records(system) for x in _numbers(record))
        far, x, record = max(found, key=lambda f: f[0], default=(0.0, 1.0, None))
        if far < _FAR or record is None:
            raise
        size = "large" if abs(x) > 1 else "small"
        message = f"the number {number(x)} is too {size} to derive with: {error} Choose other units."
        raise CheckError(word(record), record.name, record.location, message) from None


def _records(system: System) -> Iterator[Any]:
    constants = (p for p in system.parameters if p.fixed)
    acting = (system.elements, system.constraints, system.contacts, system.switches, system.quasi, system.programs)
    return chain(constants, system.bodies, system.points, *acting, system.states, system.outputs, system.lets)


def _numbers(record: Any) -> list[float]:
    """The numbers in the expressions of *record*, and the value of a constant."""
    found: list[float] = []

    def look(expression: Expr) -> Expr:
        graph = expression.graph
        nodes = reachable(graph, [expression.ref])
        found.extend(graph.constants[graph.lhs[i]] for i in nodes if graph.op[i] == Op.CONST)
        return expression

    map_expressions(record, look)
    value = getattr(record, "value", None)
    return [*found, value] if isinstance(value, float) else found


def _distance(x: float) -> float:
    """How many powers of ten *x* is from 1."""
    return abs(math.log10(abs(x))) if x else 0.0


def mass_spread(system: System, values: Mapping[str, float]) -> str:
    """Sentence on masses or moments of inertia too far apart at these *values* of parameters; else ``''``."""
    own = [body.inertia for body in system.expanded.bodies]
    for what, unit, entries in (
        ("masses", "kg", [i.mass for i in own]),
        ("moments of inertia", "kg m^2", [m for i in own for m in i.moments]),
    ):
        try:
            sizes = sorted(x for e in entries for x in evaluate(e.graph, [e.ref], values) if x > 0)
        except ExpressionError:  # some parameter has no value
            continue
        if sizes and sizes[-1] > _APART * sizes[0]:
            return (
                f"The {what} lie between {sizes[0]:.3g} and {sizes[-1]:.3g} {unit}, and beside the largest the smallest are "
                "lost in rounding: let heavy bodies carry light ones, or choose values that differ less"
            )
    return ""
