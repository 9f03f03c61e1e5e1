"""What a motion may be varied with: parameters, forces on speeds, initial values; and the motion with its variations, compiled.

A state y = (q, v, goals) and its derivatives S by each of them go on together::

    y' = f(t, y, p)          S' = df/dy S + df/dp
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kineta.compiler import Equations
from kineta.errors import ArgumentError, did_you_mean
from kineta.expr.graph import ONE, Graph, Ref
from kineta.expr.node import Expr
from kineta.formalism import manifold
from kineta.formalism.derivation import Derivation
from kineta.formalism.derivatives import Direction, accelerations_along, tangent
from kineta.formulas import simplified
from kineta.model.given import records
from kineta.model.infer import few
from kineta.model.system import System
from kineta.passes.differentiate import forward
from kineta.passes.evaluate import evaluate
from kineta.passes.hoist import hoist
from kineta.tasks.code import Code
from kineta.tasks.computed import Layout
from kineta.tasks.keeping import FREE, PROJECTED
from kineta.tasks.near import Near, near
from kineta.tasks.reduction import Reduction, following, reduction, state_names
from kineta.tasks.variation import Input, Variation

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Varied:
    """The ``names`` of what a motion varies with: *parameters*, initial *states*, and forces on speeds; and initial states that
    are *kept* where constraints hold.
    """

    names: tuple[str, ...]
    parameters: frozenset[str]
    states: frozenset[str]
    kept: tuple[str, ...] = ()

    def symbol(self, name: str) -> str | None:
        """The symbol of the equations that *name* is; None for an initial state."""
        return None if name in self.states else name


def varied(system: System, by: Iterable[str], keep: Iterable[str] = ()) -> Varied:
    """The record for the names *by*: of parameters, of coordinates and speeds for their initial values, ``tau.q1'`` for the
    force on a speed; initial values that *keep* names stay. Raises :class:`ArgumentError` for other names, for none, for one that
    is there twice, and for a system whose motions jump.
    """
    jumps = [c.name for c in (*system.contacts, *system.switches)]
    if jumps:
        raise ArgumentError(
            f"Model '{system.name}': motions that jump, as at {few(jumps)}, have no derivatives here; leave out "
            "what they jump at: system.replace(contacts=(), switches=()), --without on the command line."
        )
    if system.programs:
        raise ArgumentError(
            f"Model '{system.name}': motions under programs ({few(x.name for x in system.programs)}) have no derivatives here; "
            "leave them out: system.replace(programs=()), --without on the command line."
        )
    names = records(by, str, "names of what varies", "'m1'")
    states, forces = state_names(system), tuple(f"tau.{n}" for n in system.v_names)
    known = (*system.parameter_names, *states, *forces)
    for k, name in enumerate(names):
        if name not in known:
            raise ArgumentError(
                f"Model '{system.name}' has no parameter, coordinate or speed '{name}' to vary.{did_you_mean(name, known)}"
            )
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


def code(equations: Equations, by: Varied, goals: Sequence[Expr], shown: Sequence[Expr]) -> Code:
    """The compiled functions of a run whose state is q, v, the integrals of *goals*, and the derivatives of all these, block by
    block; ``observe`` gives what is *shown* and its derivatives.
    """
    key = (Varied, by, tuple(goals), tuple(shown))
    return equations.kept(key, lambda: _code(equations, by, goals, shown))


def _code(equations: Equations, by: Varied, goals: Sequence[Expr], shown: Sequence[Expr]) -> Code:
    kept = PROJECTED if equations.system.constraints else FREE
    d = equations.alone(watched=kept == PROJECTED)
    g, s = d.graph, d.symbols
    states = [*s.q, *s.v, *(g.symbol(f"integral {k}") for k in range(len(goals)))]
    directions = [_direction(g, by, name, states) for name in by.names]
    found = d.expression(*goals, *shown)
    integrands, outputs = found[: len(goals)], found[len(goals) :]
    vdot, changes = accelerations_along(d, directions)
    rate = [*s.qdot, *vdot, *integrands]
    for direction, change in zip(directions, changes, strict=True):
        moved = forward(g, [*s.qdot, *integrands], direction)
        rate += [*moved[: len(s.q)], *change, *moved[len(s.q) :]]
    pivots = manifold.pivots(d) if d.watched else []
    every = [*states, *(direction[x] for direction in directions for x in states)]
    functions: dict[str, Sequence[Ref]] = {"rate": [*rate, *pivots], "observed": _with_changes(g, outputs, directions)}
    if d.watched:
        rest = [g.symbol(f"pivot {i}") for i in range(len(pivots))]
        position = [*manifold.position(d), *states[len(s.q) :]]
        velocity = [*s.q, *manifold.velocity(d), *states[len(s.q) + len(s.v) :]]
        functions["position"] = [*_with_changes(g, position, directions), *rest]
        functions["velocity"] = [*_with_changes(g, velocity, directions), *rest]
        every += rest
    own, simple = simplified(d, functions, (*s.system.parameter_names, *(f"tau.{n}" for n in s.names)))
    names = [g.names[g.lhs[x >> 1]] for x in every]
    inputs = {"t": (own.t,), "y": [own.graph.symbol(n) for n in names]}
    outputs_of = {name: {name: ((len(refs),), refs)} for name, refs in simple.items()}
    setup, programs = hoist(own.graph, inputs, outputs_of, [*own.p, *own.tau], "varied")
    return Code(setup, programs, Layout(works=0, watched=len(pivots)), kept)


def _direction(g: Graph, by: Varied, name: str, states: Sequence[Ref]) -> Direction:
    """How states change with what is called *name*: by symbols of their own; and that it changes itself, where it is one."""
    changes = {x: g.symbol(f"{g.names[g.lhs[x >> 1]]} by {name}") for x in states}
    symbol = by.symbol(name)
    return changes if symbol is None else {**changes, g.symbol(symbol): ONE}


def _with_changes(g: Graph, refs: Sequence[Ref], directions: Sequence[Direction]) -> list[Ref]:
    """*refs*, then their changes in each direction."""
    return [*refs, *(x for direction in directions for x in forward(g, refs, direction))]


def start(
    equations: Equations, by: Varied, t: float, q: FloatArray, v: FloatArray, p: FloatArray, stated: Mapping[str, Expr]
) -> tuple[FloatArray, tuple[str, ...]]:
    """Derivatives (nq + nv, m) of the initial state by all that it varies with; *stated* are the values that the model gives it.

    Where constraints hold, independent states vary or stay, and the others follow; the names of those that stay come with it.
    """
    system = equations.system
    values = dict(zip(system.parameter_names, p.tolist(), strict=True))
    values |= {r.name: r.value for r in system.parameters if r.fixed and r.value is not None}
    at = values | dict(zip((*system.q_names, *system.v_names), (*q.tolist(), *v.tolist()), strict=True)) | {"t": t}
    D = _turned(equations.derivation, at)
    nb, names = D.shape[1], state_names(system)
    stays = _stated(system, by, stated, values)
    X = np.concatenate([np.linalg.lstsq(D, stays[: system.nq], rcond=None)[0] if nb else stays[:0], stays[system.nq :]])
    for k, name in enumerate(by.names):
        if name in by.states:
            X[names.index(name), k] = 1.0
    stay: tuple[str, ...] = ()
    if system.constraints:
        found, chosen = independent(equations, by, t, q, v, p)
        stay = tuple(names[k] for k in chosen.places if names[k] not in by.states)
        X = chosen.Z @ X[list(chosen.places)]
        columns = [k for k, name in enumerate(by.names) if name in by.parameters]
        X[:, columns] += following(chosen, found.H, found.f_q, found.f_v, found.H_w, found.f_w)
    S = np.concatenate([D @ X[:nb], X[nb:]])
    if not system.constraints:
        fixed = [k for k, name in enumerate(by.names) if name not in by.states]
        S[:, fixed] = stays[:, fixed]
    return S, stay


def _stated(system: System, by: Varied, stated: Mapping[str, Expr], values: Mapping[str, float]) -> FloatArray:
    """How what the model says of the initial state changes with parameters, (nq + nv, m)."""
    found = np.zeros((system.nq + system.nv, len(by.names)))
    places = {n: k for k, n in enumerate((*system.q_names, *system.v_names))}
    for k, name in enumerate(by.names):
        for state, e in stated.items() if name in by.parameters else ():
            (slope,) = forward(e.graph, [e.ref], {e.graph.symbol(name): ONE})
            found[places[state], k] = evaluate(e.graph, [slope], values)[0]
    return found


def _turned(d: Derivation, at: Mapping[str, float]) -> FloatArray:
    """How coordinates change in the directions of the speeds of the motions, (nq, nb)."""
    directions = tangent(d)
    D = np.zeros((len(d.symbols.q), len(directions)))
    for k, direction in enumerate(directions):
        for q, x in direction.items():
            D[d.symbols.q.index(q), k] = evaluate(d.graph, [x], at)[0]
    return D


def independent(
    equations: Equations, by: Varied, t: float, q: FloatArray, v: FloatArray, p: FloatArray
) -> tuple[Near, Reduction]:
    """The independent states at a state, those among them that vary or are kept, or else the speeds that the model states, with
    their coordinates. Raises where one that varies or is kept is not independent.
    """
    system = equations.system
    variation = Variation(equations, [Input(n, False) for n in by.names if n in by.parameters], {})
    found = near(variation, np.array([t]), q, v, np.zeros(system.nv), p)
    wanted = [*(name for name in by.names if name in by.states), *by.kept]
    places = state_names(system)
    stated = [n for n, _ in system.expanded.initial if n in system.v_names]
    # Speeds that are more than are free are those of a state; they choose nothing.
    chosen_first = wanted or stated * (len(stated) <= found.f_v.shape[-1] - found.f_v.shape[-2])
    if not set(chosen_first) & {*places[: len(system.base_speeds)]}:
        chosen_first = [*chosen_first, *(n.removesuffix("'") for n in chosen_first)]
    rows = variation.rows or tuple(c.name for c in system.constraints)
    chosen = reduction(system, found.H, found.f_q, found.f_v, rows, chosen_first)
    names = [places[k] for k in chosen.places]
    for name in wanted:
        if name not in names:
            raise ArgumentError(
                f"Model '{system.name}': the initial value of '{name}' follows from the constraints and others; take one of "
                f"{', '.join(names)}."
            )
    return found, chosen
