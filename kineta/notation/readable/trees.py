"""Expressions as they are written: a tree is a set of terms, each a number and a set of factors with powers; a factor is an
atom of a ring, or a tree in brackets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kineta.notation.rationals import Fraction

#: Atoms and trees with their powers.
Factors = frozenset[tuple[Any, int]]

#: Terms: numbers and their factors.
Tree = frozenset[tuple[Fraction, Factors]]

EMPTY: Tree = frozenset()
_ONE = Fraction(1)


def tree(terms: Iterable[tuple[Fraction, Factors]]) -> Tree:
    """Terms as a tree, like ones added."""
    total: dict[Factors, Fraction] = {}
    for f, x in terms:
        total[x] = total[x] + f if x in total else f
    return frozenset((f, x) for x, f in total.items() if f)


def single(f: Fraction, *factors: tuple[Any, int]) -> Tree:
    """A tree of one term."""
    return frozenset({(f, frozenset(factors))})


def product(*trees: Tree) -> Tree:
    """A product as a tree of one term."""
    number, powers = _ONE, dict[Any, int]()
    for t in trees:
        if not t:
            return t
        f, factors = next(iter(t)) if len(t) == 1 else (_ONE, ((t, 1),))
        number = f if number is _ONE else number if f is _ONE else number * f
        for x, p in factors:
            powers[x] = powers.get(x, 0) + p
    return single(number, *((x, p) for x, p in powers.items() if p))


def raised(t: Tree, n: int) -> Tree:
    """A tree to a power."""
    if len(t) == 1:
        ((f, x),) = t
        return single(f**n, *((y, p * n) for y, p in x))
    return single(_ONE, (t, n))


def negative(t: Tree) -> Tree:
    """The negative of a tree."""
    return frozenset((-f, x) for f, x in t)


def letters(t: Tree) -> Iterator[int]:
    """All atoms of a tree."""
    for _, x in t:
        for y, _ in x:
            yield from (y,) if isinstance(y, int) else letters(y)


def brackets(t: Tree) -> Iterator[Tree]:
    """All trees within a tree."""
    for _, x in t:
        for y, _ in x:
            if not isinstance(y, int):
                yield y
                yield from brackets(y)


def replaced(t: Tree, part: Tree, name: int, times: int = 1) -> Tree:
    """A tree with a power of an atom in place of a *part*, or of its negative."""
    alone = next(iter(part)) if len(part) == 1 else None
    rows = []
    for f, x in t:
        if alone and abs(f) == alone[0] and x == alone[1]:
            rows.append((Fraction(1 if f > 0 else -1), frozenset({(name, 1)})))
            continue
        powers: dict[Any, int] = {}
        for y, p in x:
            if not isinstance(y, int):
                if y == negative(part) and len(y) > 1:
                    f, y, p = f * (-1) ** (p % 2), name, p * times
                else:
                    y, p = (name, p * times) if y == part else (replaced(y, part, name, times), p)
            powers[y] = powers.get(y, 0) + p
        rows.append((f, frozenset(powers.items())))
    return frozenset(rows)


def relettered(t: Tree, names: Mapping[int, int | Tree]) -> Tree:
    """A tree with other atoms, or brackets, by *names* of atoms."""
    return _remade(t, lambda y, _: (False, names.get(y, y) if isinstance(y, int) else relettered(y, names)))


def turned(t: Tree, name: int) -> Tree:
    """A tree in terms of the negative of an atom."""
    return _remade(t, lambda y, p: (y == name and p % 2 == 1, y if isinstance(y, int) else turned(y, name)))


def _remade(t: Tree, new: Callable[[Any, int], tuple[bool, Any]]) -> Tree:
    """A tree with *new* factors, by old ones and their powers, with whether they take a minus out."""
    rows = []
    for f, x in t:
        powers: dict[Any, int] = {}
        for y, p in x:
            opposite, to = new(y, p)
            f = -f if opposite else f
            powers[to] = powers.get(to, 0) + p
        rows.append((f, frozenset((y, p) for y, p in powers.items() if p)))
    return frozenset(rows)


def oriented(t: Tree) -> Tree:
    """A tree with differences turned so that fewer terms are subtracted."""
    rows = []
    for f, x in t:
        powers: dict[Any, int] = {}
        for y, p in sorted(x, key=repr):
            if not isinstance(y, int):
                y = oriented(y)
                minus = sum(g < 0 for g, _ in y)
                if p % 2 and (minus == len(y) or (f < 0 and minus)):
                    f, y = -f, negative(y)
            powers[y] = powers.get(y, 0) + p
        rows.append((f, frozenset(powers.items())))
    return tree(rows)


def alike_oriented(trees: Iterable[Tree]) -> list[Tree]:
    """Trees in which a difference has one sign, that of its first place."""
    seen: set[Tree] = set()
    return [_as_seen(t, seen) for t in trees]


def _as_seen(t: Tree, seen: set[Tree]) -> Tree:
    rows = []
    for f, x in sorted(t, key=lambda row: (row[0] < 0, repr(sorted(row[1], key=repr)))):
        powers: dict[Any, int] = {}
        for y, p in sorted(x, key=lambda factor: (isinstance(factor[0], int), -factor[1], repr(factor[0]))):
            if not isinstance(y, int):
                y = _as_seen(y, seen)
                opposite = negative(y)
                mixed = len({g < 0 for g, _ in y}) > 1
                if opposite in seen or (mixed and y not in seen and f < 0 and p % 2):
                    y, f = opposite, -f if p % 2 else f
                if mixed:
                    seen.add(y)
            powers[y] = powers.get(y, 0) + p
        rows.append((f, frozenset(powers.items())))
    return tree(rows)
