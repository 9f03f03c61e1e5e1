"""Spilling: chunks of a long program, and the values in scratch memory between them.

LLVM allocates registers for a short program well. For a long program its time grows superlinearly, and its spills cost as much
as the arithmetic. A long program is therefore cut into chunks, each a function of its own, with explicit spills: the resident
value with the farthest next use is evicted (Belady), so that LLVM sees short live ranges only.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count

from kineta.codegen.schedule import dependencies, schedule
from kineta.expr.program import StraightLineProgram
from kineta.records import dataclass

#: Length of the longest program left to LLVM whole, by number of registers: with few registers it needs help sooner.
WHOLE = {16: 2500, 32: 5000}
#: Bundles in one chunk of a longer program.
CHUNK = 250
#: Resident values at a time, by number of registers.
AT_HAND = {16: 18, 32: 24}


@dataclass(frozen=True, slots=True)
class Bundle:
    """Operations scheduled together, with reloads from scratch memory before them and spills after them, each as (operation
    that made the value, slot).
    """

    operations: Sequence[int]
    loads: Sequence[tuple[int, int]] = ()
    stores: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class SpillPlan:
    """The bundles of *program* by chunk, and the number of slots of scratch memory. No value is resident at the start of a
    chunk.
    """

    program: StraightLineProgram
    chunks: Sequence[Sequence[Bundle]]
    slots: int


def spill_plan(program: StraightLineProgram, registers: int) -> SpillPlan:
    """The spill plan of *program* for a number of *registers*; a short program is one chunk without scratch memory."""
    needs = dependencies(program)
    items = schedule(program, needs)
    if len(program.op) <= WHOLE[registers]:
        return SpillPlan(program, [[Bundle(item) for item in items]], 0)
    reloads = _reloads(items, [_needed(needs, item) for item in items], AT_HAND[registers])
    slot, n = _slots(items, reloads)
    steps = [
        Bundle(item, [(k, slot[k]) for k in away], [(k, slot[k]) for k in item if k in slot])
        for item, away in zip(items, reloads, strict=True)
    ]
    return SpillPlan(program, [steps[i : i + CHUNK] for i in range(0, len(steps), CHUNK)], n)


def _needed(needs: Sequence[Sequence[int]], item: Sequence[int]) -> set[int]:
    """Operations before *item* whose values it uses."""
    return {i for k in item for i in needs[k]}.difference(item)


def _reloads(items: Sequence[Sequence[int]], needed: Sequence[set[int]], resident: int) -> list[list[int]]:
    """For every item the operands that are not among the *resident* values, in number, of before."""
    uses: dict[int, list[int]] = {}  # uses of each value, the next one last
    for i in reversed(range(len(items))):
        for k in needed[i]:
            uses.setdefault(k, []).append(i)
    at_hand: set[int] = set()
    farthest: list[tuple[int, int]] = []  # a heap of (-next use, value); outdated entries are skipped
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
        while len(at_hand) > resident:
            use, k = heappop(farthest)
            if uses[k] and uses[k][-1] == -use:
                at_hand.discard(k)
    return reloads


def _slots(items: Sequence[Sequence[int]], reloads: Sequence[Sequence[int]]) -> tuple[dict[int, int], int]:
    """Slots of spilled values, and their number; a slot is free after the last reload of its value."""
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
