"""Energies as sums of squares, in every order of speeds or momenta, and by degrees in these and in coordinates; squares of
speeds in what turns or moves itself, ``(phi' + W)^2``, in energies and equations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import permutations
from itertools import product as product_of

from kineta.notation.rationals import Fraction
from kineta.notation.readable.common_denominators import BARS
from kineta.notation.readable.divisors import cancelled, over
from kineta.notation.readable.entries import gathered
from kineta.notation.readable.factoring import Factoring
from kineta.notation.readable.habits import degree_in_places
from kineta.notation.readable.polynomials import (
    ONE,
    LongFormError,
    Monomial,
    Sum,
    added,
    content,
    inverse,
    join,
    power,
    scaled,
)
from kineta.notation.readable.ring import Ring
from kineta.notation.readable.trees import EMPTY, Factors, Tree, product, raised, relettered, single, tree
from kineta.notation.typesetting import FactorKind

#: Coupled momenta or speeds at most in whose orders squares are completed.
SQUARES = 3
#: Sums of a speed and what is added to it at most that are tried.
WAYS = 2


def completed_squares(factoring: Factoring, a: Sum) -> Iterator[Tree]:
    """Forms of *a*, of second degree in few speeds or momenta, with all squares completed, or with those that a product with
    another speed asks for; the rest as it is cheapest, and by degrees.
    """
    ring = factoring.ring
    fast = sorted({x for m in a for x, _ in ring.fast_factors(m)})
    degrees = {sum(p for _, p in ring.fast_factors(m)) for m in a}
    coupled = _coupled(factoring, a, fast)
    if not degrees <= {0, 1, 2} or 2 not in degrees or len(a) > BARS or any(len(c) > SQUARES for c in coupled):
        return
    yield _by_degrees(factoring, a)
    if sum(len(c) > 1 for c in coupled) > 1:
        return
    orders = [[x for c in chosen for x in c] for chosen in product_of(*map(permutations, coupled))]
    alone = [c[0] for c in coupled if len(c) == 1]
    fewer = [[x for x in orders[0] if x not in alone or (kind == "p[") != _is_momentum(ring, x)] for kind in ("p[", "")]
    fewer += [[x] for c in coupled if len(c) > 1 for x in c]
    for order in (*orders, *(o for o in fewer if 0 < len(o) < len(fast))):
        try:
            found = _in_order(factoring, a, order)
            if found is not None:
                rows, left = found
                for rest in (gathered(factoring, left), _by_degrees(factoring, left)) if left else (EMPTY,):
                    yield tree([*(t for row in rows for t in row), *rest])
                    yield tree([*_by_coefficients(factoring, rows), *rest])
        except LongFormError:
            continue


def _is_momentum(ring: Ring, x: int) -> bool:
    return str(ring.keys[x][1]).startswith("p[")


def _by_degrees(factoring: Factoring, a: Sum) -> Tree:
    """*a* by its degrees in speeds or momenta, what has none of these by its degrees in coordinates and their functions."""
    ring, groups = factoring.ring, dict[tuple[int, int], Sum]()
    for m, f in a.items():
        speeds = sum(p for _, p in ring.fast_factors(m))
        above = [(ring.kind[x], p) for x, p in m if p > 0 and ring.is_place(x)]
        coordinates, functions = (
            sum(p for k, p in above if k == kind) for kind in (FactorKind.POSITION, FactorKind.FUNCTION)
        )
        groups.setdefault((speeds, 0 if speeds else degree_in_places(coordinates, functions)), {})[m] = f
    return tree(t for group in groups.values() for t in gathered(factoring, group))


def _coupled(factoring: Factoring, a: Sum, fast: Sequence[int]) -> list[list[int]]:
    """Speeds or momenta by whether a product couples them."""
    groups = [[x] for x in fast]
    for m in a:
        both = [x for x, _ in factoring.ring.fast_factors(m)]
        joined = [g for g in groups if not both or set(g) & set(both)]
        if len(both) > 1 and len(joined) > 1:
            groups = [g for g in groups if g not in joined] + [sorted(x for g in joined for x in g)]
    return groups


def _in_order(factoring: Factoring, a: Sum, order: Sequence[int]) -> tuple[list[Tree], Sum] | None:
    """Squares by the *order* of speeds, and what is left of *a*, without these; None where a square is missing, or long."""
    ring, rows = factoring.ring, list[Tree]()
    for x in order:
        of = {m: f for m, f in a.items() if power(m, x)}
        pivot = {join(m, ((x, -2),)): f for m, f in of.items() if power(m, x) == 2}
        if not of:
            continue
        if not pivot or len(a) > BARS:
            return None
        cross = {join(m, ((x, -1),)): f / 2 for m, f in of.items() if power(m, x) == 1}
        line = added({((x, 1),): Fraction(1)}, cancelled(ring, ring.product(cross, over(ring, pivot))))
        a = cancelled(ring, added(a, ring.product(pivot, ring.product(line, line)), Fraction(-1)))
        down = tuple((y, p) for y, p in content(line)[1] if p < 0)
        outer = ring.product({join(down, down): Fraction(1)}, pivot)
        square = raised(gathered(factoring, scaled(line, inverse(down))), 2)
        rows.append(product(factoring.best(outer), square))
    return None if any(x in order for m in a for x, _ in ring.fast_factors(m)) else (rows, a)


def _by_coefficients(factoring: Factoring, rows: Sequence[Tree]) -> Iterator[tuple[Fraction, Factors]]:
    """Squares with the same parameters in front brought together: A (x^2 + s^2 y^2)/2."""
    kind = factoring.ring.kind
    groups: dict[Factors, list[tuple[Fraction, Factors]]] = {}
    for row in rows:
        ((f, x),) = row
        front = frozenset((y, p) for y, p in x if isinstance(y, int) and kind[y] <= FactorKind.PARAMETER)
        groups.setdefault(front, []).append((f, x - front))
    for front, inside in groups.items():
        f = inside[0][0]
        yield from product(single(f, *front), tree((g / f, x) for g, x in inside))


def with_shifted_speeds(factoring: Factoring, a: Sum) -> Iterator[Tree]:
    """Forms of *a* in terms of a speed and what is added to it, where that leaves fewer terms."""
    ring = factoring.ring
    if len(a) > BARS:
        return
    for (x, shift, sign), _ in _shifts(factoring, a).most_common(WAYS):
        letter = ring.symbol(f"({ring.keys[x][1]} {shift} {sign})'", FactorKind.SPEED)
        other: Sum = {((letter, 1),): ONE, shift: Fraction(-sign)}
        less = a
        while any(power(m, x) > 0 for m in less):
            of = {m: f for m, f in less.items() if power(m, x) > 0}
            rest = {m: f for m, f in less.items() if m not in of}
            less = added(rest, ring.product({join(m, ((x, -1),)): f for m, f in of.items()}, other))
        if len(less) < len(a):
            whole = tree([*single(ONE, (x, 1)), *factoring.monomial(shift, Fraction(sign))])
            for found in (gathered(factoring, less), *completed_squares(factoring, less)):
                yield relettered(found, {letter: whole})


def _shifts(factoring: Factoring, a: Sum) -> Counter[tuple[int, Monomial, int]]:
    """Speeds with what is added to them, and its sign, by the number of their squares."""
    ring, found = factoring.ring, Counter[tuple[int, Monomial, int]]()
    for m, f in a.items():
        for x, p in m:
            if p != 2 or ring.is_slow(x):
                continue
            outer = join(m, ((x, -2),))
            for n, g in a.items():
                shift = join(n, inverse(join(outer, ((x, 1),))))
                if power(n, x) == 1 and abs(g) == 2 * abs(f) and shift and all(q > 0 for _, q in shift):
                    found[x, shift, 1 if g == 2 * f else -1] += 1
    return found
