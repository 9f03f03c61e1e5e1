"""Kinks and steps of expressions, where equations may lack a derivative and contacts a continuation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from kineta import tolerances
from kineta.algebra.expression import DESCRIPTIONS, LOCK, Expr, symbol
from kineta.algebra.infix import condition_text
from kineta.arrays import FloatArray
from kineta.consistency.definition_domain import domain_conditions, edge_tolerance, operand_values
from kineta.equations.equations import Equations
from kineta.errors import Location
from kineta.expr.graph import Ref
from kineta.expr.op import Op
from kineta.expr.walk import reachable
from kineta.model.motion_program import Control
from kineta.model.name_inference import motion_expressions, response_symbols, speed_derivatives
from kineta.model.named_expressions import expanded_values, substitute_names
from kineta.model.system import System
from kineta.model.vectors import part
from kineta.passes.nonsmooth_operations import kinks, leaps

#: Directions in which it is looked how fast a quantity changes.
DIRECTIONS = 4


def contact_kink(equations: Equations, p: FloatArray, t: float, y: FloatArray) -> str:
    """Sentence on the kink or step of a contact or limit at the state *y* at *t*; ``''`` for none."""
    found = _kink_there(equations, list(_contact_kinks(equations.system.expanded)), p, t, y)
    return (
        found
        and f"{found}, at which what touches it can neither go on nor strike; make it smooth over a short length or time"
    )


def jumps_there(equations: Equations, p: FloatArray, t: float, y: FloatArray) -> bool:
    """Whether the surface of a contact or limit, or a place of a body, jumps at the state *y* at *t*."""
    return bool(_kink_there(equations, _jumps(equations.system.expanded), p, t, y))


def jumps_somewhere(equations: Equations) -> bool:
    """Whether the surface of a contact or limit, or a place of a body, jumps in any state."""
    return bool(_jumps(equations.system.expanded))


def constraint_jump(equations: Equations, p: FloatArray, t: float, y: FloatArray) -> str:
    """Sentence on a constraint that jumps, or whose rate does, at the state *y* at *t*; ``''`` for none."""
    system = equations.system.expanded
    named = [(c.name, *one) for c in system.constraints for one in _nonsmooth_operations(c.expressions, system)]
    found = _kink_there(equations, named, p, t, y)
    return found and (
        f"{found}, at which no finite force changes the speeds as it asks; make it smooth over a short time or length"
    )


def placement_kink(equations: Equations, p: FloatArray, t: float, y: FloatArray) -> str:
    """Sentence on a body that is placed by an expression with a kink or step at the state *y* at *t*; ``''`` for none."""
    found = _kink_there(equations, list(_placement_kinks(equations.system.expanded)), p, t, y)
    return found and f"{found}, at which no finite force moves it as it asks; make it smooth, as a cubic table is"


def jump_met(
    equations: Equations, p: FloatArray, before: tuple[float, FloatArray], now: tuple[float, FloatArray]
) -> str:
    """Words on the operation of a force or rate that jumps at the time and state *now*, with its place in the text: of several,
    as where the motion slides already, the one that was farthest from it *before*.
    """
    at = jumps_near(equations, p, *now)
    there = [words for off, words in at if off <= _near(now[1])] or [words for _, words in at[:1]]
    if len(there) > 1:
        off = {words: far for far, words in jumps_near(equations, p, *before)}
        return max(there, key=lambda words: off[words])
    return there[0] if there else "what is given"


def crowded_jumps(equations: Equations, p: FloatArray, t: float, y: FloatArray) -> tuple[str, ...]:
    """Words on the operations of forces and rates that jump at the state *y* at *t*, as near as steps come."""
    return tuple(words for off, words in jumps_near(equations, p, t, y) if off <= _near(y))


def corners_there(equations: Equations, p: FloatArray, t: float, y: FloatArray) -> tuple[str, ...]:
    """Words on the operations of forces and rates that bend at the state *y* at *t*."""
    return tuple(words for off, words in corners_near(equations, p, t, y) if off <= _near(y))


def _near(y: FloatArray) -> float:
    """What is zero for steps at the state *y*: they come no nearer."""
    return tolerances.STALL_TOLERANCE * max(1.0, float(np.abs(y).max()))


def jumps_near(equations: Equations, p: FloatArray, t: float, y: FloatArray) -> list[tuple[float, str]]:
    """The operations of forces and rates that jump with the state, the nearest to the state *y* at *t* first: what vanishes where
    each jumps, and words on it.
    """
    named = _operations(equations.system)
    with LOCK:
        named = [one for one in named if leaps(DESCRIPTIONS, one[1].ref >> 1)]
    return _nearest(equations, named, p, t, y)


def corners_near(equations: Equations, p: FloatArray, t: float, y: FloatArray) -> list[tuple[float, str]]:
    """The operations of forces and rates that have corners, magnitudes of speeds among them, as :func:`jumps_near` has them."""
    system = equations.system
    named = _operations(system)
    named += [(f"'{x}' {words}", x, x) for words, own in _written(system) for x in _magnitudes(own)]
    return _nearest(equations, named, p, t, y)


def _written(system: System) -> list[tuple[str, Iterable[Expr]]]:
    """Words on the forces, states and named expressions of *system*, each with what is written in it."""
    records: list[tuple[str, Location | None, Iterable[Expr]]]
    records = [(e.name, e.location, e.expressions) for e in system.elements]
    records += [(s.name, s.location, (s.rate,)) for s in system.states]
    records += [(let.name, let.location, (let.value,)) for let in system.lets]
    return [(f"of '{name}'{f' ({at})' if at else ''}", own) for name, at, own in records]


def _operations(system: System) -> list[tuple[str, Expr, Expr]]:
    """The nonsmooth operations of forces and rates: words on each, the operation, and what vanishes where it bends."""
    found = []
    for words, own in _written(system):
        choices = _choices(own)
        for operation, zero in _nonsmooth_operations(own, system):
            found.append((f"'{choices.get(operation.ref) or _shown(operation)}' {words}", operation, zero))
    return found


def _choices(expressions: Iterable[Expr]) -> dict[Ref, str]:
    """The choices in *expressions* in text, without their values, by the comparisons in their conditions."""
    g, found = DESCRIPTIONS, dict[Ref, str]()
    with LOCK:
        for i in reachable(g, [e.ref for e in expressions]):
            if g.op[i] in (Op.IF, Op.WHERE):
                condition = g.lhs[i] if g.op[i] == Op.IF else g.rhs[i]
                text = f"if({condition_text(g, condition)}, ...)"
                found |= {2 * k: text for k in reachable(g, [condition]) if g.op[k] == Op.STEP}
    return found


def _magnitudes(expressions: Iterable[Expr]) -> list[Expr]:
    """The magnitudes of positions and velocities in *expressions*, which have corners where they vanish."""
    names = {n: part(n) for e in expressions for n in e.symbols() if "(" in n}
    return [symbol(n) for n, x in names.items() if x is not None and x.component is None and x.order < 2]


def _nearest(
    equations: Equations, named: Sequence[tuple[str, Expr, Expr]], p: FloatArray, t: float, y: FloatArray
) -> list[tuple[float, str]]:
    """How far the state *y* at *t* is from where each operation of *named* jumps or bends, and words on it; the nearest first."""
    if not named:
        return []
    values, n = expanded_values(equations.system.lets), equations.system.nq + equations.system.nv
    zeros = tuple(substitute_names(values, zero) for *_, zero in named)
    off = np.abs(operand_values(equations, zeros)(np.array([t]), y[:n], p))
    return sorted(zip(off.tolist(), (words for words, *_ in named), strict=True), key=lambda one: one[0])


def _shown(operation: Expr) -> str:
    """An *operation* in text; a table without its points."""
    head, points, _ = repr(operation).partition("; (")
    return f"{head}; ...)" if points else head


def _kink_there(
    equations: Equations, found: Sequence[tuple[str, Expr, Expr]], p: FloatArray, t: float, y: FloatArray
) -> str:
    """Words on the nearest of the kinks *found* (name, operation, and what vanishes there), if the state *y* at *t* is at one."""
    if not found:
        return ""
    values = operand_values(equations, tuple(zero for _, _, zero in found))
    n = equations.system.nq + equations.system.nv
    off = np.abs(values(np.array([t]), y[:n], p))
    if not off.min() <= tolerances.STALL_TOLERANCE * max(1.0, float(np.abs(y[:n]).max())):
        return ""
    name, operation, _ = found[int(off.argmin())]
    return f"'{name}' has a kink or a step there, '{operation!r}'"


def passed_kinks(equations: Equations, p: FloatArray, t: FloatArray, y: FloatArray) -> tuple[str, ...]:
    """Sentences on kinks and steps of contacts that a motion with the states y (k, n) at the times t (k,) passes."""
    found = list(_contact_kinks(equations.system.expanded))
    if not found:
        return ()
    values = operand_values(equations, tuple(zero for _, _, zero in found))
    n = equations.system.nq + equations.system.nv
    signs = np.sign(values(t[:, None], y[:, :n], np.broadcast_to(p, (len(t), len(p)))))
    passed = np.any(signs[1:] * signs[:-1] < 0.0, axis=0).tolist()
    return tuple(
        f"'{name}' has a kink or a step that the motion passes, '{operation!r}': what touches it meets it up to a step late."
        for (name, operation, _), own in zip(found, passed, strict=True)
        if own
    )


def at_kink(
    equations: Equations, more: Iterable[Expr], t: FloatArray, q: FloatArray, v: FloatArray, p: FloatArray
) -> bool:
    """True where the equations without contacts and switches, or *more* expressions, have a kink, a step or an infinite slope
    at one of the states.
    """
    more = tuple(more)
    zeros, steep = equations.bounded_memo((at_kink, more), lambda: _zeros(equations.system, more))
    if not (zeros or steep):
        return False
    values, smooth = operand_values(equations, (*zeros, *steep)), len(zeros)
    y = np.concatenate([q, v], axis=-1)
    t, p = (np.broadcast_to(x, (*y.shape[:-1], x.shape[-1])) for x in (t, p))
    off, rng = np.abs(zero := values(t, y, p)), np.random.default_rng(0)
    near = tolerances.STATE_TOLERANCE * np.maximum(1.0, np.abs(y).max(axis=-1, initial=0.0, keepdims=True))
    # As far as the quantity moves with a state that is known up to this tolerance: it may be large beside the state.
    moved = [np.abs(values(t, y + near * rng.choice([-1.0, 1.0], y.shape[-1]), p) - zero) for _ in range(DIRECTIONS)]
    kinked = off[..., :smooth] <= np.maximum(near, np.max(moved, axis=0)[..., :smooth])
    return bool(kinked.any() or (off[..., smooth:] <= edge_tolerance(y)[..., None]).any())


def _zeros(system: System, more: Sequence[Expr]) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """Expressions that vanish at kinks and steps, and at infinite slopes, of the motions of *system* and of *more*."""
    bare = system.unchecked(contacts=(), switches=(), programs=(), control=Control(), outputs=())
    every = (*motion_expressions(bare.expanded), *more)
    steep = (need.rule.distance(need.operand) for need in domain_conditions(bare, more) if need.steep)
    zeros = (zero for e in every for _, zero in _nonsmooth_operations((e,), system))
    return (*zeros, *_magnitudes(every)), tuple(steep)


def _nonsmooth_operations(
    expressions: Iterable[Expr], system: System, *, cuts: bool = True
) -> Iterator[tuple[Expr, Expr]]:
    """Nonsmooth operations in *expressions* of the state, and the expressions that vanish at their kinks; *cuts* as in
    :func:`kinks`.
    """
    g, fixed = DESCRIPTIONS, {p.name for p in system.parameters}
    with LOCK:
        found = list(kinks(g, [e.ref for e in expressions], cuts=cuts))
    for operation, ref in found:
        zero = Expr(g, ref)
        names = zero.symbols()
        if not (
            fixed.issuperset(names)
            or response_symbols(system, names)
            or speed_derivatives(system, names)
            or any("(" in name for name in names)
        ):
            yield Expr(g, operation), zero


def _placement_kinks(system: System) -> Iterator[tuple[str, Expr, Expr]]:
    """Kinks of places of bodies: name, operation, and the expression that vanishes at the kink. Angles jump by a whole turn."""
    for body in system.bodies:
        given = [x for motion in body.motions for x in motion.arguments]
        yield from ((body.name, *found) for found in _nonsmooth_operations(given, system, cuts=False))


def _jumps(system: System) -> list[tuple[str, Expr, Expr]]:
    """Those kinks of contacts, limits and places of bodies that are jumps."""
    every = (*_contact_kinks(system), *_placement_kinks(system))
    with LOCK:
        return [one for one in every if leaps(DESCRIPTIONS, one[1].ref >> 1)]


def _contact_kinks(system: System) -> Iterator[tuple[str, Expr, Expr]]:
    """Kinks of contacts and limits: name, operation, and the expression that vanishes at the kink."""
    for record in system.contacts:
        yield from ((record.name, *found) for found in _nonsmooth_operations(record.gaps, system, cuts=False))
