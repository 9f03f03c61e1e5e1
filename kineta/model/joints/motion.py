"""Motions: how the frame of a body is reached from the frame of its base."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from kineta.algebra.expression import Expr, expr
from kineta.model.axis import LETTERS, Axis
from kineta.model.coercion import ModelRecord
from kineta.model.units import Dimension

_LETTER: dict[Axis, str] = {axis: letter for letter, axis in LETTERS.items()}


class Motion(ModelRecord):
    """A motion: elementary, or a joint with coordinates of its own."""

    __slots__ = ()

    @property
    def arguments(self) -> tuple[Expr, ...]:
        """The expressions by which it moves; none for a joint."""
        return ()

    @property
    def turn_axes(self) -> tuple[Axis, ...]:
        """The axes about which it turns."""
        return ()

    @property
    def text(self) -> str:
        """The motion in the language."""
        raise NotImplementedError

    def moved_by(self, variables: Collection[str]) -> bool:
        """Whether it changes with the *variables*, names of coordinates and of the time."""
        return any(n in variables for x in self.arguments for n in x.symbols())


class ElementaryMotion(Motion):
    """A turn about an ``axis``, or a shift along it, by an ``argument``; the axis is fixed in both frames.

    letter : its first letter in the language; ``argument_name``, ``unit``, ``dimension`` : of its argument
    turns : whether it is a turn
    """

    __slots__ = ()

    letter: ClassVar[str]
    argument_name: ClassVar[str]
    unit: ClassVar[str]
    dimension: ClassVar[Dimension]
    turns: ClassVar[bool]
    axis: Axis

    def __init__(self, axis: Axis, argument: Expr) -> None:
        raise NotImplementedError

    @property
    def argument(self) -> Expr:
        """The angle or distance, the argument in brackets."""
        raise NotImplementedError

    @property
    def arguments(self) -> tuple[Expr, ...]:
        """The argument alone."""
        return (self.argument,)

    @property
    def turn_axes(self) -> tuple[Axis, ...]:
        """The axis of a turn."""
        return (self.axis,) if self.turns else ()

    @property
    def text(self) -> str:
        """The motion in the language: ``Rx(q1)``, ``S[1, 1, 0](s)``."""
        axis = _LETTER.get(self.axis) or f"[{', '.join(map(str, map(expr, self.axis)))}]"
        return f"{self.letter}{axis}({self.argument})"
