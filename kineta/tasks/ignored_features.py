"""Warnings of tasks that ignore contacts, limits, dry friction, switches or programs of motion."""

from __future__ import annotations

from collections.abc import Collection

from kineta.errors import excerpt, warn
from kineta.model.system import System


def warn_ignored(
    system: System, what: str, *, whole: bool = False, known: Collection[str] = (), reached: Collection[str] = ()
) -> None:
    """Warn that *what* ignores the contacts, dry friction and programs of *system*, except the *known* kinds; with *whole*,
    also switches and all limits, else the limits *reached* at the state.
    """
    kinds = {"contacts": [], "dry friction": [], "programs": [program.name for program in system.programs]}
    for c in system.contacts:
        if c.always or whole or c.name in reached:
            kinds.setdefault(c.plural, []).append(c.name)
    if whole:
        kinds["switches"] = [s.name for s in system.switches]
    left_out = [word for word, names in kinds.items() if names and word not in known]
    if left_out:
        names = excerpt(name for word in left_out for name in kinds[word])
        words = " and ".join([", ".join(left_out[:-1]), left_out[-1]] if len(left_out) > 1 else left_out)
        warn(f"Model '{system.name}': {what} is of its equations without {names}: only runs know {words}.")
