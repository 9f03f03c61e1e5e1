"""Places of a text as editors count them: lines, and units of UTF-8, UTF-16 or UTF-32 in them, from 0."""

from __future__ import annotations

import re
from bisect import bisect_right

from kineta.errors import Location
from kineta.records import dataclass
from kineta.threads import once

#: The ends of lines of the protocol.
_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Lines:
    """The lines of a *text*, in an *encoding* of the protocol: ``utf-8``, ``utf-16`` or ``utf-32``."""

    text: str
    encoding: str = "utf-16"

    @once
    def starts(self) -> list[int]:
        """The characters at which lines begin."""
        return [0, *(found.end() for found in _END.finditer(self.text))]

    @once
    def _written(self) -> list[int]:
        """The characters at which lines of the reader begin, which a line feed ends."""
        return [0, *(k + 1 for k, c in enumerate(self.text) if c == "\n")]

    def place(self, offset: int) -> tuple[int, int]:
        """The line and the column of a character."""
        line = bisect_right(self.starts, offset) - 1
        return line, self._units(self.text[self.starts[line] : offset])

    def offset(self, line: int, column: int) -> int:
        """The character at a line and a column; beyond the end of the line, or of the text, it is that end."""
        if line >= len(self.starts):
            return len(self.text)
        start = self.starts[line]
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.text)
        own, left = self.text[start:end].rstrip("\r\n"), column
        for k, character in enumerate(own):
            left -= self._units(character)
            if left < 0:
                return start + k
        return start + len(own)

    def of(self, location: Location) -> int:
        """The character at a *location* of the reader, which counts characters and lines from 1."""
        line = min(location.line, len(self._written)) - 1
        return min(self._written[line] + location.column - 1, len(self.text))

    def _units(self, text: str) -> int:
        if self.encoding == "utf-16":
            return len(text) + sum(c > "\uffff" for c in text)
        return len(text.encode("utf-8", "surrogatepass")) if self.encoding == "utf-8" else len(text)
