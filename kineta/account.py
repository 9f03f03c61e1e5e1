"""A derivation told step by step, as Markdown, LaTeX or one page of HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import count, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kineta.codegen import latex, text
from kineta.codegen.bindings import AGAIN, LINE, operands
from kineta.codegen.mathml import mathml
from kineta.codegen.written import LAST, Kind, Kinds, kinds_of, written
from kineta.errors import ArgumentError
from kineta.expr.graph import Graph, Ref
from kineta.expr.op import LEAVES
from kineta.expr.walk import reachable, reachable_below
from kineta.files import path_of, write
from kineta.formalism.step import Shown, Step
from kineta.formulas import aligned, kinds
from kineta.model.system import System
from kineta.pages import page
from kineta.passes.bare import bare
from kineta.passes.collect import collect
from kineta.passes.substitute import substitute
from kineta.threads import once

if TYPE_CHECKING:
    from kineta.formalism.derivation import Derivation

#: Operations of an expression that is tried written out, and characters that it may take then.
SMALL, WRITTEN_OUT = 1000, 150
#: Characters that are shown again although they have a name.
AGAIN_OUT = 40

#: Characters of a vector or matrix that is written as one; longer ones are written component by component.
TOGETHER = 240


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of an account: what *name* stands for. Names of lines above may stand in it."""

    name: str
    ref: Ref
    text: str
    latex_name: str
    latex: str


@dataclass(frozen=True, slots=True)
class Told:
    """A step with its lines: for each of its quantities those that it needs, then its own entries."""

    step: Step
    lines: tuple[tuple[tuple[Entry, ...], Shown, tuple[Entry, ...]], ...]


@dataclass(frozen=True, repr=False, eq=False)
class Account:
    """The derivation of a system by a formalism, step by step. Everything that it shows has the value that is computed."""

    system: System
    formalism: str
    source: str
    graph: Graph
    steps: tuple[Step, ...]

    @property
    def title(self) -> str:
        """What is told."""
        return f"{self.system.name} by {self.formalism}"

    @once
    def told(self) -> tuple[Told, ...]:
        """The steps with what they show, as text and LaTeX."""
        return tuple(_tell(self.graph, self.steps, kinds(self.system)))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All lines, in their order."""
        rows = (row for told in self.told for row in told.lines)
        return tuple(e for needed, _, own in rows for e in (*needed, *own))

    def markdown(self) -> str:
        """The account as Markdown, with formulas as text."""
        blocks = [f"# {self.title}", f"After {self.source}."]
        for told in self.told:
            blocks.append(f"## {told.step.title}")
            head = [f"`{told.step.law}`" if told.step.law else "", f"[{told.step.source}]" if told.step.source else ""]
            blocks += ["  ".join(x for x in head if x)] if any(head) else []
            blocks += [told.step.note] if told.step.note else []
            lines = [line for needed, shown, own in told.lines for line in _text_lines(needed, shown, own)]
            blocks += ["```text\n" + "\n".join(lines) + "\n```"] if lines else []
        return "\n\n".join(blocks) + "\n"

    def latex(self) -> str:
        """The account as a document of LaTeX."""
        body = [rf"\section*{{{_tex(self.title)}}}", f"After {_tex(self.source)}."]
        for told in self.told:
            body.append(rf"\subsection*{{{_tex(told.step.title)}}}")
            if told.step.law:
                source = rf" \qquad \text{{{_tex(told.step.source)}}}" if told.step.source else ""
                body.append(rf"\[ {latex.from_signs(told.step.law)}{source} \]")
            elif told.step.source:
                body.append(f"{_tex(told.step.source)}.")
            body += [_tex(told.step.note)] if told.step.note else []
            lines = [f"{name} = {value}" for name, value in _pairs(told)]
            body += [aligned(lines, "align*")] if lines else []
        whole = "\n".join(body)
        fonts = "" if whole.isascii() else "\\usepackage[T2A,T1]{fontenc}\n"
        return (
            f"\\documentclass{{article}}\n\\usepackage{{amsmath}}\n{fonts}\\allowdisplaybreaks\n"
            f"\\begin{{document}}\n{whole}\n\\end{{document}}\n"
        )

    def html(self) -> str:
        """The account as one page of HTML that needs nothing else."""
        return page(f"{self.title}", self._repr_html_())

    def _repr_html_(self) -> str:
        body = [f"<p>After {escape(self.source)}.</p>"]
        for told in self.told:
            body.append(f"<h2>{escape(told.step.title)}</h2>")
            law = mathml(latex.from_signs(told.step.law)) if told.step.law else ""
            source = f" <small>{escape(told.step.source)}</small>" if told.step.source else ""
            body += [f"<p>{law}{source}</p>"] if law or source else []
            body += [f"<p>{escape(told.step.note)}</p>"] if told.step.note else []
            body += [f"<div>{mathml(f'{name} = {value}', block=True)}</div>" for name, value in _pairs(told)]
        return "".join(body)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "model": self.system.name,
            "formalism": self.formalism,
            "source": self.source,
            "steps": [
                {
                    "title": told.step.title,
                    "law": told.step.law,
                    "source": told.step.source,
                    "note": told.step.note,
                    "equations": [f"{e.name} = {e.text}" for row in told.lines for e in (*row[0], *row[2])],
                }
                for told in self.told
            ],
        }

    def save(self, path: object) -> None:
        """Write the account to a file that ends in .md, .tex or .html. Raises :class:`ArgumentError` for another one."""
        file = path_of(path, "a file name")
        check_form(file)
        write({file: FORMS[file.suffix.lower()](self).encode()})

    def __str__(self) -> str:
        return self.markdown()

    def __repr__(self) -> str:
        return f"<Account of '{self.system.name}' by {self.formalism}: {len(self.steps)} steps>"


#: What a file holds, by its ending.
FORMS = {".md": Account.markdown, ".tex": Account.latex, ".html": Account.html}


def check_form(file: Path) -> None:
    """Raise :class:`ArgumentError` for a *file* whose ending is of no form of an account."""
    if file.suffix.lower() not in FORMS:
        raise ArgumentError(f"{file}: expected a file name that ends in {', '.join(FORMS)}, found '{file.suffix}'.")


def account(derivation: Derivation, formalism: str, source: str, steps: Sequence[Step]) -> Account:
    """The account of *steps* in the graph of *derivation*."""
    refs = [r for step in steps for shown in step.shown for r in shown.refs]
    graph, plain = bare(derivation.graph, refs)
    left = iter(plain)
    taken = set(derivation.graph.names)
    own = tuple(_replaced(step, left, taken) for step in steps)
    return Account(derivation.symbols.system, formalism, source, graph, own)


def _replaced(step: Step, refs: Iterator[Ref], taken: set[str]) -> Step:
    """*step* with *refs* for its own, and with names that are not *taken* by the model."""
    shown = []
    for x in step.shown:
        stem, bracket, rest = x.name.partition("[")
        stem += "_" * (not bracket and stem in taken)
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


def _tell(graph: Graph, steps: Sequence[Step], kinds: Kinds) -> Iterator[Told]:
    """Every step written out where that is short, else in the names of what was shown before."""
    writer = _Writer(graph, [r for step in steps for shown in step.shown for r in shown.refs], kinds)
    for step in steps:
        yield Told(step, tuple(writer.shown(shown, whole=step.whole) for shown in step.shown))


class _Writer:
    """Writes one expression after the other, and knows the names that were given on the way."""

    def __init__(self, graph: Graph, refs: Sequence[Ref], kinds: Kinds) -> None:
        self.graph = graph
        self.kinds = dict(kinds)
        self.known = kinds_of(graph, refs, kinds)
        self.explicit = _written_out(graph, refs, kinds)
        self.names: dict[int, str] = {}
        self.latex_names: dict[int, str] = {}
        taken = {n.replace("_", "") for n in graph.names}
        self.fresh = (n for k in count(1) if (n := f"z{k}") not in taken)
        self.uses: dict[int, int] = {}
        rest = [r for r in refs if r not in self.explicit]
        for i in reachable(graph, rest):
            for r in operands(graph, i):
                self.uses[r >> 1] = self.uses.get(r >> 1, 0) + 1

    def shown(self, shown: Shown, *, whole: bool) -> tuple[tuple[Entry, ...], Shown, tuple[Entry, ...]]:
        """The parts that a quantity needs, and its entries."""
        needed: list[Entry] = []
        own: list[Entry] = []
        for name, ref in zip(_names(shown), shown.refs, strict=True):
            explicit = ref in self.explicit and (whole or not self._named(ref))
            needed += () if explicit else self._parts(ref)
            own.append(self._entry(name, ref, explicit=explicit))
        for entry in own:
            self._know(entry)
        return tuple(needed), shown, tuple(own)

    def _named(self, ref: Ref) -> bool:
        """Whether *ref* was shown before, and is too long to be shown again."""
        return ref >> 1 in self.names and len(self.explicit[ref][0]) > AGAIN_OUT

    def _entry(self, name: str, ref: Ref, *, explicit: bool = False) -> Entry:
        if explicit:
            shown = self.explicit[ref]
        else:
            whole = ref >> 1 not in self.names
            plain = written(self.graph, ref, text.TEXT, self.names, self.kinds, whole=whole)
            shown = plain, written(self.graph, ref, latex.LATEX, self.latex_names, self.kinds, whole=whole)
        return Entry(name, ref, shown[0], latex.label(name), shown[1])

    def _parts(self, ref: Ref) -> Iterator[Entry]:
        """What *ref* needs more than once, or what makes it too long, as lines of its own."""
        if ref >> 1 in self.names:
            return
        length: dict[int, int] = {}
        for i in reachable_below(self.graph, ref, self.names):
            inside = () if i in self.names else operands(self.graph, i)
            length[i] = sum(length[r >> 1] for r in inside) + bool(inside)
            again = self.uses.get(i, 0) > 1 and length[i] > AGAIN
            if i != ref >> 1 and (again or length[i] > LINE):
                part = self._entry(next(self.fresh), 2 * i)
                self._know(part)
                yield part
                length[i] = 0

    def _know(self, entry: Entry) -> None:
        """From now on the name of *entry* stands for it, where that is shorter."""
        i = entry.ref >> 1
        if i in self.names or self.graph.op[i] in LEAVES or len(entry.text) < len(entry.name) + 3:
            return
        sign = "-" * (entry.ref & 1)
        self.names[i], self.latex_names[i] = sign + entry.name, sign + entry.latex_name
        for shown in (entry.name, entry.latex_name):
            self.kinds[shown] = self.known[i], LAST


def _written_out(graph: Graph, refs: Sequence[Ref], kinds: Kinds) -> Mapping[Ref, tuple[str, str]]:
    """Text and LaTeX of those of *refs* that are short without names."""
    parameters = [n for n, (kind, _) in kinds.items() if kind == Kind.PARAMETER]
    lengths = _lengths(graph, refs, SMALL)
    small = list(dict.fromkeys(r for r in refs if lengths[r >> 1] <= SMALL))
    own = Graph()
    found: dict[Ref, tuple[str, str]] = {}
    collected = collect(own, substitute(graph, small, {}, own), parameters)
    shorter = _lengths(own, collected, WRITTEN_OUT)
    for ref, ours in zip(small, collected, strict=True):
        if shorter[ours >> 1] > WRITTEN_OUT:
            continue
        shown = written(own, ours, text.TEXT, kinds=kinds)
        if len(shown) <= WRITTEN_OUT:
            found[ref] = shown, written(own, ours, latex.LATEX, kinds=kinds)
    return found


def _lengths(graph: Graph, refs: Sequence[Ref], most: int) -> dict[int, int]:
    """Operations of every node where it is written out, up to *most*."""
    length: dict[int, int] = {}
    for i in reachable(graph, refs):
        inside = operands(graph, i)
        length[i] = min(most + 1, bool(inside) + sum(length[r >> 1] for r in inside))
    return length


# -- forms -------------------------------------------------------------------------------------------------------------


def _together(own: Sequence[Entry], shape: Sequence[int]) -> bool:
    """Whether a quantity is written as one."""
    return len(shape) > 0 and sum(len(e.text) for e in own) + 2 * len(own) <= TOGETHER


def _text_lines(needed: Sequence[Entry], shown: Shown, own: Sequence[Entry]) -> Iterator[str]:
    for e in needed:
        yield f"{e.name} = {e.text}"
    if not _together(own, shown.shape):
        for e in own:
            yield f"{e.name} = {e.text}"
    elif len(shown.shape) == 1:
        yield f"{shown.name} = ({', '.join(e.text for e in own)})"
    else:
        yield from _rows(f"{shown.name} = ", [e.text for e in own], shown.shape[1])


def _rows(head: str, cells: Sequence[str], columns: int) -> Iterator[str]:
    """A matrix as lines."""
    rows = [cells[k : k + columns] for k in range(0, len(cells), columns)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for k, row in enumerate(rows):
        inside = "  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True))
        yield f"{head if not k else ' ' * len(head)}[ {inside} ]"


def _pairs(told: Told) -> Iterator[tuple[str, str]]:
    """Left and right sides in LaTeX."""
    for needed, shown, own in told.lines:
        yield from ((e.latex_name, e.latex) for e in needed)
        if _together(own, shown.shape):
            columns = shown.shape[1] if len(shown.shape) > 1 else 1
            yield latex.label(shown.name), latex.matrix([e.latex for e in own], columns)
        else:
            yield from ((e.latex_name, e.latex) for e in own)


def _tex(words: str) -> str:
    """Words for LaTeX."""
    return "".join(_SPECIAL.get(c, c) for c in words)


_SPECIAL = {"_": r"\_", "&": r"\&", "%": r"\%", "#": r"\#"}
