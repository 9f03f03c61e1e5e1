"""Expressions of kernels, from syntax to typed tree; what is made of static values alone is evaluated by Python."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from typing import Any

from kineta.codegen.kernels.tree import (
    FUNCTIONS,
    AddressCall,
    Choice,
    Constant,
    Entry,
    Expression,
    FieldValue,
    KernelCall,
    Operation,
    Variable,
    View,
)
from kineta.errors import did_you_mean
from kineta.kernels import language
from kineta.kernels.language import Kernel
from kineta.kernels.scope import Found, KernelScope, Known, expect, number_of
from kineta.memory import (
    BOOLEAN,
    INTEGER,
    INTEGERS,
    REAL,
    ArrayType,
    FunctionType,
    MemoryType,
    RecordType,
)


def expression(scope: KernelScope, x: ast.expr, *, changed: bool = False) -> Any:
    """The tree of *x*, or its static value; *changed* for a target of an assignment."""
    rule = _RULES.get(type(x))
    if rule is None:
        word = type(x).__name__
        raise scope.error(
            x, f"'{word}' is no expression of kernels. Use numbers, names, entries, fields, operators and calls."
        )
    if changed and isinstance(x, ast.Subscript) and isinstance(expression(scope, x.value), Known):
        raise scope.error(x, "a value known in translation cannot be changed. Use an array.")
    return rule(scope, x)


def value(scope: KernelScope, x: ast.expr) -> Expression:
    """The tree of *x*, which has to have a value in memory."""
    return number_of(scope, expression(scope, x), x)


# -- names, entries, fields -----------------------------------------------------------------------------------------


def _constant(scope: KernelScope, x: ast.Constant) -> Known:
    return Known(x.value)


def _tuple(scope: KernelScope, x: ast.Tuple) -> Known:
    return Known(tuple(_static(scope, e) for e in x.elts))


def _static(scope: KernelScope, x: ast.expr | None) -> Any:
    """The static value of *x*."""
    found = Known(None) if x is None else expression(scope, x)
    if not isinstance(found, Known):
        raise scope.error(
            x or scope.tree, f"expected a static value, found {found.type}. Make it of static parameters."
        )
    return found.value


def _slice(scope: KernelScope, x: ast.Slice) -> Known:
    return Known(slice(*(_static(scope, part) for part in (x.lower, x.upper, x.step))))


def _name(scope: KernelScope, x: ast.Name) -> Found:
    if x.id in scope.static:
        return scope.static[x.id]
    if x.id in scope.types:
        if x.id not in scope.given:
            raise scope.error(x, f"'{x.id}' has no value on some way to here. Give it one before the 'if' or the loop.")
        return Variable(scope.types[x.id], x.id)
    outer = scope.outer()
    for names in outer:
        if x.id in names:
            return Known(names[x.id])
    near = did_you_mean(x.id, [*scope.types, *scope.static, *chain(*reversed(outer))])
    raise scope.error(x, f"the name '{x.id}' is not known.{near or ' Set it before.'}")


def _attribute(scope: KernelScope, x: ast.Attribute) -> Found:
    record = expression(scope, x.value)
    if isinstance(record, Known):
        if not hasattr(record.value, x.attr):
            near = did_you_mean(x.attr, dir(record.value))
            raise scope.error(x, f"the static value of type '{type(record.value).__name__}' has no '{x.attr}'.{near}")
        return Known(getattr(record.value, x.attr))
    if not isinstance(record.type, RecordType):
        raise scope.error(
            x, f"expected a record before '.{x.attr}', found {record.type}. Use numbers and arrays by name."
        )
    fields = record.type.fields
    if x.attr not in fields:
        near = did_you_mean(x.attr, fields) or f" There are {', '.join(fields)}."
        raise scope.error(x, f"record '{record.type.name}' has no field '{x.attr}'.{near}")
    return FieldValue(fields[x.attr], record, x.attr)


def _subscript(scope: KernelScope, x: ast.Subscript) -> Found:
    array = expression(scope, x.value)
    if isinstance(array, Known):
        return _evaluated(scope, x, operator.getitem, array.value, _static(scope, x.slice))
    if not isinstance(array.type, ArrayType):
        raise scope.error(
            x, f"expected an array before '[', found {array.type}. Name the field or argument that is one."
        )
    if isinstance(x.slice, ast.Slice):
        if x.slice.lower is None or x.slice.upper or x.slice.step:
            raise scope.error(x, "expected a view 'array[start:]', found another slice. Give its start alone.")
        return View(array.type, array, _index(scope, x.slice.lower))
    return Entry(array.type.item, array, _index(scope, x.slice))


def _index(scope: KernelScope, x: ast.expr) -> Expression:
    found = expect(scope, value(scope, x), INTEGER, x)
    if isinstance(found, Constant) and found.value < 0:
        raise scope.error(
            x, f"entries count from 0, found {found.value}, which Python counts from the end. Add the length."
        )
    return found


def _evaluated(scope: KernelScope, at: ast.AST, function: Callable[..., Any], *static: Any) -> Known:
    """The value of a *function* of static values."""
    try:
        return Known(function(*static))
    except Exception as error:  # whatever Python raises
        text = f"this static expression has no value ({type(error).__name__}: {error}). Give it other static values."
        raise scope.error(at, text) from None


# -- operators ------------------------------------------------------------------------------------------------------

_BINARY: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("div", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.Pow: ("pow", operator.pow),
}
_COMPARE: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
    ast.Is: ("", operator.is_),
    ast.IsNot: ("", operator.is_not),
}


_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}


def _alike(scope: KernelScope, a: Found, b: Found, at: ast.AST) -> tuple[Expression, Expression]:
    """Two numbers of one type: an integer beside a real becomes one."""
    first, second = (number_of(scope, v, at) for v in (a, b))
    for v in (first, second):
        if v.type not in (REAL, INTEGER):
            advice = " A view is written 'array[start:]'." if isinstance(v.type, ArrayType) else ""
            raise scope.error(at, f"expected a number, found {v.type}.{advice}")
    if first.type == second.type:
        return first, second
    return _real(first), _real(second)


def _real(v: Expression) -> Expression:
    if isinstance(v, Constant):
        return Constant(REAL, float(v.value))
    return v if v.type is REAL else Operation(REAL, "real", (v,))


def _operator(scope: KernelScope, x: ast.BinOp) -> Found:
    return binary(scope, x.op, expression(scope, x.left), expression(scope, x.right), x)


def binary(scope: KernelScope, sign: ast.operator, a: Found, b: Found, at: ast.AST) -> Found:
    """An operator between two numbers."""
    if type(sign) not in _BINARY:
        word = type(sign).__name__
        raise scope.error(at, f"'{word}' is no operator of kernels. Use + - * / // %.")
    name, python = _BINARY[type(sign)]
    if isinstance(a, Known) and isinstance(b, Known):
        return _evaluated(scope, at, python, a.value, b.value)
    first, second = _alike(scope, a, b, at)
    if name == "pow":
        raise scope.error(
            at, "'**' is no operator of kernels: powers are rounded differently. Write a product, or 'pow(x, y)'."
        )
    if name in ("floordiv", "mod") and first.type is REAL:
        raise scope.error(at, "'//' and '%' need integers, found a real number. Use integers.")
    if name == "div":
        first, second = _real(first), _real(second)
    assert first.type in (REAL, INTEGER)
    return Operation(REAL if first.type is REAL else INTEGER, name, (first, second))


def _sign(scope: KernelScope, x: ast.UnaryOp) -> Found:
    found = expression(scope, x.operand)
    if isinstance(found, Known):
        return _evaluated(scope, x, _SIGNS[type(x.op)], found.value)
    if isinstance(x.op, ast.Not):
        return Operation(BOOLEAN, "not", (expect(scope, found, BOOLEAN, x.operand),))
    if found.type not in (REAL, INTEGER):
        raise scope.error(x, f"expected a number, found {found.type}. Negate numbers alone.")
    return Operation(REAL if found.type is REAL else INTEGER, "neg", (found,)) if isinstance(x.op, ast.USub) else found


def _comparison(scope: KernelScope, x: ast.Compare) -> Found:
    if len(x.ops) > 1:
        raise scope.error(x, "expected one comparison, found a chain. Join two with 'and'.")
    if type(x.ops[0]) not in _COMPARE:
        raise scope.error(x, f"'{type(x.ops[0]).__name__}' is no comparison of kernels. Use < <= > >= == !=.")
    name, python = _COMPARE[type(x.ops[0])]
    a, b = expression(scope, x.left), expression(scope, x.comparators[0])
    if isinstance(a, Known) and isinstance(b, Known):
        return _evaluated(scope, x, python, a.value, b.value)
    if not name:
        raise scope.error(x, "'is' compares static values alone. Use '=='.")
    first, second = number_of(scope, a, x), number_of(scope, b, x)
    if (first.type, second.type) != (BOOLEAN, BOOLEAN):
        first, second = _alike(scope, a, b, x)
    elif name not in ("eq", "ne"):
        raise scope.error(x, "truth values have no order. Use '==' or '!='.")
    return Operation(BOOLEAN, name, (first, second))


def _junction(scope: KernelScope, x: ast.BoolOp) -> Found:
    name = "and" if isinstance(x.op, ast.And) else "or"
    total: Expression | None = None
    for part in x.values:
        found = expression(scope, part)
        if isinstance(found, Known):
            if bool(found.value) == (name == "or"):  # decided: what follows is not evaluated
                found = Constant(BOOLEAN, name == "or")
                return Known(found.value) if total is None else Operation(BOOLEAN, name, (total, found))
            continue
        expect(scope, found, BOOLEAN, part)
        total = found if total is None else Operation(BOOLEAN, name, (total, found))
    return Known(name == "and") if total is None else total


def _conditional(scope: KernelScope, x: ast.IfExp) -> Found:
    test = expression(scope, x.test)
    if isinstance(test, Known):
        chosen: Found = expression(scope, x.body if test.value else x.orelse)
        return chosen
    expect(scope, test, BOOLEAN, x.test)
    yes, no = value(scope, x.body), value(scope, x.orelse)
    return Choice(yes.type, test, yes, expect(scope, no, yes.type, x.orelse))


# -- calls ----------------------------------------------------------------------------------------------------------

_NUMERIC: dict[Any, str] = {getattr(language, name): name for name in FUNCTIONS if hasattr(language, name)}


def _call(scope: KernelScope, x: ast.Call) -> Found:
    function: Found = expression(scope, x.func)
    if x.keywords:
        raise scope.error(x, "arguments of kernels have no names. Give them in their order.")
    if not isinstance(function, Known):
        if not isinstance(function.type, FunctionType):
            raise scope.error(
                x, f"expected a function, found {function.type}. Call kernels and compiled functions alone."
            )
        given = [value(scope, a) for a in x.args]
        return AddressCall(function.type.result, function, _arguments(scope, x, given, function.type.parameters))
    if isinstance(function.value, Kernel):
        return _kernel_call(scope, function.value, x)
    found: list[Found] = [expression(scope, a) for a in x.args]
    static = [a.value for a in found if isinstance(a, Known)]
    if len(static) == len(found):
        return _evaluated(scope, x, function.value, *static)
    return _numeric(scope, function.value, found, x)


def _numeric(scope: KernelScope, function: Any, given: Sequence[Found], x: ast.Call) -> Expression:
    """A function of numbers, or the next number of a counter."""
    if function is language.take and len(given) == 1:
        counter = expect(scope, number_of(scope, given[0], x), INTEGERS, x)
        return Operation(INTEGER, "take", (counter,))
    count = 2 if function in (min, max) else 1 if function is float else FUNCTIONS.get(_NUMERIC.get(function, ""), None)
    if count is None:
        name = getattr(function, "__name__", str(function))
        raise scope.error(x, f"'{name}' is no kernel. Mark it with @kernel, or give it static values alone.")
    if len(given) != count:
        raise scope.error(x, f"'{function.__name__}' takes {count} arguments, found {len(given)}.")
    if function in (min, max):
        a, b = _alike(scope, given[0], given[1], x)
        return Operation(REAL if a.type is REAL else INTEGER, function.__name__, (a, b))
    numbers = tuple(_real(_alike(scope, g, g, x)[0]) for g in given)
    return numbers[0] if function is float else Operation(REAL, _NUMERIC[function], numbers)


def _arguments(
    scope: KernelScope, x: ast.Call, given: Sequence[Expression], wanted: Sequence[MemoryType]
) -> tuple[Expression, ...]:
    if len(given) != len(wanted):
        raise scope.error(x, f"expected {len(wanted)} arguments, found {len(given)}. Give one for each parameter.")
    return tuple(expect(scope, v, t, at) for v, t, at in zip(given, wanted, x.args, strict=True))


def _kernel_call(scope: KernelScope, kernel: Kernel, x: ast.Call) -> Expression:
    types, result = scope.callees.signature(kernel)
    if len(x.args) != len(types):
        named = ", ".join(types)
        raise scope.error(
            x, f"'{kernel.__name__}' takes {len(types)} arguments, found {len(x.args)}. They are {named}."
        )
    static: list[Hashable] = []
    given: list[Expression] = []
    for a, (name, kind) in zip(x.args, types.items(), strict=True):
        if kind is not None:
            given.append(expect(scope, value(scope, a), kind, a))
            continue
        found = expression(scope, a)
        if not isinstance(found, Known):
            raise scope.error(
                a, f"parameter '{name}' of '{kernel.__name__}' is static, found {found.type}. Give a static value."
            )
        static.append(found.value)
    function = scope.callees.function(kernel, tuple(static))
    if function is None:
        raise scope.error(x, f"'{kernel.__name__}' calls itself. Write a loop.")
    return KernelCall(result, function, tuple(given))


_RULES: dict[type[ast.expr], Callable[[KernelScope, Any], Found]] = {
    ast.Constant: _constant,
    ast.Tuple: _tuple,
    ast.Slice: _slice,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.BinOp: _operator,
    ast.UnaryOp: _sign,
    ast.Compare: _comparison,
    ast.BoolOp: _junction,
    ast.IfExp: _conditional,
    ast.Call: _call,
}
