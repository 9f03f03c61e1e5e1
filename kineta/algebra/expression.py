"""``Expr``: a scalar expression for users: a graph and a reference into it, with operators, derivatives and text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from numbers import Real
from threading import RLock
from typing import TYPE_CHECKING, Any, NoReturn, Union, cast

from kineta.algebra.infix import brief, condition_text, text
from kineta.calls import public
from kineta.errors import ArgumentError, ExpressionError, OperationError, shown
from kineta.expr.graph import ONE, Graph, Ref, neg
from kineta.expr.op import FUNCTIONS, NUMPY, UNARY, Op
from kineta.expr.walk import reachable
from kineta.passes.differentiate import forward
from kineta.passes.substitute import substitute
from kineta.threads import hold_forks

#: Arguments of public functions that are scalar expressions.
Scalar = Union["Expr", float, int]

#: The graph of the descriptions of systems. Derivations copy their expressions into a graph of their own.
DESCRIPTIONS = Graph()

#: Held during changes of graphs shared by threads: the graph of descriptions and the graphs of equations.
LOCK = RLock()
hold_forks(LOCK)


#: What to write for operators of Python that expressions do not have.
_REMAINDER = "x % y is the remainder, and x // y the whole part of the quotient"
_CONDITION = "& and | stand between comparisons, as in (x > 0) & (y < 1)"


def _without(sign: str, advice: str) -> Callable[..., NoReturn]:
    """An operator for the *sign*, which raises with *advice*, since expressions do not have it."""

    def undefined(own: Expr, other: object = 0) -> NoReturn:
        if not isinstance(other, Expr | Real):
            return NotImplemented  # type: ignore[misc]  # only operators may give it
        raise OperationError(f"Expressions have no {sign}, found it with '{own._brief}'; {advice}.")

    return undefined


@public
class Expr:
    """A scalar expression: a reference into a graph.

    ``==`` compares nodes: equal sums and products are mostly one node, but algebraic equality is not decided, and no
    equation is made: ``(x + 1)**2 == x**2 + 2*x + 1`` is False. NumPy's functions take expressions and arrays of them.
    """

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
            return NotImplemented  # type: ignore[no-any-return]  # only operators may give it, which call this
        with LOCK:
            a, b = self.ref, self.beside(other)
            return Expr(self.graph, self.graph.call(op, b, a) if swap else self.graph.call(op, a, b))

    def __add__(self, other: Scalar) -> Expr:
        return self._with(Op.ADD, other)

    def __radd__(self, other: Scalar) -> Expr:
        return self._with(Op.ADD, other)

    def __sub__(self, other: Scalar) -> Expr:
        if not isinstance(other, Expr | Real):
            return NotImplemented
        with LOCK:
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
        with LOCK:
            return Expr(self.graph, self.graph.call(Op.ABS, self.ref))

    def __mod__(self, other: Scalar) -> Expr:
        return _remainder(self, other) if isinstance(other, Expr | Real) else NotImplemented

    def __rmod__(self, other: Scalar) -> Expr:
        return _remainder(expr(other), self) if isinstance(other, Expr | Real) else NotImplemented

    def __floordiv__(self, other: Scalar) -> Expr:
        return apply(Op.FLOOR, self / other) if isinstance(other, Expr | Real) else NotImplemented

    def __rfloordiv__(self, other: Scalar) -> Expr:
        return apply(Op.FLOOR, other / self) if isinstance(other, Expr | Real) else NotImplemented

    def __floor__(self) -> Expr:
        return apply(Op.FLOOR, self)

    def __ceil__(self) -> Expr:
        return -apply(Op.FLOOR, -self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """The NumPy function *ufunc* of *inputs* that contain expressions, entry by entry."""
        import numpy as np  # imported here: reading a model needs no NumPy

        arrays = [np.array(x, dtype=object) if isinstance(x, Expr) else x for x in inputs]
        by_entry = ufunc.__name__ in UFUNCS and method == "__call__"
        function = np.frompyfunc(UFUNCS[ufunc.__name__], ufunc.nin, 1) if by_entry else getattr(ufunc, method)
        try:
            return function(*arrays, **options)
        except TypeError as error:
            raise ExpressionError(f"NumPy's {ufunc.__name__} does not take expressions ({error}).") from None

    if not TYPE_CHECKING:  # type checkers should report missing attributes and operations

        def _single(self, *_: object) -> NoReturn:
            raise OperationError(
                f"Expected several expressions, found one, '{self._brief}', which has no length and no entries; expressions in "
                "a row are a list or a NumPy array of them."
            )

        __len__ = __getitem__ = __iter__ = __contains__ = _single
        __divmod__ = __rdivmod__ = _without("divmod", _REMAINDER)
        __matmul__ = __rmatmul__ = _without("@", "a product is x*y")
        __xor__ = __rxor__ = _without("^", "a power is x**y")
        __and__ = __rand__ = _without("&", _CONDITION)
        __or__ = __ror__ = _without("|", _CONDITION)
        __invert__ = _without("~", "the negative is -x")

        def _called(self, *_: object, **__: object) -> NoReturn:
            raise OperationError(f"Expressions are no functions, found a call of '{self._brief}'; a product is x*y.")

        __call__ = _called

        def __getattr__(self, name: str) -> Callable[..., Expr]:
            """Methods for NumPy's functions of arrays of expressions: ``np.arcsin(array)`` calls ``x.arcsin()``."""
            if name not in UFUNCS:
                raise AttributeError(f"'Expr' object has no attribute '{name}'")
            return partial(UFUNCS[name], self)

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, _: object) -> Expr:
        return self

    def __reduce__(self) -> tuple[Callable[..., Expr], tuple[object, ...]]:
        return _rebuilt, _flat(self.graph, self.ref)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expr) and self.graph is other.graph and self.ref == other.ref

    def __hash__(self) -> int:
        return hash((id(self.graph), self.ref))

    def __bool__(self) -> bool:
        raise ExpressionError(
            f"The truth of the expression '{self._brief}' is not known before its symbols have values."
        )

    def __lt__(self, other: Scalar) -> Comparison:
        return self._compared("<", other)

    def __le__(self, other: Scalar) -> Comparison:
        return self._compared("<=", other)

    def __gt__(self, other: Scalar) -> Comparison:
        return self._compared(">", other)

    def __ge__(self, other: Scalar) -> Comparison:
        return self._compared(">=", other)

    def _compared(self, sign: str, other: Scalar) -> Comparison:
        if not isinstance(other, Expr | Real):
            return NotImplemented  # type: ignore[no-any-return]  # only operators may give it, which call this
        with LOCK:
            difference = self.graph.sub(self.ref, self.beside(other))
            rises = sign in (">", "<=")
            above = self.graph.call(Op.STEP, difference if rises else neg(difference))
            return Comparison(Expr(self.graph, above if len(sign) == 1 else self.graph.sub(ONE, above)))

    def __float__(self) -> float:
        value = self.value
        if value is None:
            raise ExpressionError(
                f"Expected a number, found the expression '{self._brief}'. Functions of expressions are kineta.sin, "
                "kineta.sqrt, ..., and those of NumPy."
            )
        return value

    def __int__(self) -> int:
        return int(float(self))

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        value = self.value
        try:
            return format(str(self) if value is None else value, spec)
        except ValueError:
            raise ExpressionError(
                f"The format '{spec}' is one of numbers, found the expression '{self._brief}'; put numbers in its symbols first: "
                "e.subs({'x': 2})."
            ) from None

    @property
    def value(self) -> float | None:
        """The number of a constant expression, or None."""
        return self.graph.value(self.ref)

    @property
    def name(self) -> str | None:
        """The name of a symbol, or None."""
        return self.graph.name(self.ref)

    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols in the expression, in the order of their creation."""
        graph, own = self.graph, self.ref >> 1
        if graph.op[own] <= Op.SYMBOL:  # most expressions of a description are a number or a name
            return (graph.names[graph.lhs[own]],) if graph.op[own] == Op.SYMBOL else ()
        return tuple(graph.names[graph.lhs[i]] for i in reachable(graph, [self.ref]) if graph.op[i] == Op.SYMBOL)

    def diff(self, x: Expr | str) -> Expr:
        """Partial derivative with respect to the symbol *x*, with all other symbols constant: ``q1`` and its rate ``q1'``
        are independent.
        """
        with LOCK:
            (found,) = forward(self.graph, [self.ref], {self.graph.symbol(_symbol_name(x)): ONE})
            return Expr(self.graph, found)

    def subs(self, old: Expr | str | Mapping[Expr | str, Scalar], new: Scalar | None = None) -> Expr:
        """The expression with the symbol *old* replaced by *new*, or with simultaneous replacements by a mapping."""
        if (new is None) != isinstance(old, Mapping):
            raise ArgumentError(
                "Expected a symbol and what replaces it, as in e.subs(x, 2), or a mapping: e.subs({x: 2})."
            )
        pairs = old.items() if isinstance(old, Mapping) else [(old, cast(Scalar, new))]
        with LOCK:
            replace = {_symbol_name(x): self.beside(value) for x, value in pairs}
            return Expr(self.graph, *substitute(self.graph, [self.ref], replace))

    @property
    def _brief(self) -> str:
        return brief(self.graph, self.ref)

    def __repr__(self) -> str:
        return self._brief

    def __str__(self) -> str:
        return text(self.graph, self.ref)

    def _repr_latex_(self) -> str:
        """The expression as notebooks show it."""
        notation, latex = (import_module(f"kineta.notation.{name}") for name in ("typesetting", "latex"))
        with LOCK:
            return f"${notation.typeset(self.graph, self.ref, latex.LATEX)}$"


def expr(value: Scalar) -> Expr:
    """*value* as an expression of a system's description."""
    if isinstance(value, Expr):
        return value
    with LOCK:
        return Expr(DESCRIPTIONS, DESCRIPTIONS.const(_number(value)))


def apply(op: Op, *arguments: Scalar) -> Expr:
    """The operation *op* applied to one or two arguments."""
    first = next((a for a in arguments if isinstance(a, Expr)), None)
    first = expr(arguments[0]) if first is None else first
    with LOCK:
        return Expr(first.graph, first.graph.call(op, *(first.beside(a) for a in arguments)))


def _function(op: Op) -> Callable[..., Any]:
    return (lambda x: apply(op, x)) if op in UNARY else lambda x, y: apply(op, x, y)


def _remainder(x: Expr, y: Scalar) -> Expr:
    return x - y * apply(Op.FLOOR, x / y)


#: NumPy's functions of expressions by their NumPy names.
UFUNCS: Mapping[str, Callable[..., Any]] = {
    **{NUMPY[op]: _function(op) for op in FUNCTIONS.values() if op not in (Op.ABS, Op.STEP)},
    "fabs": abs,
    "conjugate": lambda x: x,
    "hypot": lambda x, y: apply(Op.SQRT, x * x + y * y),
    "ceil": lambda x: -apply(Op.FLOOR, -x),
    "remainder": _remainder,
    "mod": _remainder,
    "exp2": lambda x: 2**x,
    "log2": lambda x: apply(Op.LOG, x) / math.log(2),
    "log10": lambda x: apply(Op.LOG, x) / math.log(10),
    "deg2rad": lambda x: x * math.radians(1),
    "radians": lambda x: x * math.radians(1),
    "rad2deg": lambda x: x * math.degrees(1),
    "degrees": lambda x: x * math.degrees(1),
}


def _number(value: object) -> float:
    """*value* itself, a number of Python or NumPy."""
    try:
        if isinstance(value, Real):
            float(value)
            return value  # type: ignore[return-value]  # what a Real is taken for; the graph makes it a float
    except OverflowError:
        raise ExpressionError(f"Expected a number that a float can hold, found {shown(value)}.") from None
    except TypeError:  # NumPy counts durations among the numbers
        pass
    if isinstance(value, Comparison):
        raise ExpressionError(f"A comparison is no number, found '{value}'; kineta.where({value}, a, b) chooses by it.")
    raise ExpressionError(f"Expected a number or an expression, found {shown(value)}.")


def _symbol_name(x: object) -> str:
    """The name of the symbol *x*, or *x* itself, a name."""
    name = x.name if isinstance(x, Expr) else x
    if not isinstance(name, str):
        raise ExpressionError(f"Expected a symbol or its name, found {shown(x)}.")
    return name


def symbol(name: str) -> Expr:
    """The symbol *name* (a coordinate, a rate such as ``q1'``, a parameter, or the time ``t``) for use in a description."""
    if not isinstance(name, str) or not name or not name.isprintable():
        raise ExpressionError(f"Expected the name of a symbol, found {shown(name)}.")
    with LOCK:
        return Expr(DESCRIPTIONS, DESCRIPTIONS.symbol(name))


def symbols(names: str) -> Any:
    """Symbols with names separated by blanks or commas: ``q1, q2 = kn.symbols("q1 q2")``.

    A single name gives a symbol, not a tuple, unless a comma follows it, as in SymPy.
    """
    if not isinstance(names, str) or not names.strip(" ,"):
        raise ExpressionError(f"Expected names of symbols in one text, as in 'q1 q2', found {shown(names)}.")
    found = tuple(symbol(name) for name in names.replace(",", " ").split())
    return found[0] if len(found) == 1 and not names.rstrip().endswith(",") else found


@public
class Comparison:
    """A comparison of expressions, or several with ``&`` (and), ``|`` (or) and ``~`` (not): ``(x > 0) & (y <= 1)``.

    It is no number, and true or false only when its symbols have values: :func:`kineta.where` chooses by it.

    number : 1 where it holds, else 0
    """

    __slots__ = ("number",)

    def __init__(self, number: Expr) -> None:
        self.number = number

    def __and__(self, other: Comparison) -> Comparison:
        if not isinstance(other, Comparison):
            return NotImplemented
        return self if other == self else Comparison(self.number * other.number)

    def __or__(self, other: Comparison) -> Comparison:
        if not isinstance(other, Comparison):
            return NotImplemented
        return ~(~self & ~other)

    def __invert__(self) -> Comparison:
        return Comparison(1 - self.number)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Comparison) and self.number == other.number

    def __hash__(self) -> int:
        return hash((Comparison, self.number))

    def __bool__(self) -> bool:
        raise ExpressionError(
            f"Whether {self} is not known before its symbols have values; kineta.where chooses by it, and minimum and maximum "
            "by value. Two comparisons are (a < x) & (x < b)."
        )

    def __repr__(self) -> str:
        return condition_text(self.number.graph, self.number.ref)

    if not TYPE_CHECKING:  # type checkers should report operations that are missing

        def _of_number(self, *_: object) -> NoReturn:
            raise OperationError(
                f"A comparison is no number, found '{self}'; kineta.where({self}, a, b) chooses by it."
            )

        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _of_number
        __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = __float__ = _of_number
        __lt__ = __le__ = __gt__ = __ge__ = _of_number


def _flat(graph: Graph, ref: Ref) -> tuple[object, ...]:
    """A serialised expression: its nodes, operands first, and its own reference among them."""
    order = reachable(graph, [ref])
    place = {i: k for k, i in enumerate(order)}
    nodes: list[tuple[object, ...]] = []
    for i in order:
        op, a, b = graph.op[i], graph.lhs[i], graph.rhs[i]
        if op == Op.CONST:
            nodes.append((op, graph.constants[a]))
        elif op == Op.SYMBOL:
            nodes.append((op, graph.names[a]))
        else:
            operands = (a,) if op in UNARY else (a, b)
            nodes.append((op, *(2 * place[r >> 1] | r & 1 for r in operands)))
    return tuple(nodes), 2 * place[ref >> 1] | ref & 1


def _rebuilt(nodes: Sequence[Sequence[Any]], ref: int) -> Expr:
    """The expression of :func:`_flat` in the graph of descriptions."""
    graph, refs = DESCRIPTIONS, list[Ref]()
    with LOCK:
        for op, *rest in nodes:
            if op == Op.CONST:
                refs.append(graph.const(rest[0]))
            elif op == Op.SYMBOL:
                refs.append(graph.symbol(rest[0]))
            else:
                refs.append(graph.call(op, *(neg(refs[r >> 1]) if r & 1 else refs[r >> 1] for r in rest)))
    return Expr(graph, neg(refs[ref >> 1]) if ref & 1 else refs[ref >> 1])
