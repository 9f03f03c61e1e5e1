"""The formulas of one quantity, as counted and compiled, and in print: text, LaTeX and SymPy expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kineta.algebra.expression import Expr
from kineta.equations.kept_names import kept_names, names_stand
from kineta.errors import ArgumentError, ExpressionError, shown, suggestion
from kineta.expr.graph import Graph, Ref, neg
from kineta.expr.walk import reachable
from kineta.mechanics.constraints.structural_rank import start
from kineta.mechanics.derivation import Array, Derivation
from kineta.mechanics.equations_of_motion import EquationsOfMotion, equations_of_motion
from kineta.mechanics.formalisms.hamilton import in_speeds
from kineta.mechanics.quantities import HIGHEST, NAMES, quantity
from kineta.mechanics.variables import Symbols, symbols
from kineta.model.checks.scaling_check import scaling_diagnosis
from kineta.model.reserved_symbols import added_force, momentum
from kineta.model.system import System
from kineta.notation.defined_names import DefinedNames, in_order, shortest_form
from kineta.notation.premises import Premises
from kineta.notation.printed_form import PrintedForm, form_cost
from kineta.notation.text import TEXT, Text
from kineta.notation.typesetting import FactorKind, Kinds, Notation
from kineta.passes.simplify import simplify
from kineta.records import dataclass
from kineta.threads import collector_paused, memo
from kineta.values import flag

#: What is printed as a whole: the equations of motion with their constraints.
EQUATIONS = "equations"

#: Nodes of canonical equations above which the rates of the momenta are in terms of the speeds.
LONG = 145

#: Names of what is printed.
PRINTED = (EQUATIONS, *NAMES)


@dataclass(frozen=True, eq=False, repr=False)
class Formulas:
    """*quantity* after all passes: references *array* into a graph of its own.

    left : the left sides of the first entries, where these are expressions
    defined : the entries and left sides in terms of the named expressions of the system
    """

    symbols: Symbols
    quantity: str
    array: Array
    left: tuple[Ref, ...] = ()
    defined: DefinedNames | None = None

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

    def text(self, *, parts: bool = True, order: Iterable[str] = (), rising: bool = False) -> Iterator[str]:
        """``z1 = ...`` for every repeated part, then ``name = ...`` for every entry.

        Without *parts* every entry is written out. Raises :class:`ArgumentError` for formulas too long for this.
        *order* : names that stand first among those of their kind, in this order; the others follow as they are declared
        *rising* : sums begin with their lowest derivatives, not with the highest
        """
        return self._text(Text(rising=flag("rising", rising)), str, parts, kinds(self.system, order))

    def latex(self, *, parts: bool = True, order: Iterable[str] = (), rising: bool = False) -> Iterator[str]:
        """:meth:`text` in LaTeX."""
        # Imported here, as in the compiler: loaded only if needed.
        from kineta.notation import latex

        notation = latex.Latex(rising=flag("rising", rising))
        return self._text(notation, latex.label, parts, kinds(self.system, order))

    def _text(self, notation: Notation, show: Callable[[str], str], parts: bool, known: Kinds) -> Iterator[str]:
        yield from (f"{left} = {right}" for left, right in self.lines(notation, show, parts, known))
        yield from self.conditions(notation, parts, known)

    def reading_cost(self, *, parts: bool = True) -> float:
        """How much there is to read in :meth:`text`: one for a name, more for brackets, fractions and named parts."""
        names = _names(self)
        known = kinds(self.system)
        return form_cost(self._printed(names, parts, known), self._labels(names), known)

    def lines(
        self, notation: Notation, show: Callable[[str], str], parts: bool, known: Kinds
    ) -> Iterator[tuple[str, str]]:
        """Left sides, by *show*, and right sides in a *notation*: of the named parts, then of the entries."""
        names = _names(self)
        form = self._printed(names, parts, known)
        if not self.left:
            own = list(form.lines(notation, [show(name) for name in names]))
            # Speeds stand before the parts that show them.
            needed = in_order(list(form.lines(TEXT, names))) if self.quantity == "canonical" else range(len(own))
            yield from (own[k] for k in needed)
            return
        written = list(form.lines(notation, [show(name) for name in self._labels(names)]))
        whole, sides = written[: len(written) - len(self.left)], written[len(written) - len(self.left) :]
        first = len(whole) - len(names)
        yield from whole[:first]
        yield from ((side, value) for (_, side), (_, value) in zip(sides, whole[first:], strict=False))
        yield from whole[first + len(sides) :]

    def conditions(self, notation: Notation, parts: bool, known: Kinds) -> Iterator[str]:
        """The conditions under which the entries hold: signs that no motion changes, as they are at the start."""
        yield from self._printed(_names(self), parts, known).conditions(notation)

    def _labels(self, names: Sequence[str]) -> list[str]:
        """Names of the entries, and of the left sides."""
        return [*names, *names[: len(self.left)]]

    def _printed(self, names: Sequence[str], parts: bool, known: Kinds) -> PrintedForm:
        return memo(self, (PrintedForm, parts, *known), lambda: self._shortest(names, parts, known))

    def _shortest(self, names: Sequence[str], parts: bool, known: Kinds) -> PrintedForm:
        refs, labels = (*self.array.refs, *self.left), self._labels(names)
        given = premises(self.system)
        return shortest_form(self.graph, refs, labels, known, self.defined, parts=parts, premises=given)

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
        return {n: (n.rstrip("'"), n.count("'")) for n in moving} | {
            added_force(n): (added_force(n), 0) for n in s.v_names
        }


def kinds(system: System, order: Iterable[str] = ()) -> Kinds:
    """Kinds of the names in the equations of *system*, in the order of products; those in *order*, with their derivatives, stand
    before others of their kind. Raises :class:`ArgumentError` for names that the equations do not have.
    """
    v = system.v_names
    rows: tuple[tuple[FactorKind, tuple[str, ...]], ...] = (
        (FactorKind.PARAMETER, system.parameter_names),
        (FactorKind.POSITION, ("t", *system.q_names)),
        (FactorKind.SPEED, (*map(momentum, v), *v)),
        (FactorKind.ACCELERATION, (*(f"{n}'" for n in v), *(added_force(n) for n in v), *(f"{n}''" for n in v))),
    )
    if wanted := {name: k for k, name in enumerate(checked_order(system, order))}:
        rank = {n: wanted.get(n, wanted.get(_bare(n), len(wanted))) for _, names in rows for n in names}
        rows = tuple((kind, tuple(sorted(names, key=rank.__getitem__))) for kind, names in rows)
    return {name: (kind, k) for kind, names in rows for k, name in enumerate(names)}


def premises(system: System) -> Premises:
    """The values of names at the start of *system*, none where this is not defined, and its quaternions."""
    try:
        first = start(system)
    except ExpressionError:
        first = {}
    return replace(unit_quaternions(system), start=first)


def unit_quaternions(system: System) -> Premises:
    """The quaternions of *system* alone: no signs are left out."""
    return Premises(quaternions=tuple(system.quaternions))


def checked_order(system: System, order: Iterable[Any]) -> tuple[str, ...]:
    """The names in *order*, which are those of parameters, coordinates and speeds. Raises :class:`ArgumentError` for others."""
    if isinstance(order, str) or not isinstance(order, Iterable):
        raise ArgumentError(f"Expected the order as a list of names, found {shown(order)}.")
    names = tuple(order)
    known = ("t", *system.parameter_names, *system.q_names, *system.v_names, *map(added_force, system.v_names))
    for k, name in enumerate(names):
        if not isinstance(name, str):
            own = f'; give the name, "{name.name}"' if isinstance(name, Expr) and name.name else ""
            raise ArgumentError(f"Expected names in the order, found {shown(name)}{own}.")
        if name not in known:
            raise ArgumentError(
                f"The equations of '{system.name}' have no name '{name}' to be put in order.{suggestion(name, known)}"
            )
        if name in names[:k]:
            raise ArgumentError(f"Expected names of which none stands twice in the order, found {shown(name)} twice.")
    return names


def _bare(name: str) -> str:
    """The coordinate or speed of which *name* is a derivative, momentum or force."""
    inside = re.fullmatch(r"\w+\[(.*)\]'*", name)
    return (inside[1] if inside else name).rstrip("'")


def formulas(derivation: Derivation, quantity: str) -> Formulas:
    """The formulas of *quantity*; a fresh derivation gives the same formulas every time."""
    array = derivation[quantity]
    own, functions = simplified(derivation, {quantity: array.refs}, derivation.symbols.system.parameter_names)
    return Formulas(own, quantity, array.of(functions[quantity]))


def printed_canonical(formulas: Formulas, derivation: Derivation, system: System) -> Formulas:
    """The canonical *formulas*, of long ones the rates of the momenta in terms of the speeds, which the first of them define."""
    refs = derivation[formulas.quantity].refs
    named = {*system.v_names} <= {*_names(formulas)}
    if named and len(reachable(formulas.graph, formulas.array.refs)) > LONG:
        refs = tuple(in_speeds(derivation))
        own, functions = simplified(derivation, {formulas.quantity: refs}, system.parameter_names)
        formulas = Formulas(own, formulas.quantity, formulas.array.of(functions[formulas.quantity]))
    return with_kept_names(formulas, derivation, system, refs) if names_stand(system, formulas.graph) else formulas


def with_kept_names(formulas: Formulas, derivation: Derivation, system: System, refs: Sequence[Ref]) -> Formulas:
    """*formulas* that know their entries and left sides, *refs* of the *derivation*, by the named expressions of *system*."""
    return replace(formulas, defined=kept_names(derivation, system, refs))


def printed_equations(
    derivation: Derivation, system: System, inverse: Callable[[], Formulas], *, unforced: bool = False
) -> Formulas:
    """The equations of motion for print: the forces with the multipliers of constraints and programs, then these, then the rates
    of the first-order states.

    Of the second order they are tau = M vdot + h - A^T lambda, then 0 = f; under programs that ask for a higher order M z = ...,
    the highest derivatives on the left. A constraint or program is shown as it is written. *unforced* equations have no added
    forces: 0 = M vdot + h - A^T lambda. Named expressions of *system*, the one as it is described, keep their names where that is
    shorter to read. *inverse* gives the formulas of inverse dynamics.
    """
    found = equations_of_motion(derivation)
    n, m = len(derivation.symbols.v), len(found.conditions)
    own, refs = _simplified_equations(found, system, inverse)
    ends = (*["0"] * m, *(f"{name}'" for name in system.state_names))
    if found.order == 2:
        labels = (*(["0"] * n if unforced else quantity("inverse").labels(system, (n,))), *ends)
    else:
        labels = (*(f"left[{k + 1}]" for k in range(n)), *ends)
    entries, left = _written_equations(own.graph, found, refs)
    shown = Formulas(own, EQUATIONS, Array((len(labels),), entries, labels=labels), left)
    if not names_stand(system, own.graph):
        return shown
    functions = _ends(found) | _lead(found)
    return with_kept_names(shown, derivation, system, sum(_written_equations(derivation.graph, found, functions), ()))


def _simplified_equations(
    found: EquationsOfMotion, system: System, inverse: Callable[[], Formulas]
) -> tuple[Symbols, dict[str, list[Ref]]]:
    """The functions that equations of motion consist of, simplified in a common new graph, with the symbols of this graph."""
    d, given = found.derived, system.parameter_names
    if found.order > 2 or found.controlled:
        return simplified(d, _lead(found) | _ends(found), given)
    forces, own = inverse(), symbols(d.symbols.system, Graph())
    own.graph.copy_from(forces.graph)
    own, ends = simplified(d, _ends(found), given, own)
    return own, {"lead": list(forces.array.refs), **ends}


def _lead(found: EquationsOfMotion) -> dict[str, Sequence[Ref]]:
    """What stands beside the reactions, and the mass matrix where its products are shown apart."""
    return {"lead": found.balance} if found.order == 2 else {"lead": found.rest, "inertia": found.inertia}


def _ends(found: EquationsOfMotion) -> dict[str, Sequence[Ref]]:
    """Directions of the reactions, conditions, and rates of the first-order states."""
    directions = [x for row in found.reactions.values() for x in row]
    rates = found.derived.symbols.state_rates
    return {"directions": directions, "conditions": found.conditions, "rates": rates}


def _written_equations(
    g: Graph, found: EquationsOfMotion, refs: Mapping[str, Sequence[Ref]]
) -> tuple[tuple[Ref, ...], tuple[Ref, ...]]:
    """The entries of the equations of motion *found*, and the left sides of those of higher order, from *refs* in a graph."""
    n, forces = len(refs["lead"]), list(refs["lead"])
    for j, name in enumerate(found.reactions):
        unknown, along = g.symbol(name), refs["directions"][j * n : (j + 1) * n]
        forces = [g.sub(force, g.mul(a, unknown)) for force, a in zip(forces, along, strict=True)]
    ends = (*refs["conditions"], *refs["rates"])
    if found.order == 2:
        return (*forces, *ends), ()
    z = [g.symbol(name) for name in found.highest]
    sides = (g.sum(g.mul(refs["inertia"][k * n + j], z[j]) for j in range(n)) for k in range(n))
    return (*(neg(x) for x in forces), *ends), tuple(sides)


@collector_paused()
def simplified(
    derivation: Derivation,
    functions: Mapping[str, Sequence[Ref]],
    given: Collection[str],
    own: Symbols | None = None,
) -> tuple[Symbols, dict[str, list[Ref]]]:
    """*functions* of a derivation, each simplified with the symbols *given* constant, in the graph of *own* symbols or in a new
    one; with the symbols of this graph.
    """
    system = derivation.symbols.system
    own = symbols(system, Graph()) if own is None else own
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


def above(shown: str, lines: Sequence[tuple[str, str]], conditions: Sequence[str] = ()) -> str:
    """*shown* above named *lines* and *conditions*."""
    below = [*(f"{name} = {value}" for name, value in lines), *conditions]
    return "\n".join([shown, *([""] if below else []), *below])


def gathered(shown: str, lines: Sequence[tuple[str, str]], conditions: Sequence[str] = ()) -> str:
    """LaTeX: *shown* above named *lines* and *conditions*."""
    below = [*(f"{name} = {value}" for name, value in lines), *conditions]
    return f"\\begin{{gathered}}\n{shown} \\\\\n{aligned(below, 'aligned')}\n\\end{{gathered}}" if below else shown


def _names(formulas: Formulas) -> list[str]:
    """Names of the entries, part by part."""
    array = formulas.array
    if array.labels or not array.refs:
        return list(array.labels)
    parts = array.parts or ((formulas.quantity, array.shape),)
    return [n for name, shape in parts for n in quantity(name).labels(formulas.system, shape)]
