"""Tables of points as expressions, with slopes by the rule of each kind: ``kn.table(t, [(0, 0), (1, k), (2, 0)])``, and of two
quantities ``kn.table((x, y), [(0, 1), (0, 5, 6), (1, 7, 9)])``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from kineta import tolerances
from kineta.algebra.expression import LOCK, Expr, Scalar, expr
from kineta.algebra.functions import where
from kineta.errors import ExpressionError, shown, suggestion
from kineta.expr.graph import Ref
from kineta.expr.op import Op
from kineta.expr.tables import KINDS, LINEAR, Table, alike, derivative, node
from kineta.values import flag

#: Points that a kind needs at least; of periodic tables, whose last point is the first one again.
LEAST = {"linear": 2, "monotone": 2, "cubic": 2, "natural": 2, "quintic": 6, "hermite": 2}
PERIODIC = {"linear": 2, "monotone": 3, "cubic": 3, "quintic": 4, "hermite": 2}
#: Points that a table has at most: models hold each as an expression.
MOST = 200_000
#: What a table does beyond its ends.
OUTSIDE = ("hold", "extrapolate")

#: A linear combination: factors by the number of what they multiply.
_Combination = dict[int, float]
#: An equation: a combination of unknowns, and one of the values at the knots.
_Row = tuple[_Combination, _Combination]


def table(
    x: Scalar | tuple[Scalar, Scalar],
    points: Iterable[Sequence[Scalar]],
    kind: str = "linear",
    *,
    periodic: bool = False,
    outside: str = "hold",
) -> Expr:
    """The value at *x* of the function through *points*, rows (x, y) of numbers x that rise and of numbers or expressions y.

    x : a quantity, or two, (x, y), of which *points* are a grid: a row of places (y0, y1, ...), and a row (x0, f(x0, y0),
        f(x0, y1), ...) for each place of the first one. Splines are then those by both (tensor products)
    kind : ``linear``; ``monotone``, cubic polynomials with the slopes of Fritsch and Carlson, which do not overshoot;
        ``cubic``, the spline with continuous curvature and one polynomial over the first and the last two pieces (not-a-knot), or
        ``natural``, without curvature at its ends; ``quintic``, the spline with four continuous derivatives; ``hermite``, cubic
        polynomials with slopes that are given, rows (x, y, slope), or of degree 5 with second derivatives,
        rows (x, y, slope, second)
    periodic : whether the points, of which the last one has the value of the first one, repeat
    outside : beyond its ends a table can ``hold`` its first and last value, or ``extrapolate`` its first and last piece

    Raises :class:`ExpressionError` for points that make no table.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise ExpressionError(f"unknown kind of table {shown(kind)}.{suggestion(kind, KINDS)}")
    if not isinstance(outside, str) or outside not in OUTSIDE:
        raise ExpressionError(f"beyond its ends a table can hold or extrapolate, found {shown(outside)}.")
    flag("periodic", periodic)
    try:
        rows = [tuple(row) for row in points]
    except Exception:  # whatever the object raises
        raise ExpressionError(f"a table has points, rows (x, y), found {shown(points)}.") from None
    refuse_many(len(rows) if not isinstance(x, tuple | list) else sum(map(len, rows)))
    if isinstance(x, tuple | list):
        if len(x) != 2:
            raise ExpressionError(f"a table is one of a quantity or of two, (x, y), found {len(x)}.")
        return _of_two(x[0], x[1], rows, kind, periodic=periodic, outside=outside)
    width = len(rows[0]) if kind == "hermite" and rows and len(rows[0]) in (3, 4) else 3 if kind == "hermite" else 2
    for i, row in enumerate(rows):
        if len(row) != width:
            wanted = ("x and y", "x, y and slope", "x, y, slope and second derivative")[width - 2]
            raise ExpressionError(f"point {i + 1} of a table has {len(row)} entries, expected {width}: {wanted}.")
    knots = [_knot(row[0], i) for i, row in enumerate(rows)]
    for i, (a, b) in enumerate(pairwise(knots)):
        if not b > a:
            raise ExpressionError(f"the places of a table must rise, found {b:g} after {a:g} at point {i + 2}.")
    if periodic and kind == "natural":
        raise ExpressionError("a natural spline has ends, so that it cannot be periodic; take the kind cubic.")
    least = (PERIODIC if periodic else LEAST)[kind]
    if len(rows) < least:
        what = f"periodic {kind}" if periodic else kind
        raise ExpressionError(f"a {what} table needs {least} points at least, found {len(rows)}.")
    columns = [[expr(row[k]) for row in rows] for k in range(1, width)]
    if periodic:
        _close(columns)
    if kind != "hermite":
        columns += _slopes_of_tables(kind, knots, columns[0], periodic) or _slopes(kind, knots, columns[0], periodic)
    at = expr(x)
    with LOCK:
        refs = tuple(tuple(at.beside(e) for e in column) for column in columns)
        period = knots[-1] - knots[0] if periodic else 0.0
        return Expr(
            at.graph,
            node(at.graph, at.ref, Table(kind, 0, period, outside == "hold" and not periodic, tuple(knots), refs)),
        )


def refuse_many(points: int) -> None:
    """Raise :class:`ExpressionError` for more *points* than a table may have."""
    if points > MOST:
        raise ExpressionError(f"a table has {MOST} points at most, found {points}; take some of them only.")


def _of_two(
    x: Scalar, y: Scalar, rows: Sequence[tuple[Scalar, ...]], kind: str, *, periodic: bool, outside: str
) -> Expr:
    """A table of two quantities, by a grid."""
    if kind not in LINEAR:
        raise ExpressionError(f"a table of two quantities is {', '.join(LINEAR[:-1])} or {LINEAR[-1]}, found {kind}.")
    if len(rows) < 2 or not rows[0]:
        raise ExpressionError(
            "a table of two quantities has a row of places (y0, y1, ...) and a row (x, values) for each place of the first one, "
            f"found {len(rows)} row{'s' * (len(rows) != 1)}."
        )
    places, *grid = rows
    for i, row in enumerate(grid):
        if len(row) != len(places) + 1:
            raise ExpressionError(
                f"row {i + 2} of a table of two quantities has {len(row)} entries, expected {len(places) + 1}: "
                f"a place and {len(places)} values."
            )
    values = [
        table(y, list(zip(places, row[1:], strict=True)), kind, periodic=periodic, outside=outside) for row in grid
    ]
    return table(
        x, [(row[0], value) for row, value in zip(grid, values, strict=True)], kind, periodic=periodic, outside=outside
    )


def slope(found: Expr) -> Expr:
    """The derivative of a table by its quantity."""
    g = found.graph
    with LOCK:
        if g.op[found.ref >> 1] != Op.TABLE:
            return expr(0)  # of a table whose derivatives of this order vanish
        return Expr(g, derivative(g, g.lhs[found.ref >> 1], g.rhs[found.ref >> 1]))


def _knot(x: Scalar, i: int) -> float:
    value = expr(x).value
    if value is None:
        raise ExpressionError(f"the places of a table are numbers, found '{x}' at point {i + 1}.")
    return value


def _close(columns: Sequence[list[Expr]]) -> None:
    """Let the last point be the first one. Raises :class:`ExpressionError` where it is another."""
    for column in columns:
        first, last = column[0], column[-1]
        a, b = first.value, last.value
        scale = max((abs(e.value) for e in column if e.value is not None), default=0.0)
        if first != last and (a is None or b is None or abs(a - b) > 16 * tolerances.EPS * scale):
            raise ExpressionError(
                f"the last point of a periodic table has the value of the first one, found {last} and {first}."
            )
        column[-1] = first


def _slopes_of_tables(kind: str, knots: Sequence[float], y: Sequence[Expr], periodic: bool) -> list[list[Expr]] | None:
    """The columns that follow from values *y* that are tables of one quantity with the same knots, tables as well; else None."""
    if kind not in LINEAR:
        return None
    g = y[0].graph
    with LOCK:
        if any(e.graph is not g for e in y) or (shared := alike(g, [e.ref for e in y])) is None:
            return None
    x, inner, columns = shared
    size = len(inner.knots)
    # Of each entry of each column of the tables the columns that follow.
    solved = [
        [_slopes(kind, knots, [Expr(g, own[c][k]) for own in columns], periodic) for k in range(size)]
        for c in range(len(inner.columns))
    ]
    kept = inner.kind if inner.kind in LINEAR or len(columns) == 1 else "hermite"

    def at(n: int, i: int) -> Expr:
        entries: list[tuple[Ref, ...]] = [tuple(by_entry[k][n][i].ref for k in range(size)) for by_entry in solved]
        return Expr(g, node(g, x, replace(inner, kind=kept, columns=tuple(entries))))

    with LOCK:
        return [[at(n, i) for i in range(len(y))] for n in range(len(solved[0][0]))]


def _slopes(kind: str, knots: Sequence[float], y: Sequence[Expr], periodic: bool) -> list[list[Expr]]:
    """The columns that follow from the values *y*."""
    h = [b - a for a, b in pairwise(knots)]
    if kind == "linear":
        return []
    if kind == "monotone":
        return [_monotone(h, y, periodic)]
    rows = (
        [_cubic(h, y, natural=kind == "natural", periodic=periodic)]
        if kind != "quintic"
        else _quintic(knots, y, periodic)
    )
    columns = [_combined(column, y) for column in rows]
    return [[*column, column[0]] if periodic else column for column in columns]


# -- monotone ---------------------------------------------------------------------------------------------------------


def _monotone(h: Sequence[float], y: Sequence[Expr], periodic: bool) -> list[Expr]:
    """The slopes of Fritsch and Butland, as SciPy's ``PchipInterpolator`` has them."""
    d = [(b - a) / step for (a, b), step in zip(pairwise(y), h, strict=True)]
    if len(d) == 1:
        return [d[0], d[0]]
    inner = [_between(h[i], h[i + 1], d[i], d[i + 1]) for i in range(len(d) - 1)]
    if periodic:
        seam = _between(h[-1], h[0], d[-1], d[0])
        return [seam, *inner, seam]
    return [_at_end(h[0], h[1], d[0], d[1]), *inner, _at_end(h[-1], h[-2], d[-1], d[-2])]


def _chosen(positive: Expr, x: Expr, y: Expr | float) -> Expr:
    value = positive.value
    return where(positive > 0, x, y) if value is None else x if value > 0 else expr(y)


def _between(h: float, k: float, d: Expr, e: Expr) -> Expr:
    """The slope between pieces of the lengths h and k with the slopes d and e: their weighted harmonic mean, 0 at an extremum."""
    if (d * e).value is not None and not (d * e).value > 0:
        return expr(0)
    v, w = 2 * k + h, k + 2 * h
    inverse = v / d + w / e
    return _chosen(d * e, expr(0) if inverse.value == 0 else (v + w) / inverse, 0.0)


def _at_end(h: float, k: float, d: Expr, e: Expr) -> Expr:
    """The slope at an end, from three points, kept between 0 and 3 d."""
    m = ((2 * h + k) * d - h * e) / (h + k)
    limited = _chosen(-d * e, _chosen(m * m - 9 * d * d, 3 * d, m), m)
    return _chosen(m * d, limited, 0.0)


# -- splines ----------------------------------------------------------------------------------------------------------


def _cubic(h: Sequence[float], y: Sequence[Expr], *, natural: bool, periodic: bool) -> list[_Combination]:
    """The slopes of a spline with continuous curvature."""
    return _solved(_cubic_rows(h, natural=natural, periodic=periodic), y, periodic)


def _cubic_rows(h: Sequence[float], *, natural: bool, periodic: bool) -> list[_Row]:
    """Equations of the slopes of a spline with continuous curvature."""
    pieces = len(h)

    def inner(left: int, i: int) -> _Row:
        a, b = 1 / h[left], 1 / h[i]
        p, q = left, i + 1
        return _row((p, a), (i, 2 * (a + b)), (q, b)), _row((p, -3 * a * a), (i, 3 * (a * a - b * b)), (q, 3 * b * b))

    if periodic:
        return [inner((i - 1) % pieces, i) for i in range(pieces)]
    rows = [inner(i - 1, i) for i in range(1, pieces)]
    if natural or pieces == 1:
        ends = [
            (_row((0, 2.0), (1, 1.0)), _row((0, -3 / h[0]), (1, 3 / h[0]))),
            (_row((pieces, 2.0), (pieces - 1, 1.0)), _row((pieces - 1, -3 / h[-1]), (pieces, 3 / h[-1]))),
        ]
    elif pieces == 2:  # one parabola: the second derivative is one number
        ends = [
            (_row((0, 1.0), (1, 1.0)), _row((0, -2 / h[0]), (1, 2 / h[0]))),
            (_row((1, 1.0), (2, 1.0)), _row((1, -2 / h[1]), (2, 2 / h[1]))),
        ]
    else:
        ends = [_one_cubic(h[0], h[1], 0, 1, 2), _one_cubic(-h[-1], -h[-2], pieces, pieces - 1, pieces - 2)]
    return [ends[0], *rows, ends[1]]


def _one_cubic(h: float, k: float, a: int, b: int, c: int) -> _Row:
    """The third derivative is continuous at b, between a and c: not-a-knot."""
    s, t = 1 / h**2, 1 / k**2
    left = _row((a, s), (b, s - t), (c, -t))
    return left, _row((a, -2 * s / h), (b, 2 * s / h + 2 * t / k), (c, -2 * t / k))


def _quintic(
    knots: Sequence[float], y: Sequence[Expr], periodic: bool
) -> tuple[list[_Combination], list[_Combination]]:
    """Slopes and second derivatives of the spline of degree 5 with four continuous derivatives.

    Its coefficients by B-splines are found first (de Boor, A Practical Guide to Splines, ch. XIII): their equations stay well
    conditioned where places are uneven, as those for slopes and second derivatives do not. The derivatives are differences of
    coefficients (ch. X).
    """
    if periodic:
        places, period = knots[:-1], knots[-1] - knots[0]
        free = len(places)
        t = [places[j % free] + period * (j // free) for j in range(-5, free + 6)]
    else:
        places, free = knots, len(knots)
        t = [knots[0]] * 6 + list(knots[3:-3]) + [knots[-1]] * 6
    pieces = [min(bisect_right(t, x) - 1, len(t) - 7) for x in places]
    rows = [
        (_row(*((j % free, b) for j, b in _b_splines(t, 5, piece, x))), {i: 1.0})
        for i, (piece, x) in enumerate(zip(pieces, places, strict=True))
    ]
    solved = _solved(rows, y, periodic)
    coefficients = dict(enumerate(solved[j % free] for j in range(len(t) - 6)))
    columns = []
    for degree in (4, 3):
        coefficients = {
            j: _sum(((f, c), (-f, coefficients[j - 1])))
            for j, c in coefficients.items()
            if j - 1 in coefficients
            for f in [(degree + 1) / (t[j + degree + 1] - t[j])]
        }
        columns.append(
            [
                _sum((b, coefficients[j]) for j, b in _b_splines(t, degree, piece, x))
                for piece, x in zip(pieces, places, strict=True)
            ]
        )
    return columns[0], columns[1]


def _b_splines(t: Sequence[float], degree: int, piece: int, x: float) -> list[tuple[int, float]]:
    """The B-splines on the knots *t* that are not 0 on the *piece* from one of them to the next, by their number, and their
    values at *x* there.
    """
    found = [1.0]
    for k in range(1, degree + 1):
        carried, values = 0.0, []
        for j, value in enumerate(found):
            low, high = t[piece + 1 - k + j], t[piece + 1 + j]
            part = value / (high - low)
            values.append(carried + (high - x) * part)
            carried = (x - low) * part
        found = [*values, carried]
    return list(enumerate(found, piece - degree))


def _row(*entries: tuple[int, float]) -> _Combination:
    found: _Combination = {}
    for key, value in entries:
        found[key] = found.get(key, 0.0) + value
    return found


def _sum(terms: Iterable[tuple[float, _Combination]]) -> _Combination:
    """A sum of multiples."""
    return _row(*((k, factor * v) for factor, own in terms for k, v in own.items()))


def _solved(rows: Sequence[_Row], y: Sequence[Expr], periodic: bool) -> list[_Combination]:
    """The unknowns of *rows*, by the values *y*; where all of these are numbers, as the number 0: v. Unknowns and values of a
    period repeat.
    """
    size = len(rows)
    values = [e.value for e in y]
    plain = all(v is not None for v in values)
    work: list[tuple[_Combination, _Combination]] = []
    for unknown, known in rows:
        left, row = (_row(*((k % size if periodic else k, v) for k, v in side.items())) for side in (unknown, known))
        work.append((left, {0: sum(v * (values[k] or 0.0) for k, v in row.items())} if plain else row))
    return _eliminated(work, size)


def _combined(rows: Sequence[_Combination], y: Sequence[Expr]) -> list[Expr]:
    """The expressions that the combinations *rows* of the values *y* are."""
    if all(e.value is not None for e in y):
        return [expr(row.get(0, 0.0)) for row in rows]
    found = []
    for row in rows:
        most = max(map(abs, row.values()), default=0.0)
        terms = [v * y[k] for k, v in sorted(row.items()) if abs(v) > tolerances.EPS / 8 * most]
        found.append(sum(terms, expr(0)))
    return found


def _eliminated(work: list[tuple[_Combination, _Combination]], size: int) -> list[_Combination]:
    """Gauss's elimination with rows sought for the largest pivot; the rows are sparse."""
    starts: dict[int, list[int]] = {}  # rows that are not yet used, by their first unknown
    for i, (left, _) in enumerate(work):
        starts.setdefault(min(left), []).append(i)
    order = []
    for k in range(size):
        best, *others = sorted(starts.pop(k), key=lambda i: (-abs(work[i][0][k]), i))
        order.append(best)
        pivot, right = work[best]
        for i in others:
            left, other = work[i]
            factor = left.pop(k) / pivot[k]
            for row, source in ((left, pivot), (other, right)):
                for j, v in source.items():
                    if row is not left or j != k:
                        row[j] = row.get(j, 0.0) - factor * v
            work[i] = left, _without_small(other)
            starts.setdefault(min(left), []).append(i)
    solution: list[_Combination] = [{}] * size
    for k in range(size - 1, -1, -1):
        left, right = work[order[k]]
        total = dict(right)
        for j, v in left.items():
            if j != k:
                for key, value in solution[j].items():
                    total[key] = total.get(key, 0.0) - v * value
        solution[k] = _without_small({key: value / left[k] for key, value in total.items()})
    return solution


def _without_small(row: _Combination) -> _Combination:
    """*row* without what rounds away: the values of a spline fade with each point on the way to a slope."""
    least = tolerances.EPS / 64 * max(map(abs, row.values()), default=0.0)
    return {k: v for k, v in row.items() if abs(v) > least}
