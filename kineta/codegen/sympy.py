"""Exchange with SymPy: expressions out, expressions in. SymPy is never on the way of a derivation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kineta.errors import ExpressionError, MissingPackageError
from kineta.expr.graph import ZERO, Graph, Ref, neg
from kineta.expr.node import DESCRIPTIONS, Expr
from kineta.expr.op import UNARY, Op
from kineta.expr.walk import reachable

_NAMES = {
    Op.SQRT: "sqrt",
    Op.SIN: "sin",
    Op.COS: "cos",
    Op.TAN: "tan",
    Op.ASIN: "asin",
    Op.ACOS: "acos",
    Op.ATAN: "atan",
    Op.ATAN2: "atan2",
    Op.SINH: "sinh",
    Op.COSH: "cosh",
    Op.TANH: "tanh",
    Op.EXP: "exp",
    Op.LOG: "log",
    Op.ABS: "Abs",
    Op.SIGN: "sign",
    Op.MIN: "Min",
    Op.MAX: "Max",
}


def _package() -> Any:
    try:
        import sympy
    except ImportError:
        raise MissingPackageError("sympy", "sympy") from None
    return sympy


def to_sympy(graph: Graph, refs: Sequence[Ref]) -> list[Any]:
    """*refs* as SymPy expressions in symbols of the same names."""
    sympy = _package()
    built: dict[int, Any] = {}

    def operand(r: Ref) -> Any:
        return -built[r >> 1] if r & 1 else built[r >> 1]

    for i in reachable(graph, refs):
        op, a, b = Op(graph.op[i]), graph.lhs[i], graph.rhs[i]
        if op == Op.CONST:
            value = graph.constants[a]
            built[i] = sympy.Integer(int(value)) if value.is_integer() and value < 1e15 else sympy.Float(value, 17)
        elif op == Op.SYMBOL:
            built[i] = sympy.Symbol(graph.names[a], real=True)
        elif op in UNARY:
            x = operand(a)
            built[i] = sympy.Heaviside(x, 0) if op == Op.STEP else getattr(sympy, _NAMES[op])(x)
        else:
            built[i] = _binary(sympy, op, operand(a), operand(b))
    return [operand(r) for r in refs]


def _binary(sympy: Any, op: Op, x: Any, y: Any) -> Any:
    match op:
        case Op.ADD:
            return x + y
        case Op.MUL:
            return x * y
        case Op.DIV:
            return x / y
        case Op.POW:
            return x**y
    return getattr(sympy, _NAMES[op])(x, y)


def from_sympy(graph: Graph, expressions: Sequence[Any]) -> list[Ref]:
    """SymPy *expressions* as nodes of *graph*. Raises :class:`ExpressionError` for a function that has no operation here."""
    sympy = _package()
    calls = {getattr(sympy, n): op for op, n in _NAMES.items() if op != Op.SQRT}
    built: dict[Any, Ref] = {}

    def convert(e: Any) -> Ref:
        arguments = [built[a] for a in e.args]
        if e.is_Symbol:
            return graph.symbol(e.name)
        if e.is_number:
            return graph.const(float(e))
        if e.is_Add:
            return graph.sum(arguments)
        if e.is_Mul:
            return _product(graph, e, built)
        if e.is_Pow:
            return graph.call(Op.POW, *arguments)
        if e.func in calls:
            return _folded(graph, calls[e.func], arguments)
        raise ExpressionError(f"The SymPy function '{e.func.__name__}' has no operation in the graph.")

    for expression in expressions:
        for e in sympy.postorder_traversal(expression):
            if e not in built:
                built[e] = convert(e)
    return [built[e] for e in expressions]


def expression(value: Any) -> Expr:
    """A SymPy expression for use in the description of a system: an angle, a force, an output."""
    return Expr(DESCRIPTIONS, from_sympy(DESCRIPTIONS, [value])[0])


def _product(graph: Graph, e: Any, built: Mapping[Any, Ref]) -> Ref:
    """A product, with the factors of negative exponent as one divisor."""
    upper, lower = e.as_numer_denom()
    if lower != 1 and all(a in built for a in (upper, lower)):
        return graph.div(built[upper], built[lower])
    total, sign = graph.const(1.0), False
    for a in e.args:
        if a == -1:
            sign = not sign
        else:
            total = graph.mul(total, built[a])
    return neg(total) if sign else total


def _folded(graph: Graph, op: Op, arguments: Sequence[Ref]) -> Ref:
    """A call of one or two arguments; of more, pair by pair (Min and Max)."""
    if len(arguments) == 1:
        return graph.call(op, arguments[0], ZERO)
    total = arguments[0]
    for a in arguments[1:]:
        total = graph.call(op, total, a)
    return total
