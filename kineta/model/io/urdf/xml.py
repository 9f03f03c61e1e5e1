"""XML with the line of every element, and without document types or entities: nothing outside the file is ever read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from xml.parsers import expat

from kineta.errors import Location, ModelError
from kineta.records import dataclass


@dataclass(slots=True)
class XMLElement:
    """An element: its tag, attributes, children, the text in it, and where it begins."""

    tag: str
    attributes: dict[str, str]
    location: Location
    children: list[XMLElement] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> Iterator[XMLElement]:
        """The children called *tag*."""
        return (c for c in self.children if c.tag == tag)

    def one(self, tag: str) -> XMLElement | None:
        """The child called *tag*, or None. Raises :class:`ModelError` for several."""
        found = list(self.all(tag))
        if len(found) > 1:
            raise ModelError(f"<{self.tag}>: expected one <{tag}>, found {len(found)}.", found[1].location)
        return found[0] if found else None

    def get(self, name: str) -> str:
        """The attribute *name*. Raises :class:`ModelError` where it is missing."""
        if name not in self.attributes:
            raise ModelError(f"<{self.tag}>: the attribute '{name}' is missing.", self.location)
        return self.attributes[name]


def parse(content: bytes | str, file: str) -> XMLElement:
    """The root element of *content*. Raises :class:`ModelError`, with the line, for malformed XML."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    roots: list[XMLElement] = []
    stack: list[XMLElement] = []

    def here() -> Location:
        return Location(file, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1)

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = XMLElement(tag, attributes, here())
        if len(stack) >= 200:
            raise ModelError("elements are nested deeper than 200.", here())
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def end(_: str) -> None:
        stack.pop()

    def text(data: str) -> None:
        stack[-1].text += data

    def refuse(*_: object) -> None:
        raise ModelError("document types and entities are not read, for safety; remove <!DOCTYPE ...>.", here())

    def refuse_reference(*_: object) -> int:
        refuse()
        return 0

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse_reference
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise ModelError(f"the XML is broken: {reason}.", Location(file, error.lineno, error.offset + 1)) from None
    except (ValueError, LookupError) as error:
        raise ModelError(f"the XML is broken: {error}.", here()) from None
    return roots[0]
