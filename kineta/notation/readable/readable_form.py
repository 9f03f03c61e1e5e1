"""The form of equations that is shortest to read: sums of products, factored, with named parts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import Op
from kineta.notation.premises import NONE, Premises
from kineta.notation.printed_numbers import NumberStyle, in_one_style, is_fraction
from kineta.notation.rationals import Fraction
from kineta.notation.readable.angles import with_numbers, with_sums_of_angles
from kineta.notation.readable.brackets import with_short_brackets
from kineta.notation.readable.common_denominators import apart, over_common_denominators
from kineta.notation.readable.completed_squares import completed_squares, with_shifted_speeds
from kineta.notation.readable.divisors import cancelled
from kineta.notation.readable.entries import gathered
from kineta.notation.readable.factoring import Factoring
from kineta.notation.readable.habits import broken_habits
from kineta.notation.readable.lasting_signs import without_lasting_signs
from kineta.notation.readable.normal_form import (
    distance_components,
    normal_form,
    shared_momenta,
    shared_quotients,
    shared_sums_of_roots,
    squared_differences,
    with_squares_of_momenta,
)
from kineta.notation.readable.parts import NamedParts
from kineta.notation.readable.polynomials import ONE, LongFormError, Sum, content, inverse, scaled
from kineta.notation.readable.ring import PI, Ring
from kineta.notation.readable.trees import Tree, alike_oriented, oriented
from kineta.notation.typesetting import LAST, FactorKind, Kinds, Notation, typeset
from kineta.records import dataclass

#: Terms of all entries, as they are and with sums of angles, above which equations are not written out.
MOST, LONG = 1500, 150
#: Terms of sums, in those of the shortest, above which they are not written as trees: names leave fewer.
MULTIPLIED_OUT = 1.5
#: Names in all entries above which they are not written out: functions within functions have twice as many with each more.
WIDEST = 20000


@dataclass(frozen=True, slots=True)
class ReadableForm:
    """Entries in a graph of their own, and named parts, symbols of this graph, in the order in which they need each other;
    how sums in brackets are written, as :func:`typeset` takes it. The entries hold where those of *signed* are positive (True)
    or negative.
    """

    graph: Graph
    named: Mapping[str, Ref]
    entries: Sequence[Ref]
    kinds: Kinds
    turned: Mapping[int, bool | None]
    signed: Sequence[tuple[Ref, bool]]

    @property
    def parts(self) -> Collection[str]:
        """The names of the parts."""
        return self.named.keys()

    @property
    def given(self) -> Collection[str]:
        """None of the names is one of the model."""
        return ()

    def lines(self, notation: Notation, labels: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Names and right sides: the parts, then the entries by their *labels*."""
        yield from in_one_style(lambda numbers: self._lines(notation, labels, numbers))

    def definitions(self) -> tuple[Graph, Mapping[str, Ref]]:
        """What the parts stand for in the graph, where other parts are symbols with their names."""
        return self.graph, self.named

    def conditions(self, notation: Notation) -> Iterator[str]:
        """The conditions under which the entries hold: ``sin(theta) > 0``."""
        for ref, positive in self.signed:
            shown = typeset(self.graph, ref, notation, kinds=self.kinds)
            yield notation.relation(shown, ">" if positive else "<", notation.number(0.0))

    def _lines(self, notation: Notation, labels: Sequence[str], numbers: NumberStyle) -> Iterator[tuple[str, str]]:
        names = map(notation.name, self.named)
        for label, ref in zip((*names, *labels), (*self.named.values(), *self.entries), strict=True):
            yield label, typeset(self.graph, ref, notation, kinds=self.kinds, turned=self.turned, numbers=numbers)


def readable_form(
    graph: Graph,
    refs: Sequence[Ref],
    kinds: Kinds,
    labels: Sequence[str],
    *,
    parts: bool = True,
    premises: Premises = NONE,
) -> ReadableForm | None:
    """*refs* as they are shortest to read, with named *parts* or without; None where that is long. Names of parts are
    none of the *labels*; a label may stand in the *refs*, as the name of what it stands for. By the *premises* signs that
    last from the start on are left out.
    """
    sums: list[_Sums] = []
    found: list[NamedParts] = []
    roots = {n for n, ref in zip(labels, refs, strict=True) if graph.op[ref >> 1] == Op.SQRT}
    taken = {n.replace("_", "") for n in (*graph.names, *labels)}
    given = {k for k, n in enumerate(labels) if n in graph.names}
    conditions = {k for k, n in enumerate(labels) if n == "0"}
    letters = (n for k in count(1) if (n := f"d{k}") not in taken)
    distances = dict(zip(distance_components(graph, refs) if parts else (), letters, strict=False))
    others = (i for i in (squared_differences(graph, refs, kinds) if parts else ()) if i not in distances)
    differences = {**distances, **dict(zip(others, letters, strict=False))}
    shared = dict(zip(shared_momenta(graph, refs) if parts else (), letters, strict=False))
    factors = dict(zip(shared_sums_of_roots(graph, refs, kinds) if parts else (), letters, strict=False))
    quotients = dict(zip(shared_quotients(graph, refs, kinds) if parts else (), letters, strict=False))
    ways = dict[int, str](), distances, differences, *({**distances, **own} for own in (shared, factors, quotients))
    for named in (names for k, names in enumerate(ways) if names not in ways[:k]):
        for keeps in (False, True):
            ring = Ring(
                {**kinds, PI: (FactorKind.NUMBER, 0)}, keeps=keeps, quaternions=premises.quaternions, roots=roots
            )
            with suppress(LongFormError):
                sums.append(_sums(ring, graph, refs, named, premises, conditions))
            if not ring.shifted:
                break
    least = min((way.size() for way in sums), default=0)
    for way in sums:
        with suppress(LongFormError):
            if way.size() <= MULTIPLIED_OUT * least:
                found.append(_named_parts(way, taken, given, parts=parts))
    if not found:
        return None
    best = min(found, key=lambda form: form.cost())
    ring, own, letters_of_distances = (
        best.factoring.ring,
        Graph(),
        {*differences.values(), *shared.values(), *factors.values(), *quotients.values()},
    )
    for name in sorted(kinds, key=lambda n: kinds[n]):
        own.symbol(name)
    ordered = list(best.ordered())
    free = iter(n for n in best.named if n not in letters_of_distances)
    best.shown = {n: n if n in letters_of_distances else next(free) for n in ordered}
    known = {**ring.kinds, **{best.shown[n]: (ring.kind[ring.symbol(n)], LAST) for n in ordered}}
    named_refs = {best.shown[n]: best.built(own, best.named[n]) for n in ordered}
    entries = [best.built(own, t) for t in best.trees]
    signed = [(best.built(own, best.factoring.plain({((y, 1),): ONE})), plus) for y, plus in best.signs.items()]
    return ReadableForm(own, named_refs, entries, known, best.turned, signed)


@dataclass(frozen=True, slots=True)
class _Sums:
    """Entries as sums over a *ring*, what the names in them stand for, and the atoms of which they hold for one sign."""

    ring: Ring
    named: Mapping[str, Sum]
    entries: Sequence[Sum]
    signs: Mapping[int, bool]

    def size(self) -> int:
        """The number of terms."""
        return sum(map(len, (*self.named.values(), *self.entries)))


def _sums(
    ring: Ring,
    graph: Graph,
    refs: Sequence[Ref],
    distances: Mapping[int, str],
    premises: Premises,
    conditions: Collection[int],
) -> _Sums:
    """*refs* as sums, in terms of names of *distances*; those of *conditions* vanish. Raises :class:`LongFormError`."""
    given, sums = normal_form(ring, graph, refs, distances)
    sums = [with_numbers(ring, cancelled(ring, a)) for a in sums]
    sums = [with_squares_of_momenta(ring, a, given) for a in sums] if given else sums
    sums = [_without_divisor(ring, a) if a and k in conditions else a for k, a in enumerate(sums)]
    start = premises.start
    sums, signs = without_lasting_signs(ring, sums, start) if start is not None else (sums, {})
    if sum(map(len, sums)) > MOST or sum(len(with_sums_of_angles(ring, a)) for a in sums) > LONG:
        raise LongFormError
    return _Sums(ring, given, sums, signs)


def _without_divisor(ring: Ring, a: Sum) -> Sum:
    """What vanishes where the sum *a* does, which is a condition on places or speeds, without the parameters below all of it and
    the number beside them.
    """
    if ring.fastest(a) == FactorKind.ACCELERATION:
        return a
    f, m = content(a)
    below = tuple(
        (x, p) for x, p in m if p < 0 and ring.keys[x][0] == "symbol" and ring.kind[x] <= FactorKind.PARAMETER
    )
    return scaled(a, inverse(below), Fraction(f.denominator if below and all(map(is_fraction, a.values())) else 1))


def _named_parts(own: _Sums, taken: Collection[str], definitions: Collection[int], *, parts: bool) -> NamedParts:
    """The cheapest trees of sums, with names. Raises :class:`LongFormError`."""
    factoring, given = Factoring(own.ring), own.named
    trees = alike_oriented(_entry(factoring, a) for a in (*given.values(), *own.entries))
    named = dict(zip(given, trees, strict=False))
    rest = trees[len(given) :]
    found = NamedParts(factoring, rest, named, {*taken, *given}, own.signs, parts=parts, given=definitions)
    if found.size() > WIDEST:
        raise LongFormError
    return found


def _entry(factoring: Factoring, a: Sum) -> Tree:
    """The cheapest tree of one right-hand side."""
    ways = [gathered(factoring, a), *apart(factoring, a), *over_common_denominators(factoring, a)]
    ways += [*completed_squares(factoring, a), *with_shifted_speeds(factoring, a)]

    def weight(t: Tree) -> tuple[float, int]:
        return factoring.reading.cost(t) + broken_habits(factoring.ring, a, t), -len(t)

    best = min((oriented(t) for t in ways), key=weight)
    return oriented(min((oriented(with_short_brackets(factoring, best)), best), key=weight))
