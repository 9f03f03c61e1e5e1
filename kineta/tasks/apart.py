"""What contacts, limits, dry friction, switches and programs of motion are to tasks that know nothing of them."""

from __future__ import annotations

from collections.abc import Collection

from kineta.errors import warn
from kineta.model.contacts.contact import Contact
from kineta.model.contacts.friction import Friction
from kineta.model.contacts.limit import Limit
from kineta.model.infer import few
from kineta.model.system import System

#: Kinds that act wherever the system is.
_ALWAYS = (("contacts", Contact), ("dry friction", Friction))


def warn_without(
    system: System, what: str, *, whole: bool = False, known: Collection[str] = (), reached: Collection[str] = ()
) -> None:
    """Warn that *what* is of the equations without contacts, dry friction and the control of programs, where *system* has such;
    of the *whole* equations, also that they are without limits and switches, which do nothing near a state at which they are not
    *reached*. The kinds *known* are part of *what*.
    """
    kinds = {word: [c.name for c in system.contacts if isinstance(c, kind)] for word, kind in _ALWAYS}
    kinds["programs"] = [program.name for program in system.programs]
    kinds["limits"] = [c.name for c in system.contacts if isinstance(c, Limit) and (whole or c.name in reached)]
    if whole:
        kinds["switches"] = [s.name for s in system.switches]
    left_out = [word for word, names in kinds.items() if names and word not in known]
    if left_out:
        names = few(name for word in left_out for name in kinds[word])
        words = " and ".join([", ".join(left_out[:-1]), left_out[-1]] if len(left_out) > 1 else left_out)
        warn(f"Model '{system.name}': {what} is of its equations without {names}: only runs know {words}.")
