"""Equations of an island that come again: the search for a mode asks for the forces of one island several times in one state.

What the equations are made of, beside terms of that state, is noted: rows and friction for the matrix, right-hand side,
forces of reference and bounds of friction for the forces. What is noted already is not found again.
"""

from __future__ import annotations

from kineta.integration.contact_records import ContactMotion, ModeWork
from kineta.kernels.contact.friction_cone import kinetic_friction, static_friction
from kineta.kernels.language import kernel
from kineta.kernels.vectors import copy
from kineta.memory import Integers, Reals


@kernel
def keep_equations(work: ModeWork) -> None:
    """Keep equations of islands from now on, until the next state; none is kept yet."""
    work.keeps, work.noted[0] = True, -1.0


@kernel
def note_rows(motion: ContactMotion, active: Integers, count: int, n: int, slipping: int) -> int:
    """Note of what the matrix of n rows of an island is made; the length of the note. *slipping* is the mode of contacts whose
    friction goes with the normal force.
    """
    work, note, size = motion.work, motion.work.asked, 2
    note[0], note[1] = float(n), float(count)
    for j in range(2 * n):
        note[size] = float(work.rows[j])
        size += 1
    for k in range(count):
        c = active[k]
        for i in range(3):
            note[size + i] = 0.0
        if motion.contacts.mode[c] == slipping:
            note[size] = kinetic_friction(motion.terms, c)
            note[size + 1], note[size + 2] = work.toward[2 * c], work.toward[2 * c + 1]
        size += 3
    return size


@kernel
def note_loads(motion: ContactMotion, active: Integers, count: int, n: int, reference: Reals, first: int) -> int:
    """Note from the place *first* on of what the forces of an island are made beside its matrix; the length of the note."""
    work, note, size = motion.work, motion.work.asked, first
    for j in range(n):
        note[size] = work.right[j]
        note[size + 1] = reference[3 * work.rows[2 * j] + work.rows[2 * j + 1]]
        size += 2
    for k in range(count):
        note[size] = static_friction(motion.terms, active[k])
        size += 1
    return size


@kernel
def is_noted(work: ModeWork, first: int, last: int) -> bool:
    """Whether a note is what it was the last time between two places; it becomes that."""
    same = True
    for k in range(first, last):
        same = same and work.asked[k] == work.noted[k]
        work.noted[k] = work.asked[k]
    return same


@kernel
def keep_forces(work: ModeWork, active: Integers, count: int, n: int) -> None:
    """Keep the forces *found* (n,) of an island."""
    copy(work.found, work.kept, n)
    for k in range(count):
        work.kept[n + k] = work.ease[active[k]]


@kernel
def recall_forces(work: ModeWork, active: Integers, count: int, n: int) -> None:
    """The forces *found* (n,) of an island that are kept."""
    copy(work.kept, work.found, n)
    for k in range(count):
        work.ease[active[k]] = work.kept[n + k]
