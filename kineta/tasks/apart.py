"""What contacts and friction are to tasks that know nothing of them."""

from __future__ import annotations

from kineta.errors import warn
from kineta.model.contacts.limit import Limit
from kineta.model.system import System


def warn_without(system: System, what: str) -> None:
    """Warn that *what* is of the equations without contact and dry friction, where *system* has such. A limit that is not reached
    does nothing.
    """
    names = [c.name for c in system.contacts if not isinstance(c, Limit)]
    if names:
        warn(f"Model '{system.name}': {what} is of its equations without {', '.join(names)}, which act in runs only.")
