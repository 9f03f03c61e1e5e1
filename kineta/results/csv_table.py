"""CSV tables of numbers: a line of names, then one line for every time."""

from __future__ import annotations

import csv
import shlex
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kineta.arrays import FloatArray
from kineta.errors import ArgumentError, ModelError, did_you_mean
from kineta.model import units
from kineta.model.io.column_headings import parted, unit_of
from kineta.model.reserved_symbols import TIME
from kineta.model.units import Dimension
from kineta.records import dataclass

#: Separators of columns, beside spaces.
_SEPARATORS = (",", ";", "\t")


def table(
    path: Path,
    time: str = TIME,
    names: Mapping[str, str] | None = None,
    known: Mapping[str, Dimension | None] | None = None,
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Return times and columns of the table at *path*, in SI; an empty cell is NaN. Raises :class:`ArgumentError` for an invalid
    cell, with line and column, and for a unit of another dimension.

    time : the name of the column of times; names : names of columns, by those in the result; known : dimensions
    of the names in a model, None where they do not follow: their headings may have units, as ``x [mm]``.

    The separator, comma, semicolon, tab or space, is taken from the first line; beside semicolons and tabs a comma is a decimal
    point.
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
    series = _headings(path, head, {TIME: time, **(names or {})}, {**(known or {}), TIME: units.TIME})
    point = "," if separator in (";", "\t") else "."
    values = np.array([_numbers(path, number, head, row, point) for number, row in lines[1:]])
    if len(values) < 2:
        found = "one behind the line of names" if len(values) else "the line of names alone"
        raise ArgumentError(f"{path}: expected a line of numbers for every time, two at least, found {found}.")
    columns = {series[h].name: x * series[h].factor for h, x in zip(head, values.T, strict=True) if h in series}
    times = columns.pop(TIME)
    _check_times(path, [number for number, _ in lines[1:]], times)
    return times, columns


@dataclass(frozen=True)
class _Series:
    """What a column holds: the name of a series, and the unit of its numbers in SI."""

    name: str
    factor: float = 1.0


def _headings(
    path: Path, head: list[str], chosen: Mapping[str, str], known: Mapping[str, Dimension | None]
) -> dict[str, _Series]:
    """What columns hold by heading: what is *chosen* by name, from a heading with or without its unit, *known* names, or the
    heading itself; a column that has a chosen name and is not chosen is left out.
    """
    if twice := next((name for name in head if head.count(name) > 1), ""):
        raise ArgumentError(f"{path}: expected every column once, found '{twice}' twice.")
    bare = {h: h if h in known else parted(h)[0] for h in head}
    found = dict[str, _Series]()
    for name, own in chosen.items():
        likely = [own] if own in head else [h for h in head if bare[h] == own]
        if not likely:
            raise ArgumentError(_no_time(path, own, head) if name == TIME else _no_column(path, name, own, head, bare))
        for heading in likely:
            found[heading] = _Series(name, _factor(path, heading, known.get(name)))
    for heading in (h for h in head if h not in found and h not in chosen):
        own = bare[heading]
        mine = own in known and own not in chosen
        found[heading] = _Series(own, _factor(path, heading, known[own])) if mine else _Series(heading)
    for name in (s.name for s in found.values()):
        if len(same := [h for h, s in found.items() if s.name == name]) > 1:
            raise ArgumentError(f"{path}: expected one column of {name}, found '{same[0]}' and '{same[1]}'.")
    return found


def _no_time(path: Path, time: str, head: list[str]) -> str:
    likely = next((n for n in head if n.casefold().startswith("t") and not n.startswith("tau")), "")
    advice = f" On the command line, --time {shlex.quote(likely)} takes it from there." if likely else ""
    return f"{path}: expected a column '{time}' with the times, found {', '.join(head) or 'nothing'}.{advice}"


def _no_column(path: Path, name: str, own: str, head: list[str], bare: Mapping[str, str]) -> str:
    return f"{path}: there is no column '{own}' for {name}.{did_you_mean(own, dict.fromkeys([*head, *bare.values()]))}"


def _factor(path: Path, heading: str, dimension: Dimension | None) -> float:
    """The unit in SI of the numbers below a *heading*; a bracket that touches a name, as ``tau[w]``, may be a part of it."""
    try:
        unit = unit_of(path, heading)
    except ModelError as error:
        if heading[: heading.rindex("[")].endswith(" "):
            raise ArgumentError(str(error)) from None
        return 1.0
    if unit is None:
        return 1.0
    if dimension is not None and dimension != unit.dimension:
        raise ArgumentError(f"{path}: in the heading '{heading}': expected the unit of {units.name(dimension)}.")
    return unit.factor


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
