"""Initial values."""

from __future__ import annotations

from kineta.errors import ModelError
from kineta.model.io.kin_quantities import Node
from kineta.model.io.statements.dimensions_of_motion import coordinate_dimension
from kineta.model.io.statements.model_text import ModelText


def read_initial_values(text: ModelText, node: Node) -> None:
    """Initial values of coordinates, speeds, quasi-velocities and states."""
    for setting in node.children:
        name, value = setting.children
        text.places[f"initial {name}"] = text.at(name)
        if value.data == "vector":
            raise ModelError(f"initial '{name}': expected one value, found three.", text.at(value))
        dimension = coordinate_dimension(text, str(name))
        quantity = text.source.quantity(value)
        if quantity.shown:
            text.source.expect(value, quantity, dimension, f"initial '{name}'")
        if quantity.shown and not quantity.plain:
            text.measured.add(str(name))
        text.initial.append((str(name), quantity.value))
