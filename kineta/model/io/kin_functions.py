"""Named expressions with arguments in the text language: ``let spring(x) = k*x + k3*x^3;``.

A call stands for the expression with its arguments in place of the names: units are checked at each of them. Systems hold
what calls stand for; from Python a function is one of Python.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from lark import Token, Tree

from kineta.algebra.expression import symbol
from kineta.errors import Location, ModelError
from kineta.expr.op import FUNCTIONS
from kineta.model import vectors
from kineta.model.io import kin_vectors
from kineta.model.io.kin_operations import COMPOSED, IF
from kineta.model.io.kin_quantities import DimensionedExpr
from kineta.model.io.kin_tables import TABLE
from kineta.model.io.kin_vectors import DimensionedVector, Operand
from kineta.records import dataclass

#: Functions of the language that are no operations.
OTHERS = (IF, TABLE, *COMPOSED)

#: Keys of inertia, which stand before brackets, too.
KEYS = ("m", "Jx", "Jy", "Jz", "Jxy", "Jxz", "Jyz")


@dataclass(frozen=True, slots=True)
class DefinedFunction:
    """The expression *body* of the names *formals*; *location* is the place of its name in the text."""

    name: str
    formals: tuple[str, ...]
    body: Tree[Token]
    location: Location

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.formals)})"

    def value(self, arguments: Sequence[Any], evaluate: Callable[[Tree[Token], Mapping[str, Any]], Any]) -> Any:
        """What a call with these *arguments* stands for; *evaluate* reads a tree in which names have values.

        Raises :class:`ModelError` for another number of arguments, and for what makes no sense for these.
        """
        wanted = len(self.formals)
        if len(arguments) != wanted:
            raise ModelError(f"{self} takes {wanted} argument{'s' * (wanted > 1)}, found {len(arguments)}.")
        return evaluate(self.body, dict(zip(self.formals, arguments, strict=True)))


def function(
    name: Token, formals: Sequence[Token], body: Tree[Token], location: Callable[[Token], Location]
) -> DefinedFunction:
    """The function of a statement. Raises :class:`ModelError` for names that it cannot have."""
    if (
        str(name) in FUNCTIONS
        or str(name) in OTHERS
        or str(name) in kin_vectors.FUNCTIONS
        or str(name) in vectors.KINDS
    ):
        raise ModelError(f"'{name}' is a function of the language; choose another name.", location(name))
    if str(name) in KEYS:
        raise ModelError(f"'{name}' is a key of inertia; choose another name.", location(name))
    for i, own in enumerate(formals):
        if not re.fullmatch(r"\w+", str(own)):
            raise ModelError(f"expected the name of an argument, found '{own}'.", location(own))
        if own in formals[:i]:
            raise ModelError(f"the argument '{own}' is named twice.", location(own))
    return DefinedFunction(str(name), tuple(map(str, formals)), body, location(name))


def free_argument(name: str, as_vector: bool | None, node: Tree[Token]) -> Operand:
    """An argument of any dimension, for the body *node* of a function."""
    if not as_vector:
        return DimensionedExpr(symbol(name), None)
    x, y, z = (DimensionedExpr(symbol(f"{name}.{c}"), None) for c in "xyz")
    return DimensionedVector((x, y, z), None, name, node)


def identity(argument: Any) -> Hashable:
    """What tells whether two arguments are equal: the node of a number with its dimension, or the object itself."""
    if isinstance(argument, DimensionedExpr):
        return argument.value.ref, argument.dimension, argument.plain, argument.shown
    return id(argument)
