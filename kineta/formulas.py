"""The formulas of one quantity: what is counted and compiled, and how it is shown as text, LaTeX and SymPy expressions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kineta.expr.graph import Graph, Ref
from kineta.formalism.equations import Array, Derivation
from kineta.formalism.symbols import Symbols, symbols
from kineta.model.system import System
from kineta.passes.simplify import simplify

_LETTERS = {
    "kinetic_energy": "T",
    "potential_energy": "V",
    "energy": "E",
    "power": "P",
    "mass_matrix": "M",
    "bias": "h",
    "momentum": "p",
    "positions": "r",
    "rotations": "R",
    "jacobian": "J",
}


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

    def text(self) -> Iterator[str]:
        """``z1 = ...`` for every part that is needed twice, then ``name = ...`` for every entry."""
        from kineta.codegen import text

        return text.lines(self.graph, dict(zip(_names(self), self.array.refs, strict=True)))

    def latex(self) -> Iterator[str]:
        """:meth:`text` in LaTeX."""
        from kineta.codegen import latex

        return latex.lines(self.graph, dict(zip(_latex_names(self), self.array.refs, strict=True)))

    def sympy(self) -> Any:
        """An expression, a ``Matrix`` (a column for a vector), or an ``Array`` of more dimensions."""
        from kineta.codegen.sympy import to_sympy

        entries = to_sympy(self.graph, self.array.refs)
        import sympy

        shape = self.array.shape
        if not shape:
            return entries[0]
        rows, columns = (*shape, 1)[:2]
        return sympy.Matrix(rows, columns, entries) if len(shape) < 3 else sympy.Array(entries, shape)


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
    own = symbols(derivation.symbols.system, Graph())
    return own, {n: simplify(derivation.graph, refs, given, own.graph) for n, refs in functions.items()}


def aligned(lines: Iterable[str], environment: str) -> str:
    """LaTeX *lines* with their signs of equality below each other, in ``align*`` or ``aligned``."""
    body = " \\\\\n".join(line.replace(" = ", " &= ", 1) for line in lines)
    return f"\\begin{{{environment}}}\n{body}\n\\end{{{environment}}}"


def _names(formulas: Formulas) -> list[str]:
    """Names of the entries: ``tau[q1']``, ``q1''``, ``M[1,2]``, ``T``."""
    system = formulas.system
    match formulas.quantity:
        case "outputs":
            return [o.name for o in system.outputs]
        case "inverse":
            return [f"tau[{n}]" for n in system.v_names]
        case "forward":
            return [f"{n}'" for n in system.v_names]
        case "state_rate":
            return [f"{n}'" for n in (*system.q_names, *system.v_names)]
        case "mass_and_bias":
            n = system.nv
            return [*_indexed("M", (n, n)), *_indexed("h", (n,))]
    return _indexed(_LETTERS.get(formulas.quantity, formulas.quantity), formulas.array.shape)


def _indexed(letter: str, shape: tuple[int, ...]) -> list[str]:
    """``letter[i,j]`` row by row, counted from 1; the letter alone for a scalar."""
    if not shape:
        return [letter]
    return [f"{letter}[{','.join(str(i + 1) for i in index)}]" for index in np.ndindex(*shape)]


def _latex_names(formulas: Formulas) -> list[str]:
    from kineta.codegen.latex import name

    match formulas.quantity:
        case "inverse":
            return [name(f"tau.{n}") for n in formulas.system.v_names]
        case "outputs" | "forward" | "state_rate":
            return [name(n) for n in _names(formulas)]
    return [_latex_indexed(n) for n in _names(formulas)]


def _latex_indexed(label: str) -> str:
    letter, bracket, index = label.partition("[")
    base = letter if len(letter) == 1 else rf"\mathrm{{{letter.replace('_', chr(92) + '_')}}}"
    return f"{base}_{{{index[:-1]}}}" if bracket else base
