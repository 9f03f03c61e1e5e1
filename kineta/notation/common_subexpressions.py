"""Common subexpressions in print: repeated parts have names, all others are written out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from kineta.errors import ArgumentError
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import LEAVES, Op
from kineta.expr.walk import operands, reachable
from kineta.notation.printed_numbers import NumberStyle, in_one_style
from kineta.notation.printed_tables import grid_rows
from kineta.notation.text import TEXT
from kineta.notation.typesetting import LAST, Kinds, Notation, factor_kinds, typeset
from kineta.passes.remove_guards import remove_guards
from kineta.records import dataclass
from kineta.threads import memo

#: Operations in one line at most: in longer formulas parts have names although they occur once.
LINE = 24
#: Operations of a repeated part at most that is written out at each occurrence.
AGAIN = 2
#: Operations at most of formulas written out without named parts.
WRITTEN = 4000
#: Characters of a part at most that is written out where it is looked up once.
BRIEF = 32
#: The name of a part in a line, and a line that is a name, a number, or a function of a name.
PART = re.compile(r"\bz\d+\b")
SINGLE = re.compile(r"-?[\w.]+'*|-?\w+\([\w.]+\)")


@dataclass(frozen=True, eq=False)
class CommonSubexpressions:
    """Formulas with named parts: ``named`` are the nodes with the names z1, z2, ... in topological order; nodes that are written
    alike have one name, and a name of those that are ``turned`` is that of the negative.
    """

    graph: Graph
    named: Mapping[int, str]
    entries: Sequence[Ref]
    kinds: Kinds
    turned: Collection[int] = ()

    @property
    def parts(self) -> Collection[str]:
        """The names of the parts."""
        return tuple(dict.fromkeys(self.named.values()))

    @property
    def given(self) -> Collection[str]:
        """None of the names is one of the model."""
        return ()

    def lines(self, notation: Notation, labels: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Names and right sides: the named parts, then the entries by their *labels*."""
        named, entries = memo(self, (notation,), lambda: self._written(notation))
        yield from named
        yield from zip(labels, entries, strict=True)

    def definitions(self) -> tuple[Graph, Mapping[str, Ref]]:
        """What the parts stand for in the graph, in terms of its symbols."""
        return self.graph, {name: 2 * i ^ (i in self.turned) for i, name in reversed([*self.named.items()])}

    def conditions(self, notation: Notation) -> Iterator[str]:
        """None: the formulas are as computed."""
        return iter(())

    def with_signs(self) -> CommonSubexpressions:
        """The same with those parts turned that would begin with a minus."""
        shown, kinds, turned = dict[int, str](), self._kinds(self.named), set[int]()
        for i, name in self.named.items():
            if typeset(self.graph, 2 * i, TEXT, shown, kinds).startswith("-"):
                turned.add(i)
            shown[i] = f"-{name}" if i in turned else name
        return replace(self, turned=turned)

    def _kinds(self, names: Mapping[int, str]) -> Kinds:
        known = factor_kinds(self.graph, [*(2 * i for i in names), *self.entries], self.kinds)
        return {**self.kinds, **{name: (known[i], LAST) for i, name in names.items()}}

    def _written(self, notation: Notation) -> tuple[list[tuple[str, str]], list[str]]:
        """The named parts with their right sides, and the right sides of the entries."""
        rows = in_one_style(lambda numbers: self._lines(notation, numbers))
        named = len(rows) - len(self.entries)
        return rows[:named], [right for _, right in rows[named:]]

    def _lines(self, notation: Notation, numbers: NumberStyle) -> Iterator[tuple[str, str]]:
        names = {i: notation.name(name) for i, name in self.named.items()}
        shown = {i: f"-{name}" if i in self.turned else name for i, name in names.items()}
        kinds = self._kinds(names)
        first = {name: i for i, name in reversed([*names.items()])}
        for i, name in names.items():
            if first[name] == i:
                yield name, typeset(self.graph, 2 * i ^ (i in self.turned), notation, shown, kinds, numbers=numbers)
        for ref in self.entries:
            yield "", typeset(self.graph, ref, notation, shown, kinds, whole=False, numbers=numbers)


def common_subexpressions(
    graph: Graph, refs: Sequence[Ref], kinds: Kinds, labels: Sequence[str] = (), *, parts: bool = True
) -> CommonSubexpressions:
    """*refs* with their repeated parts named z1, z2, ...; short parts are written out.

    The names differ from those of symbols and from the *labels* of results. Guards of divisors are not shown. Without *parts*
    nothing is named. Raises :class:`ArgumentError` where this would take more than :data:`WRITTEN` operations.
    """
    taken = {n.replace("_", "") for n in (*graph.names, *labels)}
    graph, refs = remove_guards(graph, refs)
    order = reachable(graph, refs)
    if not parts:
        _check_length(graph, order, refs)
        return CommonSubexpressions(graph, {}, refs, kinds)
    uses = dict.fromkeys(order, 0)
    for i in order:
        for r in operands(graph, i):
            uses[r >> 1] += 1
    length: dict[int, int] = {}
    named: dict[int, str] = {}
    names = (n for k in count(1) if (n := f"z{k}") not in taken)
    roots = {r >> 1 for r in refs}
    formulas = [r for r, n in zip(refs, labels, strict=False) if n not in graph.names]
    tables = {i for i in reachable(graph, formulas) if graph.op[i] == Op.TABLE} - roots
    unnamed = unnamed_nodes(graph, order)
    for i in order:
        if graph.op[i] in LEAVES:
            length[i] = 0
            continue
        inside = operands(graph, i)
        length[i] = 1 + sum(length[r >> 1] for r in inside)
        again = uses[i] > 1 or (i in roots and uses[i] > 0)
        if i in unnamed:
            continue
        if (again and length[i] > AGAIN) or (length[i] > LINE and i not in roots) or i in tables:
            named[i] = next(names)
            length[i] = 0
    return CommonSubexpressions(graph, named, refs, kinds)


def without_needless_parts(form: CommonSubexpressions, labels: Sequence[str]) -> CommonSubexpressions:
    """*form* without parts that no line shows, as terms with them cancel within a sum, without those that are a name, a number
    or a function of a name, or are short and looked up once, and without a second name for what has one; no part begins with
    a minus.
    """
    if not form.named:
        return form
    lines = list(form.lines(TEXT, labels))
    if not form.turned and any(text[0] == "-" for _, text in lines[: len(form.parts)]):
        form = form.with_signs()
        lines = list(form.lines(TEXT, labels))
    uses = Counter(name for _, text in lines for name in PART.findall(text))
    first: dict[str, str] = {}
    needless = set[str]()
    for name, text in lines[: len(form.parts)]:
        other = first.setdefault(text, name)
        alone = SINGLE.fullmatch(text) is not None
        if other != name or alone or not uses[name] or (uses[name] == 1 and len(text) <= BRIEF):
            needless.add(name)
    if not needless:
        return form
    fresh, renamed, named = iter(form.parts), dict[str, str](), dict[int, str]()
    origin = {name: first[text] for name, text in lines[: len(form.parts)]}
    for i, name in form.named.items():
        if origin[name] not in needless:
            named[i] = renamed.setdefault(origin[name], renamed.get(origin[name]) or next(fresh))
    return without_needless_parts(replace(form, named=named), labels)


def unnamed_nodes(graph: Graph, order: Sequence[int]) -> set[int]:
    """Nodes of *order* that have no names: pairs and conditions, which are no numbers, and rows of grids."""
    return {i for i in order if graph.op[i] == Op.PAIR} | _conditions(graph, order) | grid_rows(graph, order)


def _conditions(graph: Graph, order: Iterable[int]) -> set[int]:
    """Nodes that conditions are made of, down to the comparisons."""
    found = set[int]()
    ahead = [
        (graph.lhs if graph.op[i] == Op.IF else graph.rhs)[i] >> 1 for i in order if graph.op[i] in (Op.IF, Op.WHERE)
    ]
    while ahead:
        i = ahead.pop()
        if i not in found:
            found.add(i)
            ahead += [r >> 1 for r in operands(graph, i)] if graph.op[i] != Op.STEP else []
    return found


def _check_length(graph: Graph, order: Iterable[int], refs: Sequence[Ref]) -> None:
    written: dict[int, int] = {}
    for i in order:
        inside = operands(graph, i)
        written[i] = min(WRITTEN + 1, bool(inside) + sum(written[r >> 1] for r in inside))
    if sum(written[r >> 1] for r in refs) > WRITTEN:
        raise ArgumentError(
            f"Expected formulas of at most {WRITTEN} operations to write out without named parts, found longer ones; "
            "leave out parts=False, --no-parts on the command line."
        )
