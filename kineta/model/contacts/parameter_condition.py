"""Conditions on parameters, which switches change: ``armed == 1 and mode == 2``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kineta.algebra.expression import Expr
from kineta.errors import ModelError, did_you_mean
from kineta.model.kind import Scope

if TYPE_CHECKING:
    from kineta.model.io.kin_source import Node, Source

#: What a contact, a limit or dry friction waits for, in the words of the grammar.
WHILE = '("while" guard ("and" guard)*)?'

#: Names of parameters with the values that they must have.
Conditions = tuple[tuple[str, Expr], ...]


def read(source: Source, nodes: Iterable[Node], what: str) -> Conditions:
    """The conditions of the *nodes*, each *what* in errors."""
    found = []
    for node in nodes:
        name, given = node.children
        told = f"the {what} '{name}'"
        value = source.expression(given, source.dimension(name), told)
        for moving in (n for n in value.symbols() if n.rstrip("'") in source.coordinates):
            text = f"{told}: expected numbers and parameters, found '{moving}', which changes in a run."
            raise ModelError(text, source.places[moving][-1].at)
        found.append((source.noted(name), value))
    return tuple(found)


def split(nodes: Iterable[Node]) -> tuple[list[Node], list[Node]]:
    """*nodes* without those of conditions, and these."""
    found: tuple[list[Node], list[Node]] = ([], [])
    for node in nodes:
        found[node.data == "guard"].append(node)
    return found


def clause(conditions: Conditions, first: str) -> str:
    """Text of *conditions*, behind the word *first*; ``''`` for none."""
    found = " and ".join(f"{name} == {value}" for name, value in conditions)
    return f" {first} {found}" if found else ""


def fault(system: Scope, conditions: Conditions) -> tuple[str, str] | None:
    """Sentence on a condition on what is no parameter of *system*, and the name at fault."""
    for name, _ in conditions:
        known = system.parameters.keys()
        if name not in known:
            return f"expected a condition on a parameter, found '{name}'.{did_you_mean(name, known)}", name
    return None
