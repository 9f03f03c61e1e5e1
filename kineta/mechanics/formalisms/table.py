"""The formalisms by name: the table of the library, and the entry points of other distributions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kineta import entry_points
from kineta.errors import ArgumentError, one_of, shown, warn
from kineta.mechanics.formalisms.appell import APPELL
from kineta.mechanics.formalisms.dalembert import DALEMBERT
from kineta.mechanics.formalisms.formalism import Formalism
from kineta.mechanics.formalisms.gauss import GAUSS
from kineta.mechanics.formalisms.kane import KANE
from kineta.mechanics.formalisms.lagrange import LAGRANGE
from kineta.mechanics.formalisms.newton_euler import NEWTON_EULER
from kineta.mechanics.formalisms.wittenburg import WITTENBURG
from kineta.mechanics.quantities import shown_by

FORMALISMS: Mapping[str, Formalism] = {
    f.name: f for f in (NEWTON_EULER, DALEMBERT, LAGRANGE, APPELL, KANE, GAUSS, WITTENBURG)
}

#: The group of entry points that add formalisms.
GROUP = "kineta.formalisms"
#: Attributes of a formalism that the equations of a system ask for.
ATTRIBUTES = ("name", "source", "applies", "derivation", "told")


def formalism(given: object) -> Formalism:
    """The formalism of a name, or *given* itself where it is one. Raise :class:`ArgumentError` for anything else."""
    if isinstance(given, Formalism):
        return given
    if given is not None and not isinstance(given, str):
        if fault := _fault(given):
            raise ArgumentError(
                f"Expected the name of a formalism ({', '.join(FORMALISMS)}) or one as an object, {fault}"
            )
        return given  # type: ignore[return-value]  # it has the attributes of one
    found = FORMALISMS.get(given or "") or entry_points.load(GROUP, given, _fault_of(given))
    if found is None:
        known = dict.fromkeys((*FORMALISMS, *entry_points.installed(GROUP)))
        if words := shown_by(given or ""):
            raise ArgumentError(f"Expected a formalism ({', '.join(known)}), found {shown(given)}. {words}")
        one_of(given, known, "a formalism")
    return found


def formalisms() -> dict[str, Formalism]:
    """All formalisms by name, with the installed ones of other distributions; a warning names a broken entry point."""
    found = dict(FORMALISMS)
    for name in (n for n in entry_points.installed(GROUP) if n not in FORMALISMS):
        try:
            found[name] = formalism(name)
        except ArgumentError as error:
            warn(str(error))
    return found


def by_reference(given: Formalism) -> str | Formalism:
    """The name of a formalism of the tables, by which another process finds it; else the formalism itself."""
    known = given.name in FORMALISMS or given.name in entry_points.installed(GROUP)
    return given.name if known and formalism(given.name) is given else given


def _fault(given: Any) -> str:
    """The attributes that *given* lacks to be a formalism, as the end of a sentence; "" for one."""
    try:
        lacking = [name for name in ATTRIBUTES if not hasattr(given, name)]
    except Exception:  # whatever the object raises
        lacking = list(ATTRIBUTES)
    if not lacking and isinstance(given.name, str):
        return ""
    names = ", ".join(f"'{name}'" for name in lacking or ["name"])
    return f"found {shown(given)} without {names}; kineta.mechanics.formalisms.formalism.Formalism has them."


def _fault_of(name: str | None) -> Callable[[Any], str]:
    """The sentence on an object of the entry point *name* that is no formalism of this name; "" for one that is."""

    def fault(found: Any) -> str:
        if text := _fault(found):
            return f"expected a formalism, {text}"
        return "" if found.name == name else f"expected a formalism of this name, found '{found.name}'."

    return fault
