"""Derivation reports: the steps of a derivation as Markdown, LaTeX or HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import chain, count, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kineta.equations.formulas import aligned, kinds, simplified, unit_quaternions
from kineta.equations.kept_names import in_names, kept_names
from kineta.errors import ArgumentError
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import LEAVES, Op
from kineta.expr.walk import operands, reachable, reachable_below
from kineta.files import path_of, write
from kineta.mechanics.narration import Shown, Step
from kineta.model.system import System
from kineta.notation import latex, text
from kineta.notation.common_subexpressions import AGAIN, LINE, SINGLE, unnamed_nodes
from kineta.notation.defined_names import DefinedNames, shortest_form
from kineta.notation.html import page
from kineta.notation.mathml import mathml
from kineta.notation.premises import Premises
from kineta.notation.printed_tables import with_shown_points
from kineta.notation.typesetting import LAST, WAVES, FactorKind, Kinds, Notation, factor_kinds, typeset
from kineta.passes.collect_terms import collect_terms
from kineta.passes.remove_guards import remove_guards
from kineta.passes.substitute import substitute
from kineta.records import dataclass
from kineta.threads import once

if TYPE_CHECKING:
    from kineta.mechanics.derivation import Derivation

#: Operations of an expression at most for an attempt to write it out, and characters of the result at most.
SMALL, WRITTEN_OUT = 1000, 150
#: Nodes of equations at most that are printed as everywhere, not in terms of earlier names.
PRINTED = 300
#: Characters of a named expression at most that is written out again.
AGAIN_OUT = 40

#: Characters of a vector or matrix at most that is written as a whole; longer ones are written by component.
TOGETHER = 240


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A line of a report: the definition of *name*, which may use names of earlier lines."""

    name: str
    ref: Ref
    text: str
    latex_name: str
    latex: str


#: The auxiliary definitions of a quantity, the quantity, and the definitions of its entries.
_Row = tuple[tuple[ReportLine, ...], Shown, tuple[ReportLine, ...]]


@dataclass(frozen=True, slots=True)
class ReportStep:
    """A step with its lines: for each quantity its auxiliary definitions, the quantity, and the definitions of its entries."""

    step: Step
    lines: tuple[_Row, ...]


@dataclass(frozen=True, slots=True)
class FinalStep:
    """The *refs* of a step with equations in the *graph* in which these are printed, *defined* with names of the model."""

    graph: Graph
    refs: tuple[Ref, ...]
    defined: DefinedNames | None


@dataclass(frozen=True, repr=False, eq=False)
class DerivationReport:
    """The derivation of a system by a formalism, step by step. All formulas have the values of the computed expressions.

    named : what names that the model gives to expressions stand for, each in terms of those before it; steps are in terms of them
    finals : of each step, the equations that are printed as everywhere, None where they are in terms of earlier names
    order : names that stand first among those of their kind; ``rising`` : whether sums begin with their lowest derivatives
    """

    system: System
    formalism: str
    source: str
    graph: Graph
    named: Mapping[str, Ref]
    steps: tuple[Step, ...]
    finals: tuple[FinalStep | None, ...]
    order: tuple[str, ...] = ()
    rising: bool = False

    @property
    def title(self) -> str:
        """The title of the report."""
        return f"{self.system.name} by {self.formalism}"

    @once
    def told(self) -> tuple[ReportStep, ...]:
        """The steps with their formulas as text and LaTeX."""
        refs = tuple(r for step in self.steps for shown in step.shown for r in shown.refs)
        notations = text.Text(rising=self.rising), latex.Latex(rising=self.rising)
        defined, given = DefinedNames(self.graph, refs, dict(self.named)), unit_quaternions(self.system)
        writer = _ReportWriter(defined, kinds(self.system, self.order), given, notations)
        return tuple(map(writer.told, self.steps, self.finals))

    @property
    def entries(self) -> tuple[ReportLine, ...]:
        """All lines, in their order."""
        rows = (row for told in self.told for row in told.lines)
        return tuple(e for needed, _, own in rows for e in (*needed, *own))

    def markdown(self) -> str:
        """The report as Markdown, with formulas as text."""
        blocks = [f"# {self.title}", f"After {self.source}."]
        for told in self.told:
            blocks.append(f"## {told.step.title}")
            head = [f"`{told.step.law}`" if told.step.law else "", f"[{told.step.source}]" if told.step.source else ""]
            blocks += ["  ".join(x for x in head if x)] if any(head) else []
            blocks += [told.step.plain_note] if told.step.note else []
            lines = [line for needed, shown, own in told.lines for line in _text_lines(needed, shown, own)]
            blocks += ["```text\n" + "\n".join(lines) + "\n```"] if lines else []
        return "\n\n".join(blocks) + "\n"

    def latex(self) -> str:
        """The report as a LaTeX document."""
        body = [rf"\section*{{{latex.words(self.title)}}}", f"After {latex.words(self.source)}."]
        for told in self.told:
            body.append(rf"\subsection*{{{latex.words(told.step.title)}}}")
            if told.step.law:
                source = rf" \qquad \text{{{latex.words(told.step.source)}}}" if told.step.source else ""
                body.append(rf"\[ {latex.from_unicode(told.step.law)}{source} \]")
            elif told.step.source:
                body.append(f"{latex.words(told.step.source)}.")
            body += [latex.words(told.step.note)] if told.step.note else []
            lines = [f"{name} = {value}" for name, value in _pairs(told)]
            body += [aligned(lines, "align*")] if lines else []
        whole = "\n".join(body)
        fonts = "" if whole.isascii() else "\\usepackage[T2A,T1]{fontenc}\n"
        return (
            f"\\documentclass{{article}}\n\\usepackage{{amsmath}}\n\\usepackage[margin=2cm]{{geometry}}\n{fonts}"
            "\\allowdisplaybreaks\n"
            f"\\begin{{document}}\n{whole}\n\\end{{document}}\n"
        )

    def html(self) -> str:
        """The report as a self-contained page of HTML, whose steps are shown one by one by its buttons or the keys of arrows."""
        return page(self.title, self._repr_html_(), steps=True)

    def _repr_html_(self) -> str:
        body = [f"<p>After {escape(self.source)}.</p>"]
        for told in self.told:
            body.append(f"<section><h2>{escape(told.step.title)}</h2>")
            law = mathml(latex.from_unicode(told.step.law)) if told.step.law else ""
            source = f" <small>{escape(told.step.source)}</small>" if told.step.source else ""
            body += [f"<p>{law}{source}</p>"] if law or source else []
            body += [f"<p>{escape(told.step.plain_note)}</p>"] if told.step.note else []
            body += [_formula(name, value) for name, value in _pairs(told)] + ["</section>"]
        return "".join(body)

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "model": self.system.name,
            "formalism": self.formalism,
            "source": self.source,
            "steps": [
                {
                    "title": told.step.title,
                    "law": told.step.law,
                    "source": told.step.source,
                    "note": told.step.plain_note,
                    "equations": [f"{e.name} = {e.text}" for row in told.lines for e in (*row[0], *row[2])],
                }
                for told in self.told
            ],
        }

    def save(self, path: object) -> None:
        """Write the report to a file that ends in .md, .tex or .html. Raises :class:`ArgumentError` for another ending."""
        file = path_of(path, "a file name")
        check_form(file)
        write({file: FORMS[file.suffix.lower()](self).encode()})

    def __str__(self) -> str:
        return self.markdown()

    def __repr__(self) -> str:
        return f"<Account of '{self.system.name}' by {self.formalism}: {len(self.steps)} steps>"


#: Formats of reports by file ending.
FORMS = {".md": DerivationReport.markdown, ".tex": DerivationReport.latex, ".html": DerivationReport.html}


def check_form(file: Path) -> None:
    """Raise :class:`ArgumentError` for a *file* with an unknown ending."""
    if file.suffix.lower() not in FORMS:
        raise ArgumentError(f"{file}: expected a file name that ends in {', '.join(FORMS)}, found '{file.suffix}'.")


def derivation_report(
    derivation: Derivation, system: System, formalism: str, source: str, steps: Sequence[Step]
) -> DerivationReport:
    """The report on *steps* in the graph of *derivation*; *system* is the one as it is described."""
    refs = [r for step in steps for shown in step.shown for r in shown.refs]
    found = in_names(derivation, system, refs)
    graph, plain = with_shown_points(*remove_guards(found.graph, [*found.named.values(), *found.refs]))
    named, left = dict(zip(found.named, plain, strict=False)), iter(plain[len(found.named) :])
    taken = {n.replace("_", "") for n in derivation.graph.names}
    own = tuple(_replaced(step, left, taken) for step in steps)
    finals = tuple(_final_step(derivation, system, step) if step.whole else None for step in steps)
    return DerivationReport(derivation.symbols.system, formalism, source, graph, named, own, finals)


def _final_step(derivation: Derivation, system: System, step: Step) -> FinalStep | None:
    """The equations of *step*, simplified as those that are printed; None where they are long."""
    refs = [r for shown in step.shown for r in shown.refs]
    if len(reachable(derivation.graph, refs)) > SMALL:
        return None
    own, found = simplified(derivation, {"final": refs}, system.parameter_names)
    if len(reachable(own.graph, found["final"])) > PRINTED:
        return None
    return FinalStep(own.graph, tuple(found["final"]), kept_names(derivation, system, refs))


def _replaced(step: Step, refs: Iterator[Ref], taken: set[str]) -> Step:
    """*step* with other references *refs*, and with names that differ from the names *taken* by the model, in LaTeX, too."""
    shown = []
    for x in step.shown:
        stem, bracket, rest = x.name.partition("[")
        if not bracket:
            names = chain((stem,), (f"{stem}_{k}" for k in count()))
            stem = next(n for n in names if n.replace("_", "") not in taken)
        shown.append(Shown(stem + bracket + rest, tuple(next(refs) for _ in x.refs), x.shape))
    return replace(step, shown=tuple(shown))


def _names(shown: Shown) -> list[str]:
    """Names of the entries."""
    if not shown.shape:
        return [shown.name]
    if shown.shape == (3,):
        stem = shown.name.rstrip("'")
        return [f"{stem}.{axis}{shown.name[len(stem) :]}" for axis in "xyz"]
    return [f"{shown.name}[{','.join(str(i + 1) for i in at)}]" for at in product(*map(range, shown.shape))]


# -- what stands for what ----------------------------------------------------------------------------------------------


class _ReportWriter:
    """Writer of expressions in sequence, with the names introduced so far."""

    def __init__(
        self, defined: DefinedNames, kinds: Kinds, premises: Premises, notations: tuple[Notation, Notation]
    ) -> None:
        self.defined, self.graph, self.premises = defined, defined.graph, premises
        self.text, self.latex = notations
        self.given, self.kinds = kinds, dict(defined.kinds(kinds))
        graph, refs = defined.graph, [*defined.named.values(), *defined.refs]
        self.known = factor_kinds(graph, refs, self.kinds)
        self.explicit = _written_out(graph, refs, self.kinds, notations)
        self.values: dict[str, Ref] = {}
        for name, ref in defined.named.items():
            (self.values[name],) = substitute(graph, [ref], self.values)
        self.told_names = set[str]()
        self.names: dict[int, str] = {}
        self.parts = set[str]()
        self.latex_names: dict[int, str] = {}
        self.taken = {n.replace("_", "") for n in graph.names}
        self.uses: dict[int, int] = {}
        rest = [r for r in refs if r not in self.explicit]
        for i in reachable(graph, rest):
            for r in operands(graph, i):
                self.uses[r >> 1] = self.uses.get(r >> 1, 0) + 1

    def told(self, step: Step, final: FinalStep | None) -> ReportStep:
        """The *step*, with short formulas written out, others in terms of earlier names; a *final* one as it is printed."""
        rows = (self.shown(shown, whole=step.whole) for shown in step.shown)
        return ReportStep(step, tuple(map(self._in_values, rows if final is None else self.printed(step, final))))

    def _in_values(self, row: _Row) -> _Row:
        """A *row* whose lines have values in terms of the state alone."""
        needed, shown, own = row
        lines = (*needed, *own)
        refs = substitute(self.graph, [line.ref for line in lines], self.values)
        found = tuple(replace(line, ref=ref) for line, ref in zip(lines, refs, strict=True))
        return found[: len(needed)], shown, found[len(needed) :]

    def shown(self, shown: Shown, *, whole: bool) -> _Row:
        """The auxiliary definitions of a quantity, and the definitions of its entries."""
        needed: list[ReportLine] = [*self._given_names(shown.refs)]
        own: list[ReportLine] = []
        for name, ref in zip(_names(shown), shown.refs, strict=True):
            explicit = ref in self.explicit and (whole or not self._named(ref))
            needed += () if explicit else self._parts(ref)
            own.append(self._entry(name, ref, explicit=explicit))
        for entry in own:
            self._know(entry)
        return tuple(needed), shown, tuple(own)

    def _given_names(self, refs: Sequence[Ref]) -> Iterator[ReportLine]:
        """Definitions of the names of the model that stand in *refs* and that no line has told yet."""
        for name, ref in replace(self.defined, refs=tuple(refs)).needed().named.items():
            if name not in self.told_names:
                self.told_names.add(name)
                explicit = ref in self.explicit
                yield from () if explicit else self._parts(ref)
                yield self._entry(name, ref, explicit=explicit)

    def printed(self, step: Step, final: FinalStep) -> Iterator[_Row]:
        """The quantities of a step in the form in which they are printed, behind the first one's auxiliary definitions."""
        labels = [name for shown in step.shown for name in _names(shown)]
        defined, graphs = final.defined, [final.graph, *([] if final.defined is None else [final.defined.graph])]
        for own, name in product(graphs, {*self.given, *self.parts}):  # new parts have other names
            own.symbol(name)
        form = shortest_form(final.graph, final.refs, labels, self.given, defined, premises=self.premises)
        lines = list(form.lines(self.text, labels))
        tex = list(form.lines(self.latex, list(map(latex.label, labels))))
        first, (graph, named), known = len(lines) - len(labels), form.definitions(), dict[str, Ref]()
        for name, _ in lines[:first]:
            (known[name],) = substitute(graph, [named[name]], known, self.graph)
        refs = (*known.values(), *(r for shown in step.shown for r in shown.refs))
        entries = [
            ReportLine(name, ref, plain, tex_name, value)
            for ref, (name, plain), (tex_name, value) in zip(refs, lines, tex, strict=True)
        ]
        self.parts |= known.keys()
        self.told_names |= known.keys()
        for entry in entries[first:]:
            self._know(entry)
        needed, rest = tuple(entries[:first]), iter(entries[first:])
        for shown in step.shown:
            yield needed, shown, tuple(next(rest) for _ in shown.refs)
            needed = ()

    def _named(self, ref: Ref) -> bool:
        """Whether *ref* has a name and is too long to be repeated."""
        return ref >> 1 in self.names and len(self.explicit[ref][0]) > AGAIN_OUT

    def _entry(self, name: str, ref: Ref, *, explicit: bool = False) -> ReportLine:
        if explicit:
            shown = self.explicit[ref]
        else:
            whole = ref >> 1 not in self.names
            plain = typeset(self.graph, ref, self.text, self.names, self.kinds, whole=whole)
            shown = plain, typeset(self.graph, ref, self.latex, self.latex_names, self.kinds, whole=whole)
        return ReportLine(name, ref, shown[0], latex.label(name), shown[1])

    def _parts(self, ref: Ref) -> Iterator[ReportLine]:
        """Auxiliary definitions for *ref*: repeated parts, and parts that shorten it."""
        if ref >> 1 in self.names:
            return
        length: dict[int, int] = {}
        order = reachable_below(self.graph, ref, self.names)
        unnamed = unnamed_nodes(self.graph, order)
        for i in order:
            inside = () if i in self.names else operands(self.graph, i)
            length[i] = sum(length[r >> 1] for r in inside) + bool(inside)
            again = self.uses.get(i, 0) > 1 and length[i] > AGAIN
            if i != ref >> 1 and i not in unnamed and (again or length[i] > LINE):
                length[i] = 0
                part = self._named_part(self._entry("", 2 * i))
                # What a part is made of may cancel in print.
                if SINGLE.fullmatch(part.text) is None and self._know(part):
                    self.parts.add(part.name)
                    yield part

    def _named_part(self, value: ReportLine) -> ReportLine:
        name = next(n for k in count(1) if (n := f"z{k}") not in self.taken and n not in self.parts)
        return replace(value, name=name, latex_name=latex.label(name))

    def _know(self, entry: ReportLine) -> bool:
        """Use the name of *entry* in later expressions, if it is shorter, and whether it is."""
        i = entry.ref >> 1
        if i in self.names or entry.name == "0" or self.graph.op[i] in LEAVES or len(entry.text) < len(entry.name) + 3:
            return False
        sign = "-" * (entry.ref & 1)
        self.names[i], self.latex_names[i] = sign + entry.name, sign + entry.latex_name
        for shown in (entry.name, entry.latex_name):
            self.kinds[shown] = self.known[i], LAST
        return True


def _written_out(
    graph: Graph, refs: Sequence[Ref], kinds: Kinds, notations: tuple[Notation, Notation]
) -> Mapping[Ref, tuple[str, str]]:
    """Text and LaTeX of the *refs* that are short without names."""
    parameters = [n for n, (kind, _) in kinds.items() if kind == FactorKind.PARAMETER]
    lengths = _lengths(graph, refs, SMALL)
    small = list(dict.fromkeys(r for r in refs if lengths[r >> 1] <= SMALL))
    own = Graph()
    found: dict[Ref, tuple[str, str]] = {}
    collected = collect_terms(own, substitute(graph, small, {}, own), parameters)
    shorter = _lengths(own, collected, WRITTEN_OUT)
    for ref, ours in zip(small, collected, strict=True):
        if shorter[ours >> 1] > WRITTEN_OUT:
            continue
        shown = _shortest(own, ours, kinds, notations)
        if len(shown[0]) <= WRITTEN_OUT:
            found[ref] = shown
    return found


def _shortest(graph: Graph, ref: Ref, kinds: Kinds, notations: tuple[Notation, Notation]) -> tuple[str, str]:
    """Text and LaTeX of *ref*; of roots, and of a fraction over sines and cosines, in the form that is shortest to read."""
    plain, tex = (typeset(graph, ref, n, kinds=kinds) for n in notations)
    if not any(
        graph.op[i] == Op.SQRT or (graph.op[i] == Op.DIV and _has_waves(graph, graph.rhs[i]))
        for i in reachable(graph, [ref])
    ):
        return plain, tex
    from kineta.notation.readable.readable_form import readable_form
    from kineta.notation.readable.reading_cost import quasi_velocities, reading_cost

    form = readable_form(graph, [ref], kinds, ["f"], parts=False)
    if form is None:
        return plain, tex
    own, own_tex = (next(iter(form.lines(n, ["f"])))[1] for n in notations)
    forms = (plain, tex), (own, own_tex)
    return min(forms, key=lambda shown: reading_cost([("f", shown[0])], (), quasi_velocities(kinds)))


def _has_waves(graph: Graph, ref: Ref) -> bool:
    return any(graph.op[i] in WAVES for i in reachable(graph, [ref]))


def _lengths(graph: Graph, refs: Sequence[Ref], most: int) -> dict[int, int]:
    """Operations of every node when written out, up to *most*."""
    length: dict[int, int] = {}
    for i in reachable(graph, refs):
        inside = operands(graph, i)
        length[i] = min(most + 1, bool(inside) + sum(length[r >> 1] for r in inside))
    return length


# -- forms -------------------------------------------------------------------------------------------------------------


def _together(own: Sequence[ReportLine], shape: Sequence[int]) -> bool:
    """Whether a quantity is written as a whole."""
    return len(shape) > 0 and sum(len(e.text) for e in own) + 2 * len(own) <= TOGETHER


def _vanishes(own: Sequence[ReportLine]) -> bool:
    """Whether all entries of a vector or matrix are zero."""
    return all(e.text == "0" for e in own)


def _text_lines(needed: Sequence[ReportLine], shown: Shown, own: Sequence[ReportLine]) -> Iterator[str]:
    for e in needed:
        yield f"{e.name} = {e.text}"
    if not _together(own, shown.shape):
        for e in own:
            yield f"{e.name} = {e.text}"
    elif _vanishes(own):
        yield f"{shown.name} = 0"
    elif len(shown.shape) == 1:
        yield f"{shown.name} = ({', '.join(e.text for e in own)})"
    else:
        yield from _rows(f"{shown.name} = ", [e.text for e in own], shown.shape[1])


def _rows(head: str, cells: Sequence[str], columns: int) -> Iterator[str]:
    """The lines of a matrix."""
    rows = [cells[k : k + columns] for k in range(0, len(cells), columns)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for k, row in enumerate(rows):
        inside = "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True))
        yield f"{head if not k else ' ' * len(head)}[ {inside} ]"


def _formula(name: str, value: str) -> str:
    """An equation in MathML; a long sum takes more than one line."""
    first, *more = latex.break_lines(value)
    rest = (f'<div class="more">{mathml(line, block=True)}</div>' for line in more)
    return f"<div>{mathml(f'{name} = {first}', block=True)}</div>{''.join(rest)}"


def _pairs(told: ReportStep) -> Iterator[tuple[str, str]]:
    """Left and right sides in LaTeX."""
    for needed, shown, own in told.lines:
        yield from ((e.latex_name, e.latex) for e in needed)
        if _together(own, shown.shape) and _vanishes(own):
            yield latex.label(shown.name), "0"
        elif _together(own, shown.shape):
            columns = shown.shape[1] if len(shown.shape) > 1 else 1
            yield latex.label(shown.name), latex.matrix([e.latex for e in own], columns)
        else:
            yield from ((e.latex_name, e.latex) for e in own)
