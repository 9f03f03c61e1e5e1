"""The order of a program's operations: an order in which sines and cosines can be taken together."""

from __future__ import annotations

from collections.abc import Sequence

from kineta.expr.op import UNARY, Op
from kineta.expr.program import Program

_TRIG = (Op.SIN, Op.COS)


def trig_levels(program: Program) -> list[list[int]]:
    """Operations that are sines and cosines, grouped: those of a group need only those of earlier groups."""
    first = program.first_operation
    level = [0] * len(program.op)
    groups: list[list[int]] = []
    for k, op in enumerate(program.op):
        operands = (program.lhs[k],) if op in UNARY else (program.lhs[k], program.rhs[k])
        own = max((level[(r >> 1) - first] for r in operands if r >> 1 >= first), default=0)
        if op in _TRIG:
            if own == len(groups):
                groups.append([])
            groups[own].append(k)
            own += 1
        level[k] = own
    return groups


def schedule(program: Program) -> list[int | list[int]]:
    """All operations in an order that keeps operands first, with every group of sines and cosines as one entry.

    Before a group stands only what its arguments need; the rest keeps the order of the program.
    """
    done: set[int] = set()
    order: list[int | list[int]] = []
    for group in trig_levels(program):
        needed = _below(program, group, done)
        order.extend(needed)
        order.append(group)
        done.update(needed, group)
    order.extend(k for k in range(len(program.op)) if k not in done)
    return order


def _below(program: Program, roots: Sequence[int], done: set[int]) -> list[int]:
    """Operations that the operands of *roots* need and that are not *done*, in order."""
    first = program.first_operation
    found: set[int] = set()
    stack = list(roots)
    while stack:
        k = stack.pop()
        operands = (program.lhs[k],) if program.op[k] in UNARY else (program.lhs[k], program.rhs[k])
        for r in operands:
            i = (r >> 1) - first
            if i >= 0 and i not in done and i not in found:
                found.add(i)
                stack.append(i)
    return sorted(found)
