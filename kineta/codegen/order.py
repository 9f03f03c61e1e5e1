"""The order of a program's operations: what can be done together stands together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kineta.expr.op import UNARY, Op
from kineta.expr.program import Program

TRIG = (Op.SIN, Op.COS)


def dependencies(program: Program) -> list[list[int]]:
    """For each operation those whose values it needs."""
    first = program.first_operation
    operations = zip(program.op, program.lhs, program.rhs, strict=True)
    return [[(r >> 1) - first for r in ((a,) if op in UNARY else (a, b)) if r >> 1 >= first] for op, a, b in operations]


def schedule(program: Program, needs: Sequence[Sequence[int]]) -> list[list[int]]:
    """All operations in an order that keeps operands first, in items: a group of sines and cosines, a product with the only
    sum that needs it, which are one instruction, or a single operation. *needs* are the :func:`dependencies`.

    Before a group stands only what its arguments need; the rest keeps the order of the program.
    """
    products = _fused(program, needs)
    inside = set(products.values())
    done: set[int] = set()
    order: list[list[int]] = []

    def put(operations: Iterable[int]) -> None:
        order.extend([products[k], k] if k in products else [k] for k in operations if k not in inside)

    for group in trig_levels(program, needs):
        below = _below(needs, group, done)
        put(below)
        order.append(group)
        done.update(below, group)
    put(k for k in range(len(program.op)) if k not in done)
    return order


def trig_levels(program: Program, needs: Sequence[Sequence[int]]) -> list[list[int]]:
    """Operations that are sines and cosines, grouped: those of a group need only those of earlier groups."""
    level = [0] * len(program.op)
    groups: list[list[int]] = []
    for k, op in enumerate(program.op):
        own = max((level[i] for i in needs[k]), default=0)
        if op in TRIG:
            if own == len(groups):
                groups.append([])
            groups[own].append(k)
            own += 1
        level[k] = own
    return groups


def _fused(program: Program, needs: Sequence[Sequence[int]]) -> dict[int, int]:
    """For sums the product that they alone need, where there is one."""
    uses = [0] * len(program.op)
    results = (r >> 1 for r in program.results)
    for i in (*(i for operands in needs for i in operands), *(v - program.first_operation for v in results)):
        if i >= 0:
            uses[i] += 1
    fused: dict[int, int] = {}
    for k, op in enumerate(program.op):
        if op == Op.ADD:
            for i in needs[k]:
                if program.op[i] == Op.MUL and uses[i] == 1:
                    fused[k] = i
    return fused


def _below(needs: Sequence[Sequence[int]], roots: Sequence[int], done: set[int]) -> list[int]:
    """Operations that the operands of *roots* need and that are not *done*, in order."""
    found: set[int] = set()
    stack = list(roots)
    while stack:
        for i in needs[stack.pop()]:
            if i not in done and i not in found:
                found.add(i)
                stack.append(i)
    return sorted(found)
