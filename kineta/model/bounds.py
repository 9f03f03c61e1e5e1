"""Bounds of values: sizes, coefficients, restitutions, in the text of a model and in the parameters of every run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from kineta.algebra.expression import Expr
from kineta.records import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """Range of a *value*, named ``what`` in errors: from zero to ``most``, without zero if ``positive``.

    Errors end with the ``advice``; ``symbol`` is the word at fault.
    """

    value: Expr
    what: str
    most: float = math.inf
    positive: bool = False
    advice: str = ""
    symbol: str = ""

    def kept(self, found: Any) -> Any:
        """Whether numbers lie within the range."""
        return ((found > 0) if self.positive else (found >= 0)) & (found <= self.most)

    def broken(self, found: float) -> str:
        """The sentence on a number outside of the range."""
        bounds = (
            "above zero"
            if self.positive
            else "of zero or more"
            if self.most == math.inf
            else f"from 0 to {self.most:g}"
        )
        return f"expected {self.what} {bounds}, found {found:g}.{self.advice}"


def broken_constant(bounds: Iterable[Bound]) -> str:
    """The sentence on the first of the *bounds* that a number breaks; ``''`` for none, and for values with names in them."""
    found = ((bound, bound.value.value) for bound in bounds)
    return next((bound.broken(value) for bound, value in found if value is not None and not bound.kept(value)), "")
