"""Speeds of the motions from quasi-velocities (Gantmacher (4)-(6)).

Constraints A v + A_0 = 0 and definitions f v + f_0 = w, together as many as there are speeds v of the motions, make::

    v = h w + h_0          G h = (0, E),  G h_0 = (-A_0, -f_0),  G = (A, f)

Any w gives an admissible motion, and the reactions of the constraints do no work on it. Every formalism by virtual motions then
applies unchanged: (18) and (21) come out in w.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kineta.algebra.expression import symbol
from kineta.errors import ExpressionError, ModelError
from kineta.expr.graph import ZERO, Graph, Ref
from kineta.mechanics.constraints.rows import Row, redundant, rows
from kineta.mechanics.constraints.structural_rank import dependent, matrix, random_state, start
from kineta.mechanics.elements.applied_forces import Elements
from kineta.mechanics.elements.element_actions import apply_elements
from kineta.mechanics.elements.state_rates import with_state_rates
from kineta.mechanics.kinematics.kinematics import TreeKinematics
from kineta.mechanics.kinematics.tree import kinematic_tree
from kineta.mechanics.linear_algebra.small_systems import eliminated
from kineta.mechanics.variables import Symbols, symbols
from kineta.model.checks.scaling_check import scaling_diagnosis
from kineta.model.kind import Condition
from kineta.model.motion_variables import Quasi
from kineta.model.named_expressions import substitute_names
from kineta.model.system import System, a_system
from kineta.model.transformations.mapping import map_expressions
from kineta.numerics.plain_matrices import Rows
from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class VelocityForm:
    """A row of G: ``gradient`` . v + ``free`` = ``value``, with the name of its constraint or quasi-velocity."""

    name: str
    gradient: Mapping[int, Ref]
    free: Ref
    value: Ref


@dataclass(frozen=True, slots=True)
class QuasiVelocityDefinitions:
    """All rows of G in the variables ``base`` of the motions alone: of the constraints ``kept``, then of the quasi-velocities.

    ``redundant`` are rows of constraints that are left out, by name, with those that say the same.
    """

    base: Symbols
    kept: tuple[Row, ...]
    rows: tuple[VelocityForm, ...]
    redundant: Mapping[str, tuple[str, ...]]

    @property
    def chosen(self) -> tuple[VelocityForm, ...]:
        """The definitions of the quasi-velocities."""
        return self.rows[len(self.kept) :]

    def state(self, seed: int = 0) -> dict[str, float]:
        """A random state at which all rows have values. Raise :class:`ModelError` if there is none."""
        refs = [ref for f in self.rows for ref in (f.free, *f.gradient.values())]
        return random_state(self.base.system, self.base.graph, refs, seed)

    def at_start(self) -> Rows:
        """G at the start of the system, or at a random state near it where G has no value or dependent rows."""
        system, graph = self.base.system, self.base.graph
        try:
            G = matrix(graph, [f.gradient for f in self.rows], len(self.base.v), start(system))
        except ExpressionError:
            return self.matrix(0)
        return self.matrix(0) if dependent(G) else G

    def matrix(self, seed: int) -> Rows:
        """G at a random state, rows scaled to unit length."""
        return matrix(self.base.graph, [f.gradient for f in self.rows], len(self.base.v), self.state(seed))


def definitions(own: Symbols) -> QuasiVelocityDefinitions:
    """The quasi-velocity definitions of the system of *own*, whose v are the quasi-velocities.

    Raise :class:`ModelError` for definitions that are nonlinear, dependent, or not as many as there are free speeds.
    """
    system, graph = own.system, own.graph
    base = symbols(system.unconstrained, graph)
    mechanism = kinematic_tree(base)
    elements = apply_elements(Elements(mechanism, TreeKinematics(mechanism)))
    kept, left_out = _independent(base, elements, system)
    wanted = len(base.v) - len(kept)
    if len(system.quasi) != wanted:
        where = next((f" ({q.location})" for q in system.quasi if q.location), "")
        raise ModelError(
            f"Model '{system.name}'{where}: expected {wanted} quasi-velocities ({len(base.v)} speeds less {len(kept)} "
            f"constraints), found {len(system.quasi)}: {', '.join(q.name for q in system.quasi)}. "
            f"The speeds are {', '.join(base.system.v_names)}."
        )
    chosen = [_chosen(base, q, elements.expression(q.value)[0], w) for q, w in zip(system.quasi, own.v, strict=True)]
    found = QuasiVelocityDefinitions(base, kept, (*(_kept(base, r) for r in kept), *chosen), left_out)
    _check_rank(found)
    return found


def projected_variables(system: System, graph: Graph) -> Symbols:
    """The variables of a system with quasi-velocities; its ``speeds`` are expressions of them. Raise as :func:`definitions`."""
    own = symbols(system, graph)
    with scaling_diagnosis(system):
        found = definitions(own)
    right = [graph.sub(f.value, f.free) for f in found.rows]
    speeds = eliminated(own.opened, [f.gradient for f in found.rows], right)
    return with_state_rates(replace(own, speeds=tuple(speeds)))


def independent(system: System) -> System:
    """*system* with as many quasi-velocities as its constraints leave free: its own, completed by the speeds of its motions
    that are least determined at the start; without constraints these are all.

    Raise :class:`ModelError` for constraints that are nonlinear in the speeds, or dependent.
    """
    from kineta.numerics.linear_algebra import pivoted_triangle

    system = a_system(system)
    base = symbols(system.unconstrained, Graph())
    mechanism = kinematic_tree(base)
    elements = apply_elements(Elements(mechanism, TreeKinematics(mechanism)))
    kept, left_out = _independent(base, elements, system.expanded)
    given = [_chosen(base, q, elements.expression(q.value)[0], ZERO) for q in system.quasi]
    found = QuasiVelocityDefinitions(base, kept, (*(_kept(base, r) for r in kept), *given), left_out)
    _check_rank(found)
    free = list(range(len(base.v)))
    if found.rows:
        _, order = pivoted_triangle(found.at_start(), what="the motions that constraints leave free")
        free = sorted(order[len(found.rows) :])
    chosen = [Quasi(base.names[k], symbol(base.names[k])) for k in free]
    names = {*system.q_names, *(q.name for q in (*system.quasi, *chosen))}
    initial = [(name, value) for name, value in system.initial if name in names]  # other speeds follow from these
    return system.replace(quasi=[*system.quasi, *chosen], initial=initial)


def unconstrained_variables(found: QuasiVelocityDefinitions, own: Symbols) -> Symbols:
    """The variables of the motions alone for the system of *own*, without its constraints; quasi-velocities are known by name."""
    g, base = own.graph, found.base
    terms = ([g.mul(a, base.v[k]) for k, a in f.gradient.items()] for f in found.chosen)
    known = {f.name: g.sum([f.free, *t]) for f, t in zip(found.chosen, terms, strict=True)}
    return with_state_rates(replace(base, system=own.system, known=known))


def multipliers(found: QuasiVelocityDefinitions, own: Symbols, forces: Sequence[Ref]) -> list[Ref]:
    """Multipliers of the constraints, from the *forces* required on the speeds of the motions: G^T (lambda, tau)."""
    columns: list[dict[int, Ref]] = [{} for _ in found.base.v]
    for i, form in enumerate(found.rows):
        for k, a in form.gradient.items():
            columns[k][i] = a
    solved = eliminated(own.opened, columns, forces)
    return solved[: len(found.kept)]


def _independent(
    base: Symbols, elements: Elements, system: System
) -> tuple[tuple[Row, ...], dict[str, tuple[str, ...]]]:
    """The rows of the constraints of *system*, and the redundant ones that are not among them, with those that say the same."""
    every = rows(base, elements, _conditions(system))
    found = redundant(base, every)
    return tuple(r for r in every if r.constraint not in found), found


def _conditions(system: System) -> tuple[Condition, ...]:
    """The constraints of *system* in the speeds of its motions."""
    meanings = {q.name: q.value for q in system.quasi}
    return tuple(map_expressions(c, lambda value: substitute_names(meanings, value)) for c in system.constraints)


def _kept(base: Symbols, row: Row) -> VelocityForm:
    """The row of a constraint, of value zero."""
    if not row.linear(base):
        text = f"Constraint '{row.constraint}': expected an expression linear in the speeds; leave out the quasi-velocities."
        raise ModelError(text, row.location)
    return VelocityForm(row.constraint, row.gradient, base.at_rest(row.levels[-1]), ZERO)


def _chosen(base: Symbols, quasi: Quasi, f: Ref, value: Ref) -> VelocityForm:
    """The row of a quasi-velocity, whose symbol is *value*."""
    gradient = base.by_speed(f)
    if not gradient or base.order(gradient.values()):
        how = "linear in the speeds" if gradient else "that contains speeds"
        text = f"Quasi '{quasi.name}': expected an expression {how}, found '{quasi.value}'."
        raise ModelError(text, quasi.location)
    return VelocityForm(quasi.name, gradient, base.at_rest(f), value)


def _check_rank(found: QuasiVelocityDefinitions) -> None:
    """Raise :class:`ModelError` where the rows are dependent at all of a few random states."""
    for seed in range(3):
        repeated = dependent(found.matrix(seed))
        if not repeated:
            return
    names = [found.rows[k].name for k in repeated]
    raise ModelError(
        f"Model '{found.base.system.name}': {', '.join(names)} depend on each other, so that they do not tell all motions "
        "apart. Leave out a constraint that says the same as others, or choose another quasi-velocity.",
        found.kept[-1].location if found.kept else None,
    )
