"""Vectors of the text language, ``v(Tip) - v(Heel)``, ``cross(w(Hull), (0, 0, l))``, and numbers made of them, ``dot(a, b)``.

A vector is read as its three components, and has no place in a model but in a component or a magnitude.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from lark import Tree

from kineta.algebra.expression import symbol
from kineta.algebra.functions import sqrt
from kineta.errors import ModelError
from kineta.model.io.kin_quantities import DimensionedExpr, Node, ReadCondition, opposite, plus, root, times
from kineta.model.vectors import KINDS, Part, VectorSymbol, component_advice, different_axes, read_places
from kineta.records import dataclass

Components = tuple[DimensionedExpr, DimensionedExpr, DimensionedExpr]


@dataclass(frozen=True, slots=True)
class DimensionedVector:
    """Three *components* with dimensions, in the *axes* of a frame; None for numbers in brackets, which go with any.

    of : a vector in it, and *node* its place in the text, for errors
    """

    components: Components
    axes: str | None
    of: str
    node: Node


#: What an expression stands for: a number or a vector.
Operand: TypeAlias = DimensionedExpr | DimensionedVector


def of_symbol(vector: VectorSymbol, node: Node) -> DimensionedVector:
    """The vector of a point or body at a *node* of the text."""
    parts = [Part(vector, k, 0) for k in range(3)]
    x, y, z = (DimensionedExpr(symbol(part.name), part.dimension, shown=False) for part in parts)
    return DimensionedVector((x, y, z), vector.frame, str(vector), node)


def triple(components: Sequence[DimensionedExpr], node: Node) -> DimensionedVector:
    """The vector of three numbers in brackets."""
    x, y, z = components
    return DimensionedVector((x, y, z), None, "(x, y, z)", node)


def combined(a: Any, sign: str, b: Any) -> DimensionedVector:
    """The vector ``a sign b`` of two vectors, or of a vector and a number. Raises :class:`ModelError` for what has no meaning."""
    if isinstance(a, DimensionedVector) and isinstance(b, DimensionedVector):
        if sign not in ("+", "-"):
            raise ModelError(f"'{sign}' stands between two vectors, {a.of} and {b.of}; write dot(a, b) or cross(a, b).")
        return _made((plus(x, y, sign) for x, y in zip(a.components, b.components, strict=True)), a, b)
    vector = a if isinstance(a, DimensionedVector) else b
    if sign in ("+", "-"):
        raise ModelError(f"{vector.of} is a vector and cannot be added to a number.")
    if sign == "/" and vector is b:
        raise ModelError(f"{vector.of} is a vector; nothing is divided by it.")
    number = b if vector is a else a
    return _made((times(x, number, sign) for x in vector.components), vector, vector)


def by_components(
    of: Callable[[DimensionedExpr, DimensionedExpr], DimensionedExpr], a: DimensionedVector, b: DimensionedVector
) -> DimensionedVector:
    """The vector whose components are a function *of* those of two vectors."""
    return _made((of(x, y) for x, y in zip(a.components, b.components, strict=True)), a, b)


def reversed_vector(a: DimensionedVector) -> DimensionedVector:
    """The opposite vector."""
    return _made(map(opposite, a.components), a, a)


def dot(a: DimensionedVector, b: DimensionedVector) -> DimensionedExpr:
    """The scalar product."""
    _made(a.components, a, b)
    x, y, z = (times(c, d) for c, d in zip(a.components, b.components, strict=True))
    return plus(plus(x, y), z)


def cross(a: DimensionedVector, b: DimensionedVector) -> DimensionedVector:
    """The vector product."""
    (a1, a2, a3), (b1, b2, b3) = a.components, b.components
    pairs = ((a2, b3, a3, b2), (a3, b1, a1, b3), (a1, b2, a2, b1))
    return _made((plus(times(p, q), times(r, s), "-") for p, q, r, s in pairs), a, b)


def magnitude(a: DimensionedVector) -> DimensionedExpr:
    """The length."""
    square = dot(a, a)
    return root(square, sqrt(square.value))


#: Said of a comparison where a number is expected.
NO_NUMBER = "a comparison is no number; if(a < b, x, y) is x where a < b, and else y."

#: Functions of vectors by name, each with the number of its arguments.
FUNCTIONS: Mapping[str, tuple[int, Callable[..., Operand]]] = {
    "dot": (2, dot),
    "cross": (2, cross),
    "norm": (1, magnitude),
}


def is_vector(body: Node, name: str) -> bool:
    """Whether the *body* of a function takes the argument *name* for a vector: by a component, or as an argument of a function of
    vectors.
    """
    for part in body.iter_subtrees():
        own = [str(c.children[0]) if isinstance(c, Tree) and c.data == "name" else str(c) for c in part.children]
        if part.data == "name" and own[0] in {f"{name}.{c}" for c in "xyz"}:
            return True
        if part.data == "call" and own[0] in FUNCTIONS and name in own[1:]:
            return True
    return False


def places(body: Node) -> set[str]:
    """Names of the places whose vectors stand in the *body* of a function: ``P`` and ``B`` in ``v(P in B).x``."""
    parts = [str(t) for t in body.scan_values(lambda t: t.type == "VECTOR")]
    parts += [
        f"{call.children[0]}({call.children[1].children[0]})"
        for call in body.find_data("call")
        if str(call.children[0]) in KINDS and len(call.children) == 2 and call.children[1].data == "name"
    ]
    return {name for text in parts for name in read_places(text)}


def number(value: Any) -> DimensionedExpr:
    """*value*, if it is a number. Raises :class:`ModelError` for a vector or a comparison."""
    if isinstance(value, DimensionedVector):
        raise ModelError(component_advice(value.of))
    if isinstance(value, ReadCondition):
        raise ModelError(NO_NUMBER)
    found: DimensionedExpr = value
    return found


def component(value: Any, axis: str) -> DimensionedExpr:
    """The component x, y or z of a vector. Raises :class:`ModelError` for a number."""
    if not isinstance(value, DimensionedVector):
        raise ModelError(f"expected a vector before '.{axis}', found the number '{value.value}'.")
    return value.components["xyz".index(axis)]


def _made(components: Any, a: DimensionedVector, b: DimensionedVector) -> DimensionedVector:
    """The vector of *components* made of two, which have one set of axes."""
    if a.axes is not None and b.axes is not None and a.axes != b.axes:
        raise ModelError(different_axes(a.of, a.axes, b.of, b.axes))
    x, y, z = components
    return DimensionedVector((x, y, z), b.axes if a.axes is None else a.axes, a.of, a.node)
