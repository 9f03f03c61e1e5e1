"""``Expr``: a thin view of one reference, with operators and printing for people."""

from __future__ import annotations

from numbers import Real
from typing import Union

from kineta.errors import ExpressionError
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import Op

#: What the public functions take where an expression is meant.
Scalar = Union["Expr", float, int]

#: The graph in which systems are described. Derivations copy what they need into a graph of their own.
DESCRIPTIONS = Graph()


class Expr:
    """A scalar expression: a reference into a graph. Two views are equal if and only if they are the same node."""

    __slots__ = ("graph", "ref")

    def __init__(self, graph: Graph, ref: Ref) -> None:
        self.graph = graph
        self.ref = ref

    def beside(self, other: Scalar) -> Ref:
        """The reference to *other* in the graph of this expression."""
        if isinstance(other, Expr):
            if other.graph is not self.graph:
                raise ExpressionError(
                    f"'{self._brief}' and '{other._brief}' belong to different graphs and cannot be combined."
                )
            return other.ref
        return self.graph.const(_number(other))

    def _with(self, op: Op, other: Scalar, *, swap: bool = False) -> Expr:
        if not isinstance(other, Expr | Real):
            return NotImplemented  # type: ignore[no-any-return]
        a, b = self.ref, self.beside(other)
        return Expr(self.graph, self.graph.call(op, b, a) if swap else self.graph.call(op, a, b))

    def __add__(self, other: Scalar) -> Expr:
        return self._with(Op.ADD, other)

    def __radd__(self, other: Scalar) -> Expr:
        return self._with(Op.ADD, other)

    def __sub__(self, other: Scalar) -> Expr:
        if not isinstance(other, Expr | Real):
            return NotImplemented
        return Expr(self.graph, self.graph.sub(self.ref, self.beside(other)))

    def __rsub__(self, other: Scalar) -> Expr:
        return (-self)._with(Op.ADD, other)

    def __mul__(self, other: Scalar) -> Expr:
        return self._with(Op.MUL, other)

    def __rmul__(self, other: Scalar) -> Expr:
        return self._with(Op.MUL, other)

    def __truediv__(self, other: Scalar) -> Expr:
        return self._with(Op.DIV, other)

    def __rtruediv__(self, other: Scalar) -> Expr:
        return self._with(Op.DIV, other, swap=True)

    def __pow__(self, other: Scalar) -> Expr:
        return self._with(Op.POW, other)

    def __rpow__(self, other: Scalar) -> Expr:
        return self._with(Op.POW, other, swap=True)

    def __neg__(self) -> Expr:
        return Expr(self.graph, self.ref ^ 1 if self.ref > 1 else self.ref)

    def __pos__(self) -> Expr:
        return self

    def __abs__(self) -> Expr:
        return Expr(self.graph, self.graph.call(Op.ABS, self.ref))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expr) and self.graph is other.graph and self.ref == other.ref

    def __hash__(self) -> int:
        return hash((id(self.graph), self.ref))

    def __bool__(self) -> bool:
        raise ExpressionError(
            f"The truth of the expression '{self._brief}' is not known before its symbols have values."
        )

    def __float__(self) -> float:
        value = self.value
        if value is None:
            raise ExpressionError(f"Expected a number, found the expression '{self._brief}'.")
        return value

    @property
    def value(self) -> float | None:
        """The number that this expression is, or None."""
        return self.graph.value(self.ref)

    @property
    def name(self) -> str | None:
        """The name of the symbol that this expression is, or None."""
        return self.graph.name(self.ref)

    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols that occur, in the order in which the graph met them."""
        from kineta.expr.walk import reachable  # cheap, and keeps the view free of algorithms

        graph = self.graph
        return tuple(graph.names[graph.lhs[i]] for i in reachable(graph, [self.ref]) if graph.op[i] == Op.SYMBOL)

    @property
    def _brief(self) -> str:
        from kineta.expr.text import brief

        return brief(self.graph, self.ref)

    def __repr__(self) -> str:
        from kineta.expr.text import text

        return text(self.graph, self.ref)


def expr(value: Scalar) -> Expr:
    """*value* as an expression of a system's description."""
    if isinstance(value, Expr):
        return value
    return Expr(DESCRIPTIONS, DESCRIPTIONS.const(_number(value)))


def _number(value: object) -> float:
    """*value* itself, where it is a number of Python or NumPy."""
    if not isinstance(value, Real):
        raise ExpressionError(f"Expected a number or an expression, found {value!r}.")
    return value  # type: ignore[return-value]  # what a Real is taken for; the graph makes it a float


def symbol(name: str) -> Expr:
    """The symbol *name* (a coordinate, a rate such as ``q1'``, a parameter, or the time ``t``) for use in a description."""
    return Expr(DESCRIPTIONS, DESCRIPTIONS.symbol(name))
