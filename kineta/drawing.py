"""Pictures of records: the functions that draw a kind of record, in tables that :mod:`kineta.views` fills.

Records stand below the pictures of them. The views, and Matplotlib with them, are imported with the first picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

#: The function that draws a record, by the record's type.
FIGURES: dict[type, Callable[..., Any]] = {}
#: The function that draws the machine in the state, or the states, of a record, by the record's type.
PICTURES: dict[type, Callable[..., Any]] = {}


def draw(record: object, *args: Any, **named: Any) -> Any:
    """The graph of *record*, as the function of its type or of the nearest base draws it."""
    return _drawn(FIGURES, record, *args, **named)


def show(record: object, *args: Any, **named: Any) -> Any:
    """The machine in the state of *record*, as the function of its type or of the nearest base draws it."""
    return _drawn(PICTURES, record, *args, **named)


def _drawn(table: Mapping[type, Callable[..., Any]], record: object, *args: Any, **named: Any) -> Any:
    import_module("kineta.views")
    figure = next(table[own] for own in type(record).__mro__ if own in table)
    return figure(record, *args, **named)
