"""Motions of a body on another: turns, shifts and joints."""

from __future__ import annotations

from collections.abc import Mapping

from kineta.errors import ArgumentError, Location, ModelError, did_you_mean
from kineta.model import joints
from kineta.model.axis import LETTERS
from kineta.model.io.kin_quantities import Node
from kineta.model.io.statements.model_text import ModelText
from kineta.model.joints.motion import ElementaryMotion, Motion

#: Turns and shifts by their letters.
_ELEMENTARY: Mapping[str, type[ElementaryMotion]] = {kind.letter: kind for kind in joints.ELEMENTARY}


def read_motions(text: ModelText, node: Node | None) -> tuple[Motion, ...]:
    """The motions of a body on its base, the first nearest to the base."""
    return tuple(_motion(text, m) for m in node.children) if node is not None else ()


def _motion(text: ModelText, node: Node) -> Motion:
    if id(node) in text.shared:
        known: Motion = text.shared[id(node)][1]
        return known
    name, axis, argument = node.children
    kind = str(name).replace("_", "")
    elementary, letter = _ELEMENTARY.get(kind[:1]), kind[1:]
    if elementary is not None and letter in (LETTERS if axis is None else ("",)):
        direction = LETTERS[letter] if axis is None else text.source.axis(axis)
        what = f"the {elementary.argument_name} of {name}"
        found = elementary(direction, text.source.expression(argument, elementary.dimension, what))
        text.shared[id(node)] = node, found
        return found
    try:
        joint = joints.joint_of(kind) if axis is None and letter else None
    except ArgumentError as error:
        raise ModelError(str(error), text.at(node)) from None
    if joint is None:
        raise _unknown_motion(str(name), axis is not None, text.at(node))
    if argument.data != "name" or "'" in argument.children[0]:
        raise ModelError(f"{kind} takes a name, found an expression.", text.at(argument))
    own = str(argument.children[0])
    text.places[f"motion {own}"] = text.places[f"coordinate {own}"] = text.at(argument)
    return joint(own)


def _unknown_motion(name: str, with_axis: bool, location: Location) -> ModelError:
    if with_axis:
        along = " and ".join(f"{letter}[x, y, z](...)" for letter in _ELEMENTARY)
        return ModelError(f"'{name}' takes no axis in brackets; only {along} do.", location)
    if name in _ELEMENTARY:
        return ModelError(
            f"'{name}' needs its axis: {name}x(...), {name}y(...), {name}z(...) or {name}[x, y, z](...).", location
        )
    lettered = [letter + axis for letter in _ELEMENTARY for axis in LETTERS]
    expected = ", ".join([*lettered, *(f"{letter}[x, y, z]" for letter in _ELEMENTARY), joints.words()])
    near = did_you_mean(name, (*lettered, *joints.known_words()))
    return ModelError(f"unknown motion '{name}'; expected {expected}.{near}", location)
