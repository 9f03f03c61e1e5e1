"""Expansion of small expressions into sums of products, and factored forms of them with trigonometric identities.

An expression becomes a sum of products of powers of atoms: symbols, functions and denominators. This normal form shows every
cancellation, including cos^2 = 1 - sin^2, and w^2 = 1 - x^2 - y^2 - z^2 of unit quaternions. The result has common factors in
front, a - a sin^2 x as a cos^2 x, and sin x cos y + cos x sin y as sin(x + y). Expressions with too many terms are atoms; longer
results are discarded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations

from kineta.expr.graph import ONE, ZERO, Graph, Ref
from kineta.expr.op import BINARY, LEAVES, Op
from kineta.expr.walk import length, reachable
from kineta.records import dataclass

#: Terms of an expanded expression at most.
TERMS = 64

#: Binary orders of magnitude of a number in an expanded expression at most.
BITS = 128

#: A product of powers: atoms with their exponents, in the order of the atoms.
Monomial = tuple[tuple[Ref, int], ...]

#: A sum of products: coefficients by monomial.
Sum = dict[Monomial, Fraction]


def expand(graph: Graph, roots: Sequence[Ref]) -> list[Ref]:
    """The *roots*, each as it is or expanded and rewritten, whichever is shorter; in the same graph."""
    opened = SumsOfProducts(graph)
    return [opened.shorter(r) for r in roots]


class SumsOfProducts:
    """Expanded forms of the nodes of a graph, each computed once.

    values : numbers for symbols
    rounding : relative size, by the largest summand, below which a coefficient is rounding error and zero
    quaternions : names of unit quaternions, whose entries are the symbols ``name.qw .qx .qy .qz``
    """

    def __init__(
        self,
        graph: Graph,
        values: Mapping[str, float] | None = None,
        rounding: float = 0.0,
        quaternions: Iterable[str] = (),
    ) -> None:
        self.graph = graph
        self._vectors = {
            graph.symbol(f"{name}.qw"): tuple(graph.symbol(f"{name}.q{axis}") for axis in "xyz") for name in quaternions
        }
        self.values = {name: Fraction(x) for name, x in (values or {}).items()}
        self.rounding = Fraction(rounding)
        self._sizes: dict[tuple[Ref, ...], int] = {}
        self._sums: dict[int, Sum] = {}
        self._written: dict[Ref, Ref] = {}
        self._monomials: dict[tuple[Monomial, Monomial], Monomial | Sum] = {}
        self._products: dict[tuple[Ref, ...], Ref] = {}

    def shorter(self, ref: Ref) -> Ref:
        """The shorter of *ref* and its rewritten form; *ref* itself for numbers near the limits of floats."""
        try:
            written = self.written(ref)
        except OverflowError:
            return ref
        return written if written == ref or self._is_shorter(written, ref) else ref

    def shortest(self, refs: Sequence[Ref], others: Sequence[Ref]) -> Sequence[Ref]:
        """The rewritten *refs*, or *others* of the same values, whichever are shorter together."""
        written = []
        for ref, other in zip(refs, others, strict=True):
            try:
                own = self.written(ref)
            except OverflowError:
                own = other
            written.append(own if self._size(own) < self._size(other) else other)
        return written if self._size(*written) < self._size(*others) else others

    def product(self, row: Sequence[Ref], column: Sequence[Ref]) -> Ref:
        """The product of a *row* and a *column*, in rewritten form if this is shorter."""
        factors = (*row, *column)
        if factors not in self._products:
            self._products[factors] = self._multiplied(row, column)
        return self._products[factors]

    def _multiplied(self, row: Sequence[Ref], column: Sequence[Ref]) -> Ref:
        g = self.graph
        plain = g.sum(g.mul(a, b) for a, b in zip(row, column, strict=True))
        try:
            for ref in chain.from_iterable(zip(row, column, strict=True)):
                self._opened(ref)
            products = [self._product_of(a, b) for a, b in zip(row, column, strict=True)]
            written = self.write(self._collected(t for each in products for t in each.items()))
        except OverflowError:
            return plain
        return written if self._is_shorter(written, plain) else plain

    def _collected(self, terms: Iterable[tuple[Monomial, Fraction]]) -> Sum:
        """The sum of *terms*, without coefficients that are rounding errors."""
        total: Sum = {}
        sizes: Sum = {}  # by monomial, the largest of several like terms
        for m, f in terms:
            known = total.get(m)
            if known is None:
                total[m] = f
            else:
                sizes[m] = max(sizes.get(m) or abs(known), abs(f))
                total[m] = known + f
        for m, size in sizes.items():
            if abs(total[m]) <= self.rounding * size:
                del total[m]
        return total

    def written(self, ref: Ref) -> Ref:
        """*ref* expanded and rewritten."""
        if ref not in self._written:
            self._written[ref] = self.write(self.total(ref))
        return self._written[ref]

    def total(self, ref: Ref) -> Sum:
        """The expanded form of *ref*. Raises :class:`OverflowError` for numbers near the limits of floats."""
        self._opened(ref)
        return self._sum(ref)

    def _opened(self, ref: Ref) -> None:
        if ref >> 1 in self._sums:
            return
        for i in reachable(self.graph, [ref], self._sums):
            if i not in self._sums:
                opened = self._open(i)
                if not all(map(_moderate, opened.values())):
                    raise OverflowError
                self._sums[i] = opened if len(opened) <= TERMS else _atom(2 * i)

    def _is_shorter(self, ref: Ref, other: Ref) -> bool:
        """Whether *ref* is shorter than *other*; counting stops at the length of *other*."""
        if ref == other:
            return False
        most = self._size(other)
        return (self._sizes.get((ref,)) or length(self.graph, (ref,), most)) < most

    def _size(self, *refs: Ref) -> int:
        if refs not in self._sizes:
            self._sizes[refs] = length(self.graph, refs)
        return self._sizes[refs]

    def _sum(self, ref: Ref) -> Sum:
        known = self._sums[ref >> 1]
        return {m: -f for m, f in known.items()} if ref & 1 else known

    def _open(self, i: int) -> Sum:
        g = self.graph
        op, a, b = g.op[i], g.lhs[i], g.rhs[i]
        if op in LEAVES:
            return self._leaf(2 * i)
        if op == Op.ADD:
            own, other = self._sum(a), self._sum(b)
            if own.keys().isdisjoint(other):
                return self._settled(own | other)
            return self._settled(self._collected(chain(own.items(), other.items())))
        if op == Op.MUL:
            return self._product_of(a, b)
        if op == Op.DIV:
            below = self._sum(b)
            return self._quotient(self._sum(a), below) if below else _atom(2 * i)
        written = g.call(op, self.write(self._sum(a)), self.write(self._sum(b)) if op in BINARY else ZERO)
        return self._leaf(written)

    def _leaf(self, ref: Ref) -> Sum:
        """The form of a node without expansion: a signed atom, or a number."""
        value = self.graph.value(ref)
        if value is not None:
            return {(): Fraction(value)} if value else {}
        sign = Fraction(-1 if ref & 1 else 1)
        if (known := self.values.get(self.graph.name(ref & -2) or "")) is not None:
            return {(): sign * known}
        return _atom(ref & -2, sign)

    def _product_of(self, a: Ref, b: Ref) -> Sum:
        """The product of two expanded references."""
        above, other = self._sum(a), self._sum(b)
        if len(above) * len(other) > TERMS * 4:
            return self._leaf(self.graph.mul(self.written(a), self.written(b)))
        return self._product(above, other)

    def _product(self, a: Sum, b: Sum) -> Sum:
        if len(a) * len(b) > TERMS * 4:
            return self._leaf(self.graph.mul(self.write(a), self.write(b)))
        return self._settled(self._collected(self._pairs(a, b)))

    def _pairs(self, a: Sum, b: Sum) -> Iterator[tuple[Monomial, Fraction]]:
        """The terms of a product."""
        known = self._monomials
        for m, f in a.items():
            alone = f == 1
            for n, h in b.items():
                share = h if alone else f * h
                found = known.get((m, n))
                if found is None:
                    k = _times(m, n)
                    found = known[m, n] = self._reduced(k) if self._squared(k) else k
                if isinstance(found, tuple):
                    yield found, share
                else:
                    yield from ((j, part * share) for j, part in found.items())

    def _settled(self, total: Sum) -> Sum:
        """*total* after cancellation over a common denominator: sin^2 x / cos x + cos x is 1 / cos x."""
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

    def _squared(self, m: Monomial) -> bool:
        """Whether *m* has even powers of cosines, or of first entries of unit quaternions."""
        op = self.graph.op
        return any(power > 1 and (op[atom >> 1] == Op.COS or atom in self._vectors) for atom, power in m)

    def _reduced(self, m: Monomial) -> Sum:
        """*m* without even powers of cosines, and of first entries of unit quaternions."""
        g = self.graph
        for atom, power in m:
            if power > 1 and (g.op[atom >> 1] == Op.COS or atom in self._vectors):
                rest = _times(m, ((atom, -2),))
                total = self._reduced(rest)
                for other in self._vectors.get(atom) or (g.sin(g.lhs[atom >> 1]) & -2,):
                    less = self._reduced(_times(rest, ((other, 2),)))
                    total = _added(total, {k: -f for k, f in less.items()})
                return total
        return {m: Fraction(1)}

    def _quotient(self, a: Sum, b: Sum) -> Sum:
        if len(b) == 1:
            ((m, f),) = b.items()
            return self._product(a, {tuple((x, -p) for x, p in m): 1 / f})
        above, below = _parts(a), _parts(b)
        for sign in (1, -1):
            if above.inside == {m: sign * f for m, f in below.inside.items()}:
                return {_times(above.common, _inverse(below.common)): sign * above.front / below.front}
        written = self.write(below.inside)
        ((atom, unit),) = self._leaf(written).items()
        return self._product(a, {_times(_inverse(atom), _inverse(below.common)): unit / below.front})

    # -- writing ------------------------------------------------------------------------------------------------------

    def write(self, total: Sum) -> Ref:
        """*total* as an expression with common factors in front."""
        g = self.graph
        if not total:
            return ZERO
        parts = _parts(self.closed(total))
        inside = g.sum(self.term(m, f) for m, f in sorted(parts.inside.items(), key=lambda t: t[1] < 0))
        return self.term(parts.common, parts.front, inside)

    def term(self, m: Monomial, f: Fraction, inside: Ref = ONE) -> Ref:
        """The product of a coefficient, powers of atoms, and a factor *inside*."""
        g = self.graph
        above, below = g.fraction(f), ONE
        for atom, power in m:
            raised = atom if power in (1, -1) else g.call(Op.POW, atom, g.const(float(abs(power))))
            if power > 0:
                above = g.mul(above, raised)
            else:
                below = g.mul(below, raised)
        whole = g.mul(above, inside)
        return whole if below == ONE else g.div(whole, below)

    def closed(self, total: Sum) -> Sum:
        """*total* after trigonometric contraction."""
        return self._steady(self._closed(total))

    def _closed(self, total: Sum) -> Sum:
        """*total* after trigonometric contractions that shorten it."""
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
        """*total* with a - b sin^2 x as a cos^2 x + (a - b) sin^2 x, a form without loss of digits by subtraction."""
        for m in list(total):
            for x, p in m:
                if p < 2 or self.graph.op[x >> 1] != Op.SIN:
                    continue
                rest = _times(m, ((x, -2),))
                a, f = total.get(rest, Fraction(0)), total.get(m, Fraction(0))
                if a * f < 0:
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
    """Whether products of a few numbers of this size stay within the range of floats."""
    above, below = f.numerator.bit_length(), f.denominator.bit_length()
    return abs(above - below) < BITS and below < 4 * BITS


def _atom(ref: Ref, factor: Fraction = Fraction(1)) -> Sum:
    return {((ref, 1),): factor}


def _times(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    factors = sorted(powers.items())
    return tuple([t for t in factors if t[1]] if 0 in powers.values() else factors)


def _inverse(m: Monomial) -> Monomial:
    return tuple((x, -p) for x, p in m)


def _added(a: Sum, b: Sum) -> Sum:
    total = dict(a)
    for m, f in b.items():
        total[m] = total.get(m, Fraction(0)) + f
    return {m: f for m, f in total.items() if f}


@dataclass(frozen=True, slots=True)
class _Parts:
    """A sum as *front* times *common* times *inside*: a number, the common factors, and the remaining sum."""

    front: Fraction
    common: Monomial
    inside: Sum


def _parts(total: Sum) -> _Parts:
    if not total:
        return _Parts(Fraction(1), (), total)
    rows = [dict(m) for m in total]
    shared = set.intersection(*map(set, rows)).union(x for m in total for x, p in m if p < 0)
    least = ((x, min(row.get(x, 0) for row in rows)) for x in sorted(shared))
    common = tuple((x, p) for x, p in least if p)
    first = abs(next(iter(total.values())))
    front = first if all(abs(f) == first for f in total.values()) else Fraction(1)
    front = -front if all(f < 0 for f in total.values()) else front
    if not common and front == 1:
        return _Parts(front, common, total)
    below, whole = _inverse(common), front == 1
    return _Parts(front, common, {_times(m, below): f if whole else f / front for m, f in total.items()})


def _replaced(total: Sum, old: tuple[Monomial, Monomial], new: Monomial, factor: Fraction) -> Sum:
    """*total* with one term in place of two."""
    left = {m: f for m, f in total.items() if m not in old}
    return _added(left, {new: factor})
