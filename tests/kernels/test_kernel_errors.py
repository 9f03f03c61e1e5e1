"""Wrong kernels, each with its sentence: where, what, expected, found, what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kineta.kernels.language import KernelError, kernel, sqrt
from kineta.kernels.translation import translate
from kineta.memory import Integers, Reals, Record

# mypy: ignore-errors
# ruff: noqa: RET503, RET504


class Walk(Record):
    """A record of the wrong kernels."""

    t: float
    steps: int
    y: Reals


Rate = Callable[[Reals, Reals], None]
SENTENCES: list[tuple[Any, str]] = []


def says(sentence: str) -> Callable[[Any], Any]:
    """A wrong kernel and the end of its *sentence*."""

    def noted(function: Any) -> Any:
        SENTENCES.append((kernel(function), sentence))
        return SENTENCES[-1][0]

    return noted


@kernel
def first(x: Reals, n: int) -> float:
    """A right one."""
    return x[n]


@kernel
def changing(x: Reals) -> float:
    """A right one that changes memory."""
    x[0] += 1.0
    return x[0]


@says("the name 'squrt' is not known. Did you mean 'sqrt'?")
def unknown_name(x: Reals) -> float:
    return squrt(x[0])  # noqa: F821


@says("'total' is an integer since line {-2} and cannot become a real number. Begin with a real number as 0.0.")
def another_type(x: Reals, n: int) -> float:
    total = 0
    for i in range(n):
        total += x[i]
    return 0.5 * total


@says(
    "'total' is a real number since line {-1} and cannot become an integer. Write 'float(...)', or a number with a point."
)
def integer_variable(n: int) -> float:
    total = 0.5
    total = n
    return total


@says("'root' has no value on some way to here. Give it one before the 'if' or the loop.")
def no_value(x: Reals) -> float:
    if x[0] > 0.0:
        root = sqrt(x[0])
    return root


@says("expected a real number as its result, but its end can be reached. Add a 'return'.")
def no_return(x: Reals) -> float:
    if x[0] > 0.0:
        return 1.0


@says("expected a real number as its result, found nothing. Give 'return' a value.")
def empty_return(x: Reals) -> float:
    return


@says("this statement is never reached. Remove it.")
def never_reached(x: Reals) -> float:
    return x[0]
    x[0] = 1.0


@says("'i' counts a loop and cannot be set in it. Use another name, or 'while'.")
def counter_set(n: int) -> int:
    for i in range(n):
        i += 1
    return n


@says("'i' has no value on some way to here. Give it one before the 'if' or the loop.")
def counter_behind(x: Reals, n: int) -> float:
    for i in range(n):
        x[i] = 0.0
    return x[i]


@says("record 'Walk' has no field 'stepz'. Did you mean 'steps'?")
def no_field(s: Walk) -> float:
    return s.stepz * s.t


@says("field 'y' is an array of reals and cannot be replaced. Set its entries or fields instead.")
def array_replaced(s: Walk, y: Reals) -> None:
    s.y = y


@says("expected a number, found an array of reals. A view is written 'array[start:]'.")
def address_sum(x: Reals, n: int) -> float:
    return first(x + n, 0)


@says("expected an array of reals, found an array of integers.")
def wrong_argument(x: Reals, i: Integers) -> float:
    return first(i, 0)


@says("'first' takes 2 arguments, found 1. They are x, n.")
def too_few(x: Reals) -> float:
    return first(x)


@says("expected 2 arguments, found 1. Give one for each parameter.")
def wrong_function(f: Rate, x: Reals) -> None:
    f(x)


@says("entries count from 0, found -1, which Python counts from the end. Add the length.")
def from_the_end(x: Reals) -> float:
    return x[-1]


@says("expected an integer, found a real number.")
def real_index(x: Reals, a: float) -> float:
    return x[a]


@says("expected a real number, found an integer. Write 'float(...)'.")
def integer_stored(x: Reals, n: int) -> None:
    x[0] = n


@says("'with' is no statement of kernels. Use assignments, if, while, for, return and calls.")
def with_statement(x: Reals) -> None:
    with x:
        pass


@says("'ListComp' is no expression of kernels. Use numbers, names, entries, fields, operators and calls.")
def comprehension(x: Reals) -> None:
    x[0] = [1.0 for _ in x]


@says("expected one comparison, found a chain. Join two with 'and'.")
def chained(x: float) -> bool:
    return 0.0 < x < 1.0


@says("the value of this expression is not used. Assign it, or remove it.")
def value_lost(x: Reals) -> None:
    x[0] == 1.0  # noqa: B015


@says("'itself' calls itself. Write a loop.")
def itself(n: int) -> int:
    return itself(n - 1) if n > 0 else 0


@says("expected 'range(...)' or a static sequence, found an array of reals. Count its entries with 'range'.")
def not_static(x: Reals, n: int) -> None:
    for w in x:
        x[0] = w


@says("parameter 'weights' of 'weighted' is static, found an array of reals. Give a static value.")
def not_known(x: Reals) -> float:
    return weighted(x, x)


@kernel
def weighted(weights: tuple[float, ...], x: Reals) -> float:
    """A right one with a static parameter."""
    return weights[0] * x[0]


@says("'break' stands in no loop that runs: a loop over a static sequence is unrolled. Use 'range'.")
def unrolled_break(x: Reals) -> None:
    for k in (1, 2, 3):
        if x[k] > 0.0:
            break


@says("expected a view 'array[start:]', found another slice. Give its start alone.")
def slice_to_the_end(x: Reals) -> float:
    return first(x[:2], 0)


@says("'**' is no operator of kernels: powers are rounded differently. Write a product, or 'pow(x, y)'.")
def power(x: float) -> float:
    return x**2


@says("'//' and '%' need integers, found a real number. Use integers.")
def real_remainder(x: float) -> float:
    return x % 2.0


@says("expected a truth value, found a real number.")
def real_test(x: float) -> float:
    return 1.0 if x else 0.0


@says("'print' is no kernel. Mark it with @kernel, or give it static values alone.")
def no_kernel(x: float) -> None:
    print(x)  # noqa: T201


@says("arguments of kernels have no names. Give them in their order.")
def named_argument(x: Reals) -> float:
    return first(x, n=1)


@says("a call that changes memory stands within an expression. Give its result a name before.")
def hidden_change(x: Reals) -> float:
    return x[0] + changing(x)


@says("expected a number, found a static value of type 'str', which is in no memory.")
def word(x: Reals) -> None:
    x[0] = "one"


@says("this static expression has no value (ZeroDivisionError: division by zero). Give it other static values.")
def static_fault(x: Reals) -> None:
    x[0] = 1 / 0


@says("expected 2 values for 2 targets, found 1. Write them side by side.")
def unpacked(x: Reals) -> float:
    a, b = x
    return a + b


@pytest.mark.parametrize(("wrong", "sentence"), SENTENCES, ids=[k.__name__ for k, _ in SENTENCES])
def test_a_wrong_kernel_has_its_sentence(wrong: Any, sentence: str) -> None:
    with pytest.raises(KernelError) as caught:
        translate(wrong)
    location = caught.value.location
    assert location is not None
    assert Path(location.file).name == "test_kernel_errors.py"
    head = f"{location}: Kernel '{wrong.__name__}': "
    for lines in (-2, -1):
        sentence = sentence.replace(f"{{{lines}}}", str(location.line + lines))
    assert str(caught.value) == head + sentence
    lines = wrong.function.__code__
    assert lines.co_firstlineno <= location.line <= lines.co_firstlineno + 8


def test_a_parameter_needs_a_type() -> None:
    @kernel
    def untyped(x, n: int) -> float:
        return x[n]

    with pytest.raises(
        KernelError, match=r"Kernel 'untyped': expected a type of parameter 'x', found none\. Annotate it\."
    ):
        translate(untyped)


def test_static_values_are_counted() -> None:
    with pytest.raises(
        KernelError,
        match=r"Kernel 'weighted' has 1 static parameters, found 0 values\. Give a value for each of: weights\.",
    ):
        translate(weighted)
