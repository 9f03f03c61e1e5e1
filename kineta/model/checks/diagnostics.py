"""The error on a record of a description."""

from __future__ import annotations

from kineta.errors import Location, ModelError


class CheckError(ModelError):
    """An error on a record: ``Body 'Shin' (model.kin:7:9): message``.

    ``symbol`` is the symbol at fault, and ``part`` the item of the model (``"initial q1"``): with them a reader of text finds
    the place where it was written.
    """

    def __init__(
        self, kind: str, name: str, location: Location | None, message: str, *, symbol: str = "", part: str = ""
    ) -> None:
        super().__init__(f"{kind} '{name}'{f' ({location})' if location else ''}: {message}")
        self.kind, self.name, self.message, self.symbol, self.part = kind, name, message, symbol, part
        self.location = location

    def at(self, location: Location, within: str = "") -> CheckError:
        """The same error at another place, of a function *within* whose calls it was found."""
        message = f"{within}: {self.message}" if within else self.message
        return CheckError(self.kind, self.name, location, message, symbol=self.symbol, part=self.part)
