"""The formulas of one quantity: what is counted and compiled, and how it is shown as text, LaTeX and SymPy expressions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kineta.codegen import text
from kineta.codegen.bindings import bindings
from kineta.codegen.written import Kind, Kinds
from kineta.expr.graph import Graph, Ref
from kineta.expr.walk import reachable
from kineta.formalism.derivation import Array, Derivation
from kineta.formalism.quantity import HIGHEST, quantity
from kineta.formalism.symbols import Symbols, symbols
from kineta.model.extreme import blamed
from kineta.model.system import System
from kineta.passes.bare import bare
from kineta.passes.collect import collect
from kineta.passes.simplify import simplify
from kineta.passes.substitute import substitute

#: Nodes of formulas that are tried as books write them.
SMALL = 300

#: How much longer the form of books may be, where it needs no named parts.
MORE = 1.2


@dataclass(frozen=True, eq=False, repr=False)
class Formulas:
    """*quantity* after the passes that make it cheaper: references *array* into a graph of its own."""

    symbols: Symbols
    quantity: str
    array: Array

    @property
    def graph(self) -> Graph:
        """The graph of :attr:`array`."""
        return self.symbols.graph

    @property
    def system(self) -> System:
        """The system whose quantity this is."""
        return self.symbols.system

    def __repr__(self) -> str:
        return f"<Formulas of {self.quantity} of '{self.system.name}'>"

    def _repr_latex_(self) -> str:
        return f"$$\n{aligned(self.latex(), 'aligned')}\n$$"

    def text(self, *, parts: bool = True) -> Iterator[str]:
        """``z1 = ...`` for every part that is needed twice, then ``name = ...`` for every entry.

        Without *parts* every entry is written out. Raises :class:`ArgumentError` where that would be too long.
        """
        graph, refs = self._shown(parts)
        return text.lines(graph, dict(zip(_names(self), refs, strict=True)), parts=parts, kinds=kinds(self.system))

    def latex(self, *, parts: bool = True) -> Iterator[str]:
        """:meth:`text` in LaTeX."""
        # Here and in the compiler: what is not asked for is not loaded.
        from kineta.codegen import latex

        graph, refs = self._shown(parts)
        named = dict(zip(map(latex.label, _names(self)), refs, strict=True))
        return latex.lines(graph, named, parts=parts, kinds=kinds(self.system))

    def _shown(self, parts: bool) -> tuple[Graph, Sequence[Ref]]:
        return readable(self.graph, self.array.refs, self.system, parts=parts)

    def sympy(self, *, dynamic: bool = False) -> Any:
        """An expression, a ``Matrix`` (a column for a vector), or an ``Array`` of more dimensions; with functions of the time
        for coordinates, speeds and forces, if *dynamic*.
        """
        from kineta.codegen.sympy import of_time, to_sympy

        named = of_time(self._orders(), self.system.parameter_names) if dynamic else {}
        entries = to_sympy(self.graph, self.array.refs, named)
        import sympy

        shape = self.array.shape
        if not shape:
            return entries[0]
        rows, columns = (*shape, 1)[:2]
        return sympy.Matrix(rows, columns, entries) if len(shape) < 3 else sympy.Array(entries, shape)

    def _orders(self) -> dict[str, tuple[str, int]]:
        """Of every variable the function of the time from which it comes, and how often that is differentiated."""
        s = self.system
        orders = range(HIGHEST)
        moving = [*s.q_names, *(n + "'" * k for k in orders for n in s.v_names)]
        return {n: (n.rstrip("'"), n.count("'")) for n in moving} | {f"tau.{n}": (f"tau.{n}", 0) for n in s.v_names}


def readable(graph: Graph, refs: Sequence[Ref], system: System, *, parts: bool) -> tuple[Graph, Sequence[Ref]]:
    """What is written for *refs*: as they are computed, or as they stand in books where that is as short."""
    if len(reachable(graph, refs)) > SMALL:
        return graph, refs
    own = Graph()
    plain = substitute(*bare(graph, refs), {}, own)
    collected = collect(own, plain, system.parameter_names)

    def length(form: Sequence[Ref]) -> tuple[int, int]:
        """Characters and lines."""
        bound = bindings(own, {str(k): r for k, r in enumerate(form)}, parts=parts)
        shown = [len(line) for _, line in bound.lines(text.TEXT, {})]
        return sum(shown), len(shown)

    (computed, _), (sorted_, lines) = length(plain), length(collected)
    allowance = MORE if lines == len(plain) else 1.0
    return own, collected if sorted_ <= allowance * computed else plain


def kinds(system: System) -> Kinds:
    """What the names in the equations of *system* stand for, in the order in which they are written."""
    v = system.v_names
    rows = (
        (Kind.PARAMETER, system.parameter_names),
        (Kind.POSITION, ("t", *system.q_names)),
        (Kind.SPEED, (*v, *(f"p.{n}" for n in v))),
        (Kind.ACCELERATION, (*(f"{n}'" for n in v), *(f"tau.{n}" for n in v))),
    )
    return {name: (kind, k) for kind, names in rows for k, name in enumerate(names)}


def formulas(derivation: Derivation, quantity: str) -> Formulas:
    """The formulas of *quantity*. From a derivation in which nothing else was asked for, they are always the same."""
    array = derivation[quantity]
    own, functions = simplified(derivation, {quantity: array.refs}, derivation.symbols.system.parameter_names)
    return Formulas(own, quantity, array.of(functions[quantity]))


def simplified(
    derivation: Derivation, functions: Mapping[str, Sequence[Ref]], given: Collection[str]
) -> tuple[Symbols, dict[str, list[Ref]]]:
    """*functions* of a derivation, simplified each by itself where the symbols *given* are constant, in one graph of their
    own; with the symbols of that graph.
    """
    system = derivation.symbols.system
    own = symbols(system, Graph())
    with blamed(system):
        return own, {n: simplify(derivation.graph, refs, given, own.graph) for n, refs in functions.items()}


def aligned(lines: Iterable[str], environment: str) -> str:
    """LaTeX *lines* with their signs of equality below each other, in ``align*`` or ``aligned``; long sums go on below."""
    from kineta.codegen import latex

    rows = []
    for line in lines:
        name, equals, value = line.partition(" = ")
        first, *more = latex.broken(value)
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
