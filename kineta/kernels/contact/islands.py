"""Islands: blocks of speeds that active contacts couple, directly or through others. Each is a contact problem of its own."""

from __future__ import annotations

from kineta.integration.contact_records import ContactProblem
from kineta.kernels.language import kernel
from kineta.memory import Integers


@kernel
def label_islands(problem: ContactProblem, active: Integers, count: int, label: Integers) -> None:
    """One *label* (blocks,) for all blocks of an island: the least number among them. Labels of other blocks stay as they are."""
    start, blocks = problem.coupled_start, problem.coupled_blocks
    for a in range(count):
        for k in range(start[active[a]], start[active[a] + 1]):
            label[blocks[k]] = blocks[k]
    changed = True
    while changed:
        changed = False
        for a in range(count):
            first, last = start[active[a]], start[active[a] + 1]
            least = problem.blocks
            for k in range(first, last):
                least = min(least, label[blocks[k]])
            for k in range(first, last):
                if label[blocks[k]] != least:
                    label[blocks[k]] = least
                    changed = True


@kernel
def move_forward(active: Integers, place: int, target: int) -> None:
    """Move the entry at a *place* to a *target* before it, and those between back by one."""
    c = active[place]
    for k in range(place - target):
        active[place - k] = active[place - k - 1]
    active[target] = c


@kernel
def gather_island(problem: ContactProblem, active: Integers, count: int, label: Integers) -> int:
    """Move the contacts of the island of the first active one to the front, in their order; their number. A contact that no
    speed moves is an island.
    """
    start, blocks = problem.coupled_start, problem.coupled_blocks
    if start[active[0]] == start[active[0] + 1]:
        return 1
    island = label[blocks[start[active[0]]]]
    found = 0
    for a in range(count):
        c = active[a]
        if start[c] < start[c + 1] and label[blocks[start[c]]] == island:
            move_forward(active, a, found)
            found += 1
    return found
