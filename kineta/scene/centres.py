"""Centres of fields: places fixed in the ground from which forces and potentials depend on the distance, and where they may have
no value.
"""

from __future__ import annotations

from collections.abc import Iterator

from kineta.algebra.expression import Expr, expr
from kineta.expr.op import Op
from kineta.expr.walk import reachable
from kineta.model.axis import LETTERS, Axis
from kineta.model.body import GROUND
from kineta.model.coercion import Vector3
from kineta.model.constraints.placement import stations
from kineta.model.elements.force import Force
from kineta.model.elements.generalized import GeneralizedForce
from kineta.model.elements.potential import Potential
from kineta.model.joints.joint import Joint
from kineta.model.joints.motion import ElementaryMotion
from kineta.model.system import System
from kineta.model.vectors import part

#: Axes of the ground by their vectors.
_AXES: dict[Axis, int] = {axis: "xyz".index(letter) for letter, axis in LETTERS.items()}


def centres(system: System) -> tuple[Vector3, ...]:
    """The centres of the forces and potentials of *system*, in ground axes, each once."""
    known = _components(system)
    found = dict[tuple[int, ...], Vector3]()
    for value in _characteristics(system):
        for place in _of(value, system, known):
            found.setdefault(tuple(x.ref for x in place), place)
    return tuple(found.values())


def _characteristics(system: System) -> Iterator[Expr]:
    for e in system.elements:
        if isinstance(e, Force):
            yield from e.components
        elif isinstance(e, Potential | GeneralizedForce):
            yield e.energy if isinstance(e, Potential) else e.characteristic


def _components(system: System) -> dict[str, tuple[str, int]]:
    """Of each name of a component of a position in ground axes, the place, and the number of the axis."""
    found = {f"{place}.{x}": (place, k) for place in stations(system) for k, x in enumerate("xyz")}
    found |= {f"r({place}).{x}": (place, k) for place in stations(system) for k, x in enumerate("xyz")}
    for body in system.tree:
        for motion in body.motions if body.base == GROUND else ():
            if isinstance(motion, Joint):
                found |= {
                    name: (body.name, k) for k, name in enumerate(motion.coordinates[:3]) if name.endswith("xyz"[k])
                }
                break
            if not isinstance(motion, ElementaryMotion) or motion.turns or motion.argument.name is None:
                break
            if (axis := _AXES.get(motion.axis)) is not None:
                found[motion.argument.name] = (body.name, axis)
    return found


def _of(value: Expr, system: System, known: dict[str, tuple[str, int]]) -> Iterator[Vector3]:
    for name in value.symbols():
        own = part(name)
        if own is not None and own.component is None and own.vector.kind == "r" and own.vector.frame == GROUND:
            yield (expr(0.0),) * 3
    graph = value.graph
    for i in reachable(graph, [value.ref]):
        if graph.op[i] in (Op.SQRT, Op.POW, Op.DIV):
            squares = Expr(graph, graph.rhs[i] if graph.op[i] == Op.DIV else graph.lhs[i])
            if (place := _centre(squares, system, known)) is not None:
                yield place


def _centre(squares: Expr, system: System, known: dict[str, tuple[str, int]]) -> Vector3 | None:
    """Where a sum of squares of two or three components of one position, each less a constant, is least."""
    names = [n for n in squares.symbols() if n in known]
    if len({known[n][0] for n in names}) != 1 or len({known[n][1] for n in names}) != len(names) or len(names) < 2:
        return None
    at = [expr(0.0)] * 3
    for n in names:
        slope = squares.diff(n)
        own = (slope / -2).subs(n, 0.0)
        if slope.diff(n).value != 2 or not {*own.symbols()} <= {*system.parameter_names}:
            return None
        at[known[n][1]] = own
    return (at[0], at[1], at[2])
