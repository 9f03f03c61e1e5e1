"""Constraints as rows gradient . vdot + rest = 0, with the residuals of lower order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import comb
from random import Random

from kineta import tolerances
from kineta.errors import ExpressionError, Location, ModelError
from kineta.expr.graph import ZERO, Graph, Ref
from kineta.mechanics.constraints import RESIDUALS
from kineta.mechanics.constraints.structural_rank import dependent, matrix, random_state
from kineta.mechanics.elements.applied_forces import Elements
from kineta.mechanics.variables import Symbols
from kineta.model.constraints.equation import Constraint
from kineta.model.kind import Condition
from kineta.model.system import System
from kineta.passes.evaluate import evaluate
from kineta.passes.magnitude import rounding_errors
from kineta.records import dataclass

#: Values of symbols by name.
State = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Row:
    """A component f = 0 of a constraint, differentiated until the accelerations appear.

    constraint : its name, ``E.x`` for the component x of E
    order : highest derivative of the coordinates in f: 0 or 1
    levels : f, and df/dt if free of accelerations: the residuals that vanish along the motion
    gradient : derivatives of the last level by the speeds, by index in v
    rest : time derivative of the last level for zero accelerations
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

    def stabilised(self, graph: Graph, rate: float) -> Row:
        """The row with Baumgarte's terms for the *rate* a: f'' + 2 a f' + a^2 f = 0 or f' + a f = 0."""
        n = len(self.levels)
        if not rate or not n:
            return self
        weights = (comb(n, i) * rate ** (n - i) for i in range(n))
        terms = (graph.mul(graph.const(w), level) for w, level in zip(weights, self.levels, strict=True))
        return replace(self, rest=graph.sum([self.rest, *terms]))

    def linear(self, symbols: Symbols) -> bool:
        """Return whether the last level is linear in the speeds; a kink, as of abs(x'), is nonlinear."""
        return not symbols.order(self.gradient.values())

    def drive(self, symbols: Symbols) -> Ref:
        """Gradient . v, the power of a unit multiplier; zero for a row without prescribed velocity."""
        g, last = symbols.graph, self.levels[-1]
        if self.linear(symbols) and symbols.at_rest(last) == ZERO:
            return ZERO
        return self.along(g, symbols.v)

    def along(self, graph: Graph, x: Sequence[Ref]) -> Ref:
        """The product gradient . x."""
        return graph.sum(graph.mul(partial, x[k]) for k, partial in self.gradient.items())

    def dense(self, n: int) -> list[Ref]:
        """The gradient by all of *n* speeds."""
        return [self.gradient.get(k, ZERO) for k in range(n)]


def rows(symbols: Symbols, elements: Elements, conditions: Sequence[Condition]) -> tuple[Row, ...]:
    """The rows of *conditions*. Raise :class:`ModelError` for a condition that no motion changes."""
    states = [anywhere(symbols, seed) for seed in range(2)] if conditions else []
    return tuple(row for condition in conditions for row in _rows(symbols, elements, condition, states))


def check_independent(symbols: Symbols, kept: Sequence[Row]) -> None:
    """Raise :class:`ModelError` where the rows *kept* are dependent at all of a few random states, apart from rows with zero
    gradients there, as max(x', 5) where x' is below 5.
    """
    gradients = [r.gradient for r in kept]
    refs = [ref for gradient in gradients for ref in gradient.values()]
    found: list[int] = []
    for seed in range(3 * bool(kept)):
        state = random_state(symbols.system, symbols.graph, refs, seed)
        G = matrix(symbols.graph, gradients, len(symbols.v), state)
        sloped = [k for k, row in enumerate(G) if any(row)]
        found = [sloped[k] for k in dependent([G[k] for k in sloped])]
        if not found:
            return
    if found:
        raise repeated(symbols.system, [kept[k] for k in found])


def redundant(symbols: Symbols, kept: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    """The names of the rows *kept* that say what rows before them say for all values, with the names of these: at a few random
    states gradients and prescribed speeds are the same combination. None where a row is nonlinear in the speeds, or has no value.
    """
    n, rests = len(symbols.v), [symbols.at_rest(r.levels[-1]) for r in kept]
    if len(kept) < 2 or not all(r.linear(symbols) for r in kept):
        return {}
    whole = [{**r.gradient, n: rest} for r, rest in zip(kept, rests, strict=True)]
    found: list[dict[str, tuple[str, ...]]] = []
    for seed in range(3):
        try:
            state = random_state(symbols.system, symbols.graph, [ref for row in whole for ref in row.values()], seed)
        except ModelError:
            return {}
        G, left, own = matrix(symbols.graph, whole, n + 1, state), list(range(len(kept))), dict[str, tuple[str, ...]]()
        while k := dependent([G[i] for i in left]):
            *others, last = (left[i] for i in k)
            left.remove(last)
            if others:
                own[kept[last].constraint] = tuple(kept[i].constraint for i in others)
        found.append(own)
    return {name: others for name, others in found[0].items() if all(name in own for own in found)}


def repeated(system: System, kept: Sequence[Row]) -> ModelError:
    """The error for rows of which the last is a combination of the others."""
    *others, last = (f"'{r.constraint}'" for r in kept)
    kind, advice = "constraint", f"Leave it out. In Python, equations.without([{last}]) does so."
    if kept[-1].constraint in {program.name for program in system.programs}:
        kind, advice = "program", "Leave one of them out."
    if not others:
        raise ModelError(
            f"Model '{system.name}': the {kind} {last} binds no motion: none changes it.", kept[-1].location
        )
    return ModelError(
        f"Model '{system.name}': the {kind} {last} binds only what {', '.join(others)} binds already: it says the same, or "
        f"contradicts. {advice}",
        kept[-1].location,
    )


def _rows(symbols: Symbols, elements: Elements, condition: Condition, states: Sequence[State]) -> Iterator[Row]:
    """The components of *condition* except those that vanish at all *states*: in a plane, a hinge closes two directions."""
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
    """The sentence on a component that no motion changes, with its value where that is a number."""
    if isinstance(condition, Constraint):
        return f"expected an expression that changes with the motion, found '{condition.value}'."
    by = "" if offset is None else f", which stays {offset:g} instead of 0"
    return f"no motion changes its component {component or condition.name}{by}. Give places that agree in it."


def _fault(condition: Condition, text: str) -> ModelError:
    return ModelError(f"{condition.kind.word.capitalize()} '{condition.name}': {text}", condition.location)


def vanishes(graph: Graph, f: Ref, states: Sequence[State]) -> bool:
    """Return whether *f* is zero up to rounding at all *states*; False where *f* has no value."""
    (error,) = rounding_errors(graph, [f])
    return all(_nothing(graph, f, error, state) for state in states)


def _nothing(graph: Graph, f: Ref, error: Ref, state: State) -> bool:
    try:
        (value,) = evaluate(graph, [f], state)
        if not value:  # an error has no value at the root of zero
            return True
        (unit,) = evaluate(graph, [error], state)
    except ExpressionError:
        return False
    return bool(abs(value) <= tolerances.ROUNDING_TOLERANCE * max(1.0, unit))


def row_of(symbols: Symbols, name: str, f: Ref, location: Location | None = None, order: int | None = None) -> Row:
    """The row of *f* = 0; *order* is the order of *f*, by default determined from its variables."""
    if order is None:
        order = 1 if symbols.by_speed(f) else 0
    levels: tuple[Ref, ...] = (f,) if order else (f, symbols.rates([f])[0])
    gradient = symbols.by_speed(levels[-1])
    return Row(name, order, levels, gradient, symbols.rates([levels[-1]])[0], location)


def anywhere(symbols: Symbols, seed: int) -> State:
    """A random state with other values of the free parameters: expressions that vanish there vanish for all their values."""
    chance, names = Random(seed), (*symbols.names, *symbols.system.parameter_names)
    state = random_state(symbols.system, symbols.graph, (), seed)
    return {**state, **{name: chance.uniform(0.5, 1.5) for name in names}}
