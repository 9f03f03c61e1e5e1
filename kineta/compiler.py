"""The driver: from a system to equations, from equations to programs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

from kineta.codegen.c import identifier
from kineta.errors import ArgumentError, one_of, shown
from kineta.expr.count import Operations
from kineta.expr.graph import Graph, Ref
from kineta.expr.node import LOCK
from kineta.expr.program import Program
from kineta.formalism import hamilton
from kineta.formalism.derivation import Array, Derivation
from kineta.formalism.formalism import Formalism
from kineta.formalism.quantity import DERIVATIVES
from kineta.formalism.quantity import quantity as row_of
from kineta.formalism.strategies import AUTO, MULTIPLIERS, STRATEGY_NAMES
from kineta.formalism.symbols import Symbols, symbols
from kineta.formalism.table import FORMALISMS
from kineta.formulas import Formulas, aligned, formulas
from kineta.model.infer import MULTIPLIER
from kineta.model.system import System, a_system
from kineta.passes.hoist import hoist
from kineta.passes.simplify import stages
from kineta.threads import kept_by
from kineta.values import flag

if TYPE_CHECKING:
    from kineta.account import Account
    from kineta.formalism.step import Step
    from kineta.function import Function
    from kineta.matrix_form import MatrixForm

T = TypeVar("T")

#: Quantities whose derivation is told, and their steps.
TOLD: Mapping[str, Callable[[Formalism, Derivation], Iterator[Step]]] = {
    "inverse": Formalism.told,
    "canonical": lambda _, derivation: hamilton.steps(derivation),
}

#: Systems whose equations are kept for the next run; those used last.
KEPT = 8

#: Speeds of the largest system whose formulas a notebook shows by itself, and how many lines of them.
SHOWN, LINES = 30, 24


def derive(system: System, formalism: str = "newton_euler", *, strategy: str = AUTO) -> Equations:
    """The equations of motion of *system* by *formalism*.

    *strategy* is how accelerations under constraints are solved for: by ``multipliers``, in the ``nullspace`` of the constraints,
    by ``partition`` of the speeds into free and dependent ones, or as ``auto`` chooses. The returned record derives each quantity
    when it is first asked for. Raises :class:`ArgumentError` for a formalism or a strategy that is unknown or does not apply.
    """
    name, strategy = one_of(formalism, FORMALISMS, "a formalism"), one_of(strategy, STRATEGY_NAMES, "a strategy")
    reason = FORMALISMS[name].applies(a_system(system))
    if reason:
        raise ArgumentError(f"Model '{system.name}': the formalism {name} does not apply: {reason}")
    if system.quasi and strategy != AUTO:
        raise ArgumentError(
            f"Model '{system.name}': quasi-velocities are its strategy, found '{strategy}'. Leave out the one or the other."
        )
    chosen = MULTIPLIERS if strategy == AUTO else strategy
    return Equations(system, name, replace(FORMALISMS[name].derivation(system), strategy=chosen))


@lru_cache(maxsize=KEPT)
def equations_of(system: System) -> Equations:
    """The equations of *system*, with all that was made of them: the same record again for an equal system.

    Bounded, not weak: the equations hold their system.
    """
    return derive(system)


def given_equations(system: System | Equations) -> Equations:
    """*system*, if it is equations, or the equations of a system. Raises :class:`ArgumentError` for anything else."""
    if isinstance(system, Equations):
        return system
    if not isinstance(system, System):
        raise ArgumentError(f"Expected a System or its Equations, found {shown(system)}; kineta.load reads a file.")
    return equations_of(system)


@dataclass(frozen=True, repr=False, eq=False)
class Equations:
    """Equations of motion ``M(q) vdot + bias(t, q, v) = tau`` and what belongs to them, as named expressions.

    ``bias`` holds everything that acts in the model: gravity, elements, prescribed motion; ``tau`` comes on top.
    """

    system: System
    formalism: str
    derivation: Derivation

    def without(self, constraints: Iterable[str]) -> Equations:
        """The same with *constraints* left out that say what others say: these keep them."""
        names = frozenset(constraints)

        def made() -> Equations:
            return Equations(self.system, self.formalism, replace(self.derivation, left_out=names))

        return self if names == self.derivation.left_out else self.kept((Equations, names), made)

    def settled(self) -> Equations:
        """The same without constraints that say what others say where the model starts, moved onto them; a warning names them.

        Where constraints are left out already, parameters have no values, or no state near the start meets the constraints, these
        equations. Raises :class:`ModelError` for constraints that contradict each other wherever they are looked at.
        """
        if not self.system.constraints or self.system.quasi or self.derivation.left_out:
            return self

        def decided() -> Equations:
            # Numbers decide, those of the start: derivations are free of them.
            from kineta.tasks.rank import settled

            return settled(self)

        return self.kept("settled", decided)

    @property
    def strategy(self) -> str:
        """How accelerations under constraints are solved for; ``auto`` where that is nothing to be chosen."""
        return self.derivation.strategy if self.system.constraints and not self.system.quasi else AUTO

    @property
    def graph(self) -> Graph:
        """The graph of all expressions."""
        return self.derivation.graph

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of what can be asked for, beside the quantities of one body or point, as in ``position(A)``."""
        return tuple(self.derivation.rules)

    @property
    def multipliers(self) -> tuple[str, ...]:
        """Names of the multipliers of the constraints, ``lambda.pin.x``."""
        with LOCK:
            return tuple(f"{MULTIPLIER}{r.constraint}" for r in self.derivation.closures)

    def expressions(self, quantity: str) -> Array:
        """The expressions of *quantity*: shape and references into :attr:`graph`."""
        with LOCK:
            return self.derivation[quantity]

    def alone(self, *, watched: bool = False, pull: float = 0.0) -> Derivation:
        """A derivation of its own graph: what is compiled from it does not depend on what else was asked for."""
        new = FORMALISMS[self.formalism].derivation(self.system)
        own = self.derivation
        return replace(new, left_out=own.left_out, strategy=own.strategy, watched=watched, pull=pull)

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """What *make* has made of these equations; made once for every *key*, whatever thread asks."""
        return kept_by(self, key, make)

    def formulas(self, quantity: str) -> Formulas:
        """*quantity* after the passes that make it cheaper: what is printed, counted and compiled."""
        name = self._known(quantity)
        return self.kept((Formulas, name), lambda: formulas(self.alone(), name))

    def _known(self, quantity: str) -> str:
        return self.derivation.known(quantity)

    def programs(self, quantity: str) -> tuple[Program, Program]:
        """Two programs: from parameters ``p`` to ``h``, and from t, q, v (and tau or vdot) and ``h`` to *quantity*."""
        shown = self.formulas(quantity)
        return self.kept((Program, shown.quantity), lambda: _lowered(shown.symbols, shown.quantity, shown.array))

    def operations(self, quantity: str) -> Operations:
        """Operations of one evaluation of *quantity*; what depends on parameters only is counted apart."""
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

    def matrix_form(self) -> MatrixForm:
        """The equations of motion as matrices, M vdot + h = tau: ``print(equations.matrix_form())``."""
        from kineta.matrix_form import MatrixForm, matrix_form

        return self.kept(MatrixForm, lambda: matrix_form(self.alone()))

    def account(self, quantity: str = "inverse") -> Account:
        """The derivation told step by step: ``print(equations.account())``, ``.save("page.html")``.

        Of the equations of motion, ``inverse``, or of Hamilton's, ``canonical``. Raises :class:`ArgumentError` for
        another quantity.
        """
        from kineta.account import Account, account

        name = one_of(quantity, TOLD, "a quantity whose derivation is told")
        method = FORMALISMS[self.formalism]

        def told() -> Account:
            own = self.alone()
            return account(own, self.formalism, method.source, tuple(TOLD[name](method, own)))

        return self.kept((Account, name), told)

    def text(self, quantity: str = "inverse", *, parts: bool = True) -> str:
        """The formulas of *quantity* as text: a line for every part that is needed twice, then one for every entry.

        Without *parts* every entry is written out. Raises :class:`ArgumentError` where that would be too long.
        """
        return "\n".join(self.formulas(quantity).text(parts=flag("parts", parts)))

    def latex(self, quantity: str = "inverse", *, parts: bool = True) -> str:
        """The formulas of *quantity* as LaTeX, in ``aligned`` for use within ``$$``; *parts* as in :meth:`text`."""
        return aligned(self.formulas(quantity).latex(parts=flag("parts", parts)), "aligned")

    def sympy(self, quantity: str, *, dynamic: bool = False) -> Any:
        """*quantity* in SymPy: an expression, a ``Matrix`` (a column for a vector), or an ``Array`` of more dimensions.

        Its symbols are real and have the names of the model. With *dynamic*, coordinates and speeds are functions of the time
        and their derivatives, as ``sympy.physics.mechanics.dynamicsymbols`` makes them.
        """
        return self.formulas(quantity).sympy(dynamic=flag("dynamic", dynamic))

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.system, self.formalism, self.strategy, self.derivation.left_out)

    def __repr__(self) -> str:
        return f"<Equations of '{self.system.name}' by {self.formalism}: {self.system.size}>"

    def _repr_latex_(self) -> str | None:
        """The first equations of motion in notebooks; nothing of large systems, whose formulas nobody waits for."""
        if self.system.nv > SHOWN:
            return None
        lines = list(self.formulas("inverse").latex())
        rest = len(lines) - LINES
        shown = [*lines[:LINES], rf"& \text{{and {rest} more lines: equations.latex()}}"] if rest > 0 else lines
        return f"$$\n{aligned(shown, 'aligned')}\n$$"

    def _repr_html_(self) -> str | None:
        """How to get the formulas, where a notebook does not show them."""
        if self.system.nv <= SHOWN:
            return None
        return f"<p>{escape(repr(self))}: <code>equations.text('inverse')</code> writes them</p>"

    def function(self, quantity: str, backend: str = "llvm") -> Function:
        """*quantity* as a function of numbers, compiled by *backend* (``llvm`` or ``numpy``).

        What is solved for with constraints, such as accelerations, is that of :meth:`settled` equations.
        """
        # What is only shown and counted needs no NumPy.
        from kineta.function import BACKENDS, Function

        name = self._known(quantity)
        key = Function, name, one_of(backend, BACKENDS, "a backend")
        own = self.settled() if row_of(name).solved else self
        return own.kept(key, lambda: Function(own.system, name, *own.programs(name), backend))


def _again(system: System, formalism: str, strategy: str, left_out: frozenset[str]) -> Equations:
    """Equations from what was pickled of them."""
    return derive(system, formalism, strategy=strategy).without(left_out)


def _lowered(symbols: Symbols, quantity: str, array: Array) -> tuple[Program, Program]:
    """The programs of :meth:`Equations.programs`."""
    known: dict[str, Sequence[Ref]] = {"t": (symbols.t,), "q": symbols.q, "v": symbols.v, "momentum": symbols.momenta}
    known |= {"tau": symbols.tau}
    asked = row_of(quantity).arguments
    inputs = {n: symbols.level(DERIVATIVES.index(n) + 2) if n in DERIVATIVES else known[n] for n in asked}
    refs = iter(array.refs)
    name = identifier(quantity).strip("_")
    parts = array.parts or ((name, array.shape),)
    outputs = {part: (shape, [next(refs) for _ in range(prod(shape))]) for part, shape in parts}
    setup, main = hoist(symbols.graph, inputs, {name: outputs}, symbols.p, name)
    return setup, main[name]


def _counted(setup: Program, main: Program) -> Operations:
    """Counts of *main*, and of what *setup* does for it: its last inputs."""
    needed, first = main.needed(main.results), main.n_inputs - setup.n_outputs
    once = setup.operations(results=[r for i, r in enumerate(setup.results, first) if i in needed])
    return main.operations(once.total)
