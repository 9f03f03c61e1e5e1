"""Outputs."""

from __future__ import annotations

from collections.abc import Iterator

from lark import Token

from kineta.algebra.expression import Expr
from kineta.errors import ModelError
from kineta.model.io.kin_quantities import Node
from kineta.model.io.statements.model_text import ModelText
from kineta.model.named_expressions import Output


def read_outputs(text: ModelText, node: Node) -> None:
    """Outputs: names with expressions, or names of quantities."""
    for shown in node.children:
        name, value = shown.children
        for label, value_expr in _components(text, name, value):
            text.outputs.append(Output(label, value_expr, text.at(name)))


def _components(text: ModelText, name: Token, value: Node | None) -> Iterator[tuple[str, Expr]]:
    """Names and expressions of an item of an ``output`` statement; ``P.position`` stands for three components."""
    owner, _, kind = name.rpartition(".")
    vectors = text.source.vectors
    if value is not None:
        yield str(name), text.source.expression(value)
    elif name in vectors or owner in vectors:
        own = name if name in vectors else owner
        parts = {f"{own}.{axis}": x.value for axis, x in zip("xyz", vectors[own].components, strict=True)}
        if name != own and name not in parts:
            message = f"expected {', '.join(parts)} or all three, {own}, which is a vector by let, found '{name}'."
            raise ModelError(message, text.at(name))
        yield from parts.items() if name == own else [(str(name), parts[name])]
    elif kind in ("position", "velocity") and owner:
        for axis in "xyz":
            label = f"{owner}.{axis if kind == 'position' else 'v' + axis}"
            yield label, text.source.symbol(name.update(value=label))
    else:
        yield str(name), text.source.symbol(name)
