"""Small expressions as a person would write them: products opened, like terms collected, sines and cosines brought together.

An expression becomes a sum of products of powers of atoms: symbols, functions, and what stands below a fraction bar. In this
form all that cancels is seen, cos^2 = 1 - sin^2 included. Then it is written again, with what is common to all terms in
front, and with a - a sin^2 x as a cos^2 x, sin x cos y + cos x sin y as sin(x + y). Expressions that would grow too long are
atoms themselves, and what has not become shorter stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from kineta.expr.count import count
from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import BINARY, LEAVES, Op
from kineta.expr.walk import reachable

#: Terms of an expression that is opened, at most.
TERMS = 64

#: Binary orders of magnitude of a number in an opened expression, at most.
BITS = 128

#: Atoms with their powers, in the order of the atoms.
Monomial = tuple[tuple[Ref, int], ...]

#: Numbers by the monomial that they multiply.
Sum = dict[Monomial, Fraction]


def expand(graph: Graph, roots: Sequence[Ref]) -> list[Ref]:
    """*roots*, each in the shorter of two forms: as it is, or opened and written again; in the same graph."""
    opened = Opened(graph)
    return [opened.shorter(r) for r in roots]


class Opened:
    """The sums that the nodes of a graph are, each opened once."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._sums: dict[int, Sum] = {}

    def shorter(self, ref: Ref) -> Ref:
        """*ref* as it is, or opened and written again, whichever is shorter. Numbers near the limits of floats stay alone."""
        try:
            written = self.written(ref)
        except OverflowError:
            return ref
        return written if written == ref or self._size(written) < self._size(ref) else ref

    def written(self, ref: Ref) -> Ref:
        """*ref* opened and written again."""
        return self.write(self.total(ref))

    def total(self, ref: Ref) -> Sum:
        """*ref* as a sum. Raises :class:`OverflowError` for numbers near the limits of floats."""
        for i in reachable(self.graph, [ref], self._sums):
            if i not in self._sums:
                opened = self._open(i)
                if not all(map(_moderate, opened.values())):
                    raise OverflowError
                self._sums[i] = opened if len(opened) <= TERMS else _atom(2 * i)
        return self._sum(ref)

    def _size(self, ref: Ref) -> int:
        """Operations below *ref*; a quotient, which is harder to read and to compute, counts as four."""
        operations = count(self.graph.op[i] for i in reachable(self.graph, [ref]))
        return operations.total + 3 * operations.div + operations.sqrt + operations.trig

    def _sum(self, ref: Ref) -> Sum:
        known = self._sums[ref >> 1]
        return {m: -f for m, f in known.items()} if ref & 1 else known

    def _open(self, i: int) -> Sum:
        g = self.graph
        op, a, b = g.op[i], g.lhs[i], g.rhs[i]
        if op in LEAVES:
            return self._leaf(2 * i)
        if op == Op.ADD:
            return self._settled(_added(self._sum(a), self._sum(b)))
        if op == Op.MUL:
            return self._product(self._sum(a), self._sum(b))
        if op == Op.DIV:
            below = self._sum(b)
            return self._quotient(self._sum(a), below) if below else _atom(2 * i)
        written = g.call(op, self.write(self._sum(a)), self.write(self._sum(b)) if op in BINARY else ZERO)
        return self._leaf(written)

    def _leaf(self, ref: Ref) -> Sum:
        """A node that is not opened: an atom with its sign, or a number."""
        value = self.graph.value(ref)
        if value is not None:
            return {(): Fraction(value)} if value else {}
        return _atom(ref & -2, Fraction(-1 if ref & 1 else 1))

    def _product(self, a: Sum, b: Sum) -> Sum:
        if len(a) * len(b) > TERMS * 4:
            return self._leaf(self.graph.mul(self.write(a), self.write(b)))
        total: Sum = {}
        for m, f in a.items():
            for n, h in b.items():
                for k, share in self._reduced(_times(m, n)).items():
                    total[k] = total.get(k, Fraction(0)) + share * f * h
        return self._settled({m: f for m, f in total.items() if f})

    def _settled(self, total: Sum) -> Sum:
        """*total* with what cancels only over a common denominator: sin^2 x / cos x + cos x is 1 / cos x."""
        g = self.graph
        below = {
            x: min(dict(m).get(x, 0) for m in total) for m in total for x, p in m if p < 0 and g.op[x >> 1] == Op.COS
        }
        if len(total) < 2 or not below:
            return total
        denominator = tuple(sorted(below.items()))
        above: Sum = {}
        for m, f in total.items():
            above = _added(above, {k: f * h for k, h in self._reduced(_times(m, _inverse(denominator))).items()})
        return {_times(m, denominator): f for m, f in above.items()}

    def _reduced(self, m: Monomial) -> Sum:
        """*m* without even powers of cosines."""
        g = self.graph
        for atom, power in m:
            if power > 1 and g.op[atom >> 1] == Op.COS:
                rest = _times(m, ((atom, -2),))
                sine = g.sin(g.lhs[atom >> 1])
                less = _times(rest, ((sine & -2, 2),))
                return _added(self._reduced(rest), {k: -f for k, f in self._reduced(less).items()})
        return {m: Fraction(1)}

    def _quotient(self, a: Sum, b: Sum) -> Sum:
        if len(b) == 1:
            ((m, f),) = b.items()
            return self._product(a, {tuple((x, -p) for x, p in m): 1 / f})
        above, below = _parts(a), _parts(b)
        if above.inside == below.inside:
            return {_times(above.common, _inverse(below.common)): above.front / below.front}
        written = self.write(below.inside)
        ((atom, sign),) = self._leaf(written).items()
        return self._product(a, {_times(_inverse(atom), _inverse(below.common)): sign / below.front})

    # -- writing ------------------------------------------------------------------------------------------------------

    def write(self, total: Sum) -> Ref:
        """*total* as an expression, with what is common to all terms in front."""
        g = self.graph
        if not total:
            return ZERO
        parts = _parts(self.closed(total))
        inside = g.sum(self.term(m, f) for m, f in sorted(parts.inside.items(), key=lambda t: t[1] < 0))
        return self.term(parts.common, parts.front, inside)

    def term(self, m: Monomial, f: Fraction, inside: Ref = ONE) -> Ref:
        """Number, atoms with their powers, and a factor *inside* as one product."""
        g = self.graph
        above, below = g.const(float(f)), ONE
        for atom, power in m:
            raised = g.call(Op.POW, atom, g.const(float(abs(power))))
            above, below = (g.mul(above, raised), below) if power > 0 else (above, g.mul(below, raised))
        return g.div(g.mul(above, inside), below)

    def closed(self, total: Sum) -> Sum:
        """*total* with sines and cosines brought together."""
        return self._steady(self._closed(total))

    def _closed(self, total: Sum) -> Sum:
        """*total* with sines and cosines brought together while that makes it shorter."""
        shorter: Sum | None = total
        while shorter is not None:
            total = shorter
            shorter = next(self._shorter(total), None)
        return total

    def _shorter(self, total: Sum) -> Iterator[Sum]:
        """Forms of *total* with one term less."""
        g = self.graph
        for m, f in total.items():
            sines = [(x, p) for x, p in m if p > 0 and g.op[x >> 1] == Op.SIN]
            for x, p in sines:
                if p > 1:  # a - a sin^2 x
                    rest = _times(m, ((x, -2),))
                    if total.get(rest) == -f:
                        yield _replaced(total, (m, rest), _times(rest, ((self._cos(x), 2),)), -f)
            for (x, _), (y, _) in combinations(sines, 2):  # cos x cos y -+ sin x sin y
                rest = _times(m, ((x, -1), (y, -1)))
                other = _times(rest, tuple(sorted([(self._cos(x), 1), (self._cos(y), 1)])))
                if abs(total.get(other, 0)) == abs(f):
                    angle = self._angle(x, y, total[other] == -f)
                    yield _replaced(total, (m, other), _times(rest, ((g.cos(angle) & -2, 1),)), total[other])
            cosines = [x for x, p in m if p > 0 and g.op[x >> 1] == Op.COS]
            for x, _ in sines:  # sin x cos y +- cos x sin y
                for c in cosines:
                    y = g.sin(g.lhs[c >> 1]) & -2
                    if y == x:
                        continue
                    rest = _times(m, ((x, -1), (c, -1)))
                    other = _times(rest, tuple(sorted([(self._cos(x), 1), (y, 1)])))
                    if abs(total.get(other, 0)) == abs(f):
                        sine = g.sin(self._angle(x, y, total[other] == f))
                        sign = -1 if sine & 1 else 1
                        yield _replaced(total, (m, other), _times(rest, ((sine & -2, 1),)), f * sign)

    def _steady(self, total: Sum) -> Sum:
        """*total* with a - b sin^2 x as a cos^2 x + (a - b) sin^2 x, where nothing is lost by rounding."""
        for m in list(total):
            for x, p in m:
                rest = _times(m, ((x, -2),))
                a, f = total.get(rest, Fraction(0)), total.get(m, Fraction(0))
                if p > 1 and self.graph.op[x >> 1] == Op.SIN and a * f < 0:
                    cosine = _times(rest, ((self._cos(x), 2),))
                    total = _added({k: h for k, h in total.items() if k not in (m, rest)}, {cosine: a, m: a + f})
        return total

    def _cos(self, sine: Ref) -> Ref:
        """The cosine of the angle of a sine."""
        return self.graph.cos(self.graph.lhs[sine >> 1]) & -2

    def _angle(self, x: Ref, y: Ref, together: bool) -> Ref:
        """The sum (or the difference) of the angles of two sines."""
        g = self.graph
        a, b = g.lhs[x >> 1], g.lhs[y >> 1]
        return g.add(a, b) if together else g.sub(a, b)


def _moderate(f: Fraction) -> bool:
    """Whether a number is of a size that products of a few do not leave the range of floats."""
    return abs(f.numerator.bit_length() - f.denominator.bit_length()) < BITS and f.denominator.bit_length() < 4 * BITS


def _atom(ref: Ref, factor: Fraction = Fraction(1)) -> Sum:
    return {((ref, 1),): factor}


def _times(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((x, p) for x, p in powers.items() if p))


def _inverse(m: Monomial) -> Monomial:
    return tuple((x, -p) for x, p in m)


def _added(a: Sum, b: Sum) -> Sum:
    total = dict(a)
    for m, f in b.items():
        total[m] = total.get(m, Fraction(0)) + f
    return {m: f for m, f in total.items() if f}


@dataclass(frozen=True, slots=True)
class _Parts:
    """A sum as *front* times *common* times *inside*: a number, what all terms share, and what is left of them."""

    front: Fraction
    common: Monomial
    inside: Sum


def _parts(total: Sum) -> _Parts:
    rows = [dict(m) for m in total]
    least = {x: min(row.get(x, 0) for row in rows) for x in {x for row in rows for x in row}}
    common = tuple(sorted((x, p) for x, p in least.items() if p))
    sizes = {abs(f) for f in total.values()}
    front = sizes.pop() if len(sizes) == 1 else Fraction(1)
    front = -front if all(f < 0 for f in total.values()) else front
    return _Parts(front, common, {_times(m, _inverse(common)): f / front for m, f in total.items()})


def _replaced(total: Sum, old: tuple[Monomial, Monomial], new: Monomial, factor: Fraction) -> Sum:
    """*total* with one term for two."""
    left = {m: f for m, f in total.items() if m not in old}
    return _added(left, {new: factor})
