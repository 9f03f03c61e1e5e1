"""Quasi-velocities, and the law of control."""

from __future__ import annotations

from kineta.model.io.kin_quantities import Node
from kineta.model.io.statements.model_text import ModelText
from kineta.model.motion_program import read_control
from kineta.model.motion_variables import Quasi


def read_law_of_control(text: ModelText, node: Node) -> None:
    """The law by which controls keep the programs of motion."""
    text.only_once(node)
    text.control = read_control(text.source, node)


def read_quasi_velocities(text: ModelText, node: Node) -> None:
    """Quasi-velocities: names with linear forms of the speeds."""
    for child in node.children:
        name, value = child.children
        meant = text.source.symbol(name)
        if value is not None:
            form = text.source.quantity(value)
            meant = form.value
            if form.dimension is not None and not form.plain:
                text.forms[str(name)] = form.dimension
        text.quasi.append(Quasi(str(name), meant, text.at(name)))
    text.source.moving = {**text.source.moving, **text.forms}
