"""Records that are made in every run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(eq_default=False, frozen_default=True, field_specifiers=(field,))
def constant_record(cls: type[T]) -> type[T]:
    """*cls* as a dataclass that is equal to itself alone, and whose fields nobody sets: the type checker sees to that, not the
    class, which would take three times as long to make.
    """
    return dataclass(eq=False)(cls)
