"""Truncated Taylor series in time: derivatives along a motion independent of the differentiation of graphs.

Coefficients are arrays over states, in double precision or in multiprecision; an exact zero is the number 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import factorial
from typing import Any

import numpy as np

from kineta.expr.op import Op

#: Operations on arrays.
Numbers = Mapping[int, Callable[..., Any]]


class TaylorSeries:
    """The series sum of ``c[k]`` t^k; products have the number of coefficients of the shorter factor."""

    __slots__ = ("c",)

    def __init__(self, c: list[Any]) -> None:
        self.c = c

    def __add__(self, other: Any) -> TaylorSeries:
        b = _coefficients(other, len(self.c))
        return TaylorSeries([x + y for x, y in zip(self.c, b, strict=False)])

    def __neg__(self) -> TaylorSeries:
        return TaylorSeries([-x for x in self.c])

    def __sub__(self, other: Any) -> TaylorSeries:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> TaylorSeries:
        return (-self).__add__(other)

    def __mul__(self, other: Any) -> TaylorSeries:
        if not isinstance(other, TaylorSeries):
            return TaylorSeries([_times(x, other) for x in self.c])
        n = min(len(self.c), len(other.c))
        return TaylorSeries([sum(_times(self.c[i], other.c[k - i]) for i in range(k + 1)) for k in range(n)])

    def __truediv__(self, other: Any) -> TaylorSeries:
        b, q = _coefficients(other, len(self.c)), list[Any]()
        for k in range(min(len(self.c), len(b))):
            q.append((self.c[k] - sum(_times(q[i], b[k - i]) for i in range(k))) / b[0])
        return TaylorSeries(q)

    def __rtruediv__(self, other: Any) -> TaylorSeries:
        return TaylorSeries(_coefficients(other, len(self.c))) / self

    def __pow__(self, y: float) -> TaylorSeries:
        return _powers(self, self.c[0] ** y, y)

    __radd__, __rmul__ = __add__, __mul__

    @property
    def rate(self) -> TaylorSeries:
        """The derivative, shorter by one coefficient; NaN where none is left."""
        return TaylorSeries([_times(x, k) for k, x in enumerate(self.c)][1:] or [np.nan])

    def derivative(self, k: int) -> Any:
        """Return the k-th derivative at t = 0; NaN beyond the last coefficient."""
        return self.c[k] * factorial(k) if k < len(self.c) else np.nan


def integrate(x: TaylorSeries, rate: TaylorSeries) -> None:
    """Append to *x* the next coefficient, by its *rate*."""
    k = len(x.c)
    x.c.append(rate.c[k - 1] / k)


def _coefficients(x: Any, n: int) -> list[Any]:
    return x.c if isinstance(x, TaylorSeries) else [x, *[0] * (n - 1)]


def _times(a: Any, b: Any) -> Any:
    """Return the product, an exact 0 for an exact 0 as a factor."""
    return 0 if (isinstance(a, int) and a == 0) or (isinstance(b, int) and b == 0) else a * b


def _powers(x: TaylorSeries, first: Any, y: float) -> TaylorSeries:
    """Return the power *y* of *x*, with the leading coefficient *first*."""
    p = [first]
    for k in range(1, len(x.c)):
        terms = (_times(_times(x.c[i], y * i - (k - i)), p[k - i]) for i in range(1, k + 1))
        p.append(sum(terms) / (k * x.c[0]))
    return TaylorSeries(p)


def functions(numbers: Numbers) -> dict[int, Callable[..., Any]]:
    """Return the operations on series and numbers, from the operations on *numbers*."""
    f = numbers
    pairs: dict[int, tuple[Op, int]] = {
        Op.SIN: (Op.COS, 1),
        Op.COS: (Op.SIN, -1),
        Op.SINH: (Op.COSH, 1),
        Op.COSH: (Op.SINH, 1),
    }
    slopes: dict[int, Callable[[TaylorSeries], Any]] = {
        Op.LOG: lambda x: 1 / x,
        Op.ATAN: lambda x: 1 / (1 + x * x),
        Op.ASIN: lambda x: 1 / root(1 - x * x),
        Op.ACOS: lambda x: -1 / root(1 - x * x),
    }

    def along(x: TaylorSeries, first: Any, slope: TaylorSeries) -> TaylorSeries:
        """Return the series with the value *first* and the rate *slope* times the rate of *x*."""
        rate = slope * x.rate if len(x.c) > 1 else TaylorSeries([])
        return TaylorSeries([first, *(c / (k + 1) for k, c in enumerate(rate.c))])

    def pair(op: int) -> Callable[[TaylorSeries], TaylorSeries]:
        other, sign = pairs[op]

        def value(x: TaylorSeries) -> TaylorSeries:
            one, two = [f[op](x.c[0])], [f[other](x.c[0])]
            back = pairs[other][1]
            for k in range(1, len(x.c)):
                rate = [_times(x.c[i], i) for i in range(1, k + 1)]
                first, second = (sum(_times(r, y[k - i]) for i, r in enumerate(rate, 1)) / k for y in (two, one))
                one.append(sign * first)
                two.append(back * second)
            return TaylorSeries(one)

        return value

    def exp(x: TaylorSeries) -> TaylorSeries:
        e = [f[Op.EXP](x.c[0])]
        for k in range(1, len(x.c)):
            e.append(sum(_times(_times(x.c[i], i), e[k - i]) for i in range(1, k + 1)) / k)
        return TaylorSeries(e)

    def root(x: TaylorSeries) -> TaylorSeries:
        return _powers(x, f[Op.SQRT](x.c[0]), 0.5)

    def power(x: Any, y: Any) -> Any:
        if not isinstance(y, TaylorSeries):
            if float(y).is_integer() and 0 <= y <= 16:
                found: Any = 1.0
                for _ in range(int(y)):
                    found = found * x
                return found
            return _powers(x, f[Op.POW](x.c[0], y), y)
        if not isinstance(x, TaylorSeries):
            return exp(y * f[Op.LOG](x))
        return exp(y * found_of[Op.LOG](x))

    def angle(y: Any, x: Any) -> TaylorSeries:
        n = len(next(s for s in (x, y) if isinstance(s, TaylorSeries)).c)
        x, y = TaylorSeries(_coefficients(x, n)), TaylorSeries(_coefficients(y, n))
        rate = (x * y.rate - y * x.rate) / (x * x + y * y) if min(len(x.c), len(y.c)) > 1 else TaylorSeries([])
        return TaylorSeries([f[Op.ATAN2](y.c[0], x.c[0]), *(c / (k + 1) for k, c in enumerate(rate.c))])

    def chosen(which: Callable[[Any, Any], Any]) -> Callable[[Any, Any], TaylorSeries]:
        def value(x: Any, y: Any) -> TaylorSeries:
            n = min(len(s.c) for s in (x, y) if isinstance(s, TaylorSeries))
            a, b = _coefficients(x, n), _coefficients(y, n)
            mask = which(a[0], b[0])
            return TaylorSeries([np.where(mask, p, q) for p, q in zip(a, b, strict=False)])

        return value

    def kept(x: Any, condition: Any) -> Any:
        series = [s for s in (x, condition) if isinstance(s, TaylorSeries)]
        if not series:
            return f[Op.WHERE](x, condition)
        n = min(len(s.c) for s in series)
        c = _coefficients(condition, n)[0]
        return TaylorSeries([f[Op.WHERE](a, c) for a in _coefficients(x, n)[:n]])

    def level(op: int) -> Callable[[TaylorSeries], TaylorSeries]:
        return lambda x: TaylorSeries([f[op](x.c[0]), *[0] * (len(x.c) - 1)])

    found_of: dict[int, Callable[..., Any]] = {
        Op.ADD: lambda x, y: x + y,
        Op.MUL: lambda x, y: x * y,
        Op.DIV: lambda x, y: x / y,
        Op.SQRT: root,
        Op.EXP: exp,
        **{op: pair(op) for op in pairs},
        **{op: _by(slope, f[op], along) for op, slope in slopes.items()},
        Op.ATAN2: angle,
        Op.POW: power,
        Op.ABS: lambda x: x * f[Op.SIGN](x.c[0]),
        Op.SIGN: level(Op.SIGN),
        Op.STEP: level(Op.STEP),
        Op.MIN: chosen(lambda x, y: x <= y),
        Op.MAX: chosen(lambda x, y: x >= y),
        Op.GUARD: lambda x, y: x,
        Op.FLOOR: level(Op.FLOOR),
        Op.WHERE: kept,
    }
    found_of[Op.TAN] = lambda x: found_of[Op.SIN](x) / found_of[Op.COS](x)
    found_of[Op.TANH] = lambda x: found_of[Op.SINH](x) / found_of[Op.COSH](x)
    return {op: _or_numbers(of, f.get(op, of)) for op, of in found_of.items()}


def _or_numbers(of_series: Callable[..., Any], of_numbers: Callable[..., Any]) -> Callable[..., Any]:
    """The function of series, or that of numbers where all arguments are numbers."""
    return lambda *x: (of_series if any(isinstance(s, TaylorSeries) for s in x) else of_numbers)(*x)


def _by(
    slope: Callable[[TaylorSeries], TaylorSeries], of: Callable[..., Any], along: Callable[..., TaylorSeries]
) -> Any:
    return lambda x: along(x, of(x.c[0]), slope(x))
