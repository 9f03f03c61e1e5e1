"""``Derivation``: the named expressions of a system, each derived when first used.

A formalism adds its own rules for inverse dynamics, mass matrix, bias and forward dynamics. Kinematics, energies and the
actions of elements are common to all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod

from kineta.algebra.expression import Expr
from kineta.errors import ArgumentError, ModelError, did_you_mean, one_of, shown
from kineta.expr.graph import ZERO, Graph, Nodes, Ref
from kineta.mechanics.constraints.quasi_velocities import (
    QuasiVelocityDefinitions,
    definitions,
    projected_variables,
    unconstrained_variables,
)
from kineta.mechanics.constraints.rows import Row, rows
from kineta.mechanics.contact.unilateral_rows import UnilateralConstraint, unilateral_constraints
from kineta.mechanics.elements.applied_forces import Elements
from kineta.mechanics.elements.element_actions import apply_elements
from kineta.mechanics.elements.element_forces import named_forces
from kineta.mechanics.elements.state_rates import with_state_rates
from kineta.mechanics.kinematics.axis_alignment import aligned
from kineta.mechanics.kinematics.kinematics import TreeKinematics
from kineta.mechanics.kinematics.origin_placement import slid
from kineta.mechanics.kinematics.parallel_axes import HeldAxes, held_axes
from kineta.mechanics.kinematics.regrouping import held_tips, regrouped
from kineta.mechanics.kinematics.sweeps import LinkMotion, accelerated
from kineta.mechanics.kinematics.tree import Mechanism, kinematic_tree, rebased, rounded, with_mass
from kineta.mechanics.programs.rows import Programs, named_levels, programs, residuals
from kineta.mechanics.quantities import CONTROLLED, QUANTITIES, ordered, placed, told
from kineta.mechanics.variables import Symbols, symbols
from kineta.model.checks.scaling_check import scaling_diagnosis
from kineta.model.name_inference import contact_rows, response_symbols, speed_derivatives, vector_parts
from kineta.model.reserved_symbols import ENERGIES, MULTIPLIER, forced
from kineta.model.system import System
from kineta.passes.cancel import cancel
from kineta.passes.substitute import substitute
from kineta.records import dataclass
from kineta.threads import once

#: Systems whose mechanisms are kept, the most recently used.
SYSTEMS = 8


@dataclass(frozen=True, slots=True)
class Array:
    """References in row-major order, with their shape; a quantity of several arrays names its ``parts`` and their shapes.

    ``labels`` are names of the entries, where they depend on the derivation.
    """

    shape: tuple[int, ...]
    refs: tuple[Ref, ...]
    parts: tuple[tuple[str, tuple[int, ...]], ...] = ()
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert len(self.refs) == prod(self.shape), (self.shape, len(self.refs))

    def of(self, refs: Sequence[Ref]) -> Array:
        """An array of other references in the same shape."""
        return replace(self, refs=tuple(refs))


#: What no rule changes.
_WITHOUT_RULES = (
    "_mechanisms",
    "mechanism",
    "kinematics",
    "accelerated",
    "elements",
    "held",
    "constraint_rows",
    "rows",
    "contacts",
)

#: Rule of a quantity.
Rule = Callable[["Derivation"], Array]
#: Rule of quantities with arguments, by their names: ``kineta(3)``, ``position(P)``.
Parametric = Callable[["Derivation", str], Array]


@dataclass(frozen=True, eq=False)
class Derivation:
    """A system in the variables of one graph, and the rules by which its quantities are derived.

    parametric : the rule of quantities with arguments
    left_out : names of redundant constraints, which are dropped from the equations
    watched : whether the caller monitors the pivots of constraints; else accelerations are NaN where a pivot is a rounding error
    baumgarte : Baumgarte parameter of the constraints [1/s]
    strategy : method of solution for accelerations and multipliers, of ``solution_strategies.STRATEGIES``
    """

    symbols: Symbols
    rules: Mapping[str, Rule]
    parametric: Parametric
    left_out: frozenset[str] = frozenset()
    watched: bool = False
    baumgarte: float = 0.0
    strategy: str = "multipliers"

    @property
    def graph(self) -> Graph:
        """The graph of all expressions."""
        return self.symbols.graph

    def with_rules(self, rules: Mapping[str, Rule]) -> Derivation:
        """The derivation with other *rules*; what depends on none is not derived anew."""
        found = replace(self, rules={**self.rules, **rules})
        vars(found).update((name, x) for name, x in vars(self).items() if name in _WITHOUT_RULES)
        return found

    def as_described(self) -> Derivation:
        """The derivation with every mass where it is described, as one tells it."""
        found = replace(self)
        vars(found)["mechanism"] = found.described
        return found

    @once
    def described(self) -> Mechanism:
        """The mechanism with every mass as described."""
        return rounded(self._mechanisms[0])

    @once
    def mechanism(self) -> Mechanism:
        """The mechanism with base parameters: the same motion from fewer numbers."""
        return self._mechanisms[1]

    @once
    def _mechanisms(self) -> tuple[Mechanism, Mechanism]:
        """The mechanism in exact arithmetic, and that with base parameters. A graph with the variables alone takes them from the
        one derivation of the system, with the nodes in the same order.
        """
        s = self.symbols
        made, first, variables = _first_mechanisms(s.system, exact=self.graph.exact)
        if self.graph.nodes != variables or (s.names, s.speeds) != (first.names, first.speeds):
            return _mechanisms(s)
        self.graph.copy_from(first.graph)
        described, regrouped = (rebased(mechanism, s) for mechanism in made)
        return described, regrouped

    @once
    def kinematics(self) -> TreeKinematics:
        """Frames and velocities of the links."""
        return TreeKinematics(self.mechanism)

    @once
    def accelerated(self) -> LinkMotion:
        """The motion of the links for the accelerations ``vdot``."""
        return LinkMotion(self.mechanism, accelerated(self.graph, self.symbols.vdot), lower=self.kinematics.motion)

    @once
    def elements(self) -> Elements:
        """The actions of the elements."""
        return apply_elements(Elements(self.mechanism, self.kinematics))

    @once
    def held(self) -> HeldAxes:
        """The mechanism with the axes of links that carry a parallel axis held on their carriers."""
        return held_axes(self.mechanism)

    @once
    def rows(self) -> tuple[Row, ...]:
        """The rows of constraints that reactions enforce, redundant rows dropped; none with quasi-velocities."""
        if self.symbols.system.quasi:
            return ()
        return tuple(
            r.stabilised(self.graph, self.baumgarte) for r in self.constraint_rows if r.constraint not in self.dropped
        )

    @once
    def constraint_rows(self) -> tuple[Row, ...]:
        """The rows of all constraints, in the speeds of the motions."""
        d = self.unconstrained
        return rows(d.symbols, d.elements, self.symbols.system.constraints)

    @once
    def dropped(self) -> frozenset[str]:
        """Names of the rows of constraints without equation: those left out, and those redundant beside quasi-velocities."""
        if not self.symbols.system.quasi or not self.symbols.system.constraints:
            return self.left_out
        return self.left_out.union(self.definitions.redundant)

    @once
    def programs(self) -> Programs:
        """The programs of motion, and the constraints differentiated to the same order."""
        return programs(self.symbols, residuals(self.symbols, self.expression_of_levels), self.rows, self.baumgarte)

    @once
    def contacts(self) -> tuple[UnilateralConstraint, ...]:
        """The unilateral constraints: contacts, limits, joint friction."""
        return unilateral_constraints(self.elements)

    @once
    def unconstrained(self) -> Derivation:
        """The derivation in the speeds of the motions: for quasi-velocities the system without its constraints."""
        if not self.symbols.projected:
            return self
        return replace(self, symbols=unconstrained_variables(self.definitions, self.symbols))

    @once
    def definitions(self) -> QuasiVelocityDefinitions:
        """The definitions of the quasi-velocities."""
        return definitions(self.symbols)

    @once
    def _derived(self) -> dict[str, Array]:
        return {}

    def expression(self, *expressions: Expr) -> list[Ref]:
        """*expressions* of outputs and runs: in names available to elements, energies, and accelerations and multipliers under
        ``tau``.
        """
        asked = {n for e in expressions for n in e.symbols()}
        more = self._known(asked)
        if found := response_symbols(self.symbols.system, asked):
            more |= {n: self._result(n) for n in sorted(found)}
        return self._solved(asked, self.elements.expression(*expressions, more=more))

    def _solved(self, asked: Collection[str], refs: list[Ref]) -> list[Ref]:
        """*refs*, expressions in the names *asked*, with the highest derivatives as functions of the state in place of their
        symbols. Raise :class:`ModelError` for higher derivatives.
        """
        system, highest = self.symbols.system, "highest" if "highest" in self.rules else "forward"
        s = self.programs.s if highest == "highest" else 2
        known = speed_derivatives(system, asked) | {n: x.order for n, x in vector_parts(system, asked).items()}
        if not system.programs:
            beyond = "programs of motion bring higher ones"
        elif highest == "highest":
            beyond = "its programs ask for no higher ones"
        else:
            beyond = "runs under its programs know higher ones"
        for name in (n for n, order in known.items() if order > s):
            raise ModelError(
                f"Model '{system.name}': expected derivatives up to the order {s}, which the motion has, found {name} of order "
                f"{known[name]}; {beyond}."
            )
        if self.symbols.order(refs) < s:
            return refs
        names = [str(self.graph.name(x)) for x in self.symbols.level(s)]
        return substitute(self.graph, refs, dict(zip(names, self[highest].refs, strict=True)))

    def expression_of_levels(self, *expressions: Expr) -> list[Ref]:
        """*expressions* with energies and derivatives of any order, which are variables: ``q1'''``."""
        asked = {n for e in expressions for n in e.symbols()}
        return self.elements.expression(*expressions, more=self._known(asked))

    def _known(self, asked: set[str]) -> dict[str, Ref]:
        """The energies, derivatives of speeds and forces of elements among the names *asked*."""
        return self._energies(asked) | named_levels(self.symbols, asked) | named_forces(self.elements, asked)

    def _energies(self, asked: Collection[str]) -> dict[str, Ref]:
        return {n: self[n].refs[0] for n in ENERGIES if n in asked}

    def _result(self, name: str) -> Ref:
        """An acceleration ``q1''`` or a multiplier ``lambda.E.x``. Raise :class:`ModelError` for an unknown row."""
        if speed := forced(name):
            return self.symbols.tau[self.symbols.names.index(speed)]
        if not name.startswith(MULTIPLIER):
            return self["forward"].refs[self.symbols.names.index(name[:-1])]
        found = dict(zip(self["multipliers"].labels, self["multipliers"].refs, strict=True))
        if name not in found:
            if name.removeprefix(MULTIPLIER) in contact_rows(self.symbols.system):
                return ZERO  # an inactive contact, or a tangent without motion
            raise ModelError(
                f"Model '{self.symbols.system.name}': there is no '{name}'; its multipliers are {', '.join(found)}."
                f"{did_you_mean(name, found)}"
            )
        return found[name]

    def __getitem__(self, quantity: str) -> Array:
        """The expressions of *quantity*. Raise :class:`ArgumentError` for an unknown quantity."""
        name = self.known(quantity)
        found = self._derived.get(name)
        if found is None:
            with scaling_diagnosis(self.symbols.system):
                found = self._derived[name] = self._cancelled(
                    self.rules[name](self) if name in self.rules else self.parametric(self, name)
                )
        return found

    def known(self, quantity: str) -> str:
        """The canonical name of *quantity*. Raise :class:`ArgumentError` for an unknown quantity."""
        if isinstance(quantity, str) and quantity not in self.rules:
            if (kind := quantity.partition("(")[0].strip()) in CONTROLLED:
                return self._controlled(kind, quantity)
            if (found := ordered(quantity)) is not None:
                return f"{found[0]}({found[1]})"
        asked = placed(self.symbols.system, quantity) if isinstance(quantity, str) else None
        if asked is not None:
            return str(asked)
        if words := told(quantity) if isinstance(quantity, str) else "":
            raise ArgumentError(f"Expected a quantity of all systems, found '{quantity}'. {words}")
        name = one_of(quantity, dict.fromkeys((*self.rules, *QUANTITIES)), "a quantity")
        if name not in self.rules:
            raise ArgumentError(f"The quantity {name} needs formalism='{QUANTITIES[name].formalism}'.")
        return name

    def _controlled(self, kind: str, quantity: str) -> str:
        """The name of a quantity of this *kind* with the order of the equations under programs."""
        system = self.symbols.system
        if not system.programs:
            raise ArgumentError(
                f"Model '{system.name}': expected programs of motion to ask for {kind} of, found none; forward, multipliers and "
                "constraint_reactions are those of constraints."
            )
        name = f"{kind}({self.programs.s})"
        if quantity.strip() != kind and ordered(quantity) != (kind, self.programs.s):
            raise ArgumentError(
                f"Model '{system.name}': its programs make equations of the order {self.programs.s}; expected {name}, or {kind} "
                f"alone, found {shown(quantity)}."
            )
        return name

    def _cancelled(self, array: Array) -> Array:
        """*array* after cancellation of terms, needed for absolute coordinates, whose forces are differences."""
        if self.mechanism.one_to_one:
            return array
        return array.of(cancel(self.graph, array.refs))


def _mechanisms(symbols: Symbols) -> tuple[Mechanism, Mechanism]:
    weighed = slid(with_mass(aligned(kinematic_tree(symbols))))
    return weighed, rounded(regrouped(weighed, held_tips(weighed)))


@lru_cache(maxsize=SYSTEMS)
def _first_mechanisms(system: System, *, exact: bool) -> tuple[tuple[Mechanism, Mechanism], Symbols, Nodes]:
    """The mechanisms of *system* in a graph of their own, its variables, and the nodes of the variables alone."""
    own = _variables(system, Graph(exact=exact))
    variables = own.graph.nodes
    return _mechanisms(own), own, variables


def _variables(system: System, graph: Graph) -> Symbols:
    return projected_variables(system, graph) if system.quasi else with_state_rates(symbols(system, graph))


def scalar(ref: Ref) -> Array:
    """One expression."""
    return Array((), (ref,))


def vector(refs: Sequence[Ref]) -> Array:
    """A row of expressions."""
    return Array((len(refs),), tuple(refs))


def matrix(rows: Sequence[Sequence[Ref]], columns: int) -> Array:
    """Rows of expressions."""
    return Array((len(rows), columns), tuple(r for row in rows for r in row))


def derivation(system: System, rules: Mapping[str, Rule], parametric: Parametric, *, exact: bool = False) -> Derivation:
    """The derivation of *system* by *rules*, in a graph of its own; an *exact* derivation rounds no constant."""
    return Derivation(_variables(system, Graph(exact=exact)), rules, parametric)
