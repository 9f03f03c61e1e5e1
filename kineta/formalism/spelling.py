"""One spelling for motions that can be written in several ways, so that all ways lead to the same equations.

Turns about an axis and shifts along it commute, and those of one kind add. In every run of motions about and along one
line, constant arguments join the first variable one of their kind: ``Rx(0.1), Rx(q), Rx(0.2)`` is ``Rx(q + 0.3)``. Quarter
turns stand apart: ``Rx(q + pi/2)`` is ``Rx(pi/2), Rx(q)``, since a quarter turn takes no operations.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from kineta.expr.graph import Graph, Ref
from kineta.expr.node import Expr, expr
from kineta.expr.op import Op
from kineta.model.body import Body, Inertia
from kineta.model.motion import Axis, Ball, Free, Motion, Rotation, Shift


def normal_form(motions: Iterable[Motion], variables: frozenset[str]) -> Iterator[Motion]:
    """*motions* in the one spelling; *variables* are the names of what changes: coordinates and the time."""
    for line, run in groupby(motions, key=_line):
        if line is None:
            yield from run
            continue
        elementary = list(run)
        for kind in (Shift, Rotation):  # what shifts need not turn with it
            arguments = [_along(line, m) for m in elementary if isinstance(m, kind)]
            yield from (kind(line, a) for a in _joined(arguments, variables, quarters=kind is Rotation))


def borrowed(bodies: Sequence[Body], variables: frozenset[str]) -> dict[str, list[Rotation | Shift]]:
    """For a frame without mass that carries one body: the constant motions at the head of that body's which are about or
    along the line of the frame's last motion. They may as well be made with it.
    """
    carried: dict[str, list[Body]] = {}
    for body in bodies:
        carried.setdefault(body.base, []).append(body)
    found: dict[str, list[Rotation | Shift]] = {}
    for frame in bodies:
        after = carried.get(frame.name, [])
        if frame.inertia == Inertia() and frame.motions and len(after) == 1 and frame.base not in found:
            head = _head(after[0].motions, _line(frame.motions[-1]))
            if head and all(variables.isdisjoint(m.argument.symbols()) for m in head):
                found[frame.name] = head
    return found


def _head(motions: Sequence[Motion], line: Axis | None) -> list[Rotation | Shift]:
    """The first *motions* that are about or along *line*."""
    head: list[Rotation | Shift] = []
    for motion in motions:
        if isinstance(motion, Ball | Free) or _line(motion) != line:
            break
        head.append(motion)
    return head


def inverse(motions: Sequence[Rotation | Shift]) -> list[Motion]:
    """What undoes *motions*."""
    return [type(m)(m.axis, -m.argument) for m in reversed(motions)]


def _line(motion: Motion) -> Axis | None:
    """The axis of a motion, of two opposite ones the one whose first component other than zero is positive."""
    if isinstance(motion, Ball | Free):
        return None
    x, y, z = motion.axis
    return motion.axis if (x, y, z) > (0.0, 0.0, 0.0) else (-x + 0.0, -y + 0.0, -z + 0.0)


def _along(line: Axis, motion: Rotation | Shift) -> Expr:
    """The argument of *motion* about or along *line*."""
    return motion.argument if motion.axis == line else -motion.argument


def _joined(arguments: Sequence[Expr], variables: frozenset[str], *, quarters: bool) -> Iterator[Expr]:
    """Arguments of as few motions: a constant one if it must be, then the variable ones."""
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
        if abs(number - whole) < 1e-14:
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
    """*argument* without the numbers that are added to it, and their sum."""
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
    """The terms of a sum, however nested, from left to right."""
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
