"""Tables: functions of one quantity by pieces between knots, as nodes of the graph.

A table is a node ``TABLE`` of its quantity and of its data, a tree of pairs whose leaves are numbers, which say what table it
is, and one to three columns of expressions, the values at the knots, the slopes, and the second derivatives. Between two knots
it is the polynomial of degree 1, 3 or 5 that has them at both (Hermite's interpolation), so it is linear in its columns: its
derivative by one of them is a table, too, and so is its derivative by the quantity, whose ``order`` counts.

A table of two quantities is one of the first whose values, and slopes, are tables of the second.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil, factorial, log, perm, prod
from typing import Protocol, TypeVar

from kineta import tolerances
from kineta.expr.graph import ONE, ZERO, Graph, Ref, neg
from kineta.expr.op import Op
from kineta.expr.row import StepRow
from kineta.records import dataclass

T = TypeVar("T")
#: Values, slopes and second derivatives at the knots, as far as a table has them.
Columns = tuple[tuple[T, ...], ...]

#: Kinds of tables by their words, and the number of derivatives that are continuous at their knots. All columns of ``hermite``
#: are given, those of others follow from the first one.
KINDS = {"linear": 0, "monotone": 1, "cubic": 2, "natural": 2, "quintic": 4, "hermite": 1}
#: Kinds whose slopes are linear in their values, so that the slopes of tables are tables.
LINEAR = ("linear", "cubic", "natural", "quintic")
#: A kind that no one writes: the value at a knot holds to the next one.
STEPS = "steps"
_WORDS = (*KINDS, STEPS)
#: Knots between pieces from which on a table of numbers is looked up in rows. Up to there choices between pieces are quicker.
LONG = 16
#: Splines with ends of which so many pieces are one polynomial.
NOT_A_KNOT = {"cubic": 2, "quintic": 3}
#: Error, relative to the largest value of a table, up to which cubics through other knots count as telling its values.
UNSEEN = 1e-5
#: Ratio of the lengths of two pieces that are very different.
UNEVEN = 3.0
#: Largest error, relative to the largest value, of cubics through each second knot in a smooth table; least number of knots.
ROUGH, MANY = 1e-2, 16
#: Factor between jumps of derivatives at knots that are alike; and the rounding error of one, in units of roundoff.
ALIKE, ROUNDED = 30.0, 1e3


class Arithmetic(Protocol[T]):
    """Sums, differences and products of expressions or of numbers."""

    def const(self, value: float, /) -> T:
        """The number *value*."""

    def add(self, a: T, b: T, /) -> T:
        """The sum a + b."""

    def sub(self, a: T, b: T, /) -> T:
        """The difference a - b."""

    def mul(self, a: T, b: T, /) -> T:
        """The product a b."""


class _Floats:
    """Numbers."""

    const = staticmethod(float)
    add = staticmethod(operator.add)
    sub = staticmethod(operator.sub)
    mul = staticmethod(operator.mul)


_FLOATS: Arithmetic[float] = _Floats()


@dataclass(frozen=True, slots=True)
class Table:
    """The data of a table.

    kind : one of :data:`KINDS`, or :data:`STEPS`; ``order`` : derivative by the quantity; ``period`` : its length, 0 for none
    holds : whether it holds its first and last value beyond its ends; else the polynomials there go on
    knots : n numbers that rise; ``columns`` : values, slopes, ... at the knots, n references each
    """

    kind: str
    order: int
    period: float
    holds: bool
    knots: tuple[float, ...]
    columns: tuple[tuple[Ref, ...], ...]

    @property
    def continuity(self) -> int:
        """Number of continuous derivatives at knots within; -1 where the value itself jumps."""
        known = len(self.columns) - 1 if self.kind == "hermite" else KINDS.get(self.kind, -1)
        return known - self.order

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the table in the text language, behind its quantity."""
        flags = ["periodic"] * bool(self.period) + ["extrapolate"] * (not self.holds and not self.period)
        return (self.kind, *flags) if flags or self.kind != "linear" else ()

    @property
    def rows(self) -> list[tuple[float | Ref, ...]]:
        """The points as they are written: a number and references."""
        shown = self.columns if self.kind == "hermite" else self.columns[:1]
        return list(zip(self.knots, *shown, strict=True))


def as_shown(graph: Graph, x: Ref, table: Table) -> Ref:
    """*table* at *x* with zeros in the columns that follow from others. It keeps their number, by which derivatives vanish."""
    first, *rest = table.columns
    nothing = [(ZERO,) * len(first) for _ in rest]
    return node(graph, x, table if table.kind == "hermite" else replace(table, columns=(first, *nothing)))


def node(graph: Graph, x: Ref, table: Table) -> Ref:
    """The value of *table* at *x*."""
    columns = table.columns
    if table.order >= (1 if table.kind == STEPS else 2 * len(columns)) or all(
        r == ZERO for column in columns for r in column
    ):
        return ZERO
    numbers = (float(_WORDS.index(table.kind)), float(table.order), table.period, float(table.holds), *table.knots)
    leaves = [*map(graph.const, (float(len(columns)), *numbers)), *(r for column in columns for r in column)]
    return graph.call(Op.TABLE, x, _tree(graph, leaves))


def alike(graph: Graph, refs: Sequence[Ref]) -> tuple[Ref, Table, list[tuple[tuple[Ref, ...], ...]]] | None:
    """What the tables *refs* share, their quantity and the words and knots of one of them, and the columns of each; None where
    they are no tables of one quantity with the same knots. A table of zeros is 0.
    """
    known = [r for r in refs if r != ZERO]
    if not known or any(r & 1 or graph.op[r >> 1] != Op.TABLE for r in known):
        return None
    found = {r: table_of(graph, graph.rhs[r >> 1]) for r in known}
    first, x = found[known[0]], graph.lhs[known[0] >> 1]
    if any(graph.lhs[r >> 1] != x or replace(t, columns=first.columns) != first for r, t in found.items()):
        return None
    if any(len(t.columns) != len(first.columns) for t in found.values()):
        return None
    nothing = ((ZERO,) * len(first.knots),) * len(first.columns)
    return x, first, [found[r].columns if r != ZERO else nothing for r in refs]


def of_two(graph: Graph, table: Table) -> tuple[Ref, list[tuple[float | Ref, ...]]] | None:
    """The second quantity of a table of two, and its points: the places of this quantity, then rows of a place of the first one
    and the values there. None where *table* is none.
    """
    if table.order or table.kind not in LINEAR or (shared := alike(graph, table.columns[0])) is None:
        return None
    y, inner, columns = shared
    if inner.order or (inner.words, inner.kind) != (table.words, table.kind):
        return None
    return y, [inner.knots, *((place, *own[0]) for place, own in zip(table.knots, columns, strict=True))]


def _tree(graph: Graph, leaves: Sequence[Ref]) -> Ref:
    while len(leaves) > 1:
        pairs = [graph.call(Op.PAIR, a, b) for a, b in zip(leaves[::2], leaves[1::2], strict=False)]
        leaves = pairs + list(leaves[len(pairs) * 2 :])
    return leaves[0]


def leaves_of(graph: Graph, data: Ref) -> Iterator[Ref]:
    """The leaves of a tree of pairs, in order."""
    stack = [data]
    while stack:
        r = stack.pop()
        if graph.op[r >> 1] == Op.PAIR:
            stack += (graph.rhs[r >> 1], graph.lhs[r >> 1])
        else:
            yield r


def table_of(graph: Graph, data: Ref) -> Table:
    """The table whose data is *data*."""
    count, kind, order, period, holds, *rest = leaves_of(graph, data)
    size, columns = len(rest), int(_number(graph, count))
    n = size // (columns + 1)
    parts = [tuple(rest[n * k : n * (k + 1)]) for k in range(columns + 1)]
    knots = tuple(_number(graph, r) for r in parts[0])
    return Table(
        _WORDS[int(_number(graph, kind))],
        int(_number(graph, order)),
        _number(graph, period),
        _number(graph, holds) > 0,
        knots,
        tuple(parts[1:]),
    )


def _number(graph: Graph, ref: Ref) -> float:
    value = graph.value(ref)
    if value is None:  # a quotient of an exact graph
        i = ref >> 1
        value = _number(graph, graph.lhs[i]) / _number(graph, graph.rhs[i]) * (-1 if ref & 1 else 1)
    return value


def derivative(graph: Graph, x: Ref, data: Ref) -> Ref:
    """The derivative of a table by its quantity."""
    table = table_of(graph, data)
    return node(graph, x, replace(table, order=table.order + 1))


def along(graph: Graph, x: Ref, data: Ref, rates: Ref) -> Ref:
    """The derivative of a table by its columns, which change at *rates*, a tree of the shape of *data* or zeros."""
    table = table_of(graph, data)
    found = list(_rates(graph, data, rates))[-len(table.knots) * len(table.columns) :]
    n = len(table.knots)
    return _of_columns(graph, x, table, [tuple(found[n * k : n * (k + 1)]) for k in range(len(table.columns))])


def _rates(graph: Graph, data: Ref, rates: Ref) -> Iterator[Ref]:
    stack = [(data, rates)]
    while stack:
        r, d = stack.pop()
        i, j = r >> 1, d >> 1
        if graph.op[i] != Op.PAIR:
            yield d
        elif d == ZERO:
            stack += [(graph.rhs[i], ZERO), (graph.lhs[i], ZERO)]
        else:
            stack += [(graph.rhs[i], graph.rhs[j]), (graph.lhs[i], graph.lhs[j])]


def shares(graph: Graph, x: Ref, data: Ref) -> Iterator[tuple[Ref, Ref]]:
    """The entries of the columns that are no numbers, each with the derivative of the table by it."""
    table = table_of(graph, data)
    n = len(table.knots)
    for k, column in enumerate(table.columns):
        for i, entry in enumerate(column):
            if graph.value(entry) is None:
                units = [tuple(ONE if (k, i) == (m, j) else ZERO for j in range(n)) for m in range(len(table.columns))]
                yield entry, _of_columns(graph, x, table, units)


def _of_columns(graph: Graph, x: Ref, table: Table, columns: Sequence[tuple[Ref, ...]]) -> Ref:
    """*table* with other *columns*, none of which follows from another."""
    kind = "hermite" if len(columns) > 1 else table.kind
    return node(graph, x, replace(table, kind=kind, columns=tuple(columns)))


# -- polynomials ------------------------------------------------------------------------------------------------------


def opened(graph: Graph, x: Ref, table: Table) -> Ref:
    """The value of *table* at *x* by choices between its pieces, or rows of a long one, and operations on what is chosen."""
    g, x = graph, _within_period(graph, x, table)
    numbers = _numbers(graph, table) if len(table.knots) > LONG else None
    if numbers is not None:
        between, starts, coefficients = _pieces(_FLOATS, table, numbers)
        rows = [g.const(StepRow(between, column)) for column in (starts, *zip(*coefficients, strict=True))]
        start, *chosen = [g.call(Op.LOOKUP, x, row) for row in rows]
        return _polynomial(g, g.sub(x, start), table.order, chosen)
    between, starts, pieces = _pieces(g, table, table.columns)
    below = [g.call(Op.STEP, g.sub(g.const(k), x)) for k in between]
    u = g.sub(x, _chosen(g, below, [g.const(k) for k in starts]))
    return _polynomial(g, u, table.order, [_chosen(g, below, c) for c in zip(*pieces, strict=True)])


def in_pieces(graph: Graph, x: Ref, table: Table) -> Ref:
    """The value of *table* at *x* as a choice between polynomials, from the first piece on."""
    g, x = graph, _within_period(graph, x, table)
    between, starts, pieces = _pieces(g, table, table.columns)
    found = [_polynomial(g, g.sub(x, g.const(k)), table.order, c) for k, c in zip(starts, pieces, strict=True)]
    total = found[-1]
    for knot, value in zip(reversed(between), reversed(found[:-1]), strict=True):
        total = g.call(Op.IF, g.call(Op.STEP, g.sub(g.const(knot), x)), g.call(Op.PAIR, value, total))
    return total


def _within_period(g: Graph, x: Ref, table: Table) -> Ref:
    """The quantity within the period of a table, if it has one."""
    if not table.period:
        return x
    turns = g.call(Op.FLOOR, g.mul(g.const(1 / table.period), g.sub(x, g.const(table.knots[0]))))
    return g.sub(x, g.mul(g.const(table.period), turns))


def _numbers(graph: Graph, table: Table) -> Columns[float] | None:
    """The columns of a table as numbers; None where some are none."""
    if any(graph.value(r) is None for column in table.columns for r in column):
        return None
    return tuple(tuple(_number(graph, r) for r in column) for column in table.columns)


def _pieces(g: Arithmetic[T], table: Table, columns: Columns[T]) -> tuple[list[float], list[float], list[list[T]]]:
    """The knots between pieces, and of each piece its start and its coefficients."""
    knots = table.knots
    starts, between = list(knots[:-1]), list(knots[1:-1])
    if table.kind == STEPS:
        return between, starts, [[y] for y in columns[0][:-1]]
    pieces = [_coefficients(g, knots, columns, k, k + 1) for k in range(len(knots) - 1)]
    if (width := _one_polynomial(table)) > 1:
        last = len(knots) - 1
        pieces[0] = _coefficients(g, knots, columns, 0, width)
        pieces[-1] = _coefficients(g, knots, columns, last - width, last)
        starts[-1] = knots[last - width]
    if table.holds and not table.period:
        nothing = [g.const(0.0)] * (len(pieces[0]) - 1)
        pieces = [[columns[0][0], *nothing], *pieces, [columns[0][-1], *nothing]]
        starts, between = [knots[0], *starts, knots[-1]], [knots[0], *between, knots[-1]]
    return between, starts, pieces


def _one_polynomial(table: Table) -> int:
    """How many pieces at each end of a spline that goes on beyond it are one polynomial, which far from the end keeps its digits
    where it is told by knots that are as far from each other as they can be.
    """
    if table.holds or table.period or table.kind not in NOT_A_KNOT:
        return 1
    pieces = len(table.knots) - 1
    return pieces if pieces < 2 * NOT_A_KNOT[table.kind] else NOT_A_KNOT[table.kind]


def _polynomial(g: Graph, u: Ref, order: int, coefficients: Sequence[Ref]) -> Ref:
    """The derivative of some *order* of a polynomial in *u*."""
    total = ZERO
    for j in range(len(coefficients) - 1, order - 1, -1):
        total = g.add(g.mul(total, u), g.mul(g.const(float(perm(j, order))), coefficients[j]))
    return total


def _chosen(g: Graph, below: Sequence[Ref], values: Sequence[Ref]) -> Ref:
    """Of the *values* of pieces the one where the quantity is; *below* tells of each knot between two whether it is below."""
    if not below:
        return values[0]
    half = len(below) // 2
    left, right = _chosen(g, below[:half], values[: half + 1]), _chosen(g, below[half + 1 :], values[half + 1 :])
    return g.call(Op.IF, below[half], g.call(Op.PAIR, left, right))


def _coefficients(g: Arithmetic[T], knots: Sequence[float], columns: Columns[T], first: int, last: int) -> list[T]:
    """Coefficients of the polynomial between two *knots*, by powers of the distance from the *first* one."""
    h = knots[last] - knots[first]
    of: Callable[[float, T], T] = lambda f, r: g.mul(g.const(f), r)  # noqa: E731
    y, z = (columns[0][k] for k in (first, last))
    d = of(1 / h, g.sub(z, y))
    if len(columns) == 1:
        return [y, d]
    m, p = (columns[1][k] for k in (first, last))
    if len(columns) == 2:
        bend = g.sub(d, m)
        other = g.sub(g.add(m, p), g.add(d, d))
        return [y, m, of(1 / h, g.sub(bend, other)), of(1 / h**2, other)]
    w, v = (of(0.5, columns[2][k]) for k in (first, last))
    a = of(1 / h**2, g.sub(g.sub(d, m), of(h, w)))
    b = of(1 / h**2, g.sub(g.sub(p, m), of(2 * h, w)))
    c = of(1 / h, g.sub(v, w))
    return [
        y,
        m,
        w,
        g.add(g.add(of(10.0, a), of(-4.0, b)), c),
        of(1 / h, g.add(g.add(of(-15.0, a), of(7.0, b)), of(-2.0, c))),
        of(1 / h**2, g.add(g.add(of(6.0, a), of(-3.0, b)), c)),
    ]


# -- knots ------------------------------------------------------------------------------------------------------------


def bend(graph: Graph, x: Ref, data: Ref) -> Ref | None:
    """A function of the quantity that changes its sign at the knots where the table bends or jumps; None for a smooth table."""
    table = table_of(graph, data)
    knots = table.knots
    if table.continuity > 0:
        if table.period or not table.holds:
            return None
        knots = (knots[0], knots[-1])
    elif table.period and len(knots) % 2 == 0:  # an odd number of pieces: signs alternate over two periods
        knots = (*knots, *(k + table.period for k in knots[1:]))
    signs = tuple(ONE if k % 2 == 0 else neg(ONE) for k in range(len(knots)))
    period = knots[-1] - knots[0] if table.period else 0.0
    return node(graph, x, Table("hermite", 0, period, False, knots, ((ZERO,) * len(knots), signs)))


def bends(graph: Graph, data: Ref) -> bool:
    """Whether the slope of a table, or its value, jumps at a knot."""
    table = table_of(graph, data)
    return table.continuity <= 0 or (table.holds and not table.period)


def largest(graph: Graph, data: Ref) -> float | None:
    """A bound of the absolute values of a table; None for one that goes on beyond its ends, or whose columns are no numbers."""
    table = table_of(graph, data)
    if (numbers := _numbers(graph, table)) is None or not (table.holds or table.period):
        return None
    least = 0.0
    for k, (a, b) in enumerate(pairwise(table.knots)):
        terms = enumerate(_coefficients(_FLOATS, table.knots, numbers, k, k + 1))
        sizes = (perm(j, table.order) * abs(c) * (b - a) ** (j - table.order) for j, c in terms if j >= table.order)
        least = max(least, sum(sizes))
    return least


def stops(graph: Graph, data: Ref) -> tuple[float, ...]:
    """The knots at which the slope of a table, or its value, jumps, all of a smooth table of rough values, and those between
    pieces of very different lengths; of a periodic table with its ends.
    """
    table = table_of(graph, data)
    inner = table.knots[1:-1]
    if table.continuity > 0:
        sizes = [b - a for a, b in pairwise(table.knots)]
        if not _is_rough(graph, table):
            inner = tuple(k for k, a, b in zip(inner, sizes, sizes[1:], strict=False) if max(a, b) > UNEVEN * min(a, b))
    if table.period:
        return (table.knots[0], *inner, table.knots[-1]) if inner or table.continuity <= 0 else ()
    return (table.knots[0], *inner, table.knots[-1]) if table.holds else inner


def soft_knots(graph: Graph, data: Ref) -> Iterator[tuple[float, tuple[float, ...]]]:
    """The knots at which a continuous derivative of a table jumps for the first time, of a periodic table with its ends, in
    groups of similar jumps: how much these change the table over a piece, as a part of its largest value, up to the factor
    :data:`ALIKE`, and the knots. One group of 1 for columns that are no numbers.
    """
    table = table_of(graph, data)
    n, first = len(table.knots), table.continuity + 1
    ends = range(n) if table.period else range(1, n - 1)
    if first < 2:
        return
    if (numbers := _numbers(graph, table)) is None:
        same = NOT_A_KNOT.get(table.kind, 1) if not table.period else 0
        if inner := table.knots[same : n - same]:
            yield 1.0, inner
        return
    pieces = [_coefficients(_FLOATS, table.knots, numbers, k, k + 1) for k in range(n - 1)]
    values = [c for piece in pieces for c in piece[table.order : table.order + 1]]
    most = factorial(table.order) * max(map(abs, values), default=0.0)
    groups = dict[int, list[float]]()
    for k in ends:
        jump = _jump(table, pieces, k, first)
        if jump > tolerances.EPS * ROUNDED * most:
            groups.setdefault(ceil(log(jump / most, ALIKE)) if most > 0.0 else 0, []).append(table.knots[k])
    for power, knots in groups.items():
        if table.period and knots[0] > table.knots[0]:
            knots = [knots[-1] - table.period, *knots]
        if table.period and knots[-1] < knots[0] + table.period:
            knots = [*knots, knots[0] + table.period]
        yield ALIKE**power, tuple(knots)


def _jump(table: Table, pieces: Sequence[Sequence[float]], k: int, number: int) -> float:
    """How much the jump of derivative *number* of a table at knot k, between the polynomials *pieces*, changes it over the longer
    of the pieces beside it.
    """
    last = len(table.knots) - 1
    left, right = (k - 1, k) if 0 < k < last else (last - 1, 0)
    sizes = [table.knots[j + 1] - table.knots[j] for j in (left, right)]
    before, behind = pieces[left], pieces[right]
    d = table.order + number
    ends = sum(perm(j, d) * c * sizes[0] ** (j - d) for j, c in enumerate(before) if j >= d)
    starts = factorial(d) * behind[d] if len(behind) > d else 0.0
    return abs(starts - ends) * max(sizes) ** number / factorial(number)


def resolution(graph: Graph, data: Ref) -> int:
    """A number of pieces, a power of 2, over which a table hardly differs from a cubic: every so many knots tell the values at
    all others up to :data:`UNSEEN` of the largest. 1 where columns are no numbers.
    """
    table = table_of(graph, data)
    x, y = table.knots, _values(graph, table)
    if y is None:
        return 1
    allowed, pieces = UNSEEN * max(map(abs, y)), 1
    while 8 * pieces < len(x) and _is_told(x, y, 2 * pieces, allowed):
        pieces *= 2
    return pieces


def _is_rough(graph: Graph, table: Table) -> bool:
    """Whether cubics through each second of many knots miss others by more than :data:`ROUGH` of the largest value: noise."""
    y = _values(graph, table) if len(table.knots) >= MANY else None
    return y is not None and not _is_told(table.knots, y, 2, ROUGH * max(map(abs, y)))


def _values(graph: Graph, table: Table) -> list[float] | None:
    """The values of a table at its knots; None where they are no numbers."""
    if any(graph.value(r) is None for r in table.columns[0]):
        return None
    return [_number(graph, r) for r in table.columns[0]]


def _is_told(x: Sequence[float], y: Sequence[float], pieces: int, allowed: float) -> bool:
    """Whether cubics through each point number *pieces* miss no other by more than *allowed*."""
    coarse = [*range(0, len(x) - 1, pieces), len(x) - 1]
    for j in range(len(coarse) - 1):
        first = min(max(j - 1, 0), len(coarse) - 4)
        four = coarse[first : first + 4]
        for i in range(coarse[j] + 1, coarse[j + 1]):
            total = 0.0
            for k in four:
                total += y[k] * prod((x[i] - x[m]) / (x[k] - x[m]) for m in four if m != k)
            if not abs(total - y[i]) <= allowed:
                return False
    return True


def neighbours(graph: Graph, x: Ref, period: float, knots: Sequence[float], ahead: int, far: float) -> tuple[Ref, Ref]:
    """Of *knots*, in turns of a *period* that begins and ends with one, or without one for 0, those so many *ahead* of the
    quantity and behind it; *far* away where there are none.
    """
    g, turned = graph, ZERO
    if period:
        turns = g.call(Op.FLOOR, g.mul(g.const(1 / period), g.sub(x, g.const(knots[0]))))
        turned = g.mul(g.const(period), turns)
        x = g.sub(x, turned)
        n = len(knots) - 1
        starts, pieces = knots, range(n)
        lower, upper = (
            [g.const(knots[k % n] + period * (k // n)) for k in (j + by for j in pieces)] for by in (1 - ahead, ahead)
        )
    else:
        starts, pieces = (knots[0] - 1.0, *knots, knots[-1] + 1.0), range(len(knots) + 1)
        lower = [g.const(knots[j - ahead] if j >= ahead else -far) for j in pieces]
        upper = [g.const(knots[j + ahead - 1] if j + ahead <= len(knots) else far) for j in pieces]
    first, last = (
        g.add(node(g, x, Table(STEPS, 0, 0.0, False, tuple(starts), ((*values, values[-1]),))), turned)
        for values in (lower, upper)
    )
    return first, last
