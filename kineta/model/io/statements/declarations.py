"""The name of a model, its gravity, its parameters and constants."""

from __future__ import annotations

from collections.abc import Iterable

from kineta.algebra.expression import expr
from kineta.errors import ModelError
from kineta.model import units
from kineta.model.io.kin_expressions import Reader
from kineta.model.io.kin_quantities import Node
from kineta.model.io.statements.model_text import ModelText, names_in
from kineta.model.parameters import Parameter
from kineta.model.units import Dimension
from kineta.passes.evaluate import evaluate


def read_name(text: ModelText, node: Node) -> None:
    """The name of the model."""
    text.only_once(node)
    text.name = str(node.children[0])


def read_gravity(text: ModelText, node: Node) -> None:
    """Gravity: a vector, or an acceleration downwards."""
    text.only_once(node)
    (value,) = node.children
    text.places["gravity"] = text.at(value)
    if text.source.is_vector(value):
        text.gravity = text.source.vector(value, units.ACCELERATION, "gravity")
    else:
        down = -text.source.expression(value, units.ACCELERATION, "gravity")
        text.gravity = (expr(0), expr(0), down)


def read_parameters(text: ModelText, node: Node, *, fixed: bool = False) -> None:
    """Parameters, or constants where they are *fixed*: names with their values and units."""
    if text.parameters is None:
        text.parameters = []
    for declaration in node.children:
        name, tree = declaration.children
        value = default = None
        if tree is not None:
            quantity = text.source.declaration(str(name), tree)
            if quantity.dimension is not None and not quantity.plain:
                text.dimensions[str(name)] = quantity.dimension
            value = text.source.number(quantity.value, tree, f"parameter '{name}'")
            default = None if quantity.value.value is not None else quantity.value
            if fixed and str(name) in text.given:
                value, default = text.given[str(name)], None
        elif fixed:
            raise ModelError(f"constant '{name}': expected a value, found none.", text.at(name))
        if value is not None:
            text.values[str(name)] = value
            if fixed:
                text.source.constants[str(name)] = value
        own = text.dimensions.get(str(name))
        counts = str(name) in text.counting
        text.parameters.append(Parameter(str(name), value, fixed, text.at(name), own, default, counts))


def read_constants(text: ModelText, node: Node) -> None:
    """Constants, which have values."""
    read_parameters(text, node, fixed=True)


def counting_constants(text: ModelText, statements: Iterable[Node]) -> tuple[dict[str, float], dict[str, Dimension]]:
    """The constants of *statements* that are numbers, which bounds and indices of repetitions may name, and their dimensions."""
    dimensions, found = dict[str, Dimension](), dict[str, float]()
    reader = Reader(text.file, dimensions)
    for declaration in (d for s in statements if s.data == "constants" for d in s.children):
        name, tree = declaration.children
        if tree is not None and not {*names_in(tree)} - found.keys():
            own = reader.quantity(tree)
            value = float(evaluate(own.value.graph, [own.value.ref], found)[0])
            found[str(name)] = text.given.get(str(name), value)
            if own.dimension is not None and not own.plain:
                dimensions[str(name)] = own.dimension
    return found, dimensions
