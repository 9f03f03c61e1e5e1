"""Entry points: rows of the tables of kinds that other distributions bring.

A distribution declares a row in its metadata, by the group of the table and the name of the row::

    [project.entry-points."kineta.formalisms"]
    nielsen = "nielsen:NIELSEN"

The groups are ``kineta.formalisms``, ``kineta.elements``, ``kineta.constraints``, ``kineta.contacts``, ``kineta.joints`` and
``kineta.backends``. Metadata are read only for a name that the table itself does not have.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from kineta.errors import ArgumentError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def installed(group: str) -> dict[str, EntryPoint]:
    """The entry points of a *group*, by name. Raises :class:`ArgumentError` for a name that two distributions give."""
    found: dict[str, EntryPoint] = {}
    for own in _declared(group, tuple(sys.path)):
        other = found.setdefault(own.name, own)
        if other.value != own.value:
            text = f"Expected one entry point '{own.name}' of the group {group}, found two, of the distributions"
            raise ArgumentError(f"{text} {_distribution(other)} and {_distribution(own)}. Uninstall one of them.")
    return found


def load(group: str, name: object, fault: Callable[[Any], str]) -> Any:
    """The object of the entry point *name* in a *group*; None where no distribution has one.

    ``fault(object)`` is the sentence on an object that does not fit the table, or "". Raises :class:`ArgumentError`, with the
    name of the distribution, for an entry point that cannot be imported or does not fit.
    """
    if not isinstance(name, str):
        return None
    entry = installed(group).get(name)
    if entry is None:
        return None
    try:
        found = _loaded(entry)
        text = fault(found)
    except Exception as error:  # whatever the code of the distribution raises
        text = f"importing {entry.value} raises {type(error).__name__}: {str(error).removesuffix('.')}."
    if text:
        raise ArgumentError(
            f"The entry point '{name}' of the group {group}, of the distribution {_distribution(entry)}: {text}"
        )
    return found


@cache
def _declared(group: str, path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of a *group* on the *path* of modules; metadata are read once for each."""
    from importlib.metadata import entry_points

    return tuple(entry_points(group=group))


@cache
def _loaded(entry: EntryPoint) -> Any:
    return entry.load()


def _distribution(entry: EntryPoint) -> str:
    return f"'{entry.dist.name}'" if entry.dist is not None else "unknown"
