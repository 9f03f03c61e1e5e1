"""Speeds of the motions from quasi-velocities (Gantmacher (4)-(6)).

Constraints A v + A_0 = 0 and forms f v + f_0 = w, together as many as there are speeds v of the motions, make::

    v = h w + h_0          G h = (0, E),  G h_0 = (-A_0, -f_0),  G = (A, f)

Any w gives an admissible motion, and the reactions of the constraints do no work on it. Every formalism that goes by virtual
motions then needs nothing more: (18) and (21) come out in w.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kineta.errors import ExpressionError, ModelError
from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.node import symbol
from kineta.formalism.constraint import Row, rows
from kineta.formalism.elements import Elements
from kineta.formalism.elimination import eliminated
from kineta.formalism.kinematics import Kinematics
from kineta.formalism.mechanism import kinematic_tree
from kineta.formalism.rank import dependent, matrix, random_state, start
from kineta.formalism.symbols import Symbols, symbols
from kineta.model.quasi import Quasi
from kineta.model.system import System, a_system

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Form:
    """A row of G: ``gradient`` . v + ``free`` = ``value``, by the name of the constraint or quasi-velocity that it is."""

    name: str
    gradient: Mapping[int, Ref]
    free: Ref
    value: Ref


@dataclass(frozen=True, slots=True)
class Forms:
    """All rows of G in the variables ``base`` of the motions alone: of the constraints ``kept``, then of the quasi-velocities."""

    base: Symbols
    kept: tuple[Row, ...]
    rows: tuple[Form, ...]

    @property
    def chosen(self) -> tuple[Form, ...]:
        """The forms of the quasi-velocities."""
        return self.rows[len(self.kept) :]

    def state(self, seed: int = 0) -> dict[str, float]:
        """A random state at which all forms have values. Raises :class:`ModelError` where there is none."""
        refs = [ref for f in self.rows for ref in (f.free, *f.gradient.values())]
        return random_state(self.base.system, self.base.graph, refs, seed)

    def at_start(self) -> NDArray[np.float64]:
        """G where the system starts, or near there where it has no value or rows depend on each other."""
        system, graph = self.base.system, self.base.graph
        try:
            G = matrix(graph, [f.gradient for f in self.rows], len(self.base.v), start(system))
        except ExpressionError:
            return self.matrix(0)
        return self.matrix(0) if dependent(G) else G

    def matrix(self, seed: int) -> NDArray[np.float64]:
        """G at a random state, rows scaled to unit length."""
        return matrix(self.base.graph, [f.gradient for f in self.rows], len(self.base.v), self.state(seed))


def forms(own: Symbols) -> Forms:
    """The forms of the system of *own*, whose v are the quasi-velocities.

    Raises :class:`ModelError` for forms that are not linear, not as many as there are free speeds, or dependent.
    """
    system, graph = own.system, own.graph
    base = symbols(system.unconstrained, graph)
    mechanism = kinematic_tree(base)
    elements = Elements(mechanism, Kinematics(mechanism))
    kept = rows(base, elements, system.constraints)
    wanted = len(base.v) - len(kept)
    if len(system.quasi) != wanted:
        raise ModelError(
            f"Model '{system.name}': expected {wanted} quasi-velocities ({len(base.v)} speeds less {len(kept)} "
            f"constraints), found {len(system.quasi)}: {', '.join(q.name for q in system.quasi)}. "
            f"The speeds are {', '.join(base.system.v_names)}."
        )
    chosen = [_chosen(base, q, elements.expression(q.value)[0], w) for q, w in zip(system.quasi, own.v, strict=True)]
    found = Forms(base, kept, (*(_kept(base, r) for r in kept), *chosen))
    _check_rank(found)
    return found


def reduced(system: System, graph: Graph) -> Symbols:
    """The variables of a system with quasi-velocities; its ``speeds`` are expressions of them. Raises as :func:`forms`."""
    own = symbols(system, graph)
    found = forms(own)
    right = [graph.sub(f.value, f.free) for f in found.rows]
    speeds = eliminated(graph, [f.gradient for f in found.rows], right)
    return replace(own, speeds=tuple(speeds))


def independent(system: System) -> System:
    """*system* with as many quasi-velocities as its constraints leave free: those that it has, and beside them speeds of its
    motions that constraints and these determine least where it starts.

    Raises :class:`ModelError` for constraints that are nonlinear in the speeds, or depend on each other.
    """
    from scipy.linalg import qr

    system = a_system(system)
    base = symbols(system.unconstrained, Graph())
    mechanism = kinematic_tree(base)
    elements = Elements(mechanism, Kinematics(mechanism))
    kept = rows(base, elements, system.expanded.constraints)
    given = [_chosen(base, q, elements.expression(q.value)[0], ZERO) for q in system.quasi]
    found = Forms(base, kept, (*(_kept(base, r) for r in kept), *given))
    _check_rank(found)
    _, _, order = qr(found.at_start(), pivoting=True)
    chosen = [Quasi(base.names[k], symbol(base.names[k])) for k in sorted(order[len(found.rows) :])]
    names = {*system.q_names, *(q.name for q in (*system.quasi, *chosen))}
    initial = [(name, value) for name, value in system.initial if name in names]  # other speeds follow from these
    return system.replace(quasi=[*system.quasi, *chosen], initial=initial)


def released(found: Forms, own: Symbols) -> Symbols:
    """The variables of the motions alone for the system of *own*: its constraints let go, its quasi-velocities known by name."""
    g, base = own.graph, found.base
    terms = ([g.mul(a, base.v[k]) for k, a in f.gradient.items()] for f in found.chosen)
    known = {f.name: g.sum([f.free, *t]) for f, t in zip(found.chosen, terms, strict=True)}
    return replace(base, system=own.system, known=known)


def multipliers(found: Forms, own: Symbols, forces: Sequence[Ref]) -> list[Ref]:
    """Multipliers of the constraints, from the *forces* that the motion needs on the speeds of the motions: G^T (lambda, tau)."""
    columns: list[dict[int, Ref]] = [{} for _ in found.base.v]
    for i, form in enumerate(found.rows):
        for k, a in form.gradient.items():
            columns[k][i] = a
    solved = eliminated(own.graph, columns, forces)
    return solved[: len(found.kept)]


def _kept(base: Symbols, row: Row) -> Form:
    """The form of a constraint, which is zero."""
    if any(base.by_speed(partial) for partial in row.gradient.values()):
        text = f"Constraint '{row.constraint}': expected an expression linear in the speeds; leave out the quasi-velocities."
        raise ModelError(text, row.location)
    return Form(row.constraint, row.gradient, base.at_rest(row.levels[-1]), ZERO)


def _chosen(base: Symbols, quasi: Quasi, f: Ref, value: Ref) -> Form:
    """The form of a quasi-velocity, whose symbol is *value*."""
    gradient = base.by_speed(f)
    if not gradient or any(base.by_speed(partial) for partial in gradient.values()):
        how = "linear in the speeds" if gradient else "that contains speeds"
        text = f"Quasi '{quasi.name}': expected an expression {how}, found '{quasi.value}'."
        raise ModelError(text, quasi.location)
    return Form(quasi.name, gradient, base.at_rest(f), value)


def _check_rank(found: Forms) -> None:
    """Raise where the forms depend on each other at all of a few random states."""
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
