"""Equations of a system, derived at first access, and their straight-line programs, functions and formulas."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

from kineta.algebra.expression import LOCK
from kineta.calls import public
from kineta.codegen.c import identifier
from kineta.codegen.compiled_functions import CompiledFunctions
from kineta.equations.formulas import (
    EQUATIONS,
    Formulas,
    aligned,
    checked_order,
    formulas,
    printed_canonical,
    printed_equations,
    simplified,
    with_kept_names,
)
from kineta.equations.kept_names import names_stand
from kineta.errors import ArgumentError, ModelError, did_you_mean, one_of, shown, warn
from kineta.expr.count import Operations
from kineta.expr.graph import Graph, Ref
from kineta.expr.lane_program import LaneProgram
from kineta.expr.program import StraightLineProgram
from kineta.mechanics import loops_over_components
from kineta.mechanics.acceleration_derivatives import articulated
from kineta.mechanics.columns import ColumnNumbers, ColumnSteps
from kineta.mechanics.constraints.solution_strategies import AUTO, MULTIPLIERS, STRATEGY_NAMES
from kineta.mechanics.derivation import Array, Derivation
from kineta.mechanics.formalisms import hamilton
from kineta.mechanics.formalisms.formalism import Formalism
from kineta.mechanics.formalisms.table import by_reference
from kineta.mechanics.formalisms.table import formalism as formalism_of
from kineta.mechanics.quantities import DERIVATIVES
from kineta.mechanics.quantities import quantity as row_of
from kineta.mechanics.variables import Symbols, symbols
from kineta.model.coercion import records
from kineta.model.reserved_symbols import MULTIPLIER
from kineta.model.system import System, a_system
from kineta.model.transformations.components import Components
from kineta.model.transformations.equivalents import parametrised
from kineta.model.transformations.isomorphism import isomorphisms, named_as
from kineta.passes.hoist import Outputs, hoist
from kineta.passes.simplify import stages
from kineta.passes.step_recorder import UnsuitedError
from kineta.records import dataclass
from kineta.threads import bounded_memo, collector_paused, memo, once
from kineta.values import flag

if TYPE_CHECKING:
    from kineta.equations.derivation_report import DerivationReport
    from kineta.equations.function import Function
    from kineta.equations.matrix_form import MatrixForm
    from kineta.mechanics.narration import Step

T = TypeVar("T")

#: Quantities with a derivation report, beside the nonholonomic forms, and their steps.
REPORTED: Mapping[str, Callable[[Formalism, Derivation], Iterator[Step]]] = {
    "inverse": Formalism.told,
    "canonical": lambda _, derivation: hamilton.steps(derivation),
}

#: Operations from which on columns of derivatives are computed in lanes: for fewer, straight code is as fast.
LONG = 8_000
#: Systems whose equations are cached, the most recently used.
CACHED_EQUATIONS = 8

#: Sets of user expressions, such as forces and events, with memoised results per equations, the most recently used.
MEMO_SIZE = 32

#: Speeds of the largest system with formulas in notebooks, and number of formulas at most.
SHOWN, LINES = 30, 24


def derive(system: System, formalism: str | Formalism = "newton_euler", *, strategy: str = AUTO) -> Equations:
    """The equations of motion of *system* by *formalism*: a formalism of the library or of an entry point by name, or an
    object.

    *strategy* is the solution strategy for accelerations under constraints: by ``multipliers``, in the ``nullspace`` of the
    constraints, by ``partition`` of the speeds into free and dependent ones, or ``auto``. Quantities are derived at first
    access. Raises :class:`ArgumentError` for an unknown or inapplicable formalism or strategy.
    """
    method, strategy = formalism_of(formalism), one_of(strategy, STRATEGY_NAMES, "a strategy")
    reason = method.applies(a_system(system))
    if reason:
        raise ArgumentError(f"Model '{system.name}': the formalism {method.name} does not apply: {reason}")
    if system.quasi and strategy != AUTO:
        raise ArgumentError(
            f"Model '{system.name}': quasi-velocities are its strategy, found '{strategy}'. Leave out the one or the other."
        )
    chosen = MULTIPLIERS if strategy == AUTO else strategy
    return Equations(system, method, replace(method.derivation(system), strategy=chosen))


def derive_exactly(system: System, formalism: str | Formalism) -> Equations:
    """The equations of *system* by *formalism* in exact arithmetic: numbers of the model are parameters, and constants are
    not folded with rounding. The arguments are checked by :func:`derive`.
    """
    own = parametrised(system)
    method = formalism_of(formalism)
    derived = method.derivation(own, exact=True)
    return Equations(own, method, replace(derived, strategy=MULTIPLIERS))


@lru_cache(maxsize=CACHED_EQUATIONS)
def equations_of(system: System) -> Equations:
    """The cached equations of *system*: the same record for an equal system.

    The cache is bounded, not weak: the equations refer to their system.
    """
    return derive(system)


def given_equations(system: System | Equations) -> Equations:
    """*system*, if it is equations, else the equations of a system. Raises :class:`ArgumentError` for other objects."""
    if isinstance(system, Equations):
        return system
    if not isinstance(system, System):
        raise ArgumentError(f"Expected a System or its Equations, found {shown(system)}; kineta.load reads a file.")
    return equations_of(system)


@public
@dataclass(frozen=True, repr=False, eq=False)
class Equations:
    """Equations of motion ``M(q) vdot + bias(t, q, v) = tau`` and related quantities, as named expressions.

    ``bias`` contains all loads of the model: gravity, elements, prescribed motion; ``tau`` is added to them.

    Threads share the derivation, which grows: they reach it by :meth:`shared`, one at a time.

    ``like`` are equations of a system that differs from this one in names alone, and its names with those of this one: code of
    the one serves the other, so that of ten boxes one is compiled.
    """

    system: System
    method: Formalism
    derivation: Derivation
    like: tuple[Equations, Mapping[str, str]] | None = None

    @property
    def formalism(self) -> str:
        """The name of the formalism."""
        return self.method.name

    def without(self, constraints: Iterable[str]) -> Equations:
        """The equations without the redundant rows *constraints*. Raises :class:`ArgumentError` for unknown names of rows."""
        names = frozenset(records(constraints, str, "names of rows of constraints", "'loop.x'"))
        if names == self.left_out:
            return self
        known = {*self.constraint_rows, *self.left_out}
        for name in sorted(names - known):
            raise ArgumentError(
                f"Model '{self.system.name}' has no row '{name}' of constraints.{did_you_mean(name, known)}"
            )

        def made() -> Equations:
            like = self.like
            if like is not None:
                back = {own: first for first, own in like[1].items()}
                like = like[0].without(named_as(back, name) for name in names), like[1]
            return Equations(self.system, self.method, replace(self.derivation, left_out=names), like)

        return self.memo((Equations, names), made)

    def settled(self) -> Equations:
        """The equations without constraints that are redundant at the start of the model, projected onto the constraints; a
        warning names them. Of equations with parameters without values, and of those with quasi-velocities, those are left out
        that are redundant at all states.

        Equations with dropped constraints, or without a consistent state near the start, are returned unchanged. Raises
        :class:`ModelError` for constraints that contradict each other everywhere.
        """
        if not self.system.constraints or self.left_out:
            return self

        def decided() -> Equations:
            # The decision is numeric, at the start: derivations are independent of it.
            from kineta.consistency.consistent_start import (
                all_independent,
                redundant_beside_quasi_velocities,
                without_redundant_rows,
                without_repeated_rows,
            )
            from kineta.equations.function import parameter_values
            from kineta.equations.initial_values import initial_state

            if self.system.quasi:
                if redundant := redundant_beside_quasi_velocities(self):
                    warn(f"Model '{self.system.name}': {redundant}.")
                return self
            if unknown := [p.name for p in self.system.parameters if p.value is None]:
                one = dict.fromkeys(unknown, 1.0)
                return without_repeated_rows(
                    self, lambda: (parameter_values(self.system, one), initial_state(self.system, p=one))
                )
            own = [(part, parameter_values(part.system), initial_state(part.system)) for part in self.repeated]
            if own and all_independent(own):
                return self
            return without_redundant_rows(self, parameter_values(self.system), initial_state(self.system))

        return self.memo("settled", decided)

    @once
    def repeated(self) -> tuple[Equations, ...]:
        """The equations of the components, where these are many, small, and of few kinds; empty for other systems."""
        if self.left_out or not loops_over_components.perhaps_many(self.system):
            return ()
        each = components_of(self)[1]
        kinds = [part for part in each if part.like is None]
        few = len(kinds) * loops_over_components.REPEATED <= len(each)
        return each if few and all(part.system.nv <= loops_over_components.LARGE for part in kinds) else ()

    @property
    def strategy(self) -> str:
        """The solution strategy for accelerations under constraints; ``auto`` for systems without a choice."""
        return self.derivation.strategy if self.system.constraints and not self.system.quasi else AUTO

    @property
    def graph(self) -> Graph:
        """The graph of all expressions."""
        return self.derivation.graph

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the available quantities, without the quantities of one body or point, as ``position(A)``."""
        return tuple(self.derivation.rules)

    @property
    def left_out(self) -> frozenset[str]:
        """Names of the redundant rows of constraints, which are dropped."""
        return self.derivation.left_out

    @once
    def constraint_rows(self) -> tuple[str, ...]:
        """Names of the rows of all constraints."""
        with self.shared() as d:
            return tuple(r.constraint for r in d.constraint_rows)

    @once
    def rows(self) -> tuple[str, ...]:
        """Names of the rows of constraints that reactions enforce."""
        with self.shared() as d:
            return tuple(r.constraint for r in d.rows)

    @once
    def contact_rows(self) -> tuple[str, ...]:
        """Names of the rows of contacts, limits and dry friction."""
        with self.shared() as d:
            return tuple(row.constraint for contact in d.contacts for row in contact.rows)

    @property
    def multipliers(self) -> tuple[str, ...]:
        """Names of the multipliers of the constraints, ``lambda.pin.x``."""
        return tuple(f"{MULTIPLIER}{row}" for row in self.constraint_rows)

    def shared(self) -> AbstractContextManager[Derivation]:
        """The derivation, while no other thread has it."""
        return _locked(self.derivation)

    def expressions(self, quantity: str) -> Array:
        """The expressions of *quantity*: shape and references into :attr:`graph`."""
        with self.shared() as d:
            return d[quantity]

    def alone(self, *, watched: bool = False, baumgarte: float = 0.0) -> Derivation:
        """A derivation in a graph of its own, so that compiled code is independent of other requests."""
        own = self.derivation
        new = self.method.derivation(self.system, exact=own.graph.exact)
        return replace(new, left_out=own.left_out, strategy=own.strategy, watched=watched, baumgarte=baumgarte)

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of *make* for *key*, computed once for these equations; threads share it."""
        return memo(self, key, make)

    def bounded_memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """As :meth:`memo`, for unbounded sets of keys: only the keys last used are retained."""
        return bounded_memo(self, key, make, MEMO_SIZE)

    def compiled(
        self, key: Hashable, programs: Callable[[Derivation], Iterable[StraightLineProgram]]
    ) -> CompiledFunctions:
        """The functions that *programs* makes from a derivation of its own, for one state and for rows of states; made once
        for a *key*.
        """
        return self.bounded_memo(key, lambda: CompiledFunctions(programs(self.alone()), batch=True))

    def formulas(self, quantity: str) -> Formulas:
        """*quantity* after all passes, as printed, counted and compiled."""
        name = self._known(quantity)
        return self.memo((Formulas, name), lambda: formulas(self.alone(), name))

    def _known(self, quantity: str) -> str:
        return self.derivation.known(quantity)

    def programs(self, quantity: str) -> tuple[StraightLineProgram, StraightLineProgram]:
        """Two programs: from parameters ``p`` to ``h``, and from t, q, v (and tau or vdot) and ``h`` to *quantity*; in loops over
        the links where many of these are alike.
        """
        name = self._known(quantity)

        @collector_paused()
        def made() -> tuple[StraightLineProgram, StraightLineProgram]:
            if name in loops_over_components.SEPARATE and (found := self._over_components(name)) is not None:
                return found
            if (
                self.method.loops_suit(self.system, name)
                and (looped := self.method.looped(self.alone(), name)) is not None
            ):
                return looped
            shown = self.formulas(name)
            found = _lowered(shown.symbols, name, shown.array)
            if found[1].n_operations < LONG or name not in self.method.columns:
                return found
            return self._in_lanes(shown, self.method.columns[name]) or found

        return self.memo((StraightLineProgram, name), made)

    def _in_lanes(
        self, shown: Formulas, blocks: Sequence[str]
    ) -> tuple[StraightLineProgram, StraightLineProgram] | None:
        """The programs of *shown*, derivatives by *blocks*, with their columns in lanes; None where these do not suit."""
        d = self.alone()
        if not articulated(d):
            return None
        numbers, own = ColumnNumbers(d), symbols(self.system, Graph())
        own.graph.copy_from(shown.graph)
        own, refs = simplified(d, {"": numbers.refs()}, self.system.parameter_names, own)
        steps = ColumnSteps(numbers, blocks, own.graph, refs[""])
        setup, (main, given) = _with_numbers(own, shown.quantity, shown.array, steps.given)
        return setup, LaneProgram.of(main, given, steps.first, steps.steps)

    def _over_components(self, quantity: str) -> tuple[StraightLineProgram, StraightLineProgram] | None:
        """The programs of a *quantity* in loops over components that are alike; None where such loops do not suit."""
        if not self.repeated:
            return None
        firsts = [part if part.like is None else part.like[0] for part in self.repeated]
        kinds = dict[int, loops_over_components.ComponentKind]()
        for first in firsts:
            if id(first) not in kinds:
                shown = first.formulas(quantity)
                kinds[id(first)] = loops_over_components.ComponentKind(shown.symbols, quantity, shown.array.refs)
        try:
            own = [kinds[id(first)] for first in firsts]
            systems = [part.system for part in self.repeated]
            return loops_over_components.programs(self.system, quantity, own, systems)
        except UnsuitedError:
            return None

    def operations(self, quantity: str) -> Operations:
        """Operations of one evaluation of *quantity*; work that depends on parameters only is counted separately."""
        return _counted(*self.programs(quantity))

    def explain(self, quantity: str) -> dict[str, Operations]:
        """Operations of *quantity* as derived, and after each pass."""
        derived, quantity = self.alone(), self._known(quantity)
        array, names = derived[quantity], self.system.parameter_names
        counts = {"derived": _counted(*_lowered(derived.symbols, quantity, array))}
        for name, graph, refs in stages(derived.graph, array.refs, names):
            lowered = _lowered(symbols(self.system, graph), quantity, array.of(refs))
            counts[name] = _counted(*lowered)
        return counts

    def matrix_form(self, *, unforced: bool = False) -> MatrixForm:
        """The equations of motion as matrices, M vdot + h = tau: ``print(equations.matrix_form())``.

        *unforced* equations have zeros in the place of added forces tau.
        """
        from kineta.equations.matrix_form import MatrixForm, matrix_form

        zero = flag("unforced", unforced)
        return self.memo((MatrixForm, zero), lambda: matrix_form(self.alone(), self.system, unforced=zero))

    def account(
        self, quantity: str = "inverse", *, order: Iterable[str] = (), rising: bool = False
    ) -> DerivationReport:
        """The derivation report, step by step: ``print(equations.account())``, ``.save("page.html")``.

        *quantity* is ``inverse``, the equations of motion, ``canonical``, Hamilton's equations, or a form of the equations of
        systems with constraints in independent speeds: ``maggi``, ``voronets``, ``chaplygin``, ``boltzmann_hamel``. The *order*
        of names and of terms is that of :meth:`text`. Raises :class:`ArgumentError` for another quantity, and for a form that
        does not apply.
        """
        from kineta.equations.derivation_report import DerivationReport, derivation_report
        from kineta.mechanics.nonholonomic import table as nonholonomic

        forms = nonholonomic.NONHOLONOMIC
        name = one_of(quantity, dict.fromkeys((*REPORTED, *forms)), "a quantity whose derivation is told")
        method = self.method

        def told() -> DerivationReport:
            if name in forms:
                own = nonholonomic.nonholonomic_derivation(name, self.system)
                steps = tuple(nonholonomic.nonholonomic_steps(name, own))
                return derivation_report(own, self.system, name, forms[name].source, steps)
            own = self.alone().as_described()
            steps = tuple(REPORTED[name](method, own))
            return derivation_report(own, self.system, self.formalism, method.source, steps)

        report = self.memo((DerivationReport, name), told)
        chosen = checked_order(self.system, order), flag("rising", rising)
        return replace(report, order=chosen[0], rising=chosen[1]) if any(chosen) else report

    def text(
        self,
        quantity: str = EQUATIONS,
        *,
        parts: bool = True,
        unforced: bool = False,
        order: Iterable[str] = (),
        rising: bool = False,
    ) -> str:
        """The formulas of *quantity* as text: a line for every named part, then a line for every entry.

        Without a *quantity* they are the equations of motion: the forces, with the multipliers of the constraints, then the
        constraints; *unforced* equations have 0 in the place of added forces. Without *parts* every entry is written out.
        Raises :class:`ArgumentError` for formulas too long for this.

        order : names that stand first among those of their kind (parameters, coordinates, ...), in this order
        rising : whether sums begin with their lowest derivatives, constants and positions, and not with the accelerations
        """
        found = self.printed(quantity, unforced=unforced)
        return "\n".join(found.text(parts=flag("parts", parts), order=order, rising=rising))

    def latex(
        self,
        quantity: str = EQUATIONS,
        *,
        parts: bool = True,
        unforced: bool = False,
        order: Iterable[str] = (),
        rising: bool = False,
    ) -> str:
        """The formulas of *quantity* as LaTeX, in ``aligned`` for use within ``$$``; as in :meth:`text`."""
        found = self.printed(quantity, unforced=unforced)
        return aligned(found.latex(parts=flag("parts", parts), order=order, rising=rising), "aligned")

    def printed(self, quantity: str = EQUATIONS, *, unforced: bool = False) -> Formulas:
        """The formulas of *quantity*, or without one the equations of motion with their constraints, for print.

        *unforced* equations of motion have 0 in the place of added forces.
        """
        zero = flag("unforced", unforced)
        if not isinstance(quantity, str) or quantity != EQUATIONS:
            if zero:
                raise ArgumentError(f"unforced is for the equations of motion; leave it out for {shown(quantity)}.")
            return self._printed(self._known(quantity))
        return self.memo(
            (Formulas, EQUATIONS, zero),
            lambda: printed_equations(self.alone(), self.system, lambda: self.formulas("inverse"), unforced=zero),
        )

    def _printed(self, quantity: str) -> Formulas:
        """The formulas of *quantity*, by named expressions too, and long canonical equations by speeds."""
        found = self.formulas(quantity)
        if quantity != "canonical" and not names_stand(self.system, found.graph):
            return found

        def made() -> Formulas:
            own = self.alone()
            if quantity == "canonical":
                return printed_canonical(found, own, self.system)
            return with_kept_names(found, own, self.system, own[quantity].refs)

        return self.memo((Formulas, quantity, "printed"), made)

    def sympy(self, quantity: str, *, dynamic: bool = False) -> Any:
        """*quantity* in SymPy: an expression, a ``Matrix`` (a column for a vector), or an ``Array`` of more dimensions.

        Its symbols are real and have the names of the model. With *dynamic*, coordinates and speeds are functions of time
        and their derivatives, as in ``sympy.physics.mechanics.dynamicsymbols``.
        """
        return self.formulas(quantity).sympy(dynamic=flag("dynamic", dynamic))

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.system, by_reference(self.method), self.strategy, self.left_out)

    def __repr__(self) -> str:
        return f"<Equations of '{self.system.name}' by {self.formalism}: {self.system.size}>"

    def _repr_latex_(self) -> str | None:
        """The first equations of motion, for notebooks; None for large systems, and where a law of control does not apply."""
        if self.system.nv > SHOWN:
            return None
        try:
            lines = list(self.printed().latex())
        except ModelError:
            return None
        rest = len(lines) - LINES
        shown = [*lines[:LINES], rf"& \text{{and {rest} more lines: equations.latex()}}"] if rest > 0 else lines
        return f"$$\n{aligned(shown, 'aligned')}\n$$"

    def _repr_html_(self) -> str | None:
        """A hint to the formulas, for notebooks that do not show them."""
        from html import escape

        if self.system.nv <= SHOWN:
            return None
        return f"<p>{escape(repr(self))}: <code>equations.text('inverse')</code> writes them</p>"

    def function(self, quantity: str, backend: str = "llvm") -> Function:
        """*quantity* as a numeric function, compiled by *backend* (``llvm``, ``numpy``, ``cuda``, or one of an entry point).

        Accelerations and other solutions under constraints belong to the :meth:`settled` equations.
        """
        # Printing and counting need no NumPy.
        from kineta.equations.function import Function, known_backend

        name = self._known(quantity)
        key = Function, name, known_backend(backend)
        own = self.settled() if row_of(name).solved else self
        return own.memo(key, lambda: Function(own.system, name, *own.programs(name), backend))


def components_of(
    equations: Equations, groups: Sequence[Sequence[str]] = ()
) -> tuple[Components, tuple[Equations, ...]]:
    """The components of the system of *equations*, with the *groups* of names coupled, and the equations of each."""

    def made() -> tuple[Components, tuple[Equations, ...]]:
        found = Components(equations.system, groups)
        if len(found.systems) == 1:
            return found, (equations,)
        each = list[Equations]()
        for k, own in enumerate(isomorphisms(found.systems)):
            each.append(part_of(equations, own.system, None if own.first == k else (each[own.first], own.names)))
        return found, tuple(each)

    return equations.bounded_memo((Components, *groups), made)


def part_of(equations: Equations, system: System, like: tuple[Equations, Mapping[str, str]] | None = None) -> Equations:
    """The equations of *system*, a component of that of *equations*, without the rows that these leave out; *like* as in
    :class:`Equations`.
    """
    whole, gone = equations.derivation, equations.left_out

    def made() -> Equations:
        own = equations.method.derivation(system, exact=whole.graph.exact)
        part = Equations(system, equations.method, replace(own, strategy=whole.strategy), like)
        return part.without(gone.intersection(part.constraint_rows)) if gone else part

    return equations.memo((part_of, system, like and like[0].system), made)


@contextmanager
def _locked(derivation: Derivation) -> Iterator[Derivation]:
    """A *derivation* under the lock of graphs."""
    with LOCK:
        yield derivation


def _unpickled(system: System, formalism: str | Formalism, strategy: str, left_out: frozenset[str]) -> Equations:
    """Equations from their pickle."""
    return derive(system, formalism, strategy=strategy).without(left_out)


def _lowered(symbols: Symbols, quantity: str, array: Array) -> tuple[StraightLineProgram, StraightLineProgram]:
    """The programs of :meth:`Equations.programs`."""
    setup, (main,) = _with_numbers(symbols, quantity, array)
    return setup, main


def _with_numbers(
    symbols: Symbols, quantity: str, array: Array, numbers: Sequence[Ref] = ()
) -> tuple[StraightLineProgram, list[StraightLineProgram]]:
    """The programs of :meth:`Equations.programs`, and after the last one that of some *numbers*."""
    known: dict[str, Sequence[Ref]] = {"t": (symbols.t,), "q": symbols.q, "v": symbols.v, "momentum": symbols.momenta}
    known |= {"tau": symbols.tau}
    asked = row_of(quantity).arguments
    inputs = {n: symbols.level(DERIVATIVES.index(n) + 2) if n in DERIVATIVES else known[n] for n in asked}
    refs = iter(array.refs)
    name = identifier(quantity).strip("_")
    parts = array.parts or ((name, array.shape),)
    functions: dict[str, Outputs] = {
        name: {part: (shape, [next(refs) for _ in range(prod(shape))]) for part, shape in parts}
    }
    if numbers:
        functions["numbers"] = {"numbers": ((len(numbers),), numbers)}
    setup, programs = hoist(symbols.graph, inputs, functions, symbols.p, name)
    return setup, list(programs.values())


def _counted(setup: StraightLineProgram, main: StraightLineProgram) -> Operations:
    """Operation counts of *main*, and of the part of *setup* that its last inputs use."""
    needed, first = main.needed(main.results), main.n_inputs - setup.n_outputs
    once = setup.operations(results=[r for i, r in enumerate(setup.results, first) if i in needed])
    return main.operations(once.total)
