"""Options that say which columns of a table are meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kineta.cli.options import bundle
from kineta.cli.values import once
from kineta.errors import ArgumentError

if TYPE_CHECKING:
    from kineta.arrays import FloatArray


@dataclass(frozen=True)
class Columns:
    """The name of the column of times, and ``NAME=COLUMN`` for others that the table calls otherwise."""

    time: str | None = None
    column: Sequence[str] = ()

    def read(self, path: Path) -> tuple[FloatArray, dict[str, FloatArray]]:
        """Times and columns of the table at *path*, under the names that are meant."""
        from kineta.results.csv_table import table

        pairs = []
        for text in self.column:
            name, equals, own = text.partition("=")
            if not equals:
                raise ArgumentError(f"--column: expected NAME=COLUMN, found '{text}'.")
            pairs.append((name.strip(), own.strip()))
        return table(path, self.time or "t", once("--column", pairs))


#: Its options.
COLUMNS = (
    click.option("--time", show_default="t", metavar="COLUMN", help="Column of the times in a table."),
    click.option(
        "--column",
        multiple=True,
        metavar="NAME=COLUMN",
        help="Column of a table that is meant by a name, as in q1=angle; as often as needed.",
    ),
)
columns = bundle(Columns, "columns", *COLUMNS)
