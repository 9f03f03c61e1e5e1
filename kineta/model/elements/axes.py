"""Axes of the components of a force or couple: ``ground``, ``body`` (the loaded body), or another body by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kineta.errors import ArgumentError, ModelError, did_you_mean
from kineta.model.body import GROUND, Body
from kineta.model.coercion import COERCIONS
from kineta.model.vectors import Components, axes_of
from kineta.values import word

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Source, Token
    from kineta.model.kind import Scope

#: The word for the axes of the body that is acted on.
OWN = "body"

#: The default of arguments: the axes of the vector, if it is one of a point or body, else of the ground.
OF_VECTOR = ""

#: ``ground``, ``body``, or the name of a body.
Axes = str

#: Axes, in the words of the grammar.
IN = '["in" NAME]'


def axes_name(axes: Axes | Body) -> Axes:
    """Name of the axes in an argument."""
    return axes.name if isinstance(axes, Body) else word(axes, f"axes ('{GROUND}', '{OWN}' or the name of a body)")


COERCIONS["Axes"] = lambda value, *_: axes_name(value)


def of_vector(axes: Axes | Body, components: Components, body: str) -> str:
    """The axes in an argument for *components* that act on a *body*: those that a vector has, else by default the ground's.

    Raises :class:`ArgumentError` for others than those of the vector.
    """
    shown = axes_of(components)
    if isinstance(axes, str) and axes == OF_VECTOR:
        return shown or GROUND
    name = axes_name(axes)
    if shown is not None and shown != (body if name == OWN else name):
        raise ArgumentError(f"The vector has the axes of '{shown}', found axes '{name}'; leave that out.")
    return name


def read(source: Source, name: Token | None, body: str, shown: str | None) -> str:
    """Axes read from a text for what acts on a *body*: those that the vector has *shown*, else of the ground.

    Raises :class:`ModelError` for others than those of the vector.
    """
    if name is None:
        return shown or GROUND
    if shown is not None and shown != (body if name == OWN else str(name)):
        raise ModelError(
            f"the vector has the axes of '{shown}', found 'in {name}'; leave that out, or write vectors as v({body} in {name}).",
            source.location(name),
        )
    return source.noted(name)


def clause(axes: str) -> str:
    """Text of the axes."""
    return "" if axes == GROUND else f" in {axes}"


def fault(system: Scope, axes: str) -> tuple[str, str] | None:
    """Sentence on *axes* that *system* does not have, and the word at fault."""
    if axes == OWN or axes in system.frames:
        return None
    near = did_you_mean(axes, (OWN, *system.frames))
    return f"expected axes '{GROUND}', '{OWN}' or the name of a body, found '{axes}'.{near}", axes
