"""Tables of numbers in files: a line of names, then one line for every time."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kineta.errors import ArgumentError
from kineta.model.infer import TIME

FloatArray = NDArray[np.float64]


def table(path: Path) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Times and columns of the table at *path*; an empty cell is NaN. Raises :class:`ArgumentError` for one that cannot be read:
    with the line, and the column.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
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
    if TIME not in head:
        raise ArgumentError(f"{path}: expected a column 't' with the times, found {', '.join(head) or 'nothing'}.")
    if twice := next((name for name in head if head.count(name) > 1), ""):
        raise ArgumentError(f"{path}: expected every column once, found '{twice}' twice.")
    if not lines[1:]:
        raise ArgumentError(f"{path}: expected a line of numbers for every time, found the line of names alone.")
    values = np.array([_numbers(path, number, head, row) for number, row in lines[1:]])
    columns = dict(zip(head, values.T, strict=True))
    return columns.pop(TIME), columns


def _numbers(path: Path, line: int, head: list[str], row: list[str]) -> list[float]:
    if len(row) != len(head):
        raise ArgumentError(f"{path}:{line}: expected {len(head)} numbers, found {len(row)}.")
    found = []
    for name, cell in zip(head, row, strict=True):
        try:
            found.append(float(cell) if cell.strip() else np.nan)
        except ValueError:
            raise ArgumentError(f"{path}:{line}: expected a number under '{name}', found '{cell[:30]}'.") from None
    return found
