"""What operators and functions of the text language make of quantities with dimensions, and sentences on what they take."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from kineta.algebra.expression import Comparison, Expr, apply
from kineta.algebra.functions import ceil, hypot, mod, where
from kineta.errors import ModelError, suggestion
from kineta.expr.op import BINARY, FUNCTIONS, Op
from kineta.model import units, vectors
from kineta.model.io import kin_vectors
from kineta.model.io.kin_quantities import DimensionedExpr, ReadCondition, joined, root
from kineta.model.io.kin_tables import TABLE
from kineta.model.io.kin_vectors import DimensionedVector, Operand
from kineta.model.units import NUMBER
from kineta.passes.evaluate import evaluate
from kineta.vocabulary import meaning

#: The word of choices, which stands as a function does.
IF = "if"

#: Functions that are written with others, each with the number of its arguments.
COMPOSED: Mapping[str, tuple[int, Callable[..., Expr]]] = {"ceil": (1, ceil), "mod": (2, mod), "hypot": (2, hypot)}

#: Functions whose value has the dimension of their arguments, and functions of arguments of any dimension.
_KEEPS = {"abs", "min", "max"}
_FREE = {"sign", "step", "atan2", "sqrt"} | _KEEPS

#: Functions whose arguments are of one dimension, of a choice those behind the condition, and functions of an angle or a number.
OF_ONE_DIMENSION = {"min", "max", "atan2", "hypot", "mod", IF}
OF_NUMBERS = {name for name in FUNCTIONS if name not in _FREE | OF_ONE_DIMENSION} | {"ceil"}

#: The vocabulary's example of a rate.
_RATE = "q'"


def function_of_numbers(name: str, arguments: list[DimensionedExpr]) -> DimensionedExpr:
    """The function *name* of numbers, with a dimension that follows from those of its *arguments*."""
    if name in COMPOSED:
        return _composed(name, arguments)
    op = FUNCTIONS[name]
    if op in (Op.MIN, Op.MAX) and len(arguments) > 2:
        return reduce(lambda a, b: joined(a, b, apply(op, a.value, b.value)), arguments)
    wanted = 2 if op in BINARY else 1
    if len(arguments) != wanted:
        raise ModelError(f"{name} takes {wanted} argument{'s' * (wanted > 1)}, found {len(arguments)}.")
    value = apply(op, *(a.value for a in arguments))
    first = arguments[0]
    if wanted == 2:
        both = joined(first, arguments[1], value)
        return both if name in _KEEPS else DimensionedExpr(value, NUMBER, plain=True)
    if name not in _FREE:
        _without_unit(name, first)
    if op == Op.SQRT and first.dimension is not None:
        return root(first, value)
    return replace(first, value=value) if name in _KEEPS else DimensionedExpr(value, NUMBER, plain=True)


def _composed(name: str, given: list[DimensionedExpr]) -> DimensionedExpr:
    """The function *name*, which is written with others."""
    wanted, function = COMPOSED[name]
    if len(given) != wanted:
        raise ModelError(f"{name} takes {wanted} argument{'s' * (wanted > 1)}, found {len(given)}.")
    value, first = function(*(a.value for a in given)), given[0]
    if wanted == 2:
        return joined(first, given[1], value)
    _without_unit(name, first)
    return DimensionedExpr(value, NUMBER, plain=True)


def one_of_two(condition: Comparison, x: DimensionedExpr, y: DimensionedExpr) -> DimensionedExpr:
    """The value *x* where *condition* holds, else *y*."""
    try:
        return joined(x, y, where(condition, x.value, y.value))
    except ModelError:
        assert x.likely is not None
        assert y.likely is not None
        kinds = f"{units.name(x.likely)} and {units.name(y.likely)}"
        raise ModelError(f"the values of an if must be of one kind, found {kinds}.") from None


def truth(value: Any) -> Comparison:
    """*value*, if it is a condition."""
    if not isinstance(value, ReadCondition):
        found = "a vector" if isinstance(value, DimensionedVector) else f"'{value.value}'"
        raise ModelError(f"expected a comparison, as in a < b, found {found}.")
    return value.condition


def refuse_condition(value: Any) -> None:
    """Raise where *value* is a condition, which is no number."""
    if isinstance(value, ReadCondition):
        raise ModelError(kin_vectors.NO_NUMBER)


def _without_unit(name: str, argument: DimensionedExpr) -> None:
    """Raise where the *argument* of the function *name* has a unit."""
    if argument.told not in (None, NUMBER):
        raise ModelError(
            f"{name} takes an angle or a number, found {_named(argument)}; divide by a unit, as in {name}({_divided(argument)})."
        )


def raised_to(
    base: DimensionedExpr, exponents: Sequence[DimensionedExpr], constants: Mapping[str, float]
) -> DimensionedExpr:
    """*base* to the first of the *exponents*, which is raised to the next one, and so on; *constants* have these values."""
    for own in exponents:
        if own.told not in (None, NUMBER):
            raise ModelError(f"an exponent is a number, found {_named(own)}; divide by a unit, as in {_divided(own)}.")
    raised = exponents[-1].value
    for exponent in reversed(exponents[:-1]):
        raised = exponent.value**raised
    number, dimension = raised.value, None
    if number is None and all(name in constants for name in raised.symbols()):
        number = float(evaluate(raised.graph, [raised.ref], constants)[0])
    if number is None and base.told not in (None, NUMBER):
        raise ModelError(
            f"{_named(base)} has a power of numbers and constants only, found the exponent '{raised}', with which the unit "
            f"changes; divide by a unit, as in ({_divided(base)})^n."
        )
    if base.dimension is not None and number is not None:
        dimension = units.times(NUMBER, base.dimension, number)
    return DimensionedExpr(base.value**raised, dimension, base.plain, base.shown)


def _named(own: DimensionedExpr) -> str:
    assert own.told is not None
    return units.name(own.told)


def _divided(own: DimensionedExpr) -> str:
    """An example of the quantity *own* without its unit."""
    assert own.told is not None
    return f"x/1 {units.written(own.told) or units.symbol(own.told)}"


def folded(children: list[Any], of: Callable[..., DimensionedExpr]) -> Operand:
    """The first of *children* with each next one, a sign before it, by the function *of* for numbers."""
    for own in children[::2]:
        refuse_condition(own)
    total: Operand = children[0]
    for sign, other in zip(children[1::2], children[2::2], strict=True):
        vector = isinstance(total, DimensionedVector) or isinstance(other, DimensionedVector)
        total = kin_vectors.combined(total, str(sign), other) if vector else of(total, other, sign)
    return total


def function_of_vectors(name: str, arguments: list[Any]) -> Operand:
    """The function *name* of vectors."""
    wanted, function = kin_vectors.FUNCTIONS[name]
    if len(arguments) != wanted:
        rate = f" The rate of a coordinate q is {_RATE}." if name == "dot" and len(arguments) == 1 else ""
        raise ModelError(f"{name} takes {wanted} vector{'s' * (wanted > 1)}, found {len(arguments)}.{rate}")
    for own in arguments:
        if not isinstance(own, DimensionedVector):
            raise ModelError(f"{name} takes vectors, as v(Tip) or (1, 0, 0), found the number '{own.value}'.")
    return function(*arguments)


def advice_on_function(name: str, functions: Iterable[str]) -> str:
    """Advice on an unknown function, perhaps a function of Python."""
    if name in ("pow", "power"):
        return " A power is x^y."
    module, dot, own = name.rpartition(".")
    if dot and own in FUNCTIONS:
        return f" Write {own}."
    if module in ("np", "numpy", "jnp", "sp", "sympy", "math", "torch") and own.startswith(
        ("float", "int", "array", "Float")
    ):
        return " A number of Python goes into a text as float(x) writes it, as in f'... = {float(x)};'."
    if meaning(own, (_RATE,)):
        return suggestion(own, (_RATE,))
    return suggestion(own, [*FUNCTIONS, *COMPOSED, IF, TABLE, *vectors.KINDS, *kin_vectors.FUNCTIONS, *functions])
