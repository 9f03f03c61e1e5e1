"""Signs that no motion changes: those of letters and sines that also stand below a bar.

A motion ends where what is below a bar becomes zero, so ``sign(sin(theta))`` beside ``1/sin(theta)`` has one value in it. Books
leave such a sign out and say for which values: ``0 < theta < pi``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from kineta.expr.op import Op
from kineta.notation.readable.polynomials import Monomial, Sum, add, monomial
from kineta.notation.readable.ring import Ring
from kineta.notation.typesetting import FactorKind


def without_lasting_signs(
    ring: Ring, sums: Sequence[Sum], start: Mapping[str, float]
) -> tuple[list[Sum], dict[int, bool]]:
    """*sums* with signs that last as they are at the *start*, or as positive where that has no value or zero; and the atoms that
    have them, each with whether it is positive.
    """
    signs = {x: _atom_within(ring, x) for a in sums for m in a for x, _ in m if ring.keys[x][0] == "sign"}
    below = {x for a in sums for m in a for x, p in m if p < 0}
    lasting = {x: y for x, y in signs.items() if y in below and _is_of_places(ring, y)}
    positive = {y: not _value(ring, y, start) < 0 for y in lasting.values()}
    negative = {x for x, y in lasting.items() if not positive[y]}
    return [_without(a, lasting, negative) for a in sums] if lasting else list(sums), positive


def _atom_within(ring: Ring, sign: int) -> int:
    ((((y, _),), _),) = ring.keys[sign][1]
    return int(y)


def _is_of_places(ring: Ring, y: int) -> bool:
    return ring.kind[y] <= FactorKind.FUNCTION and ring.keys[y][0] in ("symbol", Op.SIN, Op.COS)


def _without(a: Sum, lasting: Mapping[int, int], negative: set[int]) -> Sum:
    total: Sum = {}
    for m, f in a.items():
        turned = sum(p for x, p in m if x in negative) % 2
        add(total, monomial({x: p for x, p in m if x not in lasting}), -f if turned else f)
    return {m: f for m, f in total.items() if f}


def _value(ring: Ring, y: int, start: Mapping[str, float]) -> float:
    """The value of an atom at the start; NaN where it has none."""
    kind, inside = ring.keys[y]
    if kind == "symbol":
        return start.get(inside, math.nan)
    angle = sum(float(f) * _product(ring, m, start) for m, f in inside)
    return math.sin(angle) if kind == Op.SIN else math.cos(angle)


def _product(ring: Ring, m: Monomial, start: Mapping[str, float]) -> float:
    given = ring.numerical(m)
    named = [ring.keys[x][0] == "symbol" for x, _ in m]
    if given is not None or not all(named):
        return math.nan if given is None else given
    return math.prod(start.get(ring.keys[x][1], math.nan) ** p for x, p in m)
