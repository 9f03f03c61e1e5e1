"""Constraints as rows: gradient . vdot + rest = 0, and what has to vanish below that order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kineta.errors import ModelError
from kineta.expr.graph import ZERO, Ref
from kineta.formalism.elements import Elements
from kineta.formalism.symbols import Symbols
from kineta.model.constraint import Constraint


@dataclass(frozen=True, slots=True)
class Row:
    """A constraint f = 0 differentiated until the accelerations appear.

    order : highest derivative of the coordinates in f: 0 or 1
    levels : f, and df/dt where that is free of accelerations: what vanishes along the motion
    gradient : derivatives of the last level by the speeds, by place in v
    rest : its rate where the accelerations are zero
    """

    constraint: str
    order: int
    levels: tuple[Ref, ...]
    gradient: Mapping[int, Ref]
    rest: Ref

    def drive(self, symbols: Symbols) -> Ref:
        """Gradient . v: the rate at which a unit multiplier does work; zero for what neither moves nor pushes by itself."""
        g, last = symbols.graph, self.levels[-1]
        linear = not any(symbols.by_speed(partial) for partial in self.gradient.values())
        if linear and symbols.at_rest(last) == ZERO:
            return ZERO
        return g.sum(g.mul(partial, symbols.v[k]) for k, partial in self.gradient.items())


def rows(symbols: Symbols, elements: Elements) -> tuple[Row, ...]:
    """The rows of all constraints of the system."""
    return tuple(row(symbols, elements, c) for c in symbols.system.constraints)


def row(symbols: Symbols, elements: Elements, constraint: Constraint) -> Row:
    """The row of *constraint*. Raises :class:`ModelError` for one that no motion can change."""
    (f,) = elements.expression(constraint.value)
    if symbols.by_speed(f):
        levels: tuple[Ref, ...] = (f,)
    else:
        levels = (f, symbols.rates([f])[0])
    gradient = symbols.by_speed(levels[-1])
    if not gradient:
        raise ModelError(
            f"Constraint '{constraint.name}': expected an expression that changes with the motion, found '{constraint.value}'.",
            constraint.location,
        )
    return Row(constraint.name, 2 - len(levels), levels, gradient, symbols.rates([levels[-1]])[0])
