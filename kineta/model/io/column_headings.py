"""Headings of columns in files, with their units: ``torque [N*m]``."""

from __future__ import annotations

import re
from pathlib import Path

from kineta.errors import ModelError
from kineta.model import units
from kineta.model.units import NUMBER

_HEADING = re.compile(r"(.*\S)?\s*\[([^\[\]]*)\]")


def parted(heading: str) -> tuple[str, str]:
    """Name and unit of a heading; ``""`` for none."""
    found = _HEADING.fullmatch(heading)
    return (found[1] or "", found[2].strip()) if found else (heading, "")


def unit_of(path: Path, heading: str) -> units.Unit | None:
    """The unit of a column, where its heading has one. Raises :class:`ModelError` for an unknown unit."""
    written = parted(heading)[1]
    if not written:
        return None
    try:
        if re.fullmatch(units.PATTERN, written.removeprefix("1/")) is None:
            raise ModelError(f"Expected a unit, found '{shortened(written)}'.")
        over = written.startswith("1/")
        found = units.unit(written.removeprefix("1/"))
        return units.Unit(1 / found.factor, units.times(NUMBER, found.dimension, -1)) if over else found
    except ModelError as error:
        raise ModelError(f"{path}: in the heading '{shortened(heading)}': {error}") from None


def shortened(text: str) -> str:
    """*text* as sentences show it."""
    text = text.strip()
    return text if len(text) <= 40 else f"{text[:40]} ..."
