"""What is said of a record at which something is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kineta.errors import Location, ModelError
from kineta.model import constraints, contacts, elements, program, switch
from kineta.model.body import Body, Point
from kineta.model.constraints import Condition
from kineta.model.contacts import Unilateral
from kineta.model.elements import Element
from kineta.model.elements.kind import Kind
from kineta.model.program import Program
from kineta.model.quasi import Quasi
from kineta.model.switch import Switch

if TYPE_CHECKING:
    from kineta.model.let import Let
    from kineta.model.system import Output, Parameter, System

#: Records that have a kind.
Kinded = Element | Condition | Unilateral | Switch | Program


class CheckError(ModelError):
    """What is wrong with a record: ``Body 'Shin' (model.kin:7:9): message``.

    ``symbol`` is the symbol at fault, and ``part`` the item of the model (``"initial q1"``): with them a reader of text finds
    the place where it was written.
    """

    def __init__(
        self, kind: str, name: str, location: Location | None, message: str, *, symbol: str = "", part: str = ""
    ) -> None:
        super().__init__(f"{kind} '{name}'{f' ({location})' if location else ''}: {message}")
        self.kind, self.name, self.message, self.symbol, self.part = kind, name, message, symbol, part
        self.location = location

    def at(self, location: Location) -> CheckError:
        """The same, said of another place."""
        return CheckError(self.kind, self.name, location, self.message, symbol=self.symbol, part=self.part)


def word(record: Body | Point | Kinded | Output | Let | Quasi | Parameter) -> str:
    """What the language calls *record*."""
    return elements.kind_of(record).word.capitalize() if isinstance(record, Element) else type(record).__name__


def kinded(system: System) -> Iterator[tuple[Kinded, Kind[Any]]]:
    """The records that have a kind, with it."""
    yield from ((e, elements.kind_of(e)) for e in system.elements)
    yield from ((c, constraints.kind_of(c)) for c in system.constraints)
    yield from ((c, contacts.kind_of(c)) for c in system.contacts)
    yield from ((s, switch.KIND) for s in system.switches)
    yield from ((p, program.KIND) for p in system.programs)


def of_model(system: System, part: str, message: str) -> CheckError:
    """What is wrong with an item of the model as a whole."""
    return CheckError("Model", system.name, None, message, part=part)


def of_control(system: System, message: str, *, symbol: str) -> CheckError:
    """What is wrong with the law of control."""
    return CheckError("Model", system.name, system.control.location, f"control: {message}", symbol=symbol)
