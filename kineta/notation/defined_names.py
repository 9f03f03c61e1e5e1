"""Equations in print with names that their model gives: which of them shorten what is read, and what they stand for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import Op
from kineta.expr.walk import reachable
from kineta.notation.premises import NONE, Premises
from kineta.notation.printed_form import PrintedForm, form_cost, printed_form
from kineta.notation.text import TEXT
from kineta.notation.typesetting import FactorKind, Kinds, Notation, kind_of
from kineta.passes.substitute import substitute
from kineta.records import dataclass

#: Names at most that are tried written out, and the reading cost beyond which no form is tried again.
TRIED, MOST_READ = 6, 2000.0


@dataclass(frozen=True, slots=True)
class DefinedNames:
    """Entries *refs* of a *graph* in which names of the model are symbols, and for each name, ``s`` or its rate ``s'``, what it
    stands for, in terms of those before it; *fresh* ones are none of the model.
    """

    graph: Graph
    refs: tuple[Ref, ...]
    named: dict[str, Ref]
    fresh: Collection[str] = ()

    def without(self, name: str) -> DefinedNames:
        """The same with *name* written out."""
        rest = [n for n in self.named if n != name]
        roots = [*self.refs, *(self.named[n] for n in rest)]
        found = substitute(self.graph, roots, {name: self.named[name]})
        k = len(self.refs)
        return DefinedNames(self.graph, tuple(found[:k]), dict(zip(rest, found[k:], strict=True)), self.fresh)

    def needed(self) -> DefinedNames:
        """The same with those names alone that an entry, or what another name stands for, shows."""
        shown = self._symbols(self.refs)
        for name in reversed([*self.named]):
            shown |= self._symbols([self.named[name]]) if name in shown else set()
        return DefinedNames(self.graph, self.refs, {n: x for n, x in self.named.items() if n in shown}, self.fresh)

    def kinds(self, kinds: Kinds) -> Kinds:
        """*kinds* of the names in equations, with those of the defined names."""
        found = dict(kinds)
        for name, ref in self.named.items():
            below = max((kind_of(n, found)[0] for n in self._symbols([ref])), default=FactorKind.NUMBER)
            kind = below if below <= FactorKind.POSITION else FactorKind.FUNCTION
            found[name] = (FactorKind.SPEED if name.endswith("'") else kind, len(found))
        return found

    def _symbols(self, refs: Sequence[Ref]) -> set[str]:
        g = self.graph
        return {str(g.names[g.lhs[i]]) for i in reachable(g, refs) if g.op[i] == Op.SYMBOL}


@dataclass(frozen=True, slots=True)
class _Defined:
    """A *form* whose first entries are what the names that are *defined* stand for."""

    form: PrintedForm
    defined: DefinedNames

    @property
    def names(self) -> Sequence[str]:
        """The names that are defined."""
        return list(self.defined.named)

    @property
    def parts(self) -> Collection[str]:
        """The names of the parts, and those that are defined."""
        return (*self.form.parts, *self.names)

    @property
    def given(self) -> Collection[str]:
        """The names that are defined, which the model gives."""
        return [n for n in self.names if n not in self.defined.fresh]

    def lines(self, notation: Notation, labels: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Names and right sides: definitions and parts in the order in which they need each other, then the entries."""
        first = len(self.form.parts) + len(self.names)
        plain = list(self.form.lines(TEXT, [*self.names, *labels]))[:first]
        lines = list(self.form.lines(notation, [*map(notation.name, self.names), *labels]))
        yield from (lines[k] for k in in_order(plain))
        yield from lines[first:]

    def definitions(self) -> tuple[Graph, Mapping[str, Ref]]:
        """What parts and names stand for in a graph, where other parts and names are symbols with their names."""
        own, (graph, parts) = Graph(), self.form.definitions()
        found = zip(parts, substitute(graph, list(parts.values()), {}, own), strict=True)
        named = self.defined.named
        return own, dict(found) | dict(
            zip(named, substitute(self.defined.graph, list(named.values()), {}, own), strict=True)
        )

    def conditions(self, notation: Notation) -> Iterator[str]:
        """The conditions under which the entries hold."""
        return self.form.conditions(notation)


def shortest_form(
    graph: Graph,
    refs: Sequence[Ref],
    labels: Sequence[str],
    kinds: Kinds,
    defined: DefinedNames | None,
    *,
    parts: bool = True,
    premises: Premises = NONE,
) -> PrintedForm:
    """:func:`printed_form` of *refs*, or with *parts* the one with names of *defined* if there is less to read."""
    plain = printed_form(graph, refs, labels, kinds, parts=parts, premises=premises)
    if defined is None or not parts:
        return plain
    known = form_cost(plain, labels, kinds)
    if known > MOST_READ:
        return plain
    best, cost = _form(defined, labels, kinds, premises)
    idle = [n for n in [*defined.named][: -TRIED - 1 : -1] if not _shortens(best, n, labels, kinds)]
    for names in (*([idle] if len(idle) > 1 else []), *([n] for n in idle)):
        fewer = defined
        for name in names:
            fewer = fewer.without(name).needed() if name in fewer.named else fewer
        if fewer is not defined:
            found, own = _form(fewer, labels, kinds, premises)
            if own <= cost:
                defined, best, cost = fewer, found, own
    return best if cost < known else plain


def _form(defined: DefinedNames, labels: Sequence[str], kinds: Kinds, premises: Premises) -> tuple[_Defined, float]:
    """The form with all names, and its reading cost."""
    known, names = defined.kinds(kinds), list(defined.named)
    refs = (*defined.named.values(), *defined.refs)
    form = _Defined(printed_form(defined.graph, refs, [*names, *labels], known, premises=premises), defined)
    return form, form_cost(form, labels, known)


def _shortens(form: PrintedForm, name: str, labels: Sequence[str], kinds: Kinds) -> bool:
    """Whether the text that *name* stands for, in brackets wherever the name is shown, costs more to read than the name does."""
    from kineta.notation.readable.reading_cost import GIVEN, NAME, quasi_velocities, reading_cost, tokens

    lines, quasi = list(form.lines(TEXT, labels)), quasi_velocities(kinds)
    own = next(text for left, text in lines if left == name)
    uses = sum(tokens(text).count(name) for _, text in lines)
    return uses * (reading_cost([("", f"({own})")], (), quasi) - NAME) > reading_cost([("", own)], (), quasi) + GIVEN


def in_order(lines: Sequence[tuple[str, str]]) -> Iterator[int]:
    """The places of *lines* in the order in which their names need each other."""
    from kineta.notation.readable.reading_cost import tokens

    left = {name: k for k, (name, _) in enumerate(lines)}
    uses = {name: left.keys() & tokens(text) for name, text in lines}
    while left:
        free = next(name for name in left if uses[name].isdisjoint(left))
        yield left.pop(free)
