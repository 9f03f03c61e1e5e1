"""Systems with their equations in textbooks, and what these cost to read."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import kineta as kn
from kineta.equations.formulas import Formulas, kinds
from kineta.notation.readable.reading_cost import quasi_velocities, reading_cost

#: The rows of ``textbooks.toml``.
TEXTBOOKS = tomllib.loads(Path(__file__).with_name("textbooks.toml").read_text())["system"]


def textbook_formulas(row: dict[str, Any]) -> Formulas:
    """What kineta prints of the quantity of a *row*."""
    return kn.derive(kn.loads(row["model"]), row.get("formalism", "newton_euler")).printed(row["quantity"])


def textbook_cost(row: dict[str, Any], formulas: Formulas) -> float:
    """The reading cost of the textbook's equations and conditions, with their left sides where these are expressions."""
    book, quasi = row["equations"], quasi_velocities(kinds(formulas.system))
    names = {line.split(" = ")[0] for line in formulas.text() if " = " in line}
    left = [("", name) for name in book if "*" in name]
    conditions = [("", text) for text in row.get("conditions", ())]
    return reading_cost([*book.items(), *left, *conditions], set(book) - names, quasi)
