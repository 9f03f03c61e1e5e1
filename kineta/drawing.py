"""Pictures of records: the functions that draw a kind of record, in tables that :mod:`kineta.views` fills.

Records stand below the pictures of them. The views, and Matplotlib with them, are imported with the first picture.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Mapping
from html import escape
from importlib import import_module
from typing import Any

from kineta.errors import KinetaError

#: The function that draws a record, by the record's type.
FIGURES: dict[type, Callable[..., Any]] = {}
#: The function that draws the machine in the state, or the states, of a record, by the record's type.
PICTURES: dict[type, Callable[..., Any]] = {}
#: Lines of a record in a notebook.
LINES = 40


def draw(record: object, *args: Any, **named: Any) -> Any:
    """The graph of *record*, as the function of its type or of the nearest base draws it."""
    return _drawn(FIGURES, record, *args, **named)


def show(record: object, *args: Any, **named: Any) -> Any:
    """The machine in the state of *record*, as the function of its type or of the nearest base draws it."""
    return _drawn(PICTURES, record, *args, **named)


def notebook(record: Any) -> str:
    """*record* as notebooks show it: its first lines, and its picture."""
    return pictured(listed(record), record)


def listed(record: Any) -> str:
    """*record* as notebooks show it where nothing of it is drawn: its first lines."""
    lines = record.lines() if hasattr(record, "lines") else str(record).splitlines()
    rest = [f"and {len(lines) - LINES} more lines"] * (len(lines) > LINES)
    return f"<pre>{escape(chr(10).join([*lines[:LINES], *rest]))}</pre>"


def pictured(html: str, record: object) -> str:
    """*html* before the graph of *record* or the machine in its state; alone where Matplotlib is missing, or nothing is drawn."""
    try:
        return html + _image(record)
    except (ImportError, KinetaError):
        return html


def _image(record: Any) -> str:
    import_module("kineta.views")
    table = PICTURES if FIGURES.keys().isdisjoint(type(record).__mro__) else FIGURES
    found, drawn = record.plot() if hasattr(record, "plot") else _drawn(table, record), io.BytesIO()
    figure = getattr(found, "figure", found)
    figure.savefig(drawn, format="png", dpi=90)
    import_module("matplotlib.pyplot").close(figure)
    return (
        f"<img alt='{escape(repr(record))}' src='data:image/png;base64,{base64.b64encode(drawn.getvalue()).decode()}'>"
    )


def _drawn(table: Mapping[type, Callable[..., Any]], record: object, *args: Any, **named: Any) -> Any:
    import_module("kineta.views")
    draws = next(table[own] for own in type(record).__mro__ if own in table)
    return draws(record, *args, **named)
