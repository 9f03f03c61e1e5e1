"""The tangent of a system in symbols: its linear systems are solved by elimination with entries that stay short."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import Expr, expr
from kineta.consistency.consistent_start import consistent, singular_start, start_violation
from kineta.equations.equations import Equations
from kineta.errors import ArgumentError, ExpressionError, warn
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.walk import reachable
from kineta.model.parameters import constants
from kineta.model.reserved_symbols import added_force
from kineta.model.system import System
from kineta.passes.evaluate import evaluate
from kineta.passes.expand import SumsOfProducts
from kineta.passes.substitute import substitute
from kineta.records import dataclass
from kineta.runtime.independent_states import Reduction, independent_states
from kineta.runtime.tangent import Blocks, Input, Linearisation, Matrix, MatrixAlgebra, Tangent, matrix
from kineta.tasks.linear.descriptor_matrices import near
from kineta.tasks.linear.operating_point import check_names, named

#: Most nodes of readable entries.
LARGE = 20_000
#: Most nodes of all that elimination writes on its way there: entries that are read take 60 000, those that are too long 600 000.
WORK = 200_000
#: Threshold of pivots, relative to the largest entry at the state.
SMALL = 1e-3
#: Largest factor of the perturbed parameters for which a state has to remain consistent.
OTHER = 1.001
#: Most digits of decimal numbers in entries.
DIGITS = 12
#: Number of different values for other symbols.
OTHERS = 8

Rows = list[list[Ref]]


@dataclass(frozen=True, eq=False)
class SymbolicTangent:
    """The *tangent* at a state: its solution *at*, the independent *states*, and the *elimination* by which entries are found.

    slopes : the blocks of slopes at the accelerations *vdot* and the multipliers of the state; mass : M
    """

    tangent: Tangent
    states: Reduction
    elimination: Elimination
    at: Linearisation
    mass: Matrix
    slopes: Blocks
    vdot: Matrix


def symbolic_tangent(
    equations: Equations, about: Any, inputs: Sequence[Input] = (), outputs: Mapping[str, Expr] | None = None
) -> SymbolicTangent:
    """The tangent of *equations* at the state *about*, as for ``linear_formulas``. Raises :class:`ArgumentError` for a state
    without a tangent.
    """
    model = equations.system
    graph = Graph()
    state = _state(model, about, graph)
    number = _numbers(model, graph)
    q, v = (np.array([number(state[n]) for n in names]) for names in (model.q_names, model.v_names))
    p = np.array([number(graph.symbol(n)) for n in model.parameter_names])
    start = consistent(equations, 0.0, q, v, p, reach=0.0)
    equations = start.equations
    _check_met(equations, graph, state)
    tangent = Tangent(equations, inputs, outputs)
    try:
        chosen = independent_states(tangent, near(tangent, np.zeros(1), q, v, np.zeros(model.nv), p))
    except ArgumentError:
        if why := singular_start(equations, 0.0, q, v, p, start.regular, "state"):
            raise ArgumentError(why) from None
        raise
    made = Elimination(graph, state, number, model.name)
    tables: dict[str, tuple[Blocks, Matrix]] = {}

    def placed(table: str, vdot: Matrix, multipliers: Matrix) -> Blocks:
        tables[table] = made.placed(tangent, table, vdot, multipliers), vdot
        return tables[table][0]

    with expressible(model):
        found = tangent.solved(made.algebra, placed)
    slopes, vdot = tables["slopes"]
    return SymbolicTangent(tangent, chosen, made, found, tables["rest"][0]["M"], slopes, vdot)


@contextmanager
def expressible(system: System) -> Iterator[None]:
    """Raise :class:`ArgumentError` for entries that have no expression at a state of *system*."""
    try:
        yield
    except ExpressionError as error:
        raise ArgumentError(
            f"Model '{system.name}': entries have no expression at this state, only a limit ({str(error).rstrip('.')}); ask for "
            "numbers (linearize)."
        ) from None


def _decimal(x: float) -> float:
    """Return *x* rounded to a decimal of few digits, where one lies within its rounding error."""
    few = float(f"{x:.{DIGITS}g}")
    return few if abs(few - x) <= 64 * tolerances.EPS * abs(x) else x


def _state(system: System, about: Any, graph: Graph) -> dict[str, Ref]:
    """Return coordinates, speeds and the time as expressions in *graph*."""
    known = (*system.q_names, *system.v_names)
    values: dict[str, Any] = dict(system.expanded.initial) | named(system, about)
    check_names(system, values)
    rest = {f"{j}.qw": 1.0 for j in system.quaternions if not any(n.startswith(f"{j}.q") for n in values)}
    fixed = {name: graph.const(x) for name, x in constants(system.parameters).items()}
    found = {}
    for name in known:
        e = expr(values.get(name, rest.get(name, 0.0)))
        (found[name],) = substitute(e.graph, [e.ref], fixed, graph)
    return found | {"t": ZERO}


def _check_met(equations: Equations, graph: Graph, state: Mapping[str, Ref]) -> None:
    """Raise for an inconsistent state; warn of one that is consistent for the parameter values of the model alone."""
    system, spread = equations.system, np.random.default_rng(0).uniform(1.0, OTHER, len(equations.system.parameters))
    for factors in (np.ones(len(spread)), spread) if system.constraints else ():
        number = _numbers(system, graph, factors)
        q, v = (np.array([number(state[n]) for n in names]) for names in (system.q_names, system.v_names))
        p = np.array([number(graph.symbol(n)) for n in system.parameter_names])
        why = start_violation(equations, 0.0, q, v, p, "state")
        if why and factors is spread:
            what = why.partition(": it is")[0].replace("the state misses", "with other parameters this state misses")
            warn(
                f"{what}: the formulas hold with the values of the model alone. Give coordinates and speeds as expressions of "
                "parameters that meet it."
            )
            return
        if why:
            raise ArgumentError(why)


def _numbers(system: System, graph: Graph, factors: Iterable[float] | None = None) -> Any:
    """Return the evaluation of expressions at the parameters of the model times *factors*, with generic other symbols."""
    times = factors if factors is not None else np.ones(len(system.parameters))
    pairs = zip(system.parameters, times, strict=True)
    known = {r.name: r.value * (1.0 if r.fixed else float(x)) for r, x in pairs if r.value is not None}

    def number(ref: Ref) -> float:
        names = {graph.names[graph.lhs[i]] for i in reachable(graph, [ref]) if graph.name(2 * i)}
        for name in sorted(names):
            known.setdefault(name, 0.5 + 0.37 * (len(known) % OTHERS))
        return float(evaluate(graph, [ref], known)[0])

    return number


class Elimination:
    """Elimination in matrices of references into *graph* at a *state*, whose entries stay short."""

    def __init__(self, graph: Graph, state: Mapping[str, Ref], number: Callable[[Ref], float], model: str) -> None:
        self.graph, self.number, self.model = graph, number, model
        self._lengths: dict[Ref, int] = {}
        # Numbers of the state enter as symbols, replaced where sums are expanded, so that cancellation is seen.
        at = {f"{n} at": x for n, ref in state.items() if (x := graph.value(ref))}
        self._state = {n: graph.symbol(f"{n} at") if f"{n} at" in at else ref for n, ref in state.items()}
        self._numbers = {n: graph.const(x) for n, x in at.items()}
        self.opened = SumsOfProducts(graph, at, tolerances.ROUNDING_TOLERANCE)
        add, negate = np.frompyfunc(graph.add, 2, 1), np.frompyfunc(neg, 1, 1)
        self.algebra = MatrixAlgebra(ZERO, ONE, self._solved, self._product, add, negate)

    def shown(self, refs: Sequence[Ref]) -> list[Ref]:
        """*refs* in their shortest forms, with decimal numbers. Raises :class:`ArgumentError` for entries too long to read."""
        size = len(reachable(self.graph, refs))
        if size > LARGE:
            raise ArgumentError(f"Model '{self.model}': the entries have {size} parts; ask for numbers.")
        short = [*map(self.opened.shorter, refs)]
        return substitute(self.graph, short, {}, number=lambda x: self.graph.const(_decimal(x)))

    def placed(self, tangent: Tangent, table: str, vdot: Matrix, multipliers: Matrix) -> Blocks:
        """The blocks of a *table* at the state, with accelerations and multipliers, and without forces."""
        d, blocks = tangent.derivation, tangent.blocks(table)
        names = (*(f"{n}'" for n in d.symbols.names), *(f"lambda.{name}" for name in tangent.rows))
        values = dict(zip(names, (*vdot.tolist(), *multipliers.tolist()), strict=True))
        still = dict.fromkeys((added_force(n) for n in d.symbols.names), ZERO)
        refs = [ref for block in blocks.values() for ref in block.flat]
        symbolic = substitute(d.graph, refs, {**self._state, **still, **values}, self.graph)
        plain = substitute(self.graph, symbolic, self._numbers)
        placed = iter(substitute(self.graph, self.opened.shortest(symbolic, plain), self._numbers))
        return {name: matrix([next(placed) for _ in block.flat], block.shape) for name, block in blocks.items()}

    def _solved(self, rows: Matrix, right: Matrix) -> Matrix:
        """The solution X of rows X = right, by pivots that are short, and not small at the state. Raises :class:`ArgumentError`
        for one that is too long to read.
        """
        g, n = self.graph, len(rows)
        work = [[*a, *b] for a, b in zip(rows.tolist(), right.tolist(), strict=True)]
        place: dict[int, int] = {}
        for _ in range(n):
            i, k = self._pivot(work, n, place)
            place[i] = k
            work[i] = [self.opened.shorter(g.div(x, work[i][k])) for x in work[i]]
            for j, row in enumerate(work):
                if j != i and row[k] != ZERO:
                    less = neg(row[k])
                    work[j] = [
                        self.opened.product((ONE, less), (x, y)) if y != ZERO else x
                        for x, y in zip(row, work[i], strict=True)
                    ]
                    work[j][k] = ZERO
            if len(g) > WORK:
                raise ArgumentError(f"Model '{self.model}': the entries take more than {WORK} parts; ask for numbers.")
        found = {k: work[i][n:] for i, k in place.items()}
        return matrix([found[k] for k in range(n)], right.shape)

    def _pivot(self, work: Rows, n: int, place: Mapping[int, int]) -> tuple[int, int]:
        """Row and column of the shortest entry above the pivot threshold. Raises :class:`ExpressionError` without one."""
        left = [(i, k) for i, row in enumerate(work) if i not in place for k, x in enumerate(row[:n]) if x != ZERO]
        sizes = {at: abs(self.number(work[at[0]][at[1]])) for at in left}
        if not sizes or not np.isfinite([*sizes.values()]).all():
            raise ExpressionError("inertia and constraints leave accelerations open, or are beyond all numbers")
        least = SMALL * max(sizes.values())
        return min((at for at in left if sizes[at] >= least), key=lambda at: self._length(work[at[0]][at[1]]))

    def _length(self, ref: Ref) -> int:
        """The number of nodes below *ref*."""
        if ref not in self._lengths:
            self._lengths[ref] = len(reachable(self.graph, [ref]))
        return self._lengths[ref]

    def _product(self, rows: Matrix, columns: Matrix) -> Matrix:
        """The product of two matrices."""
        found = [self.opened.product(row, column) for row in rows.tolist() for column in columns.T.tolist()]
        return matrix(found, (len(rows), columns.shape[1]))
