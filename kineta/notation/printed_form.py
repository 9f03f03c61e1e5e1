"""Equations in print: of the form as computed, the collected form and the readable form the one that is shortest to read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Protocol

from kineta.expr.graph import Graph, Ref
from kineta.expr.op import Op
from kineta.expr.walk import reachable
from kineta.notation.common_subexpressions import common_subexpressions, without_needless_parts
from kineta.notation.premises import NONE, Premises
from kineta.notation.printed_tables import with_shown_points
from kineta.notation.text import TEXT
from kineta.notation.typesetting import FactorKind, Kinds, Notation
from kineta.passes.collect_terms import collect_terms
from kineta.passes.remove_guards import remove_guards
from kineta.passes.substitute import substitute

#: Nodes of formulas at most for which the collected form, and the readable form, are tried.
SMALL, READABLE = 300, 240
#: Parts above which all stand as they were named.
MANY = 200
#: The cost of a form as computed at most, of that of the readable form, for which its parts are worth following.
DETOUR = 0.8


class PrintedForm(Protocol):
    """Lines of equations in any notation."""

    @property
    def parts(self) -> Collection[str]:
        """The names of the parts."""

    @property
    def given(self) -> Collection[str]:
        """Those of the parts that the model has names for, which its readers know."""

    def lines(self, notation: Notation, labels: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Names and right sides: the named parts, then the entries by their *labels*."""

    def definitions(self) -> tuple[Graph, Mapping[str, Ref]]:
        """What the parts stand for in a graph, where other parts are symbols with their names."""

    def conditions(self, notation: Notation) -> Iterator[str]:
        """The conditions under which the entries hold."""


def printed_form(
    graph: Graph,
    refs: Sequence[Ref],
    labels: Sequence[str],
    kinds: Kinds,
    *,
    parts: bool = True,
    premises: Premises = NONE,
) -> PrintedForm:
    """The form of *refs* of the least reading cost, with named *parts* or without; names of parts are none of the *labels*.

    By the *premises* signs that last from the start on are left out, under conditions.

    Raises :class:`ArgumentError` for formulas too long to be written out without parts.
    """
    graph, refs = with_shown_points(graph, refs)
    size = sum(graph.op[i] != Op.PAIR for i in reachable(graph, refs))  # data of tables are no formulas
    if size > SMALL:
        form = common_subexpressions(graph, refs, kinds, labels, parts=parts)
        return without_needless_parts(form, labels) if len(form.parts) < MANY else form
    # Imported here: models that are only run, and long formulas, need none of it.
    from kineta.notation.readable.readable_form import readable_form

    own = Graph()
    plain = substitute(*remove_guards(graph, refs), {}, own)
    collected = collect_terms(own, plain, [n for n, (kind, _) in kinds.items() if kind == FactorKind.PARAMETER])
    forms = (common_subexpressions(own, form, kinds, labels, parts=parts) for form in (collected, plain))
    best, cost = min(((form, form_cost(form, labels, kinds)) for form in forms), key=lambda row: row[1])
    if (
        size <= READABLE
        and (readable := readable_form(own, plain, kinds, labels, parts=parts, premises=premises)) is not None
        and form_cost(readable, labels, kinds) * (DETOUR if best.parts else 1.0) <= cost
    ):
        return readable
    return without_needless_parts(best, labels)


def form_cost(form: PrintedForm, labels: Sequence[str], kinds: Kinds) -> float:
    """The reading cost of a form in text."""
    from kineta.notation.readable.reading_cost import quasi_velocities, reading_cost

    conditions = [("", text) for text in form.conditions(TEXT)]
    return reading_cost([*form.lines(TEXT, labels), *conditions], form.parts, quasi_velocities(kinds), form.given)
