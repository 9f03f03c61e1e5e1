"""Instruction scheduling: the order of the operations of a program, with related operations together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kineta.expr.op import UNARY, Op
from kineta.expr.program import StraightLineProgram

TRIG = (Op.SIN, Op.COS)


def dependencies(program: StraightLineProgram) -> list[list[int]]:
    """For each operation the operations whose values it uses."""
    first = program.first_operation
    operations = zip(program.op, program.lhs, program.rhs, strict=True)
    return [[(r >> 1) - first for r in ((a,) if op in UNARY else (a, b)) if r >> 1 >= first] for op, a, b in operations]


def schedule(program: StraightLineProgram, needs: Sequence[Sequence[int]]) -> list[list[int]]:
    """All operations in a topological order, in groups: sines and cosines together, a product with its only user if this is a
    sum (one fused operation), or a single operation. *needs* are the :func:`dependencies`.

    Only operations needed by its arguments come before a group; the others keep the order of the program.
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


def trig_levels(program: StraightLineProgram, needs: Sequence[Sequence[int]]) -> list[list[int]]:
    """Sines and cosines in groups; the arguments of a group depend on earlier groups only."""
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


def _fused(program: StraightLineProgram, needs: Sequence[Sequence[int]]) -> dict[int, int]:
    """For sums, the first product without other users, if there is one."""
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
                    fused.setdefault(k, i)
    return fused


def _below(needs: Sequence[Sequence[int]], roots: Sequence[int], done: set[int]) -> list[int]:
    """Operations needed by the operands of *roots* and not *done*, in order."""
    found: set[int] = set()
    stack = list(roots)
    while stack:
        for i in needs[stack.pop()]:
            if i not in done and i not in found:
                found.add(i)
                stack.append(i)
    return sorted(found)
