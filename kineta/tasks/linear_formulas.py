"""The matrices of a linearisation as expressions in the parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kineta.codegen import latex, text
from kineta.compiler import Equations, given_equations
from kineta.errors import ArgumentError, ExpressionError, did_you_mean, shown, warn
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.node import Expr, expr
from kineta.expr.walk import reachable
from kineta.formulas import aligned, kinds, readable
from kineta.model.system import System
from kineta.passes.evaluate import evaluate
from kineta.passes.expand import Opened, expand
from kineta.passes.substitute import substitute
from kineta.tasks.about import named
from kineta.tasks.apart import warn_without
from kineta.tasks.linearize import put_in, put_out
from kineta.tasks.met import missed
from kineta.tasks.near import near
from kineta.tasks.rank import closed
from kineta.tasks.reduction import reduction, state_names
from kineta.tasks.variation import Block, Variation

#: Nodes of entries that nobody would read.
LARGE = 20_000
#: Part of the largest entry at the state from which on one is a pivot.
SMALL = 1e-3
#: Factor of other parameters at most, with which a state has to meet constraints too.
OTHER = 1.001
#: Digits that numbers in entries have where they are those of decimals, and by which part of themselves rounding may change them.
DIGITS, ROUNDING = 12, 1e-14
#: How many different values other symbols get.
OTHERS = 8

Rows = list[list[Ref]]


@dataclass(frozen=True, eq=False, repr=False)
class LinearFormulas:
    """x' = A x + B u, y = C x + D u with the entries as expressions: ``print(formulas)``.

    states, inputs, outputs : names; ``text()``, ``latex()``, ``sympy()`` show the entries
    """

    system: System
    graph: Graph
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    matrices: Mapping[str, Rows]

    def _entries(self) -> dict[str, Ref]:
        """What is neither 0 nor 1, by name."""
        names = {"A": (self.states, self.states), "B": (self.states, self.inputs)}
        names |= {"C": (self.outputs, self.states), "D": (self.outputs, self.inputs)}
        return {
            f"{letter}[{row},{column}]": ref
            for letter, (rows, columns) in names.items()
            for row, refs in zip(rows, self.matrices[letter], strict=True)
            for column, ref in zip(columns, refs, strict=True)
            if ref not in (ZERO, ONE)
        }

    def _lines(self, writer: Any, label: Any) -> Iterator[str]:
        entries = self._entries()
        graph, refs = readable(self.graph, list(entries.values()), self.system, parts=True)
        return iter(writer.lines(graph, dict(zip(map(label, entries), refs, strict=True)), kinds=kinds(self.system)))

    def text(self) -> str:
        """A line for every entry that is neither 0 nor 1, and for every part that is needed twice."""
        return "\n".join(self._lines(text, str))

    def latex(self) -> str:
        """:meth:`text` in LaTeX, in ``aligned`` for use within ``$$``."""
        return aligned(self._lines(latex, latex.label), "aligned")

    def sympy(self) -> dict[str, Any]:
        """The matrices A, B, C, D in SymPy."""
        from kineta.codegen.sympy import to_sympy

        refs = [ref for rows in self.matrices.values() for row in rows for ref in row]
        left = iter(to_sympy(self.graph, refs))
        import sympy

        columns = {"A": self.states, "B": self.inputs, "C": self.states, "D": self.inputs}
        return {
            letter: sympy.Matrix(len(rows), len(columns[letter]), [next(left) for row in rows for _ in row])
            for letter, rows in self.matrices.items()
        }

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<LinearFormulas of '{self.system.name}': {len(self._entries())} entries>"

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"


def linear_formulas(
    system: System | Equations,
    about: Any = None,
    *,
    inputs: Iterable[str] | None = None,
    outputs: Iterable[str | Expr] | Mapping[str, Expr] | None = None,
) -> LinearFormulas:
    """The matrices of :func:`~kineta.tasks.linearize.linearize` as expressions in the parameters of *system*.

    about : coordinates and speeds by name, as numbers or expressions of parameters, or of new symbols, the rest as in the model's
        ``initial``; or one state in numbers, as an assembly or an equilibrium. Where it meets constraints with the values of the
        model alone, a warning says that the formulas hold with these alone
    inputs, outputs : as for ``linearize``

    Raises :class:`ArgumentError` as that does, and for a system whose entries nobody would read.
    """
    equations = given_equations(system)
    model = equations.system
    warn_without(model, "a linearisation")
    given, taken = put_in(model, inputs), put_out(model, outputs)
    graph = Graph()
    state = _state(model, about, graph)
    number = _numbers(model, graph)
    q, v = (np.array([number(state[n]) for n in names]) for names in (model.q_names, model.v_names))
    p = np.array([number(graph.symbol(n)) for n in model.parameter_names])
    equations, _, _ = closed(equations, 0.0, q, v, p)
    _check_met(equations, graph, state)
    variation = Variation(equations, given, taken)
    found = near(variation, np.zeros(1), q, v, np.zeros(model.nv), p)
    try:
        made = _Made(variation, graph, state, number)
    except ExpressionError as error:
        raise ArgumentError(
            f"Model '{model.name}': entries have no expression at this state, only a limit ({str(error).rstrip('.')}); ask for "
            "numbers (linearize)."
        ) from None
    rows = variation.rows or tuple(c.name for c in model.constraints)
    chosen = reduction(model, found.H, found.f_q, found.f_v, rows)
    Z = made.following(list(chosen.places), list(chosen.tied), list(chosen.bound))
    X, Y = made.motion(), made.shown()
    n = len(state_names(model))
    places = list(chosen.places)
    matrices = {
        "A": made.product([X[k][:n] for k in places], Z),
        "B": [X[k][n:] for k in places],
        "C": made.product([row[:n] for row in Y], Z),
        "D": [row[n:] for row in Y],
    }
    refs = [ref for block in matrices.values() for row in block for ref in row]
    if len(reachable(graph, refs)) > LARGE:
        raise ArgumentError(
            f"Model '{model.name}': the entries have {len(reachable(graph, refs))} parts; ask for numbers."
        )
    short = iter(substitute(graph, expand(graph, refs), {}, number=lambda x: graph.const(_decimal(x))))
    matrices = {letter: [[next(short) for _ in row] for row in block] for letter, block in matrices.items()}
    names = state_names(model)
    return LinearFormulas(
        model, graph, tuple(names[k] for k in places), tuple(i.label for i in given), tuple(taken), matrices
    )


def _decimal(x: float) -> float:
    """*x* without the rounding errors of the operations it comes from, where that gives a number of few digits."""
    few = float(f"{x:.{DIGITS}g}")
    return few if abs(few - x) <= ROUNDING * abs(x) else x


def _state(system: System, about: Any, graph: Graph) -> dict[str, Ref]:
    """Coordinates, speeds and the time as expressions in *graph*."""
    known = (*system.q_names, *system.v_names)
    values: dict[str, Any] = dict(system.expanded.initial) | named(system, about)
    for name in values:
        if name not in known:
            raise ArgumentError(
                f"Model '{system.name}' has no coordinate or speed {shown(name)} to linearise about.{did_you_mean(name, known)}"
            )
    rest = {f"{j}.qw": 1.0 for j in system.joints if not any(n.startswith(f"{j}.q") for n in values)}
    fixed = {r.name: graph.const(r.value) for r in system.parameters if r.fixed and r.value is not None}
    found = {}
    for name in known:
        e = expr(values.get(name, rest.get(name, 0.0)))
        (found[name],) = substitute(e.graph, [e.ref], fixed, graph)
    return found | {"t": ZERO}


def _check_met(equations: Equations, graph: Graph, state: Mapping[str, Ref]) -> None:
    """Raise where the state misses constraints; warn where it meets them with the values of the model alone."""
    system, spread = equations.system, np.random.default_rng(0).uniform(1.0, OTHER, len(equations.system.parameters))
    for factors in (np.ones(len(spread)), spread) if system.constraints else ():
        number = _numbers(system, graph, factors)
        q, v = (np.array([number(state[n]) for n in names]) for names in (system.q_names, system.v_names))
        why = missed(equations, 0.0, q, v, np.array([number(graph.symbol(n)) for n in system.parameter_names]))
        if why and factors is spread:
            what = why.partition(": it is")[0].replace("the start misses", "with other parameters this state misses")
            warn(
                f"{what}: the formulas hold with the values of the model alone. Give coordinates and speeds as expressions of "
                "parameters that meet it."
            )
            return
        if why:
            raise ArgumentError(why.replace("the start misses", "the state misses"))


def _numbers(system: System, graph: Graph, factors: Iterable[float] | None = None) -> Any:
    """Values of expressions where parameters have those of the model, times *factors*, and other symbols some."""
    times = factors if factors is not None else np.ones(len(system.parameters))
    pairs = zip(system.parameters, times, strict=True)
    known = {r.name: r.value * (1.0 if r.fixed else float(x)) for r, x in pairs if r.value is not None}

    def number(ref: Ref) -> float:
        names = {graph.names[graph.lhs[i]] for i in reachable(graph, [ref]) if graph.name(2 * i)}
        for name in sorted(names):
            known.setdefault(name, 0.5 + 0.37 * (len(known) % OTHERS))
        return float(evaluate(graph, [ref], known)[0])

    return number


class _Made:
    """The blocks of a variation at a state, in *graph*."""

    def __init__(self, variation: Variation, graph: Graph, state: Mapping[str, Ref], number: Any) -> None:
        self.system, self.graph, self.number = variation.equations.system, graph, number
        d = variation.derivation
        self.n, self.opened = len(d.symbols.v), Opened(graph)
        still = dict.fromkeys((f"tau.{n}" for n in d.symbols.names), ZERO)
        held = [f"{n}'" for n in d.symbols.names] + [f"lambda.{name}" for name in variation.rows]

        def placed(blocks: Mapping[str, Block], more: Mapping[str, Ref]) -> dict[str, Rows]:
            refs = [r for rows, _ in blocks.values() for row in rows for r in row]
            moved = iter(substitute(d.graph, refs, {**state, **still, **more}, graph))
            return {name: [[next(moved) for _ in row] for row in rows] for name, (rows, _) in blocks.items()}

        rest = placed(variation.blocks("state"), dict.fromkeys(held, ZERO))
        A = rest["A"]
        top = [[*row, *(A[i][k] for i in range(len(A)))] for k, row in enumerate(rest["M"])]
        self.K = [*top, *([*row, *([ZERO] * len(A))] for row in A)]
        solved = [x for (x,) in self.solved(self.K, [[neg(row[0])] for row in (*rest["F"], *rest["G"])])]
        values = dict(zip(held, (*solved[: self.n], *map(neg, solved[self.n :])), strict=True))
        self.s = placed(variation.blocks("slopes"), values)

    def solved(self, rows: Rows, right: Rows) -> Rows:
        """The X with rows X = right, both as many rows; pivots are short entries that are not small at the state."""
        g, n = self.graph, len(rows)
        work = [[*a, *b] for a, b in zip(rows, right, strict=True)]
        place: dict[int, int] = {}
        for _ in range(n):
            i, k = self._pivot(work, n, place)
            place[i] = k
            work[i] = [self.opened.shorter(g.div(x, work[i][k])) for x in work[i]]
            for j, row in enumerate(work):
                if j != i and row[k] != ZERO:
                    work[j] = [
                        self.opened.shorter(g.sub(x, g.mul(row[k], y))) if y != ZERO else x
                        for x, y in zip(row, work[i], strict=True)
                    ]
                    work[j][k] = ZERO
        found = {k: work[i][n:] for i, k in place.items()}
        return [found[k] for k in range(n)]

    def _pivot(self, work: Rows, n: int, place: Mapping[int, int]) -> tuple[int, int]:
        """The row and column of the shortest entry among those that are not small beside others of what is left."""
        left = [(i, k) for i, row in enumerate(work) if i not in place for k, x in enumerate(row[:n]) if x != ZERO]
        sizes = {at: abs(self.number(work[at[0]][at[1]])) for at in left}
        least = SMALL * max(sizes.values())
        return min(
            (at for at in left if sizes[at] >= least), key=lambda at: len(reachable(self.graph, [work[at[0]][at[1]]]))
        )

    def product(self, rows: Rows, Z: Rows) -> Rows:
        """The product of two matrices."""
        g = self.graph
        columns = list(zip(*Z, strict=True))
        return [[g.sum(g.mul(a, b) for a, b in zip(row, column, strict=True)) for column in columns] for row in rows]

    def motion(self) -> Rows:
        """Derivatives of the rates of all states by all states and inputs."""
        s = self.s
        changes = [[*s["Fq"][i], *s["Fv"][i], *s["Fw"][i]] for i in range(self.n)]
        changes += [[*a, *b, *c] for a, b, c in zip(s["Gq"], s["Gv"], s["Gw"], strict=True)]
        self.moved = self.solved(self.K, [[neg(x) for x in row] for row in changes])
        U = [[*a, *b, *c] for a, b, c in zip(s["uq"], s["uv"], s["uw"], strict=True)]
        return [*U, *self.moved[: self.n]]

    def shown(self) -> Rows:
        """Derivatives of the outputs by all states and inputs, accelerations and multipliers included; after :meth:`motion`."""
        g, s = self.graph, self.s
        V, L = self.moved[: self.n], [[neg(x) for x in row] for row in self.moved[self.n :]]
        through = [self.product([a], V)[0] for a in s["ya"]]
        if L:
            forced = [self.product([a], L)[0] for a in s["yl"]]
            through = [[g.add(x, y) for x, y in zip(a, b, strict=True)] for a, b in zip(through, forced, strict=True)]
        direct = [[*a, *b, *c] for a, b, c in zip(s["yq"], s["yv"], s["yw"], strict=True)]
        return [[g.add(x, y) for x, y in zip(a, b, strict=True)] for a, b in zip(direct, through, strict=True)]

    def following(self, places: Sequence[int], tied: Sequence[int], bound: Sequence[int]) -> Rows:
        """Z: all states from the independent ones."""
        s, nb = self.s, len(self.s["u"])
        Z = [[ONE if k == place else ZERO for place in places] for k in range(nb + self.n)]
        right = [[neg(row[place]) if place < nb else ZERO for place in places] for row in s["Hq"]]
        for k, row in zip(tied, self.solved([[row[k] for k in tied] for row in s["Hq"]], right), strict=True):
            Z[k] = row
        right = [
            [
                neg(self.graph.add(x, row[place - nb] if place >= nb else ZERO))
                for x, place in zip(moved, places, strict=True)
            ]
            for moved, row in zip(self.product(s["fq"], Z[:nb]), s["fv"], strict=True)
        ]
        for k, row in zip(bound, self.solved([[row[k] for k in bound] for row in s["fv"]], right), strict=True):
            Z[nb + k] = row
        return Z
