"""How a program is carried out: its operations in steps, and what lies in memory between them.

LLVM finds registers for a short program well. On a long one it takes a time that grows faster than the length, and keeps
values in memory in ways that cost as much as the arithmetic. So a long program is cut into chunks that become functions of
their own, and says itself what lies in scratch memory: of the values at hand, those whose next use is farthest make
room (Belady), so that LLVM sees values that live for a short time only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

from kineta.codegen.order import dependencies, schedule
from kineta.expr.program import Program

#: Operations that are left to LLVM as they are, by the number of registers: with few of them it needs help sooner.
WHOLE = {16: 2500, 32: 5000}
#: Steps in one chunk of a longer program.
CHUNK = 250
#: Values at hand at a time. It hardly matters from 12 to 24, with 16 registers as with 32: LLVM sees to the rest.
AT_HAND = 18


@dataclass(frozen=True, slots=True)
class Step:
    """Operations done together. Before them values are read from scratch memory, after them some of theirs are written to
    it, each as (operation that made it, slot).
    """

    operations: Sequence[int]
    loads: Sequence[tuple[int, int]] = ()
    stores: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of *program*, chunk by chunk, and the number of slots of scratch memory. At the beginning of a chunk nothing
    is at hand.
    """

    program: Program
    chunks: Sequence[Sequence[Step]]
    slots: int


def plan(program: Program, registers: int) -> Plan:
    """The plan of *program* for a machine with so many registers; without scratch memory where the program is short."""
    needs = dependencies(program)
    items = schedule(program, needs)
    if len(program.op) <= WHOLE[registers]:
        return Plan(program, [[Step(item) for item in items]], 0)
    reloads = _reloads(items, [_needed(needs, item) for item in items])
    slot, n = _slots(items, reloads)
    steps = [
        Step(item, [(k, slot[k]) for k in away], [(k, slot[k]) for k in item if k in slot])
        for item, away in zip(items, reloads, strict=True)
    ]
    return Plan(program, [steps[i : i + CHUNK] for i in range(0, len(steps), CHUNK)], n)


def _needed(needs: Sequence[Sequence[int]], item: Sequence[int]) -> set[int]:
    """What *item* needs from before it."""
    return {i for k in item for i in needs[k]}.difference(item)


def _reloads(items: Sequence[Sequence[int]], needed: Sequence[set[int]]) -> list[list[int]]:
    """For every item what it needs and is not at hand."""
    uses: dict[int, list[int]] = {}  # of each value, the next one at the end
    for i in reversed(range(len(items))):
        for k in needed[i]:
            uses.setdefault(k, []).append(i)
    at_hand: set[int] = set()
    farthest: list[tuple[int, int]] = []  # a heap of (-next use, value), in which what is no longer true is passed over
    reloads: list[list[int]] = []
    for i, item in enumerate(items):
        if i % CHUNK == 0:
            at_hand.clear()
        reloads.append([k for k in needed[i] if k not in at_hand])
        for k in needed[i]:
            uses[k].pop()
        for k in (*needed[i], *item):
            if uses.get(k):
                at_hand.add(k)
                heappush(farthest, (-uses[k][-1], k))
            else:
                at_hand.discard(k)
        while len(at_hand) > AT_HAND:
            use, k = heappop(farthest)
            if uses[k] and uses[k][-1] == -use:
                at_hand.discard(k)
    return reloads


def _slots(items: Sequence[Sequence[int]], reloads: Sequence[Sequence[int]]) -> tuple[dict[int, int], int]:
    """Slots of the values that are read back, and their number; a slot is used again once it was read for the last time."""
    last = {k: i for i, away in enumerate(reloads) for k in away}
    ends: dict[int, list[int]] = {}
    slots: dict[int, int] = {}
    free: list[int] = []
    new = count()
    for i, item in enumerate(items):
        free.extend(ends.pop(i, ()))
        for k in item:
            if k in last:
                slots[k] = free.pop() if free else next(new)
                ends.setdefault(last[k], []).append(slots[k])
    return slots, next(new)
