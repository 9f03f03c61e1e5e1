"""Symbolic linearisation: matrices as expressions in the parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kineta.algebra.expression import Expr
from kineta.equations.equations import Equations, given_equations
from kineta.equations.formulas import aligned, kinds, unit_quaternions
from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.model.system import System
from kineta.notation import latex, text
from kineta.notation.printed_form import printed_form
from kineta.notation.typesetting import Notation
from kineta.records import dataclass
from kineta.runtime.independent_states import state_names
from kineta.tasks.ignored_features import warn_ignored
from kineta.tasks.linear.linearize import put_in, put_out
from kineta.tasks.linear.symbolic_tangent import Rows, expressible, symbolic_tangent


@dataclass(frozen=True, eq=False, repr=False)
class LinearFormulas:
    """The matrices of x' = A x + B u, y = C x + D u as expressions: ``print(formulas)``.

    states, inputs, outputs : names; ``text()``, ``latex()``, ``sympy()`` show the entries
    """

    system: System
    graph: Graph
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    matrices: Mapping[str, Rows]

    @property
    def headings(self) -> dict[str, str]:
        """The letters A, B, C, D in print, or words where the model has one of these names."""
        taken = {*self.system.parameter_names, *self.system.q_names}
        words = "ABCD" if taken.isdisjoint("ABCD") else ("state", "input", "output", "feedthrough")
        return dict(zip("ABCD", words, strict=True))

    def _entries(self) -> dict[str, Ref]:
        """The entries other than 0 and 1, by name."""
        names = {"A": (self.states, self.states), "B": (self.states, self.inputs)}
        names |= {"C": (self.outputs, self.states), "D": (self.outputs, self.inputs)}
        return {
            f"{self.headings[letter]}[{row},{column}]": ref
            for letter, (rows, columns) in names.items()
            for row, refs in zip(rows, self.matrices[letter], strict=True)
            for column, ref in zip(columns, refs, strict=True)
            if ref not in (ZERO, ONE)
        }

    def _lines(self, notation: Notation, show: Callable[[str], str]) -> Iterator[str]:
        entries = self._entries()
        known, given = kinds(self.system), unit_quaternions(self.system)
        form = printed_form(self.graph, list(entries.values()), list(entries), known, premises=given)
        return (f"{name} = {value}" for name, value in form.lines(notation, [show(name) for name in entries]))

    def text(self) -> str:
        """Return a line for every entry other than 0 and 1, and for every common subexpression."""
        return "\n".join(self._lines(text.TEXT, str))

    def lines(self) -> list[str]:
        """Return the lines of :meth:`text`."""
        return self.text().splitlines()

    def as_dict(self) -> dict[str, Any]:
        """Return names and formulas as plain data."""
        names = {"states": list(self.states), "inputs": list(self.inputs)}
        return {"model": self.system.name, **names, "formulas": self.lines()}

    def latex(self) -> str:
        """Return :meth:`text` in LaTeX, in ``aligned`` for use within ``$$``."""
        return aligned(self._lines(latex.LATEX, latex.label), "aligned")

    def sympy(self) -> dict[str, Any]:
        """Return the matrices A, B, C, D in SymPy."""
        from kineta.interop.sympy import to_sympy

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
    """Return the matrices of :func:`~kineta.tasks.linear.linearize.linearize` as expressions in the parameters of *system*.

    about : coordinates and speeds by name, as numbers or expressions of parameters, or of new symbols, the rest as in the model's
        ``initial``; or one state in numbers, as an assembly or an equilibrium. A warning marks a state consistent for the
        parameter values of the model alone, for which the formulas then hold alone
    inputs, outputs : as for ``linearize``

    Raises :class:`ArgumentError` as ``linearize`` does, and for entries too long to read.
    """
    equations = given_equations(system)
    model = equations.system
    warn_ignored(model, "a linearisation")
    given, taken = put_in(model, inputs), put_out(model, outputs)
    found = symbolic_tangent(equations, about, given, taken)
    made = found.elimination
    with expressible(model):
        matrices = found.states.matrices(made.algebra, found.at)
    refs = made.shown([ref for letter in "ABCD" for ref in matrices[letter].flat])
    short = iter(refs)
    entries = {letter: [[next(short) for _ in row] for row in matrices[letter]] for letter in "ABCD"}
    names = state_names(model)
    states = tuple(names[k] for k in found.states.places)
    return LinearFormulas(model, made.graph, states, tuple(i.label for i in given), tuple(taken), entries)
