"""Calls of machine code with arguments that need little: lists of numbers, other parameters, a few rows of states.

A builtin of :mod:`kineta.codegen.python_call` takes arguments that need no conversion. What is converted here needs no check
beyond its type; every other call is handed on to a function that converts and checks all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from kineta.arrays import FloatArray

#: Types of the numbers of a list that is converted without further checks.
PLAIN = frozenset((float, int, np.float64))
#: Rows at most that are states one after the other; more of them are worth the way to the code of rows.
ROWS = 8


def declined(*given: Any, **named: Any) -> Any:
    """The result of a call that the builtin hands on."""
    return NotImplemented


class ConvertedCall:
    """A call that converts plain arguments.

    checked : the function of all calls
    states : the builtin of the arguments
    varied : the builtin of the arguments and the block ``h``
    block : from parameters that need no check to the block ``h``; None for others
    shape : of the result; () for a number and for a result of several parts
    """

    def __init__(
        self,
        checked: Callable[..., Any],
        states: Callable[..., Any],
        varied: Callable[..., Any],
        block: Callable[[Any], FloatArray | None],
        defaults: Sequence[Any],
        shape: tuple[int, ...],
    ) -> None:
        self._checked, self._states, self._varied, self._block = checked, states, varied, block
        self._defaults, self._shape = tuple(defaults), shape

    def __call__(self, *given: Any, **named: Any) -> Any:
        """The result, as of the function of all calls."""
        found = NotImplemented
        if not named or (len(named) == 1 and "p" in named):
            found = self._converted(given, named.get("p"))
        return self._checked(*given, **named) if found is NotImplemented else found

    def _converted(self, given: Sequence[Any], p: Any) -> Any:
        n, call = len(self._defaults), self._states
        if len(given) > n:
            if len(given) > n + 1 or p is not None:
                return NotImplemented
            p = given[n]
        count, blocks = 0, []
        for x in given[:n]:
            kind = type(x)
            if kind is list or kind is tuple:
                if not PLAIN.issuperset(map(type, x)):
                    return NotImplemented
                try:
                    x = np.array(x, dtype=np.float64)
                except OverflowError:
                    return NotImplemented
            elif kind is np.ndarray and x.ndim == 2:
                if count and len(x) != count:
                    return NotImplemented
                count = len(x)
            blocks.append(x)
        if p is not None:
            h = self._block(p)
            if h is None:
                return NotImplemented
            call = self._varied
            blocks += [*self._defaults[len(blocks) :], h]
        return self._of_rows(call, blocks, count) if count else call(*blocks)

    def _of_rows(self, call: Callable[..., Any], blocks: Sequence[Any], count: int) -> Any:
        """The results of *count* states, those of rows of *blocks*, (count, ...)."""
        if count > ROWS or not self._shape:
            return NotImplemented
        out = np.empty((count, *self._shape))
        rows = [x if type(x) is np.ndarray and x.ndim == 2 else repeat(x) for x in blocks]
        for target, *state in zip(out, *rows, strict=False):
            if call(*state, out=target) is NotImplemented:
                return NotImplemented
        return out
