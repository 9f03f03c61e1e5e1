"""The formulas of one quantity, as counted and compiled, and in print: text, LaTeX and SymPy expressions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kineta.expr.graph import Graph, Ref
from kineta.expr.walk import reachable
from kineta.mechanics.derivation import Array, Derivation
from kineta.mechanics.quantities import HIGHEST, quantity
from kineta.mechanics.variables import Symbols, symbols
from kineta.model.checks.scaling_check import scaling_diagnosis
from kineta.model.system import System
from kineta.notation import text
from kineta.notation.common_subexpressions import common_subexpressions
from kineta.notation.typesetting import FactorKind, Kinds
from kineta.passes.collect_terms import collect_terms
from kineta.passes.remove_guards import remove_guards
from kineta.passes.simplify import simplify
from kineta.passes.substitute import substitute

#: Nodes of formulas at most for an attempt of the collected form.
SMALL = 300

#: Largest ratio of the length of a collected form without named parts to the computed form.
MORE = 1.2


@dataclass(frozen=True, eq=False, repr=False)
class Formulas:
    """*quantity* after all passes: references *array* into a graph of its own."""

    symbols: Symbols
    quantity: str
    array: Array

    @property
    def graph(self) -> Graph:
        """The graph of :attr:`array`."""
        return self.symbols.graph

    @property
    def system(self) -> System:
        """The system of the quantity."""
        return self.symbols.system

    def __repr__(self) -> str:
        return f"<Formulas of {self.quantity} of '{self.system.name}'>"

    def _repr_latex_(self) -> str:
        return f"$$\n{aligned(self.latex(), 'aligned')}\n$$"

    def text(self, *, parts: bool = True) -> Iterator[str]:
        """``z1 = ...`` for every repeated part, then ``name = ...`` for every entry.

        Without *parts* every entry is written out. Raises :class:`ArgumentError` for formulas too long for this.
        """
        graph, refs = self._shown(parts)
        return text.lines(graph, dict(zip(_names(self), refs, strict=True)), parts=parts, kinds=kinds(self.system))

    def latex(self, *, parts: bool = True) -> Iterator[str]:
        """:meth:`text` in LaTeX."""
        # Imported here, as in the compiler: loaded only if needed.
        from kineta.notation import latex

        graph, refs = self._shown(parts)
        named = dict(zip(map(latex.label, _names(self)), refs, strict=True))
        return latex.lines(graph, named, parts=parts, kinds=kinds(self.system))

    def _shown(self, parts: bool) -> tuple[Graph, Sequence[Ref]]:
        return readable(self.graph, self.array.refs, self.system, parts=parts)

    def sympy(self, *, dynamic: bool = False) -> Any:
        """An expression, a ``Matrix`` (a column for a vector), or an ``Array`` of more dimensions; with *dynamic*,
        coordinates, speeds and forces are functions of time.
        """
        from kineta.interop.sympy import of_time, to_sympy

        named = of_time(self._orders(), self.system.parameter_names) if dynamic else {}
        entries = to_sympy(self.graph, self.array.refs, named)
        import sympy

        shape = self.array.shape
        if not shape:
            return entries[0]
        rows, columns = (*shape, 1)[:2]
        return sympy.Matrix(rows, columns, entries) if len(shape) < 3 else sympy.Array(entries, shape)

    def _orders(self) -> dict[str, tuple[str, int]]:
        """For every variable its function of time and the order of differentiation."""
        s = self.system
        orders = range(HIGHEST)
        moving = [*s.q_names, *(n + "'" * k for k in orders for n in s.v_names)]
        return {n: (n.rstrip("'"), n.count("'")) for n in moving} | {f"tau.{n}": (f"tau.{n}", 0) for n in s.v_names}


def readable(graph: Graph, refs: Sequence[Ref], system: System, *, parts: bool) -> tuple[Graph, Sequence[Ref]]:
    """The printed form of *refs*: as computed, or the collected form if it is as short."""
    if len(reachable(graph, refs)) > SMALL:
        return graph, refs
    own = Graph()
    plain = substitute(*remove_guards(graph, refs), {}, own)
    collected = collect_terms(own, plain, system.parameter_names)

    def length(form: Sequence[Ref]) -> tuple[int, int]:
        """Characters and lines."""
        bound = common_subexpressions(own, {str(k): r for k, r in enumerate(form)}, parts=parts)
        shown = [len(line) for _, line in bound.lines(text.TEXT, {})]
        return sum(shown), len(shown)

    (computed, _), (sorted_, lines) = length(plain), length(collected)
    allowance = MORE if lines == len(plain) else 1.0
    return own, collected if sorted_ <= allowance * computed else plain


def kinds(system: System) -> Kinds:
    """Kinds of the names in the equations of *system*, in the order of products."""
    v = system.v_names
    rows = (
        (FactorKind.PARAMETER, system.parameter_names),
        (FactorKind.POSITION, ("t", *system.q_names)),
        (FactorKind.SPEED, (*v, *(f"p.{n}" for n in v))),
        (FactorKind.ACCELERATION, (*(f"{n}'" for n in v), *(f"tau.{n}" for n in v))),
    )
    return {name: (kind, k) for kind, names in rows for k, name in enumerate(names)}


def formulas(derivation: Derivation, quantity: str) -> Formulas:
    """The formulas of *quantity*; a fresh derivation gives the same formulas every time."""
    array = derivation[quantity]
    own, functions = simplified(derivation, {quantity: array.refs}, derivation.symbols.system.parameter_names)
    return Formulas(own, quantity, array.of(functions[quantity]))


def simplified(
    derivation: Derivation, functions: Mapping[str, Sequence[Ref]], given: Collection[str]
) -> tuple[Symbols, dict[str, list[Ref]]]:
    """*functions* of a derivation, each simplified with the symbols *given* constant, in a common new graph; with the
    symbols of this graph.
    """
    system = derivation.symbols.system
    own = symbols(system, Graph())
    with scaling_diagnosis(system):
        return own, {n: simplify(derivation.graph, refs, given, own.graph) for n, refs in functions.items()}


def aligned(lines: Iterable[str], environment: str) -> str:
    """LaTeX *lines* aligned at their signs of equality, in ``align*`` or ``aligned``; long sums are broken."""
    from kineta.notation import latex

    rows = []
    for line in lines:
        name, equals, value = line.partition(" = ")
        first, *more = latex.break_lines(value)
        rows += [f"{name} &= {first}" if equals else name, *(f"&\\quad {{}}{rest}" for rest in more)]
    body = " \\\\\n".join(rows)
    return f"\\begin{{{environment}}}\n{body}\n\\end{{{environment}}}"


def _names(formulas: Formulas) -> list[str]:
    """Names of the entries, part by part."""
    array = formulas.array
    if array.labels:
        return list(array.labels)
    parts = array.parts or ((formulas.quantity, array.shape),)
    return [n for name, shape in parts for n in quantity(name).labels(formulas.system, shape)]
