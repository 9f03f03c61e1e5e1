"""Variational equations of a motion by parameters, forces on speeds and initial values, compiled.

A state y = (q, v, goals) and its sensitivities S are integrated together::

    y' = f(t, y, p)          S' = df/dy S + df/dp
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kineta.algebra.expression import Expr
from kineta.equations.equations import Equations
from kineta.errors import ArgumentError, did_you_mean, excerpt
from kineta.expr.graph import ONE, Graph, Ref
from kineta.mechanics.constraints import projection
from kineta.mechanics.tangent import Direction, accelerations_along
from kineta.model.coercion import records
from kineta.model.named_expressions import let_advice
from kineta.model.reserved_symbols import added_force
from kineta.model.system import System
from kineta.passes.differentiate import forwards
from kineta.records import dataclass
from kineta.runtime.compiled import CompiledSystem
from kineta.runtime.constraint_treatment import FREE, PROJECTED
from kineta.runtime.functions import StateLayout, state_programs, switching_of
from kineta.runtime.independent_states import state_names


@dataclass(frozen=True)
class Varied:
    """The ``names`` of the variables of a motion: *parameters*, initial *states*, and forces on speeds; and the initial states
    *kept* under constraints.
    """

    names: tuple[str, ...]
    parameters: frozenset[str]
    states: frozenset[str]
    kept: tuple[str, ...] = ()

    def symbol(self, name: str) -> str | None:
        """Return the symbol *name* of the equations; None for an initial state."""
        return None if name in self.states else name


def _of_joint(system: System, name: str) -> str:
    """Sentence on a coordinate *name* of a Ball or Free motion, whose variations are shifts and turns; "" for another name."""
    if name not in system.q_names:
        return ""
    joint, _, own = name.rpartition(".")
    axis, turns = own[-1], own.startswith("q")
    shown = ", ".join(f"{joint}.R{c}" for c in "xyz") if turns else f"{joint}.S{axis}"
    what = "turns about the axes of the body" if turns else "a shift along an axis of the body"
    return f" Variations of the motion '{joint}' are in the axes of its body: did you mean {shown}, {what}?"


def varied(system: System, by: Iterable[str], keep: Iterable[str] = ()) -> Varied:
    """Return the record for the names *by*: parameters, coordinates and speeds for their initial values, ``tau[q1']`` for the
    force on a speed; *keep* names fixed initial values. Raises :class:`ArgumentError` for invalid, missing or repeated names, and
    for a system with programs of motion.
    """
    if system.programs:
        raise ArgumentError(
            f"Model '{system.name}': motions under programs ({excerpt(x.name for x in system.programs)}) have no derivatives "
            "here; leave them out: system.replace(programs=()), --without on the command line."
        )
    names = records(by, str, "names of what varies", "'m1'")
    states, forces = state_names(system), tuple(added_force(n) for n in system.v_names)
    known = (*system.parameter_names, *states, *forces)
    for k, name in enumerate(names):
        if name not in known:
            near = _of_joint(system, name) or let_advice(system.lets, name) or did_you_mean(name, known)
            raise ArgumentError(f"Model '{system.name}' has no parameter, coordinate or speed '{name}' to vary.{near}")
        if name in names[:k]:
            raise ArgumentError(f"Expected each name once, found '{name}' twice.")
    if not names:
        raise ArgumentError(
            f"Expected names of what varies, found none; model '{system.name}' has {', '.join(known[:6])}."
        )
    stay = records(keep, str, "names of initial values", "'q1'")
    for name in stay:
        if name not in states or name in names:
            why = "varies" if name in names else "is no coordinate or speed"
            near = did_you_mean(name, states) if name not in names else ""
            raise ArgumentError(
                f"Model '{system.name}': expected initial values that stay, found '{name}', which {why}.{near}"
            )
    return Varied(tuple(names), frozenset(names) & {*system.parameter_names}, frozenset(names) & {*states}, tuple(stay))


def code(equations: Equations, by: Varied, goals: Sequence[Expr], shown: Sequence[Expr]) -> CompiledSystem:
    """Return the compiled functions of a run whose state is q, v, the integrals of *goals*, and their derivatives, in
    blocks; ``observe`` evaluates the series *shown* and their derivatives.
    """
    key = (Varied, by, tuple(goals), tuple(shown))
    return equations.bounded_memo(key, lambda: _code(equations, by, goals, shown))


def _code(equations: Equations, by: Varied, goals: Sequence[Expr], shown: Sequence[Expr]) -> CompiledSystem:
    kept = PROJECTED if equations.system.constraints else FREE
    d = equations.alone(watched=kept == PROJECTED)
    g, s = d.graph, d.symbols
    states = [*s.q, *s.v, *(g.symbol(f"integral {k}") for k in range(len(goals)))]
    directions = [_direction(g, by, name, states) for name in by.names]
    found = d.expression(*goals, *shown)
    integrands, outputs = found[: len(goals)], found[len(goals) :]
    vdot, changes = accelerations_along(d, directions, at_rest=True)
    rate = [*s.qdot, *vdot, *integrands]
    moving = forwards(g, [*s.qdot, *integrands], directions, at_rest=True)
    for moved, change in zip(moving, changes, strict=True):
        rate += [*moved[: len(s.q)], *change, *moved[len(s.q) :]]
    switching, watching = switching_of(d, [*s.qdot, *vdot, *integrands])
    pivots = projection.pivots(d) if d.watched else []
    every = [*states, *(direction[x] for direction in directions for x in states)]
    functions: dict[str, Sequence[Ref]] = {"rate": [*rate, *pivots], "observed": _with_changes(g, outputs, directions)}
    functions |= watching
    if d.watched:
        rest = [g.symbol(f"pivot {i}") for i in range(len(pivots))]
        position = [*projection.position(d), *states[len(s.q) :]]
        velocity = [*s.q, *projection.velocity(d), *states[len(s.q) + len(s.v) :]]
        functions["position"] = [*_with_changes(g, position, directions), *rest]
        functions["velocity"] = [*_with_changes(g, velocity, directions), *rest]
        every += rest
    constant = (*s.system.parameter_names, *(added_force(n) for n in s.names))
    setup, programs = state_programs(d, functions, {"y": every}, constant, "varied")
    layout = StateLayout(works=0, pivots=len(pivots), switching=switching.numbers, roughness=switching.roughness)
    return CompiledSystem(setup, programs, layout, kept)


def _direction(g: Graph, by: Varied, name: str, states: Sequence[Ref]) -> Direction:
    """Return the direction of differentiation by *name*: a symbol for the derivative of each state, and 1 for *name* itself."""
    changes = {x: g.symbol(f"{g.names[g.lhs[x >> 1]]} by {name}") for x in states}
    symbol = by.symbol(name)
    return changes if symbol is None else {**changes, g.symbol(symbol): ONE}


def _with_changes(g: Graph, refs: Sequence[Ref], directions: Sequence[Direction]) -> list[Ref]:
    """Return *refs*, then their derivatives in each direction."""
    return [*refs, *(x for column in forwards(g, refs, directions, at_rest=True) for x in column)]
