"""One family of errors, one form of message.

Every message is one sentence: where, what, expected, found, what to do::

    Body 'Shin' (model.kin:7:9): base 'thihg' does not exist. Did you mean 'Thigh'?
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Any

from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a text: file name, line and column, both counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


#: Letters of the longest unabbreviated name.
_NAME = 100
_LONG_NAME = re.compile(rf"[\w'.]{{{_NAME + 1},}}")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+(?=>)")
#: Characters of the longest message.
_MESSAGE = 2000


def readable(text: str) -> str:
    """*text* in printable form: control characters and surrogates escaped, very long names abbreviated in the middle."""
    text = _LONG_NAME.sub(lambda m: f"{m[0][: _NAME // 2]}...{m[0][-_NAME // 4 :]}", text)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def _message(text: str) -> str:
    """*text* as a message: in one line, without addresses of objects."""
    text = readable(re.sub(r"\s*\n\s*", " ", _ADDRESS.sub("", text)))
    text = text[:-1] if text.endswith("?.") else text
    return text if len(text) <= _MESSAGE else f"{text[:1500]} ... {text[-400:]}"


class KinetaError(Exception):
    """Base of all errors caused by users; ``str(error)`` is the sentence to show."""

    def __init__(self, message: str, location: Location | None = None) -> None:
        super().__init__(_message(message if location is None else f"{location}: {message}"))
        self.location = location

    def __reduce__(self) -> tuple[Any, ...]:
        # The error is restored without its constructor, whose arguments are not the message; a pool of processes would hang
        # otherwise.
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[KinetaError], args: tuple[Any, ...], state: dict[str, Any]) -> KinetaError:
    """A pickled error."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


def reworded(error: KinetaError, message: str) -> KinetaError:
    """A copy of *error* with another *message* and its traceback. Raised from None, it is the only error shown."""
    return type(error)(message).with_traceback(error.__traceback__)


class ModelError(KinetaError):
    """A model, text or file that does not describe a mechanical system."""


class ExpressionError(KinetaError):
    """An expression that cannot be built, differentiated or evaluated."""


class OperationError(ExpressionError, TypeError):
    """An operation of Python that expressions do not have."""


class ArgumentError(KinetaError, ValueError):
    """An argument of a public function with the wrong name, shape, unit or value."""


class MissingPackageError(KinetaError, ImportError):
    """An optional package that the called function needs is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"This needs the package '{package}': pip install 'kineta[{extra}]'.")


class DeviceError(KinetaError):
    """A graphics processor that is missing or failed."""


class SimulationError(KinetaError):
    """A run that could not be started or carried on."""


class NumericalError(SimulationError):
    """Numbers that are not finite, or a result of numerical analysis that does not exist."""


class SingularMatrixError(NumericalError):
    """Finite numbers for which a system has no solution, or a matrix no inverse or decomposition."""


class KinetaWarning(UserWarning):
    """An input that was approximated or ignored, or a result of doubtful accuracy."""


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The sentence that suggests the name nearest to *name* among *known*, or ``''``."""
    if not isinstance(name, str):
        return ""
    known = list(known)
    if found := _with_other_indices(name, known):
        return found
    folded: dict[str, str] = {}
    for k in known:
        folded.setdefault(k.casefold(), k)
    word = name.casefold()
    near = get_close_matches(word, folded, n=1, cutoff=0.6) or _holding(word, folded)
    quoted = (folded[n] if folded[n].endswith("''") else f"'{folded[n]}'" for n in near)
    return f" Did you mean {' or '.join(quoted)}?" if near else ""


def _with_other_indices(name: str, known: Iterable[str]) -> str:
    """The sentence on the indices with which a *name* such as ``Link[7]`` is known."""
    if "[" not in name:
        return ""
    like = re.compile(re.sub(r"\\\[\d+\\\]", r"\\[(\\d+)\\]", re.escape(name)))
    found = sorted((tuple(map(int, m.groups())), k) for k in known if (m := like.fullmatch(k)))
    if not found:
        return ""
    first, last = found[0][1], found[-1][1]
    return f" There is {first}." if first == last else f" There are {first} to {last}."


def excerpt(names: Iterable[str], most: int = 8) -> str:
    """The first of many *names*."""
    shown = list(names)
    return ", ".join(shown if len(shown) <= most else [*shown[:most], "..."])


def nearest_or_listed(name: object, known: Iterable[str]) -> str:
    """The sentence that suggests the nearest of *known*, or lists the first of them where none is near."""
    names = list(known)
    return did_you_mean(name, names) or f" There {'is' if len(names) == 1 else 'are'} {excerpt(names)}." * bool(names)


def _holding(word: str, known: Iterable[str]) -> list[str]:
    """Up to three names of *known* that contain *word* as a whole part, as left_elbow_joint' contains elbow."""
    if len(word) < 3:
        return []
    parts = {k: re.split(r"[\W_]|(?<=[^\W\d_])(?=\d)", k) for k in known}
    return [k for k, words in parts.items() if word in words][:3]


def suggestion(name: object, known: Collection[str]) -> str:
    """The sentence that suggests a name among *known*, by its synonyms in other tools or by its letters."""
    from kineta.vocabulary import meaning

    found = meaning(name, known) if isinstance(name, str) else None
    if found is None:
        return did_you_mean(name, known)
    return f" Did you mean '{found[0]}'{f' ({found[1]})' if found[1] else ''}?"


#: Words of the longest list shown beside a suggestion.
_LIST = 14


def one_of(value: object, known: Collection[str], what: str) -> str:
    """*value*, checked to be one of the words *known*; errors call it *what*. Raises :class:`ArgumentError`."""
    if isinstance(value, str) and value in known:
        return value
    near = suggestion(value, known)
    words = "" if near and len(known) > _LIST else f" ({', '.join(known)})"
    raise ArgumentError(f"Expected {what}{words}, found {shown(value)}.{near}")


def shown(value: object) -> str:
    """*value* as shown in an error: its repr in one line, or the name of its type if that is more informative."""
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


_hearing: ContextVar[list[str] | None] = ContextVar("hearing", default=None)


@contextmanager
def heard() -> Iterator[list[str]]:
    """The messages of the warnings that are given within, in their order."""
    told: list[str] = []
    before = _hearing.set(told)
    try:
        yield told
    finally:
        _hearing.reset(before)
        if (outer := _hearing.get()) is not None:
            outer += told


def warn(message: str) -> None:
    """Emit a :class:`KinetaWarning` at the calling line outside of kineta."""
    if (told := _hearing.get()) is not None:
        told.append(message)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "kineta":
        frame, level = frame.f_back, level + 1
    warnings.warn(_message(message), KinetaWarning, stacklevel=level)
