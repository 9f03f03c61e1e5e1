"""In whose axes the components of a force or couple are given: ``ground``, ``body`` (the one it acts on), or another by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kineta.errors import did_you_mean
from kineta.model.body import GROUND, Body
from kineta.model.given import TAKES
from kineta.values import word

if TYPE_CHECKING:
    from lark import Token

    from kineta.model.io.source import Source
    from kineta.model.system import System

#: The word for the axes of the body that is acted on.
OWN = "body"

#: ``ground``, ``body``, or the name of a body.
Axes = str

#: Axes, in the words of the grammar.
IN = '["in" NAME]'


def named(axes: Axes | Body) -> Axes:
    """The name of the axes that a function is given."""
    return axes.name if isinstance(axes, Body) else word(axes, f"axes ('{GROUND}', '{OWN}' or the name of a body)")


TAKES["Axes"] = lambda value, *_: named(value)


def read(source: Source, name: Token | None) -> str:
    """The axes that a text names; those of the ground where it names none."""
    return GROUND if name is None else source.noted(name)


def written(axes: str) -> str:
    """Axes as they are written."""
    return "" if axes == GROUND else f" in {axes}"


def fault(system: System, axes: str) -> tuple[str, str] | None:
    """What is wrong with *axes* that *system* does not have, and the word at fault."""
    known = (OWN, *system.frames)
    if axes in known:
        return None
    near = did_you_mean(axes, known)
    return f"expected axes '{GROUND}', '{OWN}' or the name of a body, found '{axes}'.{near}", axes
