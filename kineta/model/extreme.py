"""Numbers of a description that are too large or too small to calculate with, found when an equation does not come out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

from kineta.errors import ExpressionError
from kineta.expr.node import Expr
from kineta.expr.op import Op
from kineta.expr.text import number
from kineta.expr.walk import reachable
from kineta.model.check import CheckError, word
from kineta.model.mapped import mapped
from kineta.model.system import System

#: Powers of ten from which on a number is suspected: floating point holds a product of three such numbers, not of five.
_FAR = 70


@contextmanager
def blamed(system: System) -> Iterator[None]:
    """An expression made of *system* that is no finite number is said of the part of *system* with the number farthest from 1.

    Raises :class:`CheckError` for :class:`ExpressionError`, unless no number of the description is that far.
    """
    try:
        yield
    except ExpressionError as error:
        found = ((_distance(x), x, record) for record in _records(system) for x in _numbers(record))
        far, x, record = max(found, key=lambda f: f[0], default=(0.0, 1.0, None))
        if far < _FAR or record is None:
            raise
        size = "large" if abs(x) > 1 else "small"
        message = f"the number {number(x)} is too {size} to derive with: {error} Choose other units."
        raise CheckError(word(record), record.name, record.location, message) from None


def _records(system: System) -> Iterator[Any]:
    constants = (p for p in system.parameters if p.fixed)
    parts = (system.bodies, system.points, system.elements, system.constraints, system.quasi, system.outputs)
    return chain(constants, *parts, system.lets)


def _numbers(record: Any) -> list[float]:
    """The numbers in the expressions of *record*, and the value of a constant."""
    found: list[float] = []

    def look(expression: Expr) -> Expr:
        graph = expression.graph
        nodes = reachable(graph, [expression.ref])
        found.extend(graph.constants[graph.lhs[i]] for i in nodes if graph.op[i] == Op.CONST)
        return expression

    mapped(record, look)
    value = getattr(record, "value", None)
    return [*found, value] if isinstance(value, float) else found


def _distance(x: float) -> float:
    """How many powers of ten *x* is from 1."""
    return abs(math.log10(abs(x))) if x else 0.0
