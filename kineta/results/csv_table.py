"""CSV tables of numbers: a line of names, then one line for every time."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kineta.arrays import FloatArray
from kineta.errors import ArgumentError, did_you_mean
from kineta.model.reserved_symbols import TIME

#: Separators of columns, beside spaces.
_SEPARATORS = (",", ";", "\t")


def table(
    path: Path, time: str = TIME, names: Mapping[str, str] | None = None
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return times and columns of the table at *path*; an empty cell is NaN. Raises :class:`ArgumentError` for an invalid cell,
    with line and column.

    time : the name of the column of times; names : the names of columns in the table, by the names in the result. The separator,
    comma, semicolon, tab or space, is taken from the first line; beside semicolons and tabs a comma is a decimal point.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        first = next((line for line in text.splitlines() if line.strip()), "")
        separator = max(_SEPARATORS, key=first.count)
        separator = separator if separator in first else " "
        reader = csv.reader((line.strip(" ") for line in text.splitlines()), delimiter=separator, skipinitialspace=True)
        lines = [(reader.line_num, row) for row in reader if row]
    except OSError as error:
        raise ArgumentError(f"{path}: the file cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError as error:
        raise ArgumentError(
            f"{path}: expected a table of text in UTF-8, found other bytes at position {error.start}; a run '.nc' is read by "
            "kineta.load_result."
        ) from None
    except csv.Error as error:
        raise ArgumentError(f"{path}: expected a table of numbers with names in the first line ({error}).") from None
    head = [name.strip() for name in lines[0][1]] if lines else []
    if time not in head:
        likely = next((n for n in head if n.casefold().startswith("t") and not n.startswith("tau")), "")
        advice = f" On the command line, --time {shlex.quote(likely)} takes it from there." if likely else ""
        raise ArgumentError(
            f"{path}: expected a column '{time}' with the times, found {', '.join(head) or 'nothing'}.{advice}"
        )
    if twice := next((name for name in head if head.count(name) > 1), ""):
        raise ArgumentError(f"{path}: expected every column once, found '{twice}' twice.")
    point = "," if separator in (";", "\t") else "."
    values = np.array([_numbers(path, number, head, row, point) for number, row in lines[1:]])
    if len(values) < 2:
        found = "one behind the line of names" if len(values) else "the line of names alone"
        raise ArgumentError(f"{path}: expected a line of numbers for every time, two at least, found {found}.")
    columns = dict(zip(head, values.T, strict=True))
    times = columns.pop(time)
    _check_times(path, [number for number, _ in lines[1:]], times)
    for name, own in (names or {}).items():
        if own not in columns:
            raise ArgumentError(f"{path}: there is no column '{own}' for {name}.{did_you_mean(own, columns)}")
        columns[name] = columns.pop(own)
    return times, columns


def _check_times(path: Path, lines: list[int], times: FloatArray) -> None:
    """Raise :class:`ArgumentError`, with the line, for *times* that are not finite or do not rise."""
    for k in np.flatnonzero(~np.isfinite(times)):
        raise ArgumentError(f"{path}:{lines[k]}: expected a time, found {'none' if np.isnan(times[k]) else times[k]}.")
    for k in np.flatnonzero(np.diff(times) <= 0):
        raise ArgumentError(
            f"{path}:{lines[k + 1]}: expected times that rise, found {times[k + 1]:.9g} after {times[k]:.9g}."
        )


def _numbers(path: Path, line: int, head: list[str], row: list[str], point: str) -> list[float]:
    if len(row) != len(head):
        raise ArgumentError(f"{path}:{line}: expected {len(head)} numbers, found {len(row)}.")
    found = []
    for name, cell in zip(head, row, strict=True):
        try:
            found.append(float(cell.replace(point, ".")) if cell.strip() else np.nan)
        except ValueError:
            raise ArgumentError(f"{path}:{line}: expected a number under '{name}', found '{cell[:30]}'.") from None
    return found
