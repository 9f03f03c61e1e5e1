"""The certificate of ``verify``: rows of formalisms, findings on laws, and their display."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from html import escape
from typing import Any

from kineta.equations.equations import Equations
from kineta.expr.count import Operations
from kineta.notation.html import page
from kineta.records import dataclass

#: The verdict on a law within rounding errors.
HOLDS = "holds"


class OperationCounts(Mapping[str, Operations]):
    """Operations of one evaluation of some *quantities* of *equations*, counted when they are asked for: simplified formulas of
    a formalism take longer than all comparisons with others. Pickled or copied they are numbers alone.
    """

    def __init__(self, equations: Equations, quantities: Sequence[str]) -> None:
        self._equations = equations
        self._quantities = quantities

    def __getitem__(self, quantity: str) -> Operations:
        if quantity not in self._quantities:
            raise KeyError(quantity)
        return self._equations.operations(quantity)

    def __iter__(self) -> Iterator[str]:
        return iter(self._quantities)

    def __len__(self) -> int:
        return len(self._quantities)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[type[dict[str, Operations]], tuple[dict[str, Operations]]]:
        return dict, (dict(self),)


@dataclass(frozen=True, slots=True)
class FormalismRow:
    """The comparison of one formalism with the others.

    refused : the reason why it does not apply; "" where it applies
    operations : of one evaluation, by quantity, counted when they are asked for
    seconds : duration of the derivation
    double, precise : largest relative disagreement with any other formalism, in double precision and in many digits
    where : quantity and formalism of the largest disagreement in double precision
    agrees : whether it agrees with most of the others
    """

    formalism: str
    source: str
    refused: str = ""
    operations: Mapping[str, Operations] = field(default_factory=dict)
    seconds: float = 0.0
    double: float = 0.0
    precise: float | None = None
    where: str = ""
    agrees: bool = True

    @property
    def verdict(self) -> str:
        """``agrees``, ``disagrees``, or ``does not apply``."""
        return "does not apply" if self.refused else "agrees" if self.agrees else "disagrees"


@dataclass(frozen=True, slots=True)
class Finding:
    """The largest error of a law, relative to its terms: in double precision, and in many digits where an error was to be told
    from rounding; and the two sides of the comparison.
    """

    law: str
    worst: float
    holds: bool
    precise: float | None = None
    compares: str = ""

    @property
    def verdict(self) -> str:
        """``holds``, ``missed``, or the error in many digits where rounding explains the error in double precision."""
        if self.precise is None or not self.holds:
            return HOLDS if self.holds else "missed"
        return f"by rounding; {_size(self.precise)} in many digits"

    @property
    def sentence(self) -> str:
        """The two sides of the comparison, their difference, and its meaning."""
        exact = self.worst if self.precise is None else self.precise
        if self.holds:
            meaning = "they are the same up to rounding."
        elif self.precise is None:
            meaning = "in double precision that is beyond what rounding of sound equations explains; they are wrong."
        else:
            meaning = "with as many digits as were asked for nothing of that is rounding; the equations are wrong."
        return f"'{self.law}' compares {self.compares}: apart by {_size(exact)} of the largest term that goes in; {meaning}"


@dataclass(frozen=True, slots=True)
class FormRow:
    """The comparison of one of Rodionov's forms of the equations under programs of motion with its law of control.

    equation : its number in his paper; law : the law of control
    refused : the reason why it does not apply; "" where it applies
    worst, precise : largest relative difference from the law, in double precision, and in many digits where an error was to be
        told from rounding
    """

    form: str
    equation: str
    law: str
    refused: str = ""
    worst: float = 0.0
    precise: float | None = None
    agrees: bool = True

    @property
    def verdict(self) -> str:
        """``agrees``, ``disagrees``, or ``does not apply``."""
        return "does not apply" if self.refused else "agrees" if self.agrees else "disagrees"

    @property
    def shown(self) -> str:
        """The form with its law and any verdict other than agreement."""
        return f"{self.form} {self.equation}, {self.law}" + f" ({self.verdict})" * (self.verdict != "agrees")


@dataclass(frozen=True, repr=False)
class Certificate:
    """The agreement of formalisms on a model, and of its equations with the laws of mechanics.

    states : number of random states; digits : of the precise comparison, 0 without one
    left_out : names of redundant constraints
    aside : names of laws that do not apply to the model, with reasons
    forms : Rodionov's forms of the equations under programs of motion
    laws_apart : relative difference of the covariant law of control from the kineta law for these programs; 0 for equal laws
    """

    model: str
    states: int
    digits: int
    rows: tuple[FormalismRow, ...]
    laws: tuple[Finding, ...]
    left_out: tuple[str, ...] = ()
    aside: tuple[tuple[str, str], ...] = ()
    forms: tuple[FormRow, ...] = ()
    laws_apart: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether all formalisms and forms agree and all laws hold."""
        agree = all(r.agrees for r in self.rows) and all(f.agrees for f in self.forms)
        return agree and all(law.holds for law in self.laws)

    @property
    def sentence(self) -> str:
        """The verdict in a sentence."""
        applied = [r for r in self.rows if not r.refused]
        wrong = [r.formalism for r in applied if not r.agrees]
        broken = [f"'{law.law}'" for law in self.laws if not law.holds]
        rounding = "" if self.digits else " With digits (50) an error is told from rounding."
        if wrong:
            verb = "disagrees" if len(wrong) == 1 else "disagree"
            return f"Model '{self.model}': {', '.join(wrong)} {verb} with the other formalisms.{rounding}"
        if broken:
            return f"Model '{self.model}': the equations miss {', '.join(broken)}.{rounding}"
        apart = [f"{f.form} {f.equation}" for f in self.forms if not f.agrees]
        if apart:
            verb = "disagrees" if len(apart) == 1 else "disagree"
            return (
                f"Model '{self.model}': of the forms under programs {', '.join(apart)} {verb} with the law.{rounding}"
            )
        agreeing = sum(not f.refused for f in self.forms)
        forms = f", {agreeing} forms under programs agree with their laws" if agreeing else ""
        rest = f" {', '.join(self.left_out)}: left out, as others say the same." if self.left_out else ""
        return f"Model '{self.model}': {len(applied)} formalisms agree, {len(self.laws)} laws hold{forms}.{rest}"

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return head and rows of the table of formalisms: operations (add + mul + div), time, disagreement, verdict."""
        quantities = list(dict.fromkeys(q for r in self.rows for q in r.operations))
        precise = [f"{self.digits} digits"] * bool(self.digits)
        head = ["formalism", *(q.replace("_", " ") for q in quantities), "derived in", "double", *precise, "verdict"]
        return head, [self._cells(r, quantities) for r in self.rows]

    def _cells(self, row: FormalismRow, quantities: list[str]) -> list[str]:
        if row.refused:
            return [row.formalism, *[""] * (len(quantities) + 2 + bool(self.digits)), row.verdict]
        counts = [f"{row.operations[q].total}" for q in quantities]
        precise = ["" if row.precise is None else _size(row.precise)] * bool(self.digits)
        return [row.formalism, *counts, f"{row.seconds * 1e3:.0f} ms", _size(row.double), *precise, row.verdict]

    def notes(self) -> Iterator[str]:
        """Yield the reasons of formalisms and laws that do not apply, and the places of disagreements."""
        for r in self.rows:
            if r.refused:
                yield f"{r.formalism}: {r.refused}"
            elif not r.agrees:
                yield f"{r.formalism}: the largest disagreement is in {r.where}."
        for found in self.laws:
            if not found.holds:
                yield found.sentence
        for law, why in self.aside:
            yield f"'{law}' is not asked: {why}."
        for why in dict.fromkeys(f.refused for f in self.forms if f.refused):
            yield f"{', '.join(f.form for f in self.forms if f.refused == why)}: {why}"
        if self.laws_apart:
            yield (
                "RnQ leads to the law covariant, the other forms to the law kineta. These are two laws here, apart by "
                f"{_size(self.laws_apart)}, as theory has it where equations are differentiated and joints or rigidity bend the "
                "space of configurations: kineta counts what their forces do on higher derivatives as control. It is for the "
                "model to choose."
            )

    def __str__(self) -> str:
        head, rows = self.table()
        laws = [["missed by", f"law, at {self.states} random states"]]
        laws += [[_size(x.worst), x.law + f" ({x.verdict})" * (x.verdict != HOLDS)] for x in self.laws]
        forms = [["differs by", "form under programs, from its law"]] * bool(self.forms)
        forms += [["-" if f.refused else _size(f.worst), f.shown] for f in self.forms]
        tables = (table for table in ([head, *rows], laws, forms) if table)
        return "\n".join([*(line for table in tables for line in (*_columns(table), "")), *self.notes(), self.sentence])

    def lines(self) -> list[str]:
        """Return the tables, the notes and the verdict as text."""
        return str(self).split("\n")

    def __repr__(self) -> str:
        return f"<Certificate: {self.sentence}>"

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "model": self.model,
            "holds": self.holds,
            "message": self.sentence,
            "states": self.states,
            "digits": self.digits,
            "formalisms": [
                _plain(r, "formalism source verdict reason=refused")
                | {"operations": {q: c.as_dict() for q, c in r.operations.items()}}
                | _plain(r, "seconds double precise where")
                for r in self.rows
            ],
            "left_out": list(self.left_out),
            "laws": [_plain(law, "law compares worst precise holds message=sentence") for law in self.laws],
            "aside": [{"law": law, "reason": why} for law, why in self.aside],
            "forms": [_plain(f, "form equation law verdict reason=refused double=worst precise") for f in self.forms],
            "laws_apart": self.laws_apart,
        }

    def page(self) -> str:
        """Return the certificate as one HTML page."""
        return page(f"Certificate of '{self.model}'", self._repr_html_())

    def _repr_html_(self) -> str:
        head, rows = self.table()
        body = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in rows)
        laws = "".join(
            f"<tr><td>{escape(law.law)}</td><td>{_size(law.worst)}</td><td>{escape(law.verdict)}</td></tr>"
            for law in self.laws
        )
        notes = "".join(f"<p>{escape(n)}</p>" for n in self.notes())
        return (
            f"<p>{escape(self.sentence)}</p><table><tr>{''.join(f'<th>{escape(c)}</th>' for c in head)}</tr>{body}</table>"
            f"<table><tr><th>law</th><th>missed by</th><th></th></tr>{laws}</table>{self._forms_html()}{notes}"
        )

    def _forms_html(self) -> str:
        if not self.forms:
            return ""
        rows = ((f.form, f.equation, f.law, "" if f.refused else _size(f.worst), f.verdict) for f in self.forms)
        body = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in rows)
        heads = "".join(f"<th>{c}</th>" for c in ("form under programs", "", "law", "differs by", "verdict"))
        return f"<table><tr>{heads}</tr>{body}</table>"


def _plain(record: Any, keys: str) -> dict[str, Any]:
    """Return attributes of *record* by *keys*: ``law``, or ``reason=refused`` for one of another name."""
    named = (key.partition("=") for key in keys.split())
    return {key: getattr(record, name or key) for key, _, name in named}


def _size(x: float) -> str:
    return f"{x:.0e}" if x else "0"


def _columns(rows: list[list[str]]) -> Iterator[str]:
    """Yield *rows* as lines, with the first and last columns aligned left and the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            c.rjust(w) if 0 < i < len(row) - 1 else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
