"""Named expressions and functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kineta.algebra.expression import symbol
from kineta.errors import ModelError
from kineta.model.axis import LETTERS
from kineta.model.io.kin_functions import function
from kineta.model.io.kin_quantities import Node
from kineta.model.io.statements.model_text import ModelText, names_in
from kineta.model.named_expressions import Let, dependency_order, substitute_names
from kineta.model.reserved_symbols import TIME


def read_named_expressions(text: ModelText, node: Node) -> None:
    """Named expressions and functions; an expression is read when the names in it are known."""
    for meaning in node.children:
        name, formals, body = meaning.children
        if formals is None:
            text.lets.append((name, body))
        elif str(name) in text.source.functions:
            before = text.source.functions[str(name)].location
            raise ModelError(f"the function '{name}' is given twice, first at {before}.", text.at(name))
        else:
            text.source.functions[str(name)] = function(name, formals.children, body, text.at)


def uncalled_functions(text: ModelText) -> list[Let]:
    """Functions without a call, as expressions of arbitrary arguments, and vectors with a name; none where undeclared names may
    be parameters.
    """
    lone = [f for f in text.source.functions.values() if f.name not in text.source.called]
    places = {str(n): text.at(n) for n, _ in text.lets}
    vectors = [(name, own.value) for name, v in text.source.vectors.items() for own in v.components]
    return [Let(n, value, places[n]) for n, value in vectors if text.parameters is not None] + [
        Let(own.name, substitute_names({n: symbol(TIME) for n in _placeholders(own.formals)}, value), own.location)
        for own in lone
        for value in text.source.body_value(own)
        if text.parameters is not None
    ]


def define_names(text: ModelText) -> None:
    """Read the named expressions in the order of their dependencies."""
    trees = {str(name): tree for name, tree in text.lets}
    uses = {name: set(names_in(tree)) for name, tree in trees.items()}
    places = {str(n): text.at(n) for n, _ in text.lets}
    for names in uses.values():
        names |= {n.rpartition(".")[0] for n in names} & trees.keys()
    for own in text.source.functions.values():
        uses[own.name] = {*uses.get(own.name, ()), *(set(names_in(own.body)) - {*own.formals})}
        places.setdefault(own.name, own.location)
    for name in dependency_order(uses, places):
        if name in trees:
            text.source.name_value(name, trees[name])


def _placeholders(formals: Sequence[str]) -> Iterator[str]:
    """The symbols that stand for the arguments *formals* of a function without a call."""
    return (n for name in formals for n in (name, *(f"{name}.{c}" for c in LETTERS)))
