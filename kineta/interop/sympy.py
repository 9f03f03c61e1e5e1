"""Exchange of expressions with SymPy, in both directions. Derivations never use SymPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from types import MappingProxyType
from typing import Any

from kineta.algebra.expression import DESCRIPTIONS, LOCK, Expr
from kineta.algebra.infix import comparison
from kineta.errors import ExpressionError, MissingPackageError, shown
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.lowering import replaced_tables
from kineta.expr.op import LIBM, UNARY, Op
from kineta.expr.tables import in_pieces
from kineta.expr.walk import reachable
from kineta.notation.printed_numbers import printed_number
from kineta.passes.remove_guards import remove_guards

_NAMES: dict[Op, str] = {
    **{op: name for op, name in LIBM.items() if op != Op.POW},
    Op.ABS: "Abs",
    Op.FLOOR: "floor",
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


def to_sympy(graph: Graph, refs: Sequence[Ref], named: Mapping[str, Any] = MappingProxyType({})) -> list[Any]:
    """*refs* as SymPy expressions in real symbols of the same names, or in the replacements *named*."""
    sympy = _package()
    graph, refs = remove_guards(graph, refs)
    refs = replaced_tables(graph, refs, opening=in_pieces)
    built: dict[int, Any] = {}

    def operand(r: Ref) -> Any:
        return -built[r >> 1] if r & 1 else built[r >> 1]

    for i in reachable(graph, refs):
        op, a, b = Op(graph.op[i]), graph.lhs[i], graph.rhs[i]
        if op == Op.CONST:
            built[i] = _constant(sympy, graph.constants[a])
        elif op == Op.SYMBOL:
            name = graph.names[a]
            built[i] = named[name] if name in named else sympy.Symbol(name, real=True)
        elif op in UNARY:
            x = operand(a)
            built[i] = sympy.Heaviside(x, 0) if op == Op.STEP else getattr(sympy, _NAMES[op])(x)
        elif op == Op.PAIR:
            built[i] = sympy.Tuple(operand(a), operand(b))
        elif op in (Op.IF, Op.WHERE):
            first, second = built[b >> 1] if op == Op.IF else (operand(a), sympy.S.Zero)
            condition = _condition(sympy, graph, a if op == Op.IF else b, operand)
            rest = second.args if second.is_Piecewise else [(second, True)]
            built[i] = sympy.Piecewise((first, condition), *rest)
        else:
            built[i] = _binary(sympy, op, operand(a), operand(b))
    return [operand(r) for r in refs]


def _condition(sympy: Any, graph: Graph, ref: Ref, operand: Callable[[Ref], Any]) -> Any:
    """The condition that *ref*, a number made of comparisons, is positive."""
    word, parts = comparison(graph, ref)
    if word in (">", "<="):
        return operand(parts[0]) > 0 if word == ">" else operand(parts[0]) <= 0
    function = {"and": sympy.And, "or": sympy.Or, "not": sympy.Not}[word]
    return function(*(_condition(sympy, graph, p, operand) for p in parts))


def _constant(sympy: Any, value: float) -> Any:
    """A number as it is printed: an integer, a fraction, a root, a multiple of pi, or the shortest decimal."""
    if value.is_integer() and value < 1e15:
        return sympy.Integer(int(value))
    shown = printed_number(value, of_letters=True)
    if not isinstance(shown.number, Fraction):
        return sympy.Float(shown.number)
    number = sympy.Rational(shown.number.numerator, shown.number.denominator)
    return number * sympy.sqrt(shown.radicand) * sympy.pi**shown.circle


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
    """SymPy *expressions* (or numbers) as nodes of *graph*.

    Raises :class:`ExpressionError` for objects that are no expressions, numbers that are not real and finite, and functions
    without an operation in the graph.
    """
    sympy = _package()
    calls = {getattr(sympy, n): op for op, n in _NAMES.items() if op != Op.SQRT}
    built: dict[Any, Ref] = {}

    truths = {sympy.true: ONE, sympy.false: ZERO}

    def truth(e: Any) -> Ref:
        """1 where a relation holds, else 0."""
        sides = [built[a] for a in e.args]
        signs = {sympy.StrictGreaterThan: 1, sympy.StrictLessThan: -1, sympy.GreaterThan: -1, sympy.LessThan: 1}
        if e.func not in signs:
            raise ExpressionError(f"The SymPy relation '{e}' has no operation in the graph.")
        d = graph.sub(*sides) if signs[e.func] == 1 else graph.sub(*reversed(sides))
        above = graph.call(Op.STEP, d)
        return above if e.func in (sympy.StrictGreaterThan, sympy.StrictLessThan) else graph.sub(ONE, above)

    def logical(e: Any, parts: Sequence[Ref]) -> Ref:
        if isinstance(e, sympy.And):
            return reduce(graph.mul, parts)
        if isinstance(e, sympy.ITE):
            condition, holds, fails = parts
            return graph.add(graph.mul(condition, holds), graph.mul(graph.sub(ONE, condition), fails))
        turned = reduce(graph.mul, [graph.sub(ONE, p) for p in parts])
        return graph.sub(ONE, turned) if isinstance(e, sympy.Or) else turned

    def pieces(pairs: Sequence[Ref]) -> Ref:
        """The value of the first piece whose condition holds, of which the last one always does."""
        (*before, last) = ((graph.lhs[p >> 1], graph.rhs[p >> 1]) for p in pairs)
        if last[1] != ONE:
            raise ExpressionError("A SymPy Piecewise needs a last piece (value, True).")
        total = last[0]
        for value, condition in reversed(before):
            total = graph.choice(condition, graph.pair(value, total))
        return total

    def convert(e: Any) -> Ref:
        arguments = [built[a] for a in e.args]
        if e.is_Symbol:
            return graph.symbol(e.name)
        if e.is_number:
            return graph.const(_number(e))
        if e in truths:
            return truths[e]
        if e.is_Relational:
            return truth(e)
        if isinstance(e, sympy.And | sympy.Or | sympy.Not | sympy.ITE):
            return logical(e, arguments)
        if e.func is sympy.functions.elementary.piecewise.ExprCondPair:
            return graph.pair(*arguments)
        if e.is_Piecewise:
            return pieces(arguments)
        if e.func is sympy.ceiling:
            return neg(graph.call(Op.FLOOR, neg(arguments[0])))
        if e.func is sympy.Mod:
            x, y = arguments
            return graph.sub(x, graph.mul(y, graph.call(Op.FLOOR, graph.div(x, y))))
        if e.is_Add:
            return graph.sum(arguments)
        if e.is_Mul:
            return _product(graph, e, built)
        if e.is_Pow:
            return graph.call(Op.POW, *arguments)
        if e.func in calls:
            return _folded(graph, calls[e.func], arguments)
        if e.func is sympy.Heaviside and e.args[1] == 0:
            return graph.call(Op.STEP, arguments[0])
        raise ExpressionError(f"The SymPy function '{e.func.__name__}' in '{e}' has no operation in the graph.")

    roots = [_without_time(sympy, _sympified(sympy, e)) for e in expressions]
    for root in roots:
        for e in sympy.postorder_traversal(root):
            if e not in built:
                built[e] = convert(e)
    return [built[e] for e in roots]


def expression(value: Any) -> Expr:
    """A SymPy expression for use in the description of a system: an angle, a force, an output."""
    with LOCK:
        return Expr(DESCRIPTIONS, from_sympy(DESCRIPTIONS, [value])[0])


def _sympified(sympy: Any, e: Any) -> Any:
    """*e* as a SymPy expression; texts are refused, since reading a text would execute it."""
    try:
        found = sympy.sympify(e, strict=True)
    except Exception:  # whatever the object raises
        found = None
    if not isinstance(found, sympy.Expr):
        raise ExpressionError(f"Expected a SymPy expression, found {shown(e)}.")
    return found


def of_time(orders: Mapping[str, tuple[str, int]], parameters: Sequence[str]) -> dict[str, Any]:
    """Replacements for names as in ``sympy.physics.mechanics``: for *orders*, the derivative of the function of time of this
    name and order; for ``t`` the time itself; for *parameters* symbols without assumptions.
    """
    sympy = _package()
    from sympy.physics.mechanics import dynamicsymbols

    functions = {name: dynamicsymbols(function, order) for name, (function, order) in orders.items()}
    return functions | {name: sympy.Symbol(name) for name in parameters} | {"t": dynamicsymbols._t}


def _without_time(sympy: Any, e: Any) -> Any:
    """*e* with symbols for functions of time and their derivatives: ``q1'`` for the rate of ``q1``."""
    rule = {}
    for found in e.atoms(sympy.core.function.AppliedUndef, sympy.Derivative):
        function, order = (found.expr, found.derivative_count) if found.is_Derivative else (found, 0)
        of_time = isinstance(function, sympy.core.function.AppliedUndef) and [str(a) for a in function.args] == ["t"]
        if of_time and (not order or [str(v) for v in set(found.variables)] == ["t"]):
            rule[found] = sympy.Symbol(function.func.__name__ + "'" * order)
        elif found.is_Derivative:
            raise ExpressionError(f"Expected derivatives of functions of the time t, found '{found}'; try .doit().")
    return e.xreplace(rule)


def _number(e: Any) -> float:
    try:
        return float(e)
    except TypeError:
        raise ExpressionError(f"Expected a real number, found '{e}'.") from None


def _product(graph: Graph, e: Any, built: Mapping[Any, Ref]) -> Ref:
    """A product, with the factors of negative exponent in one divisor."""
    upper, lower, sign = graph.const(1.0), graph.const(1.0), False
    for a in e.args:
        if a == -1:
            sign = not sign
        elif a.is_Pow and a.exp.is_number and a.exp.is_negative:
            lower = graph.mul(lower, graph.call(Op.POW, built[a.base], graph.const(_number(-a.exp))))
        else:
            upper = graph.mul(upper, built[a])
    quotient = graph.div(upper, lower)
    return neg(quotient) if sign else quotient


def _folded(graph: Graph, op: Op, arguments: Sequence[Ref]) -> Ref:
    """A call of one or two arguments; several arguments pair by pair (Min and Max)."""
    if len(arguments) == 1:
        return graph.call(op, arguments[0], ZERO)
    total = arguments[0]
    for a in arguments[1:]:
        total = graph.call(op, total, a)
    return total
