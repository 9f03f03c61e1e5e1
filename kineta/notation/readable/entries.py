"""One right-hand side: terms gathered by accelerations, products of speeds, forces and the rest.

Equal coefficients are joined; what is solved for accelerations is also tried as one product.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kineta.notation.rationals import Fraction
from kineta.notation.readable.angles import forms, with_sums_of_angles
from kineta.notation.readable.factoring import TRIED, Factoring, written_content
from kineta.notation.readable.linear_factors import linear_factors
from kineta.notation.readable.polynomials import (
    Monomial,
    Sum,
    added,
    inverse,
    join,
    power,
    scaled,
    weak_quotient,
)
from kineta.notation.readable.trees import EMPTY, Tree, product, raised, tree
from kineta.notation.typesetting import FactorKind

#: The class of products of accelerations, which energies of accelerations have.
SQUARES = 3


def gathered(factoring: Factoring, a: Sum) -> Tree:
    """By accelerations, then products of speeds, then forces, then the rest."""
    ring = factoring.ring
    classes: dict[int, Sum] = {}
    for m, f in a.items():
        classes.setdefault(_fastest(factoring, ring.fast_factors(m)), {})[m] = f
    ways = [tree(t for k, part in classes.items() for t in _class(factoring, part, k))]
    if (
        {0, 1} <= classes.keys() and classes.keys().isdisjoint((2, SQUARES)) and len(a) <= TRIED
    ):  # solved for accelerations
        ways += _as_products(factoring, a)
        forces = _class(factoring, classes[0], 0)
        rest = {m: f for k, part in classes.items() if k for m, f in part.items()}
        ways += [tree([*forces, *t]) for t in _as_products(factoring, rest)]
    return factoring.cheapest(ways, whole=True)


def _fastest(factoring: Factoring, fast: Monomial) -> int:
    """The class of a term by its fast factors."""
    orders = [factoring.reading.derivatives(x) for x, p in fast for _ in range(abs(p))]
    return SQUARES if orders.count(2) > 1 else max(orders, default=-1)


def _as_products(factoring: Factoring, a: Sum) -> list[Tree]:
    """As one product, and as the sum that is cheapest as a whole line."""
    return [t for form in forms(factoring.ring, a) for t in (factoring.factored(form), factoring.parted(form))]


def _class(factoring: Factoring, a: Sum, fastest: int) -> Tree:
    """Terms whose fastest factors are alike: products of accelerations, accelerations (2), speeds (1), forces (0), none (-1)."""
    ring = factoring.ring
    groups: dict[Monomial, Sum] = {}
    for m, f in a.items():
        fast = ring.fast_factors(m)
        groups.setdefault(fast, {})[join(m, inverse(fast))] = f
    by_groups = _by_groups(factoring, groups)
    ways = [by_groups]
    alike = _equal_coefficients(groups)
    if len(alike) < len(groups):
        joined = [product(factoring.best(core), factoring.factored(outer)) for core, outer in alike]
        apart = [_by_groups(factoring, {k: scaled(core, (), f) for k, f in outer.items()}) for core, outer in alike]
        cost = factoring.reading.cost
        ways.append(tree(t for row in joined for t in row))
        ways.append(
            tree(t for one, rows in zip(joined, apart, strict=True) for t in (one if cost(one) < cost(rows) else rows))
        )
    if fastest < 2 and len(a) <= 4 * TRIED:
        ways.append(_by_functions(factoring, with_sums_of_angles(ring, a)))
    if fastest < 0 and len(a) <= 4 * TRIED:
        ways += [_by_positions(factoring, a), factoring.with_differences(a)]
        ways += [t] if (t := _with_stretches(factoring, a)) is not None else []
    if fastest in (0, 1, SQUARES) and len(a) <= TRIED:
        ways += _as_products(factoring, a)
    if fastest == 1 and (found := linear_factors(ring, a)) is not None:
        slow, one, other = (_class(factoring, b, k) for b, k in zip(found, (-1, 1, 1), strict=True))
        ways.append(product(slow, one, other))
    if fastest == 1 and all(
        len(fast) == 1 and fast[0][1] == 1 for fast in groups
    ):  # momenta: a speed has one coefficient
        ways = [t for t in ways if _most_of_one(factoring, t) <= _most_of_one(factoring, by_groups)]
    return factoring.cheapest(ways, whole=True)


def _most_of_one(factoring: Factoring, t: Tree) -> int:
    """The number of terms at most that have one speed as a factor."""
    speeds = Counter(x for _, factors in t for x, _ in factors if isinstance(x, int) and not factoring.ring.is_slow(x))
    return max(speeds.values(), default=0)


def _equal_coefficients(groups: dict[Monomial, Sum]) -> list[tuple[Sum, Sum]]:
    """Coefficients that are equal up to a number, and what each multiplies."""
    alike: dict[frozenset[tuple[Monomial, Fraction]], tuple[Sum, Sum]] = {}
    for fast, inside in groups.items():
        f, _ = written_content(inside)
        core = scaled(inside, (), 1 / f)
        opposite = frozenset(scaled(core, (), Fraction(-1)).items())
        key, f = (opposite, -f) if opposite in alike else (frozenset(core.items()), f)
        alike.setdefault(key, (dict(key), {}))[1][fast] = f
    return list(alike.values())


def _by_groups(factoring: Factoring, groups: dict[Monomial, Sum]) -> Tree:
    """By products of fast factors."""
    return _together(factoring, ((fast, factoring.best(inside)) for fast, inside in groups.items()))


def _by_positions(factoring: Factoring, a: Sum) -> Tree:
    """By products of coordinates: what multiplies each is one product."""
    groups: dict[Monomial, Sum] = {}
    for m, f in a.items():
        places = tuple((x, p) for x, p in m if factoring.ring.kind[x] == FactorKind.POSITION and p > 0)
        groups.setdefault(places, {})[join(m, inverse(places))] = f
    return _by_groups(factoring, groups)


def _by_functions(factoring: Factoring, a: Sum) -> Tree:
    """By products of functions: what multiplies each is one product."""
    groups: dict[Monomial, Sum] = {}
    for m, f in a.items():
        function = tuple((x, p) for x, p in m if factoring.ring.kind[x] == FactorKind.FUNCTION)
        groups.setdefault(function, {})[join(m, inverse(function))] = f
    return _together(factoring, ((function, factoring.factored(inside)) for function, inside in groups.items()))


def _together(factoring: Factoring, rows: Iterable[tuple[Monomial, Tree]]) -> Tree:
    return tree(t for m, row in rows for t in (product(factoring.monomial(m), row) if m else row))


def _with_stretches(factoring: Factoring, a: Sum) -> Tree | None:
    """*a* with every k s^2 - 2 k l s + k l^2 as a square, the potential of a spring between points at the distance s, k and l one
    product each; None where there is none.
    """
    ring, rows = factoring.ring, list[Tree]()
    for s in sorted({x for m in a for x, p in m if p == 1 and ring.keys[x][0] == "root"}):
        square = ring.sums[s]
        factors, rest = weak_quotient(a, square) if len(square) > 1 else (Sum(), a)
        cross = {join(m, ((s, -1),)): f for m, f in rest.items() if power(m, s) == 1}
        if len(factors) != 1 or len(cross) != 1:
            continue
        ((k, f),), ((m, g),) = factors.items(), cross.items()
        length = {join(m, inverse(k)): -g / (2 * f)}
        ((l, h),) = length.items()
        twice = {join(k, join(l, l)): f * h * h}
        left = added({n: c for n, c in rest.items() if power(n, s) != 1}, twice, Fraction(-1))
        if len(left) <= len(a) - len(square) - 1:
            rows.append(product(factoring.monomial(k, f), raised(factoring.plain({((s, 1),): Fraction(1), l: -h}), 2)))
            a = left
    if not rows:
        return None
    return tree([*(t for row in rows for t in row), *(factoring.best(a) if a else EMPTY)])
