"""Pictures of records: the function that draws a kind of record, in a table that :mod:`kineta.views` fills.

Records stand below the pictures of them. The views, and Matplotlib with them, are imported with the first picture.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

#: The function that draws a record, by the record's type.
FIGURES: dict[type, Callable[..., Any]] = {}


def draw(record: object, *args: Any, **named: Any) -> Any:
    """The picture of *record*, as the function of its type or of the nearest base draws it."""
    import_module("kineta.views")
    figure = next(FIGURES[own] for own in type(record).__mro__ if own in FIGURES)
    return figure(record, *args, **named)
