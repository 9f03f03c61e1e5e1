"""One family of errors, one form of message.

Every message is one sentence: where, what, expected, found, what to do::

    Body 'Shin' (model.kin:7:9): base 'thihg' does not exist. Did you mean 'Thigh'?
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a text: file name, line and column, both counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


#: Letters of the longest name that is shown whole.
_NAME = 100
_LONG_NAME = re.compile(rf"[\w'.]{{{_NAME + 1},}}")
#: Characters of the longest message.
_MESSAGE = 2000


def readable(text: str) -> str:
    """*text* as people can read it: control characters and halves of characters written out, names without their middle where
    they are longer than what anyone reads.
    """
    text = _LONG_NAME.sub(lambda m: f"{m[0][: _NAME // 2]}...{m[0][-_NAME // 4 :]}", text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def _message(text: str) -> str:
    """*text* as a message shows it."""
    text = readable(text)
    return text if len(text) <= _MESSAGE else f"{text[:1500]} ... {text[-400:]}"


class KinetaError(Exception):
    """Base of all errors that a user of kineta can cause; ``str(error)`` is the sentence to show."""

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(_message(message if location is None else f"{location}: {message}"))
        self.location = location


class ModelError(KinetaError):
    """A model, text or file that does not describe a mechanical system."""


class ExpressionError(KinetaError):
    """An expression that cannot be built, differentiated or evaluated."""


class ArgumentError(KinetaError, ValueError):
    """An argument of a public function with the wrong name, shape, unit or value."""


class MissingPackageError(KinetaError, ImportError):
    """An optional package that the called function needs is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"This needs the package '{package}': pip install 'kineta[{extra}]'.")


class SimulationError(KinetaError):
    """A run that could not be started or carried on."""


class KinetaWarning(UserWarning):
    """Something in the input was approximated or ignored, or a result is not to be trusted: it is named."""


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The sentence that suggests the nearest of *known*, or ``''`` where none is near."""
    if not isinstance(name, str):
        return ""
    folded: dict[str, str] = {}
    for k in known:
        folded.setdefault(k.casefold(), k)
    near = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    if not near:
        return ""
    found = folded[near[0]]
    return f" Did you mean {found}?" if found.endswith("''") else f" Did you mean '{found}'?"


def one_of(value: object, known: Collection[str], what: str) -> str:
    """*value*, which must be one of the words *known*; errors call it *what*. Raises :class:`ArgumentError`."""
    if isinstance(value, str) and value in known:
        return value
    raise ArgumentError(f"Expected {what} ({', '.join(known)}), found {shown(value)}.{did_you_mean(value, known)}")


def shown(value: object) -> str:
    """*value* as an error shows it: as Python writes it, in one line, or the name of its kind where that says more."""
    kind = {"ndarray": "array"}.get(type(value).__name__, type(value).__name__)
    try:
        written = re.sub(r"\s*\n\s*", " ", repr(value))
    except Exception:  # whatever the object raises
        written = "<"
    if not written.startswith("<"):
        if len(written) <= 40:
            return written
        if isinstance(value, str | int):
            return f"{written[:36]}..."
    return f"{'an' if kind[0] in 'AEIOUaeiou' else 'a'} {kind}"


def warn(message: str) -> None:
    """Emit a :class:`KinetaWarning` that points at the line outside of kineta from which it came."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "kineta":
        frame, level = frame.f_back, level + 1
    warnings.warn(_message(message), KinetaWarning, stacklevel=level)
