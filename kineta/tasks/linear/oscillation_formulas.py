"""Small oscillations in symbols: matrices of mass, damping and stiffness, and the characteristic polynomial.

About an equilibrium, with changes x of the independent coordinates and T all coordinates by these::

    M x'' + D x' + K x = 0        M = T' M_q T,  D = T' F_v T,  K = T' F_q T        det(M s^2 + D s + K) = 0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from kineta import tolerances
from kineta.equations.equations import Equations, given_equations
from kineta.equations.formulas import aligned, kinds, unit_quaternions
from kineta.errors import ArgumentError, excerpt
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.walk import reachable
from kineta.model.system import System
from kineta.notation import latex, text
from kineta.notation.printed_form import printed_form
from kineta.notation.typesetting import Notation
from kineta.passes.expand import SumsOfProducts
from kineta.records import dataclass
from kineta.runtime.independent_states import state_names
from kineta.tasks.ignored_features import warn_ignored
from kineta.tasks.linear.symbolic_tangent import SymbolicTangent, expressible, symbolic_tangent
from kineta.threads import once

#: Most coordinates, and nodes of entries, for which the characteristic polynomial is written out.
LARGE, LONG = 6, 300
#: Characters at most of the characteristic polynomial in a list of entries.
READ = 400
#: Names for the variable of the characteristic polynomial, of which the first is taken that no parameter has.
VARIABLES = ("s", "sigma", "chi")

#: Coefficients of a polynomial, the constant first.
Polynomial = tuple[Ref, ...]


@dataclass(frozen=True, eq=False, repr=False)
class OscillationFormulas:
    """The matrices of M x'' + D x' + K x = 0 as expressions, and det(M s^2 + D s + K): ``print(formulas)``.

    coordinates : names of x
    matrices : M, D and K by their letters, row by row, as references into *graph*
    """

    system: System
    graph: Graph
    coordinates: tuple[str, ...]
    matrices: Mapping[str, Sequence[Sequence[Ref]]]

    @property
    def variable(self) -> str:
        """The name of the variable of the polynomial: ``s``, or another where a parameter is called so."""
        return next(name for name in VARIABLES if name not in self.system.parameter_names or name == VARIABLES[-1])

    @property
    def headings(self) -> dict[str, str]:
        """The letters M, D, K in print, or words where the model has one of these names."""
        taken = {*self.system.parameter_names, *self.system.q_names}
        return dict(zip("MDK", "MDK" if taken.isdisjoint("MDK") else ("mass", "damping", "stiffness"), strict=True))

    @once
    def polynomial(self) -> Polynomial | None:
        """The coefficients of the powers of s, the constant first; None for more than six coordinates, or for long entries."""
        refs = [ref for rows in self.matrices.values() for row in rows for ref in row]
        if len(self.coordinates) > LARGE or len(reachable(self.graph, refs)) > LONG:
            return None
        opened = SumsOfProducts(self.graph)
        return tuple(map(opened.shorter, _determinant(self.graph, self.matrices)))

    def text(self) -> str:
        """Return a line for every entry other than 0, a symmetric one once, and one for the polynomial where it is short."""
        m, d, k = self.headings.values()
        return "\n".join(self._lines(text.TEXT, str, f"det({m}*{self.variable}^2 + {d}*{self.variable} + {k})"))

    def lines(self) -> list[str]:
        """Return the lines of :meth:`text`."""
        return self.text().splitlines()

    def as_dict(self) -> dict[str, Any]:
        """Return names and formulas as plain data."""
        return {"model": self.system.name, "coordinates": list(self.coordinates), "formulas": self.lines()}

    def latex(self) -> str:
        """Return :meth:`text` in LaTeX, in ``aligned`` for use within ``$$``."""
        s = latex.label(self.variable)
        m, d, k = map(latex.label, self.headings.values())
        whole = rf"\det\left({m}\,{{{s}}}^{{2}} + {d}\,{s} + {k}\right)"
        return aligned(self._lines(latex.LATEX, latex.label, whole), "aligned")

    def sympy(self) -> dict[str, Any]:
        """Return M, D, K as matrices of SymPy, and ``polynomial``, a ``Poly`` in :attr:`variable`, or None."""
        from kineta.interop.sympy import to_sympy

        refs = [ref for rows in self.matrices.values() for row in rows for ref in row]
        left = iter(to_sympy(self.graph, refs))
        import sympy

        n = len(self.coordinates)
        found: dict[str, Any] = {k: sympy.Matrix(n, n, [next(left) for _ in range(n * n)]) for k in self.matrices}
        if self.polynomial is None:
            return found | {"polynomial": None}
        return found | {
            "polynomial": sympy.Poly(to_sympy(self.graph, self.polynomial)[::-1], sympy.Symbol(self.variable))
        }

    def _lines(self, notation: Notation, show: Callable[[str], str], polynomial: str) -> Iterator[str]:
        g, entries = self.graph, dict[str, Ref]()
        for letter, rows in self.matrices.items():
            for i, row in enumerate(rows):
                for k, ref in enumerate(row):
                    if ref != ZERO and not (k < i and rows[k][i] == ref):
                        entries[f"{self.headings[letter]}[{self.coordinates[i]},{self.coordinates[k]}]"] = ref
        known, given = kinds(self.system), unit_quaternions(self.system)
        form = printed_form(g, list(entries.values()), list(entries), known, premises=given)
        yield from (f"{name} = {value}" for name, value in form.lines(notation, [show(name) for name in entries]))
        if self.polynomial is not None and len(self._written(text.TEXT)) <= READ:
            yield f"{polynomial} = {self._written(notation)}"

    def _written(self, notation: Notation) -> str:
        """The characteristic polynomial, by falling powers."""
        terms, name = [], notation.name(self.variable)
        known, given = kinds(self.system), unit_quaternions(self.system)
        for k, ref in reversed([*enumerate(self.polynomial or ())]):
            if ref == ZERO:
                continue
            form = printed_form(self.graph, [ref], [self.variable], known, parts=False, premises=given)
            ((_, value),) = form.lines(notation, [self.variable])
            minus = value.startswith("-") and not _is_sum(value[1:])
            value = value[1:].lstrip() if minus else value
            power = name if k == 1 else notation.power(name, str(k))
            if k and value == "1":
                value = power
            elif k:
                value = notation.product(1, [notation.brackets(value) if _is_sum(value) else value, power], [])
            terms.append((minus, value))
        if len(terms) > 1:
            return notation.sum(terms)
        return "".join(f"{'-' * minus}{value}" for minus, value in terms) or "0"

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<OscillationFormulas of '{self.system.name}': {', '.join(self.coordinates)}>"

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"


def _is_sum(value: str) -> bool:
    """Whether a formula in print is a sum outside of its brackets."""
    depth = 0
    for k, c in enumerate(value):
        depth += (c in "({[") - (c in ")}]")
        if depth == 0 and k and value[k : k + 3] in (" + ", " - "):
            return True
    return False


def oscillation_formulas(system: System | Equations, about: Any = None) -> OscillationFormulas:
    """Return the matrices of mass, damping and stiffness of small oscillations of *system*, and their characteristic
    polynomial, as expressions in the parameters.

    *about* is an equilibrium, as for :func:`~kineta.tasks.linear.symbolic_matrices.linear_formulas`. D contains gyroscopic terms,
    K those of circulatory forces. Raises :class:`ArgumentError` as ``linear_formulas`` does, for a state that is no equilibrium
    at rest, and for constraints on speeds and quasi-velocities, for which ``linear_formulas`` has matrices of first order.
    """
    equations = given_equations(system)
    model = equations.system
    warn_ignored(model, "small oscillations")
    if model.states:
        raise ArgumentError(
            f"Model '{model.name}' has states of first order ({excerpt(model.state_names)}), which no M, D and K hold; "
            "linear_formulas (kineta linearize --formulas) has them in its matrix A."
        )
    _check_constraints(equations)
    found = symbolic_tangent(equations, about)
    _check_state(model, found)
    made, n = found.elimination, model.nv
    free = [k for k in found.states.places if k < n]
    with expressible(model):
        T = found.states.all_states(made.algebra, found.at)[:n, : len(free)]
        matrices = {
            letter: made.algebra.product(T.T, made.algebra.product(block, T))
            for letter, block in (("M", found.mass), ("D", found.slopes["Fv"]), ("K", found.slopes["Fq"]))
        }
    refs = iter(made.shown([ref for block in matrices.values() for ref in block.flat]))
    rows = {letter: [[next(refs) for _ in row] for row in block] for letter, block in matrices.items()}
    names = state_names(model)
    return OscillationFormulas(model, made.graph, tuple(names[k] for k in free), rows)


def _check_constraints(equations: Equations) -> None:
    """Raise :class:`ArgumentError` for constraints on speeds and quasi-velocities."""
    with equations.shared() as d:
        on_speeds = d.symbols.projected or any(row.order for row in d.constraint_rows)
    if on_speeds:
        raise ArgumentError(
            f"Model '{equations.system.name}': its constraints are on speeds, so that small motions do not obey M x'' + D x' + "
            "K x = 0; ask for the matrices of first order (linear_formulas, kineta linearize --formulas)."
        )


def _check_state(system: System, found: SymbolicTangent) -> None:
    """Raise :class:`ArgumentError` where *found* is about no equilibrium at rest."""
    number = found.elimination.number
    speeds = [name for name, u in zip(system.v_names, found.slopes["u"].flat, strict=True) if abs(number(u)) > 0]
    if speeds:
        raise ArgumentError(
            f"Model '{system.name}': expected a state at rest, found {excerpt(speeds)} other than 0; ask for the matrices of "
            "first order (linear_formulas, kineta linearize --formulas)."
        )
    valued = all(p.value is not None for p in system.parameters)
    rates = np.array([number(x) for x in found.vdot.flat])
    size = np.array([sum(abs(number(x)) for x in row) for row in found.slopes["Fq"]]).max(initial=0)
    for name, rate in zip(system.v_names, rates, strict=True):
        if abs(rate) > tolerances.CONSTRAINT_TOLERANCE * max(size, 1.0):
            if valued:
                raise ArgumentError(
                    f"Model '{system.name}': the state is no equilibrium: {name} changes by {rate:.3g} a second. Give one, as "
                    "about=kn.equilibrium(system), or coordinates by name."
                )
            raise ArgumentError(
                f"Model '{system.name}': the state is no equilibrium for all values of the parameters: "
                f"{_rate(system, found, name)}. Give coordinates for which this is 0, as numbers or, where they depend on "
                f"parameters, as initial values of the model: initial {system.q_names[0]} = ...;"
            )


def _rate(system: System, found: SymbolicTangent, name: str) -> str:
    """The rate of a speed as a formula, or that it is not 0 where this is long."""
    made = found.elimination
    (ref,) = made.shown([found.vdot.flat[system.v_names.index(name)]])
    if len(reachable(made.graph, [ref])) <= LONG:
        form = printed_form(made.graph, [ref], [f"{name}'"], kinds(system), parts=False)
        ((label, value),) = form.lines(text.TEXT, [f"{name}'"])
        if len(value) <= READ // 2:
            return f"{label} = {value} there"
    return f"{name}' is not 0 there"


def _determinant(graph: Graph, rows: Mapping[str, Sequence[Sequence[Ref]]]) -> Polynomial:
    """det(M s^2 + D s + K), by expansion along rows, each minor once."""
    n = len(rows["M"])

    def add(a: Polynomial, b: Polynomial) -> Polynomial:
        size = max(len(a), len(b))
        whole = ((*x, *[ZERO] * (size - len(x))) for x in (a, b))
        return tuple(graph.add(x, y) for x, y in zip(*whole, strict=True))

    def times(a: Polynomial, b: Polynomial) -> Polynomial:
        found: Polynomial = ()
        for i, x in enumerate(a):
            found = add(found, (*[ZERO] * i, *(graph.mul(x, y) for y in b)))
        return found

    @cache
    def minor(columns: tuple[int, ...]) -> Polynomial:
        """The determinant of the last rows in these *columns*."""
        if not columns:
            return (ONE,)
        i, total = n - len(columns), Polynomial(())
        for at, k in enumerate(columns):
            entry = tuple(rows[letter][i][k] for letter in "KDM")
            if any(x != ZERO for x in entry):
                rest = minor(columns[:at] + columns[at + 1 :])
                total = add(total, times(tuple(map(neg, entry)) if at % 2 else entry, rest))
        return total

    return minor(tuple(range(n)))
