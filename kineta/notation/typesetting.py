"""Typesetting of expressions in any notation: flattened sums and products, like terms collected, in a fixed order.

The order of a product is numbers, parameters, coordinates, functions, speeds, accelerations. Sums start with the terms of the
highest derivative, by descending powers, or rise to them in a notation that says so; constants stand before functions. Names of
one kind keep their given order; a sum in brackets stands before the names of its kind where the first of its own comes before
them, else after them. Of terms of parameters letters come first, fractions last.
A notation defines the look of the pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from fractions import Fraction
from types import MappingProxyType
from typing import Protocol

from kineta.algebra.infix import comparison
from kineta.expr.graph import ZERO, Graph, Ref
from kineta.expr.op import COMMUTATIVE, Op
from kineta.expr.tables import of_two, table_of
from kineta.expr.walk import operands, reachable, reachable_below
from kineta.notation.printed_numbers import NumberStyle, PrintedNumber, printed_number, short_decimal

#: Trigonometric functions, which stand behind coordinates even of parameters.
WAVES = (Op.SIN, Op.COS, Op.TAN)


class FactorKind(IntEnum):
    """Kinds of factors, in the order of products."""

    NUMBER = 0
    PARAMETER = 1
    POSITION = 2
    FUNCTION = 3
    SPEED = 4
    ACCELERATION = 5


#: Kinds of names, and their positions within a kind; other names have the kind of their marks.
Kinds = Mapping[str, tuple[FactorKind, int]]

#: Prefixes of the names of forces and multipliers: added forces, those of constraints, and those of control with their rates.
FORCES = ("tau[", "lambda.", "nu.", "control.", "rate.control.", *(f"rate{k}.control." for k in range(2, 12)))

#: The position after all others.
LAST = 1 << 30

#: Coefficient and powers of factors (ids of nodes) of a term.
_Term = tuple[float, dict[int, int]]

#: Sort key of a factor: kind and position.
_Key = tuple[int, int, int, tuple[str | int, ...]]


class Notation(Protocol):
    """The look of pieces. String arguments are complete; arguments of :meth:`product` have their brackets."""

    @property
    def rising(self) -> bool:
        """Whether sums begin with their constants and end with the highest derivatives, and not the other way round."""

    def name(self, text: str) -> str:
        """A symbol, or a named part."""

    def number(self, value: float) -> str:
        """A nonnegative number."""

    def sum(self, terms: Sequence[tuple[bool, str]]) -> str:
        """At least one term in order, each with a flag for subtraction."""

    def product(self, number: Fraction | float, above: Sequence[str], below: Sequence[str]) -> str:
        """A positive number times the factors *above*, divided by those *below*."""

    def power(self, base: str, exponent: str) -> str:
        """A base, with brackets if needed, to an exponent."""

    def brackets(self, inside: str) -> str:
        """An expression in brackets."""

    def call(self, op: Op, arguments: Sequence[str], power: int, bare: bool) -> str:
        """A function to a power; *bare*: its argument is a name, and no brackets follow, so that it may have none. Of a choice
        the arguments are the condition and both values.
        """

    def table(self, quantity: str, order: int, words: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
        """A table of a quantity, or a derivative of it of some order, by its words and its points."""

    def relation(self, left: str, sign: str, right: str) -> str:
        """A comparison by <, <=, > or >=."""

    def joined(self, word: str, conditions: Sequence[str]) -> str:
        """Conditions with ``and`` or ``or`` between them, or one with ``not`` before it."""


def typeset(
    graph: Graph,
    ref: Ref,
    notation: Notation,
    names: Mapping[int, str] = MappingProxyType({}),
    kinds: Kinds = MappingProxyType({}),
    *,
    whole: bool = True,
    turned: Mapping[int, bool | None] = MappingProxyType({}),
    numbers: NumberStyle | None = None,
) -> str:
    """*ref* in *notation*; nodes (ids) below it with *names* by their names (a name with a minus is that of the negative),
    and *ref* itself by its name unless shown as a *whole*. Sums in *turned* are written as they
    are, or (True) as their negatives, or (None) so that they begin with their first name. *numbers* is the style of all lines
    that are read together.
    """
    page = _Typesetter(graph, notation, names, kinds, ref >> 1 if whole else -1, numbers or NumberStyle())
    page.turned = turned
    page.read(reachable_below(graph, ref, names) if whole else reachable(graph, [ref], names), ref >> 1)
    return page.signed(ref)


def factor_kinds(graph: Graph, roots: Sequence[Ref], kinds: Kinds) -> dict[int, FactorKind]:
    """Kinds of the nodes below *roots*, by id."""
    found: dict[int, FactorKind] = {}
    for i in reachable(graph, roots):
        op = graph.op[i]
        if op == Op.CONST:
            found[i] = FactorKind.NUMBER
        elif op == Op.SYMBOL:
            found[i] = kind_of(graph.names[graph.lhs[i]], kinds)[0]
        else:
            found[i] = composed_kind(op, max(found[r >> 1] for r in operands(graph, i)))
    return found


def kind_of(name: str, kinds: Kinds) -> tuple[FactorKind, int]:
    """Kind and position of a name."""
    known = kinds.get(name)
    if known is not None:
        return known
    if name.startswith(FORCES):
        return FactorKind.ACCELERATION, LAST
    return (FactorKind.POSITION, FactorKind.SPEED, FactorKind.ACCELERATION)[min(name.count("'"), 2)], LAST


def composed_kind(op: int, below: FactorKind) -> FactorKind:
    """Kind of an operation on operands of at most the kind *below*."""
    plain = op in (Op.ADD, Op.MUL, Op.DIV, Op.GUARD)
    return below if plain or below <= FactorKind.PARAMETER else FactorKind.FUNCTION


#: Comparisons with their sides exchanged.
_OPPOSITE = {">": "<", "<=": ">="}


class _Typesetter:
    """The terms of the nodes below one expression, their kinds, and their strings."""

    def __init__(
        self,
        graph: Graph,
        notation: Notation,
        names: Mapping[int, str],
        kinds: Kinds,
        opened: int,
        numbers: NumberStyle,
    ) -> None:
        self.graph = graph
        self.notation = notation
        self.names = names
        self.kinds = kinds
        self.opened = opened
        self.numbers = numbers
        self.terms: dict[int, list[_Term]] = {}
        self.keys: dict[int, _Key] = {}
        self.strings: dict[int, str] = {}
        self.sums: dict[int, tuple[bool, list[tuple[bool, str]]]] = {}
        self.of_letters = False
        self.squared: set[int] = set()
        self.turned: Mapping[int, bool | None] = {}

    def read(self, order: Sequence[int], root: int) -> None:
        """Flatten all nodes, then write the factors and sums."""
        of_parameter = (
            kind_of(self.graph.names[self.graph.lhs[i]], self.kinds)[0] == FactorKind.PARAMETER
            for i in order
            if self.graph.op[i] == Op.SYMBOL
        )
        self.of_letters = self.numbers.read(of_letters=any(of_parameter))
        for i in order:
            self.terms[i] = self._terms(i)
            self.keys[i] = self._key(i)
        of_whole = [terms for i in order if not self._named(i) for terms in self.terms[i]]
        self.squared = {x for _, factors in of_whole for x, p in factors.items() if p % 2 == 0}
        needed = {root}
        for i in reversed(order):
            if i in needed and not self._named(i):
                for _, factors in self.terms[i]:
                    needed.update(factors)
                if i in self._single(i):
                    needed.update(r >> 1 for r in operands(self.graph, i))
        for i in order:
            if i in needed:
                self._write(i)

    def signed(self, ref: Ref) -> str:
        """The whole expression with its sign."""
        if ref & 1:
            self.terms[ref >> 1] = self._added(ref)
        minus, terms = self._oriented(ref >> 1)
        return self._joined([(m ^ minus, s) for m, s in terms])

    # -- flattening -----------------------------------------------------------------------------------------------------

    def _named(self, i: int) -> bool:
        return i in self.names and i != self.opened

    def _single(self, i: int) -> dict[int, int]:
        """The factors of a node that is a single product."""
        return self.terms[i][0][1] if len(self.terms[i]) == 1 else {}

    def _terms(self, i: int) -> list[_Term]:
        g, op = self.graph, self.graph.op[i]
        a, b = g.lhs[i], g.rhs[i]
        if self._named(i):
            return [(-1.0 if self.names[i].startswith("-") else 1.0, {i: 1})]
        if op == Op.CONST:
            return [(g.constants[a], {})]
        if op == Op.ADD:
            return _collected([*self._added(a), *self._added(b)])
        if op in (Op.MUL, Op.DIV):
            if not self._added(a) or (op == Op.MUL and not self._added(b)):  # of a sum that has cancelled
                return []
            return [_multiplied(self._factor(a), self._factor(b), 1 if op == Op.MUL else -1)]
        if op == Op.GUARD:
            return self._added(a)
        return [(1.0, {i: 1})]

    def _added(self, ref: Ref) -> list[_Term]:
        sign = -1.0 if ref & 1 else 1.0
        return [(sign * c, factors) for c, factors in self.terms[ref >> 1]]

    def _factor(self, ref: Ref) -> _Term:
        """*ref* as a product; a sum is one factor."""
        terms = self._added(ref)
        return terms[0] if len(terms) == 1 else (-1.0 if ref & 1 else 1.0, {ref >> 1: 1})

    # -- order ----------------------------------------------------------------------------------------------------------

    def _key(self, i: int) -> _Key:
        g, op = self.graph, self.graph.op[i]
        if op == Op.SYMBOL:
            name = g.names[g.lhs[i]]
            kind, place = kind_of(name, self.kinds)
            return (kind, 0, place, _natural(name))
        if op == Op.CONST:
            return (FactorKind.NUMBER, 0, 0, ())
        if self._named(i):
            name = self.names[i].removeprefix("-")
            return (kind_of(name, self.kinds)[0], 2, LAST, _natural(name))
        below = [self.keys[r >> 1] for r in operands(self.graph, i)]
        kind = composed_kind(op, FactorKind(max(k[0] for k in below)))
        if op == Op.ADD and kind != FactorKind.FUNCTION:  # a sum is ordered by the first of its names
            own = (self.keys[x] for _, factors in self.terms[i] for x in factors if self.keys[x][0] == kind)
            if (earliest := min(own, default=None)) is not None:
                return (kind, earliest[1], earliest[2], (*earliest[3], op, i))
        first = min(k for k in below if k[0] > FactorKind.NUMBER) if kind else below[0]
        return (kind, 1, first[2], (*first[3], op, i if op == Op.ADD else 0))

    def _fastest(self, term: _Term) -> int:
        """The highest kind of a factor of a term."""
        return max((self.keys[x][0] for x in term[1]), default=FactorKind.NUMBER)

    def _degree(self, term: _Term, kind: int) -> int:
        """The powers of factors of a *kind* in a term, negative below a bar; a sum has those of its highest term."""
        found = 0
        for x, p in term[1].items():
            if self.keys[x][0] == kind:
                inside = self.terms[x] if self.graph.op[x] == Op.ADD and not self._named(x) else ()
                found += p * max((self._degree(t, kind) for t in inside), default=1)
        return found

    def _rank(self, term: _Term) -> tuple[object, ...]:
        """Sort key of a term of a sum."""
        keys = sorted((self.keys[x], -p) for x, p in term[1].items())
        fastest = self._fastest(term)
        degree = self._degree(term, fastest)
        whole = sum(abs(p) for _, p in keys)
        leading = [(k, p) for k, p in keys if k[0] == fastest]
        late = 0
        if fastest == FactorKind.PARAMETER:  # A + m l^2 + J/R^2, M + m sin(alpha)^2
            late = 2 if any(p < 0 or self._kind(x) == FactorKind.FUNCTION for x, p in term[1].items()) else whole > 1
        sign = 1 if self.notation.rising else -1
        return (sign * fastest, late, sign * degree, leading, -whole, keys)

    # -- writing --------------------------------------------------------------------------------------------------------

    def _write(self, i: int) -> None:
        """Write node *i* as a factor, without a sign."""
        g, n, op = self.graph, self.notation, Op(self.graph.op[i])
        if self._named(i):
            self.strings[i] = self.names[i].removeprefix("-")
        elif op == Op.SYMBOL:
            self.strings[i] = n.name(g.names[g.lhs[i]])
        elif i not in self._single(i):
            self.sums[i] = self._oriented(i)

    def _oriented(self, i: int) -> tuple[bool, list[tuple[bool, str]]]:
        """A sum as a sign and its terms, with a positive first term if there is one."""
        terms = sorted(self.terms[i], key=self._rank)
        if max((self._fastest(t) for t in terms), default=FactorKind.NUMBER) == FactorKind.FUNCTION:
            terms.sort(key=lambda t: self._fastest(t) > FactorKind.PARAMETER)
        flipped = bool(terms) and all(c < 0 for c, _ in terms) and len(terms) > 1
        shown = []
        for c, factors in terms:
            minus, string = self._product((-c if flipped else c, factors))
            shown.append((minus, string))
        return flipped, shown

    def _joined(self, terms: Iterable[tuple[bool, str]]) -> str:
        ordered = list(terms)
        first = 0 if self.notation.rising else next((k for k, (minus, _) in enumerate(ordered) if not minus), 0)
        ordered.insert(0, ordered.pop(first)) if ordered else None
        return self.notation.sum(ordered) if ordered else self.notation.number(0.0)

    def _product(self, term: _Term) -> tuple[bool, str]:
        """Sign and string of a term."""
        number, factors = term
        minus = number < 0
        above: list[tuple[int, int]] = []
        below: list[tuple[int, int]] = []
        for x in self._ordered(factors):
            (above if factors[x] > 0 else below).append((x, abs(factors[x])))
        strings: list[str] = []
        under: list[str] = []
        for row, shown in ((above, strings), (below, under)):
            for k, (x, p) in enumerate(row, 1):
                apart = row[k:] == [] or row[k][0] not in self.sums
                turned, string = self._raised(x, p, apart=apart, minus=minus)
                minus ^= turned
                shown.append(string)
        if not factors and not self.of_letters and short_decimal(abs(number)) == 0.5:
            return minus, self.notation.number(0.5)
        measured = all(self._kind(x) != FactorKind.PARAMETER for x in factors)
        printed = self.numbers.printed(abs(number), of_letters=self.of_letters, measured=measured)
        return minus, self._times(printed, strings, under)

    def _times(self, number: PrintedNumber, above: Sequence[str], below: Sequence[str]) -> str:
        """A *number* with the root and the pi that it has, times factors *above* the bar, over those *below* it."""
        exact = [self.notation.call(Op.SQRT, [str(number.radicand)], 1, False)] * (number.radicand > 1)
        exact += [self.notation.name("pi")] * (number.circle > 0)
        under = [self.notation.name("pi")] * (number.circle < 0)
        return self.notation.product(number.number, [*exact, *above], [*under, *below])

    def _ordered(self, factors: Iterable[int]) -> list[int]:
        """Factors in the order of products: a sum stands before the names of its kind or after them."""
        ordered = sorted(factors, key=self.keys.__getitem__)
        last = {
            x: any(self._kind(y) == self._kind(x) and not self._bracketed(y) for y in ordered[:k])
            for k, x in enumerate(ordered)
        }
        return sorted(ordered, key=lambda x: (self._kind(x), self._bracketed(x) and last[x]))

    def _kind(self, x: int) -> int:
        """Kind of a factor by its place in a product; sines of parameters, and sums of them, stand with those of coordinates."""
        op, kind = self.graph.op[x], self.keys[x][0]
        if kind != FactorKind.PARAMETER or self._named(x):
            return kind
        waves = op in WAVES or (op == Op.ADD and any(self.graph.op[y] in WAVES for _, t in self.terms[x] for y in t))
        return FactorKind.FUNCTION if waves else kind

    def _bracketed(self, x: int) -> bool:
        return self.graph.op[x] == Op.ADD and not self._named(x) and self._kind(x) != FactorKind.FUNCTION

    def _raised(self, x: int, power: int, *, apart: bool, minus: bool) -> tuple[bool, str]:
        """A factor with its power, and whether its sign was changed; *apart*: no brackets follow, which might be taken for those
        of a function. A difference that is squared somewhere begins with its first name wherever it stands.
        """
        n, op = self.notation, Op(self.graph.op[x])
        if x in self.sums:
            flipped, terms = self.sums[x]
            signs = {m for m, _ in terms}
            given = self.turned.get(x, None if x in self.squared else minus and power % 2 == 1)
            turn = given if given is not None else bool(terms) and terms[0][0]
            turn = signs == {True} or (turn and len(signs) > 1 and not flipped)
            inside = self._joined([(m ^ turn, s) for m, s in terms])
            base = n.brackets(inside)
            return (flipped ^ turn) and power % 2 == 1, base if power == 1 else n.power(base, n.number(float(power)))
        if x in self.strings:
            return False, self.strings[x] if power == 1 else n.power(self.strings[x], n.number(float(power)))
        if op == Op.POW:
            base, exponent = (self.signed_below(r) for r in operands(self.graph, x))
            halves = 2 * (self.graph.value(self.graph.rhs[x]) or 0.0)
            if halves > 0 and halves % 2 == 1:
                exponent = f"{n.number(halves)}/2"
            bare = self._plain(self.graph.lhs[x]) or base.isdecimal()
            whole = n.power(base if bare else n.brackets(base), exponent)
            return False, whole if power == 1 else n.power(n.brackets(whole), n.number(float(power)))
        if op == Op.TABLE:
            shown = self._table(x)
            return False, shown if power == 1 else n.power(n.brackets(shown), n.number(float(power)))
        if op in (Op.IF, Op.WHERE):
            a, b = self.graph.lhs[x], self.graph.rhs[x]
            first, second = (self.graph.lhs[b >> 1], self.graph.rhs[b >> 1]) if op == Op.IF else (a, ZERO)
            condition = self.condition(a if op == Op.IF else b)
            other = self.signed_below(second) if second != ZERO else n.number(0.0)
            shown = n.call(Op.IF, [condition, self.signed_below(first), other], 1, False)
            return False, shown if power == 1 else n.power(n.brackets(shown), n.number(float(power)))
        below = operands(self.graph, x)
        arguments = [self.signed_below(r) for r in below]
        if op in COMMUTATIVE:  # the graph orders them by what the process has made before
            kinds = [self._kind(r >> 1) for r in below]
            arguments = [s for _, _, s in sorted((k, _natural(s), s) for k, s in zip(kinds, arguments, strict=True))]
        bare = apart and len(arguments) == 1 and self._plain(self.graph.lhs[x])
        return False, n.call(op, arguments, power, bare)

    def _plain(self, ref: Ref) -> bool:
        """Whether *ref* is a name."""
        return not ref & 1 and ref >> 1 in self.strings

    def _table(self, x: int) -> str:
        n, table = self.notation, table_of(self.graph, self.graph.rhs[x])
        quantity, rows, head = self.signed_below(self.graph.lhs[x]), table.rows, []
        if both := of_two(self.graph, table):
            y, (places, *rows) = both
            quantity += f", {self.signed_below(y)}"
            head = [[self._place(p) for p in places]]
        rows_shown = [
            [self._place(place), *(self.signed_below(int(v)) if v else n.number(0.0) for v in values)]
            for place, *values in rows
        ]
        return n.table(quantity, table.order, table.words, head + rows_shown)

    def _place(self, place: float) -> str:
        """A place of a table: a decimal, or a multiple of pi."""
        number, size = printed_number(abs(place)), self.notation.number(abs(place))
        return self.notation.sum([(place < 0, self._times(number, (), ()) if number.circle else size)])

    def condition(self, ref: Ref) -> str:
        """The condition that *ref*, a number made of comparisons, is positive."""
        word, parts = comparison(self.graph, ref)
        if word not in (">", "<="):
            inner = sorted((*self._place_of(p), _natural(s), s) for p in parts for s in (self.condition(p),))
            bare = {False} if word != "not" else set[bool]()
            return self.notation.joined(
                word, [s if more in bare else self.notation.brackets(s) for more, _, _, s in inner]
            )
        (d,) = parts
        letters, numbers = ([t for t in self._added(d) if bool(t[1]) == with_factors] for with_factors in (True, False))
        if len(letters) == len(numbers) == 1:
            (minus, left), (below, right) = self._product(letters[0]), self._product(numbers[0])
            shown = self._joined([(minus == below, right)])
            return self.notation.relation(left, _OPPOSITE[word] if minus else word, shown)
        flipped, terms = self.sums.get(d >> 1) or self._oriented(d >> 1)
        terms = [(m ^ flipped ^ bool(d & 1), s) for m, s in terms]
        sides = [self._joined([(False, s) for m, s in terms if m == minus]) for minus in (False, True)]
        if self._fastest_side(d, minus=False) > self._fastest_side(d, minus=True):
            return self.notation.relation(sides[0], word, sides[1])
        return self.notation.relation(sides[1], _OPPOSITE[word], sides[0])

    def _place_of(self, ref: Ref) -> tuple[bool, int]:
        """Whether a condition has others below it, and the highest kind of what it compares: by these it has its place."""
        word, parts = comparison(self.graph, ref)
        if word not in (">", "<="):
            return True, max(self._place_of(p)[1] for p in parts)
        return False, max(self._fastest_side(parts[0], minus=minus) for minus in (False, True))

    def _fastest_side(self, d: Ref, *, minus: bool) -> int:
        """The highest kind among the factors of the terms of a difference that are added, or subtracted."""
        kinds = (self._kind(x) for c, factors in self._added(d) if (c < 0) == minus for x in factors)
        return max(kinds, default=FactorKind.NUMBER)

    def signed_below(self, ref: Ref) -> str:
        """*ref* as the argument of a function."""
        flipped, terms = self.sums.get(ref >> 1) or self._oriented(ref >> 1)
        return self._joined([(m ^ flipped ^ bool(ref & 1), s) for m, s in terms])


def _collected(terms: Iterable[_Term]) -> list[_Term]:
    """*terms* with like terms added."""
    total: dict[frozenset[tuple[int, int]], float] = {}
    for c, factors in terms:
        key = frozenset(factors.items())
        total[key] = total.get(key, 0.0) + c
    return [(c, dict(key)) for key, c in total.items() if c]


def _multiplied(a: _Term, b: _Term, sign: int) -> _Term:
    """The product a b, or a / b where *sign* is -1."""
    factors = dict(a[1])
    for x, p in b[1].items():
        factors[x] = factors.get(x, 0) + sign * p
    return a[0] * b[0] ** sign, {x: p for x, p in factors.items() if p}


def _natural(name: str) -> tuple[str | int, ...]:
    """Sort key of *name* with numbers by value: q2 before q10."""
    return tuple(int(s) if s.isdigit() else s for s in re.split(r"(\d+)", name))
