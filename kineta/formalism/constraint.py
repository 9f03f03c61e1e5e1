"""Constraints as rows: gradient . vdot + rest = 0, and what has to vanish below that order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from random import Random

from kineta.errors import ExpressionError, Location, ModelError
from kineta.expr.graph import ZERO, Graph, Ref
from kineta.formalism.closures import RESIDUALS
from kineta.formalism.elements import Elements
from kineta.formalism.rank import dependent, matrix, random_state
from kineta.formalism.symbols import Symbols
from kineta.model.constraints import Condition, kind_of
from kineta.model.constraints.plain import Constraint
from kineta.model.system import System
from kineta.passes.evaluate import evaluate
from kineta.passes.magnitude import magnitude

#: Part of its terms below which a residual comes from rounding.
ROUNDING = 1e-12

#: Values of symbols by name.
State = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Row:
    """A component f = 0 of a constraint, differentiated until the accelerations appear.

    constraint : its name, ``E.x`` for the component x of E
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
    location: Location | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the levels: ``E.x``, ``E.x'``."""
        return tuple(self.constraint + "'" * k for k in range(len(self.levels)))

    def pulled(self, graph: Graph, rate: float) -> Row:
        """The row whose highest derivatives go back to the constraint where it is not met: f'' + 2 a f' + a^2 f = 0 or
        f' + a f = 0 with the *rate* a (Baumgarte).
        """
        n = len(self.levels)
        if not rate or not n:
            return self
        weights = (comb(n, i) * rate ** (n - i) for i in range(n))
        terms = (graph.mul(graph.const(w), level) for w, level in zip(weights, self.levels, strict=True))
        return replace(self, rest=graph.sum([self.rest, *terms]))

    def linear(self, symbols: Symbols) -> bool:
        """Whether the last level is linear in the speeds."""
        return not any(symbols.by_speed(partial) for partial in self.gradient.values())

    def drive(self, symbols: Symbols) -> Ref:
        """Gradient . v: the rate at which a unit multiplier does work; zero for what neither moves nor pushes by itself."""
        g, last = symbols.graph, self.levels[-1]
        if self.linear(symbols) and symbols.at_rest(last) == ZERO:
            return ZERO
        return g.sum(g.mul(partial, symbols.v[k]) for k, partial in self.gradient.items())


def rows(symbols: Symbols, elements: Elements, conditions: Sequence[Condition]) -> tuple[Row, ...]:
    """The rows of *conditions*. Raises :class:`ModelError` for one that no motion can change."""
    states = [anywhere(symbols, seed) for seed in range(2)] if conditions else []
    return tuple(row for condition in conditions for row in _rows(symbols, elements, condition, states))


def check_independent(symbols: Symbols, kept: Sequence[Row]) -> None:
    """Raise :class:`ModelError` where the rows *kept* depend on each other at all of a few random states."""
    gradients = [r.gradient for r in kept]
    refs = [ref for gradient in gradients for ref in gradient.values()]
    found: list[int] = []
    for seed in range(3 * bool(kept)):
        state = random_state(symbols.system, symbols.graph, refs, seed)
        found = dependent(matrix(symbols.graph, gradients, len(symbols.v), state))
        if not found:
            return
    if found:
        raise repeated(symbols.system, [kept[k] for k in found])


def repeated(system: System, kept: Sequence[Row]) -> ModelError:
    """What to say of rows of which the last binds what the others bind already."""
    *others, last = (f"'{r.constraint}'" for r in kept)
    kind, advice = "constraint", f"Leave it out. In Python, equations.without([{last}]) does so."
    if kept[-1].constraint in {program.name for program in system.programs}:
        kind, advice = "program", "Leave one of them out."
    return ModelError(
        f"Model '{system.name}': the {kind} {last} binds only what {', '.join(others)} binds already: it says the same, or "
        f"contradicts. {advice}",
        kept[-1].location,
    )


def _rows(symbols: Symbols, elements: Elements, condition: Condition, states: Sequence[State]) -> Iterator[Row]:
    """The components of *condition* but for those that are zero at all *states*: in a plane a hinge closes two directions."""
    components = RESIDUALS[type(condition)](elements, condition)
    kept = {name: f for name, f in components.items() if not vanishes(symbols.graph, f, states)}
    if not kept:
        raise _fault(condition, "the motions of the model keep it in any position. Leave it out.")
    for name, f in kept.items():
        row = row_of(symbols, f"{condition.name}.{name}" if name else condition.name, f, condition.location)
        if not row.gradient:
            raise _fault(condition, _still(condition, name, symbols.graph.value(f)))
        yield row


def _still(condition: Condition, component: str, offset: float | None) -> str:
    """What to say of a component that no motion changes, with its value where that is a number."""
    if isinstance(condition, Constraint):
        return f"expected an expression that changes with the motion, found '{condition.value}'."
    by = "" if offset is None else f", which stays {offset:g} instead of 0"
    return f"no motion changes its component {component or condition.name}{by}. Give places that agree in it."


def _fault(condition: Condition, text: str) -> ModelError:
    return ModelError(f"{kind_of(condition).word.capitalize()} '{condition.name}': {text}", condition.location)


def vanishes(graph: Graph, f: Ref, states: Sequence[State]) -> bool:
    """Whether *f* is but rounding errors at all *states*; not where it has no value."""
    (size,) = magnitude(graph, [f])
    try:
        values = [evaluate(graph, [f, size], state) for state in states]
    except ExpressionError:
        return False
    return all(abs(value) <= ROUNDING * max(1.0, bound) for value, bound in values)


def row_of(symbols: Symbols, name: str, f: Ref, location: Location | None = None, order: int | None = None) -> Row:
    """The row of *f* = 0, of the *order* of *f*, which is looked up where it is not given."""
    if order is None:
        order = 1 if symbols.by_speed(f) else 0
    levels: tuple[Ref, ...] = (f,) if order else (f, symbols.rates([f])[0])
    gradient = symbols.by_speed(levels[-1])
    return Row(name, order, levels, gradient, symbols.rates([levels[-1]])[0], location)


def anywhere(symbols: Symbols, seed: int) -> State:
    """A random state with other values of the parameters that may change: what vanishes there vanishes for all of them."""
    chance, names = Random(seed), (*symbols.names, *symbols.system.parameter_names)
    state = random_state(symbols.system, symbols.graph, (), seed)
    return {**state, **{name: chance.uniform(0.5, 1.5) for name in names}}
