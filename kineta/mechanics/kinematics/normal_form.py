"""Normal form of sequences of motions, so that equivalent descriptions lead to the same equations.

Rotations about an axis and translations along it commute, and motions of one kind add up. In every run of motions about and
along one line, constant arguments join the first variable motion of their kind: ``Rx(0.1), Rx(q), Rx(0.2)`` becomes ``Rx(q +
0.3)``. Quarter turns stay separate, ``Rx(q + pi/2)`` becomes ``Rx(pi/2), Rx(q)``, since a quarter turn takes no operations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby

from kineta import tolerances
from kineta.algebra.expression import Expr, expr
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import Op
from kineta.model.axis import Axis
from kineta.model.body import Body, Inertia
from kineta.model.joints import ELEMENTARY
from kineta.model.joints.motion import ElementaryMotion, Motion

_NO_MASS = Inertia()
#: Shifts first: they do not rotate a mass.
_KINDS = sorted(ELEMENTARY, key=lambda kind: kind.turns)


def normal_form(motions: Iterable[Motion], variables: frozenset[str]) -> Iterator[Motion]:
    """The normal form of *motions*; *variables* are the names of the coordinates and of the time."""
    for line, run in groupby(motions, key=_line):
        if line is None:
            yield from run
            continue
        elementary = list(run)
        for kind in _KINDS:
            own = [m for m in elementary if isinstance(m, kind)]
            arguments = [(m.argument if m.axis == line else -m.argument) for m in own]
            for a in _joined(arguments, variables, quarters=kind.turns):
                yield own[0] if own[0].argument == a and own[0].axis == line else kind(line, a)


def borrowed(bodies: Sequence[Body], variables: frozenset[str]) -> dict[str, list[ElementaryMotion]]:
    """For a massless frame that carries a single body: the leading constant motions of the body about or along the line of the
    last motion of the frame, with which they commute.
    """
    carried: dict[str, list[Body]] = {}
    for body in bodies:
        carried.setdefault(body.base, []).append(body)
    found: dict[str, list[ElementaryMotion]] = {}
    for frame in bodies:
        after = carried.get(frame.name, [])
        if frame.inertia == _NO_MASS and frame.motions and len(after) == 1 and frame.base not in found:
            head = _head(after[0].motions, _line(frame.motions[-1]))
            if head and all(variables.isdisjoint(m.argument.symbols()) for m in head):
                found[frame.name] = head
    return found


def _head(motions: Sequence[Motion], line: Axis | None) -> list[ElementaryMotion]:
    """The leading *motions* about or along *line*."""
    head: list[ElementaryMotion] = []
    for motion in motions:
        if not isinstance(motion, ElementaryMotion) or _line(motion) != line:
            break
        head.append(motion)
    return head


def inverse(motions: Sequence[ElementaryMotion]) -> list[Motion]:
    """The inverse of *motions*."""
    return [type(m)(m.axis, -m.argument) for m in reversed(motions)]


def _line(motion: Motion) -> Axis | None:
    """The axis of a motion; of two opposite numerical axes, the axis whose first nonzero component is positive."""
    if not isinstance(motion, ElementaryMotion):
        return None
    x, y, z = motion.axis
    if isinstance(x, Expr) or isinstance(y, Expr) or isinstance(z, Expr):
        return motion.axis
    return motion.axis if (x, y, z) > (0.0, 0.0, 0.0) else (-x + 0.0, -y + 0.0, -z + 0.0)


def _joined(arguments: Sequence[Expr], variables: frozenset[str], *, quarters: bool) -> Iterator[Expr]:
    """The sum of the arguments as at most two motions: a constant motion where needed, then the variable motions."""
    if not arguments or (len(arguments) == 1 and arguments[0].name in variables):
        yield from arguments
    elif len(arguments) == 1 and arguments[0].value is not None:
        yield from _number(arguments[0], quarters)
    else:
        yield from _sums(arguments, variables, quarters)


@lru_cache(maxsize=512)
def _number(argument: Expr, quarters: bool) -> tuple[Expr, ...]:
    """The motion by a number, of a kind with *quarters*: as it is, or whole quarters; none for zero."""
    found = tuple(_sums([argument], frozenset(), quarters))
    return (argument,) if found == (argument,) else found


def _sums(arguments: Sequence[Expr], variables: frozenset[str], quarters: bool) -> Iterator[Expr]:
    constant, number = expr(0), 0.0
    variable: list[Expr] = []
    for argument in arguments:
        rest, offset = _offset(argument)
        number += offset
        if not variables.isdisjoint(rest.symbols()):
            variable.append(rest)
        else:
            constant = constant + rest
    if quarters:
        whole = round(number / (math.pi / 2)) * (math.pi / 2)
        if abs(number - whole) < 64 * tolerances.EPS:
            number = 0.0
            if math.remainder(whole, 2 * math.pi):
                yield expr(whole)
    constant = constant + number
    if constant.value != 0:
        if variable:
            variable[0] = variable[0] + constant
        else:
            yield constant
    yield from variable


def _offset(argument: Expr) -> tuple[Expr, float]:
    """*argument* without its numerical terms, and the sum of the numerical terms."""
    graph = argument.graph
    number, rest = 0.0, expr(0)
    for term in _terms(graph, argument.ref):
        value = graph.value(term)
        if value is None:
            rest = rest + Expr(graph, term)
        else:
            number += value
    return rest, number


def _terms(graph: Graph, ref: Ref) -> list[Ref]:
    """The terms of a sum, nested sums included, from left to right."""
    found: list[Ref] = []
    stack = [ref]
    while stack:
        r = stack.pop()
        i = r >> 1
        if graph.op[i] == Op.ADD:
            stack += [graph.rhs[i] ^ (r & 1), graph.lhs[i] ^ (r & 1)]
        else:
            found.append(r)
    return found
