"""In whose axes the components of a force or couple are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from kineta.errors import ModelError, did_you_mean

if TYPE_CHECKING:
    from lark import Token

    from kineta.model.io.source import Source

#: The axes of the body that is acted on, or those of the ground.
Axes = Literal["body", "ground"]

#: Both, in the words of the grammar.
IN = '["in" NAME]'


def read(source: Source, name: Token | None) -> Axes:
    """The axes that a text names; those of the ground where it names none."""
    if name is None or name == "ground":
        return "ground"
    if name == "body":
        return "body"
    near = did_you_mean(str(name), ("body", "ground"))
    raise ModelError(f"expected 'in body' or 'in ground', found 'in {name}'.{near}", source.location(name))


def written(axes: Axes) -> str:
    """Axes as they are written."""
    return " in body" if axes == "body" else ""
